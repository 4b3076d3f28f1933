// What a small model's certainty is worth, on recorded replies: stated, and by log-probabilities.
#include "quarry/model/confidence.hpp"

#include "data/sets.hpp"

using namespace quarry;

namespace {

// How well a number tells replies with the passage from those without: the share of pairs in which it is larger for the
// one with it, ties as half.
double area_under_curve(const std::vector<double>& with, const std::vector<double>& without) {
    double pairs = 0.0;
    for (const double a : with)
        for (const double b : without) pairs += a > b ? 1.0 : a == b ? 0.5 : 0.0;
    return pairs / static_cast<double>(with.size() * without.size());
}

struct recorded {
    nlohmann::json record;
    std::vector<scored_token> tokens;
    bool with_passage;
};

std::vector<recorded> recorded_replies(const std::string& technique) {
    std::ifstream file(data::path_of("transcripts/" + technique + ".jsonl"));
    std::vector<recorded> out;
    for (std::string line; std::getline(file, line);) {
        recorded r{nlohmann::json::parse(line), {}, false};
        if (r.record.at("model").get<std::string>().find("qwen") == std::string::npos) continue;
        for (const auto& t : r.record.at("logprobs"))
            r.tokens.push_back({t.at("token").get<std::string>(), t.at("logprob").get<float>()});
        const auto& note = r.record.at("note").get_ref<const std::string&>();
        r.with_passage = note.find("with the passage") != std::string::npos;
        out.push_back(std::move(r));
    }
    REQUIRE(out.size() == 40);
    return out;
}

}  // namespace

TEST_CASE("stated confidence tells little, log-probabilities tell much") {
    if (!data::measured("transcripts/confidence.jsonl") || !data::measured("transcripts/flare.jsonl")) return;
    std::vector<double> stated[2], answer[2], line[2];
    for (const recorded& r : recorded_replies("confidence")) {
        const auto& expected = r.record.at("expected");
        if (!expected.at("confidence").is_null())
            stated[r.with_passage].push_back(expected.at("confidence").get<double>());
        if (!expected.at("answer").is_string()) continue;
        std::string joined;
        for (const scored_token& t : r.tokens) joined += t.text;
        const auto text = expected.at("answer").get<std::string>();
        const std::size_t at = joined.find(text);
        if (at == std::string::npos || text.empty()) continue;
        answer[r.with_passage].push_back(
            static_cast<double>(least_log_probability(tokens_of(r.tokens, at, at + text.size()))));
    }
    for (const recorded& r : recorded_replies("flare")) {
        // The first line: tokens up to the first line end behind a word.
        std::size_t count = 0;
        std::string text;
        for (; count < r.tokens.size(); ++count) {
            text += r.tokens[count].text;
            if (r.tokens[count].text.find('\n') != std::string::npos && !detail::trimmed(text).empty()) break;
        }
        const float least = least_log_probability(std::span(r.tokens).first(count));
        CHECK(least == data::near(r.record.at("expected").at("min_logprob").get<double>(), .001));
        line[r.with_passage].push_back(static_cast<double>(least));
    }
    const double by_word = area_under_curve(stated[1], stated[0]), by_line = area_under_curve(line[1], line[0]),
                 by_answer = area_under_curve(answer[1], answer[0]);
    WARN("area under the curve: stated " << by_word << ", first line " << by_line << ", answer's tokens " << by_answer);
    CHECK(by_word == data::near(.58, .006));
    CHECK(by_line == data::near(.81, .01));
    CHECK(by_answer == data::near(.89, .01));
}
