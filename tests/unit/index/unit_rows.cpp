#include "quarry/index/unit_rows.hpp"

#include <map>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("unit_rows knows the rows of each unit in the order of adding, of near and far units alike") {
    std::mt19937 random(1);
    detail::unit_rows rows;
    std::map<unit_id, std::vector<std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const unit_id unit{static_cast<std::uint32_t>(i % 10 == 0 ? random() : random() % 500)};
        const unit_id one[] = {unit};
        rows.reserve(one, 1);
        rows.add(unit);
        expected[unit].push_back(i);
    }
    std::size_t most = 0;
    unit_set some(600);
    std::vector<std::uint32_t> of_some;
    for (std::uint32_t u = 0; u < 600; u += 7) {
        some.insert(unit_id{u});
        if (expected.contains(unit_id{u}))
            of_some.insert(of_some.end(), expected[unit_id{u}].begin(), expected[unit_id{u}].end());
    }
    for (const auto& [unit, all] : expected) {
        std::vector<std::uint32_t> found;
        rows.for_each(unit, [&](std::uint32_t row) { found.push_back(row); });
        REQUIRE(found == all);
        REQUIRE(rows.contains(unit));
        most = std::max(most, all.size());
    }
    CHECK(rows.most() == most);
    CHECK(rows.of(some) == of_some);
    CHECK_FALSE(rows.contains(unit_id{501}));
    CHECK(rows.of(unit_set(0)).empty());
    const std::uint32_t first = rows.first(unit_id{7});
    rows.drop(unit_id{7});
    CHECK_FALSE(rows.contains(unit_id{7}));
    CHECK(rows.contains(unit_id{8}));
    rows.add(unit_id{7});
    CHECK(rows.first(unit_id{7}) == 2000);  // numbers go on
    CHECK(first != 2000);
    rows.drop(unit_id{8});
    rows.drop(unit_id{9});
    rows.put(first, unit_id{9});  // a row that is nobody's is taken again
    rows.add(unit_id{9});
    CHECK(rows.first(unit_id{9}) == first);
    CHECK(rows.next(first) == 2001);
    const std::size_t memory = rows.memory();
    for (std::uint32_t u = 1000000; u < 1010000; ++u) {
        const unit_id one[] = {unit_id{u}};
        rows.reserve(one, 0);
        rows.put(5, one[0]);
        rows.drop(one[0]);
    }
    CHECK(rows.memory() == memory);  // units that went keep no room
    rows.clear();
    CHECK_FALSE(rows.contains(unit_id{7}));
    CHECK(rows.most() == 0);
    rows.add(unit_id{7});  // room was kept
    CHECK(rows.first(unit_id{7}) == 0);
}
