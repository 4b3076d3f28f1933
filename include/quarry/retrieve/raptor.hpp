// RAPTOR, the asking side: units and the summaries above them, searched together or layer by layer.
//
//     raptor_collapsed(dense(kb.vectors, embed), dense(tops.vectors, embed), {.tokens = 2000})
//     raptor_layered(dense(kb.vectors, embed), dense(tops.vectors, embed), {.beam = 5})
//
// Two leaves on one scale: one over the units that were summarised, one over the summaries (grow/raptor.hpp makes them,
// and `build(articles, identity{.of = unit_kind::generated}, embed)` indexes them). Collapsed, all compete in one list;
// layered, the search goes from the summaries that nothing stands above down to their sources. The publication found
// collapsed better.
//
// Summaries are generated text. They are returned where the query asks for them (`include_generated`) and all they were
// made from may be returned; otherwise a summary that was found gives its place to the one of its sources that answers
// best.
//
// Source  Sarthi et al., "RAPTOR", ICLR 2024 (arXiv 2401.18059). Its text gives a budget of 2,000 tokens, its code
//         3,500.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../core/unit_set.hpp"
#include "../text/token_counter.hpp"

namespace QUARRY_NAMESPACE {

/// What happens at the first unit that does not fit a budget.
enum class budget_rule : std::uint8_t {
    stop,  // it and all after it are left out, as in the publication's code
    skip,  // it is left out, and smaller ones after it may fit, as in its text
};

struct raptor_search_options {
    std::size_t beam = 0;           // layered: summaries of a layer that are gone through at first; 0: max(3, k)
    std::size_t tokens = SIZE_MAX;  // of all units together; one that makes exactly so many is taken
    budget_rule rule = budget_rule::stop;
    std::function<std::size_t(std::string_view)> count = approximate_tokens{};

    /// The summaries of the tree, where the source has other generated units too, or ones that are obsolete. Empty:
    /// all.
    std::vector<unit_id> summaries{};
};

namespace detail {

/// What lies below a summary and what above a unit. Read from the source once.
class summary_forest {
   public:
    summary_forest(source_ref source, std::span<const unit_id> summaries) {
        const auto add = [&](unit_id summary) {
            if (source.kind(summary) != unit_kind::generated) return;
            const auto sources = source.sources(summary);
            below_[summary].assign(sources.begin(), sources.end());
            for (const unit_id unit : sources) parents_.emplace_back(unit, summary);
        };
        for (const unit_id summary : summaries) add(summary);
        if (summaries.empty()) source.for_each_unit(add);
        std::ranges::sort(parents_);
    }

    bool holds(unit_id unit) const { return below_.contains(unit); }
    bool has_parent(unit_id unit) const {
        return std::ranges::binary_search(parents_, unit, {}, &std::pair<unit_id, unit_id>::first);
    }
    std::span<const unit_id> below(unit_id summary) const { return below_.at(summary); }

    std::vector<unit_id> roots() const {
        std::vector<unit_id> out;
        for (const auto& [summary, sources] : below_)
            if (!has_parent(summary)) out.push_back(summary);
        std::ranges::sort(out);
        return out;
    }

    /// The summaries above these units, and those among them, each once and in ascending order.
    std::vector<unit_id> above(std::span<const unit_id> units) const {
        std::vector<unit_id> out, waiting(units.begin(), units.end());
        std::unordered_set<unit_id> seen(units.begin(), units.end());
        while (!waiting.empty()) {
            const unit_id unit = waiting.back();
            waiting.pop_back();
            if (holds(unit)) out.push_back(unit);
            for (auto at = std::ranges::lower_bound(parents_, std::pair(unit, unit_id{0}));
                 at != parents_.end() && at->first == unit; ++at)
                if (seen.insert(at->second).second) waiting.push_back(at->second);
        }
        std::ranges::sort(out);
        return out;
    }

    /// The units at the bottom below a summary, each once.
    std::vector<unit_id> leaves_below(unit_id summary) const {
        std::vector<unit_id> out, waiting{summary}, seen;
        while (!waiting.empty()) {
            const unit_id unit = waiting.back();
            waiting.pop_back();
            const auto at = below_.find(unit);
            if (at == below_.end()) out.push_back(unit);
            else if (std::ranges::find(seen, unit) == seen.end()) {
                seen.push_back(unit);
                waiting.insert(waiting.end(), at->second.begin(), at->second.end());
            }
        }
        std::ranges::sort(out);
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

   private:
    std::unordered_map<unit_id, std::vector<unit_id>> below_;
    std::vector<std::pair<unit_id, unit_id>> parents_;  // units and the summaries right above them, ascending
};

/// As many of the hits, best first, as a budget has room for.
template <class Hits, class Size>
void keep_within(Hits& hits, std::size_t tokens, budget_rule rule, Size size_of) {
    std::size_t used = 0;
    bool stopped = false;
    std::erase_if(hits, [&](const auto& h) {
        if (stopped) return true;
        const std::size_t size = size_of(h);
        if (size > tokens - used) {
            stopped = rule == budget_rule::stop;
            return true;
        }
        used += size;
        return false;
    });
}

}  // namespace detail

template <ScoringRetriever Leaves, Retriever Summaries, bool Layered>
class raptor_retriever : public retriever_interface<raptor_retriever<Leaves, Summaries, Layered>> {
    static_assert(std::same_as<typename Leaves::scale, typename Summaries::scale>,
                  "quarry: units and summaries of a tree compete in one list, so their scores need one scale");

   public:
    using scale = typename Leaves::scale;

    raptor_retriever(Leaves leaves, Summaries summaries, raptor_search_options options)
        : leaves_(std::move(leaves)),
          summaries_(std::move(summaries)),
          options_(std::move(options)),
          forest_(std::make_shared<const detail::summary_forest>(leaves_.source(), options_.summaries)) {
        if (!(leaves_.source() == summaries_.source()))
            detail::raise<usage_error>("raptor.source",
                                       "quarry::raptor: units and summaries come from different sources");
    }

    source_ref source() const { return leaves_.source(); }
    void prepare(std::span<request> batch) const {
        detail::prepare(leaves_, batch);
        detail::prepare(summaries_, batch);
    }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        results<scale> found = Layered ? by_layers(q, k) : collapsed(q, k);
        if (options_.tokens != SIZE_MAX) {
            const std::size_t before = found.size();
            detail::keep_within(found.hits, options_.tokens, options_.rule,
                                [&](const auto& h) { return options_.count(source().text(h.unit)); });
            q.tell({trace_code::capped, "raptor", before, found.size()});
        }
        return found;
    }

    /// What these units would have in the list of all, whatever its budget.
    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const
        requires(!Layered && ScoringRetriever<Summaries>)
    {
        std::vector<scored_key> out = leaves_.score(q, units);
        std::unordered_map<unit_id, std::size_t> place;
        for (std::size_t i = 0; i < units.size(); ++i) place.emplace(units[i], i);
        request above = q.among(q.selected().walkable());
        for (const scored_key& summary : summaries_.score(above, forest_->above(units))) {
            if (summary.key == no_key) continue;
            scored_key stands = summary;
            if (!q.admits(summary.unit)) {
                const std::optional<scored_key> source = best_below(q, summary.unit);
                if (!source) continue;
                stands = {source->unit, source->key, summary.score};
            }
            const auto at = place.find(stands.unit);
            if (at == place.end()) continue;
            scored_key& own = out[at->second];
            if (own.key == no_key || stands.score > own.score) own = stands;
        }
        return out;
    }

    /// What says nothing of a unit says nothing here; a summary may be a better answer than any unit could be.
    score_bounds bounds(request& q) const
        requires(!Layered && BoundedRetriever<Leaves> && BoundedRetriever<Summaries>)
    {
        const score_bounds units = leaves_.bounds(q), summaries = summaries_.bounds(q);
        return {units.low, (std::max)(units.high, summaries.high)};
    }

   private:
    static std::size_t twice(std::size_t n) noexcept { return n > SIZE_MAX / 2 ? SIZE_MAX : 2 * n; }

    // Both lists go on until no unit further down could have a place among the first k.
    results<scale> collapsed(request& q, std::size_t k) const {
        request above = q.among(q.selected().walkable());
        for (std::size_t n = k;; n = twice(n)) {
            results<scale> out = leaves_.run(q, n);
            results<scale> over = summaries_.run(above, n);
            const bool leaves_end = out.size() < n, summaries_end = over.size() < n;
            const float leaf = leaves_end ? -detail::unbounded : out.hits.back().score;
            const float summary = summaries_end ? -detail::unbounded : over.hits.back().score;
            out.state = (std::max)(out.state, over.state);
            add(q, out.hits, over.hits);
            const bool certain = out.size() >= k && out[k - 1].score > (std::max)(leaf, summary);
            if (certain || (leaves_end && summaries_end)) {
                if (out.size() > k) out.hits.resize(k);
                return out;
            }
        }
    }

    // Each unit once, with the better of its scores.
    void add(request& q, std::vector<hit<scale>>& hits, const std::vector<hit<scale>>& summaries) const {
        std::unordered_map<unit_id, std::size_t> place;
        for (std::size_t i = 0; i < hits.size(); ++i) place.emplace(hits[i].unit, i);
        std::size_t lifted = 0;
        for (const hit<scale>& s : summaries) {
            hit<scale> h = s;
            if (!q.admits(s.unit)) {
                const std::optional<scored_key> source = best_below(q, s.unit);
                if (!source) continue;
                h.unit = source->unit;
                h.via = source->key;
                h.trail = note(q, s, source->key);
                ++lifted;
            }
            const auto [at, fresh] = place.try_emplace(h.unit, hits.size());
            if (fresh) hits.push_back(h);
            else if (h.score > hits[at->second].score) hits[at->second] = h;
        }
        if (lifted != 0) q.tell({trace_code::lifted, "raptor", summaries.size(), lifted});
        std::ranges::sort(hits, [](const auto& a, const auto& b) { return better(a, b); });
    }

    std::optional<scored_key> best_below(request& q, unit_id summary) const {
        if (!forest_->holds(summary)) return std::nullopt;
        std::vector<unit_id> sources = forest_->leaves_below(summary);
        std::erase_if(sources, [&](unit_id unit) { return !q.admits(unit); });
        if (sources.empty()) return std::nullopt;
        std::optional<scored_key> best;
        for (const scored_key& s : leaves_.score(q, sources))
            if (s.key != no_key && (!best || better(s, *best))) best = s;
        return best;
    }

    // The key is the source's own; what the summary was found by stands below.
    std::uint32_t note(request& q, const hit<scale>& summary, key_id key) const {
        const key_table* keys = nullptr;
        if constexpr (requires { { leaves_.keys() } -> std::convertible_to<const key_table*>; }) keys = leaves_.keys();
        return q.note({"raptor", keys, key, 0, summary.score, 1.0f, summary.score, summary.trail, no_entry});
    }

    results<scale> by_layers(request& q, std::size_t k) const {
        for (std::size_t beam = options_.beam == 0 ? (std::max)(k, std::size_t{3}) : options_.beam;;
             beam = twice(beam)) {
            bool narrowed = false;
            results<scale> found = descend(q, k, beam, narrowed);
            if (found.size() >= k || !narrowed) return found;
            q.tell({trace_code::widened, "raptor", beam, twice(beam)});
        }
    }

    // The best `beam` summaries of each layer, then the units below those. Units that no summary stands above are
    // searched with them.
    results<scale> descend(request& q, std::size_t k, std::size_t beam, bool& narrowed) const {
        const std::size_t universe = source().size();
        const std::shared_ptr<const unit_set>& walkable = q.selected().walkable();
        const auto bottom = std::make_shared<unit_set>(universe);
        for (std::size_t i = 0; i < universe; ++i)
            if (const unit_id unit = unit_at(i); !forest_->holds(unit) && !forest_->has_parent(unit) && q.admits(unit))
                bottom->insert(unit);
        std::vector<unit_id> candidates = forest_->roots();
        std::vector<hit<scale>> visited;
        result_state state = result_state::complete;
        while (!candidates.empty()) {
            const auto layer = std::make_shared<unit_set>(universe);
            for (const unit_id unit : candidates)
                if (!walkable || walkable->contains(unit)) layer->insert(unit);
            candidates.clear();
            if (layer->count() == 0) break;
            request among = q.among(layer);
            const results<scale> chosen = summaries_.run(among, beam);
            // Those that do not match at all are a way down too, if it comes to that.
            narrowed = narrowed || chosen.size() < layer->count();
            state = (std::max)(state, chosen.state);
            std::vector<hit<scale>> way = chosen.hits;
            if (beam >= universe) layer->for_each([&](unit_id unit) {
                if (std::ranges::find(way, unit, &hit<scale>::unit) == way.end()) way.push_back({unit});
            });
            for (const hit<scale>& h : way) {
                if (h.trail != no_entry && q.admits(h.unit)) visited.push_back(h);
                for (const unit_id unit : forest_->below(h.unit))
                    if (forest_->holds(unit)) candidates.push_back(unit);
                    else if (q.admits(unit)) bottom->insert(unit);
            }
        }
        if (beam >= universe) narrowed = false;
        request among = q.among(bottom);
        results<scale> out = leaves_.run(among, k);
        out.state = (std::max)(out.state, state);
        add(q, out.hits, visited);
        if (out.size() > k) out.hits.resize(k);
        return out;
    }

    Leaves leaves_;
    Summaries summaries_;
    raptor_search_options options_;
    std::shared_ptr<const detail::summary_forest> forest_;
};

/// Units and summaries in one list, best first. Where both leaves can score given units, so can this, and it may be a
/// leg of bounded fusion, without a budget.
///
/// Order   score descending, then unit id.
/// Errors  usage_error `raptor.source`.
template <ScoringRetriever Leaves, Retriever Summaries>
auto raptor_collapsed(Leaves leaves, Summaries summaries, raptor_search_options options = {}) {
    return raptor_retriever<Leaves, Summaries, false>(std::move(leaves), std::move(summaries), std::move(options));
}

/// From the top layer down. Whatever is returned lies below a summary of the layer before it that was gone through, or
/// below none at all.
///
/// Order   score descending, then unit id. Which units are reached depends on the beam, and so on how many are asked
///         for.
/// Errors  usage_error `raptor.source`.
template <ScoringRetriever Leaves, Retriever Summaries>
auto raptor_layered(Leaves leaves, Summaries summaries, raptor_search_options options = {}) {
    return raptor_retriever<Leaves, Summaries, true>(std::move(leaves), std::move(summaries), std::move(options));
}

}  // namespace QUARRY_NAMESPACE
