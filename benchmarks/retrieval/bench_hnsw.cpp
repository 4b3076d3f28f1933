// How many queries a second does the graph answer, at which recall?
//
// Against hnswlib's own search over its own graph with the same parameters, in turns: as a plain build has it, and compiled
// for this processor, which ours is not. Recall of the ten best against exact search. `at` are queries a second where the recall is reached, between two neighbouring
// values of ef.
//
//   bench_hnsw --n 200000 --rounds 3 --keep FOLDER --json
//   bench_hnsw --data $QUARRY_DATA/ann_minilm
#include <array>
#include <set>

#include "bench.hpp"
#include "graphs.hpp"
#include "quarry/index/flat_index.hpp"

namespace {

struct point {
    std::size_t ef;
    double recall, ms;
};

// Milliseconds at a recall, on the line between the points about it; 0 where it is not reached.
double at(const std::vector<point>& curve, double recall) {
    for (std::size_t i = 0; i < curve.size(); ++i) {
        if (curve[i].recall < recall) continue;
        if (i == 0 || curve[i].recall == curve[i - 1].recall) return curve[i].ms;
        const double part = (recall - curve[i - 1].recall) / (curve[i].recall - curve[i - 1].recall);
        return curve[i - 1].ms + part * (curve[i].ms - curve[i - 1].ms);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"n", "200000"},
                            {"d", "384"},
                            {"k", "10"},
                            {"queries", "500"},
                            {"rounds", "3"},
                            {"m", "16"},
                            {"construction", "200"},
                            {"peers", "1"},
                            {"data", ""},
                            {"keep", ""},
                            {"json", ""}});
    const std::size_t k = o.number("k"), d = o.number("d");
    bench::base_and_queries given =
        bench::vectors_of(o.text("data"), o.number("n"), o.number("queries"), d);
    bench::vectors &base = given.base, &queries = given.queries;
    std::vector<quarry::unit_id> units(base.n);
    for (std::size_t i = 0; i < base.n; ++i) units[i] = quarry::unit_at(i);
    const auto query = [&](std::size_t q) { return std::span(queries.row(q), d); };

    std::vector<std::set<std::uint32_t>> truth(queries.n);
    {
        quarry::flat_index exact(d);
        exact.add(units, base.rows);
        const auto answers = exact.search_batch(std::span(queries.row(0), queries.n * d), k);
        for (std::size_t q = 0; q < queries.n; ++q)
            for (const auto& key : answers[q]) truth[q].insert(static_cast<std::uint32_t>(key.unit));
    }
    const auto recall_of = [&](auto found_by) {
        std::size_t found = 0, wanted = 0;
        for (std::size_t q = 0; q < queries.n; ++q) {
            wanted += truth[q].size();
            for (const std::uint32_t id : found_by(q)) found += truth[q].contains(id);
        }
        return static_cast<double>(found) / static_cast<double>(wanted);
    };

    bench::graphs all =
        bench::make_graphs(base, units, {.m = o.number("m"), .ef_construction = o.number("construction")},
                           o.text("data").empty() ? "made_up" : "data", o.text("keep"), o.flag("peers"));
    quarry::hnsw_index& ours = all.ours;
    const std::array peers{all.native.get(), all.plain.get()};
    const std::string names[] = {"hnswlib, for this processor", "hnswlib, -O2"};

    const auto per_query = [&](auto search) {
        return bench::milliseconds([&] {
                   for (std::size_t q = 0; q < queries.n; ++q) search(q);
               }) /
               static_cast<double>(queries.n);
    };
    const auto ids_of = [](const std::vector<quarry::scored_key>& keys) {
        std::vector<std::uint32_t> out;
        for (const auto& key : keys) out.push_back(static_cast<std::uint32_t>(key.unit));
        return out;
    };
    std::vector<point> curve, peer_curve[2];
    for (const std::size_t ef : {10u, 16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u, 384u}) {
        ours.walk_with(ef);
        const auto search = [&](std::size_t q) { return ours.search(query(q), k); };
        std::vector<double> mine, theirs[2];
        for (std::size_t r = 0; r < o.number("rounds"); ++r) {
            mine.push_back(per_query(search));
            for (std::size_t p = 0; p < 2 && peers[p]; ++p) {
                peers[p]->walk_with(ef);
                theirs[p].push_back(per_query([&](std::size_t q) { return peers[p]->search(queries.row(q), k); }));
            }
        }
        curve.push_back({ef, recall_of([&](std::size_t q) { return ids_of(search(q)); }), bench::median(mine)});
        for (std::size_t p = 0; p < 2 && peers[p]; ++p)
            peer_curve[p].push_back(
                {ef, recall_of([&](std::size_t q) { return peers[p]->search(queries.row(q), k); }), bench::median(theirs[p])});
    }

    nlohmann::json cases = nlohmann::json::array();
    const auto one = [&](const point& mine) {
        return nlohmann::json{{"bench", "hnsw"},          {"n", base.n},          {"d", d},
                              {"k", k},                   {"quarry_ms", mine.ms}, {"recall", mine.recall},
                              {"per_second", 1e3 / mine.ms}, {"load", bench::load()}, {"peers", nlohmann::json::object()}};
    };
    const auto beside = [&](nlohmann::json& made, std::size_t p, const point& theirs) {
        if (theirs.ms > 0)
            made["peers"][names[p]] = {
                {"ms", theirs.ms}, {"recall", theirs.recall}, {"ratio", theirs.ms / made["quarry_ms"].get<double>()}};
    };
    for (std::size_t i = 0; i < curve.size(); ++i) {
        cases.push_back(one(curve[i]));
        cases.back()["ef"] = curve[i].ef;
        for (std::size_t p = 0; p < 2 && peers[p]; ++p) beside(cases.back(), p, peer_curve[p][i]);
    }
    for (const double recall : {.95, .99})
        if (const double ms = at(curve, recall); ms > 0) {
            cases.push_back(one({0, recall, ms}));
            cases.back()["at"] = recall;
            for (std::size_t p = 0; p < 2 && peers[p]; ++p)
                beside(cases.back(), p, {0, recall, at(peer_curve[p], recall)});
        }
    if (all.seconds > 0)
        cases.push_back({{"bench", "hnsw build"},
                         {"n", base.n},
                         {"d", d},
                         {"quarry_ms", all.seconds * 1e3},
                         {"peer_ms", all.peer_seconds * 1e3}});
    bench::report(o, cases);
}
