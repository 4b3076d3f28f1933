// Word runs: how much of one text stands in another, and whether a text goes round in circles.
//
// Words are maximal runs of letters, digits and underscores, folded; a script that writes without spaces has a word per
// character. That is coarser than text/tokenizer.hpp and is meant to be: "GSA's" and "GSA s" are the same here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../config.hpp"
#include "../text/unicode.hpp"
#include "../text/utf8.hpp"

namespace QUARRY_NAMESPACE {
namespace detail {

/// Calls `word(text)` for every word of a text, in order.  Cost  one pass.
template <class Word>
void for_each_word_run(std::string_view text, Word word) {
    std::size_t begin = 0, at = 0;
    const auto flush = [&] {
        if (at > begin) word(text.substr(begin, at - begin));
    };
    while (at < text.size()) {
        const code_point c = decode(text.substr(at));
        const cutting_record& known = cutting(c.value);
        const bool alone = (known.flags & paired) != 0;
        const auto kind = static_cast<word_break>(known.word);
        const bool mark = at > begin && (kind == word_break::extend || kind == word_break::zwj);
        const bool joins = !alone && ((known.flags & makes_word) != 0 || c.value == U'_' || mark);
        if (!joins) {
            flush();
            if (alone) word(text.substr(at, c.length));
            begin = at + c.length;
        }
        at += c.length;
    }
    flush();
}

/// The words of a folded text as numbers: equal for equal words. (FNV-1a, 64 bits: a collision is a word misread.)
inline std::vector<std::uint64_t> word_numbers(std::string_view text) {
    const std::string folded = case_folded(text);
    std::vector<std::uint64_t> out;
    for_each_word_run(folded, [&](std::string_view word) {
        std::uint64_t h = 0xcbf29ce484222325u;
        for (const char c : word) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
        out.push_back(h);
    });
    return out;
}

/// One number for `length` words from `first` on.
inline std::uint64_t run_number(const std::vector<std::uint64_t>& words, std::size_t first,
                                std::size_t length) noexcept {
    std::uint64_t h = length;
    for (std::size_t i = first; i < first + length; ++i) h = (h ^ words[i]) * 0x9e3779b97f4a7c15u + (h >> 29);
    return h;
}

/// How often the run of `length` words that stands there most often stands there.
inline std::size_t most_repeated_run(std::string_view text, std::size_t length) {
    const auto words = word_numbers(text);
    std::unordered_map<std::uint64_t, std::size_t> times;
    std::size_t most = 0;
    for (std::size_t i = 0; i + length <= words.size(); ++i)
        most = (std::max)(most, ++times[run_number(words, i, length)]);
    return most;
}

/// The longest run of one and the same letter or digit.
inline std::size_t longest_stutter(std::string_view text) noexcept {
    std::size_t longest = 0, run = 0;
    char32_t last = 0;
    while (!text.empty()) {
        const code_point c = decode(text);
        text.remove_prefix(c.length);
        run = c.value == last ? run + 1 : 1;
        last = c.value;
        if ((cutting(c.value).flags & makes_word) != 0) longest = (std::max)(longest, run);
    }
    return longest;
}

inline bool has_letter(std::string_view text) noexcept {
    while (!text.empty()) {
        const code_point c = decode(text);
        text.remove_prefix(c.length);
        const auto kind = word_break_of(c.value);
        if ((cutting(c.value).flags & makes_word) != 0 && kind != word_break::numeric) return true;
    }
    return false;
}

}  // namespace detail

/// The runs of eight words of a text, for asking how much of another text they make up.
class known_runs {
   public:
    static constexpr std::size_t length = 8;

    known_runs() = default;
    explicit known_runs(std::string_view text) { add(text); }

    void add(std::string_view text) {
        const auto words = detail::word_numbers(text);
        for (std::size_t i = 0; i + length <= words.size(); ++i) runs_.insert(detail::run_number(words, i, length));
    }

    /// The share of the runs of `text` that are known, in [0, 1]; 0 for a text of fewer than eight words.
    double share_in(std::string_view text) const {
        const auto words = detail::word_numbers(text);
        if (words.size() < length) return 0.0;
        const std::size_t runs = words.size() - length + 1;
        std::size_t known = 0;
        for (std::size_t i = 0; i < runs; ++i) known += runs_.contains(detail::run_number(words, i, length));
        return static_cast<double>(known) / static_cast<double>(runs);
    }

   private:
    std::unordered_set<std::uint64_t> runs_;
};

}  // namespace QUARRY_NAMESPACE
