// Sources: where the texts, titles and metadata of units come from.
//
// The in-memory corpus is one; an engine elsewhere that fetches what its hits need is another. Retrievers see either
// through `source_ref`, a pointer and a table of functions: no base class to derive from, and two retrievers search the
// same source exactly when their references are equal.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../config.hpp"
#include "filter.hpp"
#include "ids.hpp"
#include "scope.hpp"
#include "unit.hpp"
#include "unit_set.hpp"

namespace QUARRY_NAMESPACE {

/// What a source evaluates into a selection, once per query.
struct selection_criteria {
    const filter* where = nullptr;         // null: no filter
    const scope* within = nullptr;         // null: none was given, which a source may refuse
    bool include_generated = false;        // may generated text be returned as if it were a source?
    std::optional<unit_id> unlike{};       // leave out this unit, its whole article, and summaries of that alone
};

/// Views that a source returns stay valid as long as the source does and nobody changes it.
template <class S>
concept UnitSource = requires(const S& s, unit_id unit, std::string_view name, const selection_criteria& criteria) {
    { s.size() } -> std::same_as<std::size_t>;                           // every unit id is below this
    { s.kind(unit) } -> std::same_as<unit_kind>;
    { s.id(unit) } -> std::same_as<std::string_view>;                    // the durable string id
    { s.title(unit) } -> std::same_as<std::string_view>;
    { s.text(unit) } -> std::same_as<std::string_view>;
    { s.parent(unit) } -> std::same_as<std::optional<unit_id>>;          // nothing for articles
    { s.value(unit, name) } -> std::same_as<std::optional<field_value>>; // metadata, inherited from parents
    { s.find(name) } -> std::same_as<std::optional<unit_id>>;            // by string id
    { s.select(criteria) } -> std::same_as<selection>;                   // filter and scope, evaluated
};

/// One unit of a source: a view, as cheap to copy as a pointer.
class unit_ref;

/// A reference to any UnitSource. The source must outlive it.
///
/// `summary`, `span`, `headings`, `links` and `sources` are optional in a source; where it lacks them they are empty. So
/// is `state`: a source without it is itself and never changes. And `contains`: without it every id below size() is a unit.
class source_ref {
   public:
    template <UnitSource S>
        requires(!std::same_as<S, source_ref>)
    source_ref(const S& source) noexcept : source_(&source), calls_(&calls_of<S>) {}  // NOLINT: implicit, like a view

    template <class S>
        requires(!std::is_lvalue_reference_v<S> && !std::same_as<std::remove_const_t<S>, source_ref>)
    source_ref(S&&) = delete;  // a temporary source would dangle: give it a name first

    std::size_t size() const { return calls_->size(source_); }
    /// A library that changed has ids below size() that are nobody's. Asking for the text of such a unit is an error.
    bool contains(unit_id unit) const { return calls_->contains(source_, unit); }
    /// Calls `f(unit_id)` for every unit, in the order of their ids.
    template <class F>
    void for_each_unit(F f) const {
        for (std::size_t i = 0; i < size(); ++i)
            if (contains(unit_at(i))) f(unit_at(i));
    }
    unit_kind kind(unit_id unit) const { return calls_->kind(source_, unit); }
    std::string_view id(unit_id unit) const { return calls_->id(source_, unit); }
    std::string_view title(unit_id unit) const { return calls_->title(source_, unit); }
    std::string_view summary(unit_id unit) const { return calls_->summary(source_, unit); }
    std::string_view text(unit_id unit) const { return calls_->text(source_, unit); }
    std::optional<unit_id> parent(unit_id unit) const { return calls_->parent(source_, unit); }
    std::optional<field_value> value(unit_id unit, std::string_view field) const {
        return calls_->value(source_, unit, field);
    }
    byte_span span(unit_id unit) const { return calls_->span(source_, unit); }
    std::span<const heading> headings(unit_id unit) const { return calls_->headings(source_, unit); }
    std::span<const link> links(unit_id unit) const { return calls_->links(source_, unit); }
    /// What a generated unit was made from.
    std::span<const unit_id> sources(unit_id unit) const { return calls_->sources(source_, unit); }
    std::optional<unit_id> find(std::string_view id) const { return calls_->find(source_, id); }
    selection select(const selection_criteria& criteria) const {
        return calls_->select(source_, criteria).made_by(state());
    }
    source_state state() const { return calls_->state(source_); }

    /// The article that `unit` belongs to; an article and a generated unit are their own.
    unit_id article_of(unit_id unit) const {
        for (auto up = parent(unit); up; up = parent(unit)) unit = *up;
        return unit;
    }

    unit_ref operator[](unit_id unit) const;

    friend bool operator==(source_ref a, source_ref b) noexcept { return a.source_ == b.source_; }

   private:
    struct calls {
        std::size_t (*size)(const void*);
        bool (*contains)(const void*, unit_id);
        unit_kind (*kind)(const void*, unit_id);
        std::string_view (*id)(const void*, unit_id);
        std::string_view (*title)(const void*, unit_id);
        std::string_view (*summary)(const void*, unit_id);
        std::string_view (*text)(const void*, unit_id);
        std::optional<unit_id> (*parent)(const void*, unit_id);
        std::optional<field_value> (*value)(const void*, unit_id, std::string_view);
        byte_span (*span)(const void*, unit_id);
        std::span<const heading> (*headings)(const void*, unit_id);
        std::span<const link> (*links)(const void*, unit_id);
        std::span<const unit_id> (*sources)(const void*, unit_id);
        std::optional<unit_id> (*find)(const void*, std::string_view);
        selection (*select)(const void*, const selection_criteria&);
        source_state (*state)(const void*);
    };

    template <class S>
    static const S& as(const void* source) noexcept {
        return *static_cast<const S*>(source);
    }

    template <class S>
    static constexpr calls calls_of = {
        [](const void* s) { return as<S>(s).size(); },
        [](const void* s, unit_id u) -> bool {
            if constexpr (requires { { as<S>(s).contains(u) } -> std::same_as<bool>; }) return as<S>(s).contains(u);
            else return index_of(u) < as<S>(s).size();
        },
        [](const void* s, unit_id u) { return as<S>(s).kind(u); },
        [](const void* s, unit_id u) { return as<S>(s).id(u); },
        [](const void* s, unit_id u) { return as<S>(s).title(u); },
        [](const void* s, unit_id u) -> std::string_view {
            if constexpr (requires { as<S>(s).summary(u); }) return as<S>(s).summary(u);
            else return {};
        },
        [](const void* s, unit_id u) { return as<S>(s).text(u); },
        [](const void* s, unit_id u) { return as<S>(s).parent(u); },
        [](const void* s, unit_id u, std::string_view field) { return as<S>(s).value(u, field); },
        [](const void* s, unit_id u) -> byte_span {
            if constexpr (requires { as<S>(s).span(u); }) return as<S>(s).span(u);
            else return {0, as<S>(s).text(u).size()};
        },
        [](const void* s, unit_id u) -> std::span<const heading> {
            if constexpr (requires { as<S>(s).headings(u); }) return as<S>(s).headings(u);
            else return {};
        },
        [](const void* s, unit_id u) -> std::span<const link> {
            if constexpr (requires { as<S>(s).links(u); }) return as<S>(s).links(u);
            else return {};
        },
        [](const void* s, unit_id u) -> std::span<const unit_id> {
            if constexpr (requires { as<S>(s).sources(u); }) return as<S>(s).sources(u);
            else return {};
        },
        [](const void* s, std::string_view id) { return as<S>(s).find(id); },
        [](const void* s, const selection_criteria& c) { return as<S>(s).select(c); },
        [](const void* s) -> source_state {
            if constexpr (requires { { as<S>(s).state() } -> std::same_as<source_state>; }) return as<S>(s).state();
            else return {std::shared_ptr<const void>(std::shared_ptr<const void>(), s), 0};
        },
    };

    const void* source_;
    const calls* calls_;
};

class unit_ref {
   public:
    unit_ref(source_ref source, unit_id unit) noexcept : source_(source), unit_(unit) {}

    unit_id unit() const noexcept { return unit_; }
    unit_kind kind() const { return source_.kind(unit_); }
    std::string_view id() const { return source_.id(unit_); }
    std::string_view title() const { return source_.title(unit_); }
    std::string_view summary() const { return source_.summary(unit_); }
    std::string_view text() const { return source_.text(unit_); }
    byte_span span() const { return source_.span(unit_); }
    std::span<const heading> headings() const { return source_.headings(unit_); }
    std::span<const link> links() const { return source_.links(unit_); }
    std::optional<unit_id> parent() const { return source_.parent(unit_); }
    unit_ref article() const { return {source_, source_.article_of(unit_)}; }

    /// The value of a metadata field, inherited from the parents where the unit states none itself.
    std::optional<field_value> value(std::string_view field) const { return source_.value(unit_, field); }

   private:
    source_ref source_;
    unit_id unit_;
};

inline unit_ref source_ref::operator[](unit_id unit) const { return {*this, unit}; }

}  // namespace QUARRY_NAMESPACE
