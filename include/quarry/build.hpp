// Build: a corpus, an expander and an embedder become filled indexes.
//
//     const auto kb = build(articles, identity{}, embed);
//     auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed));
//
// One build fills one population of keys. For titles and bodies build twice and fuse: their scores are not comparable.
// The report says what it took and what nothing can find.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
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
#include "expand/asked.hpp"
#include "expand/expansion.hpp"
#include "expand/key_expander.hpp"
#include "index/bm25_index.hpp"
#include "index/flat_index.hpp"
#include "model/embedder.hpp"

namespace QUARRY_NAMESPACE {

struct build_options {
    analyzer words = english();
    bm25_options bm25{};
    flat_options vectors{};
    std::size_t batch = 256;  // texts per call of the embedder; at least 1
    std::stop_token stop{};   // stopping throws `cancelled`, `build.stopped`
    std::function<void(std::size_t done, std::size_t total)> progress{};  // keys embedded so far
    std::function<std::chrono::steady_clock::time_point()> now{};         // null: the steady clock
};

/// How long each stage of a build took.
struct build_times {
    using duration = std::chrono::steady_clock::duration;

    duration keys{};       // the expander, with the models that it asks
    duration words{};      // analysing and indexing
    duration embedding{};  // calls of the embedder
    duration vectors{};    // indexing them
};

/// What a build did, and what it could not reach.
struct build_report {
    std::size_t units = 0;                     // asked about
    std::size_t keys = 0;                      // indexed
    std::map<key_part, std::size_t> parts{};   // keys by what they are of their unit
    std::vector<unit_id> units_without_key{};  // of those asked about: nothing can find them
    std::size_t keys_without_vector = 0;       // the embedder knew nothing of their text
    std::size_t keys_cut = 0;                  // longer than the embedder reads, as it says itself: chunks are its cure
    std::size_t embedder_calls = 0;
    expansion_report expansion{};  // what asking models for keys took: calls, cost, failures by their kind
    build_times times{};

    // Bytes held.
    std::size_t bytes_of_keys = 0, bytes_of_bm25 = 0, bytes_of_vectors = 0;
};

/// An index of words over a source.
struct lexical_base {
    indexed<bm25_index> bm25;
    build_report report;
};

/// An index of vectors over a source.
struct dense_base {
    indexed<flat_index> vectors;
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

/// Which keys are of use to a build.
enum class key_use : std::uint8_t {
    any,
    vectors,  // those that have a text to embed
};

/// The keys that `expand(source, unit, emit)` gives for these units, in their order. Keys without words and repetitions
/// within a unit are left out.
///
/// Errors  usage_error `expand.foreign_unit` for a key of a unit that is neither the one asked about nor above it.
template <class Expand>
std::vector<key> keys_of(source_ref source, std::span<const unit_id> units, const Expand& expand, build_report& report,
                         key_use use = key_use::any) {
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
            // A key of words alone is no repetition of one with the same text: marked by a byte that no text begins
            // with.
            std::string name = k.text;
            if (is_blank(name)) {
                if (use == key_use::vectors) return;
                name.clear();
                for (const weighted_text& field : k.lexical) name += field.text;
                if (is_blank(name)) return;
                name.insert(name.begin(), '\0');
            }
            found = true;
            if (!seen.emplace(k.unit, std::move(name)).second) return;
            ++report.parts[k.part];
            keys.push_back(std::move(k));
        });
        if (!found) report.units_without_key.push_back(unit);
    }
    report.keys = keys.size();
    return keys;
}

/// Tells the time since it was made or last asked.
class stopwatch {
   public:
    explicit stopwatch(const build_options& options) : now_(options.now), last_(time()) {}

    build_times::duration lap() {
        const auto begin = std::exchange(last_, time());
        return last_ - begin;
    }

   private:
    std::chrono::steady_clock::time_point time() const { return now_ ? now_() : std::chrono::steady_clock::now(); }

    std::function<std::chrono::steady_clock::time_point()> now_;
    std::chrono::steady_clock::time_point last_;
};

/// The expander's keys for all units of its level. One that prepares is shown them all first.
template <KeyExpander X>
std::vector<key> keys_of_all(source_ref source, const X& expander, const build_options& options, build_report& report,
                             key_use use = key_use::any) {
    const std::vector<unit_id> units = units_of(source, expander.level());
    report.units = units.size();
    if constexpr (PreparingExpander<X>) {
        const auto prepared = expander.prepare(source, std::span<const unit_id>(units), expansion_run{options.stop});
        report.expansion = prepared.report();
        return keys_of(source, units, prepared, report, use);
    } else {
        return keys_of(source, units, expander, report, use);
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

/// Vectors of keys, numbered on from the first that has one.
struct embedded_keys {
    flat_index vectors;
    std::vector<bool> has_vector;  // by key
};

template <Embedder E>
embedded_keys embed_keys(const std::vector<key>& keys, const E& embedder, const build_options& options,
                         build_report& report, stopwatch& watch) {
    const std::size_t batch = (std::max)(options.batch, std::size_t{1}), d = embedder.dimension();
    embedded_keys out{flat_index(d, options.vectors), std::vector<bool>(keys.size(), false)};
    std::vector<std::size_t> embedded;  // keys with a text; the others are for words alone
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (!is_blank(keys[i].text)) embedded.push_back(i);
    for (std::size_t first = 0; first < embedded.size(); first += batch) {
        if (options.stop.stop_requested())
            raise<cancelled>("build.stopped",
                             concat("quarry::build: stopped after ", first, " of ", embedded.size(), " keys"));
        const auto some = std::span(embedded).subspan(first, (std::min)(batch, embedded.size() - first));
        std::vector<std::string_view> texts;
        for (const std::size_t i : some) texts.push_back(keys[i].text);
        const std::vector<float> rows = embed_checked(embedder, role::document, texts, d);
        ++report.embedder_calls;
        report.times.embedding += watch.lap();
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::span<const float> row = std::span(rows).subspan(i * d, d);
            out.has_vector[some[i]] = !std::ranges::all_of(row, [](float x) { return x == 0.0f; });
            if (out.has_vector[some[i]]) out.vectors.add(keys[some[i]].unit, row);
            else ++report.keys_without_vector;
            report.keys_cut += reads_whole(embedder, texts[i]) ? 0 : 1;
        }
        report.times.vectors += watch.lap();
        if (options.progress) options.progress(first + some.size(), embedded.size());
    }
    return out;
}

/// The keys that have a vector; `all`, if that is every one.
inline std::shared_ptr<const key_table> table_of(const std::vector<key>& keys, const embedded_keys& embedded,
                                                 const std::shared_ptr<const key_table>& all) {
    if (std::ranges::all_of(embedded.has_vector, std::identity{})) return all;
    return table_of(keys, all->kind(), &embedded.has_vector);
}

}  // namespace detail

/// Fills an index of words. The source must outlive what is returned.
template <UnitSource S, KeyExpander X>
lexical_base build(const S& source, const X& expander, const build_options& options = {}) {
    build_report report;
    detail::stopwatch watch(options);
    const std::vector<key> keys = detail::keys_of_all(source, expander, options, report);
    report.times.keys = watch.lap();
    const auto table = detail::table_of(keys, expander.kind());
    lexical_base out{{detail::index_words(keys, options), source, table}, std::move(report)};
    out.report.times.words = watch.lap();
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
    detail::stopwatch watch(options);
    const std::vector<key> keys = detail::keys_of_all(source, expander, options, report);
    report.times.keys = watch.lap();
    // Words first: what can go wrong with them should do so before anything is paid for.
    bm25_index words = detail::index_words(keys, options);
    report.times.words = watch.lap();
    detail::embedded_keys embedded = detail::embed_keys(keys, embedder, options, report, watch);
    const auto table = detail::table_of(keys, expander.kind());
    const auto dense_table = detail::table_of(keys, embedded, table);
    knowledge_base out{
        {std::move(words), source, table}, {std::move(embedded.vectors), source, dense_table}, std::move(report)};
    out.report.bytes_of_keys = table->memory() + (dense_table == table ? 0 : dense_table->memory());
    out.report.bytes_of_bm25 = out.bm25.index.memory();
    out.report.bytes_of_vectors = out.vectors.index.memory();
    return out;
}

/// Fills an index of vectors alone, as `build` does. Keys of words alone are left out.
template <UnitSource S, KeyExpander X, Embedder E>
dense_base build_vectors(const S& source, const X& expander, const E& embedder, const build_options& options = {}) {
    build_report report;
    detail::stopwatch watch(options);
    const std::vector<key> keys =
        detail::keys_of_all(source, expander, options, report, detail::key_use::vectors);
    report.times.keys = watch.lap();
    detail::embedded_keys embedded = detail::embed_keys(keys, embedder, options, report, watch);
    const auto table = detail::table_of(keys, embedded, detail::table_of(keys, expander.kind()));
    dense_base out{{std::move(embedded.vectors), source, table}, std::move(report)};
    out.report.bytes_of_keys = table->memory();
    out.report.bytes_of_vectors = out.vectors.index.memory();
    return out;
}

template <UnitSource S, class... Rest>
void build(const S&&, const Rest&...) = delete;  // a temporary source would dangle: give it a name first
template <UnitSource S, class... Rest>
void build_vectors(const S&&, const Rest&...) = delete;  // the same

}  // namespace QUARRY_NAMESPACE
