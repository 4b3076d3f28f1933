#include "quarry/probe/decompose.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

struct decomposed {
    corpus c;
    query q;
    request r;
    scripted_generator model;

    explicit decomposed(std::string reply,
                        std::string words = "In which year was the author of the novel behind Blade Runner born?")
        : q(std::move(words)),
          r((c.add({.id = "a", .text = "text"}), q), c),
          model([reply = std::move(reply)](const prompt&) { return completion(reply); }) {}

    std::vector<std::string> probes(decompose_options options = {}) {
        question asked(r);
        std::vector<std::string> out;
        for (const probe& p : decompose(ref(model), options)(asked).probes) out.push_back(p.text);
        return out;
    }
    std::vector<std::string> parts(decompose_options options = {}) {
        question asked(r);
        return decompose(ref(model), options).parts(asked).parts;
    }
};

using text_list = std::vector<std::string>;
using answer_list = std::vector<std::optional<std::string>>;

}  // namespace

TEST_CASE("parts keep their references, and a search of all parts at once leaves them out") {
    decomposed d("1. Which novel is behind Blade Runner?\n2. Who wrote #1?\n3. In which year was #2 born?");
    CHECK(d.parts() == text_list{"Which novel is behind Blade Runner?", "Who wrote #1?", "In which year was #2 born?"});
    CHECK(d.probes() == text_list{"Which novel is behind Blade Runner?", "Who wrote  ?", "In which year was   born?"});
}

TEST_CASE("both forms of one prober pay for the reply once a request") {
    decomposed d("Who is a?\nWho is b?");
    const auto prober = decompose(ref(d.model));
    question asked(d.r);
    CHECK(prober(asked).probes.size() == 2);
    CHECK(prober.parts(asked).parts.size() == 2);
    CHECK(d.model.calls() == 1);
}

TEST_CASE("a simple question has no parts") {
    CHECK(decomposed("none").parts().empty());
    CHECK(decomposed("None").probes().empty());
    CHECK(decomposed("").probes().empty());
    CHECK(decomposed("Philip K. Dick was born in 1928.").probes().empty());
    CHECK(decomposed("In which year was the author of the novel behind Blade Runner born?").probes().empty());
}

TEST_CASE("parts are distinct and at most as many as allowed") {
    CHECK(decomposed("Who is a?\nWho is a?\nWho is b?\nWho is c?").parts({.count = 2}) ==
          text_list{"Who is a?", "Who is b?"});
    CHECK(code_of([] { decomposed("none").parts({.count = 0}); }) == "probe.count");
}

TEST_CASE("a reference is a number sign and a number that nothing continues") {
    CHECK(references_in("Who met #2 and #1, and #2 again?") == std::vector<std::size_t>{1, 2});
    CHECK(references_in("C# 7, #0, #abc, #1a, #12345, #").empty());
    CHECK(resolved("Who met #2 and #1?", answer_list{"Ada", "Ivo"}) == "Who met Ivo and Ada?");
}

TEST_CASE("a missing answer leaves its reference, and an answer is not read for references") {
    CHECK(resolved("Who met #2, #3 and #4?", answer_list{"Ada", std::nullopt, ""}) == "Who met #2, #3 and #4?");
    CHECK(resolved("#1", answer_list{"#1 and #2", "x"}) == "#1 and #2");
    CHECK(resolved("no reference", {}) == "no reference");
}
