// Build: a corpus, an expander and an embedder become filled indexes.
//
//     const auto kb = build(articles, identity{}, embed);
//     auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed));
//
// One build fills one population of keys. For titles and bodies build twice and fuse: their scores are not comparable.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config.hpp"
#include "core/corpus.hpp"
#include "core/error.hpp"
#include "core/key.hpp"
#include "core/key_index.hpp"
#include "expand/expansion.hpp"
#include "expand/key_expander.hpp"
#include "index/bm25_index.hpp"
#include "index/flat_index.hpp"
#include "model/embedder.hpp"

namespace QUARRY_NAMESPACE {

struct build_options {
    analyzer words = english();
    bm25_options bm25{};
    std::size_t batch = 256;  // texts per call of the embedder; at least 1
    std::stop_token stop{};   // stopping throws `cancelled`, `build.stopped`
    std::function<void(std::size_t done, std::size_t total)> progress{};  // keys embedded so far
};

/// What a build did, and what it could not reach.
struct build_report {
    std::size_t units = 0;                     // asked about
    std::size_t keys = 0;                      // indexed
    std::vector<unit_id> units_without_key{};  // of those asked about: nothing can find them
    std::size_t keys_without_vector = 0;       // the embedder knew nothing of their text
    std::size_t embedder_calls = 0;
    expansion_report expansion{};  // what asking models for keys took

    // Bytes held.
    std::size_t bytes_of_keys = 0, bytes_of_bm25 = 0, bytes_of_vectors = 0;
};

/// An index of words over a source.
struct lexical_base {
    indexed<bm25_index> bm25;
    build_report report;
};

/// Indexes of words and of vectors over the same keys.
struct knowledge_base {
    indexed<bm25_index> bm25;
    indexed<flat_index> vectors;
    build_report report;
};

namespace detail {

inline bool is_blank(std::string_view text) noexcept { return trimmed(text).empty(); }

/// The keys that `expand(source, unit, emit)` gives for these units, in their order. Keys without words and repetitions
/// within a unit are left out.
///
/// Errors  usage_error `expand.foreign_unit` for a key of a unit that is neither the one asked about nor above it.
template <class Expand>
std::vector<key> keys_of(source_ref source, std::span<const unit_id> units, const Expand& expand, build_report& report) {
    std::vector<key> keys;
    std::set<std::pair<unit_id, std::string>> seen;
    for (const unit_id unit : units) {
        seen.clear();
        bool found = false;
        expand(source, unit, [&](key k) {
            bool related = false;
            for (std::optional<unit_id> up = unit; up && !related; up = source.parent(*up)) related = *up == k.unit;
            if (!related)
                raise<usage_error>("expand.foreign_unit",
                                   concat("quarry::build: asked about unit ", index_of(unit),
                                          ", the expander gave a key for unit ", index_of(k.unit)));
            // A key of words alone is no repetition of one with the same text: marked by a byte that no text begins with.
            std::string name = k.text;
            if (is_blank(name)) {
                name.clear();
                for (const weighted_text& field : k.lexical) name += field.text;
                if (is_blank(name)) return;
                name.insert(name.begin(), '\0');
            }
            found = true;
            if (seen.emplace(k.unit, std::move(name)).second) keys.push_back(std::move(k));
        });
        if (!found) report.units_without_key.push_back(unit);
    }
    report.keys = keys.size();
    return keys;
}

/// The expander's keys for all units of its level. One that prepares is shown them all first.
template <KeyExpander X>
std::vector<key> keys_of_all(source_ref source, const X& expander, const build_options& options, build_report& report) {
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < source.size(); ++i)
        if (source.kind(unit_at(i)) == expander.level()) units.push_back(unit_at(i));
    report.units = units.size();
    if constexpr (PreparingExpander<X>) {
        const auto prepared = expander.prepare(source, std::span<const unit_id>(units), expansion_run{options.stop});
        report.expansion = prepared.report();
        return keys_of(source, units, prepared, report);
    } else {
        return keys_of(source, units, expander, report);
    }
}

inline bm25_index index_words(const std::vector<key>& keys, const build_options& options) {
    bm25_index index(options.words, options.bm25);
    for (const key& k : keys) {
        if (k.lexical.empty()) index.add(k.unit, k.text);
        else index.add(k.unit, k.lexical);
    }
    return index;
}

inline std::shared_ptr<const key_table> table_of(const std::vector<key>& keys, key_kind kind,
                                                 const std::vector<bool>* kept = nullptr) {
    auto table = std::make_shared<key_table>(kind);
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (!kept || (*kept)[i]) table->add(keys[i]);
    return table;
}

}  // namespace detail

/// Fills an index of words. The source must outlive what is returned.
template <UnitSource S, KeyExpander X>
lexical_base build(const S& source, const X& expander, const build_options& options = {}) {
    build_report report;
    const std::vector<key> keys = detail::keys_of_all(source, expander, options, report);
    const auto table = detail::table_of(keys, expander.kind());
    lexical_base out{{detail::index_words(keys, options), source, table}, std::move(report)};
    out.report.bytes_of_keys = table->memory();
    out.report.bytes_of_bm25 = out.bm25.index.memory();
    return out;
}

/// Fills an index of words and one of vectors. The source must outlive what is returned.
///
/// Order   keys are numbered in the order of the units, whatever the embedder's batches.
/// Cost    ceil(keys / batch) calls of the embedder.
/// Errors  those of the expander, the embedder and the indexes; nothing is returned then.
template <UnitSource S, KeyExpander X, Embedder E>
knowledge_base build(const S& source, const X& expander, const E& embedder, const build_options& options = {}) {
    build_report report;
    const std::vector<key> keys = detail::keys_of_all(source, expander, options, report);
    // Words first: what can go wrong with them should do so before anything is paid for.
    bm25_index words = detail::index_words(keys, options);
    const std::size_t batch = (std::max)(options.batch, std::size_t{1}), d = embedder.dimension();
    flat_index vectors(d);
    std::vector<bool> has_vector(keys.size(), false);
    std::vector<std::size_t> embedded;  // keys with a text; the others are for words alone
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (!detail::is_blank(keys[i].text)) embedded.push_back(i);
    for (std::size_t first = 0; first < embedded.size(); first += batch) {
        if (options.stop.stop_requested())
            detail::raise<cancelled>("build.stopped", detail::concat("quarry::build: stopped after ", first, " of ",
                                                                     embedded.size(), " keys"));
        const auto some = std::span(embedded).subspan(first, (std::min)(batch, embedded.size() - first));
        std::vector<std::string_view> texts;
        for (const std::size_t i : some) texts.push_back(keys[i].text);
        const std::vector<float> rows = detail::embed_checked(embedder, role::document, texts, d);
        ++report.embedder_calls;
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::span<const float> row = std::span(rows).subspan(i * d, d);
            has_vector[some[i]] = !std::ranges::all_of(row, [](float x) { return x == 0.0f; });
            if (has_vector[some[i]]) vectors.add(keys[some[i]].unit, row);
            else ++report.keys_without_vector;
        }
        if (options.progress) options.progress(first + some.size(), embedded.size());
    }
    const auto table = detail::table_of(keys, expander.kind());
    const bool all_embedded = std::ranges::all_of(has_vector, std::identity{});
    const auto dense_table = all_embedded ? table : detail::table_of(keys, expander.kind(), &has_vector);
    knowledge_base out{{std::move(words), source, table}, {std::move(vectors), source, dense_table}, std::move(report)};
    out.report.bytes_of_keys = table->memory() + (dense_table == table ? 0 : dense_table->memory());
    out.report.bytes_of_bm25 = out.bm25.index.memory();
    out.report.bytes_of_vectors = out.vectors.index.memory();
    return out;
}

template <UnitSource S, class... Rest>
void build(const S&&, const Rest&...) = delete;  // a temporary source would dangle: give it a name first

}  // namespace QUARRY_NAMESPACE
