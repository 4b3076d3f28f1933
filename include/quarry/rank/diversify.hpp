// Diversify: maximal marginal relevance, so that five hits do not say the same thing five times.
//
//     search | diversify(kb.vectors, mmr{.lambda = 0.7f})
//
// next = argmax over candidates c of  lambda * cos(c, question) - (1 - lambda) * max over picks p of cos(c, p)
//
// Both similarities are cosines from the index that is named, so they can be weighed against each other; the scores
// that the candidates came with only decide which candidates there are. The first pick is always the most relevant,
// whatever lambda is. The surprising thing: a candidate that points away from everything looks diverse, so cut the
// candidates by a floor first if the pool reaches far down.
//
// Source  Carbonell and Goldstein, SIGIR 1998. The printed formula brackets lambda around everything; its text, and this
//         code, mean the line above.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/key_index.hpp"
#include "../core/retriever.hpp"
#include "../math/cosine.hpp"

namespace QUARRY_NAMESPACE {

struct mmr {
    float lambda = 0.5f;     // 1: relevance alone; 0: difference alone, after the first pick
    std::size_t fetch = 50;  // candidates to pick from; at least k
};

struct mmr_pick {
    std::size_t candidate;
    float score;  // its marginal relevance when it was picked
};

/// The picks as positions among the n candidates, in the order they were picked; ties go to the earlier candidate.
///
/// Requires  `relevance` of n, `rows` of n * d; rows need not have unit length, a zero row has cosine 0 with all.
/// Cost      n * k cosines of d.
std::vector<mmr_pick> pick_by_mmr(std::span<const float> relevance, std::span<const float> rows, std::size_t k,
                                  float lambda);

template <Retriever Base, DenseIndex Index>
class diversified_retriever : public retriever_interface<diversified_retriever<Base, Index>> {
   public:
    using scale = selection_scale;

    diversified_retriever(Base base, const Index& index, mmr options)
        : base_(std::move(base)), index_(&index), options_(options) {
        if (!(options.lambda >= 0.0f && options.lambda <= 1.0f))
            detail::raise<usage_error>("diversify.lambda",
                                       detail::concat("quarry::diversify: lambda must lie in [0, 1], it is ",
                                                      options.lambda));
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    /// Errors  usage_error `diversify.no_probe` if no leg of the base searched the index, so that nobody embedded the
    ///         question.
    results<scale> run(request& q, std::size_t k) const {
        const auto candidates = base_.run(q, (std::max)(k, options_.fetch));
        results<scale> out;
        out.state = candidates.state;
        if (candidates.empty()) return out;
        const std::vector<float>* probe = q.remembered().find(index_, q.name());
        if (!probe)
            detail::raise<usage_error>("diversify.no_probe",
                                       "quarry::diversify: no leg before it searched the index it compares by");
        const std::size_t d = index_->dimension();
        std::vector<float> rows(candidates.size() * d), relevance(candidates.size());
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::span row = std::span(rows).subspan(i * d, d);
            if (!index_->vector_of(candidates[i].unit, row)) std::ranges::fill(row, 0.0f);
            relevance[i] = cosine(row, *probe);
        }
        for (const mmr_pick& pick : pick_by_mmr(relevance, rows, k, options_.lambda)) {
            const auto& c = candidates[pick.candidate];
            const key_table* keys = c.trail == no_entry ? nullptr : q.notes()[c.trail].keys;
            out.hits.push_back({c.unit, c.via, pick.score,
                                q.note({"mmr", keys, c.via, static_cast<std::uint32_t>(pick.candidate + 1), c.score,
                                        options_.lambda, pick.score, c.trail})});
        }
        q.tell({trace_code::diversified, "mmr", candidates.size(), out.size(), options_.lambda});
        return out;
    }

   private:
    Base base_;
    const Index* index_;
    mmr options_;
};

/// Picks k of the first `fetch` hits by maximal marginal relevance over the vectors of `vectors`.
template <DenseIndex Index>
auto diversify(const indexed<Index>& vectors, mmr options = {}) {
    return stage{[&index = vectors.index, options]<Retriever Base>(Base base) {
        return diversified_retriever<Base, Index>(std::move(base), index, options);
    }};
}
template <DenseIndex Index>
void diversify(const indexed<Index>&&, mmr = {}) = delete;  // a temporary index would dangle

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<mmr_pick> pick_by_mmr(std::span<const float> relevance, std::span<const float> rows, std::size_t k,
                                         float lambda) {
    const std::size_t n = relevance.size(), d = n == 0 ? 0 : rows.size() / n;
    const auto row = [&](std::size_t i) { return rows.subspan(i * d, d); };
    constexpr float lowest = -std::numeric_limits<float>::infinity();
    std::vector<float> nearest(n, lowest);  // per candidate, the largest cosine with a pick so far
    std::vector<bool> taken(n);
    std::vector<mmr_pick> picks;
    while (picks.size() < (std::min)(k, n)) {
        std::size_t best = n;
        float best_score = lowest;
        for (std::size_t i = 0; i < n; ++i) {
            if (taken[i]) continue;
            const float score = picks.empty() ? relevance[i] : lambda * relevance[i] - (1.0f - lambda) * nearest[i];
            if (best == n || score > best_score) best = i, best_score = score;
        }
        taken[best] = true;
        picks.push_back({best, best_score});
        for (std::size_t i = 0; i < n; ++i)
            if (!taken[i]) nearest[i] = (std::max)(nearest[i], cosine(row(i), row(best)));
    }
    return picks;
}

}  // namespace QUARRY_NAMESPACE
