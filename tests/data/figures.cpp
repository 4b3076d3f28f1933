// Published and reference figures, reached through the public pipeline.
//
// `minilm`, `rrf60`: hybrid_minilm_reference.json of each set (exact cosine of the same rows; BM25 .9/.4 with English
// analysis and Lucene's lengths; reciprocal rank fusion of the two first-1000 lists).
// `bounded`: the same vectors and BM25, fused as b + c - .75 b c; computed for this library before it was written.
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "data/sets.hpp"

using namespace quarry;

namespace {

// Measures BM25, dense and hybrid retrieval of one set: one build for all.
struct expected_figures {
    bool references = false;  // compare with the reference file's rows
    double bounded = 0.0;     // nDCG@10
};

void check(const std::string& name, data::weight weight, const expected_figures& expected) {
    if (!data::measured(name, weight)) return;
    const data::collection set(name);
    const lexical_base kb = build(set.articles, identity{});
    const indexed<flat_index> vectors{set.article_vectors(), set.articles};
    const auto words = lexical(kb.bm25);
    const auto meaning = dense(vectors, set.question_vectors());

    if (expected.references) {
        const nlohmann::json reference = data::json_of(name + "/hybrid_minilm_reference.json");
        const evaluation by_vectors = set.evaluated(meaning, 1000);
        for (const auto& [measure, value] : reference.at("minilm").items()) {
            INFO(name << ", dense: " << measure);
            CHECK(data::measure(by_vectors, measure) == data::near(value, .0005));
        }
        const double rrf60 = set.evaluated(hybrid(words, meaning, rrf{}), 10).mean(ndcg_at{10});
        INFO(name << ", reciprocal rank fusion");
        CHECK(rrf60 == data::near(reference.at("rrf60").at("nDCG@10"), .005));
    }
    INFO(name << ", bounded fusion");
    CHECK(set.evaluated(hybrid(words, meaning), 10).mean(ndcg_at{10}) == data::near(expected.bounded, .005));
}

}  // namespace

TEST_CASE("BM25 on SciFact reaches what Anserini publishes") {
    if (!data::measured("scifact", data::weight::heavy)) return;
    const data::collection set("scifact");
    const lexical_base kb = build(set.articles, identity{}, {.bm25 = {.k1 = 0.9f, .b = 0.4f, .lucene_lengths = true}});
    const evaluation e = set.evaluated(lexical(kb.bm25), 1000);
    CHECK(e.size() == 300);
    CHECK(e.mean(ndcg_at{10}) == data::near(.6789, .003));
    CHECK(e.mean(recall_at{100}) == data::near(.9253, .003));
    CHECK(e.mean(recall_at{1000}) == data::near(.9767, .003));
}

TEST_CASE("scifact: dense, rank fusion and bounded fusion have their figures") {
    check("scifact", data::weight::heavy, {.references = true, .bounded = .735});
}
TEST_CASE("cranfield: dense, rank fusion and bounded fusion have their figures") {
    check("cranfield", data::weight::heavy, {.references = true, .bounded = .573});
}
TEST_CASE("anthropic_docs: dense, rank fusion and bounded fusion have their figures") {
    check("anthropic_docs", data::weight::light, {.references = true, .bounded = .784});
}
TEST_CASE("xquad_en: dense, rank fusion and bounded fusion have their figures") {
    check("xquad_en", data::weight::heavy, {.references = true, .bounded = .979});
}
TEST_CASE("tickets: dense, rank fusion and bounded fusion have their figures") {
    check("tickets", data::weight::light, {.references = true, .bounded = .754});
}
TEST_CASE("handbook: bounded fusion has its figure") { check("handbook", data::weight::heavy, {.bounded = .635}); }
TEST_CASE("movies: bounded fusion has its figure") { check("movies", data::weight::heavy, {.bounded = .405}); }
TEST_CASE("anthropic_contextual: bounded fusion has its figure") {
    check("anthropic_contextual", data::weight::heavy, {.bounded = .717});
}

TEST_CASE("bounded fusion does not depend on how deep is asked") {
    if (!data::measured("tickets")) return;
    const data::collection set("tickets");
    const lexical_base kb = build(set.articles, identity{});
    const indexed<flat_index> vectors{set.article_vectors(), set.articles};
    const auto search = hybrid(lexical(kb.bm25), dense(vectors, set.question_vectors()));
    CHECK(set.evaluated(search, 5).mean(ndcg_at{5}) == set.evaluated(search, 68).mean(ndcg_at{5}));
}
