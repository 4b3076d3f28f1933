// Metadata keys: an article is found by its title, its summary, each of its headings, and phrases that led to it before.
//
// The body is not a key: a long text embedded whole says a little of everything. What is returned is the article all the
// same. An answer that stands in the body alone is out of reach by construction; whole_article takes a second lane over
// bodies for those.
//
// The surprising thing: headings such as "Overview" stand in every third article and fill the list of candidates. They
// are left out, or put behind their article's title, by option.
//
// Source  Yelp Engineering, "Beyond the Menu Tree", 2026.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "key_expander.hpp"

namespace QUARRY_NAMESPACE {

/// What becomes of a heading that many articles share.
enum class shared_headings : std::uint8_t { keep, drop, after_title };

struct metadata_key_options {
    shared_headings shared = shared_headings::after_title;
    std::size_t shared_by = 3;  // a heading of this many articles or more is shared

    /// More texts that lead to an article: questions that it answered before. Null: none.
    std::function<std::vector<std::string>(const unit_ref&)> phrases{};
};

/// Keys of articles: title, summary, every distinct heading, phrases. Equal texts of one article are one key.
class metadata_keys {
   public:
    /// Counts in how many articles of `source` each heading stands.
    explicit metadata_keys(source_ref source, metadata_key_options options = {}) : options_(std::move(options)) {
        source.for_each_unit([&](unit_id unit) {
            std::unordered_set<std::string> distinct;
            for (const heading& h : source.headings(unit)) distinct.insert(std::string(detail::trimmed(h.text)));
            for (const std::string& h : distinct) ++articles_with_[h];
        });
    }

    key_kind kind() const noexcept { return key_kind::metadata; }
    unit_kind level() const noexcept { return unit_kind::article; }

    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        const std::string title(detail::trimmed(source.title(unit)));
        const auto give = [&](key_part part, std::string_view text) {
            if (!detail::trimmed(text).empty()) emit({unit, part, std::string(detail::trimmed(text))});
        };
        give(key_part::title, title);
        give(key_part::summary, source.summary(unit));
        for (const heading& h : source.headings(unit)) give(key_part::heading, heading_key(title, h.text));
        if (options_.phrases)
            for (const std::string& phrase : options_.phrases(source[unit])) give(key_part::phrase, phrase);
    }

   private:
    std::string heading_key(const std::string& title, std::string_view text) const {
        const std::string own(detail::trimmed(text));
        const auto found = articles_with_.find(own);
        const bool shared = found != articles_with_.end() && found->second >= options_.shared_by;
        if (!shared || options_.shared == shared_headings::keep) return own;
        return options_.shared == shared_headings::drop || title.empty() || own == title ? "" : title + ": " + own;
    }

    metadata_key_options options_;
    std::unordered_map<std::string, std::size_t> articles_with_;
};

}  // namespace QUARRY_NAMESPACE
