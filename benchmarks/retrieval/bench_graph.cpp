// What does a graph index cost to build, one row after the other and in batches, and what is left of it after its rows
// were replaced ten times?
//
// Recall of the ten best is against exact search, at each ef. In batches the graph is the same for any number of threads;
// their time is that of the clock, the others' is the processor's. A turn replaces all rows, in steps of a fiftieth: so
// many are removed, those that are there longest, and so many added.
//
//   bench_graph --n 50000 --threads 2 --turns 10 --json
//   bench_graph --data $QUARRY_DATA/ann_minilm
#include <array>
#include <set>

#include "bench.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/index/hnsw_index.hpp"
#include "support/pool.hpp"

namespace {

constexpr std::array<std::size_t, 4> efs{16, 32, 64, 128};

using id_sets = std::vector<std::set<std::uint32_t>>;

template <class Index>
id_sets answers(const Index& index, const bench::vectors& queries, std::size_t first, std::size_t n) {
    id_sets out;
    for (std::size_t q = 0; q < queries.n; ++q) {
        out.emplace_back();
        for (const auto& key : index.search(std::span(queries.row(q), queries.d), 10))
            out.back().insert(static_cast<std::uint32_t>((quarry::index_of(key.unit) - first) % n));
    }
    return out;
}

double recall(const id_sets& found, const id_sets& truth) {
    std::size_t hits = 0, wanted = 0;
    for (std::size_t q = 0; q < truth.size(); ++q) {
        wanted += truth[q].size();
        for (const std::uint32_t id : found[q]) hits += truth[q].contains(id);
    }
    return static_cast<double>(hits) / static_cast<double>(wanted);
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"n", "50000"},
                            {"d", "384"},
                            {"queries", "500"},
                            {"m", "16"},
                            {"construction", "200"},
                            {"threads", "2"},
                            {"turns", "10"},
                            {"data", ""},
                            {"json", ""}});
    const std::size_t d = o.number("d");
    bench::base_and_queries given =
        bench::vectors_of(o.text("data"), o.number("n"), o.number("queries"), d);
    bench::vectors &base = given.base, &queries = given.queries;
    base.n = (std::min)(base.n, o.number("n"));
    base.rows.resize(base.n * d);
    std::vector<quarry::unit_id> units(base.n);
    for (std::size_t i = 0; i < base.n; ++i) units[i] = quarry::unit_at(i);
    quarry::flat_index exact(d);
    exact.add(units, base.rows);
    const id_sets truth = answers(exact, queries, 0, base.n);

    nlohmann::json cases = nlohmann::json::array();
    const quarry::hnsw_options shape{.m = o.number("m"), .ef_construction = o.number("construction"), .ef = 16};
    const auto report = [&](const std::string& how, double seconds, quarry::hnsw_index& index, std::size_t first) {
        nlohmann::json recalls = nlohmann::json::object();
        for (const std::size_t ef : efs) {
            index.walk_with(ef);
            recalls[std::to_string(ef)] = recall(answers(index, queries, first, base.n), truth);
        }
        cases.push_back({{"bench", "hnsw " + how}, {"n", base.n}, {"d", d}, {"seconds", seconds}, {"recall", recalls},
                         {"memory", index.memory()}, {"load", bench::load()}});
        std::cerr << cases.back().dump() << '\n';
    };
    quarry::hnsw_index index(d, shape);
    report("one by one", bench::milliseconds([&] { index.add(units, base.rows); }) / 1e3, index, 0);
    {
        quarry::hnsw_index batches(d, shape);
        report("batches", bench::milliseconds([&] { batches.add(units, base.rows, quarry::executor()); }) / 1e3, batches, 0);
    }
    if (o.number("threads") > 1) {
        pool others(o.number("threads") - 1);
        quarry::hnsw_index batches(d, shape);
        const double begin = bench::wall_seconds();
        batches.add(units, base.rows, std::ref(others));
        report("batches on " + o.text("threads") + " threads", bench::wall_seconds() - begin, batches, 0);
    }
    // The rows that come are those that went, under new units: so the truth stays what it is.
    const std::size_t step = base.n / 50;
    for (std::size_t turn = 0; turn < o.number("turns"); ++turn) {
        const double seconds = bench::milliseconds([&] {
                                   for (std::size_t at = 0; at < base.n; ++at) {
                                       if (at % step == 0)
                                           for (std::size_t i = at; i < (std::min)(at + step, base.n); ++i)
                                               index.remove(quarry::unit_at(turn * base.n + i));
                                       index.add(quarry::unit_at((turn + 1) * base.n + at), std::span(base.row(at), d));
                                   }
                               }) /
                               1e3;
        report("turn " + std::to_string(turn + 1), seconds, index, 0);
    }
    bench::report(o, cases);
}
