// The kernels for 64-bit Arm with products of bytes (Armv8.2 and later). What is not here is the baseline's, whose vectors
// are NEON's on this platform.
//
// In a region, as those of kernels_x86.hpp.
#pragma once

#include "../config.hpp"
#include "kernels.hpp"
#include "kernels_baseline.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace QUARRY_NAMESPACE::detail {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
namespace dotprod {

// By its own name: not every compiler has the intrinsic in a region.
inline int32x4_t add_products(int32x4_t sums, int8x16_t x, int8x16_t q) noexcept {
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(x), "w"(q));
    return sums;
}

// Both sides have a sign in these products, so codes are taken without their offset and 128 times the probe is added.
inline int8x16_t line(const std::uint8_t* codes) noexcept {
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(codes), vdupq_n_u8(128)));
}

inline void byte_products(const std::uint8_t* codes, std::size_t stride, const std::uint32_t* ids, std::size_t count,
                          const std::int8_t* probe, std::int32_t* out) noexcept {
    int32x4_t ones = vdupq_n_s32(0);
    for (std::size_t j = 0; j < stride; j += 16) ones = add_products(ones, vld1q_s8(probe + j), vdupq_n_s8(1));
    const std::int32_t offset = 128 * vaddvq_s32(ones);
    for (std::size_t i = 0; i < count; ++i) {
        if (ids && i + 8 < count) __builtin_prefetch(codes + ids[i + 8] * stride);
        const std::uint8_t* row = codes + (ids ? ids[i] : i) * stride;
        int32x4_t even = vdupq_n_s32(0), odd = even;
        for (std::size_t j = 0; j < stride; j += 32) {
            even = add_products(even, line(row + j), vld1q_s8(probe + j));
            odd = add_products(odd, line(row + j + 16), vld1q_s8(probe + j + 16));
        }
        out[i] = vaddvq_s32(vaddq_s32(even, odd)) + offset;
    }
}

inline void byte_products_batch(const std::uint8_t* codes, std::size_t stride, std::size_t count,
                                const std::int8_t* probes, std::size_t m, std::int32_t* out, std::uint8_t*) noexcept {
    for (std::size_t p = 0; p < m; ++p) byte_products(codes, stride, nullptr, count, probes + p * stride, out + p * 64);
}

inline void nibble_products(const std::uint8_t* blocks, std::size_t stride, std::size_t count, const std::int8_t* probe,
                            std::int32_t* out) noexcept {
    for (std::size_t b = 0; b < count; ++b, blocks += 16 * stride, out += 32) {
        int32x4_t s[8];
        for (auto& of_four : s) of_four = vdupq_n_s32(0);
        for (std::size_t j = 0; j < stride; j += 8) {
            std::int32_t four[2];
            __builtin_memcpy(four, probe + j, 8);
            const int8x16_t q0 = vreinterpretq_s8_s32(vdupq_n_s32(four[0])),
                            q1 = vreinterpretq_s8_s32(vdupq_n_s32(four[1]));
#pragma GCC unroll 16
            for (std::size_t r = 0; r < 8; ++r) {
                const uint8x16_t x = vld1q_u8(blocks + 16 * j + 16 * r);
                s[r] = add_products(s[r], vreinterpretq_s8_u8(vandq_u8(x, vdupq_n_u8(15))), q0);
                s[r] = add_products(s[r], vreinterpretq_s8_u8(vshrq_n_u8(x, 4)), q1);
            }
        }
        for (std::size_t r = 0; r < 8; ++r) vst1q_s32(out + 4 * r, vaddq_s32(s[r], s[r]));
    }
}

}  // namespace dotprod
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

inline namespace QUARRY_DETAIL_FLAGS {
inline constexpr kernels dotprod_kernels = [] {
    kernels table = baseline_kernels;
    table.byte_products = dotprod::byte_products;
    table.byte_products_batch = dotprod::byte_products_batch;
    table.nibble_products = dotprod::nibble_products;
    table.batches_in_bytes = true;
    return table;
}();
}  // namespace QUARRY_DETAIL_FLAGS

}  // namespace QUARRY_NAMESPACE::detail
#endif
