#include "quarry/text/normalize.hpp"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/unicode_tests.hpp"

using namespace quarry;
using unicode_tests::lines_of;
using unicode_tests::split;
using unicode_tests::text_of;

namespace {

std::string nfc(std::string_view text) { return normalized(text, normal_form::nfc); }
std::string nfkc(std::string_view text) { return normalized(text, normal_form::nfkc); }

struct held_piece {
    std::string normal;
    std::size_t begin, end;
    bool as_is;
};

std::vector<held_piece> pieces_of(std::string_view text, normal_form form) {
    std::vector<held_piece> out;
    for_each_normal_piece(text, form, [&](std::string_view normal, std::size_t begin, std::size_t end) {
        out.push_back({std::string(normal), begin, end, normal.data() == text.data() + begin});
    });
    return out;
}

// Columns of a line of NormalizationTest.txt: source, NFC, NFD, NFKC, NFKD.
std::size_t violations(const std::string& line) {
    std::vector<std::string> c;
    for (const std::string& field : split(line, ';')) c.push_back(text_of(field));
    std::size_t wrong = 0;
    for (std::size_t i : {0u, 1u, 2u}) wrong += nfc(c[i]) != c[1];
    for (std::size_t i : {3u, 4u}) wrong += nfc(c[i]) != c[3];
    for (std::size_t i : {0u, 1u, 2u, 3u, 4u}) wrong += nfkc(c[i]) != c[3];
    return wrong;
}

// A text of pieces that normalisation finds hard: letters, marks of several classes, Hangul parts, wide letters, rubbish.
std::string hard_text(std::mt19937& random) {
    static const std::vector<std::string> pieces = {
        "a",      "E",      "\u00E9", "e\u0301", "\u0301", "\u0323", "\u0302", "\u1100",     "\u1161", "\u11A8",
        "\uAC00", "\uFF21", "\uFB01", "\u2460",  "\u0345", "\u03B1", "\u1FB4", "\U0001D15E", "\xFF",   "\xE2\x98",
        " ",      "\u4E2D", "\u0F73", "\u0F71",  "\u0F72", "\u212B", "\u0E33", "\u00AD",     "\u200D"};
    std::string out;
    for (std::size_t n = random() % 12; n > 0; --n) out += pieces[random() % pieces.size()];
    return out;
}

}  // namespace

TEST_CASE("composed and decomposed letters become one, in NFC and in NFKC") {
    CHECK(nfc("fore\u0302t") == "forêt");
    CHECK(nfc("Ko\u0308ln") == "Köln");
    CHECK(nfc("man\u0303ana") == "mañana");
    CHECK(nfc("\u212Bngstrom") == "Ångstrom");
    CHECK(nfc("\uFF21\uFF22\uFF23") == "\uFF21\uFF22\uFF23");
    CHECK(nfkc("\uFF21\uFF22\uFF23 \uFB01t \u2460 \u00BD") == "ABC fit 1 1\u20442");
}

TEST_CASE("every line of NormalizationTest.txt holds") {
    // Lines of our own for where the file is not installed: canonical order, composition over a mark of a lower class,
    // a composition exclusion, Hangul, a mark that is blocked, compatibility.
    for (const std::string line : {
             "1E0A 0323;1E0C 0307;0044 0323 0307;1E0C 0307;0044 0323 0307",
             "0061 0315 0300 05AE;00E0 05AE 0315;0061 05AE 0300 0315;00E0 05AE 0315;0061 05AE 0300 0315",
             "0958;0915 093C;0915 093C;0915 093C;0915 093C",
             "AC01;AC01;1100 1161 11A8;AC01;1100 1161 11A8",
             "1100 AC00 11A8;1100 AC01;1100 1100 1161 11A8;1100 AC01;1100 1100 1161 11A8",
             "0061 0328 0301 0301;0105 0301 0301;0061 0328 0301 0301;0105 0301 0301;0061 0328 0301 0301",
             "FB03;FB03;FB03;0066 0066 0069;0066 0066 0069",
         }) {
        INFO(line);
        CHECK(violations(line) == 0);
    }
    const auto lines = lines_of(QUARRY_NORMALIZATION_TEST);
    if (lines.empty())
        WARN("NormalizationTest.txt is not installed (packages unicode-data and bzip2)");
    else
        CHECK(lines.size() > 18000);
    std::set<std::string> listed;  // code points that part 1 tests: all others are their own normal forms
    std::size_t wrong = 0;
    bool part1 = false;
    for (const std::string& line : lines) {
        if (line[0] == '@') {
            part1 = line.starts_with("@Part1");
            continue;
        }
        if (part1) listed.insert(text_of(split(line, ';')[0]));
        if (violations(line) != 0 && ++wrong == 1) UNSCOPED_INFO(line);
    }
    CHECK(wrong == 0);
    // All others, a line each, many to a text: a line end attaches to nothing. Of the planes above the second a sample.
    std::size_t changed = 0;
    std::string others;
    for (char32_t c = 0; !lines.empty() && c <= 0x10FFFF; ++c) {
        const bool left_out = (c >= 0xD800 && c <= 0xDFFF) || (c >= 0x20000 && c % 61 != 0);
        const std::string text = left_out ? std::string() : unicode_tests::encoded(c);
        if (!left_out && !listed.contains(text)) others += '\n' + text;
        if (c % 0x8000 != 0x7FFF) continue;
        changed += nfc(others) != others || nfkc(others) != others;
        others.clear();
    }
    CHECK(changed == 0);
}

TEST_CASE("pieces tile the text, and those that are as they were point into it") {
    std::mt19937 random(11);
    for (int round = 0; round < 3000; ++round) {
        const std::string text = hard_text(random);
        for (const normal_form form : {normal_form::nfc, normal_form::nfkc}) {
            std::size_t last = 0;
            bool sound = true;
            std::string all;
            for (const held_piece& p : pieces_of(text, form)) {
                sound = sound && p.begin == last && p.end > p.begin;
                if (p.as_is) sound = sound && p.normal == text.substr(p.begin, p.end - p.begin);
                last = p.end;
                all += p.normal;
                // A piece by itself has the normal form that it has in the text.
                sound = sound && normalized(std::string_view(text).substr(p.begin, p.end - p.begin), form) == p.normal;
            }
            INFO(text);
            CHECK((sound && last == text.size()));
            CHECK(all == normalized(text, form));
            CHECK(normalized(all, form) == all);  // normal forms are stable
        }
    }
}

TEST_CASE("bytes that are not UTF-8 become U+FFFD, one a maximal part, and marks behind them stay") {
    CHECK(nfc("ab\xC3\x28"
              "cd") == "ab\uFFFD(cd");
    CHECK(nfc("\xFF\xFE needle") == "\uFFFD\uFFFD needle");
    CHECK(nfc("e\xFF\u0301") == "e\uFFFD\u0301");
    CHECK(nfkc("end \xF0\x9F\x98") == "end \uFFFD");
    CHECK(nfc("\uFFFD") == "\uFFFD");
}

TEST_CASE("a stretch of the normal form names the bytes of the original that it came from") {
    //                          0123 4    6      9     12
    const std::string original = "the e\u0301te\u0301 \uFB01t";  // the é té ﬁt: é decomposed, fi a ligature
    const normalized_text text(original, normal_form::nfkc);
    CHECK(text.text() == "the été fit");
    const auto came_from = [&](std::string_view part) {
        const std::size_t at = text.text().find(part);
        const byte_span span = text.original({at, at + part.size()});
        return original.substr(span.begin, span.size());
    };
    CHECK(came_from("the") == "the");
    CHECK(came_from("h") == "h");
    CHECK(came_from("été") == "e\u0301te\u0301");
    CHECK(came_from("é ") == "e\u0301 ");
    CHECK(came_from("fit") == "\uFB01t");
    CHECK(came_from("i") == "\uFB01");  // half a ligature is the ligature
    CHECK(came_from("t") == "t");
    CHECK(text.original({0, text.text().size()}) == byte_span{0, original.size()});
    CHECK(text.original({text.text().size(), text.text().size()}) == byte_span{original.size(), original.size()});
    CHECK(normalized_text("", normal_form::nfc).original({0, 0}) == byte_span{0, 0});
}
