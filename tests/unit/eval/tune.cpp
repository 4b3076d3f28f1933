#include "quarry/eval/tune.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

// The dial that these weights stand for.
double dial_of(const std::vector<float>& weights) {
    return weights[0] < 1.0f ? 1.0 - static_cast<double>(weights[0]) / 2 : static_cast<double>(weights[1]) / 2;
}

// n questions, each worth `slope` times the dial.
auto sloping(std::size_t n, double slope) {
    return [=](const std::vector<float>& weights) { return std::vector<double>(n, slope * dial_of(weights)); };
}

}  // namespace

TEST_CASE("the dial leaves one leg alone at its ends and weighs both in full in its middle") {
    CHECK(dial_weights(0.0) == std::vector<float>{1.0f, 0.0f});
    CHECK(dial_weights(0.25) == std::vector<float>{1.0f, 0.5f});
    CHECK(dial_weights(0.5) == std::vector<float>{1.0f, 1.0f});
    CHECK(dial_weights(0.75) == std::vector<float>{0.5f, 1.0f});
    CHECK(dial_weights(1.0) == std::vector<float>{0.0f, 1.0f});
}

TEST_CASE("a dial moves as far as its questions are worth against the pull, worked out by hand") {
    // s a - .3 (a - .5)^2 10/n is largest at a - .5 = s n / 6, up to a step of .05.
    CHECK(tune_dial(sloping(10, 0.0)).dial == 0.5);
    CHECK(tune_dial(sloping(10, 0.1)).dial == 0.65);   // .667: .65 has .05825, .7 has .058
    CHECK(tune_dial(sloping(20, 0.1)).dial == 0.85);   // .833: .85 has .066625, .8 has .0665
    CHECK(tune_dial(sloping(10, -0.1)).dial == 0.35);  // the mirror image
    CHECK(tune_dial(sloping(100, 0.1)).dial == 1.0);   // 2.17
    CHECK(tune_dial(sloping(10, 0.001), {.pull = 0.0}).dial == 1.0);
}

TEST_CASE("among equal positions the one nearest to the middle is chosen, and then the lower") {
    const auto ends = [](const std::vector<float>& weights) {  // two positions equally far from the middle
        const double a = dial_of(weights);
        return std::vector<double>(4, std::abs(a - 0.3) < 0.01 || std::abs(a - 0.7) < 0.01 ? 10.0 : 0.0);
    };
    CHECK(tune_dial(ends).dial == 0.3);
}

TEST_CASE("a question has no part in choosing the dial it is measured at") {
    // One question wants the first leg, the other the second. Together they choose the middle; each alone moves the dial
    // to where 1/6 is lost by the other: a - .3 (a - .5)^2 10 is largest at .667, so at the step .65, and the other
    // question is worth .35 there in place of .5.
    const auto opposed = [](const std::vector<float>& weights) {
        const double a = dial_of(weights);
        return std::vector<double>{a, 1.0 - a};
    };
    const tuned_dial found = tune_dial(opposed);
    CHECK(found.dial == 0.5);
    CHECK(found.held_back.difference == Approx(-0.15));
    CHECK(found.held_back.worse == 2);
    CHECK(found.held_back.high == Approx(-0.15));
}

TEST_CASE("what is gained on questions held back is what a plain loop over the folds finds") {
    // Three of four questions want the second leg, so every fold's others choose it.
    const auto mostly = [](const std::vector<float>& weights) {
        const double a = dial_of(weights);
        std::vector<double> values;
        for (int q = 0; q < 100; ++q) values.push_back(q % 4 == 0 ? 1.0 - a : a);
        return values;
    };
    const tuned_dial found = tune_dial(mostly, {.folds = 100});  // each question by itself
    // Of 99 others 74 or 75 want it: their mean rises by .49 or more, and 99/6 of that is beyond the dial's end.
    CHECK(found.dial == 1.0);
    CHECK(found.held_back.difference == Approx(0.25));  // 75 gain a half, 25 lose it
    CHECK(found.held_back.better == 75);
    CHECK(found.held_back.worse == 25);
    CHECK(found.held_back.low < found.held_back.difference);
    CHECK(found.held_back.high > found.held_back.difference);
    const tuned_dial five = tune_dial(mostly);
    CHECK(five.held_back.difference == Approx(0.25));
    CHECK(tune_dial(mostly, {.seed = 7}).held_back.difference == Approx(0.25));
    CHECK(tune_dial(mostly).held_back.low == five.held_back.low);  // the same every time
}

TEST_CASE("values that are missing, or no numbers, are refused") {
    const auto code_for = [](const auto& measure, const tune_options& options = {}) {
        return code_of([&] { tune_dial(measure, options); });
    };
    CHECK(code_for(sloping(0, 1.0)) == "tune.questions");
    CHECK(code_for(sloping(1, 1.0)) == "tune.questions");
    CHECK(code_for([](const std::vector<float>& weights) {
              return std::vector<double>(weights[0] < 1.0f ? 3 : 4);
          }) == "tune.questions");
    CHECK(code_for(sloping(2, std::numeric_limits<double>::quiet_NaN())) == "compare.not_finite");
    CHECK(code_for(sloping(2, 1.0), {.folds = 1}) == "tune.options");
    CHECK(code_for(sloping(2, 1.0), {.pull = -1.0}) == "tune.options");
}
