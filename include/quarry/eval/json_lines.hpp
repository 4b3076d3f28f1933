// JSON lines: one object a line, and errors that name the line.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/file.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// One object of a file, and where it stands.
class json_line {
   public:
    json_line(const nlohmann::json& object, std::string_view path, std::size_t number) noexcept
        : object_(&object), path_(path), number_(number) {}

    const nlohmann::json& object() const noexcept { return *object_; }

    /// A field that must be there. Whole numbers are taken as texts too: `"id": 7` is "7".
    std::string text(const char* name) const {
        if (!object_->contains(name)) refuse(detail::concat("the object has no field ", detail::quoted(name)));
        return as_text((*object_)[name], name);
    }
    /// A field that may be missing or null: it is empty then.
    std::string text_or_empty(const char* name) const {
        const auto found = object_->find(name);
        return found == object_->end() || found->is_null() ? std::string() : as_text(*found, name);
    }

    /// Throws data_error `json.line` with file, line and `reason`.
    [[noreturn]] void refuse(std::string_view reason) const {
        detail::raise<data_error>("json.line", detail::concat(path_, ':', number_, ": ", reason));
    }

   private:
    std::string as_text(const nlohmann::json& value, const char* name) const {
        if (value.is_string()) return value.get<std::string>();
        if (value.is_number_unsigned()) return detail::concat(value.get<std::uint64_t>());
        if (value.is_number_integer()) return detail::concat(value.get<std::int64_t>());
        refuse(detail::concat("the field ", detail::quoted(name), " is no text but ", value.type_name()));
    }

    const nlohmann::json* object_;
    std::string_view path_;
    std::size_t number_;
};

/// Calls `f(json_line)` for every line of a file that is not blank.
///
/// Errors  data_error `json.line` naming file and line for a line that is no JSON object, cut short, or not UTF-8;
///         `file.open`, `file.read`.
template <std::invocable<const json_line&> F>
void for_each_json_line(const std::string& path, F f) {
    std::string text = detail::read_file(path);
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte-order mark
    detail::for_each_line(text, [&](std::string_view line, std::size_t number) {
        if (detail::trimmed(line).empty()) return;
        nlohmann::json object;
        try {
            object = nlohmann::json::parse(line.begin(), line.end());
        } catch (const nlohmann::json::exception& e) {
            const auto* parse = dynamic_cast<const nlohmann::json::parse_error*>(&e);
            json_line(object, path, number)
                .refuse(
                    detail::concat("the line is no valid JSON", parse ? detail::concat(" at byte ", parse->byte) : ""));
        }
        const json_line here(object, path, number);
        if (!object.is_object()) here.refuse(detail::concat("the line is no JSON object but ", object.type_name()));
        f(here);
    });
}

}  // namespace QUARRY_NAMESPACE
