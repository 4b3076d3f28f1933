// Save and load: a corpus with its indexes in one file, and back.
//
//     save("kb.quarry", articles, kb, embed);
//     ...
//     const auto again = load("kb.quarry", embed);                  // nothing is embedded, analysed or parsed
//     auto search = hybrid(lexical(again->kb.bm25), dense(again->kb.vectors, embed));
//
// What was loaded answers as what was saved did, bit by bit, and saved again gives the same bytes. A file of another
// embedder or analyzer is refused. The build's report is not saved.
//
// The surprising thing: save() may succeed and say `durability::unconfirmed`, see files.hpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../build.hpp"
#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "container.hpp"
#include "files.hpp"
#include "fingerprints.hpp"
#include "saved_corpus.hpp"
#include "saved_indexes.hpp"

namespace QUARRY_NAMESPACE {

struct store_options {
    fingerprints made_with{};      // what else must be the same: chunker, expander, versions of prompts
    file_system* files = nullptr;  // null: the operating system's
};

struct load_options : store_options {
    analyzer words = english();
};

/// A corpus and its indexes, which refer to it: it stays where it is.
template <class Base>
struct loaded {
    corpus articles;
    Base kb;

    /// `make` gives the base over the corpus in its place.
    template <class Make>
    loaded(corpus c, Make make) : articles(std::move(c)), kb(make(std::as_const(articles))) {}
    loaded(const loaded&) = delete;
    loaded& operator=(const loaded&) = delete;
};

/// Writes a file, or leaves the one that is there as it was.
///
/// Errors  usage_error `store.foreign` if the indexes are over another source; those of files.hpp.
template <Embedder E>
durability save(const std::string& path, const corpus& articles, const knowledge_base& kb, const E& embedder,
                const store_options& options = {});
template <Embedder E>
durability save(const std::string& path, const corpus& articles, const dense_base& kb, const E& embedder,
                const store_options& options = {});
durability save(const std::string& path, const corpus& articles, const lexical_base& kb,
                const store_options& options = {});

/// Reads a file back.
///
/// Cost    reading it, and one step per unit, term and posting; rows are read into their place.
/// Memory  what is made of it, and one section at a time that is no matrix of rows.
/// Errors  data_error `store.*` for a file that is damaged, cut off, of another version or none of ours; usage_error
///         `store.fingerprint` for one that something else made, with both names.
template <Embedder E>
std::unique_ptr<const loaded<knowledge_base>> load(const std::string& path, const E& embedder,
                                                   const load_options& options = {});
/// The vectors of a base, whether it was saved with words or without.
template <Embedder E>
std::unique_ptr<const loaded<dense_base>> load_dense(const std::string& path, const E& embedder,
                                                     const store_options& options = {});
std::unique_ptr<const loaded<lexical_base>> load_lexical(const std::string& path, const load_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

template <class Use>
auto with_files(const store_options& options, Use use) {
    if (options.files) return use(*options.files);
    system_files system;
    return use(static_cast<file_system&>(system));
}

/// What `use(container&)` makes of a file, once all of it was verified.
template <class Use>
auto read_container(const std::string& path, const store_options& options, Use use) {
    return with_files(options, [&](file_system& files) {
        const auto opened = files.read(path);
        container file(*opened);
        auto made = use(file);
        file.verify();
        return made;
    });
}

template <class T>
void write_section(container_writer& out, std::string name, const T& value) {
    out.section(std::move(name));
    saved<T>::write(value, byte_writer(out));
}

/// An index of vectors and, behind it, its rows.
template <class Index>
void write_vectors(container_writer& out, const std::string& name, const Index& index) {
    write_section(out, name, index);
    out.section(name + " matrix");
    saved<Index>::write_matrix(index, byte_writer(out));
}
template <class Index, class Known>
Index read_vectors(container& file, const std::string& name, std::size_t dimension, Known known) {
    return saved<Index>::read(file.read(name), file.stream(name + " matrix"), dimension, known);
}

template <class Write>
durability save_container(const std::string& path, const store_options& options, Write write) {
    return with_files(options, [&](file_system& files) {
        return replace_file(files, path, [&](writable_file& file) {
            container_writer out([&](std::span<const char> bytes) { file.write(bytes); });
            write(out);
            out.finish();
        });
    });
}

template <Embedder E>
fingerprints of_embedder(fingerprints f, const E& embedder) {
    return std::move(f.set("embedder", embedder_name(embedder)).set("dimension", std::to_string(embedder.dimension())));
}

inline void require_own(const source_ref& source, const corpus& articles) {
    if (!(source == source_ref(articles)))
        raise<usage_error>("store.foreign", "quarry::save: the indexes are over another source than this corpus");
}

inline void write_lexical(container_writer& out, const corpus& articles, const indexed<bm25_index>& words) {
    require_own(words.source, articles);
    write_section(out, "corpus", articles);
    if (words.keys) write_section(out, "keys", *words.keys);
    write_section(out, "bm25", words.index);
}

/// `words`: the keys of words that were written before, if any; most bases have one table for both indexes.
inline void write_dense(container_writer& out, const corpus& articles, const indexed<flat_index>& vectors,
                        const std::shared_ptr<const key_table>& words = nullptr) {
    require_own(vectors.source, articles);
    if (vectors.keys && vectors.keys != words) write_section(out, "keys of vectors", *vectors.keys);
    write_vectors(out, "vectors", vectors.index);
}

inline std::shared_ptr<const key_table> read_keys(container& file, std::string_view name,
                                                  const corpus& articles) {
    if (!file.has(name)) return nullptr;
    return std::make_shared<const key_table>(
        saved<key_table>::read(file.read(name), [&](unit_id unit) { return index_of(unit) < articles.size(); }));
}

inline indexed<bm25_index> read_lexical(container& file, const corpus& articles, const analyzer& words) {
    const auto known = [&](unit_id unit) { return index_of(unit) < articles.size(); };
    return {saved<bm25_index>::read(file.read("bm25"), words, known), articles, read_keys(file, "keys", articles)};
}

/// `words`: the keys of words, if they were read.
inline indexed<flat_index> read_dense(container& file, const corpus& articles, std::size_t dimension,
                                      const std::shared_ptr<const key_table>& words = nullptr) {
    auto keys = read_keys(file, "keys of vectors", articles);
    if (!keys) keys = words ? words : read_keys(file, "keys", articles);
    const auto known = [&](unit_id unit) { return index_of(unit) < articles.size(); };
    return {read_vectors<flat_index>(file, "vectors", dimension, known), articles, std::move(keys)};
}

/// Opens a file and gives the base that `read(file, corpus)` makes, once all of it was verified.
template <class Base, class Read>
std::unique_ptr<const loaded<Base>> load_base(const std::string& path, const store_options& options,
                                              const fingerprints& made_with, Read read) {
    return read_container(path, options, [&](container& file) {
        require_same(read_fingerprints(file.read("made with")), made_with);
        return std::make_unique<const loaded<Base>>(saved<corpus>::read(file.read("corpus")),
                                                    [&](const corpus& articles) { return read(file, articles); });
    });
}

}  // namespace detail

template <Embedder E>
durability save(const std::string& path, const corpus& articles, const knowledge_base& kb, const E& embedder,
                const store_options& options) {
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(detail::of_embedder(options.made_with, embedder), detail::byte_writer(out));
        detail::write_lexical(out, articles, kb.bm25);
        detail::write_dense(out, articles, kb.vectors, kb.bm25.keys);
    });
}

template <Embedder E>
durability save(const std::string& path, const corpus& articles, const dense_base& kb, const E& embedder,
                const store_options& options) {
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(detail::of_embedder(options.made_with, embedder), detail::byte_writer(out));
        detail::write_section(out, "corpus", articles);
        detail::write_dense(out, articles, kb.vectors);
    });
}

inline durability save(const std::string& path, const corpus& articles, const lexical_base& kb,
                       const store_options& options) {
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(options.made_with, detail::byte_writer(out));
        detail::write_lexical(out, articles, kb.bm25);
    });
}

template <Embedder E>
std::unique_ptr<const loaded<knowledge_base>> load(const std::string& path, const E& embedder,
                                                   const load_options& options) {
    const auto made_with = detail::of_embedder(options.made_with, embedder);
    return detail::load_base<knowledge_base>(path, options, made_with, [&](container& file, const corpus& articles) {
        auto words = detail::read_lexical(file, articles, options.words);
        auto vectors = detail::read_dense(file, articles, embedder.dimension(), words.keys);
        return knowledge_base{std::move(words), std::move(vectors), {}};
    });
}

template <Embedder E>
std::unique_ptr<const loaded<dense_base>> load_dense(const std::string& path, const E& embedder,
                                                     const store_options& options) {
    const auto made_with = detail::of_embedder(options.made_with, embedder);
    return detail::load_base<dense_base>(path, options, made_with, [&](container& file, const corpus& articles) {
        return dense_base{detail::read_dense(file, articles, embedder.dimension()), {}};
    });
}

inline std::unique_ptr<const loaded<lexical_base>> load_lexical(const std::string& path, const load_options& options) {
    return detail::load_base<lexical_base>(path, options, options.made_with, [&](container& file, const corpus& articles) {
        return lexical_base{detail::read_lexical(file, articles, options.words), {}};
    });
}

}  // namespace QUARRY_NAMESPACE
