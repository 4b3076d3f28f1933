#include "quarry/math/simd.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "quarry/math/kernels.hpp"
#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("a level is capped by its name, and by any other word to the baseline") {
    const simd best = detail::simd_levels[std::size(detail::simd_levels) - 1];
    CHECK(detail::simd_allowed(nullptr) == best);
    CHECK(detail::simd_allowed("") == best);
    for (const simd level : detail::simd_levels) CHECK(detail::simd_allowed(name_of(level).data()) == level);
    CHECK(detail::simd_allowed("AVX2") == simd::baseline);
    CHECK(detail::simd_allowed("sse9") == simd::baseline);
    CHECK(detail::simd_allowed(best == simd::dotprod ? "avx2" : "dotprod") == simd::baseline);
}

TEST_CASE("the level in use is the processor's or the cap, whichever is lower, and the kernels are its own") {
    const simd has = detail::simd_of_this_processor(), may = detail::simd_allowed(std::getenv("QUARRY_SIMD"));
    CHECK(simd_level() == (std::min)(has, may));
    CHECK(detail::best_kernels().dot == detail::kernels_at(simd_level()).dot);
    CHECK(detail::best_kernels().byte_products == detail::kernels_at(simd_level()).byte_products);
}

TEST_CASE("levels have names") {
    CHECK(name_of(simd::baseline) == "baseline");
    CHECK(name_of(simd::avx2) == "avx2");
    CHECK(name_of(simd::avx512) == "avx512");
    CHECK(name_of(simd::vnni) == "vnni");
    CHECK(name_of(simd::dotprod) == "dotprod");
}
