// Probed: retrieval by what a prober makes of the question.
//
//     search | narrowed_by(schema_reader(fields))       one text under a narrower filter; scores keep their scale
//     search | probed_by(rewrite(model))                several texts, one search each, fused by rank
//     search | probed_by<bounded>(rewrite(model))       the same, fused by exact scores
//
// The filter that a prober read is ANDed with the query's own filter and scope; it can only take away. A prober is
// optional: where it throws, comes too late or is not paid for, the question is searched as it was asked, the result is
// `degraded` and the trace says why. So are its texts, one by one: those that come too late are not searched for. Scope
// and filter of the query are not optional and never relaxed.
//
// The surprising thing: a filter that leaves nothing is dropped by default, since a model's filter is wrong more often
// than a question is answerless. Then too the result is `degraded`, and the trace has a `relaxed` event. Where an empty
// answer is the right one ("none of your documents is from 2031"), say relaxation::none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/attempt.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../probe/query_prober.hpp"
#include "../rank/fuse.hpp"
#include "../rank/fused_lists.hpp"
#include "../rank/fuser.hpp"

namespace QUARRY_NAMESPACE {

/// What is done with a prober's filter under which nothing was found.
enum class relaxation : std::uint8_t {
    none,           // nothing was found
    one_condition,  // one condition of an `and` is dropped, those that keep most units tried first; else all
    all,            // the question is searched as it was asked
};

struct narrow_options {
    relaxation relax = relaxation::all;
    bool obey_limit = true;    // "five recipes" are five, though more were asked for
    bool fail_quietly = true;  // search plainly where the prober throws; false: its exception is the caller's
};

template <Fuser Fusion>
struct fused_probe_options {
    Fusion fusion{};                 // its weights are not used: probes have their own
    float original_weight = 1.0f;    // the question's own list; it is always searched
    bool beside_unfiltered = false;  // also search every text without the prober's filter, and fuse these lists in
    relaxation relax = relaxation::all;
    bool obey_limit = true;
    bool fail_quietly = true;
};

using probe_options = fused_probe_options<rrf>;

namespace detail {

/// The prober's proposal, or nothing where it failed and that is allowed.
template <QueryProber P>
std::optional<probed_query> proposed(const P& prober, request& q, bool fail_quietly, std::string_view stage) {
    std::optional<probed_query> out;
    bool degraded = false;
    attempt(q, {&prober, stage, fail_quietly}, degraded, [&] {
        question asked(q);
        probed_query p = prober(asked);
        for (const probe_note& note : p.notes) q.remark(stage, to_string(note));
        std::erase_if(p.probes, [](const probe& one) { return trimmed(one.text).empty(); });
        out = std::move(p);
    });
    return out;
}

/// A child under `f`, or without it where the two filters are too deep together.
inline request child_under(request& q, const std::optional<filter>& f, std::optional<std::string> words,
                           std::string_view stage) {
    if (f) {
        const std::size_t own = q.asked().filtered() ? q.asked().filtered()->depth() : 0;
        const std::size_t room = filter::deepest / 2;
        if (f->depth() <= room && own <= room) return q.narrowed(&*f, std::move(words));
        q.remark(stage, concat("the filter is left out: ", f->depth(), " levels beside ", own));
    }
    return q.narrowed(nullptr, std::move(words));
}

/// Buys what the question as it was asked needs, ahead of what is optional, where calls are counted. Elsewhere it is
/// bought with what the prober makes of it, in one call.
template <class Base>
void prepare_counted(const Base& base, std::span<request> batch) {
    for (request& q : batch)
        if (q.counts_calls()) prepare(base, std::span(&q, 1));
}

/// The filters that are tried, in this order, where nothing was found under `f`; the last one is none.
inline std::vector<std::optional<filter>> weaker(request& q, const filter& f, relaxation policy) {
    std::vector<std::optional<filter>> out;
    if (policy == relaxation::none) return out;
    constexpr std::size_t most = 16;  // conditions; every one costs an evaluation
    if (policy == relaxation::one_condition && f.op() == filter_op::all_of && f.children().size() <= most) {
        const auto all = f.children();
        std::vector<std::pair<std::size_t, std::size_t>> by_size;
        for (std::size_t i = 0; i < all.size(); ++i) by_size.emplace_back(q.narrowed(&all[i]).possible(), i);
        detail::sort_stably(by_size, [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& [units, dropped] : by_size) {
            std::vector<filter> rest;
            for (std::size_t i = 0; i < all.size(); ++i)
                if (i != dropped) rest.push_back(all[i]);
            out.push_back(rest.size() == 1 ? rest.front() : all_of(std::move(rest)));
        }
    }
    out.push_back(std::nullopt);
    return out;
}

inline std::size_t limited(std::size_t k, const probed_query& p, bool obey) {
    return obey && p.limit ? (std::min)(k, *p.limit) : k;
}

}  // namespace detail

template <Retriever Base, QueryProber Prober>
class narrowed_retriever : public retriever_interface<narrowed_retriever<Base, Prober>> {
   public:
    using scale = typename Base::scale;

    narrowed_retriever(Base base, Prober prober, narrow_options options)
        : base_(std::move(base)), prober_(std::move(prober)), options_(options) {}

    source_ref source() const { return base_.source(); }

    void prepare(std::span<request> batch) const { detail::prepare_counted(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (q.asked().example() || detail::trimmed(q.text()).empty()) return base_.run(q, k);
        const auto p = detail::proposed(prober_, q, options_.fail_quietly, stage_name);
        if (!p) return degraded(base_.run(q, k));
        const std::size_t wanted = detail::limited(k, *p, options_.obey_limit);
        const probe first = p->probes.empty() ? probe{std::string(q.text())} : p->probes.front();
        q.tell({trace_code::probed, stage_name, p->probes.size(), 1});
        request child = detail::child_under(q, p->narrowed, first.text, stage_name);
        child.imagine(first.imagined);
        bool unpaid = false;  // other words are optional
        if (q.counts_calls())
            detail::attempt(q, {&options_, stage_name, options_.fail_quietly}, unpaid,
                            [&] { detail::prepare(base_, std::span(&child, 1)); });
        auto found = unpaid ? results<scale>{} : base_.run(child, wanted);
        if (!found.empty()) q.searched_as(child);
        if (!found.empty() || wanted == 0) return found;
        if (unpaid || first.text != q.text()) {  // all its words, before any condition is given up
            request whole = detail::child_under(q, p->narrowed, {}, stage_name);
            found = base_.run(whole, wanted);
        }
        if (unpaid) found.state = result_state::degraded;
        if (!found.empty() || !p->narrowed) return found;
        for (const auto& f : detail::weaker(q, *p->narrowed, options_.relax)) {
            request wider = detail::child_under(q, f, {}, stage_name);
            if (wider.possible() == 0) continue;
            auto more = base_.run(wider, wanted);
            if (more.empty()) continue;
            q.tell({trace_code::relaxed, stage_name, child.possible(), wider.possible()});
            return degraded(std::move(more));
        }
        return found;
    }

   private:
    static constexpr std::string_view stage_name = "narrow";

    static results<scale> degraded(results<scale> r) {
        r.state = result_state::degraded;
        return r;
    }

    Base base_;
    Prober prober_;
    narrow_options options_;
};

template <Retriever Base, QueryProber Prober, Fuser Fusion = rrf>
class probed_retriever : public retriever_interface<probed_retriever<Base, Prober, Fusion>> {
    static constexpr bool exact = detail::needs_exact_scores<Fusion>;
    static_assert(!exact || BoundedRetriever<Base>,
                  "quarry: this fuser needs a search that can score given units and knows its bounds; use rrf for others");

   public:
    using scale = typename Fusion::scale;

    probed_retriever(Base base, Prober prober, fused_probe_options<Fusion> options)
        : base_(std::move(base)), prober_(std::move(prober)), options_(std::move(options)) {
        options_.fusion.check();
        detail::checked_weights(std::span(&options_.original_weight, 1), 1);
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare_counted(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        const bool plain = q.asked().example() || detail::trimmed(q.text()).empty();
        std::optional<probed_query> p;
        if (!plain) p = detail::proposed(prober_, q, options_.fail_quietly, stage_name);
        if (!p) {
            std::vector<request> alone;
            alone.push_back(q.narrowed(nullptr));
            auto out = fused(q, std::move(alone), {1.0f}, k);
            if (!plain) out.state = result_state::degraded;
            return out;
        }
        const std::size_t wanted = detail::limited(k, *p, options_.obey_limit);
        const std::vector<probe> texts = distinct_probes({std::string(q.text()), options_.original_weight}, p->probes);
        q.tell({trace_code::probed, stage_name, p->probes.size(), texts.size()});
        auto out = searched(q, texts, p->narrowed, wanted);
        if (!out.empty() || wanted == 0 || !p->narrowed) return out;
        const std::size_t before = detail::child_under(q, p->narrowed, {}, stage_name).possible();
        for (const auto& f : detail::weaker(q, *p->narrowed, options_.relax)) {
            const std::size_t units = detail::child_under(q, f, {}, stage_name).possible();
            if (units == 0) continue;
            auto more = searched(q, texts, f, wanted);
            if (more.empty()) continue;
            q.tell({trace_code::relaxed, stage_name, before, units});
            more.state = result_state::degraded;
            return more;
        }
        return out;
    }

   private:
    static constexpr std::string_view stage_name = "probe";

    results<scale> searched(request& q, const std::vector<probe>& texts, const std::optional<filter>& f,
                            std::size_t k) const {
        std::vector<request> children;
        std::vector<float> weights;
        children.reserve(2 * texts.size());
        for (const probe& t : texts) {
            children.push_back(detail::child_under(q, f, t.text, stage_name));
            children.back().imagine(t.imagined);
            weights.push_back(t.weight);
            if (!f || !options_.beside_unfiltered) continue;
            children.push_back(q.narrowed(nullptr, t.text));
            children.back().imagine(t.imagined);
            weights.push_back(t.weight);
        }
        return fused(q, std::move(children), detail::checked_weights(weights, weights.size()), k);
    }

    results<scale> fused(request& q, std::vector<request> children, const std::vector<float>& weights,
                         std::size_t k) const {
        std::size_t fetch = (std::max)(k, options_.fusion.fetch);
        if constexpr (exact) fetch = (std::max)(fetch, k > SIZE_MAX / 5 ? SIZE_MAX : 5 * k);
        check_weights(weights);
        bool degraded = false;
        const detail::optional_stage more{&options_, stage_name, options_.fail_quietly && children.size() > 1};
        detail::attempt(q, more, degraded,
                        [&] { detail::prepare(base_, std::span(children)); });  // all texts in one call
        const std::size_t searched = degraded ? 1 : children.size();            // else the question alone
        std::vector<request*> requests;
        for (std::size_t i = 0; i < searched; ++i) requests.push_back(&children[i]);
        std::vector<char> late(searched);  // further texts are optional, one by one
        for (;;) {
            auto lists = detail::searched_lists(q, requests, [&](std::size_t i, request& r) -> detail::leg_list {
                late[i] = i != 0 && more.fails_quietly && r.late();
                if (late[i]) return {};
                auto list = detail::list_of(base_.run(r, fetch), fetch, weights[i]);
                if constexpr (exact) list.summary.bounds = base_.bounds(r);
                return list;
            });
            detail::candidate_table units(lists);
            if constexpr (exact) complete(requests, lists, units);
            auto out = detail::fused_units(q, options_.fusion, lists, units, k);
            if (exact && !detail::is_certain(options_.fusion, lists, out, k)) {
                const std::size_t wider = fetch > SIZE_MAX / 2 ? SIZE_MAX : 2 * fetch;
                q.tell({trace_code::widened, scale::name, fetch, wider});
                fetch = wider;
                continue;
            }
            if (std::ranges::count(late, true) != 0)
                detail::leave_out(q, more, "the query's deadline has passed", degraded);
            if (degraded) out.state = result_state::degraded;
            return out;
        }
    }

    // Gives each list the exact scores of the units that only others returned and its request admits.
    void complete(std::span<request* const> requests, std::vector<detail::leg_list>& lists,
                  detail::candidate_table& units) const {
        for (std::size_t i = 0; i < lists.size(); ++i) {
            if (lists[i].hits.empty()) continue;
            std::vector<unit_id> missing = units.missing(i);
            std::erase_if(missing, [&](unit_id unit) { return !requests[i]->admits(unit); });
            if (!missing.empty()) units.complete(i, lists[i], missing, base_.score(*requests[i], missing));
        }
    }

    // What a fuser asks of its weights holds for those of probes.
    void check_weights(const std::vector<float>& weights) const {
        Fusion with = options_.fusion;
        with.weights = weights;
        with.check();
    }

    Base base_;
    Prober prober_;
    fused_probe_options<Fusion> options_;
};

/// Searches for the prober's first text under its filter; the base's scores stay what they are.
///
/// Cost    the prober's calls, once a request; the base again where nothing was found.
/// Errors  usage_error for a filter of the prober that the source's schema does not fit.
template <QueryProber Prober>
auto narrowed_by(Prober prober, narrow_options options = {}) {
    return stage{[prober = std::move(prober), options]<Retriever Base>(Base base) {
        return narrowed_retriever<Base, Prober>(std::move(base), prober, options);
    }};
}

/// Searches for the question and each of the prober's texts, and fuses the lists by rank.
///
/// `probed_by<bounded>(...)` fuses by exact scores instead: the best k of all units, however many were fetched. Which of
/// the two is better was not measured, for want of judged rewrites.
///
/// Order   score descending, then unit id. By rank a list adds weight / (k + rank).
/// Cost    the prober's calls, one search of the base a text, one embedding call for all texts; where calls are counted,
///         one for the question ahead of it. By exact scores also the scores of what other texts found.
/// Errors  as above; usage_error `fuse.weights` for a weight that is negative or not finite, or above 1 where bounded.
template <Fuser Fusion = rrf, QueryProber Prober>
auto probed_by(Prober prober, fused_probe_options<Fusion> options = {}) {
    return stage{[prober = std::move(prober), options]<Retriever Base>(Base base) {
        return probed_retriever<Base, Prober, Fusion>(std::move(base), prober, options);
    }};
}

}  // namespace QUARRY_NAMESPACE
