// Blocks of a Markdown text: which lines are prose, which are headings, which are code.
//
// The part of CommonMark that decides where headings and links may stand: fenced and indented code, both kinds of
// headings, quotes, list items, HTML comments. It builds no tree and renders nothing.
//
// The surprising thing: headings inside quotes and list items are prose here. They structure the quote, not the
// article.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// hidden: HTML comments, and what stands in <pre>, <script>, <style> and <textarea>.
enum class block_kind : std::uint8_t { prose, heading, code, hidden };

struct markdown_block {
    block_kind kind = block_kind::prose;
    byte_span span{};   // its whole lines, without the last line end
    byte_span words{};  // of a heading: without its marks; else the span
    int level = 0;      // of a heading, 1 to 6
};

/// The blocks of `text` in order. Blank lines and thematic breaks belong to none.
///
/// Lines end with LF, CR LF or CR. A fence that is not closed reaches to the end. An indented line is code only outside
/// of lists, where it more often continues an item. Cost    one pass over the bytes. Source  CommonMark 0.31, chapter
/// 4, without its container blocks.
std::vector<markdown_block> markdown_blocks(std::string_view text);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

struct text_line {
    std::size_t begin, end, next;  // next: after the line end
};

inline text_line line_at(std::string_view text, std::size_t begin) noexcept {
    std::size_t end = begin;
    while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
    std::size_t next = end;
    if (next < text.size()) next += text.substr(next).starts_with("\r\n") ? 2 : 1;
    return {begin, end, next};
}

class block_reader {
   public:
    explicit block_reader(std::string_view text) : text_(text) {}

    std::vector<markdown_block> run() {
        for (std::size_t at = 0; at < text_.size();) {
            line_ = line_at(text_, at);
            read_line();
            at = line_.next;
        }
        return std::move(blocks_);
    }

   private:
    // What stands before a line's own words: quote marks and columns of white space.
    struct prefix {
        std::size_t quotes = 0, indent = 0, at = 0;
    };

    prefix prefix_of_line(std::size_t most_quotes = SIZE_MAX) const {
        prefix p{0, 0, line_.begin};
        for (;;) {
            std::size_t i = p.at, column = 0;
            while (i < line_.end && (text_[i] == ' ' || text_[i] == '\t')) {
                column = text_[i] == '\t' ? (column / 4 + 1) * 4 : column + 1;
                ++i;
            }
            p.indent = column;
            if (i == line_.end || text_[i] != '>' || column > 3 || p.quotes == most_quotes) {
                p.at = i;
                return p;
            }
            ++p.quotes;
            p.at = i + 1;
            if (p.at < line_.end && text_[p.at] == ' ') ++p.at;
        }
    }

    void read_line() {
        if (!closer_.empty()) return read_hidden();
        if (fence_length_ != 0 && read_fenced()) return;
        const prefix p = prefix_of_line();
        const std::string_view words = text_.substr(p.at, line_.end - p.at);
        if (trimmed(words).empty()) {
            open_ = nothing;
            after_blank_ = true;
            return;
        }
        const bool after_blank = std::exchange(after_blank_, false);
        if (p.quotes == 0 && p.indent <= 3) {
            if (open_ == prose && may_be_heading_ && underline(words)) return;
            if (atx_heading(p, words) || begins_hidden(words)) return;
        }
        if (p.indent <= 3 && is_thematic_break(words)) {
            open_ = nothing;
            return;
        }
        const std::size_t marker = markers_length(words);
        if (marker != 0 && (p.indent <= 3 || in_list_)) in_list_ = true;
        else if (after_blank && p.indent < 2) in_list_ = false;
        if (begins_fence(p, words.substr(marker))) return;
        if (p.quotes == 0 && p.indent >= 4 && open_ != prose && !in_list_) return extend(code, p, false);
        if (open_ != prose || marker != 0 || p.quotes != quotes_) open_ = nothing;
        extend(prose, p, marker == 0 && p.quotes == 0);
    }

    enum what : std::uint8_t { nothing, prose, code };

    // Adds the line to the open block of this kind, or opens one.
    void extend(what kind, const prefix& p, bool may_be_heading) {
        if (open_ == kind) {
            blocks_.back().span.end = blocks_.back().words.end = line_.end;
            return;
        }
        open_ = kind;
        quotes_ = p.quotes;
        may_be_heading_ = may_be_heading;
        add(kind == prose ? block_kind::prose : block_kind::code, {line_.begin, line_.end});
    }

    void add(block_kind kind, byte_span span) { blocks_.push_back({kind, span, span, 0}); }

    // Setext: a line of = or - below a paragraph makes the paragraph a heading.
    bool underline(std::string_view words) {
        const std::string_view line = trimmed(words);
        const bool marks = line.find_first_not_of(line.front()) == line.npos;
        if (!marks || (line.front() != '=' && line.front() != '-')) return false;
        markdown_block& paragraph = blocks_.back();
        paragraph.kind = block_kind::heading;
        paragraph.level = line.front() == '=' ? 1 : 2;
        paragraph.span.end = line_.end;
        open_ = nothing;
        return true;
    }

    bool atx_heading(const prefix& p, std::string_view words) {
        const std::size_t level = (std::min)(words.find_first_not_of('#'), words.size());
        if (level == 0 || level > 6) return false;
        if (level < words.size() && words[level] != ' ' && words[level] != '\t') return false;
        std::size_t begin = p.at + level, end = line_.end;
        const auto trim = [&] {
            while (begin < end && is_ascii_space(text_[begin])) ++begin;
            while (begin < end && is_ascii_space(text_[end - 1])) --end;
        };
        trim();
        std::size_t closing = end;
        while (closing > begin && text_[closing - 1] == '#') --closing;
        if (closing == begin || is_ascii_space(text_[closing - 1])) end = closing;
        trim();
        blocks_.push_back({block_kind::heading, {line_.begin, line_.end}, {begin, end}, static_cast<int>(level)});
        open_ = nothing;
        in_list_ = false;
        return true;
    }

    bool begins_hidden(std::string_view words) {
        if (words.front() != '<') return false;
        if (words.starts_with("<!--")) closer_ = "-->";
        for (const std::string_view name : {"pre", "script", "style", "textarea"}) {
            if (!equal_ignoring_case(words.substr(1, name.size()), name)) continue;
            const std::string_view rest = words.substr(1 + name.size());
            if (rest.empty() || is_ascii_space(rest.front()) || rest.front() == '>') closer_ = name;
        }
        if (closer_.empty()) return false;
        add(block_kind::hidden, {line_.begin, line_.end});
        open_ = nothing;
        if (ends_hidden(line_.begin)) closer_ = {};
        return true;
    }

    void read_hidden() {
        blocks_.back().span.end = blocks_.back().words.end = line_.end;
        if (ends_hidden(line_.begin)) closer_ = {};
    }

    bool ends_hidden(std::size_t from) const {
        const std::string_view line = text_.substr(from, line_.end - from);
        if (closer_ == "-->") return line.find(closer_) != line.npos;
        for (std::size_t at = line.find("</"); at != line.npos; at = line.find("</", at + 2))
            if (equal_ignoring_case(line.substr(at + 2, closer_.size()), closer_)) return true;
        return false;
    }

    static bool is_thematic_break(std::string_view words) {
        const char mark = words.front();
        if (mark != '-' && mark != '*' && mark != '_') return false;
        std::size_t marks = 0;
        for (const char c : words) {
            if (c == mark) ++marks;
            else if (c != ' ' && c != '\t') return false;
        }
        return marks >= 3;
    }

    // How many bytes the list markers at the front take: `- `, `12. `, and several of them in a row.
    static std::size_t markers_length(std::string_view words) {
        std::size_t length = 0;
        for (;;) {
            std::size_t at = length;
            while (at < words.size() && is_ascii_digit(words[at]) && at - length < 10) ++at;
            const bool numbered = at > length && at - length <= 9;
            if (at == words.size()) return length;
            const char mark = words[at];
            if (numbered ? mark != '.' && mark != ')' : mark != '-' && mark != '+' && mark != '*') return length;
            if (!numbered && at != length) return length;
            ++at;
            if (at < words.size() && words[at] != ' ' && words[at] != '\t') return length;
            while (at < words.size() && (words[at] == ' ' || words[at] == '\t')) ++at;
            length = at;
            if (at == words.size()) return length;
        }
    }

    bool begins_fence(const prefix& p, std::string_view words) {
        if (words.empty() || (words.front() != '`' && words.front() != '~')) return false;
        const std::size_t length = (std::min)(words.find_first_not_of(words.front()), words.size());
        if (length < 3) return false;
        // ``` with a backtick after it is a code span that somebody wrote with three.
        if (words.front() == '`' && words.find('`', length) != words.npos) return false;
        fence_ = words.front();
        fence_length_ = length;
        fence_quotes_ = p.quotes;
        add(block_kind::code, {line_.begin, line_.end});
        open_ = nothing;
        return true;
    }

    // False if the line does not belong to the fence any more, because its quote ended.
    bool read_fenced() {
        const prefix p = prefix_of_line(fence_quotes_);
        if (p.quotes < fence_quotes_) {
            fence_length_ = 0;
            return false;
        }
        blocks_.back().span.end = blocks_.back().words.end = line_.end;
        const std::string_view words = trimmed(text_.substr(p.at, line_.end - p.at));
        if (words.size() >= fence_length_ && words.find_first_not_of(fence_) == words.npos) fence_length_ = 0;
        return true;
    }

    std::string_view text_;
    std::vector<markdown_block> blocks_;
    text_line line_{};
    what open_ = nothing;
    std::size_t quotes_ = 0;
    bool may_be_heading_ = false, in_list_ = false, after_blank_ = true;
    char fence_ = 0;
    std::size_t fence_length_ = 0, fence_quotes_ = 0;
    std::string_view closer_;
};

}  // namespace detail

inline std::vector<markdown_block> markdown_blocks(std::string_view text) { return detail::block_reader(text).run(); }

}  // namespace QUARRY_NAMESPACE
