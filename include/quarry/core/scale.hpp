// Scales: what a score means, as a type.
//
// A cosine of .3 and a BM25 score of .3 are different statements. A floor written for one scale does not compile on
// another, so a threshold cannot land on fused ranks by accident. On every scale larger is better.
#pragma once

#include <concepts>
#include <limits>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

namespace detail {
inline constexpr float unbounded = std::numeric_limits<float>::infinity();
}

/// A scale names itself and states its bounds; `lowest` and `highest` may be infinite where a bound does not exist.
template <class S>
concept Scale = requires {
    { S::name } -> std::convertible_to<std::string_view>;
    { S::lowest } -> std::convertible_to<float>;
    { S::highest } -> std::convertible_to<float>;
};

/// Cosine of the angle between two vectors, in [-1, 1].
struct cosine_scale {
    static constexpr std::string_view name = "cosine";
    static constexpr float lowest = -1.0f, highest = 1.0f;
};

/// Inner product of raw vectors: no bound without knowing their norms.
struct inner_product_scale {
    static constexpr std::string_view name = "inner product";
    static constexpr float lowest = -detail::unbounded, highest = detail::unbounded;
};

/// BM25 in Lucene's form: sums of idf times saturated frequency, at least 0.
struct bm25_scale {
    static constexpr std::string_view name = "bm25";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

/// Reciprocal rank fusion: in (0, sum of weights / (k + 1)].
struct rrf_scale {
    static constexpr std::string_view name = "rrf";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

/// Bounded fusion: b + c - .75 b c, in [0, 1.25] for two legs; with more legs or less overlap than .75 it can go beyond,
/// so the type has no upper bound. No probability.
struct bounded_scale {
    static constexpr std::string_view name = "bounded";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

/// Convex combination over theoretical minima: in [0, sum of weights].
struct convex_scale {
    static constexpr std::string_view name = "convex";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

/// Relative-score fusion (min-max over the retrieved list): in [0, sum of weights].
struct relative_scale {
    static constexpr std::string_view name = "relative";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

/// Distribution-based fusion: usually near [0, sum of weights], not clipped.
struct distribution_scale {
    static constexpr std::string_view name = "distribution";
    static constexpr float lowest = -detail::unbounded, highest = detail::unbounded;
};

/// A unit's own score and those of what it is part of, each divided by the best of its level and weighted: in [0, 1].
struct blend_scale {
    static constexpr std::string_view name = "blend";
    static constexpr float lowest = 0.0f, highest = 1.0f;
};

/// What a reranker returned. Its bounds are the reranker's own.
struct rerank_scale {
    static constexpr std::string_view name = "rerank";
    static constexpr float lowest = -detail::unbounded, highest = detail::unbounded;
};

/// An order that a stage chose: the position is the truth, the score only informs. No floor compiles on it.
struct selection_scale {
    static constexpr std::string_view name = "selection";
    static constexpr float lowest = -detail::unbounded, highest = detail::unbounded;
};

/// What is left after the type was erased at run time. No floor compiles on it either: put floors on before erasing.
struct unknown_scale {
    static constexpr std::string_view name = "unknown";
    static constexpr float lowest = -detail::unbounded, highest = detail::unbounded;
};

/// Where the scores of one query are meaningful: `low` says nothing, `high` is the best that could be.
/// For BM25 0 and the sum of the terms' largest contributions; for cosine the query's mean and 1.
struct score_bounds {
    float low = 0.0f;
    float high = 1.0f;
};

}  // namespace QUARRY_NAMESPACE
