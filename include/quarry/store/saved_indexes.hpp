// Indexes and their keys in a file.
//
// Nothing is analysed, normalised or embedded again: what is read back is what was written, bit by bit, and answers the
// same. Every number that names something else is compared with what there is before it is used: keys name units that
// `known` says are there, postings name keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/key.hpp"
#include "../core/scale.hpp"
#include "../detail/floats.hpp"
#include "../detail/saved.hpp"
#include "../index/bm25_index.hpp"
#include "../index/flat_index.hpp"
#include "bytes.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class Known>
unit_id read_known_unit(byte_reader& in, Known known) {
    const unit_id unit{in.number<std::uint32_t>()};
    if (!known(unit)) in.refuse(concat("a key names unit ", index_of(unit), ", which is not there"));
    return unit;
}

template <>
struct saved<key_table> {
    template <class Out>
    static void write(const key_table& table, byte_writer<Out> out) {
        out.number(static_cast<std::uint8_t>(table.kind_));
        out.count(table.entries_.size());
        for (const auto& e : table.entries_) {
            out.number(static_cast<std::uint32_t>(e.unit));
            out.number(static_cast<std::uint8_t>(e.part));
            if (e.part != key_part::whole) out.text(e.text);
        }
    }

    template <class Known>
    static key_table read(byte_reader in, Known known) {
        key_table table(in.choice(key_kind::code, "kind of key"));
        const std::size_t count = in.count(5);
        table.entries_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const unit_id unit = read_known_unit(in, known);
            const auto part = in.choice(key_part::context, "part of a unit");
            table.entries_.push_back({unit, part, part == key_part::whole ? std::string() : std::string(in.text())});
        }
        in.require_end();
        return table;
    }
};

template <>
struct saved<bm25_index> {
    template <class Out>
    static void write(const bm25_index& index, byte_writer<Out> out) {
        out.text(index.analyzer_.fingerprint());
        out.number(index.options_.k1);
        out.number(index.options_.b);
        for (const bool flag : {index.options_.lucene_lengths, index.options_.positions, index.options_.one_edit})
            out.number(std::uint8_t{flag});
        out.number(index.total_length_);
        out.count(index.keys_.size());
        for (const auto& key : index.keys_) {
            out.number(std::uint8_t{key.alive});
            out.number(static_cast<std::uint32_t>(key.unit));
            if (key.alive) out.number(key.exact_length);
        }
        // Terms in the order of their numbers. Those that no key has are left over from removals and failures.
        std::vector<std::string_view> texts(index.terms_.size());
        for (const auto& [text, number] : index.term_numbers_) texts[number] = text;
        out.count(static_cast<std::size_t>(
            std::ranges::count_if(index.terms_, [](const auto& t) { return !t.postings.empty(); })));
        std::vector<std::uint32_t> keys;
        std::vector<float> frequencies;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto& t = index.terms_[i];
            if (t.postings.empty()) continue;
            keys.clear(), frequencies.clear();
            for (const auto& p : t.postings) {
                keys.push_back(p.key);
                frequencies.push_back(p.frequency);
            }
            out.text(texts[i]);
            out.count(keys.size());
            out.numbers(std::span<const std::uint32_t>(keys));
            out.numbers(std::span<const float>(frequencies));
            if (!index.options_.positions) continue;
            out.numbers(std::span<const std::uint32_t>(t.first_positions));
            out.count(t.positions.size());
            out.numbers(std::span<const std::uint32_t>(t.positions));
        }
    }

    /// Errors  usage_error `store.fingerprint` if the analyzer is another one.
    template <class Known>
    static bm25_index read(byte_reader in, analyzer words, Known known) {
        if (const std::string_view saved_name = in.text(); saved_name != words.fingerprint())
            raise<usage_error>("store.fingerprint", concat("quarry: the file's analyzer is ", detail::quoted(saved_name),
                                                           ", this program's is ", detail::quoted(words.fingerprint())));
        bm25_options options;
        options.k1 = in.number<float>();
        options.b = in.number<float>();
        options.lucene_lengths = in.flag();
        options.positions = in.flag();
        options.one_edit = in.flag();
        if (!is_finite(options.k1) || !is_finite(options.b) || options.k1 < 0.0f || options.b < 0.0f ||
            options.b > 1.0f)
            in.refuse(concat("k1 is ", options.k1, " and b is ", options.b));
        bm25_index index(std::move(words), options);
        index.total_length_ = in.number<double>();
        read_keys(index, in, known);
        index.coded_ = index.saturation(index.average_length());
        const std::size_t terms = in.count(16);
        index.terms_.reserve(terms);
        index.term_numbers_.reserve(terms);
        for (std::size_t i = 0; i < terms; ++i) read_term(index, in);
        in.require_end();
        list_terms(index);
        return index;
    }

   private:
    template <class Known>
    static void read_keys(bm25_index& index, byte_reader& in, Known known) {
        const std::size_t count = in.count(5);
        if (count >= UINT32_MAX) in.refuse("there are more keys than ids");
        index.keys_.reserve(count);
        index.keys_of_.reserve(count);
        double total = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            bm25_index::key_data key{};
            key.alive = in.flag();
            key.unit = read_known_unit(in, known);
            if (key.alive) {
                key.exact_length = in.number<double>();
                // A word has a weight of at least 1e-6. Shorter lengths would make quotients of them infinite.
                if (!is_finite(key.exact_length) || (key.exact_length != 0.0 && key.exact_length < 1e-7))
                    in.refuse("a length is negative, not finite or shorter than a word");
                auto& own = index.keys_of_[key.unit];
                own.push_back(static_cast<std::uint32_t>(i));
                if (index.units_owning_.size() <= own.size()) index.units_owning_.resize(own.size() + 1);
                index.count_unit(own.size() - 1, own.size());
                ++index.size_;
                index.counted_ += key.exact_length > 0.0;
                total += key.exact_length;
            }
            index.lengths_.push_back(bm25_index::scored_length(key.exact_length, index.options_));
            index.keys_.push_back(std::move(key));
        }
        // Sums of many numbers differ by their order, and lengths that were taken out again leave rounding behind.
        if (!is_finite(index.total_length_) || !is_finite(total) ||
            std::abs(index.total_length_ - total) > 1e-6 * (total + 1.0))
            in.refuse(concat("the lengths sum up to ", total, " and not to ", index.total_length_));
    }

    static void read_term(bm25_index& index, byte_reader& in) {
        const auto number = static_cast<std::uint32_t>(index.terms_.size());
        const std::string_view text = in.text();
        if (!index.term_numbers_.emplace(text, number).second)
            in.refuse(concat("term ", detail::quoted(text), " is there twice"));
        const std::size_t count = in.count(8);
        const auto keys = in.numbers<std::uint32_t>(count);
        const auto frequencies = in.numbers<float>(count);
        bm25_index::term_data t;
        auto& first = t.first_positions;
        if (index.options_.positions) {
            first = in.numbers<std::uint32_t>(count);
            t.positions = in.numbers<std::uint32_t>(in.count(4));
        }
        if (count == 0 || (!first.empty() && first[0] != 0)) in.refuse(concat("term ", detail::quoted(text), " has no posting"));
        t.postings.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const bool ascending =
                i == 0 || (keys[i] > keys[i - 1] && (first.empty() || first[i] >= first[i - 1]));
            if (!ascending || keys[i] >= index.keys_.size() || !index.keys_[keys[i]].alive ||
                (!first.empty() && first[i] > t.positions.size()))
                in.refuse(concat("posting ", i, " of term ", detail::quoted(text), " names key ", keys[i]));
            if (!is_finite(frequencies[i]) || frequencies[i] <= 0.0f)
                in.refuse(concat("term ", detail::quoted(text), " occurs ", frequencies[i], " times"));
            t.postings.push_back({keys[i], frequencies[i]});
            t.codes.add(t.postings, [&](const auto& p) { return index.saturated(index.coded_, p); });
            t.best.add(frequencies[i], index.lengths_[keys[i]]);
        }
        index.postings_ += count;
        index.terms_.push_back(std::move(t));
    }

    // The terms of every key, counted first: a list that grew would be moved several times.
    static void list_terms(bm25_index& index) {
        std::vector<std::uint32_t> counts(index.keys_.size(), 0);
        for (const auto& t : index.terms_)
            for (const auto& p : t.postings) ++counts[p.key];
        for (std::size_t i = 0; i < counts.size(); ++i) index.keys_[i].terms.reserve(counts[i]);
        for (std::size_t number = 0; number < index.terms_.size(); ++number)
            for (const auto& p : index.terms_[number].postings)
                index.keys_[p.key].terms.push_back(static_cast<std::uint32_t>(number));
    }
};

// Dense rows in two sections: what a row is of, and the rows themselves, which are read into their place. `R` has
// `dimension`, `keys`, `next_key` and `stored`.
template <ProductScale S>
struct saved_rows {
    using held = typename dense_rows<S>::held;

    template <class R, class Out>
    static void write(const R& rows, byte_writer<Out>& out) {
        out.text(S::name);
        out.count(rows.dimension());
        out.number(static_cast<std::uint8_t>(rows.stored().format()));
        out.number(static_cast<std::uint32_t>(rows.next_key()));
        out.count(rows.keys().size());
        for (const held& key : rows.keys()) {
            out.number(static_cast<std::uint32_t>(key.unit));
            out.number(static_cast<std::uint32_t>(key.key));
        }
    }
    template <class R, class Out>
    static void write_matrix(const R& index, byte_writer<Out>& out) {
        const row_store& rows = index.stored();
        const std::size_t size = index.keys().size();
        for (std::size_t first = 0; first < size; first += rows.block()) {
            const std::size_t some = (std::min)(rows.block(), size - first);
            if (rows.format() == row_format::floats)
                out.numbers(rows.floats(first, some));
            else
                out.numbers(rows.halves(first, some));
        }
    }

    flat_options options{};
    key_id next{};
    std::vector<held> keys{};

    /// Errors  usage_error `store.fingerprint` for vectors of another width or scale.
    template <class Known>
    saved_rows(byte_reader& in, std::uint64_t matrix_bytes, std::size_t dimension, Known known) {
        if (const std::string_view scale = in.text(); scale != S::name)
            raise<usage_error>("store.fingerprint", concat("quarry: the file's vectors are on the ", detail::quoted(scale),
                                                           " scale, this index is on ", detail::quoted(S::name)));
        if (const auto width = in.number<std::uint64_t>(); width != dimension || dimension == 0)
            raise<usage_error>("store.fingerprint", concat("quarry: the file's vectors have dimension ", width,
                                                           ", the embedder's have ", dimension));
        options.rows = in.choice(row_format::halves, "format of rows");
        next = key_id{in.number<std::uint32_t>()};
        const std::size_t count = in.count(8);
        keys.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const unit_id unit = read_known_unit(in, known);
            keys.push_back({unit, key_id{in.number<std::uint32_t>()}});
        }
        const std::size_t row_bytes = row_store(dimension, options.rows).row_bytes();
        if (matrix_bytes % row_bytes != 0 || matrix_bytes / row_bytes != count)
            in.refuse(concat(count, " rows of ", row_bytes, " bytes are announced, and ", matrix_bytes, " bytes there"));
    }

    /// Reads a block of rows; `matrix` has `read(bytes)` as section_stream has.
    template <class Matrix>
    auto from(Matrix& matrix) const {
        return [size = options.rows == row_format::floats ? std::size_t{4} : 2, &matrix](std::span<char> rows) {
            matrix.read(rows);
            bring_into_order(rows, size);
        };
    }

   private:
    static void bring_into_order(std::span<char> numbers, std::size_t size) noexcept {
        if constexpr (std::endian::native == std::endian::big)
            for (; !numbers.empty(); numbers = numbers.subspan(size)) std::ranges::reverse(numbers.first(size));
        else
            static_cast<void>(numbers), static_cast<void>(size);
    }
};

template <ProductScale S>
struct saved<basic_flat_index<S>> {
    using index_type = basic_flat_index<S>;

    template <class Out>
    static void write(const index_type& index, byte_writer<Out> out) {
        saved_rows<S>::write(index.rows_, out);
    }
    template <class Out>
    static void write_matrix(const index_type& index, byte_writer<Out> out) {
        saved_rows<S>::write_matrix(index.rows_, out);
    }

    /// `matrix` has `left()`, and `read(bytes)` as section_stream has.
    ///
    /// Errors  usage_error `store.fingerprint` for vectors of another width or scale; data_error `dense.stored`.
    template <class Matrix, class Known>
    static index_type read(byte_reader in, Matrix matrix, std::size_t dimension, Known known) {
        const saved_rows<S> rows(in, matrix.left(), dimension, known);
        in.require_end();
        return index_type::restored_by(dimension, rows.keys, rows.next, rows.options, rows.from(matrix));
    }
};

}  // namespace QUARRY_NAMESPACE::detail
