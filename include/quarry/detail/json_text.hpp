// JSON text: a string as JSON writes it, whatever bytes it holds.
#pragma once

#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

/// How many bytes a valid UTF-8 character has at the front of `text`; 0 for bytes that are none.
inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 && first <= 0xF4 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || (first == 0xF0 && byte(1) < 0x90) ||
        (first == 0xF4 && byte(1) > 0x8F))
        return 0;
    return length;
}

/// In double quotes, escaped; bytes that are no UTF-8 become U+FFFD.
inline std::string json_text(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t length = utf8_length(text);
        if (c == '"' || c == '\\') out += '\\', out += c;
        else if (c == '\n') out += "\\n";
        else if (c == '\t') out += "\\t";
        else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += digits[static_cast<unsigned char>(c) >> 4];
            out += digits[static_cast<unsigned char>(c) & 15];
        } else if (length == 0) out += "\xEF\xBF\xBD";
        else out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out + '"';
}

}  // namespace QUARRY_NAMESPACE::detail
