#include "quarry/rank/similarity.hpp"

#include <limits>

#include "quarry/index/flat_index.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;

// (1, 0), (1, .1), (1, .4), (0, 1), and a unit without a vector.
struct rows_in_a_plane {
    corpus c = toy::numbered(5);
    indexed<flat_index> vectors{flat_index(2), c};
    toy::listed<bm25_scale> base{c, {{0, 5.0f}, {1, 4.0f}, {2, 3.0f}, {3, 2.0f}, {4, 1.0f}}};
    rows_in_a_plane() {
        const float rows[][2] = {{1, 0}, {1, .1f}, {1, .4f}, {0, 1}};
        for (std::size_t i = 0; i < 4; ++i) vectors.index.add(unit_at(i), rows[i]);
    }
    auto meaning() const {
        return dense(vectors, make_embedder(2, [](std::string_view) { return std::vector<float>{1, 0}; }));
    }
};

}  // namespace

TEST_CASE("of near copies the first stays, and k are left if there are k") {
    const rows_in_a_plane w;
    // Cosines to the first: .995037 and .928477.
    const auto search = w.base | without_near_copies(w.vectors);
    CHECK(toy::units(search.retrieve("", 5)) == ids{0, 2, 3, 4});
    CHECK(toy::units(search.retrieve("", 2)) == ids{0, 2});
    CHECK(search.retrieve("", 2)[0].score == 5.0f);
    CHECK(toy::units((w.base | without_near_copies(w.vectors, {.above = .9f})).retrieve("", 5)) == ids{0, 3, 4});
    CHECK(toy::units((w.base | without_near_copies(w.vectors, {.above = 1.0f})).retrieve("", 5)).size() == 5);
}

TEST_CASE("hits must be nearer to the question than the limit, strictly") {
    const rows_in_a_plane w;
    CHECK(toy::units((w.meaning() | only_similar(w.vectors, {.above = .93f})).retrieve("q", 5)) == ids{0, 1});
    CHECK(toy::units((w.meaning() | only_similar(w.vectors, {.above = 0.0f})).retrieve("q", 5)) == ids{0, 1, 2});
    CHECK(toy::units((w.meaning() | only_similar(w.vectors, {.above = -1.0f})).retrieve("q", 5)).size() == 4);
    CHECK((w.meaning() | only_similar(w.vectors, {.above = 1.0f})).retrieve("q", 5).empty());
}

TEST_CASE("a limit that is no number, and a question that nobody embedded, are refused") {
    const rows_in_a_plane w;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(code_of([&] { w.base | without_near_copies(w.vectors, {.above = nan}); }) == "similarity.nan");
    CHECK(code_of([&] { w.base | only_similar(w.vectors, {.above = nan}); }) == "similarity.nan");
    CHECK(code_of([&] { (w.base | only_similar(w.vectors)).retrieve("q", 5); }) == "similarity.no_probe");
    CHECK((toy::listed<bm25_scale>(w.c, {}) | only_similar(w.vectors)).retrieve("q", 5).empty());
}
