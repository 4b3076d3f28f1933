// Many calls: a list of prompts asked with a bounded number in flight.
//
//     const call_results r = ask_all(model, prompts, {.at_once = 8});
//
// Results stand in the order of the prompts, whatever order they come back in. A call that fails loses no other: its
// exception waits in its place. Prompts that follow each other and share a prefix are a group; the first of a group
// goes alone, so that it writes the provider's prompt cache, and the others follow in parallel. While a first one is on
// its way, the next group begins.
//
// A generator that takes many prompts at once (BatchGenerator) is handed them in batches. A batch that fails is halved
// until the prompt that made it fail stands alone.
//
// The surprising thing: `cancelled`, and with it a spent budget, ends the whole run and not one item. Calls in flight
// come home, nothing new is asked, and the results say so.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "generator.hpp"
#include "progress.hpp"

namespace QUARRY_NAMESPACE {

/// Many prompts in, as many replies out, in the same order.
template <class G>
concept BatchGenerator = requires(const G& generator, std::span<const prompt> prompts) {
    { generator(prompts) } -> std::convertible_to<std::vector<completion>>;
};

/// What ask_all can ask.
template <class G>
concept Askable = Generator<G> || BatchGenerator<G>;

struct asking_options {
    std::size_t at_once = 1;        // calls in flight; with 1 no thread is started
    std::size_t batch = 16;         // prompts of one call, for a generator that takes many; at least 1
    std::size_t give_up_after = 0;  // calls that fail without one in between that works; 0: never
    std::stop_token stop{};

    /// Told of every reply as it arrives and of every failure; one at a time, from whatever thread. If one throws, the
    /// run ends and ask_all throws that.
    std::function<void(std::size_t item, const completion& reply)> keep{};
    std::function<void(const call_progress&)> progress{};

    model_price price{};          // for the progress
    progress_meter::clock now{};  // likewise; null: the steady clock
};

/// What became of one prompt: a reply, or a failure, or, when the run ended before, neither.
struct call_result {
    std::optional<completion> reply{};
    std::exception_ptr failure{};
};

struct call_results {
    std::vector<call_result> items;  // one a prompt
    std::exception_ptr ended{};      // why the run ended early; null: it did not
    call_progress progress{};

    /// Throws what ended the run, if something did.
    void rethrow_if_ended() const {
        if (ended) std::rethrow_exception(ended);
    }
};

/// Asks all prompts.
///
/// Order   of the prompts; which of them fail does not depend on which come back first.
/// Cost    a thread for every call in flight, and none for one.
/// Errors  usage_error `calls.options`; what `keep` or `progress` throws. Failures of the generator are in the results;
///         callable_error `generator.count` there for a batch with too few or too many replies.
template <Askable G>
call_results ask_all(const G& generator, std::span<const prompt> prompts, const asking_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Gives out prompts so that the first of each group is alone, and takes in what became of them.
class call_schedule {
   public:
    call_schedule(std::span<const prompt> prompts, const asking_options& options, std::size_t batch)
        : prompts_(prompts), options_(options), batch_(batch), meter_(prompts.size(), options.price, options.now) {
        results_.items.resize(prompts.size());
    }

    /// The next prompts to ask, at most a batch; empty when there is nothing more to do. Waits for groups that are held
    /// up by their first prompt.
    std::vector<std::size_t> take();

    /// One call after take(): every item it asked for, answered or failed.
    void give(std::span<const std::size_t> items, std::vector<call_result> outcomes);

    /// Ends the run.
    void end(std::exception_ptr why);

    call_results finish() {
        if (thrown_) std::rethrow_exception(thrown_);
        results_.progress = meter_.state();
        return std::move(results_);
    }

   private:
    // Prompts [next, end) share a prefix and are still to be asked.
    struct group {
        std::size_t begin, next, end;
        bool shares;        // there is a prefix to share
        bool warm = false;  // and the provider has it
        std::size_t in_flight = 0;

        bool held_up() const noexcept { return shares && !warm && in_flight != 0; }
    };

    bool ended() const noexcept { return results_.ended || thrown_; }
    void open_next_group();
    void end_locked(std::exception_ptr why);

    std::span<const prompt> prompts_;
    const asking_options& options_;
    std::size_t batch_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<group> open_;  // in the order of the prompts
    std::size_t opened_ = 0;   // prompts whose group was opened
    std::size_t in_flight_ = 0, failed_in_a_row_ = 0;
    call_results results_;
    progress_meter meter_;
    std::exception_ptr thrown_;  // by a callback
};

inline void call_schedule::open_next_group() {
    group g{opened_, opened_, opened_ + 1, !prompts_[opened_].shared().empty()};
    while (g.end < prompts_.size() && g.shares && share_prefix(prompts_[g.begin], prompts_[g.end])) ++g.end;
    opened_ = g.end;
    open_.push_back(g);
}

inline std::vector<std::size_t> call_schedule::take() {
    std::unique_lock lock(mutex_);
    std::vector<std::size_t> taken;
    for (;;) {
        if (options_.stop.stop_requested())
            end_locked(std::make_exception_ptr(cancelled(
                "generator.stopped",
                concat("quarry::ask_all: stopped after ", meter_.state().done, " of ", prompts_.size(), " prompts"))));
        if (ended()) return {};
        std::erase_if(open_, [](const group& g) { return g.next == g.end && g.in_flight == 0; });
        for (std::size_t i = 0; taken.size() < batch_; ++i) {
            if (i == open_.size()) {
                if (opened_ == prompts_.size()) break;
                open_next_group();
            }
            group& g = open_[i];
            while (taken.size() < batch_ && g.next < g.end && !g.held_up()) {
                taken.push_back(g.next++);
                ++g.in_flight;
            }
        }
        if (!taken.empty()) {
            ++in_flight_;
            return taken;
        }
        if (in_flight_ == 0) return {};
        changed_.wait(lock);
    }
}

inline void call_schedule::give(std::span<const std::size_t> items, std::vector<call_result> outcomes) {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::size_t item = items[i];
        call_result& outcome = outcomes[i];
        for (group& g : open_)
            if (item >= g.begin && item < g.end) {
                --g.in_flight;
                // A reply from a cache of ours says nothing about the provider's.
                g.warm = g.warm || (outcome.reply && !outcome.reply->remembered);
            }
        try {
            const call_progress& now = outcome.reply ? meter_.answered(*outcome.reply) : meter_.failed();
            if (outcome.reply && options_.keep) options_.keep(item, *outcome.reply);
            if (options_.progress) options_.progress(now);
        } catch (...) {
            if (!thrown_) thrown_ = std::current_exception();
        }
        failed_in_a_row_ = outcome.reply ? 0 : failed_in_a_row_ + 1;
        if (outcome.failure) {
            try {
                std::rethrow_exception(outcome.failure);
            } catch (const cancelled&) {
                end_locked(outcome.failure);
            } catch (const std::exception& e) {
                if (options_.give_up_after != 0 && failed_in_a_row_ >= options_.give_up_after)
                    end_locked(std::make_exception_ptr(cancelled(
                        "calls.given_up", concat("quarry::ask_all: ", failed_in_a_row_,
                                                 " calls failed in a row, the last with ", detail::quoted(e.what())))));
            } catch (...) {
                if (options_.give_up_after != 0 && failed_in_a_row_ >= options_.give_up_after)
                    end_locked(outcome.failure);
            }
        }
        results_.items[item] = std::move(outcome);
    }
    changed_.notify_all();
}

inline void call_schedule::end(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    if (!thrown_) thrown_ = std::move(why);
    changed_.notify_all();
}

inline void call_schedule::end_locked(std::exception_ptr why) {
    if (!results_.ended) results_.ended = std::move(why);
    changed_.notify_all();
}

/// One prompt, asked; whatever is thrown is in the result.
template <Generator G>
call_result ask_one(const G& generator, const prompt& p, const std::stop_token& stop) {
    call_result result;
    try {
        result.reply = generate(generator, p, stop);
    } catch (...) {
        result.failure = std::current_exception();
    }
    return result;
}

/// Prompts [first, first + count) of a batch, halved where it fails.
template <BatchGenerator G>
void ask_batch(const G& generator, std::span<const prompt> prompts, std::span<call_result> out) {
    std::exception_ptr failure;
    try {
        std::vector<completion> replies = generator(prompts);
        if (replies.size() != prompts.size())
            raise<callable_error>("generator.count",
                                  concat("quarry::ask_all: expected ", prompts.size(), " replies for ", prompts.size(),
                                         " prompts, got ", replies.size()));
        for (std::size_t i = 0; i < out.size(); ++i) out[i].reply = std::move(replies[i]);
        return;
    } catch (const cancelled&) {
        failure = std::current_exception();
        for (call_result& r : out) r.failure = failure;
        return;
    } catch (...) {
        failure = std::current_exception();
    }
    if (prompts.size() == 1) {
        out.front().failure = failure;
        return;
    }
    const std::size_t half = prompts.size() / 2;
    ask_batch(generator, prompts.first(half), out.first(half));
    ask_batch(generator, prompts.subspan(half), out.subspan(half));
}

template <class G>
void work_through(call_schedule& schedule, const G& generator, std::span<const prompt> prompts,
                  const std::stop_token& stop) {
    try {
        for (auto items = schedule.take(); !items.empty(); items = schedule.take()) {
            std::vector<call_result> outcomes(items.size());
            if constexpr (BatchGenerator<G>) {
                std::vector<prompt> some;
                for (const std::size_t item : items) some.push_back(prompts[item]);
                ask_batch(generator, std::span<const prompt>(some), std::span(outcomes));
            } else {
                outcomes.front() = ask_one(generator, prompts[items.front()], stop);
            }
            schedule.give(items, std::move(outcomes));
        }
    } catch (...) {  // memory ran out: nobody may wait for what never comes back
        schedule.end(std::current_exception());
    }
}

}  // namespace detail

template <Askable G>
call_results ask_all(const G& generator, std::span<const prompt> prompts, const asking_options& options) {
    if (options.at_once == 0 || options.batch == 0)
        detail::raise<usage_error>("calls.options",
                                   detail::concat("quarry::ask_all: at_once and batch are at least 1, given ",
                                                  options.at_once, " and ", options.batch));
    detail::require_price(options.price, "quarry::ask_all");
    detail::call_schedule schedule(prompts, options, BatchGenerator<G> ? options.batch : 1);
    const auto work = [&] { detail::work_through(schedule, generator, prompts, options.stop); };
    const std::size_t workers = (std::min)(options.at_once, prompts.size());
    if (workers <= 1) {
        work();
    } else {
        std::vector<std::jthread> threads;
        try {
            for (std::size_t i = 0; i < workers; ++i) threads.emplace_back(work);
        } catch (const std::system_error&) {  // as many as the system gives
            if (threads.empty()) work();
        }
    }
    return schedule.finish();
}

}  // namespace QUARRY_NAMESPACE
