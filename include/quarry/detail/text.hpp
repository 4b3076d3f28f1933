// Small text helpers that do not depend on the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

inline void append(std::string& out, std::string_view part) { out += part; }
inline void append(std::string& out, char part) { out += part; }

// std::to_chars and not a stream: a program that set a German locale must not read "0,5" in our messages.
template <class Number>
    requires std::is_arithmetic_v<Number>
void append(std::string& out, Number number) {
    if constexpr (std::same_as<Number, bool>) {
        out += number ? "true" : "false";
    } else {
        char digits[64];
        const auto written = std::to_chars(digits, digits + sizeof digits, number);
        out.append(digits, written.ptr);
    }
}

/// The parts one after the other: texts as they are, numbers in the shortest form that reads back equal.
template <class... Parts>
std::string concat(const Parts&... parts) {
    std::string out;
    (append(out, parts), ...);
    return out;
}

/// `text` between double quotes, cut after 80 bytes or a little before, so that no UTF-8 letter is cut in two: for
/// messages that quote what a stranger wrote.
inline std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 80;
    if (text.size() <= longest) return concat('"', text, '"');
    std::size_t end = longest;
    const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    while (end > longest - 3 && continues(end)) --end;
    return concat('"', text.substr(0, end), "...\"");
}

/// A number with `decimals` digits after the point, rounded to nearest.
inline std::string fixed(double number, int decimals) {
    char digits[400];
    const auto written = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed, decimals);
    return std::string(digits, written.ptr);
}

/// Lower case for A to Z; every other byte as it is, whatever the locale.
constexpr char ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

inline bool is_ascii_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

inline std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_ascii_space(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace QUARRY_NAMESPACE::detail
