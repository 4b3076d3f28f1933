// Queries: a text, and what it may see, cost and wait for.
//
//     query("how do I reset my password").where(eq("product", "app")).within(scope::only(eq("tenant", "a")))
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "executor.hpp"
#include "filter.hpp"
#include "ids.hpp"
#include "scope.hpp"
#include "trace.hpp"
#include "unit_set.hpp"

namespace QUARRY_NAMESPACE {

/// What a query may use up. The clock is an option so that tests need not wait.
///
/// Where something runs out, optional stages (those that may fail quietly: probers, `rerank_first`, `diversify`,
/// `only_relevant`) are left out, the latest in the flow first, and the result is `degraded`. What is not optional is
/// paid before them. A deadline throws nothing: an optional stage does not begin after it, and everything else goes on.
/// To give a query up, stop it.
///
/// Errors  what is not optional and cannot be paid: `cancelled` with code `budget.model_calls`, `budget.model_tokens`
///         or `budget.rerank_pairs`.
struct budget {
    std::size_t model_calls = SIZE_MAX;   // calls of embedders, generators and rerankers
    std::size_t model_tokens = SIZE_MAX;  // of the prompts that generators are sent, as `count` counts
    std::size_t rerank_pairs = SIZE_MAX;  // passages that rerankers are shown
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    std::function<std::chrono::steady_clock::time_point()> now{};    // null: the steady clock
    std::function<std::size_t(std::string_view text)> count{};  // null: a token for every three bytes, rather too many
};

class query {
   public:
    // NOLINTBEGIN: implicit on purpose: search.retrieve("reset password", 5)
    query(std::string text) : text_(std::move(text)) {}
    query(std::string_view text) : text_(text) {}
    query(const char* text) : text_(text) {}
    // NOLINTEND

    /// Only units for which `f` holds; a second filter narrows the first.
    query& where(filter f) & {
        filter_ = filter_ ? *filter_ && f : f;
        return *this;
    }
    /// A filter and scope that were evaluated before, by `select` of the same source in the same state. It replaces
    /// both: combining it with `where`, `within` or `include_generated`, or asking another source or one that has
    /// changed, is usage_error `query.prepared`.
    query& where(selection prepared) & { return set(prepared_, std::move(prepared)); }
    query& where(scope) & = delete;  // a scope is not a filter: say within(scope)
    /// The application's own restriction, ANDed last. A second scope replaces the first.
    query& within(scope s) & { return set(scope_, std::move(s)); }
    query& within(filter) & = delete;  // a filter is not a scope: say where(filter), or within(scope::only(filter))
    query& under(budget b) & { return set(budget_, std::move(b)); }
    query& stop_on(std::stop_token token) & { return set(stop_, std::move(token)); }
    /// Where legs of a fusion and further texts of a prober run, side by side. The answer and the order of ledger and
    /// trace are what they are in one thread; callables, the clock and retrievers of yours must bear several threads.
    query& run_on(executor e) & { return set(executor_, std::move(e)); }
    query& traced(trace& t) & { return set(trace_, &t); }
    /// The question's row for legs of this embedder or a copy of it: what it made of a picture, or what was computed
    /// before. Such a leg searches by the row and embeds nothing. The others go by the text, and where there is none
    /// they find nothing; so do legs that a prober gave other words.
    template <class E>
    query& with_row(const E& embedder, std::vector<float> row) & {
        rows_.emplace_back(embedder.identity(), std::move(row));
        return *this;
    }
    /// Leaves out the first n hits: pages joined equal one longer answer, as long as skip + k stays within the `fetch`
    /// of every stage.
    query& skip(std::size_t n) & { return set(skip_, n); }
    /// Generated text (summaries) may be returned as if it were a source.
    query& include_generated() & { return set(include_generated_, true); }

    // For legs that search by words; a dense leg has no words and does not read them.
    query& require(std::string term) & { return required_.push_back(std::move(term)), *this; }
    query& forbid(std::string term) & { return forbidden_.push_back(std::move(term)), *this; }
    query& phrase(std::string words) & { return phrases_.push_back(std::move(words)), *this; }

    // The same on a temporary, which stays one.
    query&& where(filter f) && { return std::move(where(std::move(f))); }
    query&& where(selection prepared) && { return std::move(where(std::move(prepared))); }
    query&& where(scope) && = delete;  // a scope is not a filter: say within(scope)
    query&& within(scope s) && { return std::move(within(std::move(s))); }
    query&& within(filter) && = delete;  // a filter is not a scope: say where(filter), or within(scope::only(filter))
    query&& under(budget b) && { return std::move(under(std::move(b))); }
    query&& stop_on(std::stop_token token) && { return std::move(stop_on(std::move(token))); }
    query&& run_on(executor e) && { return std::move(run_on(std::move(e))); }
    template <class E>
    query&& with_row(const E& embedder, std::vector<float> row) && {
        return std::move(with_row(embedder, std::move(row)));
    }
    query&& traced(trace& t) && { return std::move(traced(t)); }
    query&& skip(std::size_t n) && { return std::move(skip(n)); }
    query&& include_generated() && { return std::move(include_generated()); }
    query&& require(std::string term) && { return std::move(require(std::move(term))); }
    query&& forbid(std::string term) && { return std::move(forbid(std::move(term))); }
    query&& phrase(std::string words) && { return std::move(phrase(std::move(words))); }

    std::string_view text() const noexcept { return text_; }
    const std::optional<filter>& filtered() const noexcept { return filter_; }
    const std::optional<scope>& scoped() const noexcept { return scope_; }
    const std::optional<selection>& prepared() const noexcept { return prepared_; }
    const budget& allowance() const noexcept { return budget_; }
    const std::stop_token& stop_token() const noexcept { return stop_; }
    const executor& runs_on() const noexcept { return executor_; }
    trace* tracer() const noexcept { return trace_; }
    std::size_t skipped() const noexcept { return skip_; }
    bool includes_generated() const noexcept { return include_generated_; }
    const std::vector<std::string>& required() const noexcept { return required_; }
    const std::vector<std::string>& forbidden() const noexcept { return forbidden_; }
    const std::vector<std::string>& phrases() const noexcept { return phrases_; }
    std::optional<unit_id> example() const noexcept { return example_; }
    /// By the embedder's identity; the last one given counts.
    const std::vector<std::pair<const void*, std::vector<float>>>& rows() const noexcept { return rows_; }

   private:
    friend query like(unit_id unit);

    template <class Member, class Value>
    query& set(Member& member, Value&& value) {
        member = std::forward<Value>(value);
        return *this;
    }

    std::string text_;
    std::optional<filter> filter_{};
    std::optional<scope> scope_{};
    std::optional<selection> prepared_{};
    budget budget_{};
    std::stop_token stop_{};
    executor executor_{};
    trace* trace_ = nullptr;
    std::size_t skip_ = 0;
    bool include_generated_ = false;
    std::vector<std::string> required_{}, forbidden_{}, phrases_{};
    std::optional<unit_id> example_{};
    std::vector<std::pair<const void*, std::vector<float>>> rows_{};
};

/// Searches by a unit that is indexed already: by its vector where a leg has one, by its text elsewhere. The unit
/// itself and everything else of its article are left out. A unit outside the query's scope is usage_error
/// `scope.example`.
inline query like(unit_id unit) {
    query q("");
    q.example_ = unit;
    return q;
}

}  // namespace QUARRY_NAMESPACE
