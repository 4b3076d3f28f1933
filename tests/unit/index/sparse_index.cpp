#include "quarry/index/sparse_index.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("the score is the sum of products over the terms of both") {
    sparse_index index;
    index.add(unit_id{0}, term_weights{{"cat", .5f}, {"pet", .9f}, {"feline", 2.0f}});
    const term_weights probe{{"cat", 1.2f}, {"feline", .4f}, {"dog", 3.0f}};
    const auto found = index.search(probe, 5, {});
    REQUIRE(found.size() == 1);
    CHECK(found[0].score == Approx(1.4));
    CHECK(index.bounds(probe).high == Approx(1.4));
    CHECK(index.search(term_weights{{"dog", 1.0f}}, 5, {}).empty());
    CHECK(index.search({}, 5, {}).empty());
    CHECK(index.terms() == 3);
}

TEST_CASE("saturated logits are weights") {
    // ln(1 + max(0, x)) of -1, 0, 1, 3
    const double logits[] = {-1, 0, 1, 3};
    const double expected[] = {0, 0, .693147, 1.386294};
    for (int i = 0; i < 4; ++i) CHECK(std::log1p(std::max(0.0, logits[i])) == Approx(expected[i]).margin(1e-6));
    sparse_index index;
    index.add(unit_id{0}, term_weights{{"zero", 0.0f}, {"three", std::log1p(3.0f)}});
    CHECK(index.terms() == 1);
    CHECK(index.search(term_weights{{"three", 1.0f}}, 1, {})[0].score == Approx(1.386294));
}

TEST_CASE("a term that comes twice counts once with its larger weight, and the order of terms does not show") {
    sparse_index one, two;
    one.add(unit_id{0}, term_weights{{"a", 1.0f}, {"b", .3f}, {"a", 2.0f}});
    two.add(unit_id{0}, term_weights{{"a", 2.0f}, {"a", 1.0f}, {"b", .3f}});
    const term_weights probe{{"b", .7f}, {"a", 1.5f}, {"b", .1f}}, turned{{"a", 1.5f}, {"b", .1f}, {"b", .7f}};
    CHECK(one.search(probe, 1, {}) == two.search(turned, 1, {}));
    CHECK(one.search(probe, 1, {})[0].score == Approx(3.21));
}

TEST_CASE("weights that are negative or no numbers are refused, and the index is what it was") {
    sparse_index index;
    for (const float bad : {-.1f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        CHECK(code_of([&] { index.add(unit_id{0}, term_weights{{"good", 1.0f}, {"bad", bad}}); }) == "sparse.weight");
        CHECK(code_of([&] { index.search(term_weights{{"bad", bad}}, 1, {}); }) == "sparse.weight");
    }
    CHECK(index.size() == 0);
    CHECK(index.terms() == 0);
    CHECK(index.most_keys_of_a_unit() == 0);
}

TEST_CASE("searching finds what scoring every key finds, in every filter") {
    std::mt19937 random(3);
    const auto weights = [&] {
        term_weights out;
        for (int t = 0; t < 4; ++t)
            out.push_back({std::string(1, static_cast<char>('a' + random() % 8)), static_cast<float>(random() % 4)});
        return out;
    };
    sparse_index index;
    std::vector<std::pair<unit_id, term_weights>> keys;
    for (std::uint32_t i = 0; i < 60; ++i) {
        keys.emplace_back(unit_id{i % 25}, weights());
        index.add(keys.back().first, keys.back().second);
    }
    CHECK(index.most_keys_of_a_unit() == 3);
    for (int round = 0; round < 20; ++round) {
        const term_weights probe = weights();
        unit_set some(25);
        for (std::uint32_t u = 0; u < 25; ++u)
            if (random() % 2) some.insert(unit_id{u});
        std::vector<scored_key> expected;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            double sum = 0;
            bool shared = false;
            for (const auto& [term, w] : detail::pooled(probe))
                for (const auto& [other, v] : detail::pooled(keys[i].second))
                    if (term == other) sum += static_cast<double>(w) * static_cast<double>(v), shared = true;
            if (shared && some.contains(keys[i].first))
                expected.push_back({keys[i].first, key_at(i), static_cast<float>(sum)});
        }
        std::ranges::sort(expected, [](const auto& a, const auto& b) { return better(a, b); });
        CHECK(index.search(probe, 100, {&some, nullptr}) == expected);
        expected.resize(std::min<std::size_t>(expected.size(), 5));
        CHECK(index.search(probe, 5, {&some, nullptr}) == expected);
    }
}
