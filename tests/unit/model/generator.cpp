#include "quarry/model/generator.hpp"

#include "quarry/model/embedder.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

prompt written() { return prompt_writer("v").system("Be brief.").say("Why?").finish(); }

struct everything {
    completion operator()(const prompt& p, std::stop_token stop) const {
        return {std::string(p.system()) + "|" + p.text() + (stop.stop_possible() ? "|stoppable" : ""), true,
                token_usage{.input = 7, .output = 2}};
    }
    std::string name() const { return "m"; }
};

}  // namespace

TEST_CASE("a generator is asked in the richest way it understands") {
    const auto text = [](std::string_view p) { return "text:" + std::string(p); };
    const auto parts = [](const prompt& p) { return "parts:" + std::string(p.system()) + "|" + p.text(); };
    const auto stoppable = [](std::string_view p, std::stop_token stop) {
        return std::string(p) + (stop.stop_possible() ? "|stoppable" : "|not");
    };
    STATIC_REQUIRE(Generator<decltype(text)>);
    STATIC_REQUIRE(Generator<decltype(parts)>);
    STATIC_REQUIRE(Generator<decltype(stoppable)>);
    STATIC_REQUIRE(Generator<everything>);

    const std::stop_source source;
    CHECK(generate(text, written()).text == "text:Be brief.\n\nWhy?");
    CHECK(generate(parts, written()).text == "parts:Be brief.|Why?");
    CHECK(generate(stoppable, written(), source.get_token()).text == "Be brief.\n\nWhy?|stoppable");
    CHECK(generate(stoppable, written()).text == "Be brief.\n\nWhy?|not");
    CHECK(generate(everything{}, written(), source.get_token()).text == "Be brief.|Why?|stoppable");
}

TEST_CASE("what a generator says of tokens and limits arrives, and a plain text says nothing") {
    const completion all = generate(everything{}, written());
    CHECK(all.cut_off);
    REQUIRE(all.used);
    CHECK(all.used->total() == 9);
    const completion plain = generate([](std::string_view) { return "x"; }, "p");
    CHECK(plain.text == "x");
    CHECK_FALSE(plain.cut_off);
    CHECK_FALSE(plain.used);
    CHECK_FALSE(plain.remembered);
}

TEST_CASE("who does not call it like a prompt or a text is no generator") {
    const auto number = [](std::string_view) { return 3; };
    const auto two = [](std::string_view, std::string_view) { return std::string(); };
    struct changing {
        std::string operator()(std::string_view) { return {}; }
    };
    STATIC_REQUIRE_FALSE(Generator<decltype(number)>);
    STATIC_REQUIRE_FALSE(Generator<decltype(two)>);
    STATIC_REQUIRE_FALSE(Generator<changing>);  // a const call is what promises thread safety
    STATIC_REQUIRE_FALSE(Generator<int>);
    CHECK(number("") == 3);
}

TEST_CASE("a lambda gets a name, a generator that has one keeps it, others have none") {
    const auto f = [](std::string_view p) { return std::string(p); };
    CHECK(named("qwen", f).name() == "qwen");
    CHECK(generate(named("qwen", f), "x").text == "x");
    CHECK(detail::generator_name(everything{}) == "m");
    CHECK(detail::generator_name(f).empty());
    CHECK(generate(named("n", everything{}), "x").cut_off);  // nothing is lost on the way
}

TEST_CASE("references and locks around a generator are generators") {
    const auto f = [](std::string_view p) { return "got " + std::string(p); };
    STATIC_REQUIRE(Generator<reference<decltype(f)>>);
    STATIC_REQUIRE(Generator<decltype(serialized(f))>);
    CHECK(generate(ref(f), "x").text == "got x");
    CHECK(generate(serialized(f), "x").text == "got x");
    const everything all;
    CHECK(generate(ref(all), written()).cut_off);
}

TEST_CASE("tokens add up by what they cost") {
    token_usage sum{.input = 1, .cache_write = 2, .cache_read = 3, .output = 4};
    sum += {.input = 10, .output = 1};
    CHECK(sum == token_usage{.input = 11, .cache_write = 2, .cache_read = 3, .output = 5});
    CHECK(sum.total() == 21);
    CHECK(sum + token_usage{} == sum);
}
