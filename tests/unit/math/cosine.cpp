#include "quarry/math/cosine.hpp"

#include <limits>
#include <random>

#include "support/catch.hpp"

using namespace quarry;

namespace {

// In more digits and one after the other.
long double plain_dot(std::span<const float> a, std::span<const float> b) {
    long double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
    return sum;
}

std::vector<float> random_row(std::size_t d, std::mt19937& random) {
    std::vector<float> row(d);
    for (float& x : row) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    return row;
}

using row = std::vector<float>;

}  // namespace

TEST_CASE("a dot product is good to double precision at every length") {
    std::mt19937 random(1);
    for (std::size_t d = 0; d < 70; ++d) {
        const row a = random_row(d, random), b = random_row(d, random);
        const double lengths = norm(a) * norm(b);
        CHECK(std::abs(dot(a, b) - static_cast<double>(plain_dot(a, b))) <= 1e-15 * lengths);
    }
    CHECK(dot(row{}, row{}) == 0.0);
    CHECK(dot(row{1, 2, 3, 4, 5}, row{5, 4, 3, 2, 1}) == 35.0);
}

TEST_CASE("the product of a row with itself does not depend on where it stands") {
    std::mt19937 random(2);
    const row a = random_row(37, random);
    row padded(a);
    padded.insert(padded.begin(), 5.0f);
    CHECK(dot(a, a) == dot(std::span(padded).subspan(1), std::span(padded).subspan(1)));
}

TEST_CASE("norms are finite for every row of finite floats") {
    constexpr float most = (std::numeric_limits<float>::max)();
    CHECK(norm(row{3, 4}) == 5.0);
    CHECK(norm(row(4, most)) == Approx(2.0 * static_cast<double>(most)));
    CHECK(norm(row{1e-30f, 0}) == Approx(1e-30).epsilon(1e-6));
    CHECK(norm(row{}) == 0.0);
}

TEST_CASE("cosines have the values of the textbook and stay in bounds") {
    CHECK(cosine(row{1, 0}, row{0, 1}) == 0.0f);
    CHECK(cosine(row{1, 0}, row{-2, 0}) == -1.0f);
    CHECK(cosine(row{1, 1}, row{1, 0}) == Approx(0.70710678).epsilon(1e-7));
    CHECK(cosine(row{3, 4}, row{4, 3}) == Approx(0.96).epsilon(1e-7));  // 24 / 25
    CHECK(cosine(row{0, 0}, row{1, 0}) == 0.0f);
    CHECK(cosine(row{1.7e30f, 1e30f}, row{1e30f, -1.7e30f}) == Approx(0.0).margin(1e-7));
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
        const row a = random_row(1 + static_cast<std::size_t>(i), random);
        CHECK(cosine(a, a) <= 1.0f);
        CHECK(cosine(a, a) >= 1.0f - 1e-6f);
    }
}

TEST_CASE("normalizing gives length 1 and refuses a zero row") {
    row a{3, 4};
    CHECK(normalize(a));
    CHECK(a == row{0.6f, 0.8f});
    row zero{0.0f, -0.0f};
    CHECK_FALSE(normalize(zero));
    CHECK(zero == row{0, 0});
    for (const float scale : {1e-45f, 1e-40f, 1e-38f, 1e-20f, 1.0f, 1e20f, 1e38f}) {
        row b{scale, -scale, scale};
        CHECK(normalize(b));
        CHECK(norm(b) == Approx(1.0).epsilon(1e-6));
        CHECK(b[0] == Approx(0.57735027).epsilon(1e-6));
        CHECK(b[1] == -b[0]);
    }
}

TEST_CASE("a normalized row holds no subnormal number") {
    row a{1.0f, 1e-39f, -1e-45f, 1e38f};
    CHECK(normalize(a));
    CHECK(a == row{0.0f, 0.0f, 0.0f, 1.0f});  // 1 / 1e38 is below 2^-126 too
    row b{1.0f, 2e-38f};  // just above 2^-126 = 1.18e-38
    CHECK(normalize(b));
    CHECK(b[1] == 2e-38f);
}

TEST_CASE("approximate products lie within their stated error") {
    std::mt19937 random(4);
    for (const std::size_t d : {1u, 3u, 8u, 17u, 100u, 512u})
        for (const float scale : {1e-30f, 1e-20f, 1.0f, 1e14f}) {
            row rows = random_row(7 * d, random), probes = random_row(3 * d, random);
            for (float& x : rows) x *= scale;
            for (float& x : probes) x *= scale;
            row scores(21, 99.0f);
            approximate_products(rows, probes, d, scores);
            for (std::size_t p = 0; p < 3; ++p)
                for (std::size_t i = 0; i < 7; ++i) {
                    const auto a = std::span(rows).subspan(i * d, d), b = std::span(probes).subspan(p * d, d);
                    const double error =
                        std::abs(static_cast<double>(scores[p * 7 + i]) - static_cast<double>(plain_dot(a, b)));
                    CHECK(error <= product_error(d, norm(a) * norm(b)));
                }
        }
}
