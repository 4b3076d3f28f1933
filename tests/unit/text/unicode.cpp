#include "quarry/text/unicode.hpp"

#include <map>
#include <string>

#include "quarry/text/normalize.hpp"
#include "support/catch.hpp"
#include "support/unicode_tests.hpp"

using namespace quarry;
using unicode_tests::lines_of;
using unicode_tests::split;
using unicode_tests::text_of;

TEST_CASE("folding takes case away, ASCII or not") {
    CHECK(case_folded("HTTP Server") == "http server");
    CHECK(case_folded("STRASSE") == case_folded("straße"));
    CHECK(case_folded("ΟΔΟΣ") == case_folded("οδος"));
    CHECK(case_folded("οδος") == case_folded("οδοσ"));
    CHECK(case_folded("ЖУК") == "жук");
    CHECK(case_folded("\uFB03") == "ffi");
    CHECK(case_folded("İstanbul") == "i\u0307stanbul");
    CHECK(case_folded("ısı") == "ısı");
    CHECK(case_folded("\xC3(") == "\uFFFD(");
}

TEST_CASE("every line of CaseFolding.txt holds, and what has no line folds to itself") {
    std::map<char32_t, std::string> expected;
    for (const std::string& line : lines_of(QUARRY_UNICODE_DIR "/CaseFolding.txt")) {
        const auto fields = split(line, ';');
        if (fields[1] == " C" || fields[1] == " F") expected[unicode_tests::point_of(fields[0])] = text_of(fields[2]);
    }
    if (expected.empty())
        WARN("CaseFolding.txt is not installed (package unicode-data)");
    else
        CHECK(expected.size() > 1500);
    std::size_t wrong = 0, unstable = 0;
    std::string text, folded;
    // Every code point of the planes that hold scripts, and a sample of the empty ones.
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if ((c < 0xD800 || c > 0xDFFF) && (c < 0x20000 || c % 61 == 0)) {
            const auto line = expected.find(c);
            encode(c, text);
            folded += line == expected.end() ? unicode_tests::encoded(c) : line->second;
        }
        if (c % 0x1000 != 0xFFF) continue;
        const std::string ours = case_folded(text);
        if (!expected.empty() && ours != folded && ++wrong == 1) UNSCOPED_INFO("below " + std::to_string(c));
        unstable += case_folded(ours) != ours;
        text.clear();
        folded.clear();
    }
    CHECK(wrong == 0);
    CHECK(unstable == 0);
}

TEST_CASE("the version of the tables is one that Unicode has published") {
    CHECK(unicode_version.size() >= 6);
    CHECK(unicode_version >= "15.0.0");
}
