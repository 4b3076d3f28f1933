#include "quarry/text/stemmer.hpp"

#include <fstream>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/growth.hpp"

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
    const std::pair<const char*, const char*> examples[] = {// 1a
                                                            {"caresses", "caress"},
                                                            {"ponies", "poni"},
                                                            {"ties", "ti"},
                                                            {"caress", "caress"},
                                                            {"cats", "cat"},
                                                            // 1b
                                                            {"feed", "feed"},
                                                            {"agreed", "agre"},
                                                            {"plastered", "plaster"},
                                                            {"bled", "bled"},
                                                            {"motoring", "motor"},
                                                            {"sing", "sing"},
                                                            {"conflated", "conflat"},
                                                            {"troubled", "troubl"},
                                                            {"sized", "size"},
                                                            {"hopping", "hop"},
                                                            {"tanned", "tan"},
                                                            {"falling", "fall"},
                                                            {"hissing", "hiss"},
                                                            {"fizzed", "fizz"},
                                                            {"failing", "fail"},
                                                            {"filing", "file"},
                                                            // 1c
                                                            {"happy", "happi"},
                                                            {"sky", "sky"},
                                                            // 2
                                                            {"relational", "relat"},
                                                            {"conditional", "condit"},
                                                            {"rational", "ration"},
                                                            {"digitizer", "digit"},
                                                            {"conformabli", "conform"},
                                                            {"radicalli", "radic"},
                                                            {"differentli", "differ"},
                                                            {"vileli", "vile"},
                                                            {"analogousli", "analog"},
                                                            {"vietnamization", "vietnam"},
                                                            {"predication", "predic"},
                                                            {"operator", "oper"},
                                                            {"feudalism", "feudal"},
                                                            {"decisiveness", "decis"},
                                                            {"hopefulness", "hope"},
                                                            {"callousness", "callous"},
                                                            {"formaliti", "formal"},
                                                            {"sensitiviti", "sensit"},
                                                            {"sensibiliti", "sensibl"},
                                                            // 3
                                                            {"triplicate", "triplic"},
                                                            {"formative", "form"},
                                                            {"formalize", "formal"},
                                                            {"electriciti", "electr"},
                                                            {"electrical", "electr"},
                                                            {"hopeful", "hope"},
                                                            {"goodness", "good"},
                                                            // 4
                                                            {"revival", "reviv"},
                                                            {"allowance", "allow"},
                                                            {"inference", "infer"},
                                                            {"airliner", "airlin"},
                                                            {"gyroscopic", "gyroscop"},
                                                            {"adjustable", "adjust"},
                                                            {"defensible", "defens"},
                                                            {"irritant", "irrit"},
                                                            {"replacement", "replac"},
                                                            {"adjustment", "adjust"},
                                                            {"dependent", "depend"},
                                                            {"adoption", "adopt"},
                                                            {"homologou", "homolog"},
                                                            {"communism", "commun"},
                                                            {"activate", "activ"},
                                                            {"angulariti", "angular"},
                                                            {"homologous", "homolog"},
                                                            {"effective", "effect"},
                                                            {"bowdlerize", "bowdler"},
                                                            // 5
                                                            {"probate", "probat"},
                                                            {"rate", "rate"},
                                                            {"cease", "ceas"},
                                                            {"controll", "control"},
                                                            {"roll", "roll"}};
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

// tests/oracle/porter_stems.txt says at its head whose stems they are and how they are written.
TEST_CASE("fifty thousand words have the stems that another implementation gives them") {
    std::ifstream in(QUARRY_SOURCE_DIR "/tests/oracle/porter_stems.txt");
    std::string packed;
    for (std::string line; std::getline(in, line);)
        if (!line.starts_with("# ")) packed += line;
    const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    std::string word;
    std::size_t count = 0, wrong = 0;
    for (std::size_t at = 0; at < packed.size();) {
        word.resize(static_cast<std::size_t>(packed[at++] - '!'));
        while (letter(packed[at])) word += packed[at++];
        std::string expected = word.substr(0, word.size() - static_cast<std::size_t>(packed[at++] - 'A'));
        while (at < packed.size() && letter(packed[at])) expected += packed[at++];
        ++count;
        if (stem(word) != expected && ++wrong == 1) UNSCOPED_INFO(word << ": " << stem(word) << ", not " << expected);
    }
    CHECK(count == 52884);
    CHECK(wrong == 0);
}

TEST_CASE("by the letter of the paper, only -abli and not -bli, and -logi stays") {
    const auto paper = [](std::string word) {
        porter_1980_stem(word);
        return word;
    };
    CHECK(stem("possibly") == "possibl");
    CHECK(paper("possibly") == "possibli");
    CHECK(stem("possible") == "possibl");
    CHECK(paper("possible") == "possibl");
    CHECK(paper("probably") == "probabl");
    CHECK(stem("technology") == "technolog");
    CHECK(paper("technology") == "technologi");
    CHECK(paper("relational") == "relat");
}

TEST_CASE("a stem of UTF-8 is UTF-8: only ASCII letters are taken for doubled") {
    CHECK(stem("a\u2C30ed") == "a\u2C30");  // its last two bytes are equal
    CHECK(stem("naïvely") == "naïv");
}

TEST_CASE("time grows with the word and not faster") {
    for (const std::string piece : {"y", "ing", "ed", "e", "ational", "l"}) {
        INFO(piece);
        const double ratio = growth(
            [&](std::size_t n) {
                std::string word;
                for (std::size_t i = 0; i < n; ++i) word += piece;
                porter_stem(word);
                return word.size();
            },
            20000);
        CHECK(ratio <= 2.5);
    }
}
