// Attempts: what an optional stage may do, and what becomes of its failures.
//
// An optional stage (extra probes, reranking, compression) that fails must not cost the answer: the question is served
// without it, the result is `degraded`, and the trace says why. That a query was stopped or is late is no failure of a
// stage; neither is a lack of memory. A spent number of model calls is one: what needs no call can still be done.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "error.hpp"
#include "request.hpp"

namespace QUARRY_NAMESPACE::detail {

/// Runs `f`; where it throws and `quietly` is set, notes why under `stage` and sets `degraded`.
///
/// Errors  what `f` throws where `quietly` is not set; always `cancelled` of a query that was stopped or is late,
///         std::bad_alloc, and an error with a code that ends in ".refused", which is a policy and no failure.
template <class F>
void attempt(const request& q, bool quietly, std::string_view stage, bool& degraded, F&& f) {
    std::string why;
    try {
        f();
        return;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const error& e) {
        if (!quietly || e.code().ends_with(".refused")) throw;
        why = e.what();
    } catch (const std::exception& e) {
        if (!quietly) throw;
        why = e.what();
    } catch (...) {
        if (!quietly) throw;
        why = "an exception that is no std::exception";
    }
    q.check();
    degraded = true;
    q.tell({trace_code::degraded, stage, 1, 0});
    q.remark(stage, why);
}

}  // namespace QUARRY_NAMESPACE::detail
