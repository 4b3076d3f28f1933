// Unicode: what is known of a code point, and case folding.
//
// The only header that reads the tables (unicode_tables.hpp, written by tools/unicode_tables.py). Words, graphemes and
// sentences are cut by tokenizer.hpp, graphemes.hpp and sentences.hpp; normal forms are made by normalize.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "unicode_tables.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// Full case folding: texts that differ in case alone fold to the same one. STRASSE and straße are both "strasse".
///
/// It is no language's own: the Turkish dotless i stays apart from i, and its dotted capital becomes i with a dot above
/// (U+0307), which is not i. Folding a folded text changes nothing.
/// Cost    one pass; allocates the result.
/// Source  CaseFolding.txt of the Unicode character database, statuses C and F.
std::string case_folded(std::string_view text);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// Flags of a cutting_record.
inline constexpr std::uint8_t pictographic = 1;  // Extended_Pictographic
inline constexpr std::uint8_t makes_word = 2;    // a segment that holds it is a word
inline constexpr std::uint8_t paired = 4;        // of a script that puts no spaces between words

// Flags of a normalizing_record.
inline constexpr std::uint8_t may_change_in_nfc = 1;   // NFC_QC is no or maybe
inline constexpr std::uint8_t may_change_in_nfkc = 2;  // NFKC_QC is no or maybe
inline constexpr std::uint8_t has_canonical = 4;       // has a canonical decomposition
inline constexpr std::uint8_t has_compatible = 8;      // has another one under compatibility
inline constexpr std::uint8_t ignorable = 16;          // Default_Ignorable_Code_Point
inline constexpr std::uint8_t attaches = 32;           // may move before or merge with what stands before it
inline constexpr std::uint8_t folds = 64;              // case folding changes it

// How the tables are written: numbers below 92 as one character from '#', larger ones as two.
constexpr std::size_t table_digit(char c) noexcept { return static_cast<std::size_t>(c) - '#'; }
constexpr std::size_t table_number(const char* table, std::size_t at) noexcept {
    return 92 * table_digit(table[2 * at]) + table_digit(table[2 * at + 1]);
}

template <class Record>
constexpr const Record& record_of(char32_t c, const char* top, const char* middle, const char* low, int middle_bits,
                                  int low_bits, const Record* records) noexcept {
    const std::size_t value = c <= 0x10FFFF ? c : 0xFFFD;
    const std::size_t middle_mask = (std::size_t{1} << middle_bits) - 1, low_mask = (std::size_t{1} << low_bits) - 1;
    const std::size_t block = table_number(top, value >> (middle_bits + low_bits));
    const std::size_t leaf = table_number(middle, (block << middle_bits) + ((value >> low_bits) & middle_mask));
    return records[table_digit(low[(leaf << low_bits) + (value & low_mask)])];
}

constexpr const cutting_record& cutting(char32_t c) noexcept {
    return record_of(c, cutting_top, cutting_middle, cutting_low, cutting_middle_bits, cutting_low_bits,
                     cutting_records);
}
constexpr const normalizing_record& normalizing(char32_t c) noexcept {
    return record_of(c, normalizing_top, normalizing_middle, normalizing_low, normalizing_middle_bits,
                     normalizing_low_bits, normalizing_records);
}

constexpr word_break word_break_of(char32_t c) noexcept { return static_cast<word_break>(cutting(c).word); }
constexpr sentence_break sentence_break_of(char32_t c) noexcept {
    return static_cast<sentence_break>(cutting(c).sentence);
}
constexpr bool is_pictographic(char32_t c) noexcept { return (cutting(c).flags & pictographic) != 0; }

/// Hands the folding of `c` to `put`, one to three code points.
template <class Put>
void fold(char32_t c, Put put) {
    if (c < 0x80) return put(static_cast<char32_t>(ascii_lower(static_cast<char>(c))));
    const auto several = std::ranges::lower_bound(foldings, c, {}, &folding::from);
    if (several != std::ranges::end(foldings) && several->from == c) {
        for (const char32_t to : several->to)
            if (to != 0) put(to);
        return;
    }
    // Runs do not overlap, so c can only be in the last one that begins at or before it.
    auto run = std::ranges::upper_bound(folding_runs, c, {}, &folding_run::first);
    if (run != std::ranges::begin(folding_runs)) {
        --run;
        const bool inside = c <= run->last && (c - run->first) % static_cast<char32_t>(run->step) == 0;
        if (inside) return put(static_cast<char32_t>(static_cast<std::int32_t>(c) + run->by));
    }
    put(c);
}

}  // namespace detail

inline std::string case_folded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<std::uint8_t>(text[at]) < 0x80) {
            out += detail::ascii_lower(text[at++]);
            continue;
        }
        const code_point c = decode(text.substr(at));
        detail::fold(c.value, [&](char32_t folded) { encode(folded, out); });
        at += c.length;
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
