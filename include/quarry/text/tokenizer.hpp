// Tokenizer: words with their byte spans, by the default word boundaries of Unicode.
//
// Letters, digits and underscores make words; an apostrophe, colon or full stop joins two letters, a comma, semicolon,
// apostrophe or full stop two digits: "can't", "node.js", "3.14", "1,000" are one word each, "TS-999" is two. A mark
// that combines never splits a word. Ideographs and hiragana stand alone, and so do Thai, Lao, Khmer and Burmese letters:
// what stands for words in scripts without spaces is the analyzer's business, which pairs neighbours.
//
// Source  UAX 29, Unicode Text Segmentation, 4.1, without tailoring; a segment is a word if it holds a letter, a digit,
//         an ideograph or an emoji.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "../config.hpp"
#include "unicode.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// A term and where it came from. The view is good for the duration of the call that hands it over.
struct token {
    std::string_view term;
    std::size_t begin = 0, end = 0;  // bytes of the original text
    std::uint32_t position = 0;      // counts words from 0, stop words included; parts of one word share it
    bool stop = false;               // searched for only where nothing else is asked, and never counted in the length
    float weight = 1.0f;             // of a question's word; synonyms may have less
};

/// The end of the segment that begins at byte `begin`: a word, or what stands between words.
///
/// Requires  begin < text.size(), a boundary: 0, or what this function returned.
std::size_t word_end(std::string_view text, std::size_t begin) noexcept;

/// Calls `word(begin, end)` for every word of `text`, in order.
///
/// Cost  one pass over the bytes, and for every joint of a word ("." in "a.b") one look at what follows it.
template <std::invocable<std::size_t, std::size_t> Word>
void for_each_word(std::string_view text, Word word);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// What a pair of neighbours means, marks that combine left out of account (rule WB4).
enum class word_pair : std::uint8_t {
    ends,            // a boundary stands between them
    joins,           // none
    joins_letters,   // none if a letter follows (WB6, WB7)
    joins_digits,    // none if a digit follows (WB11, WB12)
    joins_hebrew,    // none if a Hebrew letter follows (WB7b, WB7c)
    joins_anything,  // none, and none after it if a letter follows (WB7a, WB6)
};

constexpr std::size_t word_classes = static_cast<std::size_t>(word_break::space) + 1;
using word_pairs = std::array<std::array<word_pair, word_classes>, word_classes>;

constexpr word_pairs make_word_pairs() {
    using w = word_break;
    word_pairs table{};
    const auto set = [&](w left, w right, word_pair meaning) {
        table[static_cast<std::size_t>(left)][static_cast<std::size_t>(right)] = meaning;
    };
    for (const w a : {w::letter, w::hebrew_letter}) {
        for (const w b : {w::letter, w::hebrew_letter}) set(a, b, word_pair::joins);  // WB5
        for (const w b : {w::mid_letter, w::mid_number_or_letter, w::single_quote})   // WB6, WB7
            set(a, b, word_pair::joins_letters);
        set(a, w::numeric, word_pair::joins);  // WB9
        set(w::numeric, a, word_pair::joins);  // WB10
    }
    set(w::hebrew_letter, w::single_quote, word_pair::joins_anything);           // WB7a
    set(w::hebrew_letter, w::double_quote, word_pair::joins_hebrew);             // WB7b, WB7c
    set(w::numeric, w::numeric, word_pair::joins);                               // WB8
    for (const w b : {w::mid_number, w::mid_number_or_letter, w::single_quote})  // WB11, WB12
        set(w::numeric, b, word_pair::joins_digits);
    set(w::katakana, w::katakana, word_pair::joins);  // WB13
    for (const w a : {w::letter, w::hebrew_letter, w::numeric, w::katakana, w::connector}) {
        set(a, w::connector, word_pair::joins);                         // WB13a
        if (a != w::connector) set(w::connector, a, word_pair::joins);  // WB13b
    }
    return table;
}
inline constexpr word_pairs word_pair_table = make_word_pairs();

constexpr bool combines(word_break w) noexcept {
    return w == word_break::extend || w == word_break::format || w == word_break::zwj;
}
constexpr bool breaks_line(word_break w) noexcept {
    return w == word_break::cr || w == word_break::lf || w == word_break::newline;
}

struct ascii_word_class {
    word_break word;
    std::uint8_t flags;
};
inline constexpr auto ascii_word_classes = [] {
    std::array<ascii_word_class, 0x80> table{};
    for (char32_t c = 0; c < 0x80; ++c) table[c] = {word_break_of(c), cutting(c).flags};
    return table;
}();

// A code point with what the rules ask about it.
struct word_unit {
    std::size_t length;
    word_break word;
    std::uint8_t flags;

    word_unit(std::string_view text, std::size_t at) noexcept {
        if (const auto byte = static_cast<std::uint8_t>(text[at]); byte < 0x80) {
            length = 1, word = ascii_word_classes[byte].word, flags = ascii_word_classes[byte].flags;
        } else {
            const code_point c = decode(text.substr(at));
            const cutting_record& r = cutting(c.value);
            length = c.length, word = static_cast<word_break>(r.word), flags = r.flags;
        }
    }
};

struct word_segment {
    std::size_t end;
    std::uint8_t flags;  // of all its code points together
};

// The segment at `begin`. Every boundary rule looks back into the same segment only, so no other state is needed.
inline word_segment segment_at(std::string_view text, std::size_t begin) noexcept {
    word_unit last(text, begin);
    std::size_t at = begin + last.length;
    std::uint8_t flags = last.flags;
    if (breaks_line(last.word)) {  // WB3, WB3a
        const bool pair = last.word == word_break::cr && at < text.size() && text[at] == '\n';
        return {pair ? at + 1 : at, 0};
    }
    word_break left = last.word;  // the last one that does not combine
    bool paired_flag = false;     // the left one is the second of a pair of regional indicators
    while (at < text.size()) {
        // Most bytes of most texts: no rule but "letters, digits and underscores join" can apply.
        if (left == word_break::letter || left == word_break::numeric) {
            const std::size_t start = at;
            while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) {
                const ascii_word_class& c = ascii_word_classes[static_cast<std::uint8_t>(text[at])];
                if (c.word != word_break::letter && c.word != word_break::numeric) break;
                left = c.word;
                ++at;
            }
            if (at == text.size()) break;
            if (at != start) last.word = left;
        }
        const word_unit next(text, at);
        if (breaks_line(next.word)) break;                                                                     // WB3b
        const bool joins_emoji = last.word == word_break::zwj && (next.flags & pictographic) != 0;             // WB3c
        const bool joins_spaces = last.word == word_break::space && next.word == word_break::space;            // WB3d
        const bool joins_flags = left == word_break::regional_indicator && next.word == left && !paired_flag;  // WB15
        if (combines(next.word)) {                                                                             // WB4
            at += next.length;
            flags |= next.flags;
            last = next;
            continue;
        }
        if (!joins_emoji && !joins_spaces && !joins_flags) {
            const word_pair meaning =
                word_pair_table[static_cast<std::size_t>(left)][static_cast<std::size_t>(next.word)];
            if (meaning == word_pair::ends) break;
            if (meaning != word_pair::joins) {
                // A joint. It belongs here if the right class stands on its other side, marks left out of account.
                std::size_t beyond = at + next.length;
                std::uint8_t more = next.flags;
                bool belongs = false;
                while (beyond < text.size()) {
                    const word_unit after(text, beyond);
                    beyond += after.length;
                    more |= after.flags;
                    if (combines(after.word)) continue;
                    const bool hebrew = after.word == word_break::hebrew_letter;
                    belongs = meaning == word_pair::joins_digits   ? after.word == word_break::numeric
                              : meaning == word_pair::joins_hebrew ? hebrew
                                                                   : hebrew || after.word == word_break::letter;
                    if (belongs) last = after, left = after.word;
                    break;
                }
                if (belongs) {
                    at = beyond;
                    flags |= more;
                    continue;
                }
                if (meaning != word_pair::joins_anything) break;
            }
        }
        paired_flag = joins_flags;
        at += next.length;
        flags |= next.flags;
        last = next;
        left = next.word;
    }
    return {at, flags};
}

}  // namespace detail

inline std::size_t word_end(std::string_view text, std::size_t begin) noexcept {
    return detail::segment_at(text, begin).end;
}

namespace detail {

// Calls `segment(begin, end, flags)` for every word; the flags are those of all its code points together.
template <class Segment>
void for_each_word_segment(std::string_view text, Segment segment) {
    std::size_t at = 0;
    while (at < text.size()) {
        // Blanks and punctuation between ASCII words.
        while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) {
            const ascii_word_class kind = ascii_word_classes[static_cast<std::uint8_t>(text[at])];
            if ((kind.flags & makes_word) != 0 || kind.word == word_break::connector) break;
            ++at;
        }
        if (at == text.size()) break;
        const word_segment found = segment_at(text, at);
        if ((found.flags & makes_word) != 0) segment(at, found.end, found.flags);
        at = found.end;
    }
}

}  // namespace detail

template <std::invocable<std::size_t, std::size_t> Word>
void for_each_word(std::string_view text, Word word) {
    detail::for_each_word_segment(text, [&](std::size_t begin, std::size_t end, std::uint8_t) { word(begin, end); });
}

}  // namespace QUARRY_NAMESPACE
