// UTF-8: code points with their byte spans, whatever the bytes are.
//
// Bytes that are not UTF-8 read as U+FFFD, one for each maximal part of a sequence, as the Unicode standard recommends
// (3.9, U+FFFD Substitution of Maximal Subparts). Nothing throws and nothing reads past the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

/// A code point and how many bytes it took.
struct code_point {
    char32_t value;
    std::size_t length;
};

/// The code point at the front. Requires  text not empty.
inline code_point decode(std::string_view text) noexcept {
    constexpr char32_t replacement = 0xFFFD;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    // The second byte's range is what excludes overlong forms, surrogates and values above U+10FFFF.
    std::uint8_t low = 0x80, high = 0xBF;
    std::size_t length = 0;
    char32_t value = 0;
    if (lead >= 0xC2 && lead <= 0xDF) length = 2, value = lead & 0x1Fu;
    else if (lead >= 0xE0 && lead <= 0xEF) length = 3, value = lead & 0x0Fu;
    else if (lead >= 0xF0 && lead <= 0xF4) length = 4, value = lead & 0x07u;
    else return {replacement, 1};
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    for (std::size_t i = 1; i < length; ++i) {
        if (i >= text.size() || byte(i) < low || byte(i) > high) return {replacement, i};
        value = (value << 6) | (byte(i) & 0x3Fu);
        low = 0x80, high = 0xBF;
    }
    return {value, length};
}

/// Appends a code point as UTF-8; what is no code point becomes U+FFFD.
inline void encode(char32_t value, std::string& out) {
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) value = 0xFFFD;
    const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<std::uint8_t>(byte)); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xC0 | (value >> 6));
        put(0x80 | (value & 0x3F));
    } else if (value < 0x10000) {
        put(0xE0 | (value >> 12));
        put(0x80 | ((value >> 6) & 0x3F));
        put(0x80 | (value & 0x3F));
    } else {
        put(0xF0 | (value >> 18));
        put(0x80 | ((value >> 12) & 0x3F));
        put(0x80 | ((value >> 6) & 0x3F));
        put(0x80 | (value & 0x3F));
    }
}

}  // namespace QUARRY_NAMESPACE
