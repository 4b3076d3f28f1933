#include "quarry/text/analyzer.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

using terms = std::vector<std::string>;

struct held_token {
    std::string term;
    std::size_t begin, end;
    std::uint32_t position;
    bool stop;
};

std::vector<held_token> tokens_of(const analyzer& words, std::string_view text) {
    std::vector<held_token> out;
    words(text, [&](const token& t) { out.push_back({std::string(t.term), t.begin, t.end, t.position, t.stop}); });
    return out;
}

terms terms_of(const analyzer& words, std::string_view text) {
    terms out;
    words(text, [&](const token& t) { out.emplace_back(t.term); });
    return out;
}

}  // namespace

TEST_CASE("english cuts the possessive, folds, marks stop words and stems the rest") {
    const auto found = tokens_of(english(), "The Lazy dog's Policies");
    REQUIRE(found.size() == 4);
    CHECK(found[0].term == "the");
    CHECK(found[0].stop);
    CHECK(found[1].term == "lazi");
    CHECK(found[2].term == "dog");
    CHECK(found[3].term == "polici");
    CHECK_FALSE(found[3].stop);
}

TEST_CASE("a token's span is the whole word in the text, whatever became of the term") {
    const std::string text = "the dog's policies";
    const auto found = tokens_of(english(), text);
    REQUIRE(found.size() == 3);
    CHECK(text.substr(found[1].begin, found[1].end - found[1].begin) == "dog's");
    CHECK(text.substr(found[2].begin, found[2].end - found[2].begin) == "policies");
}

TEST_CASE("positions count words from 0, stop words included") {
    const auto found = tokens_of(english(), "back to the future");
    REQUIRE(found.size() == 4);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].position == i);
}

TEST_CASE("Lucene's 33 stop words are stop words, and not those alone that a shorter list would have") {
    const std::string list =
        "a an and are as at be but by for if in into is it no not of on or such that the their then "
        "there these they this to was will with";
    const auto found = tokens_of(english(), list);
    CHECK(found.size() == 33);
    for (const held_token& t : found) {
        INFO(t.term);
        CHECK(t.stop);
    }
    for (const held_token& t : tokens_of(english(), "i you he from have has were which what how")) CHECK_FALSE(t.stop);
}

TEST_CASE("stop words and stemming can be switched off, and the fingerprint tells") {
    const analyzer no_stop = english({.stop_words = false}), no_stems = english({.stemming = false});
    CHECK_FALSE(tokens_of(no_stop, "the policies").front().stop);
    CHECK(terms_of(no_stems, "the policies") == terms{"the", "policies"});
    const std::vector<std::string> prints = {english().fingerprint(), no_stop.fingerprint(), no_stems.fingerprint(),
                                             plain().fingerprint()};
    for (std::size_t i = 0; i < prints.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(prints[i] != prints[j]);
    CHECK(english().fingerprint() == english({.stop_words = true}).fingerprint());
}

TEST_CASE("all apostrophes that are typed make a possessive, and a word that is only one stays") {
    CHECK(terms_of(english(), "dog's dog\u2019s DOG'S") == terms{"dog", "dog", "dog"});
    CHECK(terms_of(english(), "dogs' 's").front() == "dog");
}

TEST_CASE("two long words that differ at the end do not meet") {
    const std::string left(300, 'a');
    std::string right = left;
    right.back() = 'b';
    const terms a = terms_of(plain(), left), b = terms_of(plain(), right);
    REQUIRE(a.size() == 2);
    CHECK(a[0].size() == longest_term);
    CHECK(a[0] == b[0]);
    CHECK(a[1] != b[1]);
}

TEST_CASE("an analyzer of one's own is a callable and a name") {
    const analyzer letters("letters-1", [](std::string_view text, token_sink sink) {
        for (std::size_t i = 0; i < text.size(); ++i)
            sink({.term = text.substr(i, 1), .begin = i, .end = i + 1, .position = static_cast<std::uint32_t>(i)});
    });
    const analyzer copy = letters;
    CHECK(terms_of(copy, "abc") == terms{"a", "b", "c"});
    CHECK(copy.fingerprint() == "letters-1");
}
