#include "quarry/eval/compare.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

// Uniform in [0, 1), independent of the library's own generator.
struct uniform {
    std::uint32_t seed;
    double operator()() { return static_cast<double>((seed = seed * 1664525u + 1013904223u) >> 8) / 16777216.0; }
};

}  // namespace

TEST_CASE("the interval of two questions is what can be counted by hand") {
    // Differences 0 and 1: a draw of two has mean 0, .5 or 1 with probability 1/4, 1/2, 1/4.
    const std::vector<double> a{0, 1}, b{0, 0};
    const comparison wide = compare({.a = a, .b = b}, {.confidence = .95});
    CHECK(wide.difference == .5);
    CHECK(wide.low == 0.0);
    CHECK(wide.high == 1.0);
    const comparison narrow = compare({.a = a, .b = b}, {.confidence = .4});  // the middle 40 % is all .5
    CHECK(narrow.low == .5);
    CHECK(narrow.high == .5);
    CHECK(wide.better == 1);
    CHECK(wide.worse == 0);
    CHECK(wide.equal == 1);
}

TEST_CASE("with many questions the interval is that of the normal distribution") {
    uniform random{1};
    std::vector<double> a, b;
    for (int i = 0; i < 1000; ++i) a.push_back(random() + .1), b.push_back(random());
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) mean += (a[i] - b[i]) / 1000;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    const double error = std::sqrt(squares / 1000 / 1000);  // about .013
    const comparison c = compare({.a = a, .b = b});
    CHECK(c.difference == Approx(mean));
    // 10,000 draws find a tail of 2.5 % to within .2 %, which is .04 standard errors there; three times that.
    CHECK(c.low == Approx(mean - 1.96 * error).margin(.12 * error));
    CHECK(c.high == Approx(mean + 1.96 * error).margin(.12 * error));
}

TEST_CASE("the interval holds the truth about as often as it says") {
    // 400 experiments of 40 questions with a true difference of .05. Nominal 90 %; a percentile interval is a little
    // short at this size (the t distribution: 89.2 %), and 400 experiments are sure to 1.5 % (one deviation).
    uniform random{7};
    int held = 0;
    for (int experiment = 0; experiment < 400; ++experiment) {
        std::vector<double> a, b;
        for (int i = 0; i < 40; ++i) a.push_back(random() + .05), b.push_back(random());
        const comparison c = compare({.a = a, .b = b}, {.draws = 1000, .confidence = .9});
        held += c.low <= .05 && .05 <= c.high;
    }
    CHECK(held >= 338);  // 84.5 %
    CHECK(held <= 380);  // 95 %
}

TEST_CASE("the same input gives the same interval, another seed another one, and exchanging a and b turns it round") {
    uniform random{3};
    std::vector<double> a, b;
    for (int i = 0; i < 50; ++i) a.push_back(random()), b.push_back(random());
    const comparison once = compare({.a = a, .b = b}), again = compare({.a = a, .b = b});
    CHECK(once.low == again.low);
    CHECK(once.high == again.high);
    CHECK(compare({.a = a, .b = b}, {.seed = 2}).low != once.low);
    const comparison turned = compare({.a = b, .b = a});
    CHECK(turned.difference == Approx(-once.difference));
    CHECK(turned.low == Approx(-once.high));
    CHECK(turned.high == Approx(-once.low));
    CHECK(turned.better == once.worse);
}

TEST_CASE("equal values differ by nothing, certainly") {
    const std::vector<double> a{.3, .7, 0, 1};
    const comparison c = compare({.a = a, .b = a});
    CHECK(c.low == 0.0);
    CHECK(c.high == 0.0);
    CHECK(c.equal == 4);
}

TEST_CASE("one draw is an interval too") {
    const std::vector<double> a{1}, b{.5};
    const comparison c = compare({.a = a, .b = b}, {.draws = 1});
    CHECK(c.low == .5);
    CHECK(c.high == .5);
}

TEST_CASE("values that do not pair, are no numbers, or make no interval are refused with both numbers") {
    const std::vector<double> two{1, 2}, three{1, 2, 3}, none, bad{1, std::numeric_limits<double>::quiet_NaN()};
    CHECK(message_of([&] { compare({.a = two, .b = three}); }).find("got 2 and 3") != std::string::npos);
    CHECK(code_of([&] { compare({.a = none, .b = none}); }) == "compare.pairs");
    CHECK(code_of([&] { compare({.a = two, .b = bad}); }) == "compare.not_finite");
    CHECK(code_of([&] { compare({.a = two, .b = two}, {.confidence = 1.0}); }) == "compare.options");
    CHECK(code_of([&] { compare({.a = two, .b = two}, {.draws = 0}); }) == "compare.options");
}
