#include "quarry/rank/fuser.hpp"

#include <array>

#include "support/catch.hpp"

using namespace quarry;

namespace {

// Scores 8, 6, 4, 2: mean 5, sum of squares 20, deviation sqrt(5), of a sample sqrt(20 / 3).
leg_summary four_hits() {
    leg_summary leg;
    leg.weight = 0.5f;
    leg.bounds = {1.0f, 9.0f};
    leg.size = 4;
    leg.best = 8.0f;
    leg.worst = 2.0f;
    leg.mean = 5.0;
    leg.deviation = 2.2360679774997896;
    leg.sample_deviation = 2.581988897471611;
    return leg;
}

}  // namespace

TEST_CASE("each fuser's part of a hit is its formula's") {
    const leg_summary leg = four_hits();
    CHECK(rrf{}.contribution(leg, 3, 4.0f) == Approx(0.5 / 63));
    CHECK(convex{}.contribution(leg, 3, 4.0f) == Approx(0.5 * 4 / 8));
    CHECK(relative_score{}.contribution(leg, 3, 4.0f) == Approx(0.5 * (4 - 2) / (8 - 2)));
    CHECK(distribution_based{}.contribution(leg, 3, 4.0f) == Approx(0.5 * (0.5 - 1 / (6 * 2.581988897471611))));
    CHECK(distribution_based{.population = true}.contribution(leg, 3, 4.0f) ==
          Approx(0.5 * (0.5 - 1 / (6 * 2.2360679774997896))));
    CHECK(bounded{}.contribution(leg, 3, 4.0f) == Approx(0.5 * (4 - 1) / (9 - 1)));
    CHECK(bounded{}.contribution(leg, 3, 20.0f) == 0.5f);  // beyond its bound
}

TEST_CASE("parts are added, and those of bounded fusion folded") {
    const std::array parts{0.25f, 0.5f, 1.0f};
    CHECK(rrf{}.combine(parts) == 1.75f);
    // .25 + .5 - .75 * .125 = .65625; and 1 more - .75 * .65625
    CHECK(bounded{}.combine(parts) == Approx(1.1640625));
    CHECK(bounded{.overlap = 0.0f}.combine(parts) == 1.75f);
}
