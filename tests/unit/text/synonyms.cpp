#include "quarry/text/synonyms.hpp"

#include <string>
#include <vector>

#include "quarry/text/code_analyzer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/terms.hpp"

using namespace quarry;

namespace {

// "term" for what is asked, "term*" for what is added.
terms asked(const analyzer& words, std::string_view text) {
    terms out;
    words.question(text, [&](const token& t) { out.push_back(std::string(t.term) + (t.weight < 1.0f ? "*" : "")); });
    return out;
}

}  // namespace

TEST_CASE("a group is asked for by each of its texts, one way only by the first") {
    synonyms table;
    table.group({"car", "automobile"}).one_way("k8s", {"kubernetes"});
    const analyzer words = with_synonyms(english(), table);
    CHECK(asked(words, "red Cars") == terms{"red", "car", "automobil*"});
    CHECK(asked(words, "automobile") == terms{"automobil", "car*"});
    CHECK(asked(words, "K8S pods") == terms{"k8", "pod", "kubernet*"});
    CHECK(asked(words, "kubernetes") == terms{"kubernet"});
    CHECK(terms_of(words, "red cars") == terms{"red", "car"});
}

TEST_CASE("texts of several words are found as a whole, the longest first") {
    synonyms table;
    table.group({"new york", "ny"}).group({"new york city", "big apple"}).one_way("york", {"eboracum"});
    const analyzer words = with_synonyms(plain(), table);
    CHECK(asked(words, "in new york now") == terms{"in", "new", "york", "now", "ny*"});
    CHECK(asked(words, "new york city") == terms{"new", "york", "city", "big*", "apple*"});
    CHECK(asked(words, "old york") == terms{"old", "york", "eboracum*"});
    CHECK(asked(words, "new new york") == terms{"new", "new", "york", "ny*"});
    CHECK(asked(words, "ny") == terms{"ny", "new*", "york*"});
}

TEST_CASE("what is added stands where the asked words stand") {
    synonyms table;
    table.one_way("new york", {"ny"});
    std::vector<std::size_t> where;
    with_synonyms(plain(), table).question("in new york", [&](const token& t) {
        if (t.weight < 1.0f) where = {t.begin, t.end, t.position};
    });
    CHECK(where == std::vector<std::size_t>{3, 11, 1});
}

TEST_CASE("synonyms of an identifier are found through any analyzer") {
    synonyms table;
    table.group({"C++", "cpp"}).group({"load_balancer", "HAProxy"});
    const analyzer words = with_synonyms(code(), table);
    CHECK(asked(words, "C++ style") == terms{"c++", "style", "cpp*"});
    const terms found = asked(words, "load_balancer");
    CHECK(std::ranges::find(found, "haproxi*") != found.end());
}

TEST_CASE("a text without words and a weight that is none are refused") {
    synonyms empty;
    empty.group({"car", "---"});
    CHECK(code_of([&] { with_synonyms(plain(), empty); }) == "synonyms.empty");
    synonyms fine;
    fine.group({"car", "automobile"});
    for (const float weight : {0.0f, -1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
        CHECK(code_of([&] { with_synonyms(plain(), fine, {.weight = weight}); }) == "synonyms.weight");
    CHECK(asked(with_synonyms(plain(), synonyms{}), "a b") == terms{"a", "b"});
}

TEST_CASE("synonyms of synonyms are not asked for, but two tables can be stacked") {
    synonyms chain;
    chain.one_way("a", {"b"}).one_way("b", {"c"});
    CHECK(asked(with_synonyms(plain(), chain), "a") == terms{"a", "b*"});
    synonyms other;
    other.one_way("x", {"y"});
    CHECK(asked(with_synonyms(with_synonyms(plain(), chain), other), "a x") == terms{"a", "x", "b*", "y*"});
}
