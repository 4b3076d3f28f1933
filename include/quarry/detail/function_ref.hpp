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
        requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<Result, F&, Arguments...>)
    function_ref(F&& f) noexcept  // NOLINT: implicit
        : target_(address_of(f)), call_([](void* target, Arguments... arguments) -> Result {
              if constexpr (std::is_void_v<Result>) called<F>(target)(std::forward<Arguments>(arguments)...);
              else return called<F>(target)(std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(target_, std::forward<Arguments>(arguments)...); }

   private:
    // A function has no address that converts to void*; what is kept of it is the pointer itself.
    template <class F>
    static constexpr bool is_function = std::is_function_v<std::remove_reference_t<F>>;

    template <class F>
    static void* address_of(F& f) noexcept {
        if constexpr (is_function<F>) return reinterpret_cast<void*>(&f);
        else return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    }
    template <class F>
    static decltype(auto) called(void* target) noexcept {
        if constexpr (is_function<F>) return *reinterpret_cast<std::remove_reference_t<F>*>(target);
        else return *static_cast<std::remove_reference_t<F>*>(target);
    }

    void* target_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace QUARRY_NAMESPACE::detail
