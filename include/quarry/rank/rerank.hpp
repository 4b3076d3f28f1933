// Rerank: a slower and better judge over the first candidates.
//
//     search | rerank(cross_encoder, {.fetch = 50})         the judge's scores; what it did not see is not returned
//     search | rerank_first(cross_encoder, {.first = 20})   the first twenty anew, the rest below, and never a failure
//
// The judge reads the question and the texts of the units, since these are what will be returned. Judges from a
// language model stand in pointwise.hpp and listwise.hpp, from token vectors in late_interaction.hpp. A judge's answers
// are remembered in the request: asking again for more pays only for what is new.
//
// The surprising thing: which of the two you want depends on what you do with a failure. `rerank` gives scores of the
// judge's scale, on which a floor may stand; without the judge there are none, so its failures are the caller's.
// `rerank_first` gives an order (selection_scale); where the judge fails the order stays what it was, the result is
// `degraded` and the trace says why.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
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
#include "../detail/floats.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"

namespace QUARRY_NAMESPACE {

template <class R>
concept Reranker = requires(const R& judge, std::string_view question, std::span<const std::string_view> passages) {
    { judge(question, passages) } -> std::convertible_to<std::vector<float>>;  // one score a passage, larger is better
};

/// A judge that is handed the request, to pay for its calls itself.
template <class J>
concept RequestJudge = requires(const J& judge, request& q, std::span<const std::string_view> passages) {
    { judge.scores(q, passages) } -> std::convertible_to<std::vector<float>>;  // as above
};

// Such a judge may also have
//   calls_for(n)   how many calls it makes for n passages at most; else 1 is kept for it in a budget

template <class J>
concept Judge = Reranker<J> || RequestJudge<J>;

/// A judge that gives an order and no scores: positions of the passages, best first, each once. Nothing: it has none.
template <class J>
concept Orderer = requires(const J& judge, request& q, std::span<const std::string_view> passages) {
    { judge.order(q, passages) } -> std::same_as<std::optional<std::vector<std::size_t>>>;
};

/// How a judge is asked.
struct judging_options {
    std::size_t batch = 0;                // passages of one call of a Reranker; 0: all at once
    std::size_t longest = 0;              // bytes of a passage; longer ones are judged piece by piece, the best counts
    bool not_a_number_is_lowest = false;  // a NaN or infinity counts as the lowest score; else it is an error
};

struct rerank_options {
    std::size_t fetch = 50;  // candidates that are judged; at least k
    judging_options judging{};
};

struct rerank_first_options {
    std::size_t first = 20;  // candidates that are judged; the others keep their places behind them
    float trust = 1.0f;      // 1: the judge's order; 0: the order that was; between: both ranks count
    judging_options judging{};
    bool fail_quietly = true;  // false: what the judge throws is the caller's
};

namespace detail {

/// Pieces of at most `longest` bytes, cut at a space where there is one, never inside a character.
std::vector<std::string_view> pieces_of(std::string_view text, std::size_t longest);

inline std::vector<float> checked_scores(std::vector<float> scores, std::size_t wanted, bool not_finite_is_lowest) {
    if (scores.size() != wanted)
        raise<callable_error>("rerank.count", concat("quarry::rerank: expected ", wanted, " scores for ", wanted,
                                                     " passages, got ", scores.size()));
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (is_finite(scores[i])) continue;
        if (!not_finite_is_lowest)
            raise<callable_error>("rerank.not_finite", concat("quarry::rerank: the score of passage ", i, " of ",
                                                              scores.size(), " is ", scores[i]));
        scores[i] = std::numeric_limits<float>::lowest();
    }
    return scores;
}

/// What judging n passages takes of a budget, as far as it is known beforehand.
template <Judge J>
cost price_of(const J& judge, std::size_t n, const judging_options& options) {
    const std::size_t step = options.batch == 0 ? (std::max)(n, std::size_t{1}) : options.batch;
    std::size_t calls = (n + step - 1) / step;
    if constexpr (requires { { judge.calls_for(n) } -> std::convertible_to<std::size_t>; }) calls = judge.calls_for(n);
    return {.calls = calls, .pairs = n};
}

/// What the judge gives for passages it is shown now.
template <Judge J>
std::vector<float> bought_scores(request& q, const J& judge, std::span<const std::string_view> passages,
                                 const judging_options& options) {
    std::vector<float> out;
    const std::size_t step = options.batch == 0 ? (std::max)(passages.size(), std::size_t{1}) : options.batch;
    q.pay({.calls = RequestJudge<J> ? 0 : (passages.size() + step - 1) / step, .pairs = passages.size()});
    for (std::size_t first = 0; first < passages.size(); first += step) {
        const auto some = passages.subspan(first, (std::min)(step, passages.size() - first));
        q.check();
        std::vector<float> scores;
        if constexpr (RequestJudge<J>) scores = judge.scores(q, some);
        else scores = judge(q.text(), some);
        scores = checked_scores(std::move(scores), some.size(), options.not_a_number_is_lowest);
        out.insert(out.end(), scores.begin(), scores.end());
    }
    return out;
}

/// The judge's scores for units, bought for those it has not judged in this request.
template <Judge J>
std::vector<float> judged_units(request& q, const J& judge, callable_identity who, std::span<const unit_id> units,
                                const judging_options& options) {
    std::vector<float> scores(units.size());
    std::vector<std::size_t> fresh, begins;
    std::vector<std::string> names;  // of the fresh ones
    std::vector<std::string_view> passages;
    for (std::size_t i = 0; i < units.size(); ++i) {
        std::string name = concat(index_of(units[i]), ' ', q.text());  // what tells them apart comes first
        if (const std::vector<float>* known = q.remembered().find(who, name)) {
            scores[i] = known->front();
            continue;
        }
        names.push_back(std::move(name));
        fresh.push_back(i);
        begins.push_back(passages.size());
        for (const std::string_view piece : pieces_of(q.source().text(units[i]), options.longest))
            passages.push_back(piece);
    }
    if (fresh.empty()) return scores;
    begins.push_back(passages.size());
    const std::vector<float> bought = bought_scores(q, judge, std::span<const std::string_view>(passages), options);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const auto at = [&](std::size_t p) { return bought.begin() + static_cast<std::ptrdiff_t>(p); };
        scores[fresh[i]] = *std::max_element(at(begins[i]), at(begins[i + 1]));
        q.remembered().keep(who, std::move(names[i]), {scores[fresh[i]]});
    }
    return scores;
}

template <class S>
std::uint32_t note_rerank(request& q, const hit<S>& c, float weight, float score, std::size_t i) {
    const key_table* keys = c.trail == no_entry ? nullptr : q.notes()[c.trail].keys;
    return q.note({"rerank", keys, c.via, static_cast<std::uint32_t>(i + 1), c.score, weight, score, c.trail});
}

template <class Hits>
std::vector<unit_id> units_of_hits(const Hits& hits, std::size_t n) {
    std::vector<unit_id> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(hits[i].unit);
    return out;
}

}  // namespace detail

template <Retriever Base, Judge J>
class reranked_retriever : public retriever_interface<reranked_retriever<Base, J>> {
 public:
    using scale = rerank_scale;

    reranked_retriever(Base base, J judge, rerank_options options, detail::identity_token token)
        : base_(std::move(base)), judge_(std::move(judge)), options_(options), token_(std::move(token)) {}

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        const std::size_t wanted = (std::max)(k, options_.fetch);
        const auto candidates = [&] {
            const std::size_t judged = (std::min)(wanted, q.possible());
            const request::reserve kept(q, detail::price_of(judge_, judged, options_.judging));
            return base_.run(q, wanted);
        }();
        const auto units = detail::units_of_hits(candidates.hits, candidates.size());
        const auto scores = detail::judged_units(q, judge_, token_.get(), units, options_.judging);
        results<scale> out;
        out.state = candidates.state;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const auto& c = candidates[i];
            out.hits.push_back({c.unit, c.via, scores[i], detail::note_rerank(q, c, 1.0f, scores[i], i)});
        }
        std::ranges::sort(out.hits, [](const auto& a, const auto& b) { return better(a, b); });
        if (out.size() > k) out.hits.resize(k);
        q.tell({trace_code::reranked, "rerank", candidates.size(), out.size()});
        return out;
    }

 private:
    Base base_;
    J judge_;
    rerank_options options_;
    detail::identity_token token_;
};

/// Lets `judge` order the first `fetch` candidates; what it did not see is not returned.
///
/// Order   the judge's score descending, then unit id.
/// Cost    one call of the judge with at most max(fetch, k) passages, or one a batch. A stage behind it that drops hits
///         may ask again for more; the judge is then shown what it has not seen in this request, and nothing twice.
/// Errors  callable_error `rerank.count`, `rerank.not_finite`; `cancelled`; whatever the judge throws.
template <Judge J>
auto rerank(J judge, rerank_options options = {}) {
    return stage{[judge = std::move(judge), options, token = detail::identity_token()]<Retriever Base>(Base base) {
        return reranked_retriever<Base, J>(std::move(base), judge, options, token);
    }};
}

template <Retriever Base, class J>
    requires(Judge<J> || Orderer<J>)
class first_reranked_retriever : public retriever_interface<first_reranked_retriever<Base, J>> {
 public:
    using scale = selection_scale;

    first_reranked_retriever(Base base, J judge, rerank_first_options options, detail::identity_token token)
        : base_(std::move(base)), judge_(std::move(judge)), options_(options), token_(std::move(token)) {
        if (!(options.trust >= 0.0f && options.trust <= 1.0f))
            detail::raise<usage_error>(
                "rerank.trust",
                detail::concat("quarry::rerank_first: trust must lie in [0, 1], it is ", options.trust));
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        const auto candidates = base_.run(q, (std::max)(k, options_.first));
        const std::size_t wanted = (std::min)(options_.first, candidates.size());
        std::vector<placed> order = in_base_order(candidates);
        bool degraded = false;
        detail::attempt(q, {&options_, "rerank", options_.fail_quietly}, degraded, [&] {
            std::vector<placed> head = judged(q, candidates, wanted);
            std::ranges::copy(head, order.begin());
        });
        results<scale> out;
        out.state = degraded ? result_state::degraded : candidates.state;
        for (std::size_t i = 0; i < (std::min)(k, order.size()); ++i) {
            const auto& c = candidates[order[i].candidate];
            const bool seen = order[i].judged;
            out.hits.push_back(
                {c.unit, c.via, order[i].score,
                 seen ? detail::note_rerank(q, c, options_.trust, order[i].score, order[i].candidate) : c.trail});
        }
        q.tell({trace_code::reranked, "rerank", wanted, out.size(), options_.trust});
        return out;
    }

 private:
    struct placed {
        std::size_t candidate;
        float score;
        bool judged = false;
    };

    static std::vector<placed> in_base_order(const results<typename Base::scale>& candidates) {
        std::vector<placed> out;
        for (std::size_t i = 0; i < candidates.size(); ++i) out.push_back({i, candidates[i].score});
        return out;
    }

    // The first `n` candidates in the judge's order, blended with the order that was.
    std::vector<placed> judged(request& q, const results<typename Base::scale>& candidates, std::size_t n) const {
        std::vector<placed> out = in_base_order(candidates);
        out.resize(n);
        if (n == 0) return out;
        const auto units = detail::units_of_hits(candidates.hits, n);
        std::vector<std::size_t> ranks(n);  // the judge's, from 1; equal scores share one
        if constexpr (Orderer<J>) {
            std::vector<std::string_view> passages;
            for (const unit_id unit : units) passages.push_back(source().text(unit));
            const auto order = judge_.order(q, std::span<const std::string_view>(passages));
            if (!order) return out;
            require_permutation(*order, n);
            for (std::size_t place = 0; place < n; ++place) {
                ranks[(*order)[place]] = place + 1;
                out[(*order)[place]].score = 1.0f / static_cast<float>(place + 1);
            }
        } else {
            const auto scores = detail::judged_units(q, judge_, token_.get(), units, options_.judging);
            const auto by_score =
                detail::stable_order(n, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
            for (std::size_t place = 0; place < n; ++place) {
                const bool tie = place > 0 && scores[by_score[place]] == scores[by_score[place - 1]];
                ranks[by_score[place]] = tie ? ranks[by_score[place - 1]] : place + 1;
                out[by_score[place]].score = scores[by_score[place]];
            }
        }
        std::vector<double> worth(n);
        for (std::size_t i = 0; i < n; ++i) {
            constexpr double flat = 60.0;  // as in reciprocal rank fusion
            const double trust = static_cast<double>(options_.trust);
            worth[i] =
                trust / (flat + static_cast<double>(ranks[i])) + (1 - trust) / (flat + static_cast<double>(i + 1));
            out[i].judged = true;
        }
        // Stable: what the judge holds for equal keeps the order that was.
        detail::sort_stably(
            out, [&](const placed& a, const placed& b) { return worth[a.candidate] > worth[b.candidate]; });
        return out;
    }

    static void require_permutation(const std::vector<std::size_t>& order, std::size_t n) {
        std::vector<bool> seen(n);
        std::size_t distinct = 0;
        for (const std::size_t i : order)
            if (i < n && !seen[i]) seen[i] = true, ++distinct;
        if (distinct != n || order.size() != n)
            detail::raise<callable_error>(
                "rerank.order", detail::concat("quarry::rerank_first: an order of ", n, " passages has ", order.size(),
                                               " places and ", distinct, " distinct ones"));
    }

    Base base_;
    J judge_;
    rerank_first_options options_;
    detail::identity_token token_;
};

/// Puts the first `first` hits into the judge's order and leaves the others where they are, behind them.
///
/// With `trust` between 0 and 1 a hit is worth trust / (60 + its rank by the judge) + (1 - trust) / (60 + its rank
/// before). Order   chosen: position is the truth. What the judge holds for equal keeps the order that was. Cost    one
/// call of the judge, or one a batch. Errors  usage_error `rerank.trust`; `cancelled` for a query that was stopped; with `fail_quietly` off, also
///         callable_error `rerank.count`, `rerank.not_finite`, `rerank.order`, and whatever the judge throws.
template <class J>
    requires(Judge<J> || Orderer<J>)
auto rerank_first(J judge, rerank_first_options options = {}) {
    return stage{[judge = std::move(judge), options, token = detail::identity_token()]<Retriever Base>(Base base) {
        return first_reranked_retriever<Base, J>(std::move(base), judge, options, token);
    }};
}

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<std::string_view> detail::pieces_of(std::string_view text, std::size_t longest) {
    if (longest == 0 || text.size() <= longest) return {text};
    std::vector<std::string_view> out;
    while (text.size() > longest) {
        std::size_t end = text.find_last_of(" \t\r\n", longest);
        if (end == std::string_view::npos || end == 0) {
            end = longest;
            while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
        }
        out.push_back(text.substr(0, end));
        text.remove_prefix(end);
        while (!text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
    }
    if (!text.empty()) out.push_back(text);
    return out;
}

}  // namespace QUARRY_NAMESPACE
