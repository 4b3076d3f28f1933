// Step by step: the parts of a question one after the other, each with the answers of those before it.
//
//     search | step_by_step(decompose(model), model)
//
// "In which year was the author of the novel behind Blade Runner born?" is "Who wrote the novel behind Blade Runner?"
// and "In which year was #1 born?". The first part is searched for, a model answers it from what was found, and the
// answer takes the place of #1 in the second. What all parts and the question itself found is fused by rank.
//
// A part is answered only where a later one refers to it. The model reads no unit that filter and scope do not let
// through. Without an answer ("unknown", prose without end, a failure) the reference stays as it is and the search goes
// on; where the model fails altogether the question is searched as it was asked, and the result is `degraded`.
#pragma once

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/prompt.hpp"
#include "../model/reply.hpp"
#include "../probe/decompose.hpp"
#include "../rank/fuse.hpp"
#include "../rank/fused_lists.hpp"
#include "probed.hpp"

namespace QUARRY_NAMESPACE {

struct step_options {
    std::size_t read = 3;              // units of a part that the model answers from
    std::size_t most_bytes = 2000;     // of each of them that it is shown
    std::size_t longest_answer = 200;  // bytes; a longer answer is none
    rrf fusion{};                      // its weights are not used
    float original_weight = 1.0f;      // the question's own list; it is always searched
    float part_weight = 1.0f;
    bool fail_quietly = true;  // search plainly where a model throws; false: its exception is the caller's
};

namespace detail {

/// A short answer read from a reply, or nothing where the model knows none.
inline std::optional<std::string> short_answer(const completion& reply, std::size_t longest,
                                               std::span<const std::string> labels) {
    text_rules rules{.most_bytes = longest};
    rules.labels = labels;
    text_reply read = read_text(reply, rules);
    std::string text(trimmed(first_line(read.text)));
    // A number is an answer, though read_text finds no letter in it.
    const bool says_something = std::ranges::any_of(text, [](char c) { return in_identifier(c); });
    if (!says_something || read.seen.has(noticed::over_limit) || read.seen.has(noticed::refusal) ||
        read.seen.has(noticed::loop))
        return std::nullopt;
    while (!text.empty() && (text.back() == '.' || text.back() == '!')) text.pop_back();
    if (equal_ignoring_case(text, "unknown")) return std::nullopt;
    return text;
}

}  // namespace detail

template <Retriever Base, Generator G, Generator Answerer>
class step_by_step_retriever : public retriever_interface<step_by_step_retriever<Base, G, Answerer>> {
 public:
    using scale = rrf_scale;

    step_by_step_retriever(Base base, decompose_prober<G> prober, Answerer answerer, step_options options)
        : base_(std::move(base)), prober_(std::move(prober)), answerer_(std::move(answerer)), options_(options) {
        options_.fusion.check();
        const float weights[] = {options_.original_weight, options_.part_weight};
        detail::checked_weights(weights, 2);
        writer_.system(
            "You answer a question from the passages given, with a name, a number or a few words: no sentence, no "
            "remark. "
            "If they do not hold the answer, write: unknown");
        writer_.share();
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        const std::size_t fetch = (std::max)(k, options_.fusion.fetch);
        const bool plain = q.asked().example() || detail::trimmed(q.text()).empty();
        std::vector<detail::leg_list> lists;
        lists.push_back(detail::list_of(base_.run(q, fetch), fetch, options_.original_weight));
        bool degraded = false;
        if (!plain) {
            const std::vector<std::string> parts = parts_of(q, degraded);
            std::vector<std::optional<std::string>> answers;
            bool unsearched = false;
            for (std::size_t i = 0; i < parts.size() && !unsearched; ++i)
                detail::attempt(q, {&options_, stage_name, options_.fail_quietly}, unsearched, [&] {
                    request child = q.narrowed(nullptr, resolved(parts[i], answers));
                    const auto found = base_.run(child, fetch);
                    lists.push_back(detail::list_of(found, fetch, options_.part_weight));
                    answers.push_back(is_needed(parts, i) ? answer(q, child, found, degraded) : std::nullopt);
                });
            degraded = degraded || unsearched;
            q.tell({trace_code::probed, stage_name, parts.size(), lists.size()});
        }
        auto out = detail::fused_lists(q, options_.fusion, lists, k);
        if (degraded) out.state = result_state::degraded;
        return out;
    }

 private:
    static constexpr std::string_view stage_name = "step by step";

    std::vector<std::string> parts_of(request& q, bool& degraded) const {
        std::vector<std::string> out;
        detail::attempt(q, {&prober_, stage_name, options_.fail_quietly}, degraded, [&] {
            question asked(q);
            question_parts read = prober_.parts(asked);
            for (const probe_note& note : read.notes) q.remark(stage_name, to_string(note));
            out = std::move(read.parts);
        });
        return out;
    }

    static bool is_needed(const std::vector<std::string>& parts, std::size_t i) {
        return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end(),
                           [&](const std::string& part) {
                               const auto references = references_in(part);
                               return std::ranges::find(references, i + 1) != references.end();
                           });
    }

    template <class Found>
    std::optional<std::string> answer(request& q, request& child, const Found& found, bool& degraded) const {
        if (found.empty()) return std::nullopt;
        prompt_writer w(writer_);
        for (std::size_t i = 0; i < (std::min)(found.size(), options_.read); ++i)
            w.data("passage", detail::clipped(source().text(found[i].unit), options_.most_bytes));
        const prompt asked = w.data("question", child.text()).say("The answer:").finish();
        std::optional<std::string> out;
        detail::attempt(child, {&answerer_, stage_name, options_.fail_quietly}, degraded, [&] {
            question paid(child);
            out = detail::short_answer(paid.reply(token_.get(), answerer_, asked), options_.longest_answer,
                                       asked.labels());
        });
        q.remark(stage_name, detail::concat(detail::quoted(child.text()), ": ", out ? *out : "no answer"));
        return out;
    }

    Base base_;
    decompose_prober<G> prober_;
    Answerer answerer_;
    step_options options_;
    prompt_writer writer_{"step_by_step/1"};
    detail::identity_token token_;
};

/// Searches for the question and its parts, in sequence, and fuses the lists by rank. The generators are copied.
///
/// Order   score descending, then unit id.
/// Cost    one call for the parts, one for each part that a later one refers to; one search of the base for each part
/// and
///         one for the question.
/// Errors  usage_error `fuse.weights`, `fuse.constant`; `cancelled`; with `fail_quietly` off, those of the generators.
template <Generator G, Generator Answerer>
auto step_by_step(decompose_prober<G> prober, Answerer answerer, step_options options = {}) {
    return stage{[prober = std::move(prober), answerer = std::move(answerer), options]<Retriever Base>(Base base) {
        return step_by_step_retriever<Base, G, Answerer>(std::move(base), prober, answerer, options);
    }};
}

}  // namespace QUARRY_NAMESPACE
