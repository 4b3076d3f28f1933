// Asking a model for every unit: what contexts, questions and summaries have in common.
#pragma once

#include <chrono>
#include <exception>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/source.hpp"
#include "../detail/text.hpp"
#include "../model/concurrent.hpp"
#include "../model/plan.hpp"
#include "expansion.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

/// All units of one level, in their order.
inline std::vector<unit_id> units_of(source_ref source, unit_kind level) {
    std::vector<unit_id> out;
    for (std::size_t i = 0; i < source.size(); ++i)
        if (source.kind(unit_at(i)) == level) out.push_back(unit_at(i));
    return out;
}

/// The text of a unit as a key has it: its title, if it has one of its own, and its words.
inline std::string words_of(source_ref source, unit_id unit) {
    const std::string_view title = source.title(unit), text = source.text(unit);
    return title.empty() ? std::string(text) : text.empty() ? std::string(title) : concat(title, ' ', text);
}

/// Counts a failure by its kind and keeps the first one's message.
inline void note_failure(const std::exception_ptr& failure, expansion_report& report) {
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

/// One prompt a unit, asked; what it took is in the report.
///
/// Errors  those of ask_all, and what ended the run.
template <class G>
call_results ask_for(const G& model, std::span<const prompt> prompts, asking_options calls, const expansion_run& run,
                     expansion_report& report) {
    if (run.stop.stop_possible()) calls.stop = run.stop;
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

}  // namespace QUARRY_NAMESPACE::detail
