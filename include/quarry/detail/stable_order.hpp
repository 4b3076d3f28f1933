// Stable sorting that is compiled once, whatever is sorted: std::stable_sort is ninety functions for each type and order.
//
// For lists that are short beside what was done to get them; one call through a pointer a comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "function_ref.hpp"

namespace QUARRY_NAMESPACE::detail {

/// The positions below n, sorted by `before(i, j)`; of equals the lower position first.
inline std::vector<std::size_t> stable_order(std::size_t n, function_ref<bool(std::size_t, std::size_t)> before) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), before);
    return order;
}

/// Sorts by `before(a, b)`; equals keep their order.  Cost  n log n comparisons, and every element is moved twice.
template <class T, class Before>
void sort_stably(std::vector<T>& all, Before before) {
    std::vector<T> sorted;
    sorted.reserve(all.size());
    for (const std::size_t i : stable_order(all.size(), [&](std::size_t a, std::size_t b) { return before(all[a], all[b]); }))
        sorted.push_back(std::move(all[i]));
    all = std::move(sorted);
}

}  // namespace QUARRY_NAMESPACE::detail
