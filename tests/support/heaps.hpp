// Rows that lie in heaps.
#pragma once

#include <vector>

#include "quarry/math/kmeans.hpp"

/// `heaps` directions in a plane of `d` dimensions, `each` rows near each.
inline std::vector<float> heaps_of(std::size_t heaps, std::size_t each, std::size_t d) {
    quarry::detail::splitmix64 random(5);
    std::vector<float> rows;
    for (std::size_t i = 0; i < heaps * each; ++i)
        for (std::size_t j = 0; j < d; ++j)
            rows.push_back(static_cast<float>((i / each == j ? 1.0 : 0.0) + 0.02 * random.symmetric()));
    return rows;
}
