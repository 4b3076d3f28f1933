#include "quarry/answer/snippet.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/growth.hpp"
#include "support/words.hpp"

using namespace quarry;

namespace {

std::string cut(std::string_view text, std::string_view question, std::size_t length) {
    return std::string(snippet(text, question, english(), {.length = length}).text(text));
}

std::vector<std::string> matched(std::string_view text, const passage& p) {
    std::vector<std::string> out;
    for (const matched_term& m : p.matches) out.emplace_back(text.substr(m.span.begin, m.span.size()));
    return out;
}

using found = std::vector<std::string>;

constexpr std::string_view manual =
    "# Valves\n\nThe valve is white. Hold its button for five seconds. The valves blink while pairing the hub. "
    "Replace the batteries once a year.\n\n## Noise\n\nA valve may click.";

}  // namespace

TEST_CASE("the passage with the most different words of the question wins, and begins and ends with a sentence") {
    CHECK(cut(manual, "how do I pair the valve with my hub?", 60) == "The valves blink while pairing the hub.");
    CHECK(cut(manual, "battery", 60) == "Replace the batteries once a year.");
    CHECK(cut(manual, "valve noise click", 60) == "## Noise\n\nA valve may click.");
}

TEST_CASE("matched words are given with the analyzer's term and their bytes") {
    const passage p = snippet(manual, "pairing a valve", english(), {.length = 60});
    CHECK(matched(manual, p) == found{"valves", "pairing"});
    CHECK(p.matches[0].term == "valv");  // Porter's stem of valve
    CHECK(p.matches[1].term == "pair");
    CHECK_FALSE(p.begins_early);
    CHECK_FALSE(p.ends_early);
}

TEST_CASE("of passages with the same words, the one that says them more often wins, then the first") {
    const std::string_view text = "Red one. Aaaa bbbb cccc dddd. Red red two. Eeee ffff gggg hhhh. Red red three.";
    CHECK(cut(text, "red", 14) == "Red red two.");
    CHECK(cut("Red one. Xxxxxxxxxxxxxxxxxxxxxxxxxx. Red two.", "red", 9) == "Red one.");
}

TEST_CASE("a text without any word of the question gives its beginning, and stop words do not decide") {
    CHECK(cut(manual, "unrelated", 40) == "# Valves\n\nThe valve is white.");
    CHECK(cut(manual, "", 40) == "# Valves\n\nThe valve is white.");
    CHECK(cut("Alpha beta. The end of it.", "the alpha", 12) == "Alpha beta.");
    CHECK(cut("Alpha beta. The end of it.", "the", 14) == "The end of it.");  // nothing else was asked
    CHECK(cut("", "word", 40).empty());
}

TEST_CASE("what does not fit is cut between words, and says so") {
    const std::string_view text = "one two three four five six seven eight nine ten eleven twelve";
    const passage middle = snippet(text, "six", english(), {.length = 20});
    // "six" leaves 17 bytes; the first word within eight of them before it is "five", and from there 20 reach to "eight".
    CHECK(middle.text(text) == "five six seven eight");
    CHECK(middle.begins_early);
    CHECK(middle.ends_early);
    const passage front = snippet(text, "two", english(), {.length = 20});
    CHECK(front.text(text) == "one two three four");
    CHECK_FALSE(front.begins_early);
    CHECK(front.ends_early);
    const passage back = snippet(text, "twelve", english(), {.length = 19});
    CHECK(back.text(text) == "twelve");  // "eleven " would take seven of the six bytes before it
    CHECK(back.begins_early);
    CHECK_FALSE(back.ends_early);
}

TEST_CASE("where a word is longer than the passage, it is cut between code points") {
    const std::string word = "\u00E4\u00E4\u00E4\u00E4";
    CHECK(cut(word, "x", 5) == "\u00E4\u00E4");
    CHECK(cut(word, word, 5) == "\u00E4\u00E4");
    CHECK(cut("word", "word", 0).empty());
    const std::string chinese = "\u6F22\u5B57\u6F22\u5B57\u6F22";
    CHECK(cut(chinese, "\u5B57", 8).size() == 6);
}

TEST_CASE("a unit is cut by the query's text, its required words and its phrases") {
    corpus c;
    const unit_id unit = c.add({.id = "m", .title = "", .text = std::string(manual)});
    const passage p = snippet(c[unit], query("the hub").require("button").phrase("five seconds"), english(), {.length = 40});
    CHECK(p.text(c.text(unit)) == "Hold its button for five seconds.");
}

TEST_CASE("the window is the best there is, against looking at all of them") {
    const analyzer words = toy::whitespace();
    std::uint32_t seed = 43;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    for (int round = 0; round < 1500; ++round) {
        std::string text;
        for (std::uint32_t i = 0; i < 1 + random(30); ++i) text += std::string(1, static_cast<char>('a' + random(8))) + ' ';
        const std::size_t length = 1 + random(20);
        const std::string_view question = "a b c";
        CAPTURE(text, length);
        const passage p = snippet(text, question, words, {.length = length});
        // Letters stand at even places: a window from any of them to any other, if it is no longer than it may be.
        std::pair<std::size_t, std::size_t> best{0, 0};
        for (std::size_t from = 0; from < text.size(); from += 2) {
            std::string seen;
            std::size_t times = 0;
            for (std::size_t to = from; to < text.size() && to + 1 - from <= length; to += 2) {
                if (question.find(text[to]) == std::string_view::npos) continue;
                ++times;
                if (seen.find(text[to]) == std::string::npos) seen += text[to];
                best = (std::max)(best, std::pair(seen.size(), times));
            }
        }
        std::string seen;
        for (const matched_term& m : p.matches)
            if (seen.find(m.term) == std::string::npos) seen += m.term;
        CHECK(p.span.size() <= length);
        CHECK(seen.size() >= best.first);
        if (seen.size() == best.first) CHECK(p.matches.size() >= best.second);
        for (const matched_term& m : p.matches) CHECK(text.substr(m.span.begin, m.span.size()) == m.term);
    }
}

TEST_CASE("a passage is never longer than it may be, and cuts no code point, whatever the text is") {
    std::uint32_t seed = 47;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"valve ", "Hub. ", "\n\n", " ", "\u6F22", "\U0001F600", "e\u0301", "- ", "valve", ".", "\u3002"};
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (std::uint32_t i = 0; i < random(40); ++i) text += pieces[random(std::size(pieces))];
        const std::size_t length = random(50);
        const passage p = snippet(text, "valve hub \u6F22", english(), {.length = length});
        CAPTURE(text, length);
        CHECK(p.span.size() <= length);
        CHECK(p.span.end <= text.size());
        CHECK(code_point_boundary(text, p.span.begin) == p.span.begin);
        CHECK(code_point_boundary(text, p.span.end) == p.span.end);
    }
}

TEST_CASE("finding a snippet takes linear time, whatever the text is") {
    for (const std::string_view piece : {"valve ", "valve", "x ", ". ", "\n", "\u6F22", "- valve\n"}) {
        CAPTURE(piece);
        const auto read = [&](std::size_t n) {
            std::string text;
            while (text.size() < n) text += piece;
            return snippet(text, "valve hub", english()).span.size();
        };
        CHECK(read(1000) <= 240);
        CHECK(growth(read, 3000) <= 2.8);
    }
}
