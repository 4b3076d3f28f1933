// The kernels for any processor: vectors of 16 bytes in the notation that g++ and clang share, SSE2 or NEON in effect.
//
// Its code depends on the flags of the file that includes it, as that of the other levels does not. So its namespace is
// named after them: two files with different flags do not share a body, whichever the linker meets first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../config.hpp"
#include "half.hpp"
#include "kernels.hpp"

#if defined(__AVX512F__)
#define QUARRY_DETAIL_FLAGS flags_avx512
#elif defined(__AVX2__)
#define QUARRY_DETAIL_FLAGS flags_avx2
#elif defined(__AVX__)
#define QUARRY_DETAIL_FLAGS flags_avx
#elif defined(__SSE4_1__)
#define QUARRY_DETAIL_FLAGS flags_sse4
#elif defined(__ARM_FEATURE_SVE)
#define QUARRY_DETAIL_FLAGS flags_sve
#else
#define QUARRY_DETAIL_FLAGS flags_none
#endif

namespace QUARRY_NAMESPACE::detail {
inline namespace QUARRY_DETAIL_FLAGS {
namespace baseline {

typedef float float4 __attribute__((vector_size(16)));
typedef std::int32_t int4 __attribute__((vector_size(16)));
typedef std::int16_t short8 __attribute__((vector_size(16)));
typedef std::uint16_t unsigned8 __attribute__((vector_size(16)));
typedef std::uint64_t words2 __attribute__((vector_size(16)));
typedef std::uint8_t bytes8 __attribute__((vector_size(8)));
typedef std::int8_t signed8 __attribute__((vector_size(8)));

template <class V>
V loaded(const void* from) noexcept {
    V out;
    std::memcpy(&out, from, sizeof(V));
    return out;
}

inline double in_double(float x) noexcept { return static_cast<double>(x); }
inline double in_double(std::uint16_t half) noexcept { return static_cast<double>(widened_half(half)); }

template <class T>
double dot(const float* a, const T* b, std::size_t d) noexcept {
    double lane[16] = {};
    std::size_t i = 0;
    for (; i + 16 <= d; i += 16)
        for (std::size_t j = 0; j < 16; ++j) lane[j] += static_cast<double>(a[i + j]) * in_double(b[i + j]);
    for (std::size_t j = 0; i < d; ++i, ++j) lane[j] += static_cast<double>(a[i]) * in_double(b[i]);
    for (std::size_t apart = 8; apart != 0; apart /= 2)
        for (std::size_t j = 0; j < apart; ++j) lane[j] += lane[j + apart];
    return lane[0];
}

inline float sum(float4 v) noexcept { return (v[0] + v[2]) + (v[1] + v[3]); }

inline float product(const float* a, const float* b, std::size_t d) noexcept {
    float4 s0{}, s1{};
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8) {
        s0 += loaded<float4>(a + j) * loaded<float4>(b + j);
        s1 += loaded<float4>(a + j + 4) * loaded<float4>(b + j + 4);
    }
    float total = sum(s0 + s1);
    for (; j < d; ++j) total += a[j] * b[j];
    return total;
}

inline void products(const float* rows, std::size_t count, std::size_t d, const float* probes, std::size_t m,
                     float* out, std::size_t out_stride) noexcept {
    for (std::size_t p = 0; p < m; ++p) {
        const float* probe = probes + p * d;
        for (std::size_t i = 0; i < count; i += 4) {
            const float* row[4];
            for (std::size_t r = 0; r < 4; ++r) row[r] = rows + (i + r < count ? i + r : count - 1) * d;
            float4 s0{}, s1{}, s2{}, s3{};
            std::size_t j = 0;
            for (; j + 4 <= d; j += 4) {
                const float4 q = loaded<float4>(probe + j);
                s0 += q * loaded<float4>(row[0] + j);
                s1 += q * loaded<float4>(row[1] + j);
                s2 += q * loaded<float4>(row[2] + j);
                s3 += q * loaded<float4>(row[3] + j);
            }
            float sums[4] = {sum(s0), sum(s1), sum(s2), sum(s3)};
            for (; j < d; ++j)
                for (std::size_t r = 0; r < 4; ++r) sums[r] += probe[j] * row[r][j];
            for (std::size_t r = 0; r < 4 && i + r < count; ++r) out[p * out_stride + i + r] = sums[r];
        }
    }
}

inline std::size_t select(const float* values, std::size_t count, float least, std::uint32_t* positions) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        positions[found] = static_cast<std::uint32_t>(i);
        found += values[i] >= least;
    }
    return found;
}

// A product of a code and a probe byte fits 16 bits; pairs of them are added in 32.
inline int4 byte_step(int4 sums, const std::uint8_t* codes, short8 q) noexcept {
    const short8 x = __builtin_convertvector(loaded<bytes8>(codes), short8);
    const short8 product = x * q;
    const int4 both = loaded<int4>(&product);
    return sums + ((both << 16) >> 16) + (both >> 16);
}

inline void byte_products(const std::uint8_t* codes, std::size_t stride, const std::uint32_t* ids, std::size_t count,
                          const std::int8_t* probe, std::int32_t* out) noexcept {
    for (std::size_t i = 0; i < count; i += 2) {
        const std::size_t other = i + 1 < count ? i + 1 : i;
        const std::uint8_t* a = codes + (ids ? ids[i] : i) * stride;
        const std::uint8_t* b = codes + (ids ? ids[other] : other) * stride;
        int4 s{}, t{};
        for (std::size_t j = 0; j < stride; j += 8) {
            const short8 q = __builtin_convertvector(loaded<signed8>(probe + j), short8);
            s = byte_step(s, a + j, q);
            t = byte_step(t, b + j, q);
        }
        out[i] = s[0] + s[1] + s[2] + s[3];
        out[other] = t[0] + t[1] + t[2] + t[3];
    }
}

inline void byte_products_batch(const std::uint8_t* codes, std::size_t stride, std::size_t count,
                                const std::int8_t* probes, std::size_t m, std::int32_t* out, std::uint8_t*) noexcept {
    for (std::size_t p = 0; p < m; ++p) byte_products(codes, stride, nullptr, count, probes + p * stride, out + p * 64);
}

// Four rows with eight numbers each: pairs of bytes as 16 bits, whose four numbers times a byte stay below 2^13.
inline unsigned8 nibble_step(unsigned8 x, const std::int8_t* probe) noexcept {
    const auto pair = [](std::int8_t a, std::int8_t b) {
        const auto x0 = static_cast<std::uint16_t>(a), x1 = static_cast<std::uint16_t>(b);
        return unsigned8{x0, x1, x0, x1, x0, x1, x0, x1};
    };
    return (x & 15) * pair(probe[0], probe[2]) + (x >> 4 & 15) * pair(probe[4], probe[6]) +
           (x >> 8 & 15) * pair(probe[1], probe[3]) + (x >> 12) * pair(probe[5], probe[7]);
}

inline void nibble_products(const std::uint8_t* blocks, std::size_t stride, std::size_t count, const std::int8_t* probe,
                            std::int32_t* out) noexcept {
    for (std::size_t b = 0; b < count; ++b, blocks += 16 * stride, out += 32) {
        int4 s[8] = {};
        for (std::size_t j = 0; j < stride; j += 32) {
            unsigned8 some[8] = {};
            for (std::size_t i = j; i < j + 32; i += 8)
                for (std::size_t r = 0; r < 8; ++r)
                    some[r] += nibble_step(loaded<unsigned8>(blocks + 16 * i + 16 * r), probe + i);
            for (std::size_t r = 0; r < 8; ++r) {
                const int4 both = loaded<int4>(&some[r]);
                s[r] += ((both << 16) >> 16) + (both >> 16);
            }
        }
        for (std::size_t r = 0; r < 8; ++r) {
            s[r] += s[r];
            std::memcpy(out + 4 * r, &s[r], sizeof s[r]);
        }
    }
}

inline std::size_t select_bytes(const std::int32_t* products, byte_row_constants rows, std::size_t count,
                                const byte_probe_constants& probe, float least, std::uint32_t* positions) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const float middle = static_cast<float>(products[i] - probe.offset) * rows.scale[i] * probe.scale;
        positions[found] = static_cast<std::uint32_t>(i);
        found += middle + (probe.length * rows.error[i] + probe.error * rows.length[i]) >= least;
    }
    return found;
}

inline byte_sums encode(const float* row, std::size_t d, std::uint8_t* codes) noexcept {
    float most = 0.0f;
    for (std::size_t j = 0; j < d; ++j) {
        const float magnitude = row[j] < 0.0f ? -row[j] : row[j];
        most = most < magnitude ? magnitude : most;
    }
    const float scale = most < 0x1p-90f ? 0.0f : most / 127.0f, steps = scale == 0.0f ? 0.0f : 1.0f / scale;
    double rests = 0.0, squares = 0.0;
    for (std::size_t j = 0; j < (d + 31) / 32 * 32; ++j) {
        const float turned = j < d ? row[j] * steps : 0.0f;
        const int code = static_cast<int>(turned + (turned < 0.0f ? -0.5f : 0.5f));
        const float rest = turned - static_cast<float>(code);
        rests += static_cast<double>(rest * rest);
        squares += static_cast<double>(code * code);
        codes[j] = static_cast<std::uint8_t>(code + 128);
    }
    return {scale, static_cast<float>(rests), static_cast<float>(squares)};
}

inline void hadamard(const float* x, const float* signs, std::size_t n, float scale, float* out) noexcept {
    for (std::size_t i = 0; i < n; i += 4) {
        float four[4];
        for (std::size_t j = 0; j < 4; ++j) four[j] = x[i + j] * signs[i + j] * scale;
        const float a = four[0] + four[1], b = four[0] - four[1], c = four[2] + four[3], e = four[2] - four[3];
        out[i] = a + c, out[i + 1] = b + e, out[i + 2] = a - c, out[i + 3] = b - e;
    }
    for (std::size_t apart = 4; apart < n; apart *= 2)
        for (std::size_t i = 0; i < n; i += 2 * apart)
            for (std::size_t j = i; j < i + apart; j += 4) {
                const float4 a = loaded<float4>(out + j), b = loaded<float4>(out + j + apart), sum = a + b, rest = a - b;
                std::memcpy(out + j, &sum, sizeof sum);
                std::memcpy(out + j + apart, &rest, sizeof rest);
            }
}

inline void add_up(const float* row, std::size_t d, double* sums) noexcept {
    for (std::size_t j = 0; j < d; ++j) sums[j] += static_cast<double>(row[j]);
}

inline void widen(const std::uint16_t* halves, std::size_t d, float* out) noexcept {
    for (std::size_t j = 0; j < d; ++j) out[j] = widened_half(halves[j]);
}

inline void add_codes(const std::uint8_t* codes, std::size_t count, std::uint16_t factor, std::uint16_t* sums) noexcept {
    const auto high = static_cast<std::uint16_t>(factor >> 8), low = static_cast<std::uint16_t>(factor & 255);
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const unsigned8 x = __builtin_convertvector(loaded<bytes8>(codes + i), unsigned8);
        const unsigned8 sum = loaded<unsigned8>(sums + i) + x * high + ((x * low) >> 8);
        std::memcpy(sums + i, &sum, sizeof sum);
    }
    for (; i < count; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + ((codes[i] * unsigned{factor}) >> 8));
}

inline std::size_t select_sums(const std::uint16_t* sums, std::size_t count, std::uint16_t least,
                               std::uint32_t* positions) noexcept {
    std::size_t found = 0, i = 0;
    const auto one = [&](std::size_t at) {
        positions[found] = static_cast<std::uint32_t>(at);
        found += sums[at] >= least;
    };
    for (; i + 8 <= count; i += 8) {
        const auto passed = loaded<unsigned8>(sums + i) >= least;
        const words2 any = loaded<words2>(&passed);
        if ((any[0] | any[1]) != 0)
            for (std::size_t j = 0; j < 8; ++j) one(i + j);
    }
    for (; i < count; ++i) one(i);
    return found;
}

}  // namespace baseline

inline constexpr kernels baseline_kernels{
    baseline::dot<float>,    baseline::products,
    baseline::product,       baseline::select,
    baseline::byte_products, baseline::byte_products_batch,
    baseline::nibble_products, baseline::select_bytes,
    baseline::encode,        baseline::hadamard,
    baseline::add_up,        baseline::widen,
    baseline::dot<std::uint16_t>, baseline::add_codes,
    baseline::select_sums,   false};

}  // namespace QUARRY_DETAIL_FLAGS
}  // namespace QUARRY_NAMESPACE::detail
