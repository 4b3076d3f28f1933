// Query probers: from the question that was asked to what is searched.
//
// A prober may search for other words (a rewrite, a hypothetical answer), narrow the search by a filter it read in the
// question, or both. What it makes is a proposal: retrieve/probed.hpp runs it, ANDs its filter with the query's own and
// the scope, and says in the trace what became of it.
//
// A prober sees the question and can pay for model calls. It never sees the filter of the query or its scope, so no
// reply of a model can be about them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/filter.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// One text to search for, and what its list is worth beside the others'.
struct probe {
    std::string text;
    float weight = 1.0f;

    friend bool operator==(const probe&, const probe&) = default;
};

/// What happened to a part of a proposal. `what` of the note quotes the part.
enum class probe_code : std::uint8_t {
    snapped,       // a value was taken for a stored one that is written differently
    converted,     // a value was converted to its field's type without loss
    ambiguous,     // could mean several fields or values: not read
    unread,        // words that name a value, a year or a number and became no condition
    conflict,      // a second value for a field that has one: not read
    dropped_leaf,  // a condition that is unknown or impossible was left out
    dropped_filter,
    limited,     // a limit was clamped or ignored
    original,    // there was no usable text, so the question's own is searched
    unreadable,  // a reply was not understood
    repaired,    // a second reply was asked for and used
    duplicate,   // a text that was there already
};

constexpr std::string_view name_of(probe_code code) noexcept {
    constexpr std::string_view names[] = {"snapped",  "converted",    "ambiguous",      "unread",
                                          "conflict", "dropped_leaf", "dropped_filter", "limited",
                                          "original", "unreadable",   "repaired",       "duplicate"};
    return names[static_cast<std::size_t>(code)];
}

struct probe_note {
    probe_code code;
    std::string what;
};

inline std::string to_string(const probe_note& note) {
    return note.what.empty() ? std::string(name_of(note.code)) : detail::concat(name_of(note.code), ": ", note.what);
}

/// What a prober makes of a question.
struct probed_query {
    std::vector<probe> probes{};         // at least one, none of them empty
    std::optional<filter> narrowed{};    // ANDed with what the query asks for itself
    std::optional<std::size_t> limit{};  // at least 1
    bool complete = true;                // everything that looks like a condition became one
    std::vector<probe_note> notes{};
};

}  // namespace QUARRY_NAMESPACE
