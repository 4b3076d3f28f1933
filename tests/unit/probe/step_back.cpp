#include "quarry/probe/step_back.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

probed_query stepped_back(const std::string& reply, std::string words = "why does the pressure in HL-301 double?") {
    corpus c;
    c.add({.id = "a", .text = "text"});
    const query q(std::move(words));
    request r(q, c);
    question asked(r);
    const scripted_generator model([&](const prompt&) { return completion(reply); });
    return step_back(ref(model))(asked);
}

}  // namespace

TEST_CASE("one more general question is searched for, which need not hold the words of the narrow one") {
    const probed_query p = stepped_back("What does pressure depend on?\nWhat is heat?");
    REQUIRE(p.probes.size() == 1);
    CHECK(p.probes[0].text == "What does pressure depend on?");
    CHECK(p.complete);
}

TEST_CASE("an answer or the question itself is no step back") {
    CHECK(stepped_back("Pressure doubles because it is heated.").probes.empty());
    CHECK_FALSE(stepped_back("Pressure doubles because it is heated.").complete);
    CHECK(stepped_back("Why does the pressure in HL-301 double?").probes.empty());
    CHECK(stepped_back("").probes.empty());
}

TEST_CASE("examples are shown to the model as data") {
    corpus c;
    c.add({.id = "a", .text = "text"});
    const query q("which school did she attend in 1954?");
    request r(q, c);
    question asked(r);
    const scripted_generator model([](const prompt& p) {
        CHECK(p.shared().find("<general ") != std::string::npos);
        CHECK(p.shared().find("What is her education?") != std::string::npos);
        return completion("What is her education history?");
    });
    step_back_options options;
    options.examples = {{"Which school was it in 1950?", "What is her education?"}};
    CHECK(step_back(ref(model), options)(asked).probes.size() == 1);
}
