// Fuse: one ranking from several.
//
//     fuse(rrf{}, lexical(kb.bm25), dense(kb.vectors, embed))
//
// A fuser says what one leg contributes to a unit (from the unit's rank and score there) and how contributions combine.
// Units are the same when their ids are, never when their texts are. A unit that a leg did not return gets nothing from
// it; two legs of which one is empty give the other's order.
//
// Which one? Ranks (rrf) need no common scale, but always pay a list for its first place, however bad the list. Bounded
// fusion reads scores that know their own limits (BM25 against what the query could reach at best, cosine against the
// query's mean), so a leg that matches nothing well says so; it is the default of `hybrid` where both legs can do that.
//
// The surprising thing: equal scores in a leg get equal ranks. Ranks that ties were given by id are no evidence, and
// would override what another leg is sure of.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <exception>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../detail/function_ref.hpp"
#include "../detail/place_table.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// What a fuser may know of a leg's list as a whole.
struct leg_summary {
    float weight = 1.0f;
    float lowest = 0.0f;    // the least its scale allows
    score_bounds bounds{};  // of this query; only filled for fusers that ask for exact scores
    std::size_t size = 0;
    float best = 0.0f, worst = 0.0f;
    double mean = 0.0, deviation = 0.0;         // population deviation
    double sample_deviation = 0.0;              // with n - 1; 0 for a single hit
};

template <class F>
concept Fuser = requires(const F& fuser, const leg_summary& leg, std::uint32_t rank, float score,
                         std::span<const float> parts) {
    requires Scale<typename F::scale>;
    { fuser.contribution(leg, rank, score) } -> std::same_as<float>;  // of a unit at this rank (1 is first) and score
    { fuser.combine(parts) } -> std::same_as<float>;                  // ascending, absent legs left out
    { fuser.weights } -> std::convertible_to<std::vector<float>>;     // one a leg, or empty for 1 each
    { fuser.fetch } -> std::convertible_to<std::size_t>;              // hits asked of every leg, at least k
    fuser.check();                                                    // throws if its parameters make no sense
};

namespace detail {

/// One contribution a leg, so a handful. Not std::sort: inlined over so short an array it makes g++ 12 warn, at users too.
inline void sort_ascending(std::span<float> parts) noexcept {
    for (std::size_t i = 1; i < parts.size(); ++i)
        for (std::size_t j = i; j > 0 && parts[j] < parts[j - 1]; --j) std::swap(parts[j], parts[j - 1]);
}

inline float sum_of(std::span<const float> parts) noexcept {
    double sum = 0.0;
    for (const float part : parts) sum += static_cast<double>(part);
    return static_cast<float>(sum);
}

}  // namespace detail

/// Reciprocal rank fusion: sum of weight / (k + rank), ranks from 1.
///
/// Source  Cormack, Clarke, Buettcher, SIGIR 2009, k = 60. Equal raw scores share a rank; theirs do not.
struct rrf {
    using scale = rrf_scale;

    float k = 60.0f;  // above -1
    std::vector<float> weights{};
    std::size_t fetch = 1000;

    float contribution(const leg_summary& leg, std::uint32_t rank, float) const noexcept {
        return static_cast<float>(static_cast<double>(leg.weight) / (static_cast<double>(k) + rank));
    }
    float combine(std::span<const float> parts) const noexcept { return detail::sum_of(parts); }
    void check() const {
        if (!(k > -1.0f && k < scale::highest))
            detail::raise<usage_error>("fuse.constant", detail::concat("quarry::rrf: k must be above -1, it is ", k));
    }
};

/// Convex combination over theoretical minima: weight * (score - lowest) / (best - lowest), summed.
///
/// Every leg's scale must have a lowest score: 0 for BM25, -1 for cosine.
/// Source  Bruch, Gai, Ingber, TOIS 2023 (there TM2C2, with .8 for the dense leg and .2 for BM25).
struct convex {
    using scale = convex_scale;
    static constexpr bool needs_lowest = true;

    std::vector<float> weights{};
    std::size_t fetch = 1000;

    float contribution(const leg_summary& leg, std::uint32_t, float score) const noexcept {
        const float range = leg.best - leg.lowest;
        return range > 0.0f ? leg.weight * (score - leg.lowest) / range : leg.weight;
    }
    float combine(std::span<const float> parts) const noexcept { return detail::sum_of(parts); }
    void check() const noexcept {}
};

/// Relative-score fusion: weight * (score - worst) / (best - worst) over the retrieved list, summed; 1 if all are
/// equal.
///
/// The last hit of every list contributes 0, and asking for more hits changes every score.
struct relative_score {
    using scale = relative_scale;

    std::vector<float> weights{};
    std::size_t fetch = 1000;

    float contribution(const leg_summary& leg, std::uint32_t, float score) const noexcept {
        const float range = leg.best - leg.worst;
        return range > 0.0f ? leg.weight * (score - leg.worst) / range : leg.weight;
    }
    float combine(std::span<const float> parts) const noexcept { return detail::sum_of(parts); }
    void check() const noexcept {}
};

/// Distribution-based fusion: weight * (score - (mean - 3 sd)) / (6 sd), summed; .5 if all are equal. Not clipped.
struct distribution_based {
    using scale = distribution_scale;

    std::vector<float> weights{};
    bool population = false;  // the deviation: of a sample (n - 1) by default
    std::size_t fetch = 1000;

    float contribution(const leg_summary& leg, std::uint32_t, float score) const noexcept {
        const double sd = population ? leg.deviation : leg.sample_deviation;
        if (!(sd > 0.0)) return 0.5f * leg.weight;
        return static_cast<float>(leg.weight * (static_cast<double>(score) - (leg.mean - 3 * sd)) / (6 * sd));
    }
    float combine(std::span<const float> parts) const noexcept { return detail::sum_of(parts); }
    void check() const noexcept {}
};

/// Bounded fusion: b + c - .75 b c, where each leg's score is placed between the bounds of its own query and clamped to
/// [0, 1]. Every candidate gets the exact score of every leg, and the candidates are widened until no unit outside them
/// could be better: the answer does not depend on how many were fetched.
///
/// Two legs reach 1.25 at most. More are folded in ascending order of contribution, and reach more. A third leg that is
/// about as good as the others gains, one that is weak costs up to .09 nDCG@10, and folding cannot tell; joining legs of
/// one kind by the better first is worse (benchmarks/quality).
/// Source  measured against RRF and TM2C2 on the collections of benchmarks/quality; the widening is Fagin's threshold
///         algorithm (Fagin, Lotem, Naor, 2003).
struct bounded {
    using scale = bounded_scale;
    static constexpr bool exact_scores = true;

    std::vector<float> weights{};  // each in [0, 1]
    float overlap = 0.75f;         // 0: plain sum, 1: noisy or
    std::size_t fetch = 100;       // the first round; at least 5 k

    float contribution(const leg_summary& leg, std::uint32_t, float score) const noexcept {
        const float range = leg.bounds.high - leg.bounds.low;
        return range > 0.0f ? leg.weight * std::clamp((score - leg.bounds.low) / range, 0.0f, 1.0f) : 0.0f;
    }
    float combine(std::span<const float> parts) const noexcept {
        // In double: the widening compares wholes, and rounding must not turn their order round by more than a step.
        double folded = 0.0;
        for (const float part : parts)
            folded += static_cast<double>(part) * (1.0 - static_cast<double>(overlap) * folded);
        return static_cast<float>(folded);
    }
    void check() const {
        if (!(overlap >= 0.0f && overlap <= 1.0f))
            detail::raise<usage_error>("fuse.constant",
                                       detail::concat("quarry::bounded: overlap must lie in [0, 1], it is ", overlap));
        for (const float w : weights)
            if (w > 1.0f)
                detail::raise<usage_error>("fuse.weights",
                                           detail::concat("quarry::bounded: a weight must lie in [0, 1], it is ", w));
    }
};

namespace detail {

template <class F>
constexpr bool needs_exact_scores = [] {
    if constexpr (requires { F::exact_scores; }) return F::exact_scores;
    else return false;
}();

template <class F>
constexpr bool needs_lowest = [] {
    if constexpr (requires { F::needs_lowest; }) return F::needs_lowest;
    else return false;
}();

/// A leg's list without its type: what the combining works on, so that it is compiled once.
struct leg_list {
    leg_summary summary;
    std::vector<scored_key> hits;       // best first
    std::vector<std::uint32_t> ranks;   // of the hits; equal scores share one, unless the position is the truth
    std::vector<std::uint32_t> trails;  // of the hits
    std::string_view scale;
    bool exhausted = true;
    result_state state = result_state::complete;
};

/// Where one unit stands in the legs.
struct standing {
    scored_key hit{unit_id{}, no_key, 0.0f};
    std::uint32_t rank = 0;  // 0: the leg did not return it, it was scored afterwards
    std::uint32_t trail = no_entry;
    bool present = false;
};

/// Errors  callable_error `fuse.not_finite`: a NaN would put every list that is sorted after it out of order.
inline void require_finite_score(float score, std::string_view scale, unit_id unit) {
    if (!is_finite(score))
        raise<callable_error>("fuse.not_finite", concat("quarry::fuse: the ", scale, " leg's score of unit ",
                                                        index_of(unit), " is ", score));
}

template <Scale S>
leg_list list_of(const results<S>& found, std::size_t asked, float weight);

/// The keys a leaf searches, so that a unit which was only scored there can show its key too.
template <class R>
const key_table* keys_of(const R& retriever) {
    if constexpr (requires { { retriever.keys() } -> std::convertible_to<const key_table*>; }) return retriever.keys();
    else return nullptr;
}

inline std::vector<float> checked_weights(std::span<const float> given, std::size_t legs);

/// What `search(i, r)` finds with r the i-th of `requests`, which are `q` or children of it: one after the other, or
/// side by side where the query has an executor, with the same ledger and trace.
///
/// Errors  what the first of them that fails throws.
std::vector<leg_list> searched_lists(request& q, std::span<request* const> requests,
                                     function_ref<leg_list(std::size_t, request&)> search);

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
            const lists found = asked(q, fetch, std::index_sequence_for<Legs...>{});
            table units = candidates(found);
            if constexpr (exact) complete(q, found, units, std::index_sequence_for<Legs...>{});
            results<scale> out = ranked(q, found, units, k);
            if (!exact || certain(found, out, k)) return out;
            const std::size_t more = fetch > SIZE_MAX / 2 ? SIZE_MAX : 2 * fetch;
            q.tell({trace_code::widened, scale::name, fetch, more});
            fetch = more;
        }
    }

    /// The scores that these units have, found or not: so that a fusion by exact scores is itself a leg of one, or a level.
    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const
        requires(detail::needs_exact_scores<F>)
    {
        const lists found = limits(q, std::index_sequence_for<Legs...>{});
        table all;
        for (const unit_id unit : units) all.push_back({unit, {}});
        complete(q, found, all, std::index_sequence_for<Legs...>{});
        std::vector<scored_key> out;
        for (const auto& [unit, standings] : all) {
            const joined whole = join(found, standings);
            out.push_back(whole.count == 0 ? scored_key{unit, no_key, 0.0f}
                                           : scored_key{unit, standings[whole.best].hit.key, whole.score});
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
    using row = std::array<detail::standing, n>;
    using table = std::vector<std::pair<unit_id, row>>;
    struct fused_unit {
        quarry::hit<scale> hit;
        const row* standings;
        std::size_t best;  // the leg that contributed most, whose key stands for the unit
    };

    // A unit's parts as one score.
    struct joined {
        float score = 0.0f;
        std::size_t best = n, count = 0;  // the leg that gave most, and how many gave anything
    };

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
        if constexpr (exact) list.summary.bounds = leg.bounds(q);
        return list;
    }

    static table candidates(const lists& found) {
        std::size_t most = 0;
        for (const auto& list : found) most += list.hits.size();
        table units;
        units.reserve(most);
        detail::place_table places(most);
        for (std::size_t leg = 0; leg < n; ++leg)
            for (std::size_t i = 0; i < found[leg].hits.size(); ++i) {
                const scored_key& h = found[leg].hits[i];
                const auto [place, fresh] = places.meet(index_of(h.unit));
                if (fresh) units.push_back({h.unit, {}});
                detail::standing& s = units[place].second[leg];
                if (!s.present) s = {h, found[leg].ranks[i], found[leg].trails[i], true};
            }
        return units;
    }

    // Gives every candidate the exact score of the legs that did not return it.
    template <std::size_t... I>
    void complete(request& q, const lists& found, table& units, std::index_sequence<I...>) const {
        (complete_leg<I>(q, found[I], units), ...);
    }
    template <std::size_t I>
    void complete_leg(request& q, const detail::leg_list& list, table& units) const {
        if (weights_[I] == 0.0f || (list.exhausted && list.hits.empty())) return;
        std::vector<unit_id> missing;
        for (const auto& [unit, standings] : units)
            if (!standings[I].present) missing.push_back(unit);
        if (missing.empty()) return;
        const std::vector<scored_key> scores = std::get<I>(legs_).score(q, missing);
        if (scores.size() != missing.size())
            detail::raise<callable_error>("fuse.score_count", detail::concat("quarry::fuse: leg ", I, " gave ",
                                                                             scores.size(), " scores for ",
                                                                             missing.size(), " units"));
        std::size_t next = 0;
        for (auto& [unit, standings] : units)
            if (!standings[I].present) {
                const scored_key& s = scores[next++];
                if (s.key != no_key) detail::require_finite_score(s.score, list.scale, s.unit);
                standings[I] = {s, 0, no_entry, s.key != no_key};
            }
    }

    results<scale> ranked(request& q, const lists& found, const table& units, std::size_t k) const {
        std::vector<fused_unit> all;
        all.reserve(units.size());
        std::size_t candidates = 0;
        for (const auto& [unit, standings] : units) {
            const joined whole = join(found, standings);
            candidates += whole.count;
            all.push_back({{unit, standings[whole.best].hit.key, whole.score, no_entry}, &standings, whole.best});
        }
        const auto first = [](const fused_unit& a, const fused_unit& b) { return better(a.hit, b.hit); };
        const std::size_t kept = (std::min)(k, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), first);
        results<scale> out;
        for (std::size_t i = 0; i < kept; ++i) {
            out.hits.push_back(all[i].hit);
            out.hits.back().trail = note(q, found, all[i]);
        }
        for (const auto& list : found) out.state = (std::max)(out.state, list.state);
        q.tell({trace_code::fused, scale::name, candidates, units.size()});
        return out;
    }

    joined join(const lists& found, const row& standings) const {
        std::array<float, n> parts;
        joined out;
        float best_part = 0.0f;
        for (std::size_t leg = 0; leg < n; ++leg) {
            if (!standings[leg].present) continue;
            parts[out.count] = part(found, standings, leg);
            if (out.best == n || parts[out.count] > best_part) out.best = leg, best_part = parts[out.count];
            ++out.count;
        }
        detail::sort_ascending(std::span(parts).first(out.count));
        out.score = fuser_.combine(std::span(parts).first(out.count));
        return out;
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

    float part(const lists& found, const row& standings, std::size_t leg) const {
        return fuser_.contribution(found[leg].summary, standings[leg].rank, standings[leg].hit.score);
    }

    // One entry for the sum, one below it for every leg that contributed. Only hits that are returned get entries.
    std::uint32_t note(request& q, const lists& found, const fused_unit& u) const {
        std::uint32_t below = no_entry;
        const key_table* keys = nullptr;
        const row& standings = *u.standings;
        const auto tables = std::apply(
            [](const auto&... leg) { return std::array<const key_table*, n>{detail::keys_of(leg)...}; }, legs_);
        for (std::size_t leg = n; leg-- > 0;) {
            const detail::standing& s = standings[leg];
            if (!s.present) continue;
            const key_table* own = s.trail == no_entry ? tables[leg] : q.notes()[s.trail].keys;
            if (leg == u.best) keys = own;  // a key's number means nothing in another leg's table
            below = q.note({found[leg].scale, own, s.hit.key, s.rank, s.hit.score, weights_[leg],
                            part(found, standings, leg), s.trail, below});
        }
        return q.note({scale::name, keys, u.hit.via, 0, u.hit.score, 1.0f, u.hit.score, below});
    }

    // Could a unit that no leg has returned be better than the k-th? Its score in a leg is at most the leg's last one,
    // and a leg that has no more to return does not hold it. Equal is not certain: the unit's id could be lower.
    bool certain(const lists& found, const results<scale>& out, std::size_t k) const {
        std::array<float, n> parts;
        std::size_t count = 0;
        bool all_exhausted = true;
        for (const auto& list : found) {
            if (list.exhausted) continue;
            all_exhausted = false;
            parts[count++] = fuser_.contribution(list.summary, 0, list.hits.back().score);
        }
        if (all_exhausted) return true;
        detail::sort_ascending(std::span(parts).first(count));
        const float most = fuser_.combine(std::span(parts).first(count));
        return out.size() >= k && out.hits.back().score > std::nextafter(most, detail::unbounded);
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

template <Scale S>
detail::leg_list detail::list_of(const results<S>& found, std::size_t asked, float weight) {
    leg_list list;
    list.scale = S::name;
    list.state = found.state;
    list.exhausted = found.size() < asked;
    list.summary.weight = weight;
    list.summary.lowest = S::lowest;
    list.summary.size = found.size();
    if (found.empty()) return list;
    double sum = 0.0, squares = 0.0;
    float best = found[0].score, worst = best;
    for (const auto& h : found) {
        require_finite_score(h.score, S::name, h.unit);
        const auto position = static_cast<std::uint32_t>(list.hits.size() + 1);
        const bool tie = position > 1 && h.score == list.hits.back().score && !std::same_as<S, selection_scale>;
        list.ranks.push_back(tie ? list.ranks.back() : position);
        list.hits.push_back({h.unit, h.via, h.score});
        list.trails.push_back(h.trail);
        best = (std::max)(best, h.score);
        worst = (std::min)(worst, h.score);
        sum += static_cast<double>(h.score);
    }
    const double count = static_cast<double>(found.size());
    list.summary.best = best;
    list.summary.worst = worst;
    list.summary.mean = sum / count;
    for (const auto& h : found) {
        const double away = static_cast<double>(h.score) - list.summary.mean;
        squares += away * away;
    }
    list.summary.deviation = std::sqrt(squares / count);
    list.summary.sample_deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
    return list;
}

inline std::vector<detail::leg_list> detail::searched_lists(request& q, std::span<request* const> requests,
                                                            function_ref<leg_list(std::size_t, request&)> search) {
    std::vector<leg_list> lists(requests.size());
    const executor* on = q.side_by_side();
    if (!on || requests.size() < 2) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            q.check();
            lists[i] = search(i, *requests[i]);
        }
        return lists;
    }
    std::vector<request> branches;
    for (const request* r : requests) branches.push_back(r->branch());
    const auto failures = run_all(*on, requests.size(), [&](std::size_t i) {
        branches[i].check();
        branches[i].start_clock();
        lists[i] = search(i, branches[i]);
    });
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::uint32_t by = q.join(branches[i]);
        if (failures[i]) std::rethrow_exception(failures[i]);
        for (std::uint32_t& trail : lists[i].trails)
            if (trail != no_entry) trail += by;
    }
    return lists;
}

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
