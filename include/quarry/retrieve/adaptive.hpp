// Adaptive: retrieve while writing, and only where the model is not sure. Also called active retrieval, or FLARE.
//
//     const auto writer = adaptive(search, model, {.passages = 3});
//     const auto answer = writer.answer("How long does the hub blink after an update?");
//
// The answer is written sentence by sentence. A draft of the next sentence is made without new passages; if the model
// is sure of it, it stays; if not, what the draft says is searched for, and the sentence is written again with what was
// found before it. How sure the model is: by the log-probabilities of its tokens where the generator hands them over
// (this is FLARE), else by what it says of itself or by how often it says the same. A route says beforehand whether to
// retrieve never, once, or as often as needed.
//
// Not a retriever: it writes. Everything it reads came through filter and scope. Rounds, searches and the size of every
// prompt are bounded; a model that fails, falls silent or repeats itself ends the answer with what there is.
//
// The surprising thing: what a model says of its own certainty is worth little (see model/confidence.hpp). A reply that
// cannot be read counts as not sure: then too is searched for.
//
// Source  Jiang et al., "Active Retrieval Augmented Generation", EMNLP 2023; limit .8, mask .4, 2 to 5 passages.
// Routes:
//         Jeong et al., "Adaptive-RAG", NAACL 2024.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/attempt.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/text.hpp"
#include "../model/confidence.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/plan.hpp"
#include "../model/prompt.hpp"
#include "../model/reply.hpp"
#include "../rank/fuse.hpp"
#include "../rank/fused_lists.hpp"

namespace QUARRY_NAMESPACE {

/// How often a question is worth a search.
enum class route : std::uint8_t {
    none,    // the model answers from what it knows
    single,  // one search, then the answer
    steps,   // a search wherever the draft is doubtful
};

/// The route that a router's label names ("none", "single", "steps", or A, B, C as in the paper); `single` for any
/// other.
route route_of(std::string_view label) noexcept;

/// What is searched for when a draft is doubtful.
enum class doubt_query : std::uint8_t {
    implicit_mask,      // the draft without its doubtful tokens
    explicit_question,  // a question for each run of doubtful tokens, written by the model
    sentence,           // the draft as it is
};

/// Where the generator gives no log-probabilities.
enum class certainty : std::uint8_t {
    stated,     // the model rates its draft from 1 to 5
    agreement,  // several drafts are compared; only with a model that answers at a temperature
};

struct adaptive_options {
    doubt_options doubt{};  // limit .8, below it
    float mask = 0.4f;      // tokens at most as probable are not searched for
    doubt_query query = doubt_query::implicit_mask;
    certainty without_tokens = certainty::stated;
    int sure_from = 4;         // stated confidence
    std::size_t samples = 3;   // drafts that are compared, the first included
    float agree_from = 0.6f;   // share of the others that must say the same
    std::size_t passages = 3;  // that a sentence is written with
    std::size_t prompt_tokens =
        3000;  // of every prompt, as `count` counts; passages give way first, then old sentences
    token_counter count = approximate_tokens{};
    std::size_t most_rounds = 10;                              // sentences
    std::size_t most_searches = 5;                             // beyond the first
    std::function<route(std::string_view question)> router{};  // null: `steps`
    bool search_first = true;  // with `steps`, one search for the question before the first sentence
    rrf fusion{};              // of what all searches found
};

/// One sentence of the answer and how it came about.
struct adaptive_step {
    std::string draft{};
    std::string sentence{};        // what stands in the answer
    std::optional<float> doubt{};  // least log-probability, stated confidence, or agreement; nothing: unreadable
    bool sure = true;
    std::vector<std::string> searched{};  // what was searched for
};

struct adaptive_answer {
    std::string text{};
    std::vector<adaptive_step> steps{};
    results<rrf_scale> found{};  // of all searches, each unit once
    route taken = route::steps;
    std::size_t searches = 0;
    std::size_t calls = 0;       // of the generator
    bool limit_reached = false;  // rounds, searches or the budget ended it
};

template <Retriever Base, Generator G>
class adaptive_writer {
 public:
    adaptive_writer(Base base, G generator, adaptive_options options)
        : base_(std::move(base)), generator_(std::move(generator)), options_(std::move(options)) {
        options_.fusion.check();
        if (options_.passages == 0 || options_.samples == 0 || options_.most_rounds == 0)
            detail::raise<usage_error>(
                "adaptive.options",
                detail::concat("quarry::adaptive: passages, samples and most_rounds are at least "
                               "1, given ",
                               options_.passages, ", ", options_.samples, " and ", options_.most_rounds));
    }

    /// Errors  those of the base's first search; `cancelled` for a query that was stopped. A generator that
    ///         fails, or is not paid for, ends the answer: `found.state` is then degraded.
    adaptive_answer answer(const query& asked) const {
        request q(asked, base_.source());
        q.check();
        run r{q, {}, {}, {}, {}};
        r.out.taken = options_.router ? options_.router(asked.text()) : route::steps;
        bool degraded = false;
        if (r.out.taken == route::single || (r.out.taken == route::steps && options_.search_first))
            r.shown = search(r, std::string(q.text()));
        detail::attempt(q, {&options_, stage_name}, degraded, [&] {
            if (r.out.taken == route::steps)
                write_in_steps(r);
            else
                write_at_once(r);
        });
        q.tell({trace_code::decided, stage_name, options_.most_rounds, r.out.steps.size()});
        r.out.found = detail::fused_lists(q, options_.fusion, r.lists, SIZE_MAX);
        if (degraded) r.out.found.state = result_state::degraded, r.out.limit_reached = true;
        r.out.found.attach(q);
        return std::move(r.out);
    }

 private:
    static constexpr std::string_view stage_name = "adaptive";

    struct run {
        request& q;
        adaptive_answer out;
        std::vector<detail::leg_list> lists;
        std::vector<unit_id> shown;      // the passages of the latest search
        std::vector<std::string> texts;  // everything written so far, to notice repetition
    };

    std::vector<unit_id> search(run& r, const std::string& words) const {
        request child = r.q.narrowed(nullptr, words);
        const auto found = base_.run(child, options_.passages);
        r.lists.push_back(detail::list_of(found, options_.passages, 1.0f));
        ++r.out.searches;
        std::vector<unit_id> units;
        for (const auto& h : found) units.push_back(h.unit);
        return units;
    }

    void write_at_once(run& r) const {
        const completion reply = ask(r, draft_prompt(r, true));
        r.out.text = detail::trimmed(read(reply));
        r.out.steps.push_back({.draft = r.out.text, .sentence = r.out.text});
    }

    void write_in_steps(run& r) const {
        for (std::size_t round = 0;; ++round) {
            if (round == options_.most_rounds) {
                r.out.limit_reached = true;
                return;
            }
            const prompt asked = draft_prompt(r, round == 0);
            const completion reply = ask(r, asked);
            const std::string text = read(reply);
            adaptive_step step{.draft = sentence_of(text)};
            if (is_over(r, step.draft)) return;
            judge(r, reply, asked, step);
            step.sentence = step.draft;
            if (!step.sure) rewrite(r, reply, step);
            if (is_over(r, step.sentence)) return;
            r.texts.push_back(step.sentence);
            r.out.text += (r.out.text.empty() ? "" : " ") + step.sentence;
            r.out.steps.push_back(std::move(step));
        }
    }

    // The end: nothing more to say, the model's own word for it, or what was said already.
    static bool is_over(const run& r, const std::string& sentence) {
        return !detail::has_word_byte(sentence) || sentence.starts_with("FINISHED") ||
               std::ranges::find(r.texts, sentence) != r.texts.end();
    }

    void judge(run& r, const completion& reply, const prompt& asked, adaptive_step& step) const {
        if (!reply.tokens.empty()) {
            const auto tokens = tokens_in(reply, step.draft);
            step.doubt = least_log_probability(tokens);
            step.sure = !is_doubtful(tokens, options_.doubt);
        } else if (options_.without_tokens == certainty::stated) {
            prompt_writer w("adaptive_rating/1");
            w.system(
                "You rate how sure you are that a sentence is true, from 1 (a guess) to 5 (certain). Reply with the "
                "number "
                "alone.");
            w.data("question", r.q.text()).data("sentence", step.draft).say("The number:");
            const auto stated = read_stated_confidence(ask(r, w.finish()));
            if (stated) step.doubt = static_cast<float>(*stated);
            step.sure = stated && *stated >= options_.sure_from;
        } else {
            std::vector<std::string> drafts{step.draft};
            while (drafts.size() < options_.samples) drafts.push_back(sentence_of(read(ask(r, asked))));
            step.doubt = agreement(drafts);
            step.sure = *step.doubt >= options_.agree_from;
        }
    }

    // Searches for what is doubtful and writes the sentence again. Without anything found the draft stays.
    void rewrite(run& r, const completion& reply, adaptive_step& step) const {
        const std::size_t most = options_.most_searches + (options_.search_first ? 1 : 0);
        if (r.out.searches >= most) {
            r.out.limit_reached = true;
            return;
        }
        std::vector<std::vector<unit_id>> lists;
        for (std::string& words : queries(r, reply, step)) {
            r.q.check();
            if (r.out.searches == most) {
                r.out.limit_reached = true;
                break;
            }
            lists.push_back(search(r, words));
            step.searched.push_back(std::move(words));
        }
        const std::vector<unit_id> units = interleaved(lists);
        if (units.empty()) return;
        r.shown = units;
        const std::string again = sentence_of(read(ask(r, draft_prompt(r, true))));
        if (detail::has_word_byte(again)) step.sentence = again;
    }

    // The first of each list, then the second of each, every unit once.
    static std::vector<unit_id> interleaved(const std::vector<std::vector<unit_id>>& lists) {
        std::vector<unit_id> out;
        std::size_t longest = 0;
        for (const auto& list : lists) longest = (std::max)(longest, list.size());
        for (std::size_t i = 0; i < longest; ++i)
            for (const auto& list : lists)
                if (i < list.size() && std::ranges::find(out, list[i]) == out.end()) out.push_back(list[i]);
        return out;
    }

    std::vector<std::string> queries(run& r, const completion& reply, const adaptive_step& step) const {
        const auto tokens = tokens_in(reply, step.draft);
        std::vector<std::string> out;
        if (options_.query == doubt_query::explicit_question && !tokens.empty()) {
            for (const auto& [begin, end] : doubtful_runs(tokens, options_.doubt.limit)) {
                std::string words;
                for (std::size_t i = begin; i < end; ++i) words += tokens[i].text;
                if (!detail::has_word_byte(words)) continue;
                prompt_writer w("adaptive_question/1");
                w.system(
                    "You write a question whose answer is the part of a sentence that is given. Reply with the "
                    "question alone.");
                w.data("topic", r.q.text()).data("sentence", step.draft).data("part", detail::trimmed(words));
                const prompt asked = w.say("The question:").finish();
                question_rules rules{.most = 1};
                rules.labels = asked.labels();
                const question_reply read = read_questions(ask(r, asked), rules);
                if (read.usable()) out.push_back(read.questions.front());
            }
        } else if (options_.query == doubt_query::implicit_mask && !tokens.empty()) {
            out.push_back(without_doubtful(tokens, options_.mask));
        }
        // Where nothing is left that could be searched for: the draft, and with it what the user asked.
        std::erase_if(out, [](const std::string& words) { return !detail::has_word_byte(words); });
        if (out.empty()) out.push_back(detail::has_word_byte(step.draft) ? step.draft : std::string(r.q.text()));
        return out;
    }

    static std::span<const scored_token> tokens_in(const completion& reply, const std::string& sentence) {
        std::string joined;
        for (const scored_token& t : reply.tokens) joined += t.text;
        const std::size_t at = joined.find(sentence);
        return at == std::string::npos ? std::span<const scored_token>(reply.tokens)
                                       : tokens_of(reply.tokens, at, at + sentence.size());
    }

    completion ask(run& r, const prompt& p) const {
        if (const std::size_t tokens = options_.count(p.whole()); tokens > options_.prompt_tokens)
            detail::raise<cancelled>("budget.prompt_tokens",
                                     detail::concat("quarry::adaptive: a prompt may have ", options_.prompt_tokens,
                                                    " tokens, the smallest that can be written has ", tokens));
        r.q.pay({.calls = 1, .tokens = r.q.tokens_of(p.whole())});
        ++r.out.calls;
        return generate(generator_, p, r.q.asked().stop_token());
    }

    // A novel without a full stop is no sentence.
    static std::string sentence_of(const std::string& text) {
        return std::string(detail::clipped(first_sentence(text), 1000));
    }

    static std::string read(const completion& reply) {
        notices seen;
        text_rules rules;
        const std::string_view own = detail::own_words(reply, rules, seen);
        return std::string(detail::without_answer_label(detail::without_preamble(own, seen), seen));
    }

    // Never more than prompt_tokens: passages are left out from the last on, the first is shortened, then the oldest
    // sentences go.
    prompt draft_prompt(const run& r, bool with_passages) const {
        std::vector<unit_id> passages;
        if (with_passages)
            passages.assign(r.shown.begin(), r.shown.begin() + static_cast<std::ptrdiff_t>(
                                                                   (std::min)(r.shown.size(), options_.passages)));
        std::vector<std::string> written = r.texts;
        std::size_t most_bytes = passages.empty() ? 0 : base_.source().text(passages.front()).size();
        for (;;) {
            const prompt p = prompt_of(r, passages, most_bytes, written);
            if (options_.count(p.whole()) <= options_.prompt_tokens) return p;
            if (passages.size() == 1 && most_bytes > 64)
                most_bytes /= 2;
            else if (!passages.empty())
                passages.pop_back();
            else if (!written.empty())
                written.erase(written.begin());
            else
                return p;
        }
    }

    prompt prompt_of(const run& r, const std::vector<unit_id>& passages, std::size_t most_bytes,
                     const std::vector<std::string>& written) const {
        prompt_writer w("adaptive/1");
        w.system(
            "You answer a question, sentence by sentence, from the passages where they hold the answer. Go on where "
            "the "
            "answer so far ends, without repeating it. If there is nothing to add, write: FINISHED");
        for (std::size_t i = 0; i < passages.size(); ++i)
            w.say(detail::concat('[', i + 1, ']'))
                .data("passage", detail::clipped(base_.source().text(passages[i]), i == 0 ? most_bytes : SIZE_MAX));
        w.data("question", r.q.text());
        std::string so_far;
        for (const std::string& s : written) so_far += (so_far.empty() ? "" : " ") + s;
        if (!so_far.empty()) w.data("answer", so_far);
        return w.say("The next sentence:").finish();
    }

    Base base_;
    G generator_;
    adaptive_options options_;
};

/// A writer over `base`. The generator is copied; `ref(g)` shares a large one.
///
/// Cost    with `single` one search and one call. With `steps` a round is one call for the draft, one or `samples` - 1
///         more to rate it without log-probabilities, and where it is doubtful the searches and one call to write anew.
/// Errors  usage_error `adaptive.options`, `fuse.constant`.
template <Retriever Base, Generator G>
adaptive_writer<Base, G> adaptive(Base base, G generator, adaptive_options options = {}) {
    return adaptive_writer<Base, G>(std::move(base), std::move(generator), std::move(options));
}

// ------------------------------------------------------------------------------------------------------------- detail

inline route route_of(std::string_view label) noexcept {
    label = detail::trimmed(label);
    if (detail::equal_ignoring_case(label, "none") || detail::equal_ignoring_case(label, "a")) return route::none;
    if (detail::equal_ignoring_case(label, "steps") || detail::equal_ignoring_case(label, "c")) return route::steps;
    return route::single;
}

}  // namespace QUARRY_NAMESPACE
