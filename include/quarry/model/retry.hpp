// Retry: a call that failed is made again, after a wait that grows.
//
//     retrying(client, {.attempts = 5})
//
// It is not a policy for bad replies: a reply is a reply, whatever it says. When the last attempt fails, its exception
// goes on unchanged.
//
// The surprising thing: the jitter is not random. It follows from the seed, the prompt and the attempt, so that a run
// can be repeated, and calls that failed together still spread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "generator.hpp"

namespace QUARRY_NAMESPACE {

/// For generators to throw when they know that trying again may help, and when: a server that says so.
class busy_error : public callable_error {
   public:
    explicit busy_error(const std::string& message, std::optional<std::chrono::milliseconds> after = {})
        : callable_error("generator.busy", message), after_(after) {}

    /// Not before this long from now, if the server said so.
    std::optional<std::chrono::milliseconds> after() const noexcept { return after_; }

   private:
    std::optional<std::chrono::milliseconds> after_;
};

/// A failure that will be tried again.
struct retry_event {
    std::size_t attempt;             // from 1
    std::chrono::milliseconds wait;  // before the next
    const std::exception& failure;
};

struct retry_options {
    std::size_t attempts = 5;  // in all; at least 1
    std::chrono::milliseconds first_wait{500};
    double growth = 2.0;  // each wait is this many times the one before; at least 1
    std::chrono::milliseconds longest_wait{60'000};
    double jitter = 0.5;  // every wait is shortened by up to this share of it; in [0, 1]
    std::uint64_t seed = 0;

    /// Waits, and comes back at once when stopped. Null: really waits.
    std::function<void(std::chrono::milliseconds, std::stop_token)> sleep{};

    /// Is it worth trying again? Null: for everything but errors of the caller's own (std::logic_error, usage_error),
    /// `cancelled`, and memory that ran out. What does not derive from std::exception is never tried again.
    std::function<bool(const std::exception&)> worth_it{};

    /// Told of every failure that is tried again; possibly from several threads.
    std::function<void(const retry_event&)> told{};
};

namespace detail {

inline void sleep_for_real(std::chrono::milliseconds time, std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, std::move(stop), time, [] { return false; });
}

inline bool worth_trying_again(const std::exception& failure) noexcept {
    return !dynamic_cast<const cancelled*>(&failure) && !dynamic_cast<const usage_error*>(&failure) &&
           !dynamic_cast<const std::logic_error*>(&failure) && !dynamic_cast<const std::bad_alloc*>(&failure);
}

/// A number in [0, 1) from three numbers, the same on every platform. (SplitMix64's finisher.)
inline double unit_interval(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
    std::uint64_t x = 0;
    for (const std::uint64_t part : {a, b, c}) {
        x = (x ^ part) + 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        x ^= x >> 31;
    }
    return static_cast<double>(x >> 11) * 0x1p-53;
}

}  // namespace detail

/// Errors  usage_error `retry.options`; `cancelled` `generator.stopped` when stopped between attempts; otherwise
///         whatever the last attempt threw.
template <Generator G>
class retrying_generator {
   public:
    retrying_generator(G generator, retry_options options)
        : generator_(std::move(generator)), options_(std::move(options)) {
        const auto& o = options_;
        if (o.attempts == 0 || !(o.growth >= 1.0) || !(o.jitter >= 0.0 && o.jitter <= 1.0) ||
            o.first_wait.count() < 0 || o.longest_wait.count() < 0)
            detail::raise<usage_error>(
                "retry.options",
                detail::concat("quarry::retrying: attempts at least 1, growth at least 1, jitter in [0, 1] and "
                               "waits not negative are needed; given ",
                               o.attempts, ", ", o.growth, ", ", o.jitter, ", ", o.first_wait.count(), " ms, ",
                               o.longest_wait.count(), " ms"));
    }

    completion operator()(const prompt& p, std::stop_token stop = {}) const {
        for (std::size_t attempt = 1;; ++attempt) {
            std::chrono::milliseconds wait{};
            try {
                return generate(generator_, p, stop);
            } catch (const std::exception& failure) {
                const bool again = options_.worth_it ? options_.worth_it(failure) : detail::worth_trying_again(failure);
                if (!again || attempt >= options_.attempts) throw;
                wait = wait_after(attempt, p, failure);
                if (options_.told) options_.told({attempt, wait, failure});
            }
            if (!stop.stop_requested()) (options_.sleep ? options_.sleep : detail::sleep_for_real)(wait, stop);
            if (stop.stop_requested())
                detail::raise<cancelled>("generator.stopped",
                                         detail::concat("quarry::retrying: stopped after ", attempt, " of ",
                                                        options_.attempts, " attempts"));
        }
    }

    std::string name() const requires NamedGenerator<G> { return generator_.name(); }

   private:
    std::chrono::milliseconds wait_after(std::size_t attempt, const prompt& p, const std::exception& failure) const {
        const double longest = static_cast<double>(options_.longest_wait.count());
        double wait = static_cast<double>(options_.first_wait.count());
        for (std::size_t i = 1; i < attempt && wait < longest; ++i) wait *= options_.growth;
        std::uint64_t who = 0;
        for (int i = 0; i < 8; ++i) who = (who << 8) | p.fingerprint()[static_cast<std::size_t>(i)];
        wait = (std::min)(wait, longest) * (1.0 - options_.jitter * detail::unit_interval(options_.seed, who, attempt));
        const std::chrono::milliseconds own(static_cast<std::chrono::milliseconds::rep>(wait));
        const auto* busy = dynamic_cast<const busy_error*>(&failure);
        return busy && busy->after() ? (std::max)(own, *busy->after()) : own;
    }

    G generator_;
    retry_options options_;
};

/// `generator`, asked again after failures.
template <Generator G>
retrying_generator<G> retrying(G generator, retry_options options = {}) {
    return retrying_generator<G>(std::move(generator), std::move(options));
}

}  // namespace QUARRY_NAMESPACE
