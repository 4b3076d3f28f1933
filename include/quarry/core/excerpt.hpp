// Excerpts: parts of what was found, as bytes of a unit's text.
#pragma once

#include "../config.hpp"
#include "ids.hpp"
#include "unit.hpp"

namespace QUARRY_NAMESPACE {

/// Bytes `span` of the text of a unit.
struct excerpt {
    unit_id unit;
    byte_span span{};

    friend bool operator==(const excerpt&, const excerpt&) = default;
};

}  // namespace QUARRY_NAMESPACE
