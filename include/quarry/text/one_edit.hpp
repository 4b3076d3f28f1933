// One edit: whether two words differ by a single slip of the finger.
#pragma once

#include <string_view>

#include "../config.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

/// Whether one letter more, one less, another one, or two neighbours exchanged make `b` of `a`. Equal words are none.
///
/// Letters are code points. Cost  one pass.
bool one_edit_apart(std::string_view a, std::string_view b) noexcept;

// ------------------------------------------------------------------------------------------------------------- detail

inline bool one_edit_apart(std::string_view a, std::string_view b) noexcept {
    const auto next = [](std::string_view& rest) {
        const code_point c = decode(rest);
        rest.remove_prefix(c.length);
        return c.value;
    };
    while (!a.empty() && !b.empty()) {
        std::string_view a1 = a, b1 = b;
        const char32_t x = next(a1), y = next(b1);
        if (x == y) {
            a = a1, b = b1;
            continue;
        }
        if (a1 == b || a == b1 || a1 == b1) return true;  // one less, one more, another
        if (a1.empty() || b1.empty()) return false;
        const char32_t x2 = next(a1), y2 = next(b1);
        return x == y2 && x2 == y && a1 == b1;  // exchanged
    }
    std::string_view rest = a.empty() ? b : a;
    if (rest.empty()) return false;
    next(rest);
    return rest.empty();
}

}  // namespace QUARRY_NAMESPACE
