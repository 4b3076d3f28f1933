// Step back: one more general question, whose answer is the background of the one that was asked.
//
//     search | probed_by(step_back(model), {.original_weight = 2.0f})
//
// Both are searched for, and both lists fused. For questions whose answer needs a principle ("why does the pressure
// double ...") rather than a page that says it.
//
// Source  Zheng et al., "Take a Step Back", 2023 (arXiv 2310.06117). Theirs shows the model pairs of examples, ours
//         tells it in words; `examples` adds pairs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/prompt.hpp"
#include "../model/reply.hpp"
#include "query_prober.hpp"
#include "rewrite.hpp"

namespace QUARRY_NAMESPACE {

struct step_back_options {
    float weight = 1.0f;                                          // of the more general question's list
    std::vector<std::pair<std::string, std::string>> examples{};  // a question, and a more general one
    std::string about{};  // what the collection holds, in a few words for the model
};

/// A reply without a question, or with the question itself, leaves the question alone; a note says so.
///
/// Cost    one call of the generator; the same question is asked once a request.
/// Errors  those of the generator; `cancelled`.
template <Generator G>
class step_back_prober {
 public:
    step_back_prober(G generator, step_back_options options)
        : generator_(std::move(generator)), options_(std::move(options)), writer_("step_back/1") {
        writer_.system(
            "You read a question and ask another: a more general one, whose answer gives the background that is needed "
            "to "
            "answer the first. Reply with that one question on one line and nothing else; do not answer it.");
        if (!options_.about.empty()) writer_.data("collection", options_.about);
        for (const auto& [specific, general] : options_.examples)
            writer_.data("question", specific).data("general", general);
        writer_.share();
    }

    probed_query operator()(question& q) const {
        const prompt asked =
            prompt_writer(writer_).data("question", q.text()).say("The more general question:").finish();
        const completion reply = q.reply(token_.get(), generator_, asked);
        question_rules rules{.asked = 1};
        rules.labels = asked.labels();
        // A more general question need not hold the words of the narrow one.
        return propose_texts(q.text(), read_questions(reply, rules),
                             {.most = 1, .weight = options_.weight, .lost = lost_words_policy::allow});
    }

 private:
    G generator_;
    step_back_options options_;
    prompt_writer writer_;
    detail::identity_token token_;
};

/// The generator is copied; `ref(g)` shares a large one.
template <Generator G>
step_back_prober<G> step_back(G generator, step_back_options options = {}) {
    return step_back_prober<G>(std::move(generator), std::move(options));
}

}  // namespace QUARRY_NAMESPACE
