// Save and load a graph index: its rows, and the links between them.
//
//     save("graph.quarry", index, {.made_with = {{"embedder", "model-a"}}});
//     const auto again = load_hnsw<hnsw_index>("graph.quarry", 384, {.made_with = {{"embedder", "model-a"}}});
//
// What was loaded answers as what was saved did, bit by bit, goes on like it, and saved again gives the same bytes. The
// levels of rows are not in the file: the seed decides them. Every link is compared with them before it is followed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/scale.hpp"
#include "../detail/floats.hpp"
#include "../detail/saved.hpp"
#include "../detail/text.hpp"
#include "../index/hnsw_index.hpp"
#include "bytes.hpp"
#include "container.hpp"
#include "fingerprints.hpp"
#include "save.hpp"
#include "saved_indexes.hpp"

namespace QUARRY_NAMESPACE {

/// Errors  those of files.hpp; the file that was there is then what it was.
template <ProductScale S>
durability save(const std::string& path, const basic_hnsw_index<S>& index, const store_options& options = {});

/// `Index` is hnsw_index or hnsw_product_index.
///
/// Cost    reading the file, and one step per row and link: nothing is linked again.
/// Memory  that of the index.
/// Errors  data_error `store.*`, `dense.stored` for a file that is damaged, cut off, of another version or none of ours;
///         usage_error `store.fingerprint` for one that something else made, with both names.
template <class Index>
Index load_hnsw(const std::string& path, std::size_t dimension, const store_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

template <ProductScale S>
struct saved<basic_hnsw_index<S>> {
    using index_type = basic_hnsw_index<S>;

    template <class Out>
    static void write(const index_type& index, byte_writer<Out> out) {
        saved_rows<S>::write(*index.rows_, out);
        const hnsw_options& o = index.options_;
        for (const std::size_t x : {o.m, o.ef_construction, o.ef, o.scan_below}) out.count(x);
        out.number(o.recall);
        out.number(o.seed);
        for (const std::size_t x : {index.ef_, index.tuned_at_, index.rows_->units().most()}) out.count(x);
        out.number(index.recall_);
        for (const bool dead : index.dead_) out.number(std::uint8_t{dead});
        out.numbers(index.rows_->sum());
    }
    template <class Out>
    static void write_matrix(const index_type& index, byte_writer<Out> out) {
        saved_rows<S>::write_matrix(*index.rows_, out);
    }
    template <class Out>
    static void write_links(const index_type& index, byte_writer<Out> out) {
        if (!index.graph_) return;
        const row_graph& graph = *index.graph_;
        for (std::uint32_t row = 0; row < graph.size(); ++row)
            for (int level = 0; level <= graph.level(row); ++level) {
                const auto links = level == 0 ? graph.links(row) : graph.links(row, level);
                out.number(static_cast<std::uint32_t>(links.size()));
                out.numbers(links);
            }
    }

    /// `matrix` has `left()`, and `read(bytes)` as section_stream has; no links: there is no graph.
    template <class Matrix>
    static index_type read(byte_reader in, Matrix matrix, byte_reader links, std::size_t dimension) {
        const saved_rows<S> rows(in, matrix.left(), dimension, [](unit_id) { return true; });
        if (rows.options.rows != row_format::floats) in.refuse("a graph index keeps its rows in floats");
        hnsw_options o;
        for (std::size_t* x : {&o.m, &o.ef_construction, &o.ef, &o.scan_below}) *x = read_size(in);
        o.recall = in.number<float>();
        o.seed = in.number<std::uint32_t>();
        index_type index = made_with(o, dimension, in);
        index.ef_ = read_size(in);
        index.tuned_at_ = read_size(in);
        if (index.tuned_at_ > index_of(rows.next)) in.refuse("a walk was measured with keys that were not given yet");
        const std::size_t most = read_size(in);
        index.recall_ = in.number<float>();
        if (index.ef_ == 0 || !is_finite(index.recall_) || index.recall_ < 0.0f || index.recall_ > 1.0f)
            in.refuse(concat("a walk that keeps ", index.ef_, " rows has a recall of ", index.recall_));
        if (rows.keys.size() > in.left()) in.refuse("not every row says whether it was removed");
        index.dead_.resize(rows.keys.size());
        for (std::size_t i = 0; i < index.dead_.size(); ++i) index.dead_[i] = in.flag();
        index.dead_count_ = static_cast<std::size_t>(std::ranges::count(index.dead_, true));
        const auto sums = in.numbers<double>(dimension);
        in.require_end();
        if (2 * index.dead_count_ > rows.keys.size()) in.refuse("more rows are removed than an index keeps");
        index.rows_->restore(rows.keys, rows.next, rows.from(matrix), [&](std::size_t i) { return index.dead_[i]; });
        restore_counts(index, sums, most, in);
        if (links.left() != 0) read_links(index, links);
        return index;
    }

   private:
    static std::size_t read_size(byte_reader& in) {
        const auto x = in.number<std::uint64_t>();
        if (x > SIZE_MAX) in.refuse("a size is none of this machine's");
        return static_cast<std::size_t>(x);
    }

    static index_type made_with(const hnsw_options& options, std::size_t dimension, const byte_reader& in) {
        try {
            return index_type(dimension, options);
        } catch (const usage_error& e) {
            in.refuse(e.what());
        }
    }

    // They are what they were and not what a sum of the rows would be, and believed where they are near.
    static void restore_counts(index_type& index, std::span<const double> sums, std::size_t most,
                               const byte_reader& in) {
        const auto found = index.rows_->sum();
        const double rounding = 1e-9 * (1.0 + index.rows_->longest()) * static_cast<double>(index.dead_.size() + 1);
        for (std::size_t j = 0; j < sums.size(); ++j)
            if (!is_finite(sums[j]) || std::abs(sums[j] - found[j]) > rounding)
                in.refuse("the sums are not those of the rows");
        if (most < index.rows_->units().most() || most > index.dead_.size())
            in.refuse(concat("a unit has at most ", most, " keys, and one has ", index.rows_->units().most()));
        index.rows_->restore_counts(sums, most);
    }

    static void read_links(index_type& index, byte_reader& in) {
        const std::size_t count = index.rows_->size();
        if (count < 2 || !index.walkable() || count > in.left() / sizeof(std::uint32_t))
            in.refuse(concat("there is no graph of ", count, " such rows"));
        auto graph = std::make_unique<row_graph>(index.options_.m, index.options_.seed);
        graph->restore(count, [&](std::uint32_t i) -> bool { return index.dead_[i]; }, [&](const std::vector<int>& levels, std::uint32_t row, int level, std::uint32_t* to) {
            const auto links = in.number<std::uint32_t>();
            if (links > graph->most_links(level)) in.refuse(concat("row ", row, " has ", links, " links"));
            for (const std::uint32_t other : in.numbers<std::uint32_t>(links)) {
                if (other >= count || levels[other] < level || other == row)
                    in.refuse(concat("row ", row, " is linked with ", other, " on level ", level));
                *to++ = other;
            }
            return links;
        });
        in.require_end();
        for (std::uint32_t row = 0; row < count; ++row) index.leaving_ += index.dead_[row] && graph->is_linked(row);
        index.graph_ = std::move(graph);
    }
};

}  // namespace detail

template <ProductScale S>
durability save(const std::string& path, const basic_hnsw_index<S>& index, const store_options& options) {
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(options.made_with, detail::byte_writer(out));
        detail::write_vectors(out, "graph", index);
        out.section("links");
        detail::saved<basic_hnsw_index<S>>::write_links(index, detail::byte_writer(out));
    });
}

template <class Index>
Index load_hnsw(const std::string& path, std::size_t dimension, const store_options& options) {
    return detail::read_container(path, options, [&](container& file) {
        detail::require_same(detail::read_fingerprints(file.read("made with")), options.made_with);
        return detail::saved<Index>::read(file.read("graph"), file.stream("graph matrix"), file.read("links"),
                                          dimension);
    });
}

}  // namespace QUARRY_NAMESPACE
