// Letters, digits and marks of ASCII, whatever the locale.
#pragma once

#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

inline bool is_ascii_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }
inline bool is_ascii_punctuation(char c) noexcept {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}
inline char to_ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline std::string ascii_lowered(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = to_ascii_lower(c);
    return out;
}

inline bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (to_ascii_lower(a[i]) != to_ascii_lower(b[i])) return false;
    return true;
}

/// The value of a hexadecimal digit, or -1.
inline int hex_digit(char c) noexcept {
    if (is_ascii_digit(c)) return c - '0';
    const char low = to_ascii_lower(c);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

}  // namespace QUARRY_NAMESPACE::detail
