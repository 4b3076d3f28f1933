// Pointwise: a language model says of each passage alone how well it answers the question.
//
//     search | rerank_first(pointwise(model, {.at_once = 8}), {.first = 20, .trust = 0.7f})
//
// One call a passage. A reply is read for its first number; a passage whose reply holds none gets the mean of the
// others, so that it neither rises nor sinks by it. Where no reply holds a number the judge has failed.
//
// The surprising thing: small models give the same number to nearly everything (a recorded one "1" in 16 of 20). Equal
// numbers keep the order that was with rerank_first; with rerank they would go by unit id.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/request.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"
#include "../model/concurrent.hpp"
#include "../model/embedder.hpp"
#include "../model/prompt.hpp"
#include "../model/remembered_reply.hpp"
#include "../model/reply.hpp"

namespace QUARRY_NAMESPACE {

struct pointwise_options {
    int most = 10;                  // the best score; 0 is the worst
    std::size_t at_once = 1;        // calls in flight
    std::size_t most_bytes = 2000;  // of a passage that the model is shown
};

/// The first number of a reply that does not name the scale ("from 0 to 10"), if it lies in [0, most].
struct score_reply {
    std::optional<float> score{};
    bool alone = false;  // nothing else stands in the reply, apart from "/most" and a full stop
};
score_reply read_score(const completion& reply, int most = 10);

/// A judge for rerank and rerank_first. Const calls may overlap if the generator's may.
///
/// Cost    one call of the generator a passage; the same passage is asked about once a request.
/// Errors  callable_error `pointwise.unreadable`; those of the generator; `cancelled`; usage_error `pointwise.most`.
template <Askable G>
class pointwise_judge {
 public:
    pointwise_judge(G generator, pointwise_options options)
        : generator_(std::move(generator)), options_(options), writer_("pointwise/1") {
        if (options.most < 1)
            detail::raise<usage_error>(
                "pointwise.most", detail::concat("quarry::pointwise: most must be at least 1, it is ", options.most));
        writer_.system(
            detail::concat("You judge how well a passage answers a question, or how well it supports or refutes a "
                           "claim. Reply with one "
                           "whole number from 0 (not at all) to ",
                           options.most, " (fully) and nothing else."));
    }

    std::size_t calls_for(std::size_t passages) const noexcept { return passages; }

    std::vector<float> scores(request& q, std::span<const std::string_view> passages) const {
        prompt_writer shared = writer_;
        shared.data("question", q.text()).share();
        std::vector<prompt> prompts;
        for (const std::string_view passage : passages)
            prompts.push_back(prompt_writer(shared)
                                  .data("passage", detail::clipped(passage, options_.most_bytes))
                                  .say("The number:")
                                  .finish());
        const auto replies = detail::remembered_replies(q, token_.get(), generator_, prompts, options_.at_once);
        std::vector<std::optional<float>> read;
        double sum = 0.0;
        std::size_t known = 0;
        for (const completion& reply : replies) {
            read.push_back(read_score(reply, options_.most).score);
            if (read.back()) sum += static_cast<double>(*read.back()), ++known;
        }
        if (known < passages.size())
            q.remark("rerank",
                     detail::concat("no number in ", passages.size() - known, " of ", passages.size(), " replies"));
        if (known == 0 && !passages.empty())
            detail::raise<callable_error>("pointwise.unreadable",
                                          detail::concat("quarry::pointwise: no number from 0 to ", options_.most,
                                                         " in any of ", passages.size(), " replies"));
        std::vector<float> out;
        for (const auto& score : read)
            out.push_back(score ? *score : static_cast<float>(sum / static_cast<double>(known)));
        return out;
    }

 private:
    G generator_;
    pointwise_options options_;
    prompt_writer writer_;
    detail::identity_token token_;
};

/// The generator is copied; `ref(g)` shares a large one.
template <Askable G>
pointwise_judge<G> pointwise(G generator, pointwise_options options = {}) {
    return pointwise_judge<G>(std::move(generator), options);
}

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// "0 to 10", "1-10", "0 and 10": the bytes of a scale that is named here, 0 if there is none.
inline std::size_t scale_length(std::string_view text, int most) {
    if (!text.starts_with('0') && !text.starts_with('1')) return 0;
    std::string_view rest = without_leading_blanks(text.substr(1));
    for (const std::string_view joint : {"to", "and", "-", "\xE2\x80\x93", "\xE2\x80\x94", ".."}) {
        if (!rest.starts_with(joint)) continue;
        rest = without_leading_blanks(rest.substr(joint.size()));
        const std::string end = concat(most);
        if (!rest.starts_with(end) || (rest.size() > end.size() && is_ascii_digit(rest[end.size()]))) return 0;
        return text.size() - rest.size() + end.size();
    }
    return 0;
}

}  // namespace detail

inline score_reply read_score(const completion& reply, int most) {
    notices seen;
    std::string_view text = detail::own_words(reply, question_rules{}, seen);
    text = detail::without_blanks(detail::without_fence(text, seen));
    constexpr std::string_view digits = "0123456789";
    std::size_t begin = text.find_first_of(digits);
    if (begin == std::string_view::npos) return {};
    if (const std::size_t scale = detail::scale_length(text.substr(begin), most))
        begin = text.find_first_of(digits, begin + scale);
    if (begin == std::string_view::npos) return {};
    const auto word_before = [&] {
        if (begin == 0) return false;
        const char c = text[begin - 1];
        return detail::is_ascii_letter(c) || c == '-' || c == '.' || c == ',' || c == '_';
    };
    std::size_t end = begin;
    double number = 0.0, place = 0.0;
    for (; end < text.size(); ++end) {
        const char c = text[end];
        if (detail::is_ascii_digit(c)) {
            if (end - begin > 12) return {};
            if (place == 0.0)
                number = 10 * number + (c - '0');
            else
                number += place * (c - '0'), place /= 10;
        } else if (c == '.' && place == 0.0 && end + 1 < text.size() && detail::is_ascii_digit(text[end + 1])) {
            place = 0.1;
        } else {
            break;
        }
    }
    if (word_before() || number > most) return {};
    std::string_view rest = text.substr(end);
    if (const std::string share = detail::concat('/', most); rest.starts_with(share)) rest.remove_prefix(share.size());
    if (rest.starts_with('.')) rest.remove_prefix(1);
    return {static_cast<float>(number), begin == 0 && rest.empty()};
}

}  // namespace QUARRY_NAMESPACE
