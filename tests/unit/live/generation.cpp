#include "quarry/live/generation.hpp"

#include <string>

#include "quarry/expand/metadata_keys.hpp"
#include "quarry/index/centroids.hpp"
#include "quarry/index/unit_graph.hpp"
#include "quarry/live/library.hpp"
#include "quarry/rank/auto_merge.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/living.hpp"

using namespace quarry;

static_assert(UnitSource<generation>);
static_assert(SparseIndex<bm25_parts> && BoundedIndex<bm25_parts, lexical_probe>);
static_assert(DenseIndex<flat_parts> && BoundedIndex<flat_parts, dense_probe>);

TEST_CASE("a generation is a source of the units that are alive, across its parts") {
    living::library kb({}, living::layers(), living::options(1));
    kb.upsert({.id = "a",
               .title = "A",
               .summary = "s",
               .text = "one two three",
               .headings = {{"one", 1, {0, 3}}},
               .links = {{"https://example.org"}},
               .meta = {{"year", 2020}}});
    kb.upsert({.id = "b", .title = "B", .text = "four", .meta = {{"year", 2021}}});
    kb.upsert({.id = "c", .text = "five"});
    kb.remove("b");
    const auto now = kb.now();
    CHECK(now->parts() == 2);
    CHECK(now->size() == 6);  // ids go on counting
    const unit_id a = *now->find("a"), chunk = *now->find("a#0-13"), c = *now->find("c");
    CHECK(a == unit_id{0});
    CHECK(chunk == unit_id{1});
    CHECK(c == unit_id{4});
    CHECK(now->kind(chunk) == unit_kind::chunk);
    CHECK(now->parent(chunk) == a);
    CHECK(now->parent(*now->find("c#0-4")) == c);
    CHECK(now->title(a) == "A");
    CHECK(now->summary(a) == "s");
    CHECK(now->text(chunk) == "one two three");
    CHECK(now->span(chunk) == byte_span{0, 13});
    CHECK(now->headings(a).size() == 1);
    CHECK(now->links(chunk).size() == 1);
    CHECK(now->value(chunk, "year") == field_value(2020));
    CHECK((*now)[c].article().id() == "c");
    CHECK_FALSE(now->find("b"));
    for (const std::size_t gone : {2u, 3u, 6u, 1000u})
        CHECK(code_of([&] { now->text(unit_at(gone)); }) == "corpus.unknown_unit");
    CHECK(now->values("year").size() == 1);
    CHECK(code_of([&] { now->values("nothing"); }) == "metadata.unknown_field");
    std::string ids;
    now->for_each_article([&](unit_id unit) { ids += now->id(unit); });
    CHECK(ids == "ac");
}

TEST_CASE("whoever walks over all units goes around the ids that are nobody's, before a merge and after") {
    living::library kb({}, living::layers(), living::options(1));
    kb.upsert({.id = "a", .text = "one two", .links = {{"c"}}});
    kb.upsert({.id = "b", .text = "four"});
    kb.upsert({.id = "c", .text = "five two"});
    kb.remove("b");
    for (const bool merged : {false, true}) {
        INFO("merged: " << merged);
        if (merged) REQUIRE(kb.merge());
        const auto now = kb.now();
        std::string ids;
        source_ref(*now).for_each_unit([&](unit_id unit) { ids += std::string(now->id(unit)) + ' '; });
        CHECK(ids == "a a#0-7 c c#0-8 ");
        CHECK_FALSE(now->contains(unit_at(2)));
        CHECK_FALSE(now->contains(unit_at(now->size())));

        const auto search = hierarchical({.beams = {1}}, level{unit_kind::article, lexical(now->bm25(1))},
                                         level{unit_kind::chunk, lexical(now->bm25(0))});
        const auto found = search.retrieve("five two", 1);
        REQUIRE(found.size() == 1);
        CHECK(found.unit(found[0]).id() == "c#0-8");
        CHECK(detail::parts_of_units(*now).of(*now->find("a"), unit_kind::chunk).size() == 1);
        CHECK(centroids(now->vectors(), unit_kind::article).index.size() == 2);
        CHECK(unit_graph(*now).connect_links(1.0f, [&](std::string_view id) { return now->find(id); }) == 1);
        metadata_keys{*now};
    }
}

TEST_CASE("an empty generation refuses what a full one would") {
    living::library kb({}, living::layers(), living::options());
    const auto now = kb.now();
    CHECK(lexical(now->bm25()).retrieve("anything", 5).empty());
    CHECK(dense(now->vectors(), living::embedder()).retrieve("anything", 5).empty());
    CHECK(code_of([&] { lexical(now->bm25()).retrieve(query("x").where(eq("nothing", 1)), 5); }) ==
          "metadata.unknown_field");
    CHECK(code_of([&] { lexical(now->bm25()).retrieve(query("x").where(eq("year", "text")), 5); }) != "(no exception)");
}

TEST_CASE("a layer without vectors has none") {
    std::vector<layer> layers;
    layers.emplace_back(identity{}, "1", false);
    living::embedder embed;
    living::library kb(embed, std::move(layers), living::options());
    kb.upsert({.id = "a", .text = "one two"});
    CHECK(embed.counted->calls == 0);
    CHECK(lexical(kb.now()->bm25()).retrieve("two", 5).size() == 1);
    CHECK(code_of([&] { kb.now()->vectors(); }) == "generation.layer");
}
