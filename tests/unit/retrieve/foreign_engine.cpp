// An engine elsewhere as an index over our corpus and as a source of its own: nothing above the concepts needs our types.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"
#include "support/toy_engine.hpp"
#include "support/words.hpp"

using namespace quarry;
using names = std::vector<std::string>;

namespace {

static_assert(SparseIndex<toy::engine_words> && DenseIndex<toy::engine_vectors> && UnitSource<toy::engine_source>);
static_assert(!ScoringIndex<toy::engine_words, lexical_probe>);

// Forty articles in our corpus and in an engine, in another order there: both hold texts, vectors and fields.
struct world {
    corpus articles{schema{{"product", field_type::string},
                           {"year", field_type::integer},
                           {"price", field_type::number},
                           {"open", field_type::boolean},
                           {"day", field_type::date_time}}};
    toy::engine engine{};
    indexed<bm25_index> words{bm25_index(toy::whitespace()), articles};
    indexed<flat_index> vectors{flat_index(3), articles};

    world() {
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        for (std::size_t i = 0; i < 40; ++i) {
            const std::string id = "doc-" + std::to_string((i * 7) % 40);
            std::string text;
            for (int w = 0; w < 6; ++w) text += (w == 0 ? "w" : " w") + std::to_string(random() % 12);
            const std::vector<float> row{normal(random), normal(random), normal(random)};
            metadata meta;
            toy::engine_document d{.id = id, .title = "title", .text = text, .vector = row};
            const auto state = [&](const char* field, const field_value& v) {
                if (random() % 4 == 0) return;  // missing
                meta.add(field, v);
                d.fields.emplace(field, v);
            };
            state("product", std::string(1, static_cast<char>('a' + random() % 3)));
            state("year", static_cast<int>(2020 + random() % 5));
            state("price", static_cast<double>(random() % 8) / 2);
            state("open", random() % 2 == 0);
            articles.add({.id = id, .title = "title", .text = text, .meta = meta});
            engine.put(d);
            words.index.add(unit_at(i), text);
            vectors.index.add(unit_at(i), row);
        }
        // A document that our corpus has never heard of, best for everything.
        engine.put({.id = "stranger", .text = "w0 w0 w0 w0 w0 w1 w1 w2 w2 w3 w4 w5", .vector = {1, 1, 1}});
    }

    toy::engine_words engine_words() const { return {engine, articles}; }
    toy::engine_vectors engine_vectors() const { return {engine, articles, 3}; }
};

const world& here() {
    static const world w;
    return w;
}

const auto embed = make_embedder(3, [](std::string_view text) {
    const float x = text.empty() ? 1.0f : static_cast<float>(text.size());
    return std::vector<float>{x, 2.0f, -1.0f};
});

filter random_filter(std::mt19937& random, int depth) {
    if (depth > 0 && random() % 3 != 0) {
        const filter a = random_filter(random, depth - 1), b = random_filter(random, depth - 1);
        switch (random() % 3) {
            case 0: return a && b;
            case 1: return a || b;
            default: return !a;
        }
    }
    const std::string letter(1, static_cast<char>('a' + random() % 3));
    const int year = static_cast<int>(2019 + random() % 7);
    const double price = static_cast<double>(random() % 10) / 2 - .5;
    switch (random() % 12) {
        case 0: return eq("product", letter);
        case 1: return ne("product", letter);
        case 2: return in("product", {letter, "b"});
        case 3: return nin("product", {letter});
        case 4: return random() % 2 == 0 ? in("product", {}) : nin("product", {});
        case 5: return lt("year", year);
        case 6: return ge("year", year);
        case 7: return gt("price", price);
        case 8: return le("price", price);
        case 9: return exists("year");
        case 10: return eq("open", random() % 2 == 0);
        default: return random() % 2 == 0 ? all_of({}) : any_of({});
    }
}

}  // namespace

TEST_CASE("cosines made from an engine's distances are those of our own index, larger is better") {
    const world& w = here();
    const auto ours = dense(w.vectors, embed).retrieve("question", 40);
    const auto index = w.engine_vectors();
    const auto theirs = dense(index, source_ref(w.articles), embed).retrieve("question", 40);
    REQUIRE(theirs.size() == 40);
    for (std::size_t i = 0; i < 40; ++i) {
        CHECK(theirs[i].unit == ours[i].unit);
        CHECK(theirs[i].score == Approx(ours[i].score).margin(1e-6));
    }
    CHECK(theirs[0].score > theirs[39].score);
    // The same direction is 1, the opposite -1, whatever the engine calls its distances.
    toy::engine small;
    small.put({.id = "same", .vector = {2, 0, 0}});
    small.put({.id = "opposite", .vector = {-3, 0, 0}});
    small.put({.id = "orthogonal", .vector = {0, 5, 0}});
    const toy::engine_source source(small);
    const toy::engine_vectors vectors(small, source, 3);
    const auto east = make_embedder(3, [](std::string_view) { return std::vector<float>{1.0f, 0.0f, 0.0f}; });
    const auto leaf = dense(vectors, source_ref(source), east);
    const auto found = leaf.retrieve("q", 3);
    CHECK(toy::ids(found) == names{"same", "orthogonal", "opposite"});
    CHECK(found[0].score == 1.0f);
    CHECK(found[1].score == 0.0f);
    CHECK(found[2].score == -1.0f);
    CHECK(toy::ids((leaf | at_least<cosine_scale>{0.0f}).retrieve("q", 3)) == names{"same", "orthogonal"});
}

TEST_CASE("a document the corpus does not know is left out, and k others come back") {
    const world& w = here();
    CHECK(w.engine.matching("w0", 1, "")[0].id == "stranger");
    const auto index = w.engine_words();
    const auto search = lexical(index, source_ref(w.articles));
    for (const std::size_t k : {1u, 3u, 10u}) CHECK(search.retrieve("w0 w1 w2 w3", k).size() == k);
    CHECK(search.retrieve("w0 w1 w2 w3", 1)[0].score <= 6.0f);  // its texts are six words long
}

TEST_CASE("ties come by our ids, though the engine breaks them by its own") {
    const world& w = here();
    const auto index = w.engine_words();
    const auto search = lexical(index, source_ref(w.articles));
    const auto all = search.retrieve("w3", 40);
    CHECK(std::ranges::is_sorted(all.hits, [](const auto& a, const auto& b) { return better(a, b); }));
    for (std::size_t k = 1; k <= all.size(); ++k) {
        const auto some = search.retrieve("w3", k);
        REQUIRE(some.size() == k);
        for (std::size_t i = 0; i < k; ++i) CHECK(some[i].unit == all[i].unit);
    }
}

TEST_CASE("an engine is a leg beside ours, under a reranker, and under whole articles") {
    const world& w = here();
    const auto engine_vectors = w.engine_vectors();
    const auto theirs = dense(engine_vectors, source_ref(w.articles), embed);
    const auto ours = dense(w.vectors, embed);
    const auto words = lexical(w.words);
    const query asked = query("w1 w2 w3").where(ge("year", 2022));
    CHECK(toy::ids(fuse(rrf{}, words, theirs).retrieve(asked, 10)) == toy::ids(fuse(rrf{}, words, ours).retrieve(asked, 10)));
    const auto longest = [](std::string_view, std::span<const std::string_view> passages) {
        std::vector<float> scores;
        for (const auto& p : passages) scores.push_back(static_cast<float>(p.size()));
        return scores;
    };
    CHECK(toy::ids((theirs | rerank(longest)).retrieve(asked, 5)) == toy::ids((ours | rerank(longest)).retrieve(asked, 5)));
    CHECK(toy::ids(whole_article(theirs, {.floor = 0.2f}).retrieve(asked, 9)) ==
          toy::ids(whole_article(ours, {.floor = 0.2f}).retrieve(asked, 9)));
    // Cosine, but it cannot score given units: hybrid falls back on ranks.
    static_assert(std::same_as<decltype(hybrid(words, theirs))::scale, rrf_scale>);
    CHECK(code_of([&] {
              const toy::engine_source other(w.engine);
              const toy::engine_words index(w.engine, other);
              fuse(rrf{}, words, lexical(index, source_ref(other)));
          }) == "fuse.source");
}

TEST_CASE("a filter in the engine's language means what it means here, missing fields included") {
    const world& w = here();
    const toy::engine_source source(w.engine);
    std::mt19937 random(2);
    for (int round = 0; round < 400; ++round) {
        const filter f = random_filter(random, 3);
        CAPTURE(f.to_string());
        const selection evaluated = w.articles.select({.where = &f});
        const std::string condition = toy::translated(f);
        for (std::size_t i = 0; i < 40; ++i)
            CHECK(w.engine.allows(*w.engine.find(w.articles.id(unit_at(i))), condition) ==
                  evaluated.returned().contains(unit_at(i)));
    }
}

TEST_CASE("an engine honours a filter as a set, as an expression, and as both") {
    const world& w = here();
    const auto index = w.engine_vectors();
    const std::vector<float> q{1, 2, 3};
    const filter f = eq("product", "a") || lt("price", 1.5);
    const filter untranslatable = prefix("product", "a");
    const selection evaluated = w.articles.select({.where = &f});
    const accept both = evaluated.returned();
    const auto expected = w.vectors.index.search(q, 40, {both.units});
    REQUIRE(expected.size() > 3);
    for (const accept& allowed : {both, accept{both.units}, accept{nullptr, &f}, accept{both.units, &untranslatable}}) {
        const auto found = index.search(q, 40, allowed);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].unit == expected[i].unit);
        CHECK(index.search(q, 2, allowed).size() == 2);
    }
    unit_set nobody(40);
    CHECK(index.search(q, 5, {&nobody}).empty());
}

TEST_CASE("what the engine has no word for is refused where nobody else evaluated it") {
    const world& w = here();
    const toy::engine_source source(w.engine);
    const toy::engine_words index(w.engine, source);
    const auto search = lexical(index, source_ref(source));
    for (const filter& f : {prefix("product", "a"), contains("product", "a"), eq("day", *date_time::parse("2024-05-07"))}) {
        CHECK(code_of([&] { search.retrieve(query("w1").where(f), 5); }) == "engine.filter");
        CHECK(code_of([&] { search.retrieve(query("w1").where(eq("product", "a") || !f), 5); }) == "engine.filter");
        CHECK(code_of([&] { index.search({"w1"}, 5, {nullptr, &f}); }) == "engine.filter");
    }
}

TEST_CASE("a value is only a value, whatever it looks like in the engine's language") {
    toy::engine small;
    const std::string nasty = "a\") (and) (= \"b\\";
    small.put({.id = "1", .text = "word", .fields = {{"product", nasty}}});
    small.put({.id = "2", .text = "word", .fields = {{"product", "b"}}});
    small.put({.id = "3 \"x\\", .text = "word"});
    const toy::engine_source source(small);
    const toy::engine_words index(small, source);
    const auto search = lexical(index, source_ref(source));
    CHECK(toy::ids(search.retrieve(query("word").where(eq("product", nasty)), 5)) == names{"1"});
    CHECK(search.retrieve(query("word").where(eq("product", "a\") (= product \"b")), 5).empty());
    CHECK(toy::ids(search.retrieve(query("word").where(!exists("product")), 5)) == names{"3 \"x\\"});
    unit_set third(3);
    third.insert(*source.find("3 \"x\\"));
    CHECK(index.search({"word"}, 5, {&third}).size() == 1);
}

TEST_CASE("an engine is a source of its own: filtered, scoped, fused, and texts fetched for hits alone") {
    toy::engine remote;
    for (int i = 0; i < 30; ++i)
        remote.put({.id = "d" + std::to_string(i), .title = "title " + std::to_string(i),
                    .text = i % 2 == 0 ? "even word" : "odd word", .vector = {1.0f, static_cast<float>(i)},
                    .fields = {{"tenant", i % 3 == 0 ? "x" : "y"}, {"number", i}}});
    const toy::engine_source source(remote);
    const toy::engine_words words(remote, source);
    const toy::engine_vectors vectors(remote, source, 2);
    const auto east = make_embedder(2, [](std::string_view) { return std::vector<float>{1.0f, 0.0f}; });
    const auto search = fuse(rrf{}, lexical(words, source_ref(source)), dense(vectors, source_ref(source), east));
    const auto found = search.retrieve(query("even").where(lt("number", 20)).within(scope::only(eq("tenant", "x"))), 10);
    CHECK(found.size() == 7);  // 0 3 6 9 12 15 18
    CHECK(toy::ids(found)[0] == "d0");
    for (const auto& hit : found) {
        CHECK(found.unit(hit).value("tenant") == field_value("x"));
        CHECK(found.unit(hit).title().starts_with("title"));
    }
    CHECK(source.fetched() == 0);
    const auto judge = [](std::string_view, std::span<const std::string_view> p) { return std::vector<float>(p.size()); };
    (search | rerank(judge, {.fetch = 4})).retrieve("even", 2);
    CHECK(source.fetched() == 4);
    // Searching by a unit leaves it out, through the engine too.
    const auto alike = search.retrieve(query(like(*source.find("d0"))).where(lt("number", 4)), 10);
    CHECK(std::ranges::count(toy::ids(alike), "d0") == 0);
    CHECK(alike.size() == 3);
}

TEST_CASE("parts in an engine are returned as their articles, and under a filter nobody here can judge as themselves") {
    toy::engine remote;
    remote.put({.id = "article", .text = "whole text", .fields = {{"kind", "long"}}});
    remote.put({.id = "article/1", .text = "first part", .fields = {{"kind", "short"}}, .parent = "article"});
    remote.put({.id = "article/2", .text = "second part part", .fields = {{"kind", "short"}}, .parent = "article"});
    const toy::engine_source source(remote);
    const toy::engine_words index(remote, source);
    const auto search = whole_article(lexical(index, source_ref(source)));
    CHECK(toy::ids(search.retrieve("part", 5)) == names{"article"});
    CHECK(toy::ids(search.retrieve(query("part").where(eq("kind", "short")), 5)) == names{"article/2", "article/1"});
}

TEST_CASE("an index of ours over a foreign source refuses a filter that was left to the engine") {
    const world& w = here();
    const toy::engine_source source(w.engine);
    bm25_index words(toy::whitespace());
    for (std::size_t i = 0; i < source.size(); ++i) words.add(unit_at(i), source.text(unit_at(i)));
    const auto search = lexical(words, source_ref(source));
    CHECK(search.retrieve("w1", 3).size() == 3);
    CHECK(code_of([&] { search.retrieve(query("w1").where(eq("product", "a")), 3); }) == "filter.unevaluated");
}
