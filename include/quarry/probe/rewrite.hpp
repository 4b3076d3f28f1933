// Rewrite: the same question in other words, from a model. Also called multi-query, and with its fusion RAG-Fusion.
//
//     search | probed_by(rewrite(model, {.count = 4}))
//
// The question itself is always searched too; lists are fused by rank and never joined end to end. What the model wrote
// goes through read_questions: keywords are welcome, an answer is not, and the question in other letters is dropped.
//
// The surprising thing: rewrites lose the one word that finds the page. Quoted words and identifiers of the question
// (kept_words) that a rewrite lacks are put behind it.
#pragma once

#include <algorithm>
#include <cstdint>
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
#include "kept_words.hpp"
#include "query_prober.hpp"

namespace QUARRY_NAMESPACE {

/// What is done with a rewrite in which quoted words or identifiers of the question are missing.
enum class lost_words_policy : std::uint8_t {
    append,  // they are put behind it
    drop,    // it is not searched for
    allow,   // it is taken as it is
};

struct rewrite_options {
    std::size_t count = 3;  // at least 1
    float weight = 1.0f;    // of a rewrite's list; the question's own is probe_options::original_weight
    lost_words_policy lost = lost_words_policy::append;
    std::string about{};  // what the collection holds, in a few words for the model
};

/// What becomes of texts that a model proposed in place of `question`: at most `most` of them, none that says the same
/// as the question or goes round in circles, and no statement with a full stop where a question was asked, since that
/// is an answer.
///
/// Notes what was left out (`original`, `duplicate`), what a reader noticed (`noticed`), and `unreadable` if nothing is
/// left of a reply that holds anything. Without a text that is left there is no probe, and `complete` is false.
struct proposed_text_rules {
    std::size_t most = 3;
    float weight = 1.0f;
    lost_words_policy lost = lost_words_policy::append;
};
probed_query propose_texts(std::string_view question, const question_reply& read, const proposed_text_rules& rules);

namespace detail {

inline void require_count(std::size_t count, std::string_view what) {
    if (count == 0) raise<usage_error>("probe.count", concat("quarry::", what, ": count is 0, it must be at least 1"));
}

}  // namespace detail

/// Const calls may overlap if the generator's may.
///
/// Cost    one call of the generator; the same question is asked once a request.
/// Errors  those of the generator; `cancelled`.
template <Generator G>
class rewrite_prober {
 public:
    rewrite_prober(G generator, rewrite_options options)
        : generator_(std::move(generator)), options_(std::move(options)), writer_("rewrite/1") {
        detail::require_count(options_.count, "rewrite");
        writer_.system(detail::concat(
            "You put a question into other words, so that a search finds what was written with words unlike its own. "
            "Write ",
            options_.count,
            " versions of it, one on a line and nothing else: no numbers, no remarks, no answer. "
            "Keep its meaning, and keep names, numbers, codes and quoted words exactly as they are."));
        if (!options_.about.empty()) writer_.data("collection", options_.about);
        writer_.share();
    }

    probed_query operator()(question& q) const {
        const prompt asked = prompt_writer(writer_).data("question", q.text()).say("Its versions:").finish();
        const completion reply = q.reply(token_.get(), generator_, asked);
        question_rules rules{.asked = options_.count};
        rules.labels = asked.labels();
        rules.statements = true;
        return propose_texts(q.text(), read_questions(reply, rules),
                             {.most = options_.count, .weight = options_.weight, .lost = options_.lost});
    }

 private:
    G generator_;
    rewrite_options options_;
    prompt_writer writer_;
    detail::identity_token token_;
};

/// The generator is copied; `ref(g)` shares a large one.
///
/// Errors  usage_error `probe.count`.
template <Generator G>
rewrite_prober<G> rewrite(G generator, rewrite_options options = {}) {
    return rewrite_prober<G>(std::move(generator), std::move(options));
}

// ------------------------------------------------------------------------------------------------------------- detail

inline probed_query propose_texts(std::string_view question, const question_reply& read,
                                  const proposed_text_rules& rules) {
    probed_query out;
    if (!read.seen.none()) out.notes.push_back({probe_code::noticed, read.seen.names()});
    const std::vector<std::string> kept = kept_words(question);
    const std::vector<std::uint64_t> own = detail::word_numbers(question);
    const bool asks = detail::ends_as_question(detail::trimmed(question));
    std::size_t repeated = 0;
    for (const std::string& text : read.questions) {
        if (out.probes.size() == rules.most) break;
        if (detail::word_numbers(text) == own) {
            ++repeated;
            out.notes.push_back({probe_code::duplicate, text});
            continue;
        }
        const bool answers = asks && !detail::ends_as_question(text) && detail::ends_a_sentence(text);
        if (answers || detail::most_repeated_run(text, 5) >= 3) {
            out.notes.push_back({probe_code::original, detail::quoted(text)});
            continue;
        }
        const std::vector<std::string> lost = lost_words(kept, text);
        if (!lost.empty() && rules.lost == lost_words_policy::drop) {
            out.notes.push_back(
                {probe_code::original, detail::concat(detail::quoted(text), " without ", lost.front())});
            continue;
        }
        std::string whole = text;
        if (rules.lost == lost_words_policy::append)
            for (const std::string& word : lost) whole += detail::concat(' ', word);
        out.probes.push_back({std::move(whole), rules.weight});
    }
    out.complete = !out.probes.empty() || repeated != 0;
    if (read.questions.empty()) out.notes.push_back({probe_code::unreadable, "nothing to search for in the reply"});
    return out;
}

}  // namespace QUARRY_NAMESPACE
