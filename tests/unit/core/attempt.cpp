#include "quarry/core/attempt.hpp"

#include <stdexcept>

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
    detail::attempt(r, quietly, "stage", degraded, f);
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

TEST_CASE("that the query was stopped or is late is no failure of a stage") {
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
