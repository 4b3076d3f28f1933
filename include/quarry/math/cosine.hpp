// Dot products, norms and cosines of float rows.
//
// Sums are taken in double: a float row of 1,536 loses digits in float, and a cosine of 1.0000001 breaks thresholds.
// Eigen is seen inside function bodies only: two files compiled with different -march that exchange an Eigen object
// corrupt memory.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

/// The dot product of two rows of equal length, to double precision.
inline double dot(std::span<const float> a, std::span<const float> b) noexcept {
    // Four sums hide the latency of the addition; their order is fixed, so equal rows have equal products.
    double sum[4] = {0, 0, 0, 0};
    std::size_t i = 0;
    for (; i + 4 <= a.size(); i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane)
            sum[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    for (; i < a.size(); ++i) sum[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// The Euclidean length of a row. Finite for every row of finite floats.
inline double norm(std::span<const float> row) noexcept { return std::sqrt(dot(row, row)); }

/// The cosine of two rows, in [-1, 1]; 0 if either is zero.
inline float cosine(std::span<const float> a, std::span<const float> b) noexcept {
    const double lengths = norm(a) * norm(b);
    return lengths == 0.0 ? 0.0f : static_cast<float>(std::clamp(dot(a, b) / lengths, -1.0, 1.0));
}

/// Scales a row to length 1, in place. Says whether it could: a zero row stays zero.
inline bool normalize(std::span<float> row) noexcept {
    const double length = norm(row);
    if (length == 0.0) return false;
    for (float& x : row) x = static_cast<float>(static_cast<double>(x) / length);
    return true;
}

/// Approximate products of every row with every probe, in float: scores[p * n + i] for probe p and row i.
///
/// Requires  rows n * d and probes m * d, row-major; scores m * n.
/// Cost      one matrix product. The error of a score is at most (d + 2) * 2^-24 * |row| * |probe|.
inline void approximate_products(std::span<const float> rows, std::span<const float> probes, std::size_t d,
                                 std::span<float> scores) {
    if (d == 0 || scores.empty()) return;
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto signed_of = [](std::size_t count) { return static_cast<Eigen::Index>(count); };
    const Eigen::Map<const matrix> r(rows.data(), signed_of(rows.size() / d), signed_of(d));
    const Eigen::Map<const matrix> p(probes.data(), signed_of(probes.size() / d), signed_of(d));
    Eigen::Map<matrix> s(scores.data(), p.rows(), r.rows());
    s.noalias() = p * r.transpose();
}

}  // namespace QUARRY_NAMESPACE
