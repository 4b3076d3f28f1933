#include "quarry/answer/citations.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

// "3" or "2-5", one a citation; the largest number is "max".
std::vector<std::string> citations(std::string_view answer) {
    const auto digits = [](std::size_t n) { return n == SIZE_MAX ? std::string("max") : std::to_string(n); };
    std::vector<std::string> out;
    for (const citation& c : find_citations(answer))
        out.push_back(c.first == c.last ? digits(c.first) : digits(c.first) + "-" + digits(c.last));
    return out;
}

packed_context three_units() {
    corpus c;
    std::vector<unit_id> units;
    for (const char* id : {"a", "b", "c"}) units.push_back(c.add({.id = id, .title = id, .text = "text"}));
    return pack(c, units);
}

using found = std::vector<std::string>;

}  // namespace

TEST_CASE("numbers in brackets are citations, alone, in lists and in ranges") {
    CHECK(citations("Press it [3]. Wait [1][2], or [1, 4; 5] or [2-4] or [ 6 \u2013 7 ]") ==
          found{"3", "1", "2", "1", "4", "5", "2-4", "6-7"});
    CHECK(citations("word[12]") == found{"12"});
    CHECK(citations("[3](https://a.com) and [3][1]") == found{"3", "3", "1"});
    CHECK(citations("[5-2]") == found{"5", "2"});
    CHECK(citations("[99999999999999999999999]") == found{"max"});
    const std::string_view text = "see [1, 2-3]";
    CHECK(text.substr(find_citations(text)[1].span.begin, find_citations(text)[1].span.size()) == "2-3");
}

TEST_CASE("what is no list of numbers is no citation, nor are code and definitions") {
    CHECK(citations("[] [a] [1a] [^1] [1.5] [-1] [1,] [1 2] [1- ] [1") == found{});
    CHECK(citations("`a[1]` and ``b[2]` ``\n\n```\nc[3]\n```\n\n    d[4]\n") == found{});
    CHECK(citations("[1]: https://a.com\n> [2]: x\n[3]: y") == found{});
    CHECK(citations("see [1]: there") == found{"1"});
    CHECK(citations("`open [1]") == found{"1"});
}

TEST_CASE("a report says which units are cited where, which are not, and which numbers nobody gave") {
    const packed_context context = three_units();
    const std::string_view answer = "First [2]. Then [1-4] and [9], [0].";
    const citation_report report = check_citations(answer, context);
    REQUIRE(report.cited.size() == 3);
    CHECK(report.cited[0].number == 2);
    CHECK(report.cited[0].spans.size() == 2);
    CHECK(answer.substr(report.cited[0].spans[0].begin, report.cited[0].spans[0].size()) == "2");
    CHECK(report.cited[1].number == 1);
    CHECK(context.numbered(report.cited[1].number)->id == "a");
    REQUIRE(report.unknown.size() == 3);
    CHECK(report.unknown[0].first == 4);
    CHECK(report.unknown[0].last == 4);
    CHECK(report.unknown[1].first == 9);
    CHECK(report.unknown[2].first == 0);
    CHECK(report.uncited.empty());
    CHECK(check_citations("none", context).uncited == std::vector<std::size_t>{1, 2, 3});
    CHECK(check_citations("[1]", packed_context{}).unknown.size() == 1);
}

TEST_CASE("a range that promises more than there is costs no more than there is") {
    const citation_report report = check_citations("[1-99999999999999999999]", three_units());
    CHECK(report.cited.size() == 3);
    REQUIRE(report.unknown.size() == 1);
    CHECK(report.unknown[0].first == 4);
    CHECK(report.unknown[0].last == SIZE_MAX);
}

TEST_CASE("finding citations takes linear time, whatever the answer is") {
    for (const std::string_view piece : {"[", "[1", "[1,", "[1-", "[1]", "`", "1", "> ", "[1]:\n", "    "}) {
        CAPTURE(piece);
        const auto read = [&](std::size_t n) {
            std::string answer;
            while (answer.size() < n) answer += piece;
            return find_citations(answer).size();
        };
        CHECK(read(1000) <= 1000);
        CHECK(growth(read, 3000) <= 2.8);
    }
}
