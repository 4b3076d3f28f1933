// Attempts: what an optional stage may do, and what becomes of its failures.
//
// An optional stage (extra probes, reranking, diversity, compression) that fails must not cost the answer: the question
// is served without it, the result is `degraded`, and the trace says why. So it is with one that would begin after the
// deadline or that the budget does not pay: what comes last in the flow is left out first. That a query was stopped is
// no failure of a stage; neither is a lack of memory.
//
// What was left out stays so: a stage that is asked again for more does not try anew, and candidates stay comparable.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "../detail/function_ref.hpp"
#include "error.hpp"
#include "request.hpp"

namespace QUARRY_NAMESPACE::detail {

struct optional_stage {
    const void* who;            // a member of the stage: the stage itself may stand where its base does
    std::string_view name;      // a literal
    bool fails_quietly = true;  // false: it is not optional
};

inline void leave_out(request& q, const optional_stage& stage, std::string_view why, bool& degraded) {
    degraded = true;
    q.leave_out(stage.who);
    q.tell({trace_code::degraded, stage.name, 1, 0});
    q.remark(stage.name, why);
}

/// May the stage begin? Not after the deadline, nor if it was left out before: then sets `degraded`.
inline bool begins(request& q, const optional_stage& stage, bool& degraded) {
    if (!stage.fails_quietly) return true;
    if (q.left_out(stage.who)) degraded = true;
    else if (q.late()) leave_out(q, stage, "the query's deadline has passed", degraded);
    else return true;
    return false;
}

/// Runs `f` if the stage may begin. Where `f` throws, notes why and sets `degraded`.
///
/// Errors  what `f` throws where the stage is not optional; always `cancelled` of a query that was stopped, std::bad_alloc,
///         and an error with a code that ends in ".refused", which is a policy and no failure.
inline void attempt(request& q, const optional_stage& stage, bool& degraded, function_ref<void()> f) {
    if (!stage.fails_quietly) return static_cast<void>(f());
    if (!begins(q, stage, degraded)) return;
    std::string why;
    try {
        const request::optional_work optional(q);
        f();
        return;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const error& e) {
        if (e.code().ends_with(".refused")) throw;
        why = e.what();
    } catch (const std::exception& e) {
        why = e.what();
    } catch (...) {
        why = "an exception that is no std::exception";
    }
    q.check();
    leave_out(q, stage, why, degraded);
}

}  // namespace QUARRY_NAMESPACE::detail
