// Identity: the unit's own words are its key.
#pragma once

#include <string>
#include <utility>

#include "../config.hpp"
#include "key_expander.hpp"

namespace QUARRY_NAMESPACE {

/// One key a unit: title and text, joined by a space.
struct identity {
    unit_kind of = unit_kind::article;  // which units get keys
    float title_weight = 1.0f;          // BM25 counts the title this many times; above 0

    key_kind kind() const noexcept { return key_kind::body; }
    unit_kind level() const noexcept { return of; }

    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        const std::string title(source.title(unit)), text(source.text(unit));
        key k{unit, key_part::whole, title.empty() ? text : text.empty() ? title : title + ' ' + text};
        if (title_weight != 1.0f) k.lexical = {{title, title_weight}, {text, 1.0f}};
        emit(std::move(k));
    }
};

}  // namespace QUARRY_NAMESPACE
