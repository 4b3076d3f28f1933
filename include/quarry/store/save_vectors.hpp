// Save and load one index of vectors, for whoever keeps texts elsewhere.
//
//     save("vectors.quarry", index, {.made_with = {{"embedder", "model-a"}}});
//     const auto again = load_vectors<flat_index>("vectors.quarry", 384, {.made_with = {{"embedder", "model-a"}}});
//
// What was loaded answers as what was saved did, bit by bit, and saved again gives the same bytes.
#pragma once

#include <string>
#include <utility>

#include "../config.hpp"
#include "../core/scale.hpp"
#include "../index/flat_index.hpp"
#include "container.hpp"
#include "fingerprints.hpp"
#include "save.hpp"
#include "saved_indexes.hpp"

namespace QUARRY_NAMESPACE {

/// Errors  those of files.hpp; the file that was there is then what it was.
template <ProductScale S>
durability save(const std::string& path, const basic_flat_index<S>& index, const store_options& options = {}) {
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(options.made_with, detail::byte_writer(out));
        detail::write_vectors(out, "vectors", index);
    });
}

/// Reads an index back: `Index` is flat_index or flat_product_index, floats or half floats as they were saved.
///
/// Cost    about two and a half times reading the file: rows are read into their place, and checked and coded in bytes and
///         half bytes while they are in the cache.
/// Memory  that of the index.
/// Errors  data_error `store.*`, `dense.stored` for a file that is damaged, cut off, of another version or none of ours;
///         usage_error `store.fingerprint` for one that something else made, with both names.
template <class Index>
Index load_vectors(const std::string& path, std::size_t dimension, const store_options& options = {}) {
    return detail::read_container(path, options, [&](container& file) {
        detail::require_same(detail::read_fingerprints(file.read("made with")), options.made_with);
        return detail::read_vectors<Index>(file, "vectors", dimension, [](unit_id) { return true; });
    });
}

}  // namespace QUARRY_NAMESPACE
