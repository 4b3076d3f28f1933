// Contexts from structure on real questions about code, against published figures.
//
// Mean recall over the right chunks at 5, 10 and 20, which the publisher calls Pass@k. Published, with embeddings of a large
// encoder and contexts written by a language model: .809/.872/.901 without contexts, .864/.928/.938 with them, .864/.932/.950
// with BM25 besides. The floors below are reached by titles, scopes and names alone.
#include "quarry/expand/contextual.hpp"

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "data/sets.hpp"

using namespace quarry;

namespace {

const std::string name = "anthropic_contextual";

std::vector<nlohmann::json> lines(const std::string& file) {
    std::ifstream in(data::path_of(name + "/" + file));
    std::vector<nlohmann::json> out;
    for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
    return out;
}

// Files as articles, the chunks that the set has of them as parts.
struct code_base {
    corpus files;
    std::vector<unit_id> chunks;  // in the set's order
    judged_set set = read_judged_set(data::path_of(name));

    code_base() {
        for (const nlohmann::json& file : lines("docs.jsonl"))
            files.add({.id = file.at("id"), .title = file.at("title"), .text = file.at("text")});
        std::map<std::string, std::size_t> from;
        for (const nlohmann::json& chunk : lines("corpus.jsonl")) {
            const std::string id = chunk.at("id"), text = chunk.at("text"), file = id.substr(0, id.find("_chunk_"));
            const unit_id article = *files.find(file);
            std::size_t at = files.text(article).find(text, from[file]);
            if (at == std::string::npos) at = files.text(article).find(text);
            REQUIRE(at != std::string::npos);
            from[file] = at + 1;
            chunks.push_back(files.add_part(article, {.span = {at, at + text.size()}, .id = id}));
        }
    }

    indexed<flat_index> vectors(const std::string& file) const {
        std::vector<std::string> ids;
        for (const unit_id chunk : chunks) ids.emplace_back(files.id(chunk));
        const auto given = given_vectors::read(data::path_of(name + "/" + file), std::move(ids));
        flat_index index(given.dimension());
        index.add(chunks, given.rows());
        return {std::move(index), files};
    }
    given_vectors question_vectors() const {
        std::map<std::string, std::string> texts;
        for (const judged_query& q : set.queries) texts.emplace(q.id, q.text);
        std::vector<std::string> rows;
        for (const auto& id : data::json_of(name + "/queries.minilm.ids.json")) rows.push_back(texts.at(id));
        return given_vectors::read(data::path_of(name + "/queries.minilm.384.f16"), std::move(rows));
    }

    template <class Retriever>
    evaluation evaluated(const Retriever& search) const {
        rankings found;
        for (const judged_query& q : set.queries)
            if (set.judged.contains(q.id)) found[q.id] = ranking_of(search.retrieve(q.text, 20));
        return evaluation(found, set.judged);
    }
};

build_options for_code() { return {.words = code(), .bm25 = {.k1 = 1.2f, .b = .75f}}; }

// Says what was measured, and holds it to the floor.
void check(const std::string& what, const evaluation& e, double at5, double at10, double at20) {
    const double r5 = e.mean(recall_at{5}), r10 = e.mean(recall_at{10}), r20 = e.mean(recall_at{20});
    WARN(what << ": recall at 5/10/20 " << r5 << " / " << r10 << " / " << r20);
    CHECK(r5 >= at5);
    CHECK(r10 >= at10);
    CHECK(r20 >= at20);
}

}  // namespace

TEST_CASE("contexts from structure bring BM25 and its fusion with a small encoder near contexts written by a model") {
    if (!data::measured(name + "/docs.jsonl", data::weight::heavy)) return;
    const code_base c;
    const lexical_base plain_words = build(c.files, identity{.of = unit_kind::chunk}, for_code());
    const lexical_base with_names = build(c.files, contextual(structure{}), for_code());
    const double before = c.evaluated(lexical(plain_words.bm25)).mean(recall_at{20});
    const auto words = lexical(with_names.bm25);
    const evaluation lexical_alone = c.evaluated(words);
    check("BM25, structure", lexical_alone, .815, .895, .925);
    CHECK(lexical_alone.mean(recall_at{20}) > before);
    const auto fused = [&](const char* file, double at5, double at10, double at20) {
        const indexed<flat_index> vectors = c.vectors(file);
        check(std::string("bounded fusion with ") + file,
              c.evaluated(hybrid(words, dense(vectors, c.question_vectors()))), at5, at10, at20);
    };
    // Vectors of the bare chunks know nothing of the names: at 5 they are a question below those that do.
    fused("docs.minilm.384.f16", .820, .895, .935);
    fused("docs.minilm.structure.384.f16", .825, .895, .935);
}
