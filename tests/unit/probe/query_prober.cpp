#include "quarry/probe/query_prober.hpp"

#include "quarry/core/corpus.hpp"
#include "quarry/model/embedder.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

corpus one_article() {
    corpus c;
    c.add({.id = "a", .text = "text"});
    return c;
}

}  // namespace

TEST_CASE("the same prompt of the same prober is paid for once a request, children included") {
    const corpus c = one_article();
    const query q = query("words").under({.model_calls = 2});
    request r(q, c);
    const scripted_generator model([](const prompt& p) { return completion("reply to " + p.text()); });
    const int one = 0, other = 0;
    question asked(r);
    CHECK(asked.text() == "words");
    CHECK(asked.reply(&one, model, prompt("p")).text == "reply to p");
    CHECK(asked.reply(&one, model, prompt("p")).text == "reply to p");
    CHECK(model.calls() == 1);
    request child = r.narrowed(nullptr, "other words");
    question asked_again(child);
    CHECK(asked_again.reply(&one, model, prompt("p")).text == "reply to p");
    CHECK(model.calls() == 1);
    CHECK(asked.reply(&other, model, prompt("p")).text == "reply to p");
    CHECK(model.calls() == 2);
    CHECK(code_of([&] { asked.reply(&one, model, prompt("another")); }) == "budget.model_calls");
    CHECK(model.calls() == 2);
}

TEST_CASE("whether a reply was cut off is remembered with it") {
    const corpus c = one_article();
    const query q("words");
    request r(q, c);
    const scripted_generator model([](const prompt&) { return completion("half a sent", true); });
    const int who = 0;
    question asked(r);
    CHECK(asked.reply(&who, model, prompt("p")).cut_off);
    CHECK(asked.reply(&who, model, prompt("p")).cut_off);
    CHECK(asked.reply(&who, model, prompt("p")).text == "half a sent");
}

TEST_CASE("probes that say the same apart from case and space are one, and the original stays first") {
    const std::vector<probe> proposed{
        {"reset Password ", .5f}, {"change password", .5f}, {"CHANGE PASSWORD"}, {"new PIN"}};
    CHECK(distinct_probes({"Reset password", 2.0f}, proposed) ==
          std::vector<probe>{{"Reset password", 2.0f}, {"change password", .5f}, {"new PIN"}});
    CHECK(distinct_probes({"q"}, {}) == std::vector<probe>{{"q"}});
}

TEST_CASE("notes print as their code and what it was about") {
    CHECK(to_string(probe_note{probe_code::snapped, "a to b"}) == "snapped: a to b");
    CHECK(to_string(probe_note{probe_code::noticed, ""}) == "noticed");
}
