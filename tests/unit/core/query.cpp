#include "quarry/core/query.hpp"

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

#include "support/catch.hpp"

using namespace quarry;

namespace {

bool is_everything_set(const query& q) {
    return q.filtered()->to_string() == "eq(a, 1)" && q.scoped()->condition()->to_string() == "eq(b, 2)" &&
           q.allowance().model_calls == 3 && q.stop_token().stop_possible() && q.tracer() && q.skipped() == 4 &&
           q.includes_generated() && q.required() == std::vector<std::string>{"r"} &&
           q.forbidden() == std::vector<std::string>{"f"} && q.phrases() == std::vector<std::string>{"p q"};
}

}  // namespace

TEST_CASE("a query is made from any kind of text without being asked for") {
    const auto text_of = [](const query& q) { return std::string(q.text()); };
    CHECK(text_of("literal") == "literal");
    CHECK(text_of(std::string("string")) == "string");
    CHECK(text_of(std::string_view("view of it", 4)) == "view");
    CHECK(text_of("") == "");
    STATIC_REQUIRE_FALSE(std::is_convertible_v<int, query>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<filter, query>);
}

TEST_CASE("a query that says nothing restricts, limits and skips nothing") {
    const query q("text");
    CHECK_FALSE(q.filtered());
    CHECK_FALSE(q.scoped());
    CHECK_FALSE(q.prepared());
    CHECK_FALSE(q.example());
    CHECK(q.allowance().model_calls == SIZE_MAX);
    CHECK_FALSE(q.allowance().deadline);
    CHECK_FALSE(q.stop_token().stop_possible());
    CHECK(q.tracer() == nullptr);
    CHECK(q.skipped() == 0);
    CHECK_FALSE(q.includes_generated());
    CHECK(q.required().empty());
}

TEST_CASE("every setter works on a named query and on a temporary") {
    std::stop_source stop;
    trace t;
    query named("text");
    named.where(eq("a", 1));
    named.within(scope::only(eq("b", 2)));
    named.under({.model_calls = 3});
    named.stop_on(stop.get_token());
    named.traced(t);
    named.skip(4);
    named.include_generated();
    named.require("r").forbid("f").phrase("p q");
    CHECK(is_everything_set(named));

    const query temporary = query("text")
                                .where(eq("a", 1))
                                .within(scope::only(eq("b", 2)))
                                .under({.model_calls = 3})
                                .stop_on(stop.get_token())
                                .traced(t)
                                .skip(4)
                                .include_generated()
                                .require("r")
                                .forbid("f")
                                .phrase("p q");
    CHECK(is_everything_set(temporary));
    CHECK(temporary.text() == "text");
}

TEST_CASE("setters give back what they were called on: a reference, or the temporary itself") {
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<query&>().skip(1)), query&>);
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<query>().skip(1)), query&&>);
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<query&>().where(exists("a"))), query&>);
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<query>().where(exists("a"))), query&&>);
    query q("text");
    CHECK(&q.skip(1) == &q);
}

TEST_CASE("a second filter narrows the first and does not replace it") {
    CHECK(query("t").where(eq("a", 1)).where(eq("b", 2)).filtered()->to_string() == "and(eq(a, 1), eq(b, 2))");
    query q("t");
    q.where(eq("a", 1));
    q.where(eq("b", 2) || eq("c", 3));
    CHECK(q.filtered()->to_string() == "and(eq(a, 1), or(eq(b, 2), eq(c, 3)))");
}

TEST_CASE("a second scope, skip or budget replaces the first") {
    const query q = query("t").within(scope::everything()).within(scope::only(exists("a"))).skip(3).skip(1);
    REQUIRE(q.scoped()->condition());
    CHECK(q.scoped()->condition()->to_string() == "exists(a)");
    CHECK(q.skipped() == 1);
}

TEST_CASE("a query like a unit has the unit and no text of its own") {
    const query q = like(unit_id{7}).where(exists("a"));
    CHECK(q.example() == unit_id{7});
    CHECK(q.text().empty());
    CHECK(q.filtered());
}

TEST_CASE("a copy of a query is independent of it") {
    query first("t");
    first.where(eq("a", 1));
    query second = first;
    second.where(eq("b", 2)).skip(5);
    CHECK(first.filtered()->to_string() == "eq(a, 1)");
    CHECK(first.skipped() == 0);
}
