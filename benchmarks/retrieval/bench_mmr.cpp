// How long does it take to pick ten of a hundred, or of a thousand, by maximal marginal relevance?
//
// Candidates are the nearest rows of 20,000 made-up ones, lambda .5, relevance given. The peer is the textbook loop on a
// matrix of Eigen's: what was picked last is multiplied with all candidates, whose lengths are known. `mismatches` counts
// questions whose picks differ from it by more than rounding: where the next scores are not within 1e-5 of each other.
//
//   bench_mmr --d 384 --k 10 --queries 50 --rounds 5 --json
//   bench_mmr --dump DIR       writes candidates and questions for other programs, and ends
#include <Eigen/Core>

#include <fstream>
#include <numeric>

#include "bench.hpp"
#include "quarry/rank/diversify.hpp"

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct question {
    std::vector<float> relevance, rows;  // of its candidates, most relevant first
};

question asked(const bench::made_up& data, std::size_t q, std::size_t fetch) {
    const std::size_t d = data.base.d;
    const std::span probe(data.queries.row(q), d);
    std::vector<std::pair<float, std::size_t>> all;
    for (std::size_t i = 0; i < data.base.n; ++i) all.emplace_back(-quarry::cosine({data.base.row(i), d}, probe), i);
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(fetch));
    question out;
    for (std::size_t i = 0; i < fetch; ++i) {
        out.relevance.push_back(-all[i].first);
        out.rows.insert(out.rows.end(), data.base.row(all[i].second), data.base.row(all[i].second) + d);
    }
    return out;
}

std::vector<quarry::mmr_pick> by_loop(const question& q, std::size_t k) {
    const auto n = static_cast<Eigen::Index>(q.relevance.size()), d = static_cast<Eigen::Index>(q.rows.size()) / n;
    const Eigen::Map<const matrix> rows(q.rows.data(), n, d);
    const Eigen::VectorXf lengths = rows.rowwise().norm();
    Eigen::VectorXf nearest = Eigen::VectorXf::Constant(n, -1.0f);
    std::vector<quarry::mmr_pick> picks;
    std::vector<bool> taken(q.relevance.size());
    while (picks.size() < k) {
        std::size_t best = taken.size();
        float best_score = 0.0f;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            const float near = nearest[static_cast<Eigen::Index>(i)];
            const float score = picks.empty() ? q.relevance[i] : 0.5f * q.relevance[i] - 0.5f * near;
            if (!taken[i] && (best == taken.size() || score > best_score)) best = i, best_score = score;
        }
        taken[best] = true;
        picks.push_back({best, best_score});
        const auto b = static_cast<Eigen::Index>(best);
        nearest = nearest.cwiseMax(((rows * rows.row(b).transpose()).array() / lengths.array() / lengths[b]).matrix());
    }
    return picks;
}

bool same(const std::vector<quarry::mmr_pick>& a, const std::vector<quarry::mmr_pick>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::abs(a[i].score - b[i].score) > 1e-5f) return false;
        if (a[i].candidate != b[i].candidate) return true;  // within rounding: from here on both go their own way
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv, {{"d", "384"}, {"k", "10"}, {"queries", "50"}, {"rounds", "5"}, {"json", ""}, {"dump", ""}});
    const std::size_t k = o.number("k"), queries = o.number("queries"), d = o.number("d");
    const bench::made_up data(20'000, queries, d);
    auto out = nlohmann::json::array();
    for (const std::size_t fetch : {100u, 1000u}) {
        std::vector<question> questions;
        for (std::size_t q = 0; q < queries; ++q) questions.push_back(asked(data, q, fetch));
        if (!o.text("dump").empty()) {
            std::ofstream rows(o.text("dump") + "/rows" + std::to_string(fetch) + ".f32", std::ios::binary);
            for (const question& q : questions)
                rows.write(reinterpret_cast<const char*>(q.rows.data()), static_cast<std::streamsize>(q.rows.size() * sizeof(float)));
            std::ofstream probes(o.text("dump") + "/queries.f32", std::ios::binary);
            probes.write(reinterpret_cast<const char*>(data.queries.rows.data()),
                         static_cast<std::streamsize>(data.queries.rows.size() * sizeof(float)));
            continue;
        }
        std::vector<double> ours, loop;
        std::size_t mismatches = 0;
        for (const question& q : questions)
            mismatches += !same(quarry::pick_by_mmr(q.relevance, q.rows, k, 0.5f), by_loop(q, k));
        std::size_t picked = 0;
        for (std::size_t round = 0; round < o.number("rounds"); ++round) {
            const auto timed = [&](auto pick) {
                return bench::milliseconds([&] {
                    for (int again = 0; again < 20; ++again)
                        for (const question& q : questions) picked += pick(q).size();
                }) / 20.0 / static_cast<double>(queries);
            };
            ours.push_back(timed([&](const question& q) { return quarry::pick_by_mmr(q.relevance, q.rows, k, 0.5f); }));
            loop.push_back(timed([&](const question& q) { return by_loop(q, k); }));
        }
        const double us = bench::median(ours), them = bench::median(loop);
        out.push_back({{"bench", "mmr"}, {"n", fetch}, {"d", d}, {"k", k}, {"quarry_ms", us}, {"recall", 1.0},
                       {"mismatches", mismatches}, {"picked", picked},
                       {"peers", {{"loop over a matrix of Eigen", {{"ms", them}, {"recall", 1.0}, {"ratio", them / us}}}}}});
    }
    if (o.text("dump").empty()) bench::report(o, out);
}
