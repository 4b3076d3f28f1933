// Asking a model for every unit: what contexts, questions and summaries have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/source.hpp"
#include "../detail/text.hpp"
#include "../model/asking.hpp"
#include "expansion.hpp"
#include "key_expander.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

/// All units of one level, in their order.
inline std::vector<unit_id> units_of(source_ref source, unit_kind level) {
    std::vector<unit_id> out;
    source.for_each_unit([&](unit_id unit) {
        if (source.kind(unit) == level) out.push_back(unit);
    });
    return out;
}

/// The text of a unit as a key has it: its title, if it has one of its own, and its words.
inline std::string words_of(source_ref source, unit_id unit) {
    const std::string_view title = source.title(unit), text = source.text(unit);
    return title.empty() ? std::string(text) : text.empty() ? std::string(title) : concat(title, ' ', text);
}

/// What units were given, one for each.
template <class T>
class by_unit {
   public:
    /// `units` ascend.
    by_unit(std::span<const unit_id> units, std::vector<T> given)
        : units_(units.begin(), units.end()), given_(std::move(given)) {}

    /// Null for a unit that is none of them.
    const T* find(unit_id unit) const noexcept {
        const auto at = std::ranges::lower_bound(units_, unit);
        return at != units_.end() && *at == unit ? &given_[static_cast<std::size_t>(at - units_.begin())] : nullptr;
    }

   private:
    std::vector<unit_id> units_;
    std::vector<T> given_;
};

/// The other half of an expander that has `prepare` and, if it asks a model, `plan` for some units.
template <class Expander>
class preparing_expander {
   public:
    /// Asks for one unit. A failed call means that it has its own words, as in a build.
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        self().prepare(source, std::span(&unit, 1))(source, unit, emit);
    }

    /// What preparing all of the source would take.
    template <class E = Expander>  // complete where it is called
    call_plan plan(source_ref source, plan_options options = {}) const
        requires requires(const E& e, std::span<const unit_id> units) { e.plan(source, units, options); }
    {
        return self().plan(source, units_of(source, self().level()), std::move(options));
    }

   private:
    const Expander& self() const noexcept { return static_cast<const Expander&>(*this); }
};

}  // namespace QUARRY_NAMESPACE::detail
