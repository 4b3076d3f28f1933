// The best keys of an inverted index, with as little work as proves them best.
//
// Until n keys are found, sums are made in double. From then on windows of keys that stay in the processor's first cache
// are summed in 16 bits, from bm25_codes: those sums bound the scores from both sides, and in the end only keys that may
// be in are scored. Words whose weights together cannot lift a key into the answer are not walked where they are long;
// they are looked up for keys that other words found (MaxScore). Whatever is left out cannot be in: scores are the
// documented sums, in double, in the order of the question's words.
//
// Source  Turtle and Flood, 1995, MaxScore; in windows as in Lucene's bulk scorer (since 9.6).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/key_index.hpp"
#include "../detail/stable_order.hpp"
#include "../math/kernels.hpp"
#include "../math/top_k.hpp"
#include "bm25_postings.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

/// A word of a question: its postings by ascending key and their codes, its idf times how often it was asked, and the
/// most that it adds to any key's score.
struct bm25_list {
    std::span<const bm25_posting> postings;
    const bm25_codes* codes;
    double weight, most;
};

template <class LengthOf, class Admits, class Make>
class bm25_walk {
   public:
    /// `coded`  what the codes were made with. `length_of(key)`  as scored. `admits(key)`  whether it may be in the
    /// answer. `make(key, score)`  the answer's entry.
    bm25_walk(std::span<const bm25_list> lists, bm25_saturation saturation, bm25_saturation coded, LengthOf length_of,
              Admits admits, Make make)
        : saturation_(saturation), change_(saturation.since(coded)), length_of_(length_of), admits_(admits), make_(make) {
        double total = 0.0;
        for (const bm25_list& l : lists) {
            const bm25_posting* begin = l.postings.data();
            cursors_.push_back({begin, begin, begin, begin + l.postings.size(), l.codes, l.weight, l.most, 0.0, 0, false});
            total += l.weight * change_.most;
            step_ += l.weight * change_.most / l.codes->steps();
        }
        by_most_ = stable_order(cursors_.size(), [&](std::size_t a, std::size_t b) { return cursors_[a].most < cursors_[b].most; });
        codes_tell_ = step_ > 0.0 && change_.most < 2.0 && change_.least > 0.5;
        if (!codes_tell_) return;
        constexpr double largest_sum = 65'000.0;
        unit_ = total / largest_sum;
        for (cursor& c : cursors_)
            c.factor = static_cast<std::uint16_t>((c.codes->by_key() ? 256.0 : 65'536.0) * c.weight * change_.most /
                                                  c.codes->steps() / unit_);
    }

    /// Offers to `best` whatever can be among the n best, n being what it holds at most.
    void run(std::size_t n, top_k<scored_key, better_key>& best) {
        std::uint32_t size = sum_window;
        for (;;) {
            raise_least(best);
            const std::uint32_t base = next_key();
            if (base == UINT32_MAX) break;
            if (least_code(rest_) == 0) {
                score_by_sums(base, best);
            } else {
                size = (std::min)(size * 8, code_window);
                score_by_codes(base, size, n);
            }
        }
        std::ranges::sort(in_doubt_, {}, [](const doubt& d) { return std::pair(-static_cast<int>(d.sum), d.key); });
        for (const doubt& d : in_doubt_)
            for (const cursor& c : cursors_) c.codes->fetch(d.key);
        for (const doubt& d : in_doubt_) {
            double sum = unit_ * (static_cast<double>(d.sum) + lost()) + rest_;
            if (is_below(sum)) return;
            if (complete(d.key, sum)) consider(d.key, sum, best);
        }
    }

   private:
    static constexpr std::uint32_t sum_window = 256, code_window = 16'384;  // keys

    struct cursor {
        const bm25_posting* begin;
        const bm25_posting* from;  // where the last window began
        const bm25_posting* at;    // where the next window begins, or before that if the codes are by key
        const bm25_posting* end;
        const bm25_codes* codes;
        double weight, most;
        double part;           // of the key under consideration
        std::uint16_t factor;  // units a step of the codes, times 2^8 by key and 2^16 by posting
        bool looked_up;        // not walked any more: by itself and with its like it lifts no key into the answer
    };
    struct doubt {
        std::uint32_t key;
        std::uint16_t sum;  // in units, of words that were added
    };

    double part_of(const cursor& c, const bm25_posting& p) const noexcept {
        return c.weight * saturation_(p.frequency, length_of_(p.key));
    }

    // Scores are rounded to float; a bound is compared with room for that.
    bool is_below(double bound) const noexcept { return bound * (1.0 + 1e-6) < least_; }

    // In units: each word loses less than one when its factor is rounded down, and less than another when a product is.
    double lost() const noexcept { return 2.0 * static_cast<double>(cursors_.size()); }

    // The least sum with which a key may be in, when what was not added is `rest` at most; 0 if sums do not decide.
    std::uint16_t least_code(double rest) const noexcept {
        if (!codes_tell_) return 0;
        const double least = std::floor((least_ * (1.0 - 1e-6) - rest) / unit_ - lost());
        return static_cast<std::uint16_t>((std::clamp)(least, 0.0, 65'535.0));
    }

    void raise_least(const top_k<scored_key, better_key>& best) {
        if (best.full() && !best.empty()) least_ = (std::max)(least_, static_cast<double>(best.worst().score));
        for (std::size_t i = 0; i < by_most_.size(); ++i) {
            cursor& c = cursors_[by_most_[i]];
            if (c.looked_up) continue;
            if (least_code(rest_ + c.most) == 0 || !worth_looking_up(i)) break;
            c.looked_up = true;
            rest_ += c.most;
        }
    }

    // A look-up takes as long as a walk over some postings, and every posting of a greater word may need one.
    bool worth_looking_up(std::size_t rank) const noexcept {
        const cursor& c = cursors_[by_most_[rank]];
        if (c.codes->by_key()) return true;
        std::ptrdiff_t greater = 0;
        for (std::size_t i = rank + 1; i < by_most_.size(); ++i)
            greater += cursors_[by_most_[i]].end - cursors_[by_most_[i]].begin;
        return c.end - c.begin > 16 * greater;
    }

    // The first key that is not behind us and may have a word that is walked.
    std::uint32_t next_key() const noexcept {
        std::uint32_t next = UINT32_MAX;
        for (const cursor& c : cursors_)
            if (!c.looked_up && c.at != c.end && c.end[-1].key >= past_)
                next = (std::min)(next, (std::max)(c.at->key, past_));
        return next;
    }

    void score_by_sums(std::uint32_t base, top_k<scored_key, better_key>& best) {
        past_ = end_of(base, sum_window);
        sums_.resize(sum_window);
        for (cursor& c : cursors_) {
            c.at = at_or_behind(c.at, c.end, base);
            for (; c.at != c.end && c.at->key < past_; ++c.at) sums_[c.at->key - base] += part_of(c, *c.at);
        }
        for (std::uint32_t i = 0; i < past_ - base; ++i)
            if (const double sum = std::exchange(sums_[i], 0.0); sum != 0.0) consider(base + i, sum, best);
    }

    void score_by_codes(std::uint32_t base, std::uint32_t size, std::size_t n) {
        past_ = end_of(base, size);
        codes_.resize(code_window);
        const auto known = static_cast<std::ptrdiff_t>(in_doubt_.size());
        std::size_t walked = 0;
        bool dense = false;
        double rest = 0.0;  // of words that are not added
        for (cursor& c : cursors_) {
            if (!c.looked_up && !c.codes->by_key()) walked += add_postings(c, base);
            else if (c.looked_up && !c.codes->by_key()) rest += c.most;
            else if (!c.looked_up) dense = true;
        }
        if (dense || walked >= size / 128) select(base, least_code(rest));
        else collect(base, least_code(rest_), least_code(rest));
        const auto is_out = [&](const doubt& d) { return !admits_(d.key); };
        in_doubt_.erase(std::remove_if(in_doubt_.begin() + known, in_doubt_.end(), is_out), in_doubt_.end());
        if (in_doubt_.size() > 2 * n) settle(n);
    }

    std::size_t add_postings(cursor& c, std::uint32_t base) noexcept {
        const std::uint32_t factor = c.factor;
        const std::uint16_t* code = c.codes->list() + (c.at - c.begin);
        c.from = c.at;
        for (; c.at != c.end && c.at->key < past_; ++c.at, ++code) add(codes_[c.at->key - base], *code * factor >> 16);
        return static_cast<std::size_t>(c.at - c.from);
    }

    static void add(std::uint16_t& sum, std::uint32_t part) noexcept { sum = static_cast<std::uint16_t>(sum + part); }

    // Adds the words whose codes are by key to all keys of the window, and finds those that may be in.
    void select(std::uint32_t base, std::uint16_t least) {
        const kernels& with = best_kernels();
        for (const cursor& c : cursors_)
            if (const auto row = c.codes->row(); base < row.size())
                with.add_codes(row.data() + base, (std::min)(std::size_t{past_ - base}, row.size() - base), c.factor,
                               codes_.data());
        constexpr std::uint32_t some = 1024;
        std::array<std::uint32_t, some> positions;
        for (std::uint32_t begin = 0; begin < past_ - base; begin += some) {
            const std::uint32_t count = (std::min)(some, past_ - base - begin);
            const std::size_t found = with.select_sums(codes_.data() + begin, count, least, positions.data());
            for (const std::uint32_t at : std::span(positions).first(found))
                in_doubt_.push_back({base + begin + at, codes_[begin + at]});
        }
        std::fill_n(codes_.begin(), past_ - base, std::uint16_t{0});
    }

    // The same by the few postings that were walked; `walked` is what these must have reached by themselves.
    void collect(std::uint32_t base, std::uint16_t walked, std::uint16_t least) {
        const auto known = static_cast<std::ptrdiff_t>(in_doubt_.size());
        for (const cursor& w : cursors_) {
            if (w.looked_up) continue;
            for (const bm25_posting* p = w.from; p != w.at; ++p) {
                doubt d{p->key, std::exchange(codes_[p->key - base], std::uint16_t{0})};
                if (d.sum < walked) continue;
                for (const cursor& c : cursors_)
                    if (c.codes->by_key()) add(d.sum, std::uint32_t{c.codes->at(d.key)} * c.factor >> 8);
                if (d.sum >= least) in_doubt_.push_back(d);
            }
        }
        std::ranges::sort(in_doubt_.begin() + known, in_doubt_.end(), {}, &doubt::key);
    }

    // Leaves of the keys in doubt those that n of them do not surpass for certain.
    void settle(std::size_t n) {
        ranked_.clear();
        for (const doubt& d : in_doubt_) ranked_.push_back(d.sum);
        const auto nth = ranked_.begin() + static_cast<std::ptrdiff_t>(n - 1);
        std::ranges::nth_element(ranked_, nth, std::greater<>());
        const double reached = change_.least / change_.most * (unit_ * *nth - step_);
        least_ = (std::max)(least_, reached * (1.0 - 1e-6));
        std::erase_if(in_doubt_, [least = least_code(rest_)](const doubt& d) { return d.sum < least; });
    }

    void consider(std::uint32_t key, double sum, top_k<scored_key, better_key>& best) {
        const auto score = static_cast<float>(sum);
        if (best.full() && score < best.worst().score) return;
        const scored_key candidate = make_(key, score);
        if (best.full() && !better(candidate, best.worst())) return;
        if (!admits_(key)) return;
        best.offer(candidate);
        if (best.full()) least_ = (std::max)(least_, static_cast<double>(best.worst().score));
    }

    static std::uint32_t end_of(std::uint32_t base, std::uint32_t size) noexcept {
        return base > UINT32_MAX - size ? UINT32_MAX : base + size;
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

    // Of a key's posting, or 0. Keys are spread as if by chance, so that its share of the range tells where to begin.
    static float frequency_in(const cursor& c, std::uint32_t key) noexcept {
        if (c.begin == c.end || key < c.begin->key || key > c.end[-1].key) return 0.0f;
        const auto keys = static_cast<double>(c.end[-1].key - c.begin->key) + 1.0;
        const double place = static_cast<double>(key - c.begin->key) / keys * static_cast<double>(c.end - c.begin);
        const bm25_posting* low = c.begin + static_cast<std::ptrdiff_t>(place);
        const bm25_posting* high = low + 1;
        for (std::ptrdiff_t step = 4; low->key > key; step *= 2) high = low, low -= (std::min)(step, low - c.begin);
        for (std::ptrdiff_t step = 4; high != c.end && high->key <= key; step *= 2)
            low = high, high += (std::min)(step, c.end - high);
        while (high - low > 1) {
            const bm25_posting* middle = low + (high - low) / 2;
            (middle->key <= key ? low : high) = middle;
        }
        return low->key == key ? low->frequency : 0.0f;
    }

    // Replaces the bound of a key's sum by the sum, in the order of the question's words; false once the key cannot be
    // in.
    bool complete(std::uint32_t key, double& sum) {
        const float length = length_of_(key);
        const auto look_up = [&](cursor& c) {
            float frequency = c.codes->frequency_at(key);
            if (frequency == 0.0f && !(c.codes->by_key() && c.codes->at(key) == 0)) frequency = frequency_in(c, key);
            c.part = frequency == 0.0f ? 0.0 : c.weight * saturation_(frequency, length);
        };
        const auto was_added = [](const cursor& c) { return !c.looked_up || c.codes->by_key(); };
        for (std::size_t i = by_most_.size(); i-- > 0;) {
            cursor& c = cursors_[by_most_[i]];
            if (was_added(c)) continue;
            look_up(c);
            sum -= c.most - c.part;
            if (is_below(sum)) return false;
        }
        sum = 0.0;
        for (cursor& c : cursors_) {
            if (was_added(c)) look_up(c);
            sum += c.part;
        }
        return true;
    }

    bm25_saturation saturation_;
    bm25_saturation::change change_;  // since the codes were made
    LengthOf length_of_;
    Admits admits_;
    Make make_;
    std::vector<cursor> cursors_;       // in the order of the question's words
    std::vector<std::size_t> by_most_;  // ascending
    double step_ = 0.0;                 // what a step of all words' codes is in scores
    double unit_ = 0.0;                 // what 1 in codes_ is in scores
    bool codes_tell_ = false;
    double least_ = 0.0;                 // keys below it are not in the answer
    double rest_ = 0.0;                  // what words that are looked up can add, at most
    std::uint32_t past_ = 0;             // the end of the last window
    std::vector<double> sums_;           // of the window's keys; all zero between windows
    std::vector<std::uint16_t> codes_;   // the same in units
    std::vector<doubt> in_doubt_;        // keys that may be in
    std::vector<std::uint16_t> ranked_;  // their sums
};

}  // namespace QUARRY_NAMESPACE::detail
