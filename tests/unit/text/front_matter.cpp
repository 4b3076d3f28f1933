#include "quarry/text/front_matter.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/growth.hpp"

using namespace quarry;

using texts = std::vector<std::string>;

TEST_CASE("front matter is names and texts in the order of the file, and the body begins behind it") {
    const std::string file = "---\ntitle: Error HL-305\nid: a/b\nempty:\n---\n# Body\n";
    const front_matter front = read_front_matter(file);
    REQUIRE(front.entries.size() == 3);
    CHECK(front.entries[0].name == "title");
    CHECK(front.entries[0].text == "Error HL-305");
    CHECK(file.substr(front.entries[0].span.begin, front.entries[0].span.size()) == "title: Error HL-305");
    CHECK(front.entries[1].name == "id");
    CHECK(front.find("empty")->text.empty());
    CHECK(front.find("nobody") == nullptr);
    CHECK(file.substr(front.end) == "# Body\n");
}

TEST_CASE("quotes come off a text and are remembered, since a quoted number is a text") {
    const front_matter front = read_front_matter(
        "---\na: \"2024\"\nb: 2024\nc: 'it''s'\nd: \"say \\\"hi\\\" \\\\ there\"\ne: \"this\" and \"that\"\nf: \"open\ng: a: b # c\n---\n");
    CHECK(front.find("a")->text == "2024");
    CHECK(front.find("a")->quoted);
    CHECK(front.find("b")->text == "2024");
    CHECK_FALSE(front.find("b")->quoted);
    CHECK(front.find("c")->text == "it's");
    CHECK(front.find("d")->text == "say \"hi\" \\ there");
    CHECK(front.find("e")->text == "\"this\" and \"that\"");
    CHECK_FALSE(front.find("e")->quoted);
    CHECK(front.find("f")->text == "\"open");
    CHECK(front.find("g")->text == "a: b # c");
}

TEST_CASE("lists are written in brackets or line by line") {
    const front_matter front = read_front_matter(
        "---\na: [x, \"y, z\", 'it''s', C#]\nb: []\nc:\n  - one\n  - \"two, three\"\nd:\n- 1\n- 2\ne: [p,\n  q\n]\nf: last\n---\n");
    CHECK(front.find("a")->list == texts{"x", "y, z", "it's", "C#"});
    CHECK(front.find("a")->text == "[x, \"y, z\", 'it''s', C#]");
    CHECK(front.find("b")->is_list);
    CHECK(front.find("b")->list.empty());
    CHECK(front.find("c")->list == texts{"one", "two, three"});
    CHECK(front.find("d")->list == texts{"1", "2"});
    CHECK(front.find("e")->list == texts{"p", "q"});
    CHECK_FALSE(front.find("f")->is_list);
}

TEST_CASE("indented lines continue a value, comments are left out, and what is neither is listed as unread") {
    const std::string file = "---\n# a remark\nsummary: >\n  One sentence,\n  and another.\n\nauthor:\n  name: Ann\n???\n---\n";
    const front_matter front = read_front_matter(file);
    REQUIRE(front.entries.size() == 2);
    CHECK(front.find("summary")->text == "One sentence, and another.");
    CHECK(front.find("author")->text == "name: Ann");
    REQUIRE(front.unread.size() == 1);
    CHECK(file.substr(front.unread[0].begin, front.unread[0].size()) == "???");
}

TEST_CASE("a byte order mark, CR LF and CR change nothing but the spans") {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        std::string file = "\xEF\xBB\xBF---" + end + "a: 1" + end + "b: [x]" + end + "---" + end + "body";
        const front_matter front = read_front_matter(file);
        REQUIRE(front.entries.size() == 2);
        CHECK(front.entries[0].text == "1");
        CHECK(front.entries[1].list == texts{"x"});
        CHECK(file.substr(front.entries[0].span.begin, front.entries[0].span.size()) == "a: 1");
        CHECK(file.substr(front.end) == "body");
    }
    CHECK(read_front_matter("\xEF\xBB\xBFtext").end == 3);
}

TEST_CASE("a file without front matter is all body, and three dashes above prose are a thematic break") {
    for (const std::string_view file : {"", "text", "# Title\n---\n", "---\nprose without a colon\n---\n", "--- \n\nprose", "----\na: 1\n----\n",
                                        "---\nhttps://a.com\n", " ---\na: 1\n---\n", "---\n- item: 1\n---\n"}) {
        CAPTURE(file);
        const front_matter front = read_front_matter(file);
        CHECK(front.entries.empty());
        CHECK(front.end == 0);
    }
    CHECK(read_front_matter("---\n---\nbody").end == 8);
    CHECK(read_front_matter("---\na: 1\n...\nbody").end == 13);
}

TEST_CASE("front matter that is opened and not closed is an error, since metadata would be searched as prose") {
    CHECK(code_of([] { read_front_matter("---\ntitle: cut\ntags: [a"); }) == "markdown.front_matter");
    CHECK(code_of([] { read_front_matter("---\r\ntitle: cut\r\n ---\r\n"); }) == "markdown.front_matter");
    CHECK(message_of([] { read_front_matter("---\ntitle: cut"); }).find("line 1") != std::string::npos);
}

TEST_CASE("reading front matter takes linear time, whatever it holds") {
    const std::string_view pieces[] = {"a: [", "- x\n", "  [a, \"b\n", "a:\n", "\"\\", "a: [               ", "- [\n", "# c\n", "k: \"''\"\n"};
    for (const std::string_view piece : pieces) {
        CAPTURE(piece);
        const auto read = [&](std::size_t n) {
            std::string file = "---\na: \n";
            while (file.size() < n) file += piece;
            file += "\n---\n";
            return read_front_matter(file).entries.size();
        };
        CHECK(read(2000) >= 1);
        CHECK(growth(read, 3000) <= 2.8);
    }
}
