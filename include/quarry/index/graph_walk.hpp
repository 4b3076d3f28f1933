// Graph walk: the rows of a graph that are nearest to a probe, nearly.
//
// All neighbours of a row are fetched and scored together, by bytes; what was found stands in one sorted array.
// Estimates decide where to go, and nothing else: whoever asks scores what was found. Not promised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/aligned.hpp"
#include "../math/byte_rows.hpp"
#include "../math/cosine.hpp"
#include "../math/kernels.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class Graph, class Rows>
class graph_walk {
   public:
    struct near {
        float estimate;
        std::uint32_t row;
    };

    /// Requires  a graph over the rows, not empty; lengths whose products a float holds.
    graph_walk(const Graph& graph, const Rows& rows, std::span<const float> probe, double length)
        : graph_(graph), rows_(rows), probe_(probe), kernel_(best_kernels()), seen_((rows.size() + 63) / 64) {
        in_bytes_ = rows.bytes_usable(length);
        error_ = product_error(rows.dimension(), length * rows.longest());
        if (!in_bytes_) return;
        codes_.resize(rows.bytes().stride());
        coded_ = rows.bytes().encode(probe, codes_.data());
    }

    /// The best `kept` of the rows that were met, best first.
    std::span<const near> found() const noexcept { return found_; }
    std::size_t scored() const noexcept { return scored_; }
    /// What it cost, in rows scored: passing through one costs about as much.
    std::size_t done() const noexcept { return scored_ + passed_; }

    /// Walks on until the `kept` best rows met have shown all their neighbours. Says true.
    bool plain(std::size_t kept) {
        start();
        done_.assign(1, 0);
        found_.reserve(kept + 1);
        done_.reserve(kept + 1);
        std::size_t next = 0;
        while (next < found_.size()) {
            if (done_[next] != 0) {
                ++next;
                continue;
            }
            done_[next] = 1;
            std::size_t first = next + 1;
            expand(found_[next].row);
            for (std::size_t i = 0; i < ids_.size(); ++i) {
                const near one{estimates_[i], ids_[i]};
                if (!could_be_kept(one, kept)) continue;
                first = (std::min)(first, put(one, kept));
            }
            next = first;
        }
        return true;
    }

    /// The same where only accepted rows are kept, though all are walked through. Stops when it has done `budget` on the
    /// lowest level, and says whether it is through; it goes on when called again, as this or as `two_hop`.
    template <class Accepted>
    bool filtered(std::size_t kept, Accepted accepted, std::size_t budget) {
        return walk_filtered(kept, accepted, budget, [&](std::uint32_t row) {
            expand(row);
            for (std::size_t i = 0; i < ids_.size(); ++i) {
                const near one{estimates_[i], ids_[i]};
                if (!could_be_kept(one, kept)) continue;
                const bool is_accepted = accepted(one.row);
                ++asked_;
                accepted_ += is_accepted;
                push(one);
                if (is_accepted) put(one, kept);
            }
        });
    }

    /// The same where rows that are not accepted are not scored: the neighbours of theirs that are stand for them. Where
    /// few are accepted it misses what `filtered` finds.
    ///
    /// Source  Patel et al. 2024, ACORN: its search without its graph.
    template <class Accepted>
    bool two_hop(std::size_t kept, Accepted accepted, std::size_t budget) {
        return walk_filtered(kept, accepted, budget, [&](std::uint32_t row) {
            gather_two_hop(row, accepted);
            score();
            for (std::size_t i = 0; i < ids_.size(); ++i) {
                const near one{estimates_[i], ids_[i]};
                if (!could_be_kept(one, kept)) continue;
                push(one);
                put(one, kept);
            }
        });
    }

    /// The part of the rows near the probe that was accepted, and one that may be next.
    double accepted_rate() const noexcept {
        return static_cast<double>(accepted_ + 1) / static_cast<double>(asked_ + 1);
    }

    /// Where the product of a row that was found lies.
    byte_rows::interval range(const near& one) const noexcept {
        if (in_bytes_) return rows_.bytes().range_about(one.row, one.estimate, coded_);
        const auto value = static_cast<double>(one.estimate);
        return {value - error_, value + error_};
    }

   private:
    static bool farther(const near& a, const near& b) noexcept { return a.estimate < b.estimate; }

    bool seen(std::uint32_t row) const noexcept { return (seen_[row / 64] >> (row % 64) & 1) != 0; }
    void see(std::uint32_t row) noexcept { seen_[row / 64] |= std::uint64_t{1} << (row % 64); }

    void score() {
        scored_ += ids_.size();
        estimates_.resize(ids_.size());
        if (!in_bytes_) {
            for (std::size_t i = 0; i < ids_.size(); ++i)
                estimates_[i] = kernel_.product(probe_.data(), rows_.row(ids_[i]).data(), probe_.size());
            return;
        }
        products_.resize(ids_.size());
        const byte_rows& bytes = rows_.bytes();
        kernel_.byte_products(bytes.codes(), bytes.stride(), ids_.data(), ids_.size(), codes_.data(), products_.data());
        for (std::size_t i = 0; i < ids_.size(); ++i) estimates_[i] = bytes.estimate(ids_[i], products_[i], coded_);
    }

    // A row that is to be scored.
    void meet(std::uint32_t row) {
        see(row);
        if (in_bytes_) {
            rows_.bytes().fetch_scale(row);
            if (ids_.size() < 8) rows_.bytes().fetch_codes(row);  // the kernel fetches from the ninth row on
        }
        ids_.push_back(row);
    }

    void fetch_links(std::uint32_t row) const noexcept {
        const char* from = reinterpret_cast<const char*>(graph_.links(row).data());
        for (std::size_t j = 0; j < graph_.most_links(0) * sizeof(std::uint32_t); j += 64) __builtin_prefetch(from + j);
    }

    // Scores the neighbours of a row that were not met before.
    void expand(std::uint32_t row) {
        ids_.clear();
        for (const std::uint32_t other : graph_.links(row))
            if (!seen(other)) meet(other);
        score();
    }

    template <class Accepted, class Expand>
    bool walk_filtered(std::size_t kept, Accepted accepted, std::size_t budget, Expand expand_one) {
        if (scored_ == 0) {
            start();
            started_ = scored_;
            frontier_.assign(found_.begin(), found_.end());
            if (!accepted(found_.front().row)) found_.clear();
            done_.assign(found_.size(), 0);
        }
        while (!frontier_.empty()) {
            if (found_.size() == kept && frontier_.front().estimate < found_.back().estimate) return true;
            if (done() - started_ > budget) return false;
            const std::uint32_t row = frontier_.front().row;
            std::ranges::pop_heap(frontier_, farther);
            frontier_.pop_back();
            expand_one(row);
        }
        return true;
    }

    bool could_be_kept(const near& one, std::size_t kept) const noexcept {
        return found_.size() < kept || one.estimate > found_.back().estimate;
    }
    void push(const near& one) {
        frontier_.push_back(one);
        std::ranges::push_heap(frontier_, farther);
    }

    // The accepted neighbours of a row that were not met before; then those of neighbours that are not accepted, each of
    // which is passed through once.
    template <class Accepted>
    void gather_two_hop(std::uint32_t row, Accepted accepted) {
        ids_.clear();
        between_.clear();
        const std::size_t enough = 4 * graph_.most_links(0);  // with fewer it loses its way
        for (const std::uint32_t other : graph_.links(row)) {
            if (seen(other)) continue;
            ++asked_;
            if (accepted(other)) {
                ++accepted_;
                meet(other);
            } else {
                between_.push_back(other);
                fetch_links(other);
            }
        }
        for (const std::uint32_t other : between_) {
            if (ids_.size() >= enough) break;
            see(other);
            ++passed_;
            for (const std::uint32_t next : graph_.links(other))
                if (!seen(next) && accepted(next)) meet(next);
        }
    }

    // Down the levels to a row near the probe, which is the first that was met on the lowest.
    void start() {
        std::uint32_t here = graph_.entry();
        ids_.assign(1, here);
        score();
        float best = estimates_[0];
        for (int level = graph_.top_level(); level > 0; --level)
            for (bool moved = true; moved;) {
                moved = false;
                const auto links = graph_.links(here, level);
                ids_.assign(links.begin(), links.end());
                score();
                for (std::size_t i = 0; i < ids_.size(); ++i)
                    if (estimates_[i] > best) {
                        best = estimates_[i];
                        here = ids_[i];
                        moved = true;
                    }
            }
        found_.assign(1, {best, here});
        see(here);
    }

    // Puts one into its place and drops the last of more than `kept`. Says where.
    std::size_t put(const near& one, std::size_t kept) {
        const auto place = std::ranges::upper_bound(found_, one.estimate, std::ranges::greater{}, &near::estimate);
        const std::size_t at = static_cast<std::size_t>(place - found_.begin());
        if (found_.size() == kept) {
            found_.pop_back();
            done_.pop_back();
        }
        found_.insert(found_.begin() + static_cast<std::ptrdiff_t>(at), one);
        done_.insert(done_.begin() + static_cast<std::ptrdiff_t>(at), 0);
        return at;
    }

    const Graph& graph_;
    const Rows& rows_;
    std::span<const float> probe_;
    const kernels& kernel_;
    std::vector<std::uint64_t> seen_;
    aligned_vector<std::int8_t> codes_;
    byte_probe coded_{};
    bool in_bytes_ = false;
    double error_ = 0.0;
    std::size_t scored_ = 0, started_ = 0, passed_ = 0, asked_ = 0, accepted_ = 0;
    std::vector<near> found_;
    std::vector<std::uint8_t> done_;  // for each found: were its neighbours scored?
    std::vector<near> frontier_;      // a heap, of the filtered walks
    std::vector<std::uint32_t> ids_, between_;
    std::vector<std::int32_t> products_;
    std::vector<float> estimates_;
};

}  // namespace QUARRY_NAMESPACE::detail
