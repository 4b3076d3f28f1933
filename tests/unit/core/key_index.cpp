#include "quarry/core/key_index.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "support/catch.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Every ranking of `size` keys in which no unit owns more than `most`: calls `f` with the units in order.
void each_ranking(std::size_t size, std::size_t most, std::vector<std::size_t>& units,
                  const std::function<void(const std::vector<std::size_t>&)>& f) {
    if (units.size() == size) return f(units);
    const std::size_t known = units.empty() ? 0 : *std::ranges::max_element(units) + 1;
    for (std::size_t unit = 0; unit <= known; ++unit) {  // the next new unit gets the next number
        if (static_cast<std::size_t>(std::ranges::count(units, unit)) == most) continue;
        units.push_back(unit);
        each_ranking(size, most, units, f);
        units.pop_back();
    }
}

std::size_t distinct(const std::vector<std::size_t>& units, std::size_t first) {
    return std::set(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(first)).size();
}

}  // namespace

TEST_CASE("as many keys as the pigeonhole bound says are enough for k units in every ranking, and one fewer is not") {
    for (std::size_t size = 1; size <= 7; ++size)
        for (std::size_t most = 1; most <= 4; ++most)
            for (std::size_t k = 1; k <= 5; ++k) {
                const std::size_t n = detail::keys_needed(k, most, size);
                CAPTURE(size, most, k, n);
                REQUIRE(n >= 1);
                REQUIRE(n <= size);
                bool enough = true, fewer_would_do = true;
                std::vector<std::size_t> units;
                each_ranking(size, most, units, [&](const std::vector<std::size_t>& ranking) {
                    const std::size_t wanted = (std::min)(k, distinct(ranking, size));
                    enough = enough && distinct(ranking, n) >= wanted;
                    fewer_would_do = fewer_would_do && distinct(ranking, n - 1) >= wanted;
                });
                CHECK(enough);
                CHECK_FALSE(fewer_would_do);
            }
}

TEST_CASE("no units need no keys, an empty index has none to give, and no k overflows") {
    CHECK(detail::keys_needed(0, 5, 100) == 0);
    CHECK(detail::keys_needed(3, 0, 0) == 0);
    CHECK(detail::keys_needed(1, 40, 100) == 1);
    CHECK(detail::keys_needed(5, 40, 1000) == 161);  // 40 * 4 + 1
    CHECK(detail::keys_needed(SIZE_MAX, 40, 100) == 100);
    CHECK(detail::keys_needed(SIZE_MAX, SIZE_MAX, SIZE_MAX) == SIZE_MAX);
    CHECK(detail::keys_needed(2, SIZE_MAX, 100) == 100);
}

TEST_CASE("keys are ordered by score, then unit, then key, and no two different ones are equal in it") {
    std::vector<scored_key> keys;
    for (const float score : {-1.0f, 0.0f, -0.0f, 0.5f, 1e30f})
        for (const std::uint32_t unit : {0u, 1u, 7u})
            for (const std::uint32_t key : {0u, 3u}) keys.push_back({unit_id{unit}, key_id{key}, score});
    for (const scored_key& a : keys) {
        CHECK_FALSE(better(a, a));
        for (const scored_key& b : keys) {
            CHECK(better(a, b) + better(b, a) == (a == b ? 0 : 1));
            for (const scored_key& c : keys)
                if (better(a, b) && better(b, c)) REQUIRE(better(a, c));
        }
    }
    CHECK(better({unit_id{9}, key_id{9}, 2.0f}, {unit_id{0}, key_id{0}, 1.0f}));
    CHECK(better({unit_id{1}, key_id{9}, 1.0f}, {unit_id{2}, key_id{0}, 1.0f}));
    CHECK(better({unit_id{1}, key_id{3}, 1.0f}, {unit_id{1}, key_id{4}, 1.0f}));
}

TEST_CASE("sorting gives one order, whatever the order before") {
    std::mt19937 random(3);
    std::vector<scored_key> keys;
    for (std::uint32_t i = 0; i < 200; ++i)
        keys.push_back(
            {unit_id{static_cast<std::uint32_t>(random() % 20)}, key_id{i}, static_cast<float>(random() % 5)});
    const auto first = [](const scored_key& a, const scored_key& b) { return better(a, b); };
    std::ranges::sort(keys, first);
    const auto once = keys;
    for (int round = 0; round < 20; ++round) {
        std::ranges::shuffle(keys, random);
        std::ranges::sort(keys, first);
        REQUIRE(keys == once);
    }
}

TEST_CASE("the concepts are met by our indexes and by the smallest stranger, each as far as it goes") {
    STATIC_REQUIRE(DenseIndex<flat_index>);
    STATIC_REQUIRE(DenseIndex<flat_product_index>);
    STATIC_REQUIRE(SparseIndex<bm25_index>);
    STATIC_REQUIRE(SparseIndex<toy::word_index>);
    STATIC_REQUIRE(BoundedIndex<flat_index, dense_probe>);
    STATIC_REQUIRE(BoundedIndex<bm25_index, lexical_probe>);
    STATIC_REQUIRE_FALSE(DenseIndex<bm25_index>);
    STATIC_REQUIRE_FALSE(SparseIndex<flat_index>);
    STATIC_REQUIRE_FALSE(ScoringIndex<toy::word_index, lexical_probe>);
    STATIC_REQUIRE(ScoringIndex<flat_product_index, dense_probe>);
    STATIC_REQUIRE_FALSE(BoundedIndex<flat_product_index, dense_probe>);
}

TEST_CASE("a probe of words is plain text unless conditions are given") {
    const lexical_probe probe{"reset password"};
    CHECK(probe.required.empty());
    CHECK(probe.forbidden.empty());
    CHECK(probe.phrases.empty());
}
