#include "quarry/live/grown_generation.hpp"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "quarry/model/embedding_cache.hpp"
#include "quarry/retrieve/raptor.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/living.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

// Names the letters that its passages are about.
scripted_generator note_taker() {
    return scripted_generator([](const prompt& p) {
        std::string out = "All about";
        for (const char* word : {"password", "invoice", "heating", "valve", "router", "holiday"})
            if (p.text().find(word) != std::string::npos) out += ' ' + std::string(word);
        return completion(out + '.');
    });
}

auto tree_by(const scripted_generator& g, double members = 3) {
    return raptor(living::embedder{}, summaries(g), {.across_articles = true}, kmeans_clusters{.members = members});
}

std::vector<std::string> summaries_of(const raptor_tree& tree) {
    std::vector<std::string> out;
    for (const raptor_node& n : tree.summaries) out.push_back(n.id + ' ' + n.text);
    return out;
}

article about(const std::string& id, const std::string& text, const char* product = "app") {
    return {.id = id, .text = text, .meta = {{"product", product}}};
}

// Nine articles of one chunk each, three of a kind.
std::vector<article> three_of_a_kind() {
    return {about("p1", "password password reset"), about("p2", "password reset reset", "web"),
            about("p3", "password reset"),          about("h1", "heating heating zone"),
            about("h2", "heating zone zone"),       about("h3", "heating zone"),
            about("v1", "vvvv wwww valve", "web"),  about("v2", "vvv www valve", "web"),
            about("v3", "vvv wwww valve", "web")};
}

auto search_over(const grown_generation& grown, raptor_search_options options = {}) {
    options.summaries = grown.growth().summaries;
    return raptor_collapsed(dense(grown.vectors(), living::embedder{}), dense(grown.summaries(), living::embedder{}),
                            options);
}

template <class Results>
std::vector<std::string> texts(const Results& found) {
    std::vector<std::string> out;
    for (const auto& hit : found) out.emplace_back(found.unit(hit).text());
    return out;
}

}  // namespace

TEST_CASE("after any changes a tree over a library is the one over a corpus of its articles, and answers alike") {
    std::mt19937 random(11);
    living::library kb({}, living::layers(), living::options(8));
    std::map<std::string, article> there;
    raptor_tree live, dull;
    const auto g = note_taker(), twin = note_taker();
    for (int round = 0; round < 12; ++round) {
        for (int i = 0; i < 3; ++i) {
            const std::string id = std::to_string(random() % 12);
            if (there.contains(id) && random() % 3 == 0) {
                kb.remove(id);
                there.erase(id);
            } else {
                there[id] = living::random_article(random, id);
                kb.upsert(there[id]);
            }
        }
        if (round % 5 == 4) kb.merge();
        corpus c(living::fields());
        kb.now()->for_each_article(
            [&](unit_id unit) { living::grow_chunks(c, c.add(there.at(std::string(kb.now()->id(unit))))); });
        const auto grown = grow(tree_by(g), kb.now(), live);
        const raptor_growth expected = tree_by(twin).grow(c, dull);
        CHECK(summaries_of(grown->growth().tree) == summaries_of(expected.tree));
        CHECK(grown->growth().made.size() == expected.made.size());
        CHECK(g.calls() == twin.calls());
        live = grown->growth().tree;
        dull = expected.tree;

        const living::embedder embed;
        const auto chunks = build_vectors(c, identity{.of = unit_kind::chunk}, embed);
        const auto tops = build_vectors(c, identity{.of = unit_kind::generated}, embed);
        const raptor_search_options all{.summaries = expected.summaries};
        const auto twin_search = raptor_collapsed(dense(chunks.vectors, embed), dense(tops.vectors, embed), all);
        for (query q : living::questions()) {
            CHECK(living::same(living::ask(search_over(*grown), q, 5), living::ask(twin_search, q, 5)));
            q.include_generated();
            CHECK(living::same(living::ask(search_over(*grown), q, 5), living::ask(twin_search, q, 5)));
        }
    }
    CHECK(g.calls() > 12);
}

TEST_CASE("a change makes only the summaries that it touches, and a tree from nothing makes all") {
    living::library kb({}, living::layers(), living::options());
    kb.upsert_all(three_of_a_kind());
    const auto g = note_taker();
    const auto first = grow(tree_by(g), kb.now());
    const std::size_t all = first->growth().summaries.size();
    REQUIRE(all == 4);  // one a kind, and one above them
    CHECK(first->growth().made == first->growth().summaries);

    kb.upsert(about("h2", "heating zone panel"));
    const auto second = grow(tree_by(g), kb.now(), first->growth().tree);
    CHECK(second->growth().summaries.size() == all);
    CHECK(second->growth().made.size() == 2);
    CHECK(g.calls() == all + second->growth().made.size());
    for (const unit_id unit : second->growth().made)
        CHECK(second->text(unit).find("heating") != std::string_view::npos);

    CHECK(grow(tree_by(g), kb.now(), second->growth().tree)->growth().made.empty());
    const std::size_t before = g.calls();
    grow(tree_by(g), kb.now());
    CHECK(g.calls() == before + all);
}

TEST_CASE("an earlier tree goes on answering over its generation while the library changes") {
    living::library kb({}, living::layers(), living::options());
    kb.upsert_all(three_of_a_kind());
    const auto grown = grow(tree_by(note_taker()), kb.now());
    const query q = query("password reset").include_generated();
    const auto before = texts(search_over(*grown).retrieve(q, 3));
    kb.remove("p1");
    kb.merge();
    CHECK(texts(search_over(*grown).retrieve(q, 3)) == before);
    const auto now = grow(tree_by(note_taker()), kb.now(), grown->growth().tree);
    for (const std::string& text : texts(search_over(*now).retrieve(q, 9))) CHECK(text != "password password reset");
}

TEST_CASE("a summary over a library is seen by those who may see all it was made from") {
    living::library kb({}, living::layers(), living::options());
    kb.upsert_all(three_of_a_kind());
    kb.remove("v2");
    const auto grown = grow(tree_by(note_taker()), kb.now());
    const auto allowed = [&](query q) {
        std::size_t summaries = 0;
        const auto found = search_over(*grown).retrieve(std::move(q).include_generated(), 99);
        for (const auto& hit : found) {
            summaries += hit.unit >= unit_at(kb.now()->size());
            CHECK(found.unit(hit).text().find("password reset reset") == std::string_view::npos);
        }
        return summaries;
    };
    // What is about heating is of one product, what is about passwords of two.
    CHECK(allowed(query("heating password").where(eq("product", "app"))) == 1);
    CHECK(allowed(query("heating password").within(scope::only(eq("product", "app")))) == 1);
    CHECK(texts(search_over(*grown).retrieve(query("heating password").where(eq("product", "app")), 99)).size() == 5);
}

TEST_CASE("an article that is left out takes the summaries of itself alone with it") {
    living::library kb({}, living::layers(), living::options());
    // Two chunks of one article, and an article that stays.
    kb.upsert(
        about("long", "heating heating heating zone zone zone zone. heating zone heating heating zone zone zone."));
    kb.upsert(about("other", "password"));
    const auto g = note_taker();
    const auto grown = grow(raptor(living::embedder{}, summaries(g)), kb.now());  // a tree an article
    REQUIRE(grown->growth().summaries.size() == 1);
    const unit_id summary = grown->growth().summaries[0], chunk = grown->sources(summary)[0];
    const auto returned = [&](unit_id unlike) {
        return *grown->select({.include_generated = true, .unlike = unlike}).units();
    };
    CHECK(!returned(chunk).contains(summary));
    CHECK(!returned(chunk).contains(chunk));
    CHECK(returned(*grown->find("other")).contains(summary));
    CHECK(!returned(summary).contains(summary));
    CHECK(returned(summary).contains(chunk));
}

TEST_CASE("a grown generation is a source whose summaries stand behind the units") {
    living::library kb({}, living::layers(), living::options());
    kb.upsert_all(three_of_a_kind());
    const auto grown = grow(tree_by(note_taker()), kb.now());
    const unit_id summary = grown->growth().summaries[0];
    CHECK(summary == unit_at(kb.now()->size()));
    CHECK(grown->kind(summary) == unit_kind::generated);
    CHECK(grown->find(grown->id(summary)) == summary);
    CHECK(!grown->parent(summary));
    CHECK(!grown->value(summary, "product"));
    CHECK(grown->sources(summary).size() == 3);
    CHECK(grown->text(*grown->find("p1")) == "password password reset");
    CHECK(code_of([&] { grown->text(unit_at(grown->size())); }) == "corpus.unknown_unit");
    CHECK(code_of([&] { grown->vectors(7); }) == "generation.layer");
    CHECK(code_of([&] { grown->bm25(7); }) == "generation.layer");
}

TEST_CASE("an empty library grows no tree and finds nothing") {
    living::library kb({}, living::layers(), living::options());
    const auto g = note_taker();
    const auto grown = grow(tree_by(g), kb.now());
    CHECK(g.calls() == 0);
    CHECK(grown->growth().summaries.empty());
    CHECK(search_over(*grown).retrieve("anything", 3).empty());
}
