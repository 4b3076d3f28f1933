// Floors and caps: stages that keep fewer hits.
//
//     dense(kb.vectors, embed) | at_least<cosine_scale>{0.3f} | per_article(2)
//
// A floor names the scale it was written for and compiles on that scale only. A hit exactly at the floor is kept.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"

namespace QUARRY_NAMESPACE {

/// Keeps hits with score >= value.
///
/// Errors  usage_error `threshold.nan`.
template <Scale S>
struct at_least {
    float value;

    constexpr at_least(float v) : value(v) {  // NOLINT: at_least<cosine_scale>{0.3f} and .floor = 0.3f both read well
        if (detail::is_nan(v)) detail::raise<usage_error>("threshold.nan", "quarry::at_least: the floor is NaN");
    }
};

/// A retriever without the hits below a floor.
template <Retriever Base>
class floored_retriever : public retriever_interface<floored_retriever<Base>> {
   public:
    using scale = typename Base::scale;

    floored_retriever(Base base, at_least<scale> floor) : base_(std::move(base)), floor_(floor) {}

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        auto found = base_.run(q, k);
        const std::size_t before = found.size();
        std::erase_if(found.hits, [&](const auto& h) { return h.score < floor_.value; });
        q.tell({trace_code::floored, "floor", before, found.size(), floor_.value});
        return found;
    }

   private:
    Base base_;
    at_least<scale> floor_;
};

template <Retriever Base, Scale S>
auto operator|(Base base, at_least<S> floor) {
    static_assert(std::same_as<typename Base::scale, S>,
                  "quarry: a floor of one scale cannot be applied to scores of another");
    static_assert(!std::same_as<S, selection_scale> && !std::same_as<S, unknown_scale>,
                  "quarry: on this scale the position is the truth and no floor has a meaning");
    return floored_retriever<Base>(std::move(base), floor);
}

/// A retriever of which a predicate over what was kept so far drops hits; asks its base for more until k are left.
template <Retriever Base, class MakeKeep>
class thinned_retriever : public retriever_interface<thinned_retriever<Base, MakeKeep>> {
   public:
    using scale = typename Base::scale;

    thinned_retriever(Base base, MakeKeep make_keep, trace_code code)
        : base_(std::move(base)), make_keep_(std::move(make_keep)), code_(code) {}

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        return detail::widened(
            k, [&](std::size_t n) { return base_.run(q, n); },
            [&](std::vector<hit<scale>> hits) {
                const std::size_t before = hits.size();
                std::erase_if(hits, [keep = make_keep_(source())](const auto& h) mutable { return !keep(h.unit); });
                q.tell({code_, "thin", before, hits.size()});
                return hits;
            });
    }

   private:
    Base base_;
    MakeKeep make_keep_;
    trace_code code_;
};

namespace detail {

template <class MakeKeep>
auto thin(trace_code code, MakeKeep make_keep) {
    return stage{[code, make_keep]<Retriever Base>(Base base) {
        return thinned_retriever<Base, MakeKeep>(std::move(base), make_keep, code);
    }};
}

}  // namespace detail

/// At most `most` hits of one article: its sections and chunks, and itself.
inline auto per_article(std::size_t most) {
    return detail::thin(trace_code::capped, [most](source_ref source) {
        return [most, source, count = std::unordered_map<unit_id, std::size_t>{}](unit_id unit) mutable {
            return ++count[source.article_of(unit)] <= most;
        };
    });
}

/// Of units with equal text only the best. Off unless asked for: equal texts may differ in their metadata.
inline auto distinct_texts() {
    return detail::thin(trace_code::suppressed, [](source_ref source) {
        return [source, seen = std::unordered_set<std::string>{}](unit_id unit) mutable {
            return seen.insert(std::string(source.text(unit))).second;
        };
    });
}

}  // namespace QUARRY_NAMESPACE
