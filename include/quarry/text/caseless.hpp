// Caseless: the form in which terms are compared.
//
// NFKC, then full case folding, without what cannot be seen (soft hyphens, joiners, variation selectors), and composed
// again: "ﬁt", "FIT" and "fit" are one term, so are "Köln" in either normal form, "ＡＢＣ" and "abc", "STRASSE" and
// "straße".
//
// One liberty: the dot that folding leaves above an i (from the Turkish capital İ) is dropped, so that "İstanbul" is
// found by "istanbul". The dotless ı stays a letter of its own.
//
// Source  The Unicode Standard, 3.13, NFKC_Casefold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "normalize.hpp"
#include "unicode.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// The form in which `text` is compared. The form of a form is itself. Cost  one pass; ASCII and plain letters of other
/// scripts, capitals included, are copied without a detour.
std::string caseless(std::string_view text);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline void append_caseless_slowly(std::string_view text, std::string& out) {
    std::string folded;
    for_each_normal_piece(text, normal_form::nfkc, [&](std::string_view normal, std::size_t, std::size_t) {
        for (std::size_t at = 0; at < normal.size();) {
            const code_point c = decode(normal.substr(at));
            at += c.length;
            fold(c.value, [&](char32_t f) {
                const bool dot_above_i = f == 0x307 && folded.ends_with('i');
                if (!dot_above_i && (normalizing(f).flags & ignorable) == 0) encode(f, folded);
            });
        }
    });
    for_each_normal_piece(folded, normal_form::nfkc,
                          [&](std::string_view normal, std::size_t, std::size_t) { out += normal; });
}

inline void append_caseless(std::string_view text, std::string& out) {
    constexpr std::uint8_t hard = may_change_in_nfkc | attaches | ignorable;
    const std::size_t before = out.size();
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<std::uint8_t>(text[at]) < 0x80) {
            out += ascii_lower(text[at++]);
            continue;
        }
        const code_point c = decode(text.substr(at));
        const std::uint8_t flags = normalizing(c.value).flags;
        char32_t folded = c.value;
        std::size_t points = 1;
        if ((flags & folds) != 0) {
            points = 0;
            fold(c.value, [&](char32_t f) { folded = f, ++points; });
        }
        if ((flags & hard) != 0 || points != 1 || (normalizing(folded).flags & hard) != 0) {
            out.resize(before);
            return append_caseless_slowly(text, out);
        }
        encode(folded, out);
        at += c.length;
    }
}

}  // namespace detail

inline std::string caseless(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    detail::append_caseless(text, out);
    return out;
}

}  // namespace QUARRY_NAMESPACE
