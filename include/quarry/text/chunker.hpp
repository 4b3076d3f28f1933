// Chunker: a text in pieces that fit a budget of tokens and still read.
//
// Paragraphs are kept whole where they fit, then sentences, then words; what is longer than the budget by itself is cut
// between characters. A heading begins a chunk. Code is cut at blank lines, then at lines.
//
// The chunks tile the text, byte for byte: nothing is lost, not even white space. What a chunk repeats of the one
// before stands outside its own part, so that the own parts still tile.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/unit.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "graphemes.hpp"
#include "sentences.hpp"
#include "token_counter.hpp"
#include "tokenizer.hpp"

namespace QUARRY_NAMESPACE {

enum class chunk_form : std::uint8_t {
    prose,  // paragraphs, sentences, words; fenced code by lines
    code,   // blocks between blank lines, lines, words
};

struct chunk_options {
    std::size_t most_tokens = 256;  // of a chunk, repeated text included
    std::size_t overlap_tokens =
        0;                   // repeated of the chunk before: whole sentences or lines, at most half of most_tokens
    bool by_heading = true;  // a heading begins a chunk, unless only headings stand before it
    chunk_form form = chunk_form::prose;
};

struct text_chunk {
    byte_span own;   // these tile the text
    byte_span span;  // own, and before it what is repeated; nothing is repeated across a heading that begins a chunk
    std::size_t tokens;  // of span
    std::string path;    // the headings above its first words: "Guide > Install"
};

/// Cuts texts. The counter is any TokenCounter: that of the model that will read the chunks, or the estimate.
///
/// Errors  usage_error `chunker.budget`, `chunker.overlap`; what the counter throws.
template <TokenCounter Counter = approximate_tokens>
class chunker {
   public:
    explicit chunker(chunk_options options = {}, Counter counter = {});

    /// The chunks of `text`, in order. No chunk has more tokens than allowed, unless a single character has.
    ///
    /// Requires  a counter that gives a whole no more tokens than its parts together. Headings lie in the text; those
    ///           without a span are ignored.
    /// Cost      linear in the text: each byte is counted at most a dozen times.
    std::vector<text_chunk> operator()(std::string_view text, std::span<const heading> headings = {}) const;

    const chunk_options& options() const noexcept { return options_; }

   private:
    chunk_options options_;
    Counter counter_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// A paragraph, a block of code, or a heading, with the blank lines behind it.
struct text_block {
    byte_span where;
    bool by_lines = false;
    const heading* title = nullptr;
};

// The end of the line at `at`, its line end included: \n, \r\n or \r.
inline std::size_t line_end(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && text[at] != '\n' && text[at] != '\r') ++at;
    if (at == text.size()) return at;
    return at + (text.substr(at, 2) == "\r\n" ? 2 : 1);
}

// They tile the text.
inline std::vector<text_block> blocks_of(std::string_view text, chunk_form form, std::span<const heading> headings) {
    std::vector<const heading*> titles;
    for (const heading& h : headings)
        if (h.span.size() != 0 && h.span.end <= text.size()) titles.push_back(&h);
    detail::sort_stably(titles, [](const heading* a, const heading* b) { return a->span.begin < b->span.begin; });

    std::vector<text_block> blocks;
    const auto add = [&](std::size_t end, bool by_lines, const heading* title) {
        const std::size_t begin = blocks.empty() ? 0 : blocks.back().where.end;
        if (end > begin) blocks.push_back({{begin, end}, by_lines, title});
    };
    auto next_title = titles.begin();
    std::string_view fence;  // what opened the code we are in
    bool blank_before = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = line_end(text, at);
        const std::string_view line = trimmed(text.substr(at, end - at));
        while (next_title != titles.end() && (*next_title)->span.begin < at) ++next_title;  // inside another's line
        if (next_title != titles.end() && (*next_title)->span.begin < end) {
            add(at, !fence.empty() || form == chunk_form::code, nullptr);
            const std::size_t title_end = line_end(text, (std::max)((*next_title)->span.end, at + 1) - 1);
            at = (std::max)(end, title_end);
            add(at, false, *next_title++);
            fence = {};
            blank_before = true;
            continue;
        }
        if (line.empty()) {
            blank_before = true;
        } else if (!fence.empty()) {
            if (line.starts_with(fence)) {
                add(end, true, nullptr);
                fence = {};
                blank_before = true;
            }
        } else {
            const bool opens = form == chunk_form::prose && (line.starts_with("```") || line.starts_with("~~~"));
            if (blank_before || opens) {
                // The blank lines behind a heading or a fence are its own.
                if (!blocks.empty() &&
                    trimmed(text.substr(blocks.back().where.end, at - blocks.back().where.end)).empty())
                    blocks.back().where.end = at;
                else
                    add(at, form == chunk_form::code, nullptr);
            }
            if (opens) fence = line.substr(0, 3);
            blank_before = false;
        }
        at = end;
    }
    if (!blocks.empty() && trimmed(text.substr(blocks.back().where.end)).empty())
        blocks.back().where.end = text.size();
    else
        add(text.size(), !fence.empty() || form == chunk_form::code, nullptr);
    return blocks;
}

// What is never cut again: a sentence or a line; of one that is too long by itself a word; of such a word a character.
struct text_atom {
    byte_span where;
    std::size_t tokens_before;  // of all atoms before this one, counted one by one
};

// One text on its way into chunks. The chunk being filled has the atoms from repeated_ to next_, of which those from
// first_ are its own.
template <class Count>
class chunk_filler {
   public:
    chunk_filler(std::string_view text, const chunk_options& options, Count count)
        : text_(text), options_(options), count_(std::move(count)) {}

    std::vector<text_chunk> run(std::span<const heading> headings) {
        for (const text_block& b : blocks_of(text_, options_.form, headings)) place(b);
        close(false);
        return std::move(chunks_);
    }

   private:
    void place(const text_block& block) {
        if (block.title && options_.by_heading && has_body_) close(false);
        if (block.title) {
            while (!above_.empty() && above_.back()->level >= block.title->level) above_.pop_back();
            above_.push_back(block.title);
        }
        const std::size_t begin = atoms_.size();
        append_atoms(block);
        const std::size_t end = atoms_.size();
        if (!fits(end) && has_body_ && count_(block.where) <= options_.most_tokens) close(true);
        if (first_ == begin && !fits(end)) repeated_ = begin;
        if (fits(end)) return take(end, !block.title);
        for (std::size_t i = begin; i < end; ++i) {
            if (!fits(i + 1) && next_ > first_) close(true);
            if (!fits(i + 1)) repeated_ = first_;
            take(i + 1, !block.title);
        }
    }

    void take(std::size_t end, bool body) {
        if (body && !has_body_) path_ = joined_path();
        has_body_ = has_body_ || body;
        next_ = end;
    }

    // Whether the chunk may go on to `end`. The parts of a text, counted one by one, are more than the whole, since
    // each is rounded up: so where the sum says no, the whole is asked, as long as that gains an eighth of the budget.
    bool fits(std::size_t end) {
        const std::size_t sum = tokens_before(end) - tokens_before(repeated_);
        if (sum - (std::min)(sum, saved_) <= options_.most_tokens) return true;
        if (!may_ask_) return false;
        const std::size_t whole = count_({atoms_[repeated_].where.begin, atoms_[end - 1].where.end});
        if (whole > options_.most_tokens) return false;
        may_ask_ = sum - whole >= saved_ + options_.most_tokens / 8;
        saved_ = sum - whole;
        return true;
    }

    void close(bool may_repeat) {
        if (next_ == first_) return;
        const byte_span span{atoms_[repeated_].where.begin, atoms_[next_ - 1].where.end};
        chunks_.push_back(
            {{atoms_[first_].where.begin, span.end}, span, count_(span), has_body_ ? path_ : joined_path()});
        // Whole atoms, but never all that was the chunk's own: it would be contained in the next.
        std::size_t from = next_;
        while (may_repeat && from > first_ + 1 &&
               tokens_before(next_) - tokens_before(from - 1) <= options_.overlap_tokens)
            --from;
        repeated_ = from;
        first_ = next_;
        saved_ = 0;
        may_ask_ = true;
        has_body_ = false;
    }

    void append_atoms(const text_block& block) {
        const auto end_of_part = [&](std::string_view part, std::size_t at) {
            return block.by_lines || block.title ? line_end(part, at) : sentence_end(part, at);
        };
        for_each_part(block.where, end_of_part, [&](byte_span sentence) {
            if (append_if_it_fits(sentence)) return;
            for_each_part(sentence, end_of_word, [&](byte_span word) {
                if (append_if_it_fits(word)) return;
                for_each_part(word, grapheme_end, [&](byte_span character) { append(character, count_(character)); });
            });
        });
    }

    // A word with the white space behind it.
    static std::size_t end_of_word(std::string_view text, std::size_t at) {
        at = word_end(text, at);
        while (at < text.size() && is_ascii_space(text[at])) ++at;
        return at;
    }

    template <class End, class Use>
    void for_each_part(byte_span whole, End end, Use use) {
        const std::string_view part = text_.substr(whole.begin, whole.size());
        for (std::size_t at = 0; at < part.size();) {
            const std::size_t next = end(part, at);
            use(byte_span{whole.begin + at, whole.begin + next});
            at = next;
        }
    }

    bool append_if_it_fits(byte_span where) {
        const std::size_t tokens = count_(where);
        if (tokens > options_.most_tokens) return false;
        append(where, tokens);
        return true;
    }
    void append(byte_span where, std::size_t tokens) {
        atoms_.push_back({where, all_tokens_});
        all_tokens_ += tokens;
    }
    std::size_t tokens_before(std::size_t atom) const {
        return atom < atoms_.size() ? atoms_[atom].tokens_before : all_tokens_;
    }

    std::string joined_path() const {
        std::string out;
        for (const heading* h : above_) {
            if (!out.empty()) out += " > ";
            out += h->text;
        }
        return out;
    }

    std::string_view text_;
    const chunk_options& options_;
    Count count_;
    std::vector<text_chunk> chunks_;
    std::vector<text_atom> atoms_;
    std::size_t all_tokens_ = 0;
    std::size_t repeated_ = 0, first_ = 0, next_ = 0;
    std::size_t saved_ = 0;  // by how much the sum of this chunk's atoms is known to be more than their whole
    bool may_ask_ = true;    // whether counting the whole may still gain something
    bool has_body_ = false;  // whether the chunk has more than headings
    std::string path_;       // where its body began
    std::vector<const heading*> above_;
};

}  // namespace detail

template <TokenCounter Counter>
chunker<Counter>::chunker(chunk_options options, Counter counter) : options_(options), counter_(std::move(counter)) {
    if (options.most_tokens == 0)
        detail::raise<usage_error>("chunker.budget",
                                   "quarry::chunker: a chunk must be allowed at least 1 token, not 0");
    if (options.overlap_tokens > options.most_tokens / 2)
        detail::raise<usage_error>("chunker.overlap",
                                   detail::concat("quarry::chunker: at most half of a chunk can be repeated, that is ",
                                                  options.most_tokens / 2, " tokens and not ", options.overlap_tokens));
}

template <TokenCounter Counter>
std::vector<text_chunk> chunker<Counter>::operator()(std::string_view text, std::span<const heading> headings) const {
    const auto count = [&](byte_span where) {
        return static_cast<std::size_t>(counter_(text.substr(where.begin, where.size())));
    };
    return detail::chunk_filler(text, options_, count).run(headings);
}

}  // namespace QUARRY_NAMESPACE
