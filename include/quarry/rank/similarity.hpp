// Similarity: stages that drop hits by the vectors of one index.
//
//     search | without_near_copies(kb.vectors, {.above = 0.95f})   of hits that say the same, the first stays
//     search | only_similar(kb.vectors, {.above = 0.3f})           hits whose vector is near the question's
//
// Both ask for more where they drop something, so that k hits come back if k are left. Both keep scores and their
// scale. A hit without a vector is no copy of anything, and cannot be said to be far away: it stays. A cosine must lie
// strictly above the limit.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/key_index.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../math/cosine.hpp"
#include "threshold.hpp"

namespace QUARRY_NAMESPACE {

struct near_copy_options {
    float above = 0.95f;  // cosine with an earlier hit that was kept
};

struct similar_options {
    float above = 0.0f;       // cosine with the question
    std::size_t most = 1000;  // hits of the base that are looked at; at least k
};

/// Drops hits whose vector has a cosine above the limit with that of an earlier hit.
///
/// Order   unchanged.  Cost  a cosine for each pair of a hit and a kept one before it.
/// Errors  usage_error `similarity.nan`.
template <DenseIndex Index>
auto without_near_copies(const indexed<Index>& vectors, near_copy_options options = {}) {
    if (detail::is_nan(options.above))
        detail::raise<usage_error>("similarity.nan", "quarry::without_near_copies: the limit is NaN");
    return detail::thin(trace_code::suppressed, [&index = vectors.index, options](source_ref) {
        return [&index, options, kept = std::vector<std::vector<float>>{}](unit_id unit) mutable {
            std::vector<float> row(index.dimension());
            if (!index.vector_of(unit, row)) return true;
            for (const std::vector<float>& other : kept)
                if (cosine(row, other) > options.above) return false;
            kept.push_back(std::move(row));
            return true;
        };
    });
}
template <DenseIndex Index>
void without_near_copies(const indexed<Index>&&, near_copy_options = {}) = delete;  // a temporary index would dangle

template <Retriever Base, DenseIndex Index>
class similar_retriever : public retriever_interface<similar_retriever<Base, Index>> {
 public:
    using scale = typename Base::scale;

    similar_retriever(Base base, const Index& index, similar_options options)
        : base_(std::move(base)), index_(&index), options_(options) {
        if (detail::is_nan(options.above))
            detail::raise<usage_error>("similarity.nan", "quarry::only_similar: the limit is NaN");
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    /// Errors  usage_error `similarity.no_probe` if no leg of the base searched the index.
    results<scale> run(request& q, std::size_t k) const {
        const std::size_t most = (std::max)(k, options_.most);
        return detail::widened(
            k, [&](std::size_t n) { return base_.run(q, (std::min)(n, most)); },
            [&](std::vector<hit<scale>> hits) {
                if (hits.empty()) return hits;
                const std::vector<float>* probe = q.row_in(index_);
                if (!probe)
                    detail::raise<usage_error>(
                        "similarity.no_probe",
                        "quarry::only_similar: no leg before it searched the index it compares by");
                const std::size_t before = hits.size();
                std::vector<float> row(index_->dimension());
                std::erase_if(hits, [&](const auto& h) {
                    return index_->vector_of(h.unit, row) && !(cosine(row, *probe) > options_.above);
                });
                q.tell({trace_code::floored, "similar", before, hits.size(), options_.above});
                return hits;
            });
    }

 private:
    Base base_;
    const Index* index_;
    similar_options options_;
};

/// Drops hits whose vector is not nearer to the question than the limit.
///
/// Order   unchanged.  Errors  usage_error `similarity.nan`.
template <DenseIndex Index>
auto only_similar(const indexed<Index>& vectors, similar_options options = {}) {
    return stage{[&index = vectors.index, options]<Retriever Base>(Base base) {
        return similar_retriever<Base, Index>(std::move(base), index, options);
    }};
}
template <DenseIndex Index>
void only_similar(const indexed<Index>&&, similar_options = {}) = delete;

}  // namespace QUARRY_NAMESPACE
