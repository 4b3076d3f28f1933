#include "quarry/model/retry.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;
using namespace std::chrono_literals;

namespace {

using waits = std::vector<std::chrono::milliseconds>;

scripted_generator echo() {
    return scripted_generator([](const prompt& p) { return completion("re: " + p.text()); });
}

// Nobody sleeps: waits are written down.
retry_options noting(waits& slept, retry_options options = {}) {
    options.sleep = [&slept](std::chrono::milliseconds time, std::stop_token) { slept.push_back(time); };
    return options;
}

}  // namespace

TEST_CASE("a call that works is made once and nobody waits") {
    waits slept;
    const auto g = echo();
    CHECK(generate(retrying(g, noting(slept)), "x").text == "re: x");
    CHECK(g.calls() == 1);
    CHECK(slept.empty());
}

TEST_CASE("waits grow by the factor up to the longest, when nothing is random") {
    waits slept;
    const auto g = echo();
    for (std::size_t call = 1; call <= 5; ++call) g.fail_at(call);
    const auto r = retrying(
        g, noting(slept, {.attempts = 6, .first_wait = 100ms, .growth = 3.0, .longest_wait = 1000ms, .jitter = 0.0}));
    CHECK(generate(r, "x").text == "re: x");
    CHECK(slept == waits{100ms, 300ms, 900ms, 1000ms, 1000ms});
}

TEST_CASE("the last failure goes on unchanged, after as many attempts as were allowed") {
    waits slept;
    const auto g = echo();
    for (std::size_t call = 1; call <= 3; ++call) g.fail_at(call, "failure " + std::to_string(call));
    std::string message;
    try {
        generate(retrying(g, noting(slept, {.attempts = 3})), "x");
    } catch (const std::runtime_error& e) {
        message = e.what();
    }
    CHECK(message == "failure 3");
    CHECK(g.calls() == 3);
    CHECK(slept.size() == 2);
}

TEST_CASE("jitter shortens waits by at most its share, differs between prompts, and is the same in every run") {
    const auto run = [](std::string text, std::uint64_t seed) {
        waits slept;
        const auto g = echo();
        for (std::size_t call = 1; call <= 4; ++call) g.fail_at(call);
        generate(retrying(g, noting(slept,
                                    {.attempts = 5, .first_wait = 1000ms, .growth = 1.0, .jitter = .25, .seed = seed})),
                 text);
        return slept;
    };
    const waits first = run("a", 1);
    for (const auto wait : first) {
        CHECK(wait >= 750ms);
        CHECK(wait <= 1000ms);
    }
    CHECK(first[0] != first[1]);
    CHECK(run("a", 1) == first);
    CHECK(run("b", 1) != first);
    CHECK(run("a", 2) != first);
}

TEST_CASE("a server that says when is not asked before") {
    waits slept;
    const auto g = echo();
    g.at(1, [](std::stop_token) -> completion { throw busy_error("slow down", 7000ms); });
    g.at(2, [](std::stop_token) -> completion { throw busy_error("slow down", 1ms); });
    g.at(3, [](std::stop_token) -> completion { throw busy_error("slow down"); });
    generate(retrying(g, noting(slept, {.first_wait = 100ms, .jitter = 0.0})), "x");
    CHECK(slept == waits{7000ms, 200ms, 400ms});
}

TEST_CASE("errors of our own, stops and lost memory are not tried again") {
    const auto attempts_at = [](auto f) {
        waits slept;
        const auto g = echo();
        g.at(1, f);
        try {
            generate(retrying(g, noting(slept)), "x");
        } catch (...) {
        }
        return g.calls();
    };
    CHECK(attempts_at([](std::stop_token) -> completion { throw cancelled("a.b", "stop"); }) == 1);
    CHECK(attempts_at([](std::stop_token) -> completion { throw usage_error("a.b", "wrong"); }) == 1);
    CHECK(attempts_at([](std::stop_token) -> completion { throw std::invalid_argument("wrong"); }) == 1);
    CHECK(attempts_at([](std::stop_token) -> completion { throw std::bad_alloc(); }) == 1);
    CHECK(attempts_at([](std::stop_token) -> completion { throw 42; }) == 1);
    CHECK(attempts_at([](std::stop_token) -> completion { throw callable_error("a.b", "odd"); }) == 2);
}

TEST_CASE("the caller may say what is worth another attempt, and is told of each") {
    waits slept;
    const auto g = echo();
    g.fail_at(1, "429");
    g.fail_at(2, "401");
    auto options = noting(slept, {.first_wait = 100ms, .jitter = 0.0});
    options.worth_it = [](const std::exception& e) { return std::string(e.what()) == "429"; };
    std::vector<std::string> told;
    options.told = [&](const retry_event& e) { told.push_back(std::to_string(e.attempt) + " " + e.failure.what()); };
    CHECK_THROWS_AS(generate(retrying(g, options), "x"), std::runtime_error);
    CHECK(g.calls() == 2);
    CHECK(told == std::vector<std::string>{"1 429"});
}

TEST_CASE("a stop between attempts ends them") {
    std::stop_source source;
    const auto g = echo();
    g.fail_at(1);
    retry_options options;
    options.sleep = [&](std::chrono::milliseconds, std::stop_token stop) {
        CHECK(stop.stop_possible());
        source.request_stop();
    };
    CHECK(code_of([&] { generate(retrying(g, options), "x", source.get_token()); }) == "generator.stopped");
    CHECK(g.calls() == 1);
    // Stopped already: nobody waits at all.
    g.fail_at(2);
    options.sleep = [](std::chrono::milliseconds, std::stop_token) { FAIL("slept"); };
    CHECK(code_of([&] { generate(retrying(g, options), "x", source.get_token()); }) == "generator.stopped");
}

TEST_CASE("the wait that is used when none is given comes back at once when stopped") {
    std::stop_source source;
    source.request_stop();
    const auto before = std::chrono::steady_clock::now();
    detail::sleep_for_real(std::chrono::hours(1), source.get_token());
    CHECK(std::chrono::steady_clock::now() - before < 60s);
}

TEST_CASE("options that make no sense are refused when the generator is made") {
    const auto code = [](retry_options options) { return code_of([&] { retrying(echo(), options); }); };
    CHECK(code({.attempts = 0}) == "retry.options");
    CHECK(code({.growth = .5}) == "retry.options");
    CHECK(code({.jitter = 1.5}) == "retry.options");
    CHECK(code({.first_wait = -1ms}) == "retry.options");
    CHECK(code({}) == "(no exception)");
}

TEST_CASE("retrying keeps the model's name and what the model said of its tokens") {
    const auto g =
        scripted_generator([](const prompt&) { return completion("x", true, token_usage{.output = 3}); }, "qwen");
    CHECK(retrying(g).name() == "qwen");
    const completion c = generate(retrying(g), "p");
    CHECK(c.cut_off);
    CHECK(c.used->output == 3);
}
