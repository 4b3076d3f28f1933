// The laws of a budget: what is left out when time, calls, tokens or pairs run out, in which order, and what never is.
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/probe/decompose.hpp"
#include "quarry/rank/compress.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"
#include "quarry/retrieve/step_by_step.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

using names = std::vector<std::string>;

// A clock that only callables move, each by a second.
struct ticking {
    std::chrono::steady_clock::time_point now{};
    void tick() { now += std::chrono::seconds(1); }
    budget until(int seconds) {
        return {.deadline = std::chrono::steady_clock::time_point{} + std::chrono::seconds(seconds),
                .now = [this] { return now; }};
    }
};

// Twelve pages, two of them of another tenant; and callables that take a second each and fail when told to.
struct office {
    corpus pages{schema{{"tenant", field_type::string}, {"year", field_type::integer}}};
    ticking clock{};
    std::string broken{};  // the callable that fails

    struct embedder {
        office* in;
        std::size_t dimension() const { return 4; }
        void embed(role as, std::span<const std::string_view> texts, std::span<float> rows) const {
            if (as == role::query) in->takes("embedder");
            for (std::size_t i = 0; i < texts.size(); ++i)
                for (std::size_t j = 0; j < 4; ++j) {
                    rows[i * 4 + j] = .5f;
                    for (const char c : texts[i]) rows[i * 4 + j] += c == static_cast<char>('a' + j) ? 1.0f : 0.0f;
                }
        }
    };
    knowledge_base kb;

    office() : kb(build(fill(pages), identity{}, embedder{this})) {}
    static corpus& fill(corpus& c) {
        for (int i = 0; i < 12; ++i)
            c.add({.id = std::to_string(i),
                   .text = "valve " + std::string(static_cast<std::size_t>(i % 5), 'a') + " report " +
                           std::string(static_cast<std::size_t>(i % 3), 'b') + (i % 2 == 0 ? " heat" : " pump"),
                   .meta = {{"tenant", i < 2 ? "them" : "us"}, {"year", 2020 + i % 4}}});
        return c;
    }

    void takes(const std::string& who) {
        clock.tick();
        if (who == broken) throw std::runtime_error(who + " is out of order");
    }

    auto rewriter() {
        return [this](std::string_view) {
            takes("prober");
            return std::string("heat valve");
        };
    }
    // Erased, so that stages are compiled once for all pipelines.
    std::function<std::vector<float>(std::string_view, std::span<const std::string_view>)> judge() {
        return [this](std::string_view, std::span<const std::string_view> passages) {
            takes("judge");
            std::vector<float> scores;
            for (const auto p : passages) scores.push_back(static_cast<float>(p.size() * 7 % 5));
            return scores;
        };
    }
    std::function<completion(const prompt&)> reader() {
        return [this](const prompt& p) {
            takes("reader");
            return completion(p.whole().find("pump") == std::string::npos ? "YES" : "NO");
        };
    }

    // A prober of one more text.
    template <class G>
    struct prober_of {
        G model;
        probed_query operator()(question& q) const {
            return {.probes = {{q.reply(this, model, prompt(std::string(q.text()))).text}}};
        }
    };
    auto prober() { return prober_of<decltype(rewriter())>{rewriter()}; }

    any_retriever legs() { return hybrid(lexical(kb.bm25), dense(kb.vectors, embedder{this})); }
    // The pipeline with its first n optional stages.
    any_retriever stages(int n) {
        const any_retriever probed = legs() | probed_by(prober());
        const any_retriever judged = probed | rerank_first(judge(), {.first = 6});
        const any_retriever varied = judged | diversify(kb.vectors, mmr{.fetch = 5});
        if (n == 0) return legs() | probed_by([](question&) -> probed_query { return {.probes = {}}; });
        if (n == 1) return probed;
        if (n == 2) return judged;
        if (n == 3) return varied;
        return varied | only_relevant(reader(), {.first = 4});
    }
};

struct outcome {
    names units, left_out;
    result_state state = result_state::complete;
};

outcome asked(const any_retriever& search, query q, std::size_t k = 4) {
    trace told;
    const auto found = search.retrieve(q.traced(told), k);
    outcome out;
    out.state = found.state;
    for (const auto& h : found) {
        out.units.emplace_back(found.unit(h).id());
        CHECK(found.admits(h.unit));
    }
    for (const trace_event& e : told.events)
        if (e.code == trace_code::degraded) out.left_out.emplace_back(e.stage);
    CHECK(out.left_out.size() <= told.remarks.size());
    return out;
}

query question_of() { return query("valve report").where(ge("year", 2020)).within(scope::only(eq("tenant", "us"))); }

}  // namespace

TEST_CASE("after the deadline optional stages are left out from the end of the flow, and the rest is served") {
    office o;
    const names stages{"probe", "rerank", "mmr", "relevant"};
    std::size_t before = stages.size() + 1;
    std::set<std::size_t> seen;
    for (int seconds = -1; seconds < 12; ++seconds) {
        o.clock.now = {};
        const outcome r = asked(o.stages(4), question_of().under(o.clock.until(seconds)));
        CAPTURE(seconds, r.left_out);
        const std::size_t left = r.left_out.size();
        REQUIRE(left <= stages.size());
        CHECK(r.left_out == names(stages.end() - static_cast<std::ptrdiff_t>(left), stages.end()));
        CHECK(left <= before);
        CHECK((r.state == result_state::degraded) == (left != 0));
        before = left;
        seen.insert(left);
        // What is left is what the pipeline without those stages gives.
        if (left != 1 && left != 4) CHECK(r.units == asked(o.stages(4 - static_cast<int>(left)), question_of()).units);
        CHECK_FALSE(r.units.empty());
    }
    CHECK(before == 0);
    CHECK(seen.size() >= 4);
}

TEST_CASE("where calls run out, what is not optional was paid first, and the last stages go first") {
    office o;
    CHECK(code_of([&] { asked(o.stages(4), question_of().under({.model_calls = 0})); }) == "budget.model_calls");
    const std::vector<names> left_out{{"probe", "rerank", "relevant"},  // the question's row
                                      {"probe", "rerank", "relevant"},  // the prober's text, which is not embedded
                                      {"rerank", "relevant"},           // and its row
                                      {"relevant"}};                    // the judge; diversity needs no call
    for (std::size_t calls = 1; calls <= left_out.size(); ++calls) {
        CAPTURE(calls);
        const outcome r = asked(o.stages(4), question_of().under({.model_calls = calls}));
        CHECK(r.left_out == left_out[calls - 1]);
        CHECK(r.state == result_state::degraded);
        CHECK(r.units.size() == 4);
    }
    CHECK(asked(o.stages(4), question_of().under({.model_calls = 40})).left_out.empty());
}

TEST_CASE("passages for judges and tokens of prompts run out alone") {
    office o;
    CHECK(asked(o.stages(4), question_of().under({.rerank_pairs = 5})).left_out == names{"rerank"});
    CHECK(asked(o.stages(4), question_of().under({.rerank_pairs = 6})).left_out.empty());
    const auto counting = [](std::string_view text) { return text.size(); };
    const std::size_t probing = question_of().text().size();
    CHECK(asked(o.stages(4), question_of().under({.model_tokens = probing - 1, .count = counting})).left_out ==
          names{"probe", "relevant"});
    CHECK(asked(o.stages(4), question_of().under({.model_tokens = probing, .count = counting})).left_out ==
          names{"relevant"});
    CHECK(asked(o.stages(4), question_of().under({.model_tokens = 100'000})).left_out.empty());
}

TEST_CASE("each optional stage fails alone") {
    office o;
    const outcome whole = asked(o.stages(4), question_of());
    CHECK(whole.state == result_state::complete);
    for (const auto& [callable, stage] : {std::pair{"prober", "probe"}, {"judge", "rerank"}, {"reader", "relevant"}}) {
        o.broken = callable;
        const outcome r = asked(o.stages(4), question_of());
        CHECK(r.left_out == names{stage});
        CHECK(r.state == result_state::degraded);
        CHECK(r.units.size() == 4);
    }
}

TEST_CASE("an optional prober leaves the calls and passages that a judge needs which is not") {
    office o;
    const any_retriever search = any_retriever(o.legs() | probed_by(o.prober())) | rerank(o.judge(), {.fetch = 8});
    CHECK(asked(search, question_of().under({.model_calls = 2})).left_out == names{"probe"});
    CHECK(asked(search, question_of().under({.model_calls = 4})).left_out.empty());
    CHECK(code_of([&] { asked(search, question_of().under({.model_calls = 1})); }) == "budget.model_calls");
    const any_retriever first = o.legs() | rerank_first(o.judge(), {.first = 6});
    const any_retriever twice = first | rerank(o.judge(), {.fetch = 8});
    CHECK(asked(twice, question_of().under({.rerank_pairs = 8})).left_out == names{"rerank"});
    CHECK(asked(twice, question_of().under({.rerank_pairs = 14})).left_out.empty());
}

TEST_CASE("a deadline leaves alone what may not fail quietly") {
    office o;
    const any_retriever judged = o.legs() | rerank_first(o.judge(), {.first = 6, .fail_quietly = false});
    const any_retriever search = judged | diversify(o.kb.vectors, mmr{.fetch = 5, .fail_quietly = false});
    CHECK(asked(search, question_of().under(o.clock.until(-1))).units == asked(search, question_of()).units);
}

TEST_CASE("parts of a question that come too late are not searched for") {
    office o;
    const std::function<completion(const prompt&)> model = [&](const prompt&) {
        o.takes("reader");
        return completion("Which valve is it?\nWhere is #1?");
    };
    const any_retriever search = o.legs() | step_by_step(decompose(model), model);
    CHECK(asked(search, question_of()).state == result_state::complete);
    for (int seconds = 0; seconds < 4; ++seconds) {
        o.clock.now = {};
        const outcome r = asked(search, question_of().under(o.clock.until(seconds)));
        CHECK(r.state == result_state::degraded);
        CHECK(r.units.size() == 4);
        CHECK(r.left_out == names{"step by step"});
    }
    for (std::size_t calls = 1; calls < 5; ++calls)
        CHECK(asked(search, question_of().under({.model_calls = calls})).units.size() == 4);
}

TEST_CASE("a second search in other words is optional where calls are counted") {
    office o;
    const auto other_words = [](question&) -> probed_query { return {.probes = {{"heat pump"}}}; };
    const any_retriever search = o.legs() | narrowed_by(other_words);
    const outcome poor = asked(search, question_of().under({.model_calls = 1}));
    CHECK(poor.left_out == names{"narrow"});
    CHECK(poor.units == asked(o.legs(), question_of()).units);
    CHECK(asked(search, question_of().under({.model_calls = 2})).units == asked(search, question_of()).units);
}
