// Links: an answer may only lead where the articles it was made from lead.
//
//     const auto context = pack(search.retrieve(question, 5));
//     const auto checked = check_links(ask(context.text), allowed_links(context));
//     show(checked.text);  // every other link is gone, its words are kept; checked.violations says what was there
//
// Allowed are the links of the units that are in the context, and no others: a link of an article that was found and
// then left out by the budget is a violation. Targets are compared whole, in normal form (text/url.hpp): scheme, host,
// port, path and query. Every target of the answer is checked, wherever a renderer or a reader could find one.
//
// It does not check what a link's words promise, nor that the page exists. A name without scheme or www. is a word.
//
// Source  Yelp Engineering, "Beyond the Menu Tree", 2026, for the list; what happens to a bad link is ours.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../text/bare_url.hpp"
#include "../text/boundaries.hpp"
#include "../text/link_scanner.hpp"
#include "../text/markdown.hpp"
#include "../text/url.hpp"
#include "pack.hpp"

namespace QUARRY_NAMESPACE {

/// A link that an answer may have.
struct allowed_link {
    std::string target;       // as it was first written
    std::string words{};      // what it stood on; for an article's own address, its title
    std::size_t number = 0;   // of the packed unit that has it; 0: the application's own
    bool is_address = false;  // where the unit itself is found
};

/// The links an answer may have, in normal form. The first to be added with a normal form is the one that is kept.
class link_allowlist {
 public:
    /// Adds a link; false, and nothing happens, if its target has no normal form or is there already.
    bool add(allowed_link link);

    /// The allowed link that leads to the same place, or null.
    const allowed_link* find(std::string_view target) const;

    /// What should stand in place of a link that is not allowed: the allowed link with the same words, else the one on
    /// the same host that shares the most of the path, else the address of the first unit. Null if there is none of
    /// these.
    ///
    /// Order  of equals, the first that was added: links of better units come before.
    const allowed_link* nearest(std::string_view target, std::string_view words, bool absolute = false) const;

    auto begin() const noexcept { return links_.begin(); }
    auto end() const noexcept { return links_.end(); }
    std::size_t size() const noexcept { return links_.size(); }

 private:
    std::vector<allowed_link> links_;
    std::vector<std::string> forms_;
    std::map<std::string, std::size_t, std::less<>> place_of_;  // of every normal form
};

struct allowlist_options {
    /// Where a unit is found on the web: that address is allowed, and its relative links are too as they resolve from
    /// it. Null or empty: nowhere; relative links are then allowed as they are written.
    std::function<std::string(const packed_unit&)> address{};
};

/// The links of what is in the context: those its articles declare, and those that stand in the packed words.
link_allowlist allowed_links(const packed_context& context, const allowlist_options& options = {});

/// What happens to a link that is not allowed.
enum class link_policy : std::uint8_t {
    strip,    // it goes, its words stay
    replace,  // its target becomes the nearest allowed one; where there is none, as strip
    reject,   // the answer goes
};

struct link_check_options {
    link_policy policy = link_policy::strip;
    std::string removed = "(link removed)";  // stands where a bare URL stood, which has no words
};

struct link_violation {
    link_kind kind;
    bool image = false;
    std::string target;         // as the answer has it
    std::string words{};        // what it stands on
    byte_span span{};           // in the answer; empty if it only came to light when others were gone
    bool unreadable = false;    // it has no normal form: two programs may read it differently
    std::string replacement{};  // the target it was given; empty if it was removed
};

struct checked_answer {
    std::string text;       // fit to be shown; empty if rejected
    bool rejected = false;  // by policy, or because links came to light again and again
    std::vector<link_violation> violations{};
};

/// The answer without links that are not allowed.
///
/// The text that comes back has no violations: it was checked again. A definition (`[label]: target`) is a link of its
/// own. Cost    linear in the answer, and for `replace` one pass over the allowed links per violation.
checked_answer check_links(std::string_view answer, const link_allowlist& allowed,
                           const link_check_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// `www.` alone says no scheme, and browsers take either.
inline std::vector<std::string> forms_of(std::string_view target) {
    std::vector<std::string> forms;
    target = trimmed(target);
    const auto give = [&](const std::string& whole) {
        if (auto form = normalized_link(whole)) forms.push_back(std::move(*form));
    };
    if (equal_ignoring_case(target.substr(0, 4), "www.")) {
        give(concat("https://", target));
        give(concat("http://", target));
    } else {
        give(std::string(target));
    }
    return forms;
}

/// Bytes of a normal form up to the end of scheme and authority; 0 if it has no host.
inline std::size_t site_length(std::string_view form) noexcept {
    const std::size_t slashes = form.find("//");
    if (slashes == form.npos) return 0;
    return (std::min)(form.find_first_of("/?", slashes + 2), form.size());
}

// Some bytes of a text and what becomes of them.
struct edit {
    byte_span span;
    std::string by;
};

inline std::string edited(std::string_view text, std::vector<edit> edits) {
    detail::sort_stably(edits, [](const edit& a, const edit& b) {
        return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end < b.span.end;
    });
    std::string out;
    std::size_t at = 0;
    for (const edit& e : edits) {
        if (e.span.end <= at && e.span.begin < at) continue;  // inside what has gone already
        if (e.span.begin > at) out += text.substr(at, e.span.begin - at);
        out += e.by;
        at = (std::max)(at, e.span.end);
    }
    return out += text.substr(at);
}

/// A target as it may stand in place of one that was written as this kind of link, so that it is read as it is meant.
inline std::string written_target(std::string_view target, link_kind kind) {
    std::string out;
    for (const char c : target) {
        if (c == ' ')
            out += "%20";
        else if (c == '"')
            out += "%22";
        else if (c == '<')
            out += "%3C";
        else if (c == '>')
            out += "%3E";
        else if (c == '\'' && kind == link_kind::html)
            out += "&#39;";  // the attribute may be in single quotes
        else
            out += c;
    }
    const bool destination = kind == link_kind::inline_link || kind == link_kind::definition;
    const bool ends_early = kind == link_kind::bare && bare_url_end(out, 0, out.find("//") + 2) != out.size();
    if (ends_early || (destination && out.find_first_of("()") != out.npos)) return concat('<', out, '>');
    return out;
}

class link_checker {
 public:
    link_checker(const link_allowlist& allowed, const link_check_options& options)
        : allowed_(allowed), options_(options) {}

    checked_answer run(std::string_view answer) {
        out_.text = answer;
        // Taking a link away can join what stood around it to another one: looked at again until nothing is found.
        constexpr int most_rounds = 8;
        for (int round = 0; round < most_rounds; ++round) {
            edits_.clear();
            const std::size_t before = out_.violations.size();
            for (const found_link& l : find_links(out_.text, links_in::everything))
                if (!is_allowed(l)) report(l, round == 0);
            if (out_.violations.size() == before) return std::move(out_);
            if (options_.policy == link_policy::reject) break;
            out_.text = edited(out_.text, std::move(edits_));
        }
        out_.rejected = true;
        out_.text.clear();
        return std::move(out_);
    }

 private:
    bool is_allowed(const found_link& l) const { return allowed_.find(l.target) != nullptr; }

    void report(const found_link& l, bool first_round) {
        link_violation v{l.kind, l.image, l.target, words_of(l), first_round ? l.span : byte_span{}};
        v.unreadable = forms_of(l.target).empty();
        const bool without_marks = l.kind == link_kind::bare || l.kind == link_kind::autolink;
        // References share their definition, whose target is written once: their words cannot choose another.
        const bool shared = l.kind == link_kind::reference || l.kind == link_kind::definition;
        const allowed_link* other = nullptr;
        if (options_.policy == link_policy::replace)
            other = allowed_.nearest(l.target, shared ? std::string_view() : v.words, without_marks);
        if (other) {
            v.replacement = other->target;
            if (l.kind != link_kind::reference) edits_.push_back({l.written, written_target(other->target, l.kind)});
        } else {
            remove(l, without_marks);
        }
        out_.violations.push_back(std::move(v));
    }

    void remove(const found_link& l, bool without_words) {
        if (without_words) {
            edits_.push_back({l.span, options_.removed});
            return;
        }
        edits_.push_back({{l.span.begin, l.words.begin}, {}});
        edits_.push_back({{l.words.end, l.span.end}, {}});
    }

    std::string words_of(const found_link& l) const {
        const std::string_view text = out_.text;
        const std::size_t end = code_point_boundary(text, (std::min)(l.words.end, l.words.begin + longest_link_text));
        return plain_words(text.substr(l.words.begin, end - l.words.begin));
    }

    const link_allowlist& allowed_;
    const link_check_options& options_;
    checked_answer out_;
    std::vector<edit> edits_;
};

}  // namespace detail

inline bool link_allowlist::add(allowed_link link) {
    const std::vector<std::string> forms = detail::forms_of(link.target);
    bool added = false;
    for (const std::string& form : forms) added |= place_of_.try_emplace(form, links_.size()).second;
    if (!added) return false;
    forms_.push_back(forms.front());
    links_.push_back(std::move(link));
    return true;
}

inline const allowed_link* link_allowlist::find(std::string_view target) const {
    for (const std::string& form : detail::forms_of(target))
        if (const auto found = place_of_.find(form); found != place_of_.end()) return &links_[found->second];
    return nullptr;
}

inline const allowed_link* link_allowlist::nearest(std::string_view target, std::string_view words,
                                                   bool absolute) const {
    const auto usable = [&](std::size_t i) { return !absolute || detail::site_length(forms_[i]) != 0; };
    words = detail::trimmed(words);
    for (std::size_t i = 0; i < links_.size() && !words.empty(); ++i)
        if (usable(i) && detail::equal_ignoring_case(links_[i].words, words)) return &links_[i];

    const std::vector<std::string> forms = detail::forms_of(target);
    const std::string_view form = forms.empty() ? std::string_view() : std::string_view(forms.front());
    const std::size_t site = detail::site_length(form);
    const allowed_link* best = nullptr;
    std::size_t most = 0;
    for (std::size_t i = 0; i < links_.size() && site != 0; ++i) {
        const std::string_view other = forms_[i];
        if (detail::site_length(other) != site || other.substr(0, site) != form.substr(0, site)) continue;
        const auto differs = std::ranges::mismatch(form, other).in1;
        const auto shared = static_cast<std::size_t>(differs - form.begin());
        if (shared > most) best = &links_[i], most = shared;
    }
    if (best) return best;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (links_[i].is_address && usable(i)) return &links_[i];
    return nullptr;
}

inline link_allowlist allowed_links(const packed_context& context, const allowlist_options& options) {
    link_allowlist out;
    for (const packed_unit& u : context.units) {
        const std::string address = options.address ? options.address(u) : std::string();
        if (!address.empty()) out.add({address, u.title, u.number, true});
        const auto add = [&](const std::string& target, const std::string& words) {
            out.add({target, words, u.number});
            if (address.empty()) return;
            if (auto resolved = resolved_link(address, target)) out.add({std::move(*resolved), words, u.number});
        };
        for (const link& l : u.links) add(l.target, l.text);
        const std::string_view packed = std::string_view(context.text).substr(u.span.begin, u.span.size());
        for (const found_link& l : find_links(packed, links_in::everything)) {
            const std::size_t end =
                code_point_boundary(packed, (std::min)(l.words.end, l.words.begin + detail::longest_link_text));
            add(l.target, plain_words(packed.substr(l.words.begin, end - l.words.begin)));
        }
    }
    return out;
}

inline checked_answer check_links(std::string_view answer, const link_allowlist& allowed,
                                  const link_check_options& options) {
    return detail::link_checker(allowed, options).run(answer);
}

}  // namespace QUARRY_NAMESPACE
