// Certified best: the n best of many rows whose products are known to lie in intervals.
//
// A row is out when n others are certainly better; what remains is scored exactly, the most promising first, until the
// next one cannot get in. Not promised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "../config.hpp"
#include "../core/key_index.hpp"
#include "../math/top_k.hpp"

namespace QUARRY_NAMESPACE::detail {

class certified_best {
   public:
    /// `tie` is how far two products may lie apart whose scores are equal, so that ids decide between them.
    certified_best(std::size_t n, double tie) : lows_(n), tie_(tie) {}

    /// A row whose product is below this is not among the n best. The lowest number until n rows were offered.
    double least() const noexcept {
        return lows_.full() && !lows_.empty() ? lows_.worst() - tie_ : (std::numeric_limits<double>::lowest)();
    }

    void offer(std::uint32_t row, double low, double high) {
        if (high < least()) return;
        lows_.offer(low);
        candidates_.push_back({high, row});
        if (candidates_.size() > limit_) {
            const double bound = least();
            std::erase_if(candidates_, [&](const candidate& c) { return c.high < bound; });
            limit_ = 2 * candidates_.size() + 1024;
        }
    }

    /// The n best, by the score that `exact(row)` gives; `fetch(row)` is told of those that will probably be next. Leaves it
    /// empty.
    template <class Exact, class Fetch>
    std::vector<scored_key> take(std::size_t n, Exact exact, Fetch fetch) {
        const double bound = least();
        std::erase_if(candidates_, [&](const candidate& c) { return c.high < bound; });
        std::ranges::sort(candidates_, std::ranges::greater{}, &candidate::high);
        top_k<scored_key, better_key> best(n);
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < (std::min)(ahead, candidates_.size()); ++i) fetch(candidates_[i].row);
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const candidate& c = candidates_[i];
            if (i + ahead < candidates_.size()) fetch(candidates_[i + ahead].row);
            if (best.full() && c.high < static_cast<double>(best.worst().score) - tie_) break;
            best.offer(exact(c.row));
        }
        candidates_.clear();
        return best.take();
    }
    template <class Exact>
    std::vector<scored_key> take(std::size_t n, Exact exact) {
        return take(n, exact, [](std::uint32_t) {});
    }

   private:
    struct candidate {
        double high;
        std::uint32_t row;
    };
    top_k<double, std::greater<>> lows_;
    double tie_;
    std::vector<candidate> candidates_;
    std::size_t limit_ = 1024;
};

}  // namespace QUARRY_NAMESPACE::detail
