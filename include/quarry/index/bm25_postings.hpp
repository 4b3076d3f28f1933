// What an inverted index holds of a word: the keys it is in, how often, and in a few bits what that adds to a score.
//
// These codes are bounds, not scores: they say between which steps a saturation lies, at the average length that they were
// made with. A walk adds codes, and computes in double what they cannot decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

/// A word in a key.
struct bm25_posting {
    std::uint32_t key;
    float frequency;  // weighted
};

/// tf / (tf + k1 (1 - b + b dl / avgdl)): below 1, more for more occurrences, less for longer texts.
class bm25_saturation {
   public:
    /// Where nothing has a length, every text counts as of average length.
    bm25_saturation(double k1, double b, double average_length) noexcept
        : base_(average_length > 0.0 ? k1 * (1.0 - b) : k1), slope_(average_length > 0.0 ? k1 * b / average_length : 0.0) {}

    double operator()(float frequency, float length) const noexcept {
        const double f = static_cast<double>(frequency);
        return f / (f + (base_ + slope_ * static_cast<double>(length)));
    }

    /// By which factors any saturation may differ from what it was: 1 / (1 + x) changes less than x does.
    struct change {
        double least, most;
    };
    change since(const bm25_saturation& then) const noexcept {
        constexpr double beyond = 1e30;
        const auto ratio = [](double now, double was) { return was > 0.0 ? now / was : now > 0.0 ? beyond : 1.0; };
        const double base = ratio(base_, then.base_), slope = ratio(slope_, then.slope_);
        return {1.0 / (std::max)({1.0, base, slope}), 1.0 / (std::max)((std::min)({1.0, base, slope}), 1.0 / beyond)};
    }

   private:
    double base_, slope_;
};

/// Saturations of a word's postings as upper bounds: one of 16 bits a posting, or one of 8 a key where the word is
/// frequent, so that a window of keys is added as a row. Frequent words weigh little, so coarse bounds do. 0 stands for
/// no posting.
///
/// Memory  2 bytes a posting; of words in more than a 16th of the keys, 2 bytes a key.
class bm25_codes {
   public:
    bool by_key() const noexcept { return !row_.empty(); }
    /// A code lies less than one of so many steps above its saturation.
    double steps() const noexcept { return by_key() ? row_steps : list_steps; }

    /// By posting. Requires  not by_key().
    const std::uint16_t* list() const noexcept { return list_.data(); }
    /// By key, which may end before the last. Requires  by_key().
    std::span<const std::uint8_t> row() const noexcept { return row_; }
    std::uint8_t at(std::uint32_t key) const noexcept { return key < row_.size() ? row_[key] : std::uint8_t{0}; }
    /// How often the word is in a key, or 0 where only the posting tells.
    float frequency_at(std::uint32_t key) const noexcept { return key < times_.size() ? static_cast<float>(times_[key]) : 0.0f; }

    /// Lets the processor fetch what frequency_at(key) will look at.
    void fetch(std::uint32_t key) const noexcept {
        if (key < times_.size()) __builtin_prefetch(times_.data() + key);
    }

    /// The code of the last of the postings; `saturation_of` is asked for all of them where the word becomes frequent.
    template <class SaturationOf>
    void add(std::span<const bm25_posting> postings, SaturationOf saturation_of) {
        const bm25_posting& last = postings.back();
        const std::size_t keys = std::size_t{last.key} + 1;
        if (by_key() ? keys > 2 * sparse * postings.size() : postings.size() >= few && keys <= sparse * postings.size()) {
            bm25_codes turned;
            if (by_key()) turned.list_.resize(postings.size());
            else turned.make_rows(keys);
            turned.renew(postings, saturation_of);
            std::swap(*this, turned);
        } else if (by_key()) {
            make_rows(keys);
            set(last, saturation_of(last));
        } else {
            list_.push_back(list_code(saturation_of(last)));
        }
    }

    /// Forgets the code of the i-th posting. It may be missing, where an add ran out of memory.
    void erase(std::span<const bm25_posting> postings, std::size_t i) noexcept {
        if (postings[i].key < row_.size()) row_[postings[i].key] = times_[postings[i].key] = 0;
        if (i < list_.size()) list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    template <class SaturationOf>
    void renew(std::span<const bm25_posting> postings, SaturationOf saturation_of) noexcept {
        for (std::size_t i = 0; i < postings.size(); ++i) {
            if (by_key()) set(postings[i], saturation_of(postings[i]));
            else list_[i] = list_code(saturation_of(postings[i]));
        }
    }

    std::size_t memory() const noexcept {
        return list_.capacity() * sizeof(std::uint16_t) + row_.capacity() + times_.capacity();
    }

   private:
    static constexpr std::size_t few = 64, sparse = 16;
    static constexpr double list_steps = 65'535.0, row_steps = 255.0;

    static std::uint16_t list_code(double saturation) noexcept {
        return static_cast<std::uint16_t>(1.0 + (std::min)(saturation * list_steps, list_steps - 1.0));
    }
    static std::uint8_t row_code(double saturation) noexcept {
        return static_cast<std::uint8_t>(1.0 + (std::min)(saturation * row_steps, row_steps - 1.0));
    }
    void make_rows(std::size_t keys) {
        times_.resize(keys);
        row_.resize(keys);
    }
    void set(const bm25_posting& p, double saturation) noexcept {
        row_[p.key] = row_code(saturation);
        const bool fits = p.frequency < 256.0f && p.frequency == std::floor(p.frequency);
        times_[p.key] = fits ? static_cast<std::uint8_t>(p.frequency) : std::uint8_t{0};
    }

    std::vector<std::uint16_t> list_;
    std::vector<std::uint8_t> row_, times_;  // times_ may be longer
};

/// The postings of a word that may have the largest saturation whatever the average length is: none has more
/// occurrences in a shorter text. A handful, however many postings there are.
class bm25_best_postings {
   public:
    void add(float frequency, float length) {
        const auto beats = [](const entry& a, const entry& b) { return a.frequency >= b.frequency && a.length <= b.length; };
        const entry fresh{frequency, length};
        if (std::ranges::any_of(entries_, [&](const entry& e) { return beats(e, fresh); })) return;
        std::erase_if(entries_, [&](const entry& e) { return beats(fresh, e); });
        entries_.push_back(fresh);
    }
    void clear() noexcept { entries_.clear(); }
    double most(const bm25_saturation& saturation) const noexcept {
        double most = 0.0;
        for (const entry& e : entries_) most = (std::max)(most, saturation(e.frequency, e.length));
        return most;
    }
    std::size_t memory() const noexcept { return entries_.capacity() * sizeof(entry); }

   private:
    struct entry {
        float frequency, length;
    };
    std::vector<entry> entries_;
};

}  // namespace QUARRY_NAMESPACE::detail
