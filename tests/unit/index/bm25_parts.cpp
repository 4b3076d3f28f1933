#include "quarry/index/bm25_parts.hpp"

#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

const std::vector<std::string> parted_texts{"reset the password",
                                     "password of the router",
                                     "to be or not to be",
                                     "a new password reset",
                                     "monthly report",
                                     "password",
                                     "",
                                     "report of the router",
                                     "the pasword that was typed"};

// The texts that are alive in one index, and all of them in three, where units 1 and 7 are dead.
struct parts_and_whole {
    bm25_index whole;
    bm25_parts parts;

    explicit parts_and_whole(bm25_options options = {}) : whole(english(), options), parts(made(options)) {
        for (std::size_t i = 0; i < parted_texts.size(); ++i)
            if (i != 1 && i != 7) whole.add(unit_at(i), parted_texts[i]);
    }
    static bm25_parts made(bm25_options options) {
        std::vector<bm25_parts::part> all;
        auto alive = std::make_shared<unit_set>(unit_set::all(parted_texts.size()));
        bm25_parts::totals totals;
        for (const std::size_t first : {0u, 3u, 6u}) {
            auto index = std::make_shared<bm25_index>(english(), options);
            for (std::size_t i = first; i < first + 3; ++i) index->add(unit_at(i), parted_texts[i]);
            totals.keys += index->size();
            totals.counted += index->counted_keys();
            totals.length += index->average_length() * static_cast<double>(index->counted_keys());
            all.push_back({index, first == 3});
        }
        alive->erase(unit_id{1});
        alive->erase(unit_id{7});
        // "password of the router" and "report of the router" have two counted words each.
        totals.keys -= 2, totals.counted -= 2, totals.length -= 4.0;
        return bm25_parts(english(), options, std::move(all), std::move(alive), totals);
    }
};

}  // namespace

TEST_CASE("several indexes of words answer as the one that holds what is alive of them") {
    for (const bm25_options& options : {bm25_options{}, bm25_options{.lucene_lengths = true, .one_edit = true}}) {
        const parts_and_whole both(options);
        const std::vector<std::string> required{"reset"}, phrase{"password reset"};
        std::vector<lexical_probe> probes;
        for (const char* text :
             {"password", "reset password reset", "the to be", "router", "pasword", "rport", "zzz", ""})
            probes.push_back({text});
        probes.push_back({"password", required});
        probes.push_back({"password", {}, required});
        probes.push_back({"password", {}, {}, phrase});
        for (const lexical_probe& probe : probes)
            for (const std::size_t n : {1u, 3u, 100u}) {
                const auto a = both.parts.search(probe, n), b = both.whole.search(probe, n);
                REQUIRE(a.size() == b.size());
                for (std::size_t i = 0; i < a.size(); ++i) {
                    CHECK(a[i].unit == b[i].unit);
                    CHECK(a[i].score == b[i].score);
                }
                CHECK(both.parts.bounds(probe).high == both.whole.bounds(probe).high);
                const unit_id units[] = {unit_id{8}, unit_id{0}, unit_id{1}, unit_id{3}};
                const auto x = both.parts.score(probe, units), y = both.whole.score(probe, units);
                for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i].score == y[i].score);
                CHECK(x[2].key == no_key);
                const auto said = both.parts.unknown_words(probe), meant = both.whole.unknown_words(probe);
                REQUIRE(said.size() == meant.size());
                for (std::size_t i = 0; i < said.size(); ++i) CHECK(said[i].taken_for == meant[i].taken_for);
            }
        CHECK(both.parts.size() == 7);
        CHECK(both.parts.document_frequency("router") == 0);
        CHECK(both.parts.document_frequency("password") == 3);
        CHECK(both.parts.average_length() == both.whole.average_length());
    }
}

TEST_CASE("keys are numbered on from part to part, and a filter lets through what it names") {
    const parts_and_whole both;
    const auto found = both.parts.search("monthly", 10);
    REQUIRE(found.size() == 1);
    CHECK(found[0].key == key_id{4});
    unit_set two(parted_texts.size());
    two.insert(unit_id{3});
    two.insert(unit_id{1});  // dead
    const auto filtered = both.parts.search("password", 10, {&two, nullptr});
    REQUIRE(filtered.size() == 1);
    CHECK(filtered[0].unit == unit_id{3});
}

TEST_CASE("no parts find nothing, and phrases without positions are an error as ever") {
    const bm25_parts none(english(), {}, {}, nullptr, {});
    CHECK(none.search("password", 10).empty());
    CHECK(none.bounds({"password"}).high == 0.0f);
    CHECK(none.most_keys_of_a_unit() == 0);
    const std::vector<std::string> phrase{"password reset"};
    const parts_and_whole both(bm25_options{.positions = false});
    CHECK(code_of([&] { both.parts.search({"password", {}, {}, phrase}, 10); }) == "bm25.no_positions");
}
