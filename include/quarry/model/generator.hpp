// Generators: a prompt in, a reply out. Yours, handed in.
//
// Any callable that takes a text and returns one will do. One that can do more says so by its signature:
//
//     [](std::string_view text) -> std::string                      the least
//     [](const prompt& p) -> std::string                            sees the system part and the shared prefix
//     [](std::string_view text, std::stop_token stop) -> std::string   can be interrupted
//     [](const prompt& p, std::stop_token stop) -> completion       all of it, and says what it cost
//
// A generator may throw; the library never turns a failure into text. What techniques accept of a reply, and what they
// do with the rest, stands in reply.hpp and with each technique.
//
// Adaptors stack around any generator and are generators again: retry.hpp, cache.hpp, budgeted.hpp, record.hpp. Each
// has a header of its own and needs none of the others.
#pragma once

#include <concepts>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../config.hpp"
#include "completion.hpp"
#include "prompt.hpp"

namespace QUARRY_NAMESPACE {

namespace detail {

template <class G, class... Arguments>
concept answers = requires(const G& generator, const Arguments&... arguments) {
    { generator(arguments...) } -> std::convertible_to<std::string>;
};

}  // namespace detail

/// Called as const, and then safe from several threads, or wrapped in serialized().
template <class G>
concept Generator = detail::answers<G, prompt, std::stop_token> ||            // takes both
                    detail::answers<G, std::string_view, std::stop_token> ||  // a text, and can be interrupted
                    detail::answers<G, prompt> ||                             // a prompt with its parts
                    detail::answers<G, std::string_view>;                     // a text

// A generator may also have
//   name()       a text: the model's name, under which replies are remembered
//   identity()   a callable_identity that copies share

/// Asks, in the richest way that the generator understands.
///
/// Errors  whatever the generator throws, unchanged.
template <Generator G>
completion generate(const G& generator, const prompt& p, std::stop_token stop = {}) {
    const auto call = [&]() -> decltype(auto) {
        // A callable that takes a string also takes a prompt if it is a template: so the parts first, the text last.
        if constexpr (detail::answers<G, prompt, std::stop_token>) return generator(p, std::move(stop));
        else if constexpr (detail::answers<G, prompt>) return generator(p);
        else if constexpr (detail::answers<G, std::string_view, std::stop_token>)
            return generator(std::string_view(p.whole()), std::move(stop));
        else return generator(std::string_view(p.whole()));
    };
    if constexpr (std::same_as<std::remove_cvref_t<decltype(call())>, completion>) return call();
    else return completion(std::string(call()));
}

template <class G>
concept NamedGenerator = Generator<G> && requires(const G& generator) {
    { generator.name() } -> std::convertible_to<std::string>;  // the model's
};

/// A generator from a lambda that has no name of its own.
///
///     named("qwen2.5-7b-instruct", [&](const prompt& p) { return client.chat(p.system(), p.text()); })
template <Generator F>
class named_generator {
   public:
    named_generator(std::string name, F f) : name_(std::move(name)), f_(std::move(f)) {}

    completion operator()(const prompt& p, std::stop_token stop = {}) const { return generate(f_, p, std::move(stop)); }
    const std::string& name() const noexcept { return name_; }

   private:
    std::string name_;
    F f_;
};

template <Generator F>
named_generator<F> named(std::string name, F f) {
    return named_generator<F>(std::move(name), std::move(f));
}

namespace detail {

/// Empty where the generator has no name.
template <class G>
std::string generator_name(const G& generator) {
    if constexpr (NamedGenerator<G>) return generator.name();
    else return {};
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
