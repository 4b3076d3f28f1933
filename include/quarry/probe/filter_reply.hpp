// Filter replies: what a model answered when it was asked to split a question into words and a filter.
//
//     {"query": "curries", "filter": {"op": "and", "args": [...]}, "limit": 5}
//
// The first complete object of the reply counts, whatever stands around it; a reply without one may be a bare filter.
// Every condition is checked against the catalog: the field must exist, the operator must be one that its type has, the
// value must convert without loss or be taken for a stored one. What is left over follows the policy.
//
// Kept in any case: what a reply may not do. It cannot name a hidden field, raise the limit beyond the caller's, empty
// the text, or bring a text that has no word of the question in it.
//
// The surprising thing: valid is not right. Of recorded replies of a small model 34 in 60 pass every check and 4 keep
// the right documents. Where that matters, ask that values stand in the question, or fuse with the unfiltered list.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/date_time.hpp"
#include "../core/filter.hpp"
#include "../detail/json_scan.hpp"
#include "../detail/text.hpp"
#include "../text/utf8.hpp"
#include "field_catalog.hpp"
#include "filter_expression.hpp"
#include "quantities.hpp"
#include "query_prober.hpp"
#include "question_words.hpp"

namespace QUARRY_NAMESPACE {

/// What becomes of a filter with a condition that is unknown or impossible. What the grammar does not know (another
/// operator, another key) costs the whole filter under every policy, since nobody can tell what was meant.
enum class invalid_policy : std::uint8_t {
    drop_leaf,    // the rest of an `and` stays; an `or` or `not` around it goes too, since it would say something else
    drop_filter,  // the words are searched without a filter
    refuse,       // callable_error `self_query.refused`
};

/// What was done with a reply.
enum class reply_decision : std::uint8_t {
    use,          // a filter, or the word that there is none
    drop_filter,  // an object, but its filter was missing or not fit to be used
    plain_query,  // no object and no filter: the question as it was asked
};

constexpr std::string_view name_of(reply_decision decision) noexcept {
    constexpr std::string_view names[] = {"use", "drop_filter", "plain_query"};
    return names[static_cast<std::size_t>(decision)];
}

struct filter_reply_rules {
    invalid_policy invalid = invalid_policy::drop_filter;
    std::size_t most = 50;             // a limit beyond it is clamped
    bool values_in_question = false;   // a value must stand in the question's own words, or in those of its alias
    std::optional<date_time> today{};  // for checking "last month" against the question
};

struct filter_reply {
    reply_decision decision = reply_decision::plain_query;
    std::string text{};  // to be searched for; empty: the question
    std::optional<filter> narrowed{};
    std::optional<std::size_t> limit{};
    std::vector<probe_note> notes{};
    std::string complaint{};  // what was wrong, in a sentence that can be sent back; empty if nothing was
};

/// Converted without loss: "2024" for an integer, "4.5" for a number, "true" for a boolean, a date with its offset to
/// UTC, a list of one to its element.
///
/// Cost    linear in the reply, of which at most 64 KiB are looked at; a value that is not stored as it is written
/// costs one
///         look at the values of its field.
/// Errors  callable_error `self_query.refused` under that policy, and no other.
filter_reply read_filter_reply(std::string_view reply, std::string_view question, const field_catalog& fields,
                               const filter_reply_rules& rules = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class filter_reply_reader {
   public:
    filter_reply_reader(std::string_view question, const field_catalog& fields, const filter_reply_rules& rules)
        : question_(question), words_(question_words(question)), fields_(fields), rules_(rules) {}

    filter_reply run(std::string_view reply) {
        const json_scan scanned = scan_json(reply);
        if (!scanned) {
            bare(reply, scanned.fault);
        } else if (const json_value* filter = member(*scanned.value, {"filter", "filters", "where"}); filter) {
            read_text(*scanned.value);
            read_limit(*scanned.value);
            use(parse_filter(*filter));
        } else if (member(*scanned.value, {"query", "semantic_query", "text"})) {
            read_text(*scanned.value);
            read_limit(*scanned.value);
            drop("the reply has no filter");
        } else {
            use(parse_filter(*scanned.value));
        }
        if (rules_.invalid == invalid_policy::refuse && !out_.complaint.empty())
            raise<callable_error>("self_query.refused", concat("quarry::self_query: ", out_.complaint));
        return std::move(out_);
    }

   private:
    static const json_value* member(const json_value& object, std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (const json_value* found = object.find(name)) return found;
        return nullptr;
    }
    void note(probe_code code, std::string what) { out_.notes.push_back({code, std::move(what)}); }

    // ---- the parts of a reply

    // No object: a filter by itself, in a fence or not, or the word that there is none.
    void bare(std::string_view reply, json_fault fault) {
        std::string_view text = trimmed(reply.substr(0, 4096));
        if (text.starts_with("\xEF\xBB\xBF")) text = trimmed(text.substr(3));
        if (text.starts_with("```")) {
            text.remove_prefix((std::min)(text.find('\n'), text.size()));
            text = trimmed(text.substr(0, text.rfind("```")));
        }
        if (fault == json_fault::absent && reply.size() <= 4096) {
            if (!text.empty() && says_no_filter(text)) return use({});
            if (auto parsed = parse_filter(text); parsed.filter) return use(std::move(parsed));
            if (text.starts_with('[') || text == "{}") return use({});
        }
        out_.decision = reply_decision::plain_query;
        out_.complaint = fault == json_fault::absent ? std::string("the reply has no JSON object")
                                                     : concat("the JSON of the reply is broken (", name_of(fault), ')');
        note(probe_code::unreadable, out_.complaint);
    }

    void read_text(const json_value& object) {
        const json_value* text = member(object, {"query", "semantic_query", "text"});
        if (!text || !text->is(json_type::text)) return;
        const std::string_view written = trimmed(text->text);
        if (written.empty()) return;
        const bool too_long = written.size() > 2 * question_.size() + 100;
        if (too_long || !shares_a_word(written)) return note(probe_code::original, std::string(written.substr(0, 80)));
        // Embedders are strangers too: what reaches them is UTF-8.
        for (std::size_t at = 0; at < written.size();) {
            const code_point c = decode(written.substr(at));
            encode(c.value, out_.text);
            at += c.length;
        }
    }

    // A text is what is left of the question. One without any of its words is a copy of the prompt, or an answer.
    bool shares_a_word(std::string_view text) const {
        std::unordered_set<std::string_view> known;
        for (const question_word& w : words_)
            if (w.is_word && !is_everyday(w.folded)) known.insert(w.stem);
        for (const question_word& w : question_words(text))
            if (w.is_word && known.contains(w.stem)) return true;
        return false;
    }

    void read_limit(const json_value& object) {
        const json_value* limit = member(object, {"limit", "top_k", "k"});
        if (!limit || limit->is(json_type::null)) return;
        std::int64_t n = limit->is(json_type::integer) ? limit->integer : 0;
        if (limit->is(json_type::text)) n = integer_in(limit->text).value_or(0);
        if (n < 1) return note(probe_code::limited, "ignored");
        out_.limit = static_cast<std::size_t>((std::min)(static_cast<std::uint64_t>(n), std::uint64_t{rules_.most}));
        if (*out_.limit != static_cast<std::uint64_t>(n)) note(probe_code::limited, concat(n, " to ", *out_.limit));
    }

    void use(filter_parse parsed) {
        if (!parsed.fault.empty()) return drop(std::move(parsed.fault));
        out_.decision = reply_decision::use;
        if (!parsed.filter) return;
        out_.narrowed = resolved(*parsed.filter);
        if (fault_.empty()) return;
        if (rules_.invalid == invalid_policy::drop_leaf) {
            out_.complaint = fault_;
            return;
        }
        drop(std::move(fault_));
    }

    void drop(std::string fault) {
        out_.decision = reply_decision::drop_filter;
        out_.narrowed.reset();
        note(probe_code::dropped_filter, fault);
        out_.complaint = std::move(fault);
    }

    // ---- conditions

    // Nothing where a leaf was invalid and what it stood in goes with it.
    std::optional<filter> resolved(const written_filter& w) {
        if (is_condition(w.op)) return leaf(w);
        std::vector<filter> children;
        const std::size_t before = losses_;
        for (const written_filter& child : w.children)
            if (auto f = resolved(child)) children.push_back(std::move(*f));
        // An arm that is missing narrows an `or`. Whatever is missing below a `not` narrows it: what was left out could
        // have been what made it true.
        const bool arm_lost = w.op == filter_op::any_of && children.size() < w.children.size();
        const bool negated_loss = w.op == filter_op::none_of && losses_ > before;
        if (children.empty() || arm_lost || negated_loss) return std::nullopt;
        if (w.op == filter_op::none_of) return !children.front();
        if (children.size() == 1) return children.front();
        return filter::branch(w.op, std::move(children));
    }

    std::optional<filter> invalid(std::string fault) {
        ++losses_;
        if (rules_.invalid == invalid_policy::drop_leaf) note(probe_code::dropped_leaf, fault);
        if (fault_.empty()) fault_ = std::move(fault);
        return std::nullopt;
    }

    std::optional<filter> leaf(const written_filter& w) {
        const auto position = fields_.find(w.field);
        if (!position) return invalid(concat("there is no field ", detail::quoted(w.field)));
        if (w.op == filter_op::exists) return exists(w.field);
        const field_type type = fields_[*position].declared.type;
        const bool list = type == field_type::string_list, text = type == field_type::string;
        const bool ordered =
            w.op == filter_op::lt || w.op == filter_op::le || w.op == filter_op::gt || w.op == filter_op::ge;
        const bool fits = ordered                       ? !list && !text && type != field_type::boolean
                          : w.op == filter_op::contains ? list
                          : w.op == filter_op::prefix   ? text
                                                        : true;
        if (!fits)
            return invalid(
                concat(name_of(w.op), " is not defined for field ", detail::quoted(w.field), ", a ", name_of(type)));
        const bool several = w.op == filter_op::in || w.op == filter_op::nin;
        std::vector<json_value> written = w.value.is(json_type::list) ? w.value.items : std::vector{w.value};
        if (written.empty() || (!several && written.size() > 1))
            return invalid(
                concat(name_of(w.op), " on ", detail::quoted(w.field), " takes one value, not ", written.size()));
        std::vector<field_value> values;
        for (const json_value& v : written) {
            auto value = converted(*position, w.op, v);
            if (!value) return std::nullopt;
            values.push_back(std::move(*value));
        }
        return list ? of_list(w, values) : filter::leaf(w.op, w.field, std::move(values));
    }

    // A list has no equality of its own: its elements have.
    static filter of_list(const written_filter& w, const std::vector<field_value>& values) {
        std::vector<filter> each;
        for (const field_value& v : values) each.push_back(contains(w.field, *v.get_if<std::string>()));
        filter any = each.size() == 1 ? each.front() : any_of(std::move(each));
        return w.op == filter_op::ne || w.op == filter_op::nin ? !any : any;
    }

    std::optional<field_value> converted(std::size_t position, filter_op op, const json_value& v) {
        const field_catalog::known_field& f = fields_[position];
        std::optional<field_value> out;
        switch (f.declared.type) {
            case field_type::boolean: out = as_boolean(v); break;
            case field_type::integer: out = as_integer(v); break;
            case field_type::number: out = as_number(v); break;
            case field_type::date_time: out = as_date(v); break;
            default: return as_text(position, op, v);
        }
        if (!out) {
            misfit(f.declared, v);
            return std::nullopt;
        }
        if (v.is(json_type::text) && f.declared.type != field_type::date_time)
            note(probe_code::converted, concat(detail::quoted(v.text), " to ", out->to_string()));
        if (rules_.values_in_question && !is_asked_for(position, *out)) {
            invalid(concat("the question does not say ", out->to_string()));
            return std::nullopt;
        }
        return out;
    }

    void misfit(const field& declared, const json_value& v) {
        invalid(concat("field ", detail::quoted(declared.name), " has type ", name_of(declared.type),
                       " and cannot be compared with ", shown(v)));
    }

    std::optional<field_value> as_text(std::size_t position, filter_op op, const json_value& v) {
        const field_catalog::known_field& f = fields_[position];
        std::string text = v.text;
        if (v.is(json_type::integer))
            text = concat(v.integer);
        else if (!v.is(json_type::text)) {
            misfit(f.declared, v);
            return std::nullopt;
        }
        if (op == filter_op::prefix) return field_value(text);
        const field_catalog::snapped s = fields_.snap(position, text);
        if (s.match == value_match::unknown || s.match == value_match::ambiguous) {
            if (!f.hint.open || v.is(json_type::integer)) {
                invalid(concat("field ", detail::quoted(f.declared.name),
                               s.match == value_match::unknown ? " has no value " : " has several values like ",
                               detail::quoted(text)));
                return std::nullopt;
            }
        } else {
            if (s.match != value_match::exact)
                note(probe_code::snapped, concat(detail::quoted(text), " to ", detail::quoted(s.text)));
            text = s.text;
        }
        if (rules_.values_in_question && !says(text) && !says_alias_of(f, text)) {
            invalid(concat("the question does not say ", detail::quoted(text)));
            return std::nullopt;
        }
        return field_value(std::move(text));
    }

    static std::optional<std::int64_t> integer_in(std::string_view text) {
        const json_scan s = scan_json(concat("{\"n\":", trimmed(text), '}'));
        if (!s || s.value->items.size() != 1 || !s.value->items.front().is(json_type::integer)) return std::nullopt;
        return s.value->items.front().integer;
    }

    static std::optional<field_value> as_boolean(const json_value& v) {
        if (v.is(json_type::boolean)) return field_value(v.boolean);
        if (v.text == "true" || v.text == "false") return field_value(v.text == "true");
        return std::nullopt;
    }
    static std::optional<field_value> as_integer(const json_value& v) {
        if (v.is(json_type::integer)) return field_value(v.integer);
        if (v.is(json_type::number) && v.number == std::floor(v.number) && std::abs(v.number) < 9e15)
            return field_value(static_cast<std::int64_t>(v.number));
        if (const auto n = v.is(json_type::text) ? integer_in(v.text) : std::nullopt) return field_value(*n);
        return std::nullopt;
    }
    static std::optional<field_value> as_number(const json_value& v) {
        if (v.is(json_type::integer)) return field_value(v.integer);
        if (v.is(json_type::number)) return field_value(v.number);
        if (!v.is(json_type::text)) return std::nullopt;
        const json_scan s = scan_json(concat("{\"n\":", trimmed(v.text), '}'));
        if (!s || s.value->items.size() != 1) return std::nullopt;
        const json_value& n = s.value->items.front();
        return n.is(json_type::integer) || n.is(json_type::number) ? as_number(n) : std::nullopt;
    }
    // A text, or {"type": "date", "date": "2024-02-29"}.
    static std::optional<field_value> as_date(const json_value& v) {
        const json_value* text = &v;
        if (v.is(json_type::object)) {
            const json_value* type = v.find("type");
            text = v.find("date");
            if (v.keys.size() != 2 || !text || !type || (type->text != "date" && type->text != "datetime"))
                return std::nullopt;
        }
        if (!text->is(json_type::text)) return std::nullopt;
        const auto time = date_time::parse(trimmed(text->text));
        return time ? std::optional(field_value(*time)) : std::nullopt;
    }

    static std::string shown(const json_value& v) {
        switch (v.type) {
            case json_type::boolean: return v.boolean ? "true" : "false";
            case json_type::integer: return concat(v.integer);
            case json_type::number: return concat(v.number);
            case json_type::text: return detail::quoted(v.text);
            default: return concat("a ", name_of(v.type));
        }
    }

    // ---- does the question say it?

    bool says(std::string_view value) const {
        const word_key wanted = key_of(value);
        if (wanted.words == 0) return false;
        // Stems between spaces, so that a value is found as whole words.
        return stems().find(concat(' ', wanted.stem, ' ')) != std::string::npos;
    }
    bool says_alias_of(const field_catalog::known_field& f, std::string_view value) const {
        return std::ranges::any_of(f.hint.aliases, [&](const auto& a) { return a.second == value && says(a.first); });
    }
    const std::string& stems() const {
        if (stems_.empty()) {
            stems_ = " ";
            for (const question_word& w : words_)
                if (w.is_word) stems_ += w.stem + ' ';
        }
        return stems_;
    }

    bool is_asked_for(std::size_t position, const field_value& value) const {
        const field_catalog::known_field& f = fields_[position];
        if (const auto* yes = value.get_if<bool>())
            return says(f.declared.name) || std::ranges::any_of(f.hint.names, [&](const auto& n) { return says(n); }) ||
                   says_alias_of(f, *yes ? "true" : "false");
        if (!quantities_) quantities_ = quantities_of(words_, std::vector<bool>(words_.size()), rules_.today);
        for (const quantity& q : *quantities_)
            for (const amount* a : {&q.low, &q.high})
                if (speaks_of(*a, value)) return true;
        return false;
    }

    // The number itself, in any unit; the first or last year, or the day before or behind, of a time.
    static bool speaks_of(const amount& a, const field_value& value) {
        const auto* integer = value.get_if<std::int64_t>();
        const auto* number = value.get_if<double>();
        if (integer || number) {
            const double wanted = integer ? static_cast<double>(*integer) : *number;
            if (a.number && *a.number == wanted) return true;
            if (a.number && a.unit > 0)
                for (const double unit : {1.0, 60.0, 3600.0, seconds_a_day})
                    if (*a.number * a.unit / unit == wanted) return true;
            const auto years = a.time ? a.time->years() : std::nullopt;
            if (years) return wanted == years->first || wanted == years->second || wanted == years->second + 1;
            return a.time && wanted == static_cast<int>(std::chrono::year_month_day{a.time->begin}.year());
        }
        const auto* time = value.get_if<date_time>();
        if (!time || !a.time) return false;
        const auto day = std::chrono::floor<std::chrono::days>(
            std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(time->starts())));
        return day >= a.time->begin - std::chrono::days{1} && day <= a.time->end;
    }

    std::string_view question_;
    std::vector<question_word> words_;
    const field_catalog& fields_;
    const filter_reply_rules& rules_;
    filter_reply out_;
    std::string fault_;       // the first condition that was lost
    std::size_t losses_ = 0;  // and how many were
    // Worked out when a value is looked for.
    mutable std::string stems_;
    mutable std::optional<std::vector<quantity>> quantities_;
};

}  // namespace detail

inline filter_reply read_filter_reply(std::string_view reply, std::string_view question, const field_catalog& fields,
                                      const filter_reply_rules& rules) {
    return detail::filter_reply_reader(question, fields, rules).run(reply);
}

}  // namespace QUARRY_NAMESPACE
