// HNSW index: approximate search over a graph, for more keys than a scan can afford.
//
// Rows, scores, ids and filters are those of flat_index; what differs is that a search without a filter may miss a key,
// about one in twenty of the ten best unless asked otherwise. hnswlib holds the graph; it is linked and walked here, by
// bytes, and what a walk gathered is scored as flat_index would. A filter never costs keys: where few rows are allowed
// they are scanned, and a walk that finds too little or takes longer than a scan ends in one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/executor.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../detail/hnswlib.hpp"
#include "../detail/saved.hpp"
#include "../detail/text.hpp"
#include "dense_rows.hpp"
#include "graph_builder.hpp"
#include "graph_walk.hpp"

namespace QUARRY_NAMESPACE {

struct hnsw_options {
    std::size_t m = 16;                 // links of a row on the upper levels, half of those on the lowest; 2 to 256
    std::size_t ef_construction = 200;  // rows that are looked at to link a new one; 1 to 10,000
    std::size_t ef = 0;                 // rows that a walk keeps; 0: the fewest that reach `recall`
    float recall = 0.95f;               // of the ten best, measured on rows of the index against a scan
    std::size_t scan_below = 4096;      // so few rows are scanned, and no graph is built
    std::uint32_t seed = 100;           // of the levels
};

/// Takes rows as basic_flat_index does. The same rows in the same order give the same graph and the same answers.
///
/// Memory  that of flat_index; about 8 m + 75 bytes a row for the graph, with room for half as many rows more; 2.6 MB.
/// Errors  those of flat_index; usage_error `hnsw.options`. A call that throws has changed nothing, except that after
///         one that ran out of memory while linking, searches scan until rows are added.
///
/// It can be moved and not copied. Changing it needs exclusive access, searching does not.
template <ProductScale S>
class basic_hnsw_index {
   public:
    using scale = S;

    explicit basic_hnsw_index(std::size_t dimension, hnsw_options options = {})
        : options_(options), rows_(std::make_unique<store>("quarry::hnsw_index", dimension, true)) {
        const auto within = [](std::string_view name, auto value, auto least, auto most) {
            if (!(value >= least && value <= most))
                detail::raise<usage_error>("hnsw.options", detail::concat("quarry::hnsw_index: ", name, " is ", value,
                                                                          ", expected ", least, " to ", most));
        };
        within("m", options.m, std::size_t{2}, std::size_t{256});
        within("ef_construction", options.ef_construction, std::size_t{1}, std::size_t{10000});
        within("recall", options.recall, 0.0f, 1.0f);
    }

    key_id add(unit_id unit, std::span<const float> row) {
        const unit_id units[] = {unit};
        return add(units, row);
    }

    /// Adds units.size() rows, row-major; all or none. Returns the first key. Places of removed rows are taken again.
    ///
    /// Cost  linking a row takes about the time of ef_construction * m products, once there are `scan_below` rows.
    key_id add(std::span<const unit_id> units, std::span<const float> rows) { return add(units, rows, {}, 1); }

    /// The same, and links rows in batches of up to 256, here and wherever `on` runs what it is given. The graph is the same
    /// for any executor, also for an empty one, but not that of the other call: rows of a batch find each other by a scan,
    /// and the rest in the graph that was there before them. It is as good.
    ///
    /// Errors  also what the executor throws.
    key_id add(std::span<const unit_id> units, std::span<const float> rows, const executor& on) {
        return add(units, rows, on, 256);
    }

    /// Forgets every key of `unit`; says how many there were. Walks go on through its rows until a 64th of all are such;
    /// then these leave the graph, and their places are free.
    ///
    /// Cost  little; but then a look at all links, and for each row about as long as linking one. When more rows are
    ///       removed than alive, the graph is built anew. If memory runs out in that, searches scan until rows are added.
    std::size_t remove(unit_id unit) {
        std::vector<std::uint32_t> gone;
        rows_->units().for_each(unit, [&](std::uint32_t i) { gone.push_back(i); });
        for (const std::uint32_t i : gone) dead_[i] = true;
        dead_count_ += gone.size();
        for (const std::uint32_t i : gone) first_free_ = (std::min)(first_free_, std::size_t{i});
        rows_->drop(unit);
        try {
            clear_away(gone);
        } catch (...) {
            forget_graph();
        }
        return gone.size();
    }

    std::size_t size() const noexcept { return rows_->size() - dead_count_; }
    std::size_t dimension() const noexcept { return rows_->dimension(); }
    std::size_t most_keys_of_a_unit() const noexcept { return size() == 0 ? 0 : rows_->units().most(); }

    /// Whether an answer may miss a key. What one search did is in its report.
    bool approximate() const noexcept { return graph_ != nullptr; }

    /// Rows that a walk keeps, as given or as measured.
    std::size_t ef() const noexcept { return options_.ef != 0 ? options_.ef : ef_; }
    /// From now on a walk keeps so many, whatever was measured; 0 goes back to that.
    void walk_with(std::size_t ef) noexcept { options_.ef = ef; }
    /// The recall that was measured with it, on rows of the index that were searched for: 1 before there is a graph,
    /// and where `ef` was given. Questions that lie elsewhere than the rows find less.
    float measured_recall() const noexcept { return recall_; }

    /// The n best accepted keys, nearly.
    ///
    /// Order   score descending, then unit id, then key id.
    /// Cost    about max(ef, n) * m byte products; with a filter about twice a scan of what it allows at most.
    std::vector<scored_key> search(dense_probe probe, std::size_t n, accept allowed = {}) const {
        search_report report;
        return search(probe, n, allowed, report);
    }
    std::vector<scored_key> search(dense_probe probe, std::size_t n, accept allowed, search_report& report) const;

    /// The same by a plan of the caller's, for those who measure: a walk is not stopped, and what it finds may be too few.
    /// Where there is no graph it is a scan all the same.
    std::vector<scored_key> search_by(search_plan plan, dense_probe probe, std::size_t n, accept allowed,
                                      search_report& report) const;

    /// The same for m probes, row-major.
    std::vector<std::vector<scored_key>> search_batch(std::span<const float> probes, std::size_t n,
                                                      accept allowed = {}) const {
        if (probes.size() % dimension() != 0) rows_->require_width(probes.size());
        std::vector<std::vector<scored_key>> answers;
        for (std::size_t p = 0; p < probes.size(); p += dimension())
            answers.push_back(search(probes.subspan(p, dimension()), n, allowed));
        return answers;
    }

    std::vector<scored_key> score(dense_probe probe, std::span<const unit_id> units) const {
        return rows_->score(rows_->checked_probe(probe, "score"), units);
    }

    /// As flat_index has it.
    score_bounds bounds(dense_probe probe) const requires std::same_as<S, cosine_scale> {
        const double mean = rows_->mean(rows_->checked_probe(probe, "bounds"), size());
        return {static_cast<float>(std::clamp(mean, 0.0, 0.99)), 1.0f};
    }

    bool vector_of(unit_id unit, std::span<float> row) const { return rows_->vector_of(unit, row); }

    std::size_t memory() const noexcept {
        return rows_->memory() + dead_.capacity() / 8 + (graph_ ? graph_->memory() : 0);
    }

    const hnsw_options& options() const noexcept { return options_; }

   private:
    friend struct detail::saved<basic_hnsw_index>;
    using store = detail::dense_rows<S>;

    key_id add(std::span<const unit_id> units, std::span<const float> rows, const executor& on, std::size_t together) {
        const std::vector<std::uint32_t> slots = free_slots(units.size());
        dead_.reserve(rows_->size() + units.size() - slots.size());
        const key_id first = rows_->add(units, rows, slots);
        dead_.resize(rows_->size(), false);
        for (const std::uint32_t i : slots) dead_[i] = false;
        dead_count_ -= slots.size();
        if (!slots.empty()) first_free_ = slots.back() + std::size_t{1};
        try {
            link(slots, on, together);
        } catch (...) {
            compact_from(first);
            rows_->give_keys_from(first);
            throw;
        }
        return first;
    }

    // The first rows whose places are free: removed, and out of the graph.
    std::vector<std::uint32_t> free_slots(std::size_t most) const {
        std::vector<std::uint32_t> out;
        most = (std::min)(most, dead_count_ - leaving_);
        for (std::size_t i = first_free_; out.size() < most; ++i)
            if (is_free(static_cast<std::uint32_t>(i))) out.push_back(static_cast<std::uint32_t>(i));
        return out;
    }
    bool is_free(std::uint32_t i) const noexcept { return dead_[i] && !(graph_ && graph_->is_linked(i)); }

    void clear_away(std::span<const std::uint32_t> gone) {
        if (2 * dead_count_ > rows_->size()) {
            compact_from(rows_->next_key());
            link({}, {}, 1);
        } else if (graph_) {
            for (const std::uint32_t i : gone) leaving_ += graph_->is_linked(i);
            graph_->leave([this](std::uint32_t i) { return is_free(i); });
            if (leaving_ <= rows_->size() / 64 + 16) return;
            builder().unlink([this](std::uint32_t i) -> bool { return dead_[i]; });
            leaving_ = first_free_ = 0;
        }
    }

    void forget_graph() noexcept {
        graph_.reset();
        leaving_ = first_free_ = 0;
    }

    // Drops what was removed, and what has a key from `first` on. There is no graph then.
    void compact_from(key_id first) noexcept {
        forget_graph();
        rows_->compact([&](std::size_t i) { return dead_[i] || rows_->key(i).key >= first; });
        dead_.assign(rows_->size(), false);
        dead_count_ = tuned_at_ = 0;
    }

    auto builder() noexcept { return detail::graph_builder(*graph_, *rows_, (std::max)(options_.ef_construction, options_.m)); }

    // Products must not overflow a float, or the graph's order means nothing.
    bool walkable() const noexcept { return rows_->longest() <= 1e15 && dimension() <= detail::byte_rows::widest; }

    // Rows beyond the graph, those that stand in `slots` again; all that are alive, where there is no graph.
    void link(std::span<const std::uint32_t> slots, const executor& on, std::size_t together) {
        if (rows_->size() < (std::max)(options_.scan_below, std::size_t{2}) || !walkable()) {
            forget_graph();
            return;
        }
        std::vector<std::uint32_t> fresh;
        if (graph_)
            fresh.assign(slots.begin(), slots.end());
        else
            graph_ = std::make_unique<detail::row_graph>(options_.m, options_.seed);
        graph_->reserve(rows_->size());
        while (graph_->size() < rows_->size()) {
            if (!dead_[graph_->size()]) fresh.push_back(static_cast<std::uint32_t>(graph_->size()));
            graph_->add();
        }
        for (std::size_t linked = size() - fresh.size(), at = 0, count; at < fresh.size(); at += count, linked += count) {
            count = std::clamp(linked / 16, std::size_t{1}, (std::min)(together, fresh.size() - at));
            builder().link(std::span(fresh).subspan(at, count), on);
        }
        // As often as half of the rows are new.
        if (options_.ef == 0 && index_of(rows_->next_key()) >= tuned_at_ + rows_->size() / 2) tune();
    }

    void tune();

    using walk_type = detail::graph_walk<detail::row_graph, store>;
    bool may_walk(double length) const noexcept { return graph_ && length >= 1e-15 && length <= 1e15; }
    auto accepted_by(const accept& allowed) const noexcept {
        return [this, &allowed, removed = dead_count_ != 0](std::size_t i) {
            return !(removed && dead_[i]) && allowed.contains(rows_->unit(i));
        };
    }
    search_plan cheaper_scan(const accept& allowed) const noexcept;
    std::vector<scored_key> scan(search_plan plan, std::span<const float> asked, std::size_t n, const accept& allowed,
                                 search_report& report) const;
    std::vector<scored_key> best_of(const walk_type& walk, std::span<const float> asked, double length, std::size_t n,
                                    search_report& report) const;

    hnsw_options options_;
    std::unique_ptr<store> rows_;
    std::unique_ptr<detail::row_graph> graph_;
    std::vector<bool> dead_;
    std::size_t dead_count_ = 0, leaving_ = 0;  // how many of these are in the graph
    std::size_t first_free_ = 0;                // no place before it is free
    std::size_t ef_ = 64, tuned_at_ = 0;        // when so many keys had been given
    float recall_ = 1.0f;
};

using hnsw_index = basic_hnsw_index<cosine_scale>;
using hnsw_product_index = basic_hnsw_index<inner_product_scale>;

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// What searches cost, in rows scored on a walk: measured by bench_filter on 200,000 made-up rows of 384.
struct search_costs {
    double listed_row = 0.7;    // one of a list
    double scanned_row = 0.2;   // one that is read after its neighbour
    double kept_row = 12.0;     // what a walk without a filter scores for each row it keeps

    // A part of the rows is allowed. Below the first, a two-hop walk misses too much; above the second,
    // passing through rows costs more than scoring them.
    double two_hop_from = 0.07, two_hop_to = 0.15;
    bool two_hop(double part) const noexcept { return part >= two_hop_from && part <= two_hop_to; }

    double trial = 64.0;  // rows after which a filtered walk asks how many are accepted there
};
inline constexpr search_costs costs;

}  // namespace detail

template <ProductScale S>
search_plan basic_hnsw_index<S>::cheaper_scan(const accept& allowed) const noexcept {
    constexpr double times = detail::costs.listed_row / detail::costs.scanned_row;
    return allowed.units && times * static_cast<double>(allowed.units->count()) < static_cast<double>(rows_->size())
               ? search_plan::scan_allowed
               : search_plan::scan_all;
}

template <ProductScale S>
std::vector<scored_key> basic_hnsw_index<S>::scan(search_plan plan, std::span<const float> asked, std::size_t n,
                                                  const accept& allowed, search_report& report) const {
    report.plan = plan;
    report.complete = true;
    if (plan == search_plan::scan_allowed) {
        const std::vector<std::uint32_t> ids = rows_->units().of(*allowed.units);
        report.scored += ids.size();
        return rows_->listed(asked, n, ids);
    }
    report.scored += rows_->size();
    return std::move(rows_->scan(asked, n, accepted_by(allowed)).front());
}

template <ProductScale S>
std::vector<scored_key> basic_hnsw_index<S>::best_of(const walk_type& walk, std::span<const float> asked, double length,
                                                     std::size_t n, search_report& report) const {
    report.scored = walk.scored();
    report.complete = false;
    detail::certified_best best(n, rows_->tie(length));
    for (const auto& found : walk.found()) {
        const auto range = walk.range(found);
        best.offer(found.row, range.low, range.high);
    }
    return best.take(n, [&](std::uint32_t i) { return rows_->scored(asked, i); },
                     [&](std::uint32_t i) { rows_->stored().fetch(i); });
}

template <ProductScale S>
std::vector<scored_key> basic_hnsw_index<S>::search(dense_probe probe, std::size_t n, accept allowed,
                                                    search_report& report) const {
    constexpr auto& costs = detail::costs;
    detail::require_evaluated(allowed);
    const std::vector<float> asked = rows_->checked_probe(probe, "search");
    report = {};
    if (n == 0 || size() == 0) return {};
    const double length = norm(asked);
    const search_plan scan_plan = cheaper_scan(allowed);
    if (!may_walk(length)) return scan(scan_plan, asked, n, allowed, report);

    const double scan_cost = scan_plan == search_plan::scan_all
                                 ? costs.scanned_row * static_cast<double>(rows_->size())
                                 : costs.listed_row * static_cast<double>(allowed.units->count());
    const std::size_t kept = (std::max)(ef(), n);
    const double least = costs.kept_row * static_cast<double>(kept);
    report.reason = plan_reason::cheaper;
    if (least >= scan_cost || n >= size() / 4) return scan(scan_plan, asked, n, allowed, report);

    walk_type walk(*graph_, *rows_, asked, length);
    const auto step_back = [&](plan_reason why) {
        report.reason = why;
        report.scored = walk.scored();
        return scan(scan_plan, asked, n, allowed, report);
    };
    const std::size_t possible = allowed.units ? (std::min)(allowed.units->count(), size()) : size();
    report.plan = search_plan::walk;
    if (allowed.units == nullptr && dead_count_ == 0) {
        walk.plain(kept);
    } else {
        const auto accepted = accepted_by(allowed);
        const auto go_on = [&](bool two_hop, double most) {
            report.plan = two_hop ? search_plan::walk_two_hop : search_plan::walk_filtered;
            return two_hop ? walk.two_hop(kept, accepted, static_cast<std::size_t>(most))
                           : walk.filtered(kept, accepted, static_cast<std::size_t>(most));
        };
        bool two_hop = costs.two_hop(static_cast<double>(possible) / static_cast<double>(size()));
        if (!go_on(two_hop, (std::min)(scan_cost / 8, costs.trial))) {
            // How many are accepted near the probe says more than how many there are.
            const double rate = walk.accepted_rate();
            two_hop = two_hop && rate >= costs.two_hop_from / 2;
            if (least / rate > scan_cost) return step_back(plan_reason::cheaper_here);
            report.reason = plan_reason::cheaper_here;
            if (!go_on(two_hop, scan_cost)) return step_back(plan_reason::walk_cost);
        }
    }
    // A unit may have several keys and be accepted; so many units, so many keys at least.
    if (walk.found().size() < (std::min)(n, possible)) return step_back(plan_reason::walk_short);
    return best_of(walk, asked, length, n, report);
}

template <ProductScale S>
std::vector<scored_key> basic_hnsw_index<S>::search_by(search_plan plan, dense_probe probe, std::size_t n,
                                                       accept allowed, search_report& report) const {
    detail::require_evaluated(allowed);
    const std::vector<float> asked = rows_->checked_probe(probe, "search_by");
    report = {};
    if (n == 0 || size() == 0) return {};
    const double length = norm(asked);
    const bool is_scan = plan == search_plan::scan_all || plan == search_plan::scan_allowed;
    if (is_scan || !may_walk(length))
        return scan(allowed.units && is_scan ? plan : search_plan::scan_all, asked, n, allowed, report);
    walk_type walk(*graph_, *rows_, asked, length);
    const std::size_t kept = (std::max)(ef(), n);
    report.plan = plan;
    if (plan == search_plan::walk_two_hop) walk.two_hop(kept, accepted_by(allowed), SIZE_MAX);
    else if (allowed.units || dead_count_ != 0) walk.filtered(kept, accepted_by(allowed), SIZE_MAX);
    else walk.plain(kept);
    return best_of(walk, asked, length, n, report);
}

// The smallest of a row of values whose answers hold the wanted part of the ten nearest rows, for rows that are asked
// for evenly over the index and do not count themselves.
template <ProductScale S>
void basic_hnsw_index<S>::tune() {
    constexpr std::size_t ten = 10, asked_for = 100;
    const std::size_t step = (std::max)(rows_->size() / asked_for, std::size_t{1});
    std::vector<std::vector<scored_key>> truth;
    std::vector<std::uint32_t> asked;
    search_report report;
    for (std::size_t i = 0; i < rows_->size() && asked.size() < asked_for; i += step) {
        const auto probe = rows_->row(i);
        const double length = norm(probe);
        if (dead_[i] || !(length >= 1e-15 && length <= 1e15)) continue;
        asked.push_back(static_cast<std::uint32_t>(i));
        truth.push_back(scan(search_plan::scan_all, probe, ten + 1, {}, report));
    }
    tuned_at_ = index_of(rows_->next_key());
    for (const std::size_t kept : {16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u, 2048u}) {
        ef_ = kept;
        std::size_t found = 0, wanted = 0;
        for (std::size_t q = 0; q < asked.size(); ++q) {
            const auto probe = rows_->row(asked[q]);
            detail::graph_walk walk(*graph_, *rows_, probe, norm(probe));
            walk.plain(kept);
            for (const scored_key& key : truth[q]) {
                if (key.key == rows_->key(asked[q]).key) continue;
                ++wanted;
                found +=
                    std::ranges::any_of(walk.found(), [&](const auto& f) { return rows_->key(f.row).key == key.key; });
            }
        }
        recall_ = wanted == 0 ? 1.0f : static_cast<float>(found) / static_cast<float>(wanted);
        if (recall_ >= options_.recall) break;
    }
}

}  // namespace QUARRY_NAMESPACE
