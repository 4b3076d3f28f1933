// What a unit is part of, and what is said of it, on real questions.
//
// Measured elsewhere, by a script over the same chunks, BM25 1.2/.75 with identifiers split: recall at 20 .889 flat,
// .777 with a beam of one file, .908 with .3 of the file's score. Published for anthropic_docs with a large encoder:
// recall at 3 .66, and .71 with summaries indexed.
#include "quarry/retrieve/hierarchical.hpp"

#include "data/code_base.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

TEST_CASE("a share of the file's score helps its chunks, and a beam of one file does harm") {
    if (!data::measured("anthropic_contextual/docs.jsonl", data::weight::heavy)) return;
    const data::code_base c;
    const lexical_base files = build(c.files, identity{}, data::for_code());
    const lexical_base chunks = build(c.files, identity{.of = unit_kind::chunk}, data::for_code());
    const auto upper = level{unit_kind::article, lexical(files.bm25)};
    const auto lower = level{unit_kind::chunk, lexical(chunks.bm25)};
    const auto narrow = [&](std::size_t beam) {
        return c.evaluated(hierarchical({.beams = {beam}, .weights = {0.0f, 1.0f}}, upper, lower));
    };
    const evaluation flat = c.evaluated(lexical(chunks.bm25));
    const evaluation blend = c.evaluated(hierarchical({}, upper, lower));
    data::check_recall("flat", flat, .77, .84, .88);
    data::check_recall("blend .3", blend, .80, .87, .90);
    CHECK(blend.mean(recall_at{20}) >= flat.mean(recall_at{20}) + .015);
    // Beams widen until k are found, so a beam of one loses less here than one that returns fewer.
    for (const std::size_t beam : {1u, 3u, 10u}) {
        const evaluation e = narrow(beam);
        WARN("beam " << beam << ": recall at 5/10/20 " << e.mean(recall_at{5}) << " / " << e.mean(recall_at{10})
                     << " / " << e.mean(recall_at{20}));
        if (beam == 1) CHECK(e.mean(recall_at{20}) < flat.mean(recall_at{20}) - .01);
    }

    const lexical_base with_names = build(c.files, contextual(structure{}), data::for_code());
    const indexed<flat_index> vectors = c.vectors("docs.minilm.384.f16");
    const auto fused = hybrid(lexical(with_names.bm25), dense(vectors, c.question_vectors()));
    data::check_recall("names, fused with chunk vectors, blend .3",
                       c.evaluated(hierarchical({}, upper, level{unit_kind::chunk, fused})), .825, .885, .94);
}

TEST_CASE("summaries among the keys are better than the text alone") {
    if (!data::measured("anthropic_docs/docs.minilm.summary.384.f16", data::weight::heavy)) return;
    const data::collection c("anthropic_docs");
    const build_options words{.bm25 = {.k1 = 1.2f, .b = .75f}};
    const structure summary{.title = false,
                            .headings = false,
                            .names = context_names::none,
                            .also = [](const unit_ref& u) { return std::string(u.summary()); }};
    const lexical_base plain = build(c.articles, identity{}, words);
    const lexical_base with_summary =
        build(c.articles, contextual(summary, {.of = unit_kind::article, .place = context_place::after}), words);
    const auto vectors = [&](const char* file) {
        std::vector<std::string> ids;
        std::vector<unit_id> units;
        for (std::size_t i = 0; i < c.articles.size(); ++i) {
            units.push_back(unit_at(i));
            ids.emplace_back(c.articles.id(units.back()));
        }
        const auto given = given_vectors::read(data::path_of(std::string("anthropic_docs/") + file), std::move(ids));
        flat_index index(given.dimension());
        index.add(units, given.rows());
        return indexed<flat_index>{std::move(index), c.articles};
    };
    const indexed<flat_index> bare = vectors("docs.minilm.384.f16"), summed = vectors("docs.minilm.summary.384.f16");
    const given_vectors questions = c.question_vectors();
    const auto at3 = [&](const char* what, const auto& search) {
        const evaluation e = c.evaluated(search, 100);
        WARN(what << ": recall at 3 " << e.mean(recall_at{3}) << ", MRR " << e.mean(reciprocal_rank{}));
        return e.mean(recall_at{3});
    };
    CHECK(at3("BM25 with summaries", lexical(with_summary.bm25)) > at3("BM25", lexical(plain.bm25)) + .03);
    CHECK(at3("MiniLM with summaries", dense(summed, questions)) > at3("MiniLM", dense(bare, questions)) + .01);
    // Each leg gains; the two together had it already.
    const double both = at3("fused", hybrid(lexical(plain.bm25), dense(bare, questions)));
    const double all = at3("fused, with summaries", hybrid(lexical(with_summary.bm25), dense(summed, questions)));
    CHECK(both >= .71);
    CHECK(all >= both - .01);
}
