#include "quarry/expand/identity.hpp"

#include <string>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

std::vector<key> keys_of(const identity& expander, const corpus& c, unit_id unit) {
    std::vector<key> out;
    expander(c, unit, [&](key k) { out.push_back(std::move(k)); });
    return out;
}

}  // namespace

TEST_CASE("a unit's own words are its one key, title and text joined by a space") {
    corpus c;
    c.add({.id = "both", .title = "Title", .text = "text"});
    c.add({.id = "title", .title = "Title"});
    c.add({.id = "text", .text = "text"});
    const auto both = keys_of({}, c, unit_id{0});
    REQUIRE(both.size() == 1);
    CHECK(both[0].text == "Title text");
    CHECK(both[0].unit == unit_id{0});
    CHECK(both[0].part == key_part::whole);
    CHECK(both[0].lexical.empty());
    CHECK(keys_of({}, c, unit_id{1})[0].text == "Title");
    CHECK(keys_of({}, c, unit_id{2})[0].text == "text");
}

TEST_CASE("a title that weighs more is a field of its own for words and the same text for vectors") {
    corpus c;
    c.add({.id = "a", .title = "Title", .text = "text"});
    const auto keys = keys_of({.title_weight = 3.0f}, c, unit_id{0});
    REQUIRE(keys.size() == 1);
    CHECK(keys[0].text == "Title text");
    REQUIRE(keys[0].lexical.size() == 2);
    CHECK(keys[0].lexical[0].text == "Title");
    CHECK(keys[0].lexical[0].weight == 3.0f);
    CHECK(keys[0].lexical[1].text == "text");
    CHECK(keys[0].lexical[1].weight == 1.0f);
}

TEST_CASE("it fills the population of bodies, of articles unless other units are asked for") {
    STATIC_REQUIRE(KeyExpander<identity>);
    CHECK(identity{}.kind() == key_kind::body);
    CHECK(identity{}.level() == unit_kind::article);
    CHECK(identity{.of = unit_kind::chunk}.level() == unit_kind::chunk);
}

TEST_CASE("a part's key is the part's own title and span, not its article's") {
    corpus c;
    c.add({.id = "a", .title = "Title", .text = "one two"});
    const unit_id part = c.add_part(unit_id{0}, {.span = {4, 7}, .title = "Second"});
    CHECK(keys_of({.of = unit_kind::chunk}, c, part)[0].text == "Second two");
}
