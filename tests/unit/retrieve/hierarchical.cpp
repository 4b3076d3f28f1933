#include "quarry/retrieve/hierarchical.hpp"

#include <map>
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;
using toy::listed;
using toy::scored_units;
using toy::scoring_list;

// Articles 0 and 1; chunks 2 and 3 of the first, 4, 5 and 6 of the second; article 7 without parts. "open" is a chunk's
// own.
corpus two_articles(const std::vector<bool>& open = {true, true, true, true, true}) {
    corpus c(schema{{"open", field_type::boolean}});
    const unit_id s1 = c.add({.id = "s1", .text = std::string(30, 'x')});
    const unit_id s2 = c.add({.id = "s2", .text = std::string(30, 'y')});
    for (std::size_t i = 0; i < 5; ++i) {
        const std::size_t at = 10 * (i < 2 ? i : i - 2);
        c.add_part(i < 2 ? s1 : s2, {.span = {at, at + 10}, .title = {}, .id = {}, .meta = {{"open", bool(open[i])}}});
    }
    c.add({.id = "s3", .text = "z"});
    return c;
}

// Cosines of the articles' centroids and of the chunks, from the vectors (.8, .6), (.75, .66) and (.95, .31), (0, 1),
// (.1, .99).
const scored_units centroids{{0, .775609f}, {1, .414213f}},
    leaves{{4, .95f}, {2, .80f}, {3, .75f}, {6, .1f}, {5, 0.0f}};

template <class Upper, class Lowest>
auto by_beam(std::size_t beam, const Upper& upper, const Lowest& lowest) {
    return hierarchical({.beams = {beam}, .weights = {0.0f, 1.0f}}, level{unit_kind::article, upper},
                        level{unit_kind::chunk, lowest});
}

auto upper_of(const corpus& c, scored_units hits = centroids) {
    return scoring_list<cosine_scale>(c, std::move(hits), {});
}

}  // namespace

TEST_CASE("hierarchical: a beam of one keeps the wrong article, a beam of two finds the best leaf") {
    const corpus c = two_articles();
    const listed<cosine_scale> lowest(c, leaves);
    CHECK(toy::units(by_beam(1, upper_of(c), lowest).retrieve("x", 1)) == ids{2});
    CHECK(toy::units(by_beam(2, upper_of(c), lowest).retrieve("x", 1)) == ids{4});
    CHECK(toy::units(by_beam(0, upper_of(c), lowest).retrieve("x", 1)) == ids{4});
}

TEST_CASE("hierarchical: beams widen until k are found or there is nothing more") {
    const corpus c = two_articles();
    const listed<cosine_scale> lowest(c, leaves);
    CHECK(toy::units(by_beam(1, upper_of(c), lowest).retrieve("x", 2)) == ids{2, 3});
    CHECK(toy::units(by_beam(1, upper_of(c), lowest).retrieve("x", 3)) == ids{4, 2, 3});
    CHECK(by_beam(1, upper_of(c), lowest).retrieve("x", 100).size() == 5);
    // An article that its own level does not find is reached in the end.
    CHECK(by_beam(1, upper_of(c, {{0, .7f}}), lowest).retrieve("x", 5).size() == 5);
    CHECK(by_beam(1, upper_of(c, {}), lowest).retrieve("x", 5).size() == 5);
    CHECK(by_beam(1, upper_of(c), lowest).retrieve("x", 0).empty());
}

TEST_CASE("hierarchical: a unit that lies in no article is not touched by the beam") {
    const corpus c = two_articles();
    const listed<cosine_scale> lowest(c, {{7, .9f}, {2, .8f}, {3, .7f}});
    CHECK(toy::units(by_beam(1, upper_of(c), lowest).retrieve("x", 2)) == ids{7, 2});
}

TEST_CASE("hierarchical: the blend is the weighted mean of shares of the best of each level") {
    const corpus c = two_articles();
    const scored_units files{{1, 8.0f}, {0, 4.0f}}, chunks{{2, 10.0f}, {4, 9.0f}, {3, 5.0f}, {5, 1.0f}};
    const auto search = hierarchical({}, level{unit_kind::article, scoring_list<bm25_scale>(c, files, {})},
                                     level{unit_kind::chunk, listed<bm25_scale>(c, chunks)});
    // 4: .7 * .9 + .3 = .93; 2: .7 + .3 * .5 = .85; 3: .35 + .15 = .5; 5: .07 + .3 = .37.
    const auto found = search.retrieve("x", 4);
    CHECK(toy::units(found) == ids{4, 2, 3, 5});
    CHECK(found[0].score == Approx(.93f));
    CHECK(found[1].score == Approx(.85f));
    CHECK(found[2].score == Approx(.5f));
    CHECK(found[3].score == Approx(.37f));
    CHECK(found[0].via == key_id{104});
    CHECK(found.explain(found.hits[0]).find("levels above") != std::string::npos);
    const auto even = hierarchical({.weights = {2.0f, 2.0f}},
                                   level{unit_kind::article, scoring_list<bm25_scale>(c, files, {})},
                                   level{unit_kind::chunk, listed<bm25_scale>(c, chunks)});
    CHECK(even.retrieve("x", 1)[0].score == Approx(.95f));
}

TEST_CASE("hierarchical: a unit that its own level ranks low is found where its article carries it up") {
    // 300 chunks of article 0 and one of article 1, in last place by itself.
    corpus c;
    const unit_id a = c.add({.id = "a", .text = std::string(300, 'x')}), b = c.add({.id = "b", .text = "y"});
    scored_units chunks;
    for (std::uint32_t i = 0; i < 300; ++i) {
        c.add_part(a, {.span = {i, i + 1}});
        chunks.emplace_back(2 + i, 1.0f - 0.001f * static_cast<float>(i));
    }
    c.add_part(b, {.span = {0, 1}});
    chunks.emplace_back(302, 0.65f);
    const scored_units files{{1, 1.0f}};
    const auto search =
        hierarchical({.weights = {.5f, .5f}}, level{unit_kind::article, scoring_list<bm25_scale>(c, files, {})},
                     level{unit_kind::chunk, listed<bm25_scale>(c, chunks)});
    CHECK(toy::units(search.retrieve("x", 1)) == ids{302});
}

TEST_CASE("hierarchical: filters are pushed up, so that an article with nothing to return takes no place in a beam") {
    const corpus c = two_articles({false, false, true, true, true});
    const listed<cosine_scale> lowest(c, leaves);
    const query open = query("x").where(eq("open", true));
    CHECK(toy::units(by_beam(1, upper_of(c), lowest).retrieve(open, 1)) == ids{4});
    CHECK(toy::units(by_beam(1, upper_of(c), lowest).retrieve(open, 9)) == ids{4, 6, 5});
    trace t;
    CHECK(by_beam(1, upper_of(c), lowest).retrieve(query("x").where(eq("open", true)).traced(t), 1).size() == 1);
    CHECK(t.find(trace_code::widened) == nullptr);
}

TEST_CASE("hierarchical: any number of levels") {
    corpus c;
    const unit_id a = c.add({.id = "a", .text = std::string(40, 'x')});
    for (std::size_t s = 0; s < 2; ++s) {
        const unit_id section = c.add_part(a, {.kind = unit_kind::section, .span = {20 * s, 20 * s + 20}});
        for (std::size_t i = 0; i < 2; ++i)
            c.add_part(section, {.span = {20 * s + 10 * i, 20 * s + 10 * i + 10}, .title = {},
                                 .id = std::to_string(s) + std::to_string(i)});
    }
    // Article 0; section 1 with chunks 2, 3; section 4 with chunks 5, 6.
    const scored_units articles{{0, 1.0f}}, sections{{4, 2.0f}, {1, 1.0f}},
        chunks{{2, 4.0f}, {5, 3.0f}, {6, 2.0f}, {3, 1.0f}};
    const auto search = [&](hierarchical_options options) {
        return hierarchical(options, level{unit_kind::article, scoring_list<bm25_scale>(c, articles, {})},
                            level{unit_kind::section, scoring_list<bm25_scale>(c, sections, {})},
                            level{unit_kind::chunk, listed<bm25_scale>(c, chunks)});
    };
    CHECK(toy::units(search({.beams = {1, 1}}).retrieve("x", 2)) == ids{5, 6});
    // 2: .7 + .15 + .075 = .925; 5: .525 + .3 = .825; 6: .35 + .3 = .65; 3: .175 + .225 = .4.
    const auto found = search({}).retrieve("x", 4);
    CHECK(toy::units(found) == ids{2, 5, 6, 3});
    CHECK(found[0].score == Approx(.925f));
    CHECK(found[3].score == Approx(.4f));
}

TEST_CASE("hierarchical: over real indexes the answer with all in the beams is that of the dull way") {
    corpus c;
    const char* words[] = {"cat", "dog", "owl", "fox", "bee"};
    for (std::size_t i = 0; i < 12; ++i) {
        std::string text;
        for (std::size_t j = 0; j < 6; ++j)
            text += std::string(words[(i * j + i) % 5]) + " " + words[(i + j * j) % 5] + ". ";
        const unit_id a = c.add({.id = "a" + std::to_string(i), .text = text});
        for (std::size_t at = 0; at + 18 <= text.size(); at += 18) c.add_part(a, {.span = {at, at + 18}});
    }
    const auto files = build(c, identity{}), chunks = build(c, identity{.of = unit_kind::chunk});
    const auto upper = lexical(files.bm25), lower = lexical(chunks.bm25);
    for (const char* asked : {"cat", "dog owl", "bee bee fox"}) {
        const auto all = lower.retrieve(asked, 1000);
        const auto tops = upper.retrieve(asked, 1000);
        std::map<std::uint32_t, float> top;
        for (const auto& h : tops) top[static_cast<std::uint32_t>(h.unit)] = h.score / tops[0].score;
        scored_units expected;
        for (const auto& h : all)
            expected.emplace_back(static_cast<std::uint32_t>(h.unit),
                                  .7f * h.score / all[0].score +
                                      .3f * top[static_cast<std::uint32_t>(*c.parent(h.unit))]);
        expected = toy::in_order(expected);
        const auto found =
            hierarchical({}, level{unit_kind::article, upper}, level{unit_kind::chunk, lower}).retrieve(asked, 5);
        REQUIRE(found.size() == 5);
        for (std::size_t i = 0; i < 5; ++i) CHECK(found[i].score == Approx(expected[i].second).epsilon(1e-5));
    }
}

TEST_CASE("hierarchical: what cannot be is refused with both numbers") {
    const corpus c = two_articles(), other = two_articles();
    const auto with = [&](hierarchical_options options) {
        return code_of([&] {
            hierarchical(options, level{unit_kind::article, upper_of(c)},
                         level{unit_kind::chunk, listed<cosine_scale>(c, leaves)});
        });
    };
    CHECK(with({.beams = {1, 2}}) == "hierarchical.beams");
    CHECK(with({.weights = {1.0f}}) == "hierarchical.weights");
    CHECK(with({.weights = {-1.0f, 1.0f}}) == "hierarchical.weights");
    CHECK(with({.weights = {1.0f, 0.0f}}) == "hierarchical.weights");
    CHECK(code_of([&] {
              hierarchical({}, level{unit_kind::article, upper_of(other)},
                           level{unit_kind::chunk, listed<cosine_scale>(c, leaves)});
          }) == "hierarchical.source");
}
