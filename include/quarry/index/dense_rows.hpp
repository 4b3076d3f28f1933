// Dense rows: what every index of vectors holds, and its exact search.
//
// Rows as floats and as bytes, the unit and key of each, and what is known of them together. An index adds how it finds
// candidates. Not promised.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../detail/aligned.hpp"
#include "../detail/floats.hpp"
#include "../detail/half.hpp"
#include "../detail/text.hpp"
#include "../math/byte_rows.hpp"
#include "../math/cosine.hpp"
#include "../math/nibble_rows.hpp"
#include "../math/top_k.hpp"
#include "certified_best.hpp"
#include "row_store.hpp"
#include "unit_rows.hpp"

namespace QUARRY_NAMESPACE {

/// The scales a dot product of rows can have.
template <class S>
concept ProductScale = std::same_as<S, cosine_scale> || std::same_as<S, inner_product_scale>;

namespace detail {

template <ProductScale S>
class dense_rows {
   public:
    struct held {
        unit_id unit;
        key_id key;
    };
    static constexpr bool is_cosine = std::same_as<S, cosine_scale>;

    /// `where` is the index's name in messages, a literal.
    dense_rows(std::string_view where, std::size_t dimension, bool bytes, row_format format = row_format::floats,
               bool nibbles = false)
        : where_(where),
          dimension_(dimension),
          rows_(dimension, format),
          bytes_(dimension),
          nibbles_(dimension),
          sum_(dimension, 0.0) {
        if (dimension == 0) raise<usage_error>("dense.dimension", concat(where_, ": the dimension is 0"));
        has_bytes_ = bytes && dimension >= byte_rows::narrowest && dimension <= byte_rows::widest;
        has_nibbles_ = has_bytes_ && nibbles;
    }

    std::size_t size() const noexcept { return keys_.size(); }
    std::size_t dimension() const noexcept { return dimension_; }
    const unit_rows& units() const noexcept { return units_; }
    const held& key(std::size_t i) const noexcept { return keys_[i]; }
    std::span<const held> keys() const noexcept { return keys_; }
    /// Quicker where units have the numbers of their rows.
    unit_id unit(std::size_t i) const noexcept { return numbered_ ? unit_at(i) : keys_[i].unit; }
    /// Takes back the keys from `next` on. Requires  none of them to be held.
    void give_keys_from(key_id next) noexcept { next_key_ = static_cast<std::uint32_t>(index_of(next)); }
    key_id next_key() const noexcept { return key_id{next_key_}; }
    std::span<const double> sum() const noexcept { return sum_; }
    bool has_bytes() const noexcept { return has_bytes_; }
    const byte_rows& bytes() const noexcept { return bytes_; }
    const row_store& stored() const noexcept { return rows_; }
    /// Requires  floats.
    std::span<const float> row(std::size_t i) const noexcept { return rows_.floats(i); }

    void require_width(std::size_t got) const {
        if (got != dimension_)
            raise<usage_error>("dense.dimension", concat(where_, ": expected ", dimension_, " floats, got ", got));
    }

    // The rows as they are stored, but for half floats: finite, of length 1 for cosines, without subnormal numbers.
    std::vector<float> checked(std::span<const float> rows, std::string_view function) const {
        std::vector<float> out(rows.begin(), rows.end());
        for (std::size_t i = 0; i * dimension_ < out.size(); ++i) {
            const std::span<float> one = std::span(out).subspan(i * dimension_, dimension_);
            if (!is_finite(one))
                raise<usage_error>("dense.not_finite",
                                   concat(where_, "::", function, ": row ", i, " holds a NaN or an infinity"));
            if (!is_cosine) {
                for (float& x : one) x = narrowed(widened(x));
            } else if (!normalize(one)) {
                raise<usage_error>("dense.zero_vector",
                                   concat(where_, "::", function, ": row ", i, " is zero and has no direction"));
            }
        }
        return out;
    }
    std::vector<float> checked_probe(std::span<const float> probe, std::string_view function) const {
        require_width(probe.size());
        return checked(probe, function);
    }

    /// The first of the rows take the places of dropped ones, `slots`; not more than there are rows. Where there are
    /// any, requires  no half bytes.
    key_id add(std::span<const unit_id> units, std::span<const float> rows, std::span<const std::uint32_t> slots = {}) {
        if (rows.size() != units.size() * dimension_)
            raise<usage_error>("dense.dimension",
                               concat(where_, "::add: expected ", units.size(), " rows of ", dimension_,
                                      " floats, that is ", units.size() * dimension_, ", got ", rows.size()));
        if (units.size() >= UINT32_MAX - next_key_)
            raise<usage_error>("dense.full", concat(where_, "::add: ", next_key_, " keys were given, ", units.size(),
                                                    " more would be too many"));
        std::vector<float> fresh = checked(rows, "add");
        if (rows_.format() == row_format::halves) round_to_halves(fresh);

        // Everything that may throw comes first; what was reserved in vain is not seen.
        reserve(units.size() - slots.size());
        units_.reserve(units, units.size() - slots.size());
        rows_.add(std::span(fresh).subspan(slots.size() * dimension_));
        for (std::size_t i = 0; i < units.size(); ++i) {
            const held key{units[i], key_id{next_key_++}};
            const auto added = std::span<const float>(fresh).subspan(i * dimension_, dimension_);
            if (i < slots.size()) {
                take_place(slots[i], key, added);
                number(slots[i]);
            } else {
                keys_.push_back(key);
                count_in(units[i], added, norm(added));
                number(keys_.size() - 1);
            }
        }
        return key_id{next_key_ - static_cast<std::uint32_t>(units.size())};
    }

    /// Fills an empty one with rows as another kept them: `fill(bytes)` writes one block of them after the other, in the
    /// format of this one. A row is looked at as soon as it is there, and a wrong one refused when all are, so that
    /// whoever reads them from a file has seen the end of it. Errors  data_error `dense.stored`.
    template <class Fill>
    void restore(std::span<const held> keys, key_id next_key, Fill fill) {
        for (std::size_t i = 1; i < keys.size(); ++i)
            if (keys[i].key <= keys[i - 1].key)
                refuse_stored(concat("key ", index_of(keys[i].key), " does not follow the one before"));
        restore(keys, next_key, fill, [](std::size_t) { return false; });
    }
    /// The same where row i was dropped if `dropped(i)`, and keys are in the order in which slots were taken.
    template <class Fill, class Dropped>
    void restore(std::span<const held> keys, key_id next_key, Fill fill, Dropped dropped) {
        require_distinct(keys, next_key);
        reserve(keys.size());
        keys_.assign(keys.begin(), keys.end());
        for (std::size_t i = 0; i < keys.size(); ++i) number(i);
        next_key_ = static_cast<std::uint32_t>(index_of(next_key));
        std::vector<unit_id> units;
        units.reserve(keys.size());
        for (const held& key : keys) units.push_back(key.unit);
        units_.reserve(units, units.size());

        std::vector<float> scratch(rows_.scratch());
        std::size_t wrong = keys.size();
        for (std::size_t first = 0; first < keys.size(); first += rows_.block()) {
            const std::size_t last = (std::min)(first + rows_.block(), keys.size());
            fill(rows_.add_unwritten(last - first));
            for (std::size_t i = first; i < last && wrong == keys.size(); ++i) {
                const auto one = rows_.read(i, scratch);
                // Finite exactly if the row is. Normalised rows have a length of 1 to within their rounding.
                const double length = norm(one);
                if (!is_finite(length) || (is_cosine && !(length > 0.999 && length < 1.001)))
                    wrong = i;
                else if (dropped(i))
                    leave_out(one, length);
                else
                    count_in(keys[i].unit, one, length);
            }
        }
        if (wrong != keys.size()) refuse_stored(concat("row ", wrong, " is not finite, or not of length 1"));
    }
    void restore(std::span<const held> keys, std::span<const float> rows, key_id next_key) {
        if (rows.size() % dimension_ != 0 || rows.size() / dimension_ != keys.size())
            raise<data_error>("dense.stored", concat(where_, ": ", keys.size(), " keys of dimension ", dimension_,
                                                     " come with ", rows.size(), " floats"));
        restore(keys, next_key, [&](std::span<char> to) {
            const std::size_t count = to.size() / rows_.row_bytes() * dimension_;
            rows_.write(rows.first(count), to);
            rows = rows.subspan(count);
        });
    }

    /// What was counted while rows were dropped: their sums, which removals leave rounding in, and the most keys of a
    /// unit, which does not fall. Requires  sums near those of the rows.
    void restore_counts(std::span<const double> sum, std::size_t most) {
        sum_.assign(sum.begin(), sum.end());
        units_.raise_most(most);
    }

    /// Drops the rows for which `gone(i)`; the others move up and keep their keys. Says how many went.
    template <class Gone>
    std::size_t compact(Gone gone) {
        std::size_t kept = 0;
        const std::size_t before = keys_.size();
        std::vector<float> scratch(rows_.scratch());
        for (std::size_t i = 0; i < before; ++i) {
            if (gone(i)) continue;
            if (kept != i) {
                rows_.move(i, kept);
                if (has_bytes_) bytes_.move(i, kept);
                if (has_nibbles_) nibbles_.move(i, kept);
                keys_[kept] = keys_[i];
            }
            ++kept;
        }
        keys_.resize(kept);
        rows_.shrink(kept);
        if (has_bytes_) bytes_.resize(kept);
        if (has_nibbles_) nibbles_.shrink(kept);
        units_.clear();
        numbered_ = true;
        // Summed afresh: subtracting would leave the rounding of what was removed behind.
        std::ranges::fill(sum_, 0.0);
        longest_ = 0.0;
        for (std::size_t i = 0; i < kept; ++i) {
            const auto one = rows_.read(i, scratch);
            count_in_sums(one, norm(one));
            units_.add(keys_[i].unit);
            number(i);
        }
        units_.trim();
        return before - kept;
    }

    /// Forgets the rows of a unit without moving others: they stay in place and nobody's. Says how many. Requires  floats.
    std::size_t drop(unit_id unit) noexcept {
        std::size_t dropped = 0;
        units_.for_each(unit, [&](std::uint32_t i) {
            const std::span<const float> gone = row(i);
            for (std::size_t j = 0; j < dimension_; ++j) sum_[j] -= static_cast<double>(gone[j]);
            ++dropped;
        });
        units_.drop(unit);
        return dropped;
    }

    scored_key scored(std::span<const float> probe, std::size_t i) const noexcept {
        constexpr double most = is_cosine ? 1.0 : static_cast<double>((std::numeric_limits<float>::max)());
        return {keys_[i].unit, keys_[i].key, narrowed(std::clamp(rows_.product(probe, i), -most, most))};
    }

    // How far two products can lie apart that are equal as scores, when the unit decides between them: 2^-22 of the
    // lengths where they were rounded to float and cut at 1, 2^-125 where they became 0.
    double tie(double probe_length) const noexcept { return 0x1p-22 * probe_length * longest_ + 0x1p-125; }

    /// Every row that `offers` calls its argument with is scored exactly.
    template <class Offers>
    std::vector<scored_key> exhaustive(std::span<const float> probe, std::size_t n, Offers offers) const {
        top_k<scored_key, better_key> best(n);
        offers([&](std::size_t i) { best.offer(scored(probe, i)); });
        return best.take();
    }

    /// The n best of the listed rows.
    std::vector<scored_key> listed(std::span<const float> probe, std::size_t n,
                                   std::span<const std::uint32_t> ids) const;

    /// The n best rows of those for which `accepted(i)`, for each of m probes, row-major.
    template <class Accepted>
    std::vector<std::vector<scored_key>> scan(std::span<const float> probes, std::size_t n, Accepted accepted) const;

    std::vector<scored_key> score(std::span<const float> asked, std::span<const unit_id> units) const {
        std::vector<scored_key> out;
        out.reserve(units.size());
        for (const unit_id unit : units) {
            scored_key best{unit, no_key, 0.0f};
            units_.for_each(unit, [&](std::uint32_t i) {
                if (const scored_key key = scored(asked, i); best.key == no_key || better(key, best)) best = key;
            });
            out.push_back(best);
        }
        return out;
    }

    /// The probe's mean product over the rows, so many that are not dropped, and ten absent ones of 0.
    double mean(std::span<const float> asked, std::size_t count) const noexcept {
        double sum = 0.0;
        for (std::size_t j = 0; j < dimension_; ++j) sum += static_cast<double>(asked[j]) * sum_[j];
        return sum / (static_cast<double>(count) + 10.0);
    }

    /// The row of the unit's first key.
    bool vector_of(unit_id unit, std::span<float> out) const {
        require_width(out.size());
        std::uint32_t first = units_.first(unit);
        if (first == unit_rows::none) return false;
        units_.for_each(unit, [&](std::uint32_t i) {
            if (keys_[i].key < keys_[first].key) first = i;
        });
        const auto one = rows_.read(first, out);
        if (one.data() != out.data()) std::ranges::copy(one, out.begin());
        return true;
    }

    std::size_t memory() const noexcept {
        return rows_.memory() + bytes_.memory() + nibbles_.memory() + keys_.capacity() * sizeof(held) + units_.memory();
    }

    // Beyond these the float product may overflow where the double one does not, or its error is not bounded.
    bool floats_usable(double probe_length) const noexcept {
        return probe_length * longest_ <= 1e30 && dimension_ <= std::size_t{1} << 17;
    }
    bool bytes_usable(double probe_length) const noexcept {
        return has_bytes_ && longest_ <= 1e15 && probe_length >= 1e-15 && probe_length <= 1e15;
    }
    double longest() const noexcept { return longest_; }

   private:
    [[noreturn]] void refuse_stored(const std::string& why) const {
        raise<data_error>("dense.stored", concat(where_, ": these are no rows of an index: ", why));
    }
    void require_distinct(std::span<const held> keys, key_id next_key) const {
        std::vector<key_id> all;
        all.reserve(keys.size());
        for (const held& key : keys) all.push_back(key.key);
        if (!std::ranges::is_sorted(all)) std::ranges::sort(all);
        if (!all.empty() && all.back() >= next_key)
            refuse_stored(concat("key ", index_of(all.back()), " is not below ", index_of(next_key)));
        if (const auto twice = std::ranges::adjacent_find(all); twice != all.end())
            refuse_stored(concat("key ", index_of(*twice), " is there twice"));
    }
    template <class V>
    static void grow(V& v, std::size_t more) {
        if (v.capacity() < v.size() + more) v.reserve((std::max)(2 * v.size(), v.size() + more));
    }
    void reserve(std::size_t more) {
        grow(keys_, more);
        rows_.reserve(more);
        if (has_bytes_) bytes_.reserve(more);
        if (has_nibbles_) nibbles_.reserve(more);
    }
    void add_codes(std::span<const float> added, double length) noexcept {
        if (has_bytes_) bytes_.add(added);
        if (has_nibbles_) nibbles_.add(added, length);
    }
    // To be called for every row whose unit was set.
    void number(std::size_t i) noexcept { numbered_ = numbered_ && index_of(keys_[i].unit) == i; }
    void count_in(unit_id unit, std::span<const float> added, double length) noexcept {
        units_.add(unit);
        add_codes(added, length);
        count_in_sums(added, length);
    }
    void take_place(std::uint32_t slot, const held& key, std::span<const float> added) noexcept {
        rows_.put(slot, added);
        if (has_bytes_) bytes_.put(slot, added);
        keys_[slot] = key;
        units_.put(slot, key.unit);
        count_in_sums(added, norm(added));
    }
    void leave_out(std::span<const float> dropped, double length) noexcept {
        units_.skip();
        add_codes(dropped, length);
        longest_ = (std::max)(longest_, length);
    }
    void count_in_sums(std::span<const float> added, double length) noexcept {
        best_kernels().add_up(added.data(), dimension_, sum_.data());
        longest_ = (std::max)(longest_, length);
    }
    /// Offers the listed rows, each with the interval that its bytes give.
    void offer_listed(std::span<const std::uint32_t> ids, const std::int8_t* codes, const byte_probe& coded,
                      certified_best& best) const;
    /// Offers those of `count` rows from `start` on that could be in by their bytes, given their products.
    template <class Accepted>
    void offer_slab(std::size_t start, std::size_t count, const std::int32_t* products, const byte_probe& coded,
                    Accepted accepted, std::span<std::uint32_t> positions, certified_best& best) const;
    /// `scan` for one probe, by bytes.
    template <class Accepted>
    std::vector<scored_key> climb(std::span<const float> probe, std::size_t n, Accepted accepted) const;

    void round_to_halves(std::span<float> rows) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = widened_half(narrowed_to_half(rows[i]));
            if (!is_finite(rows[i]))
                raise<usage_error>("dense.half", concat(where_, "::add: row ", i / dimension_,
                                                        " holds a number that no half float holds"));
        }
    }

    std::string_view where_;
    std::size_t dimension_;
    bool has_bytes_ = false, has_nibbles_ = false, numbered_ = true;  // is every row that of the unit with its number?
    row_store rows_;
    byte_rows bytes_;
    nibble_rows nibbles_;
    std::vector<held> keys_;
    unit_rows units_;
    std::vector<double> sum_;  // of all rows, for the mean
    double longest_ = 0.0;     // an upper bound of the rows' norms
    std::uint32_t next_key_ = 0;
};

template <ProductScale S>
std::vector<scored_key> dense_rows<S>::listed(std::span<const float> probe, std::size_t n,
                                              std::span<const std::uint32_t> ids) const {
    if (n == 0) return {};
    const double length = norm(probe);
    if (!bytes_usable(length) || ids.size() <= 2 * n || ids.size() < 32)
        return exhaustive(probe, n, [&](auto offer) {
            for (const std::uint32_t i : ids) offer(i);
        });
    aligned_vector<std::int8_t> codes(bytes_.stride());
    const byte_probe coded = bytes_.encode(probe, codes.data());
    certified_best best(n, tie(length));
    offer_listed(ids, codes.data(), coded, best);
    return best.take(n, [&](std::uint32_t i) { return scored(probe, i); },
                     [&](std::uint32_t i) { rows_.fetch(i); });
}

template <ProductScale S>
void dense_rows<S>::offer_listed(std::span<const std::uint32_t> ids, const std::int8_t* codes, const byte_probe& coded,
                                 certified_best& best) const {
    constexpr std::size_t together = 256;
    std::int32_t products[together];
    for (std::size_t first = 0; first < ids.size(); first += together) {
        const auto some = ids.subspan(first, (std::min)(together, ids.size() - first));
        for (const std::uint32_t i : some) bytes_.fetch_constants(i);
        best_kernels().byte_products(bytes_.codes(), bytes_.stride(), some.data(), some.size(), codes, products);
        for (std::size_t i = 0; i < some.size(); ++i) {
            const auto range = bytes_.range(some[i], products[i], coded);
            best.offer(some[i], range.low, range.high);
        }
    }
}

template <ProductScale S>
template <class Accepted>
void dense_rows<S>::offer_slab(std::size_t start, std::size_t count, const std::int32_t* products,
                               const byte_probe& coded, Accepted accepted, std::span<std::uint32_t> positions,
                               certified_best& best) const {
    const std::size_t passed = best_kernels().select_bytes(products, bytes_.constants(start), count, coded.constants,
                                                           float_below(best.least()), positions.data());
    for (const std::uint32_t at : positions.first(passed)) {
        if (!accepted(start + at)) continue;
        const auto range = bytes_.range(start + at, products[at], coded);
        best.offer(static_cast<std::uint32_t>(start + at), range.low, range.high);
    }
}

// Up the ladder: four bits say which rows need their bytes, bytes which need their numbers. A slab that leaves more than an
// eighth of its rows to the bytes costs more than it spares, since a row read alone costs about four that are read in turn:
// then slabs are read in bytes for a while, twice as long each time.
template <ProductScale S>
template <class Accepted>
std::vector<scored_key> dense_rows<S>::climb(std::span<const float> probe, std::size_t n, Accepted accepted) const {
    aligned_vector<std::int8_t> codes(bytes_.stride()), turned(bytes_.stride());
    const byte_probe coded = bytes_.encode(probe, codes.data());
    byte_probe_constants in_nibbles;
    if (has_nibbles_) in_nibbles = nibbles_.encode(probe, turned.data());
    certified_best best(n, tie(norm(probe)));
    constexpr std::size_t slab = 1024;
    alignas(64) std::int32_t products[slab];
    std::uint32_t positions[slab];
    std::size_t pause = 1, in_bytes = has_nibbles_ ? pause : size();  // slabs; the first has nothing to be compared with
    for (std::size_t start = 0; start < size(); start += slab) {
        const std::size_t count = (std::min)(slab, size() - start);
        if (in_bytes != 0) {
            --in_bytes;
            best_kernels().byte_products(bytes_.codes(start), bytes_.stride(), nullptr, count, codes.data(), products);
            offer_slab(start, count, products, coded, accepted, positions, best);
            continue;
        }
        nibbles_.products(start, count, turned.data(), products);
        const std::size_t passed = best_kernels().select_bytes(products, nibbles_.constants(start), count, in_nibbles,
                                                               float_below(best.least()), positions);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < passed; ++i)
            if (const std::size_t row_at = start + positions[i]; accepted(row_at))
                positions[kept++] = static_cast<std::uint32_t>(row_at);
        offer_listed(std::span(positions, kept), codes.data(), coded, best);
        if (passed > count / 8) in_bytes = pause *= 2;
    }
    return best.take(n, [&](std::uint32_t i) { return scored(probe, i); });
}

// A slab of rows at a time, for all probes: bytes (or floats, where there are none) say which rows could still be among
// the best. The probes are taken in groups that stay in the cache beside the slab.
template <ProductScale S>
template <class Accepted>
std::vector<std::vector<scored_key>> dense_rows<S>::scan(std::span<const float> probes, std::size_t n,
                                                         Accepted accepted) const {
    const std::size_t m = probes.size() / dimension_, all = size();
    const auto probe_of = [&](std::size_t p) { return probes.subspan(p * dimension_, dimension_); };
    std::vector<std::vector<scored_key>> answers(m);
    std::vector<std::size_t> by_bytes, by_floats;
    std::vector<double> lengths(m);
    const auto in_bytes = [&](double length) {
        const bool quicker = m < 4 || best_kernels().batches_in_bytes;
        return bytes_usable(length) && (quicker || !floats_usable(length));
    };
    for (std::size_t p = 0; p < m; ++p) {
        lengths[p] = norm(probe_of(p));
        if (n >= all || (!bytes_usable(lengths[p]) && !floats_usable(lengths[p])))
            answers[p] = exhaustive(probe_of(p), n, [&](auto offer) {
                for (std::size_t i = 0; i < all; ++i)
                    if (accepted(i)) offer(i);
            });
        else
            (in_bytes(lengths[p]) ? by_bytes : by_floats).push_back(p);
    }

    if (by_bytes.size() == 1) {
        answers[by_bytes.front()] = climb(probe_of(by_bytes.front()), n, accepted);
        by_bytes.clear();
    }

    const kernels& kernel = best_kernels();
    constexpr std::size_t most_together = 512;
    for (const std::vector<std::size_t>* chosen : {&by_bytes, &by_floats}) {
        const bool of_bytes = chosen == &by_bytes;
        const std::size_t stride = bytes_.stride();
        for (std::size_t first = 0; first < chosen->size(); first += most_together) {
            const auto group = std::span(*chosen).subspan(first, (std::min)(most_together, chosen->size() - first));
            const std::size_t slab = !of_bytes && group.size() == 1 ? 1024 : 64;
            std::vector<certified_best> best;
            std::vector<byte_probe> coded(group.size());
            std::vector<double> error(group.size());
            aligned_vector<std::int8_t> codes(of_bytes ? group.size() * stride : 0);
            aligned_vector<float> floats(of_bytes ? 0 : group.size() * dimension_);
            for (std::size_t g = 0; g < group.size(); ++g) {
                best.emplace_back(n, tie(lengths[group[g]]));
                if (of_bytes)
                    coded[g] = bytes_.encode(probe_of(group[g]), codes.data() + g * stride);
                else
                    std::ranges::copy(probe_of(group[g]), floats.data() + g * dimension_);
                error[g] = product_error(dimension_, lengths[group[g]] * longest_);
            }
            aligned_vector<std::int32_t> products(of_bytes ? slab * group.size() : 0);
            aligned_vector<std::uint8_t> scratch(of_bytes ? slab * stride : 0);
            aligned_vector<float> values(of_bytes ? 0 : slab * group.size()), wide(of_bytes ? 0 : rows_.scratch(slab));
            std::vector<std::uint32_t> positions(slab);

            for (std::size_t start = 0; start < all; start += slab) {
                const std::size_t count = (std::min)(slab, all - start);
                if (!of_bytes)
                    kernel.products(rows_.read(start, wide, count).data(), count, dimension_, floats.data(),
                                    group.size(), values.data(), slab);
                else
                    kernel.byte_products_batch(bytes_.codes(start), stride, count, codes.data(), group.size(),
                                               products.data(), scratch.data());
                for (std::size_t g = 0; g < group.size(); ++g) {
                    if (of_bytes) {
                        offer_slab(start, count, products.data() + g * slab, coded[g], accepted, positions, best[g]);
                        continue;
                    }
                    const std::size_t passed = kernel.select(
                        values.data() + g * slab, count, float_below(best[g].least() - error[g]), positions.data());
                    for (std::size_t i = 0; i < passed; ++i) {
                        const std::size_t at = positions[i], row_at = start + at;
                        if (!accepted(row_at)) continue;
                        const auto value = static_cast<double>(values[g * slab + at]);
                        best[g].offer(static_cast<std::uint32_t>(row_at), value - error[g], value + error[g]);
                    }
                }
            }
            for (std::size_t g = 0; g < group.size(); ++g) {
                const std::span<const float> probe = probe_of(group[g]);
                answers[group[g]] = best[g].take(n, [&](std::uint32_t i) { return scored(probe, i); });
            }
        }
    }
    return answers;
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
