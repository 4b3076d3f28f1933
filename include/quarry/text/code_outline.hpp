// Code outline: which names a source file defines, and how far the scope of each reaches. No compiler needed.
//
// Two layouts: braces (C, C++, Java, C#, Rust, Go, JavaScript, TypeScript, Kotlin, Swift and their like) and indents
// (Python). Comments, strings and preprocessor lines are passed over; of #if and #else the first branch is read.
//
// It reads the head of every block and guesses what it declares. It is no parser: a macro that opens a brace, or a
// language that it was not made for, costs names and never more. Names are as they are written, with their qualifiers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"

namespace QUARRY_NAMESPACE {

enum class code_layout : std::uint8_t { braces, indents };
enum class code_kind : std::uint8_t { space, type, function, value };

/// A name that a source file defines.
struct code_name {
    std::string name;
    code_kind kind = code_kind::type;
    byte_span scope{};      // from the declaration to the end of its body, or its own end
    std::size_t depth = 0;  // named scopes around it
};

/// The layout of a file by the ending of its name; nothing for files that are not known as code.
std::optional<code_layout> code_layout_of(std::string_view path) noexcept;

/// The names that `text` defines, in the order of their declarations.
///
/// Cost  linear in the text.
std::vector<code_name> code_outline(std::string_view text, code_layout layout);

/// The named scopes around [begin, end), outermost first: those that begin before it, or at it, and end at or after it.
std::vector<const code_name*> scopes_around(const std::vector<code_name>& outline, byte_span part);

// ------------------------------------------------------------------------------------------------------------- detail

inline std::optional<code_layout> code_layout_of(std::string_view path) noexcept {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view ending = path.substr(dot + 1);
    for (const std::string_view known : {"py", "pyi", "pyx"})
        if (ending == known) return code_layout::indents;
    for (const std::string_view known :
         {"c",     "h",     "cc",     "hh",   "cpp", "hpp", "cxx", "hxx", "ipp", "inl",   "cu", "cuh",
          "java",  "cs",    "rs",     "go",   "js",  "jsx", "mjs", "cjs", "ts",  "tsx",   "kt", "kts",
          "swift", "scala", "groovy", "dart", "php", "m",   "mm",  "d",   "zig", "proto", "v",  "sv"})
        if (ending == known) return code_layout::braces;
    return std::nullopt;
}

namespace detail {

constexpr bool is_code_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_code_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// One of these words?
inline bool among(std::string_view word, std::initializer_list<std::string_view> words) noexcept {
    return std::find(words.begin(), words.end(), word) != words.end();
}

inline bool names_a_type(std::string_view word) noexcept {
    return among(word, {"class", "struct", "union", "interface", "enum", "trait", "impl", "protocol", "extension",
                        "object", "record", "message"});
}
inline bool names_a_space(std::string_view word) noexcept { return among(word, {"namespace", "mod", "module"}); }
inline bool begins_control(std::string_view word) noexcept {
    return among(
        word, {"if",    "for",     "while",        "switch", "catch",   "else",   "do",     "try",          "return",
               "case",  "default", "synchronized", "using",  "with",    "loop",   "match",  "unsafe",       "finally",
               "when",  "until",   "guard",        "lock",   "foreach", "select", "defer",  "go",           "throw",
               "await", "yield",   "repeat",       "assert", "delete",  "new",    "sizeof", "static_assert"});
}

// Reads a file whose blocks stand in braces.
class brace_outline {
   public:
    explicit brace_outline(std::string_view text) : text_(text) {}

    std::vector<code_name> run() {
        while (at_ < text_.size()) step();
        while (!open_.empty()) close(text_.size());
        return std::move(names_);
    }

   private:
    struct token {
        std::size_t begin, end;
        bool word;
    };
    struct block {
        std::size_t name;         // its place in names_, or none
        bool body;                // of a function, or of nobody knows what: declarations in it are not outlined
        std::vector<token> head;  // of the statement that it interrupts, in parentheses
        std::size_t parens;
    };
    struct declared {
        std::string name;
        code_kind kind;
    };
    static constexpr std::size_t none = SIZE_MAX;
    static constexpr std::size_t longest_head = 256;  // tokens: enough for any declaration, and a bound for tables

    char here(std::size_t ahead = 0) const noexcept { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    std::string_view of(const token& t) const noexcept { return text_.substr(t.begin, t.end - t.begin); }
    bool is(const token& t, char c) const noexcept { return !t.word && text_[t.begin] == c; }

    void step() {
        const char c = here();
        if (c == '\n') line_start_ = true;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            ++at_;
            return;
        }
        const bool first = std::exchange(line_start_, false);
        if (c == '/' && here(1) == '/') skip_line();
        else if (c == '/' && here(1) == '*') skip_to("*/", 2);
        else if (c == '#' && first) directive();
        else if (c == '"' || c == '\'' || c == '`') skip_text();
        else if (is_code_letter(c)) word(first);
        else if (is_code_digit(c)) number();
        else if (c == '{') open();
        else if (c == '}') ++at_, close(at_);
        else if (c == ';' && parens_ == 0) statement_end();
        else punctuation();
    }

    void skip_line() noexcept { at_ = (std::min)(text_.find('\n', at_), text_.size()); }
    void skip_to(std::string_view end, std::size_t from) noexcept {
        const std::size_t found = text_.find(end, at_ + from);
        at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    }

    // A preprocessor line with its continuations; of alternatives the first. Rust's attributes begin alike.
    void directive() {
        if (here(1) == '[' || here(1) == '!') {
            ++at_;
            return;
        }
        const std::string_view line = logical_line();
        if (const std::string_view name = directive_name(line);
            name == "else" || name == "elif" || name == "elifdef" || name == "elifndef")
            skip_branches();
        else if (name == "define") define(line);
    }
    std::string_view logical_line() noexcept {
        const std::size_t begin = at_;
        for (;;) {
            skip_line();
            std::size_t last = at_;
            while (last > begin && text_[last - 1] == '\r') --last;
            if (at_ >= text_.size() || last == begin || text_[last - 1] != '\\')
                return text_.substr(begin, at_ - begin);
            ++at_;
        }
    }
    static std::string_view directive_name(std::string_view line) noexcept {
        std::size_t begin = 1;
        while (begin < line.size() && (line[begin] == ' ' || line[begin] == '\t')) ++begin;
        std::size_t end = begin;
        while (end < line.size() && is_code_letter(line[end])) ++end;
        return line.substr(begin, end - begin);
    }
    void skip_branches() {
        for (std::size_t depth = 0; at_ < text_.size();) {
            ++at_;  // the line break
            std::size_t first = at_;
            while (first < text_.size() && (text_[first] == ' ' || text_[first] == '\t')) ++first;
            if (first >= text_.size() || text_[first] != '#') {
                skip_line();
                continue;
            }
            at_ = first;
            const std::string_view name = directive_name(logical_line());
            if (name.starts_with("if")) ++depth;
            if (name == "endif" && depth-- == 0) return;
        }
    }
    void define(std::string_view line) {
        std::size_t begin = line.find("define") + 6;
        while (begin < line.size() && (line[begin] == ' ' || line[begin] == '\t')) ++begin;
        std::size_t end = begin;
        while (end < line.size() && (is_code_letter(line[end]) || is_code_digit(line[end]))) ++end;
        const std::size_t start = static_cast<std::size_t>(line.data() - text_.data());
        if (end > begin) add({std::string(line.substr(begin, end - begin)), code_kind::value}, start, at_);
    }

    // Strings and characters. A text that does not end on its line is no text but an apostrophe.
    void skip_text() {
        const char quote = here();
        if (quote == '"' && here(1) == '"' && here(2) == '"') return skip_to("\"\"\"", 3);
        if (quote == '\'') {
            // 'x', '\n', or a character of several bytes; else a lifetime, or a separator of digits.
            std::size_t length = 2;
            if (here(1) == '\\') length = 3;
            while (length < 12 && at_ + length < text_.size() && here(length) != '\'' && here(length) != '\n' &&
                   (here(1) == '\\' || static_cast<unsigned char>(here(length)) >= 0x80))
                ++length;
            const bool quoted_text = here(length) != '\'' && single_quotes_hold_texts();
            if (!quoted_text) {
                at_ += here(length) == '\'' ? length + 1 : 1;
                return;
            }
        }
        const std::size_t begin = at_++;
        for (; at_ < text_.size() && here() != quote; ++at_) {
            if (here() == '\\') ++at_;
            else if (here() == '\n' && quote != '`') return;
        }
        at_ = (std::min)(at_ + 1, text_.size());
        remember({begin, at_, false});
    }
    // Does the quote end on this line, with more than a character in it? Then it is a text, as in JavaScript.
    bool single_quotes_hold_texts() const noexcept {
        for (std::size_t i = at_ + 1; i < text_.size() && i < at_ + 400 && text_[i] != '\n'; ++i) {
            if (text_[i] == '\\') ++i;
            else if (text_[i] == '\'') return true;
            else if (text_[i] == '<' || text_[i] == '>' || text_[i] == ';') return false;  // &'a T, <'a, 'b>
        }
        return false;
    }

    void word(bool first) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_code_letter(here()) || is_code_digit(here()))) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if ((here() == '"' || here() == '#') && among(name, {"R", "LR", "uR", "UR", "u8R", "r", "br"}) &&
            raw_text(name))
            return;
        // Where lines end statements, a value without a semicolon ends before the next declaration.
        if (first && parens_ == 0 &&
            among(name, {"class", "interface", "enum", "type", "object", "function", "func", "fun", "export", "public",
                         "private", "protected", "const", "let", "var", "val", "async"}))
            line_end();
        remember({begin, at_, true});
    }
    // R"x(...)x" of C++, r#"..."# of Rust.
    bool raw_text(std::string_view prefix) {
        std::string end;
        std::size_t skip = 0;
        if (prefix.back() == 'R') {
            const std::size_t bracket = text_.find('(', at_);
            if (here() != '"' || bracket == std::string_view::npos || bracket - at_ > 17) return false;
            end = ')' + std::string(text_.substr(at_ + 1, bracket - at_ - 1)) + '"';
            skip = bracket + 1 - at_;
        } else {
            while (here(skip) == '#') ++skip;
            if (here(skip) != '"') return false;
            end = '"' + std::string(skip, '#');
            ++skip;
        }
        skip_to(end, skip);
        return true;
    }
    void number() {
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               (is_code_letter(here()) || is_code_digit(here()) || (here() == '\'' && is_code_digit(here(1)))))
            ++at_;
        remember({begin, at_, false});
    }
    void punctuation() {
        const char c = here();
        if (c == '(' || c == '[') ++parens_;
        if ((c == ')' || c == ']') && parens_ > 0) --parens_;
        remember({at_, at_ + 1, false});
        ++at_;
    }

    void remember(token t) {
        if (head_.size() < longest_head) head_.push_back(t);
    }

    bool outlined() const noexcept { return open_.empty() || !open_.back().body; }

    void add(declared d, std::size_t begin, std::size_t end) {
        names_.push_back({std::move(d.name), d.kind, {begin, end}, depth_});
    }

    void open() {
        block b{none, true, {}, 0};
        const std::size_t begin = head_.empty() ? at_ : head_.front().begin;
        if (parens_ == 0) drop_annotations();
        if (parens_ == 0 && !head_.empty()) {
            if (auto found = declared_by_head(true)) {
                b.body = found->kind == code_kind::function || found->kind == code_kind::value;
                b.name = names_.size();
                add(*std::move(found), begin, text_.size());
            } else if (!open_.empty() && !open_.back().body && head_.size() == 1 && head_[0].word) {
                b.body = false;  // `public {`, `static {`, `companion {`
            } else if (is_linkage()) {
                b.body = false;  // extern "C" {
            }
        } else if (parens_ > 0) {
            b.head = std::move(head_);
            b.parens = parens_;
        }
        head_.clear();
        parens_ = 0;
        depth_ += b.name != none;
        open_.push_back(std::move(b));
        ++at_;
    }
    bool is_linkage() const noexcept { return head_.size() <= 2 && head_[0].word && of(head_[0]) == "extern"; }

    void close(std::size_t end) {
        if (open_.empty()) {
            head_.clear();
            parens_ = 0;
            return;
        }
        block b = std::move(open_.back());
        open_.pop_back();
        if (b.name != none) {
            names_[b.name].scope.end = end;
            --depth_;
        }
        head_ = std::move(b.head);
        parens_ = b.parens;
    }

    void line_end() {
        std::size_t depth = 0;
        for (const token& t : head_) {
            if (is(t, '(') || is(t, '[')) ++depth;
            if ((is(t, ')') || is(t, ']')) && depth > 0) --depth;
            if (!is(t, '=') || depth > 0) continue;
            const std::size_t at = std::exchange(at_, head_.back().end);
            statement_end();
            at_ = at;
            return;
        }
    }

    void statement_end() {
        if (!head_.empty() && outlined()) {
            const std::size_t begin = head_.front().begin;
            drop_annotations();
            if (!head_.empty())
                if (auto found = declared_by_head(false)) add(*std::move(found), begin, at_ + 1);
        }
        head_.clear();
        ++at_;
    }

    // @Name, @a.Name(x = 1): they have brackets and equals signs of their own.
    void drop_annotations() {
        std::vector<token> kept;
        for (std::size_t i = 0; i < head_.size(); ++i) {
            const bool annotation =
                is(head_[i], '@') && i + 1 < head_.size() && head_[i + 1].word && of(head_[i + 1]) != "interface";
            if (!annotation) {
                if (!is(head_[i], '@')) kept.push_back(head_[i]);
                continue;
            }
            ++i;
            while (i + 2 < head_.size() && is(head_[i + 1], '.') && head_[i + 2].word) i += 2;
            if (i + 1 < head_.size() && is(head_[i + 1], '(')) {
                std::size_t depth = 0;
                for (++i; i < head_.size(); ++i) {
                    if (is(head_[i], '(')) ++depth;
                    if (is(head_[i], ')') && --depth == 0) break;
                }
            }
        }
        head_ = std::move(kept);
    }

    // ---- what a head declares

    std::optional<declared> declared_by_head(bool opens) const {
        if (!head_.front().word && !is(head_.front(), '@') && !is(head_.front(), '#') && !is(head_.front(), '[') &&
            !is(head_.front(), '~') && !is(head_.front(), '<') && !is(head_.front(), '*'))
            return std::nullopt;
        if (head_.front().word && begins_control(of(head_.front())) &&
            !(of(head_.front()) == "unsafe" || of(head_.front()) == "default" ||
              (!opens && of(head_.front()) == "using")))
            return std::nullopt;
        // Walk over the top level: what stands in (), [] and <> declares nothing.
        std::size_t bracket = none, equals = none, type = none, space = none, function = none, for_word = none,
                    arrow = none;
        std::size_t depth = 0, angles = 0;
        for (std::size_t i = 0; i < head_.size(); ++i) {
            const token& t = head_[i];
            if (t.word && depth == 0 && angles == 0) {
                const std::string_view w = of(t);
                if (type == none && bracket == none && equals == none && names_a_type(w) && declares_type(i)) type = i;
                if (space == none && names_a_space(w) && bracket == none && equals == none) space = i;
                if (function == none && among(w, {"fn", "func", "function", "fun", "def"})) function = i;
                if (w == "for") for_word = i;
                continue;
            }
            if (t.word) continue;
            const char c = text_[t.begin];
            if (c == '(' || c == '[') {
                const bool visibility = i > 0 && head_[i - 1].word && of(head_[i - 1]) == "pub";  // pub(crate)
                if (c == '(' && depth == 0 && angles == 0 && bracket == none && i > 0 && !visibility) bracket = i;
                ++depth;
            } else if ((c == ')' || c == ']') && depth > 0) {
                --depth;
            } else if (c == '<' && depth == 0 && opens_angle(i)) {
                ++angles;
            } else if (c == '>' && depth == 0) {
                if (i > 0 && (is(head_[i - 1], '=') || is(head_[i - 1], '-'))) {
                    if (is(head_[i - 1], '=')) arrow = i;
                } else if (angles > 0) {
                    --angles;
                }
            } else if (c == '=' && depth == 0 && angles == 0 && equals == none && !compares(i)) {
                equals = i;
            }
        }
        if (space != none) return opens ? named_after(space, code_kind::space) : std::nullopt;
        if (type != none) {
            const bool implements = of(head_[type]) == "impl";
            auto found = implements && for_word != none ? named_after(for_word, code_kind::type)
                                                        : named_after(type, code_kind::type);
            // `struct stat get(...) {` is a function, `class Point(val x: Int) {` a class.
            const bool is_function = bracket != none && words_between(type, bracket) >= 2 && !inherits(type, bracket);
            if (!is_function) return opens ? found : std::nullopt;
        }
        if (function != none) return named_function(function);
        // `f() = default;` has its equals sign behind the parameters, `f = (x) => {` before them.
        if (equals != none && (bracket == none || equals < bracket))
            return named_value(equals, opens, arrow != none || bracket != none);
        if (bracket != none) return named_before(bracket, opens);
        return std::nullopt;
    }

    // A keyword of types is followed by a name; in Go it follows one: type Name struct {
    bool declares_type(std::size_t i) const noexcept {
        if (i + 1 == head_.size()) return i >= 2 && head_[i - 2].word && of(head_[i - 2]) == "type";
        return !is(head_[i + 1], '(') && !is(head_[i + 1], ':');
    }
    std::size_t words_between(std::size_t from, std::size_t to) const noexcept {
        std::size_t words = 0, angles = 0;
        for (std::size_t i = from + 1; i < to; ++i) {
            if (is(head_[i], '<')) ++angles;
            if (is(head_[i], '>') && angles > 0) --angles;
            words += head_[i].word && angles == 0;
        }
        return words;
    }
    // Is there a colon, or `extends`, between the type's name and a bracket? Then the bracket belongs to a base.
    bool inherits(std::size_t from, std::size_t to) const noexcept {
        for (std::size_t i = from; i < to; ++i)
            if ((is(head_[i], ':') && !is(head_[i + 1], ':') && !is(head_[i - 1], ':')) ||
                (head_[i].word && among(of(head_[i]), {"extends", "implements", "with", "where"})))
                return true;
        return false;
    }
    bool opens_angle(std::size_t i) const noexcept {
        if (i + 1 < head_.size() && (is(head_[i + 1], '<') || is(head_[i + 1], '='))) return false;
        if (i > 0 && is(head_[i - 1], '<')) return false;
        return i == 0 || head_[i - 1].word;
    }
    bool compares(std::size_t i) const noexcept {
        const auto around = [&](std::size_t j) {
            return j < head_.size() &&
                   (is(head_[j], '=') || is(head_[j], '!') || is(head_[j], '<') || is(head_[j], '>'));
        };
        return around(i + 1) || (i > 0 && around(i - 1)) ||
               (i > 0 && head_[i - 1].word && of(head_[i - 1]) == "operator");
    }

    // Words joined by ::, from token `i` on.
    std::string chain_from(std::size_t i) const {
        std::size_t last = i;
        while (last + 3 < head_.size() && is(head_[last + 1], ':') && is(head_[last + 2], ':') && head_[last + 3].word)
            last += 3;
        return std::string(text_.substr(head_[i].begin, head_[last].end - head_[i].begin));
    }
    // And up to token `i`, a destructor's ~ included.
    std::string chain_to(std::size_t i) const {
        std::size_t first = i;
        if (first > 0 && is(head_[first - 1], '~')) --first;
        while (first >= 3 && is(head_[first - 1], ':') && is(head_[first - 2], ':') && head_[first - 3].word)
            first -= 3;
        return std::string(text_.substr(head_[first].begin, head_[i].end - head_[first].begin));
    }

    // The last word before the bases, the parameters or the body: macros and `final` stand before and after it.
    std::optional<declared> named_after(std::size_t keyword, code_kind kind) const {
        std::size_t name = none, angles = 0, depth = 0;
        for (std::size_t i = keyword + 1; i < head_.size(); ++i) {
            const token& t = head_[i];
            if (is(t, '<')) ++angles;
            if (is(t, '(') || is(t, '[')) ++depth;
            if (is(t, '>') && angles > 0) --angles;
            if ((is(t, ')') || is(t, ']')) && depth > 0) --depth;
            if (angles > 0 || depth > 0) {
                if (name != none && is(t, '(')) break;  // alignas(16) comes before the name, parameters after it
                continue;
            }
            if (is(t, ':') && !(i + 1 < head_.size() && is(head_[i + 1], ':')) && !is(head_[i - 1], ':')) break;
            if (!t.word) continue;
            const std::string_view w = of(t);
            if (among(w, {"extends", "implements", "final", "where", "with", "permits", "for"})) break;
            if (among(w, {"class", "struct", "alignas", "sealed", "data", "static", "unsafe", "dyn", "mut", "inline"}))
                continue;
            name = i;
        }
        if (name == none && keyword >= 2 && head_[keyword - 1].word && of(head_[keyword - 2]) == "type")
            name = keyword - 1;  // Go: type Name struct {
        if (name == none) return std::nullopt;
        return declared{chain_to(name), kind};
    }

    std::optional<declared> named_function(std::size_t keyword) const {
        std::size_t i = keyword + 1;
        if (i < head_.size() && is(head_[i], '(')) {  // Go: func (r *T) Name(
            std::size_t depth = 0;
            for (; i < head_.size(); ++i) {
                if (is(head_[i], '(')) ++depth;
                if (is(head_[i], ')') && --depth == 0) break;
            }
            ++i;
        }
        if (i < head_.size() && is(head_[i], '*')) ++i;  // function* of JavaScript
        if (i < head_.size() && is(head_[i], '<')) {     // fun <T> name( of Kotlin
            while (i < head_.size() && !is(head_[i], '>')) ++i;
            ++i;
        }
        if (i < head_.size() && head_[i].word) return declared{chain_from(i), code_kind::function};
        // f = function() {
        if (keyword >= 2 && (is(head_[keyword - 1], '=') || is(head_[keyword - 1], ':')) && head_[keyword - 2].word)
            return declared{std::string(of(head_[keyword - 2])), code_kind::function};
        return std::nullopt;
    }

    // name = ..., name: T = ..., using name = ...
    std::optional<declared> named_value(std::size_t equals, bool opens, bool callable) const {
        std::size_t name = none;
        for (std::size_t i = 0; i < equals; ++i) {
            if (head_[i].word && i + 1 < head_.size() && is(head_[i + 1], ':') &&
                !(i + 2 < head_.size() && is(head_[i + 2], ':')) && !(i > 0 && is(head_[i - 1], ':'))) {
                name = i;  // before its type
                break;
            }
            if (head_[i].word) name = i;
        }
        if (name == none) return std::nullopt;
        const bool alias = of(head_[0]) == "using" || of(head_[0]) == "type";
        if (opens && !callable) return std::nullopt;   // int table[] = {
        if (name == 0 && !opens) return std::nullopt;  // an assignment
        return declared{std::string(of(head_[name])), alias               ? code_kind::type
                                                      : callable && opens ? code_kind::function
                                                                          : code_kind::value};
    }

    std::optional<declared> named_before(std::size_t bracket, bool opens) const {
        std::size_t i = bracket - 1;
        if (is(head_[i], '>')) {  // f<T>(
            std::size_t angles = 0;
            for (;; --i) {
                if (is(head_[i], '>')) ++angles;
                if (is(head_[i], '<') && --angles == 0) break;
                if (i == 0) return std::nullopt;
            }
            if (i == 0) return std::nullopt;
            --i;
        }
        while (i > 0 && !head_[i].word && !is(head_[i], ')')) --i;  // operator==(
        if (!head_[i].word) return std::nullopt;
        const std::string_view w = of(head_[i]);
        if (begins_control(w) ||
            among(w, {"alignas", "decltype", "noexcept", "requires", "__attribute__", "__declspec", "super", "this"}))
            return std::nullopt;
        if (i > 0 &&
            (is(head_[i - 1], '.') || (head_[i - 1].word && among(of(head_[i - 1]), {"new", "return", "throw"}))))
            return std::nullopt;
        if (w == "operator")
            return declared{std::string(text_.substr(head_[i].begin, head_[bracket - 1].end - head_[i].begin)),
                            code_kind::function};
        const bool shouts =
            w.size() > 1 && std::none_of(w.begin(), w.end(), [](char c) { return c >= 'a' && c <= 'z'; });
        if (shouts && i == 0) {
            // TEST(Cats, purr) { names what it tests; without a body it is some macro.
            if (!opens) return std::nullopt;
            std::string inside;
            for (std::size_t j = bracket + 1; j < head_.size() && !is(head_[j], ')'); ++j)
                if (head_[j].word) inside += (inside.empty() ? "" : " ") + std::string(of(head_[j]));
            return inside.empty() ? std::nullopt : std::optional(declared{inside, code_kind::function});
        }
        // A prototype has a type before its name; f(x); is a call.
        if (!opens && (i == 0 || !outlined())) return std::nullopt;
        if (opens && !outlined() && i == 0) return std::nullopt;  // f(x) { in a body: a call with a block
        return declared{chain_to(i), code_kind::function};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool line_start_ = true;
    std::vector<token> head_;  // of the statement so far
    std::size_t parens_ = 0;   // open ones in it
    std::vector<block> open_;
    std::size_t depth_ = 0;  // of these, with a name
    std::vector<code_name> names_;
};

// Reads a file whose blocks are indented.
class indent_outline {
   public:
    explicit indent_outline(std::string_view text) : text_(text) {}

    std::vector<code_name> run() {
        while (at_ < text_.size()) logical_line();
        while (!open_.empty()) close();
        return std::move(names_);
    }

   private:
    struct scope {
        std::size_t name;
        std::size_t indent;
    };

    char here() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }

    void logical_line() {
        const std::size_t begin = at_;
        std::size_t indent = 0;
        for (; here() == ' ' || here() == '\t'; ++at_) indent = here() == '\t' ? (indent / 8 + 1) * 8 : indent + 1;
        const std::size_t first = at_;
        const bool empty = at_ >= text_.size() || here() == '\n' || here() == '\r' || here() == '#';
        pass_line();
        if (empty) return;
        while (!open_.empty() && open_.back().indent >= indent) close();
        declare(begin, first, indent);
        last_end_ = at_;
    }

    // To the end of the line, over strings, brackets and continuations.
    void pass_line() {
        std::size_t brackets = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '#') {
                at_ = (std::min)(text_.find('\n', at_), text_.size());
                continue;
            }
            if (c == '"' || c == '\'') {
                pass_text(c);
                continue;
            }
            ++at_;
            if (c == '(' || c == '[' || c == '{') ++brackets;
            if ((c == ')' || c == ']' || c == '}') && brackets > 0) --brackets;
            if (c == '\\' && at_ < text_.size()) ++at_;
            if (c == '\n' && brackets == 0) return;
        }
    }
    void pass_text(char quote) {
        const std::string_view three = text_.substr(at_, 3);
        if (three.size() == 3 && three[1] == quote && three[2] == quote) {
            at_ += 3;
            for (; at_ < text_.size(); ++at_) {
                if (text_[at_] == '\\') ++at_;
                else if (text_.substr(at_, 3) == three) {
                    at_ += 3;
                    return;
                }
            }
            at_ = (std::min)(at_, text_.size());
            return;
        }
        for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
            if (text_[at_] == '\\') ++at_;
            else if (text_[at_] == quote) break;
        }
        at_ = (std::min)(at_ + (at_ < text_.size() && text_[at_] == quote ? 1 : 0), text_.size());
    }

    std::string_view word_at(std::size_t& at) const noexcept {
        while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
        const std::size_t begin = at;
        while (at < text_.size() && (is_code_letter(text_[at]) || (at > begin && is_code_digit(text_[at])))) ++at;
        return text_.substr(begin, at - begin);
    }

    void declare(std::size_t begin, std::size_t first, std::size_t indent) {
        std::size_t at = first;
        std::string_view keyword = word_at(at);
        if (keyword == "async") keyword = word_at(at);
        const bool is_class = keyword == "class";
        if (is_class || keyword == "def") {
            const std::string_view name = word_at(at);
            if (name.empty()) return;
            names_.push_back({std::string(name),
                              is_class ? code_kind::type : code_kind::function,
                              {begin, text_.size()},
                              open_.size()});
            open_.push_back({names_.size() - 1, indent});
        } else if (indent == 0 && !keyword.empty()) {
            while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
            if (at + 1 < text_.size() && text_[at] == '=' && text_[at + 1] != '=')
                names_.push_back({std::string(keyword), code_kind::value, {begin, at_}, 0});
        }
    }

    void close() {
        names_[open_.back().name].scope.end = last_end_;
        open_.pop_back();
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t last_end_ = 0;  // of the last line that was not empty
    std::vector<scope> open_;
    std::vector<code_name> names_;
};

}  // namespace detail

inline std::vector<code_name> code_outline(std::string_view text, code_layout layout) {
    return layout == code_layout::braces ? detail::brace_outline(text).run() : detail::indent_outline(text).run();
}

inline std::vector<const code_name*> scopes_around(const std::vector<code_name>& outline, byte_span part) {
    std::vector<const code_name*> out;
    for (const code_name& n : outline) {
        if (n.scope.begin > part.begin) break;  // in the order of their declarations
        if (n.scope.end >= part.end && n.scope.end > part.begin && n.kind != code_kind::value) out.push_back(&n);
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
