// The laws of indexes, applied to every index: ours, and those that only satisfy the concepts.
#include <random>
#include <string>
#include <vector>

#include "laws/key_index.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/index/hnsw_index.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"
#include "support/toy_engine.hpp"
#include "support/words.hpp"

using namespace quarry;

namespace {

constexpr std::size_t universe = 60;

std::string random_text(std::mt19937& random, std::size_t words) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) text += (i == 0 ? "w" : " w") + std::to_string(random() % 14);
    return text;
}

// A few values only, so that there are ties; never zero.
std::vector<float> random_row(std::mt19937& random, std::size_t d) {
    std::vector<float> row(d);
    for (float& x : row) x = static_cast<float>(random() % 5) - 1;
    row[0] = 1.0f;
    return row;
}

const std::vector<lexical_probe>& questions() {
    static const std::vector<lexical_probe> probes{{"w1"}, {"w2 w3 w3"}, {"w1 w5 w9 w13"}, {"unknown"}, {""}, {"w4 unknown"}};
    return probes;
}

const std::vector<std::vector<float>>& rows() {
    static const std::vector<std::vector<float>> probes{{1, 0, 0, 0}, {1, 2, 3, 4}, {-1, 1, -1, 1}, {0, 0, 1e-3f, 0}};
    return probes;
}

template <class Index>
Index filled_with_rows() {
    std::mt19937 random(2);
    Index index(4);
    for (std::size_t i = 0; i < 150; ++i)
        index.add(unit_id{static_cast<std::uint32_t>(random() % (universe - 5))}, random_row(random, 4));
    index.remove(unit_id{7});
    return index;
}

}  // namespace

TEST_CASE("laws: bm25_index") {
    std::mt19937 random(1);
    for (const bool positions : {true, false}) {
        bm25_index index(toy::whitespace({"w13"}), {.positions = positions});
        for (std::size_t i = 0; i < 150; ++i)
            index.add(unit_id{static_cast<std::uint32_t>(random() % (universe - 5))}, random_text(random, random() % 9));
        index.remove(unit_id{3});
        laws::sparse_index(index, questions(), universe);
        laws::refuses_unevaluated_filters(index, lexical_probe{"w1"});
    }
    laws::sparse_index(bm25_index(), questions(), universe);
}

TEST_CASE("laws: flat_index, cosine") {
    const auto index = filled_with_rows<flat_index>();
    laws::dense_index(index, rows(), universe);
    laws::refuses_unevaluated_filters(index, dense_probe(rows()[0]));
    laws::dense_index(flat_index(4), rows(), universe);
}

TEST_CASE("laws: flat_index, inner product") { laws::dense_index(filled_with_rows<flat_product_index>(), rows(), universe); }

TEST_CASE("laws: hnsw_index, by walking and by scanning") {
    for (const std::size_t scan_below : {std::size_t{0}, std::size_t{1000}}) {
        std::mt19937 random(2);
        hnsw_index index(4, {.m = 8, .ef_construction = 40, .ef = 8, .scan_below = scan_below});
        hnsw_product_index products(4, {.m = 8, .ef_construction = 40, .ef = 8, .scan_below = scan_below});
        for (std::size_t i = 0; i < 150; ++i) {
            const unit_id unit{static_cast<std::uint32_t>(random() % (universe - 5))};
            const auto row = random_row(random, 4);
            index.add(unit, row);
            products.add(unit, row);
        }
        index.remove(unit_id{7});
        products.remove(unit_id{7});
        laws::dense_index(index, rows(), universe);
        laws::dense_index(products, rows(), universe);
        laws::refuses_unevaluated_filters(index, dense_probe(rows()[0]));
    }
    laws::dense_index(hnsw_index(4), rows(), universe);
}

TEST_CASE("laws: an index of words that only satisfies the concept") {
    std::mt19937 random(3);
    toy::word_index index;
    for (std::size_t i = 0; i < 100; ++i)
        index.keys.emplace_back(unit_id{static_cast<std::uint32_t>(i % (universe - 5))}, random_text(random, 4));
    index.most = 2;
    laws::sparse_index(index, questions(), universe);
}

TEST_CASE("laws: an engine elsewhere, over our corpus and over its own documents") {
    std::mt19937 random(4);
    const corpus c = toy::numbered(universe);
    toy::engine engine;
    for (std::size_t i = 0; i < universe - 5; ++i)
        engine.put({.id = std::to_string((i * 11) % universe), .text = random_text(random, 5), .vector = random_row(random, 4)});
    engine.put({.id = "stranger", .text = "w1 w1 w1", .vector = {1, 1, 1, 1}});
    laws::sparse_index(toy::engine_words(engine, c), questions(), universe);
    laws::dense_index(toy::engine_vectors(engine, c, 4), rows(), universe);
    const toy::engine_source own(engine);
    laws::sparse_index(toy::engine_words(engine, own), questions(), own.size());
    laws::dense_index(toy::engine_vectors(engine, own, 4), rows(), own.size());
}
