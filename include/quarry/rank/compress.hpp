// Compress: of what was found, only what the question needs. Also called contextual compression.
//
//     search | only_relevant(model, {.first = 20})            a model says yes or no to each hit
//     extract(search.retrieve(question, 5), question, model)  a model copies the sentences that are needed
//
// Nothing a model writes gets into the answer: what it copies is looked up in the unit, and the bytes of the unit are
// what is handed on. A sentence that does not stand there is left out and counted. (Compression by vectors stands in
// similarity.hpp.)
//
// The surprising thing: a small model copies half a sentence, or answers. A fragment stands for the sentence around it;
// a reply in which nothing can be found leaves the unit whole, since it says nothing about the unit.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/attempt.hpp"
#include "../core/excerpt.hpp"
#include "../core/retriever.hpp"
#include "../detail/ascii.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../model/concurrent.hpp"
#include "../model/embedder.hpp"
#include "../model/prompt.hpp"
#include "../model/remembered_reply.hpp"
#include "../model/reply.hpp"
#include "../text/boundaries.hpp"

namespace QUARRY_NAMESPACE {

/// Yes or no as a whole word, whatever the case; nothing for neither and for both.
std::optional<bool> read_yes_or_no(const completion& reply);

/// What a reply to "copy the sentences that are needed" holds.
struct extract_reply {
    bool none = false;                    // the model says that none is
    std::vector<byte_span> verbatim{};    // of the passage, in the order of the reply, each once
    std::vector<std::string> invented{};  // sentences of the reply that do not stand in the passage
    notices seen{};
};

/// Looks the sentences of a reply, or of the texts of a list, up in the passage, space aside; where one is not there,
/// what it quotes. Fewer than four letters and digits prove nothing and are passed over. `labels` as in text_rules.
///
/// Cost  linear in the passage for each sentence of the reply.
extract_reply read_extract(const completion& reply, std::string_view passage, std::span<const std::string> labels = {});

struct relevance_options {
    std::size_t first = 20;         // hits that the model is asked about at once; at least k
    std::size_t most = 100;         // hits that it is asked about at all
    std::size_t most_bytes = 2000;  // of a unit that it is shown
    std::size_t at_once = 1;        // calls in flight
    bool fail_quietly = true;       // where a call fails everything stays; false: its exception is the caller's
};

template <Retriever Base, Askable G>
class relevant_retriever : public retriever_interface<relevant_retriever<Base, G>> {
 public:
    using scale = typename Base::scale;

    relevant_retriever(Base base, G generator, relevance_options options, detail::identity_token token)
        : base_(std::move(base)), generator_(std::move(generator)), options_(options), token_(std::move(token)) {
        writer_.system(
            "You are shown a question and a passage. Is the passage of use for answering the question? Reply with YES "
            "or NO "
            "and nothing else.");
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        bool degraded = false;
        auto out = detail::widened(
            k, [&](std::size_t n) { return base_.run(q, (std::min)((std::max)(n, options_.first), options_.most)); },
            [&](std::vector<hit<scale>> hits) {
                const std::size_t before = hits.size();
                detail::attempt(q, {&options_, "relevant", options_.fail_quietly}, degraded, [&] { ask(q, hits); });
                q.tell({trace_code::compressed, "relevant", before, hits.size()});
                return hits;
            });
        if (degraded) out.state = result_state::degraded;
        return out;
    }

 private:
    void ask(request& q, std::vector<hit<scale>>& hits) const {
        prompt_writer shared = writer_;
        shared.data("question", q.text()).share();
        std::vector<prompt> prompts;
        for (const auto& h : hits)
            prompts.push_back(prompt_writer(shared)
                                  .data("passage", detail::clipped(source().text(h.unit), options_.most_bytes))
                                  .say("YES or NO:")
                                  .finish());
        const auto replies = detail::remembered_replies(q, token_.get(), generator_, prompts, options_.at_once);
        std::size_t unread = 0, next = 0;
        std::erase_if(hits, [&](const auto&) {
            const auto answer = read_yes_or_no(replies[next++]);
            unread += !answer;
            return answer && !*answer;
        });
        if (unread != 0)
            q.remark("relevant", detail::concat("neither yes nor no in ", unread, " of ", replies.size(), " replies"));
    }

    Base base_;
    G generator_;
    relevance_options options_;
    prompt_writer writer_{"relevant/1"};
    detail::identity_token token_;
};

/// Drops hits to which the model says no. A reply that says neither or both keeps its hit.
///
/// Order   unchanged; scores keep their scale. Of hits beyond `most` none comes back.
/// Cost    one call a hit, at least `first` of them; more where hits were dropped and k are wanted. The same hit is
/// asked
///         about once a request.
/// Errors  `cancelled` for a query that was stopped; with `fail_quietly` off, those of the generator.
template <Askable G>
auto only_relevant(G generator, relevance_options options = {}) {
    return stage{[generator = std::move(generator), options, token = detail::identity_token()]<Retriever Base>(
                     Base base) { return relevant_retriever<Base, G>(std::move(base), generator, options, token); }};
}

struct extract_options {
    std::size_t most_bytes = 8000;  // of a unit that the model is shown; what lies behind it is left out
    bool whole_sentences = true;    // a fragment stands for the sentence it lies in
    asking_options calls{};
};

struct extracted {
    std::vector<excerpt> excerpts{};  // in the order of the hits, within a unit in reading order, none overlapping
    std::size_t none = 0;             // units of which the model says that nothing is needed
    std::size_t whole = 0;            // units that stayed whole, since nothing in the reply stands in them
    std::size_t failed = 0;           // units that stayed whole, since their call failed
    std::size_t invented = 0;         // sentences of replies that stand nowhere
};

/// What is needed of each hit, in a call a hit.
///
/// Cost    one call a hit.
/// Errors  those of ask_all; what ended the run (`cancelled`). A call that fails leaves its unit whole.
template <Scale S, Askable G>
extracted extract(const results<S>& found, std::string_view question, const G& generator,
                  const extract_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// A text with runs of white space as one space, and where each of its bytes stood.
struct flat_text {
    std::string text;
    std::vector<std::size_t> from;

    explicit flat_text(std::string_view original) {
        for (std::size_t i = 0; i < original.size(); ++i) {
            const bool space = is_ascii_space(original[i]);
            if (space && (text.empty() || text.back() == ' ')) continue;
            text += space ? ' ' : original[i];
            from.push_back(i);
        }
    }
};

inline bool is_word_byte(char c) noexcept {
    return is_ascii_letter(c) || is_ascii_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// Where `part` stands in `whole` as whole words; npos if nowhere.
inline std::size_t find_words(std::string_view whole, std::string_view part) noexcept {
    for (std::size_t at = whole.find(part); at != std::string_view::npos; at = whole.find(part, at + 1)) {
        const std::size_t end = at + part.size();
        const bool opens = at == 0 || !is_word_byte(part.front()) || !is_word_byte(whole[at - 1]);
        const bool closes = end == whole.size() || !is_word_byte(part.back()) || !is_word_byte(whole[end]);
        if (opens && closes) return at;
    }
    return std::string_view::npos;
}

/// Spans sorted, those that overlap or touch over white space alone made one.
inline std::vector<byte_span> merged_spans(std::vector<byte_span> spans, std::string_view text) {
    sort_stably(spans, [](const byte_span& a, const byte_span& b) { return a.begin < b.begin; });
    std::vector<byte_span> out;
    for (const byte_span& s : spans) {
        if (s.size() == 0) continue;
        const bool joins = !out.empty() && (s.begin <= out.back().end ||
                                            trimmed(text.substr(out.back().end, s.begin - out.back().end)).empty());
        if (joins)
            out.back().end = (std::max)(out.back().end, s.end);
        else
            out.push_back(s);
    }
    return out;
}

/// The sentences that a span lies in, without white space at their ends.
inline byte_span whole_sentences(std::string_view text, byte_span span) {
    byte_span out = span;
    for_each_sentence(text, [&](std::size_t begin, std::size_t end) {
        while (end > begin && is_ascii_space(text[end - 1])) --end;
        if (begin < span.end && span.begin < end) {
            out.begin = (std::min)(out.begin, begin);
            out.end = (std::max)(out.end, end);
        }
    });
    return out;
}

}  // namespace detail

inline std::optional<bool> read_yes_or_no(const completion& reply) {
    notices seen;
    const std::string_view text = detail::own_words(reply, question_rules{}, seen);
    bool yes = false, no = false;
    detail::for_each_word_run(text, [&](std::string_view word) {
        yes = yes || detail::equal_ignoring_case(word, "yes");
        no = no || detail::equal_ignoring_case(word, "no");
    });
    if (yes == no) return std::nullopt;
    return yes;
}

inline extract_reply read_extract(const completion& reply, std::string_view passage,
                                  std::span<const std::string> labels) {
    extract_reply out;
    question_rules rules;
    rules.labels = labels;
    std::string_view text = detail::own_words(reply, rules, out.seen);
    text = detail::without_blanks(detail::without_fence(detail::without_preamble(text, out.seen), out.seen));
    if (detail::says_nothing(text)) {
        out.none = true;
        return out;
    }
    const detail::flat_text known(passage);
    const auto proves_nothing = [](std::string_view part) {
        return std::ranges::count_if(part, detail::is_word_byte) < 4;
    };
    const auto look_up = [&](std::string_view line) {
        const detail::flat_text part(detail::trimmed(line));
        const std::size_t at = detail::find_words(known.text, part.text);
        if (at == std::string_view::npos) return false;
        const byte_span span{known.from[at], known.from[at + part.text.size() - 1] + 1};
        if (std::ranges::find(out.verbatim, span) == out.verbatim.end()) out.verbatim.push_back(span);
        return true;
    };
    const auto read = [&](std::string_view part) {
        for_each_sentence(part, [&](std::size_t begin, std::size_t end) {
            const std::string_view line =
                detail::without_quotes(detail::without_markers(part.substr(begin, end - begin), out.seen));
            if (proves_nothing(line) || look_up(line)) return;
            // The sentence is: "..."
            std::vector<std::string> quoted = detail::quoted_texts(line);
            std::erase_if(quoted, proves_nothing);
            if (quoted.empty() || !std::ranges::all_of(quoted, look_up))
                out.invented.push_back(detail::flat_text(detail::trimmed(line)).text);
        });
    };
    const std::vector<std::string> listed = detail::listed_texts(text);
    for (const std::string& part : listed) read(part);
    if (listed.empty()) read(text);
    return out;
}

template <Scale S, Askable G>
extracted extract(const results<S>& found, std::string_view question, const G& generator,
                  const extract_options& options) {
    extracted out;
    if (found.empty()) return out;
    prompt_writer shared("extract/1");
    shared.system(
        "You are shown a question and a passage. Copy, word for word, the sentences of the passage that are needed to "
        "answer the question, and nothing else. If there are none, reply: NONE");
    shared.data("question", question).share();
    std::vector<prompt> prompts;
    std::vector<std::string_view> shown;
    for (const auto& h : found) {
        shown.push_back(detail::clipped(found.source().text(h.unit), options.most_bytes));
        prompts.push_back(prompt_writer(shared).data("passage", shown.back()).say("The sentences:").finish());
    }
    const call_results asked = ask_all(generator, std::span<const prompt>(prompts), options.calls);
    asked.rethrow_if_ended();
    for (std::size_t i = 0; i < found.size(); ++i) {
        const unit_id unit = found[i].unit;
        if (!asked.items[i].reply) {
            ++out.failed;
            out.excerpts.push_back({unit, {0, shown[i].size()}});
            continue;
        }
        const extract_reply read = read_extract(*asked.items[i].reply, shown[i], prompts[i].labels());
        out.invented += read.invented.size();
        if (read.none) {
            ++out.none;
            continue;
        }
        std::vector<byte_span> spans = read.verbatim;
        if (options.whole_sentences)
            for (byte_span& s : spans) s = detail::whole_sentences(shown[i], s);
        if (spans.empty()) ++out.whole, spans.push_back({0, shown[i].size()});
        for (const byte_span& s : detail::merged_spans(std::move(spans), shown[i])) out.excerpts.push_back({unit, s});
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
