// Sentences: where prose may be cut and still reads.
//
// By the rules of Unicode, with three departures that can be switched off. A line end alone ends no sentence, since
// text is wrapped; a blank line does, and so does a line end before a heading, an item, a quote or a row. A full stop
// behind an initial or an abbreviation ("Dr.", "e.g.") ends none: the rules by themselves only see that a lower-case
// letter follows. And an opening bracket of Chinese and Japanese begins a sentence; the rules count it to the one before.
//
// Source  UAX 29, Unicode Text Segmentation, 5.1.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "unicode.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

struct sentence_options {
    bool wrapped = true;        // single line ends are spaces; false: every line end ends a sentence, as in UAX 29
    bool abbreviations = true;  // no sentence ends behind an initial or a known abbreviation
    bool brackets = true;       // 「 and its like begin a sentence behind a mark that ends one
};

/// The end of the sentence that begins at byte `begin`, the white space behind it included.
///
/// Requires  begin < text.size(), a boundary: 0, or what this function returned.
/// Cost      one pass over the sentence, and one look ahead behind each full stop in it.
std::size_t sentence_end(std::string_view text, std::size_t begin, sentence_options options = {}) noexcept;

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// What behind a full stop does not end a sentence, without that stop; in the order of bytes.
inline bool is_sentence_abbreviation(std::string_view word) noexcept {
    static constexpr std::array<std::string_view, 56> known = {
        "Abb",  "Bd",  "Capt", "Ch",  "Col", "Cpt",  "Dr",  "Eq",  "Eqs",  "Fig", "Figs", "Gen",  "Gov",    "Hr",
        "Hrsg", "Jr",  "Lt",   "Mag", "Mme", "Mr",   "Mrs", "Ms",  "No",   "Nos", "Nr",   "Ph.D", "Prof",   "Ref",
        "Refs", "Rep", "Rev",  "Sec", "Sen", "Sgt",  "Sr",  "St",  "Str",  "Tab", "Vol",  "al",   "approx", "bzgl",
        "bzw",  "ca",  "cf",   "d.h", "e.g", "evtl", "ggf", "i.e", "resp", "sog", "u.a",  "v.a",  "vs",     "z.B"};
    return std::ranges::binary_search(known, word);
}

// Does the line at `at` open something of its own? A heading, an item, a quote, a row, a fence; or is it blank?
inline bool opens_block(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    if (at == text.size()) return true;
    const auto follows_blank = [&](std::size_t i) { return i < text.size() && (text[i] == ' ' || text[i] == '\t'); };
    switch (text[at]) {
        case '\n':
        case '\r':
        case '#':
        case '|':
        case '>':
            return true;
        case '-':
        case '*':
        case '+':
            return follows_blank(at + 1);
        case '`':
        case '~':
            return text.substr(at, 3) == std::string_view("```") || text.substr(at, 3) == std::string_view("~~~");
        default:
            break;
    }
    std::size_t digits = at;
    while (digits < text.size() && digits - at < 9 && text[digits] >= '0' && text[digits] <= '9') ++digits;
    return digits > at && digits < text.size() && (text[digits] == '.' || text[digits] == ')') &&
           follows_blank(digits + 1);
}

constexpr bool is_wide_opening_bracket(char32_t c) noexcept {
    constexpr std::u32string_view brackets =
        U"\u3008\u300A\u300C\u300E\u3010\u3014\u3016\u3018\uFF08\uFF3B\uFF5B\uFF62";
    return brackets.find(c) != std::u32string_view::npos;
}

struct sentence_unit {
    std::size_t length;
    sentence_break kind;
    bool opens = false;  // a wide opening bracket

    sentence_unit(std::string_view text, std::size_t at, bool wrapped) noexcept {
        const code_point c = decode(text.substr(at));
        length = c.length;
        kind = sentence_break_of(c.value);
        opens = kind == sentence_break::close && is_wide_opening_bracket(c.value);
        if (kind != sentence_break::cr && kind != sentence_break::lf) return;
        if (kind == sentence_break::cr && text.substr(at, 2) == "\r\n") length = 2;  // SB3
        kind = wrapped && !opens_block(text, at + length) ? sentence_break::space : sentence_break::separator;
    }
};

constexpr bool is_ignored(sentence_break kind) noexcept {
    return kind == sentence_break::extend || kind == sentence_break::format;
}

// Behind the last of the blank lines that begin at `at`.
inline std::size_t behind_blank_lines(std::string_view text, std::size_t at) noexcept {
    std::size_t end = at;
    for (; at < text.size() && is_ascii_space(text[at]); ++at)
        if (text[at] == '\n' || text[at] == '\r') end = at + 1;
    return at == text.size() ? at : end;
}

// SB8: the next letter, with no other full stop and no paragraph end before it, is lower case.
inline bool lower_follows(std::string_view text, std::size_t at, bool wrapped) noexcept {
    while (at < text.size()) {
        const sentence_unit c(text, at, wrapped);
        switch (c.kind) {
            case sentence_break::lower:
                return true;
            case sentence_break::letter:
            case sentence_break::upper:
            case sentence_break::separator:
            case sentence_break::terminator:
            case sentence_break::full_stop:
                return false;
            default:
                at += c.length;
        }
    }
    return false;
}

// The word before the full stop at `stop` is an abbreviation, or an initial.
inline bool ends_abbreviation(std::string_view text, std::size_t begin, std::size_t stop) noexcept {
    constexpr std::size_t longest = 8;
    std::size_t from = stop;
    const auto inside = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'; };
    while (from > begin && stop - from <= longest && inside(text[from - 1])) --from;
    const std::string_view word = text.substr(from, stop - from);
    const bool whole = from == begin || static_cast<std::uint8_t>(text[from - 1]) < 0x80;
    const bool initial = word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z' && word[0] != 'I';
    return whole && (initial || is_sentence_abbreviation(word));
}

}  // namespace detail

inline std::size_t sentence_end(std::string_view text, std::size_t begin, sentence_options options) noexcept {
    using s = detail::sentence_break;
    // Behind a full stop or another mark that may end the sentence, and what of ) and space has come since.
    enum class behind : std::uint8_t { nothing, mark, close, space };
    behind where = behind::nothing;
    bool stop = false;                    // the mark is a full stop
    bool looked = false;                  // whether SB8 was asked for this mark
    std::size_t mark = begin;             // where it stands
    s left = s::other, left2 = s::other;  // the two before, what is ignored left out
    std::size_t at = begin;
    while (at < text.size()) {
        const detail::sentence_unit c(text, at, options.wrapped);
        if (c.kind == s::separator)  // SB4, and SB9 to SB11 where a mark stands before
            return options.wrapped ? detail::behind_blank_lines(text, at + c.length) : at + c.length;
        if (detail::is_ignored(c.kind) && at != begin) {  // SB5
            at += c.length;
            continue;
        }
        if (where != behind::nothing) {
            bool goes_on = false;
            if (stop && where == behind::mark)
                goes_on = c.kind == s::numeric ||                                            // SB6
                          (c.kind == s::upper && (left2 == s::upper || left2 == s::lower));  // SB7
            if (!goes_on && stop && !looked) {                                               // SB8
                looked = true;
                goes_on = detail::lower_follows(text, at, options.wrapped);
            }
            const bool is_mark = c.kind == s::full_stop || c.kind == s::terminator;
            if (!goes_on && (c.kind == s::continuation || is_mark)) goes_on = true;  // SB8a
            if (goes_on) {
                where = behind::nothing;
            } else if (c.kind == s::close && where != behind::space && !(options.brackets && c.opens)) {  // SB9
                where = behind::close;
            } else if (c.kind == s::space) {  // SB9, SB10
                where = behind::space;
            } else {  // SB11
                const bool abbreviated = options.abbreviations && stop && where == behind::space && text[mark] == '.' &&
                                         detail::ends_abbreviation(text, begin, mark);
                if (!abbreviated) return at;
                where = behind::nothing;
            }
        }
        if (c.kind == s::full_stop || c.kind == s::terminator) {
            where = behind::mark;
            stop = c.kind == s::full_stop;
            looked = false;
            mark = at;
        }
        left2 = left;
        left = c.kind;
        at += c.length;
    }
    return at;
}

}  // namespace QUARRY_NAMESPACE
