// Legs that were written down: a retriever from a list of units and scores, and an index from a list of keys.
//
// For tests whose numbers are worked out by hand, and for legs that break the rules on purpose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/core/retriever.hpp"
#include "quarry/core/unit_set.hpp"

namespace toy {

using scored_units = std::vector<std::pair<std::uint32_t, float>>;

/// `n` articles with the ids "0", "1", ...; their texts are their ids, their field "part" is id modulo 2.
inline quarry::corpus numbered(std::size_t n) {
    quarry::corpus c(quarry::schema{{"part", quarry::field_type::integer}});
    for (std::size_t i = 0; i < n; ++i)
        c.add({.id = std::to_string(i), .text = std::to_string(i), .meta = {{"part", i % 2}}});
    return c;
}

/// Returns what it was given, in the order given, without what the query may not see; the key of unit u is u + 100.
/// Remembers the k of every call.
template <quarry::Scale S>
class listed : public quarry::retriever_interface<listed<S>> {
   public:
    using scale = S;

    listed(quarry::source_ref source, scored_units hits) : source_(source), hits_(std::move(hits)) {}

    quarry::source_ref source() const { return source_; }
    quarry::results<S> run(quarry::request& q, std::size_t k) const {
        {
            const std::lock_guard lock(*mutex_);
            asked->push_back(k);
        }
        quarry::results<S> out;
        for (const auto& [unit, score] : hits_) {
            if (out.size() == k) break;
            if (!q.admits(quarry::unit_id{unit})) continue;
            const quarry::key_id via{unit + 100};
            const auto rank = static_cast<std::uint32_t>(out.size() + 1);
            out.hits.push_back({quarry::unit_id{unit}, via, score,
                                q.note({"listed", nullptr, via, rank, score, 1.0f, score, quarry::no_entry})});
        }
        return out;
    }

    std::shared_ptr<std::vector<std::size_t>> asked = std::make_shared<std::vector<std::size_t>>();

   protected:
    std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
    quarry::source_ref source_;
    scored_units hits_;
};

/// The same for a leg that can score given units and knows its bounds.
template <quarry::Scale S>
class scoring_list : public quarry::retriever_interface<scoring_list<S>> {
   public:
    using scale = S;

    scoring_list(quarry::source_ref source, scored_units hits, quarry::score_bounds bounds)
        : list_(source, std::move(hits)), bounds_(bounds) {}

    quarry::source_ref source() const { return list_.source(); }
    quarry::results<S> run(quarry::request& q, std::size_t k) const { return list_.run(q, k); }
    quarry::score_bounds bounds(quarry::request&) const { return bounds_; }
    std::vector<quarry::scored_key> score(quarry::request& q, std::span<const quarry::unit_id> units) const {
        const auto all = list_.run(q, SIZE_MAX);
        list_.asked->pop_back();
        std::vector<quarry::scored_key> out;
        for (const quarry::unit_id unit : units) {
            const auto at = std::ranges::find(all.hits, unit, &quarry::hit<S>::unit);
            if (at == all.hits.end())
                out.push_back({unit, quarry::no_key, 0.0f});
            else
                out.push_back({unit, at->via, at->score});
        }
        return out;
    }

    const std::vector<std::size_t>& asked() const { return *list_.asked; }

   private:
    listed<S> list_;
    quarry::score_bounds bounds_;
};

/// Sorted as every list is.
inline scored_units in_order(scored_units hits) {
    std::ranges::sort(hits, [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return hits;
}

/// The unit ids of hits, in order.
template <class Results>
std::vector<std::uint32_t> units(const Results& found) {
    std::vector<std::uint32_t> out;
    for (const auto& hit : found) out.push_back(static_cast<std::uint32_t>(hit.unit));
    return out;
}

}  // namespace toy
