// Budget: no more calls, tokens, dollars or time than were allowed.
//
//     const auto model = budgeted(client, {.dollars = 5.0, .price = price_of(prices, "small")});
//
// A call is paid for before it is made: with what it is expected to take, so that calls in flight together cannot
// overspend together. When it is back, the estimate gives way to what the generator says it took.
// Copies share the budget.
//
// The surprising thing: a call that failed still counts as a call, since it was made; its tokens are given back. Put a
// cache around the budget and not inside: what is remembered then costs nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "generator.hpp"
#include "plan.hpp"
#include "price.hpp"

namespace QUARRY_NAMESPACE {

/// A limit was reached: `budget.calls`, `budget.tokens`, `budget.dollars`, `budget.deadline`. Nothing was asked.
class budget_error : public cancelled {
   public:
    using cancelled::cancelled;
};

struct budget_limits {
    std::size_t calls = SIZE_MAX;
    std::uint64_t tokens = UINT64_MAX;                         // in and out
    double dollars = std::numeric_limits<double>::infinity();  // by `price`
    std::optional<std::chrono::steady_clock::time_point> deadline{};

    model_price price{};
    token_counter counter = approximate_tokens{};                  // where the generator does not say what it used
    std::size_t reply_tokens = 256;                                // expected of a reply while it is on its way
    std::function<std::chrono::steady_clock::time_point()> now{};  // null: the steady clock
};

/// What was spent so far, with what is in flight at its estimate.
struct budget_state {
    std::size_t calls = 0;
    token_usage tokens{};
    double dollars = 0.0;
};

/// Errors  budget_error before a call that does not fit; usage_error `price.value`, `budget.limits`.
template <Generator G>
class budgeted_generator {
   public:
    budgeted_generator(G generator, budget_limits limits)
        : generator_(std::move(generator)), shared_(std::make_shared<shared>(std::move(limits))) {
        detail::require_price(shared_->limits.price, "quarry::budgeted");
        if (!(shared_->limits.dollars >= 0.0))
            detail::raise<usage_error>(
                "budget.limits", detail::concat("quarry::budgeted: a limit of ", shared_->limits.dollars, " dollars"));
    }

    completion operator()(const prompt& p, std::stop_token stop = {}) const {
        const budget_limits& limits = shared_->limits;
        const std::uint64_t read = limits.counter(p.system()) + limits.counter(p.shared()) + limits.counter(p.fresh());
        const token_usage expected{.input = read, .output = limits.reply_tokens};
        shared_->reserve(expected);
        try {
            completion reply = generate(generator_, p, std::move(stop));
            if (!reply.used) reply.used = token_usage{.input = read, .output = limits.counter(reply.text)};
            shared_->settle(expected, reply.remembered ? token_usage{} : *reply.used);
            return reply;
        } catch (...) {
            shared_->settle(expected, {});
            throw;
        }
    }

    budget_state spent() const { return shared_->state(); }
    std::string name() const requires NamedGenerator<G> { return generator_.name(); }

   private:
    struct shared {
        explicit shared(budget_limits l) : limits(std::move(l)) {}

        void reserve(const token_usage& expected);
        void settle(const token_usage& expected, const token_usage& used);
        budget_state state() const {
            const std::lock_guard lock(mutex);
            return {calls, spent, dollars(spent, limits.price)};
        }

        const budget_limits limits;
        mutable std::mutex mutex;
        std::size_t calls = 0;
        token_usage spent{};
    };

    G generator_;
    std::shared_ptr<shared> shared_;
};

/// `generator` within `limits`.
template <Generator G>
budgeted_generator<G> budgeted(G generator, budget_limits limits) {
    return budgeted_generator<G>(std::move(generator), std::move(limits));
}

// ------------------------------------------------------------------------------------------------------------- detail

template <Generator G>
void budgeted_generator<G>::shared::reserve(const token_usage& expected) {
    using detail::concat;
    using detail::raise;
    const std::lock_guard lock(mutex);
    if (limits.deadline && (limits.now ? limits.now() : std::chrono::steady_clock::now()) > *limits.deadline)
        raise<budget_error>("budget.deadline",
                            concat("quarry::budgeted: the deadline has passed, after ", calls, " calls"));
    if (calls >= limits.calls)
        raise<budget_error>("budget.calls", concat("quarry::budgeted: ", limits.calls,
                                                   " calls are allowed, this would be call ", calls + 1));
    const token_usage after = spent + expected;
    if (after.total() > limits.tokens)
        raise<budget_error>("budget.tokens", concat("quarry::budgeted: ", limits.tokens,
                                                    " tokens are allowed, with this call it would be ", after.total()));
    if (const double cost = dollars(after, limits.price); cost > limits.dollars)
        raise<budget_error>("budget.dollars", concat("quarry::budgeted: ", limits.dollars,
                                                     " dollars are allowed, with this call it would be ", cost));
    ++calls;
    spent = after;
}

template <Generator G>
void budgeted_generator<G>::shared::settle(const token_usage& expected, const token_usage& used) {
    const std::lock_guard lock(mutex);
    spent.input = spent.input - expected.input + used.input;
    spent.cache_write += used.cache_write;
    spent.cache_read += used.cache_read;
    spent.output = spent.output - expected.output + used.output;
}

}  // namespace QUARRY_NAMESPACE
