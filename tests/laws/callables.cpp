// The laws of callables and sources, applied to ours and to those that only satisfy the concepts.
#include <string>
#include <vector>

#include "laws/callables.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/text/analyzer.hpp"
#include "support/catch.hpp"
#include "support/toy_engine.hpp"
#include "support/words.hpp"

using namespace quarry;

namespace {

const std::vector<std::string> texts{"How do I reset my password?",
                                     "",
                                     " ",
                                     "TS-999 node.js fooBar foo_bar __init__",
                                     "Stra\xC3\x9F" "e caf\xC3\xA9 na\xC3\xAFve \xE2\x80\x99quoted\xE2\x80\x99",
                                     "\xE6\x88\x91\xE6\x98\xAF\xE4\xB8\xAD\xE5\x9B\xBD\xE4\xBA\xBA \xE3\x82\xAB\xE3\x82\xBF",
                                     "broken \xC3\x28 \xFF\xFE \xED\xA0\x80 \xF0\x9F\x98",
                                     std::string("nul \0 inside", 12),
                                     "to be or not to be",
                                     std::string(1000, 'a') + " needle"};

float letters(std::string_view text, char c) { return static_cast<float>(std::count(text.begin(), text.end(), c)) + 1; }

corpus small() {
    corpus c;
    c.add({.id = "a", .title = "Passwords", .summary = "Choosing one", .text = "Reset it. Choose another.",
           .headings = {{"Forgotten"}, {"Overview"}}});
    c.add({.id = "b", .title = "Accounts", .text = "Close it.", .headings = {{"Overview"}}});
    c.add({.id = "c", .text = "untitled"});
    const unit_id section = c.add_part(unit_id{0}, {.kind = unit_kind::section, .span = {0, 9}, .title = "Forgotten"});
    c.add_part(section, {.span = {0, 5}});
    c.add_generated({.id = "s", .text = "about both", .sources = {unit_id{0}, unit_id{1}}});
    return c;
}

}  // namespace

TEST_CASE("laws: embedders from functions over one text or many, shared and serialized") {
    const auto one = make_embedder(2, [](std::string_view t) { return std::vector<float>{letters(t, 'a'), letters(t, 'e')}; });
    const auto many = make_embedder(2, [](role as, std::span<const std::string_view> all) {
        std::vector<std::vector<float>> rows;
        for (const auto t : all) rows.push_back({letters(t, 'a'), as == role::query ? 1.0f : letters(t, 'e')});
        return rows;
    }, {.batch = 3});
    const auto flat = make_embedder(2, [](std::span<const std::string_view> all) {
        std::vector<float> rows;
        for (const auto t : all) rows.insert(rows.end(), {letters(t, 'a'), letters(t, 'e')});
        return rows;
    }, {.batch = 0});
    laws::embedder(one, texts);
    laws::embedder(many, texts);
    laws::embedder(flat, texts);
    laws::embedder(ref(one), texts);
    laws::embedder(serialized(many), texts);
}

TEST_CASE("laws: rerankers from functions") {
    const auto judge = [](std::string_view q, std::span<const std::string_view> passages) {
        std::vector<float> scores;
        for (const auto p : passages) scores.push_back(letters(p, q.empty() ? 'a' : q.front()));
        return scores;
    };
    laws::reranker(judge, "e", texts);
    laws::reranker(serialized(judge), "e", texts);
    laws::reranker(ref(judge), "e", {});
}

TEST_CASE("laws: fusers") {
    laws::fuser(rrf{});
    laws::fuser(rrf{.k = 0.0f});
    laws::fuser(convex{});
    laws::fuser(relative_score{});
    laws::fuser(distribution_based{});
    laws::fuser(distribution_based{.population = true});
    laws::fuser(bounded{});
    laws::fuser(bounded{.overlap = 0.0f});
    laws::fuser(bounded{.overlap = 1.0f});
}

TEST_CASE("laws: expanders") {
    const corpus c = small();
    laws::key_expander(identity{}, c);
    laws::key_expander(identity{.of = unit_kind::section, .title_weight = 3.0f}, c);
    laws::key_expander(metadata_keys(c), c);
    laws::key_expander(metadata_keys(c, {.shared = shared_headings::drop, .shared_by = 2}), c);
}

TEST_CASE("laws: tokenizers") {
    laws::tokenizer(plain(), texts);
    laws::tokenizer(english(), texts);
    laws::tokenizer(english({.stop_words = false, .stemming = false}), texts);
    laws::tokenizer(toy::whitespace({"to"}), texts);
}

TEST_CASE("laws: sources") {
    laws::unit_source(small());
    laws::unit_source(corpus());
    toy::engine engine;
    engine.put({.id = "b", .text = "text b"});
    engine.put({.id = "a", .text = "text a"});
    engine.put({.id = "a/1", .text = "part", .parent = "a"});
    laws::unit_source(toy::engine_source(engine));
}
