// The laws of a retriever: what holds for a leaf, a stage and a whole pipeline alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "quarry/core/retriever.hpp"
#include "support/catch.hpp"

namespace laws {

/// What a retriever promises beyond the laws, or less.
struct retriever_facts {
    /// Up to here the first n hits do not depend on k: a reranker or a fuser of ranks sees that many candidates.
    std::size_t prefix_up_to = SIZE_MAX;
    /// Under a filter come exactly those units of the whole answer that match. Not so where a stage counts what it keeps.
    bool filters_commute = true;
    /// At most so many come back whatever is asked, and so few may be what a floor left.
    std::size_t most = SIZE_MAX;
};

struct plain_hit {
    quarry::unit_id unit;
    quarry::key_id via;
    float score;

    friend bool operator==(const plain_hit&, const plain_hit&) = default;
};
using plain_hits = std::vector<plain_hit>;

/// A retriever without its type.
struct any_retriever_under_test {
    std::function<plain_hits(const quarry::query&, std::size_t)> retrieve;
    std::function<std::vector<plain_hits>(const std::vector<quarry::query>&, std::size_t)> batch;
    quarry::source_ref source;
    bool ordered_by_score;
    float lowest, highest;
};

inline std::vector<quarry::unit_id> units_of(const plain_hits& hits) {
    std::vector<quarry::unit_id> out;
    for (const plain_hit& h : hits) out.push_back(h.unit);
    return out;
}

inline void check_hits(const any_retriever_under_test& r, const plain_hits& hits, std::size_t k) {
    CHECK(hits.size() <= k);
    std::set<quarry::unit_id> units;
    for (std::size_t i = 0; i < hits.size(); ++i) {
        CHECK(units.insert(hits[i].unit).second);
        CHECK(quarry::index_of(hits[i].unit) < r.source.size());
        CHECK(std::isfinite(hits[i].score));
        CHECK(hits[i].score >= r.lowest);
        CHECK(hits[i].score <= r.highest);
        if (i == 0 || !r.ordered_by_score) continue;
        CHECK(std::pair(-hits[i - 1].score, hits[i - 1].unit) < std::pair(-hits[i].score, hits[i].unit));
    }
}

/// `bucket` is an integer field that every unit of the source has, with values 0 to 99.
inline void retriever_laws(const any_retriever_under_test& r, const std::vector<std::string>& questions,
                           const retriever_facts& facts, const std::string& bucket) {
    using quarry::query;
    for (const std::string& text : questions) {
        CAPTURE(text);
        const plain_hits all = r.retrieve(text, SIZE_MAX / 4);
        check_hits(r, all, std::min(r.source.size(), facts.most));
        CHECK(r.retrieve(text, 0).empty());
        CHECK(r.retrieve(text, SIZE_MAX) == all);
        CHECK(r.retrieve(text, SIZE_MAX / 4) == all);

        // k counts units: as many as there are, and the first n of n + 1 are those of n.
        plain_hits longer = r.retrieve(text, std::min(facts.prefix_up_to, std::size_t{12}));
        for (std::size_t k = longer.size(); k-- > 0;) {
            const plain_hits some = r.retrieve(text, k);
            check_hits(r, some, k);
            CHECK(some.size() == std::min(k, all.size()));
            longer.resize(k);
            CHECK(some == longer);
        }
        // Pages joined are one longer answer.
        const std::size_t reach = std::min(facts.prefix_up_to, std::size_t{10});
        plain_hits joined;
        for (std::size_t skip = 0; skip < reach; skip += 3)
            for (const plain_hit& h : r.retrieve(query(text).skip(skip), std::min(reach - skip, std::size_t{3})))
                joined.push_back(h);
        CHECK(joined == r.retrieve(text, reach));
        CHECK(r.retrieve(query(text).skip(SIZE_MAX), 5).empty());

        // Filters hold at every selectivity, as filter, scope, or both, evaluated now or beforehand.
        for (const int share : {0, 1, 5, 30, 70, 100}) {
            const quarry::filter f = quarry::lt(bucket, share);
            const quarry::selection evaluated = r.source.select({&f, nullptr, false, std::nullopt});
            const plain_hits matching = r.retrieve(query(text).where(f), SIZE_MAX / 4);
            check_hits(r, matching, r.source.size());
            for (const plain_hit& h : matching) CHECK(evaluated.returned().contains(h.unit));
            if (facts.filters_commute) {
                std::set<quarry::unit_id> expected, got;
                for (const plain_hit& h : all)
                    if (evaluated.returned().contains(h.unit)) expected.insert(h.unit);
                for (const plain_hit& h : matching) got.insert(h.unit);
                if (facts.most == SIZE_MAX) CHECK(got == expected);
            }
            for (const std::size_t k : {1u, 4u}) {
                const plain_hits some = r.retrieve(query(text).where(f), k);
                CHECK(some.size() == std::min(k, matching.size()));
                for (const plain_hit& h : some) CHECK(evaluated.returned().contains(h.unit));
                CHECK(r.retrieve(query(text).within(quarry::scope::only(f)), k) == some);
                CHECK(r.retrieve(query(text).where(evaluated), k) == some);
                CHECK(r.retrieve(query(text).where(f).within(quarry::scope::only(f)), k) == some);
            }
        }
        // Being watched changes nothing, and a stop is heard.
        quarry::trace t;
        CHECK(r.retrieve(query(text).traced(t), 5) == r.retrieve(text, 5));
        std::stop_source stop;
        stop.request_stop();
        CHECK_THROWS_AS(r.retrieve(query(text).stop_on(stop.get_token()), 5), quarry::cancelled);
    }

    // A batch is the same as one after the other, and eight threads as one.
    std::vector<query> batch;
    for (const std::string& text : questions) batch.emplace_back(text);
    batch.push_back(query(questions.front()).where(quarry::lt(bucket, 50)));
    const std::vector<plain_hits> together = r.batch(batch, 5);
    std::vector<plain_hits> alone;
    for (const query& q : batch) alone.push_back(r.retrieve(q, 5));
    CHECK(together == alone);
    std::vector<std::vector<plain_hits>> answers(8);
    std::vector<std::thread> threads;
    for (auto& mine : answers)
        threads.emplace_back([&] {
            for (const query& q : batch) mine.push_back(r.retrieve(q, 5));
        });
    for (auto& thread : threads) thread.join();
    for (const auto& mine : answers) CHECK(mine == alone);
}

/// The key that a hit names belongs to its unit or to a part of it, as far as the ledger knows its keys.
template <quarry::Scale S>
void keys_point_at_units(const quarry::results<S>& found) {
    for (const auto& hit : found) {
        if (hit.trail == quarry::no_entry) continue;
        const quarry::ledger_entry& entry = found.notes()[hit.trail];
        CHECK(entry.key == hit.via);
        CHECK(entry.score == hit.score);
        if (!entry.keys || hit.via == quarry::no_key) continue;
        REQUIRE(entry.keys->contains(hit.via));
        bool related = false;
        for (std::optional<quarry::unit_id> up = entry.keys->unit(hit.via); up && !related; up = found.source().parent(*up))
            related = *up == hit.unit;
        CHECK(related);
        CHECK_FALSE(found.explain(hit).empty());
    }
}

template <quarry::Retriever R>
void retriever(const R& r, const std::vector<std::string>& questions, retriever_facts facts = {},
               const std::string& bucket = "bucket") {
    using scale = typename R::scale;
    const auto plain = [](const auto& found) {
        plain_hits out;
        for (const auto& h : found) out.push_back({h.unit, h.via, h.score});
        return out;
    };
    retriever_laws({[&](const quarry::query& q, std::size_t k) { return plain(r.retrieve(q, k)); },
                    [&](const std::vector<quarry::query>& queries, std::size_t k) {
                        std::vector<plain_hits> out;
                        for (const auto& found : r.retrieve(queries, k)) out.push_back(plain(found));
                        return out;
                    },
                    r.source(), !std::same_as<scale, quarry::selection_scale> && !std::same_as<scale, quarry::unknown_scale>,
                    scale::lowest, scale::highest},
                   questions, facts, bucket);
    for (const std::string& text : questions) keys_point_at_units(r.retrieve(text, 5));
    if constexpr (quarry::ScoringRetriever<R>) {
        // Given units get the scores that searching finds for them.
        for (const std::string& text : questions) {
            const quarry::query q(text);
            quarry::request request(q, r.source());
            const auto all = r.run(request, SIZE_MAX / 4);
            std::vector<quarry::unit_id> units;
            for (std::size_t u = r.source().size(); u-- > 0;) units.push_back(quarry::unit_at(u));
            const auto scores = r.score(request, units);
            REQUIRE(scores.size() == units.size());
            for (std::size_t i = 0; i < units.size(); ++i) {
                const auto at = std::find_if(all.begin(), all.end(), [&](const auto& h) { return h.unit == units[i]; });
                CHECK(scores[i].unit == units[i]);
                if (at == all.end()) CHECK(scores[i].key == quarry::no_key);
                else CHECK(scores[i] == quarry::scored_key{at->unit, at->via, at->score});
            }
            if constexpr (quarry::BoundedRetriever<R>) {
                const quarry::score_bounds bounds = r.bounds(request);
                for (const auto& h : all) CHECK(h.score <= bounds.high);
            }
        }
    }
}

}  // namespace laws
