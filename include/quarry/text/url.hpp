// URLs: link targets in the one form in which two of them are compared.
//
// Two targets lead to the same place exactly when their normal forms are equal: scheme, host, port, path and query,
// byte by byte. A prefix is not enough for that, since `https://good.example` begins
// `https://good.example.evil.example`.
//
// The surprising thing: some targets have no normal form. What two programs may read as two different hosts (user-info
// before an @, a backslash, a line end, `https:/host` with one slash) is equal to nothing, not even to itself.
//
// It does not decode international host names, and fetches nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// Longer targets have no normal form.
inline constexpr std::size_t longest_link = 2048;

/// The normal form of a link's target, or nothing if it is empty, too long or open to two readings.
///
/// Scheme and host in lower case, without the scheme's own port, without a fragment, without a slash at the end of the
/// path; `.` and `..` resolved; in path and query, letters, digits, `-`, `.`, `_` and `~` not percent-encoded, spaces,
/// quotes, brackets and bytes above 127 encoded as browsers do, in upper case. A target without scheme and host stays
/// one: `../a/./b#c` is `../a/b`. A fragment alone stays.
///
/// Cost    one pass over at most `longest_link` bytes.
/// Source  RFC 3986, 5.2.4 and 6.2.2; what is refused is what browsers (the WHATWG's URL standard) read differently.
std::optional<std::string> normalized_link(std::string_view target);

/// `target` as the page at `base` would follow it, in normal form.
///
/// Requires  `base` with scheme and host, or beginning with a slash; else a relative target stays relative.
/// Source    RFC 3986, 5.2.2.
std::optional<std::string> resolved_link(std::string_view base, std::string_view target);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// How many bytes a scheme takes at the front, without its colon; 0 if there is none.
inline std::size_t scheme_length(std::string_view target) noexcept {
    if (target.empty() || !is_ascii_letter(target[0])) return 0;
    std::size_t n = 1;
    while (n < target.size() && (is_ascii_letter(target[n]) || is_ascii_digit(target[n]) || target[n] == '+' ||
                                 target[n] == '-' || target[n] == '.'))
        ++n;
    return n < target.size() && target[n] == ':' ? n : 0;
}

/// The parts of a target as they are written.
struct url_parts {
    std::string_view scheme, authority, path, query, fragment;
    bool has_authority = false;
};

inline url_parts split_url(std::string_view target) noexcept {
    url_parts parts;
    if (const std::size_t n = scheme_length(target)) {
        parts.scheme = target.substr(0, n);
        target.remove_prefix(n + 1);
    }
    if (target.starts_with("//")) {
        parts.has_authority = true;
        target.remove_prefix(2);
        parts.authority = target.substr(0, target.find_first_of("/?#"));
        target.remove_prefix(parts.authority.size());
    }
    if (const std::size_t at = target.find('#'); at != target.npos) {
        parts.fragment = target.substr(at + 1);
        target = target.substr(0, at);
    }
    if (const std::size_t at = target.find('?'); at != target.npos) {
        parts.query = target.substr(at + 1);
        target = target.substr(0, at);
    }
    parts.path = target;
    return parts;
}

/// Schemes that browsers read alike: always with a host, and `\` and a missing slash forgiven.
inline std::optional<std::uint32_t> port_of_scheme(std::string_view lowered) noexcept {
    if (lowered == "http" || lowered == "ws") return 80;
    if (lowered == "https" || lowered == "wss") return 443;
    if (lowered == "ftp") return 21;
    return std::nullopt;
}

/// Host and port, lowered, without the default port; nothing for user-info and for hosts with other characters in them.
inline std::optional<std::string> normalized_authority(std::string_view authority, bool needs_host,
                                                       std::optional<std::uint32_t> default_port) {
    std::size_t host_length = 0;
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == authority.npos) return std::nullopt;
        for (const char c : authority.substr(1, close - 1))
            if (hex_digit(c) < 0 && c != ':' && c != '.') return std::nullopt;
        host_length = close + 1;
    } else {
        // Bytes above 127 may stand in a host; they are compared as they are, so a look-alike is another host.
        const auto in_host = [](char c) {
            return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '.' || c == '_' ||
                   static_cast<std::uint8_t>(c) >= 0x80;
        };
        while (host_length < authority.size() && in_host(authority[host_length])) ++host_length;
    }
    if (host_length == 0 && needs_host) return std::nullopt;
    std::string out = ascii_lowered(authority.substr(0, host_length));
    std::string_view rest = authority.substr(host_length);
    if (rest.empty()) return out;
    if (rest.front() != ':') return std::nullopt;
    rest.remove_prefix(1);
    if (rest.size() > 5) return std::nullopt;
    std::uint32_t port = 0;
    for (const char c : rest) {
        if (!is_ascii_digit(c)) return std::nullopt;
        port = port * 10 + static_cast<std::uint32_t>(c - '0');
    }
    if (port > 65535) return std::nullopt;
    if (!rest.empty() && port != default_port) out += concat(':', port);
    return out;
}

/// Percent-encoding in one form: decoded where the character needs none, else in upper case.
inline std::string normalized_escapes(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool triplet =
            text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
        const auto byte = static_cast<std::uint8_t>(text[i]);
        if (!triplet) {
            if (byte >= 0x80 || std::string_view(" \"<>`{}|^").find(text[i]) != std::string_view::npos)
                out += concat('%', hex[byte / 16], hex[byte % 16]);
            else
                out += text[i];
            continue;
        }
        const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
        const char c = static_cast<char>(high * 16 + low);
        if (is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '.' || c == '_' || c == '~')
            out += c;
        else
            out += concat('%', hex[static_cast<std::size_t>(high)], hex[static_cast<std::size_t>(low)]);
        i += 2;
    }
    return out;
}

/// A path without `.` and `..`. In a relative path leading `..` stay, since nobody knows yet where it starts.
inline std::string without_dot_segments(std::string_view path) {
    const bool rooted = path.starts_with('/');
    if (rooted) path.remove_prefix(1);
    std::vector<std::string_view> segments;
    bool ends_in_folder = false;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = (std::min)(path.find('/', at), path.size());
        const std::string_view segment = path.substr(at, end - at);
        ends_in_folder = segment == "." || segment == "..";
        if (segment == "..") {
            const bool goes_up = !segments.empty() && segments.back() != "..";
            if (goes_up)
                segments.pop_back();
            else if (!rooted)
                segments.push_back(segment);
        } else if (segment != ".") {
            segments.push_back(segment);
        }
        at = end + 1;
    }
    if (ends_in_folder && (segments.empty() || segments.back() != "..")) segments.push_back({});
    std::string out(rooted ? "/" : "");
    for (std::size_t i = 0; i < segments.size(); ++i) out += concat(i == 0 ? "" : "/", segments[i]);
    return out;
}

}  // namespace detail

inline std::optional<std::string> normalized_link(std::string_view target) {
    target = detail::trimmed(target);
    if (target.empty() || target.size() > longest_link) return std::nullopt;
    for (const char c : target)
        if ((static_cast<std::uint8_t>(c) < 0x20) || c == 0x7F || c == '\\') return std::nullopt;
    if (target.front() == '#') return std::string(target);

    const detail::url_parts parts = detail::split_url(target);
    std::string out;
    std::optional<std::uint32_t> default_port;
    if (!parts.scheme.empty()) {
        out = detail::ascii_lowered(parts.scheme);
        default_port = detail::port_of_scheme(out);
        out += ':';
        if (default_port && !parts.has_authority) return std::nullopt;
        if (!parts.has_authority) return out + std::string(target.substr(parts.scheme.size() + 1));
    }
    if (parts.has_authority) {
        // Without a scheme it will get one of those that need a host, and nobody knows which port that one leaves out.
        const bool needs_host = default_port || parts.scheme.empty();
        const auto authority = detail::normalized_authority(parts.authority, needs_host, default_port);
        if (!authority) return std::nullopt;
        out += "//" + *authority;
    }
    // Encoded dots are dots to a browser, so escapes come first.
    std::string path = detail::without_dot_segments(detail::normalized_escapes(parts.path));
    const bool only_root = path == "/" && !parts.has_authority;
    if (path.ends_with('/') && !path.ends_with("//") && !only_root) path.pop_back();
    // `/.//host` and `./scheme:rest` would look like what they are not.
    if (!parts.has_authority && (path.starts_with("//") || detail::scheme_length(path) != 0)) return std::nullopt;
    out += path;
    if (!parts.query.empty()) out += '?' + detail::normalized_escapes(parts.query);
    return out.empty() ? "." : out;
}

inline std::optional<std::string> resolved_link(std::string_view base, std::string_view target) {
    target = detail::trimmed(target);
    base = detail::trimmed(base);
    if (detail::scheme_length(target) != 0 || !normalized_link(target)) return normalized_link(target);
    const detail::url_parts from = detail::split_url(base), to = detail::split_url(target);
    if (!from.has_authority && !from.path.starts_with('/')) return normalized_link(target);

    std::string out;
    if (!from.scheme.empty()) out = detail::concat(from.scheme, ':');
    if (to.has_authority) return normalized_link(out + std::string(target));
    if (from.has_authority) out += detail::concat("//", from.authority);
    if (to.path.starts_with('/')) return normalized_link(out + std::string(target));
    if (to.path.empty()) {
        const std::string_view query = to.query.empty() ? from.query : to.query;
        out += from.path;
        if (!query.empty()) out += detail::concat('?', query);
        return normalized_link(out);
    }
    const std::size_t slash = from.path.rfind('/');
    out += slash == from.path.npos ? std::string("/") : std::string(from.path.substr(0, slash + 1));
    return normalized_link(out + std::string(target));
}

}  // namespace QUARRY_NAMESPACE
