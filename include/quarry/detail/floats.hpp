// Questions about floats whose answer no compiler option and no processor mode changes.
//
// Under -ffast-math a compiler may take any comparison with a NaN or an infinity for decided, and a program that links
// one object built so runs with subnormal numbers read as 0. Bits are not affected.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

/// Neither NaN nor infinite.
constexpr bool is_finite(float x) noexcept {
    constexpr std::uint32_t exponent = 0x7F800000u;
    return (std::bit_cast<std::uint32_t>(x) & exponent) != exponent;
}
constexpr bool is_finite(double x) noexcept {
    constexpr std::uint64_t exponent = 0x7FF0000000000000u;
    return (std::bit_cast<std::uint64_t>(x) & exponent) != exponent;
}
constexpr bool is_finite(std::span<const float> row) noexcept {
    for (const float x : row)
        if (!is_finite(x)) return false;
    return true;
}

constexpr bool is_nan(float x) noexcept { return (std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu) > 0x7F800000u; }

/// The same value in double, also for a subnormal float where the processor reads those as 0.
constexpr double widened(float x) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7F800000u) != 0) return static_cast<double>(x);
    const double magnitude = static_cast<double>(bits & 0x007FFFFFu) * 0x1p-149;
    return (bits >> 31) != 0 ? -magnitude : magnitude;
}

/// The nearest float; 0 instead of a subnormal one, and never -0.
constexpr float narrowed(double x) noexcept {
    // By its bits: a comparison for each sign is one that the processor guesses wrong for half of the numbers.
    const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(x) & 0x7FFFFFFFFFFFFFFFu;
    return magnitude < std::bit_cast<std::uint64_t>(0x1p-126) ? 0.0f : static_cast<float>(x);
}

}  // namespace QUARRY_NAMESPACE::detail
