#include "quarry/core/unit.hpp"

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("every kind of unit has a name of its own") {
    CHECK(name_of(unit_kind::article) == "article");
    CHECK(name_of(unit_kind::section) == "section");
    CHECK(name_of(unit_kind::chunk) == "chunk");
    CHECK(name_of(unit_kind::generated) == "generated");
}

TEST_CASE("a byte span is half open and knows its size") {
    CHECK(byte_span{3, 7}.size() == 4);
    CHECK(byte_span{}.size() == 0);
    CHECK(byte_span{3, 7} == byte_span{3, 7});
    CHECK(byte_span{3, 7} != byte_span{3, 8});
}

TEST_CASE("an article needs an id and nothing else, a part a span and nothing else") {
    const article a{.id = "x"};
    CHECK(a.title.empty());
    CHECK(a.headings.empty());
    CHECK(a.meta.empty());
    const part p{.span = {0, 1}};
    CHECK(p.kind == unit_kind::chunk);
    CHECK(p.id.empty());
}
