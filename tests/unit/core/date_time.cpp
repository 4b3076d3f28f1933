#include "quarry/core/date_time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "support/catch.hpp"

using namespace quarry;

namespace {

constexpr std::int64_t second = 1000, minute = 60 * second, hour = 60 * minute, a_day = 24 * hour;

// 2024-05-07: 54 years of 365 days and 13 leap days (1972 to 2020) are 19723 days to 2024-01-01, then 31 + 29 + 31 + 30
// to May and 6 more: 19850.
constexpr std::int64_t may_7 = 19850 * a_day;

// The slow reference: counts days one year and one month at a time.
std::int64_t days_by_counting(int year, int month, int day) {
    const auto leap = [](int y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); };
    const int lengths[] = {31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    std::int64_t days = day - 1;
    for (int y = 1970; y < year; ++y) days += leap(y) ? 366 : 365;
    for (int y = year; y < 1970; ++y) days -= leap(y) ? 366 : 365;
    for (int m = 1; m < month; ++m) days += lengths[m - 1];
    return days;
}

}  // namespace

TEST_CASE("a date is read as a whole day, a time as an instant, by this table") {
    struct row {
        std::string_view text;
        bool is_day;
        std::int64_t begin;
    };
    const row table[] = {
        {"2024-05-07", true, may_7},
        {"1970-01-01", true, 0},
        {"1969-12-31", true, -a_day},
        {"2024-05-07T00:00", false, may_7},
        {"2024-05-07T10:30", false, may_7 + 10 * hour + 30 * minute},
        {"2024-05-07T10:30:15", false, may_7 + 10 * hour + 30 * minute + 15 * second},
        {"2024-05-07 10:30:15", false, may_7 + 10 * hour + 30 * minute + 15 * second},
        {"2024-05-07t10:30:15z", false, may_7 + 10 * hour + 30 * minute + 15 * second},
        {"2024-05-07T10:30:15Z", false, may_7 + 10 * hour + 30 * minute + 15 * second},
        {"2024-05-07T10:30:15.5Z", false, may_7 + 10 * hour + 30 * minute + 15 * second + 500},
        {"2024-05-07T10:30:15.123", false, may_7 + 10 * hour + 30 * minute + 15 * second + 123},
        {"2024-05-07T10:30:15.123999999", false, may_7 + 10 * hour + 30 * minute + 15 * second + 123},  // cut
        {"2024-05-07T10:30+02:00", false, may_7 + 8 * hour + 30 * minute},
        {"2024-05-07T10:30+0200", false, may_7 + 8 * hour + 30 * minute},
        {"2024-05-07T10:30:00-05:30", false, may_7 + 16 * hour},
        {"2024-05-07T00:30+01:00", false, may_7 - 30 * minute},  // the day before, in UTC
        {"2024-05-07T23:59:59.999-00:00", false, may_7 + a_day - 1},
    };
    for (const row& r : table) {
        CAPTURE(r.text);
        const auto read = date_time::parse(r.text);
        REQUIRE(read);
        CHECK(read->is_day() == r.is_day);
        CHECK(read->starts() == r.begin);
        CHECK(read->ends() == r.begin + (r.is_day ? a_day : 1));
    }
}

TEST_CASE("what is no date is refused, not guessed") {
    const std::string_view table[] = {
        "",
        " ",
        "2024",
        "2024-05",
        "2024-5-7",
        "24-05-07",
        "2024-05-7",
        "5 May 2024",
        "07.05.2024",
        "2024/05/07",
        "20240507",
        "1715040000",
        "2024-05-07T",
        "2024-05-07 ",
        " 2024-05-07",
        "2024-05-07T10",
        "2024-05-07T10:",
        "2024-05-07T1:30",
        "2024-05-07T24:00",
        "2024-05-07T10:60",
        "2024-05-07T10:30:60",
        "2024-05-07T10:30:",
        "2024-05-07T10:30:15.",
        "2024-05-07T10:30:15.Z",
        "2024-05-07T10:30:15,5",
        "2024-05-07T10:30 Z",
        "2024-05-07T10:30ZZ",
        "2024-05-07T10:30+2",
        "2024-05-07T10:30+02",
        "2024-05-07T10:30+2:00",
        "2024-05-07T10:30+02:0",
        "2024-05-07T10:30+02:60",
        "2024-05-07T10:30+24:00",
        "2024-05-07T10:30+02:00 ",
        "2024-05-07T10:30+02-00",
        "2024-05-07T10:30*02:00",
        "2024-05-07Z",
        "2024-05-07+02:00",
        "-2024-05-07",
        "+2024-05-07",
        "2024-05--7",
        "2024-13-01",
        "2024-00-01",
        "2024-01-00",
        "2024-01-32",
        "0000-01-01",
        "10000-01-01",
        "yesterday",
        "2024-05-07T10:30:15.123456789012345678901234567890x",
    };
    for (const std::string_view text : table) {
        CAPTURE(text);
        CHECK_FALSE(date_time::parse(text));
    }
    CHECK_FALSE(date_time::parse(std::string_view("2024-05-07\0", 11)));
}

TEST_CASE("years outside 0001 to 9999 are refused, also where only the offset leads there") {
    CHECK(date_time::parse("0001-01-01T00:00"));
    CHECK(date_time::parse("0001-01-01T01:00+01:00"));
    CHECK_FALSE(date_time::parse("0001-01-01T00:59+01:00"));
    CHECK(date_time::parse("9999-12-31T22:59:59.999-01:00"));
    CHECK_FALSE(date_time::parse("9999-12-31T23:00-01:00"));
}

TEST_CASE("leap days exist in leap years only") {
    for (const auto& [year, leap] :
         {std::pair{2024, true}, {2023, false}, {2000, true}, {1900, false}, {2100, false}, {2400, true}}) {
        CAPTURE(year);
        CHECK(date_time::day(year, 2, 29).has_value() == leap);
        CHECK(date_time::parse(std::to_string(year) + "-02-29").has_value() == leap);
    }
    CHECK_FALSE(date_time::day(2024, 2, 30));
    CHECK_FALSE(date_time::day(2024, 4, 31));
    CHECK_FALSE(date_time::day(2024, 13, 1));
}

TEST_CASE("days agree with counting them one by one") {
    for (int year = 1890; year <= 2110; year += 10)
        for (int month = 1; month <= 12; ++month)
            for (const int day : {1, 15, 28}) {
                const auto d = date_time::day(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
                REQUIRE(d);
                CHECK(d->starts() == days_by_counting(year, month, day) * a_day);
            }
}

TEST_CASE("every text that is printed is read back equal") {
    const auto round_trip = [](date_time d) {
        CAPTURE(d.to_string());
        CHECK(date_time::parse(d.to_string()) == d);
    };
    for (const int year : {1, 999, 1582, 1969, 1970, 2024, 9999}) round_trip(*date_time::day(year, 12, 31));
    for (const std::int64_t ms : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, may_7, may_7 + 999, may_7 + 1000,
                                  -may_7 - 1, may_7 + a_day - 1})
        round_trip(date_time::instant(std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(ms))));
}

TEST_CASE("a day prints as a date, an instant in UTC with milliseconds where it has any") {
    CHECK(date_time::day(2024, 5, 7)->to_string() == "2024-05-07");
    CHECK(date_time::day(1, 1, 1)->to_string() == "0001-01-01");
    CHECK(date_time::parse("2024-05-07T10:30+02:00")->to_string() == "2024-05-07T08:30:00Z");
    CHECK(date_time::parse("2024-05-07T10:30:15.05")->to_string() == "2024-05-07T10:30:15.050Z");
    CHECK(date_time::parse("1969-12-31T23:59:59.999")->to_string() == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("a day and the instant at its midnight are different values") {
    const auto day = date_time::parse("2024-05-07"), midnight = date_time::parse("2024-05-07T00:00");
    CHECK(day != midnight);
    CHECK(day->starts() == midnight->starts());
    CHECK(date_time() == *date_time::day(1970, 1, 1));
}
