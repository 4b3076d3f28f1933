// A file that includes hnswlib after us, and a main: both graphs work in every file, whatever came first.
#include <cstdlib>
#include <iostream>
#include <vector>

#include "quarry/index/hnsw_index.hpp"

#include <hnswlib/hnswlib.h>

std::size_t nearest_of_theirs_before(const std::vector<float>& rows, std::size_t d, const float* probe);
std::size_t nearest_of_ours_before(const std::vector<float>& rows, std::size_t d, const float* probe);

int main() {
    constexpr std::size_t d = 16, n = 600;
    std::vector<float> rows(n * d);
    std::uint32_t state = 7;
    for (float& x : rows)
        x = static_cast<float>(static_cast<std::int32_t>(state = state * 1664525u + 1013904223u)) * 0x1p-31f;
    hnswlib::L2Space space(d);
    hnswlib::HierarchicalNSW<float> theirs(&space, n);
    for (std::size_t i = 0; i < n; ++i) theirs.addPoint(rows.data() + i * d, i);
    quarry::hnsw_index ours(d, {.ef = 8, .scan_below = 0});
    for (std::size_t i = 0; i < n; ++i) ours.add(quarry::unit_at(i), std::span(rows).subspan(i * d, d));
    // A row of the index is its own nearest, by distance and by cosine; a graph may miss one in a hundred.
    std::size_t right[4] = {}, asked = 0;
    for (std::size_t i = 0; i < n; i += 60, ++asked) {
        const float* probe = rows.data() + i * d;
        right[0] += theirs.searchKnn(probe, 1).top().second == i;
        right[1] += quarry::index_of(ours.search(std::span(probe, d), 1).front().unit) == i;
        right[2] += nearest_of_theirs_before(rows, d, probe) == i;
        right[3] += nearest_of_ours_before(rows, d, probe) == i;
    }
    for (const std::size_t r : right)
        if (r + 1 < asked) {
            std::cerr << "right: " << right[0] << ' ' << right[1] << ' ' << right[2] << ' ' << right[3] << " of "
                      << asked << '\n';
            return EXIT_FAILURE;
        }
}
