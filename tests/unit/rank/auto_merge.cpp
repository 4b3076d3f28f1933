#include "quarry/rank/auto_merge.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

// Article 0 with sections 1 and 2; section 1 has the chunks 3 to 6, section 2 the chunks 7 to 10; chunk u carries
// "part" u % 2.
corpus two_sections(bool chunk_five_is_secret = false) {
    corpus c(schema{{"secret", field_type::boolean}});
    const unit_id a = c.add({.id = "a", .text = std::string(80, 'x'), .meta = {{"secret", false}}});
    const unit_id s1 = c.add_part(a, {.kind = unit_kind::section, .span = {0, 40}});
    const unit_id s2 = c.add_part(a, {.kind = unit_kind::section, .span = {40, 80}});
    for (std::size_t i = 0; i < 8; ++i) {
        part p{.span = {10 * i, 10 * i + 10}};
        if (chunk_five_is_secret && i == 2) p.meta = {{"secret", true}};
        c.add_part(i < 4 ? s1 : s2, p);
    }
    return c;
}

using found = std::vector<std::pair<std::uint32_t, float>>;

found merged(const corpus& c, const toy::scored_units& hits, auto_merge_options options = {}, query q = "x",
             std::size_t k = 10) {
    const auto r = (toy::listed<cosine_scale>(c, hits) | auto_merge(options)).retrieve(q, k);
    found out;
    for (const auto& h : r) out.emplace_back(static_cast<std::uint32_t>(h.unit), h.score);
    return out;
}

}  // namespace

TEST_CASE("auto_merge: more than half of the parts give way to the whole, half of them do not") {
    const corpus c = two_sections();
    CHECK(merged(c, {{3, .9f}, {4, .8f}}) == found{{3, .9f}, {4, .8f}});
    const found three = merged(c, {{3, .9f}, {4, .8f}, {5, .7f}});
    REQUIRE(three.size() == 1);
    CHECK(three[0].first == 1);
    CHECK(three[0].second == Approx(.8f));
    CHECK(merged(c, {{3, .9f}}, {.above = 0.2f})[0].first == 0);  // section 1, and half of the article is more than .2
}

TEST_CASE("auto_merge: a part between two that were found counts as found") {
    const corpus c = two_sections();
    const found filled = merged(c, {{3, .9f}, {5, .7f}});
    REQUIRE(filled.size() == 1);
    CHECK(filled[0].first == 1);
    CHECK(filled[0].second == Approx(.8f));  // (.9 + .8 + .7) / 3
    CHECK(merged(c, {{3, .9f}, {5, .7f}}, {.fill_gaps = false}) == found{{3, .9f}, {5, .7f}});
    CHECK(merged(c, {{3, .9f}, {6, .7f}}).size() == 2);  // two between them are none
}

TEST_CASE("auto_merge: it goes on upward, and ends") {
    const corpus c = two_sections();
    toy::scored_units all;
    for (std::uint32_t u = 3; u < 11; ++u) all.emplace_back(u, .5f);
    CHECK(merged(c, all) == found{{0, .5f}});
    const found mixed = merged(c, {{7, .9f}, {3, .6f}, {4, .6f}, {5, .6f}});
    REQUIRE(mixed.size() == 2);
    CHECK(mixed[0] == std::pair<std::uint32_t, float>{7, .9f});
    CHECK(mixed[1].first == 1);
}

TEST_CASE("auto_merge: what may not be returned does not come back inside a whole") {
    const corpus c = two_sections(true);
    const toy::scored_units hits{{3, .9f}, {4, .8f}, {6, .7f}};
    CHECK(merged(c, hits).size() == 1);
    CHECK(merged(c, hits, {}, query("x").within(scope::only(eq("secret", false)))).size() == 3);
}

TEST_CASE("auto_merge: k counts what is left, articles and units without parts stay, and a hit tells its origin") {
    const corpus c = two_sections();
    const toy::listed<cosine_scale> base(c, {{3, .9f}, {4, .85f}, {5, .8f}, {6, .75f}, {7, .5f}, {9, .4f}});
    const auto search = base | auto_merge({.fill_gaps = false, .fetch = 3});
    const auto r = search.retrieve("x", 2);
    CHECK(toy::units(r) == std::vector<std::uint32_t>{1, 7});
    CHECK(r.hits[0].via == key_id{103});
    CHECK(r.explain(r.hits[0]).find("auto_merge") != std::string::npos);
    CHECK(search.retrieve("x", 0).empty());
    CHECK(merged(c, {{0, .3f}}) == found{{0, .3f}});
    CHECK(code_of([&] { base | auto_merge({.above = 1.0f}); }) == "auto_merge.share");
    CHECK(code_of([&] { base | auto_merge({.above = -0.1f}); }) == "auto_merge.share");
}
