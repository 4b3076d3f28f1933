// Fuse: one ranking from several.
//
//     fuse(rrf{}, lexical(kb.bm25), dense(kb.vectors, embed))
//
// A fuser says what one leg contributes to a unit (from the unit's rank and score there) and how contributions combine;
// fuser.hpp has them.
// Units are the same when their ids are, never when their texts are. A unit that a leg did not return gets nothing from
// it; two legs of which one is empty give the other's order.
//
// The surprising thing: equal scores in a leg get equal ranks. Ranks that ties were given by id are no evidence, and
// would override what another leg is sure of.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "fused_lists.hpp"
#include "fuser.hpp"

namespace QUARRY_NAMESPACE {

namespace detail {

/// The keys a leaf searches, so that a unit which was only scored there can show its key too.
template <class R>
const key_table* keys_of(const R& retriever) {
    if constexpr (requires { { retriever.keys() } -> std::convertible_to<const key_table*>; }) return retriever.keys();
    else return nullptr;
}

inline std::vector<float> checked_weights(std::span<const float> given, std::size_t legs);

}  // namespace detail

template <Fuser F, Retriever... Legs>
class fused_retriever : public retriever_interface<fused_retriever<F, Legs...>> {
   public:
    using scale = typename F::scale;

    fused_retriever(F fuser, Legs... legs)
        : fuser_(std::move(fuser)),
          weights_(detail::checked_weights(fuser_.weights, sizeof...(Legs))),
          legs_(std::move(legs)...) {
        fuser_.check();
        const auto same = [&](const auto&... leg) { return ((leg.source() == source()) && ...); };
        if (!std::apply(same, legs_))
            detail::raise<usage_error>("fuse.source", "quarry::fuse: the legs search different sources, so their unit "
                                                      "ids do not mean the same units");
    }

    source_ref source() const { return std::get<0>(legs_).source(); }
    void prepare(std::span<request> batch) const { prepare_legs(batch, std::index_sequence_for<Legs...>{}); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        std::size_t fetch = (std::max)(k, fuser_.fetch);
        if constexpr (exact) fetch = (std::max)(fetch, k > SIZE_MAX / 5 ? SIZE_MAX : 5 * k);
        prepare(std::span(&q, 1));  // what legs have in common is bought once, whichever runs first
        for (;;) {
            lists found = asked(q, fetch, std::index_sequence_for<Legs...>{});
            detail::candidate_table units(found);
            if constexpr (exact) complete(q, found, units, std::index_sequence_for<Legs...>{});
            results<scale> out = detail::fused_units(q, fuser_, found, units, k);
            if (!exact || detail::is_certain(fuser_, found, out, k)) return out;
            const std::size_t more = fetch > SIZE_MAX / 2 ? SIZE_MAX : 2 * fetch;
            q.tell({trace_code::widened, scale::name, fetch, more});
            fetch = more;
        }
    }

    /// The scores that these units have, found or not: so that a fusion by exact scores is itself a leg of one, or a level.
    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const
        requires(detail::needs_exact_scores<F>)
    {
        lists found = limits(q, std::index_sequence_for<Legs...>{});
        detail::candidate_table table(units, n);
        complete(q, found, table, std::index_sequence_for<Legs...>{});
        detail::part_joiner<F> join(fuser_, found, table);
        std::vector<scored_key> out;
        for (std::size_t u = 0; u < units.size(); ++u) {
            const detail::joined_parts whole = join(u);
            const auto& list = found[whole.best];
            out.push_back(whole.count == 0 ? scored_key{units[u], no_key, 0.0f}
                                           : scored_key{units[u], list.hits[table.at(u, whole.best)].key, whole.score});
        }
        return out;
    }

    /// From nothing at all to every leg at its best.
    score_bounds bounds(request&) const
        requires(detail::needs_exact_scores<F>)
    {
        std::vector<float> most = weights_;
        detail::sort_ascending(most);
        return {0.0f, fuser_.combine(most)};
    }

   private:
    static constexpr std::size_t n = sizeof...(Legs);
    static constexpr bool exact = detail::needs_exact_scores<F>;
    static_assert(n >= 1, "quarry::fuse: nothing to fuse");
    static_assert(!exact || (BoundedRetriever<Legs> && ...),
                  "quarry: this fuser needs legs that can score given units and know their bounds; use rrf for others");
    static_assert(!detail::needs_lowest<F> || ((Legs::scale::lowest > -detail::unbounded) && ...),
                  "quarry: this fuser needs legs whose scale has a lowest score");

    using lists = std::vector<detail::leg_list>;  // one a leg

    template <std::size_t... I>
    void prepare_legs(std::span<request> batch, std::index_sequence<I...>) const {
        ((weights_[I] == 0.0f ? void() : detail::prepare(std::get<I>(legs_), batch)), ...);
    }

    template <std::size_t... I>
    lists asked(request& q, std::size_t fetch, std::index_sequence<I...>) const {
        using asker = detail::leg_list (fused_retriever::*)(request&, std::size_t) const;
        static constexpr std::array<asker, n> askers{&fused_retriever::ask<I>...};
        const std::vector<request*> requests(n, &q);
        return detail::searched_lists(
            q, requests, [&](std::size_t leg, request& r) { return (this->*askers[leg])(r, fetch); });
    }

    // A leg of weight 0 is not searched at all.
    template <std::size_t I>
    detail::leg_list ask(request& q, std::size_t fetch) const {
        if (weights_[I] == 0.0f) return {};
        const auto& leg = std::get<I>(legs_);
        auto list = detail::list_of(leg.run(q, fetch), fetch, weights_[I]);
        list.keys = detail::keys_of(leg);
        if constexpr (exact) list.summary.bounds = leg.bounds(q);
        return list;
    }

    // Gives every candidate the exact score of the legs that did not return it.
    template <std::size_t... I>
    void complete(request& q, lists& found, detail::candidate_table& units, std::index_sequence<I...>) const {
        (complete_leg<I>(q, found[I], units), ...);
    }
    template <std::size_t I>
    void complete_leg(request& q, detail::leg_list& list, detail::candidate_table& units) const {
        if (weights_[I] == 0.0f || (list.exhausted && list.hits.empty())) return;
        const std::vector<unit_id> missing = units.missing(I);
        if (!missing.empty()) units.complete(I, list, missing, std::get<I>(legs_).score(q, missing));
    }

    // Lists of which only the limits are known.
    template <std::size_t... I>
    lists limits(request& q, std::index_sequence<I...>) const {
        prepare(std::span(&q, 1));
        lists out(n);
        ((out[I].summary.weight = weights_[I], out[I].scale = Legs::scale::name, out[I].exhausted = false,
          out[I].summary.bounds = weights_[I] == 0.0f ? score_bounds{} : std::get<I>(legs_).bounds(q)),
         ...);
        return out;
    }

    F fuser_;
    std::vector<float> weights_;
    std::tuple<Legs...> legs_;
};

/// Fuses the legs' rankings.
///
/// Order   score descending, then unit id; the order of the legs decides nothing but which key stands for a tie.
/// Cost    each leg is asked for max(k, fetch) hits; exact fusers ask again for twice as many until they are certain.
/// Errors  usage_error `fuse.source`, `fuse.weights`, `fuse.constant`; callable_error `fuse.not_finite`,
///         `fuse.score_count` for legs of your own that misbehave.
template <Fuser F, Retriever... Legs>
auto fuse(F fuser, Legs... legs) {
    return fused_retriever<F, Legs...>(std::move(fuser), std::move(legs)...);
}

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<float> detail::checked_weights(std::span<const float> given, std::size_t legs) {
    if (given.empty()) return std::vector<float>(legs, 1.0f);
    if (given.size() != legs)
        raise<usage_error>("fuse.weights", concat("quarry::fuse: ", legs, " legs, but ", given.size(), " weights"));
    for (const float w : given)
        if (!is_finite(w) || w < 0.0f)
            raise<usage_error>("fuse.weights", concat("quarry::fuse: a weight must be finite and at least 0, not ", w));
    return {given.begin(), given.end()};
}

}  // namespace QUARRY_NAMESPACE
