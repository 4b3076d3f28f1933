// A layer: one population of keys that a library keeps for its units, and the version of who makes them.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "../build.hpp"
#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/key.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../expand/expansion.hpp"
#include "../expand/key_expander.hpp"
#include "../model/plan.hpp"

namespace QUARRY_NAMESPACE {

/// Any expander, with a version that changes when its keys would: it is saved with the library, and a library that was
/// saved under another is refused.
///
/// An expander of a library is shown the articles of one change and no others. What it gives for an article must not
/// depend on who else is there, or the library would not be what a build from nothing makes.
class layer {
   public:
    /// `vectors`: false for a population that is searched by words alone.
    /// Errors  usage_error `layer.version` for an empty version.
    template <KeyExpander X>
    explicit layer(X expander, std::string version, bool vectors = true)
        : kind_(expander.kind()), level_(expander.level()), version_(std::move(version)), vectors_(vectors) {
        if (version_.empty())
            detail::raise<usage_error>("layer.version", "quarry::layer: an expander needs a version, such as \"1\"");
        asks_ = PreparingExpander<X>;
        const auto held = std::make_shared<const X>(std::move(expander));
        if (asks_)
            plan_ = [held](source_ref source, std::span<const unit_id> units, const plan_options& options) {
                if constexpr (requires { { held->plan(source, units, options) } -> std::same_as<call_plan>; })
                    return held->plan(source, units, options);
                else
                    return call_plan{.calls = units.size()};
            };
        make_ = [held](source_ref source, std::span<const unit_id> units, std::stop_token stop, build_report& report) {
            if constexpr (PreparingExpander<X>) {
                const auto prepared = held->prepare(source, units, expansion_run{std::move(stop)});
                report.expansion = prepared.report();
                return detail::keys_of(source, units, prepared, report);
            } else {
                return detail::keys_of(source, units, *held, report);
            }
        };
    }

    key_kind kind() const noexcept { return kind_; }
    unit_kind level() const noexcept { return level_; }
    const std::string& version() const noexcept { return version_; }
    bool has_vectors() const noexcept { return vectors_; }
    /// Does it ask a model for its keys?
    bool asks() const noexcept { return asks_; }

    /// The keys of these units, which are of its level.
    std::vector<key> keys(source_ref source, std::span<const unit_id> units, std::stop_token stop,
                          build_report& report) const {
        return make_(source, units, std::move(stop), report);
    }

    /// What asking for these units would take. Where the expander cannot say, a call a unit.
    call_plan plan(source_ref source, std::span<const unit_id> units, const plan_options& options = {}) const {
        return plan_ ? plan_(source, units, options) : call_plan{};
    }

   private:
    key_kind kind_;
    unit_kind level_;
    std::string version_;
    bool vectors_, asks_ = false;
    std::function<std::vector<key>(source_ref, std::span<const unit_id>, std::stop_token, build_report&)> make_;
    std::function<call_plan(source_ref, std::span<const unit_id>, const plan_options&)> plan_;  // null: asks nobody
};

}  // namespace QUARRY_NAMESPACE
