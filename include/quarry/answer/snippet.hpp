// Snippet: the passage of a text that answers a question best, to be shown below a hit.
//
//     const passage p = snippet(found.unit(hit), question, kb.bm25.index.words());
//     std::cout << p.text(unit.text());
//
// The passage that holds the most different words of the question, then the most of their occurrences, then the first.
// Words meet as the analyzer says, so "pairing" finds "paired"; the spans are bytes of the text as it is. No models, no
// scores of the index: it is the same for every retriever, and for a unit that was found by its title.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/query.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../text/analyzer.hpp"
#include "../text/boundaries.hpp"
#include "../text/tokenizer.hpp"

namespace QUARRY_NAMESPACE {

struct snippet_options {
    std::size_t length = 240;  // bytes, at most
};

/// A word of the question that stands in the passage.
struct matched_term {
    std::string term;  // as the analyzer gives it
    byte_span span{};  // in the text
};

struct passage {
    byte_span span{};                     // in the text
    std::vector<matched_term> matches{};  // in the passage, in order
    bool begins_early = false;            // cut inside a sentence: an ellipsis belongs before it
    bool ends_early = false;              // and behind it

    std::string_view text(std::string_view whole) const noexcept { return whole.substr(span.begin, span.size()); }
};

/// The best passage of `text` for a question.
///
/// It begins with a sentence and ends with one where these fit, else between words, else between code points; without
/// white space at its ends. Stop words count only in a question of nothing else. A text without any word of the
/// question gives its beginning. Cost  linear in the text; log of the question's words for each word.
passage snippet(std::string_view text, std::string_view question, const analyzer& words, snippet_options options = {});

/// The best passage of a unit for a query: its text, its required words and its phrases.
passage snippet(const unit_ref& unit, const query& question, const analyzer& words, snippet_options options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class snippet_finder {
 public:
    snippet_finder(std::string_view text, std::string_view question, const analyzer& words, snippet_options options)
        : text_(text), length_(options.length) {
        read_question(question, words);
        find_matches(words);
        sentences_.push_back(0);
        for_each_sentence(text_, [&](std::size_t, std::size_t end) { sentences_.push_back(end); });
        for_each_word(text_, [&](std::size_t begin, std::size_t end) { words_.push_back({begin, end}); });
    }

    passage run() const {
        const byte_span span = grown(best_window());
        passage out{span};
        out.begins_early = !std::ranges::binary_search(sentences_, span.begin);
        const std::size_t sentence_end = *std::ranges::lower_bound(sentences_, span.end);
        out.ends_early = !trimmed(text_.substr(span.end, sentence_end - span.end)).empty();
        while (out.span.begin < out.span.end && is_ascii_space(text_[out.span.begin])) ++out.span.begin;
        while (out.span.begin < out.span.end && is_ascii_space(text_[out.span.end - 1])) --out.span.end;
        for (const match& m : matches_)
            if (m.span.begin >= out.span.begin && m.span.end <= out.span.end)
                out.matches.push_back({terms_[m.term], m.span});
        return out;
    }

 private:
    struct match {
        std::size_t term;
        byte_span span;
    };

    void read_question(std::string_view question, const analyzer& words) {
        std::map<std::string, std::size_t, std::less<>> stop_words;
        words(question,
              [&](const token& t) { (t.stop ? stop_words : number_of_).try_emplace(std::string(t.term), 0); });
        if (number_of_.empty()) number_of_ = std::move(stop_words);
        for (auto& [term, number] : number_of_) {
            number = terms_.size();
            terms_.push_back(term);
        }
    }

    void find_matches(const analyzer& words) {
        words(text_, [&](const token& t) {
            const auto found = number_of_.find(t.term);
            if (found != number_of_.end()) matches_.push_back({found->second, {t.begin, t.end}});
        });
        // An analyzer may give a word's parts after the word.
        detail::sort_stably(matches_, [](const match& a, const match& b) {
            return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end < b.span.end;
        });
    }

    // The stretch of matches that fits the length and holds the most different terms, then the most matches.
    byte_span best_window() const {
        std::vector<std::size_t> times(terms_.size());
        std::size_t distinct = 0, first = 0;
        std::pair<std::size_t, std::size_t> best{0, 0};
        byte_span window{};
        if (!matches_.empty()) window.begin = window.end = matches_[0].span.begin;  // a word longer than the length
        for (std::size_t last = 0; last < matches_.size(); ++last) {
            distinct += times[matches_[last].term]++ == 0;
            while (first <= last && matches_[last].span.end - matches_[first].span.begin > length_)
                distinct -= --times[matches_[first++].term] == 0;
            const std::pair now{distinct, last + 1 - first};
            if (now > best) {
                best = now;
                window = {matches_[first].span.begin, matches_[last].span.end};
            }
        }
        return window;
    }

    // The window and what fits around it: from the beginning of its sentence if possible, to the end of one.
    byte_span grown(byte_span window) const {
        byte_span out = window;
        const std::size_t sentence = *(std::ranges::upper_bound(sentences_, window.begin) - 1);
        if (window.end - sentence <= length_) {
            out.begin = sentence;
        } else {
            // Half of what is left goes before the window: words have neighbours on both sides.
            const std::size_t spare = (length_ - window.size()) / 2;
            const auto word =
                std::ranges::lower_bound(words_, window.begin - (std::min)(spare, window.begin), {}, &byte_span::begin);
            if (word != words_.end()) out.begin = (std::min)(word->begin, window.begin);
        }
        const std::size_t most = length_ > text_.size() - out.begin ? text_.size() : out.begin + length_;
        auto whole = std::ranges::upper_bound(sentences_, most) - 1;
        // A heading at the end announces what is not there.
        while (whole != sentences_.begin() && *(whole - 1) >= (std::max)(window.end, out.begin + 1) &&
               text_[*(whole - 1)] == '#')
            --whole;
        // A sentence's end that leaves most of the length unused is worth less than a few more words.
        const bool enough = *whole >= window.end && *whole >= out.begin + (length_ + 1) / 2;
        out.end = most == text_.size() || enough ? *whole : (std::max)(boundary_to(most), window.end);
        if (out.end <= out.begin) out.end = code_point_boundary(text_, most);
        return out;
    }

    // The last place up to `at` that lies inside no word and no code point.
    std::size_t boundary_to(std::size_t at) const {
        const auto after = std::ranges::lower_bound(words_, at, {}, &byte_span::begin);
        const bool inside = after != words_.begin() && at < (after - 1)->end;
        return inside ? (after - 1)->begin : code_point_boundary(text_, at);
    }

    std::string_view text_;
    std::size_t length_;
    std::map<std::string, std::size_t, std::less<>> number_of_;  // of the question's terms
    std::vector<std::string> terms_;
    std::vector<match> matches_;
    std::vector<std::size_t> sentences_;  // where they begin, and the end of the text
    std::vector<byte_span> words_;
};

}  // namespace detail

inline passage snippet(std::string_view text, std::string_view question, const analyzer& words,
                       snippet_options options) {
    return detail::snippet_finder(text, question, words, options).run();
}

inline passage snippet(const unit_ref& unit, const query& question, const analyzer& words, snippet_options options) {
    std::string asked(question.text());
    for (const std::string& term : question.required()) asked += ' ' + term;
    for (const std::string& phrase : question.phrases()) asked += ' ' + phrase;
    return snippet(unit.text(), asked, words, options);
}

}  // namespace QUARRY_NAMESPACE
