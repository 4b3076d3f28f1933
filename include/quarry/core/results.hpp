// Results: ranked hits, and where each came from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "error.hpp"
#include "ids.hpp"
#include "key_index.hpp"
#include "ledger.hpp"
#include "request.hpp"
#include "scale.hpp"
#include "source.hpp"

namespace QUARRY_NAMESPACE {

/// A unit, the key it was found by, its score, and the place of its last entry in the ledger: 16 bytes.
template <Scale S>
struct hit {
    using scale = S;

    unit_id unit;
    key_id via = no_key;
    float score = 0.0f;
    std::uint32_t trail = no_entry;
};

/// Score descending, then unit id. One list never holds a unit twice, so this is a total order.
template <Scale S>
constexpr bool better(const hit<S>& a, const hit<S>& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.unit < b.unit;
}

/// complete: these are the best there are. approximate: an index that may miss some was asked. degraded: an optional
/// stage was left out, and the trace says which.
enum class result_state : std::uint8_t { complete, approximate, degraded };

constexpr std::string_view name_of(result_state state) noexcept {
    constexpr std::string_view names[] = {"complete", "approximate", "degraded"};
    return names[static_cast<std::size_t>(state)];
}

/// Hits, best first, each unit once.
///
/// It refers to the source of its retriever, which must live as long as units are looked up; an answer over a published
/// generation keeps that generation alive itself.
template <Scale S>
class results {
   public:
    using scale = S;

    std::vector<hit<S>> hits;
    result_state state = result_state::complete;

    auto begin() const noexcept { return hits.begin(); }
    auto end() const noexcept { return hits.end(); }
    std::size_t size() const noexcept { return hits.size(); }
    bool empty() const noexcept { return hits.empty(); }
    const hit<S>& operator[](std::size_t i) const noexcept { return hits[i]; }

    /// The unit of a hit: title, text, metadata.
    unit_ref unit(const hit<S>& h) const { return source()[h.unit]; }

    /// The source of the units.
    ///
    /// Errors  usage_error `results.detached` for results that no `retrieve` returned.
    source_ref source() const { return found_by().source; }

    /// The key the hit was found by, or nothing if its index keeps no words.
    ///
    /// Errors  usage_error `results.detached`.
    std::optional<matched_key> matched(const hit<S>& h) const {
        if (h.trail == no_entry || h.via == no_key) return std::nullopt;
        const ledger_entry& entry = notes()[h.trail];
        if (!entry.keys || !entry.keys->contains(h.via)) return std::nullopt;
        return matched_key{entry.keys->kind(), entry.keys->part(h.via), entry.keys->text(h.via, source())};
    }

    /// How the score came about, one line an entry of the ledger, what a number was computed from indented below it.
    ///
    /// Errors  usage_error `results.detached`.
    std::string explain(const hit<S>& h) const {
        std::string out = detail::concat(h.score, " on the ", S::name, " scale\n");
        explain(out, h.trail, 1);
        return out;
    }

    const ledger& notes() const { return *found_by().notes; }

    /// Did filter and scope of the query let this unit through? For what widens a hit to the text around it.
    ///
    /// Errors  usage_error `results.detached`.
    bool admits(unit_id unit) const {
        const accept a = found_by().selected.returned();
        return (a.units || !a.expression) && a.contains(unit);
    }

    /// Ties the hits to the request that found them. `pin` keeps a generation alive.
    void attach(const request& r, std::shared_ptr<const void> pin = nullptr) {
        origin_ = std::make_shared<const origin>(origin{r.source(), r.share_notes(), r.selected(), std::move(pin)});
    }

    /// Keeps alive what the source and the keys are part of, such as a generation, as long as there is a copy of these.
    void pin(std::shared_ptr<const void> held) {
        origin o = found_by();
        o.pin = std::move(held);
        origin_ = std::make_shared<const origin>(std::move(o));
    }

   private:
    struct origin {
        source_ref source;
        std::shared_ptr<const ledger> notes;
        selection selected;
        std::shared_ptr<const void> pin;
    };

    const origin& found_by() const {
        if (!origin_) detail::raise<usage_error>("results.detached", "quarry::results: no retriever returned these");
        return *origin_;
    }

    void explain(std::string& out, std::uint32_t place, std::size_t depth) const {
        for (; place != no_entry; place = notes()[place].beside) {
            const ledger_entry& e = notes()[place];
            out += detail::concat(std::string(2 * depth, ' '), e.score, " by ", e.stage);
            if (e.rank != 0) out += detail::concat(", rank ", e.rank);
            if (e.raw != e.score) out += detail::concat(", from ", e.raw);
            if (e.weight != 1.0f) out += detail::concat(", weight ", e.weight);
            if (e.from == no_entry && e.keys && e.keys->contains(e.key)) {
                const key_part part = e.keys->part(e.key);
                out += detail::concat(", key ", name_of(part));
                if (part != key_part::whole) out += ' ' + detail::quoted(e.keys->text(e.key, source()));
            }
            out += '\n';
            explain(out, e.from, depth + 1);
        }
    }

    std::shared_ptr<const origin> origin_;
};

}  // namespace QUARRY_NAMESPACE
