// A reference to a callable, two pointers wide. For sinks that are called many times and never stored.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class Signature>
class function_ref;

template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
   public:
    // The callable must outlive the reference, as a temporary in a call expression does.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::invocable<F&, Arguments...>)
    function_ref(F&& f) noexcept  // NOLINT: implicit
        : target_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
          call_([](void* target, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<F>*>(target))(std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(target_, std::forward<Arguments>(arguments)...); }

   private:
    void* target_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace QUARRY_NAMESPACE::detail
