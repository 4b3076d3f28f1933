// Schema: which metadata fields exist, and of which type each is.
//
// Declared once, when the corpus is made. What is not declared cannot be stored or asked for: a misspelt field is an
// error where it is written, not a filter that matches nothing.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "error.hpp"
#include "metadata.hpp"

namespace QUARRY_NAMESPACE {

/// A declared field. The description is for people and for prompts.
struct field {
    std::string name;
    field_type type;
    std::string description{};
};

/// The declared fields, in the order of declaration.
///
/// Errors  usage_error `schema.duplicate_field`, `schema.empty_name`.
class schema {
   public:
    schema() = default;
    schema(std::initializer_list<field> fields) {
        for (const field& f : fields) add(f);
    }

    void add(field f);

    /// The position of the field called `name`, if there is one. Names are compared byte for byte.
    std::optional<std::size_t> find(std::string_view name) const noexcept;

    const field& operator[](std::size_t position) const noexcept { return fields_[position]; }
    std::size_t size() const noexcept { return fields_.size(); }
    auto begin() const noexcept { return fields_.begin(); }
    auto end() const noexcept { return fields_.end(); }

    /// `value` as the field at `position` stores it: an integer may stand in a number field, a text that reads as a
    /// date in a date-time field; nothing else is converted.
    ///
    /// Errors  usage_error `metadata.type` with both types, `metadata.date` for a text that is no date.
    field_value coerced(std::size_t position, const field_value& value) const;

   private:
    std::vector<field> fields_;
};

namespace detail {

/// The position of `name`, or usage_error `metadata.unknown_field`; `where` opens the message.
std::size_t require_field(const schema& fields, std::string_view name, std::string_view where);

}  // namespace detail

// ------------------------------------------------------------------------------------------------------------- detail

inline void schema::add(field f) {
    if (f.name.empty()) detail::raise<usage_error>("schema.empty_name", "quarry::schema: a field without a name");
    if (find(f.name))
        detail::raise<usage_error>("schema.duplicate_field",
                                   "quarry::schema: " + detail::quoted(f.name) + " is declared twice");
    fields_.push_back(std::move(f));
}

inline std::optional<std::size_t> schema::find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < fields_.size(); ++i)
        if (fields_[i].name == name) return i;
    return std::nullopt;
}

inline field_value schema::coerced(std::size_t position, const field_value& value) const {
    const field& target = fields_[position];
    if (value.type() == target.type) return value;
    const bool number_like = value.type() == field_type::integer || value.type() == field_type::number;
    if (target.type == field_type::number && number_like) return value;
    if (const auto* text = value.get_if<std::string>(); text && target.type == field_type::date_time) {
        if (const auto time = date_time::parse(*text)) return *time;
        detail::raise<usage_error>("metadata.date", detail::concat("quarry: field ", detail::quoted(target.name),
                                                                   " takes a date such as 2024-05-07, not ",
                                                                   detail::quoted(*text)));
    }
    detail::raise<usage_error>("metadata.type",
                               detail::concat("quarry: field ", detail::quoted(target.name), " is of type ",
                                              name_of(target.type), ", the value ", value.to_string(), " of type ",
                                              name_of(value.type())));
}

inline std::size_t detail::require_field(const schema& fields, std::string_view name, std::string_view where) {
    if (const auto position = fields.find(name)) return *position;
    raise<usage_error>("metadata.unknown_field",
                       concat(where, ": the schema declares no field ", detail::quoted(name)));
}

}  // namespace QUARRY_NAMESPACE
