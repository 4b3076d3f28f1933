#include "quarry/detail/function_ref.hpp"

#include <memory>
#include <string>
#include <type_traits>

#include "support/catch.hpp"

using quarry::detail::function_ref;

namespace {

int twice(int x) { return 2 * x; }

int call(function_ref<int(int)> f) { return f(20); }

struct counter {
    int calls = 0;
    void operator()(int) { ++calls; }
};

}  // namespace

TEST_CASE("a reference calls the callable it was made from, whatever that is") {
    CHECK(call([](int x) { return x + 1; }) == 21);
    int base = 5;
    CHECK(call([&](int x) { return x + base; }) == 25);
    CHECK(call(twice) == 40);
    CHECK(call(&twice) == 40);
    const auto constant = [](int x) { return x; };
    CHECK(call(constant) == 20);
}

TEST_CASE("it refers and does not copy") {
    counter c;
    const function_ref<void(int)> f = c;
    f(1);
    const function_ref<void(int)> copy = f;
    copy(2);
    CHECK(c.calls == 2);
    STATIC_REQUIRE(sizeof(f) == 2 * sizeof(void*));
}

TEST_CASE("what a callable returns to a caller who wants nothing is dropped") {
    int seen = 0;
    const auto returns = [&](int x) { return seen = x; };
    const function_ref<void(int)> f = returns;
    f(7);
    CHECK(seen == 7);
}

TEST_CASE("arguments that can only be moved are moved through") {
    const auto take = [](std::unique_ptr<int> p) { return *p; };
    const function_ref<int(std::unique_ptr<int>)> f = take;
    CHECK(f(std::make_unique<int>(9)) == 9);
}

TEST_CASE("only what can be called with these arguments makes a reference") {
    STATIC_REQUIRE(std::is_constructible_v<function_ref<int(int)>, int (*)(int)>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<function_ref<int(int)>, int>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<function_ref<int(std::string)>, int (*)(int)>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<function_ref<std::string(int)>, int (*)(int)>);
}
