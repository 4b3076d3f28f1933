#include "quarry/detail/place_table.hpp"

#include <map>
#include <random>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("ids are numbered in the order in which they are met, whatever they are") {
    std::mt19937 random(11);
    for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{3000}}) {
        // Neighbours, multiples of powers of two, and anything.
        for (const std::uint32_t step : {1u, 4096u, 0x01000000u, 2654435761u}) {
            detail::place_table table(most);
            std::map<std::uint32_t, std::size_t> expected;
            for (std::size_t i = 0; i < 3 * most; ++i) {
                const std::uint32_t id = static_cast<std::uint32_t>(random() % (most + 1)) * step;
                if (!expected.contains(id) && expected.size() == most) continue;
                const auto [at, fresh] = expected.try_emplace(id, expected.size());
                const auto met = table.meet(id);
                REQUIRE(met.place == at->second);
                REQUIRE(met.fresh == fresh);
            }
            CHECK(expected.size() <= most);
        }
    }
}
