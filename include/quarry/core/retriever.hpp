// Retrievers: the one concept of the asking side, and what everyone who satisfies it inherits.
//
// A retriever turns a request into at most k units. A leaf searches an index; a stage holds another retriever and
// changes what it found; both are values, resolved at compile time. Write `scale`, `source` and `run`, derive from
// retriever_interface, and the pipe, `fuse` and `any_retriever` take it like one of ours.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "query.hpp"
#include "request.hpp"
#include "results.hpp"
#include "scale.hpp"
#include "source.hpp"

namespace QUARRY_NAMESPACE {

template <class R>
concept Retriever = requires(const R& retriever, request& q, std::size_t k) {
    requires Scale<typename R::scale>;
    { retriever.source() } -> std::same_as<source_ref>;                           // where its units live
    { retriever.run(q, k) } -> std::same_as<results<typename R::scale>>;          // at most k units, best first
};

/// Can also score units that somebody else found, in the order given; a unit it knows nothing of has `no_key`.
template <class R>
concept ScoringRetriever = Retriever<R> && requires(const R& retriever, request& q, std::span<const unit_id> units) {
    { retriever.score(q, units) } -> std::same_as<std::vector<scored_key>>;
};

/// Can also say between which scores this query is meaningful. Bounded fusion stands on it.
template <class R>
concept BoundedRetriever = ScoringRetriever<R> && requires(const R& retriever, request& q) {
    { retriever.bounds(q) } -> std::same_as<score_bounds>;
};

namespace detail {

/// Lets a retriever buy what a batch of requests will need in one call, if it has something to buy.
template <class R>
void prepare(const R& retriever, std::span<request> batch) {
    if constexpr (requires { retriever.prepare(batch); }) retriever.prepare(batch);
}

}  // namespace detail

/// Gives a retriever that has `run` its public face.
template <class Derived>
class retriever_interface {
   public:
    /// The best k units for `q`, after its skip.
    ///
    /// Order   that of the scale: score descending, then unit id.
    /// Errors  usage_error for filters that do not fit the schema and for a missing scope; callable_error for embedders
    ///         and models that misbehave; `cancelled`. Nothing found is an empty result.
    auto retrieve(const query& q, std::size_t k) const {
        require_retriever();
        request r(q, derived().source());
        return page(r, k);
    }

    /// One answer per query, the same as asking one by one, but with one call of the embedder for all.
    auto retrieve(std::span<const query> queries, std::size_t k) const {
        require_retriever();
        const auto shared = std::make_shared<memo>();
        std::vector<request> batch;
        batch.reserve(queries.size());
        for (const query& q : queries) batch.emplace_back(q, derived().source(), shared);
        if (k != 0) detail::prepare(derived(), std::span(batch));
        std::vector<decltype(page(batch.front(), k))> answers;
        answers.reserve(batch.size());
        for (request& r : batch) answers.push_back(page(r, k));
        return answers;
    }

    auto retrieve(const std::vector<query>& queries, std::size_t k) const {
        return retrieve(std::span<const query>(queries), k);
    }

   private:
    // A sentence for those who write their own, ahead of what the compiler says of the body below.
    static constexpr void require_retriever() noexcept {
        static_assert(Retriever<Derived>,
                      "quarry: a retriever needs a type scale, source() const that gives a source_ref, and "
                      "run(request&, std::size_t) const that gives results<scale>");
    }

    const Derived& derived() const noexcept { return static_cast<const Derived&>(*this); }

    auto page(request& r, std::size_t k) const {
        r.check();
        const std::size_t skip = r.asked().skipped();
        const std::size_t reach = k > SIZE_MAX - skip ? SIZE_MAX : k + skip;
        // What is not optional is paid first.
        if (k != 0 && r.counts_calls()) detail::prepare(derived(), std::span(&r, 1));
        auto found = k == 0 ? decltype(derived().run(r, k)){} : derived().run(r, reach);
        found.hits.erase(found.hits.begin(), found.hits.begin() + static_cast<std::ptrdiff_t>((std::min)(
                                                                      skip, found.hits.size())));
        if (found.hits.size() > k) found.hits.resize(k);
        found.attach(r);
        return found;
    }
};

/// What stands to the right of a pipe: a function from a retriever to a retriever.
template <class F>
struct stage {
    F apply;
};
template <class F>
stage(F) -> stage<F>;

/// `base | stage`: the stage around the base, again a retriever.
template <Retriever Base, class F>
auto operator|(Base base, const stage<F>& s) {
    return s.apply(std::move(base));
}

namespace detail {

/// Asks `ask(n)` for more until `k` of its hits survive `survive(hits)` or it has no more: for stages that drop or
/// merge. Widening asks an index again and never a callable, since what was paid for is in the memo.
template <class Ask, class Survive>
auto widened(std::size_t k, Ask ask, Survive survive) {
    for (std::size_t n = k;; n = n > SIZE_MAX / 2 ? SIZE_MAX : 2 * n) {
        auto found = ask(n);
        const bool exhausted = found.hits.size() < n;
        found.hits = survive(std::move(found.hits));
        if (found.hits.size() >= k || exhausted) {
            if (found.hits.size() > k) found.hits.resize(k);
            return found;
        }
    }
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
