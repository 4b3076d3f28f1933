// Sparse index: terms with weights that a model learned (SPLADE and its relatives).
//
// score = sum over the terms of both of weight in the question * weight in the key
//
// Beside BM25 and not in its place: there is no idf, no length and no saturation here, all of that is in the weights.
// The model is a callable outside (retrieve/learned_sparse.hpp); the index takes what it gave.
//
// The surprising thing: a term that comes twice in one vector is one term with the larger weight, as in the pooling
// that made it, and never the sum.
//
// Source  for weights by max pooling and the plain product: Formal et al., SPLADE v2, 2021.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/key_index.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

struct term_weight {
    std::string term;
    float weight = 0.0f;

    friend bool operator==(const term_weight&, const term_weight&) = default;
};
using term_weights = std::vector<term_weight>;
using weighted_probe = std::span<const term_weight>;

/// A sum of products of weights that are at least 0.
struct sparse_scale {
    static constexpr std::string_view name = "sparse";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

namespace detail {

/// Each term once, with its largest weight, those of weight 0 left out; in the order of their bytes.
///
/// Errors  callable_error `sparse.weight` for a weight that is negative, infinite or NaN, naming the term.
std::map<std::string_view, float> pooled(weighted_probe weights);

}  // namespace detail

class sparse_index {
 public:
    using scale = sparse_scale;

    /// Adds a key of a unit; keys are numbered in the order they come.
    ///
    /// Errors  callable_error `sparse.weight`; the index is then what it was.
    key_id add(unit_id unit, weighted_probe weights);

    std::size_t size() const noexcept { return units_.size(); }
    std::size_t terms() const noexcept { return postings_.size(); }
    std::size_t most_keys_of_a_unit() const noexcept { return most_; }

    /// Keys that share a term with the probe.
    ///
    /// Order   score descending, then unit, then key.
    /// Cost    the postings of the probe's terms, and a selection of n.
    /// Errors  callable_error `sparse.weight`.
    std::vector<scored_key> search(weighted_probe probe, std::size_t n, const accept& allowed) const;

    /// The best key of each unit; `no_key` where none shares a term with the probe.
    std::vector<scored_key> score(weighted_probe probe, std::span<const unit_id> units) const;

    /// 0, and what a key with the largest weight of each of the probe's terms would have.
    score_bounds bounds(weighted_probe probe) const;

 private:
    struct posting {
        std::uint32_t key;
        float weight;
    };
    struct term_postings {
        std::vector<posting> keys{};
        float largest = 0.0f;
    };

    const term_postings* find(std::string_view term) const {
        const auto at = postings_.find(std::string(term));
        return at == postings_.end() ? nullptr : &at->second;
    }

    // Sums in double and in the order of the terms: the order of the pairs does not show.
    std::unordered_map<std::uint32_t, double> sums(weighted_probe probe) const;

    std::vector<unit_id> units_;  // of the keys
    std::unordered_map<std::string, term_postings> postings_;
    std::unordered_map<unit_id, std::size_t> keys_of_;
    std::size_t most_ = 0;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline std::map<std::string_view, float> detail::pooled(weighted_probe weights) {
    std::map<std::string_view, float> out;
    for (const term_weight& t : weights) {
        if (!is_finite(t.weight) || t.weight < 0.0f)
            raise<callable_error>("sparse.weight", concat("quarry::sparse_index: the weight of ", detail::quoted(t.term),
                                                          " must be finite and at least 0, it is ", t.weight));
        if (t.weight == 0.0f) continue;
        float& known = out[t.term];
        known = (std::max)(known, t.weight);
    }
    return out;
}

inline key_id sparse_index::add(unit_id unit, weighted_probe weights) {
    const auto pooled = detail::pooled(weights);
    const auto key = static_cast<std::uint32_t>(units_.size());
    for (const auto& [term, weight] : pooled) {
        term_postings& p = postings_[std::string(term)];
        p.keys.push_back({key, weight});
        p.largest = (std::max)(p.largest, weight);
    }
    units_.push_back(unit);
    most_ = (std::max)(most_, ++keys_of_[unit]);
    return key_at(key);
}

inline std::unordered_map<std::uint32_t, double> sparse_index::sums(weighted_probe probe) const {
    std::unordered_map<std::uint32_t, double> out;
    for (const auto& [term, weight] : detail::pooled(probe))
        if (const term_postings* p = find(term))
            for (const posting& key : p->keys)
                out[key.key] += static_cast<double>(weight) * static_cast<double>(key.weight);
    return out;
}

inline std::vector<scored_key> sparse_index::search(weighted_probe probe, std::size_t n, const accept& allowed) const {
    std::vector<scored_key> found;
    for (const auto& [key, sum] : sums(probe))
        if (allowed.contains(units_[key])) found.push_back({units_[key], key_at(key), static_cast<float>(sum)});
    const std::size_t kept = (std::min)(n, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                      [](const scored_key& a, const scored_key& b) { return better(a, b); });
    found.resize(kept);
    return found;
}

inline std::vector<scored_key> sparse_index::score(weighted_probe probe, std::span<const unit_id> units) const {
    std::unordered_map<unit_id, scored_key> best;
    for (const auto& [key, sum] : sums(probe)) {
        const scored_key found{units_[key], key_at(key), static_cast<float>(sum)};
        const auto [at, fresh] = best.emplace(found.unit, found);
        if (!fresh && better(found, at->second)) at->second = found;
    }
    std::vector<scored_key> out;
    for (const unit_id unit : units) {
        const auto at = best.find(unit);
        out.push_back(at == best.end() ? scored_key{unit, no_key, 0.0f} : at->second);
    }
    return out;
}

inline score_bounds sparse_index::bounds(weighted_probe probe) const {
    double high = 0.0;
    for (const auto& [term, weight] : detail::pooled(probe))
        if (const term_postings* p = find(term)) high += static_cast<double>(weight) * static_cast<double>(p->largest);
    return {0.0f, static_cast<float>(high)};
}

}  // namespace QUARRY_NAMESPACE
