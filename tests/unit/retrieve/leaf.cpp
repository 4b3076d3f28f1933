#include "quarry/retrieve/leaf.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

// An index that answers every probe with the same keys. A rough one looks at only a share of what it is asked for, as a
// graph does whose walk ends early: it returns fewer than it could, and finds the rest when asked for more.
struct written_index {
    using scale = bm25_scale;

    std::vector<scored_key> keys;
    std::size_t share = 1;  // of n keys asked for, n / share are looked at
    std::shared_ptr<std::vector<std::size_t>> asked = std::make_shared<std::vector<std::size_t>>();

    std::size_t size() const { return keys.size(); }
    bool approximate() const { return share != 1; }
    std::size_t most_keys_of_a_unit() const {
        std::size_t most = 0;
        for (const scored_key& k : keys)
            most = std::max(most, static_cast<std::size_t>(std::ranges::count(keys, k.unit, &scored_key::unit)));
        return most;
    }
    std::vector<scored_key> search(const lexical_probe&, std::size_t n, const accept& allowed) const {
        asked->push_back(n);
        std::vector<scored_key> sorted = keys, found;
        std::ranges::sort(sorted, [](const auto& a, const auto& b) { return better(a, b); });
        const std::size_t looked_at = n >= keys.size() ? keys.size() : n / share;
        for (const scored_key& k : sorted)
            if (found.size() < looked_at && allowed.contains(k.unit)) found.push_back(k);
        return found;
    }
};

// m keys of each of `units` units, the first units best.
written_index index_of_units(std::uint32_t units, std::uint32_t m) {
    written_index index{};
    for (std::uint32_t unit = 0; unit < units; ++unit)
        for (std::uint32_t i = 0; i < m; ++i)
            index.keys.push_back({unit_id{unit}, key_at(index.keys.size()),
                                  static_cast<float>(units - unit) + .01f * static_cast<float>(i)});
    return index;
}

const corpus& hundred() {
    static const corpus c = toy::numbered(100);
    return c;
}

}  // namespace

TEST_CASE("an exact index is asked once, for as many keys as certainly hold k units") {
    const written_index index = index_of_units(50, 4);
    const auto found = lexical(index, source_ref(hundred())).retrieve("", 5);
    CHECK(toy::units(found) == ids{0, 1, 2, 3, 4});
    CHECK(*index.asked == std::vector<std::size_t>{4 * 4 + 1});
    CHECK(found.state == result_state::complete);
    CHECK(found[0].via == key_id{3});  // the best of its four
}

TEST_CASE("k units come back though one unit owns the best forty keys") {
    written_index index = index_of_units(5, 1);
    for (std::uint32_t i = 0; i < 40; ++i) index.keys.push_back({unit_id{7}, key_id{100 + i}, 100.0f});
    const auto found = lexical(index, source_ref(hundred())).retrieve("", 5);
    CHECK(toy::units(found) == ids{7, 0, 1, 2, 3});
    CHECK(found[0].via == key_id{100});
}

TEST_CASE("an index that is not exact and answers short is asked for more until there are k units") {
    written_index index = index_of_units(60, 3);
    index.share = 8;
    const auto found = lexical(index, source_ref(hundred())).retrieve("", 10);
    CHECK(toy::units(found) == ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(found.state == result_state::approximate);
    CHECK(std::ranges::is_sorted(*index.asked));
    CHECK(index.asked->size() <= 8);
    // All of 60 come back when 100 are asked for, though the first round is one for the whole index.
    CHECK(lexical(index, source_ref(hundred())).retrieve("", 100).size() == 60);
}

TEST_CASE("an index that is not exact honours a filter and stops at what the filter lets through") {
    written_index index = index_of_units(100, 1);
    index.share = 4;
    const auto search = lexical(index, source_ref(hundred()));
    const auto odd = search.retrieve(query("").where(eq("part", 1)), 20);
    CHECK(odd.size() == 20);
    for (const auto& hit : odd) CHECK(index_of(hit.unit) % 2 == 1);
    CHECK(search.retrieve(query("").where(eq("part", 1)), 100).size() == 50);
    CHECK(search.retrieve(query("").where(eq("part", 7)), 100).empty());
}

TEST_CASE("an exact index that answers short has no more and is not asked again") {
    const written_index index = index_of_units(10, 2);
    const auto found = lexical(index, source_ref(hundred())).retrieve(query("").where(eq("part", 1)), 5);
    CHECK(toy::units(found) == ids{1, 3, 5, 7, 9});
    CHECK(index.asked->size() == 1);
    // A filter that lets nothing through leaves nothing to ask.
    CHECK(lexical(index, source_ref(hundred())).retrieve(query("").where(eq("part", 7)), 5).empty());
    CHECK(index.asked->size() == 1);
}

TEST_CASE("nothing asked, nothing held, and more than there is") {
    const written_index index = index_of_units(10, 2);
    CHECK(lexical(index, source_ref(hundred())).retrieve("", 0).empty());
    CHECK(index.asked->empty());
    CHECK(lexical(index, source_ref(hundred())).retrieve("", SIZE_MAX).size() == 10);
    const written_index empty{};
    CHECK(lexical(empty, source_ref(hundred())).retrieve("", 5).empty());
    CHECK(empty.asked->empty());
}

TEST_CASE("for every k the answer is that of collapsing everything") {
    std::mt19937 random(3);
    for (int round = 0; round < 40; ++round) {
        written_index index{};
        for (std::uint32_t i = 0; i < 80; ++i)
            index.keys.push_back({unit_id{static_cast<std::uint32_t>(random() % 20)}, key_id{i},
                                  static_cast<float>(random() % 10)});
        const auto all = collapse(index.search({}, SIZE_MAX, {}));
        for (const std::size_t share : {1u, 3u}) {
            index.share = share;
            const auto search = lexical(index, source_ref(hundred()));
            for (std::size_t k = 1; k <= 21; ++k) {
                const auto found = search.retrieve("", k);
                REQUIRE(found.size() == std::min(k, all.size()));
                for (std::size_t i = 0; i < found.size(); ++i) {
                    CHECK(found[i].unit == all[i].unit);
                    CHECK(found[i].via == all[i].key);
                    CHECK(found[i].score == all[i].score);
                }
            }
        }
    }
}

TEST_CASE("the trace tells what was asked for, found, widened and collapsed") {
    written_index index = index_of_units(60, 3);
    index.share = 8;
    trace t;
    lexical(index, source_ref(hundred())).retrieve(query("").traced(t), 10);
    const trace_event* searched = t.find(trace_code::searched, "bm25");
    REQUIRE(searched);
    CHECK(searched->in == 3 * 9 + 1);
    CHECK(searched->out == 28 / 8);
    const trace_event* widened = t.find(trace_code::widened, "bm25");
    REQUIRE(widened);
    CHECK(widened->out == 2 * widened->in);
    const trace_event* collapsed = t.find(trace_code::collapsed, "bm25");
    REQUIRE(collapsed);
    CHECK(collapsed->out == 10);
}

TEST_CASE("a stop is heard between two rounds of widening") {
    std::stop_source stop;
    struct stopping_index : written_index {
        std::stop_source* stop;
        std::vector<scored_key> search(const lexical_probe& p, std::size_t n, const accept& a) const {
            stop->request_stop();
            return written_index::search(p, n, a);
        }
    };
    stopping_index index{index_of_units(60, 3), &stop};
    index.share = 8;
    CHECK(code_of([&] {
              lexical(index, source_ref(hundred())).retrieve(query("").stop_on(stop.get_token()), 10);
          }) == "query.stopped");
    CHECK(index.asked->size() == 1);
}

namespace {

// An index that says how it came to its answers: complete or not, as it is told.
struct telling_index : written_index {
    bool complete = true;

    using written_index::search;
    std::vector<scored_key> search(const lexical_probe& probe, std::size_t n, const accept& allowed,
                                   search_report& report) const {
        report = {complete ? search_plan::scan_allowed : search_plan::walk_filtered, 17, complete,
                  plan_reason::cheaper};
        return search(probe, n, allowed);
    }
    bool approximate() const { return true; }
};

}  // namespace

TEST_CASE("the plan that an index chose is in the trace, and an answer is approximate if the plan was") {
    STATIC_REQUIRE(ReportingIndex<telling_index, lexical_probe>);
    STATIC_REQUIRE_FALSE(ReportingIndex<written_index, lexical_probe>);
    for (const bool complete : {true, false}) {
        telling_index index{index_of_units(20, 1)};
        index.complete = complete;
        trace t;
        const query asked = query("anything").traced(t);
        request q(asked, hundred());
        const auto found = search_units(index, lexical_probe{"anything"}, q, 3, "bm25", nullptr);
        CHECK(found.hits.size() == 3);
        CHECK(found.state == (complete ? result_state::complete : result_state::approximate));
        const trace plain = t.without_times();
        const trace_event* planned = plain.find(trace_code::planned);
        REQUIRE(planned != nullptr);
        CHECK(to_string(*planned) == std::string(complete ? "scan of the allowed" : "filtered walk") + ": planned 20 -> 17");
        REQUIRE(plain.remarks.size() == 1);
        CHECK(plain.remarks[0] == trace_remark{complete ? "scan of the allowed" : "filtered walk", "cheapest for so many"});
    }
}
