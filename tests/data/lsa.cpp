// Dense retrieval with vectors that the library fits itself, against an independent latent semantic analysis of the
// same collections (the `lsa` rows of hybrid_reference.json: 1 + ln tf, idf, unit rows, truncated decomposition).
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/model/lsa_embedder.hpp"
#include "quarry/retrieve/dense.hpp"
#include "data/sets.hpp"

using namespace quarry;

namespace {

void check(const std::string& name, std::size_t rank) {
    if (!data::measured(name, data::weight::heavy)) return;
    const data::collection set(name);
    const auto embed = lsa_embedder::fit(set.articles, {.rank = rank});
    const knowledge_base kb = build(set.articles, identity{}, embed);
    const double reference = data::json_of(name + "/hybrid_reference.json").at("lsa").at("nDCG@10");
    INFO(name << ": the reference has " << reference);
    CHECK(set.evaluated(dense(kb.vectors, embed), 10).mean(ndcg_at{10}) >= reference - .01);
}

}  // namespace

TEST_CASE("scifact: vectors fitted here at rank 256 are not below the reference's") { check("scifact", 256); }
TEST_CASE("cranfield: vectors fitted here at rank 128 are not below the reference's") { check("cranfield", 128); }
TEST_CASE("time: vectors fitted here at rank 128 are not below the reference's") { check("time", 128); }
