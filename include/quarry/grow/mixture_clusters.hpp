// Mixture clusters: Gaussian mixtures over principal components, closest to RAPTOR's publication.
//
// Beside clusters.hpp, since decompositions are slow to compile and the default does without them.
//
// Source  Sarthi et al., "RAPTOR", ICLR 2024 (arXiv 2401.18059). Its reduction by UMAP is replaced by principal
//         components: UMAP is random unless it is seeded, and fails on a handful of rows.
#pragma once

#include <span>
#include <vector>

#include "../config.hpp"
#include "../math/gaussian_mixture.hpp"
#include "clusters.hpp"

namespace QUARRY_NAMESPACE {

/// Gaussian mixtures, their number by the Bayesian information criterion, in the space of the first principal
/// components. A row is in every group in which it has a share above `least`.
struct mixture_clusters {
    std::size_t dimension = 10;
    double least = 0.1;
    mixture_options mixture{};

    row_groups operator()(std::span<const float> rows, std::size_t d) const;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline row_groups mixture_clusters::operator()(std::span<const float> rows, std::size_t d) const {
    const std::size_t n = rows.size() / d;
    if (n == 0) return {};
    row_groups all(1);
    for (std::size_t i = 0; i < n; ++i) all[0].push_back(i);
    if (n <= dimension + 1) return all;  // as the publication's code: too few to tell apart in so many dimensions
    const reduced_rows few = principal_components(rows, d, dimension);
    if (few.dimension == 0) return all;  // they coincide
    const gaussian_mixture g = mixture_by_bic(few.coordinates, few.dimension, mixture);
    row_groups groups(g.size());
    for (std::size_t i = 0; i < n; ++i)
        for (const std::size_t c :
             g.memberships(std::span(few.coordinates).subspan(i * few.dimension, few.dimension), least))
            groups[c].push_back(i);
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    return groups;
}

}  // namespace QUARRY_NAMESPACE
