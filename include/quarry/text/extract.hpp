// Extract: the sentences of some texts that say most of what the texts share. A summary without a model.
//
//     central_sentences(texts, {.most_tokens = 100})
//
// A sentence is as central as its words resemble those of all texts together, where a word that many sentences have
// counts less. Sentences are taken while they fit, most central first, and stand in the order of reading. One that says
// what a taken one says is passed over.
//
// The surprising thing: nothing is rephrased, so a pronoun may stand there without its person. It is for finding texts,
// where that does no harm.
//
// Source  Radev, Jing and Budzikowska, "Centroid-based summarization of multiple documents", 2000.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "analyzer.hpp"
#include "boundaries.hpp"
#include "token_counter.hpp"

namespace QUARRY_NAMESPACE {

struct central_options {
    std::size_t most_tokens = 100;
    double most_alike = 0.7;     // to a sentence that was taken: the cosine of their words; above it one is passed over
    analyzer words = english();  // stop words are left out
    std::function<std::size_t(std::string_view)> tokens = approximate_tokens{};
};

/// The most central sentences of the texts, joined by spaces. Empty if no text has a word.
///
/// If not even the most central sentence fits, as much of it as does, cut between words.
/// Order  of reading; of equally central sentences the first one counts more.
/// Cost   one pass over the texts, and for every sentence that is taken one over the words of those that are left.
inline std::string central_sentences(std::span<const std::string_view> texts, const central_options& options = {});

/// The beginning of a text in as many tokens at most: whole sentences, else whole words, else whole code points.
///
/// Cost  log(n) counts of the text.
inline std::string_view beginning(std::string_view text, std::size_t most_tokens,
                                  const std::function<std::size_t(std::string_view)>& tokens);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// A sentence as a row of words: numbers ascending, weights beside them, of length 1.
struct word_row {
    std::vector<std::uint32_t> words;
    std::vector<double> weights;

    static double product(const word_row& a, const word_row& b) noexcept {
        double sum = 0.0;
        for (std::size_t i = 0, j = 0; i < a.words.size() && j < b.words.size();) {
            if (a.words[i] < b.words[j]) ++i;
            else if (b.words[j] < a.words[i]) ++j;
            else sum += a.weights[i++] * b.weights[j++];
        }
        return sum;
    }
};

}  // namespace detail

inline std::string_view beginning(std::string_view text, std::size_t most_tokens,
                                  const std::function<std::size_t(std::string_view)>& tokens) {
    if (tokens(text) <= most_tokens) return text;
    std::size_t fits = 0, too_long = text.size();
    while (too_long - fits > 1) {
        const std::size_t middle = fits + (too_long - fits) / 2;
        if (tokens(text.substr(0, middle)) <= most_tokens) fits = middle;
        else too_long = middle;
    }
    fits = code_point_boundary(text, fits);
    std::size_t sentence = 0;
    for_each_sentence(text, [&](std::size_t, std::size_t end) {
        while (end > 0 && detail::is_ascii_space(text[end - 1])) --end;  // the blanks behind it need not fit
        if (end <= fits) sentence = end;
    });
    const std::string_view most = text.substr(0, fits);
    const std::size_t blank = most.find_last_of(" \t\r\n");
    std::string_view out = sentence != 0                   ? text.substr(0, sentence)
                           : blank != std::string_view::npos ? most.substr(0, blank)
                                                             : most;
    while (!out.empty() && detail::is_ascii_space(out.back())) out.remove_suffix(1);
    return out;
}

inline std::string central_sentences(std::span<const std::string_view> texts, const central_options& options) {
    std::vector<std::string_view> sentences;
    std::vector<detail::word_row> rows;
    std::unordered_map<std::string, std::uint32_t> numbers;
    std::vector<double> in_sentences;  // by word
    for (const std::string_view text : texts)
        for_each_sentence(text, [&](std::size_t begin, std::size_t end) {
            std::unordered_map<std::uint32_t, double> counted;
            const std::string_view sentence = detail::trimmed(text.substr(begin, end - begin));
            options.words(sentence, [&](const token& t) {
                if (t.stop) return;
                const auto [at, fresh] =
                    numbers.try_emplace(std::string(t.term), static_cast<std::uint32_t>(numbers.size()));
                if (fresh) in_sentences.push_back(0.0);
                counted[at->second] += 1.0;
            });
            if (counted.empty()) return;
            std::vector<std::pair<std::uint32_t, double>> sorted(counted.begin(), counted.end());
            std::ranges::sort(sorted);
            detail::word_row row;
            for (const auto& [word, count] : sorted) {
                row.words.push_back(word);
                row.weights.push_back(1.0 + std::log(count));
                in_sentences[word] += 1.0;
            }
            sentences.push_back(sentence);
            rows.push_back(std::move(row));
        });
    if (rows.empty()) return {};

    std::vector<double> centre(in_sentences.size(), 0.0);
    const double n = static_cast<double>(rows.size());
    for (detail::word_row& row : rows) {
        double squares = 0.0;
        for (std::size_t i = 0; i < row.words.size(); ++i) {
            row.weights[i] *= std::log(1.0 + n / in_sentences[row.words[i]]);
            squares += row.weights[i] * row.weights[i];
        }
        for (std::size_t i = 0; i < row.words.size(); ++i) {
            centre[row.words[i]] += row.weights[i];
            row.weights[i] /= std::sqrt(squares);
        }
    }
    std::vector<double> central(rows.size(), 0.0);
    for (std::size_t s = 0; s < rows.size(); ++s)
        for (std::size_t i = 0; i < rows[s].words.size(); ++i)
            central[s] += rows[s].weights[i] * centre[rows[s].words[i]];

    std::vector<std::size_t> taken;
    const auto order = detail::stable_order(rows.size(), [&](std::size_t a, std::size_t b) { return central[a] > central[b]; });
    const auto joined = [&] {
        std::string out;
        for (const std::size_t s : taken) (out += out.empty() ? "" : " ") += sentences[s];
        return out;
    };
    std::string out;
    for (const std::size_t s : order) {
        const auto repeats = [&](std::size_t t) {
            return detail::word_row::product(rows[s], rows[t]) > options.most_alike;
        };
        if (std::ranges::any_of(taken, repeats)) continue;
        const std::vector<std::size_t> before = taken;
        taken.insert(std::ranges::lower_bound(taken, s), s);
        std::string more = joined();
        if (options.tokens(more) <= options.most_tokens) out = std::move(more);
        else taken = before;
    }
    return out.empty() ? std::string(beginning(sentences[order[0]], options.most_tokens, options.tokens)) : out;
}

}  // namespace QUARRY_NAMESPACE
