// Public cases of maximal marginal relevance going wrong in other libraries, kept as tests.
//
// The number behind a promise is that of the case in the collection this library was written against; the names of the
// projects where it was reported stand beside it.
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;

// Units at these places, and a question at (1, 0).
struct places {
    corpus c;
    indexed<flat_index> vectors;

    explicit places(const std::vector<std::vector<float>>& rows)
        : c(toy::numbered(rows.size())), vectors{flat_index(rows.front().size()), c} {
        for (std::size_t i = 0; i < rows.size(); ++i) vectors.index.add(unit_at(i), rows[i]);
    }
    ids picked(mmr options, std::size_t k) const {
        const std::size_t d = vectors.index.dimension();
        const auto embed = make_embedder(d, [d](std::string_view) {
            std::vector<float> row(d);
            row[0] = 1.0f;
            return row;
        });
        return toy::units((dense(vectors, embed) | diversify(vectors, options)).retrieve("q", k));
    }
};

}  // namespace

TEST_CASE("lambda 0 is no missing lambda: difference alone, after the most relevant") {  // 47: llama_index
    const places p({{.99f, .14f}, {.985f, .17f}, {0, 1}});
    CHECK(p.picked({.lambda = 0.0f}, 2) == ids{0, 2});
    CHECK(p.picked({.lambda = 1.0f}, 2) == ids{0, 1});
}

TEST_CASE("lambda arrives, and means relevance when it is large") {  // 48: langchain
    std::mt19937 random(48);
    std::vector<std::vector<float>> rows;
    for (int i = 0; i < 10; ++i) {
        std::vector<float> row(4);
        for (float& x : row) x = static_cast<float>(random() % 1000) / 500.0f - 1.0f;
        row[0] += 1.5f;
        rows.push_back(row);
        rows.push_back(row);  // a duplicate
    }
    const places p(rows);
    const auto embed = make_embedder(4, [](std::string_view) { return std::vector<float>{1, 0, 0, 0}; });
    CHECK(p.picked({.lambda = 1.0f}, 8) == toy::units(dense(p.vectors, embed).retrieve("q", 8)));
    CHECK(p.picked({.lambda = 0.1f}, 8) != p.picked({.lambda = 0.9f}, 8));
    for (const float bad : {-0.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()})
        CHECK(code_of([&] { p.picked({.lambda = bad}, 2); }) == "diversify.lambda");
}

TEST_CASE("fewer candidates than k, and a pool smaller than k, are no errors") {  // 49: langchain, oracle/ai-optimizer
    const places p({{1, 0}, {.9f, .1f}, {0, 1}});
    CHECK(p.picked({}, 5).size() == 3);
    CHECK(p.picked({.fetch = 2}, 3).size() == 3);
    CHECK(p.picked({.fetch = 0}, 3).size() == 3);
}

TEST_CASE("candidates that are all the same are picked once each, in the order of ties") {  // 50: langchainjs
    const places p({{1, 0}, {1, 0}, {1, 0}, {1, 0}});
    CHECK(p.picked({}, 3) == ids{0, 1, 2});
    CHECK(p.picked({}, 4) == ids{0, 1, 2, 3});
    CHECK(p.picked({}, 10) == ids{0, 1, 2, 3});
}

TEST_CASE("what is opposite keeps its bonus, unless it is asked not to") {  // 51: pensyve
    const places p({{1, 0}, {0, 1}, {-.6f, .8f}});
    CHECK(p.picked({.lambda = 0.3f}, 2) == ids{0, 2});  // .24 against 0
    CHECK(p.picked({.lambda = 0.3f, .clamp = true}, 2) == ids{0, 1});
}
