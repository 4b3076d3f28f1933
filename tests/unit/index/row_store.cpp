#include "quarry/index/row_store.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("rows come back from either format, are moved, dropped, and written where they are to stand") {
    for (const row_format format : {row_format::floats, row_format::halves}) {
        detail::row_store rows(3, format);
        CHECK(rows.row_bytes() == (format == row_format::floats ? 12 : 6));
        rows.reserve(4);
        const std::vector<float> two{1, 2, 3, -0.5f, 0.25f, 0};
        rows.add(two);
        std::vector<float> scratch(rows.scratch(2));
        CHECK(std::ranges::equal(rows.read(0, scratch, 2), two));
        CHECK(rows.product(std::vector<float>{1, 4, 8}, 1) == 0.5);
        // What is written as it is kept is what was added.
        const std::span<char> place = rows.add_unwritten(2);
        rows.write(std::vector<float>{7, 8, 9}, place.first(rows.row_bytes()));
        std::ranges::copy(rows.as_kept(0), place.begin() + static_cast<std::ptrdiff_t>(rows.row_bytes()));
        CHECK(std::ranges::equal(rows.read(2, scratch), std::vector<float>{7, 8, 9}));
        CHECK(std::ranges::equal(rows.read(3, scratch), std::vector<float>{1, 2, 3}));
        rows.move(2, 0);
        rows.shrink(1);
        CHECK(std::ranges::equal(rows.read(0, scratch), std::vector<float>{7, 8, 9}));
        CHECK(rows.memory() >= rows.row_bytes());
        CHECK(rows.block() > 1000);
    }
    CHECK(detail::row_store(std::size_t{1} << 20, row_format::floats).block() == 1);
}
