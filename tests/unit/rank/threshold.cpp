#include "quarry/rank/threshold.hpp"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

const corpus& ten() {
    static const corpus c = toy::numbered(10);
    return c;
}

// Articles 0 and 1; chunks 2 to 5 of article 0, 6 and 7 of article 1; article 8. Chunks 3 and 7 have equal texts.
corpus with_chunks() {
    corpus c;
    c.add({.id = "a", .text = "aa same cc dd"});
    c.add({.id = "b", .text = "ee same"});
    for (const byte_span span : {byte_span{0, 2}, byte_span{3, 7}, byte_span{8, 10}, byte_span{11, 13}})
        c.add_part(unit_id{0}, {.span = span});
    for (const byte_span span : {byte_span{0, 2}, byte_span{3, 7}}) c.add_part(unit_id{1}, {.span = span});
    c.add({.id = "c", .text = "ff"});
    return c;
}

}  // namespace

TEST_CASE("a hit exactly at the floor is kept, one below it is not") {
    const auto base = toy::listed<cosine_scale>(ten(), {{3, .75f}, {1, .5f}, {7, .25f}});
    CHECK(toy::units((base | at_least<cosine_scale>{.5f}).retrieve("", 9)) == ids{3, 1});
    CHECK(toy::units((base | at_least<cosine_scale>{.500001f}).retrieve("", 9)) == ids{3});
    CHECK((base | at_least<cosine_scale>{2.0f}).retrieve("", 9).empty());
    CHECK((base | at_least<cosine_scale>{-1.0f}).retrieve("", 9).size() == 3);
    CHECK((base | at_least<cosine_scale>{-std::numeric_limits<float>::infinity()}).retrieve("", 9).size() == 3);
}

TEST_CASE("a floor of NaN is refused where it is written") {
    CHECK(code_of([] { at_least<cosine_scale>{std::numeric_limits<float>::quiet_NaN()}; }) == "threshold.nan");
}

TEST_CASE("a floor asks for no more than k and tells what fell") {
    const auto base = toy::listed<cosine_scale>(ten(), {{3, .75f}, {1, .5f}, {7, .25f}});
    trace t;
    (base | at_least<cosine_scale>{.6f}).retrieve(query("").traced(t), 2);
    CHECK(base.asked->back() == 2);
    const trace_event* floored = t.find(trace_code::floored);
    REQUIRE(floored);
    CHECK(floored->in == 2);
    CHECK(floored->out == 1);
    CHECK(floored->value == .6f);
}

TEST_CASE("at most so many hits of an article, and k are found further down") {
    const corpus c = with_chunks();
    const auto base =
        toy::listed<cosine_scale>(c, {{2, .9f}, {3, .8f}, {0, .7f}, {4, .6f}, {6, .5f}, {5, .4f}, {7, .3f}, {8, .2f}});
    CHECK(toy::units((base | per_article(1)).retrieve("", 3)) == ids{2, 6, 8});
    CHECK(toy::units((base | per_article(2)).retrieve("", 4)) == ids{2, 3, 6, 7});
    CHECK(toy::units((base | per_article(1)).retrieve("", 9)) == ids{2, 6, 8});  // there are three articles
    CHECK(toy::units((base | per_article(9)).retrieve("", 9)) == ids{2, 3, 0, 4, 6, 5, 7, 8});
    CHECK((base | per_article(0)).retrieve("", 9).empty());
}

TEST_CASE("of units with equal texts the best is kept, when asked for") {
    const corpus c = with_chunks();
    const auto base = toy::listed<cosine_scale>(c, {{7, .9f}, {2, .8f}, {3, .7f}, {6, .6f}});
    CHECK(toy::units(base.retrieve("", 9)) == ids{7, 2, 3, 6});
    CHECK(toy::units((base | distinct_texts()).retrieve("", 9)) == ids{7, 2, 6});
    CHECK(toy::units((base | distinct_texts()).retrieve("", 3)) == ids{7, 2, 6});
}

TEST_CASE("thinning to k is a prefix of thinning everything") {
    const corpus c = with_chunks();
    std::mt19937 random(2);
    for (int round = 0; round < 50; ++round) {
        toy::scored_units hits;
        for (std::uint32_t unit = 0; unit < 9; ++unit)
            if (random() % 4 != 0) hits.emplace_back(unit, static_cast<float>(random() % 4));
        const auto thin = toy::listed<cosine_scale>(c, toy::in_order(hits)) | per_article(2) | distinct_texts();
        const ids all = toy::units(thin.retrieve("", 100));
        for (std::size_t k = 0; k <= all.size(); ++k)
            CHECK(toy::units(thin.retrieve("", k)) == ids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k)));
        CHECK(toy::units(thin.retrieve(query("").skip(2), 100)) ==
              ids(all.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(all.size())), all.end()));
    }
}

TEST_CASE("thinning ends when the base has no more, however much is asked for") {
    const auto base = toy::listed<cosine_scale>(ten(), {{3, .75f}, {1, .5f}});
    CHECK((base | per_article(1)).retrieve("", SIZE_MAX).size() == 2);
    CHECK((base | per_article(1)).retrieve("", 0).empty());
    const auto empty = toy::listed<cosine_scale>(ten(), {});
    CHECK((empty | per_article(1)).retrieve("", 5).empty());
    CHECK(empty.asked->size() == 1);
}
