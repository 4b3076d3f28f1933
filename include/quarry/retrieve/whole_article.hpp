// Whole article: found by a title, a summary or a heading; returned as the article.
//
//     auto search = whole_article(dense(kb.vectors, embed), {.floor = 0.35f});
//
// For a small collection of self-contained articles. The leaf searches keys of metadata (expand/metadata_keys.hpp); the
// best key of an article gives it its score and its place; articles below the floor are not returned, however few are
// left: none is a legal answer. Over-fetching and widening are the leaf's: k articles come back if k reach the floor.
//
// A floor belongs to one embedder. One that was found with another model means nothing.
//
// Source  Yelp Engineering, "Beyond the Menu Tree", 2026.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../rank/fuse.hpp"
#include "../rank/lift.hpp"
#include "../rank/threshold.hpp"

namespace QUARRY_NAMESPACE {

namespace detail {

// What stands in place of a floor on scales that have none: setting it is the sentence below.
struct no_floor {
    no_floor() = default;
    template <class T>
    no_floor(T) {  // NOLINT: implicit, as a floor is
        static_assert(!std::same_as<T, T>, "quarry: on this scale the position is the truth and no floor has a meaning");
    }
};

template <Scale S>
constexpr bool has_floor = !std::same_as<S, selection_scale> && !std::same_as<S, unknown_scale>;

}  // namespace detail

template <Scale S>
struct whole_article_options {
    /// In the scale of the leaf; a score equal to it is kept.
    std::conditional_t<detail::has_floor<S>, std::optional<at_least<S>>, detail::no_floor> floor{};
    std::size_t most = SIZE_MAX;  // articles, whatever k asks for
};

/// The trace holds what was scanned (`searched`, in keys), and under the stage "whole_article" what fell to the floor
/// (`floored`) and to the cap (`capped`, counted among twice as many articles as were asked for).
template <Retriever Leaf>
class whole_article_retriever : public retriever_interface<whole_article_retriever<Leaf>> {
   public:
    using scale = typename Leaf::scale;

    whole_article_retriever(Leaf leaf, whole_article_options<scale> options)
        : articles_(std::move(leaf), unit_kind::article), options_(options) {}

    source_ref source() const { return articles_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(articles_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        k = (std::min)(k, options_.most);
        if (k == 0) return {};
        results<scale> found = articles_.run(q, k > SIZE_MAX / 2 ? k : 2 * k);
        const std::size_t seen = found.size();
        if constexpr (detail::has_floor<scale>) {
            if (options_.floor) {
                std::erase_if(found.hits, [&](const auto& h) { return h.score < options_.floor->value; });
                q.tell({trace_code::floored, "whole_article", seen, found.size(), options_.floor->value});
            }
        }
        const std::size_t above = found.size();
        if (above > k) found.hits.resize(k);
        q.tell({trace_code::capped, "whole_article", above, found.size()});
        return found;
    }

   private:
    lifted_retriever<Leaf> articles_;
    whole_article_options<scale> options_;
};

/// Returns articles by the best of their keys.
///
/// Order   that of the leaf's scale; equal scores by the article's id.
/// Cost    the leaf is asked for twice as many articles as are wanted, so that the trace can tell what was cut.
template <Retriever Leaf>
auto whole_article(Leaf leaf, whole_article_options<typename Leaf::scale> options = {}) {
    return whole_article_retriever<Leaf>(std::move(leaf), options);
}

/// With a second lane for answers that stand in bodies alone, fused by reciprocal rank. The floor is the first lane's.
template <Retriever Leaf, Retriever Bodies>
auto whole_article(Leaf leaf, Bodies bodies, whole_article_options<typename Leaf::scale> options = {}) {
    return fuse(rrf{}, whole_article_retriever<Leaf>(std::move(leaf), options),
                lifted_retriever<Bodies>(std::move(bodies), unit_kind::article));
}

}  // namespace QUARRY_NAMESPACE
