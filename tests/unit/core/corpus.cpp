#include "quarry/core/corpus.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

corpus two_products() {
    corpus c(schema{{"product", field_type::string}, {"year", field_type::integer}});
    c.add({.id = "a", .title = "A", .text = "alpha beta gamma", .meta = {{"product", "app"}, {"year", 2023}}});
    c.add({.id = "b", .title = "B", .text = "delta", .meta = {{"product", "web"}, {"year", 2024}}});
    c.add({.id = "c", .title = "C", .text = "epsilon"});
    return c;
}

std::vector<std::size_t> members(const selection& s, std::size_t size) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < size; ++i)
        if (s.returned().contains(unit_at(i))) out.push_back(i);
    return out;
}

std::vector<std::size_t> matching(const corpus& c, const filter& f) { return members(c.select({.where = &f}), c.size()); }

using found = std::vector<std::size_t>;

}  // namespace

TEST_CASE("units are numbered in the order of adding and found by their own id") {
    const corpus c = two_products();
    CHECK(c.size() == 3);
    CHECK(c.find("b") == unit_id{1});
    CHECK_FALSE(c.find("nobody"));
    CHECK(c[unit_id{0}].title() == "A");
    CHECK(code_of([&] { c.text(unit_id{3}); }) == "corpus.unknown_unit");
}

TEST_CASE("an article that is refused leaves the corpus as it was") {
    corpus c = two_products();
    CHECK(code_of([&] { c.add({.id = "a"}); }) == "corpus.duplicate_id");
    CHECK(code_of([&] { c.add({.id = ""}); }) == "corpus.empty_id");
    CHECK(code_of([&] { c.add({.id = "d", .meta = {{"produkt", "app"}}}); }) == "metadata.unknown_field");
    CHECK(code_of([&] { c.add({.id = "d", .meta = {{"year", "2024"}}}); }) == "metadata.type");
    CHECK(c.size() == 3);
    CHECK_FALSE(c.find("d"));
    CHECK(c.add({.id = "d", .meta = {{"year", 2025}}}) == unit_id{3});
    CHECK(matching(c, eq("year", 2025)) == found{3});
}

TEST_CASE("a part is a span of its article and inherits what it does not state") {
    corpus c = two_products();
    const unit_id section = c.add_part(unit_id{0}, {.kind = unit_kind::section, .span = {6, 16}});
    const unit_id chunk = c.add_part(section, {.span = {6, 10}, .meta = {{"year", 1999}}});
    CHECK(c.text(section) == "beta gamma");
    CHECK(c.text(chunk) == "beta");
    CHECK(c.id(section) == "a#6-16");
    CHECK(c[chunk].article().id() == "a");
    CHECK(c.value(chunk, "product") == field_value("app"));
    CHECK(c.value(chunk, "year") == field_value(1999));
    CHECK(c.value(section, "year") == field_value(2023));
    CHECK(matching(c, eq("product", "app")) == found{0, 3, 4});
    CHECK(matching(c, eq("year", 1999)) == found{4});
    CHECK(code_of([&] { c.add_part(section, {.span = {0, 4}}); }) == "corpus.span");
}

TEST_CASE("a generated unit is returned if all its sources match, walked through if any does, and only when asked for") {
    corpus c = two_products();
    const unit_id summary = c.add_generated({.id = "s", .text = "both", .sources = {unit_id{0}, unit_id{1}}});
    const unit_id above = c.add_generated({.id = "t", .text = "all", .sources = {summary, unit_id{2}}});
    const filter app = eq("product", "app");

    const selection plain = c.select({});
    CHECK(members(plain, c.size()) == found{0, 1, 2});
    const selection asked = c.select({.include_generated = true});
    CHECK(members(asked, c.size()) == found{0, 1, 2, 3, 4});
    const selection filtered = c.select({.where = &app, .include_generated = true});
    CHECK(members(filtered, c.size()) == found{0});
    CHECK(filtered.walked().contains(summary));
    CHECK(filtered.walked().contains(above));
    const filter either = in("product", {"app", "web"});
    CHECK(members(c.select({.where = &either, .include_generated = true}), c.size()) == found{0, 1, 3});
    CHECK(code_of([&] { c.add_generated({.id = "u", .text = "x", .sources = {}}); }) == "corpus.sources");
}

TEST_CASE("a summary is visible only to those who may see everything it was made from") {
    corpus c = two_products();
    c.add_generated({.id = "s", .text = "both", .sources = {unit_id{0}, unit_id{1}}});
    const scope app = scope::only(eq("product", "app"));
    CHECK(members(c.select({.within = &app, .include_generated = true}), c.size()) == found{0});
}

TEST_CASE("a mandatory scope cannot be forgotten, and a default-made one never means everything") {
    corpus c(schema{{"tenant", field_type::string}}, {.scope_mandatory = true});
    c.add({.id = "a", .meta = {{"tenant", "x"}}});
    c.add({.id = "b", .meta = {{"tenant", ""}}});
    CHECK(code_of([&] { c.select({}); }) == "scope.missing");
    const scope unset;
    CHECK(code_of([&] { c.select({.within = &unset}); }) == "scope.unset");
    const scope everything = scope::everything();
    CHECK(members(c.select({.within = &everything}), 2) == found{0, 1});
    const scope empty_value = scope::only(eq("tenant", ""));
    CHECK(members(c.select({.within = &empty_value}), 2) == found{1});
    const scope nobody = scope::only(in("tenant", {}));
    CHECK(members(c.select({.within = &nobody}), 2) == found{});
}

TEST_CASE("filter and scope are both applied, and the scope cannot be widened by an or") {
    const corpus c = two_products();
    const filter wide = eq("product", "app") || exists("year");
    const scope web = scope::only(eq("product", "web"));
    CHECK(members(c.select({.where = &wide, .within = &web}), c.size()) == found{1});
}

TEST_CASE("replacing metadata replaces all of it, and values that are false or empty are values") {
    corpus c(schema{{"a", field_type::integer}, {"b", field_type::string}, {"c", field_type::boolean}});
    c.add({.id = "x", .meta = {{"a", 1}, {"b", "two"}}});
    c.replace_metadata(unit_id{0}, {{"a", 0}});
    CHECK(c.value(unit_id{0}, "a") == field_value(0));
    CHECK_FALSE(c.value(unit_id{0}, "b"));
    c.replace_metadata(unit_id{0}, {{"b", ""}, {"c", false}});
    CHECK(c.value(unit_id{0}, "b") == field_value(""));
    CHECK(c.value(unit_id{0}, "c") == field_value(false));
    CHECK(matching(c, eq("b", "")) == found{0});
    CHECK(matching(c, eq("c", false)) == found{0});
    c.replace_metadata(unit_id{0}, {});
    CHECK(matching(c, exists("b")) == found{});
    CHECK(c.values("b").empty());
}

TEST_CASE("units like another leave out its whole article") {
    corpus c = two_products();
    c.add_part(unit_id{0}, {.span = {0, 5}});
    CHECK(members(c.select({.unlike = unit_id{3}}), c.size()) == found{1, 2});
}

TEST_CASE("evaluating by column agrees with evaluating unit by unit") {
    corpus c(schema{{"n", field_type::integer}, {"s", field_type::string}});
    std::uint32_t seed = 1;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    std::vector<metadata> stored;
    for (std::size_t i = 0; i < 300; ++i) {
        metadata m;
        if (random(4) != 0) m.add("n", random(7));
        if (random(3) != 0) m.add("s", std::string(1, static_cast<char>('a' + random(3))));
        stored.push_back(m);
        c.add({.id = std::to_string(i), .meta = m});
    }
    // The dull twin: one unit at a time, by the rules of Kleene.
    const auto slow = [](const filter& f, const metadata& m, const auto& self) -> truth {
        if (f.is_leaf()) return holds(f.op(), m.find(f.field()), f.values());
        truth t = f.op() == filter_op::any_of ? truth::no : truth::yes;
        for (const filter& child : f.children())
            t = f.op() == filter_op::any_of ? (t || self(child, m, self)) : (t && self(child, m, self));
        return f.op() == filter_op::none_of ? !t : t;
    };
    for (int round = 0; round < 60; ++round) {
        const auto leaf = [&]() -> filter {
            switch (random(5)) {
                case 0: return lt("n", random(7));
                case 1: return ne("n", random(7));
                case 2: return in("s", {"a", "c"});
                case 3: return exists("s");
                default: return nin("s", {"b"});
            }
        };
        const filter f = random(2) == 0 ? (leaf() && !(leaf() || leaf())) : (leaf() || (!leaf() && leaf()));
        found expected;
        for (std::size_t i = 0; i < stored.size(); ++i)
            if (slow(f, stored[i], slow) == truth::yes) expected.push_back(i);
        CAPTURE(f.to_string());
        CHECK(matching(c, f) == expected);
    }
}
