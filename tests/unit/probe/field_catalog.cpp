#include "quarry/probe/field_catalog.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

schema fields() {
    return {{"section", field_type::string},
            {"tags", field_type::string_list},
            {"year", field_type::integer},
            {"updated", field_type::date_time},
            {"tenant", field_type::string}};
}

corpus handbook() {
    corpus c(fields());
    c.add({.id = "a",
           .text = "one two",
           .meta = {{"section", "remote_work"},
                    {"year", 2024},
                    {"tenant", "x"},
                    {"tags", std::vector<std::string>{"home", "desk"}}}});
    c.add({.id = "b",
           .meta = {{"section", "expenses"},
                    {"year", 2021},
                    {"tenant", "y"},
                    {"updated", "2024-05-07"},
                    {"tags", std::vector<std::string>{"desk"}}}});
    c.add({.id = "c", .meta = {{"section", "benefits"}, {"tenant", "x"}, {"updated", "2023-01-31"}}});
    c.add_generated({.id = "s", .text = "sum", .sources = {unit_id{0}}});
    return c;
}

std::vector<std::string> values_of(const field_catalog& c, std::string_view name) {
    std::vector<std::string> out;
    for (const auto& v : c[*c.fields().find(name)].values) out.push_back(v.text + " " + std::to_string(v.units));
    return out;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "the catalog holds the values that units really have, lists by their elements, numbers and days by their ends") {
    const corpus c = handbook();
    const field_catalog known(c);
    CHECK(values_of(known, "section") == texts{"benefits 1", "expenses 1", "remote_work 1"});
    CHECK(values_of(known, "tags") == texts{"desk 2", "home 1"});
    const auto& year = known[*known.find("year")];
    CHECK(year.least == field_value(2021));
    CHECK(year.greatest == field_value(2024));
    CHECK(known[*known.find("updated")].least == field_value(*date_time::day(2023, 1, 31)));
}

TEST_CASE("a hidden field is neither found nor are its values kept") {
    const corpus c = handbook();
    const field_catalog known(c, {{.field = "tenant", .hidden = true}});
    CHECK_FALSE(known.find("tenant"));
    CHECK(values_of(known, "tenant").empty());
    CHECK_FALSE(known.find("nothing"));
    CHECK_FALSE(known.find("Section"));
}

TEST_CASE("a catalog for a scope holds nothing from outside it") {
    const corpus c = handbook();
    const field_catalog known(c, {}, scope::only(eq("tenant", "x")));
    CHECK(values_of(known, "section") == texts{"benefits 1", "remote_work 1"});
    CHECK(known[*known.find("year")].least == field_value(2024));
    const scope unset;
    CHECK(code_of([&] { const field_catalog bad(c, {}, unset); }) == "scope.unset");
}

TEST_CASE("values can be listed by hand for sources elsewhere") {
    const field_catalog known(fields(),
                              {{"section", "benefits", 7}, {"tags", std::vector<std::string>{"a"}, 1}, {"year", 3, 1}});
    CHECK(values_of(known, "section") == texts{"benefits 7"});
    CHECK(code_of([] { const field_catalog bad(fields(), {{"year", "x", 1}}); }) == "metadata.type");
    CHECK(code_of([] { const field_catalog bad(fields(), {{"color", "x", 1}}); }) == "metadata.unknown_field");
}

TEST_CASE(
    "a value is recognised by its bytes, then whatever its case, spaces and hyphens, then by alias, then by spelling") {
    const corpus c = handbook();
    const field_catalog known(c, {{.field = "section", .aliases = {{"home office", "remote_work"}}}});
    const std::size_t section = *known.find("section");
    const auto snapped = [&](std::string_view text) {
        const auto s = known.snap(section, text);
        return std::pair(s.match, s.text);
    };
    CHECK(snapped("remote_work") == std::pair(value_match::exact, std::string("remote_work")));
    for (const char* way : {"Remote Work", "remote-work", "REMOTEWORK", " remote  work "}) {
        CAPTURE(way);
        CHECK(snapped(way) == std::pair(value_match::folded, std::string("remote_work")));
    }
    CHECK(snapped("Home-Office") == std::pair(value_match::alias, std::string("remote_work")));
    CHECK(snapped("remote wrok") == std::pair(value_match::near, std::string("remote_work")));  // neighbours swapped
    CHECK(snapped("expense") == std::pair(value_match::near, std::string("expenses")));
    CHECK(snapped("benfits") == std::pair(value_match::near, std::string("benefits")));
    CHECK(snapped("travel").first == value_match::unknown);
    CHECK(snapped("").first == value_match::unknown);
    CHECK(snapped("?!").first == value_match::unknown);
}

TEST_CASE("two values that fit equally well are ambiguous, never the first of them") {
    const field_catalog known(schema{{"f", field_type::string}},
                              {{"f", "Remote Work"}, {"f", "remote_work"}, {"f", "carts"}, {"f", "cards"}});
    CHECK(known.snap(0, "REMOTE WORK").match == value_match::ambiguous);
    CHECK(known.snap(0, "Remote Work").match == value_match::exact);
    CHECK(known.snap(0, "carps").match == value_match::ambiguous);
    CHECK(known.snap(0, "card").match == value_match::unknown);  // four letters are too few to guess by
}

TEST_CASE("edit distances agree with the plain recursion") {
    // The dull twin: optimal string alignment, by trying everything.
    const auto slow = [](std::string_view a, std::string_view b, const auto& self) -> std::size_t {
        if (a.empty() || b.empty()) return a.size() + b.size();
        std::size_t best = std::min(self(a.substr(1), b, self), self(a, b.substr(1), self)) + 1;
        best = std::min(best, self(a.substr(1), b.substr(1), self) + (a[0] == b[0] ? 0u : 1u));
        if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
            best = std::min(best, self(a.substr(2), b.substr(2), self) + 1);
        return best;
    };
    std::uint32_t seed = 7;
    const auto text = [&] {
        std::string out;
        for (seed = seed * 1664525u + 1013904223u; out.size() < (seed >> 28) % 6; seed = seed * 1664525u + 1013904223u)
            out += static_cast<char>('a' + (seed >> 20) % 3);
        return out;
    };
    for (int round = 0; round < 500; ++round) {
        const std::string a = text(), b = text();
        CAPTURE(a, b);
        for (std::size_t most = 0; most < 4; ++most)
            CHECK(detail::within_edits(a, b, most) == (slow(a, b, slow) <= most));
    }
}

TEST_CASE("hints that make no sense are refused where they are given") {
    CHECK(code_of([] { const field_catalog bad(fields(), {}, {{.field = "colour"}}); }) == "metadata.unknown_field");
    const schema yes_no{{"in_stock", field_type::boolean}};
    CHECK(code_of([&] {
              const field_catalog bad(yes_no, {}, {{.field = "in_stock", .aliases = {{"gone", "no"}}}});
          }) == "catalog.alias");
    const field_catalog good(yes_no, {}, {{.field = "in_stock", .aliases = {{"sold out", "false"}}}});
    CHECK(good.snap(0, "sold out").text == "false");
}
