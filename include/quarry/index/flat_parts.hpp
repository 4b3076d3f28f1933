// Several flat indexes as if they were one: what a library that changes searches.
//
// Exact as each part is. The bounds of a question are those of the rows that are alive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../core/unit_set.hpp"
#include "../detail/text.hpp"
#include "../math/cosine.hpp"
#include "../math/top_k.hpp"
#include "flat_index.hpp"

namespace QUARRY_NAMESPACE {

/// Never changes. The parts have one dimension, and no unit is in two of them.
class flat_parts {
   public:
    using scale = cosine_scale;

    /// Over the rows that are alive.
    struct totals {
        std::size_t keys = 0;
        std::vector<double> sum;
    };

    /// `alive`: null if every unit is. Keys are numbered on from part to part, in the order of the parts.
    flat_parts(std::size_t dimension, std::vector<std::shared_ptr<const flat_index>> parts,
               std::shared_ptr<const unit_set> alive, totals all)
        : dimension_(dimension), parts_(std::move(parts)), alive_(std::move(alive)), totals_(std::move(all)) {
        std::size_t next = 0;
        for (const auto& p : parts_) {
            first_key_.push_back(static_cast<std::uint32_t>(next));
            next += index_of(p->next_key());
            most_keys_ = (std::max)(most_keys_, p->most_keys_of_a_unit());
        }
    }

    std::size_t size() const noexcept { return totals_.keys; }
    std::size_t dimension() const noexcept { return dimension_; }
    std::size_t most_keys_of_a_unit() const noexcept { return most_keys_; }

    // As flat_index has them, with the same answers.
    std::vector<scored_key> search(dense_probe probe, std::size_t n, accept allowed = {}) const;
    std::vector<scored_key> score(dense_probe probe, std::span<const unit_id> units) const;
    score_bounds bounds(dense_probe probe) const;
    bool vector_of(unit_id unit, std::span<float> row) const;

   private:
    struct by_order {
        bool operator()(const scored_key& a, const scored_key& b) const noexcept { return better(a, b); }
    };
    bool is_alive(unit_id unit) const noexcept { return !alive_ || alive_->contains(unit); }

    std::size_t dimension_;
    std::vector<std::shared_ptr<const flat_index>> parts_;
    std::vector<std::uint32_t> first_key_;
    std::shared_ptr<const unit_set> alive_;
    totals totals_;
    std::size_t most_keys_ = 0;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<scored_key> flat_parts::search(dense_probe probe, std::size_t n, accept allowed) const {
    detail::require_evaluated(allowed);
    // A selection of the generation that this index belongs to holds none but living units.
    if (!allowed.units) allowed.units = alive_.get();
    // Without parts nobody else would look at the probe.
    if (parts_.empty()) return flat_index(dimension_).search(probe, n, allowed);
    top_k<scored_key, by_order> best((std::min)(n, size()));
    for (std::size_t i = 0; i < parts_.size(); ++i)
        for (scored_key found : parts_[i]->search(probe, n, allowed)) {
            if (!is_alive(found.unit)) continue;
            found.key = key_at(first_key_[i] + index_of(found.key));
            best.offer(found);
        }
    return best.take();
}

inline std::vector<scored_key> flat_parts::score(dense_probe probe, std::span<const unit_id> units) const {
    if (parts_.empty()) return flat_index(dimension_).score(probe, units);
    std::vector<scored_key> out;
    for (const unit_id unit : units) out.push_back({unit, no_key, 0.0f});
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto found = parts_[i]->score(probe, units);
        for (std::size_t j = 0; j < units.size(); ++j)
            if (found[j].key != no_key && is_alive(units[j]))
                out[j] = {units[j], key_at(first_key_[i] + index_of(found[j].key)), found[j].score};
    }
    return out;
}

// As flat_index::bounds.
inline score_bounds flat_parts::bounds(dense_probe probe) const {
    if (parts_.empty()) return flat_index(dimension_).bounds(probe);
    std::vector<float> asked(probe.begin(), probe.end());
    parts_.front()->bounds(probe);  // for its checks
    normalize(asked);
    double mean = 0.0;
    for (std::size_t j = 0; j < dimension_; ++j) mean += static_cast<double>(asked[j]) * totals_.sum[j];
    mean /= static_cast<double>(size()) + 10.0;
    return {static_cast<float>(std::clamp(mean, 0.0, 0.99)), 1.0f};
}

inline bool flat_parts::vector_of(unit_id unit, std::span<float> row) const {
    if (parts_.empty()) return flat_index(dimension_).vector_of(unit, row);
    if (!is_alive(unit)) return false;
    return std::ranges::any_of(parts_, [&](const auto& p) { return p->vector_of(unit, row); });
}

}  // namespace QUARRY_NAMESPACE
