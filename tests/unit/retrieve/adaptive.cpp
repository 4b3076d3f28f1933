#include "quarry/retrieve/adaptive.hpp"

#include <cmath>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

struct biography {
    corpus c{schema{{"tenant", field_type::string}}};
    lexical_base kb = [this] {
        c.add({.id = "law", .text = "He studied law at the University of Delaware.", .meta = {{"tenant", "x"}}});
        c.add({.id = "born", .text = "He was born in Scranton.", .meta = {{"tenant", "x"}}});
        c.add({.id = "secret", .text = "The secret university file.", .meta = {{"tenant", "y"}}});
        return build(c, identity{});
    }();
    auto words() const { return lexical(kb.bm25); }
};

// A completion with a token a word; words in brackets are doubtful.
completion with_tokens(const std::string& text) {
    completion out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        std::string word = text.substr(at, end - at);
        const bool doubtful = word.find('<') != std::string::npos;
        std::erase_if(word, [](char ch) { return ch == '<' || ch == '>'; });
        out.tokens.push_back({word, std::log(doubtful ? .2f : .95f)});
        out.text += word;
        at = end;
    }
    return out;
}

// Says these, one a call, and is then silent.
scripted_generator in_turn(std::vector<completion> replies) {
    auto next = std::make_shared<std::size_t>(0);
    return scripted_generator([replies = std::move(replies), next](const prompt&) {
        return *next < replies.size() ? replies[(*next)++] : completion();
    });
}

}  // namespace

TEST_CASE("a sentence the model is sure of stays, and nothing is searched for") {
    const biography b;
    const auto model = in_turn({with_tokens("He was born in Scranton."), with_tokens("He studied law.")});
    const auto out = adaptive(b.words(), ref(model)).answer("Who was he?");
    CHECK(out.text == "He was born in Scranton. He studied law.");
    CHECK(out.searches == 1);  // the first, for the question
    CHECK(out.steps.size() == 2);
    CHECK(out.steps[0].sure);
    CHECK_FALSE(out.limit_reached);
    CHECK(adaptive(b.words(), ref(model), {.search_first = false}).answer("Who?").searches == 0);
}

TEST_CASE("a doubtful sentence is searched for without its doubtful words and written again") {
    const biography b;
    const auto model = in_turn({with_tokens("He studied at the University of <Pennsylvania."),
                                with_tokens("He studied at the University of Delaware.")});
    const auto out = adaptive(b.words(), ref(model)).answer("Where did he study?");
    CHECK(out.text == "He studied at the University of Delaware.");
    REQUIRE(out.steps.size() == 1);
    CHECK(out.steps[0].draft == "He studied at the University of Pennsylvania.");
    CHECK_FALSE(out.steps[0].sure);
    CHECK(out.steps[0].searched == std::vector<std::string>{"He studied at the University of"});
    CHECK(*out.steps[0].doubt == Approx(std::log(.2)));
    CHECK(out.searches == 2);
    CHECK_FALSE(out.found.empty());
    // What was found stood in the prompt for the second writing.
    CHECK(model.asked()[1].whole().find("University of Delaware") != std::string::npos);
}

TEST_CASE("the query is the draft, its mask, or a question the model writes") {
    const biography b;
    const auto searched = [&](doubt_query kind, std::vector<completion> replies) {
        const auto model = in_turn(std::move(replies));
        return adaptive(b.words(), ref(model), {.query = kind}).answer("Where did he study?").steps.at(0).searched;
    };
    const completion draft = with_tokens("He studied at <Yale.");
    CHECK(searched(doubt_query::sentence, {draft}) == std::vector<std::string>{"He studied at Yale."});
    CHECK(searched(doubt_query::explicit_question, {draft, completion("At which university did he study?")}) ==
          std::vector<std::string>{"At which university did he study?"});
    CHECK(searched(doubt_query::explicit_question, {draft, completion("no idea")}) ==
          std::vector<std::string>{"He studied at Yale."});
    // Where the mask leaves no word, the whole draft.
    CHECK(searched(doubt_query::implicit_mask, {with_tokens("<Yale <University.")}) ==
          std::vector<std::string>{"Yale University."});
}

TEST_CASE("without log-probabilities the model rates its draft, and what cannot be read counts as not sure") {
    const biography b;
    const auto searches_at = [&](const std::string& rating) {
        const auto model = in_turn({"He studied law.", completion(rating), "He studied law."});
        return adaptive(b.words(), ref(model)).answer("Where?").searches;
    };
    CHECK(searches_at("5") == 1);
    CHECK(searches_at("4/5") == 1);
    for (const char* rating : {"3", "10/10", "five", "", "I cannot say"}) {
        CAPTURE(rating);
        CHECK(searches_at(rating) == 2);
    }
}

TEST_CASE("or several drafts are compared") {
    const biography b;
    const adaptive_options options{.without_tokens = certainty::agreement, .samples = 3};
    const auto same = in_turn({"He studied law.", "He studied law.", "law he studied."});
    CHECK(adaptive(b.words(), ref(same), options).answer("Where?").searches == 1);
    const auto apart = in_turn({"He studied law.", "She paints in oil.", "Nobody knows that."});
    const auto out = adaptive(b.words(), ref(apart), options).answer("Where?");
    CHECK(out.searches == 2);
    CHECK(*out.steps.at(0).doubt == 0.0f);
}

TEST_CASE("a router decides whether to search never, once or as often as needed") {
    const biography b;
    const auto routed = [&](route r) {
        const auto model = in_turn({with_tokens("He studied <law. And <more.")});
        adaptive_options options;
        options.router = [r](std::string_view) { return r; };
        return adaptive(b.words(), ref(model), options).answer("Where did he study?");
    };
    CHECK(routed(route::none).searches == 0);
    CHECK(routed(route::none).text == "He studied law. And more.");
    CHECK(routed(route::single).searches == 1);
    CHECK(routed(route::steps).searches == 2);
    CHECK(route_of("A") == route::none);
    CHECK(route_of(" steps\n") == route::steps);
    CHECK(route_of("b") == route::single);
    CHECK(route_of("whatever") == route::single);
}

TEST_CASE("a loop ends: rounds, searches and calls are bounded, and each unit is found once") {
    const biography b;
    std::size_t n = 0;
    const scripted_generator endless(
        [&](const prompt&) { return with_tokens("He studied <law in year " + std::to_string(++n) + "."); });
    const auto out =
        adaptive(b.words(), ref(endless), {.most_rounds = 4, .most_searches = 2}).answer("Where did he study law?");
    CHECK(out.steps.size() == 4);
    CHECK(out.searches == 3);
    CHECK(out.calls == 4 + 2);
    CHECK(endless.calls() == out.calls);
    CHECK(out.limit_reached);
    std::vector<unit_id> units;
    for (const auto& h : out.found) units.push_back(h.unit);
    std::ranges::sort(units);
    CHECK(std::ranges::adjacent_find(units) == units.end());
    // A model that repeats itself is at its end.
    const auto parrot = scripted_generator([](const prompt&) { return with_tokens("He studied law."); });
    CHECK(adaptive(b.words(), ref(parrot)).answer("Where?").text == "He studied law.");
    CHECK(adaptive(b.words(), in_turn({})).answer("Where?").text.empty());
}

TEST_CASE("no prompt is over its budget, whatever is found") {
    corpus c;
    for (int i = 0; i < 20; ++i) c.add({.id = std::to_string(i), .text = "law " + std::string(5000, 'x') + "\xC3\xA4"});
    const lexical_base kb = build(c, identity{});
    constexpr auto in_bytes = [](std::string_view text) { return text.size(); };
    for (const std::size_t budget : {0u, 100u, 300u, 1500u, 8000u, 20000u}) {
        CAPTURE(budget);
        std::size_t n = 0;
        const scripted_generator spy([&](const prompt& p) {
            CHECK(p.whole().size() <= budget);
            return with_tokens("The <law number " + std::to_string(++n) + " says much.");
        });
        adaptive_options options;
        options.prompt_tokens = budget;
        options.count = in_bytes;
        const auto out = adaptive(lexical(kb.bm25), ref(spy), options).answer("law");
        CHECK(out.text.empty() == (budget < 200));
        if (budget < 1000) CHECK(out.limit_reached);
    }
}

TEST_CASE("no prompt holds what the scope does not let through") {
    const biography b;
    std::size_t n = 0;
    const scripted_generator spy([&](const prompt& p) {
        CHECK(p.whole().find("secret") == std::string::npos);
        return with_tokens("The university <file number " + std::to_string(++n) + ".");
    });
    const auto out =
        adaptive(b.words(), ref(spy)).answer(query("the university file").within(scope::only(eq("tenant", "x"))));
    CHECK(out.steps.size() == 10);
    for (const auto& h : out.found) CHECK(out.found.unit(h).id() != "secret");
}

TEST_CASE("a model that fails or is not paid for ends the answer with what there is") {
    const biography b;
    const auto model = in_turn({with_tokens("He was born in Scranton."), with_tokens("He studied law.")});
    model.fail_at(2);
    const auto out = adaptive(b.words(), ref(model)).answer("Who was he?");
    CHECK(out.text == "He was born in Scranton.");
    CHECK(out.found.state == result_state::degraded);
    CHECK(out.limit_reached);
    const auto poor = adaptive(b.words(), ref(model)).answer(query("Who?").under({.model_calls = 0}));
    CHECK(poor.text.empty());
    CHECK(poor.found.state == result_state::degraded);
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_of([&] { adaptive(b.words(), ref(model)).answer(query("Who?").stop_on(stop.get_token())); }) ==
          "query.stopped");
    CHECK(code_of([&] { adaptive(b.words(), ref(model), {.passages = 0}); }) == "adaptive.options");
}
