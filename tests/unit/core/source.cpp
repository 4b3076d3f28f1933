#include "quarry/core/source.hpp"

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

// What a source must have and nothing more: a list of names, each the parent of the next in brackets.
struct names {
    std::vector<std::string> list;

    std::size_t size() const { return list.size(); }
    unit_kind kind(unit_id unit) const { return parent(unit) ? unit_kind::chunk : unit_kind::article; }
    std::string_view id(unit_id unit) const { return list[index_of(unit)]; }
    std::string_view title(unit_id) const { return "a title"; }
    std::string_view text(unit_id unit) const { return list[index_of(unit)]; }
    std::optional<unit_id> parent(unit_id unit) const {
        if (list[index_of(unit)].front() != '(') return std::nullopt;
        return unit_at(index_of(unit) - 1);
    }
    std::optional<field_value> value(unit_id, std::string_view field) const {
        return field == "answer" ? std::optional<field_value>(42) : std::nullopt;
    }
    std::optional<unit_id> find(std::string_view id) const {
        for (std::size_t i = 0; i < list.size(); ++i)
            if (list[i] == id) return unit_at(i);
        return std::nullopt;
    }
    selection select(const selection_criteria&) const { return {}; }
};

struct changing_names : names {
    std::shared_ptr<const char> identity = std::make_shared<const char>('\0');
    std::uint64_t revision = 0;
    source_state state() const { return {identity, revision}; }
};

// Everything but a way to find a unit.
struct lost {
    std::size_t size() const;
    unit_kind kind(unit_id) const;
    std::string_view id(unit_id) const, title(unit_id) const, text(unit_id) const;
    std::optional<unit_id> parent(unit_id) const;
    std::optional<field_value> value(unit_id, std::string_view) const;
    selection select(const selection_criteria&) const;
};

}  // namespace

TEST_CASE("a source needs the required members and no base class") {
    STATIC_REQUIRE(UnitSource<names>);
    STATIC_REQUIRE(UnitSource<changing_names>);
    STATIC_REQUIRE(UnitSource<corpus>);
    STATIC_REQUIRE(UnitSource<source_ref>);
    STATIC_REQUIRE_FALSE(UnitSource<lost>);
}

TEST_CASE("a reference passes everything on to its source") {
    const names n{{"a", "(b)", "(c)", "d"}};
    const source_ref source = n;
    CHECK(source.size() == 4);
    CHECK(source.kind(unit_id{1}) == unit_kind::chunk);
    CHECK(source.id(unit_id{1}) == "(b)");
    CHECK(source.title(unit_id{0}) == "a title");
    CHECK(source.text(unit_id{3}) == "d");
    CHECK(source.parent(unit_id{2}) == unit_id{1});
    CHECK(source.find("d") == unit_id{3});
    CHECK_FALSE(source.find("e"));
    CHECK(source.value(unit_id{0}, "answer") == field_value(42));
    CHECK_FALSE(source.value(unit_id{0}, "question"));
    CHECK(source.select({}).returned().all());
}

TEST_CASE("what a source does not offer is empty, and the span is the whole text") {
    const names n{{"abc"}};
    const source_ref source = n;
    CHECK(source.summary(unit_id{0}).empty());
    CHECK(source.headings(unit_id{0}).empty());
    CHECK(source.links(unit_id{0}).empty());
    CHECK(source.span(unit_id{0}) == byte_span{0, 3});
}

TEST_CASE("a source that offers more is asked for it") {
    corpus c;
    c.add({.id = "a", .summary = "S", .text = "0123", .headings = {{"H", 1, {0, 1}}}, .links = {{"t"}}});
    c.add_part(unit_id{0}, {.span = {1, 3}});
    const source_ref source = c;
    CHECK(source.summary(unit_id{0}) == "S");
    CHECK(source.headings(unit_id{0}).size() == 1);
    CHECK(source.links(unit_id{0}).size() == 1);
    CHECK(source.span(unit_id{1}) == byte_span{1, 3});
}

TEST_CASE("the article of a unit is found through every parent") {
    const names n{{"a", "(b)", "(c)", "d"}};
    const source_ref source = n;
    CHECK(source.article_of(unit_id{0}) == unit_id{0});
    CHECK(source.article_of(unit_id{2}) == unit_id{0});
    CHECK(source.article_of(unit_id{3}) == unit_id{3});
}

TEST_CASE("a unit is a view that asks its source") {
    const names n{{"a", "(b)"}};
    const unit_ref unit = source_ref(n)[unit_id{1}];
    CHECK(unit.unit() == unit_id{1});
    CHECK(unit.kind() == unit_kind::chunk);
    CHECK(unit.id() == "(b)");
    CHECK(unit.title() == "a title");
    CHECK(unit.text() == "(b)");
    CHECK(unit.span().size() == 3);
    CHECK(unit.parent() == unit_id{0});
    CHECK(unit.article().id() == "a");
    CHECK(unit.value("answer") == field_value(42));
    CHECK(unit.summary().empty());
    CHECK(unit.headings().empty());
    CHECK(unit.links().empty());
}

TEST_CASE("references are equal if they lead to the same source, not if the sources look alike") {
    const names first{{"a"}}, second{{"a"}};
    CHECK(source_ref(first) == source_ref(first));
    CHECK(source_ref(first) != source_ref(second));
    source_ref moving = first;
    moving = second;
    CHECK(moving == source_ref(second));
}

TEST_CASE("a temporary source makes no reference") {
    STATIC_REQUIRE(std::is_constructible_v<source_ref, const names&>);
    STATIC_REQUIRE(std::is_constructible_v<source_ref, names&>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<source_ref, names>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<source_ref, const names>);
    STATIC_REQUIRE(std::is_copy_constructible_v<source_ref>);
}

TEST_CASE("a selection carries the state of the source that made it") {
    const names n{{"a"}}, other{{"a"}};
    changing_names c;
    c.list = {"a"};
    const selection made = source_ref(n).select({});
    CHECK(made.state() == source_ref(n).state());
    CHECK(made.state() != source_ref(other).state());
    const selection before = source_ref(c).select({});
    CHECK(before.state() == source_ref(c).state());
    ++c.revision;
    CHECK(before.state() != source_ref(c).state());
}

TEST_CASE("a reference tells what a generated unit was made from, and nothing where its source does not say") {
    corpus c;
    const unit_id a = c.add({.id = "a"}), b = c.add({.id = "b"});
    const unit_id summary = c.add_generated({.id = "s", .text = "both", .sources = {a, b}});
    const source_ref source(c);
    CHECK(std::vector<unit_id>(source.sources(summary).begin(), source.sources(summary).end()) ==
          std::vector<unit_id>{a, b});
    CHECK(source.sources(a).empty());
}
