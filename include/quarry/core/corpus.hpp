// The corpus: a forest of units with their texts and metadata, in memory.
//
// Articles are the roots; sections and chunks are spans of their article's text; generated units stand beside them and
// name their sources. Unit ids are given in the order of adding and never reused. It knows nothing of indexes.
//
// Metadata is kept by column, each distinct value once: a comparison is evaluated once per distinct value and then
// looked up, so that a filter costs one pass over 4-byte codes and not one over texts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../config.hpp"
#include "../detail/saved.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "error.hpp"
#include "filter.hpp"
#include "ids.hpp"
#include "schema.hpp"
#include "scope.hpp"
#include "source.hpp"
#include "unit.hpp"
#include "unit_set.hpp"

namespace QUARRY_NAMESPACE {

struct corpus_options {
    /// A query without a scope is then an error, `scope.missing`, and not an unrestricted query.
    bool scope_mandatory = false;
};

/// Not copyable by accident: texts are large. Adding needs exclusive access; everything const may run concurrently.
///
/// Errors  usage_error `corpus.duplicate_id`, `corpus.empty_id`, `corpus.unknown_unit`, `corpus.span`,
///         `corpus.sources`, and those of schema and metadata. A call that throws has changed nothing.
class corpus {
   public:
    corpus() = default;
    explicit corpus(schema fields, corpus_options options = {});
    corpus(corpus&&) noexcept = default;
    corpus& operator=(corpus&&) noexcept = default;

    unit_id add(article a);
    unit_id add_part(unit_id parent, part p);
    unit_id add_generated(generated g);

    /// Replaces all metadata that `unit` states itself; fields that are not in `meta` become missing (or inherited).
    void replace_metadata(unit_id unit, const metadata& meta);

    // What a UnitSource offers. Errors: usage_error `corpus.unknown_unit` for an id that was never given.
    std::size_t size() const noexcept { return units_.size(); }
    unit_kind kind(unit_id unit) const { return at(unit).kind; }
    std::string_view id(unit_id unit) const { return at(unit).id; }
    std::string_view title(unit_id unit) const { return at(unit).title; }
    std::string_view summary(unit_id unit) const;
    std::string_view text(unit_id unit) const;
    byte_span span(unit_id unit) const { return at(unit).span; }
    std::optional<unit_id> parent(unit_id unit) const { return at(unit).parent; }
    std::span<const heading> headings(unit_id unit) const;
    std::span<const link> links(unit_id unit) const;
    std::span<const unit_id> sources(unit_id unit) const { return at(unit).sources; }
    std::optional<field_value> value(unit_id unit, std::string_view field) const;
    std::optional<unit_id> find(std::string_view id) const;
    unit_ref operator[](unit_id unit) const { return source_ref(*this)[unit]; }

    /// The units that `criteria` lets through.
    ///
    /// A generated unit is returned only if all its sources are let through, and walked through if any is.
    /// Cost    one pass over n codes per leaf of the filter, and one comparison per distinct value.
    /// Errors  usage_error `scope.missing`, `scope.unset`, `filter.comparison`, and those of the schema.
    selection select(const selection_criteria& criteria) const;

    /// Changes with every unit that is added and all metadata that is replaced, and moves along with the corpus.
    source_state state() const noexcept { return {identity_, revision_}; }

    const schema& fields() const noexcept { return schema_; }

    /// The distinct values that are stored for `field`, in ascending order. Of 2 and 2.0 one is listed.
    std::vector<field_value> values(std::string_view field) const;

    /// Bytes held, text and metadata and ids, to within the allocator's rounding.
    std::size_t memory() const noexcept;

   private:
    friend struct detail::saved<corpus>;
    friend struct detail::merger<corpus>;

    struct article_data {
        std::string text, summary;
        std::vector<heading> headings;
        std::vector<link> links;
    };

    struct unit_data {
        unit_kind kind;
        std::optional<unit_id> parent;
        std::uint32_t article;  // index into articles_; generated units have an entry of their own
        byte_span span;
        std::string id, title;
        std::vector<unit_id> sources;
    };

    // One field: each distinct value once, and per unit the number of its value plus one. 0: not stated here, so the
    // parent's value holds, and for an article the field is missing.
    struct column {
        std::vector<field_value> distinct;
        std::map<field_value, std::uint32_t> number_of;
        std::vector<std::uint32_t> codes;
    };

    // Which units make an expression true and which make it false; in neither set, it is unknown.
    struct outcome {
        unit_set yes, no;
    };

    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };

    const unit_data& at(unit_id unit) const;
    std::vector<std::pair<std::size_t, field_value>> coerced(const metadata& meta) const;
    void require_new_id(std::string_view id) const;
    unit_id commit(unit_data unit, article_data* fresh, std::vector<std::pair<std::size_t, field_value>> values);
    static std::uint32_t code_of(column& c, const field_value& value);
    const field_value* stored(unit_id unit, std::size_t field) const;
    outcome evaluate(const filter& f) const;
    outcome evaluate_leaf(const filter& f) const;
    unit_set matching(const selection_criteria& criteria, const filter* scope_condition) const;
    void settle_generated(unit_set& set, bool all_sources) const;
    unit_set made_of_one(unit_id article) const;

    std::shared_ptr<const char> identity_ = std::make_shared<const char>('\0');
    std::uint64_t revision_ = 0;
    schema schema_;
    corpus_options options_;
    std::vector<unit_data> units_;
    std::vector<article_data> articles_;
    std::vector<column> columns_;
    std::vector<unit_id> generated_;
    std::unordered_map<std::string, unit_id, text_hash, std::equal_to<>> unit_of_id_;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline corpus::corpus(schema fields, corpus_options options)
    : schema_(std::move(fields)), options_(options), columns_(schema_.size()) {}

inline unit_id corpus::add(article a) {
    require_new_id(a.id);
    auto values = coerced(a.meta);
    const byte_span whole{0, a.text.size()};
    article_data fresh{std::move(a.text), std::move(a.summary), std::move(a.headings), std::move(a.links)};
    return commit({unit_kind::article, std::nullopt, 0, whole, std::move(a.id), std::move(a.title), {}}, &fresh,
                  std::move(values));
}

inline unit_id corpus::add_part(unit_id parent, part p) {
    const unit_data& above = at(parent);
    if (above.kind == unit_kind::generated || p.kind == unit_kind::article || p.kind == unit_kind::generated)
        detail::raise<usage_error>("corpus.part",
                                   detail::concat("quarry::corpus::add_part: a ", name_of(p.kind),
                                                  " cannot be a part of a ", name_of(above.kind)));
    if (p.span.begin > p.span.end || p.span.begin < above.span.begin || p.span.end > above.span.end)
        detail::raise<usage_error>(
            "corpus.span", detail::concat("quarry::corpus::add_part: bytes ", p.span.begin, " to ", p.span.end,
                                          " lie outside the parent's ", above.span.begin, " to ", above.span.end));
    if (p.id.empty()) {
        const unit_data* root = &above;
        while (root->parent) root = &at(*root->parent);
        p.id = detail::concat(root->id, '#', p.span.begin, '-', p.span.end);
        if (above.kind != unit_kind::article && unit_of_id_.contains(p.id))
            p.id += detail::concat('@', name_of(p.kind));
    }
    require_new_id(p.id);
    auto values = coerced(p.meta);
    return commit({p.kind, parent, above.article, p.span, std::move(p.id), std::move(p.title), {}}, nullptr,
                  std::move(values));
}

inline unit_id corpus::add_generated(generated g) {
    require_new_id(g.id);
    if (g.sources.empty())
        detail::raise<usage_error>("corpus.sources", "quarry::corpus::add_generated: " + detail::quoted(g.id) +
                                                         " names no source, so nobody could say who may see it");
    for (const unit_id source : g.sources) at(source);
    const byte_span whole{0, g.text.size()};
    article_data fresh{std::move(g.text), {}, {}, {}};
    return commit({unit_kind::generated, std::nullopt, 0, whole, std::move(g.id), std::move(g.title),
                   std::move(g.sources)},
                  &fresh, {});
}

inline void corpus::replace_metadata(unit_id unit, const metadata& meta) {
    at(unit);
    std::vector<std::uint32_t> codes(columns_.size(), 0);
    for (const auto& [field, value] : coerced(meta)) codes[field] = code_of(columns_[field], value);
    for (std::size_t field = 0; field < columns_.size(); ++field) columns_[field].codes[index_of(unit)] = codes[field];
    ++revision_;
}

inline std::string_view corpus::summary(unit_id unit) const {
    const unit_data& u = at(unit);
    return u.kind == unit_kind::article ? std::string_view(articles_[u.article].summary) : std::string_view();
}

inline std::string_view corpus::text(unit_id unit) const {
    const unit_data& u = at(unit);
    return std::string_view(articles_[u.article].text).substr(u.span.begin, u.span.size());
}

inline std::span<const heading> corpus::headings(unit_id unit) const {
    const unit_data& u = at(unit);
    if (u.kind != unit_kind::article) return {};
    return articles_[u.article].headings;
}

// A part's links are those of its article: what may be cited does not depend on how the article was cut.
inline std::span<const link> corpus::links(unit_id unit) const { return articles_[at(unit).article].links; }

inline std::optional<field_value> corpus::value(unit_id unit, std::string_view field) const {
    at(unit);
    const auto* found = stored(unit, detail::require_field(schema_, field, "quarry::corpus::value"));
    return found ? std::optional(*found) : std::nullopt;
}

inline std::optional<unit_id> corpus::find(std::string_view id) const {
    const auto found = unit_of_id_.find(id);
    return found == unit_of_id_.end() ? std::nullopt : std::optional(found->second);
}

inline std::vector<field_value> corpus::values(std::string_view field) const {
    const column& c = columns_[detail::require_field(schema_, field, "quarry::corpus::values")];
    std::vector<bool> used(c.distinct.size());
    for (const std::uint32_t code : c.codes)
        if (code != 0) used[code - 1] = true;
    std::vector<field_value> out;
    for (const auto& [value, number] : c.number_of)
        if (used[number]) out.push_back(value);
    // A number field keeps integers as integers, and its map has all of them before the first number.
    detail::sort_stably(out, [](const auto& a, const auto& b) { return detail::compare(a, b) < 0; });
    const auto same = [](const auto& a, const auto& b) { return detail::compare(a, b) == 0; };
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
    return out;
}

inline const corpus::unit_data& corpus::at(unit_id unit) const {
    if (index_of(unit) >= units_.size())
        detail::raise<usage_error>("corpus.unknown_unit", detail::concat("quarry::corpus: there is no unit ",
                                                                         index_of(unit), ", there are ",
                                                                         units_.size()));
    return units_[index_of(unit)];
}

inline std::vector<std::pair<std::size_t, field_value>> corpus::coerced(const metadata& meta) const {
    std::vector<std::pair<std::size_t, field_value>> out;
    for (const auto& [name, value] : meta) {
        const std::size_t field = detail::require_field(schema_, name, "quarry::corpus");
        out.emplace_back(field, schema_.coerced(field, value));
    }
    return out;
}

inline void corpus::require_new_id(std::string_view id) const {
    if (id.empty()) detail::raise<usage_error>("corpus.empty_id", "quarry::corpus: a unit needs an id of its own");
    if (unit_of_id_.contains(id))
        detail::raise<usage_error>("corpus.duplicate_id",
                                   "quarry::corpus: there is a unit " + detail::quoted(id) + " already");
    if (units_.size() >= UINT32_MAX - 1)
        detail::raise<usage_error>("corpus.full", "quarry::corpus: a corpus holds at most 2^32 - 2 units");
}

// Everything that may throw comes before the unit is counted, and what was done before is undone or harmless: a code
// beyond size() is cut off, a distinct value that nobody uses is not reported.
inline unit_id corpus::commit(unit_data unit, article_data* fresh,
                              std::vector<std::pair<std::size_t, field_value>> values) {
    const unit_id id = unit_at(units_.size());
    const std::size_t articles_before = articles_.size();
    const bool is_generated = unit.kind == unit_kind::generated;
    try {
        for (column& c : columns_) c.codes.resize(units_.size() + 1, 0);
        for (const auto& [field, value] : values)
            columns_[field].codes[index_of(id)] = code_of(columns_[field], value);
        if (fresh) {
            unit.article = static_cast<std::uint32_t>(articles_.size());
            articles_.push_back(std::move(*fresh));
        }
        if (units_.size() == units_.capacity()) units_.reserve(2 * units_.size() + 1);
        if (is_generated && generated_.size() == generated_.capacity()) generated_.reserve(2 * generated_.size() + 1);
        unit_of_id_.emplace(unit.id, id);
    } catch (...) {
        for (column& c : columns_) c.codes.resize((std::min)(c.codes.size(), units_.size()));
        articles_.resize(articles_before);
        throw;
    }
    units_.push_back(std::move(unit));
    if (is_generated) generated_.push_back(id);
    ++revision_;
    return id;
}

// A value that nobody had before gets the next number; failing later leaves it unused.
inline std::uint32_t corpus::code_of(column& c, const field_value& value) {
    const auto [place, fresh] = c.number_of.try_emplace(value, static_cast<std::uint32_t>(c.distinct.size()));
    if (fresh) {
        try {
            c.distinct.push_back(value);
        } catch (...) {
            c.number_of.erase(place);
            throw;
        }
    }
    return place->second + 1;
}

inline const field_value* corpus::stored(unit_id unit, std::size_t field) const {
    const column& c = columns_[field];
    for (std::optional<unit_id> u = unit; u; u = units_[index_of(*u)].parent)
        if (const std::uint32_t code = c.codes[index_of(*u)]; code != 0) return &c.distinct[code - 1];
    return nullptr;
}

inline selection corpus::select(const selection_criteria& criteria) const {
    if (options_.scope_mandatory && !criteria.within)
        detail::raise<usage_error>("scope.missing", "quarry::corpus: this corpus requires a scope with every query");
    const filter* condition = criteria.within ? criteria.within->condition() : nullptr;
    std::optional<filter> expression;
    if (criteria.where) expression = *criteria.where;
    if (condition) expression = expression ? filter::restricted(*expression, *condition) : *condition;
    if (!expression && !criteria.unlike && (generated_.empty() || criteria.include_generated))
        return selection().made_by(state());

    auto walked = std::make_shared<unit_set>(matching(criteria, condition));
    auto returned = std::make_shared<unit_set>(*walked);
    if (!generated_.empty()) {
        settle_generated(*walked, false);
        settle_generated(*returned, true);
        if (!criteria.include_generated)
            for (const unit_id unit : generated_) returned->erase(unit);
    }
    if (criteria.unlike) made_of_one(source_ref(*this).article_of(*criteria.unlike)).for_each([&](unit_id unit) {
        returned->erase(unit);
    });
    return selection(std::move(expression), std::move(returned), std::move(walked)).made_by(state());
}

// The article, its parts, and what was generated from these alone.
inline unit_set corpus::made_of_one(unit_id article) const {
    unit_set own(size());
    for (std::size_t i = 0; i < units_.size(); ++i)
        if (const unit_id unit = unit_at(i); source_ref(*this).article_of(unit) == article) own.insert(unit);
    for (const unit_id unit : generated_) {
        const auto& sources = units_[index_of(unit)].sources;
        if (std::ranges::all_of(sources, [&](unit_id source) { return own.contains(source); })) own.insert(unit);
    }
    return own;
}

inline unit_set corpus::matching(const selection_criteria& criteria, const filter* scope_condition) const {
    unit_set set = criteria.where ? evaluate(checked(*criteria.where, schema_)).yes : unit_set::all(size());
    if (scope_condition) set &= evaluate(checked(*scope_condition, schema_)).yes;
    return set;
}

// In ascending order of ids, so that a summary of summaries finds its sources settled.
inline void corpus::settle_generated(unit_set& set, bool all_sources) const {
    for (const unit_id unit : generated_) {
        const auto& sources = units_[index_of(unit)].sources;
        const auto in_set = [&](unit_id source) { return set.contains(source); };
        const bool match = all_sources ? std::ranges::all_of(sources, in_set) : std::ranges::any_of(sources, in_set);
        if (match) set.insert(unit);
        else set.erase(unit);
    }
}

inline corpus::outcome corpus::evaluate(const filter& f) const {
    if (f.is_leaf()) return evaluate_leaf(f);
    if (f.op() == filter_op::none_of) {
        outcome child = evaluate(f.children().front());
        return {std::move(child.no), std::move(child.yes)};
    }
    // and: yes where all are yes, no where any is no. or: the other way round.
    const bool conjunction = f.op() == filter_op::all_of;
    outcome out{unit_set(size()), unit_set(size())};
    unit_set& everywhere = conjunction ? out.yes : out.no;
    unit_set& anywhere = conjunction ? out.no : out.yes;
    everywhere = unit_set::all(size());
    for (const filter& child_filter : f.children()) {
        const outcome child = evaluate(child_filter);
        everywhere &= conjunction ? child.yes : child.no;
        anywhere |= conjunction ? child.no : child.yes;
    }
    return out;
}

inline corpus::outcome corpus::evaluate_leaf(const filter& f) const {
    const column& c = columns_[*schema_.find(f.field())];
    // Three sets of 16 units in one number, so that a unit costs one look into the table and one shift.
    constexpr std::uint64_t yes = 1, no = yes << 16, unstated = no << 16;
    const auto bits_of = [](truth t) { return t == truth::yes ? yes : t == truth::no ? no : std::uint64_t{0}; };
    std::vector<std::uint64_t> table;  // by code
    table.push_back(unstated | bits_of(holds(f.op(), nullptr, f.values())));
    for (const field_value& value : c.distinct) table.push_back(bits_of(holds(f.op(), &value, f.values())));
    outcome out{unit_set(size()), unit_set(size())};
    for (std::size_t first = 0; first < size(); first += 64) {
        std::uint64_t all_yes = 0, all_no = 0, all_unstated = 0;
        for (std::size_t part = first; part < (std::min)(first + 64, size()); part += 16) {
            const std::size_t n = (std::min)(size() - part, std::size_t{16});
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < n; ++i) bits |= table[c.codes[part + i]] << i;
            all_yes |= (bits & 0xFFFF) << (part - first);
            all_no |= (bits >> 16 & 0xFFFF) << (part - first);
            all_unstated |= (bits >> 32) << (part - first);
        }
        out.yes.assign_word(first / 64, all_yes);
        out.no.assign_word(first / 64, all_no);
        // A part that states nothing takes its parent's outcome. The parent's id is lower, so that is known already.
        for (std::uint64_t rest = all_unstated; rest != 0; rest &= rest - 1) {
            const unit_id unit = unit_at(first + static_cast<std::size_t>(std::countr_zero(rest)));
            const auto parent = units_[index_of(unit)].parent;
            if (!parent) continue;
            for (unit_set* set : {&out.yes, &out.no}) {
                if (set->contains(*parent)) set->insert(unit);
                else set->erase(unit);
            }
        }
    }
    return out;
}

inline std::size_t corpus::memory() const noexcept {
    std::size_t bytes = 0;
    for (const unit_data& u : units_)
        bytes += sizeof u + 2 * u.id.capacity() + u.title.capacity() + sizeof(unit_id) * u.sources.capacity();
    for (const article_data& a : articles_) {
        bytes += sizeof a + a.text.capacity() + a.summary.capacity();
        for (const heading& h : a.headings) bytes += sizeof h + h.text.capacity();
        for (const link& l : a.links) bytes += sizeof l + l.target.capacity() + l.text.capacity();
    }
    for (const column& c : columns_)
        bytes += sizeof c + 4 * c.codes.capacity() + 2 * sizeof(field_value) * c.distinct.size();
    return bytes;
}

}  // namespace QUARRY_NAMESPACE
