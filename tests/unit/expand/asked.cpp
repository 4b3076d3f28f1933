#include "quarry/expand/asked.hpp"

#include <array>
#include <string>

#include "support/catch.hpp"
#include "support/toy.hpp"

using namespace quarry;

TEST_CASE("what units were given is found by unit, and others were given nothing") {
    const std::array units{unit_at(2), unit_at(5), unit_at(9)};
    const detail::by_unit<std::string> given(units, {"two", "five", ""});
    CHECK(*given.find(unit_at(2)) == "two");
    CHECK(*given.find(unit_at(5)) == "five");
    CHECK(given.find(unit_at(9))->empty());
    for (const std::size_t other : {0u, 3u, 10u}) CHECK_FALSE(given.find(unit_at(other)));
    CHECK_FALSE(detail::by_unit<int>({}, {}).find(unit_at(0)));
}

TEST_CASE("units of a level come in their order, and a key's words are title and text") {
    corpus c;
    const unit_id first = c.add({.id = "a", .title = "Hub", .text = "It blinks."});
    const unit_id second = c.add({.id = "b", .title = "", .text = "No title."});
    CHECK(detail::units_of(c, unit_kind::article) == std::vector{first, second});
    CHECK(detail::units_of(c, unit_kind::chunk).empty());
    CHECK(detail::words_of(c, first) == "Hub It blinks.");
    CHECK(detail::words_of(c, second) == "No title.");
}
