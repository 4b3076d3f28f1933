// The laws of an index: what every caller may rely on, whoever wrote it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "quarry/core/key_index.hpp"
#include "quarry/core/unit_set.hpp"
#include "support/catch.hpp"

namespace laws {

using found_keys = std::vector<quarry::scored_key>;

/// One index with its probes bound: what the laws ask of it, without its type.
struct any_index {
    std::size_t size, most_keys_of_a_unit, universe;  // units lie below universe
    float lowest, highest;
    bool exact;  // the answer for n is a prefix of that for n + 1
    std::size_t probes;
    std::function<found_keys(std::size_t probe, std::size_t n, const quarry::accept&)> search;
};

inline void order_and_bounds(const any_index& index, const found_keys& found, std::size_t n) {
    CHECK(found.size() <= n);
    CHECK(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return quarry::better(a, b); }));
    std::set<quarry::key_id> keys;
    for (const quarry::scored_key& k : found) {
        CHECK(keys.insert(k.key).second);
        CHECK(quarry::index_of(k.unit) < index.universe);
        CHECK(std::isfinite(k.score));
        CHECK(k.score >= index.lowest);
        CHECK(k.score <= index.highest);
    }
}

inline void index_laws(const any_index& index) {
    std::map<quarry::key_id, quarry::unit_id> unit_of;
    for (std::size_t p = 0; p < index.probes; ++p) {
        const found_keys all = index.search(p, SIZE_MAX, {});
        // Everything is a bounded number of keys, in order, each once, and as good as its scale allows.
        CHECK(all.size() <= index.size);
        order_and_bounds(index, all, index.size);
        CHECK(index.search(p, 0, {}).empty());
        // Asking changes nothing.
        CHECK(index.search(p, SIZE_MAX, {}) == all);
        // A key stands for one unit, and no unit has more keys than the index says.
        std::map<quarry::unit_id, std::size_t> keys_of;
        for (const quarry::scored_key& k : all) {
            CHECK(unit_of.try_emplace(k.key, k.unit).first->second == k.unit);
            CHECK(++keys_of[k.unit] <= index.most_keys_of_a_unit);
        }
        for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{10}, all.size()}) {
            n = std::min(n, all.size());
            const found_keys some = index.search(p, n, {});
            order_and_bounds(index, some, n);
            if (!index.exact) continue;
            CHECK(some == found_keys(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)));
            // k units are among the first m (k - 1) + 1 keys, if there are k.
            const std::size_t k = std::min(n, keys_of.size());
            std::set<quarry::unit_id> units;
            for (const auto& key : index.search(p, quarry::detail::keys_needed(k, index.most_keys_of_a_unit, index.size), {}))
                units.insert(key.unit);
            CHECK(units.size() >= k);
        }
        // Only what is accepted, and all of it, from none of the units to all.
        for (const std::size_t step : {0u, 1u, 2u, 7u, 50u}) {
            quarry::unit_set allowed(index.universe);
            for (std::size_t u = 0; step != 0 && u < index.universe; u += step) allowed.insert(quarry::unit_at(u));
            found_keys expected;
            for (const quarry::scored_key& k : all)
                if (allowed.contains(k.unit)) expected.push_back(k);
            const found_keys accepted = index.search(p, SIZE_MAX, {&allowed});
            for (const quarry::scored_key& k : accepted) CHECK(allowed.contains(k.unit));
            CHECK(accepted == expected);
            const std::size_t n = std::min(std::size_t{4}, expected.size());
            const found_keys few = index.search(p, n, {&allowed});
            for (const quarry::scored_key& k : few) CHECK(allowed.contains(k.unit));
            if (index.exact)
                CHECK(few == found_keys(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(n)));
        }
    }
    // The same from eight threads at once.
    std::vector<found_keys> alone(index.probes);
    for (std::size_t p = 0; p < index.probes; ++p) alone[p] = index.search(p, 5, {});
    std::vector<std::vector<found_keys>> together(8);
    std::vector<std::thread> threads;
    for (auto& mine : together)
        threads.emplace_back([&] {
            for (std::size_t p = 0; p < index.probes; ++p) mine.push_back(index.search(p, 5, {}));
        });
    for (auto& thread : threads) thread.join();
    for (const auto& mine : together) CHECK(mine == alone);
}

/// Applies the laws of KeyIndex, and those of ScoringIndex and BoundedIndex where the index claims them.
template <class Probe, class I>
    requires quarry::KeyIndex<I, Probe>
void key_index(const I& index, const std::vector<Probe>& probes, std::size_t universe) {
    bool exact = true;
    if constexpr (requires { index.approximate(); }) exact = !index.approximate();
    index_laws({index.size(), index.most_keys_of_a_unit(), universe, I::scale::lowest, I::scale::highest, exact,
                probes.size(), [&](std::size_t p, std::size_t n, const quarry::accept& allowed) {
                    return index.search(probes[p], n, allowed);
                }});
    for (const Probe& probe : probes) {
        const found_keys all = index.search(probe, SIZE_MAX, {});
        std::map<quarry::unit_id, quarry::scored_key> best;
        for (const auto& k : all) best.try_emplace(k.unit, k);
        if constexpr (quarry::ScoringIndex<I, Probe>) {
            // Units of any order, repeated or unknown: each gets what searching finds for it.
            std::vector<quarry::unit_id> asked;
            for (std::size_t u = universe + 3; u-- > 0;) asked.push_back(quarry::unit_at(u * 7 % (universe + 3)));
            asked.push_back(asked.front());
            const found_keys scores = index.score(probe, asked);
            REQUIRE(scores.size() == asked.size());
            for (std::size_t i = 0; i < asked.size(); ++i) {
                CHECK(scores[i].unit == asked[i]);
                const auto found = best.find(asked[i]);
                if (found != best.end()) CHECK(scores[i] == found->second);
                else CHECK(scores[i].key == quarry::no_key);
            }
            CHECK(index.score(probe, {}).empty());
        }
        if constexpr (quarry::BoundedIndex<I, Probe>) {
            const quarry::score_bounds bounds = index.bounds(probe);
            CHECK(std::isfinite(bounds.low));
            CHECK(bounds.high >= bounds.low);
            for (const auto& k : all) CHECK(k.score <= bounds.high);
        }
    }
}

/// Of an index of ours: a filter that nobody evaluated is refused and not forgotten.
template <class Probe, class I>
void refuses_unevaluated_filters(const I& index, const Probe& probe) {
    const quarry::filter f = quarry::eq("field", 1);
    CHECK_THROWS_AS(index.search(probe, 1, {nullptr, &f}), quarry::usage_error);
}

template <quarry::SparseIndex I>
void sparse_index(const I& index, const std::vector<quarry::lexical_probe>& probes, std::size_t universe) {
    key_index<quarry::lexical_probe>(index, probes, universe);
}

/// `vectors` says whether a unit has a row. Rows found by `vector_of` are finite and of the index's width.
template <quarry::DenseIndex I>
void dense_index(const I& index, const std::vector<std::vector<float>>& probes, std::size_t universe) {
    std::vector<quarry::dense_probe> views(probes.begin(), probes.end());
    key_index<quarry::dense_probe>(index, views, universe);
    std::set<quarry::unit_id> with_row;
    for (const auto& k : index.search(views.front(), SIZE_MAX, {})) with_row.insert(k.unit);
    std::vector<float> row(index.dimension());
    for (std::size_t u = 0; u < universe + 3; ++u) {
        const quarry::unit_id unit = quarry::unit_at(u);
        std::fill(row.begin(), row.end(), std::nanf(""));
        CHECK(index.vector_of(unit, row) == with_row.contains(unit));
        if (!with_row.contains(unit)) continue;
        CHECK(std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); }));
        if constexpr (std::same_as<typename I::scale, quarry::cosine_scale>) {
            // Nothing is nearer to a row than the row itself.
            const auto found = index.search(row, 1, {});
            REQUIRE(found.size() == 1);
            CHECK(found[0].score >= 1.0f - 1e-6f);
        }
    }
}

}  // namespace laws
