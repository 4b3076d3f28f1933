// Scope: what the application allows this query to see, whatever anybody asks.
//
// Tenant, access rights, region. It is not a filter and does not convert to or from one: a model may write filters and
// never sees the scope; the library ANDs it last, and a summary is visible only to those who may see all it was made
// from. A scope that was default-made says nothing and is refused: seeing everything has to be asked for in words.
#pragma once

#include <optional>
#include <utility>

#include "../config.hpp"
#include "error.hpp"
#include "filter.hpp"

namespace QUARRY_NAMESPACE {

class scope {
   public:
    /// Says nothing. Using it is usage_error `scope.unset`.
    scope() = default;

    /// No restriction, asked for explicitly.
    static scope everything() { return scope(true, std::nullopt); }

    /// Only units for which `f` holds.
    static scope only(filter f) { return scope(true, std::move(f)); }

    /// The condition, or null if everything may be seen.
    ///
    /// Errors  usage_error `scope.unset` if it was default-made.
    const filter* condition() const {
        if (!set_) detail::raise<usage_error>("scope.unset", "quarry::scope: a default-made scope allows nothing; say "
                                                             "scope::everything() or scope::only(filter)");
        return condition_ ? &*condition_ : nullptr;
    }

   private:
    scope(bool set, std::optional<filter> condition) : set_(set), condition_(std::move(condition)) {}

    bool set_ = false;
    std::optional<filter> condition_;
};

}  // namespace QUARRY_NAMESPACE
