#include "quarry/expand/expansion.hpp"

#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Counts how it was asked. Prepared or not, a unit's key is its text in brackets.
struct counting {
    struct seen {
        std::size_t prepared = 0, singles = 0;
        std::vector<unit_id> units;
        bool stoppable = false;
    };
    seen* s;

    key_kind kind() const { return key_kind::context; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        ++s->singles;
        emit({unit, key_part::context, "[" + std::string(source.text(unit)) + "]"});
    }

    struct ready {
        expansion_report r;
        void operator()(source_ref source, unit_id unit, key_sink emit) const {
            emit({unit, key_part::context, "[" + std::string(source.text(unit)) + "]"});
        }
        const expansion_report& report() const { return r; }
    };
    ready prepare(source_ref, std::span<const unit_id> units, const expansion_run& run) const {
        ++s->prepared;
        s->units.assign(units.begin(), units.end());
        s->stoppable = run.stop.stop_possible();
        return {{.calls = 7}};
    }
};

// The same without prepare().
struct unprepared {
    counting::seen* s;
    key_kind kind() const { return key_kind::context; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const { counting{s}(source, unit, emit); }
};

// A key of meaning alone, a key of words alone, and an empty one.
struct split {
    key_kind kind() const { return key_kind::context; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        emit({unit, key_part::question, "meaning of " + std::string(source.text(unit)), {{"", 1.0f}}});
        emit({unit, key_part::context, "", {{"words", 1.0f}, {std::string(source.text(unit)), 1.0f}}});
        emit({unit, key_part::context, " ", {{" ", 1.0f}}});
    }
};

}  // namespace

TEST_CASE("an expander that prepares is shown all units of its level once and is not asked one by one") {
    corpus c = toy::corpus_of({"one", "two"});
    c.add_part(unit_id{0}, {.span = {0, 2}});
    counting::seen s;
    const std::stop_source source;
    const auto kb = build(c, counting{&s}, build_options{.stop = source.get_token()});
    CHECK(s.prepared == 1);
    CHECK(s.singles == 0);
    CHECK(s.units == std::vector{unit_id{0}, unit_id{1}});
    CHECK(s.stoppable);
    CHECK(kb.report.expansion.calls == 7);
    CHECK(kb.report.keys == 2);
    CHECK(kb.report.units == 2);
}

TEST_CASE("prepared or not, the keys are the same") {
    const corpus c = toy::corpus_of({"one", "two", "three"});
    counting::seen s;
    const auto prepared = build(c, counting{&s});
    const auto single = build(c, unprepared{&s});
    CHECK(s.singles == 3);
    REQUIRE(prepared.bm25.keys->size() == single.bm25.keys->size());
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(prepared.bm25.keys->text(key_at(i), c) == single.bm25.keys->text(key_at(i), c));
    CHECK(single.report.expansion.calls == 0);
}

TEST_CASE("a key may be for words alone or for meaning alone") {
    STATIC_REQUIRE(PreparingExpander<counting>);
    STATIC_REQUIRE_FALSE(PreparingExpander<unprepared>);
    STATIC_REQUIRE_FALSE(PreparingExpander<identity>);
    const corpus c = toy::corpus_of({"apple", "pear"});
    const toy::letter_embedder embed;
    std::vector<std::pair<std::size_t, std::size_t>> progress;
    const auto kb = build(c, split{}, embed, {.batch = 1, .progress = [&](std::size_t done, std::size_t total) {
                                                  progress.emplace_back(done, total);
                                              }});
    // Four keys: of each article one with a vector and no words, and one the other way round.
    CHECK(kb.report.keys == 4);
    CHECK(kb.bm25.keys->size() == 4);
    CHECK(kb.vectors.index.size() == 2);
    CHECK(kb.vectors.keys->size() == 2);
    CHECK(embed.counted->texts == 2);
    CHECK(kb.report.keys_without_vector == 0);
    CHECK(progress == std::vector<std::pair<std::size_t, std::size_t>>{{1, 2}, {2, 2}});
    CHECK(kb.bm25.index.counted_keys() == 2);
    CHECK(kb.bm25.index.search("meaning", 5).empty());
    const auto found = kb.bm25.index.search("pear", 5);
    REQUIRE(found.size() == 1);
    CHECK(found[0].unit == unit_id{1});
    CHECK(kb.bm25.keys->text(found[0].key, c) == "words pear");
    CHECK(kb.vectors.keys->text(key_id{1}, c) == "meaning of pear");
}

TEST_CASE("what ends preparing ends the build") {
    struct broke : unprepared {
        struct ready {
            void operator()(source_ref, unit_id, key_sink) const {}
            expansion_report r{};
            const expansion_report& report() const { return r; }
        };
        ready prepare(source_ref, std::span<const unit_id>, const expansion_run&) const {
            detail::raise<cancelled>("budget.calls", "no more");
        }
    };
    const corpus c = toy::corpus_of({"one"});
    counting::seen s;
    CHECK(code_of([&] { build(c, broke{{&s}}); }) == "budget.calls");
}
