// Keys: the texts that are indexed for a unit. What is indexed is not what is returned.
//
// A kind is a population with statistics of its own: titles, summaries and headings are one (metadata), bodies,
// contexts and questions are others. One index holds one kind, since a BM25 average over bodies and questions is the
// average of nothing. Which part of its unit a key is, the key remembers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/saved.hpp"
#include "ids.hpp"
#include "source.hpp"

namespace QUARRY_NAMESPACE {

enum class key_kind : std::uint8_t { body, metadata, context, question, summary, code };
enum class key_part : std::uint8_t { whole, title, summary, heading, phrase, question, context };

constexpr std::string_view name_of(key_kind kind) noexcept {
    constexpr std::string_view names[] = {"body", "metadata", "context", "question", "summary", "code"};
    return names[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(key_part part) noexcept {
    constexpr std::string_view names[] = {"whole", "title", "summary", "heading", "phrase", "question", "context"};
    return names[static_cast<std::size_t>(part)];
}

/// A text that counts `weight` times: weight 3 is the same as writing the text three times.
struct weighted_text {
    std::string text;
    float weight = 1.0f;
};

/// What an expander emits. `text` is what is embedded, and what a hit shows as its match; `lexical` is what BM25
/// indexes, and `text` again if it is empty. A key of words alone has no text, one of meaning alone a blank `lexical`.
struct key {
    unit_id unit;
    key_part part = key_part::whole;
    std::string text;
    std::vector<weighted_text> lexical{};
};

/// The keys of one index by key id: which unit, which part, which words.
///
/// The words of `whole` keys are not kept: they are the unit's own.
class key_table {
   public:
    explicit key_table(key_kind kind = key_kind::body) : kind_(kind) {}

    /// Several tables, numbered on from one to the next. They are shared and not copied; nothing can be added.
    static key_table joined(key_kind kind, std::vector<std::shared_ptr<const key_table>> parts);

    key_id add(const key& k) {
        entry e{k.unit, k.part, k.part == key_part::whole ? std::string() : k.text};
        if (k.part != key_part::whole && k.text.empty())
            for (const weighted_text& field : k.lexical) e.text += e.text.empty() ? field.text : ' ' + field.text;
        entries_.push_back(std::move(e));
        return key_at(entries_.size() - 1);
    }

    key_kind kind() const noexcept { return kind_; }
    std::size_t size() const noexcept { return parts_.empty() ? entries_.size() : ends_.back(); }
    bool contains(key_id key) const noexcept { return index_of(key) < size(); }

    // Requires  contains(key).
    unit_id unit(key_id key) const noexcept { return at(index_of(key)).unit; }
    key_part part(key_id key) const noexcept { return at(index_of(key)).part; }
    std::string_view text(key_id key, const source_ref& source) const {
        const entry& e = at(index_of(key));
        return e.part == key_part::whole ? source.text(e.unit) : std::string_view(e.text);
    }

    std::size_t memory() const noexcept {
        std::size_t bytes = entries_.capacity() * sizeof(entry);
        for (const entry& e : entries_) bytes += e.text.capacity();
        for (const auto& part : parts_) bytes += part->memory();
        return bytes;
    }

   private:
    friend struct detail::saved<key_table>;
    friend struct detail::merger<key_table>;

    struct entry {
        unit_id unit;
        key_part part;
        std::string text;
    };

    const entry& at(std::size_t key) const noexcept {
        if (parts_.empty()) return entries_[key];
        const auto part = static_cast<std::size_t>(std::ranges::upper_bound(ends_, key) - ends_.begin());
        return parts_[part]->at(key - (part == 0 ? 0 : ends_[part - 1]));
    }

    key_kind kind_;
    std::vector<entry> entries_;
    std::vector<std::shared_ptr<const key_table>> parts_;  // of a joined table, which has no entries of its own
    std::vector<std::size_t> ends_;                        // where the numbers of each part end
};

inline key_table key_table::joined(key_kind kind, std::vector<std::shared_ptr<const key_table>> parts) {
    key_table out(kind);
    std::size_t end = 0;
    for (const auto& part : parts) out.ends_.push_back(end += part->size());
    out.parts_ = std::move(parts);
    return out;
}

/// The key that a hit came by, resolved.
struct matched_key {
    key_kind kind;
    key_part part;
    std::string_view text;
};

}  // namespace QUARRY_NAMESPACE
