// Markdown: what retrieval wants to know of an article's file. Front matter, headings, links, and where each stands.
//
//     const auto file = read_whole(path);
//     corpus.add(to_article(file, read_markdown(file), "accounts/reset"));
//
// It renders nothing and changes nothing: all spans are bytes of the file as it was handed in, byte order mark, CR LF
// and invalid UTF-8 included. Headings and links in code are none; images are listed apart from links.
//
// No input makes it throw but one: front matter that is opened and never closed (text/front_matter.hpp). No input makes
// it slow: time is linear in the bytes, whatever they are.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"
#include "../detail/ascii.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "boundaries.hpp"
#include "front_matter.hpp"
#include "link_scanner.hpp"
#include "markdown_blocks.hpp"

namespace QUARRY_NAMESPACE {

struct markdown_document {
    front_matter front{};
    byte_span body{};                 // the rest of the file
    std::vector<heading> headings{};  // words without marks; the span holds their lines
    std::vector<link> links{};        // inline, reference, autolink, <a href>, bare URL; targets as they are written
    std::vector<link> images{};       // the text is the description
};

/// Reads a file.
///
/// Order   as they stand in the file.
/// Cost    linear in the bytes; n log n in the links.
/// Errors  data_error `markdown.front_matter`.
markdown_document read_markdown(std::string_view file);

/// The article of a file. Its text is the body, byte for byte, and the spans of headings and links are moved to lie in
/// it.
///
/// id       of the front matter, else `id_if_none`
/// title    of the front matter, else the first heading of level 1
/// summary  of the front matter (`summary`, else `description`)
/// Metadata is left empty: the types of front matter are the caller's to know.
article to_article(std::string_view file, const markdown_document& document, std::string_view id_if_none);

/// A line or a few of Markdown as a reader sees the words: without the marks of headings, emphasis, code, links and
/// HTML.
///
/// White space becomes single spaces. An underscore inside a word is a letter, as in snake_case.
std::string plain_words(std::string_view markdown);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Longer words of a link are cut: they would be repeated for every link around them.
inline constexpr std::size_t longest_link_text = 500;

class word_writer {
 public:
    explicit word_writer(std::string_view text) : text_(text) {}

    // Writes the words of `span`. `links` begin in it or behind it, in order.
    std::string run(byte_span span, std::span<const found_link> links) {
        runs_ = backtick_runs(text_, span);
        for (const found_link& l : links) {
            if (l.span.begin >= span.end) break;
            if (l.span.end > span.end) continue;
            hide_marks(l);
        }
        detail::sort_stably(hidden_, [](const byte_span& a, const byte_span& b) { return a.begin < b.begin; });
        std::size_t next = 0, run = 0;
        for (std::size_t i = span.begin; i < span.end;) {
            while (next < hidden_.size() && hidden_[next].end <= i) ++next;
            if (next < hidden_.size() && hidden_[next].begin <= i) {
                i = hidden_[next].end;
                continue;
            }
            while (run < runs_.size() && runs_[run].end <= i) ++run;
            if (run < runs_.size() && runs_[run].begin == i) {
                const std::size_t closing = runs_[run].next;
                if (closing != 0) put(text_.substr(runs_[run].end, runs_[closing].begin - runs_[run].end));
                i = closing != 0 ? runs_[closing].end : runs_[run].end;
                continue;
            }
            i = read(i, span);
        }
        if (out_.ends_with(' ')) out_.pop_back();
        return std::move(out_);
    }

 private:
    void hide_marks(const found_link& l) {
        if (l.kind == link_kind::bare) return;
        if (l.kind == link_kind::autolink) {
            hidden_.push_back({l.span.begin, l.span.begin + 1});
            hidden_.push_back({l.span.end - 1, l.span.end});
        } else {
            hidden_.push_back({l.span.begin, l.words.begin});
            hidden_.push_back({l.words.end, l.span.end});
        }
    }

    void put(std::string_view words) {
        for (const char c : words) {
            if (!is_ascii_space(c))
                out_ += c;
            else if (!out_.empty() && out_.back() != ' ')
                out_ += ' ';
        }
    }

    static bool is_word(char c) {
        return is_ascii_letter(c) || is_ascii_digit(c) || static_cast<std::uint8_t>(c) >= 0x80;
    }

    std::size_t read(std::size_t i, byte_span span) {
        const char c = text_[i];
        const char before = i > span.begin ? text_[i - 1] : ' ', after = i + 1 < span.end ? text_[i + 1] : ' ';
        if (c == '\\' && is_ascii_punctuation(after)) return put(text_.substr(i + 1, 1)), i + 2;
        if (c == '<' && (is_ascii_letter(after) || after == '/') && !no_tags_) {
            const std::size_t close = text_.substr(0, span.end).find('>', i);
            if (close != std::string_view::npos) return close + 1;
            no_tags_ = true;
        }
        if (c == '*' || c == '_' || c == '~') {
            std::size_t end = i;
            while (end < span.end && text_[end] == c) ++end;
            const char behind = end < span.end ? text_[end] : ' ';
            const bool apart = is_ascii_space(before) && is_ascii_space(behind);
            const bool in_word = c == '_' && is_word(before) && is_word(behind);
            const bool mark = !apart && !in_word && (c != '~' || end - i == 2);
            if (!mark) put(text_.substr(i, end - i));
            return end;
        }
        put(text_.substr(i, 1));
        return i + 1;
    }

    std::string_view text_;
    std::vector<backtick_run> runs_;
    std::vector<byte_span> hidden_;
    std::string out_;
    bool no_tags_ = false;
};

inline std::string plain_words_of(std::string_view text, byte_span span, std::span<const found_link> links) {
    std::string words = word_writer(text).run(span, links);
    return words.find('&') == words.npos ? words : decoded_references(words, false, SIZE_MAX);
}

}  // namespace detail

inline std::string plain_words(std::string_view markdown) {
    const std::vector<found_link> links = find_links(markdown);
    std::string out;
    for (const markdown_block& b : markdown_blocks(markdown)) {
        const auto first =
            std::ranges::lower_bound(links, b.words.begin, {}, [](const found_link& l) { return l.span.begin; });
        const std::string words = detail::plain_words_of(markdown, b.words, {first, links.end()});
        if (!words.empty()) out += (out.empty() ? "" : " ") + words;
    }
    return out;
}

inline markdown_document read_markdown(std::string_view file) {
    markdown_document out;
    out.front = read_front_matter(file);
    out.body = {out.front.end, file.size()};
    const std::string_view body = file.substr(out.body.begin);
    const auto in_file = [&](byte_span span) {
        return byte_span{span.begin + out.body.begin, span.end + out.body.begin};
    };

    const std::vector<found_link> links = find_links(body);
    for (std::size_t i = 0; i < links.size(); ++i) {
        const found_link& l = links[i];
        if (l.target.empty() || l.target.size() > longest_link) continue;
        byte_span words = l.words;
        words.end = code_point_boundary(body, (std::min)(words.end, words.begin + detail::longest_link_text));
        const bool without_scheme = l.kind == link_kind::bare && detail::scheme_length(l.target) == 0;
        link found{(without_scheme ? "http://" : "") + l.target,
                   detail::plain_words_of(body, words, std::span(links).subspan(i + 1)), in_file(l.span)};
        (l.image ? out.images : out.links).push_back(std::move(found));
    }
    for (const markdown_block& b : markdown_blocks(body)) {
        if (b.kind != block_kind::heading) continue;
        const auto first =
            std::ranges::lower_bound(links, b.words.begin, {}, [](const found_link& l) { return l.span.begin; });
        std::string words = detail::plain_words_of(body, b.words, {first, links.end()});
        // Some dialects let an author name the anchor: `## Title {#anchor}`.
        if (const std::size_t anchor = words.rfind(" {#"); words.ends_with('}') && anchor != words.npos)
            words.resize(anchor);
        if (!words.empty()) out.headings.push_back({std::move(words), b.level, in_file(b.span)});
    }
    return out;
}

inline article to_article(std::string_view file, const markdown_document& document, std::string_view id_if_none) {
    const auto text_of = [&](std::string_view name) {
        const front_matter_entry* e = document.front.find(name);
        return e && !e->is_list ? e->text : std::string();
    };
    article out;
    out.id = text_of("id");
    if (out.id.empty()) out.id = id_if_none;
    out.title = text_of("title");
    out.summary = text_of("summary");
    if (out.summary.empty()) out.summary = text_of("description");
    out.text = file.substr(document.body.begin, document.body.size());
    out.headings = document.headings;
    out.links = document.links;
    const std::size_t offset = document.body.begin;
    for (heading& h : out.headings) h.span = {h.span.begin - offset, h.span.end - offset};
    for (link& l : out.links) l.span = {l.span.begin - offset, l.span.end - offset};
    if (out.title.empty()) {
        const auto first = std::ranges::find(out.headings, 1, &heading::level);
        if (first != out.headings.end()) out.title = first->text;
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
