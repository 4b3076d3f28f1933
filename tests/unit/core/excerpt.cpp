#include "quarry/core/excerpt.hpp"

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("an excerpt is a unit and bytes of its text") {
    const excerpt e{unit_id{3}, {4, 9}};
    CHECK(e.span.size() == 5);
    CHECK(e == excerpt{unit_id{3}, {4, 9}});
    CHECK_FALSE(e == excerpt{unit_id{3}, {4, 8}});
}
