// Auto-merge: where most parts of something were found, the whole takes their place.
//
//     dense(kb.vectors, embed) | auto_merge({.above = 0.5f})
//
// Small parts are found well and read badly. If more than a share of a unit's parts are among the hits, they give way
// to the unit, with the mean of their scores; and so on upward. What counts are the first `fetch` hits, so it is a
// choice of theirs and not of the whole corpus.
//
// A part between two that were found counts as found, with the mean of their scores. A whole takes the place of its
// parts only if it and every part of it may be returned: what is forbidden to a query does not come back inside
// something else.
//
// Source  LlamaIndex, AutoMergingRetriever (share above .5, mean of the scores, gaps filled).
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

struct auto_merge_options {
    float above = 0.5f;      // merged if more than this share of the parts was found; in [0, 1)
    bool fill_gaps = true;   // a part between two that were found is one that was
    std::size_t fetch = 12;  // hits that are looked at, at least
};

namespace detail {

/// The parts of every unit, in the order of their spans: those of one kind that no other unit stands between.
class parts_of_units {
   public:
    explicit parts_of_units(source_ref source) {
        source.for_each_unit([&](unit_id unit) {
            if (const auto up = source.parent(unit)) parts_[{*up, source.kind(unit)}].push_back(unit);
        });
        for (auto& [whole, parts] : parts_)
            std::ranges::stable_sort(parts, {}, [&](unit_id unit) { return source.span(unit).begin; });
    }
    std::span<const unit_id> of(unit_id whole, unit_kind kind) const {
        const auto at = parts_.find({whole, kind});
        return at == parts_.end() ? std::span<const unit_id>() : std::span<const unit_id>(at->second);
    }

   private:
    std::map<std::pair<unit_id, unit_kind>, std::vector<unit_id>> parts_;
};

}  // namespace detail

template <Retriever Base>
class merged_retriever : public retriever_interface<merged_retriever<Base>> {
   public:
    using scale = typename Base::scale;
    static_assert(!std::same_as<scale, selection_scale>,
                  "quarry::auto_merge: on this scale the position is the truth, and a mean of scores has no meaning");

    merged_retriever(Base base, auto_merge_options options)
        : base_(std::move(base)),
          options_(options),
          parts_(std::make_shared<const detail::parts_of_units>(base_.source())) {
        if (!(options_.above >= 0.0f && options_.above < 1.0f))
            detail::raise<usage_error>("auto_merge.share",
                                       detail::concat("quarry::auto_merge: a share lies in [0, 1), this "
                                                      "is ",
                                                      options_.above));
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        for (std::size_t n = (std::max)(k, options_.fetch);; n = n > SIZE_MAX / 2 ? SIZE_MAX : 2 * n) {
            results<scale> found = base_.run(q, n);
            const std::size_t before = found.size();
            while (merge(q, found.hits)) {}
            std::ranges::sort(found.hits, [](const auto& a, const auto& b) { return better(a, b); });
            if (found.size() != before) q.tell({trace_code::lifted, "auto_merge", before, found.size()});
            if (found.size() >= k || before < n) {
                if (found.size() > k) found.hits.resize(k);
                return found;
            }
        }
    }

   private:
    using standing = std::map<unit_id, hit<scale>>;

    // One step upward for every unit of which enough parts were found. Says whether there was one. A unit that takes
    // the place of its parts ends them, so this can happen only as often as there are units.
    bool merge(request& q, std::vector<hit<scale>>& hits) const {
        standing found;
        std::map<std::pair<unit_id, unit_kind>, std::vector<unit_id>> by_whole;
        for (const hit<scale>& h : hits) {
            found.emplace(h.unit, h);
            if (const auto up = source().parent(h.unit)) by_whole[{*up, source().kind(h.unit)}].push_back(h.unit);
        }
        bool merged = false;
        for (const auto& [key, units] : by_whole) {
            const auto& [whole, kind] = key;
            const std::span<const unit_id> parts = parts_->of(whole, kind);
            if (parts.empty() || !q.admits(whole)) continue;
            if (!std::ranges::all_of(parts, [&](unit_id unit) { return q.admits(unit); })) continue;
            const std::optional<float> score = score_of(parts, found);
            if (!score) continue;
            const auto best = std::ranges::min_element(units, [&](unit_id a, unit_id b) {
                return better(found.at(a), found.at(b));
            });
            hit<scale> h = found.at(*best);
            h.trail = note(q, h, *score);
            h.unit = whole;
            h.score = *score;
            for (const unit_id unit : units) found.erase(unit);
            const auto [at, fresh] = found.try_emplace(whole, h);
            if (!fresh && h.score > at->second.score) at->second = h;
            merged = true;
        }
        if (merged) {
            hits.clear();
            for (const auto& [unit, h] : found) hits.push_back(h);
        }
        return merged;
    }

    // The mean of the parts that were found or lie between two such, if they are enough.
    std::optional<float> score_of(std::span<const unit_id> parts, const standing& found) const {
        std::size_t count = 0;
        double sum = 0.0;
        const auto score = [&](std::size_t i) -> std::optional<double> {
            const auto at = i < parts.size() ? found.find(parts[i]) : found.end();
            return at == found.end() ? std::nullopt : std::optional(static_cast<double>(at->second.score));
        };
        for (std::size_t i = 0; i < parts.size(); ++i) {
            std::optional<double> own = score(i);
            if (!own && options_.fill_gaps && i > 0) {
                const auto left = score(i - 1), right = score(i + 1);
                if (left && right) own = (*left + *right) / 2.0;
            }
            if (!own) continue;
            ++count;
            sum += *own;
        }
        const double share = static_cast<double>(count) / static_cast<double>(parts.size());
        if (!(share > static_cast<double>(options_.above))) return std::nullopt;
        return static_cast<float>(sum / static_cast<double>(count));
    }

    static std::uint32_t note(request& q, const hit<scale>& h, float score) {
        const key_table* keys = h.trail == no_entry ? nullptr : q.notes()[h.trail].keys;
        return q.note({"auto_merge", keys, h.via, 0, h.score, 1.0f, score, h.trail, no_entry});
    }

    Base base_;
    auto_merge_options options_;
    std::shared_ptr<const detail::parts_of_units> parts_;
};

/// Puts units in the place of their parts where most of these were found.
///
/// Order   score descending, then unit id; the key is that of the best part.
/// Cost    one pass over the units of the source when it is made; the base is asked for max(k, fetch) hits, and for
///         twice as many until k are left.
/// Errors  usage_error `auto_merge.share`.
inline auto auto_merge(auto_merge_options options = {}) {
    return stage{[options]<Retriever Base>(Base base) { return merged_retriever<Base>(std::move(base), options); }};
}

}  // namespace QUARRY_NAMESPACE
