// Filter expressions: conditions as a model writes them, before anybody believes them.
//
//     and(eq("section", "remote_work"), ge("year", 2024))              calls
//     section = "remote_work" and year >= 2024                         infix
//     {"op": "and", "args": [{"op": "eq", "field": "section", ...}]}   a tree
//     {"and": [...]}, {"section": "remote_work", "year": {"gte": 2024}}
//
// This is the grammar alone: which operators there are and how many arguments each takes. Whether a field exists and
// a value fits it is the business of filter_reply.hpp.
//
// A condition with a key that the grammar does not know is refused. `{"op": "eq", ..., "negated": true}` read without
// its last key would say the opposite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/date_time.hpp"
#include "../core/filter.hpp"
#include "../detail/json_scan.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE::detail {

/// A condition or a combination of some, with values as they were written.
struct written_filter {
    filter_op op = filter_op::eq;
    std::string field{};                     // of a condition
    json_value value{};                      // of a condition other than `exists`
    std::vector<written_filter> children{};  // of and, or, not
};

/// What was read, or what is wrong with it; or, if neither, the words for "no filter".
struct filter_parse {
    std::optional<written_filter> filter{};
    std::string fault{};
};

struct filter_grammar {
    std::size_t deepest = 16;
    std::size_t most_values = 128;  // of all conditions together, so that checking them cannot take long
};

/// Cost    linear in the value.
/// Errors  none thrown but bad_alloc.
filter_parse parse_filter(const json_value& value, const filter_grammar& limits = {});

/// The same from a text: calls, infix, or JSON in quotes. All of it must be read.
filter_parse parse_filter(std::string_view text, const filter_grammar& limits = {});

/// NO_FILTER, "no filter", none, null, N/A and an empty text.
bool says_no_filter(std::string_view text) noexcept;

// ------------------------------------------------------------------------------------------------------------- detail

/// The operator with this name, byte for byte: "EQ", "is not" and "LIKE" are none.
inline std::optional<filter_op> filter_op_named(std::string_view name) noexcept {
    struct named {
        std::string_view name;
        filter_op op;
    };
    static constexpr named names[] = {{"eq", filter_op::eq},
                                      {"==", filter_op::eq},
                                      {"=", filter_op::eq},
                                      {"ne", filter_op::ne},
                                      {"!=", filter_op::ne},
                                      {"<>", filter_op::ne},
                                      {"lt", filter_op::lt},
                                      {"<", filter_op::lt},
                                      {"lte", filter_op::le},
                                      {"le", filter_op::le},
                                      {"<=", filter_op::le},
                                      {"gt", filter_op::gt},
                                      {">", filter_op::gt},
                                      {"gte", filter_op::ge},
                                      {"ge", filter_op::ge},
                                      {">=", filter_op::ge},
                                      {"in", filter_op::in},
                                      {"nin", filter_op::nin},
                                      {"contains", filter_op::contains},
                                      {"contain", filter_op::contains},
                                      {"prefix", filter_op::prefix},
                                      {"exists", filter_op::exists},
                                      {"and", filter_op::all_of},
                                      {"or", filter_op::any_of},
                                      {"not", filter_op::none_of}};
    if (name.size() > 1 && name.front() == '$') name.remove_prefix(1);
    for (const named& n : names)
        if (n.name == name) return n.op;
    return std::nullopt;
}

inline bool is_condition(filter_op op) noexcept { return op <= filter_op::exists; }

inline bool says_no_filter(std::string_view text) noexcept {
    std::string letters;
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z')
            letters += static_cast<char>(c + ('a' - 'A'));
        else if (c >= 'a' && c <= 'z')
            letters += c;
        else if (!is_ascii_space(c) && std::string_view("_-/.\"'`").find(c) == std::string_view::npos)
            return false;
        if (letters.size() > 8) return false;
    }
    return letters.empty() || letters == "nofilter" || letters == "none" || letters == "null" || letters == "na";
}

// What both readers share: the limits, and the first fault that was met.
class filter_parser {
   public:
    explicit filter_parser(const filter_grammar& limits) : limits_(limits) {}

    filter_parse finish(std::optional<written_filter> read) {
        if (!fault_.empty()) return {std::nullopt, std::move(fault_)};
        return {std::move(read), {}};
    }

   protected:
    std::optional<written_filter> fail(std::string fault) {
        if (fault_.empty()) fault_ = std::move(fault);
        return std::nullopt;
    }
    bool failed() const noexcept { return !fault_.empty(); }

    bool enter(std::size_t depth) {
        if (depth <= limits_.deepest) return true;
        fail(concat("conditions are nested more than ", limits_.deepest, " deep"));
        return false;
    }

    std::optional<written_filter> condition(filter_op op, std::string field, json_value value) {
        values_ += (std::max)(value.items.size(), std::size_t{1});
        if (values_ > limits_.most_values) return fail(concat("there are more than ", limits_.most_values, " values"));
        if (field.empty()) return fail("a condition names no field");
        if (op != filter_op::exists && value.is(json_type::null))
            return fail(concat("the condition on ", detail::quoted(field), " has no value"));
        written_filter f{.op = op, .field = std::move(field)};
        f.value = std::move(value);
        return f;
    }

    std::optional<written_filter> combination(filter_op op, std::vector<written_filter> children) {
        if (children.empty()) return fail(concat('"', name_of(op), "\" has no arguments"));
        if (op == filter_op::none_of && children.size() != 1)
            return fail(concat("\"not\" takes one argument, not ", children.size()));
        if (op != filter_op::none_of && children.size() == 1) {
            written_filter only = std::move(children.front());
            return only;
        }
        return written_filter{.op = op, .children = std::move(children)};
    }

   private:
    filter_grammar limits_;
    std::size_t values_ = 0;
    std::string fault_;
};

class json_filter_parser : public filter_parser {
   public:
    using filter_parser::filter_parser;

    std::optional<written_filter> read(const json_value& v, std::size_t depth = 1) {
        if (!enter(depth)) return std::nullopt;
        if (v.is(json_type::list)) return combined(filter_op::all_of, v, depth);
        if (v.is(json_type::text)) return fail(concat(detail::quoted(v.text), " is no condition"));
        if (!v.is(json_type::object)) return fail(concat("a ", name_of(v.type), " is no condition"));
        if (const auto* op = either(v, {"op", "operator", "comparator"})) return with_operator(v, *op, depth);
        if (v.keys.size() == 1)
            if (const auto op = filter_op_named(v.keys.front()); op && !is_condition(*op))
                return combined(*op, v.items.front(), depth);
        return by_field(v);
    }

   private:
    static const json_value* either(const json_value& v, std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (const json_value* found = v.find(name)) return found;
        return nullptr;
    }

    std::optional<written_filter> combined(filter_op op, const json_value& arguments, std::size_t depth) {
        if (op == filter_op::none_of && arguments.is(json_type::object)) {
            auto only = read(arguments, depth + 1);
            return only ? std::optional(written_filter{.op = op, .children = {std::move(*only)}}) : std::nullopt;
        }
        if (!arguments.is(json_type::list)) return fail(concat('"', name_of(op), "\" takes a list of conditions"));
        std::vector<written_filter> children;
        for (const json_value& item : arguments.items) {
            auto child = read(item, depth + 1);
            if (!child) return std::nullopt;
            children.push_back(std::move(*child));
        }
        return combination(op, std::move(children));
    }

    std::optional<written_filter> with_operator(const json_value& v, const json_value& name, std::size_t depth) {
        if (!name.is(json_type::text)) return fail("an operator is no text");
        const auto op = filter_op_named(name.text);
        if (!op) return fail(concat("there is no operator ", detail::quoted(name.text)));
        if (!is_condition(*op)) {
            const json_value* arguments = either(v, {"args", "arguments", "conditions", "filters"});
            if (!arguments || v.keys.size() != 2) return fail(unknown_key(v, "args"));
            return combined(*op, *arguments, depth);
        }
        const json_value* field = either(v, {"field", "attribute", "key"});
        const json_value* value = either(v, {"value", "values"});
        const std::size_t keys = *op == filter_op::exists ? 2 : 3;
        if (!field || !field->is(json_type::text) || (!value && keys == 3) || v.keys.size() != keys)
            return fail(unknown_key(v, "field and value"));
        return condition(*op, field->text, value ? *value : json_value{});
    }

    // {"section": "remote_work", "year": {"gte": 2020, "lt": 2024}}
    std::optional<written_filter> by_field(const json_value& v) {
        if (either(v, {"field", "attribute"}) && either(v, {"value", "values"}))
            return fail("a condition has no operator");
        std::vector<written_filter> all;
        for (std::size_t i = 0; i < v.keys.size(); ++i) {
            const json_value& item = v.items[i];
            const bool date = item.find("date") && item.find("type");
            if (!item.is(json_type::object) || date) {
                const filter_op op = item.is(json_type::list) ? filter_op::in : filter_op::eq;
                auto one = condition(op, v.keys[i], item);
                if (!one) return std::nullopt;
                all.push_back(std::move(*one));
                continue;
            }
            for (std::size_t j = 0; j < item.keys.size(); ++j) {
                const auto op = filter_op_named(item.keys[j]);
                if (!op || !is_condition(*op) || *op == filter_op::exists)
                    return fail(concat("there is no operator ", detail::quoted(item.keys[j])));
                auto one = condition(*op, v.keys[i], item.items[j]);
                if (!one) return std::nullopt;
                all.push_back(std::move(*one));
            }
        }
        return combination(filter_op::all_of, std::move(all));
    }

    static std::string unknown_key(const json_value& v, std::string_view wanted) {
        std::string keys;
        for (const std::string& key : v.keys) keys += (keys.empty() ? "" : ", ") + key;
        return concat("a condition has op, ", wanted, " and nothing else, this one has ", keys);
    }
};

// Calls and infix, mixed as they come: at the place of an operand `and(` is a call, behind one it joins.
class text_filter_parser : public filter_parser {
   public:
    text_filter_parser(std::string_view text, const filter_grammar& limits) : filter_parser(limits), text_(text) {}

    std::optional<written_filter> read() {
        auto f = disjunction(1);
        skip_space();
        if (f && at_ < text_.size()) return fail(concat("not understood: ", detail::quoted(text_.substr(at_))));
        return f;
    }

   private:
    void skip_space() {
        while (at_ < text_.size() && is_ascii_space(text_[at_])) ++at_;
    }
    bool take(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
    static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

    // The word at hand, not taken.
    std::string_view peek_word() {
        skip_space();
        std::size_t end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || (end > at_ && is_digit(text_[end])))) ++end;
        return text_.substr(at_, end - at_);
    }
    bool take_word(std::initializer_list<std::string_view> choices) {
        const std::string_view word = peek_word();
        if (word.empty() || std::ranges::find(choices, word) == choices.end()) return false;
        at_ += word.size();
        return true;
    }

    std::optional<written_filter> disjunction(std::size_t depth) {
        return joined(depth, filter_op::any_of, {"or", "OR"}, "||", [this](std::size_t d) { return conjunction(d); });
    }
    std::optional<written_filter> conjunction(std::size_t depth) {
        return joined(depth, filter_op::all_of, {"and", "AND"}, "&&", [this](std::size_t d) { return operand(d); });
    }

    template <class Part>
    std::optional<written_filter> joined(std::size_t depth, filter_op op, std::initializer_list<std::string_view> words,
                                         std::string_view sign, Part part) {
        if (!enter(depth)) return std::nullopt;
        std::vector<written_filter> parts;
        do {
            auto one = part(depth);
            if (!one) return std::nullopt;
            parts.push_back(std::move(*one));
        } while (take_word(words) || take_sign(sign));
        return combination(op, std::move(parts));
    }
    bool take_sign(std::string_view sign) {
        skip_space();
        if (text_.substr(at_, sign.size()) != sign) return false;
        at_ += sign.size();
        return true;
    }

    std::optional<written_filter> operand(std::size_t depth) {
        if (!enter(depth)) return std::nullopt;
        if (take('(')) {
            auto inside = disjunction(depth + 1);
            if (inside && !take(')')) return fail("a bracket is not closed");
            return inside;
        }
        const std::string_view word = peek_word();
        const std::size_t behind = at_ + word.size();
        std::size_t next = behind;
        while (next < text_.size() && is_ascii_space(text_[next])) ++next;
        const bool call = next < text_.size() && text_[next] == '(';
        if (const auto op = filter_op_named(word); op && call) {
            at_ = next + 1;
            return called(*op, depth);
        }
        if (word == "not" || word == "NOT") {
            at_ = behind;
            auto inside = operand(depth + 1);
            if (!inside) return std::nullopt;
            return written_filter{.op = filter_op::none_of, .children = {std::move(*inside)}};
        }
        if (call) return fail(concat("there is no operator ", detail::quoted(word)));
        return comparison();
    }

    std::optional<written_filter> called(filter_op op, std::size_t depth) {
        if (is_condition(op)) {
            std::string field;
            if (!name(field)) return fail("a condition names no field");
            json_value v;
            if (op != filter_op::exists && (!take(',') || !value(v, 1)))
                return fail(concat("the condition on ", detail::quoted(field), " has no value"));
            if (!take(')')) return fail(concat("the condition on ", detail::quoted(field), " does not end"));
            return condition(op, std::move(field), std::move(v));
        }
        std::vector<written_filter> arguments;
        do {
            auto one = disjunction(depth + 1);
            if (!one) return std::nullopt;
            arguments.push_back(std::move(*one));
        } while (take(','));
        if (!take(')')) return fail("a bracket is not closed");
        return combination(op, std::move(arguments));
    }

    // section = "remote_work", year >= 2024, section in ["a", "b"]
    std::optional<written_filter> comparison() {
        std::string field;
        if (!name(field)) return fail(concat("not understood: ", detail::quoted(text_.substr(at_))));
        skip_space();
        std::optional<filter_op> op;
        if (take_word({"in"}))
            op = filter_op::in;
        else if (take_word({"contains"}))
            op = filter_op::contains;
        else if (take_word({"not"}))
            op = take_word({"in"}) ? std::optional(filter_op::nin) : std::nullopt;
        else {
            const std::size_t begin = at_;
            while (at_ < text_.size() && std::string_view("<>=!").find(text_[at_]) != std::string_view::npos) ++at_;
            op = filter_op_named(text_.substr(begin, at_ - begin));
        }
        if (!op) return fail(concat("behind ", detail::quoted(field), " stands no comparison"));
        json_value v;
        if (!value(v, 1)) return fail(concat("the condition on ", detail::quoted(field), " has no value"));
        return condition(*op, std::move(field), std::move(v));
    }

    bool name(std::string& out) {
        skip_space();
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return text_in_quotes(out);
        out = peek_word();
        at_ += out.size();
        return !out.empty();
    }

    bool text_in_quotes(std::string& out) {
        const char quote = text_[at_++];
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == quote) return ++at_, true;
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            out += text_[at_];
        }
        return false;
    }

    bool value(json_value& out, std::size_t depth) {
        skip_space();
        if (at_ >= text_.size()) return false;
        const char c = text_[at_];
        if (c == '"' || c == '\'') {
            out.type = json_type::text;
            return text_in_quotes(out.text);
        }
        if (c == '[') {
            if (depth > 1) return false;
            ++at_;
            out.type = json_type::list;
            if (take(']')) return true;
            do {
                out.items.emplace_back();
                if (!value(out.items.back(), depth + 1)) return false;
            } while (take(','));
            return take(']');
        }
        if (take_word({"true", "True", "TRUE"})) return out.type = json_type::boolean, out.boolean = true;
        if (take_word({"false", "False", "FALSE"})) return out.type = json_type::boolean, true;
        return bare(out);
    }

    // 2024, -1.5, 2024-02-29, 2024-02-29T10:00:00+02:00
    bool bare(json_value& out) {
        std::size_t end = at_;
        while (end < text_.size() && (is_digit(text_[end]) || is_letter(text_[end]) ||
                                      std::string_view("+-.:").find(text_[end]) != std::string_view::npos))
            ++end;
        const std::string_view word = text_.substr(at_, end - at_);
        if (word.empty() || !(is_digit(word.front()) || word.front() == '-')) return false;
        at_ = end;
        if (date_time::parse(word) || (word.size() == 10 && word[4] == '-')) {
            out.type = json_type::text;  // also of a day that does not exist: it is judged with the field
            out.text = word;
            return true;
        }
        const json_scan number = scan_json(concat("{\"n\":", word, '}'));
        if (!number) return false;
        out = *number.value->find("n");
        return out.is(json_type::integer) || out.is(json_type::number);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

inline filter_parse parse_filter(const json_value& value, const filter_grammar& limits) {
    if (value.is(json_type::null)) return {};
    if (value.is(json_type::text)) return parse_filter(value.text, limits);
    if ((value.is(json_type::object) || value.is(json_type::list)) && value.items.empty()) return {};
    json_filter_parser parser(limits);
    auto read = parser.read(value);
    return parser.finish(std::move(read));
}

inline filter_parse parse_filter(std::string_view text, const filter_grammar& limits) {
    text = trimmed(text);
    if (says_no_filter(text)) return {};
    if (text.front() == '{') {
        json_scan scanned = scan_json(text);
        if (!scanned || scanned.end != text.size())
            return {std::nullopt, concat(detail::quoted(text), " is no condition")};
        return parse_filter(*scanned.value, limits);
    }
    text_filter_parser parser(text, limits);
    auto read = parser.read();
    return parser.finish(std::move(read));
}

}  // namespace QUARRY_NAMESPACE::detail
