#include "quarry/eval/metrics.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

// The three queries below were run through trec_eval 10.0 (-c); the figures are its own, to four digits.
//
// q1: grades found [3, 0, 2, nobody judged, 1], and one more of grade 2 that was not found.
// q2: a (0), b (1), c (nobody judged), all with one score.
// q3: judged and not in the run.
judgements three_judged() {
    return {
        {"q1", {{"a", 3}, {"b", 0}, {"c", 2}, {"e", 1}, {"f", 2}}}, {"q2", {{"a", 0}, {"b", 1}}}, {"q3", {{"a", 1}}}};
}

rankings three_found() {
    return {{"q1", {{"a", 9}, {"b", 8}, {"c", 7}, {"d", 6}, {"e", 5}}}, {"q2", {{"a", 1}, {"b", 1}, {"c", 1}}}};
}

template <class M>
double of(std::size_t query, const M& measure, evaluation_options options = {}) {
    return evaluation(three_found(), three_judged(), options).per_query(measure)[query];
}

evaluation single(ranking found, grades judged) { return evaluation({{"q", found}}, {{"q", judged}}); }

Approx to_4_digits(double value) { return Approx(value).margin(0.00005).epsilon(0); }

}  // namespace

TEST_CASE("a graded ranking measures as trec_eval measures it") {
    CHECK(of(0, average_precision{}) == to_4_digits(.5667));  // (1/1 + 2/3 + 3/5) / 4
    CHECK(of(0, reciprocal_rank{}) == 1.0);
    CHECK(of(0, precision_at{5}) == Approx(.6));
    CHECK(of(0, precision_at{10}) == Approx(.3));  // over ten, though five were found
    CHECK(of(0, recall_at{3}) == Approx(.5));
    CHECK(of(0, recall_at{5}) == Approx(.75));
    CHECK(of(0, ndcg_at{3}) == to_4_digits(.7602));  // (3 + 2/2) / (3 + 2/log2(3) + 2/2)
    CHECK(of(0, ndcg_at{5}) == to_4_digits(.7706));
    CHECK(of(0, ndcg_at{.k = 5, .exponential = true}) == to_4_digits(.8211));
    CHECK(of(0, r_precision{}) == Approx(.5));
    CHECK(of(0, success_at{1}) == 1.0);
}

TEST_CASE("the relevance level moves the binary measures and leaves nDCG alone") {
    CHECK(of(0, average_precision{}, {.relevant_from = 2}) == to_4_digits(.5556));  // (1/1 + 2/3) / 3
    CHECK(of(0, recall_at{5}, {.relevant_from = 2}) == to_4_digits(.6667));
    CHECK(of(0, ndcg_at{5}, {.relevant_from = 2}) == of(0, ndcg_at{5}));
    CHECK(code_of([] { evaluation(three_found(), three_judged(), {.relevant_from = 0}); }) == "eval.relevant_from");
}

TEST_CASE("equal scores are ordered by id, descending, wherever they stand in the list") {
    // c, b, a: the relevant b is second.
    CHECK(of(1, reciprocal_rank{}) == Approx(.5));
    CHECK(of(1, average_precision{}) == Approx(.5));
    CHECK(of(1, ndcg_at{10}) == to_4_digits(.6309));
    CHECK(of(1, success_at{1}) == 0.0);
}

TEST_CASE("ids are ordered as bytes, so that ten stands below nine and above one") {
    const grades judged{{"9", 1}};
    CHECK(single({{"10", 1}, {"9", 1}, {"1", 1}}, judged).mean(reciprocal_rank{}) == 1.0);
    CHECK(single({{"\xC3\xA9", 1}, {"9", 1}, {"z", 1}}, judged).mean(reciprocal_rank{}) == Approx(1.0 / 3));
}

TEST_CASE("scores order, positions do not") {
    CHECK(single({{"low", 1}, {"high", 2}}, {{"high", 1}}).mean(reciprocal_rank{}) == 1.0);
}

TEST_CASE("a judged query without an answer counts as zero unless asked otherwise") {
    const evaluation all(three_found(), three_judged());
    CHECK(all.size() == 3);
    CHECK(all.mean(average_precision{}) == to_4_digits(.3556));
    CHECK(all.mean(reciprocal_rank{}) == Approx(.5));
    CHECK(all.mean(precision_at{5}) == to_4_digits(.2667));
    CHECK(all.mean(recall_at{5}) == to_4_digits(.5833));
    CHECK(all.mean(ndcg_at{5}) == to_4_digits(.4672));
    CHECK(all.mean(success_at{5}) == to_4_digits(.6667));
    CHECK(all.per_query(recall_at{5}) == std::vector<double>{.75, 1.0, 0.0});
    CHECK(all.queries() == std::vector<std::string>{"q1", "q2", "q3"});

    const evaluation answered(three_found(), three_judged(), {.count_unanswered = false});
    CHECK(answered.size() == 2);
    CHECK(answered.mean(recall_at{5}) == Approx(.875));  // (.75 + 1) / 2
}

TEST_CASE("an answer to a query that nobody judged is left out") {
    rankings found = three_found();
    found["q0"] = {{"a", 1}};
    CHECK(evaluation(found, three_judged()).size() == 3);
}

TEST_CASE("a negative judgement gains nothing and is not relevant") {
    const evaluation e = single({{"spam", 2}, {"good", 1}}, {{"spam", -1}, {"good", 1}});
    CHECK(e.mean(ndcg_at{10}) == to_4_digits(.6309));  // 1 / log2(3), of an ideal 1
    CHECK(e.mean(average_precision{}) == Approx(.5));
}

TEST_CASE("an empty run is zero in every measure, and its failure is complete") {
    const evaluation e({}, three_judged());
    CHECK(e.mean(ndcg_at{10}) == 0.0);
    CHECK(e.mean(average_precision{}) == 0.0);
    CHECK(e.mean(reciprocal_rank{}) == 0.0);
    CHECK(e.mean(precision_at{10}) == 0.0);
    CHECK(e.mean(recall_at{10}) == 0.0);
    CHECK(e.mean(r_precision{}) == 0.0);
    CHECK(e.mean(success_at{10}) == 0.0);
    CHECK(e.mean(failure_at{10}) == 1.0);
}

TEST_CASE("a query without a relevant document is zero, not a division by zero") {
    const evaluation e = single({{"a", 1}}, {{"a", 0}, {"b", -2}});
    CHECK(e.mean(ndcg_at{10}) == 0.0);
    CHECK(e.mean(average_precision{}) == 0.0);
    CHECK(e.mean(recall_at{10}) == 0.0);
    CHECK(e.mean(r_precision{}) == 0.0);
}

TEST_CASE("failure is one minus the mean recall, not the share of queries without success") {
    // Recalls 1, .5 and 0: mean .5, so failure .5, while one query in three has no success.
    const judgements judged{{"1", {{"a", 1}}}, {"2", {{"a", 1}, {"b", 1}}}, {"3", {{"a", 1}}}};
    const rankings found{{"1", {{"a", 1}}}, {"2", {{"b", 1}}}, {"3", {{"x", 1}}}};
    const evaluation e(found, judged);
    CHECK(e.mean(failure_at{20}) == Approx(.5));
    CHECK(1.0 - e.mean(success_at{20}) == Approx(1.0 / 3));
}

TEST_CASE("a relevant document beyond the cut counts for nothing at the cut") {
    const evaluation e = single({{"x", 3}, {"y", 2}, {"good", 1}}, {{"good", 1}});
    CHECK(e.mean(reciprocal_rank{.k = 2}) == 0.0);
    CHECK(e.mean(reciprocal_rank{.k = 3}) == Approx(1.0 / 3));
    CHECK(e.mean(success_at{2}) == 0.0);
    CHECK(e.mean(recall_at{SIZE_MAX}) == 1.0);
    CHECK(e.mean(precision_at{0}) == 0.0);
}

TEST_CASE("the ideal of nDCG at k is made of the k best judged, retrieved or not") {
    // At 1 the ideal is the 2 that was not found; the 1 that was found gains 1 of 2.
    const evaluation e = single({{"b", 1}}, {{"a", 2}, {"b", 1}});
    CHECK(e.mean(ndcg_at{1}) == Approx(.5));
    CHECK(e.mean(ndcg_at{2}) == Approx(1.0 / (2.0 + 1.0 / std::log2(3.0))));
}

TEST_CASE("a measure of one's own is a lambda") {
    const evaluation e(three_found(), three_judged());
    CHECK(e.mean([](const graded_ranking& q) { return static_cast<double>(q.ranked.size()); }) == Approx(8.0 / 3));
}

TEST_CASE("measures agree with definitions written out slowly, on random rankings with ties") {
    std::uint32_t seed = 1;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    for (int round = 0; round < 300; ++round) {
        grades judged;
        ranking found;
        for (std::size_t i = 0; i < 12; ++i) {
            const std::string id = std::to_string(i);
            if (random(3) != 0) judged[id] = static_cast<int>(random(5)) - 1;
            if (random(3) != 0) found.push_back({id, static_cast<float>(random(4))});
        }
        if (judged.empty()) judged["0"] = 1;
        const evaluation e = single(found, judged);

        // The reference: pick the next document by the rule, n times, and count.
        std::vector<int> order;
        for (ranking rest = found; !rest.empty();) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < rest.size(); ++i)
                if (rest[i].score > rest[best].score ||
                    (rest[i].score == rest[best].score && rest[i].id > rest[best].id))
                    best = i;
            order.push_back(judged.contains(rest[best].id) ? judged[rest[best].id] : 0);
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(best));
        }
        double relevant = 0, met = 0, sum = 0;
        for (const auto& [id, grade] : judged) relevant += grade > 0;
        for (std::size_t i = 0; i < order.size(); ++i)
            if (order[i] > 0) sum += ++met / static_cast<double>(i + 1);
        const std::size_t k = 1 + random(12);
        double at_k = 0;
        for (std::size_t i = 0; i < std::min(k, order.size()); ++i) at_k += order[i] > 0;
        CHECK(e.mean(average_precision{}) == Approx(relevant == 0 ? 0.0 : sum / relevant));
        CHECK(e.mean(precision_at{k}) == Approx(at_k / static_cast<double>(k)));
        CHECK(e.mean(recall_at{k}) == Approx(relevant == 0 ? 0.0 : at_k / relevant));
        CHECK(e.mean(success_at{k}) == (at_k > 0 ? 1.0 : 0.0));
        const double ndcg = e.mean(ndcg_at{k});
        CHECK(ndcg >= 0.0);
        CHECK(ndcg <= 1.0 + 1e-12);
        CHECK((ndcg == 0.0) == (at_k == 0.0));
    }
}

TEST_CASE("a document ranked twice, a score that is no number, and nothing to average are refused by name") {
    CHECK(message_of([] {
              single({{"a", 2}, {"a", 1}}, {{"a", 1}});
          }).find("query q: document \"a\" is ranked twice") != std::string::npos);
    CHECK(code_of([] { single({{"a", std::numeric_limits<float>::quiet_NaN()}}, {{"a", 1}}); }) == "eval.not_finite");
    CHECK(code_of([] { single({{"a", std::numeric_limits<float>::infinity()}}, {{"a", 1}}); }) == "eval.not_finite");
    CHECK(code_of([] { evaluation({}, {}); }) == "eval.no_queries");
    CHECK(code_of([] {
              evaluation({{"x", {}}}, {{"y", {{"a", 1}}}}, {.count_unanswered = false});
          }) == "eval.no_queries");
    CHECK(code_of([] { single({{"a", 1}}, {{"a", 63}}).mean(ndcg_at{.k = 1, .exponential = true}); }) == "eval.grade");
}
