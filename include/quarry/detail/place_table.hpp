// Place table: ids, numbered in the order in which they are met. For one question's candidates.
//
// One block with linear probing: a map that allocates for each id takes longer than all else that fusion does.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

class place_table {
   public:
    /// For at most `most` distinct ids: 16 to 32 bytes each.
    explicit place_table(std::size_t most) : slots_(std::bit_ceil(2 * most + 2)), mask_(slots_.size() - 1) {}

    struct met {
        std::size_t place;
        bool fresh;  // for the first time
    };
    met meet(std::size_t of) noexcept {
        const auto id = static_cast<std::uint32_t>(of);  // as ids are
        // Multiplied by 2^64 over the golden ratio, so that neighbours part.
        std::size_t at = static_cast<std::size_t>((id * std::uint64_t{0x9E3779B97F4A7C15}) >> 32) & mask_;
        for (; slots_[at].place != 0; at = (at + 1) & mask_)
            if (slots_[at].id == id) return {slots_[at].place - std::size_t{1}, false};
        slots_[at] = {id, ++count_};
        return {count_ - std::size_t{1}, true};
    }

   private:
    struct slot {
        std::uint32_t id = 0;
        std::uint32_t place = 0;  // from 1; 0: free
    };
    std::vector<slot> slots_;
    std::size_t mask_;
    std::uint32_t count_ = 0;
};

}  // namespace QUARRY_NAMESPACE::detail
