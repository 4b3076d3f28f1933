// Cases in which other libraries' graph indexes failed in public, each with its issue.
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "quarry/index/hnsw_index.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

using ann_row = std::vector<float>;
constexpr hnsw_options from_the_first{.m = 8, .ef_construction = 40, .ef = 10, .scan_below = 0};

ann_row ann_noise(std::size_t d, std::mt19937& random) {
    ann_row out(d);
    for (float& x : out) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    return out;
}

std::vector<std::size_t> ann_units(const std::vector<scored_key>& hits) {
    std::vector<std::size_t> out;
    for (const scored_key& h : hits) out.push_back(index_of(h.unit));
    return out;
}

}  // namespace

TEST_CASE("a graph with fewer matches than asked for gives those") {  // hnswlib 465, 444, 244, 608
    std::mt19937 random(1);
    hnsw_index index(8, from_the_first);
    for (std::size_t i = 0; i < 10; ++i) index.add(unit_at(i), ann_noise(8, random));
    unit_set two(10), none(10);
    two.insert(unit_at(3));
    two.insert(unit_at(8));
    const ann_row probe = ann_noise(8, random);
    CHECK(index.search(probe, 2, {&two}).size() == 2);
    CHECK(index.search(probe, 5, {&two}).size() == 2);
    CHECK(index.search(probe, 2, {&none}).empty());
    for (const std::size_t left : {1u, 0u}) {
        index.remove(index.search(probe, 1, {&two}).front().unit);
        CHECK(index.search(probe, 2, {&two}).size() == left);
    }
}

TEST_CASE("a filter that excludes what is near starves nobody") {  // pgvector 671, sqlite-vec 152, lucene 656
    std::mt19937 random(2);
    hnsw_index index(4, from_the_first);
    for (std::size_t i = 0; i < 6; ++i) index.add(unit_at(i), ann_row{1, 0, 0, static_cast<float>(i) * 0.01f});
    for (std::size_t i = 6; i < 9; ++i) index.add(unit_at(i), ann_row{0, 1, static_cast<float>(i), 0});
    unit_set orthogonal(9);
    for (std::size_t i = 6; i < 9; ++i) orthogonal.insert(unit_at(i));
    CHECK(index.search(ann_row{1, 0, 0, 0}, 5, {&orthogonal}).size() == 3);

    hnsw_index many(32, from_the_first);
    flat_index exact(32);
    for (std::size_t i = 0; i < 1000; ++i) {
        const ann_row row = ann_noise(32, random);
        many.add(unit_at(i), row);
        exact.add(unit_at(i), row);
    }
    unit_set rare(1000);
    for (const std::size_t i : {17u, 222u, 501u, 777u, 998u}) rare.insert(unit_at(i));
    const ann_row probe = ann_noise(32, random);
    CHECK(many.search(probe, 5, {&rare}) == exact.search(probe, 5, {&rare}));
}

TEST_CASE("extreme parameters are refused before anything is allocated") {  // CVE-2023-37365, hnswlib 467
    for (const std::size_t m : {std::size_t{0}, std::size_t{1}, std::size_t{257}, std::size_t{1000000000}, SIZE_MAX})
        CHECK(code_of([&] { hnsw_index(8, {.m = m}); }) == "hnsw.options");
    for (const std::size_t ef : {std::size_t{0}, SIZE_MAX})
        CHECK(code_of([&] { hnsw_index(8, {.ef_construction = ef}); }) == "hnsw.options");
    for (const float recall : {-0.1f, 1.5f, std::nanf("")})
        CHECK(code_of([&] { hnsw_index(8, {.recall = recall}); }) == "hnsw.options");
    CHECK(message_of([] { hnsw_index(8, {.m = 300}); }).find("m is 300") != std::string::npos);
    CHECK(code_of([] { hnsw_index(0); }) == "dense.dimension");
}

TEST_CASE("ef below k, above the rows, and absurd k give what there is") {  // redis 14368, bleve 1953, headroom 2317
    std::mt19937 random(3);
    hnsw_index index(8, from_the_first);
    for (std::size_t i = 0; i < 200; ++i) index.add(unit_at(i), ann_noise(8, random));
    const ann_row probe = ann_noise(8, random);
    CHECK(index.search(probe, 50).size() == 50);
    index.walk_with(std::size_t{1} << 31);
    CHECK(index.search(probe, 3).size() == 3);
    CHECK(index.search(probe, 999999999).size() == 200);
    CHECK(index.search(probe, SIZE_MAX).size() == 200);
    CHECK(index.search(probe, 0).empty());
}

TEST_CASE("an index that grows far beyond its first rows reaches every one") {  // hnswlib 39
    std::mt19937 random(4);
    hnsw_index index(16, from_the_first);
    std::vector<ann_row> rows;
    for (std::size_t i = 0; i < 4; ++i) {
        rows.push_back(ann_noise(16, random));
        index.add(unit_at(i), rows.back());
    }
    while (rows.size() < 600) {
        const std::size_t some = rows.size() % 2 == 0 ? 1 : 3;
        std::vector<unit_id> units;
        ann_row joined;
        for (std::size_t i = 0; i < some; ++i) {
            units.push_back(unit_at(rows.size()));
            rows.push_back(ann_noise(16, random));
            joined.insert(joined.end(), rows.back().begin(), rows.back().end());
        }
        index.add(units, joined);
    }
    std::size_t itself = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) itself += index_of(index.search(rows[i], 1).front().unit) == i;
    CHECK(itself >= rows.size() * 99 / 100);
    CHECK(index.search(rows[0], SIZE_MAX).size() == rows.size());
}

TEST_CASE("among many exact duplicates a row finds a copy of itself") {  // hnswlib 263, n2 39
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
        std::mt19937 random(seed);
        std::vector<ann_row> originals;
        for (int i = 0; i < 5; ++i) originals.push_back(ann_noise(64, random));
        hnsw_index index(64, {.m = 16, .ef_construction = 50, .ef = 5, .scan_below = 0});
        for (std::size_t copy = 0; copy < 60; ++copy)
            for (std::size_t i = 0; i < 5; ++i) index.add(unit_at(copy * 5 + i), originals[i]);
        for (const ann_row& row : originals)
            for (const std::size_t k : {1u, 10u}) CHECK(index.search(row, k).front().score >= 0.9999f);
    }
}

TEST_CASE("a row that lies alone is found, by itself and when all are asked for") {  // hnswlib 352
    std::mt19937 random(5);
    hnsw_index index(32, {.m = 32, .ef_construction = 100, .ef = 10, .scan_below = 0});
    for (std::size_t i = 0; i < 100; ++i) {
        ann_row row = ann_noise(32, random);
        for (float& x : row) x = 1.0f + 0.01f * x;
        index.add(unit_at(i), row);
    }
    ann_row alone(32, -1.0f);
    index.add(unit_at(100), alone);
    CHECK(index_of(index.search(alone, 1).front().unit) == 100);
    CHECK(index.search(alone, 101).size() == 101);
}

TEST_CASE("what is left after a whole region was removed is found, and nothing after everything was") {  // hnswlib 4,
                                                                                                         // 321, 189
    std::mt19937 random(6);
    hnsw_index index(16, from_the_first);
    const auto around = [&](float centre) {
        ann_row row = ann_noise(16, random);
        row[0] += centre;
        return row;
    };
    for (std::size_t i = 0; i < 200; ++i) index.add(unit_at(i), around(9));
    for (std::size_t i = 200; i < 400; ++i) index.add(unit_at(i), around(-9));
    for (std::size_t i = 0; i < 200; ++i) index.remove(unit_at(i));
    const ann_row at_the_first{9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const auto left = ann_units(index.search(at_the_first, 5));
    REQUIRE(left.size() == 5);
    for (const std::size_t unit : left) CHECK(unit >= 200);
    for (std::size_t i = 200; i < 400; ++i) index.remove(unit_at(i));
    CHECK(index.search(at_the_first, 5).empty());
    index.add(unit_at(7), at_the_first);
    CHECK(ann_units(index.search(at_the_first, 5)) == std::vector<std::size_t>{7});
}

TEST_CASE("a unit that is removed and added again is there once, with its newest row") {  // chroma 1265
    std::mt19937 random(7);
    hnsw_index index(16, from_the_first);
    for (std::size_t i = 0; i < 60; ++i) index.add(unit_at(i), ann_noise(16, random));
    for (int cycle = 0; cycle < 10; ++cycle) {
        CHECK(index.remove(unit_at(5)) == 1);
        const ann_row row = ann_noise(16, random);
        index.add(unit_at(5), row);
        CHECK(ann_units(index.search(row, 1)) == std::vector<std::size_t>{5});
        const auto all = ann_units(index.search(row, SIZE_MAX));
        CHECK(all.size() == 60);
        CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == 60);
        CHECK(index.size() == 60);
    }
}
