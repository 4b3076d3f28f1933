#include "quarry/rank/compress.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;

std::optional<bool> answer_in(const std::string& reply) { return read_yes_or_no(completion(reply)); }

const std::string hub_passage = "Hubs blink red.  They do so when\nthe line is down. Call us.";

std::vector<std::string> copied_from(const std::string& reply) {
    std::vector<std::string> out;
    for (const byte_span& s : read_extract(completion(reply), hub_passage).verbatim)
        out.push_back(hub_passage.substr(s.begin, s.size()));
    return out;
}

struct fruit_pages {
    corpus c =
        toy::corpus_of({"Apple one. Apple two.", "Pear one. Pear two.", "Plum one. Plum two.", "Fig one. Fig two."});
    toy::listed<bm25_scale> base{c, {{0, 4.0f}, {1, 3.0f}, {2, 2.0f}, {3, 1.0f}}};
};

}  // namespace

TEST_CASE("yes and no are whole words, and both or neither is no answer") {
    CHECK(answer_in("YES.") == true);
    CHECK(answer_in("no") == false);
    CHECK(answer_in("No, it is not.") == false);
    for (const char* reply : {"Yes and no", "", "maybe", "yesterday", "nothing"}) CHECK_FALSE(answer_in(reply));
}

TEST_CASE("hits to which the model says no are dropped, and k come back if k are left") {
    const fruit_pages w;
    const auto model =
        scripted_generator::table({{"Apple", "NO"}, {"Pear", "YES"}, {"Plum", "Yes and no"}, {"Fig", "no"}});
    trace told;
    const auto search = w.base | only_relevant(ref(model), {.first = 2});
    static_assert(std::same_as<decltype(search)::scale, bm25_scale>);
    const auto found = search.retrieve(query("q").traced(told), 2);
    CHECK(toy::units(found) == ids{1, 2});
    CHECK(found[0].score == 3.0f);
    CHECK(model.calls() == 4);  // two, and two more since one was dropped; none twice
    CHECK(to_string(told).find("neither yes nor no in 1 of") != std::string::npos);
    CHECK(toy::units(search.retrieve("q", 1)) == ids{1});
    CHECK((w.base | only_relevant(ref(model), {.first = 1, .most = 1})).retrieve("q", 2).empty());
}

TEST_CASE("a model that fails drops nothing, and that is marked") {
    const fruit_pages w;
    const scripted_generator model([](const prompt&) -> completion { throw std::runtime_error("no line"); });
    const auto found = (w.base | only_relevant(ref(model))).retrieve("q", 4);
    CHECK(found.size() == 4);
    CHECK(found.state == result_state::degraded);
    CHECK_THROWS_AS((w.base | only_relevant(ref(model), {.fail_quietly = false})).retrieve("q", 4), std::runtime_error);
    CHECK((w.base | only_relevant(ref(model))).retrieve(query("q").under({.model_calls = 3}), 4).size() == 4);
}

TEST_CASE("sentences are looked up in the passage, space aside, and what is not there is invented") {
    using texts = std::vector<std::string>;
    CHECK(copied_from("Hubs blink red.") == texts{"Hubs blink red."});
    CHECK(copied_from("They do so when the line is down.") == texts{"They do so when\nthe line is down."});
    CHECK(copied_from("\"Hubs blink red.\"") == texts{"Hubs blink red."});
    CHECK(copied_from("Here are the sentences:\nCall us.\nHubs blink red.") == texts{"Call us.", "Hubs blink red."});
    CHECK(copied_from(R"(The sentence is: "Hubs blink red.")") == texts{"Hubs blink red."});
    CHECK(copied_from(R"(["Hubs blink red.", "Call us."])") == texts{"Hubs blink red.", "Call us."});
    CHECK(read_extract(completion(R"(Hubs are "red".)"), hub_passage).invented == texts{R"(Hubs are "red".)"});
    CHECK(copied_from("Hubs blink green.").empty());
    CHECK(copied_from("ubs blink").empty());  // no whole words
    CHECK(copied_from("red").empty());        // too little to prove anything
    const extract_reply read = read_extract(completion("Hubs blink red. Hubs are blue."), hub_passage);
    CHECK(read.invented == texts{"Hubs are blue."});
    CHECK_FALSE(read.none);
    for (const char* reply : {"NONE", "none.", " None\n", "N/A", "```\nNONE\n```"})
        CHECK(read_extract(completion(reply), hub_passage).none);
}

TEST_CASE("of each hit the sentences are kept that the model copied") {
    const fruit_pages w;
    const auto model = scripted_generator::table({{"Apple one", "Apple two."},
                                                  {"Pear one", "NONE"},
                                                  {"Plum one", "plums are purple."},
                                                  {"Fig one", "Fig two. Fig one."}});
    const auto found = w.base.retrieve("q", 4);
    const extracted out = extract(found, "q", ref(model));
    const std::vector<excerpt> expected{{unit_id{0}, {11, 21}}, {unit_id{2}, {0, 19}}, {unit_id{3}, {0, 17}}};
    CHECK(out.excerpts == expected);
    CHECK(out.none == 1);
    CHECK(out.whole == 1);
    CHECK(out.invented == 1);
    CHECK(out.failed == 0);
}

TEST_CASE("a fragment stands for its sentence, unless it is to stand for itself") {
    const fruit_pages w;
    const auto model = scripted_generator::table({{"", "Apple"}});
    const auto found = w.base.retrieve("q", 1);
    CHECK(extract(found, "q", ref(model)).excerpts == std::vector<excerpt>{{unit_id{0}, {0, 10}}});
    CHECK(extract(found, "q", ref(model), {.whole_sentences = false}).excerpts ==
          std::vector<excerpt>{{unit_id{0}, {0, 5}}});
}

TEST_CASE("a call that fails leaves its unit whole, and a stop ends the run") {
    const fruit_pages w;
    const auto model = scripted_generator::table({{"", "NONE"}});
    model.fail_at(2);
    const auto found = w.base.retrieve("q", 3);
    const extracted out = extract(found, "q", ref(model));
    CHECK(out.excerpts == std::vector<excerpt>{{unit_id{1}, {0, 19}}});
    CHECK(out.failed == 1);
    CHECK(out.none == 2);
    std::stop_source stop;
    stop.request_stop();
    extract_options options;
    options.calls.stop = stop.get_token();
    CHECK_THROWS_AS(extract(found, "q", ref(model), options), cancelled);
    CHECK(extract(results<bm25_scale>{}, "q", ref(model)).excerpts.empty());
}
