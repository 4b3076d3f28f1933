// Lift: from parts to what they are part of.
//
//     dense(kb.vectors, embed) | lift(unit_kind::article)
//
// The parent takes the place, the score and the key of its best child. A parent that the filter or the scope does not
// let through is not returned; the child is, as it was found.
#pragma once

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
        return detail::widened(
            k, [&](std::size_t n) { return base_.run(q, n); },
            [&](std::vector<hit<scale>> hits) {
                const std::size_t before = hits.size();
                std::unordered_set<unit_id> seen;
                for (auto& h : hits) h.unit = lifted(q, h.unit);
                std::erase_if(hits, [&](const auto& h) { return !seen.insert(h.unit).second; });
                // Equal scores may have changed their unit, and with it their order.
                std::ranges::stable_sort(hits, [](const auto& a, const auto& b) {
                    return !std::same_as<scale, selection_scale> && better(a, b);
                });
                q.tell({trace_code::lifted, "lift", before, hits.size()});
                return hits;
            });
    }

   private:
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
inline auto lift(unit_kind to) {
    return stage{[to]<Retriever Base>(Base base) { return lifted_retriever<Base>(std::move(base), to); }};
}

}  // namespace QUARRY_NAMESPACE
