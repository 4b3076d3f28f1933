// The instruction set that products of rows are computed with: chosen at run time, once.
//
// A program built with plain -O2 is as fast as one built for its processor. Answers are the same at every level, scores
// to the bit; only the time differs.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "../config.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace QUARRY_NAMESPACE {

enum class simd : std::uint8_t {
    baseline,  // what every processor of the platform has: SSE2 on x86-64, NEON on AArch64
    avx2,      // AVX2, FMA and F16C
    avx512,    // AVX-512 F, BW, DQ and VL
    vnni,      // the same and its byte products
    dotprod,   // NEON and the byte products of Armv8.2
};

constexpr std::string_view name_of(simd level) noexcept {
    constexpr std::string_view names[] = {"baseline", "avx2", "avx512", "vnni", "dotprod"};
    return names[static_cast<std::size_t>(level)];
}

namespace detail {

/// The levels of this platform, each better than the one before.
inline constexpr simd simd_levels[] = {
    simd::baseline,
#if defined(__x86_64__)
    simd::avx2,     simd::avx512, simd::vnni,
#elif defined(__aarch64__)
    simd::dotprod,
#endif
};

inline simd simd_of_this_processor() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    // Not every compiler knows the name of F16C: its bit is asked for.
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    const bool halves = (c & bit_F16C) != 0;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !halves) return simd::baseline;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return simd::avx2;
    return __builtin_cpu_supports("avx512vnni") ? simd::vnni : simd::avx512;
#elif defined(__aarch64__) && defined(__linux__)
    constexpr unsigned long byte_products = 1ul << 20;  // HWCAP_ASIMDDP
    return (getauxval(AT_HWCAP) & byte_products) != 0 ? simd::dotprod : simd::baseline;
#else
    return simd::baseline;
#endif
}

// What QUARRY_SIMD allows. A word that is none of this platform's names allows the baseline: slow is noticed, wrong would not be.
inline simd simd_allowed(const char* cap) noexcept {
    if (cap == nullptr || *cap == '\0') return std::end(simd_levels)[-1];
    for (const simd level : simd_levels)
        if (name_of(level) == cap) return level;
    return simd::baseline;
}

}  // namespace detail

/// The level in use: the best of this processor, or less if the environment variable QUARRY_SIMD names a lower one
/// (any other word is taken for `baseline`). Read once, at the first call.
inline simd simd_level() noexcept {
    static const simd level = [] {
        const simd has = detail::simd_of_this_processor();
        const simd may = detail::simd_allowed(std::getenv("QUARRY_SIMD"));
        return may < has ? may : has;
    }();
    return level;
}

}  // namespace QUARRY_NAMESPACE
