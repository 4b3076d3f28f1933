#include "quarry/core/error.hpp"

#include <type_traits>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("every kind of error can be caught as error, as runtime_error and as exception") {
    STATIC_REQUIRE(std::is_base_of_v<std::runtime_error, error>);
    STATIC_REQUIRE(std::is_base_of_v<error, usage_error>);
    STATIC_REQUIRE(std::is_base_of_v<error, callable_error>);
    STATIC_REQUIRE(std::is_base_of_v<error, data_error>);
    STATIC_REQUIRE(std::is_base_of_v<error, cancelled>);
    CHECK_THROWS_AS(detail::raise<data_error>("file.short", "cut"), std::exception);
}

TEST_CASE("the kinds are told apart by type, not by text") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<callable_error*, usage_error*>);
    CHECK_THROWS_AS(detail::raise<callable_error>("x.y", "m"), callable_error);
    CHECK_THROWS_AS(detail::raise<cancelled>("x.y", "m"), cancelled);
}

TEST_CASE("the code stands by itself and at the end of the message") {
    const auto throws = [] { detail::raise<usage_error>("dense.dimension", "expected 384 floats, got 768"); };
    CHECK(code_of(throws) == "dense.dimension");
    CHECK(message_of(throws) == "expected 384 floats, got 768 [dense.dimension]");
}

TEST_CASE("a copy of an error keeps code and message") {
    const usage_error original("a.b", "text");
    const error sliced = original;
    CHECK(sliced.code() == "a.b");
    CHECK(std::string(sliced.what()) == original.what());
}
