// Boost: a score times a stated function of metadata.
//
//     search | boost(recency{.field = "updated", .now = today, .half_life_days = 180})
//     search | boost([](const unit_ref& u) { return u.value("pinned") ? 2.0f : 1.0f; })
//
// What is multiplied is how far the score lies above the lowest of its scale: a BM25 score itself, a cosine plus one. A
// scale without a lowest score (rerank) does not compile, since a factor would turn round what is below zero.
//
// The surprising thing: a boost is a vote of its own, and multiplied over wide ranges it outvotes the words. The ledger
// has both numbers, and the first `fetch` hits are all it can lift.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/date_time.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// A score times a factor: at least 0.
struct boosted_scale {
    static constexpr std::string_view name = "boosted";
    static constexpr float lowest = 0.0f, highest = detail::unbounded;
};

/// A factor for a unit: finite and at least 0; 1 changes nothing.
template <class F>
concept BoostFunction = requires(const F& f, const unit_ref& unit) {
    { f(unit) } -> std::convertible_to<float>;
};

/// Halves with every half-life that a unit is old: 2^(-age / half-life), and no less than `least`. What lies in the
/// future has age 0.
struct recency {
    std::string field;
    date_time now;
    float half_life_days = 180.0f;
    float least = 0.1f;
    float unknown = 1.0f;  // for units without the field, or with something else than a date in it

    float operator()(const unit_ref& unit) const;
};

/// Grows with the logarithm of a number: 1 + weight * ln(1 + value). Negative numbers count as 0.
struct popularity {
    std::string field;
    float weight = 0.1f;
    float unknown = 1.0f;  // for units without the field, or with something else than a number in it

    float operator()(const unit_ref& unit) const;
};

struct boost_options {
    std::size_t fetch = 100;  // hits that are looked at; at least k
};

template <Retriever Base, BoostFunction F>
class boosted_retriever : public retriever_interface<boosted_retriever<Base, F>> {
    static_assert(
        Base::scale::lowest > -detail::unbounded,
        "quarry: a boost multiplies how far a score lies above the lowest of its scale, and this scale has none");

 public:
    using scale = boosted_scale;

    boosted_retriever(Base base, F factor, boost_options options)
        : base_(std::move(base)), factor_(std::move(factor)), options_(options) {}

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        const auto found = base_.run(q, (std::max)(k, options_.fetch));
        results<scale> out;
        out.state = found.state;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto& h = found[i];
            const float factor = factor_(source()[h.unit]);
            if (!detail::is_finite(factor) || factor < 0.0f)
                detail::raise<callable_error>("boost.factor",
                                              detail::concat("quarry::boost: the factor of unit ", index_of(h.unit),
                                                             " must be finite and at least 0, it is ", factor));
            const float score = (h.score - Base::scale::lowest) * factor;
            if (!detail::is_finite(score))
                detail::raise<callable_error>(
                    "boost.factor", detail::concat("quarry::boost: ", h.score, " times ", factor, " is ", score));
            const key_table* keys = h.trail == no_entry ? nullptr : q.notes()[h.trail].keys;
            out.hits.push_back(
                {h.unit, h.via, score,
                 q.note({"boost", keys, h.via, static_cast<std::uint32_t>(i + 1), h.score, factor, score, h.trail})});
        }
        std::ranges::sort(out.hits, [](const auto& a, const auto& b) { return better(a, b); });
        if (out.size() > k) out.hits.resize(k);
        q.tell({trace_code::boosted, "boost", found.size(), out.size()});
        return out;
    }

 private:
    Base base_;
    F factor_;
    boost_options options_;
};

/// Multiplies the scores of the first `fetch` hits and orders them anew; hits behind them are not returned.
///
/// Order   the product descending, then unit id.
/// Errors  callable_error `boost.factor`; what the function throws.
template <BoostFunction F>
auto boost(F factor, boost_options options = {}) {
    return stage{[factor = std::move(factor), options]<Retriever Base>(Base base) {
        return boosted_retriever<Base, F>(std::move(base), factor, options);
    }};
}

// ------------------------------------------------------------------------------------------------------------- detail

inline float recency::operator()(const unit_ref& unit) const {
    if (!(half_life_days > 0.0f))
        detail::raise<usage_error>("boost.half_life",
                                   detail::concat("quarry::recency: a half-life must be above 0 days, "
                                                  "it is ",
                                                  half_life_days));
    const std::optional<field_value> value = unit.value(field);
    const date_time* when = value ? value->get_if<date_time>() : nullptr;
    if (!when) return unknown;
    constexpr double day = 24.0 * 60 * 60 * 1000;
    const double age = (std::max)(0.0, static_cast<double>(now.starts() - when->starts()) / day);
    return (std::max)(least, static_cast<float>(std::exp2(-age / static_cast<double>(half_life_days))));
}

inline float popularity::operator()(const unit_ref& unit) const {
    const std::optional<field_value> value = unit.value(field);
    if (!value) return unknown;
    double number = 0.0;
    if (const auto* integer = value->get_if<std::int64_t>())
        number = static_cast<double>(*integer);
    else if (const auto* real = value->get_if<double>())
        number = *real;
    else
        return unknown;
    return 1.0f + weight * static_cast<float>(std::log1p((std::max)(0.0, number)));
}

}  // namespace QUARRY_NAMESPACE
