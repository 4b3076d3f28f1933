#include "quarry/core/key.hpp"

#include <set>
#include <string>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("every kind and every part of a key has a name of its own") {
    std::set<std::string_view> kinds, parts;
    for (int i = 0; i <= static_cast<int>(key_kind::code); ++i) kinds.insert(name_of(static_cast<key_kind>(i)));
    for (int i = 0; i <= static_cast<int>(key_part::context); ++i) parts.insert(name_of(static_cast<key_part>(i)));
    CHECK(kinds.size() == static_cast<std::size_t>(key_kind::code) + 1);
    CHECK(parts.size() == static_cast<std::size_t>(key_part::context) + 1);
    CHECK(name_of(key_kind::metadata) == "metadata");
    CHECK(name_of(key_part::heading) == "heading");
}

TEST_CASE("keys are numbered in the order of adding and keep unit, part and words") {
    corpus c;
    c.add({.id = "a", .text = "body of a"});
    c.add({.id = "b", .text = "body of b"});
    key_table table(key_kind::metadata);
    CHECK(table.add({unit_id{0}, key_part::title, "A"}) == key_id{0});
    CHECK(table.add({unit_id{1}, key_part::heading, "B.1"}) == key_id{1});
    CHECK(table.add({unit_id{1}, key_part::title, "B"}) == key_id{2});
    CHECK(table.kind() == key_kind::metadata);
    CHECK(table.size() == 3);
    CHECK(table.unit(key_id{1}) == unit_id{1});
    CHECK(table.part(key_id{1}) == key_part::heading);
    CHECK(table.text(key_id{1}, c) == "B.1");
}

TEST_CASE("the words of a whole unit are read from the unit and not kept twice") {
    corpus c;
    c.add({.id = "a", .title = "T", .text = std::string(100000, 'x')});
    key_table table;
    const key_id whole = table.add({unit_id{0}, key_part::whole, "T " + std::string(100000, 'x')});
    CHECK(table.text(whole, c) == c.text(unit_id{0}));
    CHECK(table.memory() < 1000);
    table.add({unit_id{0}, key_part::context, std::string(100000, 'y')});
    CHECK(table.memory() > 100000);
}

TEST_CASE("a table knows which numbers it gave") {
    key_table table;
    CHECK_FALSE(table.contains(key_id{0}));
    CHECK_FALSE(table.contains(no_key));
    table.add({unit_id{0}, key_part::title, "x"});
    CHECK(table.contains(key_id{0}));
    CHECK_FALSE(table.contains(key_id{1}));
    CHECK(table.kind() == key_kind::body);
}

TEST_CASE("a key without lexical fields is indexed by its text alone") {
    const key k{unit_id{0}, key_part::title, "x"};
    CHECK(k.lexical.empty());
    CHECK(weighted_text{"x"}.weight == 1.0f);
}
