// Public failures of numbers and headers: cases 121 and 123 of the catalogue.
//
// The macros below are what <windows.h>, X11 and the C library leave behind in a user's file before it includes us.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <clocale>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Dense>

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define None 0L
#define ERROR 0
#define Always 2
#define Bool int
#define Status int
#define Success 0
#define True 1
#define False 0
#define IN
#define OUT
#define DELETE 4
#define CONST const
#define near
#define far
#define major(dev) (dev)
#define minor(dev) (dev)
#define unix 1
#define linux 1
#define nil 0

#include "quarry/quarry.hpp"

#undef min
#undef max
#undef None
#undef ERROR
#undef Always
#undef Bool
#undef Status
#undef Success
#undef True
#undef False
#undef IN
#undef OUT
#undef DELETE
#undef CONST
#undef near
#undef far
#undef major
#undef minor
#undef unix
#undef linux
#undef nil

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Decimal commas, and full stops between thousands.
struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

// Under `changed`, and as it was before afterwards.
class with_locale {
   public:
    explicit with_locale(const std::locale& changed) : before_(std::locale::global(changed)) {}
    with_locale(const with_locale&) = delete;
    with_locale& operator=(const with_locale&) = delete;
    ~with_locale() { std::locale::global(before_); }

   private:
    std::locale before_;
};

std::locale decimal_commas() { return std::locale(std::locale::classic(), new german); }

// Everything a program may print or parse: numbers in messages, filters, dates, traces, explanations, scores.
std::string everything() {
    corpus c(schema{{"price", field_type::number}, {"views", field_type::integer}, {"day", field_type::date_time}});
    c.add({.id = "a", .text = "version 3.14 of 1,000 things",
           .meta = {{"price", 3.14}, {"views", 1234567}, {"day", "2024-05-07T10:30:15.25+02:00"}}});
    c.add({.id = "b", .text = "version 2.71", .meta = {{"price", 0.1}}});
    const toy::letter_embedder embedder;
    const auto kb = build(c, identity{}, embedder);
    std::string out = (eq("price", 3.14) && ge("views", 1234567)).to_string();
    trace t;
    const auto stopped = [] { return std::chrono::steady_clock::time_point{}; };  // times are printed, and the same
    const auto found = hybrid(lexical(kb.bm25), dense(kb.vectors, embedder))
                           .retrieve(query("version 3.14").where(le("price", 3.14)).under({.now = stopped}).traced(t), 5);
    out += to_string(t);
    for (const auto& hit : found) out += found.explain(hit) + found.unit(hit).value("price")->to_string();
    out += c.value(unit_id{0}, "views")->to_string() + c.value(unit_id{0}, "day")->to_string();
    out += message_of([] { bm25_index(english(), {.k1 = -1234.5f}); });
    out += message_of([] { static_cast<void>(at_least<cosine_scale>{std::numeric_limits<float>::quiet_NaN()}); });
    out += message_of([&] { fuse(rrf{.k = -2.5f}, lexical(kb.bm25)); });
    out += detail::fixed(1234567.891, 2) + detail::concat(0.1f, ' ', 1e-7, ' ', 1234567);
    return out;
}

}  // namespace

TEST_CASE("a locale with decimal commas changes no number that is printed, parsed or ranked") {
    const std::string classic = everything();
    CHECK(classic.find("3.14") != std::string::npos);
    CHECK(classic.find("1234567") != std::string::npos);
    CHECK(classic.find("-1234.5") != std::string::npos);
    CHECK(classic.find("1234567.89") != std::string::npos);
    std::string changed;
    {
        const with_locale german_numbers(decimal_commas());
        changed = everything();
    }
    CHECK(changed == classic);
    // The C library's own locale, where one with decimal commas is installed.
    const std::string before = std::setlocale(LC_ALL, nullptr);
    for (const char* name : {"de_DE.UTF-8", "nb_NO.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE", "tr_TR.UTF-8"})
        if (std::setlocale(LC_ALL, name)) CHECK(everything() == classic);
    std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("a locale that changes while a search runs changes nothing") {
    const std::string classic = everything();
    std::vector<std::string> seen;
    {
        const with_locale restored_afterwards(std::locale::classic());
        std::jthread changing([](std::stop_token stop) {
            while (!stop.stop_requested()) {
                std::locale::global(decimal_commas());
                std::locale::global(std::locale::classic());
            }
        });
        for (int i = 0; i < 20; ++i) seen.push_back(everything());
    }
    CHECK(seen == std::vector<std::string>(20, classic));
}

TEST_CASE("our headers compile behind other people's macros and leave none of their own but QUARRY_") {
    // That this file compiles is the first half. These names would be ours if a header forgot to clean up.
#if defined(RETURN) || defined(ASSERT) || defined(UNREACHABLE) || defined(LIKELY) || defined(UNLIKELY) || defined(API)
    const bool clean = false;
#else
    const bool clean = true;
#endif
    CHECK(clean);
    // And the functions behind them do what they say although min and max were macros.
    CHECK(detail::keys_needed(3, 4, 100) == 9);
    CHECK(lucene_length(41) == 40);
}
