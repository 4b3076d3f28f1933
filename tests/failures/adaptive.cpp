// Retrieval while writing as it fails in public: cases 80 to 82.
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/adaptive.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/text/utf8.hpp"
#include "support/catch.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

std::optional<int> stated(std::string_view reply) { return read_stated_confidence(completion(std::string(reply))); }

bool asks_for_rating(const prompt& p) { return p.whole().find("rate how sure") != std::string::npos; }

// Writes another sentence about hubs at every call, and rates each as `rating` says.
template <class F>
scripted_generator writer_that_rates(F rating) {
    auto written = std::make_shared<std::size_t>(0);
    return scripted_generator([=](const prompt& p) -> completion {
        if (asks_for_rating(p)) return completion(std::string(rating()));
        return completion("Fact " + std::to_string(++*written) + " about the hub is known.");
    });
}

struct hubs {
    corpus c;
    lexical_base kb = [this] {
        c.add({.id = "a", .text = "a hub blinks"});
        c.add({.id = "b", .text = "another hub sleeps"});
        return build(c, identity{});
    }();
};

std::vector<unit_id> units_of(const adaptive_answer& out) {
    std::vector<unit_id> units;
    for (const auto& h : out.found) units.push_back(h.unit);
    std::ranges::sort(units);
    return units;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const code_point c = decode(text);
        if (c.value == 0xFFFD) return false;
        text.remove_prefix(c.length);
    }
    return true;
}

}  // namespace

TEST_CASE("80: a confidence from 1 to 5 is read where one is said, and nothing else is one") {  // trulens, langchain
    for (const char* reply :
         {"4", " 4\n", "4/5", "**4**", "I would say 4.", "Confidence: 4", "4 (doc 2 is old)"}) {
        CAPTURE(reply);
        CHECK(stated(reply) == 4);
    }
    CHECK(stated("5 out of 5") == 5);
    for (const char* reply : {"4.5", "1-5", "1\xE2\x80\x93\x35", "between 3 and 4", "ten", "85%", "", "N/A", "NaN",
                              "inf", "-3", "0", "6", "99999999999999999999", "I cannot say", "8 out of 10", "four",
                              "\xEF\xBC\x94", "\xD9\xA4"}) {
        CAPTURE(reply);
        CHECK_FALSE(stated(reply));
    }
}

TEST_CASE("80: a confidence that cannot be read is the lowest, and the caller sees that it was not read") {
    const hubs b;
    for (const char* rating : {"NaN", "", "I cannot say", "8 out of 10"}) {
        CAPTURE(rating);
        const auto model = writer_that_rates([=] { return rating; });
        const auto out = adaptive(lexical(b.kb.bm25), ref(model), {.most_rounds = 1}).answer("which hub");
        REQUIRE(out.steps.size() == 1);
        CHECK_FALSE(out.steps[0].sure);
        CHECK_FALSE(out.steps[0].doubt);
        CHECK(out.steps[0].searched.size() == 1);
    }
}

TEST_CASE("81: a model that is never sure ends at its rounds and searches, to the call") {  // langgraph, caipe
    const hubs b;
    std::size_t n = 0;
    const std::vector<scripted_generator> models{
        writer_that_rates([] { return "1"; }),
        writer_that_rates([&n] { return n++ % 2 == 0 ? "1" : ""; }),
    };
    for (const scripted_generator& model : models) {
        const auto out = adaptive(lexical(b.kb.bm25), ref(model), {.most_rounds = 10, .most_searches = 5})
                             .answer("what does a hub do");
        CHECK(out.searches == 1 + 5);
        CHECK(out.calls == 10 + 10 + 5);  // drafts, ratings, and what was written again
        CHECK(model.calls() == out.calls);
        CHECK(out.limit_reached);
        CHECK(out.steps.size() == 10);
        CHECK_FALSE(out.text.empty());
        CHECK(units_of(out) == std::vector{unit_id{0}, unit_id{1}});  // each once
    }
}

TEST_CASE("81: a model that says the question again is at its end, and so is one that finds nothing") {
    const hubs b;
    const scripted_generator parrot([](const prompt&) { return completion("What does a hub do?"); });
    const auto said = adaptive(lexical(b.kb.bm25), ref(parrot)).answer("What does a hub do?");
    CHECK(said.calls == 4);  // draft, a rating that is none, the same again, and a draft that was there
    CHECK(said.searches == 2);
    CHECK(said.steps.size() == 1);

    corpus empty;
    const lexical_base nothing = build(empty, identity{});
    const auto model = writer_that_rates([] { return "1"; });
    const auto out = adaptive(lexical(nothing.bm25), ref(model), {.most_rounds = 10, .most_searches = 5}).answer("hub");
    CHECK(out.searches == 1 + 5);
    CHECK(out.calls == 10 + 10);  // without a passage nothing is written again
    CHECK(out.limit_reached);
    CHECK(out.found.empty());
    CHECK(out.steps.size() == 10);
}

TEST_CASE("82: no prompt passes its budget over five rounds, and what is cut is cut between characters") {  // langchain
    corpus c;
    std::string words;
    while (words.size() < 8000) words += "hub \xC3\xA4\xE2\x82\xAC ";  // about 2,000 tokens
    for (int i = 0; i < 12; ++i) c.add({.id = std::to_string(i), .text = words});
    const lexical_base kb = build(c, identity{});
    const approximate_tokens count;
    for (const std::size_t budget : {4000u, 700u}) {  // room for a passage, and for less than one
        CAPTURE(budget);
        const auto model = writer_that_rates([] { return "1"; });
        const auto out = adaptive(lexical(kb.bm25), ref(model),
                                  {.passages = 12, .prompt_tokens = budget, .count = count, .most_rounds = 5})
                             .answer("hub");
        CHECK(out.steps.size() == 5);
        bool passages = false;
        for (const prompt& p : model.asked()) {
            CHECK(count(p.whole()) <= budget);
            CHECK(is_utf8(p.whole()));
            passages = passages || p.whole().find("hub \xC3\xA4") != std::string::npos;
        }
        CHECK(passages);
    }
    const auto model = writer_that_rates([] { return "1"; });
    const auto out = adaptive(lexical(kb.bm25), ref(model), {.prompt_tokens = 0}).answer("hub");
    CHECK(model.calls() == 0);
    CHECK(out.limit_reached);
    CHECK(out.found.state == result_state::degraded);
    CHECK(out.found.size() == 3);  // the search was not optional
}
