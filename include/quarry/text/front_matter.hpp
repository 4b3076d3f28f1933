// Front matter: the `key: value` lines between two lines of three dashes at the top of a file.
//
//     ---
//     title: Error HL-305
//     tags: [boiler, "pressure"]
//     ---
//
// Names and texts in the order of the file; what type a text has is the caller's business, and `quoted` says whether
// the author asked for a text. Lists are `[a, b]` or lines of `- a`. An indented line continues the value above it, so
// a folded text is one text and a nested map is one raw text.
//
// It is not YAML: no anchors, no nesting, and a # begins a comment only at the beginning of a line, since titles hold
// "issue #3" more often than they hold remarks.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "link_scanner.hpp"
#include "markdown_blocks.hpp"

namespace QUARRY_NAMESPACE {

struct front_matter_entry {
    std::string name;
    std::string text{};               // without quotes; for a list, as it is written
    std::vector<std::string> list{};  // the elements, without quotes
    bool is_list = false;
    bool quoted = false;  // the text stood in quotes: "2024" is no number
    byte_span span{};     // its lines, in the file
};

struct front_matter {
    std::vector<front_matter_entry> entries{};
    std::vector<byte_span> unread{};  // lines that are none of what is described above, in the file
    std::size_t end = 0;              // where the body begins, in the file: behind a byte order mark at least

    /// The first entry called `name`, or null. A name may stand twice; which one counts is the caller's business.
    const front_matter_entry* find(std::string_view name) const noexcept {
        for (const front_matter_entry& e : entries)
            if (e.name == name) return &e;
        return nullptr;
    }
};

/// The front matter of `file`; without entries if it has none.
///
/// A first line `---` opens one if `name:` or the closing line (`---` or `...`) follows, comments and blank lines
/// aside; otherwise it is a thematic break. LF, CR LF and CR end lines. Cost    one pass over the front matter; to the
/// end of the file if it is not closed. Errors  data_error `markdown.front_matter` if it is opened and not closed: the
/// file is cut short or mistyped, and
///         its metadata would be searched as prose.
front_matter read_front_matter(std::string_view file);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// A scalar without its quotes; as it is if they do not hold all of it, as in `"this" and "that"`.
inline std::string unquoted(std::string_view text, bool& quoted) {
    text = trimmed(text);
    quoted = false;
    if (text.size() < 2 || text.front() != text.back() || (text.front() != '"' && text.front() != '\''))
        return std::string(text);
    const char quote = text.front();
    const std::string_view inside = text.substr(1, text.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < inside.size(); ++i) {
        const char next = i + 1 < inside.size() ? inside[i + 1] : '\0';
        if (quote == '"' && inside[i] == '\\' && next != '\0' &&
            std::string_view("\"\\/nt").find(next) != std::string_view::npos) {
            out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
            ++i;
        } else if (inside[i] == quote) {
            if (quote == '"' || next != quote) return std::string(text);
            out += inside[i++];
        } else {
            out += inside[i];
        }
    }
    quoted = true;
    return out;
}

/// The elements of `[a, "b, c", d]`. Requires  brackets at both ends.
inline std::vector<std::string> flow_list(std::string_view text) {
    text = text.substr(1, text.size() - 2);
    std::vector<std::string> out;
    bool quoted = false, blank = true;
    char quote = '\0';
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const bool at_end = i == text.size();
        if (at_end || (quote == '\0' && text[i] == ',')) {
            if (!blank) out.push_back(unquoted(text.substr(begin, (std::min)(i, text.size()) - begin), quoted));
            begin = i + 1;
            blank = true;
            continue;
        }
        if (quote == '"' && text[i] == '\\') ++i;
        else if (quote != '\0' && text[i] == quote) quote = '\0';
        else if (quote == '\0' && blank && (text[i] == '"' || text[i] == '\'')) quote = text[i];
        blank = blank && i < text.size() && is_ascii_space(text[i]);
    }
    return out;
}

class front_matter_reader {
   public:
    explicit front_matter_reader(std::string_view file) : file_(file) {}

    front_matter run() {
        out_.end = file_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
        const text_line first = line_at(file_, out_.end);
        if (words_of(first) != "---" || !opens(first.next)) return std::move(out_);
        for (std::size_t at = first.next; at < file_.size();) {
            const text_line line = line_at(file_, at);
            if (closes(line)) {
                finish();
                out_.end = line.next;
                return std::move(out_);
            }
            read(line);
            at = line.next;
        }
        raise<data_error>(
            "markdown.front_matter",
            "quarry::read_front_matter: the front matter that line 1 opens is not closed by a line of three "
            "dashes");
    }

   private:
    // A line without white space at its end. At its beginning it counts.
    std::string_view words_of(const text_line& line) const {
        std::string_view words = file_.substr(line.begin, line.end - line.begin);
        while (!words.empty() && is_ascii_space(words.back())) words.remove_suffix(1);
        return words;
    }

    bool closes(const text_line& line) const { return words_of(line) == "---" || words_of(line) == "..."; }

    bool opens(std::size_t at) const {
        while (at < file_.size()) {
            const text_line line = line_at(file_, at);
            const std::string_view words = words_of(line);
            if (closes(line) || name_length(words) != 0) return true;
            if (!words.empty() && words.front() != '#') return false;
            at = line.next;
        }
        return false;
    }

    // The bytes before the colon, or 0 if the line is no `name:` followed by a space or nothing.
    static std::size_t name_length(std::string_view words) {
        if (words.empty() || is_ascii_space(words.front()) ||
            std::string_view("-#[]{},").find(words.front()) != std::string_view::npos)
            return 0;
        const std::size_t colon = words.find(':');
        if (colon == words.npos || (colon + 1 < words.size() && !is_ascii_space(words[colon + 1]))) return 0;
        return colon;
    }

    void read(const text_line& line) {
        const std::string_view words = words_of(line);
        const std::string_view inside = trimmed(words);
        const bool indented = !words.empty() && is_ascii_space(words.front());
        if (inside.empty() || (inside.front() == '#' && !indented)) return;
        if (open_ && value_.starts_with('[') && !value_.ends_with(']')) return extend(line, inside);
        if (open_ && (inside.starts_with("- ") || inside == "-") && (value_.empty() || items_))
            return add_item(line, inside.substr(1));
        if (open_ && indented) return extend(line, inside);
        const std::size_t length = name_length(words);
        if (length == 0) {
            out_.unread.push_back({line.begin, line.end});
            return;
        }
        finish();
        bool quoted = false;
        front_matter_entry e{unquoted(words.substr(0, length), quoted)};
        e.span = {line.begin, line.end};
        out_.entries.push_back(std::move(e));
        value_ = trimmed(words.substr(length + 1));
        open_ = true;
        // The marks of a block text say how its lines are joined; here they always are by spaces.
        if (value_ == "|" || value_ == ">" || value_ == "|-" || value_ == ">-" || value_ == "|+" || value_ == ">+")
            value_.clear();
    }

    void extend(const text_line& line, std::string_view words) {
        if (items_) {
            out_.entries.back().list.back() += concat(' ', words);
        } else {
            if (!value_.empty()) value_ += ' ';
            value_ += words;
        }
        out_.entries.back().span.end = line.end;
    }

    void add_item(const text_line& line, std::string_view item) {
        bool quoted = false;
        front_matter_entry& e = out_.entries.back();
        e.list.push_back(unquoted(item, quoted));
        e.is_list = items_ = true;
        e.span.end = line.end;
    }

    // Reads the value of the open entry, now that all its lines are there.
    void finish() {
        if (open_) {
            front_matter_entry& e = out_.entries.back();
            if (items_) {
                e.text =
                    trimmed(file_.substr(e.span.begin, e.span.size()).substr(file_.substr(e.span.begin).find(':') + 1));
            } else if (value_.size() >= 2 && value_.front() == '[' && value_.back() == ']') {
                e.is_list = true;
                e.list = flow_list(value_);
                e.text = value_;
            } else {
                e.text = unquoted(value_, e.quoted);
            }
        }
        open_ = items_ = false;
        value_.clear();
    }

    std::string_view file_;
    front_matter out_;
    std::string value_;  // of the last entry, while lines may still be added
    bool open_ = false, items_ = false;
};

}  // namespace detail

inline front_matter read_front_matter(std::string_view file) { return detail::front_matter_reader(file).run(); }

}  // namespace QUARRY_NAMESPACE
