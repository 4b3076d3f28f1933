// Graph builder: which rows of a graph are linked.
//
// A row is linked with near rows that are not nearer to each other than to it, and they with it, until they have enough;
// then they choose again. Candidates are found by the walk that answers questions. Rows of one batch look for theirs in
// the graph as it was before the batch, and in the batch: so they can do it side by side, and what comes of it does not
// depend on where they did. Not promised.
//
// Source  Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
//         Small World graphs", 2016, algorithms 1, 2 and 4. Batches and removal are our own.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/executor.hpp"
#include "../detail/function_ref.hpp"
#include "../math/cosine.hpp"
#include "../math/kernels.hpp"
#include "graph_walk.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class Graph, class Rows>
class graph_builder {
   public:
    /// A row has a look at about `ef` others.
    graph_builder(Graph& graph, const Rows& rows, std::size_t ef) : graph_(graph), rows_(rows), ef_(ef) {}

    /// Links rows, ascending, as if they had no links before. Without an executor in this thread alone.
    ///
    /// Cost    about ef * m products for each.
    void link(std::span<const std::uint32_t> batch, const executor& on) {
        std::vector<std::vector<row_list>> found(batch.size());  // by row, by level
        side_by_side(on, batch.size(), [&](std::size_t i) { found[i] = neighbours(batch, i); });
        std::vector<back_link> back;
        for (std::size_t i = 0; i < batch.size(); ++i)
            for (std::size_t level = 0; level < found[i].size(); ++level) {
                graph_.link(batch[i], static_cast<int>(level), found[i][level]);
                for (const std::uint32_t to : found[i][level]) back.push_back({to, static_cast<int>(level), batch[i]});
            }
        link_back(std::move(back), on);
        for (const std::uint32_t row : batch) graph_.enter(row);
    }

    /// Takes the rows out for which `left(row)`. Whoever was linked with one of them is linked with a row that this one was
    /// linked with, if there is one that is not nearer to its other links; who lost a quarter of its links is linked anew.
    ///
    /// Cost    a look at all links, and about 20 m products for each link with a row that left.
    template <class Left>
    void unlink(Left left) {
        row_list lonely;
        for (std::uint32_t row = 0; row < graph_.size(); ++row) {
            bool enough = true;
            for (int level = 0; !left(row) && level <= graph_.level(row); ++level) enough = mend(row, level, left) && enough;
            if (!enough) lonely.push_back(row);
        }
        for (std::uint32_t row = 0; row < graph_.size(); ++row)
            for (int level = 0; left(row) && level <= graph_.level(row); ++level) graph_.link(row, level, {});
        graph_.leave([&](std::uint32_t row) { return left(row) || std::ranges::binary_search(lonely, row); });
        for (const std::uint32_t row : lonely) link({&row, 1}, {});
    }

   private:
    using row_list = std::vector<std::uint32_t>;
    struct near_row {
        float product;
        std::uint32_t row;

        // Nearest first.
        friend bool operator<(const near_row& a, const near_row& b) noexcept {
            return a.product != b.product ? a.product > b.product : a.row < b.row;
        }
    };
    struct back_link {
        std::uint32_t to;
        int level;
        std::uint32_t from;

        friend auto operator<=>(const back_link&, const back_link&) = default;
    };

    // The graph from one level up, as a walk sees it.
    struct upper_part {
        const Graph& graph;
        int lowest;

        std::uint32_t entry() const noexcept { return graph.entry(); }
        int top_level() const noexcept { return graph.top_level() - lowest; }
        std::span<const std::uint32_t> links(std::uint32_t row) const noexcept { return graph.links(row, lowest); }
        std::span<const std::uint32_t> links(std::uint32_t row, int level) const noexcept {
            return graph.links(row, lowest + level);
        }
    };

    float product(std::uint32_t a, std::uint32_t b) const noexcept {
        return best_kernels().product(rows_.row(a).data(), rows_.row(b).data(), rows_.dimension());
    }

    static void side_by_side(const executor& on, std::size_t n, function_ref<void(std::size_t)> task) {
        constexpr std::size_t together = 8;
        if (!on || n <= together) {
            for (std::size_t i = 0; i < n; ++i) task(i);
            return;
        }
        const auto failures = run_all(on, (n + together - 1) / together, [&](std::size_t t) {
            for (std::size_t i = t * together; i < (std::min)(n, (t + 1) * together); ++i) task(i);
        });
        for (const std::exception_ptr& failure : failures)
            if (failure) std::rethrow_exception(failure);
    }

    // By level.
    std::vector<row_list> neighbours(std::span<const std::uint32_t> batch, std::size_t i) const {
        const std::uint32_t row = batch[i];
        std::vector<row_list> out;
        for (int level = 0; level <= graph_.level(row); ++level) {
            std::vector<near_row> all;
            float least = std::numeric_limits<float>::lowest();  // of which a walk would have kept another
            if (level <= graph_.top_level()) {
                const upper_part upper{graph_, level};
                graph_walk walk(upper, rows_, rows_.row(row), norm(rows_.row(row)));
                walk.plain(ef_);
                for (const auto& found : walk.found())  // one that is linked anew finds itself
                    if (!std::ranges::binary_search(batch, found.row)) all.push_back({product(row, found.row), found.row});
                if (all.size() == ef_) least = all.back().product;
            }
            for (const std::uint32_t other : batch.first(i)) {
                if (graph_.level(other) < level) continue;
                if (const float nearness = product(row, other); nearness > least) all.push_back({nearness, other});
            }
            out.push_back(apart(std::move(all), graph_.own_links()));
        }
        return out;
    }

    // The nearest rows, without those that are nearer to one of these.
    row_list apart(std::vector<near_row> all, std::size_t most) const {
        std::sort(all.begin(), all.end());
        row_list kept;
        for (const near_row& one : all) {
            if (kept.size() == most) break;
            if (is_apart(one, kept)) kept.push_back(one.row);
        }
        return kept;
    }
    bool is_apart(const near_row& one, const row_list& from) const noexcept {
        return std::ranges::none_of(from, [&](std::uint32_t other) { return product(one.row, other) > one.product; });
    }

    // A row's list is changed by one thread, with all that are new in it.
    void link_back(std::vector<back_link> all, const executor& on) {
        std::ranges::sort(all);
        std::vector<std::span<const back_link>> lists;
        for (auto first = all.begin(); first != all.end();) {
            const auto last = std::find_if(first, all.end(), [&](const back_link& l) {
                return l.to != first->to || l.level != first->level;
            });
            lists.emplace_back(first, last);
            first = last;
        }
        side_by_side(on, lists.size(), [&](std::size_t i) { link_back(lists[i]); });
    }
    void link_back(std::span<const back_link> fresh) {
        const auto [to, level, from] = fresh.front();
        const auto before = graph_.links(to, level);
        row_list all(before.begin(), before.end());
        for (const back_link& link : fresh)
            if (std::ranges::find(before, link.from) == before.end()) all.push_back(link.from);
        const std::size_t most = graph_.most_links(level);
        graph_.link(to, level, all.size() <= most ? all : apart(near_to(to, all), most));
    }
    std::vector<near_row> near_to(std::uint32_t row, const row_list& others) const {
        std::vector<near_row> out;
        out.reserve(others.size());
        for (const std::uint32_t other : others) out.push_back({product(row, other), other});
        return out;
    }

    // Says whether three quarters of the links are left.
    template <class Left>
    bool mend(std::uint32_t row, int level, Left left) {
        const auto before = graph_.links(row, level);
        if (std::ranges::none_of(before, left)) return true;
        row_list kept;
        std::ranges::remove_copy_if(before, std::back_inserter(kept), left);
        const bool enough = 4 * kept.size() >= 3 * before.size();
        for (const std::uint32_t gone : before) {
            if (!left(gone)) continue;
            row_list instead;
            for (const std::uint32_t other : graph_.links(gone, level))
                if (other != row && !left(other) && std::ranges::find(kept, other) == kept.end()) instead.push_back(other);
            std::vector<near_row> offered = near_to(row, instead);
            std::sort(offered.begin(), offered.end());
            const auto chosen = std::ranges::find_if(offered, [&](const near_row& one) { return is_apart(one, kept); });
            if (!offered.empty()) kept.push_back(chosen != offered.end() ? chosen->row : offered.front().row);
        }
        graph_.link(row, level, kept);
        return enough;
    }

    Graph& graph_;
    const Rows& rows_;
    std::size_t ef_;
};

}  // namespace QUARRY_NAMESPACE::detail
