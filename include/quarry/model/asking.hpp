// Asking: many prompts, and a report of what they took.
//
// Contexts, questions and summaries are asked for alike: one prompt a unit or a cluster, all at once, where a failure
// costs one of them and is counted.
#pragma once

#include <chrono>
#include <exception>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "completion.hpp"
#include "concurrent.hpp"
#include "notices.hpp"
#include "plan.hpp"

namespace QUARRY_NAMESPACE {

/// What asking took, beside what came of it.
struct asking_report {
    std::size_t calls = 0;             // made, failed ones included
    std::size_t remembered = 0;        // answers that were paid for before
    std::size_t failed = 0;            // calls that ended with an exception; what they were for goes without
    std::size_t unusable = 0;          // replies that held nothing to use; likewise
    std::size_t beside_the_point = 0;  // generated texts that were judged not to belong to their unit
    notice_counts noticed{};           // in the replies, usable or not

    std::map<std::string, std::size_t> failures{};  // by the code of the error, or "exception"
    std::string first_failure{};                    // its message, in the order of the prompts

    token_usage tokens{};  // as far as the generator says
    double dollars = 0.0;
    std::chrono::steady_clock::duration elapsed{};
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Counts a failure by its kind and keeps the first one's message.
inline void note_failure(const std::exception_ptr& failure, asking_report& report) {
    std::string code = "exception", message = "something that is no std::exception";
    try {
        std::rethrow_exception(failure);
    } catch (const error& e) {
        code = e.code();
        message = e.what();
    } catch (const std::exception& e) {
        message = e.what();
    } catch (...) {
    }
    ++report.failures[code];
    if (report.first_failure.empty()) report.first_failure = message;
}

/// Asks all prompts; what it took is in the report.
///
/// Errors  those of ask_all, and what ended the run.
template <class G>
call_results ask_for(const G& model, std::span<const prompt> prompts, asking_options calls, std::stop_token stop,
                     asking_report& report) {
    if (stop.stop_possible()) calls.stop = std::move(stop);
    call_results answers = ask_all(model, prompts, calls);
    const call_progress& p = answers.progress;
    report.calls += p.done - p.remembered + p.failed;
    report.remembered += p.remembered;
    report.tokens += p.tokens;
    report.dollars += p.dollars;
    report.elapsed += p.elapsed;
    answers.rethrow_if_ended();
    for (const call_result& item : answers.items)
        if (item.failure) {
            ++report.failed;
            note_failure(item.failure, report);
        }
    return answers;
}

/// A plan that knows what the model's cache remembers, where the model has one in sight.
template <class G>
call_plan plan_for(const G& model, std::span<const prompt> prompts, plan_options options) {
    if constexpr (requires(const prompt& p) {
                      { model.remembers(p) } -> std::convertible_to<bool>;
                  })
        if (!options.remembered) options.remembered = [&model](const prompt& p) { return model.remembers(p); };
    return plan_calls(prompts, options);
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
