// Hierarchical: articles first, then their sections, then their chunks.
//
//     hierarchical({.beams = {10}}, level{unit_kind::article, lexical(files.bm25)},
//                  level{unit_kind::chunk, lexical(kb.bm25)})
//
// Each level is a retriever over its own keys: what stands for an article there (its summary, its text, the centre of
// its chunks) is what its index was built from. Two things are gained, and each can be had alone. A beam passes on only
// the best units of a level: fewer are searched below. A blend lets a chunk's score have a share of its article's:
// answers get better.
//
// A filter holds at every level: a unit from which nothing can be returned takes no place in a beam. A unit that lies
// in no unit of a level above is not touched by that level's beam.
//
// The surprising thing: a beam of one is harmful. On questions about code it costs eleven points of recall at twenty,
// and the blend without any beam gains two; so all units are passed on unless you say otherwise.
//
// Source  Liu et al., "Dense Hierarchical Retrieval", 2021 (arXiv 2110.15439), with a dense document stage and both
//         levels' scores at the end.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../core/unit_set.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// A level: the kind of its units, and what searches them.
template <Retriever R>
struct level {
    unit_kind kind;
    R search;
};
template <class R>
level(unit_kind, R) -> level<R>;

struct hierarchical_options {
    /// How many units each level above the last passes on, top first; doubled until k are found. Missing or 0: all.
    std::vector<std::size_t> beams{};

    /// What each level's score counts, top first, the last level's own at the end; only their proportions matter.
    /// Empty: .7 for the unit itself, .3 in equal parts for the levels above.
    std::vector<float> weights{};
};

/// Score  the weighted mean of the unit's score and those of what it is part of, each divided by the best of its level
///        for this query; what does not match counts 0.
template <Retriever Lowest, ScoringRetriever... Upper>
class hierarchical_retriever : public retriever_interface<hierarchical_retriever<Lowest, Upper...>> {
    static constexpr std::size_t n = sizeof...(Upper);
    static_assert(n >= 1, "quarry::hierarchical: one level is no hierarchy");

   public:
    using scale = blend_scale;

    hierarchical_retriever(hierarchical_options options, level<Lowest> lowest, level<Upper>... upper)
        : options_(std::move(options)), lowest_(std::move(lowest)), upper_(std::move(upper)...) {
        const auto same = [&](const auto&... l) { return ((l.search.source() == source()) && ...); };
        if (!std::apply(same, upper_))
            detail::raise<usage_error>("hierarchical.source",
                                       "quarry::hierarchical: the levels search different sources");
        if (options_.beams.size() > n)
            detail::raise<usage_error>("hierarchical.beams",
                                       detail::concat("quarry::hierarchical: ", n, " levels above the last, but ",
                                                      options_.beams.size(), " beams"));
        if (options_.weights.empty()) {
            options_.weights.assign(n, 0.3f / static_cast<float>(n));
            options_.weights.push_back(0.7f);
        }
        if (options_.weights.size() != n + 1)
            detail::raise<usage_error>("hierarchical.weights", detail::concat("quarry::hierarchical: ", n + 1,
                                                                              " levels, but ", options_.weights.size(),
                                                                              " weights"));
        float sum = 0.0f;
        for (const float w : options_.weights) {
            if (!detail::is_finite(w) || w < 0.0f)
                detail::raise<usage_error>(
                    "hierarchical.weights",
                    detail::concat("quarry::hierarchical: a weight is finite and at least 0, this is ", w));
            sum += w;
        }
        if (!(options_.weights.back() > 0.0f))
            detail::raise<usage_error>("hierarchical.weights",
                                       "quarry::hierarchical: the weight of the units themselves must be above 0");
        for (float& w : options_.weights) w /= sum;
    }

    source_ref source() const { return lowest_.search.source(); }
    void prepare(std::span<request> batch) const {
        std::apply([&](const auto&... l) { (detail::prepare(l.search, batch), ...); }, upper_);
        detail::prepare(lowest_.search, batch);
    }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        detail::require_evaluated(q.allowed());
        const passage p = pushed_up(q);
        std::vector<std::size_t> beams(n, 0);
        std::ranges::copy(options_.beams, beams.begin());
        for (;;) {
            ways w;
            descend(q, p, beams, w, std::index_sequence_for<Upper...>{});
            results<scale> found = lowest(q, w, k);
            if (found.size() >= k || !w.narrowed) return found;
            // A level that has shown all it can find is passed as a whole: what does not match there may match below.
            for (std::size_t l = 0; l < n; ++l) {
                if (beams[l] == 0) continue;
                const std::size_t before = beams[l];
                beams[l] = w.ended[l] || beams[l] > SIZE_MAX / 2 ? 0 : 2 * beams[l];
                q.tell({trace_code::widened, "hierarchical", before, beams[l] == 0 ? source().size() : beams[l]});
            }
        }
    }

   private:
    // Units from which something can be returned; null: all.
    using passage = std::shared_ptr<const unit_set>;

    struct ways {
        std::array<std::shared_ptr<const unit_set>, n> passed{};  // by level; null: all
        std::array<float, n> best{};
        std::array<bool, n> ended{};
        bool narrowed = false;
        result_state state = result_state::complete;
    };

    passage pushed_up(const request& q) const {
        const unit_set* admitted = q.allowed().units;
        if (!admitted) return nullptr;
        const auto out = std::make_shared<unit_set>(source().size());
        admitted->for_each([&](unit_id unit) {
            for (std::optional<unit_id> up = source().parent(unit); up && !out->contains(*up);
                 up = source().parent(*up))
                out->insert(*up);
        });
        return out;
    }

    unit_kind kind_of(std::size_t l) const {
        return std::apply([l](const auto&... upper) { return std::array<unit_kind, n>{upper.kind...}[l]; }, upper_);
    }

    // The nearest unit of a kind that this one is part of.
    std::optional<unit_id> around(unit_id unit, unit_kind kind) const {
        for (std::optional<unit_id> up = source().parent(unit); up; up = source().parent(*up))
            if (source().kind(*up) == kind) return up;
        return std::nullopt;
    }

    bool passes(unit_id unit, const ways& w, std::size_t levels) const {
        for (std::size_t l = 0; l < levels; ++l) {
            if (!w.passed[l]) continue;
            const std::optional<unit_id> up = around(unit, kind_of(l));
            if (up && !w.passed[l]->contains(*up)) return false;
        }
        return true;
    }

    template <std::size_t... L>
    void descend(request& q, const passage& p, const std::vector<std::size_t>& beams, ways& w,
                 std::index_sequence<L...>) const {
        (descend_one<L>(q, p, beams[L], w), ...);
    }

    template <std::size_t L>
    void descend_one(request& q, const passage& p, std::size_t beam, ways& w) const {
        if (beam == 0 && options_.weights[L] == 0.0f) return;
        passage open = p;
        if (w.narrowed) {
            const auto some = std::make_shared<unit_set>(source().size());
            source().for_each_unit([&](unit_id unit) {
                if ((!p || p->contains(unit)) && passes(unit, w, L)) some->insert(unit);
            });
            open = some;
        }
        request among = q.among(open);
        const auto found = std::get<L>(upper_).search.run(among, beam == 0 ? 1 : beam);
        w.state = (std::max)(w.state, found.state);
        w.best[L] = found.empty() ? 0.0f : found[0].score;
        if (beam == 0) return;
        w.ended[L] = found.size() < beam;
        w.narrowed = true;
        const auto passed = std::make_shared<unit_set>(source().size());
        for (const auto& h : found) passed->insert(h.unit);
        w.passed[L] = passed;
    }

    // The units themselves, until none further down could have a place among the first k.
    results<scale> lowest(request& q, const ways& w, std::size_t k) const {
        std::optional<request> child;
        if (w.narrowed) {
            const auto some = std::make_shared<unit_set>(source().size());
            source().for_each_unit([&](unit_id unit) {
                if (q.admits(unit) && passes(unit, w, n)) some->insert(unit);
            });
            child.emplace(q.among(some));
        }
        request& among = child ? *child : q;
        for (std::size_t asked = (std::max)(k > SIZE_MAX / 5 ? SIZE_MAX : 5 * k, std::size_t{100});;
             asked = asked > SIZE_MAX / 2 ? SIZE_MAX : 2 * asked) {
            const auto found = lowest_.search.run(among, asked);
            results<scale> out = blended(q, w, found);
            const bool ended = found.size() < asked;
            float most = 0.0f;  // of a unit that was not returned
            if (!ended) {
                most = options_.weights[n] * share(found.hits.back().score, found[0].score);
                for (std::size_t l = 0; l < n; ++l) most += options_.weights[l];
            }
            if (ended || (out.size() >= k && out[k - 1].score > most * 1.00001f)) {
                if (out.size() > k) out.hits.resize(k);
                for (hit<scale>& h : out.hits) h.trail = note(q, h, found[0].score);
                return out;
            }
        }
    }

    static float share(float score, float best) noexcept {
        return best > 0.0f ? std::clamp(score / best, 0.0f, 1.0f) : 0.0f;
    }

    template <class Found>
    results<scale> blended(request& q, const ways& w, const Found& found) const {
        results<scale> out;
        out.state = (std::max)(w.state, found.state);
        for (const auto& h : found)
            out.hits.push_back({h.unit, h.via, options_.weights[n] * share(h.score, found[0].score), h.trail});
        blend_in(q, w, out.hits, std::index_sequence_for<Upper...>{});
        std::ranges::sort(out.hits, [](const auto& a, const auto& b) { return better(a, b); });
        return out;
    }

    template <std::size_t... L>
    void blend_in(request& q, const ways& w, std::vector<hit<scale>>& hits, std::index_sequence<L...>) const {
        (blend_in_one<L>(q, w, hits), ...);
    }

    template <std::size_t L>
    void blend_in_one(request& q, const ways& w, std::vector<hit<scale>>& hits) const {
        if (options_.weights[L] == 0.0f) return;
        std::vector<unit_id> parents;
        std::vector<std::optional<unit_id>> parent_of;
        for (const hit<scale>& h : hits) {
            parent_of.push_back(around(h.unit, kind_of(L)));
            if (parent_of.back()) parents.push_back(*parent_of.back());
        }
        std::ranges::sort(parents);
        parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
        std::unordered_map<unit_id, float> scores;
        for (const scored_key& s : std::get<L>(upper_).search.score(q, parents))
            if (s.key != no_key) scores.emplace(s.unit, s.score);
        for (std::size_t i = 0; i < hits.size(); ++i) {
            if (!parent_of[i]) continue;
            const auto at = scores.find(*parent_of[i]);
            if (at != scores.end()) hits[i].score += options_.weights[L] * share(at->second, w.best[L]);
        }
    }

    // What the unit's own level made of it, and what the levels above added.
    std::uint32_t note(request& q, const hit<scale>& h, float best) const {
        const ledger_entry own = h.trail == no_entry ? ledger_entry{} : q.notes()[h.trail];
        const float part = options_.weights[n] * share(own.score, best);
        const std::uint32_t above =
            q.note({"levels above", nullptr, no_key, 0, h.score - part, 1.0f, h.score - part, no_entry, no_entry});
        const std::uint32_t below = q.note(
            {Lowest::scale::name, own.keys, h.via, own.rank, own.score, options_.weights[n], part, h.trail, above});
        return q.note({scale::name, own.keys, h.via, 0, h.score, 1.0f, h.score, below, no_entry});
    }

    hierarchical_options options_;
    level<Lowest> lowest_;
    std::tuple<level<Upper>...> upper_;
};

namespace detail {

template <class Levels, std::size_t... L>
auto make_hierarchical(hierarchical_options options, Levels levels, std::index_sequence<L...>) {
    constexpr std::size_t last = sizeof...(L);
    using lowest = std::remove_cvref_t<decltype(std::get<last>(levels).search)>;
    return hierarchical_retriever<lowest, std::remove_cvref_t<decltype(std::get<L>(levels).search)>...>(
        std::move(options), std::get<last>(std::move(levels)), std::get<L>(std::move(levels))...);
}

}  // namespace detail

/// Searches from the first level to the last, whose units are returned. All but the last must be able to score given
/// units.
///
/// Order   score descending, then unit id. With beams the units that are reached depend on how many are asked for.
/// Cost    with beams or a filter one pass over the units of the source a level; the last level is asked for 5 k units,
///         and for twice as many until k are certain.
/// Errors  usage_error `hierarchical.source`, `hierarchical.beams`, `hierarchical.weights`; `filter.unevaluated` where
///         a filter was left to an engine.
template <class... Levels>
auto hierarchical(hierarchical_options options, Levels... levels) {
    return detail::make_hierarchical(std::move(options), std::tuple<Levels...>(std::move(levels)...),
                                     std::make_index_sequence<sizeof...(Levels) - 1>{});
}

}  // namespace QUARRY_NAMESPACE
