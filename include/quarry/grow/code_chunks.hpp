// Code chunks: source files grow a part for every function, and for every type that is short enough.
//
//     code_chunks{{.most_tokens = 400}}.grow(sources);
//
// A function answers a question as a whole; a window of so many lines seldom does. Lines directly above a declaration,
// its comment and attributes, belong to it. What stands between the pieces (includes, globals) is a chunk too if there
// is a word in it. The title of a chunk is where it stands: "quarry > corpus > add".
//
// No compiler is needed, and none is replaced: it reads text/code_outline.hpp. Articles that are no code by the ending
// of their title or id are left alone.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/ids.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "../text/code_outline.hpp"
#include "../text/token_counter.hpp"
#include "add_chunks.hpp"

namespace QUARRY_NAMESPACE {

struct code_chunk_options {
    std::size_t most_tokens = 400;  // a longer type gives way to its members, a longer function is cut between lines
    std::function<std::size_t(std::string_view)> tokens = approximate_tokens{};
};

/// A piece of a source file and where it stands.
struct code_piece {
    byte_span span{};
    std::string path;  // names of the scopes and its own, joined by " > "
};

/// Cuts a text into pieces, in order. They do not overlap, and no letter or digit is left out.
///
/// Cost  one pass for the outline, and one count of tokens a piece and scope.
inline std::vector<code_piece> cut_code(std::string_view text, code_layout layout,
                                        const code_chunk_options& options = {});

class code_chunks {
   public:
    explicit code_chunks(code_chunk_options options = {}) : options_(std::move(options)) {}

    /// Adds the chunks of one article, in order; says which they are. None if it is no code.
    ///
    /// Errors  usage_error `corpus.duplicate_id` if the article has one of these parts already, `corpus.unknown_unit`.
    ///         The corpus is then what it was.
    std::vector<unit_id> grow(corpus& c, unit_id article) const {
        auto layout = code_layout_of(c.title(article));
        if (!layout) layout = code_layout_of(c.id(article));
        if (!layout) return {};
        std::vector<part> parts;
        for (code_piece& piece : cut_code(c.text(article), *layout, options_))
            parts.push_back({.kind = unit_kind::chunk, .span = piece.span, .title = std::move(piece.path)});
        return detail::add_chunks(c, article, std::move(parts), "quarry::code_chunks");
    }

    /// The same for every article; says how many chunks there are.
    std::size_t grow(corpus& c) const { return detail::grow_articles(*this, c); }

   private:
    code_chunk_options options_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class code_cutter {
   public:
    code_cutter(std::string_view text, code_layout layout, const code_chunk_options& options)
        : text_(text), options_(options), names_(code_outline(text, layout)) {}

    std::vector<code_piece> run() {
        cut({0, text_.size()}, {}, 0);
        return std::move(pieces_);
    }

   private:
    std::string_view of(byte_span span) const noexcept { return text_.substr(span.begin, span.size()); }
    bool fits(byte_span span) const { return options_.tokens(of(span)) <= options_.most_tokens; }

    // The pieces of a scope whose names begin at `next` in the outline; returns the first name behind it.
    std::size_t cut(byte_span scope, const std::string& path, std::size_t next) {
        std::size_t at = scope.begin;
        while (next < names_.size() && names_[next].scope.begin < scope.end) {
            const code_name& n = names_[next];
            const bool taken = n.scope.begin < at || n.scope.end > scope.end || n.kind == code_kind::value ||
                               (n.kind == code_kind::type && trimmed(of(n.scope)).empty());
            if (taken) {
                ++next;
                continue;
            }
            const std::string own = path.empty() ? n.name : path + " > " + n.name;
            const byte_span whole{with_lines_above(at, n.scope.begin), n.scope.end};
            const bool as_a_whole = n.kind == code_kind::function || (n.kind == code_kind::type && fits(whole));
            if (as_a_whole) {
                add({at, whole.begin}, path);
                add(whole, own);
                at = whole.end;
                ++next;
                while (next < names_.size() && names_[next].scope.begin < whole.end) ++next;
            } else {
                // Its head belongs to what stands between its members.
                add({at, whole.begin}, path);
                next = cut({whole.begin, whole.end}, own, next + 1);
                at = whole.end;
            }
        }
        add({at, scope.end}, path);
        return next;
    }

    // The beginning of the lines that stand directly above a declaration, without a blank one between.
    std::size_t with_lines_above(std::size_t least, std::size_t begin) const noexcept {
        std::size_t out = begin;
        while (out > least && text_[out - 1] != '\n') --out;
        if (!trimmed(text_.substr(out, begin - out)).empty()) return begin;  // something else stands on its line
        while (out > least) {
            std::size_t line = out - 1;
            while (line > least && text_[line - 1] != '\n') --line;
            const std::string_view words = trimmed(text_.substr(line, out - line));
            const bool belongs = words.starts_with("//") || words.starts_with("/*") || words.starts_with("*") ||
                                 words.starts_with("#[") || words.starts_with("@") || words.starts_with("[[") ||
                                 words.starts_with("template") ||
                                 (words.starts_with("#") && !words.starts_with("#i") && !words.starts_with("#e") &&
                                  !words.starts_with("#d") && !words.starts_with("#p"));
            if (!belongs) break;
            out = line;
        }
        return out;
    }

    // A piece as it is, or cut between lines; without blanks at its ends, and not at all if there is no word in it.
    void add(byte_span span, const std::string& path) {
        while (span.begin < span.end && text_[span.begin] == '\n') ++span.begin;
        while (span.end > span.begin && is_ascii_space(text_[span.end - 1])) --span.end;
        if (std::ranges::none_of(of(span), is_word)) return;
        if (fits(span)) {
            pieces_.push_back({span, path});
            return;
        }
        byte_span open{span.begin, span.begin};
        while (open.end < span.end) {
            const std::size_t line = (std::min)(text_.find('\n', open.end), span.end - 1) + 1;
            if (open.size() != 0 && !fits({open.begin, line})) {
                close(open, path);
                open = {open.end, open.end};
            }
            open.end = line;
        }
        close(open, path);
    }

    void close(byte_span span, const std::string& path) {
        while (span.end > span.begin && is_ascii_space(text_[span.end - 1])) --span.end;
        if (std::ranges::any_of(of(span), is_word)) pieces_.push_back({span, path});
    }

    static bool is_word(char c) noexcept {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               static_cast<unsigned char>(c) >= 0x80;
    }

    std::string_view text_;
    const code_chunk_options& options_;
    std::vector<code_name> names_;
    std::vector<code_piece> pieces_;
};

}  // namespace detail

inline std::vector<code_piece> cut_code(std::string_view text, code_layout layout, const code_chunk_options& options) {
    return detail::code_cutter(text, layout, options).run();
}

}  // namespace QUARRY_NAMESPACE
