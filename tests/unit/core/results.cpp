#include "quarry/core/results.hpp"

#include <memory>
#include <string>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

using word_hit = hit<bm25_scale>;

corpus one_article() {
    corpus c;
    c.add({.id = "a", .title = "Title", .text = "body of a"});
    return c;
}

}  // namespace

TEST_CASE("a hit is sixteen bytes and stands for a unit, a key, a score and a trail") {
    STATIC_REQUIRE(sizeof(hit<bm25_scale>) == 16);
    STATIC_REQUIRE(sizeof(hit<cosine_scale>) == 16);
    const word_hit plain{unit_id{3}};
    CHECK(plain.via == no_key);
    CHECK(plain.trail == no_entry);
}

TEST_CASE("hits are ordered by score, then by unit, and keys decide nothing") {
    const word_hit high{unit_id{9}, key_id{0}, 2.0f}, low{unit_id{1}, key_id{0}, 1.0f},
        tied{unit_id{2}, key_id{0}, 1.0f};
    CHECK(better(high, low));
    CHECK_FALSE(better(low, high));
    CHECK(better(low, tied));
    CHECK_FALSE(better(tied, low));
    CHECK_FALSE(better(low, low));
}

TEST_CASE("results are a range of their hits") {
    results<bm25_scale> r;
    CHECK(r.empty());
    CHECK(r.size() == 0);
    CHECK(r.state == result_state::complete);
    r.hits = {{unit_id{4}, no_key, 2.0f}, {unit_id{2}, no_key, 1.0f}};
    std::vector<std::size_t> units;
    for (const auto& h : r) units.push_back(index_of(h.unit));
    CHECK(units == std::vector<std::size_t>{4, 2});
    CHECK(r[1].unit == unit_id{2});
    CHECK(r.size() == 2);
}

TEST_CASE("states have names and are ordered from best to worst") {
    CHECK(name_of(result_state::complete) == "complete");
    CHECK(name_of(result_state::approximate) == "approximate");
    CHECK(name_of(result_state::degraded) == "degraded");
    CHECK(result_state::complete < result_state::approximate);
    CHECK(result_state::approximate < result_state::degraded);
}

TEST_CASE("results that no retriever returned say so instead of reading what is not there") {
    results<bm25_scale> r;
    r.hits = {{unit_id{0}, key_id{0}, 1.0f, 0}};
    CHECK(code_of([&] { r.source(); }) == "results.detached");
    CHECK(code_of([&] { r.unit(r[0]); }) == "results.detached");
    CHECK(code_of([&] { r.matched(r[0]); }) == "results.detached");
    CHECK(code_of([&] { r.explain(r[0]); }) == "results.detached");
    CHECK(code_of([&] { r.notes(); }) == "results.detached");
}

TEST_CASE("the matched key is the one the hit came by, whole keys showing their unit's words") {
    const corpus c = one_article();
    key_table keys(key_kind::metadata);
    keys.add({unit_id{0}, key_part::heading, "How to"});
    keys.add({unit_id{0}, key_part::whole, "Title body of a"});
    const query q("t");
    request r(q, c);
    results<bm25_scale> found;
    found.hits = {
        {unit_id{0}, key_id{0}, 2.0f, r.note({.stage = "bm25", .keys = &keys, .key = key_id{0}})},
        {unit_id{0}, key_id{1}, 2.0f, r.note({.stage = "bm25", .keys = &keys, .key = key_id{1}})},
        {unit_id{0}, key_id{7}, 2.0f, r.note({.stage = "bm25", .keys = &keys, .key = key_id{7}})},
        {unit_id{0}, key_id{0}, 2.0f, r.note({.stage = "bm25"})},
        {unit_id{0}, no_key, 2.0f, 0},
        {unit_id{0}, key_id{0}, 2.0f, no_entry},
    };
    found.attach(r);
    REQUIRE(found.matched(found[0]));
    CHECK(found.matched(found[0])->text == "How to");
    CHECK(found.matched(found[0])->part == key_part::heading);
    CHECK(found.matched(found[0])->kind == key_kind::metadata);
    REQUIRE(found.matched(found[1]));
    CHECK(found.matched(found[1])->text == "body of a");
    CHECK_FALSE(found.matched(found[2]));  // a key that the table never gave
    CHECK_FALSE(found.matched(found[3]));  // an index that keeps no words
    CHECK_FALSE(found.matched(found[4]));
    CHECK_FALSE(found.matched(found[5]));
}

TEST_CASE("an explanation has a line an entry, with what a number was computed from indented below it") {
    const corpus c = one_article();
    key_table keys(key_kind::metadata);
    const key_id title = keys.add({unit_id{0}, key_part::title, "Title"});
    const query q("t");
    request r(q, c);
    const auto words = r.note({.stage = "bm25", .keys = &keys, .key = title, .rank = 2, .raw = 7.5f, .score = 7.5f});
    const auto meaning = r.note({.stage = "dense", .rank = 1, .raw = 0.5f, .score = 0.5f});
    const auto second = r.note({.stage = "dense part", .rank = 1, .raw = 0.5f, .score = 0.25f, .from = meaning});
    const auto first = r.note(
        {.stage = "bm25 part", .rank = 2, .raw = 7.5f, .weight = 2.0f, .score = 0.5f, .from = words, .beside = second});
    const auto sum = r.note({.stage = "rrf", .raw = 0.75f, .score = 0.75f, .from = first});
    results<rrf_scale> found;
    found.hits = {{unit_id{0}, title, 0.75f, sum}};
    found.attach(r);
    CHECK(found.explain(found[0]) ==
          "0.75 on the rrf scale\n"
          "  0.75 by rrf\n"
          "    0.5 by bm25 part, rank 2, from 7.5, weight 2\n"
          "      7.5 by bm25, rank 2, key title \"Title\"\n"
          "    0.25 by dense part, rank 1, from 0.5\n"
          "      0.5 by dense, rank 1\n");
}

TEST_CASE("units of attached results come from the source of the request") {
    const corpus c = one_article();
    const query q("t");
    request r(q, c);
    results<bm25_scale> found;
    found.hits = {{unit_id{0}, no_key, 1.0f}};
    found.attach(r);
    CHECK(found.source() == source_ref(c));
    CHECK(found.unit(found[0]).title() == "Title");
}

TEST_CASE("results outlive their request and their query, and keep what they pin") {
    const corpus c = one_article();
    auto pin = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = pin;
    results<bm25_scale> found;
    {
        const query q("t");
        request r(q, c);
        found.hits = {{unit_id{0}, no_key, 1.0f, r.note({.stage = "bm25", .score = 1.0f})}};
        found.attach(r, std::move(pin));
    }
    CHECK(found.explain(found[0]) == "1 on the bm25 scale\n  1 by bm25, from 0\n");
    const results<bm25_scale> copy = found;
    found = {};
    CHECK_FALSE(watched.expired());
    CHECK(copy.unit(copy[0]).id() == "a");
}
