// Compare: is A better than B, or was it these questions?
//
//     const comparison c = compare({.a = with.per_query(ndcg_at{10}), .b = without.per_query(ndcg_at{10})});
//     // c.difference = 0.021, and with 95 % confidence between c.low and c.high
//
// A paired bootstrap: questions are drawn with replacement, as many as there are, and the mean difference of each draw
// is noted; the interval holds the middle of what was noted. Paired, since hard questions are hard for both.
//
// The surprising thing is how wide it is: with 250 questions one question is .4 points, and most differences that
// people report are inside. An interval that contains 0 says "not shown", never "equal". It also knows only these
// questions: how other corpora would do is not in it.
//
// Source  Efron and Tibshirani, 1993, percentile interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// Values of one measure for the same questions in the same order.
struct paired_values {
    std::span<const double> a, b;
};

struct bootstrap_options {
    std::size_t draws = 10000;
    double confidence = 0.95;  // between 0 and 1
    std::uint64_t seed = 1;
};

struct comparison {
    double difference = 0.0;                       // mean of a - b
    double low = 0.0, high = 0.0;                  // where it lies, with the confidence asked for
    std::size_t better = 0, worse = 0, equal = 0;  // questions on which a is better than b, and so on
};

/// The mean difference and its interval. The same input gives the same answer everywhere.
///
/// Cost    draws times questions.
/// Errors  usage_error `compare.pairs` (counts that differ, or no questions), `compare.options`, `compare.not_finite`.
comparison compare(const paired_values& values, const bootstrap_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// SplitMix64 (Steele, Lea, Flood, 2014). Own, since the standard's distributions differ between libraries.
class small_generator {
   public:
    explicit small_generator(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, n). Requires  n > 0. What does not divide evenly is drawn again.
    std::uint64_t below(std::uint64_t n) noexcept {
        const std::uint64_t uneven = (0 - n) % n;  // 2^64 mod n
        std::uint64_t drawn = next();
        while (drawn < uneven) drawn = next();
        return drawn % n;
    }

   private:
    std::uint64_t state_;
};

}  // namespace detail

inline comparison compare(const paired_values& values, const bootstrap_options& options) {
    const std::size_t n = values.a.size();
    if (n != values.b.size() || n == 0)
        detail::raise<usage_error>("compare.pairs", detail::concat("quarry::compare: needs as many values of a as of b "
                                                                   "and at least one, got ",
                                                                   n, " and ", values.b.size()));
    if (options.draws == 0 || !(options.confidence > 0.0 && options.confidence < 1.0))
        detail::raise<usage_error>(
            "compare.options", detail::concat("quarry::compare: draws must be at least 1 and the confidence between "
                                              "0 and 1, they are ",
                                              options.draws, " and ", options.confidence));
    comparison out;
    std::vector<double> differences;
    for (std::size_t i = 0; i < n; ++i) {
        const double d = values.a[i] - values.b[i];
        if (!(std::abs(d) <= 1e300))
            detail::raise<usage_error>("compare.not_finite",
                                       detail::concat("quarry::compare: the values of question ", i, " are ",
                                                      values.a[i], " and ", values.b[i]));
        ++(d > 0.0 ? out.better : d < 0.0 ? out.worse : out.equal);
        differences.push_back(d);
        out.difference += d / static_cast<double>(n);
    }
    detail::small_generator random(options.seed);
    std::vector<double> means(options.draws);
    for (double& mean : means) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += differences[random.below(n)];
        mean = sum / static_cast<double>(n);
    }
    std::ranges::sort(means);
    // As many draws are cut off below as above.
    const double tail = (1.0 - options.confidence) / 2.0 * static_cast<double>(options.draws);
    const auto cut = (std::min)(static_cast<std::size_t>(tail), (options.draws - 1) / 2);
    out.low = means[cut];
    out.high = means[options.draws - 1 - cut];
    return out;
}

}  // namespace QUARRY_NAMESPACE
