#include "quarry/index/centroids.hpp"

#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

// Two articles; the parts of the first lie at (.8, .6) and (.75, .66), those of the second at (.95, .31), (0, 1), (.1, .99).
struct two_sections {
    corpus c;
    indexed<flat_index> parts{flat_index(3), fill(c)};

    static corpus& fill(corpus& c) {
        c.add({.id = "s1", .text = std::string(30, 'x')});
        c.add({.id = "s2", .text = std::string(30, 'y')});
        c.add({.id = "s3", .text = "nothing in it"});
        for (std::size_t i = 0; i < 5; ++i) {
            const std::size_t at = 10 * (i < 2 ? i : i - 2);
            c.add_part(unit_at(i < 2 ? 0 : 1), {.span = {at, at + 10}});
        }
        return c;
    }
    two_sections() {
        const std::vector<std::vector<float>> rows{
            {.8f, .6f, 0}, {.75f, .6614378f, 0}, {.95f, .3122499f, 0}, {0, 1, 0}, {.1f, .9949874f, 0}};
        for (std::size_t i = 0; i < 5; ++i) parts.index.add(unit_at(3 + i), rows[i]);
    }
};

}  // namespace

TEST_CASE("centroids: a unit's key is the mean direction of its parts") {
    const two_sections t;
    const auto tops = centroids(t.parts, unit_kind::article);
    CHECK(tops.index.size() == 2);
    const auto found = tops.index.search(std::vector<float>{1, 0, 0}, 5);
    REQUIRE(found.size() == 2);
    CHECK(found[0].unit == unit_at(0));
    CHECK(found[0].score == Approx(.775609).epsilon(1e-5));
    CHECK(found[1].score == Approx(.414213).epsilon(1e-5));
    CHECK(centroids(t.parts, unit_kind::section).index.size() == 0);
}

TEST_CASE("centroids: as a level, a beam of one goes the wrong way and a beam of two does not") {
    const two_sections t;
    const auto tops = centroids(t.parts, unit_kind::article);
    const auto east = make_embedder(3, [](std::string_view) { return std::vector<float>{1, 0, 0}; });
    const auto search = [&](std::size_t beam) {
        return toy::units(hierarchical({.beams = {beam}, .weights = {0.0f, 1.0f}},
                                       level{unit_kind::article, dense(tops, east)},
                                       level{unit_kind::chunk, dense(t.parts, east)})
                              .retrieve("x", 1));
    };
    CHECK(search(1) == std::vector<std::uint32_t>{3});
    CHECK(search(2) == std::vector<std::uint32_t>{5});
}

TEST_CASE("centroids: parts that cancel out have no direction, and parts without a row do not count") {
    corpus c;
    const unit_id a = c.add({.id = "a", .text = "abcd"});
    for (std::size_t i = 0; i < 3; ++i) c.add_part(a, {.span = {i, i + 1}});
    indexed<flat_index> parts{flat_index(2), c};
    CHECK(centroids(parts, unit_kind::article).index.size() == 0);
    parts.index.add(unit_at(1), std::vector<float>{1, 0});
    CHECK(centroids(parts, unit_kind::article).index.size() == 1);
    parts.index.add(unit_at(2), std::vector<float>{-1, 0});
    CHECK(centroids(parts, unit_kind::article).index.size() == 0);
}
