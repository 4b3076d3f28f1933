#include "quarry/text/markdown.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

std::string_view piece(std::string_view text, byte_span span) { return text.substr(span.begin, span.size()); }

std::vector<std::string> headings(std::string_view text) {
    std::vector<std::string> out;
    for (const heading& h : read_markdown(text).headings) out.push_back(std::to_string(h.level) + ' ' + h.text);
    return out;
}

using found = std::vector<std::string>;

constexpr std::string_view example =
    "---\n"
    "id: troubleshooting/hl-301\n"
    "title: Error HL-301\n"
    "summary: The hub cannot reach the boiler.\n"
    "tags: [HL-301, boiler]\n"
    "---\n"
    "# Error HL-301 (no *answer*)\n"
    "\n"
    "Read [the guide](../guide.md#wiring), see ![the box](box.png) and `[not](this)`.\n"
    "\n"
    "Wiring\n"
    "------\n"
    "More at https://hearthline.example/wiring.\n";

}  // namespace

TEST_CASE("a file becomes front matter, headings, links and images, each with its bytes in the file") {
    const markdown_document d = read_markdown(example);
    CHECK(d.front.find("tags")->list == found{"HL-301", "boiler"});
    CHECK(piece(example, d.body).starts_with("# Error"));
    REQUIRE(d.headings.size() == 2);
    CHECK(d.headings[0].text == "Error HL-301 (no answer)");
    CHECK(piece(example, d.headings[0].span) == "# Error HL-301 (no *answer*)");
    CHECK(d.headings[1].level == 2);
    CHECK(piece(example, d.headings[1].span) == "Wiring\n------");
    REQUIRE(d.links.size() == 2);
    CHECK(d.links[0].target == "../guide.md#wiring");
    CHECK(d.links[0].text == "the guide");
    CHECK(piece(example, d.links[0].span) == "[the guide](../guide.md#wiring)");
    CHECK(d.links[1].target == "https://hearthline.example/wiring");
    CHECK(piece(example, d.links[1].span) == d.links[1].target);
    REQUIRE(d.images.size() == 1);
    CHECK(d.images[0].target == "box.png");
    CHECK(d.images[0].text == "the box");
}

TEST_CASE("the article of a file has its body as text, and spans that lie in it") {
    const article a = to_article(example, read_markdown(example), "unused");
    CHECK(a.id == "troubleshooting/hl-301");
    CHECK(a.title == "Error HL-301");
    CHECK(a.summary == "The hub cannot reach the boiler.");
    CHECK(a.text == example.substr(example.find("# Error")));
    CHECK(piece(a.text, a.headings[1].span) == "Wiring\n------");
    CHECK(piece(a.text, a.links[0].span) == "[the guide](../guide.md#wiring)");
    CHECK(a.meta.empty());
}

TEST_CASE("an article without front matter has the id it is given and the title of its first top heading") {
    const std::string_view file = "## Before\n# The title\n# Another\n";
    const article a = to_article(file, read_markdown(file), "folder/file");
    CHECK(a.id == "folder/file");
    CHECK(a.title == "The title");
    CHECK(a.text == file);
    CHECK(a.summary.empty());
    const std::string_view bare = "only text";
    CHECK(to_article(bare, read_markdown(bare), "x").title.empty());
    const std::string_view described = "---\ndescription: Says it.\n---\n";
    CHECK(to_article(described, read_markdown(described), "x").summary == "Says it.");
}

TEST_CASE("the words of a heading are without marks") {
    CHECK(headings("# **Bold**, *slanted*, `code *kept*`, ~~gone~~ and snake_case") ==
          found{"1 Bold, slanted, code *kept*, gone and snake_case"});
    CHECK(headings("## A [link](x.md), ![image](y.png) and <b>HTML</b>") == found{"2 A link, image and HTML"});
    CHECK(headings("# A [reference][r] &amp; more\n\n[r]: x.md") == found{"1 A reference & more"});
    CHECK(headings("# 2 * 3 _is_ 6 \\*really\\* ##") == found{"1 2 * 3 is 6 *really*"});
    CHECK(headings("# Anchored {#here}\n#\n") == found{"1 Anchored"});
    CHECK(headings("Two\nlines  **of\nit**\n===") == found{"1 Two lines of it"});
    CHECK(plain_words("## A *heading*\n\nand `text`\n\nA [b](c)\n---\n```\ncode\n```\n") == "A heading and text A b code");
    CHECK(plain_words("") == "");
    CHECK(plain_words("`vector<int>`  is <em>a</em> [list](x) <https://a.com>") == "vector<int> is a list https://a.com");
}

TEST_CASE("a byte order mark, CR LF and bytes that are no UTF-8 are read, and spans still fit the file") {
    std::string file = "\xEF\xBB\xBF";
    for (const char c : example) file += c == '\n' ? "\r\n" : std::string(1, c);
    file += "\xFF\xFE [bad \xC3](x\xFF.md)\r\n";
    const markdown_document d = read_markdown(file);
    CHECK(d.front.entries.size() == 4);
    REQUIRE(d.headings.size() == 2);
    CHECK(piece(file, d.headings[1].span) == "Wiring\r\n------");
    REQUIRE(d.links.size() == 3);
    CHECK(piece(file, d.links[0].span) == "[the guide](../guide.md#wiring)");
    CHECK(piece(file, d.links[2].span) == "[bad \xC3](x\xFF.md)");
    const article a = to_article(file, d, "x");
    CHECK(piece(a.text, a.links[2].span) == "[bad \xC3](x\xFF.md)");
    CHECK(a.text.starts_with("# Error"));
}

TEST_CASE("nothing but front matter that is not closed makes reading throw") {
    CHECK(code_of([] { read_markdown("---\ntitle: x\n# Body\n"); }) == "markdown.front_matter");
    std::uint32_t seed = 29;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"---\n", "a: [b", "\n", "# ", "*", "_", "`", "[", "](", ")", "<", ">", "&amp;", "\xEF\xBB\xBF", "\xFF", "x", " ", "\r\n", "![", "{#"};
    for (int round = 0; round < 4000; ++round) {
        std::string file;
        for (std::uint32_t i = 0; i < random(30); ++i) file += pieces[random(std::size(pieces))];
        CAPTURE(file);
        const std::string code = code_of([&] {
            const article a = to_article(file, read_markdown(file), "x");
            for (const heading& h : a.headings)
                if (h.span.end > a.text.size() || h.text.empty()) throw 1;
            for (const quarry::link& l : a.links)
                if (l.span.end > a.text.size() || l.target.empty()) throw 2;
        });
        CHECK((code == "(no exception)" || code == "markdown.front_matter"));
    }
}

TEST_CASE("a web address without a scheme is an http address, as on the pages where authors write it") {
    CHECK(read_markdown("www.a.com/x").links.at(0).target == "http://www.a.com/x");
    CHECK(read_markdown("[]()").links.empty());
}

TEST_CASE("reading a file takes linear time, whatever it holds") {
    const std::string_view pieces[] = {"# [a](b)\n", "# `", "*", "_a", "[*a*](b)", "# <a", "&amp;", "[![![![", "# {#a}\n", "a\n=\n", "<a href=x>", "# [", "~~", "a: [b]\n"};
    for (const std::string_view piece : pieces) {
        CAPTURE(piece);
        const auto read = [&](std::size_t n) {
            std::string file;
            while (file.size() < n) file += piece;
            return read_markdown(file).links.size();
        };
        CHECK(read(1000) <= 1000);
        CHECK(growth(read, 3000) <= 2.8);
    }
    // Images in images: the words of each hold all inside it.
    const auto nested = [](std::size_t n) {
        std::string file, close;
        for (std::size_t i = 0; i < n / 6; ++i) file += "![", close += "](x)";
        return read_markdown(file + close).images.size();
    };
    CHECK(nested(600) == 1);
    CHECK(growth(nested, 3000) <= 2.8);
}
