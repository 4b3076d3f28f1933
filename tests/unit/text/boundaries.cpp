#include "quarry/text/boundaries.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

std::vector<std::string> sentences(std::string_view text) {
    std::vector<std::string> out;
    for_each_sentence(text, [&](std::size_t begin, std::size_t end) { out.emplace_back(text.substr(begin, end - begin)); });
    return out;
}

using found = std::vector<std::string>;

}  // namespace

TEST_CASE("sentences end at full stops, question marks and exclamation marks before white space") {
    CHECK(sentences("One. Two? Three! Four") == found{"One. ", "Two? ", "Three! ", "Four"});
    CHECK(sentences("He said \"stop.\" Then (quietly.) left") == found{"He said \"stop.\" ", "Then (quietly.) left"});
    CHECK(sentences("Wait... what? Yes.") == found{"Wait... what? ", "Yes."});
    CHECK(sentences("\u4F60\u597D\u3002\u518D\u89C1\uFF01") == found{"\u4F60\u597D\u3002", "\u518D\u89C1\uFF01"});
    CHECK(sentences("") == found{});
}

TEST_CASE("a full stop in a number, an initial or an abbreviation ends no sentence") {
    CHECK(sentences("Version 3.3 is out. Dr. Who and J. Smith came, e.g. Today.") ==
          found{"Version 3.3 is out. ", "Dr. Who and J. Smith came, e.g. Today."});
    CHECK(sentences("so did I. Then it ended") == found{"so did I. ", "Then it ended"});
    CHECK(sentences("at 5 p.m. we met") == found{"at 5 p.m. we met"});
}

TEST_CASE("blank lines, and lines that open something, end what stood before") {
    CHECK(sentences("Title\n\nText\nof two lines") == found{"Title\n\n", "Text\nof two lines"});
    CHECK(sentences("Try:\n- one\n- two\n1. three\n# four") == found{"Try:\n", "- one\n", "- two\n", "1. three\n", "# four"});
    CHECK(sentences("\n\nText") == found{"\n\nText"});
}

TEST_CASE("sentences tile the text, whatever it is") {
    std::uint32_t seed = 23;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {".", "! ", "? ", " ", "\n", "\r\n", "a", "B", "Dr", "\u3002", "\xE3\x80", "\xFF", "\"", ")", "- ", "1. ", "#", "..."};
    for (int round = 0; round < 4000; ++round) {
        std::string text, joined;
        for (std::uint32_t i = 0; i < random(25); ++i) text += pieces[random(std::size(pieces))];
        CAPTURE(text);
        for (const std::string& s : sentences(text)) {
            CHECK_FALSE(s.empty());
            joined += s;
        }
        CHECK(joined == text);
    }
}

TEST_CASE("a text is never cut inside a code point") {
    const std::string_view text = "a\u00E4\u6F22\U0001F600z";  // at 0, 1, 3, 6, 10
    const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    for (std::size_t i = 0; i < std::size(expected); ++i) CHECK(code_point_boundary(text, i) == expected[i]);
    CHECK(code_point_boundary(text, 99) == text.size());
    CHECK(code_point_boundary("\x80\x80\x80\x80\x80", 4) == 4);  // no code point begins here
    CHECK(code_point_boundary("\xE6\xBC", 1) == 0);              // a code point cut short is one piece
    CHECK(code_point_boundary("", 0) == 0);
}

TEST_CASE("finding sentences takes linear time, whatever the text is") {
    for (const std::string_view piece : {".", ". ", "\n", "\n ", "a.", "J. ", ".\"", "\"", " ", "1", "\xE3", "e.g."}) {
        CAPTURE(piece);
        const auto read = [&](std::size_t n) {
            std::string text;
            while (text.size() < n) text += piece;
            return sentences(text).size();
        };
        CHECK(read(1000) <= 1000);
        CHECK(growth(read, 3000) <= 2.8);
    }
}
