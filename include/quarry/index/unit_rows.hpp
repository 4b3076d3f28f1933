// Unit rows: which rows of an index stand for a unit.
//
// Units are numbers that are mostly dense, and a filter walks them in order: so a page of neighbours is one look-up,
// and a unit costs 12 bytes. Not promised.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "../config.hpp"
#include "../core/ids.hpp"
#include "../core/unit_set.hpp"

namespace QUARRY_NAMESPACE::detail {

class unit_rows {
   public:
    static constexpr std::uint32_t none = UINT32_MAX;

    /// Room for these units and `more` rows: adding them does not throw.
    void reserve(std::span<const unit_id> units, std::size_t more) {
        if (next_.capacity() < next_.size() + more) next_.reserve((std::max)(2 * next_.size(), next_.size() + more));
        for (const unit_id unit : units) pages_[page_of(unit)];
    }

    /// The next row is one of `unit`; rows are numbered from 0. Requires  room.
    void add(unit_id unit) noexcept {
        skip();
        put(static_cast<std::uint32_t>(next_.size() - 1), unit);
    }

    /// A row that is nobody's becomes one of `unit`, the last. Requires  room for the unit.
    void put(std::uint32_t row, unit_id unit) noexcept {
        entry& of_unit = pages_.find(page_of(unit))->second[place_of(unit)];
        if (of_unit.count++ == 0)
            of_unit.first = row;
        else
            next_[of_unit.last] = row;
        of_unit.last = row;
        next_[row] = none;
        most_ = (std::max)(most_, static_cast<std::size_t>(of_unit.count));
    }

    /// The next row is nobody's. Requires  room.
    void skip() noexcept { next_.push_back(none); }

    /// The unit's first row, or `none`.
    std::uint32_t first(unit_id unit) const noexcept {
        const auto found = pages_.find(page_of(unit));
        return found == pages_.end() ? none : found->second[place_of(unit)].first;
    }
    /// The row of the same unit that was added after this one, or `none`.
    std::uint32_t next(std::uint32_t row) const noexcept { return next_[row]; }

    template <class F>
    void for_each(unit_id unit, F f) const {
        for (std::uint32_t row = first(unit); row != none; row = next(row)) f(row);
    }

    /// The rows of a set of units, by unit.
    std::vector<std::uint32_t> of(const unit_set& units) const {
        // Each is waited for in memory: all are asked for before one is read.
        std::vector<const entry*> found;
        found.reserve((std::min)(units.count(), next_.size()));
        const page* here = nullptr;
        std::uint32_t number = none;
        units.for_each([&](unit_id unit) {
            if (page_of(unit) != number) {
                number = page_of(unit);
                const auto of_number = pages_.find(number);
                here = of_number == pages_.end() ? nullptr : &of_number->second;
            }
            if (!here) return;
            found.push_back(&(*here)[place_of(unit)]);
            __builtin_prefetch(found.back());
        });
        std::vector<std::uint32_t> rows;
        rows.reserve(found.size());
        for (const entry* of_unit : found) {
            if (of_unit->count == 1) rows.push_back(of_unit->first);
            else
                for (std::uint32_t row = of_unit->first; row != none; row = next_[row]) rows.push_back(row);
        }
        return rows;
    }

    /// At least so many, where more were counted before some were dropped.
    void raise_most(std::size_t most) noexcept { most_ = (std::max)(most_, most); }

    bool contains(unit_id unit) const noexcept { return first(unit) != none; }
    std::size_t most() const noexcept { return most_; }

    /// Forgets the rows of a unit: they are nobody's. `most` may be too large from then on.
    void drop(unit_id unit) noexcept {
        const auto found = pages_.find(page_of(unit));
        if (found == pages_.end()) return;
        found->second[place_of(unit)] = {};
        if (is_empty(found->second)) pages_.erase(found);
    }

    /// Forgets all rows, and keeps room for as many.
    void clear() noexcept {
        for (auto& numbered : pages_) numbered.second.fill({});
        next_.clear();
        most_ = 0;
    }
    /// Gives back the room for units that have no rows.
    void trim() noexcept {
        std::erase_if(pages_, [](const auto& numbered) { return is_empty(numbered.second); });
    }

    std::size_t memory() const noexcept {
        return next_.capacity() * sizeof(std::uint32_t) + pages_.size() * (sizeof(page) + 64);
    }

   private:
    struct entry {
        std::uint32_t first = none, last = none, count = 0;
    };
    static constexpr std::uint32_t width = 64;
    using page = std::array<entry, width>;
    static bool is_empty(const page& of) noexcept {
        return std::ranges::all_of(of, [](const entry& e) { return e.count == 0; });
    }
    static std::uint32_t page_of(unit_id unit) noexcept { return static_cast<std::uint32_t>(index_of(unit)) / width; }
    static std::uint32_t place_of(unit_id unit) noexcept { return static_cast<std::uint32_t>(index_of(unit)) % width; }

    std::unordered_map<std::uint32_t, page> pages_;
    std::vector<std::uint32_t> next_;
    std::size_t most_ = 0;
};

}  // namespace QUARRY_NAMESPACE::detail
