#include "quarry/text/sentences.hpp"

#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/growth.hpp"
#include "support/unicode_tests.hpp"

using namespace quarry;
using namespace unicode_tests;

namespace {

using strings = std::vector<std::string>;

strings cut(std::string_view text, sentence_options options = {}) {
    strings out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = sentence_end(text, at, options);
        out.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

constexpr sentence_options as_unicode{.wrapped = false, .abbreviations = false, .brackets = false};

// The rules of UAX 29, 5.1, one by one, over code points of which each class has one. The dull twin of sentence_end.
namespace twin {

const std::u32string sample = U"\r\n\u0085\u0308\u00AD a A\u05D01.,?)";
const std::u32string ignored = U"\u0308\u00AD", paragraph = U"\r\n\u0085", marks = U".?";

bool is(char32_t c, const std::u32string& set) { return set.find(c) != std::u32string::npos; }

bool boundary(const std::u32string& points, std::size_t at) {
    if (at == 0 || at == points.size()) return true;                 // SB1, SB2
    if (points[at - 1] == '\r' && points[at] == '\n') return false;  // SB3
    if (is(points[at - 1], paragraph)) return true;                  // SB4
    if (is(points[at], ignored)) return false;                       // SB5
    std::u32string left, right;  // what is not ignored on both sides; the first of a paragraph never is
    for (std::size_t i = 0; i < at; ++i)
        if (!is(points[i], ignored) || i == 0 || is(points[i - 1], paragraph)) left += points[i];
    for (std::size_t i = at; i < points.size(); ++i)
        if (!is(points[i], ignored) || is(points[i - 1], paragraph)) right += points[i];
    const auto letter = [](char32_t c) { return c == 'a' || c == 'A' || c == 0x05D0; };
    const char32_t next = right[0];
    if (left.back() == '.' && next == '1') return false;  // SB6
    if (left.size() > 1 && left.back() == '.' && (left[left.size() - 2] == 'a' || left[left.size() - 2] == 'A') &&
        next == 'A')
        return false;  // SB7
    // SATerm Close* Sp* before, and how much of Close* Sp* there is.
    std::size_t i = left.size();
    while (i > 0 && left[i - 1] == ' ') --i;
    const bool spaces = i != left.size();
    while (i > 0 && left[i - 1] == ')') --i;
    const char32_t mark = i > 0 ? left[i - 1] : 0;
    if (!is(mark, marks) || mark == 0) return false;  // SB998
    if (mark == '.') {                                // SB8
        std::size_t j = 0;
        while (j < right.size() && !letter(right[j]) && !is(right[j], paragraph) && !is(right[j], marks)) ++j;
        if (j < right.size() && right[j] == 'a') return false;
    }
    if (next == ',' || is(next, marks)) return false;                                  // SB8a
    if (!spaces && (next == ')' || next == ' ' || is(next, paragraph))) return false;  // SB9
    if (next == ' ' || is(next, paragraph)) return false;                              // SB10
    return true;                                                                       // SB11
}

}  // namespace twin

}  // namespace

TEST_CASE("without its departures a sentence ends where the rules of UAX 29 say") {
    const auto lines = lines_of(QUARRY_UNICODE_DIR "/auxiliary/SentenceBreakTest.txt");
    if (lines.empty())
        WARN("SentenceBreakTest.txt is not installed (package unicode-data)");
    else
        CHECK(lines.size() > 400);
    std::size_t wrong = 0;
    for (const std::string& line : lines) {
        const cut_line expected = parsed_cuts(line);
        if (cut(expected.text(), as_unicode) != expected.pieces && ++wrong == 1) UNSCOPED_INFO(line);
    }
    CHECK(wrong == 0);

    std::mt19937 random(17);
    wrong = 0;
    for (int round = 0; round < 30000; ++round) {
        std::u32string points;
        for (std::size_t n = 1 + random() % 10; n > 0; --n) points += twin::sample[random() % twin::sample.size()];
        std::string text;
        strings expected;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (twin::boundary(points, i)) expected.emplace_back();
            expected.back() += encoded(points[i]);
            text += encoded(points[i]);
        }
        if (cut(text, as_unicode) != expected && ++wrong == 1) {
            std::string shown;
            for (const char32_t c : points) shown += std::to_string(static_cast<unsigned>(c)) + ' ';
            UNSCOPED_INFO(shown);
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("numbers, abbreviations and initials do not end a sentence") {
    CHECK(cut("It is 3.3 metres. Next.") == strings{"It is 3.3 metres. ", "Next."});
    CHECK(cut("Fruit, e.g. Apples, i.e. Food.") == strings{"Fruit, e.g. Apples, i.e. Food."});
    CHECK(cut("Ask Dr. Smith. He knows.") == strings{"Ask Dr. Smith. ", "He knows."});
    CHECK(cut("By J. R. Smith et al. Press, see Fig. A. End.") ==
          strings{"By J. R. Smith et al. Press, see Fig. A. End."});
    CHECK(cut("So did I. You too.") == strings{"So did I. ", "You too."});
    CHECK(cut("Das gilt z.B. Sonntags. Sonst nicht.") == strings{"Das gilt z.B. Sonntags. ", "Sonst nicht."});
    CHECK(cut("Ask Dr. Smith.", {.abbreviations = false}) == strings{"Ask Dr. ", "Smith."});
    CHECK(cut("See node.js and C# 3.3.") == strings{"See node.js and C# 3.3."});
}

TEST_CASE("quotes and brackets close with their sentence, and a lower-case letter goes on with it") {
    CHECK(cut("\"Stop!\" he said. (Why?) \"Because.\" Then") ==
          strings{"\"Stop!\" ", "he said. ", "(Why?) ", "\"Because.\" ", "Then"});
    CHECK(cut("Wait... what? Yes.") == strings{"Wait... what? ", "Yes."});
    CHECK(cut("What?! No.") == strings{"What?! ", "No."});
}

TEST_CASE("the full stops of Chinese and Japanese end a sentence at once") {
    CHECK(cut("今天下雨。我在家。") == strings{"今天下雨。", "我在家。"});
    CHECK(cut("雨ですか？「はい。」そうです") == strings{"雨ですか？", "「はい。」", "そうです"});
    CHECK(cut("हाँ। नहीं।") == strings{"हाँ। ", "नहीं।"});
}

TEST_CASE("wrapped lines are one sentence, blank lines and lists are not") {
    CHECK(cut("This is\nwrapped. And\r\nthis too.") == strings{"This is\nwrapped. ", "And\r\nthis too."});
    CHECK(cut("One\n\nTwo") == strings{"One\n\n", "Two"});
    CHECK(cut("One\r\n \t\r\n  Two") == strings{"One\r\n \t\r\n", "  Two"});
    CHECK(cut("Items:\n- one\n- two\n1. three\n* four") ==
          strings{"Items:\n", "- one\n", "- two\n", "1. three\n", "* four"});
    CHECK(cut("Text\n# Heading\nText") == strings{"Text\n", "# Heading\nText"});
    CHECK(cut("a\n|x|y|\n|1|2|") == strings{"a\n", "|x|y|\n", "|1|2|"});
    CHECK(cut("a -\nb 1.5\nc") == strings{"a -\nb 1.5\nc"});
    CHECK(cut("a\nb", as_unicode) == strings{"a\n", "b"});
}

TEST_CASE("departures only take ends away, but for blocks: what is left are ends by the rules") {
    std::mt19937 random(23);
    const strings pieces = {"Dr.", "a", "A", " ", ".", "?", "\n", "1", ")", "e.g.", "。", "B.", "-", "x"};
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (std::size_t n = random() % 14; n > 0; --n) text += pieces[random() % pieces.size()];
        std::vector<bool> by_rules(text.size() + 1);
        for (std::size_t at = 0; at < text.size(); by_rules[at] = true) at = sentence_end(text, at, as_unicode);
        bool subset = true;
        for (std::size_t at = 0; at < text.size();) {
            at = sentence_end(text, at, {.wrapped = false, .brackets = false});
            subset = subset && by_rules[at];
        }
        INFO(text);
        CHECK(subset);
    }
}

TEST_CASE("time to find sentences grows with the text and not faster") {
    for (const std::string piece : {"a", ".", ". ", ".)", ".1", "\n", "\n ", "a.\u0301", "1) ", "Dr. ", "?", ". 1"}) {
        INFO(piece);
        const double ratio = growth(
            [&](std::size_t n) {
                std::string text;
                for (std::size_t i = 0; i < n; ++i) text += piece;
                return cut(text).size();
            },
            1000);
        CHECK(ratio <= 2.5);
    }
}
