// Fusers: what one list contributes to a unit, and how contributions combine.
//
// A fuser reads a unit's rank and score in a list and what is known of the list as a whole. `fuse` gives it legs,
// `probed_by` the lists of several texts; one of your own satisfies `Fuser`.
//
// Which one? Ranks (rrf) need no common scale, but always pay a list for its first place, however bad the list. Bounded
// fusion reads scores that know their own limits (BM25 against what the query could reach at best, cosine against the
// query's mean), so a leg that matches nothing well says so; it is the default of `hybrid` where both legs can do that.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/scale.hpp"
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

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
