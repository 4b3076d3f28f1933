// Rows in bytes, with proof of what the bytes leave out.
//
// A quarter of the memory of float rows, so a scan takes a quarter of the time; and for each row and probe an interval
// in which their product certainly lies, so that nothing is decided by the bytes alone. Not promised.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "../config.hpp"
#include "../detail/aligned.hpp"
#include "../detail/floats.hpp"
#include "cosine.hpp"
#include "kernels.hpp"

namespace QUARRY_NAMESPACE::detail {

// A float at or above x, for x of at most 1e30. Not below 2^-100, so that a product of two such numbers that matters is
// never subnormal.
inline float float_above(double x) noexcept {
    return static_cast<float>(std::clamp(x * (1 + 0x1p-22), 0x1p-100, 1e30));
}
// A float that is below x by more than products flushed to 0 amount to.
inline float float_below(double x) noexcept {
    return static_cast<float>(std::clamp(x - std::abs(x) * 0x1p-22 - 0x1p-100, -3e38, 3e38));
}

// Integers of -127 to 127 with row = scale * codes + rest, the scale 1/127 of the largest component; how long the codes
// and the rest are at most.
//
// In steps, a component is off by 2^-16 and a sum of 2^13 squares in each of eight lanes by 2^-10 of itself, of which the
// root is half. A row of nothing but tiny numbers has no codes and is itself the rest.
struct byte_code {
    float scale;
    double error, length;
};
inline byte_code encode_bytes(std::span<const float> row, std::uint8_t* codes) noexcept {
    const byte_sums sums = best_kernels().encode(row.data(), row.size(), codes);
    const double width = std::sqrt(static_cast<double>(row.size()));
    if (sums.scale == 0.0f) return {0.0f, 0x1p-90 * width, 0.0};
    const double step = static_cast<double>(sums.scale);
    return {sums.scale, step * (std::sqrt(static_cast<double>(sums.rests)) * (1 + 0x1p-10) + 0x1p-16 * width),
            step * std::sqrt(static_cast<double>(sums.codes)) * (1 + 0x1p-10)};
}

/// A probe in bytes, for rows of the same stride. Its codes are not kept here: see `byte_rows::encode`.
struct byte_probe {
    byte_probe_constants constants{};
    double scale = 0.0, length = 0.0, error = 0.0;

    /// Whether intervals can be trusted: no product of lengths comes near the ends of what a float holds.
    bool usable() const noexcept { return length >= 1e-15 && length <= 1e15; }
};

class byte_rows {
   public:
    /// Below this width bytes save nothing, above the other their sums no longer fit 32 bits.
    static constexpr std::size_t narrowest = 32, widest = std::size_t{1} << 16;

    explicit byte_rows(std::size_t d) : stride_((d + 31) / 32 * 32) {}

    std::size_t stride() const noexcept { return stride_; }
    std::size_t size() const noexcept { return scale_.size(); }

    /// Room for `more` rows: adding them does not throw.
    void reserve(std::size_t more) {
        const auto grown = [&](auto& v, std::size_t each) {
            if (v.capacity() < v.size() + more * each) v.reserve((std::max)(2 * v.size(), v.size() + more * each));
        };
        grown(codes_, stride_);
        grown(scale_, 1);
        grown(error_, 1);
        grown(length_, 1);
    }

    /// Requires  room; finite components of at most 1e15 in length (else intervals may not be asked for).
    void add(std::span<const float> row) noexcept {
        resize(size() + 1);
        put(size() - 1, row);
    }
    /// The row takes the place of row `to`. Requires  the same of it.
    void put(std::size_t to, std::span<const float> row) noexcept {
        const byte_code made = encode_bytes(row, codes_.data() + to * stride_);
        scale_[to] = made.scale;
        error_[to] = float_above(made.error);
        length_[to] = float_above(made.length);
    }

    /// Row `from` takes the place of row `to`.
    void move(std::size_t from, std::size_t to) noexcept {
        std::copy_n(codes_.data() + from * stride_, stride_, codes_.data() + to * stride_);
        scale_[to] = scale_[from];
        error_[to] = error_[from];
        length_[to] = length_[from];
    }
    /// Requires  room, where there are more.
    void resize(std::size_t size) noexcept {
        codes_.resize(size * stride_);
        scale_.resize(size);
        error_.resize(size);
        length_.resize(size);
    }

    /// The probe's codes go to `codes`, stride() bytes.
    byte_probe encode(std::span<const float> probe, std::int8_t* codes) const noexcept {
        auto* const unsigned_codes = reinterpret_cast<std::uint8_t*>(codes);
        const byte_code made = encode_bytes(probe, unsigned_codes);
        std::int32_t sum = 0;
        for (std::size_t j = 0; j < stride_; ++j) {
            const int code = unsigned_codes[j] - 128;
            codes[j] = static_cast<std::int8_t>(code);
            sum += code;
        }
        byte_probe out;
        out.scale = static_cast<double>(made.scale);
        out.length = norm(probe) * (1 + 0x1p-30);
        out.error = made.error;
        // 2^-20 of the lengths covers the eight float roundings with which a kernel finds the upper end.
        out.constants = {sum * 128, made.scale, float_above(out.length * (1 + 0x1p-20)),
                         float_above((out.error + out.length * 0x1p-20) * (1 + 0x1p-20))};
        return out;
    }

    const std::uint8_t* codes(std::size_t row = 0) const noexcept { return codes_.data() + row * stride_; }
    byte_row_constants constants(std::size_t row = 0) const noexcept {
        return {scale_.data() + row, error_.data() + row, length_.data() + row};
    }

    // A row that stands alone in memory is waited for, unless it was asked for before.
    void fetch_codes(std::size_t row) const noexcept {
        for (std::size_t j = 0; j < stride_; j += 64) __builtin_prefetch(codes(row) + j);
    }
    void fetch_scale(std::size_t row) const noexcept { __builtin_prefetch(scale_.data() + row); }
    void fetch_constants(std::size_t row) const noexcept {
        for (const auto* one : {&scale_, &error_, &length_}) __builtin_prefetch(one->data() + row);
    }

    /// Where the product of a row and a probe lies, given that of their bytes.
    ///
    /// With row = y + r and probe = p + s, where y and p are what the bytes say: row . probe = y . p + r . probe + y .
    /// s, and a product of two is at most that of their lengths.
    struct interval {
        double low, high;
    };
    interval range(std::size_t row, std::int32_t product, const byte_probe& probe) const noexcept {
        const double middle =
            static_cast<double>(product - probe.constants.offset) * static_cast<double>(scale_[row]) * probe.scale;
        const double length = static_cast<double>(length_[row]), error = static_cast<double>(error_[row]);
        const double around = probe.length * error + probe.error * length + 0x1p-40 * probe.length * (length + error);
        return {middle - around, middle + around};
    }
    /// The middle of that interval, for those who only want to know who is probably nearer.
    float estimate(std::size_t row, std::int32_t product, const byte_probe& probe) const noexcept {
        return static_cast<float>(product - probe.constants.offset) * scale_[row] * probe.constants.scale;
    }

    /// The interval about an estimate. The estimate's float roundings are covered by 2^-20 of the lengths.
    interval range_about(std::size_t row, float estimate, const byte_probe& probe) const noexcept {
        const double length = static_cast<double>(length_[row]), error = static_cast<double>(error_[row]);
        const double around = probe.length * error + probe.error * length + 0x1p-20 * probe.length * (length + error) + 0x1p-100;
        return {static_cast<double>(estimate) - around, static_cast<double>(estimate) + around};
    }

    std::size_t memory() const noexcept { return codes_.capacity() + 3 * sizeof(float) * scale_.capacity(); }

   private:
    std::size_t stride_;
    aligned_vector<std::uint8_t> codes_;  // 128 + code, rows padded with 128 to the stride
    aligned_vector<float> scale_, error_, length_;
};

}  // namespace QUARRY_NAMESPACE::detail
