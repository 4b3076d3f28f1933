// Kernels: the loops over rows that run once a row, in a table per instruction set.
//
// Not promised. Callers take the table of math/kernels.hpp; this header says what each entry does, once for all levels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

/// A probe in bytes, and the constants that make bounds of its products. See math/byte_rows.hpp.
struct byte_probe_constants {
    std::int32_t offset = 0;  // what the products are too large by, since codes are stored without a sign
    float scale = 0.0f;       // length of one step
    float length = 0.0f;      // of the probe, rounded up
    float error = 0.0f;       // of the probe's own codes, rounded up
};

/// What a row's codes stand for: row = scale * codes + a rest of length `error`; `length` is that of scale * codes.
struct byte_row_constants {
    const float* scale;
    const float* error;
    const float* length;
};

/// What a row became in codes: the length of a step, and sums over its components, in steps. 0 for a step: the row is too
/// short for codes, which are all 0.
struct byte_sums {
    float scale;
    float rests;  // of the squares of what the codes leave out
    float codes;  // of their own squares
};

struct kernels {
    // The dot product in double, by one tree of additions at every level: 16 lanes, element i goes to lane i mod 16;
    // then lanes 8 apart are added, then 4, 2 and 1 apart. A product of two floats is exact in double, so it makes no
    // difference whether multiplication and addition are fused, and equal inputs give equal bits everywhere.
    double (*dot)(const float* a, const float* b, std::size_t d);

    // out[p * out_stride + i] = rows[i] . probes[p] in float, within product_error. Rows and probes are row-major.
    void (*products)(const float* rows, std::size_t count, std::size_t d, const float* probes, std::size_t m,
                     float* out, std::size_t out_stride);

    // One such product.
    float (*product)(const float* a, const float* b, std::size_t d);

    // The positions of the values that are at least `least`, ascending; says how many. `positions` has room for all.
    std::size_t (*select)(const float* values, std::size_t count, float least, std::uint32_t* positions);

    // Sums of codes times probe bytes, exact: `stride` is a multiple of 32, of both. Codes are 1 to 255, probe bytes
    // -127 to 127. With ids the i-th product is that of row ids[i], and rows are fetched ahead; without, that of row i.
    void (*byte_products)(const std::uint8_t* codes, std::size_t stride, const std::uint32_t* ids, std::size_t count,
                          const std::int8_t* probe, std::int32_t* out);

    // The same for at most 64 rows and m probes: out[p * 64 + i]. `scratch` has 64 * stride bytes.
    void (*byte_products_batch)(const std::uint8_t* codes, std::size_t stride, std::size_t count,
                                const std::int8_t* probes, std::size_t m, std::int32_t* out, std::uint8_t* scratch);

    // Blocks of 32 rows side by side in four bits, 4 bytes of each at a time: byte b of quad q has number 8 q + b below and
    // 8 q + 4 + b above. out[i] is the sum of twice the i-th row's numbers times the probe's bytes, exact.
    void (*nibble_products)(const std::uint8_t* blocks, std::size_t stride, std::size_t count, const std::int8_t* probe,
                            std::int32_t* out);

    // The positions whose product could, by its bound, be at least `least`; says how many.
    std::size_t (*select_bytes)(const std::int32_t* products, byte_row_constants rows, std::size_t count,
                                const byte_probe_constants& probe, float least, std::uint32_t* positions);

    // The codes of a row of finite numbers, 128 + its components in steps of 1/127 of the largest, rounded; 128 up to the
    // next multiple of 32. Sums are those of floats in any order; a component in steps is off by at most 2^-16.
    byte_sums (*encode)(const float* row, std::size_t d, std::uint8_t* codes);

    // out = scale times the Hadamard transform of signs[j] x[j]; may be x. Requires  n a power of 2, at least 8.
    void (*hadamard)(const float* x, const float* signs, std::size_t n, float scale, float* out);

    // sums[j] += row[j], in double.
    void (*add_up)(const float* row, std::size_t d, double* sums);

    // Half floats as floats, and `dot` of floats and half floats.
    void (*widen)(const std::uint16_t* halves, std::size_t d, float* out);
    double (*dot_halves)(const float* a, const std::uint16_t* b, std::size_t d);

    // sums[i] += codes[i] * factor / 256, rounded down. Requires  sums that stay below 2^16.
    void (*add_codes)(const std::uint8_t* codes, std::size_t count, std::uint16_t factor, std::uint16_t* sums);

    // The positions of the sums that are at least `least`, ascending; says how many.
    std::size_t (*select_sums)(const std::uint16_t* sums, std::size_t count, std::uint16_t least,
                               std::uint32_t* positions);

    // Whether `byte_products_batch` is quicker than `products` of as many floats.
    bool batches_in_bytes;
};

}  // namespace QUARRY_NAMESPACE::detail
