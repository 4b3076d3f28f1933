#include "quarry/math/gaussian_mixture.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

const std::vector<double> two_heaps{0, .1, -.1, 10, 10.1, 9.9};

// Sums of uniform numbers, near enough to normal; around (0, 0) with a slant and around (8, 8).
std::vector<double> two_clouds(std::size_t n) {
    detail::splitmix64 random(3);
    const auto normal = [&] {
        double sum = 0.0;
        for (int i = 0; i < 12; ++i) sum += random.symmetric() / 2.0;
        return sum;
    };
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = normal(), y = normal(), away = i % 2 == 0 ? 0.0 : 8.0;
        out.push_back(away + x);
        out.push_back(away + (i % 2 == 0 ? x + y / 2 : y));
    }
    return out;
}

}  // namespace

TEST_CASE("mixture: numbers left open, for every shape of covariance") {
    // In 10 dimensions, 1, 2 and 5 components: full 65, 131, 329; diagonal 20, 41, 104; spherical 11, 23, 59.
    CHECK(free_parameters(1, 10, covariance::full) == 65);
    CHECK(free_parameters(2, 10, covariance::full) == 131);
    CHECK(free_parameters(5, 10, covariance::full) == 329);
    CHECK(free_parameters(1, 10, covariance::diagonal) == 20);
    CHECK(free_parameters(2, 10, covariance::diagonal) == 41);
    CHECK(free_parameters(5, 10, covariance::diagonal) == 104);
    CHECK(free_parameters(1, 10, covariance::spherical) == 11);
    CHECK(free_parameters(2, 10, covariance::spherical) == 23);
    CHECK(free_parameters(5, 10, covariance::spherical) == 59);
}

TEST_CASE("mixture: one component is mean and variance, and its likelihood is the closed form") {
    // Variance 25 + .02/3; ln L = -3 (ln(2 pi v) + 1); criterion 2 ln 6 - 2 ln L = 39.9256.
    for (const covariance shape : {covariance::full, covariance::diagonal, covariance::spherical}) {
        const gaussian_mixture g = fit_mixture(two_heaps, 1, 1, {.shape = shape});
        CHECK(g[0].mean[0] == Approx(5.0));
        CHECK(g[0].covariances[0] == Approx(25 + .02 / 3));
        CHECK(g.log_likelihood(two_heaps) == Approx(-3 * (std::log(2 * 3.14159265358979 * (25 + .02 / 3)) + 1)));
        CHECK(g.bic(two_heaps) == Approx(39.9256).epsilon(1e-5));
    }
}

TEST_CASE("mixture: the criterion chooses two components for two heaps, and one for one cloud") {
    const gaussian_mixture two = fit_mixture(two_heaps, 1, 2);
    CHECK(two.log_likelihood(two_heaps) == Approx(2.3594).epsilon(1e-4));
    CHECK(two.bic(two_heaps) == Approx(4.24).epsilon(1e-3));
    // A heap may be split further at will: three components for six points are no finding, so two are tried here.
    CHECK(mixture_by_bic(two_heaps, 1, {.most = 2}).size() == 2);
    const std::vector<double> clouds = two_clouds(400);
    CHECK(mixture_by_bic(clouds, 2, {.most = 6}).size() == 2);
    std::vector<double> one;
    for (std::size_t i = 0; i < clouds.size(); i += 4) one.insert(one.end(), {clouds[i], clouds[i + 1]});
    CHECK(mixture_by_bic(one, 2, {.most = 6}).size() == 1);
}

TEST_CASE("mixture: rounds of expectation and maximisation from a given start arrive where they should") {
    // .9998 and 8.3324, variances .4999 and 2.6444. From 1 and 9 the points are their own mirror image, and the point
    // in the middle stays shared as long as no rounding tips it: so the start is a little off.
    const std::vector<double> points{0, .5, 1, 1.5, 2, 5, 8, 8.5, 9, 9.5, 10};
    const gaussian_mixture start(1, covariance::full, {{.5, {1}, {1}}, {.5, {8.9}, {1}}});
    const gaussian_mixture g = start.refined(points, {.iterations = 100, .tolerance = 0.0});
    CHECK(g[0].mean[0] == Approx(.9998).margin(1e-4));
    CHECK(g[1].mean[0] == Approx(8.3324).margin(1e-4));
    CHECK(g[0].covariances[0] == Approx(.4999).margin(1e-4));
    CHECK(g[1].covariances[0] == Approx(2.6444).margin(1e-4));
    // A point half way is not soft because of that.
    const double middle[] = {5.0};
    CHECK(g.memberships(middle, .1) == std::vector<std::size_t>{1});
}

TEST_CASE("mixture: no round makes the likelihood smaller") {
    const std::vector<double> rows = two_clouds(120);
    for (const covariance shape : {covariance::full, covariance::diagonal, covariance::spherical}) {
        gaussian_mixture g = fit_mixture(rows, 2, 4, {.shape = shape, .iterations = 0});
        double before = g.log_likelihood(rows);
        for (int round = 0; round < 20; ++round) {
            g = g.refined(rows, {.shape = shape, .iterations = 1, .floor = 1e-12});
            const double after = g.log_likelihood(rows);
            CHECK(after >= before - 1e-6);
            before = after;
        }
    }
}

TEST_CASE("mixture: shares sum to one, and a point between equal components belongs to both") {
    const gaussian_mixture g(2, covariance::diagonal, {{.5, {0, 0}, {1, 1}}, {.5, {4, 0}, {1, 1}}});
    const double middle[] = {2, 5}, left[] = {0, 0}, far[] = {1e6, -1e6};
    CHECK(g.shares(middle)[0] == Approx(.5));
    CHECK(g.memberships(middle, .1) == std::vector<std::size_t>{0, 1});
    // The odds at the left mean are exp(16/2) to 1.
    CHECK(g.shares(left)[1] == Approx(1 / (1 + std::exp(8.0))));
    CHECK(g.memberships(left, .1) == std::vector<std::size_t>{0});
    CHECK(g.memberships(middle, .6) ==
          std::vector<std::size_t>{0});  // none has so much: the largest, the first of equals
    const std::vector<double> s = g.shares(far);
    CHECK(s[0] + s[1] == Approx(1.0));
}

TEST_CASE("mixture: density with a full covariance by hand") {
    // Covariance [[2, 1], [1, 2]]: determinant 3, inverse [[2, -1], [-1, 2]] / 3. At (1, 0): square 2/3.
    const gaussian_mixture g(2, covariance::full, {{1.0, {0, 0}, {2, 1, 1, 2}}});
    const double at[] = {1, 0};
    CHECK(g.log_likelihood(at) == Approx(-std::log(2 * 3.14159265358979) - std::log(3.0) / 2 - 1.0 / 3));
}

TEST_CASE("mixture: rows that coincide end, and large numbers stay positive definite") {
    const std::vector<double> same(40, 2.5);
    CHECK(mixture_by_bic(same, 2).size() == 1);
    std::vector<double> line;
    for (int i = 0; i < 30; ++i) line.insert(line.end(), {1e7 + 1e6 * i, 1e7 - 1e6 * i, 1e7});
    CHECK(detail::is_finite(fit_mixture(line, 3, 3).log_likelihood(line)));
}

TEST_CASE("mixture: what is no mixture is refused") {
    const std::vector<double> rows{1, 2, 3};
    CHECK(code_of([&] { fit_mixture(rows, 2, 1); }) == "mixture.rows");
    CHECK(code_of([&] { fit_mixture({}, 2, 1); }) == "mixture.rows");
    CHECK(code_of([&] { fit_mixture(rows, 1, 0); }) == "mixture.options");
    CHECK(code_of([&] { fit_mixture(rows, 1, 1, {.floor = 0.0}); }) == "mixture.options");
    const std::vector<double> broken{1, std::numeric_limits<double>::quiet_NaN()};
    CHECK(code_of([&] { fit_mixture(broken, 1, 1); }) == "mixture.not_finite");
    CHECK(code_of([] {
              gaussian_mixture(2, covariance::full, {{1.0, {0, 0}, {1, 2, 2, 1}}});
          }) == "mixture.components");
    CHECK(code_of([] { gaussian_mixture(2, covariance::full, {{1.0, {0, 0}, {1, 1}}}); }) == "mixture.components");
    CHECK(code_of([] { gaussian_mixture(1, covariance::spherical, {{1.0, {0}, {0}}}); }) == "mixture.components");
}

TEST_CASE("principal components: coordinates keep the distances of rows that span a plane, and have mean 0") {
    detail::splitmix64 random(1);
    std::vector<float> rows;
    std::vector<double> plane;
    for (int i = 0; i < 40; ++i) {
        const double a = 3 * random.symmetric(), b = random.symmetric();
        plane.insert(plane.end(), {a, b});
        // Two orthonormal directions of four: (1, 1, 1, 1) / 2 and (1, -1, 1, -1) / 2, and an offset.
        for (int j = 0; j < 4; ++j) rows.push_back(static_cast<float>(5 + a / 2 + (j % 2 == 0 ? b : -b) / 2));
    }
    const reduced_rows r = principal_components(rows, 4, 2);
    REQUIRE(r.dimension == 2);
    double sums[2] = {0, 0}, squares[2] = {0, 0};
    for (std::size_t i = 0; i < 80; ++i)
        sums[i % 2] += r.coordinates[i], squares[i % 2] += std::pow(r.coordinates[i], 2);
    CHECK(sums[0] == Approx(0.0).margin(1e-4));
    CHECK(sums[1] == Approx(0.0).margin(1e-4));
    CHECK(squares[0] > squares[1]);
    for (std::size_t i = 1; i < 40; ++i) {
        const auto distance = [&](const std::vector<double>& x) {
            return std::hypot(x[2 * i] - x[0], x[2 * i + 1] - x[1]);
        };
        CHECK(distance(r.coordinates) == Approx(distance(plane)).margin(1e-5));
    }
    CHECK(principal_components(rows, 4, 3).dimension <= 3);
    CHECK(principal_components({}, 4, 2).dimension == 0);
    CHECK(code_of([&] { principal_components(rows, 3, 2); }) == "mixture.rows");
}
