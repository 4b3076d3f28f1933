// Field catalog: what there is to ask for, with the values that are really stored.
//
//     const field_catalog fields(corpus, {{.field = "tags", .only_when_named = true}, {.field = "tenant", .hidden =
//     true}});
//
// A model that is told the names of fields and not their values writes filters that match nothing; so does a reader.
// The catalog is taken from a corpus once and shown to both. It does not follow a corpus that changes: make a new one.
//
// The surprising thing: values are content. What stands here goes into prompts, and which values are known shows in
// which are repaired. Where tenants share a corpus, hide the fields that tell them apart and make one catalog a scope.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../core/filter.hpp"
#include "../core/schema.hpp"
#include "../core/scope.hpp"
#include "../detail/text.hpp"
#include "question_words.hpp"

namespace QUARRY_NAMESPACE {

/// What an application knows of a field beyond its declaration.
struct field_hint {
    std::string field;
    bool hidden = false;           // neither shown nor read nor accepted: for what scopes are made of
    bool only_when_named = false;  // its values are everyday words and count only where the question names the field
    bool open = false;             // values that nobody holds may be asked for: for catalogs that do not know all
    std::vector<std::string> names{};                            // other words for the field: "written by"
    std::vector<std::pair<std::string, std::string>> aliases{};  // other words for a value: {"flat", "apartment"}
};

/// How a text was recognised as a value.
enum class value_match : std::uint8_t { unknown, ambiguous, exact, folded, alias, near };

/// Made once, then only read: const calls may overlap.
///
/// Errors  usage_error `metadata.unknown_field` for a hint of a field that is not declared, `catalog.alias` for an
/// alias
///         of a value that does not read as one of its field.
class field_catalog {
   public:
    struct known_value {
        std::string text;
        std::size_t units = 0;  // that hold it
    };

    struct known_field {
        field declared;
        field_hint hint;
        std::vector<known_value> values{};               // of texts and lists of texts, in ascending order
        std::optional<field_value> least{}, greatest{};  // of numbers and dates
    };

    struct listed_value {
        std::string field;
        field_value value;
        std::size_t units = 1;
    };

    struct snapped {
        value_match match = value_match::unknown;
        std::string text{};  // the stored value
    };

    /// The values of all units that `within` lets through; of generated units none.
    ///
    /// Cost  one look at every field of every unit.
    explicit field_catalog(const corpus& c, std::vector<field_hint> hints = {},
                           const scope& within = scope::everything());

    /// The same from values listed by hand, for sources elsewhere.
    field_catalog(schema fields, const std::vector<listed_value>& values, std::vector<field_hint> hints = {});

    const schema& fields() const noexcept { return schema_; }
    const known_field& operator[](std::size_t position) const noexcept { return known_[position]; }
    std::size_t size() const noexcept { return known_.size(); }

    /// The position of a field that may be asked for: by its name, byte for byte.
    std::optional<std::size_t> find(std::string_view name) const noexcept;

    /// The stored value that `text` means in a field of texts or lists of texts: the same bytes; else the same but for
    /// case, spaces, hyphens and underscores; else an alias; else the one value within one edit (two from nine letters
    /// on). More than one candidate is `ambiguous`, not the first of them.
    ///
    /// Cost  of a near spelling: one look at every value of the field.
    snapped snap(std::size_t position, std::string_view text) const;

   private:
    void declare(schema fields, std::vector<field_hint> hints);
    void count(std::size_t position, const field_value& value, std::size_t units);
    void settle();

    schema schema_;
    std::vector<known_field> known_;
    std::vector<std::map<std::string, std::size_t>> counted_;
    std::vector<std::unordered_map<std::string, std::vector<std::size_t>>> squeezed_;  // to places in values
    std::vector<std::unordered_map<std::string, std::string>> aliases_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Is the edit distance (insert, delete, replace, swap neighbours) of two short texts at most `most`?
/// Cost  the product of their lengths.
inline bool within_edits(std::string_view a, std::string_view b, std::size_t most) {
    if (a.size() > b.size() + most || b.size() > a.size() + most) return false;
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = (std::min)({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = (std::min)(row[j], before[j - 2] + 1);
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[b.size()] <= most;
}

}  // namespace detail

inline void field_catalog::declare(schema fields, std::vector<field_hint> hints) {
    schema_ = std::move(fields);
    for (const field& f : schema_) known_.push_back({.declared = f, .hint = {.field = f.name}});
    for (field_hint& h : hints) {
        const std::size_t position = detail::require_field(schema_, h.field, "quarry::field_catalog");
        known_[position].hint = std::move(h);
    }
    counted_.resize(known_.size());
}

inline field_catalog::field_catalog(const corpus& c, std::vector<field_hint> hints, const scope& within) {
    declare(c.fields(), std::move(hints));
    const selection visible = c.select({.within = &within});
    for (std::size_t i = 0; i < c.size(); ++i) {
        const unit_id unit = unit_at(i);
        if (c.kind(unit) == unit_kind::generated || !visible.returned().contains(unit)) continue;
        for (std::size_t f = 0; f < known_.size(); ++f)
            if (const auto value = c.value(unit, known_[f].declared.name)) count(f, *value, 1);
    }
    settle();
}

inline field_catalog::field_catalog(schema fields, const std::vector<listed_value>& values,
                                    std::vector<field_hint> hints) {
    declare(std::move(fields), std::move(hints));
    for (const listed_value& v : values) {
        const std::size_t position = detail::require_field(schema_, v.field, "quarry::field_catalog");
        count(position, schema_.coerced(position, v.value), v.units);
    }
    settle();
}

inline void field_catalog::count(std::size_t position, const field_value& value, std::size_t units) {
    known_field& f = known_[position];
    if (f.hint.hidden) return;
    if (const auto* text = value.get_if<std::string>()) {
        counted_[position][*text] += units;
    } else if (const auto* list = value.get_if<std::vector<std::string>>()) {
        for (const std::string& element : *list) counted_[position][element] += units;
    } else {
        const std::span<const field_value> asked(&value, 1);
        if (!f.least || holds(filter_op::gt, &*f.least, asked) == truth::yes) f.least = value;
        if (!f.greatest || holds(filter_op::lt, &*f.greatest, asked) == truth::yes) f.greatest = value;
    }
}

// Brings values and look-up tables in line with what was counted.
inline void field_catalog::settle() {
    squeezed_.resize(known_.size());
    aliases_.resize(known_.size());
    for (std::size_t f = 0; f < known_.size(); ++f) {
        for (const auto& [text, units] : counted_[f]) {
            squeezed_[f][detail::squeezed(text)].push_back(known_[f].values.size());
            known_[f].values.push_back({text, units});
        }
        for (const auto& [words, value] : known_[f].hint.aliases) {
            const bool boolean = known_[f].declared.type == field_type::boolean;
            if (boolean ? value != "true" && value != "false" : value.empty())
                detail::raise<usage_error>(
                    "catalog.alias",
                    detail::concat("quarry::field_catalog: field ", detail::quoted(known_[f].declared.name),
                                   " has no value ", detail::quoted(value), " for ", detail::quoted(words)));
            aliases_[f].insert_or_assign(detail::squeezed(words), value);
        }
    }
}

inline std::optional<std::size_t> field_catalog::find(std::string_view name) const noexcept {
    const auto position = schema_.find(name);
    return position && !known_[*position].hint.hidden ? position : std::nullopt;
}

inline field_catalog::snapped field_catalog::snap(std::size_t position, std::string_view text) const {
    const known_field& f = known_[position];
    const auto at = std::ranges::lower_bound(f.values, text, {}, &known_value::text);
    if (at != f.values.end() && at->text == text) return {value_match::exact, at->text};
    const std::string wanted = detail::squeezed(text);
    if (wanted.empty()) return {};
    if (const auto found = squeezed_[position].find(wanted); found != squeezed_[position].end()) {
        if (found->second.size() > 1) return {value_match::ambiguous, {}};
        return {value_match::folded, f.values[found->second.front()].text};
    }
    if (const auto found = aliases_[position].find(wanted); found != aliases_[position].end())
        return {value_match::alias, found->second};
    if (wanted.size() < 5) return {};
    const std::size_t most = wanted.size() < 9 ? 1 : 2;
    for (std::size_t edits = 1; edits <= most; ++edits) {
        std::vector<const std::vector<std::size_t>*> candidates;
        for (const auto& [squeezed, places] : squeezed_[position])
            if (detail::within_edits(wanted, squeezed, edits)) candidates.push_back(&places);
        if (candidates.size() == 1 && candidates.front()->size() == 1)
            return {value_match::near, f.values[candidates.front()->front()].text};
        if (!candidates.empty()) return {value_match::ambiguous, {}};
    }
    return {};
}

}  // namespace QUARRY_NAMESPACE
