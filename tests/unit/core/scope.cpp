#include "quarry/core/scope.hpp"

#include <type_traits>
#include <utility>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("a default-made scope never means everything") {
    const scope unset;
    CHECK(code_of([&] { unset.condition(); }) == "scope.unset");
}

TEST_CASE("seeing everything has to be asked for in words") { CHECK(scope::everything().condition() == nullptr); }

TEST_CASE("a scope of one condition gives it back") {
    const scope s = scope::only(eq("tenant", "a"));
    REQUIRE(s.condition());
    CHECK(s.condition()->to_string() == "eq(tenant, \"a\")");
}

TEST_CASE("a scope and a filter do not convert into one another") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<scope, filter>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<filter, scope>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<scope, filter>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<filter, scope>);
}

TEST_CASE("a scope that was moved from still restricts") {
    scope from = scope::only(eq("tenant", "a"));
    const scope to = std::move(from);
    REQUIRE(to.condition());
    REQUIRE(from.condition());  // NOLINT: that is the promise
    CHECK(from.condition()->to_string() == to.condition()->to_string());
}

TEST_CASE("an empty tenant is a value and not the absence of a condition") {
    const scope s = scope::only(eq("tenant", ""));
    REQUIRE(s.condition());
    CHECK(s.condition()->to_string() == "eq(tenant, \"\")");
}
