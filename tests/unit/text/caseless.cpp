#include "quarry/text/caseless.hpp"

#include <map>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/unicode_tests.hpp"

using namespace quarry;
using unicode_tests::lines_of;
using unicode_tests::split;

TEST_CASE("texts that differ in case, width, ligature or normal form have one caseless form") {
    CHECK(caseless("HTTP Server") == "http server");
    CHECK(caseless("Ko\u0308ln") == caseless("KÖLN"));
    CHECK(caseless("\uFF21\uFF22\uFF23") == "abc");
    CHECK(caseless("\uFB01T") == "fit");
    CHECK(caseless("STRASSE") == caseless("straße"));
    CHECK(caseless("ΟΔΟΣ") == caseless("οδος"));
    CHECK(caseless("co\u00ADoperate") == "cooperate");  // a soft hyphen is not seen
    CHECK(caseless("\u212Aelvin") == "kelvin");         // the Kelvin sign
}

TEST_CASE("the Turkish dotted capital is found by i, and the dotless letter stays apart") {
    CHECK(caseless("İstanbul") == "istanbul");
    CHECK(caseless("I\u0307stanbul") == "istanbul");
    CHECK(caseless("ISTANBUL") == "istanbul");
    CHECK(caseless("Diyarbakır") != caseless("Diyarbakir"));
}

TEST_CASE("it is NFKC_Casefold for every code point, but for the dot above an i") {
    std::map<char32_t, std::string> expected;
    for (const std::string& line : lines_of(QUARRY_UNICODE_DIR "/DerivedNormalizationProps.txt")) {
        const auto fields = split(line, ';');
        if (fields.size() < 3 || fields[1].find("NFKC_CF") == std::string::npos) continue;
        const auto dots = fields[0].find("..");
        const char32_t first = unicode_tests::point_of(fields[0]);
        const char32_t last = dots == std::string::npos ? first : unicode_tests::point_of(fields[0].substr(dots + 2));
        for (char32_t c = first; c <= last; ++c) expected[c] = unicode_tests::text_of(fields[2]);
    }
    if (expected.empty())
        WARN("DerivedNormalizationProps.txt is not installed (package unicode-data)");
    else
        CHECK(expected.size() > 10000);
    CHECK((expected.empty() || expected[0x130] == "i\u0307"));
    expected[0x130] = "i";
    std::size_t wrong = 0;
    for (char32_t c = 0; c < 0x20000 && expected.size() > 1; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        const std::string text = unicode_tests::encoded(c);
        const auto line = expected.find(c);
        if (caseless(text) != (line == expected.end() ? text : line->second) && ++wrong == 1)
            UNSCOPED_INFO(std::to_string(c));
    }
    CHECK(wrong == 0);
}

TEST_CASE("the caseless form of a caseless form is itself, and of equivalent texts is the same") {
    const std::vector<std::string> pieces = {"a",      "I",      "\u0307", "\u0130", "\u0131", "\u0345",
                                             "\u0301", "\u03B1", "\u1FB4", "\u1E9E", "\u0390", "\uFB13",
                                             "\u00AD", "\u200D", "\uFE0F", "\u2126", "\uFF76", "\uFF9E",
                                             "\u1100", "\u1161", "\u24B6", "\xFF",   "1",      "\u0323"};
    std::mt19937 random(5);
    std::size_t wrong = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (std::size_t n = random() % 8; n > 0; --n) text += pieces[random() % pieces.size()];
        const std::string form = caseless(text);
        const bool same = form == caseless(form) && form == caseless(normalized(text, normal_form::nfc)) &&
                          form == caseless(normalized(text, normal_form::nfkc));
        if (!same && ++wrong == 1) UNSCOPED_INFO(text << " became " << form << " and then " << caseless(form));
    }
    CHECK(wrong == 0);
}
