// Key indexes: the concepts every index satisfies, ours or an engine's.
//
// An index holds the keys of one kind and the unit of each key. It does not know the corpus. Larger scores are better,
// whatever the library underneath measures.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "ids.hpp"
#include "key.hpp"
#include "scale.hpp"
#include "source.hpp"
#include "unit_set.hpp"

namespace QUARRY_NAMESPACE {

/// A key that was found, the unit it stands for, and its score.
struct scored_key {
    unit_id unit;
    key_id key;
    float score;

    friend bool operator==(const scored_key&, const scored_key&) = default;
};

/// The order of every list in this library: score descending, then unit id, then key id.
///
/// Requires  scores that are not NaN; they are refused where they come in.
constexpr bool better(const scored_key& a, const scored_key& b) noexcept {
    if (a.score != b.score) return a.score > b.score;
    return std::tie(a.unit, a.key) < std::tie(b.unit, b.key);
}

namespace detail {
struct better_key {
    constexpr bool operator()(const scored_key& a, const scored_key& b) const noexcept { return better(a, b); }
};
}  // namespace detail

/// What BM25 and its relatives are asked: words, and optional conditions on them.
struct lexical_probe {
    std::string_view text;
    std::span<const std::string> required{};   // each must occur
    std::span<const std::string> forbidden{};  // none may occur
    std::span<const std::string> phrases{};    // each must occur word by word, in this order
};

using dense_probe = std::span<const float>;

/// Finds keys. Const calls may overlap as long as nobody changes the index.
template <class I, class Probe>
concept KeyIndex = requires(const I& index, const Probe& probe, std::size_t n, const accept& allowed) {
    requires Scale<typename I::scale>;
    { index.size() } -> std::same_as<std::size_t>;                  // keys held
    { index.most_keys_of_a_unit() } -> std::same_as<std::size_t>;   // for the pigeonhole bound; 0 if empty
    { index.search(probe, n, allowed) } -> std::same_as<std::vector<scored_key>>;  // at most n, best first
};

/// Over vectors of one width.
template <class I>
concept DenseIndex = KeyIndex<I, dense_probe> && requires(const I& index, unit_id unit, std::span<float> row) {
    { index.dimension() } -> std::same_as<std::size_t>;
    { index.vector_of(unit, row) } -> std::same_as<bool>;  // the unit's first key; false if it has none
};

/// Over words.
template <class I>
concept SparseIndex = KeyIndex<I, lexical_probe>;

/// How an index came to an answer, where it had a choice.
enum class search_plan : std::uint8_t {
    scan_all,       // every row was looked at
    scan_allowed,   // every row that the filter lets through
    walk,           // a graph was walked, without a filter
    walk_filtered,  // a graph was walked, and what the filter lets through was kept
    walk_two_hop,   // a graph was walked over what the filter lets through, past one row at a time that it does not
};

constexpr std::string_view name_of(search_plan plan) noexcept {
    constexpr std::string_view names[] = {"scan", "scan of the allowed", "walk", "filtered walk", "two-hop walk"};
    return names[static_cast<std::size_t>(plan)];
}

/// Why.
enum class plan_reason : std::uint8_t {
    no_graph,     // there is none, or its order would mean nothing for this probe
    cheaper,      // it was expected to cost the least, by how many are allowed
    cheaper_here, // the same, by how many of those near the probe are
    walk_cost,    // a walk had already cost as much
    walk_short,   // a walk had found too few
};

constexpr std::string_view name_of(plan_reason reason) noexcept {
    constexpr std::string_view names[] = {"there is no graph", "cheapest for so many", "cheapest for those near the question",
                                          "a walk cost as much", "a walk found too few"};
    return names[static_cast<std::size_t>(reason)];
}

struct search_report {
    search_plan plan = search_plan::scan_all;
    std::size_t scored = 0;  // rows whose scores were found or estimated
    bool complete = true;    // the answer is that of a scan
    plan_reason reason = plan_reason::no_graph;
};

/// Can also report how it came to an answer. A filtered walk that a scan had to finish reports the scan.
template <class I, class Probe>
concept ReportingIndex =
    KeyIndex<I, Probe> && requires(const I& i, const Probe& p, std::size_t n, accept allowed, search_report& report) {
        { i.search(p, n, allowed, report) } -> std::same_as<std::vector<scored_key>>;
    };

/// Can also score units that somebody else found: the best key of each, in the order given; `no_key` and the scale's
/// meaning of nothing where the index does not hold the unit.
template <class I, class Probe>
concept ScoringIndex = KeyIndex<I, Probe> && requires(const I& i, const Probe& p, std::span<const unit_id> units) {
    { i.score(p, units) } -> std::same_as<std::vector<scored_key>>;
};

/// Can also say between which scores this probe is meaningful (see score_bounds).
template <class I, class Probe>
concept BoundedIndex = ScoringIndex<I, Probe> && requires(const I& i, const Probe& p) {
    { i.bounds(p) } -> std::same_as<score_bounds>;
};

/// An index with its keys and the source of its units: what `build` hands out and leaves are made from.
///
/// The source must outlive it. Leaves refer to the whole, so it must not move once a leaf was made.
template <class I>
struct indexed {
    I index;
    source_ref source;
    std::shared_ptr<const key_table> keys{};  // null: hits cannot show their key's words
};

namespace detail {

// How many keys must be asked for so that k units are certain? If one unit owns at most m keys, k - 1 units can hide at
// most m (k - 1) of them, so one more must belong to a k-th unit. The bound is met with equality, so nothing smaller is
// safe. Saturates: k may be anything.
constexpr std::size_t keys_needed(std::size_t k, std::size_t most_keys_of_a_unit, std::size_t size) noexcept {
    if (k == 0 || size == 0) return 0;
    const std::size_t m = (std::max)(most_keys_of_a_unit, std::size_t{1});
    return k - 1 > (size - 1) / m ? size : m * (k - 1) + 1;
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
