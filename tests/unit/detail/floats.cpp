#include "quarry/detail/floats.hpp"

#include <cmath>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("the bits of a subnormal float give its value") {
    for (const float x : {0.0f, 1e-45f, -3e-39f, 1.1754942e-38f, 1.1754944e-38f, 1.0f, -2.5f, 3e38f})
        CHECK(detail::widened(x) == static_cast<double>(x));
}

TEST_CASE("a double becomes the nearest float, and 0 where that would be subnormal") {
    CHECK(detail::narrowed(0.1) == 0.1f);
    CHECK(detail::narrowed(1e-39) == 0.0f);
    CHECK(detail::narrowed(-0x1p-126) == -0x1p-126f);
    CHECK_FALSE(std::signbit(detail::narrowed(-1e-300)));
}

TEST_CASE("every NaN and both infinities are told from finite floats") {
    for (const std::uint32_t bits : {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0x7FFFFFFFu}) {
        const auto x = std::bit_cast<float>(bits);
        CHECK_FALSE(detail::is_finite(x));
        CHECK_FALSE(detail::is_finite(static_cast<double>(x)));
        CHECK(detail::is_nan(x) == (bits != 0x7F800000u && bits != 0xFF800000u));
        const float row[] = {1.0f, x, 2.0f};
        CHECK_FALSE(detail::is_finite(row));
    }
    for (const std::uint32_t bits : {0u, 0x80000000u, 1u, 0x7F7FFFFFu, 0xFF7FFFFFu, 0x3F800000u}) {
        const auto x = std::bit_cast<float>(bits);
        CHECK(detail::is_finite(x));
        CHECK(detail::is_finite(static_cast<double>(x)));
        CHECK_FALSE(detail::is_nan(x));
        const float row[] = {1.0f, x, 2.0f};
        CHECK(detail::is_finite(row));
    }
    CHECK(detail::is_finite(1.7e308));
}
