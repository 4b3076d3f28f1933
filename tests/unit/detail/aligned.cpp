#include "quarry/detail/aligned.hpp"

#include <cstdint>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("aligned vectors begin with a cache line, large ones with a large page, and keep what they hold") {
    detail::aligned_vector<float> v;
    for (int i = 0; i < 3'000'000; ++i) {
        v.push_back(static_cast<float>(i % 1000));
        if ((i & (i - 1)) == 0) REQUIRE(reinterpret_cast<std::uintptr_t>(v.data()) % 64 == 0);
    }
    CHECK(reinterpret_cast<std::uintptr_t>(v.data()) % (1u << 21) == 0);
    bool kept = true;
    for (int i = 0; i < 3'000'000; ++i) kept = kept && v[static_cast<std::size_t>(i)] == static_cast<float>(i % 1000);
    CHECK(kept);
    const detail::aligned_vector<float> copy = v;
    CHECK(copy == v);
    CHECK_THROWS_AS(detail::aligned_allocator<double>().allocate(SIZE_MAX / 4), std::bad_alloc);
}
