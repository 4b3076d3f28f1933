// Dot products, norms and cosines of float rows.
//
// Sums are taken in double: a float row of 1,536 loses digits in float, and a cosine of 1.0000001 breaks thresholds.
// They are added up in one order at every instruction set, so equal rows have equal bits on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "../config.hpp"
#include "../detail/floats.hpp"
#include "kernels.hpp"

namespace QUARRY_NAMESPACE {

/// The dot product of two rows of equal length, to double precision.
///
/// Order  element i is added to sum i mod 16; then sums 8 apart are added, 4, 2 and 1 apart.
inline double dot(std::span<const float> a, std::span<const float> b) noexcept {
    return detail::best_kernels().dot(a.data(), b.data(), a.size());
}

/// The Euclidean length of a row. Finite for every row of finite floats.
inline double norm(std::span<const float> row) noexcept { return std::sqrt(dot(row, row)); }

/// The cosine of two rows whose lengths are known, in [-1, 1]; 0 if either is zero.
inline float cosine(std::span<const float> a, double length_of_a, std::span<const float> b, double length_of_b) noexcept {
    const double lengths = length_of_a * length_of_b;
    return lengths == 0.0 ? 0.0f : static_cast<float>(std::clamp(dot(a, b) / lengths, -1.0, 1.0));
}

/// The cosine of two rows, in [-1, 1]; 0 if either is zero.
inline float cosine(std::span<const float> a, std::span<const float> b) noexcept { return cosine(a, norm(a), b, norm(b)); }

/// Scales a row to length 1, in place. Says whether it could: a zero row stays zero.
///
/// Components below 2^-126 afterwards become 0, and subnormal ones count before with what they are: the row is the same
/// where the processor flushes subnormal numbers and where it does not, and no product is slowed down by one.
inline bool normalize(std::span<float> row) noexcept {
    double squares = 0.0;
    for (const float x : row) squares += detail::widened(x) * detail::widened(x);
    if (squares == 0.0) return false;
    const double length = std::sqrt(squares);
    for (float& x : row) x = detail::narrowed(detail::widened(x) / length);
    return true;
}

/// Approximate products of every row with every probe, in float: scores[p * n + i] for probe p and row i.
///
/// Requires  rows n * d and probes m * d, row-major; scores m * n; |row| * |probe| below the largest float.
/// Cost      one matrix product. The error of a score is at most product_error(d, |row| * |probe|).
inline void approximate_products(std::span<const float> rows, std::span<const float> probes, std::size_t d,
                                 std::span<float> scores) {
    if (d == 0 || scores.empty()) return;
    const std::size_t n = rows.size() / d;
    detail::best_kernels().products(rows.data(), n, d, probes.data(), probes.size() / d, scores.data(), n);
}

/// How far a sum of d float products can be from the exact one, whatever the order of the additions, with or without
/// fused operations, and where results below 2^-126 are flushed to 0.
///
/// Requires  d <= 2^17: the first order of the bound is then 1 % short at most.
/// Source    Higham, "Accuracy and Stability of Numerical Algorithms", 2002, 3.1: d u / (1 - d u) times the sum of the
///           terms' magnitudes, which Cauchy and Schwarz bound by the lengths; and 2^-126 for each of 2 d operations
///           that may underflow.
constexpr double product_error(std::size_t d, double lengths) noexcept {
    return static_cast<double>(d) * (1.01 * 0x1p-24 * lengths + 0x1p-125);
}

}  // namespace QUARRY_NAMESPACE
