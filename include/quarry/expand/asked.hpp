// Asking a model for every unit: what contexts, questions and summaries have in common.
#pragma once

#include <string>
#include <vector>

#include "../config.hpp"
#include "../core/source.hpp"
#include "../detail/text.hpp"
#include "../model/asking.hpp"
#include "expansion.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

/// All units of one level, in their order.
inline std::vector<unit_id> units_of(source_ref source, unit_kind level) {
    std::vector<unit_id> out;
    for (std::size_t i = 0; i < source.size(); ++i)
        if (source.kind(unit_at(i)) == level) out.push_back(unit_at(i));
    return out;
}

/// The text of a unit as a key has it: its title, if it has one of its own, and its words.
inline std::string words_of(source_ref source, unit_id unit) {
    const std::string_view title = source.title(unit), text = source.text(unit);
    return title.empty() ? std::string(text) : text.empty() ? std::string(title) : concat(title, ' ', text);
}

}  // namespace QUARRY_NAMESPACE::detail
