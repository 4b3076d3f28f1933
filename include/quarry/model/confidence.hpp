// Confidence: how sure a model is of what it wrote, from its tokens, from its own word, or from how often it says the
// same.
//
// The three are not worth the same. On recorded replies of a small model, stated confidence tells questions with the
// passage from those without with an area under the curve of .58; the least log-probability of the first line does with
// .81, and that of the answer's tokens with .89. Where log-probabilities are to be had, use them.
//
// Source  for masking, spans and comparators: Jiang et al., "Active Retrieval Augmented Generation" (FLARE), EMNLP
// 2023,
//         and its code. The paper retrieves for a probability below the limit, the code for one at it as well.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"
#include "../text/boundaries.hpp"
#include "completion.hpp"
#include "reply.hpp"
#include "word_runs.hpp"

namespace QUARRY_NAMESPACE {

/// When a probability is too low: below the limit, as the paper has it, or at it too, as its code.
enum class doubt_rule : std::uint8_t { below, at_or_below };

struct doubt_options {
    float limit = 0.8f;  // 0 with `below`: nothing is doubtful; 1: nearly everything
    doubt_rule rule = doubt_rule::below;
    bool marks_too = false;  // tokens of punctuation and space alone can be doubtful as well
};

bool is_doubtful(const scored_token& token, const doubt_options& options) noexcept;
bool is_doubtful(std::span<const scored_token> tokens, const doubt_options& options) noexcept;  // any of them

/// The least log-probability; 0 for no tokens.
float least_log_probability(std::span<const scored_token> tokens) noexcept;

/// The tokens joined, without those of probability at most `limit`, runs of space made one.
std::string without_doubtful(std::span<const scored_token> tokens, float limit);

/// Runs of tokens with a probability below `limit`, [first, last): doubtful tokens fewer than `gap` apart are one run,
/// and each run goes on for `pad` tokens.
std::vector<std::pair<std::size_t, std::size_t>> doubtful_runs(std::span<const scored_token> tokens, float limit,
                                                               std::size_t gap = 5, std::size_t pad = 0);

/// The tokens that bytes [begin, end) of their joined text lie in.
std::span<const scored_token> tokens_of(std::span<const scored_token> tokens, std::size_t begin,
                                        std::size_t end) noexcept;

/// A confidence from 1 to `most` that a model states of itself, or nothing.
///
/// Read are "4", "4/5", "4 out of 5", "**4**", "Confidence: 4", "I would say 4.", "4 (since ...)". Nothing comes of
/// ranges, of more than one number, of fractions, of numbers out of range or out of another most ("8 out of 10"), of
/// percentages and of words. Nothing means: no confidence.
std::optional<int> read_stated_confidence(const completion& reply, int most = 5);

/// The share of the other samples that say much the same as the first: at least half of all their words in common.
/// 1 for a single sample, 0 for none.
float agreement(std::span<const std::string> samples);

/// The first sentence of a text, of at least `least` bytes if there are so many, without white space at its ends.
std::string_view first_sentence(std::string_view text, std::size_t least = 5);

/// Self-RAG's numbers: whether to retrieve, and how good a segment is.
///
/// Source  Asai et al., 2023. The log-probability of the segment itself is added by the caller.
struct self_rag_weights {
    double relevant = 1.0, supported = 1.0, useful = 0.5;
};
double retrieve_share(double retrieve, double no_retrieval) noexcept;  // in [0, 1]; 0 if both are 0
double self_rag_score(double relevant, double fully_supported, double partially_supported,
                      std::span<const double, 5> useful_1_to_5, const self_rag_weights& weights = {}) noexcept;

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline bool has_word_byte(std::string_view text) noexcept {
    return std::ranges::any_of(
        text, [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || static_cast<unsigned char>(c) >= 0x80; });
}

inline float probability_of(const scored_token& token) noexcept { return std::exp(token.log_probability); }

}  // namespace detail

inline bool is_doubtful(const scored_token& token, const doubt_options& options) noexcept {
    if (!options.marks_too && !detail::has_word_byte(token.text)) return false;
    const float p = detail::probability_of(token);
    return options.rule == doubt_rule::below ? !(p >= options.limit) : !(p > options.limit);  // NaN is doubtful
}

inline bool is_doubtful(std::span<const scored_token> tokens, const doubt_options& options) noexcept {
    return std::ranges::any_of(tokens, [&](const scored_token& t) { return is_doubtful(t, options); });
}

inline float least_log_probability(std::span<const scored_token> tokens) noexcept {
    float least = 0.0f;
    for (const scored_token& t : tokens) least = (std::min)(least, t.log_probability);
    return least;
}

inline std::string without_doubtful(std::span<const scored_token> tokens, float limit) {
    std::string joined;
    for (const scored_token& t : tokens)
        if (detail::probability_of(t) > limit)
            joined += t.text;
        else
            joined += ' ';
    std::string out;
    for (const char c : joined) {
        const bool space = detail::is_ascii_space(c);
        if (space && (out.empty() || out.back() == ' ')) continue;
        out += space ? ' ' : c;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

inline std::vector<std::pair<std::size_t, std::size_t>> doubtful_runs(std::span<const scored_token> tokens, float limit,
                                                                      std::size_t gap, std::size_t pad) {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    std::size_t last = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!(detail::probability_of(tokens[i]) < limit)) continue;
        const std::size_t end = (std::min)(i + pad + 1, tokens.size());
        if (!out.empty() && i - last < gap)
            out.back().second = end;
        else
            out.emplace_back(i, end);
        last = i;
    }
    return out;
}

inline std::span<const scored_token> tokens_of(std::span<const scored_token> tokens, std::size_t begin,
                                               std::size_t end) noexcept {
    std::size_t at = 0, first = tokens.size(), last = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::size_t next = at + tokens[i].text.size();
        if (at < end && begin < next) first = (std::min)(first, i), last = i + 1;
        at = next;
    }
    return first < last ? tokens.subspan(first, last - first) : tokens.first(0);
}

inline std::optional<int> read_stated_confidence(const completion& reply, int most) {
    notices seen;
    std::string_view text = detail::own_words(reply, question_rules{}, seen);
    text = detail::without_blanks(detail::without_fence(text, seen));
    if (text.size() > 200) return std::nullopt;
    // What stands in brackets is a reason.
    std::string plain;
    int depth = 0;
    for (const char c : text) {
        if (c == '(') ++depth;
        if (depth == 0) plain += detail::to_ascii_lower(c);
        if (c == ')' && depth > 0) --depth;
    }
    std::vector<std::pair<std::size_t, std::size_t>> numbers;
    for (std::size_t at = 0; at < plain.size();) {
        if (!detail::is_ascii_digit(plain[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < plain.size() && detail::is_ascii_digit(plain[at])) ++at;
        numbers.emplace_back(begin, at);
    }
    if (numbers.empty() || numbers.size() > 2) return std::nullopt;
    const auto [begin, end] = numbers.front();
    const char before = begin == 0 ? ' ' : plain[begin - 1], after = end == plain.size() ? ' ' : plain[end];
    const bool fraction = (after == '.' && end + 1 < plain.size() && detail::is_ascii_digit(plain[end + 1])) ||
                          (after == ',' && end + 1 < plain.size() && detail::is_ascii_digit(plain[end + 1]));
    if (fraction || before == '-' || before == '.' || after == '%' || after == '-' || detail::is_ascii_letter(before) ||
        detail::is_ascii_letter(after) || static_cast<unsigned char>(after) >= 0x80)
        return std::nullopt;
    const auto value = [&](std::pair<std::size_t, std::size_t> n) {
        return n.second - n.first > 4 ? 99999 : std::stoi(plain.substr(n.first, n.second - n.first));
    };
    if (numbers.size() == 2) {  // "4/5", "4 out of 5"
        const std::string_view between = detail::trimmed(std::string_view(plain).substr(end, numbers[1].first - end));
        if ((between != "/" && between != "out of" && between != "of") || value(numbers[1]) != most)
            return std::nullopt;
    }
    const int stated = value(numbers.front());
    if (stated < 1 || stated > most) return std::nullopt;
    return stated;
}

inline float agreement(std::span<const std::string> samples) {
    if (samples.empty()) return 0.0f;
    if (samples.size() == 1) return 1.0f;
    const auto words = [](std::string_view text) {
        auto all = detail::word_numbers(text);
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    };
    const auto first = words(samples.front());
    std::size_t alike = 0;
    for (const std::string& other : samples.subspan(1)) {
        const auto theirs = words(other);
        std::vector<std::uint64_t> common;
        std::ranges::set_intersection(first, theirs, std::back_inserter(common));
        alike += 2 * common.size() >= first.size() + theirs.size() - common.size() && !common.empty();
    }
    return static_cast<float>(alike) / static_cast<float>(samples.size() - 1);
}

inline std::string_view first_sentence(std::string_view text, std::size_t least) {
    text = detail::trimmed(text);
    std::size_t end = 0;
    for_each_sentence(text, [&](std::size_t, std::size_t here) {
        if (end == 0 || detail::trimmed(text.substr(0, end)).size() < least) end = here;
    });
    return detail::trimmed(text.substr(0, end));
}

inline double retrieve_share(double retrieve, double no_retrieval) noexcept {
    const double both = retrieve + no_retrieval;
    return both > 0.0 ? retrieve / both : 0.0;
}

inline double self_rag_score(double relevant, double fully_supported, double partially_supported,
                             std::span<const double, 5> useful_1_to_5, const self_rag_weights& weights) noexcept {
    constexpr double worth[] = {-1.0, -0.5, 0.0, 0.5, 1.0};
    double useful = 0.0;
    for (std::size_t i = 0; i < 5; ++i) useful += worth[i] * useful_1_to_5[i];
    return weights.relevant * relevant + weights.supported * (fully_supported + 0.5 * partially_supported) +
           weights.useful * useful;
}

}  // namespace QUARRY_NAMESPACE
