// The umbrella, used as the README uses it.
#include "quarry/quarry.hpp"

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("the pipeline of the README compiles, filters, and returns what the scope lets through") {
    corpus articles(schema{{"product", field_type::string}, {"tenant", field_type::string}}, {.scope_mandatory = true});
    const auto add = [&](const char* id, const char* title, const char* text, const char* product, const char* tenant) {
        articles.add({.id = id, .title = title, .text = text, .meta = {{"product", product}, {"tenant", tenant}}});
    };
    add("reset", "Reset a password", "Open the settings and choose a new password.", "app", "a");
    add("reset-web", "Reset a password", "Open the portal and choose a new password.", "web", "a");
    add("reset-other", "Reset a password", "Open the settings and choose a new password.", "app", "b");
    add("pair", "Pair a valve", "Hold the button until the light blinks.", "app", "a");
    const auto embed = lsa_embedder::fit(articles);
    const auto kb = build(articles, identity{}, embed);
    const auto cross_encoder = [](std::string_view, std::span<const std::string_view> passages) {
        std::vector<float> scores;
        for (const auto passage : passages) scores.push_back(passage.find("password") == std::string_view::npos ? 0.0f : 1.0f);
        return scores;
    };

    auto search = fuse(rrf{}, lexical(kb.bm25), dense(kb.vectors, embed))
                | rerank(cross_encoder, {.fetch = 50})
                | diversify(kb.vectors, mmr{.lambda = 0.7f});
    auto answer = search.retrieve(
        query("how do I reset my password").where(eq("product", "app")).within(scope::only(eq("tenant", "a"))), 5);

    REQUIRE(answer.size() == 2);
    CHECK(answer.unit(answer[0]).id() == "reset");
    CHECK(answer.unit(answer[1]).id() == "pair");
    CHECK(answer.matched(answer[0])->kind == key_kind::body);
}

TEST_CASE("the inline namespace is the version's") {
    CHECK(std::same_as<quarry::v0_1::corpus, quarry::corpus>);
    CHECK((QUARRY_VERSION_MAJOR == 0 && QUARRY_VERSION_MINOR == 1));
}
