// What does a third leg do to bounded fusion, folded in or joined with its like first?
//
//     quality_folding DATA scifact cranfield ...
//
// BM25, MiniLM and LSA fitted to the set, every article scored exactly by each. Prints nDCG@10, and the difference to
// BM25 and MiniLM alone with its 95 % interval.
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/file.hpp"
#include "quarry/eval/compare.hpp"
#include "quarry/eval/judged_set.hpp"
#include "quarry/eval/run_file.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/model/given_vectors.hpp"
#include "quarry/model/lsa_embedder.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

namespace {

struct parts {
    float words, meaning, own;  // what BM25, MiniLM and LSA contribute, each in [0, 1]
};

float folded(std::vector<float> legs) {
    std::ranges::sort(legs);
    return bounded{}.combine(legs);
}

struct way {
    std::string_view name;
    float (*join)(const parts&);
};

constexpr way ways[] = {
    {"BM25 and MiniLM", [](const parts& p) { return folded({p.words, p.meaning}); }},
    {"BM25 and LSA", [](const parts& p) { return folded({p.words, p.own}); }},
    {"all three folded", [](const parts& p) { return folded({p.words, p.meaning, p.own}); }},
    {"the better of the dense, folded", [](const parts& p) { return folded({p.words, std::max(p.meaning, p.own)}); }},
    {"the mean of the dense, folded", [](const parts& p) { return folded({p.words, (p.meaning + p.own) / 2}); }},
};

// What a leg contributes to each article, in their order.
template <class Leg>
std::vector<float> contributions(const Leg& leg, request& q, std::span<const unit_id> all) {
    leg_summary summary;
    summary.bounds = leg.bounds(q);
    std::vector<float> out;
    for (const scored_key& s : leg.score(q, all))
        out.push_back(s.key == no_key ? 0.0f : bounded{}.contribution(summary, 0, s.score));
    return out;
}

ranking best_ten(const corpus& articles, const std::vector<float>& scores) {
    std::vector<std::pair<float, std::size_t>> order;
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores[i] > 0.0f) order.emplace_back(-scores[i], i);
    std::ranges::sort(order);
    if (order.size() > 10) order.resize(10);
    ranking out;
    for (const auto& [score, i] : order) out.push_back({std::string(articles.id(unit_at(i))), -score});
    return strictly_decreasing(std::move(out));
}

given_vectors question_rows(const std::string& folder, const judged_set& set) {
    std::map<std::string, std::string> text_of;
    for (const judged_query& q : set.queries) text_of[q.id] = q.text;
    std::vector<std::string> texts;
    for (const auto& id : nlohmann::json::parse(detail::read_file(folder + "/queries.minilm.ids.json")))
        texts.push_back(text_of.at(id.get<std::string>()));
    return given_vectors::read(folder + "/queries.minilm.384.f16", std::move(texts));
}

void measure(const std::string& folder, const std::string& name) {
    judged_set set = read_judged_set(folder);
    corpus articles;
    std::vector<std::string> ids;
    std::vector<unit_id> all;
    for (article& a : set.articles) {
        ids.push_back(a.id);
        all.push_back(articles.add(std::move(a)));
    }
    const auto lsa = lsa_embedder::fit(articles, {.rank = name == "scifact" ? 256u : 128u});
    const knowledge_base kb = build(articles, identity{}, lsa);
    const auto rows = given_vectors::read(folder + "/docs.minilm.384.f16", std::move(ids));
    indexed<flat_index> meanings{flat_index(rows.dimension()), articles};
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!std::ranges::binary_search(rows.zero_rows(), i)) meanings.index.add(all[i], rows.row(i));
    const auto words = lexical(kb.bm25);
    const auto meaning = dense(meanings, question_rows(folder, set));
    const auto own = dense(kb.vectors, ref(lsa));

    std::array<rankings, std::size(ways)> found;
    for (const judged_query& judged : set.queries) {
        if (!set.judged.contains(judged.id)) continue;
        const query asked(judged.text);
        request q(asked, words.source());
        const auto a = contributions(words, q, all), b = contributions(meaning, q, all), c = contributions(own, q, all);
        for (std::size_t w = 0; w < std::size(ways); ++w) {
            std::vector<float> scores;
            for (std::size_t i = 0; i < all.size(); ++i) scores.push_back(ways[w].join({a[i], b[i], c[i]}));
            found[w][judged.id] = best_ten(articles, scores);
        }
    }
    const auto first = evaluation(found[0], set.judged).per_query(ndcg_at{10});
    for (std::size_t w = 0; w < std::size(ways); ++w) {
        const evaluation e(found[w], set.judged);
        const auto values = e.per_query(ndcg_at{10});
        const comparison d = compare({.a = values, .b = first});
        std::cout << "| " << name << " | " << ways[w].name << " | " << detail::fixed(e.mean(ndcg_at{10}), 3) << " | "
                  << detail::fixed(d.difference, 3) << " (" << detail::fixed(d.low, 3) << " to "
                  << detail::fixed(d.high, 3) << ") |\n";
    }
}

}  // namespace

int main(int argc, char* argv[]) {
    for (int i = 2; i < argc; ++i) measure(std::string(argv[1]) + "/" + argv[i], argv[i]);
}
