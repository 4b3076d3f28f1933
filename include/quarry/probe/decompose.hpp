// Decompose: a question of several parts becomes the questions it is made of.
//
//     search | probed_by(decompose(model))              all parts at once, lists fused
//     search | step_by_step(decompose(model), model)    one after the other (retrieve/step_by_step.hpp)
//
// In the second form a part may need the answer of an earlier one and says so by its number: "Who wrote the novel
// behind Blade Runner?", "In which year was #1 born?". In the first form such a part is searched for with the reference
// taken out, since nobody knows the answer yet.
//
// Source  for parts in sequence: least-to-most prompting (Zhou et al., 2022) and self-ask (Press et al., 2022).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/prompt.hpp"
#include "../model/reply.hpp"
#include "query_prober.hpp"
#include "rewrite.hpp"

namespace QUARRY_NAMESPACE {

struct decompose_options {
    std::size_t count = 4;  // parts at most; at least 1
    float weight = 1.0f;    // of a part's list
    std::string about{};    // what the collection holds, in a few words for the model
};

/// The parts of a question as a model wrote them, references and all. Empty: the question is simple, or the reply was.
struct question_parts {
    std::vector<std::string> parts{};
    std::vector<probe_note> notes{};
};

/// The numbers n of references #n in `part`, each once, ascending. "#0" and numbers of more than three digits are none.
std::vector<std::size_t> references_in(std::string_view part);

/// `part` with #n replaced by answer n, from 1. A reference whose answer is missing or empty stays as it is.
std::string resolved(std::string_view part, std::span<const std::optional<std::string>> answers);

/// Cost    one call of the generator; the same question is asked once a request.
/// Errors  those of the generator; `cancelled`.
template <Generator G>
class decompose_prober {
 public:
    decompose_prober(G generator, decompose_options options)
        : generator_(std::move(generator)), options_(std::move(options)), writer_("decompose/1") {
        detail::require_count(options_.count, "decompose");
        writer_.system(detail::concat(
            "You split a question into the simpler questions that must be answered first, at most ", options_.count,
            ". Write one on a line, in the order in which they can be answered, and nothing else: no numbers, no "
            "remarks, "
            "no answers. Where one needs the answer of an earlier one, write #1 for the answer of the first, #2 for "
            "that "
            "of the second. If the question is simple already, write: none"));
        if (!options_.about.empty()) writer_.data("collection", options_.about);
        writer_.share();
    }

    question_parts parts(question& q) const {
        const prompt asked = prompt_writer(writer_).data("question", q.text()).say("The simpler questions:").finish();
        const completion reply = q.reply(token_.get(), generator_, asked);
        if (detail::equal_ignoring_case(detail::trimmed(reply.text), "none")) return {};
        question_rules rules;
        rules.labels = asked.labels();
        probed_query read = propose_texts(q.text(), read_questions(reply, rules),
                                          {.most = options_.count, .lost = lost_words_policy::allow});
        question_parts out{.notes = std::move(read.notes)};
        for (probe& p : read.probes) out.parts.push_back(std::move(p.text));
        return out;
    }

    probed_query operator()(question& q) const {
        question_parts read = parts(q);
        probed_query out{.notes = std::move(read.notes)};
        const std::optional<std::string> nothing = " ";
        for (const std::string& part : read.parts) {
            const auto references = references_in(part);
            const std::size_t last = references.empty() ? 0 : references.back();
            const std::vector<std::optional<std::string>> blanks(last, nothing);
            const std::string text = resolved(part, blanks);
            if (detail::has_letter(text)) out.probes.push_back({text, options_.weight});
        }
        return out;
    }

 private:
    G generator_;
    decompose_options options_;
    prompt_writer writer_;
    detail::identity_token token_;
};

/// The generator is copied; `ref(g)` shares a large one.
///
/// Errors  usage_error `probe.count`.
template <Generator G>
decompose_prober<G> decompose(G generator, decompose_options options = {}) {
    return decompose_prober<G>(std::move(generator), std::move(options));
}

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// The number of a reference that stands at the beginning of `text`, and its length; 0 for none.
struct reference_mark {
    std::size_t number = 0, length = 0;
};

inline reference_mark reference_at(std::string_view text) noexcept {
    if (!text.starts_with('#')) return {};
    std::size_t at = 1, number = 0;
    while (at < text.size() && is_ascii_digit(text[at])) {
        if (at > 3) return {};
        number = 10 * number + static_cast<std::size_t>(text[at++] - '0');
    }
    if (number == 0 || (at < text.size() && is_ascii_letter(text[at]))) return {};
    return {number, at};
}

}  // namespace detail

inline std::vector<std::size_t> references_in(std::string_view part) {
    std::vector<std::size_t> out;
    for (std::size_t at = 0; at < part.size(); ++at)
        if (const auto mark = detail::reference_at(part.substr(at)); mark.number != 0) out.push_back(mark.number);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

inline std::string resolved(std::string_view part, std::span<const std::optional<std::string>> answers) {
    std::string out;
    for (std::size_t at = 0; at < part.size();) {
        const auto mark = detail::reference_at(part.substr(at));
        const bool known = mark.number != 0 && mark.number <= answers.size() && answers[mark.number - 1] &&
                           !answers[mark.number - 1]->empty();
        if (known)
            out += *answers[mark.number - 1], at += mark.length;
        else
            out += part[at++];
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
