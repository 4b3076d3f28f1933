// Hybrid: words and meaning, fused. The short form of `fuse` for two legs.
#pragma once

#include <concepts>
#include <utility>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../rank/fuse.hpp"

namespace QUARRY_NAMESPACE {

/// Fuses two legs: by bounded fusion where one is BM25 and the other cosine and both know their bounds, else by
/// reciprocal rank fusion.
template <Retriever A, Retriever B>
auto hybrid(A a, B b) {
    constexpr bool words_and_meaning =
        (std::same_as<typename A::scale, bm25_scale> && std::same_as<typename B::scale, cosine_scale>) ||
        (std::same_as<typename A::scale, cosine_scale> && std::same_as<typename B::scale, bm25_scale>);
    if constexpr (words_and_meaning && BoundedRetriever<A> && BoundedRetriever<B>)
        return fuse(bounded{}, std::move(a), std::move(b));
    else
        return fuse(rrf{}, std::move(a), std::move(b));
}

/// Fuses two legs by a fuser of your choice.
template <Retriever A, Retriever B, Fuser F>
auto hybrid(A a, B b, F fuser) {
    return fuse(std::move(fuser), std::move(a), std::move(b));
}

}  // namespace QUARRY_NAMESPACE
