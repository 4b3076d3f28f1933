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
#include <vector>

#include "quarry/live/library.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/store/save_library.hpp"
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
        *letters.fails_at = n;
        CHECK_THROWS_AS(run(letters), std::runtime_error);
        CHECK(letters.counted->calls == n);
        CHECK(run(letters) == calm.bytes);
        CHECK(letters.counted->calls == calm.embedder_calls + 1);
        CHECK(g.calls() == calm.calls);
    }
}

namespace {

// Chunks by their own words, and articles by the questions that a model writes for them.
struct library_of_questions {
    paid::failing_embedder letters;
    scripted_generator model = paid::note_taker();
    library<paid::failing_embedder> kb{letters, layers()};

    std::vector<layer> layers() const {
        std::vector<layer> out;
        out.emplace_back(identity{}, "1");
        out.emplace_back(questions(model, {.of = unit_kind::article, .with_unit = false}), "1");
        return out;
    }
    std::string bytes() const {
        memory_files files;
        save("kb", kb, {.files = &files});
        return files.files.at("kb");
    }
};

}  // namespace

// Cases 100 and 101 of the catalogue of public failures: langchain 40227, lobu PR 1289.
TEST_CASE("whichever call of a change fails, the library is the same bytes, and the same change works later") {  // 100, 101
    const std::vector<article> first{{.id = "a", .text = "alpha beta"}, {.id = "b", .text = "gamma"}};
    const change next{.upsert = {{.id = "a", .text = "alpha delta"}, {.id = "c", .text = "epsilon"}}, .remove = {"b"}};
    library_of_questions calm;
    calm.kb.upsert_all(first);
    const std::size_t asked = calm.model.calls(), embedded = calm.letters.counted->calls;
    const change_report expected = calm.kb.apply(next);
    const std::string after = calm.bytes();
    REQUIRE(calm.model.calls() == asked + 2);

    for (const bool by_model : {true, false})
        for (std::size_t n = 1; n <= (by_model ? 2 : calm.letters.counted->calls - embedded); ++n) {
            CAPTURE(by_model, n);
            library_of_questions l;
            l.kb.upsert_all(first);
            const std::string before = l.bytes();
            if (by_model) {
                l.model.at(asked + n, [](std::stop_token) -> completion { throw cancelled("budget.calls", "spent"); });
                CHECK(code_of([&] { l.kb.apply(next); }) == "budget.calls");
            } else {
                *l.letters.fails_at = embedded + n;
                CHECK_THROWS_WITH(l.kb.apply(next), "no connection");
            }
            CHECK(l.bytes() == before);
            const change_report made = l.kb.apply(next);
            CHECK(made.added == expected.added);
            CHECK(made.replaced == expected.replaced);
            CHECK(l.bytes() == after);
        }
}

// Case 79: llama_index PR 13112.
TEST_CASE("an article without questions is found by its own words, and one that goes takes its questions along") {
    library_of_questions l;
    l.model.at(1, [](std::stop_token) { return completion("N/A"); });
    l.kb.upsert({.id = "silent", .text = "gamma rays"});
    l.kb.upsert({.id = "asked", .text = "alpha"});
    const auto found = [&](const char* question) {
        const auto now = l.kb.now();
        return toy::ids(lexical(now->bm25(1)).retrieve(question, 5));
    };
    CHECK(found("rays") == std::vector<std::string>{"silent"});
    CHECK(found("what is said of alpha") == std::vector<std::string>{"asked"});
    l.kb.remove("asked");
    CHECK(found("what is said of alpha").empty());
    l.kb.merge();
    CHECK(found("what is said of alpha").empty());
}
