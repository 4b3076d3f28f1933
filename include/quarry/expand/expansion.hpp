// Expansion: what has to be done for many units at once before their keys can be asked for.
//
// Asking a model for a hundred thousand contexts one by one takes days. An expander that asks may prepare: it is shown
// all units, makes its calls in parallel, and hands back one that has the answers, with a report of what they took.
// Asked without preparing, it makes the calls of one unit at a time, and gives the same keys.
#pragma once

#include <concepts>
#include <span>
#include <stop_token>

#include "../config.hpp"
#include "../core/ids.hpp"
#include "../core/source.hpp"
#include "../model/asking.hpp"
#include "key_expander.hpp"

namespace QUARRY_NAMESPACE {

/// What making keys took, beside the keys. All zero for expanders that ask nobody.
using expansion_report = asking_report;

struct expansion_run {
    std::stop_token stop{};
};

/// What prepare() hands back: an expander for the units it was shown.
template <class P>
concept PreparedExpander = requires(const P& prepared, source_ref source, unit_id unit, key_sink emit) {
    prepared(source, unit, emit);                                           // without a call to anybody
    { prepared.report() } -> std::convertible_to<const expansion_report&>;  // of the work that was done
};

/// An expander with work that is better done for many units at once.
///
/// prepare() throws only what ends a build: `cancelled`, a spent budget, a callback's exception. What was paid for
/// until then is in the caches that its generator was given.
template <class X>
concept PreparingExpander = KeyExpander<X> &&
    requires(const X& expander, source_ref source, std::span<const unit_id> units, const expansion_run& run) {
    { expander.prepare(source, units, run) } -> PreparedExpander;  // units in ascending order, all of its level
};

}  // namespace QUARRY_NAMESPACE
