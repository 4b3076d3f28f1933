// How many queries a second does the graph answer, at which recall?
//
// Against hnswlib's own search over its own graph with the same parameters, in turns, as both are compiled here. Recall
// of the ten best against exact search. `at` are queries a second where the recall is reached, between two neighbouring
// values of ef.
//
//   bench_hnsw --n 200000 --rounds 3 --json
//   bench_hnsw --data $QUARRY_DATA/ann_minilm
#include <hnswlib/hnswlib.h>

#include <functional>
#include <memory>
#include <set>

#include "bench.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/index/hnsw_index.hpp"

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
                            {"json", ""}});
    const std::size_t k = o.number("k"), d = o.number("d");
    bench::vectors base, queries;
    if (o.text("data").empty()) {
        bench::made_up made(o.number("n"), o.number("queries"), d);
        base = std::move(made.base);
        queries = std::move(made.queries);
    } else {
        base = bench::read_halves(o.text("data") + "/base." + o.text("d") + ".f16", d);
        queries = bench::read_halves(o.text("data") + "/queries." + o.text("d") + ".f16", d);
        queries.n = (std::min)(queries.n, o.number("queries"));
    }
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

    const quarry::hnsw_options shape{.m = o.number("m"), .ef_construction = o.number("construction")};
    quarry::hnsw_index ours(d, shape);
    const double build = bench::milliseconds([&] { ours.add(units, base.rows); }) / 1e3;
    std::cerr << "built in " << build << " s, ef " << ours.ef() << " by recall " << ours.measured_recall() << '\n';

    std::unique_ptr<hnswlib::InnerProductSpace> space;
    std::unique_ptr<hnswlib::HierarchicalNSW<float>> peer;
    double peer_build = 0;
    if (o.flag("peers")) {
        space = std::make_unique<hnswlib::InnerProductSpace>(d);
        peer = std::make_unique<hnswlib::HierarchicalNSW<float>>(space.get(), base.n, shape.m, shape.ef_construction);
        peer_build = bench::milliseconds([&] {
                         for (std::size_t i = 0; i < base.n; ++i) peer->addPoint(base.row(i), i);
                     }) /
                     1e3;
        std::cerr << "hnswlib built in " << peer_build << " s\n";
    }

    const auto per_query = [&](auto search) {
        return bench::milliseconds([&] {
                   for (std::size_t q = 0; q < queries.n; ++q) search(q);
               }) /
               static_cast<double>(queries.n);
    };
    std::vector<point> curve, peer_curve;
    for (const std::size_t ef : {10u, 16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u, 384u}) {
        ours.walk_with(ef);
        if (peer) peer->setEf(ef);
        std::vector<double> a, b;
        for (std::size_t r = 0; r < o.number("rounds"); ++r) {
            a.push_back(per_query([&](std::size_t q) { return ours.search(query(q), k); }));
            if (peer) b.push_back(per_query([&](std::size_t q) { return peer->searchKnn(queries.row(q), k); }));
        }
        curve.push_back({ef, recall_of([&](std::size_t q) {
                             std::vector<std::uint32_t> out;
                             for (const auto& key : ours.search(query(q), k))
                                 out.push_back(static_cast<std::uint32_t>(key.unit));
                             return out;
                         }),
                         bench::median(a)});
        if (peer)
            peer_curve.push_back({ef, recall_of([&](std::size_t q) {
                                      std::vector<std::uint32_t> out;
                                      for (auto found = peer->searchKnn(queries.row(q), k); !found.empty(); found.pop())
                                          out.push_back(static_cast<std::uint32_t>(found.top().second));
                                      return out;
                                  }),
                                  bench::median(b)});
    }

    nlohmann::json cases = nlohmann::json::array();
    const auto one = [&](double recall, double ms, double peer_ms, double peer_recall) {
        nlohmann::json made{{"bench", "hnsw"},
                            {"n", base.n},
                            {"d", d},
                            {"k", k},
                            {"quarry_ms", ms},
                            {"recall", recall},
                            {"per_second", 1e3 / ms},
                            {"load", bench::load()},
                            {"peers", nlohmann::json::object()}};
        if (peer_ms > 0)
            made["peers"]["hnswlib, as compiled here"] = {
                {"ms", peer_ms}, {"recall", peer_recall}, {"ratio", peer_ms / ms}};
        return made;
    };
    for (std::size_t i = 0; i < curve.size(); ++i) {
        cases.push_back(
            one(curve[i].recall, curve[i].ms, peer ? peer_curve[i].ms : 0, peer ? peer_curve[i].recall : 0));
        cases.back()["ef"] = curve[i].ef;
    }
    for (const double recall : {.95, .99})
        if (const double ms = at(curve, recall); ms > 0) {
            cases.push_back(one(recall, ms, at(peer_curve, recall), recall));
            cases.back()["at"] = recall;
        }
    cases.push_back(
        {{"bench", "hnsw build"}, {"n", base.n}, {"d", d}, {"quarry_ms", build * 1e3}, {"peer_ms", peer_build * 1e3}});
    bench::report(o, cases);
}
