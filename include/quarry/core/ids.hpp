// Ids: numbers that cannot be mistaken for one another.
//
// A unit is something that can be returned: an article, a section, a chunk, a generated summary. A key is a text that
// was indexed for a unit. Unit ids are given in corpus order and never reused; key ids belong to one index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

enum class unit_id : std::uint32_t {};
enum class key_id : std::uint32_t {};

/// The position of an id in an array that has one place per id.
constexpr std::size_t index_of(unit_id unit) noexcept { return static_cast<std::size_t>(unit); }
constexpr std::size_t index_of(key_id key) noexcept { return static_cast<std::size_t>(key); }

/// The id at a position. Requires  position < 2^32 - 1.
constexpr unit_id unit_at(std::size_t position) noexcept { return unit_id{static_cast<std::uint32_t>(position)}; }
constexpr key_id key_at(std::size_t position) noexcept { return key_id{static_cast<std::uint32_t>(position)}; }

/// Stands for "no key of this index": what an index answers for a unit it does not hold.
inline constexpr key_id no_key{UINT32_MAX};

}  // namespace QUARRY_NAMESPACE
