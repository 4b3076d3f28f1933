#include "quarry/rank/pointwise.hpp"

#include <atomic>

#include "quarry/rank/rerank.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

std::optional<float> score_in(const std::string& reply, int most = 10) {
    return read_score(completion(reply), most).score;
}

struct three_pages {
    corpus c = toy::corpus_of({"apple", "pear", "plum"});
    toy::listed<bm25_scale> base{c, {{0, 3.0f}, {1, 2.0f}, {2, 1.0f}}};
};

}  // namespace

TEST_CASE("the first number of a reply is its score, if it is in range") {
    CHECK(score_in("7") == 7.0f);
    CHECK(score_in(" 7.\n") == 7.0f);
    CHECK(score_in("7/10") == 7.0f);
    CHECK(score_in("7.5") == 7.5f);
    CHECK(score_in("Score: 3, since it says little") == 3.0f);
    CHECK(score_in("1. The claim is false.\n2. The claim is true.") == 1.0f);
    CHECK(score_in("```\n4\n```") == 4.0f);
    CHECK(score_in("Score (0-10): 7") == 7.0f);
    CHECK(score_in("From 1 to 10 I give it a 4.") == 4.0f);
    CHECK(score_in("On a scale from 0 to 10") == std::nullopt);
    CHECK(score_in("0 to 100: 7") == 0.0f);
    CHECK(score_in("1 \xE2\x80\x93 it says little") == 1.0f);
    for (const char* reply : {"", "none", "-3", "11", "10000000000000000000000000", "H2A"}) {
        CAPTURE(reply);
        CHECK_FALSE(score_in(reply));
    }
    CHECK_FALSE(score_in("7", 5));
}

TEST_CASE("a reply of a number alone is told from one with words") {
    CHECK(read_score(completion("7")).alone);
    CHECK(read_score(completion("7/10.")).alone);
    CHECK_FALSE(read_score(completion("7 of 10")).alone);
    CHECK_FALSE(read_score(completion("about 7")).alone);
}

TEST_CASE("each passage is asked about once, and the numbers are the order") {
    const three_pages w;
    const auto model = scripted_generator::table({{"apple", "1"}, {"pear", "9"}, {"plum", "5/10"}});
    const auto search = w.base | rerank(pointwise(ref(model)));
    const auto found = search.retrieve("which fruit?", 3);
    CHECK(toy::units(found) == std::vector<std::uint32_t>{1, 2, 0});
    CHECK(found[0].score == 9.0f);
    CHECK(model.calls() == 3);
    for (const prompt& p : model.asked()) CHECK(p.whole().find("which fruit?") != std::string::npos);
    const query q("which fruit?");
    request r(q, w.c);
    search.run(r, 3);
    search.run(r, 2);
    CHECK(model.calls() == 6);
    CHECK(r.paid_calls() == 3);
}

TEST_CASE("a passage whose reply holds no number gets the mean of the others") {
    const three_pages w;
    const auto model = scripted_generator::table({{"apple", "2"}, {"pear", "I cannot say"}, {"plum", "6"}});
    const auto found = (w.base | rerank(pointwise(ref(model)))).retrieve("q", 3);
    CHECK(toy::units(found) == std::vector<std::uint32_t>{2, 1, 0});
    CHECK(found[1].score == 4.0f);
}

TEST_CASE("without any number the judge has failed") {
    const three_pages w;
    const auto model = scripted_generator::table({{"", "I really appreciate your response, thank you!"}});
    CHECK(code_of([&] { (w.base | rerank(pointwise(ref(model)))).retrieve("q", 3); }) == "pointwise.unreadable");
    const auto kept = (w.base | rerank_first(pointwise(ref(model)))).retrieve("q", 3);
    CHECK(toy::units(kept) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(kept.state == result_state::degraded);
    CHECK(code_of([&] { pointwise(ref(model), {.most = 0}); }) == "pointwise.most");
}

TEST_CASE("calls that overlap give the scores of one at a time") {
    const corpus c = toy::numbered(30);
    toy::scored_units hits;
    for (std::uint32_t i = 0; i < 30; ++i) hits.emplace_back(i, static_cast<float>(30 - i));
    const toy::listed<bm25_scale> base(c, hits);
    const scripted_generator model([](const prompt& p) {
        const std::string text = p.text();
        return completion(std::to_string(text.size() * 7919 % 11));
    });
    const auto one = (base | rerank(pointwise(ref(model)))).retrieve("q", 30);
    const auto many = (base | rerank(pointwise(ref(model), {.at_once = 4}))).retrieve("q", 30);
    CHECK(toy::units(one) == toy::units(many));
}
