// Flat index: exact search over every row.
//
// A hundred thousand keys of 384 floats take about a millisecond on one core, and there is nothing to tune; for
// millions, a graph. It is exact in the strict sense: the answer is that of a loop in double precision, ties included.
// A copy of the rows in half bytes is scanned, and proves for nearly all of them that they are not among the best; for
// most others a copy in bytes does, and the few that remain are scored in double.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../detail/saved.hpp"
#include "dense_rows.hpp"

namespace QUARRY_NAMESPACE {

struct flat_options {
    bool bytes = true;    // keep the copy in bytes: a quarter more memory, a quarter of the time
    bool nibbles = true;  // and the one in half bytes: an eighth more, half of that time; for single searches
    row_format rows = row_format::floats;
};

/// Rows of `dimension` floats, each a key of a unit. With cosine_scale rows and probes may have any length but 0 and
/// are scaled to 1; with inner_product_scale they are taken as they are. Components below 2^-126 count as 0 (after
/// scaling), and so do such scores.
///
/// Scores are in the scale's bounds: a cosine is never above 1, a product never infinite. A row finds itself with a
/// cosine of 1 to within 2^-22, since stored rows are floats; of half floats, to within 2^-11. Either way answers are
/// exact for the rows as they are stored.
///
/// Memory  4 d + 12 bytes a key, of half floats 2 d + 12; with bytes d + 12 more, with half bytes d / 2 + 12 more (d to the
///         next multiple of 32, keys of half bytes to that of 32; rows narrower than 32 have neither, and without bytes
///         there are no half bytes); about 14 bytes for each unit id up to the highest, in pages of 64 that hold one.
/// Errors  usage_error `dense.dimension`, `dense.not_finite`, `dense.zero_vector` (cosine only), `dense.half` (a number
///         too large for half floats), `dense.full` (2^32 - 1 keys were given). A call that throws has changed nothing.
template <ProductScale S>
class basic_flat_index {
   public:
    using scale = S;

    explicit basic_flat_index(std::size_t dimension, flat_options options = {})
        : rows_("quarry::flat_index", dimension, options.bytes, options.rows, options.nibbles), options_(options) {}

    /// Adds a row for `unit`. Keys are numbered from 0 in the order of adding, and no number is given twice.
    key_id add(unit_id unit, std::span<const float> row) {
        const unit_id units[] = {unit};
        return add(units, row);
    }

    /// Adds units.size() rows, row-major; all or none. Returns the first key.
    key_id add(std::span<const unit_id> units, std::span<const float> rows) { return rows_.add(units, rows); }

    /// Forgets every key of `unit`; says how many there were.
    std::size_t remove(unit_id unit) {
        if (!rows_.units().contains(unit)) return 0;
        return rows_.compact([&](std::size_t i) { return rows_.key(i).unit == unit; });
    }

    std::size_t size() const noexcept { return rows_.size(); }
    std::size_t dimension() const noexcept { return rows_.dimension(); }
    const flat_options& options() const noexcept { return options_; }
    std::size_t most_keys_of_a_unit() const noexcept { return rows_.units().most(); }

    /// The n best accepted keys.
    ///
    /// Order   score descending, then unit id, then key id.
    /// Cost    a product of half bytes per row, and of bytes for rows that could be in by those; where that is more than
    ///         an eighth of them, of bytes for most. Of bytes alone per accepted row where those are few. A double product
    ///         for each key that could be in: for each of the worst rows (all equal, all far longer than their
    ///         differences).
    std::vector<scored_key> search(dense_probe probe, std::size_t n, accept allowed = {}) const {
        rows_.require_width(probe.size());
        return std::move(search_batch(probe, n, allowed).front());
    }

    /// The same for m probes, row-major; equal to m single searches.
    ///
    /// Cost    a row's bytes are read once for up to 512 probes; products of half bytes would not be quicker.
    std::vector<std::vector<scored_key>> search_batch(std::span<const float> probes, std::size_t n,
                                                      accept allowed = {}) const;

    /// The best key of each unit; `no_key` and score 0 for a unit without one.
    std::vector<scored_key> score(dense_probe probe, std::span<const unit_id> units) const {
        return rows_.score(rows_.checked_probe(probe, "score"), units);
    }

    /// From the probe's mean cosine over all keys to 1. Filters do not change it.
    /// The mean is drawn towards 0 by ten keys that are not there, so that a tiny index claims little.
    score_bounds bounds(dense_probe probe) const requires std::same_as<S, cosine_scale> {
        const double mean = rows_.mean(rows_.checked_probe(probe, "bounds"), size());
        return {static_cast<float>(std::clamp(mean, 0.0, 0.99)), 1.0f};
    }

    /// Copies the row of the unit's first key.
    bool vector_of(unit_id unit, std::span<float> row) const { return rows_.vector_of(unit, row); }

    /// A stored row: its unit and its key.
    using held = typename detail::dense_rows<S>::held;

    // What a store writes: the rows as they are kept, in the order of adding, which is that of their keys.
    std::span<const held> keys() const noexcept { return rows_.keys(); }
    const detail::row_store& rows() const noexcept { return rows_.stored(); }
    /// The key that the next row will get.
    key_id next_key() const noexcept { return rows_.next_key(); }
    /// The sum of all rows.
    std::span<const double> sum() const noexcept { return rows_.sum(); }

    /// The index whose `keys`, rows and `next_key` these are. Rows are taken as they are, so that it answers bit by bit
    /// as the other did.
    ///
    /// Errors  data_error `dense.stored` for what no index of this kind holds.
    static basic_flat_index restored(std::size_t dimension, std::span<const held> keys, std::span<const float> rows,
                                     key_id next_key, flat_options options = {}) {
        if (dimension == 0) detail::raise<data_error>("dense.stored", "quarry::flat_index: the stored dimension is 0");
        basic_flat_index out(dimension, options);
        out.rows_.restore(keys, rows, next_key);
        return out;
    }
    /// The same where `fill(bytes)` writes the rows as they are kept, one block of them after the other.
    template <class Fill>
    static basic_flat_index restored_by(std::size_t dimension, std::span<const held> keys, key_id next_key,
                                        flat_options options, Fill fill) {
        basic_flat_index out(dimension, options);
        out.rows_.restore(keys, next_key, fill);
        return out;
    }

    std::size_t memory() const noexcept { return rows_.memory(); }

   private:
    friend struct detail::saved<basic_flat_index>;
    detail::dense_rows<S> rows_;
    flat_options options_;
};

using flat_index = basic_flat_index<cosine_scale>;
using flat_product_index = basic_flat_index<inner_product_scale>;

// ------------------------------------------------------------------------------------------------------------- detail

template <ProductScale S>
std::vector<std::vector<scored_key>> basic_flat_index<S>::search_batch(std::span<const float> probes, std::size_t n,
                                                                       accept allowed) const {
    detail::require_evaluated(allowed);
    const std::size_t d = dimension();
    if (probes.size() % d != 0) rows_.require_width(probes.size());
    const std::vector<float> asked = rows_.checked(probes, "search");
    std::vector<std::vector<scored_key>> answers(asked.size() / d);
    if (n == 0 || size() == 0) return answers;
    if (!allowed.units) return rows_.scan(asked, n, [](std::size_t) { return true; });

    // A row that stands alone in memory costs about four times one that is read after its neighbour.
    const unit_set& units = *allowed.units;
    if (units.count() < size() / 4) {
        const std::vector<std::uint32_t> ids = rows_.units().of(units);
        for (std::size_t p = 0; p < answers.size(); ++p)
            answers[p] = rows_.listed(std::span(asked).subspan(p * d, d), n, ids);
        return answers;
    }
    return rows_.scan(asked, n, [&](std::size_t i) { return units.contains(rows_.key(i).unit); });
}

}  // namespace QUARRY_NAMESPACE
