// The laws of retrievers, for those that go through units above or below what they return.
//
// Beams are as wide as the source here: with narrow ones the first n hits depend on how many are asked for, which is
// what a beam is.
#include <random>
#include <string>
#include <vector>

#include "laws/retriever.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/rank/auto_merge.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/raptor.hpp"
#include "support/catch.hpp"
#include "support/words.hpp"

using namespace quarry;

namespace {

// Counts w0 to w7, plus one everywhere; without state, so safe from threads.
struct counting_embedder {
    std::size_t dimension() const { return 8; }
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (std::size_t j = 0; j < 8; ++j) {
                float& x = rows[i * 8 + j] = .25f;
                for (std::size_t at = 0; at + 1 < texts[i].size(); ++at)
                    if (texts[i][at] == 'w' && texts[i][at + 1] == static_cast<char>('0' + j)) x += 1.0f;
            }
    }
};

// Twenty articles of three chunks each, all with a bucket of their own, and summaries over all chunks.
struct grown_world {
    corpus articles{schema{{"bucket", field_type::integer}}};
    knowledge_base of_articles, of_chunks, of_summaries;

    static corpus& fill(corpus& c) {
        std::mt19937 random(2);
        const auto bucket = [&] { return metadata{{"bucket", static_cast<int>(random() % 100)}}; };
        for (int i = 0; i < 20; ++i) {
            std::string text;
            for (int w = 0; w < 12; ++w) text += (w == 0 ? "w" : " w") + std::to_string(random() % 10);
            const unit_id a = c.add({.id = "article " + std::to_string(i), .text = text, .meta = bucket()});
            for (std::size_t at = 0; at < 36; at += 12)
                c.add_part(a, {.span = {at, at + 11}, .title = {}, .id = {}, .meta = bucket()});
        }
        raptor(counting_embedder{}, extracts{}, {.across_articles = true}).grow(c);
        return c;
    }
    static build_options options() { return {.words = toy::whitespace()}; }

    grown_world()
        : of_articles(build(fill(articles), identity{}, counting_embedder{}, options())),
          of_chunks(build(articles, identity{.of = unit_kind::chunk}, counting_embedder{}, options())),
          of_summaries(build(articles, identity{.of = unit_kind::generated}, counting_embedder{}, options())) {}
};

const grown_world& grown_here() {
    static const grown_world w;
    return w;
}

const std::vector<std::string> asked_of_trees{"w1 w2", "w3 w3 w9", "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9", "nobody knows"};

auto tree_words() { return lexical(grown_here().of_chunks.bm25); }
auto tree_meaning() { return dense(grown_here().of_chunks.vectors, counting_embedder{}); }
auto top_words() { return lexical(grown_here().of_summaries.bm25); }
auto top_meaning() { return dense(grown_here().of_summaries.vectors, counting_embedder{}); }

}  // namespace

TEST_CASE("laws: raptor, collapsed and by layers") {
    REQUIRE(grown_here().of_summaries.report.units > 5);
    laws::retriever(raptor_collapsed(tree_words(), top_words()), asked_of_trees);
    laws::retriever(raptor_collapsed(tree_meaning(), top_meaning()), asked_of_trees);
    laws::retriever(raptor_layered(tree_meaning(), top_meaning(), {.beam = 1000}), asked_of_trees);
}

TEST_CASE("laws: hierarchical, as a blend and with beams") {
    const auto files = level{unit_kind::article, lexical(grown_here().of_articles.bm25)};
    laws::retriever(hierarchical({}, files, level{unit_kind::chunk, tree_words()}), asked_of_trees);
    laws::retriever(hierarchical({}, files, level{unit_kind::chunk, tree_meaning()}), asked_of_trees);
    laws::retriever(
        hierarchical({.beams = {1000}, .weights = {.5f, .5f}},
                     level{unit_kind::article, dense(grown_here().of_articles.vectors, counting_embedder{})},
                     level{unit_kind::chunk, tree_meaning()}),
        asked_of_trees);
}

TEST_CASE("laws: auto_merge") {
    laws::retriever(tree_words() | auto_merge({.fetch = 1000}), asked_of_trees, {.filters_commute = false});
    laws::retriever(tree_meaning() | auto_merge({.above = .4f, .fetch = 1000}), asked_of_trees,
                    {.filters_commute = false});
}
