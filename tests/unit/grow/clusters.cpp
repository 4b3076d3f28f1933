#include "quarry/grow/clusters.hpp"

#include <cmath>
#include <set>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/heaps.hpp"

using namespace quarry;

namespace {

bool covers_once(const row_groups& groups, std::size_t n) {
    std::multiset<std::size_t> seen;
    for (const auto& group : groups) {
        if (group.empty()) return false;
        seen.insert(group.begin(), group.end());
    }
    return seen.size() == n && std::set<std::size_t>(seen.begin(), seen.end()).size() == n;
}

}  // namespace

TEST_CASE("clusters: k-means makes a group for about seven rows") {
    const std::vector<float> rows = heaps_of(3, 6, 8);
    CHECK(kmeans_clusters{}(rows, 8).size() == 3);  // 18 / 6.7, rounded up
    CHECK(kmeans_clusters{}(rows, 8)[0] == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
    CHECK(kmeans_clusters{.members = 18}(rows, 8).size() == 1);
    CHECK(kmeans_clusters{}({}, 8).empty());
    CHECK(code_of([&] { kmeans_clusters{.members = 1}(rows, 8); }) == "clusters.options");
}

TEST_CASE("clusters: many rows are parted into pools first, and every row is in one group") {
    const std::vector<float> rows = heaps_of(8, 25, 8);
    const row_groups groups = kmeans_clusters{.pool = 60}(rows, 8);
    CHECK(covers_once(groups, 200));
    CHECK(groups.size() >= 20);
    CHECK(groups == kmeans_clusters{.pool = 60}(rows, 8));
    // Rows that coincide cannot be parted.
    const std::vector<float> same(300, 0.5f);
    CHECK(kmeans_clusters{.pool = 20}(same, 3).size() == 1);
}

TEST_CASE("clusters: windows are neighbours, as even as can be") {
    const std::vector<float> rows(15, 1.0f);
    CHECK(window_clusters{}(rows, 1) == row_groups{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10, 11, 12, 13, 14}});
    CHECK(window_clusters{}(std::vector<float>(7, 1.0f), 1).size() == 1);
    CHECK(window_clusters{}({}, 1).empty());
    CHECK(code_of([&] { window_clusters{.members = 1}(rows, 1); }) == "clusters.options");
}
