#include "quarry/text/markdown_blocks.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

// "h2:words", "prose:first line ...", one a block, separated by bars; line ends as spaces.
std::string shape(std::string_view text) {
    std::string out;
    for (const markdown_block& b : markdown_blocks(text)) {
        if (!out.empty()) out += " | ";
        switch (b.kind) {
            case block_kind::prose: out += "prose:"; break;
            case block_kind::heading: out += "h" + std::to_string(b.level) + ":"; break;
            case block_kind::code: out += "code:"; break;
            case block_kind::hidden: out += "hidden:"; break;
        }
        out += text.substr(b.words.begin, b.words.size());
    }
    for (char& c : out)
        if (c == '\n' || c == '\r') c = ' ';
    return out;
}

}  // namespace

TEST_CASE("headings are lines of hashes, or a paragraph above a line of equals signs or dashes") {
    CHECK(shape("# One\n## Two ##\ntext\n###### Six") == "h1:One | h2:Two | prose:text | h6:Six");
    CHECK(shape("One\n===\nTwo\nlines\n---\n") == "h1:One | h2:Two lines");
    CHECK(shape("   # indented\n") == "h1:indented");
    CHECK(shape("#\n") == "h1:");
    CHECK(shape("# C# #\n") == "h1:C#");
}

TEST_CASE("what only looks like a heading is none") {
    CHECK(shape("#hashtag\n####### seven\n") == "prose:#hashtag ####### seven");
    CHECK(shape("text\n\n---\n\ntext") == "prose:text | prose:text");
    CHECK(shape("- item\n---\n") == "prose:- item");
    CHECK(shape("> quote\n---\n") == "prose:> quote");
    CHECK(shape("> # quoted\n- # item\n") == "prose:> # quoted | prose:- # item");
    CHECK(shape("| a | b |\n| --- | --- |\n") == "prose:| a | b | | --- | --- |");
    CHECK(shape("\\# escaped") == "prose:\\# escaped");
}

TEST_CASE("a heading inside code is code, however the code is fenced") {
    CHECK(shape("```\n# no\n```\n# yes") == "code:``` # no ``` | h1:yes");
    CHECK(shape("~~~ c++\n```\n# no\n~~~\n") == "code:~~~ c++ ``` # no ~~~");
    CHECK(shape("````\n```\n# no\n````\n# yes") == "code:```` ``` # no ```` | h1:yes");
    CHECK(shape("```\n# to the end") == "code:``` # to the end");
    CHECK(shape("``` not a `fence`\n# yes") == "prose:``` not a `fence` | h1:yes");
    CHECK(shape("- item\n  ```\n  # no\n  ```\n# yes") == "prose:- item | code:  ```   # no   ``` | h1:yes");
    CHECK(shape("1. ```\n   # no\n   ```\n") == "code:1. ```    # no    ```");
    CHECK(shape("> ```\n> # no\n\n# yes") == "code:> ``` > # no | h1:yes");
    CHECK(shape("text\n\n    # no\n\n# yes") == "prose:text | code:    # no | h1:yes");
    CHECK(shape("text\n    # continued") == "prose:text     # continued");
}

TEST_CASE("an indented line continues a list item, and comments and preformatted text are hidden") {
    CHECK(shape("- item\n\n    more [a](b)\n") == "prose:- item | prose:    more [a](b)");
    CHECK(shape("<!-- # no\n# no\n--> rest\n# yes") == "hidden:<!-- # no # no --> rest | h1:yes");
    CHECK(shape("<!-- one line -->\n# yes") == "hidden:<!-- one line --> | h1:yes");
    CHECK(shape("<PRE>\n\n# no\n</pre>\n# yes") == "hidden:<PRE>  # no </pre> | h1:yes");
    CHECK(shape("<prefix>\n# yes") == "prose:<prefix> | h1:yes");
    CHECK(shape("<!-- open\n# no") == "hidden:<!-- open # no");
}

TEST_CASE("LF, CR LF and CR end lines alike") {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        const std::string text = "# One" + end + end + "Two" + end + "---" + end + "```" + end + "# no" + end + "```" + end;
        const auto blocks = markdown_blocks(text);
        REQUIRE(blocks.size() == 3);
        CHECK(text.substr(blocks[0].words.begin, blocks[0].words.size()) == "One");
        CHECK(blocks[1].kind == block_kind::heading);
        CHECK(blocks[1].level == 2);
        CHECK(blocks[2].kind == block_kind::code);
        CHECK(blocks[2].span.end == text.size() - end.size());
    }
}

TEST_CASE("blocks come in order, lie in the text and do not overlap, whatever the text is") {
    std::uint32_t seed = 11;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"\n", "\n", "\r\n", "#", " ", "    ", ">", "- ", "```", "~~~", "===", "---", "a", "<!--", "-->", "<pre>", "</pre>", "1. ", "\t", "\xFF"};
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (std::uint32_t i = 0; i < random(40); ++i) text += pieces[random(std::size(pieces))];
        CAPTURE(text);
        std::size_t end = 0;
        bool fine = true;
        for (const markdown_block& b : markdown_blocks(text)) {
            fine = fine && b.span.begin >= end && b.span.begin <= b.span.end && b.span.end <= text.size();
            fine = fine && b.span.begin <= b.words.begin && b.words.begin <= b.words.end && b.words.end <= b.span.end;
            fine = fine && (b.kind == block_kind::heading) == (b.level >= 1 && b.level <= 6);
            end = b.span.end;
        }
        CHECK(fine);
    }
}

TEST_CASE("finding blocks takes linear time, whatever the text is") {
    for (const std::string_view piece : {">", "> ", "- ", "    ", "```\n", "#", "# a\n", "<!--\n", "<pre>\n", "</", "a\n", "---\n", "1. ", "\r", "`", "\t"}) {
        CAPTURE(piece);
        const auto read = [&](std::size_t n) {
            std::string text;
            while (text.size() < n) text += piece;
            return markdown_blocks(text).size();
        };
        CHECK(read(1000) < 1000);
        CHECK(growth(read, 3000) <= 2.8);
    }
}
