#include "quarry/grow/add_chunks.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("chunks are named by article and span, and of a list with a known one none is added") {
    corpus c;
    const unit_id article = c.add({.id = "a", .text = "one two three"});
    const auto grown = detail::add_chunks(c, article, {{.span = {0, 3}}, {.span = {4, 7}}}, "here");
    REQUIRE(grown.size() == 2);
    CHECK(c.id(grown[0]) == "a#0-3");
    CHECK(c.text(grown[1]) == "two");
    CHECK(message_of([&] { detail::add_chunks(c, article, {{.span = {8, 13}}, {.span = {4, 7}}}, "here"); })
              .find("here: there is a unit \"a#4-7\" already") != std::string::npos);
    CHECK(c.size() == 3);
}
