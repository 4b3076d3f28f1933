// The laws of retrievers, applied to every leaf, every stage, and pipelines of them.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "laws/retriever.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/probe/decompose.hpp"
#include "quarry/rank/boost.hpp"
#include "quarry/rank/compress.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/rank/similarity.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/graph.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/learned_sparse.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"
#include "quarry/retrieve/step_by_step.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"
#include "support/toy_engine.hpp"
#include "support/words.hpp"

using namespace quarry;

namespace {

// Keys of a unit: its words, and each half of them.
struct halves {
    unit_kind of;
    key_kind kind() const { return key_kind::body; }
    unit_kind level() const { return of; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        const std::string text(source.text(unit));
        emit({unit, key_part::whole, text});
        if (text.size() < 2) return;
        emit({unit, key_part::phrase, text.substr(0, text.size() / 2)});
        emit({unit, key_part::phrase, text.substr(text.size() / 2)});
    }
};

// Counts letters of w0 to w7, plus one everywhere; without state, so safe from threads.
struct word_embedder {
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

// A judge by a hash of the passage, with few values, so that there are ties.
struct hash_judge {
    std::vector<float> operator()(std::string_view, std::span<const std::string_view> passages) const {
        std::vector<float> scores;
        for (const std::string_view p : passages) {
            std::uint32_t hash = 7;
            for (const char c : p) hash = hash * 31 + static_cast<std::uint8_t>(c);
            scores.push_back(static_cast<float>(hash % 9) - 4);
        }
        return scores;
    }
};

// Puts the last passage first.
struct reverser {
    std::optional<std::vector<std::size_t>> order(request&, std::span<const std::string_view> passages) const {
        std::vector<std::size_t> out;
        for (std::size_t i = passages.size(); i-- > 0;) out.push_back(i);
        return out;
    }
};

struct more_words {
    probed_query operator()(question& q) const { return {.probes = {{std::string(q.text()) + " w5"}, {"w6 w7", .5f}}}; }
};

struct imagining {
    probed_query operator()(question& q) const {
        return {.probes = {{std::string(q.text()), 1.0f, {"w4 w4 w5", "w0"}}}};
    }
};

// Splits every question into the same two, of which the second needs the answer of the first.
struct in_parts {
    std::string operator()(std::string_view prompt) const {
        return prompt.find("split a question") != std::string_view::npos ? "Which is w1?\nWhere is #1 in w2?" : "w3";
    }
};

// Words as terms, those with a larger digit heavier.
term_weights letters_as_terms(role, std::string_view text) {
    term_weights out;
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
        if (text[i] == 'w') out.push_back({std::string(text.substr(i, 2)), .5f + .25f * static_cast<float>(text[i + 1] - '0')});
    return out;
}

// Says no to every passage with a w0 in it.
struct short_minded {
    std::string operator()(std::string_view prompt) const {
        return prompt.find("w0", prompt.find("<passage")) != std::string_view::npos ? "NO" : "YES";
    }
};

// Thirty articles of three chunks each, in no particular order of ids; articles and chunks have a bucket of their own.
struct world {
    corpus articles{schema{{"bucket", field_type::integer}}};
    toy::engine engine{};
    knowledge_base of_articles, of_chunks;

    static corpus& fill(corpus& c) {
        std::mt19937 random(1);
        const auto bucket = [&] { return metadata{{"bucket", static_cast<int>(random() % 100)}}; };
        for (int i = 0; i < 30; ++i) {
            std::string text;
            for (int w = 0; w < 12; ++w) text += (w == 0 ? "w" : " w") + std::to_string(random() % 10);
            c.add({.id = "article " + std::to_string(i), .text = text, .meta = bucket()});
        }
        for (std::uint32_t i = 0; i < 90; ++i) {
            const unit_id article{(i * 7) % 30};
            const std::size_t begin = 12 * (i / 30);
            c.add_part(article, {.span = {begin, begin + 11}, .meta = bucket()});
        }
        return c;
    }
    static build_options options() { return {.words = toy::whitespace()}; }

    world()
        : of_articles(build(fill(articles), halves{unit_kind::article}, word_embedder{}, options())),
          of_chunks(build(articles, halves{unit_kind::chunk}, word_embedder{}, options())) {
        for (std::size_t i = 0; i < 30; ++i) {
            const unit_id unit = unit_at(i);
            std::vector<float> row(8);
            const std::string_view texts[] = {articles.text(unit)};
            word_embedder{}.embed(role::document, texts, row);
            engine.put({.id = std::string(articles.id(unit)),
                        .text = std::string(articles.text(unit)),
                        .vector = row,
                        .fields = {{"bucket", *articles.value(unit, "bucket")}}});
        }
    }
};

const world& here() {
    static const world w;
    return w;
}

const std::vector<std::string> questions{"w1 w2", "w3 w3 w9", "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9", "nobody knows"};

auto words() { return lexical(here().of_articles.bm25); }
auto meaning() { return dense(here().of_articles.vectors, word_embedder{}); }
auto chunk_words() { return lexical(here().of_chunks.bm25); }
auto chunk_meaning() { return dense(here().of_chunks.vectors, word_embedder{}); }

// Another space, in which every third article has a row: as pictures have that some articles come with.
struct picture_embedder {
    std::size_t dimension() const { return 3; }
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (std::size_t j = 0; j < 3; ++j)
                rows[3 * i + j] = 1.0f + static_cast<float>((texts[i].size() * (7 + 4 * j) + j) % 5);
    }
};

const indexed<flat_index>& pictures() {
    static const indexed<flat_index> index = [] {
        const corpus& c = here().articles;
        indexed<flat_index> out{flat_index(3), c};
        for (std::uint32_t i = 0; i < 30; i += 3) {
            std::vector<float> row(3);
            const std::string_view texts[] = {c.text(unit_id{i})};
            picture_embedder{}.embed(role::document, texts, row);
            row[i % 2] += static_cast<float>(i);
            out.index.add(unit_id{i}, row);
        }
        return out;
    }();
    return index;
}

}  // namespace

TEST_CASE("laws: lexical") {
    laws::retriever(words(), questions);
    laws::retriever(chunk_words(), questions);
}

TEST_CASE("laws: dense") {
    laws::retriever(meaning(), questions);
    laws::retriever(chunk_meaning(), questions);
}

TEST_CASE("laws: leaves over an engine elsewhere") {
    const world& w = here();
    const toy::engine_words engine_words(w.engine, w.articles);
    const toy::engine_vectors engine_vectors(w.engine, w.articles, 8);
    laws::retriever(lexical(engine_words, source_ref(w.articles)), questions);
    laws::retriever(dense(engine_vectors, source_ref(w.articles), word_embedder{}), questions);
    laws::retriever(fuse(rrf{}, words(), dense(engine_vectors, source_ref(w.articles), word_embedder{})), questions,
                    {.prefix_up_to = 1000});
}

TEST_CASE("laws: fusion by ranks and by relative scores") {
    laws::retriever(fuse(rrf{}, words(), meaning()), questions, {.prefix_up_to = 1000});
    laws::retriever(fuse(rrf{.k = 1.0f, .weights = {.3f, .7f}, .fetch = 12}, words(), meaning()), questions,
                    {.prefix_up_to = 12});
    laws::retriever(fuse(convex{.weights = {.2f, .8f}}, words(), meaning()), questions, {.prefix_up_to = 1000});
    laws::retriever(fuse(relative_score{}, words(), meaning()), questions, {.prefix_up_to = 1000});
    laws::retriever(fuse(distribution_based{}, words(), meaning()), questions, {.prefix_up_to = 1000});
}

TEST_CASE("laws: indexes of several kinds of content, each with its own model") {
    laws::retriever(fuse(rrf{}, words(), meaning(), dense(pictures(), picture_embedder{})), questions,
                    {.prefix_up_to = 1000});
}

TEST_CASE("laws: bounded fusion") {
    laws::retriever(hybrid(words(), meaning()), questions);
    laws::retriever(fuse(bounded{.fetch = 1}, chunk_meaning(), chunk_words()), questions);
    laws::retriever(fuse(bounded{.weights = {.5f, 1.0f, .2f}}, words(), meaning(), words()), questions);
}

TEST_CASE("laws: floors and caps") {
    laws::retriever(meaning() | at_least<cosine_scale>{.8f}, questions);
    laws::retriever(chunk_meaning() | per_article(1), questions, {.filters_commute = false});
    laws::retriever(chunk_words() | per_article(2), questions, {.filters_commute = false});
    laws::retriever(meaning() | distinct_texts(), questions);
}

TEST_CASE("laws: lift") {
    laws::retriever(chunk_words() | lift(unit_kind::article), questions, {.filters_commute = false});
    laws::retriever(chunk_meaning() | lift(unit_kind::article), questions, {.filters_commute = false});
}

TEST_CASE("laws: rerank") {
    laws::retriever(words() | rerank(hash_judge{}, {.fetch = 200}), questions);
    laws::retriever(hybrid(words(), meaning()) | rerank(hash_judge{}, {.fetch = 8}), questions, {.prefix_up_to = 8});
}

TEST_CASE("laws: rerank_first") {
    laws::retriever(words() | rerank_first(hash_judge{}, {.first = 8}), questions);
    laws::retriever(hybrid(words(), meaning()) | rerank_first(hash_judge{}, {.first = 5, .trust = .4f}), questions);
    laws::retriever(words() | rerank_first(reverser{}, {.first = 6}), questions);
}

TEST_CASE("laws: probed and narrowed") {
    laws::retriever(words() | probed_by(more_words{}), questions, {.prefix_up_to = 1000});
    laws::retriever(meaning() | probed_by(imagining{}), questions, {.prefix_up_to = 1000});
    laws::retriever(meaning() | narrowed_by(imagining{}), questions);
    laws::retriever(chunk_words() | narrowed_by(more_words{}), questions);
    laws::retriever(hybrid(words(), meaning()) | step_by_step(decompose(in_parts{}), in_parts{}), questions,
                    {.prefix_up_to = 1000});
    laws::retriever(hybrid(words(), meaning()) | probed_by<bounded>(more_words{}), questions);
}

TEST_CASE("laws: diversify") {
    laws::retriever(meaning() | diversify(here().of_articles.vectors, mmr{.fetch = 200}), questions);
    laws::retriever(hybrid(words(), meaning()) | diversify(here().of_articles.vectors, mmr{.lambda = .2f, .fetch = 9}),
                    questions, {.prefix_up_to = 9});
}

TEST_CASE("laws: stages that drop or weigh by vectors, metadata and a model's word") {
    const world& w = here();
    laws::retriever(words() | without_near_copies(w.of_articles.vectors, {.above = .98f}), questions,
                    {.filters_commute = false});
    laws::retriever(meaning() | only_similar(w.of_articles.vectors, {.above = .8f}), questions);
    laws::retriever(words() | boost(popularity{.field = "bucket", .weight = .5f}), questions, {.prefix_up_to = 100});
    laws::retriever(words() | only_relevant(short_minded{}, {.first = 3, .most = 1000}), questions);
    laws::retriever(words() | diversify(w.of_articles.vectors, word_embedder{}, {.fetch = 200, .clamp = true}),
                    questions);
}

TEST_CASE("laws: learned_sparse") {
    static const indexed<sparse_index> terms = [] {
        indexed<sparse_index> out{sparse_index(), here().articles};
        for (std::size_t i = 0; i < 30; ++i)
            out.index.add(unit_at(i), letters_as_terms(role::document, here().articles.text(unit_at(i))));
        return out;
    }();
    laws::retriever(learned_sparse(terms, letters_as_terms), questions);
    laws::retriever(fuse(rrf{}, learned_sparse(terms, letters_as_terms), words()), questions, {.prefix_up_to = 1000});
}

TEST_CASE("laws: graph") {
    static const unit_graph graph = [] {
        unit_graph g(here().articles);
        for (std::uint32_t i = 0; i < 30; ++i) g.connect(unit_id{i}, unit_id{(i * 11 + 3) % 30}, 1.0f + static_cast<float>(i % 3));
        return g;
    }();
    laws::retriever(words() | walk(graph, {.hops = 2, .seeds = 5}), questions, {.filters_commute = false});
    laws::retriever(meaning() | pagerank(graph, {.seeds = 5}), questions, {.filters_commute = false});
}

TEST_CASE("laws: whole_article") {
    laws::retriever(whole_article(words()), questions);
    laws::retriever(whole_article(chunk_meaning(), {.floor = .9f}), questions, {.filters_commute = false});
    laws::retriever(whole_article(meaning(), {.most = 5}), questions, {.most = 5});
    laws::retriever(whole_article(meaning(), chunk_words()), questions,
                    {.prefix_up_to = 1000, .filters_commute = false});
}

TEST_CASE("laws: any_retriever and whole pipelines") {
    laws::retriever(any_retriever(words()), questions);
    laws::retriever(any_retriever(fuse(rrf{}, any_retriever(words()), any_retriever(meaning()))), questions,
                    {.prefix_up_to = 1000});
    laws::retriever(fuse(rrf{}, chunk_words(), chunk_meaning()) | rerank(hash_judge{}, {.fetch = 100}) |
                        lift(unit_kind::article) | distinct_texts(),
                    questions, {.filters_commute = false});
}

TEST_CASE("laws: a retriever of a user's own") {
    toy::scored_units hits;
    for (std::uint32_t unit = 0; unit < 25; ++unit) hits.emplace_back(unit, static_cast<float>(unit % 6));
    const auto own = toy::listed<bm25_scale>(here().articles, toy::in_order(hits));
    laws::retriever(own, questions);
}
