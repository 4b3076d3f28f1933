// What does a filter cost, from half of the rows down to a thousandth, and when it is in the question's way?
//
// The planner's choice against each strategy by itself: a scan of what is allowed, and a walk that throws away what is
// not (hnswlib's search over as many more as the filter removes, since version 0.6 has no filter). A filter at random,
// or one that allows the rows farthest from the question. Filters are prepared, as an application that reuses one has
// them: evaluating them is not inside the clock.
//
//   bench_filter --n 200000 --json
#include <hnswlib/hnswlib.h>

#include <numeric>
#include <set>

#include "bench.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/index/hnsw_index.hpp"

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"n", "200000"},
                            {"d", "384"},
                            {"k", "10"},
                            {"queries", "100"},
                            {"rounds", "3"},
                            {"peers", "1"},
                            {"json", ""}});
    const std::size_t n = o.number("n"), d = o.number("d"), k = o.number("k");
    const bench::made_up made(n, o.number("queries"), d);
    std::vector<quarry::unit_id> units(n);
    for (std::size_t i = 0; i < n; ++i) units[i] = quarry::unit_at(i);
    quarry::flat_index exact(d);
    exact.add(units, made.base.rows);
    quarry::hnsw_index ours(d);
    ours.add(units, made.base.rows);
    std::cerr << "ef " << ours.ef() << " by recall " << ours.measured_recall() << '\n';
    hnswlib::InnerProductSpace space(d);
    std::unique_ptr<hnswlib::HierarchicalNSW<float>> peer;
    if (o.flag("peers")) {
        peer = std::make_unique<hnswlib::HierarchicalNSW<float>>(&space, n, 16, 200);
        for (std::size_t i = 0; i < n; ++i) peer->addPoint(made.base.row(i), i);
    }
    const auto query = [&](std::size_t q) { return std::span(made.queries.row(q), d); };

    nlohmann::json cases = nlohmann::json::array();
    bench::random_source random(9);
    for (const bool correlated : {false, true})
        for (const double share : {1.0, .5, .1, .01, .001}) {
            // A filter for each question: at random, or the rows farthest from it.
            std::vector<quarry::unit_set> allowed;
            std::vector<std::vector<quarry::scored_key>> truth;
            for (std::size_t q = 0; q < made.queries.n; ++q) {
                quarry::unit_set set(n);
                if (!correlated) {
                    for (std::size_t i = 0; i < n; ++i)
                        if (random.uniform() < share) set.insert(units[i]);
                } else {
                    const auto order = exact.search(query(q), n);
                    const auto wanted = static_cast<std::size_t>(share * static_cast<double>(n));
                    for (std::size_t i = 0; i < wanted; ++i) set.insert(order[n - 1 - i].unit);
                }
                truth.push_back(exact.search(query(q), k, {&set}));
                allowed.push_back(std::move(set));
                if (correlated && q == 29) break;  // an order of all rows for each is slow to make
            }
            std::map<std::string, std::size_t> plans;
            std::size_t found = 0, wanted = 0, complete = 0;
            for (std::size_t q = 0; q < allowed.size(); ++q) {
                quarry::search_report report;
                const auto answer = ours.search(query(q), k, {&allowed[q]}, report);
                ++plans[std::string(name_of(report.plan))];
                complete += report.complete;
                wanted += truth[q].size();
                for (const auto& key : answer) found += std::ranges::find(truth[q], key) != truth[q].end();
            }
            std::vector<double> mine, scan, more;
            std::size_t peer_found = 0;
            for (std::size_t r = 0; r < o.number("rounds"); ++r) {
                const auto timed = [&](auto search) {
                    return bench::milliseconds([&] {
                               for (std::size_t q = 0; q < allowed.size(); ++q) search(q);
                           }) /
                           static_cast<double>(allowed.size());
                };
                mine.push_back(timed([&](std::size_t q) { ours.search(query(q), k, {&allowed[q]}); }));
                scan.push_back(timed([&](std::size_t q) { exact.search(query(q), k, {&allowed[q]}); }));
                if (!peer) continue;
                const auto enough = (std::min)(n, static_cast<std::size_t>(static_cast<double>(k) / share * 1.5) + 10);
                peer->setEf((std::max)(enough, std::size_t{32}));
                peer_found = 0;
                more.push_back(timed([&](std::size_t q) {
                    auto all = peer->searchKnn(made.queries.row(q), enough);
                    std::vector<std::uint32_t> kept;
                    for (; !all.empty(); all.pop())
                        if (allowed[q].contains(units[all.top().second]))
                            kept.push_back(static_cast<std::uint32_t>(all.top().second));
                    for (std::size_t i = kept.size() > k ? kept.size() - k : 0; i < kept.size(); ++i)
                        peer_found += std::ranges::any_of(
                            truth[q], [&](const auto& key) { return static_cast<std::uint32_t>(key.unit) == kept[i]; });
                }));
            }
            const auto part = [&](std::size_t hits) {
                return wanted == 0 ? 1.0 : static_cast<double>(hits) / static_cast<double>(wanted);
            };
            const double ms = bench::median(mine);
            nlohmann::json one{{"bench", "filter"},
                               {"n", n},
                               {"d", d},
                               {"k", k},
                               {"selectivity", share},
                               {"correlated", correlated},
                               {"quarry_ms", ms},
                               {"recall", part(found)},
                               {"complete", complete},
                               {"of", allowed.size()},
                               {"plans", plans},
                               {"load", bench::load()},
                               {"peers", nlohmann::json::object()}};
            one["peers"]["quarry, exact scan"] = {
                {"ms", bench::median(scan)}, {"recall", 1.0}, {"ratio", bench::median(scan) / ms}};
            if (peer)
                one["peers"]["hnswlib, over-fetch"] = {
                    {"ms", bench::median(more)}, {"recall", part(peer_found)}, {"ratio", bench::median(more) / ms}};
            cases.push_back(std::move(one));
        }
    bench::report(o, cases);
}
