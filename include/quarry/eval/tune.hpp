// Tune: how much each of two legs counts, chosen by a handful of judged questions.
//
//     const tuned_dial found = tune_dial([&](const std::vector<float>& weights) {
//         return values(fuse(bounded{.weights = weights}, words, meaning));    // one a question, such as its nDCG@10
//     });
//     auto search = fuse(bounded{.weights = dial_weights(found.dial)}, words, meaning);
//
// One dial from 0 (the first leg alone) over 1/2 (both in full) to 1 (the second alone). A few questions prefer some
// position or other by chance, so the middle is preferred to others, the less the more questions there are.
//
// The surprising thing: this is all that helps. Signals without labels (scores' spread, gaps, agreement, questions made
// of titles) do not tell which leg to trust; ten to twenty judged questions do.
//
// What a dial gains on the questions that chose it says nothing. `held_back` says what such a dial gains on questions
// that had no part in the choice: each is measured at the position that the questions of the other folds chose.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "compare.hpp"

namespace QUARRY_NAMESPACE {

/// The weights of two legs at a position of the dial: min(1, 2 (1 - dial)) and min(1, 2 dial).
///
/// Requires  dial in [0, 1].
inline std::vector<float> dial_weights(double dial) {
    return {static_cast<float>((std::min)(1.0, 2.0 * (1.0 - dial))), static_cast<float>((std::min)(1.0, 2.0 * dial))};
}

struct tune_options {
    double pull = 0.3;         // towards the middle: pull (dial - 1/2)^2 (10 / questions) is taken off a position's mean
    std::size_t folds = 5;     // of `held_back`; at least 2, and no more than there are questions
    std::uint64_t seed = 1;    // deals the questions into folds
    bootstrap_options bootstrap{};
};

struct tuned_dial {
    double dial = 0.5;       // a multiple of 1/20
    comparison held_back{};  // dials that others chose, against the middle
};

/// The position at which the questions' values are best, larger being better. Equal positions: the one nearer to the
/// middle, then the lower.
///
/// `measure(weights)` gives one value a question, at every position for the same questions in the same order.
/// Cost    21 calls of `measure`.
/// Errors  usage_error `tune.questions` (fewer than two, or not the same number everywhere), `tune.options`,
///         `compare.not_finite` for a value that is no number; whatever `measure` throws.
/// Source  one parameter between two legs: Bruch, Gai, Ingber, TOIS 2023, who find that a few labels suffice; both legs
///         at full weight in the middle, and the pull towards it, are ours.
template <class F>
    requires std::is_invocable_r_v<std::vector<double>, const F&, const std::vector<float>&>
tuned_dial tune_dial(const F& measure, const tune_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

constexpr std::size_t dial_steps = 20;
constexpr std::size_t dial_middle = dial_steps / 2;

inline double dial_at(std::size_t step) noexcept { return static_cast<double>(step) / dial_steps; }

/// Values by position and question.
using dial_table = std::vector<std::vector<double>>;

/// The step that these questions choose.
inline std::size_t chosen_step(const dial_table& values, std::span<const std::size_t> questions, double pull) {
    const double n = static_cast<double>(questions.size());
    std::size_t best = dial_middle;
    double best_worth = 0.0;
    // From the middle outwards, so that only what is better takes its place.
    for (std::size_t i = 0; i <= dial_steps; ++i) {
        const std::size_t away = (i + 1) / 2, step = i % 2 == 1 ? dial_middle - away : dial_middle + away;
        double sum = 0.0;
        for (const std::size_t q : questions) sum += values[step][q];
        const double off = dial_at(away);
        const double worth = sum / n - pull * off * off * 10.0 / n;
        if (i == 0 || worth > best_worth) best = step, best_worth = worth;
    }
    return best;
}

/// 0 to n - 1 in an order of the seed's.
inline std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    small_generator random(seed);
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

inline comparison held_back(const dial_table& values, const tune_options& options) {
    const std::size_t n = values.front().size(), parts = (std::min)(options.folds, n);
    const std::vector<std::size_t> order = shuffled(n, options.seed);
    std::vector<double> tuned(n);
    for (std::size_t part = 0; part < parts; ++part) {
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < n; ++i)
            if (i % parts != part) others.push_back(order[i]);
        const std::size_t step = chosen_step(values, others, options.pull);
        for (std::size_t i = part; i < n; i += parts) tuned[order[i]] = values[step][order[i]];
    }
    return compare({.a = tuned, .b = values[dial_middle]}, options.bootstrap);
}

inline tuned_dial tuned(const dial_table& values, const tune_options& options) {
    const std::size_t n = values.front().size();
    for (const std::vector<double>& at_step : values) {
        if (at_step.size() != n || n < 2)
            raise<usage_error>("tune.questions", concat("quarry::tune_dial: needs the values of the same two questions "
                                                        "or more at every position, got ",
                                                        n, " and ", at_step.size()));
        for (const double value : at_step)
            if (!(std::abs(value) <= 1e300))
                raise<usage_error>("compare.not_finite", concat("quarry::tune_dial: a question's value is ", value));
    }
    if (!(options.pull >= 0.0 && options.pull <= 1e300) || options.folds < 2)
        raise<usage_error>("tune.options", concat("quarry::tune_dial: the pull must be at least 0 and the folds at "
                                                  "least 2, they are ",
                                                  options.pull, " and ", options.folds));
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {dial_at(chosen_step(values, all, options.pull)), held_back(values, options)};
}

}  // namespace detail

template <class F>
    requires std::is_invocable_r_v<std::vector<double>, const F&, const std::vector<float>&>
tuned_dial tune_dial(const F& measure, const tune_options& options) {
    detail::dial_table values;
    for (std::size_t step = 0; step <= detail::dial_steps; ++step)
        values.push_back(measure(dial_weights(detail::dial_at(step))));
    return detail::tuned(values, options);
}

}  // namespace QUARRY_NAMESPACE
