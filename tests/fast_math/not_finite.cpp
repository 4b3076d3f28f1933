// This program is compiled with -ffast-math, as a user's may be. A compiler may then take every comparison with a NaN or
// an infinity for decided, and both of ours do. What strangers hand in is refused all the same.
#include <bit>
#include <cstdint>

#include "quarry/build.hpp"
#include "quarry/core/metadata.hpp"
#include "quarry/eval/metrics.hpp"
#include "quarry/eval/run_file.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/model/given_vectors.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// From bits that the compiler does not see.
volatile std::uint32_t nan_bits = 0x7FC00000u, infinity_bits = 0x7F800000u, negative_infinity_bits = 0xFF800000u;

std::vector<float> not_finite() {
    return {std::bit_cast<float>(std::uint32_t{nan_bits}), std::bit_cast<float>(std::uint32_t{infinity_bits}),
            std::bit_cast<float>(std::uint32_t{negative_infinity_bits})};
}

using row = std::vector<float>;

}  // namespace

TEST_CASE("rows and probes of a flat index") {
    flat_index index(2);
    flat_product_index products(2);
    index.add(unit_at(0), row{1, 2});
    for (const float bad : not_finite()) {
        CHECK(code_of([&] { index.add(unit_at(1), row{1, bad}); }) == "dense.not_finite");
        CHECK(code_of([&] { products.add(unit_at(1), row{bad, 1}); }) == "dense.not_finite");
        CHECK(code_of([&] { index.search(row{bad, 1}, 1); }) == "dense.not_finite");
    }
    CHECK(index.size() == 1);
    CHECK(products.size() == 0);
    CHECK(index.search(row{2, 4}, 1)[0].score == Approx(1.0).epsilon(1e-6));
    CHECK(code_of([&] { index.add(unit_at(1), row{0, -0.0f}); }) == "dense.zero_vector");
}

TEST_CASE("rows of an embedder, also those that it does not write") {
    const corpus c = toy::corpus_of({"abc", "bcd"});
    for (const float bad : not_finite()) {
        const auto embed = make_embedder(2, [bad](std::string_view) { return row{1, bad}; });
        CHECK(code_of([&] { build(c, identity{}, embed); }) == "embedder.not_finite");
    }
    struct idle_embedder {
        std::size_t dimension() const { return 2; }
        void embed(role, std::span<const std::string_view>, std::span<float>) const {}
    };
    CHECK(code_of([&] { build(c, identity{}, idle_embedder{}); }) == "embedder.not_finite");
}

TEST_CASE("vectors that were computed elsewhere") {
    for (const float bad : not_finite())
        CHECK(code_of([&] { given_vectors(2, {"a", "b"}, {1, 2, 3, bad}); }) == "vectors.not_finite");
}

TEST_CASE("scores of a reranker and of a leg, weights and floors") {
    const corpus c = toy::corpus_of({"abc", "bcd", "cde"});
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{}, embed);
    const auto base = dense(kb.vectors, embed);
    for (const float bad : not_finite()) {
        const auto judge = [&](std::string_view, std::span<const std::string_view> passages) {
            row scores(passages.size(), 1.0f);
            scores.back() = bad;
            return scores;
        };
        CHECK(code_of([&] { (base | rerank(judge)).retrieve("abc", 2); }) == "rerank.not_finite");
        CHECK(code_of([&] { fuse(rrf{.weights = {1.0f, bad}}, base, base); }) == "fuse.weights");
    }
    CHECK(code_of([&] { at_least<cosine_scale>{not_finite()[0]}; }) == "threshold.nan");
    CHECK(code_of([&] { at_least<cosine_scale>{not_finite()[2]}; }) == "(no exception)");
}

TEST_CASE("numbers of metadata and scores that are measured") {
    for (const float bad : not_finite()) {
        CHECK(code_of([&] { field_value(static_cast<double>(bad)); }) == "metadata.not_finite");
        CHECK(code_of([&] { strictly_decreasing({{"a", 1.0f}, {"b", bad}}); }) == "run.score");
    }
    CHECK(field_value(1e308).get_if<double>() != nullptr);
}
