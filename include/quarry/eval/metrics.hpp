// Metrics: how good rankings are, by trec_eval's definitions and conventions.
//
//     const evaluation found(answers, judged);
//     found.mean(ndcg_at{10});
//     found.per_query(recall_at{20});
//
// A measure is a function of one query's grades in ranked order; a lambda is one too. An evaluation grades rankings by
// judgements and averages measures over queries.
//
// The surprising things, all of them trec_eval's: the order is that of the scores, and equal scores are ordered by id,
// descending; where a document stands in its list says nothing. Scores are compared as floats. A document nobody judged
// is not relevant. And a query that was judged but not answered counts as zero (trec_eval -c), since leaving it out
// rewards a retriever for saying nothing.
//
// Source  trec_eval 10.0 (NIST); Jaervelin and Kekaelaeinen, 2002, for nDCG.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// A document as a run file has it: by the caller's own id.
struct scored_document {
    std::string id;
    float score = 0.0f;

    friend bool operator==(const scored_document&, const scored_document&) = default;
};

using ranking = std::vector<scored_document>;
using rankings = std::map<std::string, ranking, std::less<>>;  // by query id

/// Grades: above 0 is relevant, 0 and below is not; what is absent was not judged.
using grades = std::map<std::string, int, std::less<>>;         // by document id
using judgements = std::map<std::string, grades, std::less<>>;  // by query id

/// What a measure sees of one query.
struct graded_ranking {
    std::vector<int> ranked;   // grades of the documents found, best first; 0 where nobody judged
    std::vector<int> ideal;    // every judged grade above 0, found or not, largest first
    std::size_t relevant = 0;  // judged documents of `relevant_from` or more, found or not
    int relevant_from = 1;

    /// How many of the first k are relevant.
    std::size_t relevant_in(std::size_t k) const noexcept {
        const auto end = ranked.begin() + static_cast<std::ptrdiff_t>((std::min)(k, ranked.size()));
        return static_cast<std::size_t>(std::count_if(ranked.begin(), end, [&](int g) { return g >= relevant_from; }));
    }
};

template <class M>
concept Measure = requires(const M& measure, const graded_ranking& query) {
    { measure(query) } -> std::convertible_to<double>;
};

/// Discounted gain of the first k over that of the ideal ranking: gain / log2(rank + 1).
///
/// The ideal is made of all judged documents. Grades below 0 gain nothing. `relevant_from` has no say here.
/// Errors  usage_error `eval.grade` for an exponential gain beyond 2^62.
struct ndcg_at {
    std::size_t k = SIZE_MAX;
    bool exponential = false;  // 2^grade - 1 in place of the grade: the other nDCG, and not trec_eval's

    double operator()(const graded_ranking& query) const {
        const double ideal = gained(query.ideal);
        return ideal > 0.0 ? gained(query.ranked) / ideal : 0.0;
    }

   private:
    double gained(std::span<const int> grades_in_order) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < (std::min)(k, grades_in_order.size()); ++i)
            if (grades_in_order[i] > 0) sum += gain(grades_in_order[i]) / std::log2(static_cast<double>(i) + 2.0);
        return sum;
    }
    double gain(int grade) const {
        if (!exponential) return static_cast<double>(grade);
        if (grade > 62)
            detail::raise<usage_error>("eval.grade", detail::concat("quarry::ndcg_at: an exponential gain of grade ",
                                                                    grade, " is beyond 2^62"));
        return std::ldexp(1.0, grade) - 1.0;
    }
};

/// The mean, over all relevant documents, of the precision where each stands; 0 for those not found. Its mean is MAP.
struct average_precision {
    double operator()(const graded_ranking& query) const noexcept {
        double sum = 0.0;
        std::size_t met = 0;
        for (std::size_t i = 0; i < query.ranked.size(); ++i)
            if (query.ranked[i] >= query.relevant_from) sum += static_cast<double>(++met) / static_cast<double>(i + 1);
        return query.relevant == 0 ? 0.0 : sum / static_cast<double>(query.relevant);
    }
};

/// 1 / rank of the first relevant document, 0 if none is among the first k. Its mean is MRR.
struct reciprocal_rank {
    std::size_t k = SIZE_MAX;

    double operator()(const graded_ranking& query) const noexcept {
        for (std::size_t i = 0; i < (std::min)(k, query.ranked.size()); ++i)
            if (query.ranked[i] >= query.relevant_from) return 1.0 / static_cast<double>(i + 1);
        return 0.0;
    }
};

/// Relevant documents among the first k, over k, however few were found.
struct precision_at {
    std::size_t k = 10;

    double operator()(const graded_ranking& query) const noexcept {
        return k == 0 ? 0.0 : static_cast<double>(query.relevant_in(k)) / static_cast<double>(k);
    }
};

/// Relevant documents among the first k, over all that are relevant; 0 if none is.
struct recall_at {
    std::size_t k = 10;

    double operator()(const graded_ranking& query) const noexcept {
        return query.relevant == 0 ? 0.0
                                   : static_cast<double>(query.relevant_in(k)) / static_cast<double>(query.relevant);
    }
};

/// Precision after as many documents as are relevant.
struct r_precision {
    double operator()(const graded_ranking& query) const noexcept { return precision_at{query.relevant}(query); }
};

/// 1 if any of the first k is relevant.
struct success_at {
    std::size_t k = 1;

    double operator()(const graded_ranking& query) const noexcept { return query.relevant_in(k) == 0 ? 0.0 : 1.0; }
};

/// The share of relevant documents that the first k miss: 1 - recall. Not 1 - success.
struct failure_at {
    std::size_t k = 20;

    double operator()(const graded_ranking& query) const noexcept { return 1.0 - recall_at{k}(query); }
};

struct evaluation_options {
    int relevant_from = 1;         // the least grade that is relevant, at least 1; trec_eval -l
    bool count_unanswered = true;  // judged queries without a ranking count as empty ones; trec_eval -c
};

/// Rankings, graded by judgements. Rankings of queries that nobody judged are left out.
///
/// Errors  usage_error `eval.no_queries` if there is nothing to average over, `eval.duplicate_document` naming
///         query and document, `eval.not_finite` for a score, `eval.relevant_from`.
class evaluation {
   public:
    evaluation(const rankings& found, const judgements& judged, evaluation_options options = {});

    std::size_t size() const noexcept { return queries_.size(); }

    /// The ids of the queries, in ascending order, as in everything that is given per query.
    const std::vector<std::string>& queries() const noexcept { return queries_; }

    template <Measure M>
    std::vector<double> per_query(const M& measure) const {
        std::vector<double> values;
        for (const graded_ranking& query : graded_) values.push_back(static_cast<double>(measure(query)));
        return values;
    }

    template <Measure M>
    double mean(const M& measure) const {
        double sum = 0.0;
        for (const graded_ranking& query : graded_) sum += static_cast<double>(measure(query));
        return sum / static_cast<double>(graded_.size());
    }

   private:
    std::vector<std::string> queries_;
    std::vector<graded_ranking> graded_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline graded_ranking graded(std::string_view query, const ranking& found, const grades& judged, int relevant_from) {
    std::vector<const scored_document*> order;
    std::unordered_set<std::string_view> seen;
    for (const scored_document& document : found) {
        if (!is_finite(document.score))
            raise<usage_error>("eval.not_finite", concat("quarry::evaluation: query ", query, ": the score of ",
                                                         detail::quoted(document.id), " is not a finite number"));
        if (!seen.insert(document.id).second)
            raise<usage_error>("eval.duplicate_document", concat("quarry::evaluation: query ", query, ": document ",
                                                                 detail::quoted(document.id), " is ranked twice"));
        order.push_back(&document);
    }
    std::sort(order.begin(), order.end(), [](const scored_document* a, const scored_document* b) {
        return a->score != b->score ? a->score > b->score : a->id > b->id;
    });

    graded_ranking out;
    out.relevant_from = relevant_from;
    for (const scored_document* document : order) {
        const auto grade = judged.find(document->id);
        out.ranked.push_back(grade == judged.end() ? 0 : grade->second);
    }
    for (const auto& [id, grade] : judged) {
        if (grade > 0) out.ideal.push_back(grade);
        if (grade >= relevant_from) ++out.relevant;
    }
    std::sort(out.ideal.begin(), out.ideal.end(), std::greater<>());
    return out;
}

}  // namespace detail

inline evaluation::evaluation(const rankings& found, const judgements& judged, evaluation_options options) {
    if (options.relevant_from < 1)
        detail::raise<usage_error>(
            "eval.relevant_from",
            detail::concat("quarry::evaluation: grades are relevant from 1 up, not from ", options.relevant_from));
    for (const auto& [query, judged_documents] : judged) {
        const auto answer = found.find(query);
        if (answer == found.end() && !options.count_unanswered) continue;
        queries_.push_back(query);
        graded_.push_back(detail::graded(query, answer == found.end() ? ranking() : answer->second, judged_documents,
                                         options.relevant_from));
    }
    if (queries_.empty())
        detail::raise<usage_error>("eval.no_queries", detail::concat("quarry::evaluation: nothing to average over: ",
                                                                     judged.size(), " queries are judged, ",
                                                                     found.size(), " are answered, and none is both"));
}

}  // namespace QUARRY_NAMESPACE
