#include "quarry/core/attempt.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

template <class F>
std::pair<bool, std::string> attempted(const query& q, bool quietly, F f) {
    const corpus c = toy::corpus_of({"a"});
    request r(q, c);
    bool degraded = false;
    detail::attempt(r, {&c, "stage", quietly}, degraded, f);
    return {degraded, q.tracer() ? to_string(*q.tracer()) : ""};
}

}  // namespace

TEST_CASE("a failure of an optional stage is noted and degrades") {
    trace told;
    const query q = query("x").traced(told);
    CHECK_FALSE(attempted(q, true, [] {}).first);
    CHECK(attempted(q, true, [] { throw std::runtime_error("the line is dead"); }).first);
    CHECK(told.find(trace_code::degraded, "stage") != nullptr);
    CHECK(to_string(told).find("stage: the line is dead") != std::string::npos);
    CHECK(attempted(q, true, [] { throw 7; }).first);
}

TEST_CASE("a failure is the caller's where it may not be quiet") {
    CHECK_THROWS_AS(attempted("x", false, [] { throw std::runtime_error("no"); }), std::runtime_error);
    CHECK_THROWS_AS(attempted("x", false, [] { throw 7; }), int);
    CHECK_THROWS_AS(attempted("x", true, [] { throw std::bad_alloc(); }), std::bad_alloc);
    CHECK(code_of([] { attempted("x", true, [] { throw callable_error("self_query.refused", "no"); }); }) ==
          "self_query.refused");
}

TEST_CASE("a stage that was left out stays so, for the same words, and is noted once") {
    const corpus c = toy::corpus_of({"a"});
    trace told;
    const query q = query("x").traced(told);
    request r(q, c);
    std::size_t tries = 0;
    const auto failing = [&](request& asked, const void* who) {
        bool degraded = false;
        detail::attempt(asked, {who, "stage"}, degraded, [&] {
            ++tries;
            throw std::runtime_error("no");
        });
        return degraded;
    };
    CHECK((failing(r, &c) && failing(r, &c)));
    CHECK(tries == 1);
    CHECK(told.events.size() == 1);
    request child = r.narrowed(nullptr, "y");
    CHECK((failing(child, &c) && failing(r, &q)));
    CHECK(tries == 3);
}

TEST_CASE("an optional stage does not begin after the deadline, and what is not optional does") {
    std::chrono::steady_clock::time_point now{};
    trace told;
    query q = query("x").traced(told).under({.deadline = now, .now = [&] { return now; }});
    bool begun = false;
    const auto begin = [&] { begun = true; };
    CHECK_FALSE(attempted(q, true, begin).first);
    CHECK(std::exchange(begun, false));
    now += std::chrono::seconds(1);
    CHECK(attempted(q, true, begin).first);
    CHECK_FALSE(begun);
    CHECK(to_string(told).find("stage: the query's deadline has passed") != std::string::npos);
    CHECK_FALSE(attempted(q, false, begin).first);
    CHECK(begun);
}

TEST_CASE("the deadline holds within an optional stage, for its children too, and not behind it") {
    const corpus c = toy::corpus_of({"a"});
    std::chrono::steady_clock::time_point now{};
    const query q = query("x").under({.deadline = now, .now = [&] { return now; }});
    request r(q, c);
    request child = r.narrowed(nullptr, "y");
    bool degraded = false;
    std::string inside;
    detail::attempt(r, {&c, "stage"}, degraded, [&] {
        child.pay_for_a_call();
        now += std::chrono::seconds(1);
        inside = code_of([&] { child.pay_for_a_call(); });
    });
    CHECK(inside == "budget.deadline");
    CHECK_FALSE(degraded);
    CHECK(code_of([&] { r.pay_for_a_call(); }) == "(no exception)");
}

TEST_CASE("that the query was stopped is no failure of a stage") {
    std::stop_source stop;
    const query q = query("x").stop_on(stop.get_token());
    CHECK(code_of([&] {
              attempted(q, true, [&] {
                  stop.request_stop();
                  throw std::runtime_error("interrupted");
              });
          }) == "query.stopped");
    // A spent number of calls is one: what needs no call can still be done.
    CHECK(attempted("x", true, [] { throw cancelled("budget.model_calls", "spent"); }).first);
}
