// Measures retrieval on a judged set, yours or one of those that people publish figures for.
//
//     quarry_eval --set data/scifact --retriever bm25
//     quarry_eval --set mine --retriever hybrid --json
//
// A set is a folder of three files:
//
//     corpus.jsonl    one article a line:   {"id": "kb-17", "title": "Reset a password", "text": "..."}
//     queries.jsonl   one question a line:  {"id": "q1", "text": "how do I get back into my account"}
//     qrels.tsv       which answers which:  q1 <tab> kb-17 <tab> 1
//
// Fifty questions that people really asked, each with its right articles, tell more than any published figure: see
// benchmarks/quality/README.md, "Measuring your own corpus".
//
// Everything goes through the library's public pipeline: a judged set becomes a corpus (files), `build` fills indexes
// (indexes), leaves search them, `fuse` joins the leaves, stages judge and choose (pipeline), and what comes back is
// graded here as trec_eval would grade it. A file a step: each is compiled with what it needs alone.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files.hpp"
#include "indexes.hpp"
#include "pipeline.hpp"
#include "quarry/detail/json_text.hpp"
#include "quarry/eval/compare.hpp"
#include "quarry/eval/metrics.hpp"
#include "quarry/eval/run_file.hpp"
#include "quarry/eval/tune.hpp"
#include "settings.hpp"

namespace quarry_eval {
namespace {

using namespace quarry;

struct figure {
    const char* name;
    double value;
};

std::vector<figure> figures_of(const evaluation& e) {
    return {{"ndcg@10", e.mean(ndcg_at{10})},       {"map", e.mean(average_precision{})},
            {"mrr", e.mean(reciprocal_rank{})},     {"p@30", e.mean(precision_at{30})},
            {"recall@3", e.mean(recall_at{3})},     {"recall@5", e.mean(recall_at{5})},
            {"recall@10", e.mean(recall_at{10})},   {"recall@20", e.mean(recall_at{20})},
            {"recall@100", e.mean(recall_at{100})}, {"recall@1000", e.mean(recall_at{1000})},
            {"success@1", e.mean(success_at{1})},   {"success@10", e.mean(success_at{10})}};
}

void warn(const std::vector<std::string>& warnings) {
    constexpr std::size_t shown = 3;
    for (std::size_t i = 0; i < std::min(shown, warnings.size()); ++i)
        std::cerr << "quarry_eval: " << warnings[i] << '\n';
    if (warnings.size() > shown) std::cerr << "quarry_eval: and " << warnings.size() - shown << " more like these\n";
}

class stopwatch {
   public:
    /// Seconds since it was made or last asked.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
    }

   private:
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};



/// The judged questions, in the order of the file.
struct asked {
    std::vector<std::string> ids;
    std::vector<query> questions;
};

asked judged_questions(const measured_set& set) {
    asked out;
    for (const question_text& q : set.questions)
        if (set.judged.contains(q.id)) out.questions.emplace_back(q.text), out.ids.push_back(q.id);
    return out;
}

rankings rankings_of(const asked& q, const std::vector<results<unknown_scale>>& answers) {
    rankings out;
    for (std::size_t i = 0; i < q.ids.size(); ++i) out[q.ids[i]] = ranking_of(answers[i]);
    return out;
}

/// Chooses what the legs count by `s.tuned_on` questions drawn at random, which are taken out of `q`.
leg_weights tuned(const settings& s, const stock& in, const extras& more, const measured_set& set, asked& q) {
    if (s.tuned_on + 2 > q.ids.size() || s.tuned_on < 2)
        refuse(detail::concat("--tune takes 2 questions or more and must leave as many of the ", q.ids.size()));
    asked chosen, others;
    const std::vector<std::size_t> order = detail::shuffled(q.ids.size(), 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
        asked& part = i < s.tuned_on ? chosen : others;
        part.ids.push_back(q.ids[order[i]]);
        part.questions.push_back(q.questions[order[i]]);
    }
    judgements judged;
    for (const std::string& id : chosen.ids) judged[id] = set.judged.at(id);
    const tuned_dial found = tune_dial([&](const std::vector<float>& weights) {
        const auto answers =
            pipeline(s, in, more, {weights[0], weights[1]}).retrieve(chosen.questions, std::min<std::size_t>(s.depth, 10));
        return evaluation(rankings_of(chosen, answers), judged).per_query(ndcg_at{10});
    });
    q = std::move(others);
    const std::vector<float> weights = dial_weights(found.dial);
    return {weights[0], weights[1]};
}

struct measured {
    std::size_t questions = 0;
    std::vector<figure> figures;
    std::string against;  // a run, or the untuned legs
    std::optional<comparison> difference;
    leg_weights weights;
    double seconds_index = 0.0, seconds_search = 0.0;
};

measured measure(const settings& s, std::vector<std::string>& warnings) {
    measured out;
    measured_set set = read_set(s);
    std::optional<rankings> other;
    if (!s.against.empty()) other = read_run(s.against);

    stopwatch watch;
    stock in;
    fill(in, s, set);
    out.seconds_index = watch.lap();
    const auto more = read_extras(s, set);
    asked q = judged_questions(set);
    if (s.tuned_on != 0) out.weights = tuned(s, in, *more, set, q);
    const any_retriever search = pipeline(s, in, *more, out.weights);
    watch.lap();
    const auto answers = search.retrieve(q.questions, s.depth);
    out.seconds_search = watch.lap();

    const rankings found = rankings_of(q, answers);
    if (!s.run.empty()) write_run(s.run, found, s.retriever);
    judgements judged = std::move(set.judged);
    if (s.tuned_on != 0)
        std::erase_if(judged, [&](const auto& of) { return !found.contains(of.first); });
    const evaluation e(found, judged);
    out.questions = e.size();
    out.figures = figures_of(e);
    if (s.lanes.body_vectors && s.bodies() == s.returned())
        out.figures.push_back({"redundancy@10", redundancy(answers, in.body_vectors->index, 10)});
    out.against = s.against;
    if (s.tuned_on != 0) {
        other = rankings_of(q, pipeline(s, in, *more).retrieve(q.questions, s.depth));
        out.against = "legs that count in full";
    }
    if (other) {
        const std::vector<double> ours = e.per_query(ndcg_at{10});
        const std::vector<double> theirs = evaluation(*other, judged).per_query(ndcg_at{10});
        out.difference = compare({.a = ours, .b = theirs});
    }
    warnings = std::move(set.warnings);
    warnings.insert(warnings.end(), in.warnings.begin(), in.warnings.end());
    return out;
}

void print_json(const settings& s, const std::string& name, const measured& m) {
    std::string out = detail::concat("{\n  \"set\": ", detail::json_text(name), ",\n  \"retriever\": ",
                                     detail::json_text(s.retriever), ",\n  \"queries\": ", m.questions);
    const auto add = [&](std::string_view key, auto value) { out += detail::concat(",\n  \"", key, "\": ", value); };
    for (const figure& f : m.figures) add(f.name, f.value);
    if (s.tuned_on != 0) add("weight_of_words", m.weights.words);
    if (s.tuned_on != 0) add("weight_of_vectors", m.weights.vectors);
    add("seconds_index", m.seconds_index);
    add("seconds_search", m.seconds_search);
    if (m.difference)
        out += detail::concat(",\n  \"against\": {\n    \"run\": ", detail::json_text(m.against),
                              ",\n    \"ndcg@10\": {\n      \"difference\": ", m.difference->difference,
                              ",\n      \"low\": ", m.difference->low, ",\n      \"high\": ", m.difference->high,
                              "\n    }\n  }");
    std::cout << out << "\n}\n";
}

void print_text(const settings& s, const std::string& name, const measured& m) {
    std::cout << name << ", " << s.retriever << ": " << m.questions << " questions\n";
    if (s.tuned_on != 0)
        std::cout << "  tuned on " << s.tuned_on << " others: words count " << detail::fixed(m.weights.words, 1)
                  << ", vectors " << detail::fixed(m.weights.vectors, 1) << '\n';
    for (const figure& f : m.figures)
        std::cout << "  " << f.name << std::string(14 - std::string_view(f.name).size(), ' ')
                  << detail::fixed(f.value, 4) << '\n';
    std::cout << "  indexed in " << detail::fixed(m.seconds_index, 2) << " s, all questions answered in "
              << detail::fixed(m.seconds_search, 2) << " s\n";
    if (!m.difference) return;
    const comparison& d = *m.difference;
    std::cout << "  ndcg@10 against " << m.against << ": " << (d.difference < 0 ? "" : "+")
              << detail::fixed(d.difference, 4) << ", 95 % between " << detail::fixed(d.low, 4) << " and "
              << detail::fixed(d.high, 4) << "; better on " << d.better << " questions, worse on " << d.worse << '\n';
}

}  // namespace
}  // namespace quarry_eval

int main(int argc, char* argv[]) {
    const std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
    if (std::ranges::find(arguments, "--help") != arguments.end()) {
        std::cout << quarry_eval::usage;
        return 0;
    }
    try {
        const quarry_eval::settings s = quarry_eval::parsed(arguments);
        std::vector<std::string> warnings;
        const auto m = quarry_eval::measure(s, warnings);
        quarry_eval::warn(warnings);  // only now: where something is wrong, one line says what
        const std::string name = std::filesystem::weakly_canonical(s.set).filename().string();
        if (s.json) quarry_eval::print_json(s, name, m);
        else quarry_eval::print_text(s, name, m);
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "quarry_eval: " << e.what() << '\n';
        return 2;
    }
}
