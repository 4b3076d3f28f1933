#include "quarry/store/save_hnsw.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_files.hpp"
#include "support/pool.hpp"
#include "support/stored.hpp"

using namespace quarry;

namespace {

constexpr std::size_t width = 8;
constexpr hnsw_options few_links{.m = 4, .ef_construction = 20, .ef = 0, .scan_below = 0};

std::vector<float> hnsw_row(std::mt19937& random) {
    std::vector<float> row(width);
    for (float& x : row) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    return row;
}

// Units of one and of two keys; some removed and one of those added again.
hnsw_index linked(std::size_t rows) {
    std::mt19937 random(1);
    hnsw_index index(width, few_links);
    for (std::size_t i = 0; i < rows; ++i) index.add(unit_at(i * 3 / 4), hnsw_row(random));
    for (std::size_t i = 0; i < rows / 8; ++i) index.remove(unit_at(2 * i));
    index.add(unit_at(0), hnsw_row(random));
    return index;
}

struct written_graph {
    std::string head, matrix, links;
};
written_graph written(const hnsw_index& index) {
    written_graph out;
    using saved = detail::saved<hnsw_index>;
    saved::write(index, detail::byte_writer(out.head));
    saved::write_matrix(index, detail::byte_writer(out.matrix));
    saved::write_links(index, detail::byte_writer(out.links));
    return out;
}
hnsw_index read(const written_graph& w) {
    return detail::saved<hnsw_index>::read({w.head, "graph"}, rest_of_bytes{w.matrix}, {w.links, "links"}, width);
}

}  // namespace

TEST_CASE("a graph that was loaded answers bit by bit as the saved one, goes on like it, and gives the same bytes") {
    memory_files files;
    const store_options options{.files = &files};
    hnsw_index index = linked(400);
    REQUIRE(index.approximate());
    save("graph", index, options);
    hnsw_index again = load_hnsw<hnsw_index>("graph", width, options);
    std::mt19937 random(2);
    unit_set some(500);
    for (std::size_t i = 0; i < 500; i += 2) some.insert(unit_at(i));
    const auto same = [&] {
        for (int i = 0; i < 40; ++i) {
            const auto probe = hnsw_row(random);
            search_report a, b;
            REQUIRE(index.search(probe, 10, {}, a) == again.search(probe, 10, {}, b));
            REQUIRE(a.scored == b.scored);
            REQUIRE(index.search(probe, 10, {&some}) == again.search(probe, 10, {&some}));
            REQUIRE(index.bounds(probe).low == again.bounds(probe).low);
        }
        CHECK(index.ef() == again.ef());
        CHECK(index.measured_recall() == again.measured_recall());
        CHECK(index.most_keys_of_a_unit() == again.most_keys_of_a_unit());
        save("index", index, options);
        save("again", again, options);
        CHECK(files.files.at("again") == files.files.at("index"));
    };
    same();
    for (hnsw_index* each : {&index, &again}) {
        std::mt19937 fresh(3);
        for (std::size_t i = 0; i < 100; ++i) each->add(unit_at(700 + i), hnsw_row(fresh));
        CHECK(each->remove(unit_at(299)) > 0);
    }
    same();
    for (hnsw_index* each : {&index, &again})
        for (std::size_t i = 101; i < 760; ++i) each->remove(unit_at(i));  // and the graph is built anew
    same();
}

TEST_CASE("a graph that is linked in batches has the same bytes for any number of threads, and finds what another finds") {
    constexpr std::size_t size = 1500;
    std::mt19937 random(6);
    std::vector<unit_id> units;
    std::vector<float> rows;
    for (std::size_t i = 0; i < size; ++i) {
        units.push_back(unit_at(i));
        const auto row = hnsw_row(random);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    const auto linked_on = [&](const executor& on) {
        hnsw_index index(width, {.m = 6, .ef_construction = 30, .ef = 20, .scan_below = 0});
        index.add(std::span(units).first(500), std::span(rows).first(500 * width), on);
        for (std::size_t i = 0; i < 100; ++i) index.remove(unit_at(5 * i));
        index.add(std::span(units).subspan(500), std::span(rows).subspan(500 * width), on);
        return index;
    };
    const hnsw_index alone = linked_on({});
    const written_graph bytes = written(alone);
    for (const std::size_t threads : {1u, 2u, 8u}) {
        pool others(threads);
        const written_graph again = written(linked_on(std::ref(others)));
        CHECK(again.links == bytes.links);
        CHECK(again.head == bytes.head);
        CHECK(again.matrix == bytes.matrix);
    }
    hnsw_index one_by_one(width, alone.options());
    for (std::size_t i = 0; i < size; ++i)
        if (i >= 500 || i % 5 != 0) one_by_one.add(unit_at(i), std::span(rows).subspan(i * width, width));
    std::size_t missed = 0, missed_by_one = 0;
    for (int q = 0; q < 100; ++q) {
        const auto probe = hnsw_row(random);
        const auto best = alone.score(probe, units);
        const auto misses = [&](const hnsw_index& index) {
            const scored_key found = index.search(probe, 1).front();
            return std::ranges::any_of(best, [&](const scored_key& key) { return key.key != no_key && key.score > found.score; });
        };
        missed += misses(alone);
        missed_by_one += misses(one_by_one);
    }
    CHECK(missed <= missed_by_one + 5);
}

TEST_CASE("few rows are saved without a graph, and a graph of another width, scale or program is refused") {
    memory_files files;
    const store_options options{.made_with = {{"embedder", "model-a"}}, .files = &files};
    hnsw_index few(width);
    std::mt19937 random(4);
    few.add(unit_at(3), hnsw_row(random));
    save("few", few, options);
    const hnsw_index again = load_hnsw<hnsw_index>("few", width, options);
    CHECK_FALSE(again.approximate());
    CHECK(again.size() == 1);
    CHECK(code_of([&] { load_hnsw<hnsw_index>("few", width + 1, options); }) == "store.fingerprint");
    CHECK(code_of([&] { load_hnsw<hnsw_product_index>("few", width, options); }) == "store.fingerprint");
    CHECK(code_of([&] { load_hnsw<hnsw_index>("few", width, {.made_with = {{"embedder", "model-b"}}, .files = &files}); }) ==
          "store.fingerprint");
}

TEST_CASE("links and counts that a stranger changed are refused, or lead to rows that are there") {
    const written_graph whole = written(linked(10));
    std::mt19937 random(5);
    const auto used = [&](const written_graph& w) {
        const hnsw_index index = read(w);
        index.search(hnsw_row(random), 1);
        return written(index);
    };
    CHECK(stored::refuses_or_keeps(whole.links, [&](const std::string& changed) {
              return used({whole.head, whole.matrix, changed}).links;
          }) > whole.links.size());
    CHECK(stored::refuses_or_keeps(whole.head, [&](const std::string& changed) {
              return used({changed, whole.matrix, whole.links}).head;
          }) > whole.head.size());
}
