// Given vectors: rows that were computed elsewhere, and the id that each stands for.
//
//     const auto pages = given_vectors::read("pages.384.f16", page_ids);
//     index.add(units, pages.rows());
//     const auto questions = given_vectors::read("questions.384.f16", question_texts);
//     auto search = dense(index, articles, questions);
//
// As an embedder it knows the texts that are its ids, and refuses every other: it is for measuring and for precomputed
// collections, and not a cache, which would ask somebody else.
//
// The surprising thing: a file of floats does not say how wide it is. Its length must be rows x width x bytes to the
// byte, and that is all that can be checked; rows in another order than the ids pass.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/file.hpp"
#include "../core/request.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "embedder.hpp"

namespace QUARRY_NAMESPACE {

/// Little-endian IEEE 754, two bytes or four.
enum class float_format : std::uint8_t { float16, float32 };

struct vector_file_options {
    std::size_t dimension = 0;             // 0: as the length of the file and the number of ids have it
    std::optional<float_format> format{};  // by default the file's name says it: .f16 or .f32
};

/// The value of a 16-bit float, whatever the machine's own floats and byte order.
constexpr float float_of(std::uint16_t float16_bits) noexcept;

/// Immutable; copies share the rows.
///
/// Memory  4 d bytes a row and the ids.
/// Errors  usage_error, or data_error for a file: `vectors.dimension` (0, or it cannot be), `vectors.size` (rows, ids
///         and width do not fit), `vectors.not_finite` (naming row and id), `vectors.conflict` (one id, two different
///         rows), `vectors.format`; `file.open`, `file.read`.
class given_vectors {
   public:
    /// Rows of `dimension` floats, row-major, one an id. An id may come twice with equal rows.
    given_vectors(std::size_t dimension, std::vector<std::string> ids, std::vector<float> rows)
        : held_(checked<usage_error>("quarry::given_vectors", dimension, std::move(ids), std::move(rows))) {}

    /// The length of the file is compared with the ids before anything is allocated.
    static given_vectors read(const std::string& path, std::vector<std::string> ids, vector_file_options options = {});

    std::size_t dimension() const noexcept { return held_->dimension; }
    std::size_t size() const noexcept { return held_->ids.size(); }
    const std::vector<std::string>& ids() const noexcept { return held_->ids; }
    std::span<const float> rows() const noexcept { return held_->rows; }

    /// Requires  i < size().
    std::span<const float> row(std::size_t i) const noexcept { return rows().subspan(i * dimension(), dimension()); }
    /// The row of an id, if it is known.
    std::optional<std::span<const float>> row(std::string_view id) const {
        const auto found = held_->place.find(id);
        return found == held_->place.end() ? std::nullopt : std::optional(row(found->second));
    }

    /// Rows of zeros, in ascending order: somebody's way of saying "no text". A cosine index refuses them.
    std::span<const std::size_t> zero_rows() const noexcept { return held_->zero_rows; }

    // As an embedder. Both roles read the same rows; a zero row is a text that nothing is known of.
    static constexpr bool zero_means_unknown = true;
    std::string name() const { return "given_vectors"; }
    callable_identity identity() const noexcept { return held_.get(); }

    /// Errors  usage_error `vectors.unknown_text`, quoting the text.
    void embed(role, std::span<const std::string_view> texts, std::span<float> out) const {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto known = row(texts[i]);
            if (!known)
                detail::raise<usage_error>("vectors.unknown_text",
                                           detail::concat("quarry::given_vectors: none of the ", size(),
                                                          " given vectors is for the text ", detail::quoted(texts[i])));
            std::ranges::copy(*known, out.begin() + static_cast<std::ptrdiff_t>(i * dimension()));
        }
    }

   private:
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };
    struct state {
        std::size_t dimension;
        std::vector<std::string> ids;
        std::vector<float> rows;
        std::unordered_map<std::string_view, std::size_t, text_hash, std::equal_to<>> place{};  // views of ids
        std::vector<std::size_t> zero_rows{};
    };

    explicit given_vectors(std::shared_ptr<const state> held) : held_(std::move(held)) {}

    template <class Error>
    static std::shared_ptr<const state> checked(const std::string& where, std::size_t dimension,
                                                std::vector<std::string> ids, std::vector<float> rows);

    std::shared_ptr<const state> held_;
};

// ------------------------------------------------------------------------------------------------------------- detail

constexpr float float_of(std::uint16_t float16_bits) noexcept {
    const std::uint32_t sign = (float16_bits & 0x8000u) << 16;
    const std::uint32_t exponent = (float16_bits >> 10) & 0x1Fu, fraction = float16_bits & 0x3FFu;
    // Below the smallest normal number the value is fraction x 2^-24, which a float holds exactly.
    if (exponent == 0) {
        const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return sign == 0 ? magnitude : -magnitude;
    }
    const std::uint32_t wide = exponent == 0x1F ? 0xFFu : exponent + (127 - 15);
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <class Error>
std::shared_ptr<const given_vectors::state> given_vectors::checked(const std::string& where, std::size_t dimension,
                                                                   std::vector<std::string> ids,
                                                                   std::vector<float> rows) {
    if (dimension == 0) detail::raise<Error>("vectors.dimension", where + ": the dimension is 0");
    if (rows.size() % dimension != 0 || rows.size() / dimension != ids.size())
        detail::raise<Error>("vectors.size", detail::concat(where, ": ", ids.size(), " ids and rows of ", dimension,
                                                            " do not fit ", rows.size(), " floats"));
    const auto made = std::make_shared<state>(state{dimension, std::move(ids), std::move(rows)});
    for (std::size_t i = 0; i < made->ids.size(); ++i) {
        const auto row_at = [&](std::size_t place) {
            return std::span(made->rows).subspan(place * dimension, dimension);
        };
        const std::span<const float> row = row_at(i);
        if (!detail::is_finite(row))
            detail::raise<Error>("vectors.not_finite",
                                 detail::concat(where, ": row ", i, ", for ", detail::quoted(made->ids[i]),
                                                ", holds a NaN or an infinity"));
        if (std::ranges::all_of(row, [](float x) { return x == 0.0f; })) made->zero_rows.push_back(i);
        const auto [at, fresh] = made->place.try_emplace(made->ids[i], i);
        if (!fresh && !std::ranges::equal(row_at(at->second), row))
            detail::raise<Error>("vectors.conflict",
                                 detail::concat(where, ": rows ", at->second, " and ", i, " differ and are both for ",
                                                detail::quoted(made->ids[i])));
    }
    return made;
}

inline given_vectors given_vectors::read(const std::string& path, std::vector<std::string> ids,
                                         vector_file_options options) {
    if (!options.format) {
        if (path.ends_with(".f16")) options.format = float_format::float16;
        else if (path.ends_with(".f32")) options.format = float_format::float32;
        else
            detail::raise<usage_error>("vectors.format", path + ": the name ends neither in .f16 nor in .f32, so the "
                                                                "format must be given");
    }
    const std::size_t bytes = *options.format == float_format::float16 ? 2 : 4;
    const detail::file_handle file = detail::open_to_read(path);
    const std::size_t length = detail::length_of(file.get(), path), count = ids.size();
    if (options.dimension == 0 && count != 0 && length % (count * bytes) == 0)
        options.dimension = length / count / bytes;
    // Divided and not multiplied: a width from outside may be anything.
    const std::size_t a_row = length / bytes / (std::max)(options.dimension, std::size_t{1});
    if (options.dimension == 0 || a_row != count || length != count * options.dimension * bytes)
        detail::raise<data_error>(
            "vectors.size",
            detail::concat(path, ": ", count, " rows of ",
                           options.dimension == 0 ? std::string("equal width") : detail::concat(options.dimension),
                           bytes == 2 ? " float16" : " float32", " do not make the ", length, " bytes of the file"));

    std::vector<float> rows(count * options.dimension);
    char block[1 << 14];
    std::size_t filled = 0;
    while (filled < rows.size()) {
        const std::size_t wanted = (std::min)(sizeof block, (rows.size() - filled) * bytes);
        if (detail::read_some(file.get(), std::span(block, wanted), path) != wanted)
            detail::raise<data_error>("vectors.size", path + ": the file became shorter while it was read");
        for (std::size_t i = 0; i < wanted; i += bytes) {
            std::uint32_t bits = 0;
            for (std::size_t b = bytes; b-- > 0;) bits = bits << 8 | static_cast<std::uint8_t>(block[i + b]);
            rows[filled++] = bytes == 2 ? float_of(static_cast<std::uint16_t>(bits)) : std::bit_cast<float>(bits);
        }
    }
    return given_vectors(checked<data_error>(path, options.dimension, std::move(ids), std::move(rows)));
}

}  // namespace QUARRY_NAMESPACE
