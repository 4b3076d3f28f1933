// Assemble: per article as much as fits: the parts that were found, the sections around them, or the whole.
//
//     const auto context = assemble(search.retrieve(question, 20), {.budget = 3000});
//
// Where `pack` takes the units it is given, this decides. First every article gets the parts that were found, in rank
// order, as long as they fit; then, in the same order, what is left of the budget widens parts to sections and sections
// to whole articles. Parts of one article that overlap or touch are one, and stand in reading order. Each piece has a
// number to cite and knows which bytes of its article it is.
//
// The surprising thing: of an article that filter and scope of the query did not let through, though a part of it was
// found, nothing but that part is taken: no text around it, no title, no link. The text is never over the budget; the
// whole of it is counted each time.
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
#include "../core/excerpt.hpp"
#include "../core/results.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../detail/ascii.hpp"
#include "../detail/function_ref.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../text/boundaries.hpp"
#include "../text/token_counter.hpp"
#include "pack.hpp"

namespace QUARRY_NAMESPACE {

/// How far a part may be widened.
enum class widest : std::uint8_t { part, section, whole };

struct assemble_options {
    std::size_t budget = 3000;  // tokens, of everything together
    widest widen_to = widest::whole;
    std::size_t bridge = 0;  // bytes between two parts of one article that are taken along to make them one
    bool cut_first = true;   // if nothing would fit, the first part is cut: at a sentence, else at a word
    std::string separator = "\n\n";
    std::string cut_mark = "\n[...]";

    /// What stands above a piece. Null: `[1] Title`, as pack writes it. The unit is the article; where that was not let
    /// through, the first part of it that was found.
    std::function<std::string(std::size_t number, const unit_ref& unit)> heading{};
};

/// Assembles what a retriever returned.
///
/// Of a packed unit, `unit` is the article, `taken` the bytes of its text, and `rank` that of the first hit in it.
/// Order   articles by their first hit, pieces of an article as they are read.
/// Cost    counts the whole text once a hit, and about twice an article.
/// Errors  what the counter throws; usage_error `results.detached`. Nothing packed is an empty context.
template <Scale S, TokenCounter C = approximate_tokens>
packed_context assemble(const results<S>& found, const assemble_options& options = {}, const C& count = {});

/// The same of excerpts, in rank order. `may_widen` says of an article whether more of it may be shown.
template <TokenCounter C = approximate_tokens>
packed_context assemble(source_ref source, std::span<const excerpt> excerpts,
                        const std::function<bool(unit_id)>& may_widen, const assemble_options& options = {},
                        const C& count = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class assembler {
 public:
    assembler(source_ref source, const assemble_options& options, const std::function<bool(unit_id)>& may_widen,
              count_ref count)
        : source_(source), options_(options), may_widen_(may_widen), count_(count) {}

    packed_context run(std::span<const excerpt> excerpts) {
        for (std::size_t i = 0; i < excerpts.size(); ++i) take(excerpts[i], i + 1);
        for (const widest level : {widest::section, widest::whole})
            if (level <= options_.widen_to)
                for (article_parts& a : articles_) widen(a, level);
        packed_context out = written();
        if (out.units.empty() && options_.cut_first) cut(out);
        leave_out(excerpts, out);
        return out;
    }

 private:
    struct article_parts {
        unit_id article;
        bool admitted;                  // the article, and not only parts of it
        unit_id shown;                  // whose title is: the article, or the unit of the first excerpt
        std::size_t rank;               // of its first excerpt
        byte_span first;                // that excerpt, of the article's text
        std::vector<byte_span> chosen;  // what the context has of it; empty: nothing
    };

    std::string_view text_of(unit_id article) const { return source_.text(article); }

    // In bytes of the article, without white space at the ends.
    byte_span in_article(const excerpt& e) const {
        const unit_id article = source_.article_of(e.unit);
        const std::size_t begin = e.unit == article ? 0 : source_.span(e.unit).begin;
        const std::string_view text = text_of(article);
        byte_span s{(std::min)(begin + e.span.begin, text.size()), (std::min)(begin + e.span.end, text.size())};
        while (s.end > s.begin && is_ascii_space(text[s.end - 1])) --s.end;
        while (s.begin < s.end && is_ascii_space(text[s.begin])) ++s.begin;
        return s;
    }

    void take(const excerpt& e, std::size_t rank) {
        const byte_span span = in_article(e);
        if (span.begin >= span.end) return;
        const unit_id article = source_.article_of(e.unit);
        auto at = std::ranges::find(articles_, article, &article_parts::article);
        if (at == articles_.end()) {
            const bool admitted = may_widen_(article);
            at = articles_.insert(at, {article, admitted, admitted ? article : e.unit, rank, span, {}});
        }
        std::vector<byte_span> more = at->chosen;
        more.push_back(span);
        more = merged(*at, std::move(more));
        std::swap(at->chosen, more);
        if (!fits()) std::swap(at->chosen, more);
    }

    void widen(article_parts& a, widest level) {
        if (a.chosen.empty() || !a.admitted) return;
        std::vector<byte_span> wider;
        if (level == widest::whole)
            wider = {{0, text_of(a.article).size()}};
        else
            for (const byte_span& s : a.chosen) wider.push_back(section_around(a.article, s));
        wider = merged(a, std::move(wider));
        std::swap(a.chosen, wider);
        if (!fits()) std::swap(a.chosen, wider);
    }

    // Sorted, apart by more than the bridge, without white space at their ends.
    std::vector<byte_span> merged(const article_parts& a, std::vector<byte_span> spans) const {
        const std::string_view text = text_of(a.article);
        const std::size_t bridge = a.admitted ? options_.bridge : 0;
        sort_stably(spans, [](const byte_span& one, const byte_span& other) { return one.begin < other.begin; });
        std::vector<byte_span> out;
        for (byte_span s : spans) {
            while (s.end > s.begin && is_ascii_space(text[s.end - 1])) --s.end;
            while (s.begin < s.end && is_ascii_space(text[s.begin])) ++s.begin;
            if (s.size() == 0) continue;
            const bool joins = !out.empty() && (s.begin <= out.back().end + bridge ||
                                                trimmed(text.substr(out.back().end, s.begin - out.back().end)).empty());
            if (joins)
                out.back().end = (std::max)(out.back().end, s.end);
            else
                out.push_back(s);
        }
        return out;
    }

    // From the heading before it to the next heading that is not below that one.
    byte_span section_around(unit_id article, byte_span s) const {
        const auto headings = source_.headings(article);
        const heading* own = nullptr;
        for (const heading& h : headings)
            if (h.span.begin <= s.begin) own = &h;
        byte_span out{own ? own->span.begin : 0, text_of(article).size()};
        for (const heading& h : headings)
            if (h.span.begin >= s.end && (!own || h.level <= own->level)) out.end = (std::min)(out.end, h.span.begin);
        return out;
    }

    bool fits() const { return count_(written().text) <= options_.budget; }

    packed_context written() const {
        packed_context out;
        out.budget = options_.budget;
        for (const article_parts& a : articles_)
            for (const byte_span& s : a.chosen) append(out, a, s);
        out.tokens = out.text.empty() ? 0 : count_(out.text);
        return out;
    }

    std::string opening(const packed_context& out, unit_id shown) const {
        const std::size_t number = out.units.size() + 1;
        const unit_ref ref = source_[shown];
        return (number == 1 ? "" : options_.separator) +
               (options_.heading ? options_.heading(number, ref) : default_heading(number, ref));
    }

    void append(packed_context& out, const article_parts& a, byte_span taken) const {
        const std::string_view text = text_of(a.article);
        out.text += opening(out, a.shown);
        const std::size_t begin = out.text.size();
        out.text += text.substr(taken.begin, taken.size());
        packed_unit u{out.units.size() + 1,
                      a.rank,
                      a.article,
                      std::string(source_.id(a.article)),
                      std::string(source_.title(a.shown)),
                      {begin, out.text.size()},
                      taken,
                      trimmed(text).size() == taken.size(),
                      {}};
        for (const link& l : source_.links(a.article)) {
            const bool within = l.span.begin >= taken.begin && l.span.end <= taken.end;
            if (l.span.size() == 0 ? a.admitted : within) u.links.push_back(l);
        }
        out.units.push_back(std::move(u));
    }

    // The longest beginning of the first part that fits.
    void cut(packed_context& out) const {
        if (articles_.empty()) return;
        const article_parts& a = articles_.front();
        const byte_span first = a.first;
        const std::string_view text = text_of(a.article).substr(first.begin, first.size());
        std::vector<std::size_t> sentences, words;
        for_each_sentence(text, [&](std::size_t, std::size_t end) {
            while (end > 0 && is_ascii_space(text[end - 1])) --end;
            sentences.push_back(end);
        });
        for (std::size_t i = 1; i < text.size(); ++i)
            if (is_ascii_space(text[i]) && !is_ascii_space(text[i - 1])) words.push_back(i);
        for (const auto& ends : {sentences, words}) {
            // Counts grow with the text, so halves may be thrown away.
            std::size_t good = 0, bad = ends.size() + 1;
            while (bad - good > 1) {
                const std::size_t middle = good + (bad - good) / 2;
                (count_(shortened_to(a, first, ends[middle - 1]).text) <= options_.budget ? good : bad) = middle;
            }
            if (good == 0) continue;
            out = shortened_to(a, first, ends[good - 1]);
            return;
        }
    }

    packed_context shortened_to(const article_parts& a, byte_span first, std::size_t length) const {
        packed_context out;
        out.budget = options_.budget;
        append(out, a, {first.begin, first.begin + length});
        if (length < first.size()) out.text += options_.cut_mark;
        out.units.front().whole = false;
        out.tokens = count_(out.text);
        return out;
    }

    // Excerpts whose bytes are not in the context.
    void leave_out(std::span<const excerpt> excerpts, packed_context& out) const {
        for (std::size_t i = 0; i < excerpts.size(); ++i) {
            const unit_id article = source_.article_of(excerpts[i].unit);
            const byte_span s = in_article(excerpts[i]);
            const bool in = s.size() != 0 && std::ranges::any_of(out.units, [&](const packed_unit& u) {
                                return u.unit == article && u.taken.begin <= s.begin && s.begin < u.taken.end;
                            });
            if (in) continue;
            out.left_out.push_back({i + 1, excerpts[i].unit,
                                    s.size() != 0 ? left_out_reason::over_budget : left_out_reason::no_text, 0,
                                    options_.budget - (std::min)(out.tokens, options_.budget)});
        }
    }

    source_ref source_;
    const assemble_options& options_;
    const std::function<bool(unit_id)>& may_widen_;
    count_ref count_;
    std::vector<article_parts> articles_{};
};

}  // namespace detail

template <TokenCounter C>
packed_context assemble(source_ref source, std::span<const excerpt> excerpts,
                        const std::function<bool(unit_id)>& may_widen, const assemble_options& options,
                        const C& count) {
    const auto counted = [&](std::string_view text) { return static_cast<std::size_t>(count(text)); };
    return detail::assembler(source, options, may_widen, counted).run(excerpts);
}

template <Scale S, TokenCounter C>
packed_context assemble(const results<S>& found, const assemble_options& options, const C& count) {
    if (found.empty()) return {.text = {}, .budget = options.budget};
    std::vector<excerpt> excerpts;
    for (const auto& h : found) excerpts.push_back({h.unit, {0, found.source().text(h.unit).size()}});
    const std::function<bool(unit_id)> may_widen = [&](unit_id article) { return found.admits(article); };
    return assemble(found.source(), excerpts, may_widen, options, count);
}

}  // namespace QUARRY_NAMESPACE
