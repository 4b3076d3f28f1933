// Pack: what was found becomes one text for a model, under a token budget.
//
//     const auto context = pack(search.retrieve(question, 5), {.budget = 3000});
//     ask(context.text);  // "[1] Error HL-301\n...\n\n[2] Hub placement\n..."
//
// Units are taken whole and in rank order, each under a numbered heading that an answer can cite. The text is never
// over the budget, headings and separators included: the whole of it is counted, not the sum of its parts. What fell
// out is listed with the reason.
//
// It packs the units it is given. To hand over articles where chunks were found, lift first: `search | lift(article)`.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/results.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../detail/function_ref.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../text/boundaries.hpp"
#include "../text/markdown_blocks.hpp"
#include "../text/token_counter.hpp"
#include "../text/tokenizer.hpp"

namespace QUARRY_NAMESPACE {

/// What happens at the first unit that does not fit.
enum class pack_policy : std::uint8_t {
    prefix_stop,  // it and all after it are left out: a rank means what it says
    skip,         // it is left out, and smaller ones after it may fit
    truncate,     // it is cut at a paragraph, and all after it are left out
};

struct pack_options {
    std::size_t budget = 3000;  // tokens, of everything together
    pack_policy policy = pack_policy::prefix_stop;

    /// If nothing would fit, the first unit is cut: at a paragraph, else at a sentence, else at a word.
    bool cut_first = true;

    std::string separator = "\n\n";    // between units
    std::string cut_mark = "\n[...]";  // behind a unit that was cut

    /// What stands above a unit. Null: `[1] Title`, and whether a model wrote the text, on a line of its own.
    std::function<std::string(std::size_t number, const unit_ref& unit)> heading{};
};

/// A unit that is in the context.
struct packed_unit {
    std::size_t number;  // what a citation calls it, from 1
    std::size_t rank;    // among the units that were offered, from 1
    unit_id unit;
    std::string id, title;  // copies, so that the context outlives the source
    byte_span span{};       // its words in the context's text, without heading and cut mark
    byte_span taken{};      // which bytes of the unit's text these are
    bool whole = true;
    std::vector<link> links{};  // of its article, those that lie in `taken` or of which nobody knows where they lie
};

/// over_budget: it did not fit. after_stop: one before it did not. contained: its text is part of one that is in.
enum class left_out_reason : std::uint8_t { over_budget, after_stop, contained, no_text };

constexpr std::string_view name_of(left_out_reason reason) noexcept {
    constexpr std::string_view names[] = {"over budget", "after stop", "contained", "no text"};
    return names[static_cast<std::size_t>(reason)];
}

struct left_out_unit {
    std::size_t rank;
    unit_id unit;
    left_out_reason reason;
    std::size_t tokens = 0;  // what it would have taken; 0 where nobody counted
    std::size_t room = 0;    // what was left when it was looked at
};

struct packed_context {
    std::string text;
    std::size_t tokens = 0;  // of the text, by the counter; at most `budget`
    std::size_t budget = 0;
    std::vector<packed_unit> units{};
    std::vector<left_out_unit> left_out{};  // by rank

    /// The unit that a citation calls `number`, or null.
    const packed_unit* numbered(std::size_t number) const noexcept {
        return number >= 1 && number <= units.size() ? &units[number - 1] : nullptr;
    }
    /// The unit whose words byte `at` of the text belongs to, or null.
    const packed_unit* at(std::size_t at) const noexcept {
        for (const packed_unit& u : units)
            if (u.span.begin <= at && at < u.span.end) return &u;
        return nullptr;
    }
};

/// Packs what a retriever returned.
///
/// Order   that of the hits; nothing is moved.
/// Cost    counts each unit once and the whole once; a unit that is cut, about twice its share.
/// Errors  what the counter throws; usage_error `results.detached`. Nothing packed is an empty context.
/// Source  for the policies and the rule of the first unit: the whole-article technique of Yelp Engineering, 2026.
template <Scale S, TokenCounter C = approximate_tokens>
packed_context pack(const results<S>& found, const pack_options& options = {}, const C& count = {});

/// Packs units of a source, in the order given.
template <TokenCounter C = approximate_tokens>
packed_context pack(source_ref source, std::span<const unit_id> units, const pack_options& options = {},
                    const C& count = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

using count_ref = function_ref<std::size_t(std::string_view)>;

inline std::string default_heading(std::size_t number, const unit_ref& unit) {
    std::string title(trimmed(unit.title()));
    // One line: a title with a line end could write the next unit's heading.
    for (char& c : title)
        if (c == '\n' || c == '\r') c = ' ';
    return concat('[', number, ']', title.empty() ? "" : " ", title,
                  unit.kind() == unit_kind::generated ? " (generated)" : "", '\n');
}

class packer {
   public:
    packer(source_ref source, const pack_options& options, count_ref count)
        : source_(source), options_(options), count_(count) {
        out_.budget = options.budget;
    }

    packed_context run(std::span<const unit_id> units) {
        bool stopped = false;
        for (std::size_t i = 0; i < units.size(); ++i) {
            const offered unit{i + 1, units[i]};
            if (stopped) leave_out(unit, left_out_reason::after_stop, 0);
            else stopped = !take(unit);
        }
        // With `skip` nothing may have been taken although there was something to take.
        if (out_.units.empty() && options_.cut_first) cut_first_left_out();
        settle();
        detail::sort_stably(out_.left_out, [](const left_out_unit& a, const left_out_unit& b) { return a.rank < b.rank; });
        return std::move(out_);
    }

   private:
    struct offered {
        std::size_t rank;
        unit_id unit;
    };

    // False if the policy says that nothing more may be taken.
    bool take(const offered& o) {
        const std::string_view text = text_of(o.unit);
        if (text.empty()) return leave_out(o, left_out_reason::no_text, 0), true;
        if (contained(o.unit)) return leave_out(o, left_out_reason::contained, 0), true;
        const std::string block = concat(opening(o.unit), text);
        const std::size_t tokens = count_(block);
        if (tokens <= room()) {
            append(o, text.size(), tokens);
            return true;
        }
        if (options_.policy == pack_policy::skip) return leave_out(o, left_out_reason::over_budget, tokens), true;
        const bool first = out_.units.empty() && options_.cut_first;
        const bool may_cut = first || options_.policy == pack_policy::truncate;
        if (!may_cut || !append_cut(o, room(), first)) leave_out(o, left_out_reason::over_budget, tokens);
        return false;
    }

    // White space at the end of a text is not worth tokens.
    std::string_view text_of(unit_id unit) const {
        std::string_view text = source_.text(unit);
        while (!text.empty() && is_ascii_space(text.back())) text.remove_suffix(1);
        return text;
    }

    std::size_t room() const noexcept { return options_.budget - (std::min)(used_, options_.budget); }

    std::string opening(unit_id unit) const {
        const std::size_t number = out_.units.size() + 1;
        const unit_ref ref = source_[unit];
        return (number == 1 ? "" : options_.separator) +
               (options_.heading ? options_.heading(number, ref) : default_heading(number, ref));
    }

    // Is its text part of one that is in the context whole? A generated text is part of nothing.
    bool contained(unit_id unit) const {
        const byte_span span = source_.span(unit);
        const unit_id article = source_.article_of(unit);
        return std::ranges::any_of(out_.units, [&](const packed_unit& in) {
            const byte_span outer = source_.span(in.unit);
            return in.unit == unit || (in.whole && source_.article_of(in.unit) == article &&
                                       outer.begin <= span.begin && span.end <= outer.end);
        });
    }

    void append(const offered& o, std::size_t length, std::size_t tokens) {
        const unit_id unit = o.unit;
        const std::string_view text = text_of(unit);
        const bool whole = length == text.size();
        out_.text += opening(unit);
        const std::size_t begin = out_.text.size();
        out_.text += text.substr(0, length);
        packed_unit u{out_.units.size() + 1,
                      o.rank,
                      unit,
                      std::string(source_.id(unit)),
                      std::string(source_.title(unit)),
                      {begin, out_.text.size()},
                      {0, length},
                      whole,
                      {}};
        if (!whole) out_.text += options_.cut_mark;
        const std::size_t in_article = source_.span(unit).begin;
        for (const link& l : source_.links(unit))
            if (l.span.size() == 0 || (l.span.begin >= in_article && l.span.end <= in_article + length))
                u.links.push_back(l);
        out_.units.push_back(std::move(u));
        used_ += tokens;
    }

    void leave_out(const offered& o, left_out_reason reason, std::size_t tokens) {
        out_.left_out.push_back({o.rank, o.unit, reason, tokens, room()});
    }

    // Appends as much of a unit as `room` allows; false if not even a paragraph fits (or, with `anywhere`, not a word).
    bool append_cut(const offered& o, std::size_t room, bool anywhere) {
        const std::string_view text = text_of(o.unit);
        const std::string head = opening(o.unit);
        std::size_t tokens = 0;
        const auto fits = [&](std::size_t length) {
            const std::size_t n =
                count_(concat(head, text.substr(0, length), length == text.size() ? "" : options_.cut_mark));
            if (n <= room) tokens = n;
            return n <= room;
        };
        std::size_t length = longest(paragraph_ends(text), fits);
        if (length == 0 && anywhere) length = longest(sentence_ends(text), fits);
        if (length == 0 && anywhere) length = longest(word_ends(text), fits);
        if (length == 0) return false;
        append(o, length, tokens);
        return true;
    }

    // The last of these lengths that fits, or 0. Looks ahead in growing steps, so that a text much larger than the
    // budget is not counted as a whole.
    template <class Fits>
    static std::size_t longest(const std::vector<std::size_t>& lengths, Fits fits) {
        std::size_t good = 0;  // so many of them fit
        std::size_t step = 1;
        while (good + step <= lengths.size() && fits(lengths[good + step - 1])) good += step, step *= 2;
        for (step /= 2; step != 0; step /= 2)
            if (good + step <= lengths.size() && fits(lengths[good + step - 1])) good += step;
        // The last question need not have been the best answer: ask it again, for its count.
        return good != 0 && fits(lengths[good - 1]) ? lengths[good - 1] : 0;
    }

    // A heading is no end: what it announces would be missing.
    static std::vector<std::size_t> paragraph_ends(std::string_view text) {
        std::vector<std::size_t> ends;
        for (const markdown_block& b : markdown_blocks(text))
            if (b.kind != block_kind::heading) ends.push_back(b.span.end);
        return ends;
    }

    static std::vector<std::size_t> sentence_ends(std::string_view text) {
        std::vector<std::size_t> ends;
        for_each_sentence(text, [&](std::size_t, std::size_t end) {
            while (end > 0 && is_ascii_space(text[end - 1])) --end;
            ends.push_back(end);
        });
        return ends;
    }

    static std::vector<std::size_t> word_ends(std::string_view text) {
        std::vector<std::size_t> ends;
        for_each_word(text, [&](std::size_t, std::size_t end) { ends.push_back(end); });
        return ends;
    }

    void cut_first_left_out() {
        for (auto at = out_.left_out.begin(); at != out_.left_out.end(); ++at) {
            if (at->reason != left_out_reason::over_budget) continue;
            if (append_cut({at->rank, at->unit}, room(), true)) out_.left_out.erase(at);
            return;
        }
    }

    // A counter need not add up: the whole may be more than its parts were. Then the last unit gives way.
    void settle() {
        for (std::size_t allowed = options_.budget;
             (out_.tokens = out_.text.empty() ? 0 : count_(out_.text)) > options_.budget;) {
            const packed_unit last = out_.units.back();
            out_.units.pop_back();
            used_ = 0;
            out_.text.resize(out_.units.empty() ? 0 : end_of(out_.units.back()));
            const std::size_t over = out_.tokens - options_.budget;
            allowed -= (std::min)(allowed, over);
            const bool recut = out_.units.empty() && options_.cut_first && allowed != 0 &&
                               append_cut({last.rank, last.unit}, allowed, true);
            if (!recut) out_.left_out.push_back({last.rank, last.unit, left_out_reason::over_budget, over, 0});
        }
    }

    std::size_t end_of(const packed_unit& u) const { return u.span.end + (u.whole ? 0 : options_.cut_mark.size()); }

    source_ref source_;
    const pack_options& options_;
    count_ref count_;
    packed_context out_;
    std::size_t used_ = 0;
};

}  // namespace detail

template <TokenCounter C>
packed_context pack(source_ref source, std::span<const unit_id> units, const pack_options& options, const C& count) {
    const auto counted = [&](std::string_view text) { return static_cast<std::size_t>(count(text)); };
    return detail::packer(source, options, counted).run(units);
}

template <Scale S, TokenCounter C>
packed_context pack(const results<S>& found, const pack_options& options, const C& count) {
    if (found.empty()) return {.text = {}, .budget = options.budget};
    std::vector<unit_id> units;
    for (const auto& h : found) units.push_back(h.unit);
    return pack(found.source(), units, options, count);
}

}  // namespace QUARRY_NAMESPACE
