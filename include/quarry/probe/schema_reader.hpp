// Schema reader: self-query without a model. A question's words become conditions on declared fields.
//
//     const schema_reader reader(fields, {.today = date_time::day(2026, 3, 10)});
//     reader.read("thermostat guides updated before 2024")
//         // and(eq(product, "thermostat"), lt(updated, 2024-01-01)), leaving "guides"
//
// It knows English (comparisons, dates, negation, "and" and "or") and, from a field_catalog, which values there are. It
// knows nothing of what the fields mean and does not guess: what could be two things is left in the text, and the
// answer then says that it is not complete.
//
// The surprising thing: a word that is a value is taken for a condition. That is right for "Thai curries" and wrong for
// a question about curries that happens to mention Thailand. Fields whose values are everyday words should be marked
// `only_when_named`; and what belongs to the asker ("my thermostat") is never a condition.
//
// In a field of more than 64 values a single word counts only if it is written as the value is, capitals included:
// among thousands of names there is one for almost every word.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/date_time.hpp"
#include "../core/filter.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "field_catalog.hpp"
#include "quantities.hpp"
#include "query_prober.hpp"
#include "question_words.hpp"

namespace QUARRY_NAMESPACE {

struct schema_reader_options {
    std::optional<date_time> today{};  // without it "last month" and "since June" are not read
    std::size_t most = 50;             // a limit ("five desserts") beyond it is clamped
    bool keep_words = false;           // search for the whole question, conditions included
};

/// Const calls may overlap. Copies share the catalog, which must outlive them.
class schema_reader {
   public:
    explicit schema_reader(const field_catalog& fields, schema_reader_options options = {});
    schema_reader(const field_catalog&&, schema_reader_options = {}) = delete;  // a temporary catalog would dangle

    /// Order   conditions stand in the order of the question's words.
    /// Cost    linear in the words of the question times the words of the longest value.
    /// Errors  none but those of memory: what cannot be read stays text.
    probed_query read(std::string_view question) const;

    probed_query operator()(question& q) const { return read(q.text()); }

   private:
    struct sense {
        std::size_t field;
        std::string value;   // of a text or list; "true" or "false" of a boolean
        std::string folded;  // as it is written
        std::size_t units = 0;
        bool capital = false;
    };
    struct profile {
        std::vector<std::string> names;         // stems of the words the field is called by
        std::vector<std::string> whole_names;   // unstemmed, for relatives
        std::vector<std::string> told;          // stems of its description that no other field's has
        std::vector<std::string> prepositions;  // of its names and description
        bool year_like = false;                 // a bare year is meant for it
        bool holds_years = false;               // where it is named, "the 1990s" may be
        double unit = 0.0;  // seconds, if it counts a length of time
    };

    class reading;

    void learn(std::size_t field);
    void add_sense(std::string_view words, sense s);

    const field_catalog* fields_;
    schema_reader_options options_;
    std::vector<profile> profiles_;
    std::unordered_map<std::string, std::vector<sense>> senses_;  // by the stems of their words
    std::size_t longest_ = 0;                                     // words of the longest sense
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline bool is_possessive(std::string_view w) noexcept {
    return w == "my" || w == "our" || w == "your" || w == "his" || w == "her" || w == "their";
}

// "published" and "publisher": at least five letters in common at the front, and little behind them.
inline bool are_relatives(std::string_view a, std::string_view b) noexcept {
    const auto [end_a, end_b] = std::ranges::mismatch(a, b);
    const auto common = static_cast<std::size_t>(end_a - a.begin());
    return common >= 5 && a.size() - common <= 4 && b.size() - common <= 4;
}

inline field_value day_value(std::chrono::sys_days day) {
    const std::chrono::year_month_day date{day};
    return *date_time::day(static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                           static_cast<unsigned>(date.day()));
}

// A whole number as an integer: 30 minutes are 30 and not 30.0.
inline field_value number_value(double number) {
    if (number == std::floor(number) && std::abs(number) < 9e15) return static_cast<std::int64_t>(number);
    return number;
}

}  // namespace detail

inline schema_reader::schema_reader(const field_catalog& fields, schema_reader_options options)
    : fields_(&fields), options_(options), profiles_(fields.size()) {
    for (std::size_t f = 0; f < fields.size(); ++f)
        if (!fields[f].hint.hidden) learn(f);
    // A word of a description tells fields apart only if no other description has it.
    for (profile& p : profiles_)
        std::erase_if(p.told, [&](const std::string& stem) {
            return std::ranges::count_if(profiles_, [&](const profile& other) {
                       return std::ranges::find(other.told, stem) != other.told.end();
                   }) > 1;
        });
}

inline void schema_reader::learn(std::size_t f) {
    const field_catalog::known_field& known = (*fields_)[f];
    profile& p = profiles_[f];
    const auto name = [&](std::string_view words) {
        for (const detail::question_word& w : detail::question_words(words)) {
            if (detail::is_preposition(w.folded)) p.prepositions.push_back(w.folded);
            if (!w.is_word || detail::is_everyday(w.folded)) continue;
            p.names.push_back(w.stem);
            p.whole_names.push_back(w.folded);
            if (p.unit == 0.0) p.unit = detail::seconds_of_unit(w.stem);
        }
    };
    name(known.declared.name);
    for (const std::string& words : known.hint.names) name(words);
    for (const detail::question_word& w : detail::question_words(known.declared.description)) {
        if (detail::is_preposition(w.folded)) p.prepositions.push_back(w.folded);
        if (!w.is_word || detail::is_everyday(w.folded) || std::ranges::find(p.told, w.stem) != p.told.end()) continue;
        p.told.push_back(w.stem);
        if (p.unit == 0.0) p.unit = detail::seconds_of_unit(w.stem);
    }
    const field_type type = known.declared.type;
    if (type == field_type::integer) {
        const auto says_year = [](const std::vector<std::string>& stems) {
            return std::ranges::find(stems, "year") != stems.end();
        };
        const auto* least = known.least ? known.least->get_if<std::int64_t>() : nullptr;
        const auto* greatest = known.greatest ? known.greatest->get_if<std::int64_t>() : nullptr;
        p.holds_years = least && *least >= 1000 && greatest && *greatest < 3000;
        p.year_like = says_year(p.names) || (says_year(p.told) && p.holds_years);
        if (p.year_like) p.unit = 0.0;
    }
    for (const field_catalog::known_value& v : known.values)
        add_sense(v.text, {.field = f, .value = v.text, .folded = {}, .units = v.units});
    for (const auto& [words, value] : known.hint.aliases)
        add_sense(words, {.field = f, .value = value, .folded = {}, .units = 1});
    if (type == field_type::boolean) {
        add_sense(known.declared.name, {.field = f, .value = "true", .folded = {}, .units = 1});
        for (const std::string& words : known.hint.names)
            add_sense(words, {.field = f, .value = "true", .folded = {}, .units = 1});
    }
}

inline void schema_reader::add_sense(std::string_view words, sense s) {
    detail::word_key key = detail::key_of(words);
    if (key.words == 0) return;
    // A value that is nothing but digits is a number to whoever writes it in a question.
    if (std::ranges::all_of(key.folded, [](char c) { return (c >= '0' && c <= '9') || c == ' '; })) return;
    s.folded = std::move(key.folded);
    const auto parts = detail::question_words(words);
    s.capital = parts.front().capital;
    longest_ = (std::max)(longest_, key.words);
    senses_[key.stem].push_back(std::move(s));
}

// One question on its way through the reader.
class schema_reader::reading {
   public:
    reading(const schema_reader& reader, std::string_view question)
        : reader_(reader),
          fields_(*reader.fields_),
          question_(question),
          words_(detail::question_words(question)),
          taken_(words_.size()),
          cut_(words_.size()) {}

    probed_query run() {
        find_values();
        find_quantities();
        find_limit();
        detail::sort_stably(items_, [](const item& a, const item& b) { return a.begin < b.begin; });
        connect();
        out_.narrowed = combined();
        look_for_leftovers();
        write_text();
        return std::move(out_);
    }

   private:
    // Words [begin, end) state a condition; if there are several leaves, all of them.
    struct item {
        std::size_t begin, end;
        std::size_t field;
        std::string value{};           // of texts, lists and booleans
        std::vector<filter> leaves{};  // of quantities
        bool negated = false;
    };
    enum class link : std::uint8_t { none, beside, comma, both, either };

    // ---- words

    std::string_view word(std::size_t i) const noexcept {
        return i < words_.size() ? std::string_view(words_[i].folded) : std::string_view();
    }
    field_type type_of(std::size_t field) const noexcept { return fields_[field].declared.type; }
    bool is_list(std::size_t field) const noexcept { return type_of(field) == field_type::string_list; }

    bool names_field(std::size_t i, std::size_t field) const {
        if (!words_[i].is_word) return false;
        const profile& p = reader_.profiles_[field];
        if (std::ranges::find(p.names, words_[i].stem) != p.names.end()) return true;
        return std::ranges::any_of(
            p.whole_names, [&](const std::string& name) { return detail::are_relatives(name, words_[i].folded); });
    }
    bool tells_field(std::size_t i, std::size_t field) const {
        const auto& told = reader_.profiles_[field].told;
        return words_[i].is_word && std::ranges::find(told, words_[i].stem) != told.end();
    }

    // How strongly the words around [begin, end) speak of `field`.
    struct cues {
        int score = 0;
        bool named = false;
    };
    cues cues_of(std::size_t begin, std::size_t end, std::size_t field) const {
        cues c;
        const profile& p = reader_.profiles_[field];
        int seen = 0;
        for (std::size_t i = begin; i-- > 0 && seen < 3;) {
            if (!words_[i].is_word) {
                if (words_[i].folded == "," || words_[i].folded == ";" || words_[i].folded == ".") break;
                continue;
            }
            if (taken_[i]) break;
            if (names_field(i, field))
                c.score += 8, c.named = true;
            else if (tells_field(i, field))
                c.score += 4;
            if (seen == 0 && std::ranges::find(p.prepositions, words_[i].folded) != p.prepositions.end()) c.score += 3;
            if (seen == 0 && words_[i].folded == "with" && is_list(field)) c.score += 1;
            if (seen == 0 && words_[i].folded == "by" && type_of(field) == field_type::string) c.score += 1;
            ++seen;
        }
        seen = 0;
        for (std::size_t i = end; i < words_.size() && seen < 2 && words_[i].is_word && !taken_[i]; ++i, ++seen) {
            if (detail::is_preposition(words_[i].folded)) break;
            if (names_field(i, field))
                c.score += 6, c.named = true;
            else if (tells_field(i, field))
                c.score += 3;
        }
        return c;
    }

    // ---- values

    void find_values() {
        for (std::size_t i = 0; i < words_.size();) {
            const std::size_t end = words_[i].is_word ? value_at(i) : i;
            i = end > i ? end : i + 1;
        }
    }

    // The longest value that begins at word i; its end, or i.
    std::size_t value_at(std::size_t i) {
        std::vector<std::size_t> ends;
        std::string stems;
        std::vector<std::string> keys;
        for (std::size_t at = i; at < words_.size() && keys.size() < reader_.longest_;) {
            if (!keys.empty()) stems += ' ';
            stems += words_[at].stem;
            keys.push_back(stems);
            ends.push_back(at + 1);
            at += joint_after(at) ? 2 : 1;
            if (at >= words_.size() || !words_[at].is_word) break;
        }
        for (std::size_t n = keys.size(); n-- > 0;) {
            const auto found = reader_.senses_.find(keys[n]);
            if (found != reader_.senses_.end() && choose(i, ends[n], n + 1, found->second)) return ends[n];
        }
        return i;
    }

    // A mark inside a value: "gluten-free", "AT&T", "J. R. Hartley".
    bool joint_after(std::size_t at) const {
        if (at + 2 >= words_.size() || words_[at + 1].is_word || words_[at + 1].apart || !words_[at + 2].is_word)
            return false;
        const std::string_view mark = words_[at + 1].folded;
        if (mark == "." && words_[at].capital && words_[at].folded.size() <= 3) return true;
        return !words_[at + 2].apart && mark != "," && mark != ";" && mark != ":";
    }

    bool choose(std::size_t begin, std::size_t end, std::size_t count, const std::vector<sense>& senses) {
        std::string folded;
        for (std::size_t i = begin; i < end; ++i)
            if (words_[i].is_word) folded += (folded.empty() ? "" : " ") + words_[i].folded;
        const sense* best = nullptr;
        int best_score = 0;
        bool tie = false, refused = false;
        for (const sense& s : senses) {
            if (!may_mean(s, folded, begin, count)) continue;
            const cues c = cues_of(begin, end, s.field);
            if (fields_[s.field].hint.only_when_named && !c.named && !continues_list(begin, s.field)) continue;
            refused = refused || (begin > 0 && detail::is_possessive(words_[begin - 1].folded) && !c.named);
            // What follows in a list is of the list's field, if it can be: "for landlords or installers".
            const int score = c.score * 4 + (s.folded == folded ? 8 : 0) + (continues_list(begin, s.field) ? 16 : 0);
            const bool more = best && score == best_score && s.units > best->units;
            const bool same = best && score == best_score && s.units == best->units &&
                              (s.field != best->field || s.value != best->value);
            if (!best || score > best_score || more)
                best = &s, best_score = score, tie = false;
            else if (same)
                tie = true;
        }
        if (!best || refused) return false;
        if (tie) {
            note(probe_code::ambiguous, begin, end);
            out_.complete = false;
            take(begin, end);
            return true;
        }
        items_.push_back({.begin = begin, .end = end, .field = best->field, .value = best->value});
        take(begin, end);
        return true;
    }

    bool may_mean(const sense& s, std::string_view folded, std::size_t begin, std::size_t count) const {
        constexpr std::size_t open = 64;
        const bool exact = s.folded == folded;
        if (count == 1) {
            if (detail::is_everyday(folded)) return false;
            const std::string_view written =
                question_.substr(words_[begin].begin, words_[begin].end - words_[begin].begin);
            if (folded.size() <= 2 && written.substr(0, s.value.size()) != s.value) return false;
        }
        if (fields_[s.field].values.size() <= open) return true;
        return exact && (count > 1 || words_[begin].capital == s.capital);
    }

    // "tags battery or noise": the second value stands in the list that the first began.
    bool continues_list(std::size_t begin, std::size_t field) const {
        if (items_.empty() || items_.back().field != field) return false;
        for (std::size_t i = items_.back().end; i < begin; ++i)
            if (words_[i].is_word && !detail::is_filler(words_[i].folded)) return false;
        return true;
    }

    void take(std::size_t begin, std::size_t end) {
        std::fill(taken_.begin() + diff(begin), taken_.begin() + diff(end), true);
    }
    static std::ptrdiff_t diff(std::size_t i) noexcept { return static_cast<std::ptrdiff_t>(i); }

    // ---- quantities

    void find_quantities() {
        for (detail::quantity& q : detail::quantities_of(words_, taken_, reader_.options_.today)) {
            if (q.noun != 0 && detail::is_filler(word(q.noun))) q.noun = 0;
            quantities_.push_back(q);
        }
        std::vector<std::optional<std::size_t>> fields(quantities_.size());
        for (std::size_t n = 0; n < quantities_.size(); ++n) {
            fields[n] = field_of(quantities_[n]);
            // "2003, 2004 or 2005": the others are of the first one's field.
            if (!fields[n] && n > 0 && fields[n - 1] && in_one_list(n - 1, n, *fields[n - 1]))
                fields[n] = fields[n - 1];
        }
        for (std::size_t n = quantities_.size(); n-- > 1;)  // "for 4, 6 or 8 people"
            if (fields[n] && !fields[n - 1] && in_one_list(n - 1, n, *fields[n])) fields[n - 1] = fields[n];
        for (std::size_t n = 0; n < quantities_.size(); ++n)
            if (fields[n]) add_quantity(quantities_[n], *fields[n]);
    }

    bool in_one_list(std::size_t a, std::size_t b, std::size_t field) const {
        const auto bare = [&](std::size_t n) {
            return quantities_[n].rel == detail::relation::none || quantities_[n].rel == detail::relation::eq;
        };
        return bare(a) && bare(b) && only_fillers(quantities_[a].end, quantities_[b].begin) &&
               can_hold(quantities_[a], field) && can_hold(quantities_[b], field);
    }

    void add_quantity(detail::quantity& q, std::size_t field) {
        std::vector<filter> leaves = leaves_of(q, field);
        if (leaves.empty()) return;
        if (q.noun == q.end && q.noun != 0 && (names_field(q.noun, field) || tells_field(q.noun, field))) ++q.end;
        take(q.begin, q.end);
        items_.push_back({.begin = q.begin, .end = q.end, .field = field, .value = {}, .leaves = std::move(leaves)});
    }

    // The one field that a quantity speaks of.
    std::optional<std::size_t> field_of(const detail::quantity& q) const {
        std::optional<std::size_t> best;
        int best_score = 0;
        bool tie = false;
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            const int score = score_of(q, f);
            if (score <= 0) continue;
            if (!best || score > best_score)
                best = f, best_score = score, tie = false;
            else if (score == best_score)
                tie = true;
        }
        return tie ? std::nullopt : best;
    }

    bool only_fillers(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            if (words_[i].is_word && !detail::is_filler(words_[i].folded)) return false;
        return begin < end;
    }

    bool can_hold(const detail::quantity& q, std::size_t f) const {
        if (fields_[f].hint.hidden) return false;
        const field_type type = type_of(f);
        if (type == field_type::date_time)
            return q.low.time.has_value() || (q.by_age && q.low.unit >= detail::seconds_a_day);
        if (type != field_type::integer && type != field_type::number) return false;
        const bool years = q.low.time && (q.rolling || q.low.time->years().has_value());
        if (reader_.profiles_[f].year_like) return years;
        return q.low.number.has_value() || (years && reader_.profiles_[f].holds_years);
    }

    // 0: it does not speak of this field.
    int score_of(const detail::quantity& q, std::size_t f) const {
        if (!can_hold(q, f)) return 0;
        using detail::relation;
        const bool strong = q.rel != relation::none && q.rel != relation::eq;
        const profile& p = reader_.profiles_[f];
        const bool calendar = type_of(f) == field_type::date_time || p.year_like;
        int score = 4 * cues_of(q.begin, q.end, f).score;
        if (q.noun != 0 && names_field(q.noun, f))
            score += 32;
        else if (q.noun != 0 && tells_field(q.noun, f))
            score += 20;
        if (calendar) {
            // A day in a field of days says more than one in a field of years.
            score += type_of(f) == field_type::date_time ? 13 : 12;
            return score;
        }
        if (q.low.unit > 0) {
            if (p.unit == 0.0) return 0;
            score += p.unit == q.low.unit ? 26 : 24;
        } else if (p.unit > 0 && q.noun == 0 && score == 0) {
            return 0;
        }
        if (score == 0 && strong && q.noun == 0 && q.low.number && within_range(q, f)) score = 2;
        if (q.low.time && score < 12) return 0;  // a bare year is a year
        return score;
    }

    bool within_range(const detail::quantity& q, std::size_t f) const {
        const auto& known = fields_[f];
        const field_value low = detail::number_value(*q.low.number);
        const std::span<const field_value> asked(&low, 1);
        return known.least && holds(filter_op::le, &*known.least, asked) == truth::yes &&
               holds(filter_op::ge, &*known.greatest, asked) == truth::yes;
    }

    std::vector<filter> leaves_of(const detail::quantity& q, std::size_t f) const {
        const std::string& name = fields_[f].declared.name;
        using detail::relation;
        if (type_of(f) == field_type::date_time) return date_leaves(q, name);
        if (reader_.profiles_[f].year_like || !q.low.number) return year_leaves(q, name);
        const auto value = [&](const detail::amount& a) {
            const double unit = reader_.profiles_[f].unit;
            return detail::number_value(a.unit > 0 && unit > 0 ? *a.number * a.unit / unit : *a.number);
        };
        relation rel = q.rel;
        if (q.by_age) rel = rel == relation::lt ? relation::gt : rel == relation::gt ? relation::lt : rel;
        return compared(rel, name, value(q.low), value(q.low), q.high.number ? value(q.high) : value(q.low));
    }

    static std::vector<filter> year_leaves(const detail::quantity& q, const std::string& name) {
        using detail::relation;
        if (q.rolling) return {ge(name, static_cast<int>(std::chrono::year_month_day{q.low.time->begin}.year()))};
        const auto [first, last] = *q.low.time->years();
        const auto high = q.rel == relation::between ? q.high.time->years() : q.low.time->years();
        if (!high) return {};
        if ((q.rel == relation::none || q.rel == relation::eq) && first != last)
            return {ge(name, first), le(name, last)};
        return compared(q.rel, name, first, last, high->second);
    }

    // `first` and `last` are the ends of what stands behind the comparison: not before 2024-01-01, not after
    // 2024-12-31.
    static std::vector<filter> compared(detail::relation rel, const std::string& name, const field_value& first,
                                        const field_value& last, const field_value& high) {
        using detail::relation;
        switch (rel) {
            case relation::lt: return {lt(name, first)};
            case relation::le: return {le(name, last)};
            case relation::gt: return {gt(name, last)};
            case relation::ge: return {ge(name, first)};
            case relation::between: return {ge(name, first), le(name, high)};
            default: return {eq(name, first)};
        }
    }

    std::vector<filter> date_leaves(const detail::quantity& q, const std::string& name) const {
        using detail::relation;
        if (!q.low.time) {  // older than 90 days
            if (!reader_.options_.today) return {};
            const auto now = std::chrono::floor<std::chrono::days>(std::chrono::sys_time<std::chrono::milliseconds>(
                std::chrono::milliseconds(reader_.options_.today->starts())));
            const double passed = (std::min)(*q.low.number * q.low.unit / detail::seconds_a_day, 1e6);
            const field_value then = detail::day_value(now - std::chrono::days{static_cast<int>(passed)});
            return compared(q.rel, name, then, then, then);
        }
        const detail::period low = *q.low.time;
        const detail::period high = q.rel == relation::between && q.high.time ? *q.high.time : low;
        const field_value first = detail::day_value(low.begin), beyond = detail::day_value(low.end);
        switch (q.rel) {
            case relation::lt: return {lt(name, first)};
            case relation::ge: return {ge(name, first)};
            case relation::gt: return low.is_day() ? std::vector{gt(name, first)} : std::vector{ge(name, beyond)};
            case relation::le: return low.is_day() ? std::vector{le(name, first)} : std::vector{lt(name, beyond)};
            case relation::between:
                return {ge(name, first), high.is_day() ? le(name, detail::day_value(high.begin))
                                                       : lt(name, detail::day_value(high.end))};
            default:
                return low.is_day() ? std::vector{eq(name, first)} : std::vector{ge(name, first), lt(name, beyond)};
        }
    }

    // ---- the limit

    void find_limit() {
        for (const detail::quantity& q : quantities_) {
            if (taken_[q.begin] || q.rel != detail::relation::none || !q.low.number || q.low.time || q.low.unit > 0)
                continue;
            const bool opens = q.begin == 0 || (q.begin == 1 && word(0) == "the");
            const std::string_view before = q.begin > 0 ? word(q.begin - 1) : std::string_view();
            const bool called_for = before == "top" || before == "first" || before == "best" || before == "me" ||
                                    before == "find" || before == "list" || before == "show";
            const double n = *q.low.number;
            if ((!opens && !called_for) || n < 1 || n != std::floor(n) || q.end >= words_.size() ||
                !words_[q.end].is_word)
                continue;
            const auto limit = static_cast<std::size_t>((std::min)(n, 1e9));
            out_.limit = (std::min)(limit, reader_.options_.most);
            if (*out_.limit != limit)
                out_.notes.push_back({probe_code::limited, detail::concat(limit, " to ", *out_.limit)});
            take(q.begin, q.end);
            cut(q.begin, q.end);
            if (before == "top") cut(q.begin - 1, q.begin);
            return;
        }
    }

    // ---- negation, and, or

    // A word or two that turn what follows round; how many words, or 0.
    std::size_t negator(std::size_t i) const {
        if (taken_[i]) return 0;
        const std::string_view w = word(i), next = word(i + 1);
        if (w == "not" && next == "only") return 0;
        static constexpr auto singles =
            std::to_array<std::string_view>({"cannot", "except", "exclude", "excluding", "minus", "neither", "never",
                                             "no", "non", "none", "nor", "not", "nothing", "sans", "without"});
        static_assert(std::is_sorted(singles.begin(), singles.end()));
        if (detail::is_one_of(w, singles) || w.ends_with("n't") || w.ends_with("n\u2019t")) return 1;
        if (w == "other" && next == "than") return 2;
        if (w == "rather" && next == "than") return 2;
        if (w == "instead" && next == "of") return 2;
        if ((w == "apart" || w == "aside") && next == "from") return 2;
        if ((w == "anything" || w == "everything" || w == "all") && next == "but") return 2;
        return 0;
    }

    static bool ends_negation(std::string_view w) noexcept {
        return w == "but" || w == "however" || w == "yet" || w == "only" || w == ";" || w == "." || w == ":" ||
               w == "?" || w == "!";
    }

    void connect() {
        links_.assign(items_.size(), link::none);
        swallowed_.assign(items_.size(), false);
        for (std::size_t k = 0; k < items_.size(); ++k) {
            const std::size_t begin = k == 0 ? 0 : items_[k - 1].end;
            links_[k] = k == 0 ? link::none : link_over(begin, items_[k].begin, items_[k - 1].field == items_[k].field);
            items_[k].negated = negated(k, begin);
        }
        // In "A, B or C" the comma means what the last link of the list means.
        for (std::size_t k = items_.size(); k-- > 1;)
            if (links_[k - 1] == link::comma && k >= 2 && items_[k - 1].field == items_[k].field &&
                (links_[k] == link::both || links_[k] == link::either))
                links_[k - 1] = links_[k];
    }

    link link_over(std::size_t begin, std::size_t end, bool same_field) const {
        bool any = false, both = false, either = false, comma = false;
        std::size_t others = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::string_view w = word(i);
            if (w == "-" && !words_[i].apart) continue;
            any = true;
            if (w == "or" || w == "nor" || w == "/")
                either = true;
            else if (w == "and" || w == "&" || w == "plus")
                both = true;
            else if (w == ",")
                comma = true;
            else if (!words_[i].is_word)
                return link::none;
            else if (!detail::is_filler(w) && negator(i) == 0)
                ++others;
        }
        if (!any) return link::beside;
        if (others > 0 && !(either && same_field && others <= 3)) return link::none;
        return either ? link::either : both ? link::both : comma ? link::comma : link::none;
    }

    bool negated(std::size_t k, std::size_t begin) {
        std::size_t last = items_[k].begin, length = 0, reach = 0;
        bool positive = false;
        for (std::size_t i = items_[k].begin; i-- > begin;) {
            if (const std::size_t n = negator(i); n > 0 && reach <= 3) {
                last = i, length = n;
                break;
            }
            if (i > begin && negator(i - 1) == 2) continue;  // "anything but"
            if (ends_negation(word(i)) || taken_[i]) {
                positive = positive || ends_negation(word(i));
                break;
            }
            if (word(i) == "with" || word(i) == "by") positive = true;
            if (words_[i].is_word && !detail::is_filler(word(i))) ++reach;
        }
        if (length > 0) {
            cut(last, last + length);
            return true;
        }
        return k > 0 && items_[k - 1].negated && !positive && links_[k] != link::none && links_[k] != link::beside;
    }

    // ---- the filter

    bool same_single_field(std::size_t a, std::size_t b) const {
        return items_[a].field == items_[b].field && items_[a].leaves.empty() && !is_list(items_[a].field);
    }
    bool are_alternatives(std::size_t k) const {
        if (links_[k] == link::either) return true;
        const bool listed = links_[k] == link::both || links_[k] == link::comma;
        const bool quantities =
            !items_[k].leaves.empty() && items_[k - 1].field == items_[k].field && is_point(k - 1) && is_point(k);
        // No article has two values where there is room for one: "Greek and Moroccan dishes" are dishes of either.
        return listed && (same_single_field(k - 1, k) || quantities) && !items_[k].negated && !items_[k - 1].negated;
    }
    bool is_point(std::size_t k) const {
        return items_[k].leaves.size() == 1 && items_[k].leaves.front().op() == filter_op::eq;
    }

    // Terms are ANDed, their alternatives ORed, the items of an alternative ANDed.
    using alternative = std::vector<std::size_t>;
    using term = std::vector<alternative>;

    std::optional<filter> combined() {
        std::vector<term> terms;
        for (std::size_t k = 0; k < items_.size(); ++k) {
            if (k == 0 || !are_alternatives(k)) {
                terms.push_back({{k}});
                continue;
            }
            if (items_[k - 1].field == items_[k].field || !join_runs(terms, k)) terms.back().push_back({k});
        }
        std::vector<filter> all;
        for (const term& t : terms)
            if (auto f = filter_of(t)) all.push_back(std::move(*f));
        if (all.empty()) return std::nullopt;
        return all.size() == 1 ? all.front() : all_of(std::move(all));
    }

    // "French starters or Greek desserts": two runs of the same fields are alternatives as wholes.
    bool join_runs(std::vector<term>& terms, std::size_t k) {
        std::size_t left = k - 1, right = k;
        while (left > 0 && links_[left] == link::beside) --left;
        while (right + 1 < items_.size() && links_[right + 1] == link::beside) ++right;
        const std::size_t length = k - left;
        if (length < 2 || right - k + 1 < length || terms.size() < length) return false;
        for (std::size_t i = 0; i < length; ++i)
            if (items_[left + i].field != items_[k + i].field) return false;
        alternative before, after;
        for (std::size_t i = 0; i < length; ++i) before.push_back(left + i), after.push_back(k + i);
        terms.resize(terms.size() - length);
        terms.push_back({before, after});
        for (std::size_t i = k + 1; i < k + length; ++i) links_[i] = link::none, swallowed_[i] = true;
        return true;
    }

    std::optional<filter> filter_of(const term& t) {
        if (t.size() == 1 && swallowed_[t.front().front()]) return std::nullopt;
        const item& first = items_[t.front().front()];
        const bool single = std::ranges::all_of(t, [&](const alternative& a) {
            const item& i = items_[a.front()];
            return a.size() == 1 && i.field == first.field && i.leaves.empty() && !i.negated &&
                   type_of(i.field) == field_type::string;
        });
        if (single && !has_room(t)) return std::nullopt;
        for (const alternative& a : t)
            for (const std::size_t k : a) cut(items_[k].begin, items_[k].end);
        if (single) {
            std::vector<field_value> values;
            for (const alternative& a : t) values.push_back(items_[a.front()].value);
            const std::string& name = fields_[first.field].declared.name;
            return values.size() == 1 ? eq(name, values.front()) : in(name, std::move(values));
        }
        std::vector<filter> choices;
        bool all_negated = true;
        for (const alternative& a : t) {
            std::vector<filter> parts;
            for (const std::size_t k : a) {
                parts.push_back(leaf_of(items_[k]));
                all_negated = all_negated && items_[k].negated;
            }
            choices.push_back(parts.size() == 1 ? parts.front() : all_of(std::move(parts)));
        }
        if (choices.size() == 1) return choices.front();
        // "without A or B" has neither.
        return all_negated ? all_of(std::move(choices)) : any_of(std::move(choices));
    }

    // A second value for a field that holds one would leave nothing.
    bool has_room(const term& t) {
        const item& first = items_[t.front().front()];
        if (std::ranges::find(filled_, first.field) == filled_.end()) {
            filled_.push_back(first.field);
            return true;
        }
        note(probe_code::conflict, first.begin, first.end);
        out_.complete = false;
        return false;
    }

    filter leaf_of(const item& i) const {
        const std::string& name = fields_[i.field].declared.name;
        if (!i.leaves.empty()) {
            if (i.leaves.size() == 1) return i.negated ? opposite(i.leaves.front()) : i.leaves.front();
            const filter both = all_of(i.leaves);
            return i.negated ? !both : both;
        }
        switch (type_of(i.field)) {
            case field_type::boolean: return eq(name, (i.value == "true") != i.negated);
            case field_type::string_list: return i.negated ? !contains(name, i.value) : contains(name, i.value);
            default: return i.negated ? ne(name, i.value) : eq(name, i.value);
        }
    }

    static filter opposite(const filter& f) {
        const field_value& v = f.values().front();
        switch (f.op()) {
            case filter_op::lt: return ge(f.field(), v);
            case filter_op::le: return gt(f.field(), v);
            case filter_op::gt: return le(f.field(), v);
            case filter_op::ge: return lt(f.field(), v);
            default: return ne(f.field(), v);
        }
    }

    // ---- what is left

    void note(probe_code code, std::size_t begin, std::size_t end) {
        out_.notes.push_back(
            {code, std::string(question_.substr(words_[begin].begin, words_[end - 1].end - words_[begin].begin))});
    }

    void look_for_leftovers() {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if (taken_[i] || !words_[i].is_word) continue;
            const bool number = std::ranges::any_of(words_[i].folded, [](char c) { return c >= '0' && c <= '9'; });
            if (!number && !is_known_value(i)) continue;
            note(probe_code::unread, i, i + 1);
            out_.complete = false;
        }
    }

    bool is_known_value(std::size_t i) const {
        const auto found = reader_.senses_.find(words_[i].stem);
        return found != reader_.senses_.end() && std::ranges::any_of(found->second, [&](const sense& s) {
                   return !fields_[s.field].hint.only_when_named && may_mean(s, words_[i].folded, i, 1);
               });
    }

    void cut(std::size_t begin, std::size_t end) {
        std::fill(cut_.begin() + diff(begin), cut_.begin() + diff(end), true);
    }

    // The question without its conditions, and without the small words that led to them.
    void write_text() {
        if (reader_.options_.keep_words) {
            out_.probes.push_back({std::string(question_)});
            return;
        }
        for (const item& it : items_) {
            if (!cut_[it.begin]) continue;
            for (std::size_t i = it.end; i < words_.size() && !cut_[i] && names_field(i, it.field); ++i) cut_[i] = true;
            for (std::size_t i = it.begin; i-- > 0 && !taken_[i];) {
                if (names_field(i, it.field))
                    cut(i, it.begin);
                else if (!leads(i))
                    break;
            }
        }
        for (std::size_t i = words_.size(); i-- > 0;)
            if (!cut_[i] && i + 1 < words_.size() && cut_[i + 1] && leads(i)) cut_[i] = true;
        std::string text;
        bool says_something = false;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if (cut_[i] || (i > 0 && cut_[i - 1] && !words_[i].is_word && !words_[i].apart)) continue;
            const bool gap = i > 0 && (words_[i].apart || cut_[i - 1]);
            if (gap && !text.empty()) text += ' ';
            text += question_.substr(words_[i].begin, words_[i].end - words_[i].begin);
            says_something = says_something || (words_[i].is_word && !detail::is_everyday(words_[i].folded));
        }
        while (!text.empty() && std::string_view(" ,;:-").find(text.back()) != std::string_view::npos) text.pop_back();
        while (!text.empty() && std::string_view(" ,;:-").find(text.front()) != std::string_view::npos)
            text.erase(0, 1);
        if (!says_something) text = std::string(question_);
        out_.probes.push_back({std::move(text)});
    }
    bool leads(std::size_t i) const {
        return !words_[i].is_word ? word(i) == "," || word(i) == "-" : detail::is_filler(word(i));
    }

    const schema_reader& reader_;
    const field_catalog& fields_;
    std::string_view question_;
    std::vector<detail::question_word> words_;
    std::vector<bool> taken_;  // words that were understood
    std::vector<bool> cut_;    // words that are not searched for
    std::vector<item> items_;
    std::vector<link> links_;  // of an item to the one before
    std::vector<detail::quantity> quantities_;
    std::vector<bool> swallowed_;      // items that are part of an alternative before them
    std::vector<std::size_t> filled_;  // fields of one value that have one
    probed_query out_;
};

inline probed_query schema_reader::read(std::string_view question) const { return reading(*this, question).run(); }

}  // namespace QUARRY_NAMESPACE
