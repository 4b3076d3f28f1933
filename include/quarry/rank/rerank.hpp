// Rerank: a slower and better judge over the first candidates.
//
//     search | rerank(cross_encoder, {.fetch = 50})
//
// The judge reads the question and the texts of the units, since these are what will be returned. Its answers are
// remembered in the request: asking again for more pays only for what is new.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../model/embedder.hpp"

namespace QUARRY_NAMESPACE {

template <class R>
concept Reranker = requires(const R& judge, std::string_view question, std::span<const std::string_view> passages) {
    { judge(question, passages) } -> std::convertible_to<std::vector<float>>;  // one score a passage, larger is better
};

struct rerank_options {
    std::size_t fetch = 50;  // candidates that are judged; at least k
};

template <Retriever Base, Reranker Judge>
class reranked_retriever : public retriever_interface<reranked_retriever<Base, Judge>> {
   public:
    using scale = rerank_scale;

    reranked_retriever(Base base, Judge judge, rerank_options options, detail::identity_token token)
        : base_(std::move(base)), judge_(std::move(judge)), options_(options), token_(std::move(token)) {}

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        const auto candidates = base_.run(q, (std::max)(k, options_.fetch));
        const std::vector<float> scores = judged(q, candidates);
        results<scale> out;
        out.state = candidates.state;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const auto& c = candidates[i];
            out.hits.push_back({c.unit, c.via, scores[i], note(q, c, scores[i], i)});
        }
        std::ranges::sort(out.hits, [](const auto& a, const auto& b) { return better(a, b); });
        if (out.size() > k) out.hits.resize(k);
        q.tell({trace_code::reranked, "rerank", candidates.size(), out.size()});
        return out;
    }

   private:
    // The judge's scores for the candidates, bought in one call for those it has not judged in this request.
    std::vector<float> judged(request& q, const results<typename Base::scale>& candidates) const {
        const auto name = [&](unit_id unit) { return detail::concat(q.text(), '\0', index_of(unit)); };
        std::vector<unit_id> fresh;
        std::vector<std::string_view> passages;
        for (const auto& c : candidates) {
            if (q.remembered().find(token_.get(), name(c.unit))) continue;
            fresh.push_back(c.unit);
            passages.push_back(source().text(c.unit));
        }
        if (!fresh.empty()) {
            q.pay_for_a_call();
            const std::vector<float> bought = judge_(q.text(), std::span<const std::string_view>(passages));
            if (bought.size() != fresh.size())
                detail::raise<callable_error>("rerank.count",
                                              detail::concat("quarry::rerank: expected ", fresh.size(), " scores for ",
                                                             fresh.size(), " passages, got ", bought.size()));
            for (std::size_t i = 0; i < bought.size(); ++i)
                if (!detail::is_finite(bought[i]))
                    detail::raise<callable_error>("rerank.not_finite",
                                                  detail::concat("quarry::rerank: the score of passage ", i, " of ",
                                                                 bought.size(), " is ", bought[i]));
            for (std::size_t i = 0; i < fresh.size(); ++i)
                q.remembered().keep(token_.get(), name(fresh[i]), {bought[i]});
        }
        std::vector<float> scores;
        for (const auto& c : candidates) scores.push_back(q.remembered().find(token_.get(), name(c.unit))->front());
        return scores;
    }

    static std::uint32_t note(request& q, const hit<typename Base::scale>& c, float score, std::size_t i) {
        const key_table* keys = c.trail == no_entry ? nullptr : q.notes()[c.trail].keys;
        return q.note({"rerank", keys, c.via, static_cast<std::uint32_t>(i + 1), c.score, 1.0f, score, c.trail});
    }

    Base base_;
    Judge judge_;
    rerank_options options_;
    detail::identity_token token_;
};

/// Lets `judge` order the first `fetch` candidates; what it did not see is not returned.
///
/// Order   the judge's score descending, then unit id.
/// Cost    one call of the judge with at most max(fetch, k) passages. A stage behind it that drops hits may ask again for
///         more; the judge is then shown what it has not seen in this request, and nothing twice.
/// Errors  callable_error `rerank.count`, `rerank.not_finite`; whatever the judge throws.
template <Reranker Judge>
auto rerank(Judge judge, rerank_options options = {}) {
    return stage{[judge = std::move(judge), options, token = detail::identity_token()]<Retriever Base>(Base base) {
        return reranked_retriever<Base, Judge>(std::move(base), judge, options, token);
    }};
}

}  // namespace QUARRY_NAMESPACE
