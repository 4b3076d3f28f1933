#include "quarry/core/unit_set.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

std::vector<std::size_t> members(const unit_set& set) {
    std::vector<std::size_t> out;
    set.for_each([&](unit_id unit) { out.push_back(index_of(unit)); });
    return out;
}

std::shared_ptr<const unit_set> shared(std::size_t universe, std::initializer_list<std::size_t> units) {
    auto set = std::make_shared<unit_set>(universe);
    for (const std::size_t unit : units) set->insert(unit_at(unit));
    return set;
}

}  // namespace

TEST_CASE("a set of units agrees with a tree of numbers, whatever is inserted and erased") {
    for (const std::size_t universe : {1u, 63u, 64u, 65u, 200u}) {
        unit_set set(universe);
        std::set<std::size_t> slow;
        std::uint32_t seed = 5;
        for (int step = 0; step < 500; ++step) {
            seed = seed * 1664525u + 1013904223u;
            const std::size_t unit = (seed >> 8) % universe;
            if ((seed >> 4) % 3 == 0) {
                set.erase(unit_at(unit));
                slow.erase(unit);
            } else {
                set.insert(unit_at(unit));
                slow.insert(unit);
            }
            REQUIRE(set.count() == slow.size());
            REQUIRE(set.contains(unit_at(unit)) == slow.contains(unit));
        }
        CAPTURE(universe);
        CHECK(set.universe() == universe);
        CHECK(std::ranges::equal(members(set), slow));
    }
}

TEST_CASE("inserting twice and erasing twice count once") {
    unit_set set(10);
    set.insert(unit_id{3});
    set.insert(unit_id{3});
    CHECK(set.count() == 1);
    set.erase(unit_id{3});
    set.erase(unit_id{3});
    CHECK(set.count() == 0);
    CHECK(set == unit_set(10));
}

TEST_CASE("a unit that was added after the set was made is not in it") {
    CHECK_FALSE(unit_set::all(3).contains(unit_id{3}));
    CHECK_FALSE(unit_set::all(64).contains(unit_id{64}));
    CHECK_FALSE(unit_set(0).contains(unit_id{0}));
    CHECK_FALSE(unit_set::all(3).contains(unit_id{UINT32_MAX}));
}

TEST_CASE("all means every unit below the universe") {
    for (const std::size_t universe : {0u, 1u, 64u, 65u}) {
        CHECK(unit_set::all(universe).count() == universe);
        CHECK(members(unit_set::all(universe)).size() == universe);
    }
}

TEST_CASE("accepting without a set accepts every unit, accepting an empty set accepts none") {
    CHECK(accept{}.all());
    CHECK(accept{}.contains(unit_id{7}));
    const unit_set none(10);
    CHECK_FALSE(accept{&none}.all());
    CHECK_FALSE(accept{&none}.contains(unit_id{7}));
}

TEST_CASE("an expression that nobody evaluated is refused by indexes that cannot judge it, and never ignored") {
    const filter f = eq("tenant", "a");
    const unit_set some(4);
    CHECK_FALSE(accept{nullptr, &f}.all());
    CHECK(code_of([&] { detail::require_evaluated({nullptr, &f}); }) == "filter.unevaluated");
    CHECK(code_of([&] { detail::require_evaluated({&some, &f}); }) == "(no exception)");
    CHECK(code_of([&] { detail::require_evaluated({}); }) == "(no exception)");
}

TEST_CASE("a selection returns some units and lets others be walked through, by default the same") {
    const selection both({}, shared(4, {1}), shared(4, {1, 2}));
    CHECK(both.returned().contains(unit_id{1}));
    CHECK_FALSE(both.returned().contains(unit_id{2}));
    CHECK(both.walked().contains(unit_id{2}));
    const selection one(eq("a", 1), shared(4, {3}), nullptr);
    CHECK(one.walked().contains(unit_id{3}));
    CHECK_FALSE(one.walked().contains(unit_id{1}));
    REQUIRE(one.returned().expression);
    CHECK(one.returned().expression->to_string() == "eq(a, 1)");
    CHECK(selection().returned().all());
}

TEST_CASE("copies of a selection share its set and its expression stays where the copy is") {
    const selection first(eq("a", 1), shared(4, {3}), nullptr);
    const selection second = first;
    CHECK(second.units() == first.units());
    CHECK(second.expression() != first.expression());
    CHECK(second.expression()->to_string() == "eq(a, 1)");
}

TEST_CASE("a selection remembers the state of its source, and a default-made one has none") {
    const auto identity = std::make_shared<const int>(0);
    const source_state state{identity, 7};
    CHECK(selection().made_by(state).state() == state);
    CHECK(selection().state() != state);
    CHECK(source_state{identity, 8} != state);
    CHECK(source_state{std::make_shared<const int>(0), 7} != state);
}

TEST_CASE("what two sets share and what they hold together is what one unit after the other gives, counts too") {
    for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 200u}) {
        unit_set a(size), b(size), shared_by_both(size), together(size), one_by_one(size);
        for (std::size_t i = 0; i < size; ++i) {
            const unit_id unit = unit_at(i);
            if (i % 3 == 0) a.insert(unit);
            if (i % 5 < 2) b.insert(unit);
            if (i % 3 == 0 && i % 5 < 2) shared_by_both.insert(unit);
            if (i % 3 == 0 || i % 5 < 2) together.insert(unit);
            one_by_one.insert(unit);
        }
        CHECK(unit_set::all(size) == one_by_one);
        unit_set both = a, either = a;
        both &= b;
        either |= b;
        CHECK(both == shared_by_both);
        CHECK(either == together);
    }
    unit_set large = unit_set::all(100);
    large &= unit_set::all(10);
    CHECK(large.count() == 10);
    large |= unit_set::all(70);
    CHECK(large.count() == 70);
}

TEST_CASE("a word of 64 units is assigned at once, and the count follows") {
    unit_set set = unit_set::all(130);
    set.assign_word(1, 5);
    CHECK(set.count() == 64 + 2 + 2);
    CHECK(set.contains(unit_at(64)));
    CHECK_FALSE(set.contains(unit_at(65)));
    CHECK(set.contains(unit_at(66)));
    set.assign_word(2, 1);
    CHECK(set.count() == 64 + 2 + 1);
    CHECK_FALSE(set.contains(unit_at(129)));
}
