// The kernels for x86-64 with AVX2, AVX-512 and its byte products.
//
// Every function stands in a region with the instruction set it is named after, so the code is the same whatever flags
// the including file has. Inside a region nothing is called that stands outside, and no header is included there. Loops
// over sums that must stay in registers say that they be unrolled: g++ does not at -O2.
#pragma once

#include "../config.hpp"
#include "kernels.hpp"
#include "kernels_baseline.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace QUARRY_NAMESPACE::detail {

// ---------------------------------------------------------------------------------------------------- AVX2, FMA, F16C

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
namespace avx2 {

inline __m256d four_doubles(const float* x) noexcept { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
inline __m256d four_doubles(const std::uint16_t* x) noexcept {
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x))));
}

template <class T>
double dot(const float* a, const T* b, std::size_t d) noexcept {
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
    const auto step = [&](const float* x, const T* y) {
        s0 = _mm256_fmadd_pd(four_doubles(x), four_doubles(y), s0);
        s1 = _mm256_fmadd_pd(four_doubles(x + 4), four_doubles(y + 4), s1);
        s2 = _mm256_fmadd_pd(four_doubles(x + 8), four_doubles(y + 8), s2);
        s3 = _mm256_fmadd_pd(four_doubles(x + 12), four_doubles(y + 12), s3);
    };
    std::size_t i = 0;
    for (; i + 16 <= d; i += 16) step(a + i, b + i);
    if (i < d) {
        float x[16] = {};
        T y[16] = {};
        for (std::size_t j = 0; i < d; ++i, ++j) x[j] = a[i], y[j] = b[i];
        step(x, y);
    }
    const __m256d four = _mm256_add_pd(_mm256_add_pd(s0, s2), _mm256_add_pd(s1, s3));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// The sums of four vectors.
inline __m128 sums(__m256 a, __m256 b, __m256 c, __m256 d) noexcept {
    const __m256 all = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}
inline __m128i sums(__m256i a, __m256i b, __m256i c, __m256i d) noexcept {
    const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

inline float product(const float* a, const float* b, std::size_t d) noexcept {
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    std::size_t j = 0;
    for (; j + 32 <= d; j += 32) {
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + j), _mm256_loadu_ps(b + j), s0);
        s1 = _mm256_fmadd_ps(_mm256_loadu_ps(a + j + 8), _mm256_loadu_ps(b + j + 8), s1);
        s2 = _mm256_fmadd_ps(_mm256_loadu_ps(a + j + 16), _mm256_loadu_ps(b + j + 16), s2);
        s3 = _mm256_fmadd_ps(_mm256_loadu_ps(a + j + 24), _mm256_loadu_ps(b + j + 24), s3);
    }
    for (; j + 8 <= d; j += 8) s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + j), _mm256_loadu_ps(b + j), s0);
    const __m128 four = sums(s0, s1, s2, s3);
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    float total = _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    for (; j < d; ++j) total += a[j] * b[j];
    return total;
}

// Four rows with two probes.
inline void tile(const float* const* row, std::size_t rows, std::size_t d, const float* probes, float* out,
                 std::size_t out_stride) noexcept {
    __m256 s[2][4];
#pragma GCC unroll 16
    for (auto& of_probe : s)
#pragma GCC unroll 16
        for (auto& one : of_probe) one = _mm256_setzero_ps();
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8)
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 4; ++r) {
            const __m256 x = _mm256_loadu_ps(row[r] + j);
            s[0][r] = _mm256_fmadd_ps(_mm256_loadu_ps(probes + j), x, s[0][r]);
            s[1][r] = _mm256_fmadd_ps(_mm256_loadu_ps(probes + d + j), x, s[1][r]);
        }
#pragma GCC unroll 16
    for (std::size_t p = 0; p < 2; ++p) {
        float total[4];
        _mm_storeu_ps(total, sums(s[p][0], s[p][1], s[p][2], s[p][3]));
        for (std::size_t i = j; i < d; ++i)
            for (std::size_t r = 0; r < 4; ++r) total[r] += probes[p * d + i] * row[r][i];
        for (std::size_t r = 0; r < rows; ++r) out[p * out_stride + r] = total[r];
    }
}

// Four rows with one probe, in the order in which they lie in memory: a scan waits for nothing else.
inline void four(const float* const* row, std::size_t rows, std::size_t d, const float* probe, float* out) noexcept {
    __m256 s[4];
    std::size_t j = 0;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < 4; ++r) {
        __m256 even = _mm256_setzero_ps(), odd = even;
        for (j = 0; j + 16 <= d; j += 16) {
            even = _mm256_fmadd_ps(_mm256_loadu_ps(probe + j), _mm256_loadu_ps(row[r] + j), even);
            odd = _mm256_fmadd_ps(_mm256_loadu_ps(probe + j + 8), _mm256_loadu_ps(row[r] + j + 8), odd);
        }
        s[r] = _mm256_add_ps(even, odd);
    }
    float total[4];
    _mm_storeu_ps(total, sums(s[0], s[1], s[2], s[3]));
    for (; j < d; ++j)
        for (std::size_t r = 0; r < 4; ++r) total[r] += probe[j] * row[r][j];
    for (std::size_t r = 0; r < rows; ++r) out[r] = total[r];
}

inline void products(const float* rows, std::size_t count, std::size_t d, const float* probes, std::size_t m,
                     float* out, std::size_t out_stride) noexcept {
    for (std::size_t i = 0; i < count; i += 4) {
        const std::size_t some = count - i < 4 ? count - i : 4;
        const float* row[4];
        for (std::size_t r = 0; r < 4; ++r) row[r] = rows + (i + (r < some ? r : 0)) * d;
        std::size_t p = 0;
        for (; p + 2 <= m; p += 2) tile(row, some, d, probes + p * d, out + p * out_stride + i, out_stride);
        for (; p < m; ++p) four(row, some, d, probes + p * d, out + p * out_stride + i);
    }
}

inline std::size_t write_positions(unsigned bits, std::size_t first, std::uint32_t* positions) noexcept {
    std::size_t found = 0;
    for (; bits != 0; bits &= bits - 1)
        positions[found++] = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(__builtin_ctz(bits));
    return found;
}

inline std::size_t select(const float* values, std::size_t count, float least, std::uint32_t* positions) noexcept {
    const __m256 bound = _mm256_set1_ps(least);
    std::size_t found = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 passed = _mm256_cmp_ps(_mm256_loadu_ps(values + i), bound, _CMP_GE_OQ);
        found += write_positions(static_cast<unsigned>(_mm256_movemask_ps(passed)), i, positions + found);
    }
    for (; i < count; ++i)
        if (values[i] >= least) positions[found++] = static_cast<std::uint32_t>(i);
    return found;
}

// Products of bytes need one side without a sign and sums of two that fit 16 bits: the probe gives its magnitude, the
// code takes the probe's sign, and neither exceeds 127.
inline __m256i byte_step(__m256i s, const std::uint8_t* code, __m256i q, __m256i magnitude) noexcept {
    const __m256i x = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(code)),
                                       _mm256_set1_epi8(static_cast<char>(-128)));
    return _mm256_add_epi32(
        s, _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(x, q)), _mm256_set1_epi16(1)));
}

inline void byte_products(const std::uint8_t* codes, std::size_t stride, const std::uint32_t* ids, std::size_t count,
                          const std::int8_t* probe, std::int32_t* out) noexcept {
    // The codes were taken without their offset here; it is added so that all levels give the same sums.
    __m256i ones = _mm256_setzero_si256();
    for (std::size_t j = 0; j < stride; j += 32) {
        const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(probe + j));
        ones = _mm256_add_epi32(
            ones, _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), q), _mm256_set1_epi16(128)));
    }
    const __m128i offset = sums(ones, ones, ones, ones);
    for (std::size_t i = 0; i < count; i += 4) {
        const std::size_t some = count - i < 4 ? count - i : 4;
        const std::uint8_t* row[4];
        for (std::size_t r = 0; r < 4; ++r) {
            const std::size_t at = i + (r < some ? r : 0);
            row[r] = codes + (ids ? ids[at] : at) * stride;
        }
        if (ids)
            for (std::size_t ahead = i + 8; ahead < i + 12 && ahead < count; ++ahead)
                for (std::size_t j = 0; j < stride; j += 64)
                    _mm_prefetch(reinterpret_cast<const char*>(codes + ids[ahead] * stride + j), _MM_HINT_T0);
        __m256i s[4];
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 4; ++r) {  // row after row, as they lie in memory
            s[r] = _mm256_setzero_si256();
            for (std::size_t j = 0; j < stride; j += 32) {
                const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(probe + j));
                s[r] = byte_step(s[r], row[r] + j, q, _mm256_abs_epi8(q));
            }
        }
        alignas(16) std::int32_t total[4];
        _mm_store_si128(reinterpret_cast<__m128i*>(total), _mm_add_epi32(sums(s[0], s[1], s[2], s[3]), offset));
        for (std::size_t r = 0; r < some; ++r) out[i + r] = total[r];
    }
}

inline void byte_products_batch(const std::uint8_t* codes, std::size_t stride, std::size_t count,
                                const std::int8_t* probes, std::size_t m, std::int32_t* out, std::uint8_t*) noexcept {
    for (std::size_t p = 0; p < m; ++p) byte_products(codes, stride, nullptr, count, probes + p * stride, out + p * 64);
}

// Products of numbers below 16 and bytes, added in 16 bits: of four quads they stay below 2^15.
inline void nibble_products(const std::uint8_t* blocks, std::size_t stride, std::size_t count, const std::int8_t* probe,
                            std::int32_t* out) noexcept {
    const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (std::size_t b = 0; b < count; ++b, blocks += 16 * stride, out += 32) {
        __m256i s[4];
#pragma GCC unroll 16
        for (auto& of_eight : s) of_eight = _mm256_setzero_si256();
        for (std::size_t j = 0; j < stride; j += 32) {
            __m256i some[4];
#pragma GCC unroll 16
            for (auto& of_eight : some) of_eight = _mm256_setzero_si256();
#pragma GCC unroll 16
            for (std::size_t i = 0; i < 32; i += 8) {
                std::int32_t four[2];
                __builtin_memcpy(four, probe + j + i, 8);
                const __m256i q0 = _mm256_set1_epi32(four[0]), q1 = _mm256_set1_epi32(four[1]);
#pragma GCC unroll 16
                for (std::size_t r = 0; r < 4; ++r) {
                    const __m256i x =
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(blocks + 16 * (j + i) + 32 * r));
                    const __m256i below = _mm256_maddubs_epi16(_mm256_and_si256(x, low), q0);
                    const __m256i above =
                        _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(x, 4), low), q1);
                    some[r] = _mm256_add_epi16(some[r], _mm256_add_epi16(below, above));
                }
            }
#pragma GCC unroll 16
            for (std::size_t r = 0; r < 4; ++r) s[r] = _mm256_add_epi32(s[r], _mm256_madd_epi16(some[r], ones));
        }
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 4; ++r)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * r), _mm256_add_epi32(s[r], s[r]));
    }
}

inline std::size_t select_bytes(const std::int32_t* products, byte_row_constants rows, std::size_t count,
                                const byte_probe_constants& probe, float least, std::uint32_t* positions) noexcept {
    const __m256 bound = _mm256_set1_ps(least), scale = _mm256_set1_ps(probe.scale),
                 length = _mm256_set1_ps(probe.length), error = _mm256_set1_ps(probe.error);
    const __m256i offset = _mm256_set1_epi32(probe.offset);
    std::size_t found = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 product = _mm256_cvtepi32_ps(
            _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(products + i)), offset));
        const __m256 middle = _mm256_mul_ps(_mm256_mul_ps(product, _mm256_loadu_ps(rows.scale + i)), scale);
        const __m256 around = _mm256_fmadd_ps(length, _mm256_loadu_ps(rows.error + i),
                                              _mm256_mul_ps(error, _mm256_loadu_ps(rows.length + i)));
        const __m256 passed = _mm256_cmp_ps(_mm256_add_ps(middle, around), bound, _CMP_GE_OQ);
        found += write_positions(static_cast<unsigned>(_mm256_movemask_ps(passed)), i, positions + found);
    }
    for (; i < count; ++i) {
        const float middle = static_cast<float>(products[i] - probe.offset) * rows.scale[i] * probe.scale;
        if (middle + (probe.length * rows.error[i] + probe.error * rows.length[i]) >= least)
            positions[found++] = static_cast<std::uint32_t>(i);
    }
    return found;
}

// Thirty-two numbers in steps, their codes and what these leave out.
inline void encode_some(const float* row, __m256 steps, std::uint8_t* codes, __m256& rests, __m256& squares) noexcept {
    __m256i code[4];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 4; ++i) {
        const __m256 turned = _mm256_mul_ps(_mm256_loadu_ps(row + 8 * i), steps);
        code[i] = _mm256_cvtps_epi32(turned);
        const __m256 kept = _mm256_cvtepi32_ps(code[i]), rest = _mm256_sub_ps(turned, kept);
        rests = _mm256_fmadd_ps(rest, rest, rests);
        squares = _mm256_fmadd_ps(kept, kept, squares);
    }
    // Packing works by halves of a vector, and leaves the fours in this order.
    const __m256i mixed = _mm256_packs_epi16(_mm256_packs_epi32(code[0], code[1]), _mm256_packs_epi32(code[2], code[3]));
    const __m256i sorted = _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes),
                        _mm256_xor_si256(sorted, _mm256_set1_epi8(static_cast<char>(-128))));
}

inline float largest_of(__m256 v) noexcept {
    float all[8], most = 0.0f;
    _mm256_storeu_ps(all, v);
    for (const float x : all) most = most < x ? x : most;
    return most;
}
inline float sum_of(__m256 v) noexcept {
    float all[4];
    _mm_storeu_ps(all, sums(v, v, v, v));
    return all[0];
}

inline byte_sums encode(const float* row, std::size_t d, std::uint8_t* codes) noexcept {
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    float rest[32] = {};
    const std::size_t whole = d / 32 * 32;
    for (std::size_t j = whole; j < d; ++j) rest[j - whole] = row[j];
    __m256 most = _mm256_setzero_ps(), other = most;
    const auto look = [&](const float* x) {
        for (std::size_t i = 0; i < 32; i += 16) {
            most = _mm256_max_ps(most, _mm256_and_ps(magnitude, _mm256_loadu_ps(x + i)));
            other = _mm256_max_ps(other, _mm256_and_ps(magnitude, _mm256_loadu_ps(x + i + 8)));
        }
    };
    for (std::size_t j = 0; j < whole; j += 32) look(row + j);
    look(rest);
    const float most_of_all = largest_of(_mm256_max_ps(most, other));
    const float scale = most_of_all < 0x1p-90f ? 0.0f : most_of_all / 127.0f;
    const __m256 steps = _mm256_set1_ps(scale == 0.0f ? 0.0f : 1.0f / scale);
    __m256 rests = _mm256_setzero_ps(), squares = rests;
    for (std::size_t j = 0; j < whole; j += 32) encode_some(row + j, steps, codes + j, rests, squares);
    if (whole != d) encode_some(rest, steps, codes + whole, rests, squares);
    return {scale, sum_of(rests), sum_of(squares)};
}

// Eight numbers: each meets the one beside it, then those two and four places away.
inline __m256 hadamard_of_eight(__m256 x) noexcept {
    const __m256 low = _mm256_setzero_ps(), minus = _mm256_set1_ps(-0.0f);
    x = _mm256_add_ps(_mm256_permute_ps(x, 0xB1), _mm256_xor_ps(x, _mm256_blend_ps(low, minus, 0xAA)));
    x = _mm256_add_ps(_mm256_permute_ps(x, 0x4E), _mm256_xor_ps(x, _mm256_blend_ps(low, minus, 0xCC)));
    return _mm256_add_ps(_mm256_permute2f128_ps(x, x, 1), _mm256_xor_ps(x, _mm256_blend_ps(low, minus, 0xF0)));
}

inline void hadamard(const float* x, const float* signs, std::size_t n, float scale, float* out) noexcept {
    for (std::size_t i = 0; i < n; i += 8) {
        const __m256 eight = hadamard_of_eight(_mm256_mul_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(signs + i)));
        _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_set1_ps(scale), eight));
    }
    // Two steps at a time, which halves the loads and stores, and the odd one by itself.
    std::size_t apart = 8;
    for (; 2 * apart < n; apart *= 4)
        for (std::size_t i = 0; i < n; i += 4 * apart)
            for (std::size_t j = i; j < i + apart; j += 8) {
                const __m256 a = _mm256_loadu_ps(out + j), b = _mm256_loadu_ps(out + j + apart);
                const __m256 c = _mm256_loadu_ps(out + j + 2 * apart), d = _mm256_loadu_ps(out + j + 3 * apart);
                const __m256 ab = _mm256_add_ps(a, b), a_b = _mm256_sub_ps(a, b);
                const __m256 cd = _mm256_add_ps(c, d), c_d = _mm256_sub_ps(c, d);
                _mm256_storeu_ps(out + j, _mm256_add_ps(ab, cd));
                _mm256_storeu_ps(out + j + apart, _mm256_add_ps(a_b, c_d));
                _mm256_storeu_ps(out + j + 2 * apart, _mm256_sub_ps(ab, cd));
                _mm256_storeu_ps(out + j + 3 * apart, _mm256_sub_ps(a_b, c_d));
            }
    if (apart < n)
        for (std::size_t j = 0; j < apart; j += 8) {
            const __m256 a = _mm256_loadu_ps(out + j), b = _mm256_loadu_ps(out + j + apart);
            _mm256_storeu_ps(out + j, _mm256_add_ps(a, b));
            _mm256_storeu_ps(out + j + apart, _mm256_sub_ps(a, b));
        }
}

inline void add_up(const float* row, std::size_t d, double* sums) noexcept {
    std::size_t j = 0;
    for (; j + 4 <= d; j += 4)
        _mm256_storeu_pd(sums + j, _mm256_add_pd(_mm256_loadu_pd(sums + j), four_doubles(row + j)));
    for (; j < d; ++j) sums[j] += static_cast<double>(row[j]);
}

inline void widen(const std::uint16_t* halves, std::size_t d, float* out) noexcept {
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8)
        _mm256_storeu_ps(out + j, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + j))));
    if (j == d) return;
    std::uint16_t rest[8] = {};
    for (std::size_t i = j; i < d; ++i) rest[i - j] = halves[i];
    float wide[8];
    _mm256_storeu_ps(wide, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rest))));
    for (std::size_t i = j; i < d; ++i) out[i] = wide[i - j];
}

inline void add_codes(const std::uint8_t* codes, std::size_t count, std::uint16_t factor, std::uint16_t* sums) noexcept {
    const __m256i times = _mm256_set1_epi16(static_cast<short>(factor));
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i)));
        const __m256i product = _mm256_mulhi_epu16(_mm256_slli_epi16(x, 8), times);
        __m256i* to = reinterpret_cast<__m256i*>(sums + i);
        _mm256_storeu_si256(to, _mm256_add_epi16(_mm256_loadu_si256(to), product));
    }
    for (; i < count; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + ((codes[i] * unsigned{factor}) >> 8));
}

inline std::size_t select_sums(const std::uint16_t* sums, std::size_t count, std::uint16_t least,
                               std::uint32_t* positions) noexcept {
    const __m256i bound = _mm256_set1_epi16(static_cast<short>(least));
    const auto passed = [&](const std::uint16_t* from) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return _mm256_cmpeq_epi16(_mm256_max_epu16(x, bound), x);
    };
    std::size_t found = 0, i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i both = _mm256_packs_epi16(passed(sums + i), passed(sums + i + 16));
        const auto bits = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xD8)));
        if (bits != 0) found += write_positions(bits, i, positions + found);
    }
    for (; i < count; ++i)
        if (sums[i] >= least) positions[found++] = static_cast<std::uint32_t>(i);
    return found;
}

}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

// ------------------------------------------------------------------------------------------------------------ AVX-512

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
// g++ 12 warns of its own header's deliberately uninitialised vectors.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
namespace avx512 {

inline __mmask16 first(std::size_t count) noexcept { return static_cast<__mmask16>((1u << count) - 1u); }

inline double dot(const float* a, const float* b, std::size_t d) noexcept {
    __m512d low = _mm512_setzero_pd(), high = low;
    std::size_t i = 0;
    for (; i + 16 <= d; i += 16) {
        low = _mm512_fmadd_pd(_mm512_cvtps_pd(_mm256_loadu_ps(a + i)), _mm512_cvtps_pd(_mm256_loadu_ps(b + i)), low);
        high = _mm512_fmadd_pd(_mm512_cvtps_pd(_mm256_loadu_ps(a + i + 8)), _mm512_cvtps_pd(_mm256_loadu_ps(b + i + 8)),
                               high);
    }
    if (i < d) {
        const auto rest = static_cast<unsigned>(first(d - i));
        const auto lower = static_cast<__mmask8>(rest & 255u), upper = static_cast<__mmask8>(rest >> 8);
        low = _mm512_fmadd_pd(_mm512_cvtps_pd(_mm256_maskz_loadu_ps(lower, a + i)),
                              _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lower, b + i)), low);
        if (upper != 0)
            high = _mm512_fmadd_pd(_mm512_cvtps_pd(_mm256_maskz_loadu_ps(upper, a + i + 8)),
                                   _mm512_cvtps_pd(_mm256_maskz_loadu_ps(upper, b + i + 8)), high);
    }
    const __m512d eight = _mm512_add_pd(low, high);
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// Four vectors become one that holds, in each quarter, a part of the sum of each.
inline __m512 parts(__m512 a, __m512 b, __m512 c, __m512 d) noexcept {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    const __m512d x = _mm512_castps_pd(ab), y = _mm512_castps_pd(cd);
    return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(x, y)), _mm512_castpd_ps(_mm512_unpackhi_pd(x, y)));
}
inline __m512 joined(__m512 a, __m512 b) noexcept {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}

inline float product(const float* a, const float* b, std::size_t d) noexcept {
    __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    std::size_t j = 0;
    for (; j + 64 <= d; j += 64) {
        s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + j), _mm512_loadu_ps(b + j), s0);
        s1 = _mm512_fmadd_ps(_mm512_loadu_ps(a + j + 16), _mm512_loadu_ps(b + j + 16), s1);
        s2 = _mm512_fmadd_ps(_mm512_loadu_ps(a + j + 32), _mm512_loadu_ps(b + j + 32), s2);
        s3 = _mm512_fmadd_ps(_mm512_loadu_ps(a + j + 48), _mm512_loadu_ps(b + j + 48), s3);
    }
    for (; j < d; j += 16) {
        const __mmask16 rest = d - j < 16 ? first(d - j) : static_cast<__mmask16>(0xFFFF);
        s0 = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rest, a + j), _mm512_maskz_loadu_ps(rest, b + j), s0);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
}

// Four rows with four probes.
inline void tile(const float* const* row, std::size_t rows, std::size_t d, const float* probes, float* out,
                 std::size_t out_stride) noexcept {
    __m512 s[4][4];
#pragma GCC unroll 16
    for (auto& of_probe : s)
#pragma GCC unroll 16
        for (auto& one : of_probe) one = _mm512_setzero_ps();
    const float *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    std::size_t j = 0;
    for (; j + 16 <= d; j += 16) {
        const __m512 x0 = _mm512_loadu_ps(r0 + j), x1 = _mm512_loadu_ps(r1 + j), x2 = _mm512_loadu_ps(r2 + j),
                     x3 = _mm512_loadu_ps(r3 + j);
#pragma GCC unroll 16
        for (std::size_t p = 0; p < 4; ++p) {
            const __m512 q = _mm512_loadu_ps(probes + p * d + j);
            s[p][0] = _mm512_fmadd_ps(q, x0, s[p][0]);
            s[p][1] = _mm512_fmadd_ps(q, x1, s[p][1]);
            s[p][2] = _mm512_fmadd_ps(q, x2, s[p][2]);
            s[p][3] = _mm512_fmadd_ps(q, x3, s[p][3]);
        }
    }
    if (j < d) {
        const __mmask16 rest = first(d - j);
        const __m512 x0 = _mm512_maskz_loadu_ps(rest, r0 + j), x1 = _mm512_maskz_loadu_ps(rest, r1 + j),
                     x2 = _mm512_maskz_loadu_ps(rest, r2 + j), x3 = _mm512_maskz_loadu_ps(rest, r3 + j);
#pragma GCC unroll 16
        for (std::size_t p = 0; p < 4; ++p) {
            const __m512 q = _mm512_maskz_loadu_ps(rest, probes + p * d + j);
            s[p][0] = _mm512_fmadd_ps(q, x0, s[p][0]);
            s[p][1] = _mm512_fmadd_ps(q, x1, s[p][1]);
            s[p][2] = _mm512_fmadd_ps(q, x2, s[p][2]);
            s[p][3] = _mm512_fmadd_ps(q, x3, s[p][3]);
        }
    }
    const auto kept = static_cast<__mmask8>(first(rows));
    const __m512 all =
        joined(joined(parts(s[0][0], s[0][1], s[0][2], s[0][3]), parts(s[1][0], s[1][1], s[1][2], s[1][3])),
               joined(parts(s[2][0], s[2][1], s[2][2], s[2][3]), parts(s[3][0], s[3][1], s[3][2], s[3][3])));
    _mm_mask_storeu_ps(out, kept, _mm512_castps512_ps128(all));
    _mm_mask_storeu_ps(out + out_stride, kept, _mm512_extractf32x4_ps(all, 1));
    _mm_mask_storeu_ps(out + 2 * out_stride, kept, _mm512_extractf32x4_ps(all, 2));
    _mm_mask_storeu_ps(out + 3 * out_stride, kept, _mm512_extractf32x4_ps(all, 3));
}

// Four rows with one probe, in the order in which they lie in memory: a scan waits for nothing else.
inline void four(const float* const* row, std::size_t rows, std::size_t d, const float* probe, float* out) noexcept {
    __m512 s[4];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < 4; ++r) {
        __m512 even = _mm512_setzero_ps(), odd = even;
        std::size_t j = 0;
        for (; j + 32 <= d; j += 32) {
            even = _mm512_fmadd_ps(_mm512_loadu_ps(probe + j), _mm512_loadu_ps(row[r] + j), even);
            odd = _mm512_fmadd_ps(_mm512_loadu_ps(probe + j + 16), _mm512_loadu_ps(row[r] + j + 16), odd);
        }
        for (; j < d; j += 16) {
            const __mmask16 rest = d - j < 16 ? first(d - j) : static_cast<__mmask16>(0xFFFF);
            even =
                _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rest, probe + j), _mm512_maskz_loadu_ps(rest, row[r] + j), even);
        }
        s[r] = _mm512_add_ps(even, odd);
    }
    const __m512 one = parts(s[0], s[1], s[2], s[3]);
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(one), _mm512_extractf32x8_ps(one, 1));
    _mm_mask_storeu_ps(out, static_cast<__mmask8>(first(rows)),
                       _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

inline void products(const float* rows, std::size_t count, std::size_t d, const float* probes, std::size_t m,
                     float* out, std::size_t out_stride) noexcept {
    for (std::size_t i = 0; i < count; i += 4) {
        const std::size_t some = count - i < 4 ? count - i : 4;
        const float* row[4];
        for (std::size_t r = 0; r < 4; ++r) row[r] = rows + (i + (r < some ? r : 0)) * d;
        std::size_t p = 0;
        for (; p + 4 <= m; p += 4) tile(row, some, d, probes + p * d, out + p * out_stride + i, out_stride);
        for (; p < m; ++p) four(row, some, d, probes + p * d, out + p * out_stride + i);
    }
}

inline std::size_t write_positions(__mmask16 bits, std::size_t start, std::uint32_t* positions) noexcept {
    std::size_t found = 0;
    for (unsigned rest = bits; rest != 0; rest &= rest - 1)
        positions[found++] = static_cast<std::uint32_t>(start) + static_cast<std::uint32_t>(__builtin_ctz(rest));
    return found;
}

inline std::size_t select(const float* values, std::size_t count, float least, std::uint32_t* positions) noexcept {
    const __m512 bound = _mm512_set1_ps(least);
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += 16) {
        const __mmask16 there = count - i < 16 ? first(count - i) : static_cast<__mmask16>(0xFFFF);
        const __m512 x = _mm512_maskz_loadu_ps(there, values + i);
        found += write_positions(_mm512_mask_cmp_ps_mask(there, x, bound, _CMP_GE_OQ), i, positions + found);
    }
    return found;
}

inline std::size_t select_bytes(const std::int32_t* products, byte_row_constants rows, std::size_t count,
                                const byte_probe_constants& probe, float least, std::uint32_t* positions) noexcept {
    const __m512 bound = _mm512_set1_ps(least), scale = _mm512_set1_ps(probe.scale),
                 length = _mm512_set1_ps(probe.length), error = _mm512_set1_ps(probe.error);
    const __m512i offset = _mm512_set1_epi32(probe.offset);
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += 16) {
        const __mmask16 there = count - i < 16 ? first(count - i) : static_cast<__mmask16>(0xFFFF);
        const __m512 product =
            _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_maskz_loadu_epi32(there, products + i), offset));
        const __m512 middle =
            _mm512_mul_ps(_mm512_mul_ps(product, _mm512_maskz_loadu_ps(there, rows.scale + i)), scale);
        const __m512 around = _mm512_fmadd_ps(length, _mm512_maskz_loadu_ps(there, rows.error + i),
                                              _mm512_mul_ps(error, _mm512_maskz_loadu_ps(there, rows.length + i)));
        const __mmask16 passed = _mm512_mask_cmp_ps_mask(there, _mm512_add_ps(middle, around), bound, _CMP_GE_OQ);
        if (passed != 0) found += write_positions(passed, i, positions + found);
    }
    return found;
}

inline __mmask32 first_of_32(std::size_t count) noexcept {
    return count < 32 ? static_cast<__mmask32>((1u << count) - 1u) : static_cast<__mmask32>(0xFFFFFFFFu);
}

inline void add_codes(const std::uint8_t* codes, std::size_t count, std::uint16_t factor, std::uint16_t* sums) noexcept {
    constexpr std::size_t ahead = 1024;  // rows come from far away, and the processor's own fetching ends with each page
    const __m512i times = _mm512_set1_epi16(static_cast<short>(factor));
    for (std::size_t i = 0; i < count; i += 32) {
        const __mmask32 there = first_of_32(count - i);
        if (i % 64 == 0) _mm_prefetch(reinterpret_cast<const char*>(codes + i) + ahead, _MM_HINT_T0);
        const __m512i x = _mm512_slli_epi16(_mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(there, codes + i)), 8);
        const __m512i sum = _mm512_add_epi16(_mm512_maskz_loadu_epi16(there, sums + i), _mm512_mulhi_epu16(x, times));
        _mm512_mask_storeu_epi16(sums + i, there, sum);
    }
}

inline std::size_t select_sums(const std::uint16_t* sums, std::size_t count, std::uint16_t least,
                               std::uint32_t* positions) noexcept {
    const __m512i bound = _mm512_set1_epi16(static_cast<short>(least));
    const auto passed = [&](std::size_t i) -> unsigned long long {
        const __mmask32 there = i < count ? first_of_32(count - i) : 0;
        return _mm512_mask_cmpge_epu16_mask(there, _mm512_maskz_loadu_epi16(there, sums + i), bound);
    };
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += 64)
        for (unsigned long long bits = passed(i) | passed(i + 32) << 32; bits != 0; bits &= bits - 1)
            positions[found++] = static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    return found;
}

}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC diagnostic pop
#pragma GCC pop_options
#endif

// -------------------------------------------------------------------------------------------------------- AVX-512 VNNI

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
namespace vnni {

inline __m512i parts(__m512i a, __m512i b, __m512i c, __m512i d) noexcept {
    const __m512i x = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    const __m512i y = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
}

inline __m512i line(const std::uint8_t* codes) noexcept { return _mm512_loadu_si512(codes); }
inline __m512i half(const std::uint8_t* codes) noexcept { return _mm512_maskz_loadu_epi8(0xFFFFFFFFu, codes); }

// Eight rows at a time, in the order in which they lie in memory; a vector of sums for each, added across at the end.
inline void byte_products(const std::uint8_t* codes, std::size_t stride, const std::uint32_t* ids, std::size_t count,
                          const std::int8_t* probe, std::int32_t* out) noexcept {
    constexpr std::size_t ahead = 8;  // rows that are fetched before they are needed
    const std::size_t whole = stride / 64 * 64;
    for (std::size_t i = 0; i < count; i += 8) {
        const std::size_t some = count - i < 8 ? count - i : 8;
        const std::uint8_t* row[8];
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 8; ++r) {
            const std::size_t at = i + (r < some ? r : 0);
            row[r] = codes + (ids ? ids[at] : at) * stride;
        }
        if (ids) {
            for (std::size_t next = i + ahead; next < i + ahead + 8 && next < count; ++next)
                for (std::size_t j = 0; j < stride; j += 64)
                    _mm_prefetch(reinterpret_cast<const char*>(codes + ids[next] * stride + j), _MM_HINT_T0);
        }
        __m512i s[8];
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 8; ++r) {
            s[r] = _mm512_setzero_si512();
            for (std::size_t j = 0; j < whole; j += 64)
                s[r] = _mm512_dpbusd_epi32(s[r], line(row[r] + j), _mm512_loadu_si512(probe + j));
            if (whole < stride)
                s[r] = _mm512_dpbusd_epi32(s[r], half(row[r] + whole),
                                           _mm512_maskz_loadu_epi8(0xFFFFFFFFu, probe + whole));
        }
        const __m512i w0 = parts(s[0], s[1], s[2], s[3]), w1 = parts(s[4], s[5], s[6], s[7]);
        const __m512i two = _mm512_add_epi32(_mm512_shuffle_i32x4(w0, w1, 0x88), _mm512_shuffle_i32x4(w0, w1, 0xDD));
        const __m512i all =
            _mm512_add_epi32(_mm512_shuffle_i32x4(two, two, 0x88), _mm512_shuffle_i32x4(two, two, 0xDD));
        _mm256_mask_storeu_epi32(out + i, static_cast<__mmask8>((1u << some) - 1u), _mm512_castsi512_si256(all));
    }
}

// Sixteen rows side by side, four bytes of each at a time: packed[quad][row][4]. A transposition of 16 x 16 words.
inline void pack(const std::uint8_t* codes, std::size_t stride, std::size_t count, std::uint8_t* packed) noexcept {
    for (std::size_t j = 0; j < stride; j += 64) {
        const bool whole = j + 64 <= stride;
        __m512i a[16], b[16];
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 16; ++r) {
            const std::uint8_t* from = codes + (r < count ? r : 0) * stride + j;
            a[r] = whole ? line(from) : half(from);
        }
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 16; r += 2) {
            b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
            b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
        }
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 16; r += 4) {
            a[r] = _mm512_unpacklo_epi64(b[r], b[r + 2]);
            a[r + 1] = _mm512_unpackhi_epi64(b[r], b[r + 2]);
            a[r + 2] = _mm512_unpacklo_epi64(b[r + 1], b[r + 3]);
            a[r + 3] = _mm512_unpackhi_epi64(b[r + 1], b[r + 3]);
        }
        // a[4 g + w] holds word w + 4 l of rows 4 g to 4 g + 3 in its quarter l.
#pragma GCC unroll 16
        for (std::size_t w = 0; w < 4; ++w) {
            const __m512i low = _mm512_shuffle_i32x4(a[w], a[4 + w], 0x44),
                          high = _mm512_shuffle_i32x4(a[w], a[4 + w], 0xEE);
            const __m512i low2 = _mm512_shuffle_i32x4(a[8 + w], a[12 + w], 0x44),
                          high2 = _mm512_shuffle_i32x4(a[8 + w], a[12 + w], 0xEE);
            std::uint8_t* to = packed + (j / 4 + w) * 64;
            _mm512_storeu_si512(to, _mm512_shuffle_i32x4(low, low2, 0x88));
            _mm512_storeu_si512(to + 4 * 64, _mm512_shuffle_i32x4(low, low2, 0xDD));
            if (!whole) continue;
            _mm512_storeu_si512(to + 8 * 64, _mm512_shuffle_i32x4(high, high2, 0x88));
            _mm512_storeu_si512(to + 12 * 64, _mm512_shuffle_i32x4(high, high2, 0xDD));
        }
    }
}

// 64 packed rows with P probes.
template <std::size_t P>
void tile(const std::uint8_t* packed, std::size_t stride, const std::int8_t* probes, std::int32_t* out) noexcept {
    __m512i s[P][4];
#pragma GCC unroll 16
    for (auto& of_probe : s)
#pragma GCC unroll 16
        for (auto& one : of_probe) one = _mm512_setzero_si512();
    const std::uint8_t *b0 = packed, *b1 = packed + 16 * stride, *b2 = packed + 32 * stride, *b3 = packed + 48 * stride;
    for (std::size_t quad = 0; quad < stride / 4; ++quad) {
        const __m512i x0 = line(b0 + quad * 64), x1 = line(b1 + quad * 64), x2 = line(b2 + quad * 64),
                      x3 = line(b3 + quad * 64);
#pragma GCC unroll 16
        for (std::size_t p = 0; p < P; ++p) {
            std::int32_t four;
            __builtin_memcpy(&four, probes + p * stride + quad * 4, 4);
            const __m512i q = _mm512_set1_epi32(four);
            s[p][0] = _mm512_dpbusd_epi32(s[p][0], x0, q);
            s[p][1] = _mm512_dpbusd_epi32(s[p][1], x1, q);
            s[p][2] = _mm512_dpbusd_epi32(s[p][2], x2, q);
            s[p][3] = _mm512_dpbusd_epi32(s[p][3], x3, q);
        }
    }
#pragma GCC unroll 16
    for (std::size_t p = 0; p < P; ++p)
#pragma GCC unroll 16
        for (std::size_t b = 0; b < 4; ++b) _mm512_storeu_si512(out + p * 64 + b * 16, s[p][b]);
}

inline void byte_products_batch(const std::uint8_t* codes, std::size_t stride, std::size_t count,
                                const std::int8_t* probes, std::size_t m, std::int32_t* out,
                                std::uint8_t* scratch) noexcept {
    if (m < 4) {  // not worth the packing
        for (std::size_t p = 0; p < m; ++p)
            byte_products(codes, stride, nullptr, count, probes + p * stride, out + p * 64);
        return;
    }
    for (std::size_t b = 0; b < 4; ++b) {
        const std::size_t start = b * 16 < count ? b * 16 : 0;  // rows that are not there are some that are
        pack(codes + start * stride, stride, count - start < 16 ? count - start : 16, scratch + b * 16 * stride);
    }
    std::size_t p = 0;
    for (; p + 6 <= m; p += 6) tile<6>(scratch, stride, probes + p * stride, out + p * 64);
    for (; p + 2 <= m; p += 2) tile<2>(scratch, stride, probes + p * stride, out + p * 64);
    for (; p < m; ++p) tile<1>(scratch, stride, probes + p * stride, out + p * 64);
}

// The upper halves are left where they are, 16 times what they stand for.
inline void nibble_products(const std::uint8_t* blocks, std::size_t stride, std::size_t count, const std::int8_t* probe,
                            std::int32_t* out) noexcept {
    const __m512i low = _mm512_set1_epi8(15), high = _mm512_set1_epi8(static_cast<char>(0xF0));
    for (std::size_t b = 0; b < count; ++b, blocks += 16 * stride, out += 32) {
        __m512i below[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        __m512i above[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (std::size_t j = 0; j < stride; j += 8) {
            std::int32_t four[2];
            __builtin_memcpy(four, probe + j, 8);
            const __m512i q0 = _mm512_set1_epi32(four[0]), q1 = _mm512_set1_epi32(four[1]);
#pragma GCC unroll 16
            for (std::size_t r = 0; r < 2; ++r) {
                const __m512i x = line(blocks + 16 * j + 64 * r);
                below[r] = _mm512_dpbusd_epi32(below[r], _mm512_and_si512(x, low), q0);
                above[r] = _mm512_dpbusd_epi32(above[r], _mm512_and_si512(x, high), q1);
            }
        }
#pragma GCC unroll 16
        for (std::size_t r = 0; r < 2; ++r)
            _mm512_storeu_si512(out + 16 * r, _mm512_add_epi32(_mm512_add_epi32(below[r], below[r]),
                                                               _mm512_srai_epi32(above[r], 3)));
    }
}

}  // namespace vnni
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC diagnostic pop
#pragma GCC pop_options
#endif

// Rows are encoded, added up and widened as fast as memory is read: wider vectors would not show.
inline constexpr kernels avx2_kernels{avx2::dot<float>,      avx2::products,      avx2::product,
                                      avx2::select,          avx2::byte_products, avx2::byte_products_batch,
                                      avx2::nibble_products, avx2::select_bytes,  avx2::encode,
                                      avx2::hadamard,        avx2::add_up,        avx2::widen,
                                      avx2::dot<std::uint16_t>, avx2::add_codes,  avx2::select_sums,
                                      true};
inline constexpr kernels avx512_kernels{avx512::dot,           avx512::products,     avx512::product,
                                        avx512::select,        avx2::byte_products,  avx2::byte_products_batch,
                                        avx2::nibble_products, avx512::select_bytes, avx2::encode,
                                        avx2::hadamard,        avx2::add_up,         avx2::widen,
                                        avx2::dot<std::uint16_t>, avx512::add_codes, avx512::select_sums,
                                        false};
inline constexpr kernels vnni_kernels{avx512::dot,           avx512::products,     avx512::product,
                                      avx512::select,        vnni::byte_products,  vnni::byte_products_batch,
                                      vnni::nibble_products, avx512::select_bytes, avx2::encode,
                                      avx2::hadamard,        avx2::add_up,         avx2::widen,
                                      avx2::dot<std::uint16_t>, avx512::add_codes, avx512::select_sums,
                                      true};

}  // namespace QUARRY_NAMESPACE::detail
#endif
