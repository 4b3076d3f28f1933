#include "quarry/rank/late_interaction.hpp"

#include <limits>

#include "quarry/rank/rerank.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

const token_rows asked_tokens{2, {1, 0, 0, 1}}, first_tokens{2, {1, 0, .6f, .8f}}, second_tokens{2, {.8f, .6f}};

// "a" is (1, 0), "b" is (0, 1), any other letter a masked token.
token_rows letter_rows(role, std::string_view text) {
    token_rows out{2, {}};
    for (const char c : text) {
        out.rows.push_back(c == 'a' ? 1.0f : 0.0f);
        out.rows.push_back(c == 'b' ? 1.0f : 0.0f);
    }
    return out;
}

}  // namespace

TEST_CASE("the worked example of sums of largest cosines") {
    CHECK(max_sim(asked_tokens, first_tokens) == Approx(1.8));
    CHECK(max_sim(asked_tokens, second_tokens) == Approx(1.4));
    // The other way round it is another number.
    CHECK(max_sim(first_tokens, asked_tokens) == Approx(1.8));
    CHECK(max_sim(second_tokens, asked_tokens) == Approx(.8));
}

TEST_CASE("a passage without rows has the lowest score, not 0") {
    CHECK(max_sim(asked_tokens, {2, {}}) == -2.0f);
    CHECK(max_sim(asked_tokens, {2, {0, 0}}) == -2.0f);
}

TEST_CASE("masked rows take no part") {
    CHECK(max_sim({2, {1, 0}}, {2, {-1, 0, 0, 0}}) == -1.0f);
    CHECK(max_sim({2, {1, 0, 0, 0}}, {2, {1, 0}}) == 1.0f);
}

TEST_CASE("as a judge it orders candidates, embeds the question once, and is comparable by its mean") {
    const corpus c = toy::corpus_of({"b", "ab", "xx"});
    const toy::listed<bm25_scale> base(c, {{0, 3.0f}, {1, 2.0f}, {2, 1.0f}});
    std::vector<std::string> shown;
    const auto embedder = [&](role r, std::string_view text) {
        if (r == role::query) shown.emplace_back(text);
        return letter_rows(r, text);
    };
    const auto found = (base | rerank(late_interaction(embedder), {.judging = {.batch = 1}})).retrieve("ab", 3);
    CHECK(toy::units(found) == std::vector<std::uint32_t>{1, 0, 2});
    CHECK(found[0].score == 2.0f);
    CHECK(found[2].score == -2.0f);
    CHECK(shown.size() == 1);
    CHECK((base | rerank(late_interaction(letter_rows, {.mean = true}))).retrieve("ab", 3)[0].score == 1.0f);
}

TEST_CASE("rows of another width, half a row and a NaN are refused with the text") {
    const corpus c = toy::corpus_of({"x"});
    const toy::listed<bm25_scale> base(c, {{0, 1.0f}});
    const auto refused = [&](token_rows rows) {
        const auto embedder = [&](role r, std::string_view text) {
            return r == role::query ? letter_rows(r, text) : rows;
        };
        return code_of([&] { (base | rerank(late_interaction(embedder))).retrieve("ab", 1); });
    };
    CHECK(refused({3, {1, 0, 0}}) == "late_interaction.dimension");
    CHECK(refused({2, {1, 0, 0}}) == "late_interaction.dimension");
    CHECK(refused({0, {1}}) == "late_interaction.dimension");
    CHECK(refused({2, {1, std::numeric_limits<float>::quiet_NaN()}}) == "late_interaction.not_finite");
}
