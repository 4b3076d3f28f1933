// Progress: how far many calls have come, what they cost so far, and when they will be done.
//
// The estimated end counts what is left at the pace of the calls that were really made: what a cache answered took no
// time and says nothing about the rest.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "../config.hpp"
#include "completion.hpp"
#include "price.hpp"

namespace QUARRY_NAMESPACE {

struct call_progress {
    std::size_t total = 0;
    std::size_t done = 0;        // answered, remembered ones included
    std::size_t remembered = 0;  // of these, without a call
    std::size_t failed = 0;
    token_usage tokens{};  // of the calls that were made; what generators do not say is not in it
    double dollars = 0.0;
    std::chrono::steady_clock::duration elapsed{};
    std::optional<std::chrono::steady_clock::duration> left{};  // nothing until a call came back

    bool finished() const noexcept { return done + failed == total; }
};

/// Counts calls. Single-threaded: whoever runs calls in parallel reports them one at a time.
class progress_meter {
   public:
    using clock = std::function<std::chrono::steady_clock::time_point()>;

    /// A null clock is the steady clock.
    progress_meter(std::size_t total, model_price price, clock now)
        : price_(price), now_(std::move(now)), start_(time()) {
        state_.total = total;
    }

    const call_progress& answered(const completion& reply) {
        ++state_.done;
        if (reply.remembered) {
            ++state_.remembered;
        } else if (reply.used) {
            state_.tokens += *reply.used;
            state_.dollars = dollars(state_.tokens, price_);
        }
        return at_now();
    }
    const call_progress& failed() {
        ++state_.failed;
        return at_now();
    }
    const call_progress& state() const noexcept { return state_; }

   private:
    std::chrono::steady_clock::time_point time() const { return now_ ? now_() : std::chrono::steady_clock::now(); }

    const call_progress& at_now() {
        state_.elapsed = time() - start_;
        const std::size_t over = state_.done + state_.failed, made = over - state_.remembered;
        if (made != 0) {
            const double each = std::chrono::duration<double>(state_.elapsed).count() / static_cast<double>(made);
            state_.left = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                std::chrono::duration<double>(each * static_cast<double>(state_.total - over)));
        }
        return state_;
    }

    model_price price_;
    clock now_;
    std::chrono::steady_clock::time_point start_;
    call_progress state_;
};

}  // namespace QUARRY_NAMESPACE
