// The one place that includes hnswlib: it holds a graph of numbered rows, their levels and their links.
//
// Which rows are linked is decided in index/graph_builder.hpp, and searching is done elsewhere too. hnswlib sees rows of no
// bytes and distances of a type of our own, so its classes are instantiated for nobody else and agree in every file of a
// program. Included before a user's own hnswlib, this leaves them its scalar distances; include yours first to keep its
// others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#if !defined(NO_MANUAL_VECTORIZATION)
#define NO_MANUAL_VECTORIZATION  // otherwise version 0.6 defines functions that may stand in one file only
#include <hnswlib/hnswlib.h>
#undef NO_MANUAL_VECTORIZATION
#else
#include <hnswlib/hnswlib.h>
#endif

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

// What hnswlib asks of a distance. None is ever computed.
struct graph_distance {
    float value = 0.0f;

    friend bool operator<(graph_distance a, graph_distance b) noexcept { return a.value < b.value; }
    friend bool operator>(graph_distance a, graph_distance b) noexcept { return a.value > b.value; }
    friend bool operator==(graph_distance a, graph_distance b) noexcept { return a.value == b.value; }
    graph_distance operator-() const noexcept { return {-value}; }
};

}  // namespace QUARRY_NAMESPACE::detail

// hnswlib asks for the largest distance.
template <>
struct std::numeric_limits<quarry::detail::graph_distance> : std::numeric_limits<float> {
    static constexpr quarry::detail::graph_distance max() noexcept { return {(std::numeric_limits<float>::max)()}; }
};

namespace QUARRY_NAMESPACE::detail {

/// Rows are numbered 0, 1, 2, ...; the seed decides their levels. A walk enters by the first row on the highest level.
class row_graph {
   public:
    row_graph(std::size_t links, std::uint32_t seed) : links_(links), seed_(seed) {}

    std::size_t size() const noexcept { return size_; }

    /// Room for `rows` rows in all. A call that throws has changed nothing; hnswlib's constructor, if it runs out of
    /// memory, does not free all that it had.
    void reserve(std::size_t rows) {
        if (rows <= capacity_) return;
        const std::size_t capacity = (std::max)(rows, capacity_ + capacity_ / 2);
        auto grown = std::make_unique<built>(&space_, capacity, links_, links_, seed_);
        if (graph_) copy(*graph_, *grown);
        graph_ = std::move(grown);
        capacity_ = capacity;
    }

    /// One more row, that no other is linked with. Requires  room.
    void add() { place(graph_->getRandomLevel(graph_->mult_)); }

    /// Fills an empty one: `put(levels, row, level, to)` writes a row's links on a level to `to`, which has room for
    /// `most_links`, and says how many. A walk enters by none for which `left(row)` and that has no links.
    template <class Left, class Put>
    void restore(std::size_t rows, Left left, Put put) {
        reserve(rows);
        std::vector<int> levels(rows);
        for (int& level : levels) level = graph_->getRandomLevel(graph_->mult_);
        for (std::uint32_t row = 0; row < rows; ++row) {
            place(levels[row]);
            for (int l = 0; l <= levels[row]; ++l) {
                ::hnswlib::linklistsizeint* const list = graph_->get_linklist_at_level(row, l);
                graph_->setListCount(list, static_cast<unsigned short>(put(std::as_const(levels), row, l, list + 1)));
            }
            if (is_linked(row) || !left(row)) enter(row);
        }
    }

    /// The row may be where a walk enters.
    void enter(std::uint32_t row) noexcept {
        const int top = top_level();
        if (level(row) < top || (level(row) == top && row > entry())) return;
        graph_->enterpoint_node_ = row;
        graph_->maxlevel_ = level(row);
    }
    /// Where the row by which a walk enters has left, it enters by another. `left(row)`: may it not?
    template <class Left>
    void leave(Left left) noexcept {
        if (top_level() < 0 || !left(entry())) return;
        graph_->maxlevel_ = -1;
        for (std::uint32_t row = 0; row < size_; ++row)
            if (!left(row)) enter(row);
    }

    /// The highest level that a row has links on.
    int level(std::uint32_t row) const noexcept { return graph_->element_levels_[row]; }
    bool is_linked(std::uint32_t row) const noexcept { return !links(row).empty(); }
    /// At most so many links on a level.
    std::size_t most_links(int level) const noexcept { return level == 0 ? 2 * links_ : links_; }
    /// So many of them a row looks for itself; the others are left for those that come later.
    std::size_t own_links() const noexcept { return links_; }

    /// Requires  a level of the row; at most `most_links`.
    void link(std::uint32_t row, int level, std::span<const std::uint32_t> to) noexcept {
        ::hnswlib::linklistsizeint* const list = graph_->get_linklist_at_level(row, level);
        graph_->setListCount(list, static_cast<unsigned short>(to.size()));
        std::ranges::copy(to, list + 1);
    }

    // How to walk it. Below level 0: nobody has entered.
    std::uint32_t entry() const noexcept { return graph_->enterpoint_node_; }
    int top_level() const noexcept { return graph_->maxlevel_; }
    std::span<const std::uint32_t> links(std::uint32_t row) const noexcept { return links(row, 0); }
    std::span<const std::uint32_t> links(std::uint32_t row, int level) const noexcept {
        ::hnswlib::linklistsizeint* const list = graph_->get_linklist_at_level(row, level);
        return {list + 1, graph_->getListCount(list)};
    }

    std::size_t memory() const noexcept {
        // A row has its links, a lock, a level, a mark and a place for upper levels; one in `links_` has upper levels.
        if (!graph_) return 0;
        const std::size_t row = graph_->size_data_per_element_ + sizeof(std::mutex) + 14;
        return capacity_ * row + size_ * (graph_->size_links_per_element_ / links_) + 65536 * sizeof(std::mutex);
    }

   private:
    using built = ::hnswlib::HierarchicalNSW<graph_distance>;

    class space final : public ::hnswlib::SpaceInterface<graph_distance> {
     public:
        std::size_t get_data_size() override { return 0; }
        ::hnswlib::DISTFUNC<graph_distance> get_dist_func() override { return nullptr; }
        void* get_dist_func_param() override { return nullptr; }
    };

    void place(int level) {
        const auto row = static_cast<std::uint32_t>(size_);
        std::memset(graph_->get_linklist0(row), 0, graph_->size_data_per_element_);
        if (level > 0) {
            const std::size_t bytes = graph_->size_links_per_element_ * static_cast<std::size_t>(level) + 1;
            graph_->linkLists_[row] = static_cast<char*>(std::calloc(bytes, 1));
            if (!graph_->linkLists_[row]) throw std::bad_alloc();
        }
        graph_->element_levels_[row] = level;
        graph_->cur_element_count = ++size_;  // its destructor frees the lists below this
    }

    // Its own growth frees before it allocates. Copied is what is used here.
    static void copy(const built& from, built& to) {
        const std::size_t count = from.cur_element_count;
        std::memcpy(to.data_level0_memory_, from.data_level0_memory_, count * from.size_data_per_element_);
        for (std::size_t i = 0; i < count; ++i) {
            const int levels = from.element_levels_[i];
            if (levels <= 0) continue;
            const std::size_t bytes = from.size_links_per_element_ * static_cast<std::size_t>(levels) + 1;
            to.linkLists_[i] = static_cast<char*>(std::malloc(bytes));
            if (!to.linkLists_[i]) throw std::bad_alloc();
            std::memcpy(to.linkLists_[i], from.linkLists_[i], bytes - 1);
            to.element_levels_[i] = levels;
            to.cur_element_count = i + 1;  // its destructor frees the lists below this
        }
        to.cur_element_count = count;
        to.enterpoint_node_ = from.enterpoint_node_;
        to.maxlevel_ = from.maxlevel_;
        to.level_generator_ = from.level_generator_;
    }

    std::size_t links_;
    std::uint32_t seed_;
    space space_;
    std::unique_ptr<built> graph_;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace QUARRY_NAMESPACE::detail
