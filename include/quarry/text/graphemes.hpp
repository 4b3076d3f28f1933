// Graphemes: what a reader takes for one character, such as a letter with its marks or a flag of two code points.
//
// Pairs of Thai or Chinese characters are pairs of these, and a text that must be cut somewhere is cut between them.
//
// Source  UAX 29, Unicode Text Segmentation, 3.1, extended grapheme clusters.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "../config.hpp"
#include "unicode.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// The end of the grapheme that begins at byte `begin`.
///
/// Requires  begin < text.size(), a boundary: 0, or what this function returned.
std::size_t grapheme_end(std::string_view text, std::size_t begin) noexcept;

/// Calls `grapheme(begin, end)` for each, in order; together they are the text. Cost  one pass.
template <std::invocable<std::size_t, std::size_t> Grapheme>
void for_each_grapheme(std::string_view text, Grapheme grapheme) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = grapheme_end(text, at);
        grapheme(at, end);
        at = end;
    }
}

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

struct grapheme_unit {
    std::size_t length;
    grapheme_break kind;
    bool syllable_ends_open;  // a Hangul syllable of the form LV, to which a T may be added
    bool picture;

    grapheme_unit(std::string_view text, std::size_t at) noexcept {
        const code_point c = decode(text.substr(at));
        const cutting_record& r = cutting(c.value);
        length = c.length;
        kind = static_cast<grapheme_break>(r.grapheme);
        syllable_ends_open = kind == grapheme_break::lv && (c.value - 0xAC00) % 28 == 0;
        picture = (r.flags & pictographic) != 0;
    }
};

}  // namespace detail

inline std::size_t grapheme_end(std::string_view text, std::size_t begin) noexcept {
    using g = detail::grapheme_break;
    const auto controls = [](g kind) { return kind == g::control || kind == g::cr || kind == g::lf; };
    detail::grapheme_unit left(text, begin);
    std::size_t at = begin + left.length;
    if (left.kind == g::cr && at < text.size() && text[at] == '\n') return at + 1;  // GB3
    if (controls(left.kind)) return at;                                             // GB4
    bool picture = left.picture;  // a pictograph, marks behind it left out of account
    bool paired_flag = false;     // the left one is the second of a pair of regional indicators
    while (at < text.size()) {
        const detail::grapheme_unit next(text, at);
        if (controls(next.kind)) break;  // GB5
        const bool vowel_may_follow = left.kind == g::v || left.syllable_ends_open;
        const bool tail_may_follow = left.kind == g::t || (left.kind == g::lv && !left.syllable_ends_open);
        const bool joins_hangul =
            (left.kind == g::l && (next.kind == g::l || next.kind == g::v || next.kind == g::lv)) ||
            (vowel_may_follow && (next.kind == g::v || next.kind == g::t)) ||
            (tail_may_follow && next.kind == g::t);  // GB6 to GB8
        const bool joins_marks = next.kind == g::extend || next.kind == g::zwj || next.kind == g::spacing_mark ||
                                 left.kind == g::prepend;                         // GB9 to GB9b
        const bool joins_emoji = picture && left.kind == g::zwj && next.picture;  // GB11
        const bool joins_flags =
            left.kind == g::regional_indicator && next.kind == g::regional_indicator && !paired_flag;  // GB12
        if (!joins_hangul && !joins_marks && !joins_emoji && !joins_flags) break;
        picture = next.picture || (picture && (next.kind == g::extend || next.kind == g::zwj));
        paired_flag = joins_flags;
        at += next.length;
        left = next;
    }
    return at;
}

}  // namespace QUARRY_NAMESPACE
