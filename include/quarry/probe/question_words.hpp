// Question words: a question cut into words and marks, as the reader of schemas looks at them.
//
// Not an analyzer: nothing is dropped, since "not", "before" and a comma are what a reader lives on.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../text/stemmer.hpp"
#include "../text/tokenizer.hpp"
#include "../text/unicode.hpp"

namespace QUARRY_NAMESPACE::detail {

/// A word or a mark of a question, and where it stands in it.
struct question_word {
    std::string folded;  // case folded, without a possessive 's
    std::string stem;    // by Porter where it is ASCII; empty for marks
    std::size_t begin = 0, end = 0;
    bool is_word = false;
    bool apart = true;     // a space, or nothing, stands before it
    bool capital = false;  // begins with a capital letter
};

/// The words and marks of `text`, in order. '_' parts words, as it does in the names of fields and values.
std::vector<question_word> question_words(std::string_view text);

/// The words of a name or value in the form in which a question's words are compared.
struct word_key {
    std::string folded;  // "main courses"
    std::string stem;    // "main cours"
    std::size_t words = 0;
};
word_key key_of(std::string_view text);

/// Words of English that join others and say nothing of their own, lower case.
bool is_preposition(std::string_view w) noexcept;
bool is_filler(std::string_view w) noexcept;    // and articles, "and", "or", "that are"
bool is_everyday(std::string_view w) noexcept;  // and what questions are asked with

/// Letters and digits alone, case folded: what "Remote Work", "remote_work" and "remote-work" have in common.
std::string squeezed(std::string_view text);

// ------------------------------------------------------------------------------------------------------------- detail

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& sorted) noexcept {
    return std::binary_search(sorted.begin(), sorted.end(), word);
}

inline bool is_preposition(std::string_view w) noexcept {
    static constexpr auto words =
        std::to_array<std::string_view>({"about", "at", "by", "containing", "during", "for", "from", "having", "in",
                                         "including", "of", "on", "per", "through", "to", "under", "with"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return is_one_of(w, words);
}

// Words that carry no condition and may stand between two that belong together.
inline bool is_filler(std::string_view w) noexcept {
    static constexpr auto words = std::to_array<std::string_view>(
        {"a",    "also", "an",    "and",  "any",   "are",  "be",    "being", "both", "but",   "either",
         "has",  "have", "is",    "it",   "more",  "one",  "ones",  "or",    "plus", "some",  "such",
         "that", "the",  "their", "them", "these", "they", "those", "was",   "were", "which", "who"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return is_one_of(w, words) || is_preposition(w);
}

inline bool is_everyday(std::string_view w) noexcept {
    static constexpr auto words = std::to_array<std::string_view>(
        {"all",  "as",    "can",  "could", "do",    "does", "find", "get",  "give", "go",
         "how",  "i",     "if",   "last",  "me",    "most", "new",  "only", "show", "than",
         "then", "there", "what", "when",  "where", "why",  "will", "you"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return is_one_of(w, words) || is_filler(w);
}

inline std::string_view without_possessive_s(std::string_view word) noexcept {
    for (const std::string_view ending : {"'s", "\u2019s", "'S", "'", "\u2019"})
        if (word.size() > ending.size() && word.ends_with(ending)) return word.substr(0, word.size() - ending.size());
    return word;
}

inline question_word word_at(std::string_view text, std::size_t begin, std::size_t end) {
    question_word w;
    w.begin = begin;
    w.end = end;
    w.is_word = true;
    const std::string_view raw = without_possessive_s(text.substr(begin, end - begin));
    w.folded = case_folded(raw);
    w.capital = !w.folded.empty() && w.folded.front() != raw.front();
    w.stem = w.folded;
    bool ascii = true;
    for (const char c : w.stem) ascii = ascii && c >= 0;
    if (ascii) porter_stem(w.stem);
    return w;
}

inline std::vector<question_word> question_words(std::string_view text) {
    std::vector<question_word> out;
    std::size_t done = 0;
    const auto marks_until = [&](std::size_t end) {
        while (done < end) {
            const code_point c = decode(text.substr(done));
            const bool space = c.value <= ' ' || c.value == 0xA0 || c.value == 0x3000;
            if (!space) {
                question_word mark;
                mark.folded = std::string(text.substr(done, c.length));
                mark.begin = done;
                mark.end = done + c.length;
                mark.apart = out.empty() || out.back().end < done;
                out.push_back(std::move(mark));
            }
            done += c.length;
        }
    };
    const auto add_word = [&](std::size_t begin, std::size_t end) {
        marks_until(begin);
        question_word w = word_at(text, begin, end);
        w.apart = out.empty() || out.back().end < begin;
        out.push_back(std::move(w));
        done = end;
    };
    for_each_word(text, [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at <= end; ++at) {
            if (at != end && text[at] != '_') continue;
            if (at > begin) add_word(begin, at);
            begin = at + 1;
        }
    });
    marks_until(text.size());
    return out;
}

inline word_key key_of(std::string_view text) {
    word_key key;
    for (const question_word& w : question_words(text)) {
        if (!w.is_word) continue;
        if (key.words++ > 0) key.folded += ' ', key.stem += ' ';
        key.folded += w.folded;
        key.stem += w.stem;
    }
    return key;
}

inline std::string squeezed(std::string_view text) {
    std::string out;
    for (const question_word& w : question_words(text))
        if (w.is_word) out += w.folded;
    return out;
}

}  // namespace QUARRY_NAMESPACE::detail
