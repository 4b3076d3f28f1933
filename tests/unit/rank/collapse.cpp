#include "quarry/rank/collapse.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

constexpr unit_id a{0}, b{1}, c{2};

// For each unit the best of its keys by a scan of all, then all units sorted by the order of lists.
std::vector<scored_key> by_looking_at_every_unit(const std::vector<scored_key>& keys, std::uint32_t universe) {
    std::vector<scored_key> units;
    for (std::uint32_t u = 0; u < universe; ++u) {
        const scored_key* best = nullptr;
        for (const scored_key& k : keys)
            if (k.unit == unit_id{u} && (!best || better(k, *best))) best = &k;
        if (best) units.push_back(*best);
    }
    std::ranges::sort(units, [](const auto& x, const auto& y) { return better(x, y); });
    return units;
}

}  // namespace

TEST_CASE("a unit that owns the best keys comes back once, by its best key") {
    const std::vector<scored_key> keys{
        {a, key_id{3}, .92f}, {a, key_id{1}, .90f}, {b, key_id{7}, .80f}, {a, key_id{2}, .79f}, {b, key_id{0}, .10f}};
    CHECK(collapse(keys) == std::vector<scored_key>{{a, key_id{3}, .92f}, {b, key_id{7}, .80f}});
    CHECK(collapse({}).empty());
}

TEST_CASE("of equal keys of a unit the first stands for it") {
    const std::vector<scored_key> keys{{a, key_id{2}, .5f}, {a, key_id{9}, .5f}, {b, key_id{0}, .5f}};
    CHECK(collapse(keys) == std::vector<scored_key>{{a, key_id{2}, .5f}, {b, key_id{0}, .5f}});
}

TEST_CASE("collapsing agrees with looking at every unit, ties included") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<scored_key> keys;
        for (std::uint32_t i = 0; i < 40; ++i)
            keys.push_back(
                {unit_id{static_cast<std::uint32_t>(random() % 12)}, key_id{i}, static_cast<float>(random() % 5)});
        std::ranges::sort(keys, [](const auto& x, const auto& y) { return better(x, y); });
        CHECK(collapse(keys) == by_looking_at_every_unit(keys, 12));
    }
}

TEST_CASE("m (k - 1) + 1 keys are enough for k units, and one fewer is not") {
    // a and b own four keys each, all better than c's only one: three units need 4 * 2 + 1 = 9.
    std::vector<scored_key> keys;
    for (std::uint32_t i = 0; i < 8; ++i)
        keys.push_back({i % 2 == 0 ? a : b, key_id{i}, 1.0f - 0.01f * static_cast<float>(i)});
    keys.push_back({c, key_id{8}, .1f});
    const std::size_t enough = detail::keys_needed(3, 4, 100);
    CHECK(enough == 9);
    CHECK(collapse(std::span(keys).first(enough)).size() == 3);
    CHECK(collapse(std::span(keys).first(enough - 1)).size() == 2);
}

TEST_CASE("the number of keys to ask for never exceeds what there is, and does not overflow") {
    // m = 9, k = 5 needs 37; m = 1 needs 5; m = 12, k = 3 needs 25.
    CHECK(detail::keys_needed(5, 9, 1000) == 37);
    CHECK(detail::keys_needed(5, 1, 1000) == 5);
    CHECK(detail::keys_needed(3, 12, 1000) == 25);
    CHECK(detail::keys_needed(3, 12, 20) == 20);
    CHECK(detail::keys_needed(0, 12, 1000) == 0);
    CHECK(detail::keys_needed(1, 0, 0) == 0);
    CHECK(detail::keys_needed(SIZE_MAX, 12, 1000) == 1000);
    CHECK(detail::keys_needed(SIZE_MAX, SIZE_MAX, SIZE_MAX) == SIZE_MAX);
}
