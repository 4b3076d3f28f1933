#include "quarry/expand/small_keys.hpp"

#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

std::vector<std::string> texts(const small_keys& expander, const std::string& title, const std::string& text) {
    corpus c;
    const unit_id a = c.add({.id = "a", .title = title, .text = text});
    std::vector<std::string> out;
    expander(c, a, [&](key k) {
        CHECK(k.unit == a);
        out.push_back(k.text);
    });
    return out;
}

const unit_kind articles = unit_kind::article;

}  // namespace

TEST_CASE("small keys: a key a sentence, or for several, with or without what they share") {
    const std::string text = "One is here. Two is there. Three is gone.";
    using list = std::vector<std::string>;
    CHECK(texts({.of = articles}, "", text) == list{"One is here.", "Two is there.", "Three is gone."});
    CHECK(texts({.of = articles, .sentences = 2}, "", text) == list{"One is here. Two is there.", "Three is gone."});
    CHECK(texts({.of = articles, .sentences = 2, .shared = 1}, "", text) ==
          list{"One is here. Two is there.", "Two is there. Three is gone."});
    CHECK(texts({.of = articles, .sentences = 9, .shared = 20}, "", text) == list{text});
    CHECK(texts({.of = articles, .sentences = 0}, "", text).size() == 3);
    CHECK(texts({.of = articles, .most = 2}, "", text).size() == 2);
    CHECK(texts({.of = articles}, "Numbers", text)[0] == "Numbers: One is here.");
    CHECK(texts({.of = articles, .titles = false}, "Numbers", text)[0] == "One is here.");
    CHECK(texts({.of = articles}, "Numbers", "") == list{"Numbers"});
    CHECK(texts({.of = articles}, "", "  \n ").empty());
}

TEST_CASE("small keys: the unit comes back as a whole, once, by the sentence that found it") {
    corpus c;
    c.add({.id = "a", .text = "Cats purr. Cats sleep. Dogs bark."});
    c.add({.id = "b", .text = "Birds sing. Cats hunt."});
    const auto kb = build(c, small_keys{.of = articles});
    const auto found = lexical(kb.bm25).retrieve("cats", 5);
    REQUIRE(found.size() == 2);
    CHECK(found.unit(found.hits[0]).text().size() > 15);
    CHECK(found.matched(found.hits[0])->part == key_part::phrase);
}
