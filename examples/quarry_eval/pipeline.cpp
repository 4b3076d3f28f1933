#include "pipeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "quarry/math/cosine.hpp"
#include "quarry/probe/rewrite.hpp"
#include "quarry/probe/schema_reader.hpp"
#include "quarry/probe/step_back.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/graph.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"
#include "quarry/retrieve/raptor.hpp"
#include "quarry/retrieve/whole_article.hpp"

namespace quarry_eval {

using namespace quarry;

// By the questions' texts: that is what a prober and a judge are handed.
class extras {
   public:
    std::map<std::string, std::vector<std::string>, std::less<>> texts;
    std::map<std::string, std::map<std::string, float, std::less<>>, std::less<>> scores;  // of an article, by its text
    std::optional<field_catalog> fields;
    std::optional<unit_graph> graph;
};

std::shared_ptr<const extras> read_extras(const settings& s, const measured_set& set) {
    auto out = std::make_shared<extras>();
    if (!s.probe_texts.empty()) {
        const auto about = texts_about(s.probe_texts);
        for (const question_text& q : set.questions)
            if (const auto found = about.find(q.id); found != about.end()) out->texts[q.text] = found->second;
    }
    if (!s.rerank_scores.empty())
        for (const listed_score& l : listed_scores(s.rerank_scores, set)) {
            const std::string text(set.articles.text(l.unit));
            auto& score = out->scores[l.question].try_emplace(text, l.score).first->second;
            score = std::max(score, l.score);
        }
    if (s.self_query != "none") out->fields.emplace(set.articles);
    if (s.graph != "none") {
        out->graph.emplace(set.articles);
        for (const auto& [from, to] : listed_links(s, set.articles)) out->graph->connect(from, to);
    }
    return out;
}

namespace {

// The fusers that go by what each leg says of itself, behind one type.
struct chosen_fuser {
    using scale = unknown_scale;

    std::variant<rrf, convex, relative_score, distribution_based> by;
    std::vector<float> weights;
    std::size_t fetch = 1000;

    float contribution(const leg_summary& leg, std::uint32_t rank, float score) const {
        return std::visit([&](const auto& f) { return f.contribution(leg, rank, score); }, by);
    }
    float combine(std::span<const float> parts) const { return detail::sum_of(parts); }
    void check() const {}
};

// Fuses the legs that are used. A leg of weight 0 is not searched.
struct legs {
    lexical_retriever<bm25_index> key_words;
    dense_retriever<flat_index, chosen_embedder> key_vectors;
    lexical_retriever<bm25_index> words;
    dense_retriever<flat_index, chosen_embedder> vectors;

    any_retriever fused(const settings& s, std::array<bool, 4> used, leg_weights w) const {
        if (s.fuser == "convex") w.words *= .2f, w.vectors *= .8f;
        std::vector<float> weights{w.words, w.vectors, w.words, w.vectors};
        for (std::size_t i = 0; i < used.size(); ++i)
            if (!used[i]) weights[i] = 0.0f;
        if (s.fuser == "bounded")
            return fuse(bounded{.weights = std::move(weights)}, key_words, key_vectors, words, vectors);
        chosen_fuser by{rrf{}, std::move(weights)};
        if (s.fuser == "convex") by.by = convex{};
        if (s.fuser == "relative") by.by = relative_score{};
        if (s.fuser == "distribution") by.by = distribution_based{};
        return fuse(std::move(by), key_words, key_vectors, words, vectors);
    }
};

// What is searched. Stages are put around any_retriever, so that each is compiled once.
any_retriever searched(const settings& s, const stock& in, leg_weights weights) {
    const legs all{lexical(*in.key_words), dense(*in.key_vectors, in.embed), lexical(*in.body_words),
                   dense(*in.body_vectors, in.embed)};
    const bool by_words = s.lanes.body_words, by_vectors = s.lanes.body_vectors;
    const std::array used{s.lanes.key_words, s.lanes.key_vectors, by_words, by_vectors};
    if (s.retriever == "bm25") return all.words;
    if (s.retriever == "dense") return all.vectors;
    if (s.retriever == "hybrid" || s.retriever == "small_to_big") return all.fused(s, used, weights);
    if (s.retriever == "hierarchical")
        return hierarchical({.beams = {s.beam}, .weights = {s.blend, 1.0f - s.blend}},
                            level{unit_kind::article, lexical(*in.top_words)},
                            level{unit_kind::chunk, by_vectors ? all.fused(s, used, weights) : any_retriever(all.words)});
    if (s.retriever == "raptor") {
        const auto by_word = raptor_collapsed(all.words, lexical(*in.top_words));
        const auto by_vector = raptor_collapsed(all.vectors, dense(*in.top_vectors, in.embed));
        if (!by_vectors) return by_word;
        if (!by_words) return by_vector;
        if (s.fuser == "bounded") return fuse(bounded{}, by_word, by_vector);
        const auto articles = lift(unit_kind::article);
        return fuse(rrf{}, any_retriever(any_retriever(by_word) | articles),
                    any_retriever(any_retriever(by_vector) | articles));
    }
    if (used == std::array{true, false, false, false}) return all.key_words;
    if (used == std::array{false, true, false, false}) return all.key_vectors;
    return all.fused(s, used, weights);
}

using prober = std::function<probed_query(question&)>;

// What a model wrote for each question, taken as its replies are.
prober listed_texts(const settings& s, const extras& more) {
    return [&more, way = s.probe](question& q) {
        const auto found = more.texts.find(q.text());
        if (found == more.texts.end()) return probed_query{};
        const std::vector<std::string>& texts = found->second;
        probed_query out;
        if (way == "hyde") {
            out.probes.push_back({std::string(q.text()), 1.0f, texts});
            return out;
        }
        proposed_text_rules rules{.most = texts.size()};
        if (way == "multi") rules.weight = rewrite_options{}.weight, rules.lost = rewrite_options{}.lost;
        if (way == "stepback") rules.weight = step_back_options{}.weight, rules.lost = lost_words_policy::allow;
        return propose_texts(q.text(), {.questions = texts}, rules);
    };
}

// A judge whose scores stand in a file. What it was not asked about stays behind the rest, in the order it had.
struct listed_judge {
    const extras* listed;

    std::vector<float> scores(request& q, std::span<const std::string_view> passages) const {
        std::vector<float> out(passages.size(), 0.0f);
        const auto question = listed->scores.find(q.asked().text());
        if (question == listed->scores.end()) return out;
        float least = std::numeric_limits<float>::max();
        for (const auto& [text, score] : question->second) least = std::min(least, score);
        const float below = std::nextafter(least, std::numeric_limits<float>::lowest());
        for (std::size_t i = 0; i < passages.size(); ++i) {
            const auto found = question->second.find(passages[i]);
            out[i] = found == question->second.end() ? below : found->second;
        }
        return out;
    }
};

// An embedder for the questions alone: what has no vector is like nothing.
struct only_questions {
    static constexpr bool zero_means_unknown = true;
    chosen_embedder embedder;

    std::size_t dimension() const { return embedder.dimension(); }
    void embed(role r, std::span<const std::string_view> texts, std::span<float> rows) const {
        if (r == role::query) embedder.embed(r, texts, rows);
        else std::ranges::fill(rows, 0.0f);
    }
};

}  // namespace

any_retriever pipeline(const settings& s, const stock& in, const extras& more, leg_weights weights) {
    const any_retriever all = searched(s, in, weights);
    any_retriever search = s.retriever == "whole_article" ? any_retriever(whole_article(all))
                                                          : any_retriever(all | lift(s.returned()));
    if (more.graph) {
        const bool walks = s.graph.ends_with("walk");
        const any_retriever connected =
            walks ? any_retriever(search | walk(*more.graph)) : any_retriever(search | pagerank(*more.graph));
        search = s.graph.starts_with("fused") ? any_retriever(fuse(rrf{}, search, connected)) : connected;
    }
    // A failure here is the file's, and not one to be got around.
    if (s.probe == "hyde") search = search | narrowed_by(listed_texts(s, more), {.fail_quietly = false});
    if (s.probe == "multi" || s.probe == "stepback")
        search = search | probed_by(listed_texts(s, more), {.fail_quietly = false});
    if (more.fields)
        search = search | narrowed_by(prober(schema_reader(*more.fields, {.keep_words = s.given_vectors})));
    if (!s.rerank_scores.empty())
        search = search | rerank_first(listed_judge{&more}, {.first = std::max(s.depth, mmr{}.fetch)});
    if (s.lambda)
        search = search | diversify(*in.body_vectors, only_questions{in.embed},
                                    mmr{.lambda = *s.lambda, .fail_quietly = false});
    return search;
}

double redundancy(const std::vector<results<unknown_scale>>& answers, const flat_index& rows, std::size_t n) {
    double sum = 0.0;
    std::size_t counted = 0;
    for (const auto& answer : answers) {
        std::vector<std::vector<float>> shown;
        for (std::size_t i = 0; i < std::min(n, answer.size()); ++i)
            if (std::vector<float> row(rows.dimension()); rows.vector_of(answer[i].unit, row)) shown.push_back(row);
        double cosines = 0.0;
        for (std::size_t i = 0; i < shown.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) cosines += static_cast<double>(cosine(shown[i], shown[j]));
        const double pairs = static_cast<double>(shown.size() * (shown.size() - 1)) / 2;
        if (shown.size() > 1) sum += cosines / pairs, ++counted;
    }
    return counted == 0 ? 0.0 : sum / static_cast<double>(counted);
}

}  // namespace quarry_eval
