// What a fault costs while an index is built: for every call of a small build, the call that fails for good, hangs
// until it is stopped, or comes back as garbage.
//
// Nothing that was paid for is lost, a second run makes only the calls that are missing, and what it makes is what an
// undisturbed run makes.
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/expand/code_summary.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/model/cache.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

corpus five_chunks() {
    corpus c;
    const unit_id a = c.add({.id = "a.cpp", .text = "alpha one. beta two. gamma three. delta four. epsilon five."});
    std::size_t at = 0;
    for (const std::size_t length : {10u, 9u, 12u, 11u, 13u}) {
        c.add_part(a, {.span = {at, at + length}});
        at += length + 1;
    }
    return c;
}

scripted_generator note_taker() {
    return scripted_generator(
        [](const prompt& p) {
            std::string out = "What is said of";
            const std::string passage = p.text().substr(p.text().rfind('<', p.text().rfind("</") - 1));
            for (const char* word : {"alpha", "beta", "gamma", "delta", "epsilon"})
                if (passage.find(word) != std::string::npos) out += ' ' + std::string(word);
            return completion(out + '?');
        },
        "notes");
}

// A build from a model, under a stop token, to everything it makes.
using a_build = std::function<std::vector<std::string>(cached_generator<scripted_generator>, std::stop_token)>;

template <class Make>
a_build keys_by(Make make) {
    return [make](cached_generator<scripted_generator> model, std::stop_token stop) {
        const corpus c = five_chunks();
        std::vector<unit_id> units;
        for (std::size_t i = 1; i < c.size(); ++i) units.push_back(unit_at(i));
        const auto prepared = make(std::move(model)).prepare(c, units, expansion_run{stop});
        std::vector<std::string> out;
        for (const unit_id unit : units) prepared(c, unit, [&](key k) { out.push_back(k.text); });
        return out;
    };
}

std::vector<std::string> tree_by(cached_generator<scripted_generator> model, std::stop_token stop) {
    corpus c = five_chunks();
    raptor(toy::letter_embedder{}, summaries(std::move(model)), {.stop = stop}, window_clusters{.members = 2}).grow(c);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < c.size(); ++i) out.emplace_back(c.text(unit_at(i)));
    return out;
}

void survives(const a_build& build_with) {
    reply_store undisturbed_replies;
    const auto calm = note_taker();
    const std::vector<std::string> undisturbed = build_with(cached(calm, undisturbed_replies), {});
    const std::size_t calls = calm.calls();
    REQUIRE(calls >= 3);
    for (std::size_t n = 1; n <= calls; ++n) {
        CAPTURE(n);
        {
            reply_store replies;
            const auto g = note_taker();
            g.at(n, [](std::stop_token) -> completion { throw cancelled("budget.dollars", "nothing is left"); });
            CHECK(code_of([&] { build_with(cached(g, replies), {}); }) == "budget.dollars");
            CHECK(build_with(cached(g, replies), {}) == undisturbed);
            CHECK(g.calls() == calls + 1);
        }
        {
            reply_store replies;
            const auto g = note_taker();
            g.hang_at(n);
            std::stop_source stop;
            const std::jthread impatient([&] {
                while (g.calls() < n) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                stop.request_stop();
            });
            CHECK_THROWS_AS(build_with(cached(g, replies), stop.get_token()), cancelled);
            CHECK(build_with(cached(g, replies), {}) == undisturbed);
            CHECK(g.calls() == calls + 1);
        }
        {
            // A transient failure costs its own unit, and is made good by the next run.
            reply_store replies;
            const auto g = note_taker();
            g.fail_at(n, "no connection");
            CHECK_NOTHROW(build_with(cached(g, replies), {}));
            CHECK(build_with(cached(g, replies), {}) == undisturbed);
        }
        {
            // Garbage was an answer: it is not asked for again, and loses nothing else.
            reply_store replies;
            const auto g = note_taker();
            g.at(n, [](std::stop_token) { return completion(std::string("\xff\xfe\x00\x01{{{", 7)); });
            const std::vector<std::string> once = build_with(cached(g, replies), {});
            const std::size_t made = g.calls();
            CHECK(build_with(cached(g, replies), {}) == once);
            CHECK(g.calls() == made);
        }
    }
}

}  // namespace

TEST_CASE("faults: contexts, questions and descriptions survive the failure of any call") {
    survives(keys_by([](auto model) { return contextual(std::move(model)); }));
    survives(keys_by([](auto model) { return questions(std::move(model)); }));
    survives(keys_by([](auto model) { return code_summary(std::move(model)); }));
}

TEST_CASE("faults: a tree of summaries survives the failure of any call") { survives(tree_by); }
