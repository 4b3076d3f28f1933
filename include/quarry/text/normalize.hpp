// Normal forms: the same text written in one way, whatever keyboard or file system it came from.
//
// "é" is one code point or two; NFC makes it one. NFKC also takes full-width letters, ligatures and circled digits for
// what they stand for. Byte offsets survive: a piece of the result knows the bytes of the original it was made from.
//
// Source  UAX 15, Unicode Normalization Forms. Bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"
#include "unicode.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

enum class normal_form : std::uint8_t {
    nfc,   // composed
    nfkc,  // composed, and compatibility characters taken for what they stand for
};

/// Calls `piece(normal, begin, end)` for consecutive pieces of `text`: `normal` is what became of bytes [begin, end).
/// The pieces tile the text, and their results one after the other are its normal form.
///
/// A piece that is normal already is handed over as it stands, `normal.data() == text.data() + begin`, and may be as
/// long as the text; within it offsets map one to one. Other pieces are short: a letter with its marks, a ligature.
///
/// Cost  one pass; n log n in the length of the longest run of marks on one letter.
template <std::invocable<std::string_view, std::size_t, std::size_t> Piece>
void for_each_normal_piece(std::string_view text, normal_form form, Piece piece);

/// The normal form of `text`.
std::string normalized(std::string_view text, normal_form form);

/// A normal form that remembers where it came from.
class normalized_text {
   public:
    normalized_text(std::string_view original, normal_form form);

    const std::string& text() const noexcept { return text_; }

    /// The shortest stretch of the original that holds everything bytes [begin, end) of the normal form came from.
    ///
    /// Requires  begin <= end <= text().size().
    /// Cost      logarithmic in the number of pieces that changed.
    byte_span original(byte_span normal) const noexcept;

   private:
    struct piece {
        std::size_t normal, original;  // where it begins
        bool as_is;                    // offsets within it map one to one
    };
    // The piece that byte `at` of the normal form belongs to.
    std::size_t piece_of(std::size_t at) const noexcept;

    std::string text_;
    std::size_t original_size_;
    std::vector<piece> pieces_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// Hangul syllables are composed by arithmetic (The Unicode Standard, 3.12).
inline constexpr char32_t hangul_s = 0xAC00, hangul_l = 0x1100, hangul_v = 0x1161, hangul_t = 0x11A7;
inline constexpr char32_t hangul_l_count = 19, hangul_v_count = 21, hangul_t_count = 28;
inline constexpr char32_t hangul_s_count = hangul_l_count * hangul_v_count * hangul_t_count;

constexpr bool is_hangul_syllable(char32_t c) noexcept { return c >= hangul_s && c < hangul_s + hangul_s_count; }

struct ordered_point {
    char32_t value;
    std::uint8_t combining;
};

template <class Froms, class Starts, class Tos>
void append_mapping(char32_t c, const Froms& froms, const Starts& starts, const Tos& tos,
                    std::vector<ordered_point>& out) {
    const auto at = std::ranges::lower_bound(froms, c) - std::ranges::begin(froms);
    for (std::size_t i = starts[at]; i < starts[at + 1]; ++i) out.push_back({tos[i], normalizing(tos[i]).combining});
}

inline void append_decomposed(char32_t c, normal_form form, std::vector<ordered_point>& out) {
    const normalizing_record& r = normalizing(c);
    if (is_hangul_syllable(c)) {
        const char32_t index = c - hangul_s;
        out.push_back({hangul_l + index / (hangul_v_count * hangul_t_count), 0});
        out.push_back({hangul_v + index / hangul_t_count % hangul_v_count, 0});
        if (index % hangul_t_count != 0) out.push_back({hangul_t + index % hangul_t_count, 0});
    } else if (form == normal_form::nfkc && (r.flags & has_compatible) != 0) {
        append_mapping(c, compatible_from, compatible_start, compatible_to, out);
    } else if ((r.flags & has_canonical) != 0) {
        append_mapping(c, canonical_from, canonical_start, canonical_to, out);
    } else {
        out.push_back({c, r.combining});
    }
}

// What `first` and `second` make together, or 0.
inline char32_t composed(char32_t first, char32_t second) noexcept {
    if (first >= hangul_l && first < hangul_l + hangul_l_count && second >= hangul_v &&
        second < hangul_v + hangul_v_count)
        return hangul_s + ((first - hangul_l) * hangul_v_count + (second - hangul_v)) * hangul_t_count;
    if (is_hangul_syllable(first) && (first - hangul_s) % hangul_t_count == 0 && second > hangul_t &&
        second < hangul_t + hangul_t_count)
        return first + (second - hangul_t);
    const auto less = [](const composition& c, const composition& wanted) {
        return c.first != wanted.first ? c.first < wanted.first : c.second < wanted.second;
    };
    const composition wanted{first, second, 0};
    const auto* found = std::lower_bound(std::begin(compositions), std::end(compositions), wanted, less);
    return found != std::end(compositions) && found->first == first && found->second == second ? found->composed : 0;
}

// Canonical order, then composition, in place.
inline void order_and_compose(std::vector<ordered_point>& points) {
    for (auto run = points.begin(); run != points.end();) {
        if (run->combining == 0) {
            ++run;
            continue;
        }
        const auto end = std::find_if(run, points.end(), [](const ordered_point& p) { return p.combining == 0; });
        std::stable_sort(run, end,
                         [](const ordered_point& a, const ordered_point& b) { return a.combining < b.combining; });
        run = end;
    }
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t starter = none, kept = 0;
    for (const ordered_point p : points) {
        // Blocked: a mark of the same or a higher class, or another starter, stands between.
        const bool adjacent = starter != none && kept == starter + 1;
        const bool blocked =
            starter == none || (!adjacent && (p.combining == 0 || points[kept - 1].combining >= p.combining));
        const char32_t both = blocked ? 0 : composed(points[starter].value, p.value);
        if (both != 0) {
            points[starter].value = both;
            continue;
        }
        if (p.combining == 0) starter = kept;
        points[kept++] = p;
    }
    points.resize(kept);
}

}  // namespace detail

template <std::invocable<std::string_view, std::size_t, std::size_t> Piece>
void for_each_normal_piece(std::string_view text, normal_form form, Piece piece) {
    const std::uint8_t may_change = form == normal_form::nfc ? detail::may_change_in_nfc : detail::may_change_in_nfkc;
    std::vector<detail::ordered_point> points;
    std::string normal;
    std::size_t as_is = 0;  // what stands from here to `at` is normal and not handed over yet
    std::size_t last = 0;   // where the code point before `at` begins
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<std::uint8_t>(text[at]) < 0x80) {
            last = at++;
            continue;
        }
        const code_point c = decode(text.substr(at));
        const std::uint8_t flags = detail::normalizing(c.value).flags;
        const bool broken = c.value == 0xFFFD && text.substr(at, c.length) != "\xEF\xBF\xBD";
        if (!broken && (flags & (may_change | detail::attaches)) == 0) {
            last = at;
            at += c.length;
            continue;
        }
        // The piece begins at the code point before if this one attaches to it, and ends where nothing more attaches.
        const std::size_t begin = (flags & detail::attaches) == 0 || at == as_is ? at : last;
        std::size_t end = begin;
        points.clear();
        do {
            const code_point next = decode(text.substr(end));
            if (end != begin && (detail::normalizing(next.value).flags & detail::attaches) == 0) break;
            detail::append_decomposed(next.value, form, points);
            end += next.length;
        } while (end < text.size());
        detail::order_and_compose(points);
        normal.clear();
        for (const detail::ordered_point& p : points) encode(p.value, normal);
        last = begin;
        at = end;
        if (normal == text.substr(begin, end - begin)) continue;
        if (begin > as_is) piece(text.substr(as_is, begin - as_is), as_is, begin);
        piece(std::string_view(normal), begin, end);
        as_is = end;
    }
    if (as_is < text.size()) piece(text.substr(as_is), as_is, text.size());
}

inline std::string normalized(std::string_view text, normal_form form) {
    std::string out;
    out.reserve(text.size());
    for_each_normal_piece(text, form, [&](std::string_view normal, std::size_t, std::size_t) { out += normal; });
    return out;
}

inline normalized_text::normalized_text(std::string_view original, normal_form form) : original_size_(original.size()) {
    text_.reserve(original.size());
    for_each_normal_piece(original, form, [&](std::string_view normal, std::size_t begin, std::size_t) {
        pieces_.push_back({text_.size(), begin, normal.data() == original.data() + begin});
        text_ += normal;
    });
}

inline std::size_t normalized_text::piece_of(std::size_t at) const noexcept {
    const auto after = std::ranges::upper_bound(pieces_, at, {}, &piece::normal);
    return static_cast<std::size_t>(after - pieces_.begin()) - 1;
}

inline byte_span normalized_text::original(byte_span normal) const noexcept {
    if (normal.begin >= text_.size()) return {original_size_, original_size_};
    const auto end_of = [&](std::size_t i) {
        return i + 1 < pieces_.size() ? pieces_[i + 1].original : original_size_;
    };
    const std::size_t first = piece_of(normal.begin);
    const piece& from = pieces_[first];
    const std::size_t begin = from.as_is ? from.original + (normal.begin - from.normal) : from.original;
    if (normal.end == normal.begin) return {begin, begin};
    const std::size_t last = piece_of(normal.end - 1);
    const piece& to = pieces_[last];
    return {begin, to.as_is ? to.original + (normal.end - to.normal) : end_of(last)};
}

}  // namespace QUARRY_NAMESPACE
