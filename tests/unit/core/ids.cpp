#include "quarry/core/ids.hpp"

#include <type_traits>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("a unit id, a key id and a plain number do not convert into one another") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<unit_id, key_id>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<key_id, unit_id>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<int, unit_id>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<unit_id, int>);
}

TEST_CASE("a position becomes an id and comes back unchanged, up to the largest id") {
    for (const std::size_t position : {std::size_t{0}, std::size_t{1}, std::size_t{4294967294}}) {
        CHECK(index_of(unit_at(position)) == position);
        CHECK(index_of(key_at(position)) == position);
    }
}

TEST_CASE("ids are ordered as their positions are") {
    CHECK(unit_at(1) < unit_at(2));
    CHECK(key_at(9) < key_at(10));
}

TEST_CASE("no key is a number that no key gets") {
    // 2^32 - 1; positions end at 2^32 - 2.
    CHECK(index_of(no_key) == 4294967295u);
    CHECK(key_at(4294967294u) != no_key);
}
