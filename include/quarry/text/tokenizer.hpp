// Tokenizer: words with their byte spans.
//
// Letters, digits and underscores make words; an apostrophe, colon or full stop joins two letters, a comma, semicolon,
// apostrophe or full stop two digits: "can't", "node.js", "3.14", "1,000" are one word each, "TS-999" is two. Ideographs
// and kana stand alone. A mark that combines never splits a word.
//
// It follows the default word boundaries of UAX 29 for ASCII, and for other scripts a coarse division of the code space
// into letters and everything else, without the tables of the Unicode database.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "../config.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// A term and where it came from. The view is good for the duration of the call that hands it over.
struct token {
    std::string_view term;
    std::size_t begin = 0, end = 0;  // bytes of the original text
    std::uint32_t position = 0;      // counts words from 0, stop words included
    bool stop = false;               // a stop word: searched for only where nothing else is asked
};

namespace detail {

enum class word_class : std::uint8_t { other, letter, digit, underscore, single, quote, colon, comma, stop };

inline word_class class_of(char32_t c) noexcept {
    if (c < 0x80) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return word_class::letter;
        if (c >= '0' && c <= '9') return word_class::digit;
        switch (c) {
            case '_': return word_class::underscore;
            case '\'': return word_class::quote;
            case ':': return word_class::colon;
            case ',':
            case ';': return word_class::comma;
            case '.': return word_class::stop;
            default: return word_class::other;
        }
    }
    struct range {
        char32_t first, last;
    };
    constexpr range not_words[] = {
        {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB6},     {0xB8, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},
        {0xF7, 0xF7},     {0x2000, 0x200B}, {0x200E, 0x203E}, {0x2041, 0x2053}, {0x2055, 0x206F}, {0x20A0, 0x20CF},
        {0x2190, 0x2BFF}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0x303D, 0x303F}, {0xE000, 0xF8FF},
        {0xFE10, 0xFE1F}, {0xFE30, 0xFE32}, {0xFE35, 0xFE4C}, {0xFE50, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F},
        {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E}, {0xFF40, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFD}, {0x1F000, 0x1FAFF}};
    constexpr range singles[] = {{0x3040, 0x309F}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};
    if (c == 0x2019 || c == 0x2018) return word_class::quote;
    if (c == 0xB7) return word_class::colon;
    for (const range& r : not_words)
        if (c >= r.first && c <= r.last) return word_class::other;
    for (const range& r : singles)
        if (c >= r.first && c <= r.last) return word_class::single;
    if (c >= 0x660 && c <= 0x669) return word_class::digit;
    return word_class::letter;
}

}  // namespace detail

/// Calls `word(begin, end)` for every word of `text`, in order.
///
/// Cost  one pass over the bytes.
template <std::invocable<std::size_t, std::size_t> Word>
void for_each_word(std::string_view text, Word word) {
    using detail::word_class;
    std::size_t at = 0;
    while (at < text.size()) {
        code_point c = decode(text.substr(at));
        word_class kind = detail::class_of(c.value);
        if (kind == word_class::single) word(at, at + c.length);
        if (kind != word_class::letter && kind != word_class::digit && kind != word_class::underscore) {
            at += c.length;
            continue;
        }
        const std::size_t begin = at;
        bool has_word = false;  // underscores alone are no word
        for (;;) {
            has_word = has_word || kind != word_class::underscore;
            at += c.length;
            if (at == text.size()) break;
            const code_point next = decode(text.substr(at));
            const word_class next_kind = detail::class_of(next.value);
            if (next_kind == word_class::letter || next_kind == word_class::digit ||
                next_kind == word_class::underscore) {
                c = next, kind = next_kind;
                continue;
            }
            // A joint belongs to the word if the same class stands on its other side.
            const bool joins_letters = next_kind == word_class::quote || next_kind == word_class::colon || next_kind == word_class::stop;
            const bool joins_digits = next_kind == word_class::quote || next_kind == word_class::comma || next_kind == word_class::stop;
            const bool may = (kind == word_class::letter && joins_letters) || (kind == word_class::digit && joins_digits);
            if (!may || at + next.length >= text.size()) break;
            const code_point after = decode(text.substr(at + next.length));
            if (detail::class_of(after.value) != kind) break;
            at += next.length;
            c = after;
        }
        if (has_word) word(begin, at);
    }
}

}  // namespace QUARRY_NAMESPACE
