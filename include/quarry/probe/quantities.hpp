// Quantities: numbers, years, dates and lengths of time as an English question writes them, with the word that
// compares.
//
//     "before 2024"   "between March and September 2025"   "no more than 90 minutes"   "the 1990s"   "4.5 or better"
//
// It knows the language and no fields: which field is meant is the reader's business (schema_reader.hpp). A day written
// as 03/04/2024 is not read, since half the world would read another one.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/date_time.hpp"
#include "../detail/text.hpp"
#include "question_words.hpp"

namespace QUARRY_NAMESPACE::detail {

enum class relation : std::uint8_t { none, eq, lt, le, gt, ge, between };

/// Whole days, `end` not included.
struct period {
    std::chrono::sys_days begin{}, end{};

    bool is_day() const noexcept { return end - begin == std::chrono::days{1}; }

    /// The first and the last year, if it is made of whole ones.
    std::optional<std::pair<int, int>> years() const noexcept {
        const std::chrono::year_month_day first{begin}, beyond{end};
        const auto opens = [](const std::chrono::year_month_day& d) {
            return d.month() == std::chrono::January && d.day() == std::chrono::day{1};
        };
        if (!opens(first) || !opens(beyond)) return std::nullopt;
        return std::pair(static_cast<int>(first.year()), static_cast<int>(beyond.year()) - 1);
    }
};

/// One number or time. A plain 2024 is both.
struct amount {
    std::optional<double> number{};
    double unit = 0.0;  // seconds, of a length of time
    std::optional<period> time{};
};

/// Words [begin, end) say that something is `rel` to `low` (and, for between, to `high`, both included).
struct quantity {
    std::size_t begin = 0, end = 0;
    std::size_t noun = 0;  // the word that follows the number, its unit if it has one
    relation rel = relation::none;
    bool by_age = false;   // "older than": less for a date, more for an age
    bool rolling = false;  // "the last 3 years": from a day until now
    amount low{}, high{};
};

/// What stands in `words`, in order and without overlaps. Words that are `taken` belong to something else.
///
/// Without `today` nothing relative ("last month", "June" without a year) is read.
std::vector<quantity> quantities_of(std::span<const question_word> words, const std::vector<bool>& taken,
                                    std::optional<date_time> today);

/// The length of a unit of time in seconds: "minutes" is 60. 0 for other words.
double seconds_of_unit(std::string_view stem) noexcept;

// ------------------------------------------------------------------------------------------------------------- detail

inline constexpr double seconds_a_day = 86400.0;

inline double seconds_of_unit(std::string_view stem) noexcept {
    struct unit {
        std::string_view stem;
        double seconds;
    };
    // As Porter leaves them. Months and years are means: lengths, not steps of a calendar.
    static constexpr unit units[] = {
        {"second", 1},    {"sec", 1},         {"minut", 60},          {"min", 60},
        {"hour", 3600},   {"hr", 3600},       {"dai", seconds_a_day}, {"day", seconds_a_day},
        {"week", 604800}, {"month", 2629746}, {"year", 31556952}};
    for (const unit& u : units)
        if (u.stem == stem) return u.seconds;
    return 0.0;
}

class quantity_reader {
   public:
    quantity_reader(std::span<const question_word> words, const std::vector<bool>& taken,
                    std::optional<date_time> today)
        : words_(words), taken_(taken), unreadable_(words.size()) {
        if (today) today_ = day_of(*today);
        find_unreadable();
    }

    std::vector<quantity> run() {
        std::vector<quantity> out;
        for (std::size_t i = 0; i < words_.size();) {
            const std::size_t floor = out.empty() ? 0 : out.back().end;
            if (const auto q = quantity_at(i, floor)) {
                if (q->low.number || q->low.time) out.push_back(*q);
                i = (std::max)(q->end, i + 1);
            } else {
                ++i;
            }
        }
        return out;
    }

   private:
    struct found {
        amount value;
        std::size_t end;
        std::size_t noun = 0;
        bool rolling = false;  // "the last 90 days": from then until now
        bool ago = false;
        bool open_year = false;  // a month whose year stands elsewhere
    };
    struct comparison {
        relation rel = relation::none;
        bool by_age = false;
        std::size_t begin;
    };

    // ---- words

    bool free(std::size_t i) const noexcept { return i < words_.size() && !taken_[i]; }
    std::string_view word(std::size_t i) const noexcept {
        return free(i) ? std::string_view(words_[i].folded) : std::string_view();
    }
    bool is_any(std::size_t i, std::initializer_list<std::string_view> choices) const noexcept {
        const std::string_view w = word(i);
        return !w.empty() && std::ranges::find(choices, w) != choices.end();
    }
    // Do the words before `end` read like this, and where do they begin?
    std::optional<std::size_t> ends_with(std::size_t end, std::size_t floor, std::string_view phrase) const {
        while (!phrase.empty()) {
            const std::size_t space = phrase.rfind(' ');
            const std::string_view last = phrase.substr(space == phrase.npos ? 0 : space + 1);
            if (end <= floor || word(end - 1) != last) return std::nullopt;
            --end;
            phrase = space == phrase.npos ? std::string_view() : phrase.substr(0, space);
        }
        return end;
    }

    // ---- numbers

    static bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

    // 212 of HL-212 is no number.
    bool part_of_a_name(std::size_t i) const noexcept {
        if (i < 2 || words_[i].apart || words_[i - 1].is_word || words_[i - 1].apart) return false;
        const std::string_view joint = words_[i - 1].folded, head = words_[i - 2].folded;
        if (joint != "-" && joint != "/" && joint != "." && joint != "#") return false;
        if (head == "pre" || head == "post") return false;
        return words_[i - 2].is_word && !std::ranges::all_of(head, digit);
    }

    // 3/4/2024 is two different days, 24/7 none, and of 2024-13-45 there is no telling what was meant.
    void find_unreadable() {
        const auto number = [&](std::size_t i) { return words_[i].is_word && digit(words_[i].folded.front()); };
        for (std::size_t i = 0; i < words_.size();) {
            std::size_t end = i + 1, numbers = 1;
            bool slash = false;
            while (number(i) && end + 1 < words_.size() && !words_[end].apart && !words_[end + 1].apart &&
                   number(end + 1) && (words_[end].folded == "-" || words_[end].folded == "/")) {
                slash = slash || words_[end].folded == "/";
                end += 2, ++numbers;
            }
            const bool date = numbers == 3 && iso_date(i);
            if (slash || (numbers > 2 && !date))
                std::fill(unreadable_.begin() + at_place(i), unreadable_.begin() + at_place(end), true);
            i = end;
        }
    }
    static std::ptrdiff_t at_place(std::size_t i) noexcept { return static_cast<std::ptrdiff_t>(i); }

    std::optional<date_time> iso_date(std::size_t i) const {
        return date_time::parse(concat(words_[i].folded, '-', words_[i + 2].folded, '-', words_[i + 4].folded));
    }

    struct numeral {
        double value = 0.0;
        std::string_view suffix{};  // letters that follow the digits
        bool plain = false;         // digits and nothing else
    };

    std::optional<numeral> numeral_at(std::size_t i) const {
        const std::string_view w = word(i);
        if (w.empty() || !digit(w.front()) || part_of_a_name(i) || unreadable_[i]) return std::nullopt;
        numeral n;
        std::size_t at = 0, group = 0;
        bool grouped = false;
        for (; at < w.size() && (digit(w[at]) || w[at] == ','); ++at) {
            if (w[at] == ',') {
                if (at > 3 && !grouped) return std::nullopt;
                if (grouped && group != 3) return std::nullopt;
                grouped = true, group = 0;
                continue;
            }
            n.value = n.value * 10 + (w[at] - '0');
            ++group;
        }
        if (grouped && group != 3) return std::nullopt;
        n.plain = !grouped && at == w.size();
        if (at < w.size() && w[at] == '.') {
            double scale = 0.1;
            for (++at; at < w.size() && digit(w[at]); ++at, scale /= 10) n.value += scale * (w[at] - '0');
            if (at < w.size() && w[at] == '.') return std::nullopt;  // 1.2.3 is a version
            n.value = rounded(n.value);
        }
        n.suffix = w.substr(at);
        if (n.value > 9e15) return std::nullopt;
        return n;
    }

    // Sums of tenths are not the nearest doubles: 4.5 is, 4.7 might not be.
    static double rounded(double value) noexcept {
        const double scaled = value * 1e6;
        return static_cast<double>(static_cast<std::int64_t>(scaled + 0.5)) / 1e6;
    }

    static std::optional<int> small_number(std::string_view w) noexcept {
        static constexpr std::string_view ones[] = {"zero",    "one",     "two",       "three",    "four",
                                                    "five",    "six",     "seven",     "eight",    "nine",
                                                    "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                                    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
        for (std::size_t i = 0; i < std::size(ones); ++i)
            if (ones[i] == w) return static_cast<int>(i);
        static constexpr std::string_view tens[] = {"twenty", "thirty",  "forty",  "fifty",
                                                    "sixty",  "seventy", "eighty", "ninety"};
        for (std::size_t i = 0; i < std::size(tens); ++i)
            if (tens[i] == w) return static_cast<int>(20 + 10 * i);
        return std::nullopt;
    }

    std::optional<found> number_at(std::size_t i) const {
        found f{.value = {}, .end = i};
        if (const auto n = numeral_at(i)) {
            double value = n->value;
            f.end = i + 1;
            if (n->suffix == "k")
                value *= 1e3;
            else if (n->suffix == "m" && n->value < 1000)
                value *= 1e6;
            else if (!n->suffix.empty() && (f.value.unit = seconds_of_unit(stemmed(n->suffix))) == 0.0)
                return std::nullopt;
            if (is_any(f.end, {"thousand"}))
                value *= 1e3, ++f.end;
            else if (is_any(f.end, {"million"}))
                value *= 1e6, ++f.end;
            f.value.number = value;
        } else if (const auto small = small_number(word(i))) {
            int value = *small;
            f.end = i + 1;
            if (value >= 20 && value % 10 == 0) {
                const std::size_t next = word(f.end) == "-" ? f.end + 1 : f.end;
                if (const auto one = small_number(word(next)); one && *one >= 1 && *one <= 9)
                    value += *one, f.end = next + 1;
            }
            if (is_any(f.end, {"hundred"}))
                value *= 100, ++f.end;
            else if (is_any(f.end, {"thousand"}))
                value *= 1000, ++f.end;
            f.value.number = value;
        } else if (is_any(i, {"a", "an"}) && free(i + 1) && seconds_of_unit(words_[i + 1].stem) > 0) {
            f.value.number = 1;
            f.end = i + 1;
        } else if (is_any(i, {"half"}) && is_any(i + 1, {"a", "an"}) && free(i + 2) &&
                   seconds_of_unit(words_[i + 2].stem) > 0) {
            f.value.number = 0.5;
            f.end = i + 2;
        } else {
            return std::nullopt;
        }
        const auto and_a_half = [&](std::size_t next) {
            return is_any(next, {"and"}) && is_any(next + 1, {"a"}) && is_any(next + 2, {"half"});
        };
        if (and_a_half(f.end)) *f.value.number += 0.5, f.end += 3;
        // Its unit, or the noun it counts: "90 minutes", "20-minute", "six people".
        std::size_t next = f.end;
        if (word(next) == "-" && free(next + 1) && !words_[next + 1].apart) ++next;
        if (f.value.unit == 0.0 && free(next) && words_[next].is_word) {
            f.noun = next;
            f.value.unit = seconds_of_unit(words_[next].stem);
            if (f.value.unit > 0) {
                f.end = next + 1;
                if (and_a_half(f.end)) *f.value.number += 0.5, f.end += 3;
            }
        }
        return f;
    }

    static std::string stemmed(std::string_view w) {
        std::string s(w);
        porter_stem(s);
        return s;
    }

    // ---- times

    using day_point = std::chrono::sys_days;
    static day_point at(int year, unsigned month, unsigned day = 1) noexcept {
        using namespace std::chrono;
        return sys_days{year_month_day{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}}};
    }
    static day_point month_after(int year, unsigned month, int months = 1) noexcept {
        using namespace std::chrono;
        return sys_days{year_month_day{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{1}} +
                        std::chrono::months{months}};
    }
    static period whole_years(int first, int last) noexcept { return {at(first, 1), at(last + 1, 1)}; }
    static period whole_month(int year, unsigned month) noexcept { return {at(year, month), month_after(year, month)}; }
    static period one_day(day_point d) noexcept { return {d, d + std::chrono::days{1}}; }

    std::optional<int> year_at(std::size_t i) const {
        const auto n = numeral_at(i);
        if (!n || !n->plain || word(i).size() != 4 || n->value < 1000 || n->value > 2999) return std::nullopt;
        return static_cast<int>(n->value);
    }

    std::optional<unsigned> month_at(std::size_t i) const {
        static constexpr std::string_view names[] = {"january",   "february", "march",    "april",
                                                     "may",       "june",     "july",     "august",
                                                     "september", "october",  "november", "december"};
        const std::string_view w = word(i);
        if (w.size() < 3) return std::nullopt;
        for (unsigned m = 0; m < 12; ++m) {
            const bool abbreviated = w == names[m].substr(0, 3) || (m == 8 && w == "sept");
            if (w != names[m] && !abbreviated) continue;
            // "may" and "march" are verbs too.
            if ((m == 4 || m == 2 || abbreviated) && !words_[i].capital && !year_at(i + 1)) return std::nullopt;
            return m + 1;
        }
        return std::nullopt;
    }

    // A day of the month: 15, 15th.
    std::optional<unsigned> day_at(std::size_t i) const {
        const auto n = numeral_at(i);
        if (!n || n->value < 1 || n->value > 31 || n->value != static_cast<unsigned>(n->value)) return std::nullopt;
        if (!n->suffix.empty() && n->suffix != "st" && n->suffix != "nd" && n->suffix != "rd" && n->suffix != "th")
            return std::nullopt;
        return static_cast<unsigned>(n->value);
    }

    static day_point day_of(date_time time) noexcept {
        using namespace std::chrono;
        return floor<days>(sys_time<milliseconds>(milliseconds(time.starts())));
    }
    static std::optional<period> existing_day(int year, unsigned month, unsigned day) {
        if (!date_time::day(year, month, day)) return std::nullopt;
        return one_day(at(year, month, day));
    }

    std::optional<found> time_at(std::size_t i) const {
        if (!free(i)) return std::nullopt;
        if (auto f = edge_at(i)) return f;
        return whole_time_at(i);
    }

    std::optional<found> whole_time_at(std::size_t i) const {
        if (auto f = date_at(i)) return f;
        if (auto f = part_of_year_at(i)) return f;
        if (auto f = decade_at(i)) return f;
        if (auto f = relative_at(i)) return f;
        if (const auto year = year_at(i)) {
            const bool counts = free(i + 1) && seconds_of_unit(words_[i + 1].stem) > 0;
            if (counts) return std::nullopt;
            return found{.value = {.number = *year, .time = whole_years(*year, *year)}, .end = i + 1};
        }
        if (is_any(i, {"year"}) && year_at(i + 1)) {
            const int year = *year_at(i + 1);
            return found{.value = {.time = whole_years(year, year)}, .end = i + 2};
        }
        return std::nullopt;
    }

    // "the end of 2024", "the beginning of March"
    std::optional<found> edge_at(std::size_t i) const {
        std::size_t at = i;
        if (is_any(at, {"the"})) ++at;
        const bool last = is_any(at, {"end"}), first = is_any(at, {"start", "beginning"});
        if ((!last && !first) || !is_any(at + 1, {"of"})) return std::nullopt;
        if (!free(at + 2)) return std::nullopt;
        auto f = whole_time_at(at + 2);
        if (!f || !f->value.time || f->rolling) return std::nullopt;
        period& p = *f->value.time;
        if (last)
            p.begin = p.end - std::chrono::days{1};
        else
            p.end = p.begin + std::chrono::days{1};
        f->value.number.reset();
        return f;
    }

    std::optional<found> date_at(std::size_t i) const {
        // 2024-03-15
        if (year_at(i) && word(i + 1) == "-" && !words_[i + 1].apart && word(i + 3) == "-" && !word(i + 4).empty())
            if (const auto day = iso_date(i)) return found{.value = {.time = one_day(day_of(*day))}, .end = i + 5};
        // 15 March 2024, 15th of March 2024
        if (const auto day = day_at(i)) {
            const std::size_t next = is_any(i + 1, {"of"}) ? i + 2 : i + 1;
            if (const auto month = month_at(next)) {
                const auto year = year_at(next + 1);
                return dated(year, *month, *day, year ? next + 2 : next + 1);
            }
            return std::nullopt;
        }
        const auto month = month_at(i);
        if (!month) return std::nullopt;
        // March 15, 2024; March 15; March 2024; March
        if (const auto day = day_at(i + 1); day && !year_at(i + 1)) {
            const std::size_t next = word(i + 2) == "," ? i + 3 : i + 2;
            const auto year = year_at(next);
            return dated(year, *month, *day, year ? next + 1 : i + 2);
        }
        const std::size_t next = is_any(i + 1, {"of", ","}) && year_at(i + 2) ? i + 2 : i + 1;
        if (const auto year = year_at(next))
            return found{.value = {.time = whole_month(*year, *month)}, .end = next + 1};
        if (!today_) return found{.value = {.time = whole_month(1970, *month)}, .end = i + 1, .open_year = true};
        found f{.value = {.time = whole_month(recent_year(*month), *month)}, .end = i + 1};
        f.open_year = true;
        return f;
    }

    std::optional<found> dated(std::optional<int> year, unsigned month, unsigned day, std::size_t end) const {
        if (!year && !today_) return std::nullopt;
        // 30 February is no day, and not "30" and "February" either: found, and nothing in it.
        return found{.value = {.time = existing_day(year ? *year : recent_year(month), month, day)}, .end = end};
    }

    // The year in which that month was last begun.
    int recent_year(unsigned month) const noexcept {
        const std::chrono::year_month_day now{*today_};
        return static_cast<int>(now.year()) - (month > static_cast<unsigned>(now.month()) ? 1 : 0);
    }

    // "the second half of 2025", "third quarter of 2025", "Q3 2025", "H1 2025"
    std::optional<found> part_of_year_at(std::size_t i) const {
        static constexpr std::string_view ordinals[] = {"first", "second", "third", "fourth"};
        std::size_t at_word = is_any(i, {"the"}) ? i + 1 : i;
        const std::string_view w = word(at_word);
        unsigned number = 0, parts = 0;
        if (w.size() == 2 && (w[0] == 'q' || w[0] == 'h') && w[1] >= '1' && w[1] <= '4') {
            number = static_cast<unsigned>(w[1] - '0');
            parts = w[0] == 'q' ? 4 : 2;
            ++at_word;
        } else {
            for (unsigned o = 0; o < 4; ++o)
                if (w == ordinals[o]) number = o + 1;
            if (is_any(at_word + 1, {"half"})) parts = 2;
            if (is_any(at_word + 1, {"quarter"})) parts = 4;
            at_word += 2;
        }
        if (number == 0 || parts == 0 || number > parts) return std::nullopt;
        if (is_any(at_word, {"of"})) ++at_word;
        const auto year = year_at(at_word);
        if (!year) return std::nullopt;
        const unsigned months = 12 / parts, first = 1 + (number - 1) * months;
        return found{.value = {.time = period{at(*year, first), month_after(*year, first, static_cast<int>(months))}},
                     .end = at_word + 1};
    }

    // "the 1990s", "the 90s", "the nineties"
    std::optional<found> decade_at(std::size_t i) const {
        const std::size_t at_word = is_any(i, {"the"}) ? i + 1 : i;
        std::optional<int> first;
        if (const auto n = numeral_at(at_word); n && n->suffix == "s") {
            const int value = static_cast<int>(n->value);
            const std::size_t digits = word(at_word).size() - 1;
            if (digits == 4 && value >= 1000 && value < 3000 && value % 10 == 0) first = value;
            if (digits == 2 && value % 10 == 0) first = value >= 30 ? 1900 + value : 2000 + value;
        } else {
            static constexpr std::string_view names[] = {"twenties", "thirties",  "forties",  "fifties",
                                                         "sixties",  "seventies", "eighties", "nineties"};
            for (int d = 0; d < 8; ++d)
                if (word(at_word) == names[d]) first = 1920 + 10 * d;
        }
        if (!first) return std::nullopt;
        return found{.value = {.time = whole_years(*first, *first + 9)}, .end = at_word + 1};
    }

    std::optional<found> relative_at(std::size_t i) const {
        using namespace std::chrono;
        if (!today_) return std::nullopt;
        if (is_any(i, {"today"})) return found{.value = {.time = one_day(*today_)}, .end = i + 1};
        if (is_any(i, {"yesterday"})) return found{.value = {.time = one_day(*today_ - days{1})}, .end = i + 1};
        std::size_t at_word = is_any(i, {"the"}) ? i + 1 : i;
        const bool present = is_any(at_word, {"this"}), past = is_any(at_word, {"last", "past", "previous"});
        if (present || past) {
            const bool rolls = is_any(at_word, {"past"}) || (at_word > i && !is_any(at_word, {"previous"}));
            if (const auto n = number_at(at_word + 1); n && past && n->value.unit > 0)
                return found{
                    .value = {.time = period{before_today(*n), *today_ + days{1}}}, .end = n->end, .rolling = true};
            if (!free(at_word + 1)) return std::nullopt;
            const std::string& unit = words_[at_word + 1].stem;
            if (seconds_of_unit(unit) < seconds_a_day) return std::nullopt;
            if (rolls && past) {
                const found one{.value = {.number = 1.0, .unit = seconds_of_unit(unit)}, .end = 0, .noun = at_word + 1};
                return found{.value = {.time = period{before_today(one), *today_ + days{1}}},
                             .end = at_word + 2,
                             .rolling = true};
            }
            const year_month_day now{*today_};
            const int y = static_cast<int>(now.year());
            const unsigned m = static_cast<unsigned>(now.month());
            if (unit == "year") return found{.value = {.time = whole_years(y - past, y - past)}, .end = at_word + 2};
            if (unit == "month") {
                const year_month_day that{month_after(y, m, past ? -1 : 0)};
                return found{
                    .value = {.time = whole_month(static_cast<int>(that.year()), static_cast<unsigned>(that.month()))},
                    .end = at_word + 2};
            }
            if (unit == "week") {
                const sys_days monday = *today_ - (weekday{*today_} - Monday) - days{past ? 7 : 0};
                return found{.value = {.time = period{monday, monday + days{7}}}, .end = at_word + 2};
            }
            return std::nullopt;
        }
        if (const auto n = number_at(i); n && n->value.unit >= seconds_a_day && is_any(n->end, {"ago"}))
            return found{.value = {.time = one_day(before_today(*n))}, .end = n->end + 1, .ago = true};
        return std::nullopt;
    }

    // Steps of the calendar where the unit has them: one month before 31 March is the last day of February.
    day_point before_today(const found& length) const {
        using namespace std::chrono;
        const auto steps = static_cast<int>((std::min)(*length.value.number, 100000.0));
        const std::string_view unit = length.noun == 0 ? std::string_view() : words_[length.noun].stem;
        if (unit != "year" && unit != "month") {
            const double passed = (std::min)(*length.value.number * length.value.unit / seconds_a_day, 1e6);
            return *today_ - days{static_cast<int>(passed)};
        }
        const year_month_day now{*today_};
        const year_month_day then =
            unit == "year" ? now - years{(std::min)(steps, 5000)} : now - months{(std::min)(steps, 60000)};
        return then.ok() ? sys_days{then} : sys_days{year_month_day_last{then.year(), month_day_last{then.month()}}};
    }

    // ---- comparisons

    comparison comparison_before(std::size_t begin, std::size_t floor, bool calendar) const {
        struct entry {
            std::string_view phrase;
            relation rel;
            bool by_age = false;
            bool calendar_only = false;
        };
        using enum relation;
        // clang-format off
        static constexpr entry entries[] = {
            {"more recent than", gt, true}, {"as late as", le}, {"as early as", ge}, {"at least", ge},
            {"at most", le}, {"up to", le}, {"prior to", lt}, {"as of", ge, false, true}, {"starting in", ge},
            {"starting from", ge}, {"starting with", ge}, {"beginning in", ge}, {"minimum of", ge},
            {"maximum of", le}, {"more than", gt}, {"greater than", gt}, {"later than", gt}, {"longer than", gt},
            {"higher than", gt}, {"larger than", gt}, {"bigger than", gt}, {"better than", gt}, {"less than", lt},
            {"fewer than", lt}, {"earlier than", lt}, {"shorter than", lt}, {"lower than", lt}, {"smaller than", lt},
            {"cheaper than", lt}, {"older than", lt, true}, {"newer than", gt, true}, {"younger than", gt, true},
            {"> =", ge}, {"< =", le}, {"minimum", ge}, {"min", ge}, {"maximum", le}, {"max", le}, {"before", lt},
            {"after", gt}, {"since", ge}, {"until", le}, {"till", le}, {"through", le, false, true},
            {"by", le, false, true}, {"under", lt}, {"below", lt}, {"over", gt}, {"above", gt}, {"exceeding", gt},
            {"past", gt}, {"beyond", gt}, {"within", le}, {"pre -", lt}, {"post -", gt}, {"pre", lt}, {"post", gt},
            {">", gt}, {"<", lt}, {"\u2265", ge}, {"\u2264", le}, {"exactly", eq}, {"=", eq}, {"in", eq},
            {"from", eq}, {"of", eq}, {"on", eq}, {"during", eq}, {"dated", eq},
        };
        // clang-format on
        std::size_t end = begin;
        while (end > floor && is_any(end - 1, {"the", "a", "year"})) --end;
        for (const entry& e : entries) {
            if (e.calendar_only && !calendar) continue;
            const auto start = ends_with(end, floor, e.phrase);
            if (!start) continue;
            comparison c{e.rel, e.by_age, *start};
            if (e.rel != eq && c.begin > floor && is_negation(c.begin - 1)) {
                c.rel = flipped(c.rel);
                --c.begin;
            }
            // "from before 2023": the preposition in front belongs to it.
            if (c.begin > floor && is_any(c.begin - 1, {"from", "in", "of"})) --c.begin;
            return c;
        }
        return {.begin = begin};
    }

    bool is_negation(std::size_t i) const noexcept {
        const std::string_view w = word(i);
        return w == "no" || w == "not" || w == "never" || w.ends_with("n't") || w.ends_with("n\u2019t");
    }

    static relation flipped(relation r) noexcept {
        switch (r) {
            case relation::lt: return relation::ge;
            case relation::le: return relation::gt;
            case relation::gt: return relation::le;
            case relation::ge: return relation::lt;
            default: return r;
        }
    }

    // What stands behind the amount, and where it ends.
    std::pair<relation, std::size_t> comparison_after(std::size_t end, bool after_from) const {
        if (word(end) == "+") return {relation::ge, end + 1};
        if (is_any(end, {"or", "and"})) {
            const bool recent = is_any(end + 1, {"more"}) && is_any(end + 2, {"recent"});
            if (is_any(end + 1, {"more", "later", "above", "over", "higher", "newer", "longer", "better", "greater",
                                 "up", "after", "larger", "onward", "onwards", "beyond", "upward", "upwards"}))
                return {relation::ge, end + (recent ? 3 : 2)};
            if (is_any(end + 1, {"less", "fewer", "earlier", "below", "under", "older", "lower", "shorter", "before",
                                 "smaller", "cheaper"}))
                return {relation::le, end + 2};
        }
        if (is_any(end, {"onward", "onwards", "upward", "upwards"})) return {relation::ge, end + 1};
        if (after_from && is_any(end, {"on"})) return {relation::ge, end + 1};
        if (is_any(end, {"max", "maximum", "tops"})) return {relation::le, end + 1};
        if (is_any(end, {"min", "minimum"})) return {relation::ge, end + 1};
        if (is_any(end, {"at"})) {
            const std::size_t next = is_any(end + 1, {"the"}) ? end + 2 : end + 1;
            if (is_any(next, {"most", "latest"})) return {relation::le, next + 1};
            if (is_any(next, {"least", "earliest"})) return {relation::ge, next + 1};
        }
        return {relation::none, end};
    }

    // ---- the whole

    std::optional<found> amount_at(std::size_t i) const {
        if (auto f = time_at(i)) return f;
        return number_at(i);
    }

    std::optional<quantity> quantity_at(std::size_t i, std::size_t floor) const {
        if (!free(i)) return std::nullopt;
        auto first = amount_at(i);
        if (!first) return std::nullopt;
        quantity q{.begin = i, .end = first->end, .noun = first->noun};
        if (const auto range = range_from(*first, i, floor)) return range;
        if (first->open_year && !today_) return std::nullopt;
        if (first->open_year && !comparison_word_before(i, floor)) return std::nullopt;
        const comparison before = comparison_before(i, floor, first->value.time.has_value());
        q.rel = before.rel;
        q.by_age = before.by_age;
        q.begin = before.begin;
        q.low = first->value;
        if (first->rolling && (q.rel == relation::eq || q.rel == relation::none || q.rel == relation::le))
            q.rel = relation::ge, q.rolling = true, q.low.time->end = q.low.time->begin + std::chrono::days{1};
        if (first->ago) {  // more than a year ago is before that day
            if (q.rel == relation::gt)
                q.rel = relation::lt;
            else if (q.rel == relation::lt)
                q.rel = relation::gt;
            else if (q.rel == relation::ge)
                q.rel = relation::le;
            else if (q.rel == relation::le)
                q.rel = relation::ge;
        }
        if (q.rel == relation::none || q.rel == relation::eq) {
            const bool from = before.rel == relation::eq && q.begin < i && is_any(q.begin, {"from"});
            auto [rel, end] = comparison_after(q.end, from);
            const bool one_noun = rel == relation::none && first->noun == q.end && first->noun != 0;
            if (one_noun) std::tie(rel, end) = comparison_after(q.end + 1, from);
            if (rel != relation::none) q.rel = rel, q.end = end;
        }
        return q;
    }

    // A month without a year is one only after a word of time: "since June", not "April".
    bool comparison_word_before(std::size_t i, std::size_t floor) const {
        return comparison_before(i, floor, true).rel != relation::none;
    }

    // between A and B, from A to B, A to B, A - B
    std::optional<quantity> range_from(const found& first, std::size_t i, std::size_t floor) const {
        std::size_t begin = i;
        while (begin > floor && is_any(begin - 1, {"the"})) --begin;
        const bool between = begin > floor && is_any(begin - 1, {"between"});
        const bool from = begin > floor && is_any(begin - 1, {"from"});
        std::size_t joint = first.end;
        bool joined = between && is_any(joint, {"and"});
        if (!joined)
            joined =
                is_any(joint, {"to", "-", "\u2013", "\u2014"}) || (from && is_any(joint, {"until", "till", "through"}));
        if (!joined) return std::nullopt;
        auto second = amount_at(joint + 1);
        if (!second || first.rolling || second->rolling) return std::nullopt;
        amount low = first.value, high = second->value;
        const bool times = low.time && high.time, numbers = low.number && high.number;
        if (!times && !numbers) return std::nullopt;
        if (first.open_year && times) {
            if (second->open_year && !today_) return std::nullopt;
            const int year = static_cast<int>(std::chrono::year_month_day{high.time->begin}.year());
            const std::chrono::year_month_day then{low.time->begin};
            low.time = whole_month(year, static_cast<unsigned>(then.month()));
            if (low.time->begin > high.time->begin)
                low.time = whole_month(year - 1, static_cast<unsigned>(then.month()));
        }
        if (!times) low.time.reset(), high.time.reset();
        if (!numbers || low.unit != high.unit) {
            if (low.unit == 0.0) low.unit = high.unit;
        }
        quantity q{.begin = between || from ? begin - 1 : i,
                   .end = second->end,
                   .noun = second->noun,
                   .rel = relation::between};
        q.low = low;
        q.high = high;
        return q;
    }

    std::span<const question_word> words_;
    const std::vector<bool>& taken_;
    std::vector<bool> unreadable_;
    std::optional<day_point> today_{};
};

inline std::vector<quantity> quantities_of(std::span<const question_word> words, const std::vector<bool>& taken,
                                           std::optional<date_time> today) {
    return quantity_reader(words, taken, today).run();
}

}  // namespace QUARRY_NAMESPACE::detail
