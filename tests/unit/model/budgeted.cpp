#include "quarry/model/budgeted.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;
using namespace std::chrono_literals;

namespace {

scripted_generator saying(token_usage used) {
    return scripted_generator([used](const prompt&) { return completion("x", false, used); }, "m");
}

// One token a byte: what can be counted by eye.
budget_limits bytes(budget_limits limits) {
    limits.counter = [](std::string_view text) { return text.size(); };
    return limits;
}

}  // namespace

TEST_CASE("no call beyond the allowed number is made") {
    const auto g = saying({});
    const auto b = budgeted(g, {.calls = 2});
    generate(b, "a");
    generate(b, "b");
    CHECK(code_of([&] { generate(b, "c"); }) == "budget.calls");
    CHECK(g.calls() == 2);
    CHECK(b.spent().calls == 2);
    CHECK(code_of([&] { generate(budgeted(g, {.calls = 0}), "a"); }) == "budget.calls");
}

TEST_CASE("a budget error can be told from every other error, and is a stop") {
    const auto b = budgeted(saying({}), {.calls = 0});
    CHECK_THROWS_AS(generate(b, "a"), budget_error);
    CHECK_THROWS_AS(generate(b, "a"), cancelled);
}

TEST_CASE("a call whose expected tokens do not fit is not made, and actual tokens replace the estimate") {
    // The prompt has 4 tokens and 10 are expected of the reply; the generator says 3 + 2 in the end.
    const auto g = saying({.input = 3, .output = 2});
    const auto b = budgeted(g, bytes({.tokens = 20, .reply_tokens = 10}));
    generate(b, "aaaa");
    CHECK(b.spent().tokens == token_usage{.input = 3, .output = 2});
    generate(b, "aaaa");                                              // 5 + 14 = 19
    CHECK(code_of([&] { generate(b, "aaaa"); }) == "budget.tokens");  // 10 + 14 = 24
    CHECK(b.spent().tokens.total() == 10);
    CHECK(g.calls() == 2);
}

TEST_CASE("without word from the generator, prompt and reply are counted") {
    const auto g = scripted_generator([](const prompt&) { return completion("seven b"); });
    const auto b = budgeted(g, bytes({.reply_tokens = 100}));
    const completion reply = generate(b, prompt_writer().system("sys").say("words").finish());
    CHECK(b.spent().tokens == token_usage{.input = 8, .output = 7});
    REQUIRE(reply.used);
    CHECK(reply.used->output == 7);
}

TEST_CASE("dollars follow the price, cached reading at its own") {
    const auto g = saying({.input = 1'000'000, .cache_write = 1'000'000, .cache_read = 1'000'000, .output = 1'000'000});
    const auto b =
        budgeted(g, bytes({.dollars = 10.0, .price = {.input = 1, .cache_write = 2, .cache_read = .5, .output = 4}}));
    generate(b, "a");
    CHECK(b.spent().dollars == Approx(7.5));
    generate(b,
             "a");  // an estimate of a few bytes fits into the 2.5 that are left; it takes 7.5, and then nothing fits
    CHECK(b.spent().dollars == Approx(15.0));
    CHECK(code_of([&] { generate(b, "a"); }) == "budget.dollars");
}

TEST_CASE("after the deadline nothing is asked") {
    auto now = std::chrono::steady_clock::time_point{};
    const auto g = saying({});
    const auto b = budgeted(g, {.deadline = now + 10s, .now = [&] { return now; }});
    generate(b, "a");
    now += 10s;
    generate(b, "a");
    now += 1ns;
    CHECK(code_of([&] { generate(b, "a"); }) == "budget.deadline");
    CHECK(g.calls() == 2);
}

TEST_CASE("a failed call counts as a call and gives its tokens back") {
    const auto g = saying({.output = 5});
    g.fail_at(1);
    const auto b = budgeted(g, bytes({}));
    CHECK_THROWS_AS(generate(b, "aaaa"), std::runtime_error);
    CHECK(b.spent().calls == 1);
    CHECK(b.spent().tokens.total() == 0);
    generate(b, "aaaa");
    CHECK(b.spent().tokens.total() == 5);
}

TEST_CASE("calls in flight together do not overspend together") {
    // 8 threads ask at once; each call is expected to take 10, 35 are allowed: exactly three may be made.
    std::atomic<int> arrived = 0;
    const auto g = scripted_generator([&](const prompt&) {
        ++arrived;
        return completion("", false, token_usage{.output = 10});
    });
    const auto b = budgeted(g, bytes({.tokens = 35, .reply_tokens = 10}));
    std::atomic<int> refused = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                try {
                    generate(b, "");
                } catch (const budget_error&) {
                    ++refused;
                }
            });
    }
    CHECK(arrived == 3);
    CHECK(refused == 5);
    CHECK(b.spent().tokens.total() == 30);
}

TEST_CASE("copies share one budget") {
    const auto b = budgeted(saying({}), {.calls = 1});
    const auto copy = b;
    generate(copy, "a");
    CHECK(code_of([&] { generate(b, "a"); }) == "budget.calls");
}

TEST_CASE("what a cache inside remembered costs no tokens") {
    const auto g = scripted_generator([](const prompt&) {
        completion c("x", false, token_usage{.output = 100});
        c.remembered = true;
        return c;
    });
    const auto b = budgeted(g, bytes({}));
    generate(b, "a");
    CHECK(b.spent().tokens.total() == 0);
}

TEST_CASE("limits that make no sense are refused") {
    CHECK(code_of([] { budgeted(saying({}), {.dollars = -1.0}); }) == "budget.limits");
    CHECK(code_of([] { budgeted(saying({}), {.price = {.input = -1.0}}); }) == "price.value");
    CHECK(budgeted(saying({}), {}).name() == "m");
}
