// The laws of what happens while an index is built: growers of units and expanders into keys.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/expand/code_summary.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/expand/small_keys.hpp"
#include "quarry/grow/chunks.hpp"
#include "quarry/grow/code_chunks.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/grow/sentence_windows.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

corpus before_growing() {
    corpus c;
    for (int i = 0; i < 5; ++i) {
        std::string text;
        for (int s = 0; s < 12; ++s)
            text += "void function" + std::to_string(i) + std::to_string(s) + "() {\n    call();\n}\nIt ends here. ";
        c.add({.id = "file" + std::to_string(i) + ".cpp", .title = "File " + std::to_string(i), .text = text});
    }
    c.add({.id = "empty.cpp"});
    return c;
}

std::vector<std::string> units_in(const corpus& c) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < c.size(); ++i)
        out.push_back(std::string(c.id(unit_at(i))) + '|' + std::string(c.title(unit_at(i))) + '|' +
                      std::string(c.text(unit_at(i))));
    return out;
}

// Grown twice from equal corpora, the same units come out; articles stay as they were and keep their ids; parts lie
// inside their parents; what is generated names its sources.
void grower_laws(const std::function<void(corpus&)>& grow) {
    corpus a = before_growing(), b = before_growing();
    const std::vector<std::string> before = units_in(a);
    grow(a);
    grow(b);
    const std::vector<std::string> after = units_in(a);
    CHECK(after == units_in(b));
    REQUIRE(after.size() > before.size());
    CHECK(std::equal(before.begin(), before.end(), after.begin()));
    for (std::size_t i = before.size(); i < a.size(); ++i) {
        const unit_id unit = unit_at(i);
        CHECK(!detail::trimmed(a.text(unit)).empty());
        if (a.kind(unit) == unit_kind::generated) {
            CHECK(!a.sources(unit).empty());
            for (const unit_id source : a.sources(unit)) CHECK(source < unit);
            continue;
        }
        const std::optional<unit_id> parent = a.parent(unit);
        REQUIRE(parent);
        CHECK(*parent < unit);
        CHECK(a.span(unit).begin >= a.span(*parent).begin);
        CHECK(a.span(unit).end <= a.span(*parent).end);
    }
}

// A second growth is refused, or finds everything there; either way nothing is added.
void second_growth_adds_nothing(const std::function<void(corpus&)>& grow) {
    corpus c = before_growing();
    grow(c);
    const std::vector<std::string> once = units_in(c);
    const std::string code = code_of([&] { grow(c); });
    CHECK((code == "corpus.duplicate_id" || code == "(no exception)"));
    CHECK(units_in(c) == once);
}

std::vector<std::string> shown_keys(const std::vector<key>& keys) {
    std::vector<std::string> out;
    for (const key& k : keys) {
        std::string all = std::to_string(index_of(k.unit)) + '/' + std::string(name_of(k.part)) + '/' + k.text;
        for (const weighted_text& field : k.lexical) all += '/' + field.text;
        out.push_back(all);
    }
    return out;
}

// The same keys for the same unit, alone or prepared with all others, in whatever order calls come back; each for the
// unit asked about or one above it; each with a word in it.
template <KeyExpander X>
void expander_laws(const corpus& c, const X& expander, const X* in_parallel = nullptr) {
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < c.size(); ++i)
        if (c.kind(unit_at(i)) == expander.level()) units.push_back(unit_at(i));
    REQUIRE(units.size() > 3);
    std::map<unit_id, std::vector<std::string>> alone;
    for (const unit_id unit : units) {
        const auto keys_now = [&] {
            std::vector<key> keys;
            expander(c, unit, [&](key k) { keys.push_back(std::move(k)); });
            return keys;
        };
        const std::vector<key> keys = keys_now();
        alone[unit] = shown_keys(keys);
        CHECK(alone[unit] == shown_keys(keys_now()));
        for (const key& k : keys) {
            bool related = false;
            for (std::optional<unit_id> up = unit; up; up = c.parent(*up)) related = related || *up == k.unit;
            CHECK(related);
        }
    }
    if constexpr (PreparingExpander<X>) {
        for (const X* one : {&expander, in_parallel ? in_parallel : &expander}) {
            const auto prepared = one->prepare(c, units, {});
            for (const unit_id unit : units) {
                std::vector<key> keys;
                prepared(c, unit, [&](key k) { keys.push_back(std::move(k)); });
                CHECK(shown_keys(keys) == alone[unit]);
            }
        }
    }
}

// Answers with something about the last word in brackets, and nothing for some prompts; the n-th of them fails.
scripted_generator echoing() {
    return scripted_generator([](const prompt& p) {
        const std::size_t at = p.text().rfind("function");
        if (at == std::string::npos) return completion("");
        const std::string name = std::string(p.text().substr(at, 10));
        return completion("What is " + name + " good for?");
    });
}

}  // namespace

TEST_CASE("laws: growers") {
    const auto all_chunks = [](corpus& c) { chunks<>({.most_tokens = 40, .overlap_tokens = 0}).grow(c); };
    const auto all_code = [](corpus& c) { code_chunks({.most_tokens = 40}).grow(c); };
    const auto all_windows = [](corpus& c) { sentence_windows{2}.grow(c); };
    for (const std::function<void(corpus&)>& grow : {std::function<void(corpus&)>(all_chunks),
                                                     std::function<void(corpus&)>(all_code),
                                                     std::function<void(corpus&)>(all_windows)}) {
        grower_laws(grow);
        second_growth_adds_nothing(grow);
    }
    const auto tree = [](corpus& c) {
        raptor(toy::letter_embedder{}, extracts{}, {.of = unit_kind::article, .across_articles = true}).grow(c);
    };
    grower_laws(tree);
    second_growth_adds_nothing(tree);
}

TEST_CASE("laws: expanders that ask nobody") {
    corpus c = before_growing();
    code_chunks({.most_tokens = 30}).grow(c);
    expander_laws(c, identity{.of = unit_kind::chunk});
    expander_laws(c, small_keys{.of = unit_kind::article, .sentences = 2, .shared = 1});
    expander_laws(c, metadata_keys(c));
    expander_laws(c, contextual(structure{}));
    expander_laws(c, code_summary());
    const auto written = contextual(echoing()), at_once = contextual(echoing(), {.calls = {.at_once = 4}});
    expander_laws(c, written, &at_once);
    const auto asked = questions(echoing()), asked_at_once = questions(echoing(), {.calls = {.at_once = 4}});
    expander_laws(c, asked, &asked_at_once);
    const auto described = code_summary(echoing()),
               described_at_once = code_summary(echoing(), {.calls = {.at_once = 4}});
    expander_laws(c, described, &described_at_once);
}

TEST_CASE("laws: an expander loses no unit, whichever call fails") {
    corpus c = before_growing();
    code_chunks({.most_tokens = 30}).grow(c);
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < c.size() && units.size() < 6; ++i)
        if (c.kind(unit_at(i)) == unit_kind::chunk) units.push_back(unit_at(i));
    const auto every_unit_has_a_key = [&](const auto& prepared) {
        for (const unit_id unit : units) {
            std::size_t count = 0;
            prepared(c, unit, [&](key k) { count += !detail::trimmed(k.text).empty(); });
            CHECK(count >= 1);
        }
        CHECK(prepared.report().failed == 1);
    };
    for (std::size_t n = 1; n <= units.size(); ++n) {
        const auto failing = [&] {
            const auto g = echoing();
            g.fail_at(n);
            return g;
        };
        every_unit_has_a_key(contextual(failing()).prepare(c, units, {}));
        every_unit_has_a_key(questions(failing(), {.with_unit = false}).prepare(c, units, {}));
        every_unit_has_a_key(code_summary(failing()).prepare(c, units, {}));
    }
}
