// Clusters: which units are summarised together.
//
//     kmeans_clusters{}     by direction, about seven to a group: the default
//     window_clusters{}     neighbours in reading order, whatever they are about
//     mixture_clusters{}    Gaussian mixtures, closest to RAPTOR's publication: mixture_clusters.hpp
//
// What resembles each other shares a group, as far as vectors can tell. The publication's own figures say how much
// hangs on it: .8 points of accuracy between its mixtures and plain windows of seven.
//
// Source  Sarthi et al., "RAPTOR", ICLR 2024 (arXiv 2401.18059).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "../math/kmeans.hpp"

namespace QUARRY_NAMESPACE {

/// Groups of row numbers. A row may stand in several groups, or in none.
using row_groups = std::vector<std::vector<std::size_t>>;

/// From n rows of d floats, row-major and in reading order, none of them zero, to groups. The same groups for the same
/// rows.
template <class C>
concept Clusterer = requires(const C& clusterer, std::span<const float> rows, std::size_t d) {
    { clusterer(rows, d) } -> std::convertible_to<row_groups>;
};

/// Spherical k-means with a group for every `members` rows.
///
/// More rows than `pool` are first parted into pools, and each pool for itself: cost then grows with n and not its
/// square, and a change in one pool leaves the others alone.
struct kmeans_clusters {
    double members = 6.7;     // a group, on average; at least 2. The publication's trees have 6.7
    std::size_t pool = 2000;  // rows; at least 2
    std::size_t restarts = 3;
    std::uint64_t seed = 1;

    row_groups operator()(std::span<const float> rows, std::size_t d) const;
};

/// Neighbours in groups of equal size, as few groups as hold them all.
struct window_clusters {
    std::size_t members = 7;  // at most; at least 2

    row_groups operator()(std::span<const float> rows, std::size_t d) const;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline row_groups kmeans_clusters::operator()(std::span<const float> rows, std::size_t d) const {
    if (!(members >= 2.0) || pool < 2)
        detail::raise<usage_error>("clusters.options",
                                   detail::concat("quarry::kmeans_clusters: members and pool are at least 2, given ",
                                                  members, " and ", pool));
    const std::size_t n = rows.size() / d;
    if (n == 0) return {};
    const auto grouped = [&](std::size_t count) {
        return kmeans(rows, d, {.clusters = count, .restarts = restarts, .seed = seed}).members();
    };
    if (n <= pool) return grouped(static_cast<std::size_t>(std::ceil(static_cast<double>(n) / members)));
    row_groups out;
    for (const std::vector<std::size_t>& some : grouped((std::max)(2 * n / pool, std::size_t{2}))) {
        std::vector<float> own;
        for (const std::size_t i : some) own.insert(own.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * d),
                                                    rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
        // Rows that coincide are one pool however many they are: their groups are made as if they were different.
        kmeans_clusters smaller = *this;
        if (some.size() == n) smaller.pool = n;
        for (std::vector<std::size_t>& group : smaller(own, d)) {
            for (std::size_t& i : group) i = some[i];
            out.push_back(std::move(group));
        }
    }
    std::ranges::sort(out);
    return out;
}

inline row_groups window_clusters::operator()(std::span<const float> rows, std::size_t d) const {
    if (members < 2)
        detail::raise<usage_error>("clusters.options",
                                   detail::concat("quarry::window_clusters: members are at least 2, given ", members));
    const std::size_t n = rows.size() / d, count = (n + members - 1) / members;
    row_groups out(count);
    for (std::size_t g = 0; g < count; ++g) {
        const std::size_t begin = g * n / count, end = (g + 1) * n / count;
        for (std::size_t i = begin; i < end; ++i) out[g].push_back(i);
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
