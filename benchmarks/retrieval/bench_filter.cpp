// What does a filter cost, from nine rows in ten down to one in ten thousand, at random or because of the question?
//
// The planner against each of its plans by itself, and against hnswlib's filter, where its version has one, or its search
// over as many more as the filter removes. Each at the smallest ef that reaches a recall, in turns. A filter is at random,
// or the rows nearest to the question, or the farthest from it. Filters are prepared, for the peer too, as an application
// has them that uses one again: evaluating them is not inside the clock.
//
//   bench_filter --n 200000 --keep FOLDER --json
#include <functional>
#include <map>
#include <optional>

#include "bench.hpp"
#include "graphs.hpp"
#include "quarry/index/flat_index.hpp"

namespace {

using ids = std::vector<std::uint32_t>;

struct question {
    const float* probe;
    quarry::unit_set allowed;
    std::vector<std::uint64_t> bits;  // the same for the peer
    ids truth;
};

struct strategy {
    std::string name;
    bool has_ef;
    std::function<ids(const question&, std::size_t ef)> search;
    std::map<double, std::size_t> reached{};  // the smallest ef by recall
    double best = 0.0;                        // recall that was reached
};

double recall_of(const strategy& s, const std::vector<question>& asked, std::size_t ef) {
    std::size_t found = 0, wanted = 0;
    for (const question& q : asked) {
        wanted += q.truth.size();
        for (const std::uint32_t id : s.search(q, ef)) found += std::ranges::find(q.truth, id) != q.truth.end();
    }
    return wanted == 0 ? 1.0 : static_cast<double>(found) / static_cast<double>(wanted);
}

// What the one before left in the cache is made up for first.
double milliseconds(const strategy& s, const std::vector<question>& asked, std::size_t ef) {
    for (const question& q : asked) s.search(q, ef);
    return bench::milliseconds([&] {
               for (const question& q : asked) s.search(q, ef);
           }) /
           static_cast<double>(asked.size());
}

ids units_of(const std::vector<quarry::scored_key>& keys) {
    ids out;
    for (const auto& key : keys) out.push_back(static_cast<std::uint32_t>(key.unit));
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"n", "200000"},
                            {"d", "384"},
                            {"k", "10"},
                            {"queries", "50"},
                            {"rounds", "5"},
                            {"peers", "1"},
                            {"keep", ""},
                            {"only", ""},
                            {"share", "0"},
                            {"json", ""}});
    const std::size_t n = o.number("n"), d = o.number("d"), k = o.number("k");
    const bench::made_up made(n, 500, d);
    std::vector<quarry::unit_id> units(n);
    for (std::size_t i = 0; i < n; ++i) units[i] = quarry::unit_at(i);
    quarry::flat_index exact(d);
    exact.add(units, made.base.rows);
    bench::graphs all = bench::make_graphs(made.base, units, {}, "made_up", o.text("keep"), o.flag("peers"));
    quarry::hnsw_index& ours = all.ours;

    std::map<quarry::search_plan, std::size_t> plans;
    const auto by = [&](quarry::search_plan plan) {
        return [&ours, d, k, plan](const question& q, std::size_t ef) {
            quarry::search_report report;
            ours.walk_with(ef);
            return units_of(ours.search_by(plan, std::span(q.probe, d), k, {&q.allowed}, report));
        };
    };
    const auto filtered_after = [&](const question& q, std::size_t want, auto found) {
        ids kept;
        for (const std::uint32_t id : found)
            if (kept.size() < want && q.allowed.contains(units[id])) kept.push_back(id);
        return kept;
    };
    std::vector<strategy> strategies{
        {"quarry", true,
         [&](const question& q, std::size_t ef) {
             quarry::search_report report;
             ours.walk_with(ef);
             const auto found = ours.search(std::span(q.probe, d), k, {&q.allowed}, report);
             ++plans[report.plan];
             return units_of(found);
         }},
        {"scan of the allowed", false, by(quarry::search_plan::scan_allowed)},
        {"scan", false, by(quarry::search_plan::scan_all)},
        {"filtered walk", true, by(quarry::search_plan::walk_filtered)},
        {"two-hop walk", true, by(quarry::search_plan::walk_two_hop)},
        {"walk, then filter", true, [&](const question& q, std::size_t ef) {
             ours.walk_with(ef);
             return filtered_after(q, k, units_of(ours.search(std::span(q.probe, d), ef)));
         }}};
    const std::size_t own = strategies.size();
    for (const bool native : {true, false}) {
        bench::peer_graph* const peer = (native ? all.native : all.plain).get();
        if (!peer) continue;
        const std::string name = std::string("hnswlib ") + (native ? "native" : "-O2");
        strategies.push_back({name + ", over-fetch", true, [&, peer](const question& q, std::size_t ef) {
                                  peer->walk_with(ef);
                                  const ids found = peer->search(q.probe, ef);
                                  return filtered_after(q, k, ids(found.rbegin(), found.rend()));
                              }});
        if (peer->filters())
            strategies.push_back({name + ", filter", true, [&, peer](const question& q, std::size_t ef) {
                                      peer->walk_with(ef);
                                      return peer->search(q.probe, k, q.bits.data());
                                  }});
    }

    const std::size_t efs[] = {10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16384};
    const double targets[] = {.95, .99};
    nlohmann::json cases = nlohmann::json::array();
    bench::random_source random(9);
    std::vector<std::vector<quarry::scored_key>> order;  // of all rows, for the questions of filters because of them
    const std::size_t most = o.number("queries");
    for (std::size_t q = 0; q < (std::min)(most, std::size_t{20}); ++q)
        order.push_back(exact.search(std::span(made.queries.row(q), d), n));
    for (const std::string kind : {"random", "near", "far"}) {
        if (!o.text("only").empty() && o.text("only") != kind) continue;  // all, for a quick look at one kind
        for (const double share : {.9, .5, .2, .1, .07, .03, .01, .001, .0001}) {
            if (o.real("share") != 0 && o.real("share") != share) continue;
            std::vector<question> asked;
            for (std::size_t q = 0; q < (kind == "random" ? most : order.size()); ++q) {
                question one{made.queries.row(q), quarry::unit_set(n), std::vector<std::uint64_t>((n + 63) / 64), {}};
                if (kind == "random") {
                    for (std::size_t i = 0; i < n; ++i)
                        if (random.uniform() < share) one.allowed.insert(units[i]);
                } else {
                    for (std::size_t i = 0; i < static_cast<std::size_t>(share * static_cast<double>(n)); ++i)
                        one.allowed.insert(order[q][kind == "near" ? i : n - 1 - i].unit);
                }
                one.allowed.for_each([&](quarry::unit_id u) { one.bits[index_of(u) / 64] |= std::uint64_t{1} << (index_of(u) % 64); });
                one.truth = units_of(exact.search(std::span(one.probe, d), k, {&one.allowed}));
                asked.push_back(std::move(one));
            }
            const double scan = (std::min)(milliseconds(strategies[1], asked, 0), milliseconds(strategies[2], asked, 0));
            for (std::size_t i = 0; i < strategies.size(); ++i) {
                strategy& s = strategies[i];
                s.reached.clear();
                s.best = 0.0;
                const std::vector<question> few(asked.begin(), asked.begin() + 5);
                for (const std::size_t ef : efs) {
                    // One that is far slower than a scan is a plan of nobody's; a peer has more patience.
                    if (i != 0 && ef != efs[0] && milliseconds(s, few, ef) > (i < own ? 5 * scan : 100.0)) break;
                    s.best = (std::max)(s.best, recall_of(s, asked, ef));
                    for (const double target : targets)
                        if (s.best >= target) s.reached.try_emplace(target, ef);
                    if (!s.has_ef || s.best >= targets[1]) break;
                }
            }
            for (const double target : targets) {
                std::vector<std::vector<double>> times(strategies.size());
                nlohmann::json chosen;
                for (std::size_t r = 0; r < o.number("rounds"); ++r)
                    for (std::size_t i = 0; i < strategies.size(); ++i)
                        if (const auto ef = strategies[i].reached.find(target); ef != strategies[i].reached.end()) {
                            plans.clear();
                            times[i].push_back(milliseconds(strategies[i], asked, ef->second));
                            if (i == 0)
                                for (const auto& [plan, count] : plans) chosen[std::string(name_of(plan))] = count;
                        }
                const double ms = bench::median(times[0]);
                nlohmann::json one{{"bench", "filter"},      {"n", n},
                                   {"d", d},                 {"k", k},
                                   {"filter", kind},         {"selectivity", share},
                                   {"target", target},       {"quarry_ms", ms},
                                   {"plans", chosen},        {"recall", strategies[0].best},
                                   {"load", bench::load()},  {"peers", nlohmann::json::object()}};
                double best = 1e9;
                for (std::size_t i = 0; i < strategies.size(); ++i) {
                    const auto ef = strategies[i].reached.find(target);
                    nlohmann::json said{{"best_recall", strategies[i].best}};
                    if (ef != strategies[i].reached.end()) {
                        const double theirs = bench::median(times[i]);
                        if (i > 0 && i < own) best = (std::min)(best, theirs);
                        said = {{"ms", theirs}, {"recall", recall_of(strategies[i], asked, ef->second)}, {"ratio", theirs / ms}};
                        if (strategies[i].has_ef) said["ef"] = ef->second;
                    }
                    if (i == 0) one.update(said), one.erase("ms"), one.erase("ratio"), one.erase("best_recall");
                    else one["peers"][i < own ? "quarry: " + strategies[i].name : strategies[i].name] = said;
                }
                one["of_best_plan"] = best / ms;
                std::cerr << one.dump() << '\n';
                cases.push_back(std::move(one));
            }
        }
    }
    bench::report(o, cases);
}
