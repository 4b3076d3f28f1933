#include "quarry/retrieve/raptor.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "quarry/rank/fuse.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;
using summary_list = toy::listed<cosine_scale>;
using leaf_list = toy::scoring_list<cosine_scale>;
using toy::scored_units;

// Leaves a1 = 0, a2 = 1, b1 = 2, b2 = 3, alone = 4; summaries A = 5, B = 6, root = 7. "who" is the leaf's owner.
corpus tree(const std::vector<std::string>& owners = {"x", "x", "x", "x", "x"}) {
    corpus c(schema{{"who", field_type::string}});
    const char* names[] = {"a1", "a2", "b1", "b2", "alone"};
    for (std::size_t i = 0; i < 5; ++i) c.add({.id = names[i], .text = names[i], .meta = {{"who", owners[i]}}});
    const auto unit = [](std::uint32_t u) { return unit_id{u}; };
    c.add_generated({.id = "A", .text = "summary of a", .sources = {unit(0), unit(1)}});
    c.add_generated({.id = "B", .text = "summary of b", .sources = {unit(2), unit(3)}});
    c.add_generated({.id = "root", .text = "summary of all", .sources = {unit(5), unit(6)}});
    return c;
}

// The question is closest to A, and then to b1.
const scored_units leaves{{2, .8f}, {0, .7f}, {1, .4f}, {3, .2f}, {4, .1f}}, summaries{{5, .9f}, {7, .5f}, {6, .3f}};

auto layered(const corpus& c, raptor_search_options options, scored_units tops = summaries) {
    return raptor_layered(leaf_list(c, leaves, {}), summary_list(c, std::move(tops)), std::move(options));
}
auto collapsed(const corpus& c, raptor_search_options options = {}) {
    return raptor_collapsed(leaf_list(c, leaves, {}), summary_list(c, summaries), std::move(options));
}
query with_summaries() { return query("x").include_generated(); }

}  // namespace

TEST_CASE("raptor search: collapsed, units and summaries compete in one list") {
    const corpus c = tree();
    const auto found = collapsed(c).retrieve(with_summaries(), 8);
    CHECK(toy::units(found) == ids{5, 2, 0, 7, 1, 6, 3, 4});
    CHECK(toy::units(collapsed(c).retrieve(with_summaries(), 3)) == ids{5, 2, 0});
    CHECK(found.unit(found.hits[0]).kind() == unit_kind::generated);
}

TEST_CASE("raptor search: a summary that was not asked for gives its place to the source that answers best") {
    const corpus c = tree();
    // A (.9) stands for a1; the root (.5) for b1, which is better by itself (.8); B (.3) likewise.
    const auto found = collapsed(c).retrieve("x", 8);
    CHECK(toy::units(found) == ids{0, 2, 1, 3, 4});
    CHECK(found[0].score == .9f);
    CHECK(found.explain(found.hits[0]).find("raptor") != std::string::npos);
    for (const auto& h : found) CHECK(found.unit(h).kind() == unit_kind::article);
}

TEST_CASE("raptor search: layered, every unit has its parent in the layer before, for beams of one and of two") {
    const corpus c = tree();
    CHECK(toy::units(layered(c, {.beam = 1}).retrieve("x", 2)) == ids{0, 1});
    CHECK(toy::units(layered(c, {.beam = 2}).retrieve("x", 2)) == ids{2, 0});
    // Summaries that were gone through are returned where they are asked for.
    CHECK(toy::units(layered(c, {.beam = 1}).retrieve(with_summaries(), 3)) == ids{5, 0, 7});
    // The beam widens until k are found; a unit without a summary is found as well.
    CHECK(toy::units(layered(c, {.beam = 1}).retrieve("x", 5)) == ids{2, 0, 1, 3, 4});
    CHECK(layered(c, {.beam = 1}).retrieve("x", 99).size() == 5);
    CHECK(layered(c, {}).retrieve("x", 0).empty());
}

TEST_CASE("raptor search: summaries that do not match at all are a way down if it comes to that") {
    const corpus c = tree();
    CHECK(toy::units(layered(c, {.beam = 1}, {}).retrieve("x", 5)) == ids{2, 0, 1, 3, 4});
}

TEST_CASE("raptor search: summaries are seen only where all of their sources are, and walked through where any is") {
    const corpus c = tree({"x", "y", "y", "y", "x"});
    const query as_x = query("q").within(scope::only(eq("who", "x"))).include_generated();
    for (const auto& found : {collapsed(c).retrieve(as_x, 9), layered(c, {.beam = 1}).retrieve(as_x, 9)})
        CHECK(toy::units(found) == ids{0, 4});
    const corpus all_mine = tree();
    CHECK(collapsed(all_mine).retrieve(as_x, 9).size() == 8);
    const query filtered = query("q").where(eq("who", "y"));
    CHECK(toy::units(collapsed(c).retrieve(filtered, 9)) == ids{1, 2, 3});  // A stands for a2: .9
    CHECK(toy::units(layered(c, {.beam = 1}).retrieve(filtered, 9)) == ids{2, 1, 3});
}

TEST_CASE("raptor search: a budget stops at the first unit that would overflow it, or skips it") {
    const auto kept = [](const std::vector<std::size_t>& sizes, std::size_t budget, budget_rule rule) {
        std::vector<std::size_t> hits(sizes.size());
        for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = i;
        detail::keep_within(hits, budget, rule, [&](std::size_t i) { return sizes[i]; });
        return hits;
    };
    using list = std::vector<std::size_t>;
    CHECK(kept({120, 900, 1100, 50, 40}, 2000, budget_rule::stop) == list{0, 1});
    CHECK(kept({120, 900, 1100, 50, 40}, 2000, budget_rule::skip) == list{0, 1, 3, 4});
    CHECK(kept({1000, 1000}, 2000, budget_rule::stop) == list{0, 1});
    CHECK(kept({5}, 0, budget_rule::stop).empty());

    const corpus c = tree();
    const auto letters = [](std::string_view text) { return text.size(); };
    // "summary of a" has 12 letters, the leaves two.
    CHECK(toy::units(collapsed(c, {.tokens = 14, .count = letters}).retrieve(with_summaries(), 9)) == ids{5, 2});
    CHECK(toy::units(collapsed(c, {.tokens = 5, .rule = budget_rule::skip, .count = letters})
                         .retrieve(with_summaries(), 9)) == ids{2, 0});
}

TEST_CASE("raptor search: a source without generated units, and summaries of another source") {
    const corpus flat = toy::numbered(3), other = toy::numbered(3);
    const scored_units some{{1, .5f}, {0, .4f}};
    CHECK(toy::units(raptor_layered(leaf_list(flat, some, {}), summary_list(flat, {})).retrieve("x", 5)) == ids{1, 0});
    CHECK(toy::units(raptor_collapsed(leaf_list(flat, some, {}), summary_list(flat, {})).retrieve("x", 5)) ==
          ids{1, 0});
    CHECK(code_of([&] { raptor_collapsed(leaf_list(flat, some, {}), summary_list(other, {})); }) == "raptor.source");
}

TEST_CASE("raptor search: only the summaries that are named are the tree") {
    const corpus c = tree();
    // Without the root, A and B are the top.
    CHECK(toy::units(layered(c, {.beam = 1, .summaries = {unit_id{5}, unit_id{6}}}).retrieve("x", 2)) == ids{0, 1});
    CHECK(toy::units(layered(c, {.beam = 1, .summaries = {unit_id{6}}}).retrieve("x", 3)) == ids{2, 0, 1});
}

TEST_CASE("raptor search: given units are scored as the list of all has them, whatever may be seen or returned") {
    for (const auto& owners : {std::vector<std::string>{"x", "x", "x", "x", "x"}, {"x", "y", "y", "y", "x"}}) {
        const corpus c = tree(owners);
        const auto search =
            raptor_collapsed(leaf_list(c, leaves, {}), leaf_list(c, summaries, {}), {.tokens = 1});  // knows no budget
        const auto whole = raptor_collapsed(leaf_list(c, leaves, {}), summary_list(c, summaries));
        for (const query& q :
             {query("x"), with_summaries(), query("x").where(eq("who", "y")),
              query("x").within(scope::only(eq("who", "x"))).include_generated()}) {
            const auto found = whole.retrieve(q, 99);
            request r(q, c);
            std::vector<unit_id> all;
            for (std::uint32_t u = 8; u-- > 0;)
                if (r.admits(unit_id{u})) all.push_back(unit_id{u});
            const auto scores = search.score(r, all);
            REQUIRE(scores.size() == all.size());
            std::size_t known = 0;
            for (const scored_key& s : scores) {
                if (s.key == no_key) continue;
                ++known;
                const auto at = std::ranges::find(found.hits, s.unit, &hit<cosine_scale>::unit);
                REQUIRE(at != found.hits.end());
                CHECK(at->score == s.score);
                CHECK(at->via == s.key);
            }
            CHECK(known == found.size());
        }
    }
}

TEST_CASE("raptor search: a tree is a leg of bounded fusion, whose bounds are those of units and of better summaries") {
    const corpus c = tree();
    const auto search = raptor_collapsed(leaf_list(c, leaves, {.1f, .8f}), leaf_list(c, summaries, {.2f, .9f}));
    request r("x", c);
    CHECK(search.bounds(r).low == .1f);
    CHECK(search.bounds(r).high == .9f);
    // By the tree: a1 .9, b1 .8, a2 .4, b2 .2, alone .1. The other leg knows a2 alone, and is sure: 1.
    // a1: 1 for the tree. a2: .375 and 1 make 1.375 - .75 * .375 = 1.09375.
    const toy::scoring_list<bm25_scale> other(c, {{1, 2.0f}}, {0.0f, 2.0f});
    const auto fused = fuse(bounded{}, search, other).retrieve("x", 2);
    CHECK(toy::units(fused) == ids{1, 0});
    CHECK(fused[0].score == Approx(1.09375));
    CHECK(fused[1].score == Approx(1.0));
    static_assert(!ScoringRetriever<decltype(layered(c, {}))>);
}
