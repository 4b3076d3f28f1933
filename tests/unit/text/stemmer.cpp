#include "quarry/text/stemmer.hpp"

#include <string>
#include <utility>

#include "support/catch.hpp"

using namespace quarry;

namespace {

std::string stem(std::string word) {
    porter_stem(word);
    return word;
}

}  // namespace

// The examples beside each rule in Porter's paper of 1980, carried through all later steps: where a later step shortens
// the word again, the final stem stands here and not the paper's intermediate form.
TEST_CASE("the paper's examples have their stems") {
    const std::pair<const char*, const char*> examples[] = {
        // 1a
        {"caresses", "caress"}, {"ponies", "poni"}, {"ties", "ti"}, {"caress", "caress"}, {"cats", "cat"},
        // 1b
        {"feed", "feed"}, {"agreed", "agre"}, {"plastered", "plaster"}, {"bled", "bled"}, {"motoring", "motor"},
        {"sing", "sing"}, {"conflated", "conflat"}, {"troubled", "troubl"}, {"sized", "size"}, {"hopping", "hop"},
        {"tanned", "tan"}, {"falling", "fall"}, {"hissing", "hiss"}, {"fizzed", "fizz"}, {"failing", "fail"},
        {"filing", "file"},
        // 1c
        {"happy", "happi"}, {"sky", "sky"},
        // 2
        {"relational", "relat"}, {"conditional", "condit"}, {"rational", "ration"}, {"digitizer", "digit"},
        {"conformabli", "conform"}, {"radicalli", "radic"}, {"differentli", "differ"}, {"vileli", "vile"},
        {"analogousli", "analog"}, {"vietnamization", "vietnam"}, {"predication", "predic"}, {"operator", "oper"},
        {"feudalism", "feudal"}, {"decisiveness", "decis"}, {"hopefulness", "hope"}, {"callousness", "callous"},
        {"formaliti", "formal"}, {"sensitiviti", "sensit"}, {"sensibiliti", "sensibl"},
        // 3
        {"triplicate", "triplic"}, {"formative", "form"}, {"formalize", "formal"}, {"electriciti", "electr"},
        {"electrical", "electr"}, {"hopeful", "hope"}, {"goodness", "good"},
        // 4
        {"revival", "reviv"}, {"allowance", "allow"}, {"inference", "infer"}, {"airliner", "airlin"},
        {"gyroscopic", "gyroscop"}, {"adjustable", "adjust"}, {"defensible", "defens"}, {"irritant", "irrit"},
        {"replacement", "replac"}, {"adjustment", "adjust"}, {"dependent", "depend"}, {"adoption", "adopt"},
        {"homologou", "homolog"}, {"communism", "commun"}, {"activate", "activ"}, {"angulariti", "angular"},
        {"homologous", "homolog"}, {"effective", "effect"}, {"bowdlerize", "bowdler"},
        // 5
        {"probate", "probat"}, {"rate", "rate"}, {"cease", "ceas"}, {"controll", "control"}, {"roll", "roll"}};
    for (const auto& [word, expected] : examples) {
        INFO(word);
        CHECK(stem(word) == expected);
    }
}

// Stems by snowballstemmer's "porter", and words whose stems the later English stemmer changes.
TEST_CASE("it is Porter's first stemmer and not the later one") {
    CHECK(stem("generation") == "gener");
    CHECK(stem("generally") == "gener");
    CHECK(stem("dying") == "dy");
    CHECK(stem("news") == "new");
    CHECK(stem("skies") == "ski");
    CHECK(stem("this") == "thi");
    CHECK(stem("flies") == "fli");
    CHECK(stem("policies") == "polici");
    CHECK(stem("indexes") == "index");
    CHECK(stem("indices") == "indic");
    CHECK(stem("retrieval") == "retriev");
    CHECK(stem("retrieve") == "retriev");
    CHECK(stem("organization") == "organ");
    CHECK(stem("university") == "univers");
    CHECK(stem("universal") == "univers");
}

TEST_CASE("words of one or two letters, and what is no word, stay as they are") {
    CHECK(stem("") == "");
    CHECK(stem("s") == "s");
    CHECK(stem("as") == "as");
    CHECK(stem("999") == "999");
    CHECK(stem("我是") == "我是");
}
