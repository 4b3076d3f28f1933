// Hypothetical answer (HyDE): search by what an answer would look like.
//
//     fuse(rrf{}, lexical(kb.bm25), dense(kb.vectors, embed) | narrowed_by(hypothetical_answer(model)))
//
// A model writes passages that would answer the question; a search by meaning uses the mean of their rows and the
// question's own. The passages may be wrong, and often are: only their neighbourhood is used, none of them is shown. A
// search by words goes by the question alone.
//
// With `narrowed_by` the mean takes the place of the question, as in the paper; with `probed_by` the plain question is
// searched as well and the two lists are fused. The surprising thing: the better the embedder, the smaller the gain; a
// small model's passage beside a strong embedder does harm. Measure before you pay.
//
// Source  Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022 (arXiv 2212.10496): mean of N
//         passages and the question, N = 8 at temperature .7.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/prompt.hpp"
#include "../model/reply.hpp"
#include "../model/word_runs.hpp"
#include "query_prober.hpp"
#include "rewrite.hpp"

namespace QUARRY_NAMESPACE {

struct hypothetical_answer_options {
    std::size_t passages = 1;  // one call each; more than one is worth it only where the model answers at a temperature
    std::size_t words = 60;    // asked for
    float weight = 1.0f;       // of the list, with probed_by
    std::string about{};       // what the collection holds, in a few words for the model
};

/// How a reply is read as a passage for `question`: what merely returns it is no passage.
text_rules hypothetical_answer_rules(std::string_view question, const known_runs& runs);

/// A passage that is not usable is left out; without any, the question is searched for by itself. Notes say why.
///
/// Cost    `passages` calls of the generator; the same question is asked once a request.
/// Errors  those of the generator; `cancelled`.
template <Generator G>
class hypothetical_answer_prober {
 public:
    hypothetical_answer_prober(G generator, hypothetical_answer_options options)
        : generator_(std::move(generator)), options_(std::move(options)), writer_("hypothetical_answer/1") {
        detail::require_count(options_.passages, "hypothetical_answer");
        writer_.system(detail::concat(
            "You write a passage as it might stand in a document of the collection: one that answers the question, or "
            "supports the claim, in about ",
            options_.words,
            " words. It need not be true, but it must read like the real "
            "thing: use the words such a document would use. Reply with the passage alone."));
        if (!options_.about.empty()) writer_.data("collection", options_.about);
        writer_.share();
    }

    probed_query operator()(question& q) const {
        const known_runs runs(q.text());
        probed_query out;
        probe mean{std::string(q.text()), options_.weight};
        for (std::size_t i = 0; i < options_.passages; ++i) {
            prompt_writer w(writer_);
            w.data("question", q.text());
            if (options_.passages > 1) w.say(detail::concat("Version ", i + 1, " of ", options_.passages, '.'));
            const prompt asked = w.say("The passage:").finish();
            text_rules rules = hypothetical_answer_rules(q.text(), runs);
            rules.labels = asked.labels();
            const text_reply read = read_text(q.reply(token_.get(), generator_, asked), rules);
            if (!read.seen.none()) out.notes.push_back({probe_code::noticed, read.seen.names()});
            if (read.usable)
                mean.imagined.push_back(read.text);
            else
                out.notes.push_back({probe_code::original, detail::quoted(read.text)});
        }
        out.complete = mean.imagined.size() == options_.passages;
        out.probes.push_back(std::move(mean));
        return out;
    }

 private:
    G generator_;
    hypothetical_answer_options options_;
    prompt_writer writer_;
    detail::identity_token token_;
};

/// The generator is copied; `ref(g)` shares a large one.
///
/// Errors  usage_error `probe.count`.
template <Generator G>
hypothetical_answer_prober<G> hypothetical_answer(G generator, hypothetical_answer_options options = {}) {
    return hypothetical_answer_prober<G>(std::move(generator), std::move(options));
}

// ------------------------------------------------------------------------------------------------------------- detail

inline text_rules hypothetical_answer_rules(std::string_view question, const known_runs& runs) {
    text_rules rules;
    rules.prompt = &runs;
    rules.passage = question;
    return rules;
}

}  // namespace QUARRY_NAMESPACE
