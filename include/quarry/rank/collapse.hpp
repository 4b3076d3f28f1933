// Collapse: from ranked keys to ranked units.
//
// An article may own forty keys and a question may meet a dozen of them; the reader wants the article once, by the key
// that found it best. It is not fusion: all keys come from one index, so their scores share a scale.
//
// The surprising thing: more keys are more lottery tickets. With best-key scoring and a question of pure noise, units
// with ten keys take nine of ten places from units with one. Keep the number of keys per kind alike, and kinds apart.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../config.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"

namespace QUARRY_NAMESPACE {

/// The units behind `keys`, each once, by its best key.
///
/// Requires  keys in the order every index returns them: score descending, then unit, then key.
/// Order     unchanged: dropping elements cannot disturb it.
/// Cost      two passes over n keys, and one bit per unit id up to the largest.
inline std::vector<scored_key> collapse(std::span<const scored_key> keys) {
    std::size_t universe = 0;
    for (const scored_key& k : keys) universe = (std::max)(universe, index_of(k.unit) + 1);
    std::vector<bool> seen(universe);
    std::vector<scored_key> units;
    for (const scored_key& k : keys) {
        if (seen[index_of(k.unit)]) continue;  // the first key of a unit is its best: keys come best first
        seen[index_of(k.unit)] = true;
        units.push_back(k);
    }
    return units;
}

}  // namespace QUARRY_NAMESPACE
