#include "quarry/math/top_k.hpp"

#include <cstdint>
#include <functional>
#include <random>

#include "support/catch.hpp"

using namespace quarry;

namespace {

using numbers = std::vector<int>;

numbers best_of(std::size_t k, const numbers& offered) {
    top_k<int, std::greater<>> best(k);
    for (const int x : offered) best.offer(x);
    return best.take();
}

}  // namespace

TEST_CASE("the best k are those of a full sort") {
    std::mt19937 random(1);
    for (std::size_t n = 0; n < 60; ++n) {
        numbers offered;
        for (std::size_t i = 0; i < n; ++i) offered.push_back(static_cast<int>(random() % 20));
        numbers sorted = offered;
        std::sort(sorted.begin(), sorted.end(), std::greater{});
        for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{2}, n / 2, n, n + 1, SIZE_MAX})
            CHECK(best_of(k, offered) ==
                  numbers(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>((std::min)(k, n))));
    }
}

TEST_CASE("a smaller k gives a prefix of a larger one, in whatever order things are offered") {
    numbers offered{5, 3, 9, 1, 7, 2};
    std::sort(offered.begin(), offered.end());
    do {
        REQUIRE(best_of(3, offered) == numbers{9, 7, 5});
        REQUIRE(best_of(6, offered) == numbers{9, 7, 5, 3, 2, 1});
    } while (std::next_permutation(offered.begin(), offered.end()));
}

TEST_CASE("it is full at k and knows its worst") {
    top_k<int, std::greater<>> best(2);
    CHECK(best.empty());
    CHECK_FALSE(best.full());
    best.offer(4);
    CHECK(best.worst() == 4);
    best.offer(6);
    CHECK(best.full());
    CHECK(best.worst() == 4);
    best.offer(5);
    CHECK(best.worst() == 5);
    best.offer(1);
    CHECK(best.take() == numbers{6, 5});
    CHECK(best.empty());
}

TEST_CASE("the best none of anything are none") {
    top_k<int, std::greater<>> none(0);
    CHECK(none.full());
    none.offer(1);
    CHECK(none.empty());
    CHECK(none.take().empty());
}

TEST_CASE("an order may be handed in with a state of its own") {
    const int centre = 10;
    const auto nearer = [&](int a, int b) { return std::abs(a - centre) < std::abs(b - centre); };
    top_k<int, decltype(nearer)> nearest(2, nearer);
    for (const int x : {1, 9, 14, 100, 12}) nearest.offer(x);
    CHECK(nearest.take() == numbers{9, 12});
}
