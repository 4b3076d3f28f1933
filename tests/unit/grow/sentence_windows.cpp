#include "quarry/grow/sentence_windows.hpp"

#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

std::string numbered_sentences(int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += (i == 0 ? "" : " ") + ("Sentence" + std::to_string(i)) + " is here.";
    return out;
}

// First and last sentence of the window of each sentence: "0-3".
std::vector<std::string> windows(int n, std::size_t around) {
    corpus c;
    const unit_id a = c.add({.id = "a", .text = numbered_sentences(n)});
    std::vector<std::string> out;
    for (const unit_id sentence : sentence_windows{around}.grow(c, a)) {
        const std::string_view text = c.text(*c.parent(sentence));
        const std::string_view last = text.substr(text.rfind("Sentence") + 8);
        out.push_back(std::string(text.substr(8, text.find(' ') - 8)) + "-" +
                      std::string(last.substr(0, last.find(' '))));
    }
    return out;
}

}  // namespace

TEST_CASE("windows: three sentences on either side, clipped at the ends of the article") {
    CHECK(windows(7, 3) == std::vector<std::string>{"0-3", "0-4", "0-5", "0-6", "1-6", "2-6", "3-6"});
    CHECK(windows(3, 0) == std::vector<std::string>{"0-0", "1-1", "2-2"});
    CHECK(windows(1, 3) == std::vector<std::string>{"0-0"});
    CHECK(windows(0, 3).empty());
    CHECK(windows(2, SIZE_MAX) == std::vector<std::string>{"0-1", "0-1"});
}

TEST_CASE("windows: a sentence is found and its window returned, once, and never across articles") {
    corpus c;
    c.add({.id = "a", .text = "Cats purr. Dogs bark at cats. Birds sing."});
    c.add({.id = "b", .text = "Pumps hum. Cats sleep."});
    CHECK(sentence_windows{1}.grow(c) == 5);
    const auto kb = build(c, identity{.of = unit_kind::chunk});
    const auto found = (lexical(kb.bm25) | lift(unit_kind::section)).retrieve("dogs bark", 5);
    REQUIRE(found.size() == 1);
    CHECK(found.unit(found.hits[0]).text() == "Cats purr. Dogs bark at cats. Birds sing.");
    const auto cats = (lexical(kb.bm25) | lift(unit_kind::section)).retrieve("cats", 5);
    CHECK(cats.size() == 3);
    for (const auto& h : cats) CHECK(cats.unit(h).text().find("cats") + cats.unit(h).text().find("Cats") != 0);
}

TEST_CASE("windows: those that are the same are one unit, and a second growth is refused and changes nothing") {
    corpus c;
    const unit_id a = c.add({.id = "a", .text = numbered_sentences(3)});
    sentence_windows{5}.grow(c, a);
    CHECK(c.size() == 1 + 1 + 3);
    CHECK(code_of([&] { sentence_windows{5}.grow(c, a); }) == "corpus.duplicate_id");
    CHECK(code_of([&] { sentence_windows{5}.grow(c, unit_at(99)); }) == "corpus.unknown_unit");
    CHECK(c.size() == 5);
}
