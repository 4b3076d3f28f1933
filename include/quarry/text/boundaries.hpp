// Boundaries: where a text may be cut so that what is left still reads.
//
// Between sentences if possible, between words if not, between code points always. The rules for sentences are those of
// plain prose: a full stop ends one where white space and no lower-case letter follow, unless it ends an initial or a
// common abbreviation; the marks of Chinese and Japanese end one at once.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// The last place at or before `at` where no code point is cut; `at` may lie beyond the end. Invalid bytes are cut
/// anywhere.
inline std::size_t code_point_boundary(std::string_view text, std::size_t at) noexcept {
    if (at >= text.size()) return text.size();
    // A code point has at most three bytes behind its first.
    for (std::size_t back = 0; back <= 3 && back <= at; ++back) {
        const std::size_t begin = at - back;
        if ((static_cast<std::uint8_t>(text[begin]) & 0xC0) == 0x80) continue;
        return decode(text.substr(begin)).length > back ? begin : at;
    }
    return at;
}

/// Calls `sentence(begin, end)` for every sentence, in order. They tile the text: white space behind a sentence is its
/// own.
///
/// A blank line ends a sentence, and so does a line end before a heading, a list item, a quote or a table row.
/// Cost  one pass over the bytes.
template <std::invocable<std::size_t, std::size_t> Sentence>
void for_each_sentence(std::string_view text, Sentence sentence);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Is the full stop at `stop` part of an initial or an abbreviation?
inline bool is_abbreviation(std::string_view text, std::size_t stop) noexcept {
    constexpr std::size_t longest = 8;
    std::size_t begin = stop;
    while (begin > 0 && stop - begin <= longest && (is_ascii_letter(text[begin - 1]) || text[begin - 1] == '.'))
        --begin;
    const std::string_view word = text.substr(begin, stop - begin);
    if (word.size() == 1) return word[0] != 'I';  // "J. Smith", and not "so did I."
    constexpr std::string_view known[] = {"e.g", "i.e", "cf", "vs",  "Dr", "Mr", "Mrs", "Ms", "Prof",
                                          "St",  "No",  "Nr", "Fig", "al", "ca", "bzw", "z.B"};
    return std::ranges::find(known, word) != std::end(known);
}

/// Where the sentence that has a mark at `mark` ends, white space included; 0 if it goes on.
inline std::size_t end_behind_mark(std::string_view text, std::size_t mark) noexcept {
    const code_point c = decode(text.substr(mark));
    const bool wide = c.value == 0x3002 || c.value == 0xFF01 || c.value == 0xFF1F || c.value == 0xFF0E;
    const bool narrow = c.value == '.' || c.value == '!' || c.value == '?' || c.value == 0x2026;
    if (!wide && !narrow) return 0;
    std::size_t end = mark + c.length;
    while (end < text.size()) {  // quotes and brackets close with the sentence
        const code_point next = decode(text.substr(end));
        const bool closes = next.value == '"' || next.value == '\'' || next.value == ')' || next.value == ']' ||
                            next.value == 0x2019 || next.value == 0x201D || next.value == 0x300D ||
                            next.value == 0x300F || next.value == 0xFF09;
        if (!closes) break;
        end += next.length;
    }
    const std::size_t behind = end;
    while (end < text.size() && is_ascii_space(text[end])) ++end;
    if (wide || end == text.size()) return end;
    if (end == behind) return 0;
    if (text[end] >= 'a' && text[end] <= 'z') return 0;
    return c.value == '.' && is_abbreviation(text, mark) ? 0 : end;
}

/// Does the line that begins at `begin` open something of its own: a heading, an item, a quote, a row?
inline bool opens_a_line(std::string_view text, std::size_t begin) noexcept {
    while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
    if (begin == text.size()) return true;
    const char c = text[begin];
    if (c == '\n' || c == '\r' || c == '#' || c == '|' || c == '>') return true;
    if (c == '-' || c == '*' || c == '+') return begin + 1 < text.size() && text[begin + 1] == ' ';
    std::size_t digits = begin;
    while (digits < text.size() && is_ascii_digit(text[digits]) && digits - begin < 9) ++digits;
    return digits > begin && digits + 1 < text.size() && (text[digits] == '.' || text[digits] == ')') &&
           text[digits + 1] == ' ';
}

}  // namespace detail

template <std::invocable<std::size_t, std::size_t> Sentence>
void for_each_sentence(std::string_view text, Sentence sentence) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = 0;
        if (text[i] == '\n' || text[i] == '\r') {
            if (detail::opens_a_line(text, i + 1)) {
                end = i + 1;
                while (end < text.size() && detail::is_ascii_space(text[end])) ++end;
            }
        } else {
            end = detail::end_behind_mark(text, i);
        }
        if (end == 0) {
            i += decode(text.substr(i)).length;
            continue;
        }
        // White space alone is no sentence: it belongs to the one before, or to the first.
        if (!detail::trimmed(text.substr(begin, end - begin)).empty()) {
            sentence(begin, end);
            begin = end;
        }
        i = end;
    }
    if (begin < text.size()) sentence(begin, text.size());
}

}  // namespace QUARRY_NAMESPACE
