// Public failures of article retrieval over smaller keys: cases 93 to 97 of the catalogue.
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"
#include "support/words.hpp"

using namespace quarry;
using names = std::vector<std::string>;

namespace {

const auto east = make_embedder(2, [](std::string_view) { return std::vector<float>{1.0f, 0.0f}; });

std::vector<float> at_cosine(float cosine) { return {cosine, std::sqrt(1 - cosine * cosine)}; }

}  // namespace

TEST_CASE("an article that owns the best keys does not push the others out") {
    // langchainjs PR 2423, langchain 17583 and 17589: 300, 500 and 200 chunks, the 25 best of article 1.
    const corpus c = toy::corpus_of({"one", "two", "three"});
    flat_index index(2);
    std::mt19937 random(1);
    for (int i = 0; i < 25; ++i) index.add(unit_id{0}, at_cosine(.99f - .001f * static_cast<float>(i)));
    const auto fill = [&](std::uint32_t unit, int chunks) {
        for (int i = 0; i < chunks; ++i)
            index.add(unit_id{unit}, at_cosine(.9f * static_cast<float>(random() % 1000) / 1000));
    };
    fill(0, 275), fill(1, 500), fill(2, 200);
    index.add(unit_id{1}, at_cosine(.92f));
    index.add(unit_id{2}, at_cosine(.91f));
    CHECK(toy::ids(whole_article(dense(index, source_ref(c), east)).retrieve("q", 3)) == names{"0", "1", "2"});
    CHECK(toy::ids(dense(index, source_ref(c), east).retrieve("q", 3)) == names{"0", "1", "2"});

    // An index that answers with at most twenty keys however many it is asked for, unless for all of them.
    struct twenty_at_a_time {
        using scale = cosine_scale;
        const flat_index* index;
        std::shared_ptr<std::size_t> rounds = std::make_shared<std::size_t>(0);
        std::size_t size() const { return index->size(); }
        std::size_t dimension() const { return 2; }
        bool approximate() const { return true; }
        std::size_t most_keys_of_a_unit() const { return 1; }  // and it does not know how many keys a unit has
        bool vector_of(unit_id u, std::span<float> row) const { return index->vector_of(u, row); }
        std::vector<scored_key> search(dense_probe p, std::size_t n, const accept& a) const {
            ++*rounds;
            return index->search(p, n >= size() ? n : std::min(n, std::size_t{20}), a);
        }
    };
    const twenty_at_a_time engine{&index};
    CHECK(toy::ids(whole_article(dense(engine, source_ref(c), east)).retrieve("q", 3)) == names{"0", "1", "2"});
    CHECK(*engine.rounds <= 12);  // doubling
}

TEST_CASE("a floor ends the search and never lets anything below it through") {
    // langchainjs 4599: 50 chunks, three above .9.
    corpus c;
    flat_index index(2);
    for (int i = 0; i < 50; ++i) {
        c.add({.id = std::to_string(i), .text = "x"});
        index.add(unit_at(static_cast<std::size_t>(i)), at_cosine(i < 3 ? .95f : .5f - .005f * static_cast<float>(i)));
    }
    const auto leaf = dense(index, source_ref(c), east);
    const auto with_floor = [&](float floor, std::size_t k) {
        trace t;
        const auto found = whole_article(leaf, {.floor = floor}).retrieve(query("q").traced(t), k);
        CHECK_FALSE(t.find(trace_code::widened));
        return found.size();
    };
    CHECK(with_floor(.9f, 5) == 3);
    CHECK(with_floor(2.0f, 5) == 0);
    CHECK(with_floor(-1.0f, 5) == 5);
    CHECK(with_floor(.9f, 100) == 3);
    CHECK(code_of([] { static_cast<void>(at_least<cosine_scale>{std::numeric_limits<float>::quiet_NaN()}); }) ==
          "threshold.nan");
    CHECK((leaf | at_least<cosine_scale>{.9f}).retrieve("q", 5).size() == 3);
}

TEST_CASE("nearer is higher in every retriever, and a floor keeps what equals it") {
    // langchain 11386 and 10864, langchain-community 427, hnswlib 456: 1 - x taken once too often.
    const corpus c = toy::corpus_of({"same", "sixty degrees", "orthogonal", "opposite"});
    const std::vector<std::vector<float>> rows{{1, 0}, {.5f, std::sqrt(.75f)}, {0, 1}, {-1, 0}};
    flat_index exact(2);
    for (std::size_t i = 0; i < 4; ++i) exact.add(unit_at(i), rows[i]);
    const auto leaf = dense(exact, source_ref(c), east);
    const auto found = leaf.retrieve("q", 4);
    const double expected[] = {1, .5, 0, -1};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(found[i].unit == unit_at(i));
        CHECK(found[i].score == Approx(expected[i]).margin(1e-6));
    }
    const float half = found[1].score;
    CHECK((leaf | at_least<cosine_scale>{half}).retrieve("q", 9).size() == 2);
    CHECK((leaf | at_least<cosine_scale>{.6f}).retrieve("q", 9).size() == 1);
    CHECK(whole_article(leaf, {.floor = half}).retrieve("q", 9).size() == 2);
    CHECK(whole_article(leaf, {.floor = .6f}).retrieve("q", 9).size() == 1);
}

TEST_CASE("an article is its id, and not the address its parts were found at") {
    // typesense 963: page#a and page#b counted as two pages.
    corpus c(schema{{"url", field_type::string}});
    c.add({.id = "foo", .text = "bar quux", .meta = {{"url", "https://a/foo"}}});
    c.add({.id = "other", .text = "bar", .meta = {{"url", "https://a/foo"}}});
    bm25_index words(toy::whitespace());
    words.add(c.add_part(unit_id{0}, {.span = {0, 3}, .meta = {{"url", "https://a/foo#bar"}}}), "bar");
    words.add(c.add_part(unit_id{0}, {.span = {4, 8}, .meta = {{"url", "https://a/foo#quux"}}}), "quux bar");
    words.add(unit_id{0}, "bar quux");
    words.add(unit_id{1}, "bar");
    const auto found = whole_article(lexical(words, source_ref(c))).retrieve("bar", 9);
    CHECK(toy::ids(found) == names{"foo", "other"});
    // Without an id there is no article.
    CHECK(code_of([&] { c.add({.id = "", .text = "nameless"}); }) == "corpus.empty_id");
}

TEST_CASE("documents with equal text are both kept, unless asked otherwise") {
    // llama_index 14228.
    corpus c(schema{{"lang", field_type::string}});
    c.add({.id = "en", .text = "menu", .meta = {{"lang", "en"}}});
    c.add({.id = "fr", .text = "menu", .meta = {{"lang", "fr"}}});
    bm25_index words(toy::whitespace());
    for (const unit_id unit : {unit_id{0}, unit_id{1}}) words.add(unit, c.text(unit));
    const auto search = lexical(words, source_ref(c));
    CHECK(toy::ids(search.retrieve("menu", 5)) == names{"en", "fr"});
    CHECK(toy::ids(search.retrieve(query("menu").where(eq("lang", "fr")), 5)) == names{"fr"});
    CHECK(toy::ids(whole_article(search).retrieve("menu", 5)) == names{"en", "fr"});
    CHECK(toy::ids((search | distinct_texts()).retrieve("menu", 5)) == names{"en"});
    CHECK(toy::ids((search | distinct_texts()).retrieve(query("menu").where(eq("lang", "fr")), 5)) == names{"fr"});
}
