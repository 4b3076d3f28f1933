#include "quarry/detail/text.hpp"

#include <clocale>
#include <cstdint>
#include <locale>
#include <string>

#include "support/catch.hpp"

using namespace quarry::detail;

TEST_CASE("parts are put together as they are, numbers in the shortest form that reads back equal") {
    CHECK(concat() == "");
    CHECK(concat("a", 'b', std::string("c"), std::string_view("d")) == "abcd");
    CHECK(concat(0.1, ' ', 1e300, ' ', 0.1f, ' ', -0.0) == "0.1 1e+300 0.1 -0");
    CHECK(concat(INT64_MIN, ' ', UINT64_MAX) == "-9223372036854775808 18446744073709551615");
    CHECK(concat(true, ' ', false) == "true false");
    CHECK(concat(std::uint8_t{65}) == "65");  // a small number and not a letter
    CHECK(std::stod(concat(1.0 / 3.0)) == 1.0 / 3.0);
}

TEST_CASE("numbers are written the same in every locale") {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    struct comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale old = std::locale::global(std::locale(std::locale(), new comma));
    CHECK(concat(1234.5, ' ', 1234567) == "1234.5 1234567");
    CHECK(fixed(1234.5, 2) == "1234.50");
    std::locale::global(old);
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"}) {
        std::setlocale(LC_ALL, name);  // where it is installed
        CHECK(concat(0.5f) == "0.5");
        CHECK(fixed(0.5, 1) == "0.5");
    }
    std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("a quotation stands between quotes and is cut after eighty bytes") {
    CHECK(quarry::detail::quoted("") == "\"\"");
    CHECK(quarry::detail::quoted("a \"b\"") == "\"a \"b\"\"");
    CHECK(quarry::detail::quoted(std::string(80, 'x')) == '"' + std::string(80, 'x') + '"');
    CHECK(quarry::detail::quoted(std::string(81, 'x')) == '"' + std::string(80, 'x') + "...\"");
    CHECK(quarry::detail::quoted(std::string(1000000, 'x')).size() == 85);
}

TEST_CASE("a quotation is not cut inside a letter") {
    // Two, three and four bytes a letter: 79 bytes before them leave room for one byte.
    for (const std::string letter : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x99\x82"}) {
        const std::string text = std::string(79, 'x') + letter + letter;
        CHECK(quarry::detail::quoted(text) == '"' + std::string(79, 'x') + "...\"");
    }
    CHECK(quarry::detail::quoted(std::string(78, 'x') + "\xC3\xA9y") == '"' + std::string(78, 'x') + "\xC3\xA9" + "...\"");
    // What is no UTF-8 is cut all the same, and never to nothing.
    CHECK(quarry::detail::quoted(std::string(200, '\x80')).size() >= 80);
}

TEST_CASE("fixed digits are rounded to nearest, for numbers of any size") {
    CHECK(fixed(0.125, 2) == "0.12");  // exactly between: to even
    CHECK(fixed(0.126, 2) == "0.13");
    CHECK(fixed(-1.0, 0) == "-1");
    CHECK(fixed(1e300, 1).size() == 303);
}

TEST_CASE("white space at the ends is trimmed, inside it stays") {
    CHECK(trimmed("  a b\t\r\n\f\v") == "a b");
    CHECK(trimmed("") == "");
    CHECK(trimmed(" \n ") == "");
    CHECK(trimmed("a") == "a");
    CHECK(trimmed("\xC2\xA0") == "\xC2\xA0");  // a no-break space is two bytes and not ASCII
    CHECK_FALSE(is_ascii_space('\0'));
    CHECK_FALSE(is_ascii_space('\xA0'));
}
