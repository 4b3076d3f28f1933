#include "quarry/model/confidence.hpp"

#include <cmath>
#include <initializer_list>

#include "support/catch.hpp"

using namespace quarry;

namespace {

std::vector<scored_token> token_list(std::initializer_list<std::pair<const char*, double>> all) {
    std::vector<scored_token> out;
    for (const auto& [text, p] : all) out.push_back({text, static_cast<float>(std::log(p))});
    return out;
}

const auto biden = token_list({{" Joe", .9},
                               {" Biden", .95},
                               {" attended", .6},
                               {" the", .9},
                               {" University", .85},
                               {" of", .99},
                               {" Pennsylvania", .2},
                               {".", .9}});
const auto alphabet = token_list({{"a", .9},
                                  {" b", .1},
                                  {" c", .9},
                                  {" d", .9},
                                  {" e", .1},
                                  {" f", .9},
                                  {" g", .9},
                                  {" h", .9},
                                  {" i", .9},
                                  {" j", .1}});

std::vector<std::string> runs_in(float limit, std::size_t gap, std::size_t pad) {
    std::vector<std::string> out;
    for (const auto& [begin, end] : doubtful_runs(alphabet, limit, gap, pad)) {
        out.emplace_back();
        for (std::size_t i = begin; i < end; ++i) out.back() += alphabet[i].text;
    }
    return out;
}

std::optional<int> stated_in(const std::string& reply) { return read_stated_confidence(completion(reply)); }

}  // namespace

TEST_CASE("doubtful tokens are left out of the query, and spaces run together") {
    CHECK(without_doubtful(biden, .4f) == "Joe Biden attended the University of .");
    CHECK(without_doubtful(biden, .7f) == "Joe Biden the University of .");
    CHECK(without_doubtful(biden, 1.0f).empty());
    CHECK(without_doubtful({}, .4f).empty());
}

TEST_CASE("one doubtful token makes a sentence doubtful, at the limit by the rule that is chosen") {
    CHECK(is_doubtful(biden, {.limit = .8f}));
    CHECK_FALSE(is_doubtful(biden, {.limit = .15f}));
    CHECK_FALSE(is_doubtful(token_list({{"a", .95}, {" b", .95}}), {.limit = .8f}));
    const std::vector<scored_token> half{{"a", 0.0f}, {" b", std::log(.5f)}};
    const float exactly = std::exp(std::log(.5f));
    CHECK_FALSE(is_doubtful(half, {.limit = exactly}));
    CHECK(is_doubtful(half, {.limit = exactly, .rule = doubt_rule::at_or_below}));
    CHECK_FALSE(is_doubtful(biden, {.limit = 0.0f}));
    CHECK(is_doubtful(biden, {.limit = 1.0f}));
}

TEST_CASE("marks and spaces alone are not doubtful unless asked for") {
    const auto marks = token_list({{"word", .9}, {",", .1}, {" \n", .1}});
    CHECK_FALSE(is_doubtful(marks, {.limit = .8f}));
    CHECK(is_doubtful(marks, {.limit = .8f, .marks_too = true}));
}

TEST_CASE("doubtful tokens near each other are one run, with or without padding") {
    using texts = std::vector<std::string>;
    CHECK(runs_in(.4f, 5, 0) == texts{" b c d e", " j"});
    CHECK(runs_in(.2f, 5, 2) == texts{" b c d e f g", " j"});
    CHECK(runs_in(.05f, 5, 2).empty());
}

TEST_CASE("tokens are found by the bytes they stand on") {
    CHECK(tokens_of(alphabet, 1, 5).size() == 2);
    CHECK(tokens_of(alphabet, 1, 5).front().text == " b");
    CHECK(tokens_of(alphabet, 0, 1).size() == 1);
    CHECK(tokens_of(alphabet, 100, 200).empty());
    CHECK(least_log_probability(tokens_of(alphabet, 0, 3)) == Approx(std::log(.1)));
    CHECK(least_log_probability({}) == 0.0f);
}

TEST_CASE("a stated confidence is one whole number in range, however it is dressed") {
    for (const char* reply :
         {"4", " 4\n", "4/5", "**4**", "I would say 4.", "Confidence: 4", "4 (doc 2 is old)", "```\n4\n```"}) {
        CAPTURE(reply);
        CHECK(stated_in(reply) == 4);
    }
    CHECK(stated_in("5 out of 5") == 5);
    for (const char* reply : {"1-5",
                              "1\xE2\x80\x93"
                              "5",
                              "between 3 and 4",
                              "ten",
                              "85%",
                              "",
                              "N/A",
                              "NaN",
                              "inf",
                              "-3",
                              "0",
                              "6",
                              "99999999999999999999",
                              "I cannot say",
                              "10/10",
                              "8 out of 10",
                              "4.5",
                              "four",
                              "five",
                              "\xEF\xBC\x94"}) {
        CAPTURE(reply);
        CHECK_FALSE(stated_in(reply));
    }
}

TEST_CASE("samples agree where half of their words are the same") {
    const std::vector<std::string> alike{"Paris is the capital", "the capital is Paris", "It is Paris, the capital"};
    CHECK(agreement(alike) == 1.0f);
    const std::vector<std::string> apart{"Paris", "Rome", "Paris"};
    CHECK(agreement(apart) == .5f);
    CHECK(agreement(std::vector<std::string>{"one"}) == 1.0f);
    CHECK(agreement({}) == 0.0f);
    CHECK(agreement(std::vector<std::string>{"", ""}) == 0.0f);
}

TEST_CASE("the first sentence is one that says something") {
    CHECK(first_sentence(" It is 3.3 km. Then more.") == "It is 3.3 km.");
    CHECK(first_sentence("Dr. Who came. He left.") == "Dr. Who came.");
    CHECK(first_sentence("A. Then this. And that.") == "A. Then this.");
    CHECK(first_sentence("no end") == "no end");
    CHECK(first_sentence("  ").empty());
}

TEST_CASE("the worked example of Self-RAG") {
    CHECK(retrieve_share(.3, .6) == Approx(1.0 / 3));
    CHECK(retrieve_share(0, 0) == 0.0);
    const double useful[] = {.05, .05, .1, .3, .5};
    CHECK(self_rag_score(.9, .6, .3, useful) == Approx(1.9375));
}
