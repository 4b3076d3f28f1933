// Structure: what is known of a unit's place without asking anybody.
//
// An article's title and the headings a part stands under; of source files the path, the scopes around the part and the
// names that the file defines. It costs nothing and never invents. On questions about code it brings BM25 most of what
// contexts written by a model bring; prose without headings gains little.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "../text/code_outline.hpp"

namespace QUARRY_NAMESPACE {

/// Which names of a source file belong to the context of a part of it.
enum class context_names : std::uint8_t {
    none,
    scope,  // the namespaces, types and functions that the part stands in
    file,   // these, and then what the file defines, nearest to the part first in case they are too many
};

/// From a unit to a text about its place. A line each: title and headings, joined by " > "; scopes, likewise; names;
/// neighbours.
struct structure {
    bool title = true;     // the article's; of source files the path
    bool headings = true;  // titles of the sections around the unit, and the article's headings that it stands under
    context_names names = context_names::file;
    std::size_t most_names = 100;
    std::size_t neighbours = 0;  // bytes of the article before the unit, and after it, cut at blanks
    std::function<std::string(const unit_ref&)> also{};  // a line of the application's own; null: none

    class of_article;

    /// The context of one unit.  Cost  linear in its article; of_article pays that once for all units of one.
    std::string operator()(source_ref source, unit_id unit) const;
};

/// The same for many units of one article.
class structure::of_article {
   public:
    of_article(const structure& which, source_ref source, unit_id article);

    std::string operator()(unit_id unit) const;

   private:
    std::string path(unit_id unit) const;
    std::string scopes(byte_span part) const;
    std::string names(byte_span part) const;
    std::string neighbours(byte_span part) const;

    const structure* which_;
    source_ref source_;
    unit_id article_;
    std::vector<code_name> outline_;     // empty where the article is no code
    std::vector<std::size_t> first_of_;  // places in outline_ where a name stands first
};

// ------------------------------------------------------------------------------------------------------------- detail

inline std::string structure::operator()(source_ref source, unit_id unit) const {
    return of_article(*this, source, source.article_of(unit))(unit);
}

inline structure::of_article::of_article(const structure& which, source_ref source, unit_id article)
    : which_(&which), source_(source), article_(article) {
    if (which.names == context_names::none) return;
    auto layout = code_layout_of(source.title(article));
    if (!layout) layout = code_layout_of(source.id(article));
    if (!layout) return;
    outline_ = code_outline(source.text(article), *layout);
    std::unordered_set<std::string_view> known;
    for (std::size_t i = 0; i < outline_.size(); ++i)
        if (known.insert(outline_[i].name).second) first_of_.push_back(i);
}

inline std::string structure::of_article::operator()(unit_id unit) const {
    std::string out;
    const auto add = [&](const std::string& line) {
        if (detail::trimmed(line).empty()) return;
        if (!out.empty()) out += '\n';
        out += line;
    };
    const byte_span part = source_.span(unit);
    add(path(unit));
    if (which_->names != context_names::none) add(scopes(part));
    if (which_->names == context_names::file) add(names(part));
    if (which_->neighbours != 0) add(neighbours(part));
    if (which_->also) add(which_->also(source_[unit]));
    return out;
}

inline std::string structure::of_article::path(unit_id unit) const {
    std::vector<std::string_view> steps;
    const auto add = [&](std::string_view step) {
        step = detail::trimmed(step);
        if (!step.empty() && std::ranges::find(steps, step) == steps.end()) steps.push_back(step);
    };
    if (which_->headings) {
        std::vector<unit_id> above;
        for (std::optional<unit_id> up = unit; up && *up != article_; up = source_.parent(*up)) above.push_back(*up);
        std::vector<const heading*> open;
        const std::size_t begin = source_.span(unit).begin;
        if (unit != article_)
            for (const heading& h : source_.headings(article_)) {
                if (h.span.begin > begin) break;
                while (!open.empty() && open.back()->level >= h.level) open.pop_back();
                open.push_back(&h);
            }
        if (which_->title) add(source_.title(article_));
        for (auto part = above.rbegin(); part != above.rend(); ++part) add(source_.title(*part));
        for (const heading* h : open) add(h->text);
    } else if (which_->title) {
        add(source_.title(article_));
    }
    std::string out;
    for (const std::string_view step : steps) out += out.empty() ? std::string(step) : detail::concat(" > ", step);
    return out;
}

inline std::string structure::of_article::scopes(byte_span part) const {
    std::string out;
    for (const code_name* n : scopes_around(outline_, part)) out += (out.empty() ? "" : " > ") + n->name;
    return out;
}

// Each name once. Where there are too many, the ones whose declarations begin nearest to the part; in the file's order.
inline std::string structure::of_article::names(byte_span part) const {
    std::size_t first = 0, last = first_of_.size();
    const auto distance = [&](std::size_t i) {
        const std::size_t at = outline_[first_of_[i]].scope.begin;
        return at < part.begin ? part.begin - at : at - part.begin;
    };
    while (last - first > which_->most_names) {
        if (distance(first) > distance(last - 1)) ++first;
        else --last;
    }
    std::string out;
    for (std::size_t i = first; i < last; ++i) out += (out.empty() ? "" : " ") + outline_[first_of_[i]].name;
    return out;
}

inline std::string structure::of_article::neighbours(byte_span part) const {
    const std::string_view all = source_.text(article_);
    if (part.end > all.size() || part.begin > part.end) return {};
    const std::size_t width = which_->neighbours;
    std::string_view before = all.substr(0, part.begin), after = all.substr(part.end);
    // Half a word at the far end is no word: cut at the blank.
    if (before.size() > width) {
        before = before.substr(before.size() - width);
        before.remove_prefix((std::min)(before.find_first_of(" \t\r\n"), before.size()));
    }
    if (after.size() > width) {
        after = after.substr(0, width);
        const std::size_t blank = after.find_last_of(" \t\r\n");
        after = after.substr(0, blank == std::string_view::npos ? 0 : blank);
    }
    before = detail::trimmed(before);
    after = detail::trimmed(after);
    return before.empty()  ? std::string(after)
           : after.empty() ? std::string(before)
                           : detail::concat(before, '\n', after);
}

}  // namespace QUARRY_NAMESPACE
