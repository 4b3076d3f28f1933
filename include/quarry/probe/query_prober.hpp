// Query probers: from the question that was asked to what is searched.
//
// A prober may search for other words (a rewrite, a hypothetical answer), narrow the search by a filter it read in the
// question, or both. What it makes is a proposal: retrieve/probed.hpp runs it, ANDs its filter with the query's own and
// the scope, and says in the trace what became of it.
//
// A prober is handed a `question`: the words, and the means to pay for model calls. The filter of the query and its
// scope are not in it, so no prompt can tell them and no reply of a model can be about them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/filter.hpp"
#include "../core/request.hpp"
#include "../detail/text.hpp"
#include "../model/generator.hpp"
#include "../model/remembered_reply.hpp"
#include "../text/unicode.hpp"

namespace QUARRY_NAMESPACE {

/// One text to search for, and what its list is worth beside the others'.
struct probe {
    std::string text;
    float weight = 1.0f;
    std::vector<std::string> imagined{};  // passages whose rows a search by meaning averages in, see request::imagined

    friend bool operator==(const probe&, const probe&) = default;
};

/// What happened to a part of a proposal. `what` of the note quotes the part.
enum class probe_code : std::uint8_t {
    snapped,         // a value was taken for a stored one that is written differently
    converted,       // a value was converted to its field's type without loss
    ambiguous,       // could mean several fields or values: not read
    unread,          // words that name a value, a year or a number and became no condition
    conflict,        // a second value for a field that has one: not read
    dropped_leaf,    // a condition that is unknown or impossible was left out
    dropped_filter,  // the whole filter was
    limited,         // a limit was clamped or ignored
    original,        // the text proposed was not fit to be searched for
    unreadable,      // a reply was not understood
    repaired,        // a second reply was asked for
    duplicate,       // a text that was there already
    noticed,         // what the reader of the reply noticed
};

constexpr std::string_view name_of(probe_code code) noexcept {
    constexpr std::string_view names[] = {"snapped",      "converted",      "ambiguous", "unread",   "conflict",
                                          "dropped_leaf", "dropped_filter", "limited",   "original", "unreadable",
                                          "repaired",     "duplicate",      "noticed"};
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

/// What a prober sees of a request.
class question {
   public:
    /// The request must outlive it.
    explicit question(request& r) : request_(&r) {}

    std::string_view text() const noexcept { return request_->text(); }

    /// The generator's reply. The same prompt of the same prober is paid for once a request.
    ///
    /// Errors  `cancelled` before the call; whatever the generator throws, unchanged.
    template <Generator G>
    completion reply(callable_identity who, const G& generator, const prompt& p) {
        return detail::remembered_reply(*request_, who, generator, p);
    }

   private:
    request* request_;
};

template <class P>
concept QueryProber = requires(const P& prober, question& q) {
    { prober(q) } -> std::same_as<probed_query>;  // safe from several threads, or wrapped in serialized()
};

/// `original` and after it those of `proposed` that say something else, case aside; the first of equals stays. The
/// question with imagined passages is something else than the question.
inline std::vector<probe> distinct_probes(probe original, const std::vector<probe>& proposed) {
    const auto folded = [](const probe& p) { return case_folded(detail::trimmed(p.text)); };
    std::vector<std::string> seen{folded(original)};
    std::vector<probe> out{std::move(original)};
    for (const probe& p : proposed) {
        const std::string own = folded(p);
        bool known = false;
        for (std::size_t i = 0; i < out.size() && !known; ++i) known = seen[i] == own && out[i].imagined == p.imagined;
        if (known) continue;
        seen.push_back(own);
        out.push_back(p);
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
