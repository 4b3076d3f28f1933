#include "quarry/probe/rewrite.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

struct rewritten {
    std::vector<std::string> texts;
    std::string notes;
    bool complete = false;
};

rewritten rewritten_from(const std::string& reply, rewrite_options options = {},
                         std::string words = "how do I reset my password?", bool cut_off = false) {
    corpus c;
    c.add({.id = "a", .text = "text"});
    const query q(std::move(words));
    request r(q, c);
    question asked(r);
    const scripted_generator model([&](const prompt&) { return completion(reply, cut_off); });
    const probed_query p = rewrite(ref(model), std::move(options))(asked);
    rewritten out;
    out.complete = p.complete;
    for (const probe& one : p.probes) out.texts.push_back(one.text);
    for (const probe_note& n : p.notes) out.notes += to_string(n) + "; ";
    return out;
}

using text_list = std::vector<std::string>;

}  // namespace

TEST_CASE("rewrites are read one a line, without numbering, and numbers of their own stay") {
    CHECK(rewritten_from("1. alpha\n2) beta\n\n- gamma\nversion 3.5 notes", {.count = 4}).texts ==
          text_list{"alpha", "beta", "gamma", "version 3.5 notes"});
    CHECK(rewritten_from("Q1: How can I get a new password?\nQ2: password reset").texts ==
          text_list{"How can I get a new password?", "password reset"});
    CHECK(rewritten_from(R"(["new password", "forgotten password"])").texts ==
          text_list{"new password", "forgotten password"});
}

TEST_CASE("the question in other letters is no rewrite") {
    const rewritten r = rewritten_from("HOW do I reset my password\nnew password");
    CHECK(r.texts == text_list{"new password"});
    CHECK(r.notes.find("duplicate: HOW") != std::string::npos);
    CHECK(r.complete);
    CHECK(rewritten_from("How do I reset my password?").complete);
}

TEST_CASE("an answer, a loop and an announcement are no rewrites") {
    CHECK(rewritten_from("Here are three versions:\nYou reset it in the settings.\nnew password").texts ==
          text_list{"new password"});
    CHECK(rewritten_from("one two three four five one two three four five one two three four five").texts.empty());
    // Where no question was asked, a sentence is as good as the next.
    CHECK(rewritten_from("The password was lost.", {}, "I lost my password.").texts ==
          text_list{"The password was lost."});
}

TEST_CASE("what a limit of tokens cut off is not searched for, unless there is nothing else") {
    CHECK(rewritten_from("new password\nforgotten pass", {}, "how?", true).texts == text_list{"new password"});
    CHECK(rewritten_from("forgotten pass", {}, "how?", true).texts == text_list{"forgotten pass"});
}

TEST_CASE("at most as many rewrites as were asked for") {
    CHECK(rewritten_from("a b\nc d\ne f", {.count = 2}).texts == text_list{"a b", "c d"});
    CHECK(code_of([] { rewritten_from("a", {.count = 0}); }) == "probe.count");
}

TEST_CASE("identifiers and quoted words of the question survive by policy") {
    const std::string reply = "the light of the hub flashes\nHL-301 flashes";
    const std::string words = "why does HL-301 blink";
    CHECK(rewritten_from(reply, {}, words).texts == text_list{"the light of the hub flashes HL-301", "HL-301 flashes"});
    CHECK(rewritten_from(reply, {.lost = lost_words_policy::drop}, words).texts == text_list{"HL-301 flashes"});
    CHECK(rewritten_from(reply, {.lost = lost_words_policy::allow}, words).texts ==
          text_list{"the light of the hub flashes", "HL-301 flashes"});
}

TEST_CASE("a reply that holds nothing leaves the question alone and says so") {
    for (const char* reply : {"", "\n\n", "...", "1.\n2.\n3."}) {
        CAPTURE(reply);
        const rewritten r = rewritten_from(reply);
        CHECK(r.texts.empty());
        CHECK_FALSE(r.complete);
        CHECK(r.notes.find("unreadable") != std::string::npos);
    }
}

TEST_CASE("what the model begins to write of the next prompt is not searched for") {
    CHECK(rewritten_from("new password\n<question 1234>\nhow do I fly?").texts == text_list{"new password"});
    CHECK(rewritten_from("new password<|im_end|>\n<|im_start|>user\nhow do I fly?").texts == text_list{"new password"});
}
