// Flat index: exact search over every row.
//
// For tens of thousands of keys this is a few milliseconds and needs no tuning; beyond that, a graph. It is exact in
// the strict sense: the answer is that of a loop in double precision, ties included. A float matrix product finds the
// rows that could be among the best, its error bound says how many more must be looked at, and those are scored again
// in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "../math/cosine.hpp"
#include "../math/top_k.hpp"

namespace QUARRY_NAMESPACE {

/// The scales a dot product of rows can have.
template <class S>
concept ProductScale = std::same_as<S, cosine_scale> || std::same_as<S, inner_product_scale>;

/// Rows of `dimension` floats, each a key of a unit. With cosine_scale rows and probes may have any length but 0 and
/// are scaled to 1; with inner_product_scale they are taken as they are. Components below 2^-126 count as 0 (after
/// scaling), and so do such scores.
///
/// Scores are in the scale's bounds: a cosine is never above 1, a product never infinite. A row finds itself with a
/// cosine of 1 to within 2^-22, since stored rows are floats.
///
/// Memory  4 d + 8 bytes a key, and about 100 bytes a unit.
/// Errors  usage_error `dense.dimension`, `dense.not_finite`, `dense.zero_vector` (cosine only), `dense.full` (2^32 - 1
///         keys were given). A call that throws has changed nothing.
template <ProductScale S>
class basic_flat_index {
   public:
    using scale = S;

    explicit basic_flat_index(std::size_t dimension) : dimension_(dimension), sum_(dimension, 0.0) {
        if (dimension == 0) detail::raise<usage_error>("dense.dimension", "quarry::flat_index: the dimension is 0");
    }

    /// Adds a row for `unit`. Keys are numbered from 0 in the order of adding, and no number is given twice.
    key_id add(unit_id unit, std::span<const float> row) {
        const unit_id units[] = {unit};
        return add(units, row);
    }

    /// Adds units.size() rows, row-major; all or none. Returns the first key.
    key_id add(std::span<const unit_id> units, std::span<const float> rows);

    /// Forgets every key of `unit`; says how many there were.
    std::size_t remove(unit_id unit);

    std::size_t size() const noexcept { return keys_.size(); }
    std::size_t dimension() const noexcept { return dimension_; }
    std::size_t most_keys_of_a_unit() const noexcept { return most_keys_; }

    /// The n best accepted keys.
    ///
    /// Order   score descending, then unit id, then key id.
    /// Cost    one float product per accepted row, n log n, and a double product for each key that could be in.
    std::vector<scored_key> search(dense_probe probe, std::size_t n, accept allowed = {}) const;

    /// The same for m probes, row-major, in one matrix product; equal to m single searches.
    std::vector<std::vector<scored_key>> search_batch(std::span<const float> probes, std::size_t n,
                                                      accept allowed = {}) const;

    /// The best key of each unit; `no_key` and score 0 for a unit without one.
    std::vector<scored_key> score(dense_probe probe, std::span<const unit_id> units) const;

    /// From the probe's mean cosine over all keys to 1. Filters do not change it.
    /// The mean is drawn towards 0 by ten keys that are not there, so that a tiny index claims little.
    score_bounds bounds(dense_probe probe) const
        requires std::same_as<S, cosine_scale>;

    /// Copies the row of the unit's first key.
    bool vector_of(unit_id unit, std::span<float> row) const;

    /// A stored row: its unit and its key.
    struct held {
        unit_id unit;
        key_id key;
    };

    // What a store writes: the rows as they are kept, in the order of adding, which is that of their keys.
    std::span<const held> keys() const noexcept { return keys_; }
    std::span<const float> row(std::size_t i) const noexcept {
        return std::span(rows_).subspan(i * dimension_, dimension_);
    }
    /// The key that the next row will get.
    key_id next_key() const noexcept { return key_id{next_key_}; }
    /// The sum of all rows.
    std::span<const double> sum() const noexcept { return sum_; }

    /// The index whose `keys`, rows and `next_key` these are. Rows are taken as they are, so that it answers bit by bit
    /// as the other did.
    ///
    /// Errors  data_error `dense.stored` for what no index of this kind holds.
    static basic_flat_index restored(std::size_t dimension, std::vector<held> keys, std::vector<float> rows,
                                     key_id next_key);

    std::size_t memory() const noexcept {
        return rows_.capacity() * sizeof(float) + keys_.capacity() * sizeof(held) + 100 * places_.size();
    }

   private:
    static constexpr bool is_cosine = std::same_as<S, cosine_scale>;

    struct by_order {
        bool operator()(const scored_key& a, const scored_key& b) const noexcept { return better(a, b); }
    };

    void require_width(std::size_t got) const;
    std::vector<float> checked(std::span<const float> rows, std::string_view where) const;
    float exact(std::span<const float> probe, std::size_t i) const noexcept;
    std::vector<scored_key> exhaustive(std::span<const float> probe, std::size_t n, const accept& allowed) const;
    std::vector<scored_key> certified(std::span<const float> probe, std::span<const float> approximate, std::size_t n,
                                      const accept& allowed) const;

    std::size_t dimension_;
    std::vector<float> rows_;
    std::vector<held> keys_;
    std::unordered_map<unit_id, std::vector<std::uint32_t>> places_;  // rows of each unit, ascending
    std::vector<double> sum_;                                         // of all rows, for the mean
    double longest_ = 0.0;                                            // an upper bound of the rows' norms
    std::size_t most_keys_ = 0;
    std::uint32_t next_key_ = 0;
};

using flat_index = basic_flat_index<cosine_scale>;
using flat_product_index = basic_flat_index<inner_product_scale>;

// ------------------------------------------------------------------------------------------------------------- detail

template <ProductScale S>
void basic_flat_index<S>::require_width(std::size_t got) const {
    if (got != dimension_)
        detail::raise<usage_error>("dense.dimension", detail::concat("quarry::flat_index: expected ", dimension_,
                                                                     " floats, got ", got));
}

// The rows as they are stored: finite, of length 1 for cosines, and without subnormal numbers.
template <ProductScale S>
std::vector<float> basic_flat_index<S>::checked(std::span<const float> rows, std::string_view where) const {
    std::vector<float> out(rows.begin(), rows.end());
    for (std::size_t i = 0; i * dimension_ < out.size(); ++i) {
        const std::span<float> one = std::span(out).subspan(i * dimension_, dimension_);
        if (!detail::is_finite(one))
            detail::raise<usage_error>("dense.not_finite",
                                       detail::concat(where, ": row ", i, " holds a NaN or an infinity"));
        if (!is_cosine) {
            for (float& x : one) x = detail::narrowed(detail::widened(x));
        } else if (!normalize(one)) {
            detail::raise<usage_error>("dense.zero_vector",
                                       detail::concat(where, ": row ", i, " is zero and has no direction"));
        }
    }
    return out;
}

template <ProductScale S>
key_id basic_flat_index<S>::add(std::span<const unit_id> units, std::span<const float> rows) {
    if (units.size() == 1) require_width(rows.size());
    if (rows.size() != units.size() * dimension_)
        detail::raise<usage_error>("dense.dimension",
                                   detail::concat("quarry::flat_index: ", units.size(), " rows of ", dimension_,
                                                  " make ", units.size() * dimension_, " floats, got ", rows.size()));
    if (units.size() > index_of(no_key) - next_key_)
        detail::raise<usage_error>("dense.full", detail::concat("quarry::flat_index: ", next_key_, " keys were given, ",
                                                                units.size(), " more would be too many"));
    const std::vector<float> fresh = checked(rows, "quarry::flat_index::add");

    // Everything that may throw comes first; a unit's list that grew in vain is cut again.
    if (keys_.capacity() < keys_.size() + units.size())
        keys_.reserve((std::max)(2 * keys_.size(), keys_.size() + units.size()));
    const std::size_t before = keys_.size();
    std::size_t placed = 0;
    try {
        for (; placed < units.size(); ++placed)
            places_[units[placed]].push_back(static_cast<std::uint32_t>(before + placed));
        rows_.insert(rows_.end(), fresh.begin(), fresh.end());
    } catch (...) {
        for (std::size_t i = 0; i < placed; ++i) places_[units[i]].pop_back();
        std::erase_if(places_, [](const auto& entry) { return entry.second.empty(); });
        throw;
    }
    for (std::size_t i = 0; i < units.size(); ++i) {
        keys_.push_back({units[i], key_id{next_key_++}});
        most_keys_ = (std::max)(most_keys_, places_.find(units[i])->second.size());
        const auto added = row(before + i);
        for (std::size_t j = 0; j < dimension_; ++j) sum_[j] += static_cast<double>(added[j]);
        longest_ = (std::max)(longest_, norm(added));
    }
    return key_id{next_key_ - static_cast<std::uint32_t>(units.size())};
}

template <ProductScale S>
std::size_t basic_flat_index<S>::remove(unit_id unit) {
    if (!places_.contains(unit)) return 0;
    std::size_t kept = 0;
    const std::size_t before = keys_.size();
    for (std::size_t i = 0; i < before; ++i) {
        if (keys_[i].unit == unit) continue;
        std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(i * dimension_), dimension_,
                    rows_.begin() + static_cast<std::ptrdiff_t>(kept * dimension_));
        keys_[kept++] = keys_[i];
    }
    keys_.resize(kept);
    rows_.resize(kept * dimension_);
    places_.erase(unit);
    for (auto& [other, places] : places_) places.clear();
    most_keys_ = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        auto& places = places_[keys_[i].unit];
        places.push_back(static_cast<std::uint32_t>(i));
        most_keys_ = (std::max)(most_keys_, places.size());
    }
    // Summed afresh: subtracting would leave the rounding of what was removed behind.
    std::ranges::fill(sum_, 0.0);
    longest_ = 0.0;
    for (std::size_t i = 0; i < kept; ++i) {
        for (std::size_t j = 0; j < dimension_; ++j) sum_[j] += static_cast<double>(row(i)[j]);
        longest_ = (std::max)(longest_, norm(row(i)));
    }
    return before - kept;
}

template <ProductScale S>
basic_flat_index<S> basic_flat_index<S>::restored(std::size_t dimension, std::vector<held> keys,
                                                  std::vector<float> rows, key_id next_key) {
    const auto refuse = [](const std::string& why) {
        detail::raise<data_error>("dense.stored", "quarry::flat_index: these are no rows of an index: " + why);
    };
    if (dimension == 0) refuse("the dimension is 0");
    if (rows.size() % dimension != 0 || rows.size() / dimension != keys.size())
        refuse(detail::concat(keys.size(), " keys of dimension ", dimension, " come with ", rows.size(), " floats"));
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i].key >= next_key || (i != 0 && keys[i].key <= keys[i - 1].key))
            refuse(detail::concat("key ", index_of(keys[i].key), " does not follow the one before, or not below ",
                                  index_of(next_key)));
    basic_flat_index out(dimension);
    out.rows_ = std::move(rows);
    out.keys_ = std::move(keys);
    out.next_key_ = static_cast<std::uint32_t>(index_of(next_key));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto one = out.row(i);
        const double length = norm(one);
        // Normalised rows have a length of 1 to within their rounding.
        if (!detail::is_finite(one) || (is_cosine && !(length > 0.999 && length < 1.001)))
            refuse(detail::concat("row ", i, " is not finite, or not of length 1"));
        for (std::size_t j = 0; j < dimension; ++j) out.sum_[j] += static_cast<double>(one[j]);
        out.longest_ = (std::max)(out.longest_, length);
        auto& places = out.places_[out.keys_[i].unit];
        places.push_back(static_cast<std::uint32_t>(i));
        out.most_keys_ = (std::max)(out.most_keys_, places.size());
    }
    return out;
}

template <ProductScale S>
float basic_flat_index<S>::exact(std::span<const float> probe, std::size_t i) const noexcept {
    const double product = dot(probe, row(i));
    constexpr double most = is_cosine ? 1.0 : static_cast<double>((std::numeric_limits<float>::max)());
    return detail::narrowed(std::clamp(product, -most, most));
}

template <ProductScale S>
std::vector<scored_key> basic_flat_index<S>::search(dense_probe probe, std::size_t n, accept allowed) const {
    require_width(probe.size());
    return std::move(search_batch(probe, n, allowed).front());
}

template <ProductScale S>
std::vector<std::vector<scored_key>> basic_flat_index<S>::search_batch(std::span<const float> probes, std::size_t n,
                                                                       accept allowed) const {
    detail::require_evaluated(allowed);
    if (probes.size() % dimension_ != 0) require_width(probes.size());
    const std::vector<float> asked = checked(probes, "quarry::flat_index::search");
    const std::size_t m = asked.size() / dimension_;
    std::vector<std::vector<scored_key>> answers(m);
    if (n == 0 || keys_.empty()) return answers;

    // Few rows are not worth a matrix, and for all of them nothing is saved. Beyond the other two limits the float
    // product may overflow where the double one does not, and its error is no longer bounded.
    const bool few = allowed.units && allowed.units->count() < size() / 16;
    const auto probe_of = [&](std::size_t p) { return std::span(asked).subspan(p * dimension_, dimension_); };
    double longest_probe = 0.0;
    for (std::size_t p = 0; p < m; ++p) longest_probe = (std::max)(longest_probe, norm(probe_of(p)));
    constexpr std::size_t widest = std::size_t{1} << 17;
    if (few || n >= size() || longest_probe * longest_ > 1e30 || dimension_ > widest) {
        for (std::size_t p = 0; p < m; ++p) answers[p] = exhaustive(probe_of(p), n, allowed);
        return answers;
    }
    constexpr std::size_t together = 16;  // probes per product: bounds the scores held at once
    std::vector<float> approximate;
    for (std::size_t first = 0; first < m; first += together) {
        const std::size_t some = (std::min)(together, m - first);
        approximate.resize(some * size());
        approximate_products(rows_, std::span(asked).subspan(first * dimension_, some * dimension_), dimension_,
                             approximate);
        for (std::size_t p = 0; p < some; ++p)
            answers[first + p] =
                certified(probe_of(first + p), std::span(approximate).subspan(p * size(), size()), n, allowed);
    }
    return answers;
}

template <ProductScale S>
std::vector<scored_key> basic_flat_index<S>::exhaustive(std::span<const float> probe, std::size_t n,
                                                        const accept& allowed) const {
    top_k<scored_key, by_order> best(n);
    const auto offer = [&](std::size_t i) { best.offer({keys_[i].unit, keys_[i].key, exact(probe, i)}); };
    if (allowed.units) {
        allowed.units->for_each([&](unit_id unit) {
            const auto found = places_.find(unit);
            if (found != places_.end())
                for (const std::uint32_t i : found->second) offer(i);
        });
    } else {
        for (std::size_t i = 0; i < size(); ++i) offer(i);
    }
    return best.take();
}

// Rows whose approximate product lies within twice the error below the n-th best could still be among the n best; no
// other row can. Twice: the n-th best may be too high by one error, the row too low by another. Added to it is how far
// two products can lie apart that are equal as scores, when the unit decides between them: 2^-22 of the lengths where
// they were rounded to float and cut at 1, 2^-125 where they became 0.
template <ProductScale S>
std::vector<scored_key> basic_flat_index<S>::certified(std::span<const float> probe,
                                                       std::span<const float> approximate, std::size_t n,
                                                       const accept& allowed) const {
    const auto accepted = [&](std::size_t i) { return allowed.contains(keys_[i].unit); };
    top_k<float, std::greater<>> roughly(n);
    for (std::size_t i = 0; i < size(); ++i)
        if ((!roughly.full() || approximate[i] > roughly.worst()) && accepted(i)) roughly.offer(approximate[i]);
    if (roughly.empty()) return {};
    const double lengths = norm(probe) * longest_;
    const double slack = 2 * product_error(dimension_, lengths) + 0x1p-22 * lengths + 0x1p-125;
    const double least = roughly.full() ? static_cast<double>(roughly.worst()) - slack
                                        : (std::numeric_limits<double>::lowest)();
    top_k<scored_key, by_order> best(n);
    for (std::size_t i = 0; i < size(); ++i)
        if (static_cast<double>(approximate[i]) >= least && accepted(i))
            best.offer({keys_[i].unit, keys_[i].key, exact(probe, i)});
    return best.take();
}

template <ProductScale S>
std::vector<scored_key> basic_flat_index<S>::score(dense_probe probe, std::span<const unit_id> units) const {
    require_width(probe.size());
    const std::vector<float> asked = checked(probe, "quarry::flat_index::score");
    std::vector<scored_key> out;
    for (const unit_id unit : units) {
        scored_key best{unit, no_key, 0.0f};
        if (const auto found = places_.find(unit); found != places_.end())
            for (const std::uint32_t i : found->second)
                if (const scored_key key{unit, keys_[i].key, exact(asked, i)}; best.key == no_key || better(key, best))
                    best = key;
        out.push_back(best);
    }
    return out;
}

template <ProductScale S>
score_bounds basic_flat_index<S>::bounds(dense_probe probe) const
    requires std::same_as<S, cosine_scale>
{
    require_width(probe.size());
    const std::vector<float> asked = checked(probe, "quarry::flat_index::bounds");
    double mean = 0.0;
    for (std::size_t j = 0; j < dimension_; ++j) mean += static_cast<double>(asked[j]) * sum_[j];
    mean /= static_cast<double>(size()) + 10.0;
    return {static_cast<float>(std::clamp(mean, 0.0, 0.99)), 1.0f};
}

template <ProductScale S>
bool basic_flat_index<S>::vector_of(unit_id unit, std::span<float> out) const {
    require_width(out.size());
    const auto found = places_.find(unit);
    if (found == places_.end()) return false;
    std::ranges::copy(row(found->second.front()), out.begin());
    return true;
}

}  // namespace QUARRY_NAMESPACE
