// Sets of units, and what a search may return.
//
// A filter and a scope are evaluated once per query into a `selection`. Every search gets it as an `accept`: filters,
// scope, deletions and the descent of a tree all arrive there, and there is no second way in.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "filter.hpp"
#include "ids.hpp"

namespace QUARRY_NAMESPACE {

/// A set of unit ids below `universe`, one bit each, with a known count.
class unit_set {
   public:
    explicit unit_set(std::size_t universe) : words_((universe + 63) / 64), universe_(universe) {}

    static unit_set all(std::size_t universe) {
        unit_set set(universe);
        for (std::uint64_t& word : set.words_) word = ~std::uint64_t{0};
        if (universe % 64 != 0) set.words_.back() >>= 64 - universe % 64;
        set.count_ = universe;
        return set;
    }

    /// Requires  index_of(unit) < universe().
    void insert(unit_id unit) noexcept {
        std::uint64_t& word = words_[index_of(unit) / 64];
        count_ += (word & bit(unit)) == 0;
        word |= bit(unit);
    }
    void erase(unit_id unit) noexcept {
        std::uint64_t& word = words_[index_of(unit) / 64];
        count_ -= (word & bit(unit)) != 0;
        word &= ~bit(unit);
    }

    /// Makes the members among units [64 w, 64 w + 64) those whose bits are set.  Requires  64 w + highest bit < universe().
    void assign_word(std::size_t w, std::uint64_t bits) noexcept {
        count_ += static_cast<std::size_t>(std::popcount(bits));
        count_ -= static_cast<std::size_t>(std::popcount(words_[w]));
        words_[w] = bits;
    }

    /// False for ids outside the universe: a unit added after the set was made is not in it.
    bool contains(unit_id unit) const noexcept {
        return index_of(unit) < universe_ && (words_[index_of(unit) / 64] & bit(unit)) != 0;
    }

    /// Leaves what `other` holds too.
    unit_set& operator&=(const unit_set& other) noexcept {
        count_ = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            words_[w] &= w < other.words_.size() ? other.words_[w] : 0;
            count_ += static_cast<std::size_t>(std::popcount(words_[w]));
        }
        return *this;
    }
    /// Adds what `other` holds.  Requires  other.universe() <= universe().
    unit_set& operator|=(const unit_set& other) noexcept {
        for (std::size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
        count_ = 0;
        for (const std::uint64_t word : words_) count_ += static_cast<std::size_t>(std::popcount(word));
        return *this;
    }

    /// Lets it hold units below `universe` too. Requires  universe() <= universe.
    void grow(std::size_t universe) {
        words_.resize((universe + 63) / 64);
        universe_ = universe;
    }

    std::size_t count() const noexcept { return count_; }
    std::size_t universe() const noexcept { return universe_; }

    /// Calls `f(unit_id)` for every member in ascending order.
    template <class F>
    void for_each(F f) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
                f(unit_at(w * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
    }

    friend bool operator==(const unit_set&, const unit_set&) = default;

   private:
    static constexpr std::uint64_t bit(unit_id unit) noexcept { return std::uint64_t{1} << (index_of(unit) % 64); }

    std::vector<std::uint64_t> words_;
    std::size_t universe_;
    std::size_t count_ = 0;
};

/// What one search may return: the units of `units` (null: all), and the expression they came from. Only an engine that
/// evaluates filters itself reads the expression; everybody else asks `contains`.
struct accept {
    const unit_set* units = nullptr;
    const filter* expression = nullptr;

    bool all() const noexcept { return !units && !expression; }
    bool contains(unit_id unit) const noexcept { return !units || units->contains(unit); }
};

/// Which contents of which source. A source that changes gets another revision.
struct source_state {
    std::shared_ptr<const void> identity{};
    std::uint64_t revision = 0;

    friend bool operator==(const source_state&, const source_state&) = default;
};

/// A filter and a scope after evaluation: the units that may be returned, and those that may only be walked through on
/// the way (summaries of which some sources match and others do not).
///
/// Cheap to copy. It remembers the state of the source that made it, and is refused by any other: a selection that was
/// kept while access rights changed must not be believed.
class selection {
   public:
    /// Everything, and made by nobody: a source returns it to say that nothing is restricted, no query takes it.
    selection() = default;

    selection(std::optional<filter> expression, std::shared_ptr<const unit_set> returned,
              std::shared_ptr<const unit_set> walked)
        : expression_(std::move(expression)), returned_(std::move(returned)), walked_(std::move(walked)) {}

    accept returned() const noexcept { return {returned_.get(), expression()}; }
    accept walked() const noexcept { return {walked_ ? walked_.get() : returned_.get(), expression()}; }

    const std::shared_ptr<const unit_set>& units() const noexcept { return returned_; }
    /// Those that may be walked through as well; null: all.
    const std::shared_ptr<const unit_set>& walkable() const noexcept { return walked_ ? walked_ : returned_; }
    const filter* expression() const noexcept { return expression_ ? &*expression_ : nullptr; }

    /// The same selection, made by a source in this state.
    selection made_by(source_state state) && {
        state_ = std::move(state);
        return std::move(*this);
    }
    const source_state& state() const noexcept { return state_; }

   private:
    std::optional<filter> expression_;
    std::shared_ptr<const unit_set> returned_, walked_;
    source_state state_{};
};

namespace detail {

/// For indexes of our own: they cannot judge an expression that nobody evaluated, and must not ignore it.
inline void require_evaluated(const accept& a) {
    if (a.expression && !a.units)
        raise<usage_error>("filter.unevaluated",
                           "quarry: the filter " + a.expression->to_string() +
                               " was not evaluated into units, and this index cannot judge it");
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
