#include "quarry/detail/stable_order.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("a stable order is std::stable_sort's") {
    std::mt19937 random(5);
    for (std::size_t n = 0; n < 60; ++n) {
        std::vector<std::pair<unsigned, std::size_t>> all;
        for (std::size_t i = 0; i < n; ++i) all.emplace_back(random() % 7, i);
        const auto before = [](const auto& a, const auto& b) { return a.first > b.first; };
        auto expected = all;
        std::stable_sort(expected.begin(), expected.end(), before);
        const auto order = detail::stable_order(n, [&](std::size_t a, std::size_t b) { return before(all[a], all[b]); });
        REQUIRE(order.size() == n);
        for (std::size_t i = 0; i < n; ++i) CHECK(order[i] == expected[i].second);
        detail::sort_stably(all, before);
        CHECK(all == expected);
    }
}

TEST_CASE("what cannot be copied is sorted stably too") {
    std::vector<std::unique_ptr<int>> all;
    for (const int x : {3, 1, 2}) all.push_back(std::make_unique<int>(x));
    detail::sort_stably(all, [](const auto& a, const auto& b) { return *a < *b; });
    REQUIRE(all.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(*all[static_cast<std::size_t>(i)] == i + 1);
}
