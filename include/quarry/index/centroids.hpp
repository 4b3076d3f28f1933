// Centroids: a unit is found by the mean direction of its parts. A key for a level of a hierarchy that nobody has to write.
//
//     const auto articles_by_centre = centroids(kb.vectors, unit_kind::article);
//     hierarchical({}, level{unit_kind::article, dense(articles_by_centre, embed)}, ...)
//
// It is no summary: where an article is about two things, its centroid lies between them, near to neither.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/key_index.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../math/cosine.hpp"
#include "flat_index.hpp"

namespace QUARRY_NAMESPACE {

/// One key for every unit of `kind` that has parts in the index, itself not among them; a part counts by its first key. A
/// unit whose parts cancel out has none. The source of `parts` must outlive what is returned.
///
/// Order  keys by unit id.
/// Cost   one pass over the units of the source and their rows.
template <DenseIndex I>
indexed<flat_index> centroids(const indexed<I>& parts, unit_kind kind) {
    const std::size_t d = parts.index.dimension();
    std::map<unit_id, std::vector<double>> sums;
    std::vector<float> row(d);
    parts.source.for_each_unit([&](unit_id part) {
        std::optional<unit_id> up = parts.source.parent(part);
        while (up && parts.source.kind(*up) != kind) up = parts.source.parent(*up);
        if (!up || !parts.index.vector_of(part, row) || !normalize(row)) return;
        std::vector<double>& sum = sums.try_emplace(*up, d, 0.0).first->second;
        for (std::size_t j = 0; j < d; ++j) sum[j] += static_cast<double>(row[j]);
    });
    flat_index index(d);
    for (const auto& [unit, sum] : sums) {
        std::ranges::transform(sum, row.begin(), [](double x) { return static_cast<float>(x); });
        if (std::ranges::any_of(row, [](float x) { return x > 1e-6f || x < -1e-6f; })) index.add(unit, row);
    }
    return {std::move(index), parts.source};
}

}  // namespace QUARRY_NAMESPACE
