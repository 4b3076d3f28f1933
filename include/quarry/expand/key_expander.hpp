// Expanders: from a unit to the keys that are indexed for it.
#pragma once

#include <concepts>

#include "../config.hpp"
#include "../core/key.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../detail/function_ref.hpp"

namespace QUARRY_NAMESPACE {

using key_sink = detail::function_ref<void(key)>;

/// Emits keys for the unit it is given or for an ancestor of it; the same keys for the same unit. It may emit none, and
/// building then reports the unit.
template <class X>
concept KeyExpander = requires(const X& expander, source_ref source, unit_id unit, key_sink emit) {
    { expander.kind() } -> std::same_as<key_kind>;    // the population its keys belong to
    { expander.level() } -> std::same_as<unit_kind>;  // the units it is asked about
    expander(source, unit, emit);
};

}  // namespace QUARRY_NAMESPACE
