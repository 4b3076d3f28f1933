#include "quarry/grow/mixture_clusters.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/heaps.hpp"

using namespace quarry;

TEST_CASE("clusters: mixtures find the heaps by themselves, and few rows are one group") {
    const row_groups groups = mixture_clusters{.dimension = 2}(heaps_of(3, 30, 8), 8);
    REQUIRE(groups.size() == 3);
    std::vector<bool> seen(90);
    for (const auto& group : groups) {
        CHECK(group.size() == 30);
        for (const std::size_t i : group) {
            CHECK(i / 30 == group.front() / 30);
            seen[i] = true;
        }
    }
    CHECK(std::ranges::count(seen, true) == 90);
    CHECK(mixture_clusters{}(heaps_of(1, 11, 4), 4) == row_groups{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}});
    CHECK(mixture_clusters{}(std::vector<float>(200, 0.5f), 4).size() == 1);
}
