// Why not: where a unit that was expected got lost.
//
//     std::cout << to_string(why_not(search, "reset password", 5, *articles.find("reset"))) << '\n';
//
// It asks the pipeline again: whether filter and scope let the unit through, and which condition does not; where the unit
// stands if everything is asked for; and what becomes of it when it is the only one that may be returned, so that the
// stage at which one hit becomes none is the stage that dropped it.
//
// For people who debug: it searches up to three times, and pays for callables each time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

enum class loss : std::uint8_t {
    none,       // it is among the k
    scope,      // the scope does not let it through
    filter,     // the filter does not: `what` is the first condition that fails
    kind,       // generated text, which is returned only where that is asked for
    beyond_k,   // it comes at `rank`, behind the k
    dropped,    // a stage drops it even when it is alone: `what` is the stage and what it did
    not_found,  // no leg finds it even when it is alone
    outranked,  // alone it is found; in company it is beyond a stage's pool, merged into another, or over a cap
};

constexpr std::string_view name_of(loss l) noexcept {
    constexpr std::string_view names[] = {"returned", "out of scope", "filtered out", "generated text",
                                          "behind the k", "dropped by a stage", "found by no leg", "outranked"};
    return names[static_cast<std::size_t>(l)];
}

struct why_not_report {
    loss reason = loss::none;
    std::size_t rank = 0;  // in the whole answer, from 1; 0: not in it
    std::string what{};
};

inline std::string to_string(const why_not_report& r) {
    std::string out(name_of(r.reason));
    if (r.rank != 0) out += detail::concat(", rank ", r.rank);
    if (!r.what.empty()) out += detail::concat(": ", r.what);
    return out;
}

/// Why `unit` is not among the k best for `q`, or where it is.
///
/// Requires  a query without a prepared selection, and a source that evaluates filters itself.
/// Cost      three searches.
/// Errors    those of the retriever.
template <Retriever R>
why_not_report why_not(const R& search, const query& q, std::size_t k, unit_id unit);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline bool lets_through(source_ref source, const filter* where, const scope* within, bool generated, unit_id unit) {
    return source.select({where, within, generated, std::nullopt}).returned().contains(unit);
}

/// The first condition of a filter that the unit fails, of those that are joined by `and` at the top.
inline std::string failing_condition(source_ref source, const filter& f, unit_id unit) {
    const scope everything = scope::everything();
    if (f.op() == filter_op::all_of)
        for (const filter& part : f.children())
            if (!lets_through(source, &part, &everything, true, unit)) return failing_condition(source, part, unit);
    return f.to_string();
}

}  // namespace detail

template <Retriever R>
why_not_report why_not(const R& search, const query& q, std::size_t k, unit_id unit) {
    const source_ref source = search.source();
    const scope everything = scope::everything();
    const scope* within = q.scoped() ? &*q.scoped() : &everything;
    if (!detail::lets_through(source, nullptr, within, true, unit)) return {loss::scope, 0, {}};
    if (q.filtered() && !detail::lets_through(source, &*q.filtered(), within, true, unit))
        return {loss::filter, 0, detail::failing_condition(source, *q.filtered(), unit)};
    if (!detail::lets_through(source, nullptr, within, q.includes_generated(), unit)) return {loss::kind, 0, {}};

    const auto all = search.retrieve(q, SIZE_MAX / 4);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].unit == unit) {
            const auto few = search.retrieve(q, k);
            const bool in = std::any_of(few.begin(), few.end(), [&](const auto& h) { return h.unit == unit; });
            return {in ? loss::none : loss::beyond_k, i + 1, {}};
        }

    // The same question among this unit alone.
    auto only = std::make_shared<unit_set>(source.size());
    only->insert(unit);
    trace told;
    query alone = q.text();
    alone.where(selection(std::nullopt, only, only).made_by(source.state())).traced(told);
    const auto found = search.retrieve(alone, 1);
    if (!found.empty()) return {loss::outranked, 0, {}};
    for (const trace_event& e : told.without_times().events) {
        const bool keys = e.code == trace_code::searched || e.code == trace_code::widened ||
                          e.code == trace_code::filtered || e.code == trace_code::embedded;
        if (!keys && e.in != 0 && e.out == 0 && e.code != trace_code::unknown && e.code != trace_code::collapsed)
            return {loss::dropped, 0, to_string(e)};
    }
    return {loss::not_found, 0, {}};
}

}  // namespace QUARRY_NAMESPACE
