// Dates and times for metadata: a whole day, or an instant. Never a text that is compared as text.
//
// A day is the interval from its midnight to the next, in UTC; an instant is a point, in milliseconds. The surprising
// thing: a stored day compared with an instant inside it has no answer (the article changed some time that day), so the
// comparison is neither true nor false. core/filter.hpp holds the table.
#pragma once

#include <charconv>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

class date_time {
   public:
    /// 1970-01-01, the day.
    constexpr date_time() noexcept = default;

    /// A day of the proleptic Gregorian calendar, or nothing if there is no such day (2023-02-29).
    static constexpr std::optional<date_time> day(int year, unsigned month, unsigned day_of_month) noexcept {
        const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                               std::chrono::day{day_of_month}};
        if (!date.ok()) return std::nullopt;
        return date_time(std::chrono::sys_days{date}.time_since_epoch().count() * day_length, true);
    }

    /// A point in time, cut to milliseconds.
    static constexpr date_time instant(std::chrono::sys_time<std::chrono::milliseconds> time) noexcept {
        return date_time(time.time_since_epoch().count(), false);
    }

    /// Reads `2024-05-07`, `2024-05-07T10:30`, `2024-05-07T10:30:15`, with an optional fraction of a second and an
    /// optional `Z`, `+02:00` or `+0200`; a space may stand for the T. Without an offset the time is UTC.
    ///
    /// Errors  none thrown: nothing comes back for any other text, for days that do not exist and for years outside
    ///         0001 to 9999, in UTC. `2024-5-7` is refused.
    static std::optional<date_time> parse(std::string_view text) noexcept;

    constexpr bool is_day() const noexcept { return is_day_; }

    /// First millisecond since 1970-01-01T00:00Z that belongs to it, and the first that does not any more.
    constexpr std::int64_t starts() const noexcept { return begin_; }
    constexpr std::int64_t ends() const noexcept { return begin_ + (is_day_ ? day_length : 1); }

    /// `2024-05-07`, or `2024-05-07T10:30:15Z` with milliseconds where there are any. `parse` reads it back equal, in
    /// the years that it reads.
    std::string to_string() const;

    friend constexpr auto operator<=>(const date_time&, const date_time&) noexcept = default;

   private:
    static constexpr std::int64_t day_length = 24LL * 60 * 60 * 1000;

    constexpr date_time(std::int64_t begin, bool is_day) noexcept : begin_(begin), is_day_(is_day) {}

    std::int64_t begin_ = 0;
    bool is_day_ = true;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// Reads exactly `count` digits from the front of `text`.
inline std::optional<int> take_digits(std::string_view& text, std::size_t count) noexcept {
    if (text.size() < count) return std::nullopt;
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        number = number * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return number;
}

inline bool take(std::string_view& text, char expected) noexcept {
    if (text.empty() || text.front() != expected) return false;
    text.remove_prefix(1);
    return true;
}

// Minutes east of UTC from `Z`, `+hh:mm`, `+hhmm` or nothing; no value if something else stands there.
inline std::optional<int> take_offset(std::string_view& text) noexcept {
    if (text.empty() || take(text, 'Z') || take(text, 'z')) return 0;
    const int sign = text.front() == '-' ? -1 : 1;
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const auto hours = take_digits(text, 2);
    if (text.size() == 3 && !take(text, ':')) return std::nullopt;
    const auto minutes = hours ? take_digits(text, 2) : std::nullopt;
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    return sign * (*hours * 60 + *minutes);
}

}  // namespace detail

inline std::optional<date_time> date_time::parse(std::string_view text) noexcept {
    const auto year = detail::take_digits(text, 4);
    if (!year || *year == 0 || !detail::take(text, '-')) return std::nullopt;
    const auto month = detail::take_digits(text, 2);
    if (!month || !detail::take(text, '-')) return std::nullopt;
    const auto day_of_month = detail::take_digits(text, 2);
    if (!day_of_month) return std::nullopt;
    const auto date = day(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day_of_month));
    if (!date || text.empty()) return date;

    if (!detail::take(text, 'T') && !detail::take(text, 't') && !detail::take(text, ' ')) return std::nullopt;
    const auto hour = detail::take_digits(text, 2);
    if (!hour || *hour > 23 || !detail::take(text, ':')) return std::nullopt;
    const auto minute = detail::take_digits(text, 2);
    if (!minute || *minute > 59) return std::nullopt;
    int second = 0, millisecond = 0;
    if (detail::take(text, ':')) {
        const auto read = detail::take_digits(text, 2);
        if (!read || *read > 59) return std::nullopt;
        second = *read;
        if (detail::take(text, '.')) {
            int scale = 100;
            if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
            for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), scale /= 10)
                millisecond += (text.front() - '0') * scale;
        }
    }
    const auto offset = detail::take_offset(text);
    if (!offset || !text.empty()) return std::nullopt;
    const std::int64_t minutes = *hour * 60 + *minute - *offset;
    const date_time read(date->begin_ + (minutes * 60 + second) * 1000 + millisecond, false);
    // An offset may lead out of the years that can be written.
    const bool writable = read.starts() >= day(1, 1, 1)->starts() && read.starts() < day(9999, 12, 31)->ends();
    return writable ? std::optional(read) : std::nullopt;
}

inline std::string date_time::to_string() const {
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::milliseconds(begin_));
    const std::chrono::year_month_day date{std::chrono::sys_days{days}};
    const auto padded = [](std::int64_t number, std::size_t width) {
        std::string digits = std::to_string(number);
        return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
    };
    std::string out = padded(static_cast<int>(date.year()), 4) + '-' + padded(static_cast<unsigned>(date.month()), 2) +
                      '-' + padded(static_cast<unsigned>(date.day()), 2);
    if (is_day_) return out;
    const std::int64_t rest = begin_ - std::chrono::milliseconds(days).count();
    out += 'T' + padded(rest / 3600000, 2) + ':' + padded(rest / 60000 % 60, 2) + ':' + padded(rest / 1000 % 60, 2);
    if (rest % 1000 != 0) out += '.' + padded(rest % 1000, 3);
    return out + 'Z';
}

}  // namespace QUARRY_NAMESPACE
