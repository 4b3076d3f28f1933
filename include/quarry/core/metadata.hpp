// Metadata: named, typed values of an article or of a part of one.
//
// The types are a closed set, and a value keeps the type it was given: "1500" is a text and never meets the number
// 1500. A field that is absent is missing; there is no null.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../config.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "date_time.hpp"
#include "error.hpp"

namespace QUARRY_NAMESPACE {

/// What a field declares itself to be, in the order of the alternatives of `field_value`.
enum class field_type : std::uint8_t { boolean, integer, number, string, date_time, string_list };

constexpr std::string_view name_of(field_type type) noexcept {
    constexpr std::string_view names[] = {"boolean", "integer", "number", "string", "date_time", "string_list"};
    return names[static_cast<std::size_t>(type)];
}

/// One value: bool, 64-bit integer, double, text, date or time, or a list of texts.
///
/// Errors  usage_error `metadata.not_finite` for NaN and infinities, `metadata.range` for integers beyond 64 bits.
class field_value {
   public:
    using variant = std::variant<bool, std::int64_t, double, std::string, date_time, std::vector<std::string>>;

    // NOLINTBEGIN: implicit on purpose, so that eq("year", 2024) and {"product", "app"} read as they should.
    template <std::same_as<bool> B>
    field_value(B boolean) : value_(boolean) {}

    template <std::integral I>
        requires(!std::same_as<I, bool> && !std::same_as<I, char>)
    field_value(I integer) : value_(checked(integer)) {}

    field_value(double number) : value_(checked(number)) {}
    field_value(float number) : field_value(static_cast<double>(number)) {}
    field_value(std::string text) : value_(std::move(text)) {}
    field_value(std::string_view text) : value_(std::string(text)) {}
    field_value(const char* text) : value_(std::string(text)) {}
    field_value(quarry::date_time time) : value_(time) {}
    field_value(std::vector<std::string> list) : value_(std::move(list)) {}
    // NOLINTEND

    // Written out because libstdc++ 12 destroys what was never made when copying a variant runs out of memory: it takes
    // a variant of these alternatives for one that always holds something. Making one in place is safe.
    field_value(const field_value& other) : value_(std::visit(copy_in_place{}, other.value_)) {}
    field_value& operator=(const field_value& other) { return *this = field_value(other); }
    field_value(field_value&&) noexcept = default;
    field_value& operator=(field_value&&) noexcept = default;

    field_type type() const noexcept { return static_cast<field_type>(value_.index()); }
    const variant& value() const noexcept { return value_; }

    /// The alternative `T`, or null if the value is of another type.
    template <class T>
    const T* get_if() const noexcept {
        return std::get_if<T>(&value_);
    }

    /// For people and traces: texts in quotes, lists in brackets.
    std::string to_string() const;

    friend bool operator==(const field_value&, const field_value&) = default;
    friend auto operator<=>(const field_value&, const field_value&) = default;

   private:
    struct copy_in_place {
        template <class T>
        variant operator()(const T& held) const {
            return variant(std::in_place_type<T>, held);
        }
    };

    template <std::integral I>
    static std::int64_t checked(I integer) {
        if (!std::in_range<std::int64_t>(integer))
            detail::raise<usage_error>("metadata.range", detail::concat("quarry::field_value: ", integer,
                                                                        " does not fit a signed 64-bit integer"));
        return static_cast<std::int64_t>(integer);
    }

    static double checked(double number) {
        if (!detail::is_finite(number))
            detail::raise<usage_error>("metadata.not_finite", "quarry::field_value: a number must be finite");
        return number;
    }

    variant value_;
};

/// The fields of one unit: each name once, in the order of the names.
///
/// Errors  usage_error `metadata.duplicate_field` if a name is given twice: neither of the two may win silently.
class metadata {
   public:
    using entry = std::pair<std::string, field_value>;

    metadata() = default;
    metadata(std::initializer_list<entry> entries) {
        for (const entry& e : entries) add(e.first, e.second);
    }

    void add(std::string name, field_value value);

    /// The value of `name`, or null if it is missing.
    const field_value* find(std::string_view name) const noexcept;

    auto begin() const noexcept { return entries_.begin(); }
    auto end() const noexcept { return entries_.end(); }
    std::size_t size() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }

   private:
    std::vector<entry> entries_;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline std::string field_value::to_string() const {
    struct printer {
        std::string operator()(bool boolean) const { return detail::concat(boolean); }
        std::string operator()(std::int64_t integer) const { return detail::concat(integer); }
        std::string operator()(double number) const { return detail::concat(number); }
        std::string operator()(const std::string& text) const { return detail::quoted(text); }
        std::string operator()(const quarry::date_time& time) const { return time.to_string(); }
        std::string operator()(const std::vector<std::string>& list) const {
            std::string out = "[";
            for (const std::string& text : list) out += (out.size() > 1 ? ", " : "") + detail::quoted(text);
            return out + "]";
        }
    };
    return std::visit(printer{}, value_);
}

inline void metadata::add(std::string name, field_value value) {
    auto place = entries_.begin();
    while (place != entries_.end() && place->first < name) ++place;
    if (place != entries_.end() && place->first == name)
        detail::raise<usage_error>("metadata.duplicate_field", "quarry::metadata: " + detail::quoted(name) +
                                                                   " is given twice");
    entries_.emplace(place, std::move(name), std::move(value));
}

inline const field_value* metadata::find(std::string_view name) const noexcept {
    for (const entry& e : entries_)
        if (e.first == name) return &e.second;
    return nullptr;
}

}  // namespace QUARRY_NAMESPACE
