// What a fault costs while an index is built: for every call of a small build, the call that fails for good, fails
// once, hangs until it is stopped, or comes back as garbage.
//
// Nothing that was paid for is lost, a second run makes only the calls that are missing, and what it makes is what an
// undisturbed run makes, byte for byte.
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_files.hpp"
#include "support/paid_build.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

// A journal of its own, opened anew for every run, as a program does that was started again.
class runs {
   public:
    runs(const scripted_generator& g, std::size_t at_once) : generator_(g), at_once_(at_once) {}

    std::string operator()(const paid::failing_embedder& letters = {}, std::stop_token stop = {}) {
        files_.reset();
        paid::books b("work", {.files = &files_});
        return paid::build_all(b, generator_, letters, at_once_, std::move(stop));
    }

   private:
    const scripted_generator& generator_;
    std::size_t at_once_;
    memory_files files_;
};

struct undisturbed {
    std::string bytes;
    std::size_t calls, embedder_calls;
};

undisturbed calm_build() {
    const auto g = paid::note_taker();
    const paid::failing_embedder letters;
    const std::string bytes = runs(g, 1)(letters);
    return {bytes, g.calls(), letters.counted->calls};
}

// For every call of the model; one at a time and three at once, in turn.
void at_every_call(const undisturbed& calm,
                   const std::function<void(runs&, const scripted_generator&, std::size_t n)>& check) {
    REQUIRE(calm.calls > 15);
    for (std::size_t n = 1; n <= calm.calls; ++n) {
        CAPTURE(n);
        const auto g = paid::note_taker();
        runs run(g, n % 2 == 0 ? 3 : 1);
        check(run, g, n);
    }
}

}  // namespace

TEST_CASE("a call that ends the run loses nothing that was paid for") {
    const undisturbed calm = calm_build();
    at_every_call(calm, [&](runs& run, const scripted_generator& g, std::size_t n) {
        g.at(n, [](std::stop_token) -> completion { throw cancelled("budget.dollars", "nothing is left"); });
        CHECK(code_of([&] { run(); }) == "budget.dollars");
        CHECK(run() == calm.bytes);
        CHECK(g.calls() == calm.calls + 1);
    });
}

TEST_CASE("a call that hangs ends with the stop of its build and is the one that is made again") {
    const undisturbed calm = calm_build();
    at_every_call(calm, [&](runs& run, const scripted_generator& g, std::size_t n) {
        g.hang_at(n);
        std::stop_source stop;
        const std::jthread impatient([&] {
            while (g.calls() < n) std::this_thread::sleep_for(std::chrono::microseconds(100));
            stop.request_stop();
        });
        CHECK_THROWS_AS(run({}, stop.get_token()), cancelled);
        CHECK(run() == calm.bytes);
        CHECK(g.calls() == calm.calls + 1);
    });
}

TEST_CASE("a call that fails once costs its own unit, until the next run") {
    const undisturbed calm = calm_build();
    at_every_call(calm, [&](runs& run, const scripted_generator& g, std::size_t n) {
        g.fail_at(n, "no connection");
        CHECK(run() != calm.bytes);
        CHECK(run() == calm.bytes);
    });
}

TEST_CASE("garbage was an answer: it is not asked for again, and loses nothing else") {
    const undisturbed calm = calm_build();
    at_every_call(calm, [&](runs& run, const scripted_generator& g, std::size_t n) {
        g.at(n, [](std::stop_token) { return completion(std::string("\xff\xfe\x00\x01{{{", 7)); });
        const std::string once = run();
        const std::size_t made = g.calls();
        CHECK(once != calm.bytes);
        CHECK(run() == once);
        CHECK(g.calls() == made);
    });
}

TEST_CASE("a failing call of the embedder loses neither rows nor replies") {
    const undisturbed calm = calm_build();
    REQUIRE(calm.embedder_calls > 6);
    for (std::size_t n = 1; n <= calm.embedder_calls; ++n) {
        CAPTURE(n);
        const auto g = paid::note_taker();
        runs run(g, 1);
        paid::failing_embedder letters;
        letters.fails_at = n;
        CHECK_THROWS_AS(run(letters), std::runtime_error);
        CHECK(letters.counted->calls == n);
        CHECK(run(letters) == calm.bytes);
        CHECK(letters.counted->calls == calm.embedder_calls + 1);
        CHECK(g.calls() == calm.calls);
    }
}
