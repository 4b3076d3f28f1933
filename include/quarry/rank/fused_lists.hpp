// Fused lists: fusion of lists whose number is known only when the question is there, by rank or by exact scores.
//
// `fuse` combines legs, which are types; this combines what several searches of one question returned, for the
// retrievers that make them: probed, step_by_step, adaptive, cross_modal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../detail/place_table.hpp"
#include "fuse.hpp"

namespace QUARRY_NAMESPACE::detail {

/// Where a unit stands in one of several lists.
struct list_place {
    std::size_t list, at;
};

template <Fuser F>
float part_of(const F& fusion, const std::vector<leg_list>& lists, const list_place& p) {
    return fusion.contribution(lists[p.list].summary, lists[p.list].ranks[p.at], lists[p.list].hits[p.at].score);
}

// One entry for the sum and one below it for every list, as `fuse` keeps them; the key is that of the best part.
template <Fuser F>
void note_fused(request& q, const F& fusion, const std::vector<leg_list>& lists, const std::vector<list_place>& places,
                hit<typename F::scale>& h) {
    std::uint32_t below = no_entry;
    const key_table* keys = nullptr;
    float best = 0.0f;
    for (std::size_t i = places.size(); i-- > 0;) {
        const leg_list& list = lists[places[i].list];
        const scored_key& found = list.hits[places[i].at];
        const std::uint32_t trail = list.trails[places[i].at];
        const key_table* own = trail == no_entry ? nullptr : q.notes()[trail].keys;
        const float score = part_of(fusion, lists, places[i]);
        if (score >= best) best = score, keys = own, h.via = found.key;
        below = q.note({list.scale, own, found.key, list.ranks[places[i].at], found.score, list.summary.weight, score,
                        trail, below});
    }
    h.trail = q.note({F::scale::name, keys, h.via, 0, h.score, 1.0f, h.score, below});
}

/// The k best units of all lists. The weights are in the lists' summaries.
///
/// Order  score descending, then unit id. By rank a list adds weight / (k + rank), and equal scores of a list share one.
template <Fuser F>
results<typename F::scale> fused_lists(request& q, const F& fusion, const std::vector<leg_list>& lists, std::size_t k) {
    std::vector<std::pair<unit_id, std::vector<list_place>>> units;
    std::size_t candidates = 0;
    for (const leg_list& list : lists) candidates += list.hits.size();
    place_table places(candidates);
    for (std::size_t l = 0; l < lists.size(); ++l)
        for (std::size_t i = 0; i < lists[l].hits.size(); ++i) {
            const auto [place, fresh] = places.meet(index_of(lists[l].hits[i].unit));
            if (fresh) units.push_back({lists[l].hits[i].unit, {}});
            units[place].second.push_back({l, i});
        }
    std::vector<std::pair<hit<typename F::scale>, std::size_t>> all;
    std::vector<float> parts;
    for (std::size_t u = 0; u < units.size(); ++u) {
        parts.clear();
        for (const list_place& p : units[u].second) parts.push_back(part_of(fusion, lists, p));
        sort_ascending(parts);
        all.push_back({{units[u].first, no_key, fusion.combine(parts), no_entry}, u});
    }
    const std::size_t kept = (std::min)(k, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                      [](const auto& a, const auto& b) { return better(a.first, b.first); });
    results<typename F::scale> out;
    for (std::size_t i = 0; i < kept; ++i) {
        out.hits.push_back(all[i].first);
        note_fused(q, fusion, lists, units[all[i].second].second, out.hits.back());
    }
    for (const auto& list : lists) out.state = (std::max)(out.state, list.state);
    q.tell({trace_code::fused, F::scale::name, candidates, units.size()});
    return out;
}

/// Adds to each list of `base`, searched by the request of the same place, the exact scores of the units that only others
/// returned. Says what a unit that none returned could reach at most; nothing where there is no such unit.
template <BoundedRetriever Base, Fuser F>
std::optional<float> complete_lists(const Base& base, std::span<request* const> requests, const F& fusion,
                                    std::vector<leg_list>& lists) {
    std::vector<float> most;
    for (const leg_list& list : lists)
        if (!list.exhausted) most.push_back(fusion.contribution(list.summary, 0, list.hits.back().score));
    std::vector<unit_id> all;
    for (const leg_list& list : lists)
        for (const scored_key& h : list.hits) all.push_back(h.unit);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (std::size_t i = 0; i < lists.size(); ++i) {
        leg_list& list = lists[i];
        if (list.hits.empty()) continue;
        std::vector<unit_id> own, missing;
        for (const scored_key& h : list.hits) own.push_back(h.unit);
        std::ranges::sort(own);
        std::ranges::set_difference(all, own, std::back_inserter(missing));
        std::erase_if(missing, [&](unit_id unit) { return !requests[i]->admits(unit); });
        for (const scored_key& s : base.score(*requests[i], missing)) {
            if (s.key == no_key) continue;
            require_finite_score(s.score, list.scale, s.unit);
            list.hits.push_back(s);
            list.ranks.push_back(0);
            list.trails.push_back(no_entry);
        }
    }
    if (most.empty()) return std::nullopt;
    sort_ascending(most);
    return fusion.combine(most);
}

}  // namespace QUARRY_NAMESPACE::detail
