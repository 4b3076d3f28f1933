// Bare URLs: where an address ends that stands in prose without any mark around it.
//
// The host decides who is asked, so nothing that a browser would still read as part of it is cut off: user-info, a
// quote, an ideographic full stop stay in, and the URL has no normal form then. Behind the host, punctuation and
// brackets belong to the prose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "../config.hpp"
#include "url.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE::detail {

/// Spaces, control characters and the marks of HTML and of code end every URL.
inline bool ends_url(char c) noexcept {
    return static_cast<std::uint8_t>(c) <= 0x20 || c == '<' || c == '>' || c == '`';
}

/// Punctuation that ends a URL in scripts that write no spaces.
inline bool is_wide_mark(char32_t c) noexcept {
    return (c >= 0x2000 && c <= 0x206F) || (c >= 0x3000 && c <= 0x303F) || (c >= 0xFF01 && c <= 0xFF0F) ||
           (c >= 0xFF1A && c <= 0xFF20) || (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65);
}

/// The ideographic full stops, which are dots of a host to a browser.
inline bool is_wide_dot(char32_t c) noexcept { return c == 0x3002 || c == 0xFF0E || c == 0xFF61; }

/// How far an authority may reach, and whether two programs may see two hosts in it.
struct url_authority {
    std::size_t end;
    bool open_to_two_readings;  // it holds an @ or a backslash
};

inline url_authority authority_at(std::string_view text, std::size_t begin) noexcept {
    url_authority a{begin, false};
    for (; a.end < text.size() && !ends_url(text[a.end]); ++a.end) {
        const char c = text[a.end];
        if (c == '/' || c == '?' || c == '#') break;
        a.open_to_two_readings = a.open_to_two_readings || c == '@' || c == '\\';
    }
    return a;
}

/// Where the bare URL ends that begins at `begin` and its authority at `authority`; at most `longest_link` + 1 bytes
/// on.
///
/// Trims `.,;:!?)]}'"*_~` at its end, but no `)` that was opened inside it.
inline std::size_t bare_url_end(std::string_view text, std::size_t begin, std::size_t authority) noexcept {
    const auto among = [](char c, std::string_view set) { return set.find(c) != set.npos; };
    text = text.substr(0, begin + longest_link + 1);
    const url_authority host = authority_at(text, authority);

    std::size_t end = authority, open = 0, close = 0;
    while (end < text.size() && !ends_url(text[end])) {
        const bool in_host = end < host.end;
        // No host has brackets or bars, but what stands before an @ may hold them.
        const bool stops_here = !in_host                    ? among(text[end], "\"[]{}|\\^")
                                : host.open_to_two_readings ? false
                                                            : end > authority && among(text[end], "[]|^");
        if (stops_here) break;
        std::size_t length = 1;
        if (static_cast<std::uint8_t>(text[end]) >= 0x80) {
            const code_point c = decode(text.substr(end));
            if (is_wide_mark(c.value) && !(in_host && (host.open_to_two_readings || is_wide_dot(c.value)))) break;
            length = c.length;
        }
        open += text[end] == '(';
        close += text[end] == ')';
        end += length;
    }
    while (end > authority && among(text[end - 1], ".,;:!?)]}'\"*_~")) {
        if (text[end - 1] == ')' && close <= open) break;
        close -= text[end - 1] == ')';
        --end;
    }
    return end;
}

}  // namespace QUARRY_NAMESPACE::detail
