#include "quarry/text/link_scanner.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

// "inline a.md", one a link; an image has "!" before its target.
std::vector<std::string> links(std::string_view text, links_in where = links_in::prose) {
    std::vector<std::string> out;
    for (const found_link& l : find_links(text, where))
        out.push_back(std::string(name_of(l.kind)) + (l.image ? " !" : " ") + l.target);
    return out;
}
std::vector<std::string> all_links(std::string_view text) { return links(text, links_in::everything); }

std::string_view piece(std::string_view text, byte_span span) { return text.substr(span.begin, span.size()); }

using found = std::vector<std::string>;

}  // namespace

TEST_CASE("inline links, references, autolinks, HTML links and bare URLs are found") {
    CHECK(links("[a](b.md) [c](<d e.md> \"title\") [f](g(h)i 'title') [j]( k )") ==
          found{"inline b.md", "inline d e.md", "inline g(h)i", "inline k"});
    CHECK(links("[words][Label] [label] [label][] [none] [x][none]\n\n[label]: t.md 'title'\n") ==
          found{"reference t.md", "reference t.md", "reference t.md"});
    CHECK(links("<https://a.com/x?y=1&amp;z> <me@a.com> <not a link> <b>") ==
          found{"autolink https://a.com/x?y=1&z", "autolink mailto:me@a.com"});
    CHECK(links("<a class=\"x\" href='b.md'>words</a> <A HREF=c.md>") == found{"html b.md", "html c.md"});
    CHECK(links("see https://a.com/x, www.b.org/y. or ftp://c.net") ==
          found{"bare https://a.com/x", "bare www.b.org/y", "bare ftp://c.net"});
    CHECK(links("![alt](pic.png) <img src=\"b.png\" alt=x> ![r]\n\n[r]: c.png") ==
          found{"inline !pic.png", "html !b.png", "reference !c.png"});
}

TEST_CASE("a link knows the bytes of all of it, of its words and of its target") {
    const std::string text = "see [the **page**](a.md \"t\"), [ref][r] and <a href=\"b.md\">that</a>\n\n[r]: c.md\n";
    const auto l = find_links(text);
    REQUIRE(l.size() == 3);
    CHECK(piece(text, l[0].span) == "[the **page**](a.md \"t\")");
    CHECK(piece(text, l[0].words) == "the **page**");
    CHECK(piece(text, l[0].written) == "a.md");
    CHECK(piece(text, l[1].span) == "[ref][r]");
    CHECK(l[1].written.begin == text.rfind("c.md"));
    CHECK(piece(text, l[2].span) == "<a href=\"b.md\">that</a>");
    CHECK(piece(text, l[2].words) == "that");
    CHECK(piece(text, l[2].written) == "b.md");
}

TEST_CASE("in prose, links in code and comments are none, and a backslash takes a bracket's meaning") {
    CHECK(links("`[a](b)` ``[a]`(b)`` [c](d)") == found{"inline d"});
    CHECK(links("[a `](b)` c](d)") == found{"inline d"});
    CHECK(links("`open [a](b)") == found{"inline b"});
    CHECK(links("```\n[a](b) https://a.com\n```\n[c](d)") == found{"inline d"});
    CHECK(links("x <!-- [a](b) --> [c](d)\n\n<!--\nhttps://a.com\n-->\n<pre>\nhttps://a.com</pre>") == found{"inline d"});
    CHECK(links("\\[a](b) \\`[c](d)\\`") == found{"inline d"});
    CHECK(links("[a]\\(b) [ ](c) [^1]\n\n[^1]: note") == found{"inline c"});
}

TEST_CASE("links do not nest, but images stand in links") {
    CHECK(links("[![alt](pic.png)](a.md)") == found{"inline a.md", "inline !pic.png"});
    CHECK(links("[a [b](c) d](e)") == found{"inline c"});
    CHECK(links("[https://a.com/x](https://a.com/y)") == found{"inline https://a.com/y"});
    CHECK(links("![a [b](c)](d.png)") == found{"inline !d.png"});
    CHECK(links("<a href=x>https://a.com</a>") == found{"html x"});
    CHECK(links("[a [b] c](d)") == found{"inline d"});
}

TEST_CASE("the first definition of a label holds, and a label is read without case and with single spaces") {
    CHECK(links("[A  b]\n\n[a b]: one\n[a B]: two\n") == found{"reference one"});
    CHECK(links("> [q]\n\n> [q]: in-a-quote") == found{"reference in-a-quote"});
    CHECK(links("[x]\n\n[x]:\n  next-line") == found{"reference next-line"});
    CHECK(links("[x]\n\n[x]: target and more words\n") == found{});
    CHECK(links("```\n[x]: no\n```\n[x]") == found{});
}

TEST_CASE("a bare URL ends where prose goes on") {
    CHECK(links("(https://a.com/x)") == found{"bare https://a.com/x"});
    CHECK(links("https://a.com/A_(b), (https://a.com/A_(b))") == found{"bare https://a.com/A_(b)", "bare https://a.com/A_(b)"});
    CHECK(links("**https://a.com/x** \"https://a.com\" 'https://b.com'.") ==
          found{"bare https://a.com/x", "bare https://a.com", "bare https://b.com"});
    CHECK(links("https://a.com/x[1] and [https://b.com]") == found{"bare https://a.com/x", "bare https://b.com"});
    CHECK(links("\u8BF7\u770Bhttps://a.com/x\u3002\u8C22") == found{"bare https://a.com/x"});
    CHECK(links("https://de.example/wiki/K\u00E4se!") == found{"bare https://de.example/wiki/K\u00E4se"});
    CHECK(links("a:b std::vector x:// :// http:/a www. wwwa.b xwww.a.b") == found{});
}

TEST_CASE("what a browser would read as part of the host is not cut off") {
    // Each of these leads to evil.example, or to a name below it.
    for (const std::string_view target : {"https://good.example@evil.example/a", "https://good.example\"@evil.example/a",
                                          "https://good.example]@evil.example/a", "https://good.example)@evil.example",
                                          "https://good.example\u3002evil.example/a", "https://good.example\u201D@evil.example/a",
                                          "https://good.example\"x.evil.example/", "https://good.example\\@evil.example"}) {
        CAPTURE(target);
        CHECK(links("see " + std::string(target) + " now") == found{"bare " + std::string(target)});
    }
}

TEST_CASE("in a text that nobody vouches for, everything that could be followed is found") {
    CHECK(all_links("`https://a.com/x`\n\n```\nwww.b.com/y <img src=\"//c.com/z\">\n```\n") ==
          found{"bare https://a.com/x", "bare www.b.com/y", "bare //c.com/z"});
    CHECK(all_links("[https://a.com](https://b.com)") == found{"inline https://b.com", "bare https://a.com"});
    CHECK(all_links("[a [b](c) d](e)") == found{"inline e", "inline c"});
    CHECK(all_links("[used]\n\n[used]: u.md\n[unused]: https://a.com\n") ==
          found{"reference u.md", "definition u.md", "definition https://a.com"});
    CHECK(all_links("<!-- [a](b) -->") == found{"inline b"});
    CHECK(all_links("<form action=\"/x\"><video poster=y><b title='https://a.com'>") ==
          found{"html /x", "html y", "bare https://a.com"});
    CHECK(all_links("`items[i](x)` and `a//b`") == found{});
    CHECK(all_links("[a](https://good.example)@evil.example/x") ==
          found{"inline https://good.example", "bare https://good.example)@evil.example/x"});
}

TEST_CASE("a broken tag does not hide a whole one, nor its attributes") {
    CHECK(links("a <b and [c](d) \"<a href=e>\"") == found{"inline d", "html e"});
    CHECK(all_links("<a x=\"<a href='//evil.example'>click</a>") == found{"html //evil.example"});
    CHECK(all_links("<a x=\"' <b href = //evil.example") == found{"html //evil.example"});
    CHECK(all_links("set href = x in prose") == found{});
    // No tag to a renderer that wants white space between attributes, and then one URL with user-info.
    CHECK(all_links("<a href=\"https://good.example\"@evil.example/x>") ==
          found{"html https://good.example", "bare https://good.example\"@evil.example/x"});
}

TEST_CASE("escapes and character references in a target are read as a renderer reads them") {
    CHECK(links("[a](b\\_c\\(d&amp;e&#x2f;f&#47;&copy;&unknown;)") == found{"inline b_c(d&e/f/&copy;&unknown;"});
    CHECK(links("<a href=\"a&quot;b&#0;\">") == found{"html a\"b\xEF\xBF\xBD"});
}

TEST_CASE("a target longer than a link may be is cut, so that nothing equals it") {
    const std::string shared = "https://a.com/" + std::string(longest_link, 'x');
    for (const auto& l : find_links("[a](" + shared + "one) [b](" + shared + "two) " + shared + "three <" + shared + ">")) {
        CHECK(l.target.size() == longest_link + 1);
        CHECK_FALSE(normalized_link(l.target));
    }
}

TEST_CASE("code spans are those of the rule in the standard, applied run by run") {
    // The rule: a run of backticks opens a span that the next run of the same length closes; a run without one is text.
    const auto slow = [](std::string_view text) {
        found out;
        for (std::size_t i = 0; i < text.size();) {
            if (text[i] != '`') {
                if (text.substr(i).starts_with("[a](b)")) out.push_back("inline b"), i += 6;
                else ++i;
                continue;
            }
            const auto run_at = [&](std::size_t at) { return std::min(text.find_first_not_of('`', at), text.size()) - at; };
            const std::size_t length = run_at(i);
            std::size_t close = i + length;
            while (close < text.size() && (text[close] != '`' || run_at(close) != length))
                close += text[close] == '`' ? run_at(close) : 1;
            i = close < text.size() ? close + length : i + length;
        }
        return out;
    };
    std::uint32_t seed = 5;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    for (int round = 0; round < 5000; ++round) {
        std::string text = "x";
        for (std::uint32_t i = 0; i < random(12); ++i) text += random(2) == 0 ? std::string(1 + random(3), '`') : "[a](b)";
        CAPTURE(text);
        CHECK(links(text) == slow(text));
    }
}

TEST_CASE("links come in order and their spans lie in the text, whatever the text is") {
    std::uint32_t seed = 17;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"[", "]", "(", ")", "!", "<", ">", "\"", "'", "`", "\\", "a", "www.b.c", "https://", "//", ":", "\n", "\n\n", " ",
                                       "[r]", "[r]: x", "<a href=", "</a>", "=", "<!--", "-->", "@", "&#x41;", "\xE2\x80", "```\n", "href"};
    for (int round = 0; round < 6000; ++round) {
        std::string text;
        for (std::uint32_t i = 0; i < random(30); ++i) text += pieces[random(std::size(pieces))];
        CAPTURE(text);
        const auto prose = find_links(text), all = find_links(text, links_in::everything);
        for (const auto& list : {prose, all}) {
            bool fine = true;
            std::size_t begin = 0;
            for (const found_link& l : list) {
                fine = fine && l.span.begin >= begin && l.span.begin < l.span.end && l.span.end <= text.size();
                fine = fine && l.span.begin <= l.words.begin && l.words.begin <= l.words.end && l.words.end <= l.span.end;
                fine = fine && l.written.begin <= l.written.end && l.written.end <= text.size();
                begin = l.span.begin;
            }
            CHECK(fine);
        }
        // Everything is more than prose: each target of prose is among them, alone or as part of a longer one.
        for (const found_link& p : prose)
            CHECK(std::ranges::any_of(all, [&](const found_link& l) { return l.target.find(p.target) != std::string::npos; }));
    }
}

TEST_CASE("finding links takes linear time, whatever the text is") {
    const std::string_view pieces[] = {"[", "]", "](", "[a](", "[a](<b", "[a](b \"", "[a](b '", "[a](b (", "![", "[[a]](b)", "<a ", "<a b='", "<a b=\"<a c='",
                                       "<a:", "<!--", "`", "` ``", "\\", "[a][b]", "][", "a://", "www.", "www.a@", "https://a/(", "://", "[r]: x\n",
                                       "[r]: <x\n", "*", "https://a/!!!", "<a href=x>", "</a>", "&#", "[x](y)\n\n", "\"<a x=\"", "[a\n\n", "=", "href="};
    for (const links_in where : {links_in::prose, links_in::everything})
        for (const std::string_view piece : pieces) {
            CAPTURE(piece);
            const auto read = [&](std::size_t n) {
                std::string text;
                while (text.size() < n) text += piece;
                return find_links(text, where).size();
            };
            CHECK(read(1000) <= 1000);
            CHECK(growth(read, 3000) <= 2.8);
        }
    // Brackets opened and closed around links, and runs of backticks that all differ in length.
    const auto nested = [](std::size_t n) {
        std::string text(n / 5, '['), close;
        for (std::size_t i = 0; i < n / 5; ++i) close += "](x)";
        return find_links(text + close, links_in::everything).size();
    };
    CHECK(nested(1000) == 200);
    CHECK(growth(nested, 3000) <= 2.8);
    const auto runs = [](std::size_t n) {
        std::string text;
        for (std::size_t length = 1; text.size() < n; ++length) text += std::string(length, '`') + 'x';
        return find_links(text).size();
    };
    CHECK(runs(1000) == 0);
    CHECK(growth(runs, 3000) <= 2.8);
}
