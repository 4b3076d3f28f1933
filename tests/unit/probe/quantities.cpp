#include "quarry/probe/quantities.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry::detail;
using quarry::date_time;

namespace {

std::string day(std::chrono::sys_days d) {
    const std::chrono::year_month_day x{d};
    return date_time::day(static_cast<int>(x.year()), static_cast<unsigned>(x.month()), static_cast<unsigned>(x.day()))
        ->to_string();
}

// A day as itself, other times as [first, end).
std::string text_of(const amount& a) {
    std::string out;
    if (a.time)
        out = a.time->is_day() ? day(a.time->begin) : day(a.time->begin) + ".." + day(a.time->end);
    else if (a.number)
        out = concat(*a.number);
    if (a.unit > 0) out += concat(" of ", a.unit, " s");
    return out;
}

const std::optional<date_time> today = date_time::day(2026, 3, 10);

// Each quantity as "relation amount", after the words that were taken for it.
std::string read(std::string_view question, std::optional<date_time> now = today) {
    static constexpr const char* names[] = {"is", "=", "<", "<=", ">", ">=", "between"};
    const auto words = question_words(question);
    std::string out;
    for (const quantity& q : quantities_of(words, std::vector<bool>(words.size()), now)) {
        if (!out.empty()) out += "; ";
        const std::size_t begin = words[q.begin].begin, end = words[q.end - 1].end;
        out +=
            concat('[', question.substr(begin, end - begin), "] ", names[static_cast<int>(q.rel)], ' ', text_of(q.low));
        if (q.rel == relation::between) out += " and " + text_of(q.high);
    }
    return out;
}

}  // namespace

TEST_CASE("numbers are read as they are written, in digits and in words") {
    CHECK(read("2") == "[2] is 2");
    CHECK(read("4.5") == "[4.5] is 4.5");
    CHECK(read("1,000") == "[1,000] is 1000");
    CHECK(read("1,00") == "");
    CHECK(read("1.2.3") == "");
    CHECK(read("120k") == "[120k] is 120000");
    CHECK(read("2 million") == "[2 million] is 2e+06");
    CHECK(read("twelve") == "[twelve] is 12");
    CHECK(read("twenty-five") == "[twenty-five] is 25");
    CHECK(read("forty two") == "[forty two] is 42");
    CHECK(read("three hundred") == "[three hundred] is 300");
    CHECK(read("99999999999999999999") == "");
}

TEST_CASE("numbers that are part of a name, and days that could be two, are not read") {
    CHECK(read("HL-212") == "");
    CHECK(read("error HL-212 and 3") == "[3] is 3");
    CHECK(read("3/4/2024") == "");
    CHECK(read("24/7") == "");
    CHECK(read("2024-02-30") == "");
    CHECK(read("1-2-3-4") == "");
}

TEST_CASE("lengths of time know their unit") {
    CHECK(read("90 minutes") == "[90 minutes] is 90 of 60 s");
    CHECK(read("30min") == "[30min] is 30 of 60 s");
    CHECK(read("20-minute meals") == "[20-minute] is 20 of 60 s");
    CHECK(read("an hour") == "[an hour] is 1 of 3600 s");
    CHECK(read("half an hour") == "[half an hour] is 0.5 of 3600 s");
    CHECK(read("an hour and a half") == "[an hour and a half] is 1.5 of 3600 s");
    CHECK(read("two and a half hours") == "[two and a half hours] is 2.5 of 3600 s");
    CHECK(read("1.5 hours") == "[1.5 hours] is 1.5 of 3600 s");
    CHECK(seconds_of_unit("dai") == seconds_of_unit("day"));
    CHECK(seconds_of_unit("people") == 0.0);
}

TEST_CASE("times are whole days, whatever they are called") {
    CHECK(read("2024") == "[2024] is 2024-01-01..2025-01-01");
    CHECK(read("the 1990s") == "[the 1990s] is 1990-01-01..2000-01-01");
    CHECK(read("the 90s") == "[the 90s] is 1990-01-01..2000-01-01");
    CHECK(read("the nineties") == "[the nineties] is 1990-01-01..2000-01-01");
    CHECK(read("the 10s") == "[the 10s] is 2010-01-01..2020-01-01");
    CHECK(read("February 2024") == "[February 2024] is 2024-02-01..2024-03-01");
    CHECK(read("29 February 2024") == "[29 February 2024] is 2024-02-29");
    CHECK(read("29 February 2023") == "");  // there is no such day
    CHECK(read("March 15th, 2024") == "[March 15th, 2024] is 2024-03-15");
    CHECK(read("the 15th of March 2024") == "[15th of March 2024] is 2024-03-15");
    CHECK(read("on 2024-03-15") == "[on 2024-03-15] = 2024-03-15");
    CHECK(read("2024-13-15") == "");
    CHECK(read("second half of 2025") == "[second half of 2025] is 2025-07-01..2026-01-01");
    CHECK(read("Q1 2025") == "[Q1 2025] is 2025-01-01..2025-04-01");
    CHECK(read("the end of 2024") == "[the end of 2024] is 2024-12-31");
    CHECK(read("the beginning of March 2024") == "[the beginning of March 2024] is 2024-03-01");
    CHECK(read("it may be, they march") == "");
    CHECK(read("2000 minutes") == "[2000 minutes] is 2000 of 60 s");
}

TEST_CASE("relative times are seen from today, and without it they are not read") {
    CHECK(read("this month") == "[this month] is 2026-03-01..2026-04-01");
    CHECK(read("last month") == "[last month] is 2026-02-01..2026-03-01");
    CHECK(read("this year") == "[this year] is 2026-01-01..2027-01-01");
    CHECK(read("last year") == "[last year] is 2025-01-01..2026-01-01");
    CHECK(read("this week") == "[this week] is 2026-03-09..2026-03-16");  // 10 March 2026 is a Tuesday
    CHECK(read("last week") == "[last week] is 2026-03-02..2026-03-09");
    CHECK(read("yesterday") == "[yesterday] is 2026-03-09");
    CHECK(read("in the last 90 days") == "[in the last 90 days] >= 2025-12-10");  // 10 + 28 + 31 + 21 days back
    CHECK(read("the past month") == "[the past month] >= 2026-02-10");
    CHECK(read("within the past 3 years") == "[within the past 3 years] >= 2023-03-10");
    CHECK(read("3 days ago") == "[3 days ago] is 2026-03-07");
    CHECK(read("more than two years ago") == "[more than two years ago] < 2024-03-10");
    CHECK(read("less than a year ago") == "[less than a year ago] > 2025-03-10");
    CHECK(read("since June") == "[since June] >= 2025-06-01..2025-07-01");
    CHECK(read("since February") == "[since February] >= 2026-02-01..2026-03-01");
    CHECK(read("April recipes") == "");
    CHECK(read("one month ago", date_time::day(2024, 3, 31)) == "[one month ago] is 2024-02-29");
    for (const char* question : {"this month", "since June", "yesterday", "the past year"}) {
        CAPTURE(question);
        CHECK(read(question, std::nullopt) == "");
    }
}

TEST_CASE("comparisons are read before and behind the amount, and a no turns them round") {
    CHECK(read("before 2024") == "[before 2024] < 2024-01-01..2025-01-01");
    CHECK(read("from before 2023") == "[from before 2023] < 2023-01-01..2024-01-01");
    CHECK(read("after the year 2010") == "[after the year 2010] > 2010-01-01..2011-01-01");
    CHECK(read("until 2010") == "[until 2010] <= 2010-01-01..2011-01-01");
    CHECK(read("pre-2000") == "[pre-2000] < 2000-01-01..2001-01-01");
    CHECK(read("no more than 25") == "[no more than 25] <= 25");
    CHECK(read("not more than 25") == "[not more than 25] <= 25");
    CHECK(read("no fewer than 3") == "[no fewer than 3] >= 3");
    CHECK(read("not before 2010") == "[not before 2010] >= 2010-01-01..2011-01-01");
    CHECK(read("no later than 1 May 2025") == "[no later than 1 May 2025] <= 2025-05-01");
    CHECK(read("at least 4.5") == "[at least 4.5] >= 4.5");
    CHECK(read("up to 30 minutes") == "[up to 30 minutes] <= 30 of 60 s");
    CHECK(read("a maximum of 30") == "[maximum of 30] <= 30");
    CHECK(read(">= 4.2") == "[>= 4.2] >= 4.2");
    CHECK(read("<3") == "[<3] < 3");
    CHECK(read("\u2264 3") == "[\u2264 3] <= 3");
    CHECK(read("4 or better") == "[4 or better] >= 4");
    CHECK(read("4 stars or more") == "[4 stars or more] >= 4");
    CHECK(read("30 minutes or less") == "[30 minutes or less] <= 30 of 60 s");
    CHECK(read("from 2005 on") == "[from 2005 on] >= 2005-01-01..2006-01-01");
    CHECK(read("2005 onwards") == "[2005 onwards] >= 2005-01-01..2006-01-01");
    CHECK(read("2005 and earlier") == "[2005 and earlier] <= 2005-01-01..2006-01-01");
    CHECK(read("120k+") == "[120k+] >= 120000");
    CHECK(read("6 people max") == "[6 people max] <= 6");
    CHECK(read("5 at most") == "[5 at most] <= 5");
}

TEST_CASE("ranges include both ends, and the second year serves the first month") {
    CHECK(read("between 20 and 40 minutes") == "[between 20 and 40 minutes] between 20 of 60 s and 40 of 60 s");
    CHECK(read("from 2003 to 2007") == "[from 2003 to 2007] between 2003-01-01..2004-01-01 and 2007-01-01..2008-01-01");
    CHECK(read("2003-2007") == "[2003-2007] between 2003-01-01..2004-01-01 and 2007-01-01..2008-01-01");
    CHECK(read("between March and September 2025") ==
          "[between March and September 2025] between 2025-03-01..2025-04-01 and 2025-09-01..2025-10-01");
    CHECK(read("from November to January 2025") ==
          "[from November to January 2025] between 2024-11-01..2024-12-01 and 2025-01-01..2025-02-01");
    CHECK(read("in 2003, 2004 or 2005") ==
          "[in 2003] = 2003-01-01..2004-01-01; [2004] is 2004-01-01..2005-01-01; [2005] is 2005-01-01..2006-01-01");
}

TEST_CASE("words that belong to something else are left alone") {
    const auto words = question_words("before 2024");
    CHECK(quantities_of(words, {false, true}, today).empty());
}

TEST_CASE("reading quantities takes linear time and no deep stack") {
    for (const std::string_view part : {"the end of ", "2024 ", "the ", "between ", "1 to ", "- ", "last ", "half a ",
                                        "twenty ", "March ", "1,1,1,"}) {
        CAPTURE(part);
        std::string question;
        for (int i = 0; i < 300; ++i) question += part;
        std::size_t seen = 0;
        CHECK(growth(
                  [&](std::size_t n) {
                      const auto words = question_words(std::string_view(question).substr(0, n * part.size()));
                      seen += quantities_of(words, std::vector<bool>(words.size()), today).size() + 1;
                  },
                  150) <= 2.5);
        CHECK(seen > 0);
    }
}
