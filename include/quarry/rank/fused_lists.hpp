// Fused lists: from ranked lists of one source to one, by rank or by exact scores.
//
// What `fuse` does with its legs, and what the retrievers do that search for several texts (probed, step_by_step,
// adaptive, cross_modal). Nothing here knows which retriever a list is from, so it is compiled once a fuser.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../detail/function_ref.hpp"
#include "../detail/place_table.hpp"
#include "../detail/text.hpp"
#include "fuser.hpp"

namespace QUARRY_NAMESPACE::detail {

/// A list without the type of its scores.
struct leg_list {
    leg_summary summary;
    std::vector<scored_key> hits;       // best first; behind them what was only scored
    std::vector<std::uint32_t> ranks;   // of the hits; equal scores share one, unless the position is the truth; 0: only scored
    std::vector<std::uint32_t> trails;  // of the hits
    std::string_view scale;
    const key_table* keys = nullptr;  // of what was only scored
    bool exhausted = true;
    result_state state = result_state::complete;
};

/// Errors  callable_error `fuse.not_finite`: a NaN would put every list that is sorted after it out of order.
inline void require_finite_score(float score, std::string_view scale, unit_id unit) {
    if (!is_finite(score))
        raise<callable_error>("fuse.not_finite", concat("quarry::fuse: the ", scale, " leg's score of unit ",
                                                        index_of(unit), " is ", score));
}

/// Fills the summary from the hits, and gives them ranks.
inline void summarize(leg_list& list, bool ties_share_a_rank) {
    leg_summary& s = list.summary;
    s.size = list.hits.size();
    if (s.size == 0) return;
    double sum = 0.0, squares = 0.0;
    s.best = s.worst = list.hits.front().score;
    list.ranks.reserve(s.size);
    for (std::size_t i = 0; i < s.size; ++i) {
        const float score = list.hits[i].score;
        require_finite_score(score, list.scale, list.hits[i].unit);
        const bool tie = ties_share_a_rank && i > 0 && score == list.hits[i - 1].score;
        list.ranks.push_back(tie ? list.ranks.back() : static_cast<std::uint32_t>(i + 1));
        s.best = (std::max)(s.best, score);
        s.worst = (std::min)(s.worst, score);
        sum += static_cast<double>(score);
    }
    const double count = static_cast<double>(s.size);
    s.mean = sum / count;
    for (const scored_key& h : list.hits) {
        const double away = static_cast<double>(h.score) - s.mean;
        squares += away * away;
    }
    s.deviation = std::sqrt(squares / count);
    s.sample_deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
}

template <Scale S>
leg_list list_of(const results<S>& found, std::size_t asked, float weight) {
    leg_list list;
    list.scale = S::name;
    list.state = found.state;
    list.exhausted = found.size() < asked;
    list.summary.weight = weight;
    list.summary.lowest = S::lowest;
    list.hits.reserve(found.size());
    list.trails.reserve(found.size());
    for (const auto& h : found) {
        list.hits.push_back({h.unit, h.via, h.score});
        list.trails.push_back(h.trail);
    }
    summarize(list, !std::same_as<S, selection_scale>);
    return list;
}

/// What `search(i, r)` finds with r the i-th of `requests`, which are `q` or children of it: one after the other, or
/// side by side where the query has an executor, with the same ledger and trace.
///
/// Errors  what the first of them that fails throws.
inline std::vector<leg_list> searched_lists(request& q, std::span<request* const> requests,
                                            function_ref<leg_list(std::size_t, request&)> search) {
    std::vector<leg_list> lists(requests.size());
    const executor* on = q.side_by_side();
    if (!on || requests.size() < 2) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            q.check();
            lists[i] = search(i, *requests[i]);
        }
        return lists;
    }
    std::vector<request> branches;
    for (const request* r : requests) branches.push_back(r->branch());
    const auto failures = run_all(*on, requests.size(), [&](std::size_t i) {
        branches[i].check();
        branches[i].start_clock();
        lists[i] = search(i, branches[i]);
    });
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::uint32_t by = q.join(branches[i]);
        if (failures[i]) std::rethrow_exception(failures[i]);
        for (std::uint32_t& trail : lists[i].trails)
            if (trail != no_entry) trail += by;
    }
    return lists;
}

/// The units of some lists, each once, and where each stands in which list: a table of units by lists.
class candidate_table {
   public:
    explicit candidate_table(std::span<const leg_list> lists) : lists_(lists.size()) {
        std::size_t most = 0;
        for (const leg_list& list : lists) most += list.hits.size();
        units_.reserve(most);
        places_.resize(most * lists_, absent);
        place_table numbers(most);
        for (std::size_t l = 0; l < lists_; ++l)
            for (std::size_t i = 0; i < lists[l].hits.size(); ++i) {
                const unit_id unit = lists[l].hits[i].unit;
                const auto [u, fresh] = numbers.meet(index_of(unit));
                if (fresh) units_.push_back(unit);
                if (at(u, l) == absent) places_[u * lists_ + l] = static_cast<std::uint32_t>(i);
            }
    }
    /// Of units that stand in none of `lists` lists yet.
    candidate_table(std::span<const unit_id> units, std::size_t lists)
        : lists_(lists), units_(units.begin(), units.end()), places_(units.size() * lists, absent) {}

    static constexpr std::uint32_t absent = UINT32_MAX;

    std::size_t size() const noexcept { return units_.size(); }
    unit_id unit(std::size_t u) const noexcept { return units_[u]; }
    /// The position of unit u among the hits of list l, or `absent`.
    std::uint32_t at(std::size_t u, std::size_t l) const noexcept { return places_[u * lists_ + l]; }

    /// The units that list l does not hold.
    std::vector<unit_id> missing(std::size_t l) const {
        std::vector<unit_id> out;
        for (std::size_t u = 0; u < size(); ++u)
            if (at(u, l) == absent) out.push_back(units_[u]);
        return out;
    }

    /// Puts the scores of what `missing(l)` gave, or of some of it in the same order, at the end of list l.
    ///
    /// Errors  callable_error `fuse.not_finite`, and `fuse.score_count` for a leg that gave another number of scores.
    void complete(std::size_t l, leg_list& list, std::span<const unit_id> asked, std::span<const scored_key> scores) {
        if (scores.size() != asked.size())
            raise<callable_error>("fuse.score_count", concat("quarry::fuse: leg ", l, " gave ", scores.size(),
                                                             " scores for ", asked.size(), " units"));
        std::size_t next = 0;
        for (std::size_t u = 0; u < size() && next < asked.size(); ++u) {
            if (at(u, l) != absent || units_[u] != asked[next]) continue;
            const scored_key& s = scores[next++];
            if (s.key == no_key) continue;
            require_finite_score(s.score, list.scale, s.unit);
            places_[u * lists_ + l] = static_cast<std::uint32_t>(list.hits.size());
            list.hits.push_back(s);
            list.ranks.push_back(0);
            list.trails.push_back(no_entry);
        }
    }

   private:
    std::size_t lists_;
    std::vector<unit_id> units_;
    std::vector<std::uint32_t> places_;  // by unit and list; room for more units than there are, where lists share some
};

/// A unit's parts as one score.
struct joined_parts {
    float score = 0.0f;
    std::size_t best = 0, count = 0;  // the list that gave most, the first of equals; how many gave anything
};

/// Joins the parts of the units of a table.
template <Fuser F>
class part_joiner {
   public:
    part_joiner(const F& fusion, const std::vector<leg_list>& lists, const candidate_table& units)
        : fusion_(fusion), lists_(lists), units_(units) {}

    /// Of unit u in list l, which holds it.
    float part(std::size_t u, std::size_t l) const {
        const leg_list& list = lists_[l];
        const std::uint32_t at = units_.at(u, l);
        return fusion_.contribution(list.summary, list.ranks[at], list.hits[at].score);
    }

    joined_parts operator()(std::size_t u) {
        joined_parts out;
        parts_.clear();
        float most = 0.0f;
        for (std::size_t l = 0; l < lists_.size(); ++l) {
            if (units_.at(u, l) == candidate_table::absent) continue;
            parts_.push_back(part(u, l));
            if (parts_.size() == 1 || parts_.back() > most) out.best = l, most = parts_.back();
        }
        out.count = parts_.size();
        sort_ascending(parts_);
        out.score = fusion_.combine(parts_);
        return out;
    }

   private:
    const F& fusion_;
    const std::vector<leg_list>& lists_;
    const candidate_table& units_;
    std::vector<float> parts_;
};

/// What is known of a unit before it is noted.
struct fused_unit {
    scored_key hit;
    std::uint32_t number;  // in the table
    std::uint32_t best;    // the list whose key stands for the unit
};

/// The k best, score descending, then unit id.
inline void keep_best(std::vector<fused_unit>& all, std::size_t k) {
    const auto kept = static_cast<std::ptrdiff_t>((std::min)(k, all.size()));
    std::partial_sort(all.begin(), all.begin() + kept, all.end(),
                      [](const fused_unit& a, const fused_unit& b) { return better(a.hit, b.hit); });
    all.erase(all.begin() + kept, all.end());
}

/// The k best units of all lists. The weights are in the lists' summaries. One entry for each sum and one below it for
/// every list that gave a part; only hits that are returned get entries.
///
/// Order  score descending, then unit id. By rank a list adds weight / (k + rank), and equal scores of a list share one.
template <Fuser F>
results<typename F::scale> fused_units(request& q, const F& fusion, const std::vector<leg_list>& lists,
                                       const candidate_table& units, std::size_t k) {
    using scale = typename F::scale;
    part_joiner<F> join(fusion, lists, units);
    std::vector<fused_unit> all(units.size());
    std::size_t candidates = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
        const joined_parts whole = join(u);
        candidates += whole.count;
        all[u] = {{units.unit(u), no_key, whole.score}, static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(whole.best)};
    }
    keep_best(all, k);
    results<scale> out;
    out.hits.reserve(all.size());
    q.expect_notes(all.size() * (lists.size() + 1));
    for (const fused_unit& one : all) {
        std::uint32_t below = no_entry;
        hit<scale> h{one.hit.unit, no_key, one.hit.score, no_entry};
        const key_table* keys = nullptr;
        for (std::size_t l = lists.size(); l-- > 0;) {
            const std::uint32_t at = units.at(one.number, l);
            if (at == candidate_table::absent) continue;
            const leg_list& list = lists[l];
            const std::uint32_t trail = list.trails[at];
            const key_table* own = trail == no_entry ? list.keys : q.notes()[trail].keys;
            // A key's number means nothing in another list's table.
            if (l == one.best) keys = own, h.via = list.hits[at].key;
            below = q.note({list.scale, own, list.hits[at].key, list.ranks[at], list.hits[at].score,
                            list.summary.weight, join.part(one.number, l), trail, below});
        }
        h.trail = q.note({scale::name, keys, h.via, 0, h.score, 1.0f, h.score, below});
        out.hits.push_back(h);
    }
    for (const leg_list& list : lists) out.state = (std::max)(out.state, list.state);
    q.tell({trace_code::fused, scale::name, candidates, units.size()});
    return out;
}

template <Fuser F>
results<typename F::scale> fused_lists(request& q, const F& fusion, const std::vector<leg_list>& lists, std::size_t k) {
    return fused_units(q, fusion, lists, candidate_table(lists), k);
}

/// Could no unit that is in none of the lists be among the k best? Its score in a list is at most the last one that was
/// found, and a list that has no more to return does not hold it. Equal is not certain: its id could be lower.
template <Fuser F>
bool is_certain(const F& fusion, const std::vector<leg_list>& lists, const results<typename F::scale>& out, std::size_t k) {
    if (k == 0) return true;
    std::vector<float> parts;
    for (const leg_list& list : lists)
        if (!list.exhausted) parts.push_back(fusion.contribution(list.summary, 0, list.hits[list.summary.size - 1].score));
    if (parts.empty()) return true;
    sort_ascending(parts);
    return out.size() >= k && out.hits.back().score > std::nextafter(fusion.combine(parts), unbounded);
}

}  // namespace QUARRY_NAMESPACE::detail
