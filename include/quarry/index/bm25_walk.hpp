// The best keys of an inverted index, with as little work as proves them best.
//
// Keys are scored in windows that stay in the processor's first cache. Words whose weights together cannot lift a key
// into the answer are looked up only for keys that other words found (MaxScore). Whatever is left out is left out
// because it cannot be in: scores are the documented sums, in double, in the order of the question's words.
//
// Source  Turtle and Flood, 1995, MaxScore; in windows as in Lucene's bulk scorer (since 9.6).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/key_index.hpp"
#include "../math/top_k.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

/// A word in a key. The key's length stands here too, so that a walk reads in one place only.
struct bm25_posting {
    std::uint32_t key;
    float frequency;  // weighted
    float length;     // of the key, weighted, as scored: in Lucene's form if asked for
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

   private:
    double base_, slope_;
};

/// A word of a question: its postings by ascending key, its idf times how often it was asked, and the most that it adds
/// to any key's score.
struct bm25_list {
    std::span<const bm25_posting> postings;
    double weight, most;
};

template <class Admits, class Make>
class bm25_walk {
   public:
    /// `keys`  how many there are. `admits(key)`  whether it may be in the answer. `make(key, score)`  the answer's entry.
    bm25_walk(std::span<const bm25_list> lists, std::size_t keys, bm25_saturation saturation, Admits admits, Make make)
        : keys_(keys), saturation_(saturation), admits_(admits), make_(make), sums_(window, 0.0) {
        for (const bm25_list& l : lists) {
            const bm25_posting* begin = l.postings.data();
            cursors_.push_back({begin, begin, begin + l.postings.size(), l.weight, l.most, 0.0, false});
        }
        for (std::size_t i = 0; i < cursors_.size(); ++i) by_most_.push_back(i);
        std::ranges::stable_sort(by_most_, {}, [&](std::size_t i) { return cursors_[i].most; });
    }

    /// Offers to `best` whatever can be among the n best, n being what it holds at most. `may_sample`  whether admits is
    /// cheap enough to be asked of some thousand keys that are not needed.
    void run(std::size_t n, bool may_sample, top_k<scored_key, better_key>& best) {
        if (may_sample) least_ = least_of(n);
        for (;;) {
            raise_least(best);
            std::uint32_t base = UINT32_MAX;
            for (const std::size_t i : by_most_) {
                const cursor& c = cursors_[i];
                if (!c.looked_up && c.at != c.end) base = (std::min)(base, c.at->key);
            }
            if (base == UINT32_MAX) return;
            score_window(base, best);
        }
    }

   private:
    static constexpr std::uint32_t window = 4096;  // keys; their sums fill a first-level cache

    struct cursor {
        const bm25_posting *from, *at, *end;  // where the window begins, or the next look-up; its end; the list's end
        double weight, most;
        double part;     // of the key under consideration
        bool looked_up;  // not walked any more: by itself and with its like it lifts no key into the answer
    };

    struct doubt {
        std::uint32_t key;
        double sum;  // so far
    };

    double part_of(const cursor& c, const bm25_posting& p) const noexcept {
        return c.weight * saturation_(p.frequency, p.length);
    }

    // Scores are rounded to float; a bound is compared with room for that.
    bool is_below(double bound) const noexcept { return bound * (1.0 + 1e-6) < least_; }

    // A score that n keys reach: the nth best part of the rarest word that is in so many.
    double least_of(std::size_t n) {
        constexpr std::size_t most = 16'384;
        for (std::size_t w = by_most_.size(); w-- > 0;) {
            const cursor& c = cursors_[by_most_[w]];
            const auto size = static_cast<std::size_t>(c.end - c.at);
            if (size < n || n > most) continue;
            std::vector<double> parts;
            for (const bm25_posting& p : std::span(c.at, (std::min)(size, most)))
                if (admits_(p.key)) parts.push_back(part_of(c, p));
            if (parts.size() < n) continue;
            std::ranges::nth_element(parts, parts.begin() + static_cast<std::ptrdiff_t>(n - 1), std::greater<>());
            return static_cast<double>(static_cast<float>(parts[n - 1]));
        }
        return 0.0;
    }

    void raise_least(const top_k<scored_key, better_key>& best) {
        if (best.full() && !best.empty()) least_ = (std::max)(least_, static_cast<double>(best.worst().score));
        for (const std::size_t i : by_most_) {
            cursor& c = cursors_[i];
            if (c.looked_up) continue;
            if (!is_below(rest_ + c.most)) break;
            c.looked_up = true;
            rest_ += c.most;
        }
    }

    void score_window(std::uint32_t base, top_k<scored_key, better_key>& best) {
        const std::uint32_t past = base > UINT32_MAX - window ? UINT32_MAX : base + window;
        std::size_t walked = 0;
        for (cursor& c : cursors_) {
            if (c.looked_up) continue;
            c.from = c.at;
            for (; c.at != c.end && c.at->key < past; ++c.at) sums_[c.at->key - base] += part_of(c, *c.at);
            walked += static_cast<std::size_t>(c.at - c.from);
        }
        in_doubt_.clear();
        const auto take = [&](std::uint32_t key) {
            const double sum = std::exchange(sums_[key - base], 0.0);
            if (sum == 0.0 || is_below(sum + rest_)) return;
            if (rest_ == 0.0) consider(key, sum, best);
            else in_doubt_.push_back({key, sum});
        };
        if (walked >= window / 2) {
            const auto keys = static_cast<std::uint32_t>((std::min)(std::size_t{past}, keys_));
            for (std::uint32_t key = base; key < keys; ++key) take(key);
        } else {
            for (const cursor& c : cursors_)
                if (!c.looked_up)
                    for (const bm25_posting* p = c.from; p != c.at; ++p) take(p->key);
            std::ranges::sort(in_doubt_, {}, &doubt::key);
        }
        for (doubt& d : in_doubt_)
            if (complete(d)) consider(d.key, d.sum, best);
    }

    void consider(std::uint32_t key, double sum, top_k<scored_key, better_key>& best) {
        const scored_key candidate = make_(key, static_cast<float>(sum));
        if (best.full() && !better(candidate, best.worst())) return;
        if (!admits_(key)) return;
        best.offer(candidate);
        if (best.full()) least_ = (std::max)(least_, static_cast<double>(best.worst().score));
    }

    // The first posting from `at` on whose key is not below, found in steps that double: the next one asked for is near.
    static const bm25_posting* at_or_behind(const bm25_posting* at, const bm25_posting* end, std::uint32_t key) {
        std::ptrdiff_t step = 1;
        while (step < end - at && at[step].key < key) {
            at += step;
            step *= 2;
        }
        return std::lower_bound(at, at + (std::min)(step + 1, end - at), key,
                                [](const bm25_posting& p, std::uint32_t k) { return p.key < k; });
    }

    // Makes the sum whole, in the order of the question's words; false once the key cannot be in. Keys ascend.
    bool complete(doubt& d) {
        const auto look_up = [&](cursor& c, const bm25_posting* end) {
            c.from = at_or_behind(c.from, end, d.key);
            c.part = c.from != end && c.from->key == d.key ? part_of(c, *c.from) : 0.0;
        };
        double bound = d.sum + rest_;
        for (std::size_t i = by_most_.size(); i-- > 0;) {
            if (is_below(bound)) return false;
            cursor& c = cursors_[by_most_[i]];
            if (!c.looked_up) continue;
            look_up(c, c.end);
            bound -= c.most - c.part;
        }
        if (is_below(bound)) return false;
        d.sum = 0.0;
        for (cursor& c : cursors_) {
            if (!c.looked_up) look_up(c, c.at);
            d.sum += c.part;
        }
        return true;
    }

    std::size_t keys_;
    bm25_saturation saturation_;
    Admits admits_;
    Make make_;
    std::vector<cursor> cursors_;          // in the order of the question's words
    std::vector<std::size_t> by_most_;   // ascending
    std::vector<double> sums_;             // of the window's keys; all zero between windows
    double least_ = 0.0;                   // keys below it are not in the answer
    double rest_ = 0.0;                    // what words that are looked up can add, at most
    std::vector<doubt> in_doubt_;          // keys of the window that words which are looked up may lift
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
