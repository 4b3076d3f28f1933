// Token counters: how much of a model's window a text takes. Yours if you have the model's tokenizer, else an estimate.
//
// The surprising thing: four bytes a token is a rule for English. A Chinese character is three bytes and about one
// token, so that rule lets a Chinese context overflow its budget by a third.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>

#include "../config.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// From a text to its number of tokens. May throw; may be no sum of its parts.
template <class C>
concept TokenCounter = requires(const C& count, std::string_view text) {
    { count(text) } -> std::convertible_to<std::size_t>;
};

using token_counter = std::function<std::size_t(std::string_view)>;

/// One token for every ideograph, kana, Hangul syllable and emoji, and one for every four bytes of the rest, rounded
/// up.
///
/// Order  of a text and its parts: count(ab) <= count(a) + count(b), and >= both.
/// Cost   one pass over the bytes.
struct approximate_tokens {
    std::size_t operator()(std::string_view text) const noexcept;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline bool is_about_one_token(char32_t c) noexcept {
    return (c >= 0x1100 && c <= 0x11FF) || (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7A3) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFFEF) || (c >= 0x1F000 && c <= 0x1FAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF);
}

}  // namespace detail

inline std::size_t approximate_tokens::operator()(std::string_view text) const noexcept {
    std::size_t whole = 0, bytes = 0;
    for (std::size_t at = 0; at < text.size();) {
        const code_point c = decode(text.substr(at));
        if (detail::is_about_one_token(c.value)) ++whole;
        else bytes += c.length;
        at += c.length;
    }
    return whole + (bytes + 3) / 4;
}

}  // namespace QUARRY_NAMESPACE
