// Our measures against trec_eval's own test files and outputs (version 10.0, `make quicktest`).
#include <sstream>

#include "data/sets.hpp"

using namespace quarry;

namespace {

struct expected_value {
    std::string measure, query;
    double value;
};

// Lines `measure query value`; what is no number (runid, relstring) is left out.
std::vector<expected_value> outputs(const std::string& name) {
    std::vector<expected_value> out;
    std::istringstream lines(detail::read_file(data::path_of("oracles/trec_eval/" + name)));
    for (std::string measure, query, value; lines >> measure >> query >> value;)
        if (value.find_first_not_of("-.0123456789") == std::string::npos)
            out.push_back({measure, query, std::stod(value)});
    return out;
}

// The values of a measure as trec_eval names it, per query; empty for those that we do not have.
std::vector<double> values(const evaluation& e, const std::string& name) {
    const std::size_t cut = name.find_last_of('_');
    const std::string kind = name.substr(0, cut), number = cut == std::string::npos ? "" : name.substr(cut + 1);
    if (name == "map") return e.per_query(average_precision{});
    if (name == "recip_rank") return e.per_query(reciprocal_rank{});
    if (name == "Rprec") return e.per_query(r_precision{});
    if (name == "ndcg") return e.per_query(ndcg_at{});
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return {};
    const std::size_t k = std::stoul(number);
    if (kind == "P") return e.per_query(precision_at{k});
    if (kind == "recall") return e.per_query(recall_at{k});
    if (kind == "ndcg_cut") return e.per_query(ndcg_at{k});
    if (kind == "success") return e.per_query(success_at{k});
    return {};
}

// Compares everything both know, to the four digits that trec_eval prints. Says how many values that were.
std::size_t compared(const evaluation& e, const std::string& outputs_name) {
    std::size_t count = 0;
    for (const expected_value& expected : outputs(outputs_name)) {
        const std::vector<double> ours = values(e, expected.measure);
        if (ours.empty()) continue;
        double value = 0.0;
        if (expected.query == "all") {
            for (const double v : ours) value += v / static_cast<double>(ours.size());
        } else {
            const auto at = std::ranges::find(e.queries(), expected.query);
            REQUIRE(at != e.queries().end());
            value = ours[static_cast<std::size_t>(at - e.queries().begin())];
        }
        INFO(outputs_name << ": " << expected.measure << " of " << expected.query);
        CHECK(value == data::near(expected.value, 0.00005 + 1e-9));
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("every measure we share with trec_eval has its value on its own test files, query by query") {
    if (!data::measured("oracles/trec_eval")) return;
    const judgements judged = read_judgements(data::path_of("oracles/trec_eval/qrels.test"));
    const rankings found = read_run(data::path_of("oracles/trec_eval/results.test"));
    // 4 measures without a cut, 27 at nine cuts, 3 of success, each for three queries and their mean.
    CHECK(compared(evaluation(found, judged, {.count_unanswered = false}), "out.test.aq") == 34 * 4);
    CHECK(compared(evaluation(found, judged, {.count_unanswered = false}), "out.test.a") == 34);
}

TEST_CASE("a query that the run lacks counts as zero, as with trec_eval -c") {
    if (!data::measured("oracles/trec_eval")) return;
    const judgements judged = read_judgements(data::path_of("oracles/trec_eval/qrels.test"));
    const rankings found = read_run(data::path_of("oracles/trec_eval/results.trunc"));
    CHECK(found.size() == 2);
    CHECK(compared(evaluation(found, judged), "out.test.aqc") >= 34 * 3);
}

TEST_CASE("graded judgements and a relevance level of 2 measure as with trec_eval -l2") {
    if (!data::measured("oracles/trec_eval")) return;
    const judgements judged = read_judgements(data::path_of("oracles/trec_eval/qrels.rel_level"));
    const rankings found = read_run(data::path_of("oracles/trec_eval/results.test"));
    CHECK(compared(evaluation(found, judged, {.relevant_from = 2, .count_unanswered = false}), "out.test.aql") ==
          34 * 4);
}
