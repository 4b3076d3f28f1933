// Public failures of BM25 implementations: idf, counting, empty texts, updates, other tenants' words. Cases 25 to 30,
// 39, 40 and 131 of the catalogue of failures this library means to be immune to.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/toy.hpp"
#include "support/words.hpp"

using namespace quarry;
using units = std::vector<std::uint32_t>;

namespace {

bm25_index index_of(const std::vector<std::string>& texts, bm25_options options = {}, analyzer words = plain()) {
    bm25_index index(std::move(words), options);
    for (std::size_t i = 0; i < texts.size(); ++i) index.add(unit_at(i), texts[i]);
    return index;
}

units found(const bm25_index& index, std::string_view question, std::size_t k = 5) {
    units out;
    for (const scored_key& k_found : index.search(question, k)) out.push_back(static_cast<std::uint32_t>(k_found.unit));
    return out;
}

float score_of(const bm25_index& index, std::string_view question, std::uint32_t unit) {
    const unit_id asked[] = {unit_id{unit}};
    return index.score({question}, asked)[0].score;
}

}  // namespace

TEST_CASE("a word in exactly half of the texts still scores") {
    // rank_bm25 29, 39, 43: ln((N - n + .5) / (n + .5)) is 0 for n = N / 2.
    const auto index = index_of({"calm sea", "storm near port", "storm over hills", "dry valley"}, {.k1 = 0.0f});
    CHECK(found(index, "storm") == units{1, 2});
    CHECK(score_of(index, "storm", 1) == Approx(.6931).margin(1e-4));  // k1 = 0 leaves the idf: ln 2
    CHECK(score_of(index, "storm", 0) == 0.0f);
    const auto two = index_of({"storm", "calm"}, {.k1 = 0.0f});
    CHECK(score_of(two, "storm", 0) == Approx(.6931).margin(1e-4));
}

TEST_CASE("a word in all texts scores above zero, and one more matching word never lowers a score") {
    // gensim 2684, duckdb 12330, rank_bm25 PR 26: negative idf.
    const auto index = index_of({"engine table alpha", "engine table beta", "engine table beta"}, {.k1 = 0.0f});
    CHECK(found(index, "engine table alpha").front() == 0);
    CHECK(score_of(index, "engine", 1) == Approx(.134).margin(1e-3));  // N = n = 3
    for (const scored_key& k : index.search("engine table alpha", 5)) CHECK(k.score > 0.0f);
    const auto one = index_of({"a text that is asked for by itself"});
    CHECK(one.search("a text that is asked for by itself", 1).front().score > 0.0f);

    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::string> texts(8);
        for (auto& text : texts)
            for (int i = 0; i < 5; ++i) text += "w" + std::to_string(random() % 6) + " ";
        const auto some = index_of(texts);
        std::string question;
        for (int i = 0; i < 6; ++i) {
            const std::string longer = question + "w" + std::to_string(i) + " ";
            for (std::uint32_t unit = 0; unit < 8; ++unit)
                CHECK(score_of(some, longer, unit) >= score_of(some, question, unit));
            question = longer;
        }
    }
}

TEST_CASE("a word is counted once a text in the document frequency, however often it stands there") {
    // Michael-JB/bm25 PR 20.
    std::string ten = "kite";
    for (int i = 0; i < 9; ++i) ten += " kite";
    const auto index = index_of({ten, "drum drum drum drum kite", "bell bell drum horn kite"}, {.b = 0.0f});
    CHECK(index.document_frequency("kite") == 3);
    const auto hits = index.search("kite", 5);
    REQUIRE(hits.size() == 3);
    CHECK(hits[0].unit == unit_id{0});
    for (const scored_key& k : hits) CHECK(k.score > 0.0f);
}

TEST_CASE("texts and questions without a word give nothing, and no error") {
    // rank_bm25 36, haystack PR 11619, bm25s 60, PR 67.
    const std::vector<std::vector<std::string>> corpora{{}, {"", ""}, {"   ", "!!!"}, {"a", ""}};
    for (std::size_t i = 0; i < corpora.size(); ++i) {
        const auto index = index_of(corpora[i]);
        for (const char* question : {"", "   ", "???"}) CHECK(index.search(question, 5).empty());
        CHECK(found(index, "a") == (i == 3 ? units{0} : units{}));
        CHECK(index.bounds({"a"}).high == (i == 3 ? index.search("a", 1).front().score : 0.0f));
        CHECK(index.average_length() == (i == 3 ? 1.0 : 0.0));
    }
}

TEST_CASE("an unknown word finds nothing, and nothing pads the list to k") {
    // bm25s 60, 91, 127; rank_bm25 29.
    const auto index = index_of({"elm", "oak", "ash", "swift heron", "swift otter"});
    CHECK(found(index, "swift") == units{3, 4});
    CHECK(score_of(index, "swift", 3) == score_of(index, "swift", 4));
    CHECK(found(index, "zzz").empty());
    CHECK(index.search("zzz swift", 5) == index.search("swift", 5));
}

TEST_CASE("a question of stop words alone finds the text that is made of them, alone and in the hybrid") {
    // context-mode PR 271, deja-vu 178.
    const corpus c = toy::corpus_of({"to be or not to be", "the cat sat"});
    const indexed<bm25_index> words{index_of({"to be or not to be", "the cat sat"}, {}, english()), c};
    CHECK(toy::ids(lexical(words).retrieve("to be or not to be", 5)).front() == "0");
    CHECK(toy::ids(lexical(words).retrieve("to be or not to be the cat", 5)) == std::vector<std::string>{"1"});

    const toy::letter_embedder embedder;
    indexed<flat_index> vectors{flat_index(26), c};
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<float> row(26);
        const std::string_view texts[] = {c.text(unit_at(i))};
        embedder.embed(role::document, texts, row);
        vectors.index.add(unit_at(i), row);
    }
    const auto found = hybrid(lexical(words), dense(vectors, embedder)).retrieve("to be or not to be", 5);
    CHECK(toy::ids(found) == std::vector<std::string>{"0", "1"});  // 1 is the vectors' own
}

TEST_CASE("empty texts change neither the order nor a score of the others") {
    // infino PR 756. The rule here: N and the average are over the keys that have words.
    const std::vector<std::string> two{"pump valve pump seal", "valve ring ring seal"};
    std::vector<std::string> hundred = two;
    hundred.resize(100);
    const auto small = index_of(two), large = index_of(hundred);
    CHECK(large.size() == 100);
    CHECK(large.counted_keys() == 2);
    CHECK(large.average_length() == 4.0);
    for (const char* question : {"pump", "valve", "ring seal", "pump ring valve"})
        CHECK(large.search(question, 5) == small.search(question, 5));
}

TEST_CASE("indexing a text again in place of itself changes nothing") {
    // mentedb PR 328.
    const std::vector<std::string> texts{"pump valve seal", "valve ring", "seal pump pump"};
    const auto fresh = index_of(texts);
    auto again = index_of(texts);
    const weighted_text first[] = {{texts[0], 1.0f}};
    for (int i = 0; i < 3; ++i) again.replace(unit_id{0}, first);
    CHECK(again.size() == 3);
    CHECK(again.document_frequency("pump") == 2);
    CHECK(again.document_frequency("valve") == 2);
    CHECK(again.average_length() == fresh.average_length());
    for (const char* question : {"pump", "valve", "seal ring pump"}) {
        CHECK(found(again, question) == found(fresh, question));
        for (std::uint32_t unit = 0; unit < 3; ++unit)
            CHECK(score_of(again, question, unit) == Approx(score_of(fresh, question, unit)).epsilon(1e-6));
    }
}

TEST_CASE("an index of a tenant's own shows nothing of the others' words, a shared one shows their frequencies") {
    // 131: elasticsearch PR 90701, plur 722, pdf-mcp 17.
    corpus c(schema{{"tenant", field_type::string}});
    for (const char* text : {"zircon report", "annual report report", "zircon mine in the annual plan"})
        c.add({.id = text, .text = text, .meta = {{"tenant", "A"}}});
    struct of_tenant {
        std::string tenant;
        key_kind kind() const { return key_kind::body; }
        unit_kind level() const { return unit_kind::article; }
        void operator()(source_ref source, unit_id unit, key_sink emit) const {
            if (source.value(unit, "tenant") == field_value(tenant))
                emit({unit, key_part::whole, std::string(source.text(unit))});
        }
    };
    const query as_a = query("zircon report").within(scope::only(eq("tenant", "A")));
    const auto scores = [&](const auto& expander) {
        const lexical_base kb = build(c, expander);
        std::vector<std::pair<unit_id, float>> out;
        for (const auto& h : lexical(kb.bm25).retrieve(as_a, 10)) out.emplace_back(h.unit, h.score);
        return out;
    };
    const auto own = scores(of_tenant{"A"}), shared = scores(identity{});
    CHECK(own.size() == 3);
    CHECK(own == shared);
    for (int i = 0; i < 1000; ++i)
        c.add({.id = std::to_string(i), .text = "zircon", .meta = {{"tenant", "B"}}});
    CHECK(scores(of_tenant{"A"}) == own);
    CHECK(scores(identity{}) != shared);
}
