#include "quarry/model/asking.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

TEST_CASE("asking: calls, failures by kind and the first message are in the report, and every answer in its place") {
    const scripted_generator g([](const prompt& p) { return completion("to " + std::string(p.text())); });
    g.fail_at(1, "timeout");
    g.at(3, [](std::stop_token) -> completion { throw callable_error("model.down", "no model"); });
    std::vector<prompt> prompts;
    for (const char* text : {"a", "b", "c", "d"}) prompts.push_back(prompt_writer().say(text).finish());
    asking_report report;
    const call_results answers = detail::ask_for(g, prompts, {}, {}, report);
    CHECK(report.calls == 4);
    CHECK(report.failed == 2);
    CHECK(report.failures == std::map<std::string, std::size_t>{{"exception", 1}, {"model.down", 1}});
    CHECK(report.first_failure == "timeout");
    CHECK(!answers.items[0].reply);
    CHECK(answers.items[1].reply->text == "to b");
    CHECK(answers.items[3].reply->text == "to d");
}

TEST_CASE("asking: what ends the run is thrown, and what was done until then is in the report") {
    const scripted_generator g([](const prompt&) { return completion("x"); });
    g.at(2, [](std::stop_token) -> completion { throw cancelled("budget.calls", "spent"); });
    const std::vector<prompt> prompts(3, prompt_writer().say("a").finish());
    asking_report report;
    CHECK(code_of([&] { detail::ask_for(g, prompts, {}, {}, report); }) == "budget.calls");
    CHECK(report.calls >= 1);
}
