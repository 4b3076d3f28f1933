#include "quarry/math/kmeans.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

using groups = std::vector<std::vector<std::size_t>>;

std::vector<float> directions(const std::vector<double>& degrees, double length = 1.0) {
    std::vector<float> out;
    for (const double x : degrees) {
        out.push_back(static_cast<float>(length * std::cos(x * std::numbers::pi / 180)));
        out.push_back(static_cast<float>(length * std::sin(x * std::numbers::pi / 180)));
    }
    return out;
}

std::vector<float> scattered(std::size_t n, std::size_t d, std::uint64_t seed) {
    detail::splitmix64 random(seed);
    std::vector<float> out(n * d);
    for (float& x : out) x = static_cast<float>(random.symmetric());
    return out;
}

// The dull twin: the sum of squared distances to the means, straight from the definition.
double spread(const std::vector<float>& rows, std::size_t d, const clustering& c) {
    double sum = 0.0;
    for (const auto& group : c.members())
        for (std::size_t j = 0; j < d; ++j) {
            double mean = 0.0;
            for (const std::size_t i : group) mean += static_cast<double>(rows[i * d + j]) / double(group.size());
            for (const std::size_t i : group) sum += std::pow(static_cast<double>(rows[i * d + j]) - mean, 2);
        }
    return sum;
}

// The least spread of any grouping of few rows into k, by trying all.
double least_spread(const std::vector<float>& rows, std::size_t d, std::size_t k) {
    const std::size_t n = rows.size() / d;
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> of(n, 0);
    for (;;) {
        if (std::set<std::uint32_t>(of.begin(), of.end()).size() == k)
            least = (std::min)(least, spread(rows, d, {k, of, {}, 0.0}));
        std::size_t i = 0;
        while (i < n && ++of[i] == k) of[i++] = 0;
        if (i == n) return least;
    }
}

}  // namespace

TEST_CASE("kmeans: two fans of directions are two groups, with the middle direction as centre") {
    // Unit vectors at 0, 10, 20, 80, 90 and 100 degrees: centres at 10 and 90.
    // Mean cosine to the own centre: (2 + 4 cos 10) / 6 = .989872.
    const std::vector<float> rows = directions({0, 10, 20, 80, 90, 100});
    const clustering c = kmeans(rows, 2, {.clusters = 2});
    CHECK(c.members() == groups{{0, 1, 2}, {3, 4, 5}});
    double mean = 0.0;
    for (std::size_t i = 0; i < 6; ++i)
        mean += dot(std::span(rows).subspan(2 * i, 2), std::span(c.centroids).subspan(2 * c.cluster_of[i], 2)) / 6;
    CHECK(mean == Approx(0.989872).epsilon(1e-6));
    CHECK(c.centroids[0] == Approx(std::cos(std::numbers::pi / 18)));
    CHECK(c.centroids[3] == Approx(1.0));
}

TEST_CASE("kmeans: the spherical form does not look at lengths, and the other does") {
    std::vector<float> rows = directions({0, 10, 90, 100});
    for (std::size_t j = 0; j < 2; ++j) rows[j] *= 50, rows[4 + j] *= 50;  // the first and the third
    CHECK(kmeans(rows, 2, {.clusters = 2}).members() == groups{{0, 1}, {2, 3}});
    CHECK(kmeans(rows, 2, {.clusters = 3, .spherical = false}).members() == groups{{0}, {1, 3}, {2}});
}

TEST_CASE("kmeans: the best grouping of few rows is found, and its spread is what the definition says") {
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
        const std::vector<float> rows = scattered(9, 2, seed);
        for (const std::size_t k : {1u, 2u, 3u}) {
            const clustering c = kmeans(rows, 2, {.clusters = k, .spherical = false, .restarts = 20});
            CHECK(c.clusters == k);
            CHECK(c.inertia == Approx(spread(rows, 2, c)).epsilon(1e-6));
            CHECK(c.inertia == Approx(least_spread(rows, 2, k)).epsilon(1e-6));
        }
    }
}

TEST_CASE("kmeans: every row is in the group whose centre is nearest, and no group is empty") {
    for (const bool spherical : {true, false})
        for (const std::size_t k : {1u, 7u, 40u, 119u, 120u, 500u}) {
            std::vector<float> rows = scattered(120, 5, k);
            const clustering c = kmeans(rows, 5, {.clusters = k, .spherical = spherical, .restarts = 2});
            CHECK(c.clusters == (std::min)(k, std::size_t{120}));
            CHECK(c.centroids.size() == 5 * c.clusters);
            for (const auto& group : c.members()) CHECK(!group.empty());
            if (spherical)
                for (std::size_t i = 0; i < 120; ++i) normalize(std::span(rows).subspan(5 * i, 5));
            std::size_t astray = 0;
            for (std::size_t i = 0; i < 120; ++i) {
                const auto away = [&](std::size_t g) {
                    return detail::squared_distance(std::span(rows).subspan(5 * i, 5),
                                                    std::span(c.centroids).subspan(5 * g, 5));
                };
                for (std::size_t g = 0; g < c.clusters; ++g) astray += away(g) < away(c.cluster_of[i]) - 1e-5;
            }
            CHECK(astray == 0);
        }
}

TEST_CASE("kmeans: bounds decide nothing wrong: every row is with the centre that is nearest in double, at any width and length") {
    std::mt19937 random(21);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (const std::size_t d : {2u, 31u, 32u, 70u})
        for (const bool spherical : {true, false})
            for (const float size : {1.0f, 1e-17f, 1e14f, 1e16f}) {
                constexpr std::size_t n = 150;
                std::vector<float> rows(n * d);
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t j = 0; j < d; ++j)
                        // Close to each other, some equal, some with a single large component.
                        rows[i * d + j] = i % 10 == 9  ? rows[(i - 1) * d + j]
                                          : i % 7 == 3 ? (j == 0 ? 30.0f * size : 0.0f)
                                                       : size * (1.0f + 0.05f * uniform(random));
                const auto made = kmeans(rows, d, {.clusters = 9, .spherical = spherical, .restarts = 1, .iterations = 1000});
                CAPTURE(d, spherical, size);
                for (std::size_t i = 0; i < n; ++i) {
                    std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(i * d),
                                           rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
                    if (spherical) normalize(row);
                    const auto near = [&](std::size_t c) {
                        const auto centre = std::span(made.centroids).subspan(c * d, d);
                        return dot(row, centre) - dot(centre, centre) / 2.0;
                    };
                    for (std::size_t c = 0; c < made.clusters; ++c) REQUIRE(near(made.cluster_of[i]) >= near(c));
                }
            }
}

TEST_CASE("kmeans: rows that coincide are one group, and it ends") {
    std::vector<float> rows;
    for (int i = 0; i < 50; ++i) rows.insert(rows.end(), {0.1f, 0.7f, 0.3f});
    CHECK(kmeans(rows, 3, {.clusters = 8}).clusters == 1);
    CHECK(kmeans(rows, 3, {.clusters = 8, .spherical = false}).clusters == 1);
    rows[0] = 0.9f;
    const clustering c = kmeans(rows, 3, {.clusters = 8});
    CHECK(c.clusters == 2);
    CHECK(c.members()[0] == std::vector<std::size_t>{0});
    // Opposite directions have no mean; they are still one group of two if one is asked for.
    CHECK(kmeans(directions({0, 180}), 2, {.clusters = 1}).members() == groups{{0, 1}});
}

TEST_CASE("kmeans: the same rows give the same groups, and the groups are numbered by their first rows") {
    const std::vector<float> rows = scattered(200, 8, 7);
    const clustering a = kmeans(rows, 8, {.clusters = 30}), b = kmeans(rows, 8, {.clusters = 30});
    CHECK(a.cluster_of == b.cluster_of);
    CHECK(a.centroids == b.centroids);
    std::uint32_t next = 0;
    for (const std::uint32_t c : a.cluster_of) {
        CHECK(c <= next);
        next = (std::max)(next, c + 1);
    }
    CHECK(kmeans(rows, 8, {.clusters = 30, .restarts = 5}).inertia <= a.inertia);
}

TEST_CASE("kmeans: what cannot be grouped is refused with its numbers, and nothing gives nothing") {
    const std::vector<float> rows{1, 0, 0, 0};
    CHECK(kmeans({}, 3).clusters == 0);
    CHECK(code_of([&] { kmeans(rows, 2, {.clusters = 0}); }) == "kmeans.options");
    CHECK(code_of([&] { kmeans(rows, 2, {.restarts = 0}); }) == "kmeans.options");
    CHECK(code_of([&] { kmeans(rows, 3); }) == "kmeans.rows");
    CHECK(code_of([&] { kmeans(rows, 0); }) == "kmeans.rows");
    CHECK(code_of([&] { kmeans(rows, 2); }) == "kmeans.zero_row");
    CHECK(message_of([&] { kmeans(rows, 2); }).find("row 1") != std::string::npos);
    CHECK(kmeans(rows, 2, {.spherical = false}).clusters == 2);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const std::vector<float> broken{1, 0, bad, 0};
        CHECK(code_of([&] { kmeans(broken, 2); }) == "kmeans.not_finite");
        CHECK(code_of([&] { kmeans(broken, 2, {.spherical = false}); }) == "kmeans.not_finite");
    }
}

TEST_CASE("silhouette: by hand on a line, and undefined for one group") {
    // 0 and 1 against 5 and 6: a = 1; b = 5.5, 4.5, 4.5, 5.5; so (4.5/5.5 + 3.5/4.5) / 2 = .797979...
    const std::vector<float> line{0, 1, 5, 6};
    const std::vector<std::uint32_t> two{0, 0, 1, 1}, one{0, 0, 0, 0}, alone{0, 1, 1, 1};
    CHECK(silhouette(line, 1, two) == Approx((4.5 / 5.5 + 3.5 / 4.5) / 2));
    CHECK(std::isnan(silhouette(line, 1, one)));
    // The first is alone and counts 0. 1: a = 4.5, b = 1 -> -7/9. 5: a = 2.5, b = 5 -> .5. 6: a = 3, b = 6 -> .5.
    CHECK(silhouette(line, 1, alone) == Approx((-7.0 / 9 + 1) / 4));
    CHECK(code_of([&] { silhouette(line, 3, two); }) == "kmeans.rows");
}
