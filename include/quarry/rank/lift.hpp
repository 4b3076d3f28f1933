// Lift: from parts to what they are part of.
//
//     dense(kb.vectors, embed) | lift(unit_kind::article)
//
// The parent takes the place, the score and the key of its best child. A parent that the filter or the scope does not
// let through is not returned; the child is, as it was found.
//
// The surprising thing: children that score alike come by their own ids and parents by theirs, so a parent's place is
// known only when no child further down can score as much as the last one returned.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/retriever.hpp"

namespace QUARRY_NAMESPACE {

template <Retriever Base>
class lifted_retriever : public retriever_interface<lifted_retriever<Base>> {
   public:
    using scale = typename Base::scale;

    lifted_retriever(Base base, unit_kind to) : base_(std::move(base)), to_(to) {}

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        for (std::size_t n = k == SIZE_MAX ? k : k + 1;; n = n > SIZE_MAX / 2 ? SIZE_MAX : 2 * n) {
            results<scale> found = base_.run(q, n);
            const std::size_t before = found.size();
            const float last = found.empty() ? 0.0f : found.hits.back().score;
            lift_all(q, found.hits);
            q.tell({trace_code::lifted, "lift", before, found.size()});
            const bool settled = found.size() >= k && (!by_score || found[k - 1].score > last);
            if (before < n || settled) {
                if (found.size() > k) found.hits.resize(k);
                return found;
            }
        }
    }

   private:
    static constexpr bool by_score = !std::same_as<scale, selection_scale>;

    void lift_all(const request& q, std::vector<hit<scale>>& hits) const {
        std::unordered_set<unit_id> seen;
        for (auto& h : hits) h.unit = lifted(q, h.unit);
        std::erase_if(hits, [&](const auto& h) { return !seen.insert(h.unit).second; });
        if constexpr (by_score)
            std::ranges::sort(hits, [](const auto& a, const auto& b) { return better(a, b); });
    }

    // The nearest ancestor of the kind asked for, or the unit itself where there is none that may be shown.
    unit_id lifted(const request& q, unit_id unit) const {
        for (std::optional<unit_id> up = unit; up; up = source().parent(*up))
            if (source().kind(*up) == to_) return q.admits(*up) ? *up : unit;
        return unit;
    }

    Base base_;
    unit_kind to_;
};

/// Returns units of kind `to` in place of their parts.
///
/// Order   that of the scale; equal scores by the parent's id. A chosen order (selection_scale) is kept.
/// Cost    the base is asked for k + 1 hits, and for twice as many until k parents are certain.
inline auto lift(unit_kind to) {
    return stage{[to]<Retriever Base>(Base base) { return lifted_retriever<Base>(std::move(base), to); }};
}

}  // namespace QUARRY_NAMESPACE
