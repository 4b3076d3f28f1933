// Errors: one base, four kinds, and a stable code on each.
//
// The message is for people and may change; the code ("dense.dimension") is for programs and does not. A message names
// the function, and where two values disagree it gives both. "Nothing found" is an empty result, never an error.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

/// What every exception of this library derives from.
class error : public std::runtime_error {
   public:
    /// Requires  `code` with static lifetime: a literal.
    error(std::string_view code, const std::string& message)
        : std::runtime_error(message + " [" + std::string(code) + "]"), code_(code) {}

    std::string_view code() const noexcept { return code_; }

   private:
    std::string_view code_;
};

/// The caller asked for something that cannot be: an unknown field, a vector of another width, a NaN floor.
class usage_error : public error {
   public:
    using error::error;
};

/// A callable that was handed in (embedder, generator, reranker) returned what it may not.
class callable_error : public error {
   public:
    using error::error;
};

/// Data from outside is damaged: a file cut short, a line that is no JSON.
class data_error : public error {
   public:
    using error::error;
};

/// The query was stopped: by its stop token, its deadline, or its budget.
class cancelled : public error {
   public:
    using error::error;
};

namespace detail {

// Out of line and cold, so that the code which checks stays small.
template <class Error>
[[noreturn, gnu::noinline, gnu::cold]] void raise(std::string_view code, const std::string& message) {
    throw Error(code, message);
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
