// Half floats: IEEE 754 binary16, by their bits. Half the memory of a float, 11 bits of precision, at most 65,504.
//
// The kernels widen whole rows; these widen and narrow one number anywhere, whatever options and processor modes say.
#pragma once

#include <bit>
#include <cstdint>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

/// The same value. Infinities and NaNs stay what they are.
constexpr float widened_half(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3FFu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
}

/// The nearest half float, of two that are equally near the even one. From 65,520 on an infinity; a NaN stays one.
constexpr std::uint16_t narrowed_to_half(float x) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
    if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
    // Below 2^-14 a half counts in steps of 2^-24; above, ten bits of the fraction stay.
    const bool small = magnitude < 0x38800000u;
    if (small && magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
    const std::uint32_t whole = small ? (magnitude & 0x7FFFFFu) | 0x800000u : magnitude - 0x38000000u;
    const std::uint32_t dropped = small ? 126 - (magnitude >> 23) : 13;
    const std::uint32_t kept = whole >> dropped, rest = whole & ((1u << dropped) - 1), middle = 1u << (dropped - 1);
    return static_cast<std::uint16_t>(sign | (kept + (rest > middle || (rest == middle && (kept & 1u) != 0))));
}

}  // namespace QUARRY_NAMESPACE::detail
