// JSON scan: the JSON value that stands somewhere in a model's reply.
//
// Models wrap what they were asked for in fences, greetings and second thoughts. `scan_json` looks for the first object
// (or list, if asked for), reads it whole, and says where it stood; what lies around it is nobody's business here. It
// is no general JSON library: it reads replies, has no writer, and keeps every byte of a text as it came, UTF-8 or not.
//
// The surprising thing: an object that began and then broke ends the search. What follows may be a part of it, such as
// the second condition of an `and`, and half of an answer is worse than none. Prose in braces that never was an object
// is passed over.
//
// Read although it is not JSON, since it can mean only one thing: text between single quotes, keys without quotes,
// True, False, None, a comma before a closing bracket, line breaks and tabs inside a
// text. Refused, since it could mean more than
// one: a key given twice, numbers beyond 64 bits or beyond double, half a surrogate pair, U+0000, comments, bare words.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "text.hpp"

namespace QUARRY_NAMESPACE::detail {

enum class json_type : std::uint8_t { null, boolean, integer, number, text, list, object };

constexpr std::string_view name_of(json_type type) noexcept {
    constexpr std::string_view names[] = {"null", "boolean", "integer", "number", "text", "list", "object"};
    return names[static_cast<std::size_t>(type)];
}

/// One value. Members that do not belong to its type are empty.
struct json_value {
    json_type type = json_type::null;
    bool boolean = false;
    std::int64_t integer = 0;
    double number = 0.0;  // of an integer too, rounded
    std::string text{};
    std::vector<std::string> keys{};  // of an object: keys[i] names items[i], no name twice
    std::vector<json_value> items{};  // of an object or a list

    bool is(json_type t) const noexcept { return type == t; }

    /// The member called `key`, or null.
    const json_value* find(std::string_view key) const noexcept {
        const auto found = std::ranges::find(keys, key);
        return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
    }
};

enum class json_fault : std::uint8_t {
    none,
    absent,         // no object in the reply
    cut_off,        // the reply, or what of it is read, ended inside the object
    malformed,      // something stood where it may not
    bad_text,       // half a surrogate pair, U+0000, an unknown escape
    number_range,   // a number that neither 64 bits nor double can hold
    duplicate_key,  // which of the two was meant?
    too_deep,
    several,  // a list of objects where one object was wanted
};

constexpr std::string_view name_of(json_fault fault) noexcept {
    constexpr std::string_view names[] = {"none",         "absent",        "cut_off",  "malformed", "bad_text",
                                          "number_range", "duplicate_key", "too_deep", "several"};
    return names[static_cast<std::size_t>(fault)];
}

struct json_scan_options {
    bool lists = false;               // a list will do as well as an object
    std::size_t deepest = 32;         // levels of nesting
    std::size_t longest = 64 * 1024;  // bytes of the reply that are looked at
};

struct json_scan {
    std::optional<json_value> value{};
    json_fault fault = json_fault::none;
    std::size_t begin = 0, end = 0;  // bytes of the reply that the value took, or up to where it broke
    bool repaired = false;           // it was no JSON to the letter

    explicit operator bool() const noexcept { return value.has_value(); }
};

/// The first object of `reply`, or why there is none. A list around one single object is passed through.
///
/// Cost    one pass over min(size, longest) bytes; a key costs the logarithm of its object's keys besides. Stack for
///         `deepest` levels.
/// Errors  none thrown but bad_alloc.
json_scan scan_json(std::string_view reply, const json_scan_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

class json_reader {
   public:
    json_reader(std::string_view text, const json_scan_options& options) : text_(text), options_(options) {}

    json_scan run() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '{' || (c == '[' && (options_.lists || wraps_object()))) {
                json_scan found = attempt();
                // Every byte is read once: the next attempt starts where this one gave up.
                const bool prose = !committed_ && (fault_ == json_fault::malformed || fault_ == json_fault::cut_off);
                if (found || !prose) return found;
                at_ = (std::max)(at_, found.begin + 1);
            } else {
                ++at_;
            }
        }
        return {.fault = json_fault::absent, .begin = at_, .end = at_};
    }

   private:
    bool wraps_object() const noexcept {
        std::size_t next = at_ + 1;
        while (next < text_.size() && is_ascii_space(text_[next])) ++next;
        return next < text_.size() && text_[next] == '{';
    }

    json_scan attempt() {
        json_scan found{.begin = at_};
        fault_ = json_fault::none;
        committed_ = repaired_ = false;
        json_value read;
        if (value(read, 1) && read.is(json_type::list) && !options_.lists) {
            if (read.items.size() == 1 && read.items.front().is(json_type::object)) {
                json_value only = std::move(read.items.front());
                read = std::move(only);
            } else {
                fault_ = json_fault::several;
            }
        }
        found.fault = fault_;
        found.end = at_;
        found.repaired = repaired_;
        if (fault_ == json_fault::none) found.value = std::move(read);
        return found;
    }

    bool fail(json_fault fault) noexcept {
        fault_ = at_ >= text_.size() ? json_fault::cut_off : fault;
        return false;
    }

    bool skip_space() noexcept {
        while (at_ < text_.size() && is_ascii_space(text_[at_])) ++at_;
        return at_ < text_.size();
    }

    bool take(char wanted) noexcept {
        if (!skip_space() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    bool value(json_value& out, std::size_t depth) {
        if (!skip_space()) return fail(json_fault::cut_off);
        switch (text_[at_]) {
            case '{': return object(out, depth);
            case '[': return list(out, depth);
            case '\'': repaired_ = true; [[fallthrough]];
            case '"': out.type = json_type::text; return quoted_text(out.text);
            default: return text_[at_] == '-' || is_digit(text_[at_]) ? numeral(out) : word(out);
        }
    }

    bool object(json_value& out, std::size_t depth) {
        if (depth > options_.deepest) return fail(json_fault::too_deep);
        out.type = json_type::object;
        ++at_;
        for (bool first = true; !take('}'); first = false) {
            if (!first && !take(',')) return fail(json_fault::malformed);
            if (!first && take('}')) return repaired_ = true, unique(out);
            std::string name;
            if (!key(name)) return false;
            if (!take(':')) return fail(json_fault::malformed);
            committed_ = true;  // a key and its colon: no longer prose in braces
            out.keys.push_back(std::move(name));
            out.items.emplace_back();
            if (!value(out.items.back(), depth + 1)) return false;
        }
        return unique(out);
    }

    bool list(json_value& out, std::size_t depth) {
        if (depth > options_.deepest) return fail(json_fault::too_deep);
        out.type = json_type::list;
        ++at_;
        for (bool first = true; !take(']'); first = false) {
            if (!first && !take(',')) return fail(json_fault::malformed);
            if (!first && take(']')) return repaired_ = true, true;
            if (!first) committed_ = true;  // two elements: no longer a citation in brackets
            out.items.emplace_back();
            if (!value(out.items.back(), depth + 1)) return false;
        }
        return true;
    }

    // Sorted and not compared in pairs: a reply of ten thousand keys must not cost their square.
    bool unique(const json_value& read) {
        std::vector<std::string_view> names(read.keys.begin(), read.keys.end());
        std::ranges::sort(names);
        if (std::ranges::adjacent_find(names) == names.end()) return true;
        fault_ = json_fault::duplicate_key;
        return false;
    }

    bool key(std::string& out) {
        if (!skip_space()) return fail(json_fault::cut_off);
        if (text_[at_] == '\'' || is_letter(text_[at_])) repaired_ = true;
        if (text_[at_] == '"' || text_[at_] == '\'') return quoted_text(out);
        if (!is_letter(text_[at_])) return fail(json_fault::malformed);
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) out += text_[at_++];
        return true;
    }

    bool quoted_text(std::string& out) {
        const char quote = text_[at_++];
        while (at_ < text_.size()) {
            // Copied in runs: byte by byte would be several times slower on a long text.
            const std::size_t begin = at_;
            while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\') ++at_;
            const std::string_view run = text_.substr(begin, at_ - begin);
            for (const char c : run) {
                if (c == '\0') return fail(json_fault::bad_text);
                if (static_cast<std::uint8_t>(c) < 0x20) repaired_ = true;
            }
            out += run;
            if (at_ == text_.size()) break;
            if (text_[at_++] == quote) return true;
            if (!escape(out)) return false;
        }
        return fail(json_fault::cut_off);
    }

    bool escape(std::string& out) {
        if (at_ == text_.size()) return fail(json_fault::cut_off);
        switch (const char c = text_[at_++]) {
            case '"':
            case '\'':
            case '\\':
            case '/': out += c; return true;
            case 'b': out += '\b'; return true;
            case 'f': out += '\f'; return true;
            case 'n': out += '\n'; return true;
            case 'r': out += '\r'; return true;
            case 't': out += '\t'; return true;
            case 'u': return unicode_escape(out);
            default: return fail(json_fault::bad_text);
        }
    }

    bool unicode_escape(std::string& out) {
        std::uint32_t point = 0;
        if (!hexadecimal(point)) return false;
        if (point >= 0xD800 && point <= 0xDBFF) {
            std::uint32_t low = 0;
            if (text_.substr(at_, 2) != "\\u") return fail(json_fault::bad_text);
            at_ += 2;
            if (!hexadecimal(low)) return false;
            if (low < 0xDC00 || low > 0xDFFF) return fail(json_fault::bad_text);
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        }
        if (point == 0 || (point >= 0xDC00 && point <= 0xDFFF)) return fail(json_fault::bad_text);
        const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<std::uint8_t>(byte)); };
        const auto tail = [&](unsigned shift) { put(0x80 | ((point >> shift) & 0x3F)); };
        if (point < 0x80) put(point);
        else if (point < 0x800) put(0xC0 | (point >> 6)), tail(0);
        else if (point < 0x10000) put(0xE0 | (point >> 12)), tail(6), tail(0);
        else put(0xF0 | (point >> 18)), tail(12), tail(6), tail(0);
        return true;
    }

    bool hexadecimal(std::uint32_t& out) {
        const std::string_view digits = text_.substr(at_, 4);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
        at_ += static_cast<std::size_t>(read.ptr - digits.data());
        return (read.ec == std::errc{} && read.ptr == digits.data() + 4) || fail(json_fault::bad_text);
    }

    // -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
    bool numeral(json_value& out) {
        const std::size_t begin = at_;
        const auto digits = [&] {
            const std::size_t first = at_;
            while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
            return at_ > first;
        };
        if (text_[at_] == '-') ++at_;
        const std::size_t first = at_;
        if (!digits() || (text_[first] == '0' && at_ > first + 1)) return fail(json_fault::malformed);
        bool whole = true;
        if (at_ < text_.size() && text_[at_] == '.') {
            whole = false, ++at_;
            if (!digits()) return fail(json_fault::malformed);
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            whole = false, ++at_;
            if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
            if (!digits()) return fail(json_fault::malformed);
        }
        const char* const from = text_.data() + begin;
        const char* const to = text_.data() + at_;
        std::errc status{};
        if (whole) {
            out.type = json_type::integer;
            status = std::from_chars(from, to, out.integer).ec;
            out.number = static_cast<double>(out.integer);
        } else {
            out.type = json_type::number;
            status = std::from_chars(from, to, out.number).ec;
        }
        if (status == std::errc{}) return true;
        fault_ = json_fault::number_range;
        return false;
    }

    bool word(json_value& out) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (name == "True" || name == "False" || name == "None") repaired_ = true;
        if (name == "null" || name == "None") return true;
        out.type = json_type::boolean;
        out.boolean = name == "true" || name == "True";
        return out.boolean || name == "false" || name == "False" || fail(json_fault::malformed);
    }

    static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
    static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

    std::string_view text_;
    json_scan_options options_;
    std::size_t at_ = 0;
    json_fault fault_ = json_fault::none;
    bool committed_ = false;
    bool repaired_ = false;
};

inline json_scan scan_json(std::string_view reply, const json_scan_options& options) {
    return json_reader(reply.substr(0, (std::min)(reply.size(), options.longest)), options).run();
}

}  // namespace QUARRY_NAMESPACE::detail
