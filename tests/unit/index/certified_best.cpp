#include "quarry/index/certified_best.hpp"

#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("the n best of intervals are those of the exact values, whatever the intervals' width") {
    std::mt19937 random(1);
    const auto number = [&] { return static_cast<double>(random() % 4096) / 4096; };
    for (const double width : {0.0, 0.001, 0.1, 2.0})
        for (const std::size_t n : {1u, 3u, 50u, 5000u}) {
            std::vector<scored_key> all;
            detail::certified_best best(n, 0x1p-30);
            for (std::uint32_t i = 0; i < 6000; ++i) {
                const double exact = number();
                all.push_back({unit_id{i}, key_id{i}, static_cast<float>(exact)});
                best.offer(i, exact - width * number(), exact + width * number());
            }
            std::size_t scored = 0;
            const auto found = best.take(n, [&](std::uint32_t i) {
                ++scored;
                return all[i];
            });
            if (width == 0.0) CHECK(scored < n + 200);  // equal values apart, the first n are the n best
            std::ranges::sort(all, [](const scored_key& a, const scored_key& b) { return better(a, b); });
            all.resize(n);
            CHECK(found == all);
        }
}

TEST_CASE("nothing is certain before n rows were offered") {
    detail::certified_best best(2, 0.0);
    CHECK(best.least() == std::numeric_limits<double>::lowest());
    best.offer(0, 5, 6);
    CHECK(best.least() == std::numeric_limits<double>::lowest());
    best.offer(1, 3, 4);
    CHECK(best.least() == 3.0);
    best.offer(2, 1, 2);  // certainly worse than both
    best.offer(3, 3.5, 3.6);
    CHECK(best.least() == 3.5);
    CHECK(detail::certified_best(0, 0.0).take(0, [](std::uint32_t) { return scored_key{}; }).empty());
}
