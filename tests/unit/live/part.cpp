#include "quarry/live/part.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("units are found by their ids, with gaps and without, and articles by their units") {
    detail::library_part part;
    part.ids = {unit_id{10}, unit_id{11}, unit_id{12}, unit_id{20}, unit_id{21}, unit_id{40}};
    part.articles = {{0}, {3}, {5}};
    for (std::size_t i = 0; i < part.ids.size(); ++i) CHECK(part.place_of(part.ids[i]) == unit_at(i));
    for (const std::size_t other : {0u, 9u, 13u, 19u, 22u, 39u, 41u}) CHECK_FALSE(part.place_of(unit_at(other)));
    CHECK(part.article_at(unit_id{2}) == 0);
    CHECK(part.article_at(unit_id{3}) == 1);
    CHECK(part.article_at(unit_id{5}) == 2);
    CHECK(part.range(0) == std::pair(0u, 3u));
    CHECK(part.range(1) == std::pair(3u, 5u));
    CHECK(part.range(2) == std::pair(5u, 6u));
}

TEST_CASE("a unit's rows are found wherever they were added") {
    auto rows = std::make_shared<flat_index>(2);
    for (const std::size_t unit : {7u, 3u, 7u, 5u, 3u, 7u}) rows->add(unit_at(unit), std::vector<float>{1.0f, 2.0f});
    detail::part_layer l;
    l.rows = rows;
    l.sort_rows();
    const auto of = [&](std::size_t unit) {
        std::vector<std::uint32_t> out;
        l.for_each_row(unit_at(unit), [&](std::uint32_t row) { out.push_back(row); });
        return out;
    };
    CHECK(of(7) == std::vector<std::uint32_t>{0, 2, 5});
    CHECK(of(3) == std::vector<std::uint32_t>{1, 4});
    CHECK(of(5) == std::vector<std::uint32_t>{3});
    CHECK(of(4).empty());
}
