// Rows in four bits, for a first look that reads half of what bytes take.
//
// Rows are turned first, so that no few numbers of a row are much larger than the others and four bits say something of
// each. What they leave out has a known length, so a row that cannot be among the best is mostly seen to be out. Not
// promised.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "../config.hpp"
#include "../detail/aligned.hpp"
#include "byte_rows.hpp"

namespace QUARRY_NAMESPACE::detail {

// A turned row in bytes has the codes 128 + c; of a code, h is the upper half and l the lower, so c = 8 (2 h - 15) + (l - 8).
// The row is y + r, with y = 8 scale (2 h - 15) and r = scale (l - 8) + what the bytes leave out.
class nibble_rows {
   public:
    explicit nibble_rows(std::size_t d)
        : bytes_(d), signs_(std::bit_floor(d)), turned_(d), codes_of_one_(bytes_.stride()) {
        // The signs of Rudin and Shapiro: a row of equal numbers becomes one of equal magnitudes.
        for (std::size_t j = 0; j < signs_.size(); ++j) signs_[j] = std::popcount(j & j >> 1) % 2 == 0 ? 1.0f : -1.0f;
    }

    std::size_t size() const noexcept { return scale_.size(); }

    /// Room for `more` rows: adding them does not throw.
    void reserve(std::size_t more) {
        const std::size_t rows = size() + more;
        const auto grown = [](auto& v, std::size_t wanted) {
            if (v.capacity() < wanted) v.reserve((std::max)(2 * v.size(), wanted));
        };
        grown(codes_, (rows + together - 1) / together * block());
        grown(scale_, rows);
        grown(error_, rows);
        grown(length_, rows);
    }

    /// Requires  room; the row's length. Of a row longer than 1e15, as of one in bytes, nothing may be asked.
    void add(std::span<const float> row, double length) noexcept {
        if (length <= 1e15)
            turn(row, turned_);
        else
            std::ranges::fill(turned_, 0.0f);
        const byte_code code = encode_bytes(turned_, codes_of_one_.data());
        const std::size_t at = size();
        if (at % together == 0) codes_.resize(codes_.size() + block(), std::uint8_t{0});
        std::int32_t rests = 0;
        for (std::size_t j = 0; j < codes_of_one_.size(); j += 8) {
            rests += squared_rests(codes_of_one_.data() + j);
            std::uint32_t first = 0, second = 0;
            std::memcpy(&first, codes_of_one_.data() + j, 4);
            std::memcpy(&second, codes_of_one_.data() + j + 4, 4);
            const std::uint32_t halves = (first >> 4 & 0x0F0F0F0Fu) | (second & 0xF0F0F0F0u);
            std::memcpy(quad(at, j / 8), &halves, 4);
        }
        rests -= 64 * static_cast<std::int32_t>(codes_of_one_.size() - row.size());  // of what is no number of the row
        const double error = static_cast<double>(code.scale) * std::sqrt(static_cast<double>(rests)) + code.error +
                             turning * length;
        scale_.push_back(code.scale);
        error_.push_back(float_above(error));
        length_.push_back(float_above(code.length + error));
    }

    /// Row `from` takes the place of row `to`.
    void move(std::size_t from, std::size_t to) noexcept {
        for (std::size_t q = 0; q < bytes_.stride() / 8; ++q) std::memcpy(quad(to, q), quad(from, q), 4);
        scale_[to] = scale_[from];
        error_[to] = error_[from];
        length_[to] = length_[from];
    }
    /// Requires  fewer rows than there are.
    void shrink(std::size_t size) noexcept {
        codes_.resize((size + together - 1) / together * block());
        scale_.resize(size);
        error_.resize(size);
        length_.resize(size);
    }

    /// The turned probe's codes go to `codes`, as many bytes as byte_rows has. Returns what bounds of products need.
    byte_probe_constants encode(std::span<const float> probe, std::int8_t* codes) const {
        std::vector<float> turned(probe.size());
        turn(probe, turned);
        const byte_probe coded = bytes_.encode(turned, codes);
        const double length = coded.length * (1 + turning), error = coded.error + turning * length;
        return {coded.constants.offset / 128 * 15, 8.0f * coded.constants.scale, float_above(length * (1 + 0x1p-20)),
                float_above((error + length * 0x1p-20) * (1 + 0x1p-20))};
    }
    byte_row_constants constants(std::size_t row) const noexcept {
        return {scale_.data() + row, error_.data() + row, length_.data() + row};
    }

    /// out[i] is that of row `first` + i: the sum of 2 h times the probe's bytes. Requires  `first` a multiple of 32; room in
    /// `out` up to the next multiple.
    void products(std::size_t first, std::size_t count, const std::int8_t* probe, std::int32_t* out) const noexcept {
        best_kernels().nibble_products(codes_.data() + first / together * block(), bytes_.stride(),
                                       (count + together - 1) / together, probe, out);
    }

    std::size_t memory() const noexcept { return codes_.capacity() + 3 * sizeof(float) * scale_.capacity(); }

   private:
    // 32 rows side by side, eight numbers of each in four bytes: the first four below, the other four above.
    static constexpr std::size_t together = 32;
    std::size_t block() const noexcept { return together * bytes_.stride() / 2; }
    std::uint8_t* quad(std::size_t row, std::size_t q) noexcept {
        return codes_.data() + row / together * block() + (q * together + row % together) * 4;
    }

    // The sum of (l - 8)^2 over eight codes. Four numbers times the same four in reverse have their squares' sum on top.
    static std::int32_t squared_rests(const std::uint8_t* codes) noexcept {
        constexpr std::uint64_t lower = 0x000F000F000F000F;
        std::uint64_t eight = 0;
        std::memcpy(&eight, codes, 8);
        const std::uint64_t even = eight & lower, odd = eight >> 8 & lower;
        const auto squares = [](std::uint64_t four) { return four * (__builtin_bswap64(four) >> 8) >> 48; };
        const std::uint64_t sum = (even + odd) * 0x0001000100010001 >> 48;
        return static_cast<std::int32_t>(squares(even) + squares(odd)) - 16 * static_cast<std::int32_t>(sum) + 64 * 8;
    }

    // Lengths and products of turned rows are those of the rows. For widths up to 2^16 a number is rounded 17 times in each
    // transform, and the scale once: what is lost is below this part of the length.
    static constexpr double turning = 0x1p-18;
    // The first numbers and then the last, as many as there are signs.
    void turn(std::span<const float> row, std::span<float> out) const noexcept {
        const std::size_t n = signs_.size(), rest = row.size() - n;
        const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(n)));
        best_kernels().hadamard(row.data(), signs_.data(), n, scale, out.data());
        std::ranges::copy(row.subspan(n), out.begin() + static_cast<std::ptrdiff_t>(n));
        if (rest != 0) best_kernels().hadamard(out.data() + rest, signs_.data(), n, scale, out.data() + rest);
    }

    byte_rows bytes_;  // holds no rows: says how wide they are, and encodes probes
    std::vector<float> signs_, turned_;
    std::vector<std::uint8_t> codes_of_one_;
    aligned_vector<std::uint8_t> codes_;
    aligned_vector<float> scale_, error_, length_;  // of r and y, as for byte_rows
};

}  // namespace QUARRY_NAMESPACE::detail
