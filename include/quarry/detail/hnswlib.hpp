// The one place that includes hnswlib: a graph over numbered rows whose distances are ours.
//
// hnswlib builds and holds the graph; searching it is done elsewhere. It sees a row as its 4-byte number, and distances
// are of a type of our own, so its classes are instantiated for nobody else and agree in every file of a program.
// Included before a user's own hnswlib, this leaves them its scalar distances; include yours first to keep its others.
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

/// Smaller is nearer.
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

/// Rows are added in the order of their numbers, 0, 1, 2, ...; the same order gives the same graph.
class row_graph {
   public:
    using distance = graph_distance (*)(const void* a, const void* b, const void* context);

    /// `a` and `b` point to row numbers, std::uint32_t. `context` must outlive the graph and stay where it is.
    row_graph(std::size_t links, std::size_t ef_construction, std::uint32_t seed, distance f, const void* context)
        : links_(links), ef_construction_(ef_construction), seed_(seed), space_(f, context) {}

    std::size_t size() const noexcept { return size_; }

    /// Room for `rows` rows in all. A call that throws has changed nothing; hnswlib's constructor, if it runs out of
    /// memory, does not free all that it had.
    void reserve(std::size_t rows) {
        if (rows <= capacity_) return;
        const std::size_t capacity = (std::max)(rows, capacity_ + capacity_ / 2);
        auto grown = std::make_unique<built>(&space_, capacity, links_, ef_construction_, seed_);
        if (graph_) copy(*graph_, *grown);
        visited_ = grown->visited_list_pool_->getFreeVisitedList();  // the only one, since one thread adds
        grown->visited_list_pool_->releaseVisitedList(visited_);
        graph_ = std::move(grown);
        capacity_ = capacity;
    }

    /// The highest level that a row has links on.
    int level(std::uint32_t row) const noexcept { return graph_->element_levels_[row]; }
    /// At most so many links on a level.
    std::size_t most_links(int level) const noexcept { return level == 0 ? 2 * links_ : links_; }

    /// Fills an empty one, whose seed decides the levels of the rows: `put(levels, row, level, to)` writes a row's links on
    /// a level to `to`, which has room for `most_links`, and says how many.
    template <class Put>
    void restore(std::size_t rows, Put put) {
        reserve(rows);
        std::vector<int> levels(rows);
        for (int& level : levels) level = graph_->getRandomLevel(graph_->mult_);
        for (std::uint32_t row = 0; row < rows; ++row) {
            const int level = levels[row];
            std::memset(graph_->get_linklist0(row), 0, graph_->size_data_per_element_);
            graph_->setExternalLabel(row, row);
            std::memcpy(graph_->getDataByInternalId(row), &row, sizeof row);
            if (level > 0) {
                const std::size_t bytes = graph_->size_links_per_element_ * static_cast<std::size_t>(level) + 1;
                graph_->linkLists_[row] = static_cast<char*>(std::calloc(bytes, 1));
                if (!graph_->linkLists_[row]) throw std::bad_alloc();
            }
            graph_->element_levels_[row] = level;
            graph_->cur_element_count = row + 1;  // its destructor frees the lists below this
            for (int l = 0; l <= level; ++l) {
                ::hnswlib::linklistsizeint* const list = l == 0 ? graph_->get_linklist0(row) : graph_->get_linklist(row, l);
                graph_->setListCount(list, static_cast<unsigned short>(put(std::as_const(levels), row, l, list + 1)));
            }
            if (level > graph_->maxlevel_) graph_->enterpoint_node_ = row, graph_->maxlevel_ = level;
        }
        size_ = rows;
    }

    /// Requires  room. After a call that throws the graph is not to be used any more.
    void add() {
        const auto row = static_cast<std::uint32_t>(size_);
        try {
            graph_->addPoint(&row, row);
        } catch (...) {
            // An insertion that fails keeps the list of visited rows that it took, and nobody would free it.
            auto& pool = *graph_->visited_list_pool_;
            ::hnswlib::VisitedList* const free = pool.getFreeVisitedList();
            if (free != visited_) pool.releaseVisitedList(visited_);
            pool.releaseVisitedList(free);
            throw;
        }
        ++size_;
    }

    // How to walk it. Requires  not empty.
    std::uint32_t entry() const noexcept { return graph_->enterpoint_node_; }
    int top_level() const noexcept { return graph_->maxlevel_; }
    std::span<const std::uint32_t> links(std::uint32_t row) const noexcept { return list(graph_->get_linklist0(row)); }
    std::span<const std::uint32_t> links(std::uint32_t row, int level) const noexcept {
        return list(graph_->get_linklist(row, level));
    }

    std::size_t memory() const noexcept {
        // A row has its links, a lock, a level, a mark and a place for upper levels; perhaps a node of the table of
        // labels; and one in `links_` has upper levels.
        if (!graph_) return 0;
        const std::size_t row = graph_->size_data_per_element_ + sizeof(std::mutex) + 14;
        return capacity_ * row + size_ * (40 + graph_->size_links_per_element_ / links_) + 65536 * sizeof(std::mutex);
    }

   private:
    using built = ::hnswlib::HierarchicalNSW<graph_distance>;

    class space final : public ::hnswlib::SpaceInterface<graph_distance> {
     public:
        space(distance f, const void* context) : distance_(f), context_(context) {}
        std::size_t get_data_size() override { return sizeof(std::uint32_t); }
        ::hnswlib::DISTFUNC<graph_distance> get_dist_func() override { return distance_; }
        void* get_dist_func_param() override { return const_cast<void*>(context_); }

     private:
        distance distance_;
        const void* context_;
    };

    std::span<const std::uint32_t> list(::hnswlib::linklistsizeint* from) const noexcept {
        return {from + 1, graph_->getListCount(from)};
    }

    // Its own growth frees before it allocates. Copied is what its insertion reads, but for the table of labels: ours
    // do not repeat.
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
        to.update_probability_generator_ = from.update_probability_generator_;
    }

    std::size_t links_, ef_construction_;
    std::uint32_t seed_;
    space space_;
    std::unique_ptr<built> graph_;
    ::hnswlib::VisitedList* visited_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace QUARRY_NAMESPACE::detail
