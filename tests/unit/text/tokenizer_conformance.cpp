// Word, grapheme and sentence boundaries against the test files of the Unicode database.
#include <random>
#include <string>
#include <vector>

#include "quarry/text/graphemes.hpp"
#include "quarry/text/tokenizer.hpp"
#include "support/catch.hpp"
#include "support/unicode_tests.hpp"

using namespace quarry;
using namespace unicode_tests;

namespace {

template <class End>
std::vector<std::string> cut(std::string_view text, End end) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = end(text, at);
        out.emplace_back(text.substr(at, next - at));
        at = next;
    }
    return out;
}

// How many lines differ; the first of them is shown.
template <class End>
std::size_t differing(const std::vector<std::string>& lines, End end) {
    std::size_t wrong = 0;
    for (const std::string& line : lines) {
        const cut_line expected = parsed_cuts(line);
        if (cut(expected.text(), end) == expected.pieces) continue;
        if (++wrong == 1) UNSCOPED_INFO(line);
    }
    return wrong;
}

// The rules of UAX 29, 4.1.1, one by one, over code points of which each class has one. The dull twin of word_end.
namespace twin {

const std::u32string sample =
    U"\r\n\u000B\u0308\u200D\u00AD\U0001F1E6\u30A2\u05D0a'\"..:,1_ x\u2019\u4E2D\U0001F469\u24C2";

bool is(char32_t c, const std::u32string& set) { return set.find(c) != std::u32string::npos; }
const std::u32string ignored = U"\u0308\u200D\u00AD", lines = U"\r\n\u000B", ah = U"ax\u05D0\u24C2", hebrew = U"\u05D0";
const std::u32string mid_letter = U":.\u2019'", mid_number = U",.\u2019'", pictures = U"\U0001F469\u24C2";

bool boundary(const std::u32string& t, std::size_t at) {
    if (at == 0 || at == t.size()) return true;                    // WB1, WB2
    if (t[at - 1] == '\r' && t[at] == '\n') return false;          // WB3
    if (is(t[at - 1], lines) || is(t[at], lines)) return true;     // WB3a, WB3b
    if (t[at - 1] == 0x200D && is(t[at], pictures)) return false;  // WB3c
    if (t[at - 1] == ' ' && t[at] == ' ') return false;            // WB3d
    if (is(t[at], ignored)) return false;                          // WB4
    // From here on a class stands for itself and what is ignored behind it; at the beginning there is nothing to ignore.
    const auto before = [&](std::size_t i) -> std::size_t {
        while (i > 0 && is(t[i - 1], ignored) && i > 1 && !is(t[i - 2], lines)) --i;
        return i;  // one past what stands there
    };
    const std::size_t l1 = before(at), l2 = l1 > 0 ? before(l1 - 1) : 0;
    const char32_t left = t[l1 - 1], left2 = l2 > 0 ? t[l2 - 1] : 0, right = t[at];
    std::size_t after = at + 1;
    while (after < t.size() && is(t[after], ignored)) ++after;
    const char32_t right2 = after < t.size() ? t[after] : 0;
    if (is(left, ah) && is(right, ah)) return false;                            // WB5
    if (is(left, ah) && is(right, mid_letter) && is(right2, ah)) return false;  // WB6
    if (is(left2, ah) && is(left, mid_letter) && is(right, ah)) return false;   // WB7
    if (is(left, hebrew) && right == '\'') return false;                        // WB7a
    if (is(left, hebrew) && right == '"' && is(right2, hebrew)) return false;   // WB7b
    if (is(left2, hebrew) && left == '"' && is(right, hebrew)) return false;    // WB7c
    if ((left == '1' || is(left, ah)) && right == '1') return false;            // WB8, WB9
    if (left == '1' && is(right, ah)) return false;                             // WB10
    if (left2 == '1' && is(left, mid_number) && right == '1') return false;     // WB11
    if (left == '1' && is(right, mid_number) && right2 == '1') return false;    // WB12
    if (left == 0x30A2 && right == 0x30A2) return false;                        // WB13
    const auto joined = [](char32_t c) { return is(c, ah) || c == '1' || c == 0x30A2; };
    if ((joined(left) || left == '_') && right == '_') return false;  // WB13a
    if (left == '_' && joined(right)) return false;                   // WB13b
    if (left == 0x1F1E6 && right == 0x1F1E6) {                        // WB15, WB16
        std::size_t flags = 0;
        for (std::size_t i = l1; i > 0 && t[i - 1] == 0x1F1E6; i = before(i - 1)) ++flags;
        return flags % 2 == 0;
    }
    return true;  // WB999
}

}  // namespace twin

const std::string folder = QUARRY_UNICODE_DIR "/auxiliary/";

}  // namespace

TEST_CASE("words end where the rules of UAX 29 say") {
    // One line a rule, of our own, so that the rules are tested where the database is not installed.
    const std::vector<std::string> own = {
        "÷ 000D × 000A ÷",                              // WB3
        "÷ 0061 ÷ 000A ÷ 0308 ÷",                       // WB3a: a mark does not reach over a line end
        "÷ 1F468 × 200D × 1F469 ÷",                     // WB3c
        "÷ 0020 × 0020 ÷ 0061 ÷",                       // WB3d
        "÷ 0061 × 0308 × 0062 ÷",                       // WB4
        "÷ 0061 × 05D0 × 0031 × 0062 ÷",                // WB5, WB9, WB10
        "÷ 0061 × 0027 × 0308 × 0062 ÷ 002E ÷ 002E ÷",  // WB6, WB7, over a mark
        "÷ 0061 ÷ 0027 × 0308 ÷ 0031 ÷",                // no letter follows
        "÷ 05D0 × 0027 ÷ 0020 ÷",                       // WB7a
        "÷ 05D0 × 0022 × 05D1 ÷ 0022 ÷ 0061 ÷",         // WB7b, WB7c
        "÷ 0031 × 002C × 0032 × 002E × 0033 ÷ 002C ÷",  // WB11, WB12
        "÷ 30A2 × 30AB ÷ 3042 ÷ 3042 ÷",                // WB13
        "÷ 0061 × 005F × 0031 × 005F × 30A2 ÷",         // WB13a, WB13b
        "÷ 1F1E6 × 1F1E7 ÷ 1F1E8 × 1F1E9 ÷ 1F1EA ÷",    // WB15, WB16
        "÷ 4E2D ÷ 56FD ÷",                              // WB999
    };
    CHECK(differing(own, word_end) == 0);
    const auto lines = lines_of(folder + "WordBreakTest.txt");
    if (lines.empty())
        WARN("WordBreakTest.txt is not installed (package unicode-data)");
    else
        CHECK(lines.size() > 1000);
    CHECK(differing(lines, word_end) == 0);
}

TEST_CASE("graphemes end where the rules of UAX 29 say") {
    const std::vector<std::string> own = {
        "÷ 000D × 000A ÷ 0308 ÷",                       // GB3 to GB5
        "÷ 1100 × 1161 × 11A8 ÷ 1100 ÷",                // GB6 to GB8
        "÷ AC00 × 11A8 × 11A8 ÷ AC01 × 11A8 ÷ 1161 ÷",  // an LV takes a T, an LVT no V
        "÷ 0061 × 0308 × 200D ÷ 0062 ÷",                // GB9
        "÷ 0E01 × 0E33 ÷ 0E01 ÷",                       // GB9a
        "÷ 0600 × 0031 ÷ 0031 ÷",                       // GB9b
        "÷ 1F468 × 0308 × 200D × 1F469 ÷ 1F469 ÷",      // GB11
        "÷ 0061 × 200D ÷ 1F469 ÷",                      // no pictograph before
        "÷ 1F1E6 × 1F1E7 ÷ 1F1E8 ÷",                    // GB12, GB13
    };
    CHECK(differing(own, grapheme_end) == 0);
    const auto lines = lines_of(folder + "GraphemeBreakTest.txt");
    if (lines.empty())
        WARN("GraphemeBreakTest.txt is not installed (package unicode-data)");
    else
        CHECK(lines.size() > 500);
    CHECK(differing(lines, grapheme_end) == 0);
}

TEST_CASE("words end where the rules say one by one, on random mixtures of all classes") {
    std::mt19937 random(29);
    std::size_t wrong = 0;
    for (int round = 0; round < 20000; ++round) {
        std::u32string points;
        for (std::size_t n = 1 + random() % 10; n > 0; --n) points += twin::sample[random() % twin::sample.size()];
        std::string text;
        std::vector<std::string> expected;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (twin::boundary(points, i)) expected.emplace_back();
            expected.back() += encoded(points[i]);
            text += encoded(points[i]);
        }
        if (cut(text, word_end) != expected && ++wrong == 1) UNSCOPED_INFO(text);
    }
    CHECK(wrong == 0);
}
