// Contexts from structure on real questions about code, against published figures.
//
// Mean recall over the right chunks at 5, 10 and 20, which the publisher calls Pass@k. Published, with embeddings of a large
// encoder and contexts written by a language model: .809/.872/.901 without contexts, .864/.928/.938 with them, .864/.932/.950
// with BM25 besides. The floors below are reached by titles, scopes and names alone.
#include "quarry/expand/contextual.hpp"

#include "data/code_base.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

TEST_CASE("contexts from structure bring BM25 and its fusion with a small encoder near contexts written by a model") {
    if (!data::measured("anthropic_contextual/docs.jsonl", data::weight::heavy)) return;
    const data::code_base c;
    const lexical_base plain_words = build(c.files, identity{.of = unit_kind::chunk}, data::for_code());
    const lexical_base with_names = build(c.files, contextual(structure{}), data::for_code());
    const double before = c.evaluated(lexical(plain_words.bm25)).mean(recall_at{20});
    const auto words = lexical(with_names.bm25);
    const evaluation lexical_alone = c.evaluated(words);
    data::check_recall("BM25, structure", lexical_alone, .815, .895, .925);
    CHECK(lexical_alone.mean(recall_at{20}) > before);
    const auto fused = [&](const char* file, double at5, double at10, double at20) {
        const indexed<flat_index> vectors = c.vectors(file);
        data::check_recall(std::string("bounded fusion with ") + file,
                           c.evaluated(hybrid(words, dense(vectors, c.question_vectors()))), at5, at10, at20);
    };
    // Vectors of the bare chunks know nothing of the names: at 5 they are a question below those that do.
    fused("docs.minilm.384.f16", .820, .895, .935);
    fused("docs.minilm.structure.384.f16", .825, .895, .935);
}
