// Link scanner: the links of a Markdown text, each with the bytes it stands on.
//
// Inline links, reference links and their definitions, autolinks, HTML attributes, and bare URLs (a scheme and `//`, or
// `www.`). Two readings of one text: `prose` finds what an author linked, and is for articles; `everything` finds what
// any program might follow, and is for texts that a model wrote. There, code is searched for targets that name a host,
// the words of a link for links of their own, comments and HTML attributes of every kind too.
//
// It is no renderer: e-mail addresses count only between < and >, CSS is not read, and a name without scheme or www. is
// a word.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"
#include "../detail/ascii.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "bare_url.hpp"
#include "markdown_blocks.hpp"
#include "url.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// definition: `[label]: target`, reported in `everything`, where no reference may use it and it still can be read.
enum class link_kind : std::uint8_t { inline_link, reference, autolink, html, bare, definition };

constexpr std::string_view name_of(link_kind kind) noexcept {
    constexpr std::string_view names[] = {"inline", "reference", "autolink", "html", "bare", "definition"};
    return names[static_cast<std::size_t>(kind)];
}

struct found_link {
    link_kind kind;
    bool image = false;
    std::string target;   // escapes and character references decoded, not normalised, cut after longest_link + 1 bytes
    byte_span span{};     // all of it, with its marks
    byte_span words{};    // what it stands on; of an image, its description; empty at span.end where there are none
    byte_span written{};  // the target as it is written: for a reference, in its definition
};

enum class links_in : std::uint8_t { prose, everything };

/// The links and images of `text`, by where they begin.
///
/// Cost    linear in the bytes, whatever they are, and n log n in the links.
/// Source  CommonMark 0.31, chapter 6, and GitHub's autolinks; labels are compared without case in ASCII alone.
std::vector<found_link> find_links(std::string_view text, links_in where = links_in::prose);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Character references decoded, the numeric ones and the five of XML, and backslash escapes if `escapes`. Others stay
/// as they are: what is compared exactly is then refused rather than misread.
inline std::string decoded_references(std::string_view written, bool escapes = false,
                                      std::size_t most = longest_link + 1) {
    struct name {
        std::string_view text;
        char value;
    };
    constexpr name names[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    std::string out;
    for (std::size_t i = 0; i < written.size() && out.size() < most;) {
        const std::string_view rest = written.substr(i);
        if (escapes && rest.size() > 1 && rest[0] == '\\' && is_ascii_punctuation(rest[1])) {
            out += rest[1];
            i += 2;
            continue;
        }
        const auto known = std::ranges::find_if(names, [&](const name& n) { return rest.starts_with(n.text); });
        if (known != std::end(names)) {
            out += known->value;
            i += known->text.size();
            continue;
        }
        if (rest.starts_with("&#")) {
            const bool hex = rest.size() > 2 && (rest[2] == 'x' || rest[2] == 'X');
            std::size_t at = hex ? 3 : 2;
            char32_t value = 0;
            const std::size_t first = at;
            for (; at < rest.size() && at - first < 7; ++at) {
                const int digit = hex ? hex_digit(rest[at]) : is_ascii_digit(rest[at]) ? rest[at] - '0' : -1;
                if (digit < 0) break;
                value = value * (hex ? 16u : 10u) + static_cast<char32_t>(digit);
            }
            if (at > first && at < rest.size() && rest[at] == ';') {
                encode(value == 0 ? 0xFFFD : value, out);
                i += at + 1;
                continue;
            }
        }
        out += written[i++];
    }
    if (out.size() > most) out.resize(most);
    return out;
}

inline std::string decoded_target(std::string_view written) { return decoded_references(written, true); }

/// Attributes that browsers load or follow.
inline bool is_url_attribute(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 13> names = {"href",     "src",      "srcset",    "action",     "formaction",
                                                        "poster",   "data",     "cite",      "background", "ping",
                                                        "longdesc", "manifest", "xlink:href"};
    return std::ranges::any_of(names, [&](std::string_view n) { return equal_ignoring_case(n, name); });
}

/// A run of backticks and, as `next`, the number of the next run of the same length, where a code span would end; 0 if
/// there is none.
struct backtick_run {
    std::size_t begin, end, next;
};

// Without such a table every run that is never closed would be searched for to the end.
inline std::vector<backtick_run> backtick_runs(std::string_view text, byte_span region) {
    text = text.substr(0, region.end);
    std::vector<backtick_run> runs;
    for (std::size_t i = text.find('`', region.begin); i != text.npos; i = text.find('`', i)) {
        const std::size_t end = (std::min)(text.find_first_not_of('`', i), text.size());
        runs.push_back({i, end, 0});
        i = end;
    }
    std::map<std::size_t, std::size_t> following;
    for (std::size_t r = runs.size(); r-- > 0;) {
        const auto [place, fresh] = following.try_emplace(runs[r].end - runs[r].begin, r);
        if (!fresh) runs[r].next = std::exchange(place->second, r);
    }
    return runs;
}

class link_scanner {
 public:
    link_scanner(std::string_view text, links_in where) : text_(text), everything_(where == links_in::everything) {}

    std::vector<found_link> run() {
        const std::vector<markdown_block> blocks = markdown_blocks(text_);
        const auto is_code = [&](const markdown_block& b) {
            return b.kind == block_kind::code || (b.kind == block_kind::hidden && !everything_);
        };
        for (const markdown_block& b : blocks)
            if (b.kind == block_kind::prose || (b.kind == block_kind::hidden && everything_)) find_definitions(b.span);
        std::size_t next = 0;
        for (const markdown_block& b : blocks) {
            if (is_code(b)) {
                if (everything_) scan_code(b.span);
                continue;
            }
            // Definitions are no prose: what lies between them is.
            std::size_t at = b.span.begin;
            for (; next < definitions_.size() && definitions_[next].span.begin < b.span.end; ++next) {
                scan({at, definitions_[next].span.begin});
                at = definitions_[next].span.end;
            }
            scan({at, b.span.end});
        }
        if (everything_) {
            find_user_info();
            for (const definition& d : definitions_)
                out_.push_back({link_kind::definition, false, d.target, d.span, {d.span.end, d.span.end}, d.written});
        }
        detail::sort_stably(out_, [](const found_link& a, const found_link& b) {
            return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end > b.span.end;
        });
        return std::move(out_);
    }

 private:
    static constexpr std::size_t longest_label = 999;

    struct definition {
        std::string target;
        byte_span span, written;
    };

    struct destination {
        byte_span written;
        std::size_t end;
    };

    // A bracket that may still become a link.
    struct opener {
        std::size_t at;
        bool image;
        std::size_t links_before;     // found links when it was opened
        bool holds_brackets = false;  // then it is no label
    };

    char at(std::size_t i) const noexcept { return i < region_.end ? text_[i] : '\0'; }
    std::string_view piece(byte_span span) const noexcept { return text_.substr(span.begin, span.size()); }

    std::string label(byte_span span) const {
        std::string out;
        for (std::size_t i = span.begin; i < span.end; ++i) {
            if (!is_ascii_space(text_[i]))
                out += to_ascii_lower(text_[i]);
            else if (!out.empty() && out.back() != ' ')
                out += ' ';
        }
        if (out.ends_with(' ')) out.pop_back();
        return out;
    }

    // The label that begins behind the bracket at `open`: where its closing bracket stands, if it is one.
    std::optional<std::size_t> label_end(std::size_t open, std::size_t end) const {
        for (std::size_t i = open + 1; i < end && i - open <= longest_label + 1; ++i) {
            if (text_[i] == '\\')
                ++i;
            else if (text_[i] == ']')
                return i;
            else if (text_[i] == '[')
                return std::nullopt;
        }
        return std::nullopt;
    }

    std::size_t after_space(std::size_t i, std::size_t end) const {
        while (i < end && is_ascii_space(text_[i])) ++i;
        return i;
    }

    // `<anything but line ends>`, or characters without spaces in which round brackets are balanced.
    std::optional<destination> read_destination(std::size_t i, std::size_t end) const {
        if (i < end && text_[i] == '<') {
            for (std::size_t j = i + 1; j < end && text_[j] != '\n' && text_[j] != '\r' && text_[j] != '<'; ++j) {
                if (text_[j] == '>') return destination{{i + 1, j}, j + 1};
                if (text_[j] == '\\') ++j;
            }
            return std::nullopt;
        }
        // More than 32 open brackets are no address. Without a limit every `](` in a row would be read to the end.
        std::size_t depth = 0, j = i;
        for (; j < end && !is_ascii_space(text_[j]) && static_cast<std::uint8_t>(text_[j]) >= 0x20; ++j) {
            if (text_[j] == '\\' && j + 1 < end && is_ascii_punctuation(text_[j + 1])) {
                ++j;
            } else if (text_[j] == '(') {
                if (++depth > 32) return std::nullopt;
            } else if (text_[j] == ')') {
                if (depth == 0) break;
                --depth;
            }
        }
        j = (std::min)(j, end);
        if (depth != 0) return std::nullopt;
        return destination{{i, j}, j};
    }

    // Where a title that begins at `i` ends, quotes included.
    std::optional<std::size_t> title_end(std::size_t i, std::size_t end) const {
        const char open = i < end ? text_[i] : '\0';
        if (open != '"' && open != '\'' && open != '(') return std::nullopt;
        const char close = open == '(' ? ')' : open;
        for (std::size_t j = i + 1; j < end; ++j) {
            if (text_[j] == '\\')
                ++j;
            else if (text_[j] == close)
                return j + 1;
            else if (text_[j] == '(' && open == '(')
                return std::nullopt;
        }
        return std::nullopt;
    }

    // `[label]: target "title"`, each on a line of its own. The first definition of a label holds.
    void find_definitions(byte_span block) {
        for (std::size_t begin = block.begin; begin < block.end;) {
            const text_line line = line_at(text_, begin);
            std::size_t i = begin;
            while (i < line.end && (text_[i] == ' ' || text_[i] == '\t' || text_[i] == '>')) ++i;
            const std::size_t next = i < line.end && text_[i] == '[' ? read_definition(i, line, block.end) : 0;
            begin = next != 0 ? next : line.next;
        }
    }

    // Where the line after the definition begins, or 0 if it is none.
    std::size_t read_definition(std::size_t open, text_line line, std::size_t block_end) {
        const auto close = label_end(open, line.end);
        if (!close || *close + 1 >= line.end || text_[*close + 1] != ':' || text_[open + 1] == '^') return 0;
        std::string name = label({open + 1, *close});
        if (name.empty()) return 0;
        std::size_t i = after_space(*close + 2, line.end);
        if (i == line.end) {  // the target may stand on the next line
            if (line.next >= block_end) return 0;
            line = line_at(text_, line.next);
            i = after_space(line.begin, line.end);
        }
        const auto target = read_destination(i, line.end);
        if (!target || target->end == i) return 0;
        std::size_t rest = after_space(target->end, line.end);
        if (rest != line.end) {
            const auto title = title_end(rest, line.end);
            if (!title || rest == target->end || after_space(*title, line.end) != line.end) return 0;
        }
        const byte_span written = target->written;
        definitions_.push_back(
            {decoded_target(text_.substr(written.begin, written.size())), {open, line.end}, written});
        by_label_.try_emplace(std::move(name), definitions_.size() - 1);
        return line.next;
    }

    void scan(byte_span region) {
        if (region.begin >= region.end) return;
        region_ = region;
        const std::vector<backtick_run> runs = backtick_runs(text_, region);
        std::size_t run = 0;
        openers_.clear();
        plain_below_ = 0;
        anchor_ = none;
        no_tag_before_ = taken_ = region.begin;
        broken_tag_ = no_comments_ = false;
        last_quote_ = {unknown, unknown};
        for (std::size_t i = region.begin; i < region.end;) {
            switch (text_[i]) {
                case '\\':
                    i += i + 1 < region.end && is_ascii_punctuation(text_[i + 1]) ? 2 : 1;
                    break;
                case '`': {
                    while (runs[run].end <= i) ++run;
                    // A backslash may have eaten the first of the run: then the rest is no run of this length.
                    const bool whole = runs[run].begin == i;
                    const std::size_t closing = whole ? runs[run].next : 0;
                    if (closing != 0 && everything_) scan_code({runs[run].end, runs[closing].begin});
                    i = closing != 0 ? runs[closing].end : runs[run].end;
                    break;
                }
                case '<':
                    i = read_angle(i);
                    break;
                case '!':
                    if (at(i + 1) == '[')
                        open_bracket(i, true), i += 2;
                    else
                        ++i;
                    break;
                case '[':
                    open_bracket(i, false), ++i;
                    break;
                case ']':
                    i = close_bracket(i);
                    break;
                case ':':
                    i = read_scheme(i, region);
                    break;
                case 'w':
                case 'W':
                    i = read_www(i, region);
                    break;
                case '=':
                    i = everything_ ? read_loose_attribute(i) : i + 1;
                    break;
                default:
                    ++i;
            }
        }
    }

    void open_bracket(std::size_t i, bool image) {
        if (!openers_.empty()) openers_.back().holds_brackets = true;
        openers_.push_back({i, image, out_.size(), false});
    }

    std::size_t close_bracket(std::size_t i) {
        if (openers_.empty()) return i + 1;
        const opener open = openers_.back();
        openers_.pop_back();
        if (!openers_.empty()) openers_.back().holds_brackets = true;
        // A link holds no link: once an inner one is found, brackets around it are text.
        const bool plain = !open.image && openers_.size() < plain_below_ && !everything_;
        plain_below_ = (std::min)(plain_below_, openers_.size());
        if (plain) return i + 1;
        const byte_span words{open.at + (open.image ? 2u : 1u), i};
        if (at(i + 1) == '(') {
            std::size_t j = after_space(i + 2, region_.end);
            if (const auto target = read_destination(j, region_.end)) {
                j = after_space(target->end, region_.end);
                if (const auto title = j > target->end ? title_end(j, region_.end) : std::nullopt)
                    j = after_space(*title, region_.end);
                if (at(j) == ')') {
                    std::string decoded = decoded_target(text_.substr(target->written.begin, target->written.size()));
                    return take(open, {link_kind::inline_link,
                                       open.image,
                                       std::move(decoded),
                                       {open.at, j + 1},
                                       words,
                                       target->written});
                }
            }
        }
        byte_span named = words;
        std::size_t end = i + 1;
        if (at(i + 1) == '[') {
            if (const auto close = label_end(i + 1, region_.end)) {
                if (*close > i + 2) named = {i + 2, *close};
                end = *close + 1;
            }
        }
        const bool own_words = named == words;
        if ((own_words && open.holds_brackets) || named.size() == 0 || named.size() > longest_label) return i + 1;
        const auto found = by_label_.find(label(named));
        if (found == by_label_.end()) return i + 1;
        const definition& d = definitions_[found->second];
        return take(open, {link_kind::reference, open.image, d.target, {open.at, end}, words, d.written});
    }

    // Adds a link and says where to go on.
    std::size_t take(const opener& open, found_link link) {
        const std::size_t end = link.span.end;
        if (!everything_) {
            drop_inner(open.links_before, link.image);
            if (!link.image) plain_below_ = openers_.size();
        }
        out_.push_back(std::move(link));
        taken_ = end;
        return end;
    }

    // In prose, what was found among a link's words is words; images stay, but not in the description of an image.
    void drop_inner(std::size_t from, bool images_too) {
        if (anchor_ != none && anchor_ >= from) anchor_ = none;
        const auto first = out_.begin() + static_cast<std::ptrdiff_t>(from);
        out_.erase(std::remove_if(first, out_.end(), [&](const found_link& l) { return images_too || !l.image; }),
                   out_.end());
    }

    void add_url(link_kind kind, std::size_t begin, std::size_t end) {
        out_.push_back({kind,
                        false,
                        std::string(text_.substr(begin, (std::min)(end - begin, longest_link + 1))),
                        {begin, end},
                        {end, end},
                        {begin, end}});
        taken_ = end;
    }

    // At a colon: the bare URL around it, if it is one.
    std::size_t read_scheme(std::size_t colon, byte_span within) {
        if (!text_.substr(colon + 1, within.end - colon - 1).starts_with("//")) return colon + 1;
        const std::size_t least = (std::max)(within.begin, taken_);
        const auto in_scheme = [](char c) {
            return is_ascii_letter(c) || is_ascii_digit(c) || c == '+' || c == '-' || c == '.';
        };
        std::size_t begin = colon;
        while (begin > least && colon - begin < 32 && in_scheme(text_[begin - 1])) --begin;
        while (begin < colon && !is_ascii_letter(text_[begin])) ++begin;
        if (begin == colon) return colon + 1;
        const std::size_t authority = colon + 3, end = bare_url_end(text_.substr(0, within.end), begin, authority);
        if (end <= authority) return colon + 1;
        add_url(link_kind::bare, begin, end);
        return end;
    }

    std::size_t read_www(std::size_t i, byte_span within) {
        if (!equal_ignoring_case(text_.substr(i, 4), "www.") || i + 4 >= within.end) return i + 1;
        const std::size_t least = (std::max)(within.begin, taken_);
        const char before = i > least ? text_[i - 1] : ' ';
        if (is_ascii_letter(before) || is_ascii_digit(before) ||
            std::string_view("-._/@:").find(before) != std::string_view::npos)
            return i + 1;
        const std::size_t end = bare_url_end(text_.substr(0, within.end), i, i);
        if (end <= i + 4) return i + 1;
        add_url(link_kind::bare, i, end);
        return end;
    }

    // Code is not linked, but what names a host in it may be copied, or be no code to another renderer.
    void scan_code(byte_span code) {
        for (std::size_t i = code.begin; i < code.end;) {
            switch (text_[i]) {
                case ':':
                    i = read_scheme(i, code);
                    break;
                case 'w':
                case 'W':
                    i = read_www(i, code);
                    break;
                case '/':
                    i = read_host(i, code);
                    break;
                default:
                    ++i;
            }
        }
    }

    // `//host.example` behind a bracket, a quote or an equals sign: a URL that takes the scheme of its page.
    std::size_t read_host(std::size_t i, byte_span within) {
        if (i + 2 >= within.end || text_[i + 1] != '/' || i == within.begin || i < taken_) return i + 1;
        if (std::string_view("(\"'=<").find(text_[i - 1]) == std::string_view::npos) return i + 1;
        const std::size_t end = bare_url_end(text_.substr(0, within.end), i, i + 2);
        if (text_.substr(i + 2, end - i - 2).find('.') == std::string_view::npos) return i + 1;
        add_url(link_kind::bare, i, end);
        return end;
    }

    // At `<`: an autolink, a comment or a tag.
    std::size_t read_angle(std::size_t i) {
        std::size_t end = i + 1;
        bool mail = false;
        while (end < region_.end && !is_ascii_space(text_[end]) && text_[end] != '<' && text_[end] != '>')
            mail |= text_[end++] == '@';
        const std::string_view inside = text_.substr(i + 1, end - i - 1);
        const std::size_t scheme = scheme_length(inside);
        if (at(end) == '>' &&
            ((scheme >= 2 && scheme <= 32) || (mail && inside.find_first_of("=/\"'") == inside.npos))) {
            add_url(link_kind::autolink, i + 1, end);
            found_link& link = out_.back();
            link.target = (scheme == 0 ? "mailto:" : "") + decoded_references(inside);
            link.span = {i, end + 1};
            link.words = {end + 1, end + 1};
            return end + 1;
        }
        if (!everything_ && text_.substr(i, 4) == "<!--") {
            // Without an end it is no comment, and neither is any that begins later: not searched for again.
            const std::size_t close = no_comments_ ? std::string_view::npos : region_text().find("-->", i + 4);
            no_comments_ = close == std::string_view::npos;
            return no_comments_ ? i + 1 : close + 3;
        }
        if (at(i + 1) == '/') return close_anchor(i);
        return is_ascii_letter(at(i + 1)) && i >= no_tag_before_ ? read_tag(i) : i + 1;
    }

    std::string_view region_text() const { return text_.substr(0, region_.end); }

    std::size_t close_anchor(std::size_t i) {
        if (!equal_ignoring_case(text_.substr(i, 3), "</a")) return i + 1;
        const std::size_t close = after_space(i + 3, region_.end);
        if (at(close) != '>') return i + 1;
        if (anchor_ != none) {
            if (!everything_) drop_inner(anchor_ + 1, false);
            out_[anchor_].words.end = i;
            out_[anchor_].span.end = close + 1;
        }
        anchor_ = none;
        return close + 1;
    }

    struct attribute {
        byte_span name, value;
    };

    // A tag is read by the grammar of HTML. If it breaks that, its bytes are read again as text, once: no tag begins
    // among them, and in `everything` its attributes count all the same.
    std::size_t read_tag(std::size_t i) {
        std::size_t j = i + 1;
        while (is_ascii_letter(at(j)) || is_ascii_digit(at(j)) || at(j) == '-') ++j;
        const std::string_view name = text_.substr(i + 1, j - i - 1);
        attributes_.clear();
        for (;;) {
            const std::size_t before = j;
            j = after_space(j, region_.end);
            if (at(j) == '/' && at(j + 1) == '>') ++j;
            if (at(j) == '>') break;
            const std::size_t begin = j;
            // What follows a value at once is no attribute, and the whole is no tag.
            while (j < region_.end && before < begin && is_name(text_[j])) ++j;
            attribute a{{begin, j}, {}};
            const std::size_t equals = after_space(j, region_.end);
            if (begin != j && at(equals) == '=') {
                const auto value = read_value(after_space(equals + 1, region_.end));
                if (value) a.value = value->span;
                j = value ? value->next : begin;
            }
            if (j == begin) {
                no_tag_before_ = (std::max)(j, i + 1);
                broken_tag_ = true;
                return i + 1;
            }
            attributes_.push_back(a);
        }
        take_attributes(name, {i, j + 1});
        return j + 1;
    }

    static bool is_name(char c) noexcept {
        return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == ':' || c == '.' || c == '-';
    }
    static bool is_quote(char c) noexcept { return c == '"' || c == '\''; }

    struct attribute_value {
        byte_span span;    // without its quotes
        std::size_t next;  // behind them
    };

    // Nothing if a quote is not closed or no value stands there.
    std::optional<attribute_value> read_value(std::size_t i) {
        if (is_quote(at(i))) {
            std::size_t& last = last_quote_[at(i) == '"' ? 0 : 1];
            if (last == unknown) last = region_.begin + region_text().substr(region_.begin).rfind(text_[i]);
            if (last <= i) return std::nullopt;
            const std::size_t end = region_text().find(text_[i], i + 1);
            return attribute_value{{i + 1, end}, end + 1};
        }
        std::size_t end = i;
        while (end < region_.end && !is_ascii_space(text_[end]) &&
               std::string_view("\"'=<>`").find(text_[end]) == std::string_view::npos)
            ++end;
        if (end == i) return std::nullopt;
        return attribute_value{{i, end}, end};
    }

    void take_attributes(std::string_view tag, byte_span span) {
        const bool anchor = equal_ignoring_case(tag, "a"), image = equal_ignoring_case(tag, "img");
        bool opened = false;
        for (const attribute& a : attributes_) {
            const std::string_view name = text_.substr(a.name.begin, a.name.size());
            const bool href = equal_ignoring_case(name, "href"), src = equal_ignoring_case(name, "src");
            const bool prose_link = (href && (anchor || equal_ignoring_case(tag, "area"))) || (src && image);
            if (everything_ ? !is_url_attribute(name) : !prose_link) {
                if (everything_) scan_code(a.value);
                continue;
            }
            const std::string_view value = text_.substr(a.value.begin, a.value.size());
            out_.push_back({link_kind::html, image, decoded_references(value), span, {span.end, span.end}, a.value});
            if (anchor && href && !opened) {
                anchor_ = out_.size() - 1;
                opened = true;
            }
        }
        taken_ = span.end;
    }

    // At an equals sign in what looked like a tag and was none.
    std::size_t read_loose_attribute(std::size_t i) {
        if (!broken_tag_) return i + 1;
        std::size_t end = i;
        while (end > region_.begin && i - end < 8 && is_ascii_space(text_[end - 1])) --end;
        std::size_t begin = end;
        while (begin > region_.begin && end - begin < 12 &&
               (is_ascii_letter(text_[begin - 1]) || text_[begin - 1] == ':'))
            --begin;
        if (!is_url_attribute(text_.substr(begin, end - begin))) return i + 1;
        const std::size_t from = after_space(i + 1, region_.end);
        auto value = read_value(from);
        if (!value && is_quote(at(from))) value = read_value(from + 1);
        if (!value || value->span.size() == 0) return i + 1;
        // Its bytes are read on as text: to a renderer that sees no tag here, the URL may be a longer one.
        const byte_span written = value->span;
        out_.push_back({link_kind::html,
                        false,
                        decoded_references(piece(written)),
                        {begin, value->next},
                        {value->next, value->next},
                        written});
        return i + 1;
    }

    // A plain-text reader knows no marks: in `[a](https://good.example)@evil.example` it may see one URL whose host is
    // the second. Whatever else was found, a scheme before something with an @ or a backslash in its authority is a
    // link.
    void find_user_info() {
        const auto place = [](const found_link& l) { return std::pair(l.written.begin, l.written.end); };
        std::vector<std::pair<std::size_t, std::size_t>> known;
        for (const found_link& l : out_) known.push_back(place(l));
        for (const definition& d : definitions_) known.emplace_back(d.written.begin, d.written.end);
        std::ranges::sort(known);
        taken_ = 0;
        for (std::size_t colon = text_.find("://"); colon != text_.npos; colon = text_.find("://", colon + 3)) {
            const std::size_t before = out_.size();
            if (authority_at(text_, colon + 3).open_to_two_readings) read_scheme(colon, {0, text_.size()});
            if (out_.size() > before && std::ranges::binary_search(known, place(out_.back()))) out_.pop_back();
        }
    }

    static constexpr std::size_t none = SIZE_MAX, unknown = SIZE_MAX - 1;

    std::string_view text_;
    bool everything_;
    std::vector<found_link> out_;
    std::vector<definition> definitions_;
    std::map<std::string, std::size_t> by_label_;

    // Of the stretch of prose that is being read.
    byte_span region_{};
    std::vector<opener> openers_;
    std::size_t plain_below_ = 0;  // brackets below this depth hold a link already
    std::size_t anchor_ = none;    // the <a> that is open, in out_
    std::size_t taken_ = 0;        // no URL begins before
    std::size_t no_tag_before_ = 0;
    bool broken_tag_ = false, no_comments_ = false;
    std::array<std::size_t, 2> last_quote_{unknown, unknown};
    std::vector<attribute> attributes_;
};

}  // namespace detail

inline std::vector<found_link> find_links(std::string_view text, links_in where) {
    return detail::link_scanner(text, where).run();
}

}  // namespace QUARRY_NAMESPACE
