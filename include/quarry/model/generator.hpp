// Generators: a prompt in, a reply out. Yours, handed in.
//
// A generator may throw; the library never turns a failure into text. What techniques accept of a reply, and what they
// do with the rest, stands with each technique.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

template <class G>
concept Generator = requires(const G& generator, std::string_view prompt) {
    { generator(prompt) } -> std::convertible_to<std::string>;  // safe from several threads, or wrapped in serialized()
};

}  // namespace QUARRY_NAMESPACE
