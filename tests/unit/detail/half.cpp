#include "quarry/detail/half.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "quarry/detail/floats.hpp"
#include "quarry/math/kernels.hpp"
#include "support/catch.hpp"

using namespace quarry;
using detail::narrowed_to_half;
using detail::widened_half;

TEST_CASE("half floats have the values of binary16") {
    CHECK(widened_half(0x3C00) == 1.0f);
    CHECK(widened_half(0xC000) == -2.0f);
    CHECK(widened_half(0x7BFF) == 65504.0f);
    CHECK(widened_half(0x0400) == 0x1p-14f);
    CHECK(widened_half(0x0001) == 0x1p-24f);
    CHECK(std::signbit(widened_half(0x8000)));
}

TEST_CASE("every finite half float survives widening and narrowing, and the kernels widen it to the same") {
    std::vector<std::uint16_t> all;
    for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
        const auto bits = static_cast<std::uint16_t>(half);
        all.push_back(bits);
        if ((bits & 0x7C00) != 0x7C00) REQUIRE(narrowed_to_half(widened_half(bits)) == bits);
    }
    for (const simd level : {simd::baseline, simd::avx2}) {
        if (level > detail::simd_of_this_processor()) continue;
        for (const std::size_t count : {all.size(), all.size() - 3}) {
            std::vector<float> out(all.size(), 7.0f);
            detail::kernels_at(level).widen(all.data(), count, out.data());
            bool same = true;
            for (std::size_t i = 0; i < count; ++i)
                same = same && (out[i] == widened_half(all[i]) || detail::is_nan(widened_half(all[i])));
            CHECK(same);
            CHECK((count == all.size() || out[count] == 7.0f));  // nothing beyond is written
        }
    }
}

TEST_CASE("a float becomes the nearest half float, and of two the even one") {
    CHECK(narrowed_to_half(1.0f + 0x1p-11f) == 0x3C00);                 // in the middle: the fraction 0 is even
    CHECK(narrowed_to_half(1.0f + 0x1p-11f + 0x1p-20f) == 0x3C01);      // just above
    CHECK(narrowed_to_half(1.0f + 3 * 0x1p-11f) == 0x3C02);             // in the middle: 2 is even
    CHECK(narrowed_to_half(-(2.0f - 0x1p-12f)) == 0xC000);              // carried into the exponent
    CHECK(narrowed_to_half(0x1p-14f - 0x1p-25f) == 0x0400);             // the largest subnormal's upper end is normal
    CHECK(narrowed_to_half(0x1p-25f) == 0x0000);                        // the middle of 0 and the smallest
    CHECK(narrowed_to_half(0x1p-25f + 0x1p-40f) == 0x0001);
    CHECK(narrowed_to_half(3 * 0x1p-25f) == 0x0002);
    CHECK(narrowed_to_half(1e-30f) == 0x0000);
    CHECK(narrowed_to_half(65519.0f) == 0x7BFF);
    CHECK(narrowed_to_half(65520.0f) == 0x7C00);
    CHECK(narrowed_to_half(-1e30f) == 0xFC00);
    CHECK(detail::is_nan(widened_half(narrowed_to_half(std::nanf("")))));
    // No half float is nearer, over a grid of floats.
    for (float x = 1e-8f; x < 60000.0f; x *= 1.0037f) {
        const std::uint16_t half = narrowed_to_half(x);
        const float off = std::abs(widened_half(half) - x);
        REQUIRE(off <= std::abs(widened_half(static_cast<std::uint16_t>(half + 1)) - x));
        if (half != 0) REQUIRE(off <= std::abs(widened_half(static_cast<std::uint16_t>(half - 1)) - x));
    }
}
