// Filters: typed expressions over metadata, and the one place where their rules stand.
//
// A filter is a value: `eq("product", "app") && ge("year", 2024)`. It is checked against the schema when a query is
// made, evaluated once into a set of units, and applied inside every search. It is never text, so a value that contains
// quotes or operators is only a value.
//
// The surprising thing is the third truth value. A comparison with a field that is missing is neither true nor false
// but unknown; so is `not` of it; and what is unknown at the top does not match. Hence ne(f, v) equals !eq(f, v) for
// every unit, and neither finds units without f: to have those too, write `ne(f, v) || !exists(f)`.
//
//   and: false if any is false, else unknown if any is unknown, else true.   all_of({}) is true.
//   or:  true if any is true, else unknown if any is unknown, else false.    any_of({}) is false.
//   in over an empty list is false and nin is true, whatever is stored.
//
// Texts are compared byte for byte. Integers and numbers compare by value without rounding: 2024 equals 2024.0.
// A day in the filter is its whole day: an instant equals it when inside, is `lt` before it and `gt` after it. A day
// that is stored and compared with an instant inside it is unknown, since nobody knows at what time of that day it was.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "error.hpp"
#include "metadata.hpp"
#include "schema.hpp"

namespace QUARRY_NAMESPACE {

enum class filter_op : std::uint8_t {
    eq, ne, lt, le, gt, ge, in, nin, contains, prefix, exists,  // leaves: a field and values
    all_of, any_of, none_of,                                    // branches: none_of has one child, `not`
};

constexpr std::string_view name_of(filter_op op) noexcept {
    constexpr std::string_view names[] = {"eq",  "ne",       "lt",     "le",     "gt",  "ge", "in",
                                          "nin", "contains", "prefix", "exists", "and", "or", "not"};
    return names[static_cast<std::size_t>(op)];
}

/// An immutable expression tree; copies share it.
///
/// Errors  usage_error `filter.depth` for a tree deeper than `deepest`, and `filter.shape` for an operator with a
///         number of values or children that it does not take, both where it is composed.
class filter {
   public:
    /// Deeper trees are refused when made, so that nothing which walks one can overflow the stack.
    static constexpr std::size_t deepest = 64;

    static filter leaf(filter_op op, std::string_view field, std::vector<field_value> values);
    static filter branch(filter_op op, std::vector<filter> children);

    filter_op op() const noexcept { return node_->op; }
    bool is_leaf() const noexcept { return node_->op <= filter_op::exists; }
    std::string_view field() const noexcept { return node_->field; }
    std::span<const field_value> values() const noexcept { return node_->values; }
    std::span<const filter> children() const noexcept { return node_->children; }
    std::size_t depth() const noexcept { return node_->depth; }

    /// `and(eq(product, "app"), ge(year, 2024))`
    std::string to_string() const;

    /// `f` where `condition` holds too: how a scope is added. One level more than `deepest` is allowed here, so that
    /// any filter can be asked within any scope.
    static filter restricted(filter f, filter condition);

    friend filter operator&&(filter a, filter b) { return branch(filter_op::all_of, {std::move(a), std::move(b)}); }
    friend filter operator||(filter a, filter b) { return branch(filter_op::any_of, {std::move(a), std::move(b)}); }
    friend filter operator!(filter a) { return branch(filter_op::none_of, {std::move(a)}); }

    // Copies only: a moved-from filter keeps its tree, so there is no filter that is empty by accident.
    filter(const filter&) = default;
    filter& operator=(const filter&) = default;

   private:
    struct node {
        filter_op op;
        std::size_t depth;
        std::string field;
        std::vector<field_value> values;
        std::vector<filter> children;
    };

    explicit filter(node n) : node_(std::make_shared<const node>(std::move(n))) {}

    std::shared_ptr<const node> node_;
};

// The leaves. Types are checked against the schema when the query is made.
inline filter eq(std::string_view field, field_value v) { return filter::leaf(filter_op::eq, field, {std::move(v)}); }
inline filter ne(std::string_view field, field_value v) { return filter::leaf(filter_op::ne, field, {std::move(v)}); }
inline filter lt(std::string_view field, field_value v) { return filter::leaf(filter_op::lt, field, {std::move(v)}); }
inline filter le(std::string_view field, field_value v) { return filter::leaf(filter_op::le, field, {std::move(v)}); }
inline filter gt(std::string_view field, field_value v) { return filter::leaf(filter_op::gt, field, {std::move(v)}); }
inline filter ge(std::string_view field, field_value v) { return filter::leaf(filter_op::ge, field, {std::move(v)}); }
/// True if the value equals any of `values`.
inline filter in(std::string_view field, std::vector<field_value> values) {
    return filter::leaf(filter_op::in, field, std::move(values));
}
inline filter nin(std::string_view field, std::vector<field_value> values) {
    return filter::leaf(filter_op::nin, field, std::move(values));
}
/// For lists of texts: true if `text` is one of them.
inline filter contains(std::string_view field, std::string_view text) {
    return filter::leaf(filter_op::contains, field, {text});
}
/// For texts: true if the value begins with these bytes.
inline filter prefix(std::string_view field, std::string_view text) {
    return filter::leaf(filter_op::prefix, field, {text});
}
/// Never unknown: true if the field has a value.
inline filter exists(std::string_view field) { return filter::leaf(filter_op::exists, field, {}); }

inline filter all_of(std::vector<filter> filters) { return filter::branch(filter_op::all_of, std::move(filters)); }
inline filter any_of(std::vector<filter> filters) { return filter::branch(filter_op::any_of, std::move(filters)); }

/// Kleene's three truth values.
enum class truth : std::uint8_t { no, unknown, yes };

constexpr truth operator!(truth t) noexcept { return static_cast<truth>(2 - static_cast<int>(t)); }
constexpr truth operator&&(truth a, truth b) noexcept { return (std::min)(a, b); }
constexpr truth operator||(truth a, truth b) noexcept { return (std::max)(a, b); }

/// Does the leaf hold for the stored value? The table of rules above, in code.
///
/// Requires  values coerced by the schema; `stored` null if the field is missing.
truth holds(filter_op op, const field_value* stored, std::span<const field_value> values);

/// The filter with every value coerced to its field's type.
///
/// Errors  usage_error `metadata.unknown_field`, `metadata.type`, `metadata.date`, `filter.comparison` (an operator
///         that the field's type does not have), each naming the field.
filter checked(const filter& f, const schema& fields);

// ------------------------------------------------------------------------------------------------------------- detail

inline filter filter::leaf(filter_op op, std::string_view field, std::vector<field_value> values) {
    const bool any_count = op == filter_op::in || op == filter_op::nin;
    const std::size_t wanted = op == filter_op::exists ? 0 : 1;
    if (op > filter_op::exists)
        detail::raise<usage_error>(
            "filter.shape", detail::concat("quarry::filter: ", name_of(op), " takes filters, it was given field ",
                                           detail::quoted(field)));
    if (!any_count && values.size() != wanted)
        detail::raise<usage_error>("filter.shape",
                                   detail::concat("quarry::filter: ", name_of(op), " on field ", detail::quoted(field),
                                                  " takes ", wanted, " values, it was given ", values.size()));
    return filter(node{op, 1, std::string(field), std::move(values), {}});
}

namespace detail {

inline void require_depth(std::size_t depth, std::size_t most) {
    if (depth > most)
        raise<usage_error>("filter.depth",
                           concat("quarry::filter: a tree may be ", most, " levels deep, this one would be ", depth));
}

}  // namespace detail

inline filter filter::branch(filter_op op, std::vector<filter> children) {
    if (op <= filter_op::exists)
        detail::raise<usage_error>(
            "filter.shape", detail::concat("quarry::filter: ", name_of(op), " takes a field, it was given ",
                                           children.size(), " filters"));
    if (op == filter_op::none_of && children.size() != 1)
        detail::raise<usage_error>("filter.shape", detail::concat("quarry::filter: not takes 1 filter, it was given ",
                                                                  children.size()));
    std::size_t depth = 0;
    for (const filter& child : children) depth = (std::max)(depth, child.depth());
    detail::require_depth(depth + 1, deepest);
    return filter(node{op, depth + 1, {}, {}, std::move(children)});
}

inline filter filter::restricted(filter f, filter condition) {
    const std::size_t depth = (std::max)(f.depth(), condition.depth()) + 1;
    detail::require_depth(depth, deepest + 1);
    return filter(node{filter_op::all_of, depth, {}, {}, {std::move(f), std::move(condition)}});
}

inline std::string filter::to_string() const {
    std::string out(name_of(op()));
    out += '(';
    std::string_view separator;
    if (is_leaf()) {
        out += field();
        separator = ", ";
    }
    for (const field_value& v : values()) out += std::string(std::exchange(separator, ", ")) + v.to_string();
    for (const filter& child : children()) out += std::string(std::exchange(separator, ", ")) + child.to_string();
    return out + ')';
}

namespace detail {

// An integer against a double, exactly: converting the integer would round it beyond 2^53.
inline std::partial_ordering compare_exact(std::int64_t integer, double number) noexcept {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (number >= limit) return std::partial_ordering::less;
    if (number < -limit) return std::partial_ordering::greater;
    const auto whole = static_cast<std::int64_t>(number);
    if (integer != whole) return integer <=> whole;
    return 0.0 <=> number - static_cast<double>(whole);
}

// Stored against asked. Unordered means that the types have no order between them.
inline std::partial_ordering compare(const field_value& stored, const field_value& asked) {
    const auto* stored_integer = stored.get_if<std::int64_t>();
    const auto* asked_integer = asked.get_if<std::int64_t>();
    const auto* stored_number = stored.get_if<double>();
    const auto* asked_number = asked.get_if<double>();
    if (stored_integer && asked_number) return compare_exact(*stored_integer, *asked_number);
    if (stored_number && asked_integer) {
        const auto reversed = compare_exact(*asked_integer, *stored_number);
        return reversed == 0 ? reversed : (reversed < 0 ? std::partial_ordering::greater : std::partial_ordering::less);
    }
    if (stored.type() != asked.type()) return std::partial_ordering::unordered;
    return stored.value() <=> asked.value();
}

constexpr truth from_bool(bool b) noexcept { return b ? truth::yes : truth::no; }

// before, inside, after: where the stored time lies against the asked one.
struct time_place {
    truth before, inside, after;
};

inline time_place place(date_time stored, date_time asked) noexcept {
    if (stored.is_day() && !asked.is_day() && stored.starts() <= asked.starts() && asked.starts() < stored.ends())
        return {truth::unknown, truth::unknown, truth::unknown};
    return {from_bool(stored.ends() <= asked.starts()),
            from_bool(asked.starts() <= stored.starts() && stored.ends() <= asked.ends()),
            from_bool(stored.starts() >= asked.ends())};
}

inline truth equal(const field_value& stored, const field_value& asked) {
    const auto* stored_time = stored.get_if<date_time>();
    const auto* asked_time = asked.get_if<date_time>();
    if (stored_time && asked_time) return place(*stored_time, *asked_time).inside;
    return from_bool(compare(stored, asked) == 0);
}

inline truth ordered(filter_op op, const field_value& stored, const field_value& asked) {
    const auto* stored_time = stored.get_if<date_time>();
    const auto* asked_time = asked.get_if<date_time>();
    if (stored_time && asked_time) {
        const time_place at = place(*stored_time, *asked_time);
        // `le` is "not after" and `ge` "not before": with a whole day as the bound, the day itself belongs to both.
        switch (op) {
            case filter_op::lt: return at.before;
            case filter_op::le: return !at.after;
            case filter_op::gt: return at.after;
            default: return !at.before;
        }
    }
    const auto order = compare(stored, asked);
    switch (op) {
        case filter_op::lt: return from_bool(order < 0);
        case filter_op::le: return from_bool(order <= 0);
        case filter_op::gt: return from_bool(order > 0);
        default: return from_bool(order >= 0);
    }
}

inline truth any_equal(const field_value* stored, std::span<const field_value> values) {
    truth found = truth::no;
    for (const field_value& v : values) found = found || (stored ? equal(*stored, v) : truth::unknown);
    return found;
}

inline bool has_operator(field_type type, filter_op op) noexcept {
    switch (op) {
        case filter_op::exists: return true;
        case filter_op::contains: return type == field_type::string_list;
        case filter_op::prefix: return type == field_type::string;
        case filter_op::lt:
        case filter_op::le:
        case filter_op::gt:
        case filter_op::ge: return type != field_type::boolean && type != field_type::string_list;
        default: return type != field_type::string_list;
    }
}

}  // namespace detail

inline truth holds(filter_op op, const field_value* stored, std::span<const field_value> values) {
    if (op == filter_op::exists) return detail::from_bool(stored != nullptr);
    if (op == filter_op::in) return detail::any_equal(stored, values);
    if (op == filter_op::nin) return !detail::any_equal(stored, values);
    if (!stored) return truth::unknown;
    const field_value& asked = values.front();
    switch (op) {
        case filter_op::eq: return detail::equal(*stored, asked);
        case filter_op::ne: return !detail::equal(*stored, asked);
        case filter_op::contains: {
            const auto& list = *stored->get_if<std::vector<std::string>>();
            return detail::from_bool(std::ranges::find(list, *asked.get_if<std::string>()) != list.end());
        }
        case filter_op::prefix:
            return detail::from_bool(stored->get_if<std::string>()->starts_with(*asked.get_if<std::string>()));
        default: return detail::ordered(op, *stored, asked);
    }
}

inline filter checked(const filter& f, const schema& fields) {
    if (!f.is_leaf()) {
        std::vector<filter> children;
        for (const filter& child : f.children()) children.push_back(checked(child, fields));
        return filter::branch(f.op(), std::move(children));
    }
    const std::size_t position = detail::require_field(fields, f.field(), "quarry::filter");
    const field_type type = fields[position].type;
    if (!detail::has_operator(type, f.op()))
        detail::raise<usage_error>("filter.comparison",
                                   detail::concat("quarry::filter: ", name_of(f.op()), " is not defined for field ",
                                                  detail::quoted(f.field()), " of type ", name_of(type)));
    std::vector<field_value> values;
    for (const field_value& v : f.values()) {
        // An integer field may be compared with 2024.5; what it stores stays whole.
        const bool numeric = type == field_type::integer && v.type() == field_type::number;
        const bool element = f.op() == filter_op::contains;
        if (element && v.type() != field_type::string)
            detail::raise<usage_error>("metadata.type",
                                       detail::concat("quarry: field ", detail::quoted(f.field()), " lists strings, ",
                                                      v.to_string(), " is of type ", name_of(v.type())));
        values.push_back(numeric || element ? v : fields.coerced(position, v));
    }
    return filter::leaf(f.op(), f.field(), std::move(values));
}

}  // namespace QUARRY_NAMESPACE
