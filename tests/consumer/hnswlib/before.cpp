// A file that includes hnswlib before us: it keeps the distances that its processor has.
#include <hnswlib/hnswlib.h>

#include <vector>

#include "quarry/index/hnsw_index.hpp"

std::size_t nearest_of_theirs_before(const std::vector<float>& rows, std::size_t d, const float* probe) {
    hnswlib::L2Space space(d);
    hnswlib::HierarchicalNSW<float> theirs(&space, rows.size() / d);
    for (std::size_t i = 0; i < rows.size() / d; ++i) theirs.addPoint(rows.data() + i * d, i);
    return theirs.searchKnn(probe, 1).top().second;
}

std::size_t nearest_of_ours_before(const std::vector<float>& rows, std::size_t d, const float* probe) {
    quarry::hnsw_index ours(d, {.ef = 8, .scan_below = 0});
    for (std::size_t i = 0; i < rows.size() / d; ++i) ours.add(quarry::unit_at(i), std::span(rows).subspan(i * d, d));
    return quarry::index_of(ours.search(std::span(probe, d), 1).front().unit);
}
