#include "quarry/text/chunker.hpp"

#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

using strings = std::vector<std::string>;

// A counter for hand calculation: one token a word, where a word is what stands between blanks.
struct words {
    std::size_t operator()(std::string_view text) const {
        std::size_t count = 0;
        bool inside = false;
        for (const char c : text) {
            const bool blank = detail::is_ascii_space(c);
            count += !blank && !inside;
            inside = !blank;
        }
        return count;
    }
};

template <class Counter = words>
std::vector<text_chunk> chunks_of(std::string_view text, chunk_options options, std::span<const heading> headings = {},
                                  Counter counter = {}) {
    return chunker(options, counter)(text, headings);
}

strings own(std::string_view text, const std::vector<text_chunk>& chunks) {
    strings out;
    for (const text_chunk& c : chunks) out.emplace_back(text.substr(c.own.begin, c.own.size()));
    return out;
}
strings spans(std::string_view text, const std::vector<text_chunk>& chunks) {
    strings out;
    for (const text_chunk& c : chunks) out.emplace_back(text.substr(c.span.begin, c.span.size()));
    return out;
}

// Headings of lines that begin with #, with their spans: enough of Markdown for these tests.
std::vector<heading> marked_headings(std::string_view text) {
    std::vector<heading> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::size_t level = 0;
        while (at + level < end && text[at + level] == '#') ++level;
        if (level > 0)
            out.push_back({std::string(detail::trimmed(text.substr(at + level, end - at - level))),
                           static_cast<int>(level),
                           {at, end}});
        at = end + 1;
    }
    return out;
}

// What every list of chunks must be, whatever was cut.
template <class Counter>
std::string violation(std::string_view text, const std::vector<text_chunk>& chunks, chunk_options options,
                      const Counter& counter) {
    std::size_t last = 0;
    for (const text_chunk& c : chunks) {
        if (c.own.begin != last || c.own.end <= c.own.begin) return "the own parts do not tile";
        if (c.span.begin > c.own.begin || c.span.end != c.own.end)
            return "the span is not the own part with something before";
        if (c.tokens != static_cast<std::size_t>(counter(text.substr(c.span.begin, c.span.size()))))
            return "wrong count";
        const std::size_t repeated =
            static_cast<std::size_t>(counter(text.substr(c.span.begin, c.own.begin - c.span.begin)));
        if (repeated > options.overlap_tokens) return "too much is repeated";
        const bool one_character = grapheme_end(text, c.span.begin) == c.span.end;
        if (c.tokens > options.most_tokens && !one_character) return "over the budget";
        if ((static_cast<unsigned char>(text[c.own.begin]) & 0xC0) == 0x80 &&
            decode(text.substr(c.own.begin)).value != 0xFFFD)
            return "a code point is cut";
        last = c.own.end;
    }
    return last == text.size() ? "" : "the end is lost";
}

}  // namespace

TEST_CASE("what fits is one chunk, and nothing is none") {
    CHECK(chunks_of("", {}).empty());
    const std::string text = "  One two.\n\nThree.\n ";
    const auto chunks = chunks_of(text, {.most_tokens = 10});
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].own == byte_span{0, text.size()});
    CHECK(chunks[0].span == chunks[0].own);
    CHECK(chunks[0].tokens == 3);
    CHECK(chunks[0].path.empty());
}

TEST_CASE("paragraphs stay whole where they fit, with the blank lines behind them") {
    const std::string text = "a b c\nd\n\ne f g\n\n\nh i\n\nj k l m n o\n";
    // Budget 6: the first has 4, the second 3, so they do not go together, but the second and the third do.
    CHECK(own(text, chunks_of(text, {.most_tokens = 6})) ==
          strings{"a b c\nd\n\n", "e f g\n\n\nh i\n\n", "j k l m n o\n"});
}

TEST_CASE("a paragraph too long for a chunk is cut between sentences, one too long between words") {
    const std::string text = "One two. Three four five. Six.";
    CHECK(own(text, chunks_of(text, {.most_tokens = 4})) == strings{"One two. ", "Three four five. Six."});
    CHECK(own(text, chunks_of(text, {.most_tokens = 2})) == strings{"One two. ", "Three four ", "five. Six."});
    const std::string dotted = "It is 3.3 m, e.g. Dr. Smith said. Then no.";
    CHECK(own(dotted, chunks_of(dotted, {.most_tokens = 9})) ==
          strings{"It is 3.3 m, e.g. Dr. Smith said. ", "Then no."});
}

TEST_CASE("a word too long for a chunk is cut between characters") {
    const auto bytes = [](std::string_view text) { return text.size(); };
    const std::string text = "abcdefgh ij";
    CHECK(own(text, chunks_of(text, {.most_tokens = 3}, {}, bytes)) == strings{"abc", "def", "gh ", "ij"});
    // Never inside a character: three bytes of two characters do not fit into four, and one alone is over a budget of 1.
    const std::string chinese = "检索词";
    CHECK(own(chinese, chunks_of(chinese, {.most_tokens = 4}, {}, bytes)) == strings{"检", "索", "词"});
    CHECK(own(chinese, chunks_of(chinese, {.most_tokens = 1}, {}, bytes)) == strings{"检", "索", "词"});
    CHECK(own("e\u0301e\u0301", chunks_of("e\u0301e\u0301", {.most_tokens = 4}, {}, bytes)) ==
          strings{"e\u0301", "e\u0301"});
}

TEST_CASE("Chinese sentences are whole too, by the estimate that counts a token a character") {
    const std::string text = "今天下雨。我在家看书。明天去学校。";
    CHECK(own(text, chunks_of(text, {.most_tokens = 12}, {}, approximate_tokens{})) ==
          strings{"今天下雨。我在家看书。", "明天去学校。"});
}

TEST_CASE("a heading begins a chunk, and headings above one another stay together") {
    const std::string text = "# Guide\n## Install\nGet it.\n## Use\nRun it. Stop it.\n# Help\nAsk.\n";
    const auto headings = marked_headings(text);
    const auto chunks = chunks_of(text, {.most_tokens = 20}, headings);
    CHECK(own(text, chunks) ==
          strings{"# Guide\n## Install\nGet it.\n", "## Use\nRun it. Stop it.\n", "# Help\nAsk.\n"});
    CHECK(chunks[0].path == "Guide > Install");
    CHECK(chunks[1].path == "Guide > Use");
    CHECK(chunks[2].path == "Help");
    const auto merged = chunks_of(text, {.most_tokens = 20, .by_heading = false}, headings);
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].path == "Guide > Install");  // where its words begin
}

TEST_CASE("every part of a long section has the path of its headings") {
    const std::string text = "# Guide\n\nOne two.\n\n## Install\n\nThree four five. Six seven eight. Nine.\n\n## End\n";
    const auto chunks = chunks_of(text, {.most_tokens = 5}, marked_headings(text));
    CHECK(own(text, chunks) == strings{"# Guide\n\nOne two.\n\n", "## Install\n\nThree four five. ",
                                       "Six seven eight. Nine.\n\n", "## End\n"});
    CHECK(chunks[0].path == "Guide");
    CHECK(chunks[1].path == "Guide > Install");
    CHECK(chunks[2].path == "Guide > Install");
    CHECK(chunks[3].path == "Guide > End");
}

TEST_CASE("a heading is not left alone because its paragraph would fit a chunk of its own") {
    const std::string text = "# H\n\nA b c. D e f.\n";
    // Heading 2, paragraph 6, budget 6: cut in the paragraph rather than behind the heading.
    CHECK(own(text, chunks_of(text, {.most_tokens = 6}, marked_headings(text))) ==
          strings{"# H\n\nA b c. ", "D e f.\n"});
}

TEST_CASE("headings without a span, or beyond the text, are ignored") {
    const std::vector<heading> headings = {{"Nowhere", 1, {}}, {"Beyond", 1, {100, 110}}};
    const auto chunks = chunks_of("a b", {}, headings);
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].path.empty());
}

TEST_CASE("what is repeated are whole sentences of the chunk before, within both budgets") {
    const std::string text = "A b c. D e. F g h. I j.";
    const auto chunks = chunks_of(text, {.most_tokens = 6, .overlap_tokens = 2});
    CHECK(own(text, chunks) == strings{"A b c. D e. ", "F g h. ", "I j."});
    CHECK(spans(text, chunks) == strings{"A b c. D e. ", "D e. F g h. ", "I j."});
    // The third repeats nothing: F g h. is longer than two words. Nothing is repeated across a heading either.
    const std::string headed = "a. b.\n# H\nc.";
    for (const text_chunk& c : chunks_of(headed, {.most_tokens = 4, .overlap_tokens = 2}, marked_headings(headed)))
        CHECK(c.span == c.own);
}

TEST_CASE("what is repeated gives way where the next sentence needs the room") {
    const std::string text = "A b. C d e f.";
    const auto chunks = chunks_of(text, {.most_tokens = 4, .overlap_tokens = 2});
    CHECK(spans(text, chunks) == strings{"A b. ", "C d e f."});
}

TEST_CASE("code is cut at blank lines and then at lines, and sentences mean nothing in it") {
    const std::string code = "int a. b;\n\nvoid f() {\n  x. Y;\n}\n\nint c;\n";
    CHECK(own(code, chunks_of(code, {.most_tokens = 6, .form = chunk_form::code})) ==
          strings{"int a. b;\n\n", "void f() {\n  x. Y;\n}\n\n", "int c;\n"});
    CHECK(own(code, chunks_of(code, {.most_tokens = 3, .form = chunk_form::code})) ==
          strings{"int a. b;\n\n", "void f() {\n", "  x. Y;\n}\n\n", "int c;\n"});
}

TEST_CASE("fenced code in prose is one block, blank lines included") {
    const std::string text = "Try this:\n```\na\n\nb. C\n```\nThen stop.\n";
    CHECK(own(text, chunks_of(text, {.most_tokens = 6})) ==
          strings{"Try this:\n", "```\na\n\nb. C\n```\n", "Then stop.\n"});
    const std::string open = "x\n\n~~~\na\n\nb";
    CHECK(own(open, chunks_of(open, {.most_tokens = 3})) == strings{"x\n\n", "~~~\na\n\nb"});
}

TEST_CASE("a budget of nothing and an overlap of more than half are refused") {
    CHECK(code_of([] { chunker<>({.most_tokens = 0}); }) == "chunker.budget");
    CHECK(code_of([] { chunker<>({.most_tokens = 7, .overlap_tokens = 4}); }) == "chunker.overlap");
    CHECK(code_of([] { chunker<>({.most_tokens = 7, .overlap_tokens = 3}); }) == "(no exception)");
}

TEST_CASE("chunks tile any text within the budget, by any counter") {
    const strings pieces = {"word ",    "A sentence. ", "\n",    "\n\n", "检索。",  "é", "\xFF",
                            "# H\n",    "```\n",        "- x\n", "\r\n", "e\u0301", " ", "longwordlongword",
                            "\xE2\x98", "Dr. ",         "สวัส",   "\t"};
    std::mt19937 random(31);
    for (int round = 0; round < 400; ++round) {
        std::string text;
        for (std::size_t n = random() % 40; n > 0; --n) text += pieces[random() % pieces.size()];
        chunk_options options{.most_tokens = 1 + random() % 12, .by_heading = random() % 2 == 0};
        options.overlap_tokens = random() % (options.most_tokens / 2 + 1);
        options.form = random() % 3 == 0 ? chunk_form::code : chunk_form::prose;
        const auto headings = marked_headings(text);
        INFO(text << " (" << options.most_tokens << ", " << options.overlap_tokens << ")");
        CHECK(violation(text, chunks_of(text, options, headings, approximate_tokens{}), options,
                        approximate_tokens{}) == "");
        CHECK(violation(text, chunks_of(text, options, headings), options, words{}) == "");
    }
}

TEST_CASE("chunks are full: a budget is not lost to rounding every word up") {
    // No sentence ends anywhere. By the estimate "abc " is one token, as part of a text or by itself; "ab " is one by
    // itself and three quarters in a text.
    std::string text;
    for (int i = 0; i < 4000; ++i) text += "ab ";
    const auto chunks = chunks_of(text, {.most_tokens = 100}, {}, approximate_tokens{});
    for (std::size_t i = 0; i + 1 < chunks.size(); ++i) CHECK(chunks[i].tokens >= 85);
}

TEST_CASE("time to cut grows with the text and not faster") {
    for (const std::string piece : {"a", "a. ", "\n", "\n\na", "# h\n", "\u0301"}) {
        INFO(piece);
        const double ratio = growth(
            [&](std::size_t n) {
                std::string text;
                for (std::size_t i = 0; i < n; ++i) text += piece;
                return chunks_of(text, {.most_tokens = 64, .overlap_tokens = 16}, marked_headings(text),
                                 approximate_tokens{})
                    .size();
            },
            1000);
        CHECK(ratio <= 2.5);
    }
}
