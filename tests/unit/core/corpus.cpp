#include "quarry/core/corpus.hpp"

#include <functional>
#include <string>
#include <type_traits>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/failing_new.hpp"

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

std::vector<std::size_t> matching(const corpus& c, const filter& f) {
    return members(c.select({.where = &f}), c.size());
}

using found = std::vector<std::size_t>;

// Everything that can be asked of a corpus, as one text.
std::string all_of_it(const corpus& c) {
    std::string out;
    for (std::size_t i = 0; i < c.size(); ++i) {
        const unit_id unit = unit_at(i);
        out += std::string(name_of(c.kind(unit))) + ' ' + std::string(c.id(unit)) + '|' + std::string(c.title(unit)) +
               '|' + std::string(c.summary(unit)) + '|' + std::string(c.text(unit));
        if (c.parent(unit)) out += " in " + std::to_string(index_of(*c.parent(unit)));
        for (const unit_id source : c.sources(unit)) out += " from " + std::to_string(index_of(source));
        for (const heading& h : c.headings(unit)) out += " h " + h.text;
        for (const quarry::link& l : c.links(unit)) out += " l " + l.target;
        for (const field& f : c.fields())
            if (const auto value = c.value(unit, f.name)) out += ' ' + f.name + '=' + value->to_string();
        if (c.find(c.id(unit)) != unit) out += " (not found by its id)";
        out += '\n';
    }
    for (const field& f : c.fields()) {
        out += f.name + ':';
        for (const field_value& value : c.values(f.name)) out += ' ' + value.to_string();
        const filter has = exists(f.name);
        for (const std::size_t unit : matching(c, has)) out += ' ' + std::to_string(unit);
        out += '\n';
    }
    return out;
}

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

TEST_CASE(
    "a generated unit is returned if all its sources match, walked through if any does, and only when asked for") {
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

TEST_CASE("units like another leave out summaries of its article alone, and keep those of others as well") {
    corpus c = two_products();
    c.add_generated({.id = "of a", .text = "x", .sources = {unit_id{0}}});
    c.add_generated({.id = "of a and b", .text = "x", .sources = {unit_id{0}, unit_id{1}}});
    c.add_generated({.id = "of that of a", .text = "x", .sources = {unit_id{3}}});
    CHECK(members(c.select({.include_generated = true, .unlike = unit_id{0}}), c.size()) == found{1, 2, 4});
    // A summary is searched by: its sources may be found, itself and what was made of it alone may not.
    CHECK(members(c.select({.include_generated = true, .unlike = unit_id{3}}), c.size()) == found{0, 1, 2, 4});
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
                case 0:
                    return lt("n", random(7));
                case 1:
                    return ne("n", random(7));
                case 2:
                    return in("s", {"a", "c"});
                case 3:
                    return exists("s");
                default:
                    return nin("s", {"b"});
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

TEST_CASE("a corpus can be moved and not copied, and what was moved from is empty and can be filled again") {
    STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<corpus>);
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<corpus>);
    corpus from = two_products();
    const std::string before = all_of_it(from);
    const corpus to = std::move(from);
    CHECK(all_of_it(to) == before);
    CHECK(from.size() == 0);  // NOLINT: that is the promise
    CHECK_FALSE(from.find("a"));
    from = two_products();
    CHECK(all_of_it(from) == before);
}

TEST_CASE("running out of memory at any allocation leaves a corpus as it was") {
    const auto fresh = [] {
        corpus c(
            schema{{"product", field_type::string}, {"year", field_type::integer}, {"tags", field_type::string_list}});
        c.add({.id = "a", .title = "A", .text = "alpha beta", .meta = {{"product", "app"}, {"year", 2023}}});
        c.add_part(unit_id{0}, {.span = {0, 5}, .meta = {{"year", 1999}}});
        c.add_generated({.id = "s", .text = "all", .sources = {unit_id{0}}});
        return c;
    };
    const std::string long_text(100, 'x');  // beyond what a string holds without allocating
    const std::vector<std::string> list{long_text, "b"};
    struct change {
        const char* name;
        std::function<void(corpus&)> apply;
    };
    const change changes[] = {
        {"add",
         [&](corpus& c) {
             c.add({.id = long_text,
                    .title = long_text,
                    .text = long_text,
                    .headings = {{long_text}},
                    .meta = {{"product", long_text}, {"year", 2025}, {"tags", list}}});
         }},
        {"add_part",
         [&](corpus& c) {
             c.add_part(unit_id{0}, {.span = {6, 10}, .title = long_text, .meta = {{"tags", list}}});
         }},
        {"add_generated",
         [&](corpus& c) { c.add_generated({.id = long_text, .text = long_text, .sources = {unit_id{0}}}); }},
        {"replace_metadata",
         [&](corpus& c) {
             c.replace_metadata(unit_id{0}, {{"product", long_text}, {"tags", list}});
         }},
    };
    const std::string before = all_of_it(fresh());
    for (const change& step : changes) {
        CAPTURE(step.name);
        corpus expected = fresh();
        step.apply(expected);
        std::size_t n = 0;
        corpus c = fresh();
        while (failing_new::fails_at(n, [&] { step.apply(c); })) {
            CAPTURE(n);
            REQUIRE(all_of_it(c) == before);
            if (n % 2 == 0) c = fresh();  // and half of the time the one that failed goes on
            ++n;
        }
        CHECK(n > 2);
        CHECK(all_of_it(c) == all_of_it(expected));
    }
}

TEST_CASE("values of a field are listed in ascending order, integers and numbers among each other, equal ones once") {
    corpus c(schema{{"price", field_type::number}, {"updated", field_type::date_time}});
    const field_value prices[] = {3, 2.5, 1, 3.0, -0.5, 1.0, std::int64_t{9007199254740993}, 9007199254740992.0};
    for (const field_value& price : prices) c.add({.id = std::to_string(c.size()), .meta = {{"price", price}}});
    c.add({.id = "d", .meta = {{"updated", "2024-05-08"}}});
    c.add({.id = "e", .meta = {{"updated", "2024-05-07T10:00"}}});
    std::string listed;
    for (const field_value& value : c.values("price")) listed += value.to_string() + ' ';
    CHECK(listed == "-0.5 1 2.5 3 9007199254740992 9007199254740993 ");
    CHECK(c.values("updated").size() == 2);
    CHECK(c.values("updated")[0].to_string() == "2024-05-07T10:00:00Z");
    CHECK(code_of([&] { c.values("produkt"); }) == "metadata.unknown_field");
}

TEST_CASE("a scope can be added to a filter that is as deep as a filter may be") {
    const corpus c = two_products();
    filter deep = exists("year");
    while (deep.depth() < filter::deepest) deep = !deep;
    filter deep_scope = eq("product", "web");
    while (deep_scope.depth() + 1 < filter::deepest) deep_scope = !!deep_scope;
    // 63 times not turns exists into its opposite; an even number of them leaves the scope as it was.
    const scope web = scope::only(deep_scope);
    CHECK(members(c.select({.where = &deep, .within = &web}), c.size()) == found{});
    const filter even = deep.children().front();
    const selection s = c.select({.where = &even, .within = &web});
    CHECK(members(s, c.size()) == found{1});
    REQUIRE(s.expression());
    CHECK(s.expression()->op() == filter_op::all_of);
}

TEST_CASE("a part gets an id of its own from its article and its span, whatever it is a part of") {
    corpus c = two_products();
    const unit_id section = c.add_part(unit_id{0}, {.kind = unit_kind::section, .span = {0, 10}});
    const unit_id same = c.add_part(section, {.span = {0, 10}});
    const unit_id named = c.add_part(section, {.span = {0, 10}, .id = "mine"});
    CHECK(c.id(section) == "a#0-10");
    CHECK(c.id(same) == "a#0-10@chunk");
    CHECK(c.id(named) == "mine");
    CHECK(c.find("a#0-10@chunk") == same);
    CHECK(code_of([&] { c.add_part(unit_id{0}, {.span = {0, 10}}); }) == "corpus.duplicate_id");
}

TEST_CASE("a part that is none is refused, and nothing is added") {
    corpus c = two_products();
    const unit_id summary = c.add_generated({.id = "s", .text = "words", .sources = {unit_id{0}}});
    const std::string before = all_of_it(c);
    CHECK(code_of([&] { c.add_part(unit_id{9}, {.span = {0, 1}}); }) == "corpus.unknown_unit");
    CHECK(code_of([&] { c.add_part(summary, {.span = {0, 1}}); }) == "corpus.part");
    CHECK(code_of([&] { c.add_part(unit_id{0}, {.kind = unit_kind::article, .span = {0, 1}}); }) == "corpus.part");
    CHECK(code_of([&] { c.add_part(unit_id{0}, {.kind = unit_kind::generated, .span = {0, 1}}); }) == "corpus.part");
    CHECK(code_of([&] { c.add_part(unit_id{0}, {.span = {5, 4}}); }) == "corpus.span");
    CHECK(code_of([&] { c.add_part(unit_id{0}, {.span = {0, 17}}); }) == "corpus.span");
    CHECK(code_of([&] { c.add_part(unit_id{0}, {.span = {SIZE_MAX, SIZE_MAX}}); }) == "corpus.span");
    CHECK(code_of([&] {
              c.add_part(unit_id{0}, {.span = {0, 1}, .meta = {{"color", "red"}}});
          }) == "metadata.unknown_field");
    CHECK(code_of([&] { c.add_generated({.id = "t", .text = "x", .sources = {unit_id{99}}}); }) ==
          "corpus.unknown_unit");
    CHECK(all_of_it(c) == before);
}

TEST_CASE("an empty span is a part with an empty text") {
    corpus c = two_products();
    CHECK(c.text(c.add_part(unit_id{0}, {.span = {5, 5}})).empty());
    const unit_id blank = c.add({.id = "blank"});
    CHECK(c.text(c.add_part(blank, {.span = {0, 0}})).empty());
}

TEST_CASE("a filter on parts sees what a part states, else what is above it, through every level") {
    corpus c(schema{{"lang", field_type::string}, {"draft", field_type::boolean}});
    const unit_id article = c.add({.id = "a", .text = "0123456789", .meta = {{"lang", "en"}}});
    const unit_id german = c.add_part(article, {.kind = unit_kind::section, .span = {0, 5}, .meta = {{"lang", "de"}}});
    const unit_id below = c.add_part(german, {.span = {0, 2}});
    const unit_id draft = c.add_part(article, {.span = {5, 10}, .meta = {{"draft", true}}});
    CHECK(matching(c, eq("lang", "en")) == found{0, 3});
    CHECK(matching(c, eq("lang", "de")) == found{1, 2});
    CHECK(matching(c, ne("lang", "de")) == found{0, 3});
    CHECK(matching(c, exists("draft")) == found{3});
    CHECK(matching(c, !exists("draft")) == found{0, 1, 2});
    CHECK(matching(c, ne("draft", true)) == found{});
    CHECK(c.value(below, "lang") == field_value("de"));
    CHECK_FALSE(c.value(below, "draft"));
    c.replace_metadata(german, {});
    CHECK(matching(c, eq("lang", "en")) == found{0, 1, 2, 3});
    c.replace_metadata(article, {{"lang", "fr"}});
    CHECK(c.value(below, "lang") == field_value("fr"));
    CHECK(c.value(draft, "lang") == field_value("fr"));
}

TEST_CASE("headings, links and a summary belong to the article, the links to its parts too") {
    corpus c;
    const unit_id article = c.add({.id = "a",
                                   .summary = "S",
                                   .text = "one two",
                                   .headings = {{"H", 2, {0, 3}}},
                                   .links = {{"https://x.example/", "x", {4, 7}}}});
    const unit_id part = c.add_part(article, {.span = {0, 3}});
    CHECK(c.summary(article) == "S");
    CHECK(c.summary(part).empty());
    CHECK(c.headings(article).size() == 1);
    CHECK(c.headings(part).empty());
    CHECK(c.links(part).size() == 1);
    CHECK(c[part].links()[0].target == "https://x.example/");
}

TEST_CASE("a field that was not declared cannot be asked for") {
    const corpus c = two_products();
    CHECK(code_of([&] { c.value(unit_id{0}, "produkt"); }) == "metadata.unknown_field");
    CHECK(code_of([&] { matching(c, eq("produkt", "app")); }) == "metadata.unknown_field");
    CHECK(code_of([&] { matching(c, eq("year", "2024")); }) == "metadata.type");
    const scope wrong = scope::only(lt("product", 3));
    CHECK(code_of([&] { c.select({.within = &wrong}); }) == "metadata.type");
}

TEST_CASE("nothing asked is everything allowed, and an empty corpus allows nothing") {
    const corpus c = two_products();
    CHECK(c.select({}).returned().all());
    const corpus none;
    CHECK(none.size() == 0);
    CHECK(none.select({}).returned().all());
    const scope s = scope::everything();
    CHECK(members(none.select({.within = &s}), 0).empty());
}

TEST_CASE("the memory that is reported grows with the texts") {
    corpus c;
    const std::size_t before = c.memory();
    c.add({.id = "a", .text = std::string(100000, 'x')});
    CHECK(c.memory() >= before + 100000);
    CHECK(c.memory() <= before + 110000);
}
