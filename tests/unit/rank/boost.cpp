#include "quarry/rank/boost.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;

struct dated_pages {
    corpus c{schema{{"updated", field_type::date_time}, {"views", field_type::integer}, {"stars", field_type::number}}};
    dated_pages() {
        c.add({.id = "new", .text = "a", .meta = {{"updated", "2024-07-01"}, {"views", 0}, {"stars", 2.5}}});
        c.add({.id = "half", .text = "b", .meta = {{"updated", "2024-01-03"}, {"views", 99}}});
        c.add({.id = "old", .text = "c", .meta = {{"updated", "2014-01-03"}, {"views", -5}}});
        c.add({.id = "none", .text = "d"});
        c.add({.id = "future", .text = "e", .meta = {{"updated", "2025-07-01"}}});
    }
    unit_ref at(std::uint32_t unit) const { return source_ref(c)[unit_id{unit}]; }
};

const date_time boost_day = *date_time::day(2024, 7, 1);

}  // namespace

TEST_CASE("recency halves with every half-life, down to its least") {
    const dated_pages w;
    const recency f{.field = "updated", .now = boost_day, .half_life_days = 180.0f};
    CHECK(f(w.at(0)) == 1.0f);
    CHECK(f(w.at(1)) == Approx(.5));  // 180 days
    CHECK(f(w.at(2)) == .1f);
    CHECK(f(w.at(3)) == 1.0f);
    CHECK(f(w.at(4)) == 1.0f);
    CHECK(recency{.field = "views", .now = boost_day, .unknown = .7f}(w.at(0)) == .7f);
    CHECK(code_of([&] { recency{.field = "updated", .now = boost_day, .half_life_days = 0.0f}(w.at(0)); }) ==
          "boost.half_life");
}

TEST_CASE("popularity grows with the logarithm of whole and other numbers") {
    const dated_pages w;
    const popularity f{.field = "views", .weight = .1f};
    CHECK(f(w.at(0)) == 1.0f);
    CHECK(f(w.at(1)) == Approx(1 + .1 * 4.605170));  // ln 100
    CHECK(f(w.at(2)) == 1.0f);
    CHECK(f(w.at(3)) == 1.0f);
    CHECK(popularity{.field = "stars"}(w.at(0)) == Approx(1 + .1 * 1.252763));  // ln 3.5
    CHECK(popularity{.field = "updated", .unknown = 2.0f}(w.at(0)) == 2.0f);
}

TEST_CASE("scores are multiplied, ordered anew, and both numbers stand in the ledger") {
    const dated_pages w;
    const toy::listed<bm25_scale> base(w.c, {{1, 3.0f}, {0, 2.0f}, {2, 2.0f}});
    const auto search = base | boost(recency{.field = "updated", .now = boost_day});
    static_assert(std::same_as<decltype(search)::scale, boosted_scale>);
    const auto found = search.retrieve("", 3);
    // 3 * .5, 2 * 1, 2 * .1
    CHECK(toy::units(found) == ids{0, 1, 2});
    CHECK(found[1].score == Approx(1.5));
    const ledger_entry& entry = found.notes()[found[1].trail];
    CHECK(entry.stage == "boost");
    CHECK(entry.raw == 3.0f);
    CHECK(entry.weight == Approx(.5));
    CHECK(entry.rank == 1);
}

TEST_CASE("a cosine counts from -1, so that a factor lifts what is below zero too") {
    const dated_pages w;
    const toy::listed<cosine_scale> base(w.c, {{0, .5f}, {1, -.5f}});
    const auto found = (base | boost([](const unit_ref&) { return 2.0f; })).retrieve("", 2);
    CHECK(found[0].score == 3.0f);
    CHECK(found[1].score == 1.0f);
}

TEST_CASE("a boost lifts no hit from beyond its reach") {
    const dated_pages w;
    const toy::listed<bm25_scale> base(w.c, {{1, 3.0f}, {2, 2.0f}, {0, 1.0f}});
    const auto favour = [](const unit_ref& u) { return u.id() == "new" ? 100.0f : 1.0f; };
    CHECK(toy::units((base | boost(favour, {.fetch = 2})).retrieve("", 2)) == ids{1, 2});
    CHECK(toy::units((base | boost(favour, {.fetch = 3})).retrieve("", 2)) == ids{0, 1});
    CHECK((base | boost(favour)).retrieve("", 0).empty());
}

TEST_CASE("a factor that is negative or no number is refused with the unit") {
    const dated_pages w;
    const toy::listed<bm25_scale> base(w.c, {{1, 3.0f}});
    for (const float bad : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
        CHECK(code_of([&] { (base | boost([bad](const unit_ref&) { return bad; })).retrieve("", 2); }) ==
              "boost.factor");
    CHECK(code_of([&] {
              (base | boost([](const unit_ref&) { return (std::numeric_limits<float>::max)(); })).retrieve("", 2);
          }) == "boost.factor");
}
