// Row store: rows of numbers, one behind the other, as floats or as half floats. Not promised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "../config.hpp"
#include "../detail/aligned.hpp"
#include "../detail/half.hpp"
#include "../math/cosine.hpp"
#include "../math/kernels.hpp"

namespace QUARRY_NAMESPACE {

/// How the numbers of a row are kept. Half floats take half the memory and the time to read it, and round a component to
/// 11 bits: a cosine of two rows moves by less than 2^-10, mostly in the fifth digit. None is above 65,504.
enum class row_format : std::uint8_t { floats, halves };

constexpr std::string_view name_of(row_format f) noexcept { return f == row_format::floats ? "floats" : "halves"; }

namespace detail {

class row_store {
   public:
    row_store(std::size_t d, row_format format) noexcept : d_(d), format_(format) {}

    row_format format() const noexcept { return format_; }
    std::size_t row_bytes() const noexcept { return d_ * (in_halves() ? sizeof(std::uint16_t) : sizeof(float)); }

    /// So many rows stay in the cache while they are read, checked and looked at.
    std::size_t block() const noexcept { return (std::max)((std::size_t{1} << 18) / row_bytes(), std::size_t{1}); }

    /// Room for `more` rows: adding them does not throw.
    void reserve(std::size_t more) {
        with([&](auto& v) {
            const std::size_t wanted = v.size() + more * d_;
            if (v.capacity() < wanted) v.reserve((std::max)(2 * v.size(), wanted));
        });
    }

    /// Whole rows of numbers that the format has. Requires  room.
    void add(std::span<const float> rows) noexcept { write(rows, add_unwritten(rows.size() / d_)); }

    /// Rows that whoever asks writes, as they are kept. Requires  room.
    std::span<char> add_unwritten(std::size_t rows) noexcept {
        std::span<char> out;
        with([&](auto& v) {
            const std::size_t before = v.size();
            v.resize(before + rows * d_);
            out = {reinterpret_cast<char*>(v.data() + before), rows * row_bytes()};
        });
        return out;
    }

    /// Writes rows as they are kept.
    void write(std::span<const float> rows, std::span<char> to) const noexcept {
        if (!in_halves()) {
            if (!rows.empty()) std::memcpy(to.data(), rows.data(), to.size());
            return;
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint16_t half = narrowed_to_half(rows[i]);
            std::memcpy(to.data() + 2 * i, &half, 2);
        }
    }

    // The numbers as they are kept. Each requires  its format.
    std::span<const float> floats(std::size_t i, std::size_t rows = 1) const noexcept {
        return {floats_.data() + i * d_, rows * d_};
    }
    std::span<const std::uint16_t> halves(std::size_t i, std::size_t rows = 1) const noexcept {
        return {halves_.data() + i * d_, rows * d_};
    }

    std::span<const char> as_kept(std::size_t i) const noexcept {
        return {in_halves() ? reinterpret_cast<const char*>(halves_.data() + i * d_)
                            : reinterpret_cast<const char*>(floats_.data() + i * d_),
                row_bytes()};
    }

    /// Rows as floats, where they stand or in `scratch`. Requires  room in it for half floats.
    std::span<const float> read(std::size_t i, std::span<float> scratch, std::size_t rows = 1) const noexcept {
        if (!in_halves()) return floats(i, rows);
        best_kernels().widen(halves_.data() + i * d_, rows * d_, scratch.data());
        return scratch.first(rows * d_);
    }
    /// How many floats `read` needs for them.
    std::size_t scratch(std::size_t rows = 1) const noexcept { return in_halves() ? rows * d_ : 0; }

    /// As `dot` has it.
    double product(std::span<const float> probe, std::size_t i) const noexcept {
        return in_halves() ? best_kernels().dot_halves(probe.data(), halves_.data() + i * d_, d_)
                           : dot(probe, floats(i));
    }

    /// A row of numbers that the format has takes the place of row `to`.
    void put(std::size_t to, std::span<const float> row) noexcept {
        with([&](auto& v) { write(row, {reinterpret_cast<char*>(v.data() + to * d_), row_bytes()}); });
    }

    /// Asks for a row before it is read.
    void fetch(std::size_t i) const noexcept {
        const std::span<const char> row = as_kept(i);
        for (std::size_t j = 0; j < row.size(); j += 64) __builtin_prefetch(row.data() + j);
    }

    /// Row `from` takes the place of row `to`.
    void move(std::size_t from, std::size_t to) noexcept {
        with([&](auto& v) { std::copy_n(v.data() + from * d_, d_, v.data() + to * d_); });
    }
    /// Requires  fewer rows than there are.
    void shrink(std::size_t rows) noexcept {
        with([&](auto& v) { v.resize(rows * d_); });
    }

    std::size_t memory() const noexcept {
        return floats_.capacity() * sizeof(float) + halves_.capacity() * sizeof(std::uint16_t);
    }

   private:
    bool in_halves() const noexcept { return format_ == row_format::halves; }
    template <class F>
    void with(F f) {
        if (in_halves())
            f(halves_);
        else
            f(floats_);
    }

    std::size_t d_;
    row_format format_;
    aligned_vector<float> floats_;          // one of the two is empty
    aligned_vector<std::uint16_t> halves_;
};

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
