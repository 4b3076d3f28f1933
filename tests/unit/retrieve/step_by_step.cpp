#include "quarry/retrieve/step_by_step.hpp"

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

struct shelf {
    corpus articles{schema{{"tenant", field_type::string}}};
    lexical_base kb = [this] {
        const auto add = [&](const char* id, const char* text, const char* tenant) {
            articles.add({.id = id, .text = text, .meta = {{"tenant", tenant}}});
        };
        add("film", "Blade Runner is a film after a novel by Philip Dick", "x");
        add("dick", "Philip Dick was born in 1928", "x");
        add("other", "Somebody else was born in 1930", "x");
        add("hidden", "Philip Dick wrote the novel behind Blade Runner, says the hidden page", "y");
        return build(articles, identity{});
    }();
    auto words() const { return lexical(kb.bm25); }
};

const std::string asked_for = "When was the author of the novel behind Blade Runner born?";
const std::string parts_reply = "Who wrote the novel behind Blade Runner?\nIn which year was #1 born?";

}  // namespace

TEST_CASE("a later part is searched for with the answer of the earlier one") {
    const shelf s;
    const auto model =
        scripted_generator::table({{"split a question", parts_reply}, {"from the passages given", "Philip Dick."}});
    trace told;
    const auto found =
        (s.words() | step_by_step(decompose(ref(model)), ref(model))).retrieve(query(asked_for).traced(told), 5);
    CHECK(model.calls() == 2);  // the second part is answered by nobody, since nobody asks for it
    CHECK(to_string(told).find("Philip Dick") != std::string::npos);
    const auto list = [&](const char* text) {
        auto own = s.words().retrieve(text, 1000);
        for (auto& h : own.hits) h.trail = no_entry;  // its ledger is another one
        return detail::list_of(own, 1000, 1.0f);
    };
    // The dull twin: three searches, fused.
    const query q(asked_for);
    request r(q, s.articles);
    const auto twin = detail::fused_lists(r, rrf{},
                                          {list(asked_for.c_str()), list("Who wrote the novel behind Blade Runner?"),
                                           list("In which year was Philip Dick born?")},
                                          5);
    REQUIRE(found.size() == twin.size());
    for (std::size_t i = 0; i < twin.size(); ++i) {
        CHECK(found[i].unit == twin[i].unit);
        CHECK(found[i].score == twin[i].score);
    }
    CHECK(found.state == result_state::complete);
}

TEST_CASE("the model that answers reads nothing that the scope does not let through") {
    const shelf s;
    const scripted_generator model([](const prompt& p) {
        const std::string whole = p.whole();
        CHECK(whole.find("hidden page") == std::string::npos);
        CHECK(whole.find("tenant") == std::string::npos);
        return completion(whole.find("split a question") != std::string::npos ? parts_reply : "Philip Dick");
    });
    const auto search = s.words() | step_by_step(decompose(ref(model)), ref(model));
    const auto found = search.retrieve(query(asked_for).within(scope::only(eq("tenant", "x"))), 5);
    for (const auto& h : found) CHECK(found.unit(h).id() != "hidden");
    CHECK(model.calls() == 2);
}

TEST_CASE("an answer that is unknown, a novel or a loop leaves the reference") {
    const shelf s;
    for (const std::string& reply : {std::string("unknown"), std::string("Unknown."), std::string(),
                                     std::string(500, 'x'), std::string("I'm sorry, but I cannot say")}) {
        CAPTURE(reply);
        const auto model =
            scripted_generator::table({{"split a question", parts_reply}, {"from the passages given", reply}});
        trace told;
        const auto found =
            (s.words() | step_by_step(decompose(ref(model)), ref(model))).retrieve(query(asked_for).traced(told), 5);
        CHECK(to_string(told).find("no answer") != std::string::npos);
        CHECK_FALSE(found.empty());
        CHECK(found.state == result_state::complete);
    }
}

TEST_CASE("where a model fails the question is searched as it was asked, and that is marked") {
    const shelf s;
    const auto model =
        scripted_generator::table({{"split a question", parts_reply}, {"from the passages given", "Philip Dick"}});
    for (const std::size_t call : {1u, 2u}) {
        const auto failing =
            scripted_generator::table({{"split a question", parts_reply}, {"from the passages given", "Philip Dick"}});
        failing.fail_at(call);
        const auto found = (s.words() | step_by_step(decompose(ref(failing)), ref(failing))).retrieve(asked_for, 5);
        CHECK_FALSE(found.empty());
        CHECK(found.state == result_state::degraded);
        failing.fail_at(3);
        CHECK_THROWS_AS((s.words() | step_by_step(decompose(ref(failing)), ref(failing), {.fail_quietly = false}))
                            .retrieve(asked_for, 5),
                        std::runtime_error);
    }
    CHECK((s.words() | step_by_step(decompose(ref(model)), ref(model)))
              .retrieve(query(asked_for).under({.model_calls = 1}), 5)
              .state == result_state::degraded);
}

TEST_CASE("a simple question is searched once") {
    const shelf s;
    const auto model = scripted_generator::table({{"split a question", "none"}});
    const auto found = (s.words() | step_by_step(decompose(ref(model)), ref(model))).retrieve("Blade Runner", 5);
    CHECK(toy::ids(found) == toy::ids(s.words().retrieve("Blade Runner", 5)));
    CHECK((s.words() | step_by_step(decompose(ref(model)), ref(model))).retrieve("", 5).empty());
    CHECK(model.calls() == 1);
}
