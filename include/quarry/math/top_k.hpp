// Top k: the best of many, without sorting them all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

/// Keeps the best k of what it is offered, by `Better`, a strict total order.
///
/// Cost    O(log k) for an offer that gets in, O(1) for one that does not. Memory grows with what was offered, not with
///         k: asking for the best 2^62 of three allocates three.
template <class T, class Better>
class top_k {
   public:
    explicit top_k(std::size_t k, Better better = {}) : k_(k), better_(std::move(better)) {}

    bool full() const noexcept { return heap_.size() >= k_; }

    /// The worst that is kept. Requires  not empty.
    const T& worst() const noexcept { return heap_.front(); }
    bool empty() const noexcept { return heap_.empty(); }

    void offer(const T& candidate) {
        if (k_ == 0) return;
        if (heap_.size() < k_) {
            heap_.push_back(candidate);
            std::push_heap(heap_.begin(), heap_.end(), better_);
        } else if (better_(candidate, heap_.front())) {
            std::pop_heap(heap_.begin(), heap_.end(), better_);
            heap_.back() = candidate;
            std::push_heap(heap_.begin(), heap_.end(), better_);
        }
    }

    /// What was kept, best first. Leaves it empty.
    std::vector<T> take() {
        std::sort_heap(heap_.begin(), heap_.end(), better_);
        return std::exchange(heap_, {});
    }

   private:
    std::size_t k_;
    Better better_;
    std::vector<T> heap_;  // a heap whose front is the worst: `better` as the order puts the last of the ranking on top
};

}  // namespace QUARRY_NAMESPACE
