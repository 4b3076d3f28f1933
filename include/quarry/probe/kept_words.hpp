// Kept words: what of a question must not be lost when it is put into other words.
//
// A model that rewrites "why does HL-301 blink" drops the one word that finds the page. Kept are words in quotation
// marks and identifiers: words with a digit, an underscore, a colon pair or a dot inside, capitals inside or capitals
// alone. It is a rule about letters and knows no dictionary.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"
#include "../text/unicode.hpp"

namespace QUARRY_NAMESPACE {

/// Quoted words and identifiers of `question`, each once, in their order.
///
/// In a question without a small letter, capitals say nothing and do not count. Cost  linear.
std::vector<std::string> kept_words(std::string_view question);

/// Those of `kept` that do not stand in `text`, case aside.
std::vector<std::string> lost_words(const std::vector<std::string>& kept, std::string_view text);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_small(char c) noexcept { return c >= 'a' && c <= 'z'; }
// Letters of other scripts count as letters.
inline bool in_identifier(char c) noexcept {
    return is_ascii_letter(c) || is_ascii_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

inline bool is_identifier(std::string_view word, bool capitals_count) noexcept {
    std::size_t capitals = 0, others = 0;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const char c = word[i];
        if (is_ascii_digit(c) || c == '_' || word.substr(i).starts_with("::")) return true;
        if (is_capital(c) && i > 0 && is_small(word[i - 1]) && capitals_count) return true;
        // node.js, but not e.g
        if (c == '.' && i >= 2 && i + 2 < word.size() && in_identifier(word[i - 1]) && in_identifier(word[i - 2]) &&
            in_identifier(word[i + 1]) && in_identifier(word[i + 2]))
            return true;
        is_capital(c) ? ++capitals : ++others;
    }
    return capitals_count && capitals >= 2 && others == 0;
}

struct quotation {
    std::string_view open, close;
};

}  // namespace detail

inline std::vector<std::string> kept_words(std::string_view question) {
    using namespace detail;
    std::vector<std::string> out;
    const auto keep = [&](std::string_view word) {
        word = trimmed(word);
        if (!word.empty() && std::ranges::find(out, word) == out.end()) out.emplace_back(word);
    };
    const bool capitals_count = std::ranges::any_of(question, is_small);
    constexpr quotation marks[] = {{"\"", "\""},
                                   {"`", "`"},
                                   {"\xE2\x80\x9C", "\xE2\x80\x9D"},   // U+201C U+201D
                                   {"\xE2\x80\x9E", "\xE2\x80\x9C"},   // U+201E U+201C
                                   {"\xC2\xAB", "\xC2\xBB"},           // U+00AB U+00BB
                                   {"\xE3\x80\x8C", "\xE3\x80\x8D"}};  // U+300C U+300D
    for (std::size_t at = 0; at < question.size();) {
        const std::string_view rest = question.substr(at);
        if (is_ascii_space(rest.front())) {
            ++at;
            continue;
        }
        std::size_t length = 0;
        for (const quotation& q : marks) {
            if (!rest.starts_with(q.open)) continue;
            const std::size_t end = rest.find(q.close, q.open.size());
            if (end == std::string_view::npos || end > 200) continue;
            keep(rest.substr(q.open.size(), end - q.open.size()));
            length = end + q.close.size();
            break;
        }
        if (length == 0) {
            while (length < rest.size() && !is_ascii_space(rest[length]) && (length == 0 || rest[length] != '"'))
                ++length;
            std::string_view word = rest.substr(0, length);
            while (!word.empty() && !in_identifier(word.front()) && word.front() != '_') word.remove_prefix(1);
            while (!word.empty() && !in_identifier(word.back()) && word.back() != '_' && word.back() != '+' &&
                   word.back() != '#')
                word.remove_suffix(1);
            if (is_identifier(word, capitals_count)) keep(word);
        }
        at += length;
    }
    return out;
}

inline std::vector<std::string> lost_words(const std::vector<std::string>& kept, std::string_view text) {
    const std::string folded = case_folded(text);
    std::vector<std::string> out;
    for (const std::string& word : kept)
        if (folded.find(case_folded(word)) == std::string::npos) out.push_back(word);
    return out;
}

}  // namespace QUARRY_NAMESPACE
