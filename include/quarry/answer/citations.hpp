// Citations: the numbers in an answer, and the units of the context that they stand for.
//
//     for (const citation& c : check_citations(answer, context).unknown) ...  // the model cited what it was not shown
//
// `[3]`, `[1, 4]` and `[2-5]` are citations, also where they are the words of a link. Numbers in code and in
// definitions
// (`[1]: https://...`) are not. That a unit is cited does not mean that it says what the answer says.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"
#include "../detail/ascii.hpp"
#include "../text/link_scanner.hpp"
#include "../text/markdown_blocks.hpp"
#include "pack.hpp"

namespace QUARRY_NAMESPACE {

/// The numbers `first` to `last`, and the bytes they stand on: "3", or "2-5".
struct citation {
    std::size_t first = 0;
    std::size_t last = 0;  // the same for a single number; a number that fits no size_t is the largest
    byte_span span{};
};

/// A unit of the context and where the answer cites it.
struct cited_unit {
    std::size_t number;  // in the context
    std::vector<byte_span> spans{};
};

struct citation_report {
    std::vector<cited_unit> cited{};     // in the order in which the answer first cites them
    std::vector<citation> unknown{};     // of a range, the part that the context does not have
    std::vector<std::size_t> uncited{};  // numbers of units that the answer never cites
};

/// The citations of a text, in order. A range that runs backwards is two numbers.
///
/// Cost  linear in the text.
std::vector<citation> find_citations(std::string_view answer);

/// Which citations of the answer the context has, and which it has not.
///
/// Cost  linear in the answer, and in the units of every range.
citation_report check_citations(std::string_view answer, const packed_context& context);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class citation_reader {
 public:
    explicit citation_reader(std::string_view text) : text_(text) {}

    std::vector<citation> run() {
        for (const markdown_block& b : markdown_blocks(text_)) {
            if (b.kind == block_kind::code) continue;
            std::size_t at = b.span.begin;
            const std::vector<backtick_run> runs = backtick_runs(text_, b.span);
            for (std::size_t r = 0; r < runs.size(); ++r) {
                if (runs[r].next == 0) continue;
                read({at, runs[r].begin});
                r = runs[r].next;
                at = runs[r].end;
            }
            read({at, b.span.end});
        }
        return std::move(out_);
    }

 private:
    void read(byte_span prose) {
        for (std::size_t i = prose.begin; i < prose.end; ++i)
            if (text_[i] == '[') read_bracket(i, prose.end);
    }

    // A list of numbers and ranges, and nothing else, up to the closing bracket.
    void read_bracket(std::size_t open, std::size_t end) {
        const std::size_t before = out_.size();
        std::size_t i = open;
        bool item = false;
        do {
            ++i;
            while (i < end && text_[i] == ' ') ++i;
            item = read_item(i, end);
            while (i < end && text_[i] == ' ') ++i;
        } while (item && i < end && (text_[i] == ',' || text_[i] == ';'));
        const bool closed = item && i < end && text_[i] == ']';
        const bool definition = closed && i + 1 < end && text_[i + 1] == ':' && at_line_begin(open);
        if (!closed || definition) out_.resize(before);
    }

    bool at_line_begin(std::size_t i) const {
        while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t' || text_[i - 1] == '>')) --i;
        return i == 0 || text_[i - 1] == '\n' || text_[i - 1] == '\r';
    }

    bool read_item(std::size_t& i, std::size_t end) {
        const std::size_t begin = i;
        const auto first = number(i, end);
        if (!first) return false;
        const std::size_t behind = i;
        while (i < end && text_[i] == ' ') ++i;
        const std::string_view rest = text_.substr(i, end - i);
        const std::size_t dash = rest.starts_with('-') ? 1 : rest.starts_with("\u2013") ? 3 : 0;
        if (dash != 0) {
            i += dash;
            while (i < end && text_[i] == ' ') ++i;
            const std::size_t second = i;
            const auto last = number(i, end);
            if (!last) return false;
            if (*first <= *last) {
                out_.push_back({*first, *last, {begin, i}});
            } else {
                out_.push_back({*first, *first, {begin, behind}});
                out_.push_back({*last, *last, {second, i}});
            }
            return true;
        }
        i = behind;
        out_.push_back({*first, *first, {begin, behind}});
        return true;
    }

    std::optional<std::size_t> number(std::size_t& i, std::size_t end) const {
        const std::size_t begin = i;
        std::size_t n = 0;
        for (; i < end && is_ascii_digit(text_[i]); ++i) {
            const auto digit = static_cast<std::size_t>(text_[i] - '0');
            n = n > (SIZE_MAX - digit) / 10 ? SIZE_MAX : n * 10 + digit;
        }
        return i == begin ? std::nullopt : std::optional(n);
    }

    std::string_view text_;
    std::vector<citation> out_;
};

}  // namespace detail

inline std::vector<citation> find_citations(std::string_view answer) { return detail::citation_reader(answer).run(); }

inline citation_report check_citations(std::string_view answer, const packed_context& context) {
    citation_report report;
    const std::size_t known = context.units.size();
    std::vector<std::size_t> place(known + 1, SIZE_MAX);  // of each number in report.cited
    for (const citation& c : find_citations(answer)) {
        for (std::size_t n = (std::max)(c.first, std::size_t{1}); n <= (std::min)(c.last, known); ++n) {
            if (place[n] == SIZE_MAX) {
                place[n] = report.cited.size();
                report.cited.push_back({n});
            }
            report.cited[place[n]].spans.push_back(c.span);
        }
        if (c.first == 0) report.unknown.push_back({0, 0, c.span});
        if (c.last > known) report.unknown.push_back({(std::max)(c.first, known + 1), c.last, c.span});
    }
    for (std::size_t n = 1; n <= known; ++n)
        if (place[n] == SIZE_MAX) report.uncited.push_back(n);
    return report;
}

}  // namespace QUARRY_NAMESPACE
