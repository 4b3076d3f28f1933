#include "quarry/grow/summaries.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

const std::vector<text_group> two_groups{{"Cats purr when content.", "Cats sleep a lot."},
                                         {"Dogs bark at night.", "Dogs like walks."}};

std::vector<std::string> shown(const std::vector<std::optional<std::string>>& texts) {
    std::vector<std::string> out;
    for (const auto& text : texts) out.push_back(text ? *text : "-");
    return out;
}

scripted_generator summarising() {
    return scripted_generator([](const prompt& p) {
        return completion(p.text().find("Cats") != std::string::npos ? "Summary: What cats do all day."
                                                                     : "What dogs do.");
    });
}

}  // namespace

TEST_CASE("summaries: one a group in their order, without wrapping") {
    const auto g = summarising();
    asking_report report;
    CHECK(shown(summaries(g).summarize(two_groups, {}, report)) ==
          std::vector<std::string>{"What cats do all day.", "What dogs do."});
    CHECK(report.calls == 2);
    const auto asked = g.asked();
    REQUIRE(asked.size() == 2);
    CHECK(asked[0].text().find("Cats purr when content.") != std::string::npos);
    CHECK(asked[0].text().find("Cats sleep a lot.") != std::string::npos);
    CHECK(asked[0].text().find("Dogs") == std::string::npos);
}

TEST_CASE("summaries: what is no summary is none, and is counted; an extract may take its place") {
    for (const char* reply : {"", "I'm sorry, I can't help with that.", "\xff\xfe"}) {
        const scripted_generator g([reply](const prompt&) { return completion(reply); });
        asking_report report;
        CHECK(shown(summaries(g).summarize(two_groups, {}, report)) == std::vector<std::string>{"-", "-"});
        CHECK(report.unusable == 2);
        asking_report again;
        CHECK(shown(summaries(g, {.otherwise = central_options{.most_tokens = 5}}).summarize(two_groups, {}, again)) ==
              std::vector<std::string>{"Cats sleep a lot.", "Dogs bark at night."});
    }
}

TEST_CASE("summaries: a call that fails costs its own group and no other") {
    const auto g = summarising();
    g.fail_at(1, "timeout");
    asking_report report;
    CHECK(shown(summaries(g).summarize(two_groups, {}, report)) == std::vector<std::string>{"-", "What dogs do."});
    CHECK(report.failed == 1);
    CHECK(report.first_failure == "timeout");
}

TEST_CASE("summaries: a long one ends at a sentence, and its input is no summary of itself") {
    std::string long_one;
    for (int i = 0; i < 200; ++i) long_one += "Word" + std::to_string(i) + " follows. ";
    const scripted_generator g([&](const prompt&) { return completion(long_one); });
    asking_report report;
    const auto texts = summaries(g, {.most_bytes = 300}).summarize(two_groups, {}, report);
    REQUIRE(texts[0]);
    CHECK(texts[0]->size() <= 300);
    CHECK(texts[0]->ends_with("follows."));
    const scripted_generator parrot(
        [](const prompt&) { return completion("Cats purr when content.\n\nCats sleep a lot."); });
    CHECK(shown(summaries(parrot).summarize(std::span(two_groups).first(1), {}, report)) ==
          std::vector<std::string>{"-"});
}

TEST_CASE("summaries: the tokens of the texts and of an empty prompt make at least those of the whole") {
    const auto s = summaries(summarising());
    for (const text_group& group : two_groups) {
        std::size_t sum = s.overhead();
        for (const std::string_view text : group) sum += s.tokens(text);
        CHECK(sum >= approximate_tokens{}(s.asked_for(group).whole()));
    }
}

TEST_CASE("extracts: summaries without a model, always the same") {
    asking_report report;
    const extracts e{{.most_tokens = 6}};
    CHECK(shown(e.summarize(two_groups, {}, report)) ==
          shown(e.summarize(two_groups, {}, report)));
    CHECK(e.summarize(two_groups, {}, report)[0]->find("Cats") == 0);
    CHECK(report.calls == 0);
    const std::vector<text_group> nothing{{"...", "!!!"}};
    CHECK(shown(e.summarize(nothing, {}, report)) == std::vector<std::string>{"-"});
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_of([&] { e.summarize(two_groups, stop.get_token(), report); }) == "build.stopped");
}
