#include "quarry/index/hnsw_index.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

static_assert(DenseIndex<hnsw_index> && BoundedIndex<hnsw_index, dense_probe> &&
              ReportingIndex<hnsw_index, dense_probe>);
static_assert(DenseIndex<hnsw_product_index> && !BoundedIndex<hnsw_product_index, dense_probe>);
static_assert(!ReportingIndex<flat_index, dense_probe>);

namespace {

using graph_row = std::vector<float>;

// Rows in fifty groups, as embeddings of passages are: a group's rows are nearer to each other than to the rest.
struct grouped {
    std::size_t d;
    std::mt19937 random;
    std::vector<graph_row> centres{};

    grouped(std::size_t dimension, std::uint32_t seed) : d(dimension), random(seed) {
        for (int i = 0; i < 50; ++i) centres.push_back(noise(1.0f));
    }
    graph_row noise(float size) {
        graph_row out(d);
        for (float& x : out) x = size * static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
        return out;
    }
    graph_row next() {
        graph_row out = noise(0.7f);
        const graph_row& centre = centres[random() % centres.size()];
        for (std::size_t j = 0; j < d; ++j) out[j] += centre[j];
        return out;
    }
};

// A graph at any size, small enough to build without optimisation, whose walks are worth their while from 400 rows on.
constexpr hnsw_options always_graph{.m = 8, .ef_construction = 40, .ef = 8, .scan_below = 0};

struct pair_of_indexes {
    hnsw_index graph;
    flat_index flat;
    explicit pair_of_indexes(std::size_t d, hnsw_options options = always_graph) : graph(d, options), flat(d) {}
    void add(unit_id unit, const graph_row& row) {
        graph.add(unit, row);
        flat.add(unit, row);
    }
};

double recall_of(const std::vector<scored_key>& found, const std::vector<scored_key>& truth) {
    std::size_t hits = 0;
    for (const scored_key& key : found) hits += std::ranges::find(truth, key) != truth.end();
    return truth.empty() ? 1.0 : static_cast<double>(hits) / static_cast<double>(truth.size());
}

}  // namespace

TEST_CASE("a walk finds nearly what a scan finds, with the same scores, and short answers do not occur") {
    for (const std::size_t d : {20u, 40u}) {  // without bytes, and with
        grouped data(d, 1);
        hnsw_options options = always_graph;
        options.ef = 19;
        pair_of_indexes both(d, options);
        for (std::size_t i = 0; i < 1200; ++i) both.add(unit_at(i / 2), data.next());
        CHECK(both.graph.approximate());
        double recall = 0;
        for (int q = 0; q < 60; ++q) {
            const graph_row probe = data.next();
            search_report report;
            const auto found = both.graph.search(probe, 10, {}, report);
            REQUIRE(found.size() == 10);
            CHECK(report.plan == search_plan::walk);
            CHECK_FALSE(report.complete);
            CHECK(report.scored < 1200);
            CHECK(std::ranges::is_sorted(found, [](const auto& a, const auto& b) { return better(a, b); }));
            // Every key that was found has the score that a scan gives it.
            const auto all = both.flat.search(probe, 1200);
            for (const scored_key& key : found) CHECK(std::ranges::find(all, key) != all.end());
            recall += recall_of(found, both.flat.search(probe, 10)) / 60;
        }
        CHECK(recall >= 0.9);
    }
}

TEST_CASE(
    "a filter costs no keys: from one unit to all, in the way of the probe or not, among rows that were removed") {
    grouped data(40, 2);
    pair_of_indexes both(40);
    constexpr std::size_t size = 1000;
    std::vector<graph_row> rows;
    for (std::size_t i = 0; i < size; ++i) {
        rows.push_back(data.next());
        both.add(unit_at(i), rows.back());
    }
    for (std::size_t i = 0; i < size; i += 5) {
        both.graph.remove(unit_at(i));
        both.flat.remove(unit_at(i));
    }
    // Units whose numbers are not those of their rows.
    for (std::size_t i = size; i < size + 60; ++i) both.add(unit_at(i + i % 2 * 40), data.next());
    constexpr std::size_t universe = size + 100;
    std::set<search_plan> plans;
    std::set<plan_reason> reasons;
    for (int q = 0; q < 12; ++q) {
        const graph_row probe = data.next();
        const auto order = both.flat.search(probe, universe);
        for (const std::size_t allowed_count :
             {std::size_t{1}, std::size_t{5}, size / 100, size / 10, size / 2, size}) {
            unit_set anywhere(universe), farthest(universe), nearest(universe);
            for (std::size_t i = 0; i < allowed_count; ++i) {
                anywhere.insert(unit_at(data.random() % universe));
                farthest.insert(order[order.size() - 1 - i % order.size()].unit);
                nearest.insert(order[i % order.size()].unit);
            }
            for (const unit_set* units : {&anywhere, &farthest, &nearest}) {
                search_report report;
                const auto found = both.graph.search(probe, 10, {units}, report);
                const auto truth = both.flat.search(probe, 10, {units});
                plans.insert(report.plan);
                reasons.insert(report.reason);
                REQUIRE(found.size() == truth.size());
                for (const scored_key& key : found) REQUIRE(units->contains(key.unit));
                if (report.complete) REQUIRE(found == truth);
            }
        }
    }
    CHECK(plans.contains(search_plan::scan_allowed));
    CHECK(plans.contains(search_plan::scan_all));
    CHECK(reasons.contains(plan_reason::cheaper));
}

TEST_CASE("a filtered walk keeps to its filter, and one that takes longer than a scan ends in a scan") {
    grouped data(40, 3);
    // Few links and a small ef, so that a walk is worth its while at this size.
    pair_of_indexes both(40, {.m = 4, .ef_construction = 30, .ef = 10, .scan_below = 0});
    constexpr std::size_t size = 2500;
    for (std::size_t i = 0; i < size; ++i) both.add(unit_at(i), data.next());
    std::size_t walks = 0, scans = 0;
    double recall = 0;
    for (int q = 0; q < 40; ++q) {
        const graph_row probe = data.next();
        const auto order = both.flat.search(probe, size);
        unit_set most(size), far(size);
        for (std::size_t i = 0; i < size; ++i) {
            if (i % 4 != 0) most.insert(unit_at(i));
            if (i >= size / 3) far.insert(order[i].unit);  // none of what is near
        }
        search_report report;
        const auto found = both.graph.search(probe, 5, {&most}, report);
        CHECK(report.plan == search_plan::walk_filtered);
        for (const scored_key& key : found) CHECK(most.contains(key.unit));
        REQUIRE(found.size() == 5);
        recall += recall_of(found, both.flat.search(probe, 5, {&most})) / 40;
        const auto beyond = both.graph.search(probe, 5, {&far}, report);
        REQUIRE(beyond.size() == 5);
        if (report.complete) {
            ++scans;
            CHECK(beyond == both.flat.search(probe, 5, {&far}));
            CHECK(report.scored <= 3 * size);
        } else {
            ++walks;
        }
    }
    CHECK(recall >= 0.75);
    CHECK(scans > 0);
}

TEST_CASE("a plan of the caller's is followed, and finds accepted keys alone, with the scores of a scan") {
    grouped data(40, 10);
    pair_of_indexes both(40);
    constexpr std::size_t size = 1500;
    for (std::size_t i = 0; i < size; ++i) both.add(unit_at(i), data.next());
    both.graph.walk_with(20);
    double recall[2] = {};
    for (int q = 0; q < 20; ++q) {
        const graph_row probe = data.next();
        unit_set fifth(size);
        for (std::size_t i = data.random() % 5; i < size; i += 5) fifth.insert(unit_at(i));
        const auto all = both.flat.search(probe, size, {&fifth});
        const std::vector<scored_key> truth(all.begin(), all.begin() + 10);
        search_report report;
        for (const search_plan plan : {search_plan::scan_all, search_plan::scan_allowed}) {
            REQUIRE(both.graph.search_by(plan, probe, 10, {&fifth}, report) == truth);
            REQUIRE(report.plan == plan);
            REQUIRE(report.complete);
        }
        for (const search_plan plan : {search_plan::walk_filtered, search_plan::walk_two_hop}) {
            const auto found = both.graph.search_by(plan, probe, 10, {&fifth}, report);
            REQUIRE(report.plan == plan);
            REQUIRE_FALSE(report.complete);
            for (const scored_key& key : found) REQUIRE(std::ranges::find(all, key) != all.end());
            recall[plan == search_plan::walk_two_hop] += recall_of(truth, found) / 20;
        }
    }
    CHECK(recall[0] >= 0.9);
    CHECK(recall[1] >= 0.8);
}

TEST_CASE("a filter in the way of the probe is noticed after few rows, one on its way is walked") {
    grouped data(40, 11);
    pair_of_indexes both(40);
    constexpr std::size_t size = 3000;
    for (std::size_t i = 0; i < size; ++i) both.add(unit_at(i), data.next());
    std::size_t walks = 0;
    for (int q = 0; q < 10; ++q) {
        const graph_row probe = data.next();
        const auto order = both.flat.search(probe, size);
        unit_set near_by(size), beyond(size);
        for (std::size_t i = 0; i < size; ++i) (i < size / 2 ? near_by : beyond).insert(order[i].unit);
        search_report report;
        REQUIRE(both.graph.search(probe, 5, {&beyond}, report) == both.flat.search(probe, 5, {&beyond}));
        CHECK(report.plan == search_plan::scan_all);
        CHECK(report.reason == plan_reason::cheaper_here);
        CHECK(report.scored < size + 300);
        REQUIRE(both.graph.search(probe, 5, {&near_by}, report).size() == 5);
        walks += report.plan == search_plan::walk_filtered;
    }
    CHECK(walks == 10);
}

TEST_CASE("the same rows give the same answers, added together or one by one, and after any growth") {
    grouped data(32, 4);
    std::vector<unit_id> units;
    graph_row joined;
    hnsw_index one(32, always_graph), together(32, always_graph);
    std::vector<graph_row> probes;
    for (std::size_t i = 0; i < 700; ++i) {
        const graph_row row = data.next();
        one.add(unit_at(i), row);
        units.push_back(unit_at(i));
        joined.insert(joined.end(), row.begin(), row.end());
        if (i % 20 == 0) probes.push_back(row);
    }
    CHECK(together.add(units, joined) == key_id{0});
    for (const graph_row& probe : probes) {
        search_report report;
        CHECK(one.search(probe, 7, {}, report) == together.search(probe, 7));
        CHECK(report.plan == search_plan::walk);
        CHECK(one.search_batch(probe, 7).front() == one.search(probe, 7));
    }
}

TEST_CASE("removed rows are not found, and when most are removed the others are linked anew") {
    grouped data(32, 5);
    pair_of_indexes both(32);
    constexpr std::size_t size = 600;
    for (std::size_t i = 0; i < size; ++i) both.add(unit_at(i % 300), data.next());
    for (std::size_t u = 0; u < 300; ++u) {
        if (u % 7 == 0) continue;
        CHECK(both.graph.remove(unit_at(u)) == 2);
        CHECK(both.graph.remove(unit_at(u)) == 0);
        both.flat.remove(unit_at(u));
        if (u % 50 != 1) continue;
        const graph_row probe = data.next();
        for (const scored_key& key : both.graph.search(probe, 10))
            CHECK((index_of(key.unit) > u || index_of(key.unit) % 7 == 0));
        CHECK(both.graph.search(probe, SIZE_MAX) == both.flat.search(probe, SIZE_MAX));
        CHECK(both.graph.bounds(probe).low == Approx(both.flat.bounds(probe).low).margin(1e-6));
    }
    CHECK(both.graph.size() == both.flat.size());
    CHECK(both.graph.most_keys_of_a_unit() == 2);
    // Keys go on where they were.
    const graph_row again = data.next();
    CHECK(both.graph.add(unit_at(1), again) == both.flat.add(unit_at(1), again));
    CHECK(both.graph.search(again, 1).front().unit == unit_at(1));
    for (std::size_t u = 0; u < 300; ++u) both.graph.remove(unit_at(u));
    CHECK(both.graph.size() == 0);
    CHECK(both.graph.search(again, 3).empty());
    both.graph.add(unit_at(9), again);
    CHECK(both.graph.search(again, 3).size() == 1);
}

TEST_CASE("rows that come take the places of rows that went: ten times all of them, no more memory, no less recall") {
    grouped data(32, 15);
    pair_of_indexes both(32);
    constexpr std::uint32_t size = 480, step = 32;
    std::uint32_t next = 0;
    const auto add = [&](std::uint32_t count) {
        for (const std::uint32_t end = next + count; next < end; ++next) both.add(unit_id{next}, data.next());
    };
    const auto recall = [&] {
        double sum = 0;
        for (int q = 0; q < 50; ++q) {
            const graph_row probe = data.next();
            search_report report;
            const auto found = both.graph.search_by(search_plan::walk, probe, 5, {}, report);
            REQUIRE_FALSE(report.complete);
            sum += recall_of(found, both.flat.search(probe, 5)) / 50;
        }
        return sum;
    };
    add(size);
    const double at_first = recall();
    std::size_t memory = 0;
    for (std::uint32_t turn = 1; turn <= 10; ++turn) {
        for (std::uint32_t day = 0; day < size / step; ++day) {
            for (std::uint32_t i = 0; i < step; ++i) {
                REQUIRE(both.graph.remove(unit_id{next - size + i}) == 1);
                both.flat.remove(unit_id{next - size + i});
            }
            add(step);
        }
        CHECK(both.graph.size() == size);
        if (turn == 2) memory = both.graph.memory();
    }
    CHECK(both.graph.memory() == memory);
    CHECK(recall() >= at_first - 0.05);
    const graph_row probe = data.next();
    CHECK(both.graph.search(probe, SIZE_MAX) == both.flat.search(probe, SIZE_MAX));

    // Rows no longer have the numbers of their units: a filter asks for the units all the same.
    unit_set third(next);
    for (std::uint32_t i = next - size; i < next; i += 3) third.insert(unit_id{i});
    const accept allowed{&third};
    CHECK(both.graph.search(probe, SIZE_MAX, allowed) == both.flat.search(probe, SIZE_MAX, allowed));
    for (const search_plan plan : {search_plan::walk_filtered, search_plan::walk_two_hop}) {
        search_report report;
        const auto found = both.graph.search_by(plan, probe, 5, allowed, report);
        CHECK_FALSE(found.empty());
        for (const scored_key& key : found) CHECK(third.contains(key.unit));
    }
}

TEST_CASE("rows whose neighbours all went are linked anew, and a unit's row is that of its first key wherever it stands") {
    grouped data(32, 16);
    hnsw_options options = always_graph;
    options.ef = 16;
    pair_of_indexes both(32, options);
    hnsw_index anew(32, options);
    std::vector<graph_row> rows;
    const auto stays = [](std::size_t i) { return i >= 1000 || i % 40 == 7; };
    for (std::size_t i = 0; i < 2000; ++i) {  // forty in each of fifty groups
        rows.push_back(data.noise(0.3f));
        for (std::size_t j = 0; j < 32; ++j) rows.back()[j] += data.centres[i / 40][j];
        both.add(unit_at(i), rows.back());
        if (stays(i)) anew.add(unit_at(i), rows.back());
    }
    for (std::size_t i = 0; i < 1000; ++i) {
        if (stays(i)) continue;
        both.graph.remove(unit_at(i));
        both.flat.remove(unit_at(i));
    }
    REQUIRE(both.graph.approximate());
    const auto lone_rows_found_by = [&](const hnsw_index& index) {
        std::size_t found = 0;
        for (std::size_t i = 7; i < 1000; i += 40) found += index.search(rows[i], 5).front().unit == unit_at(i);
        return found;
    };
    CHECK(lone_rows_found_by(both.graph) + 2 >= lone_rows_found_by(anew));
    const graph_row first = data.next(), second = data.next();
    for (const graph_row* row : {&first, &second}) both.add(unit_at(2000), *row);
    graph_row out(32), wanted(32);
    REQUIRE(both.graph.vector_of(unit_at(2000), out));
    REQUIRE(both.flat.vector_of(unit_at(2000), wanted));
    CHECK(out == wanted);
}

TEST_CASE("an executor that throws leaves the rows as they were, and rows can be added after") {
    grouped data(32, 17);
    std::vector<unit_id> units;
    graph_row rows;
    for (std::size_t i = 0; i < 400; ++i) {
        const graph_row row = data.next();
        rows.insert(rows.end(), row.begin(), row.end());
        units.push_back(unit_at(i));
    }
    hnsw_index index(32, always_graph);
    CHECK_THROWS_AS(index.add(units, rows, [](const auto&) { throw std::runtime_error("no threads left"); }),
                    std::runtime_error);
    CHECK(index.size() == 0);
    CHECK(index.search(data.next(), 3).empty());
    CHECK(index.add(units, rows, {}) == key_id{0});
    CHECK(index.approximate());
    CHECK(index.search(std::span(rows).first(32), 1).front().unit == unit_at(0));
}

TEST_CASE("the rows that a walk keeps are chosen for a recall, which is reported") {
    grouped data(32, 6);
    hnsw_options options = always_graph;
    options.ef = 0;
    options.recall = 0.5f;
    hnsw_index low(32, options);
    options.recall = 0.99f;
    hnsw_index high(32, options);
    std::vector<unit_id> units;
    graph_row rows;
    for (std::size_t i = 0; i < 1500; ++i) {
        const graph_row row = data.noise(1.0f);  // no groups: the hardest there is
        rows.insert(rows.end(), row.begin(), row.end());
        units.push_back(unit_at(i));
    }
    low.add(units, rows);
    high.add(units, rows);
    CHECK(low.measured_recall() >= 0.5f);
    CHECK(high.measured_recall() >= 0.99f);
    CHECK(low.ef() < high.ef());
    CHECK(hnsw_index(32, always_graph).ef() == 8);
}

TEST_CASE("few rows are scanned, and the answer is complete") {
    grouped data(32, 7);
    pair_of_indexes both(32, {});
    for (std::size_t i = 0; i < 300; ++i) both.add(unit_at(i), data.next());
    CHECK_FALSE(both.graph.approximate());
    const graph_row probe = data.next();
    search_report report;
    CHECK(both.graph.search(probe, 10, {}, report) == both.flat.search(probe, 10));
    CHECK(report.plan == search_plan::scan_all);
    CHECK(report.complete);
    CHECK(both.graph.measured_recall() == 1.0f);
}

TEST_CASE("lengths beyond what floats multiply are searched by scanning") {
    hnsw_product_index index(2, {.ef = 10, .scan_below = 0});
    for (std::size_t i = 0; i < 50; ++i) index.add(unit_at(i), graph_row{static_cast<float>(i) * 1e36f, 1.0f});
    CHECK_FALSE(index.approximate());
    CHECK(index.search(graph_row{1e20f, 0}, 1)[0].score == (std::numeric_limits<float>::max)());
}

TEST_CASE("a move takes the graph along") {
    grouped data(32, 8);
    pair_of_indexes both(32);
    for (std::size_t i = 0; i < 400; ++i) both.add(unit_at(i), data.next());
    const graph_row probe = data.next();
    const auto before = both.graph.search(probe, 5);
    hnsw_index moved = std::move(both.graph);
    CHECK(moved.search(probe, 5) == before);
    moved.add(unit_at(1000), probe);
    CHECK(moved.search(probe, 1).front().unit == unit_at(1000));
}

TEST_CASE("memory grows with the rows, about as stated") {
    grouped data(64, 9);
    hnsw_index index(64, {.m = 8, .ef_construction = 20, .ef = 10, .scan_below = 0});
    std::vector<unit_id> units;
    graph_row rows;
    constexpr std::size_t size = 1000;
    for (std::size_t i = 0; i < size; ++i) {
        const graph_row row = data.next();
        rows.insert(rows.end(), row.begin(), row.end());
        units.push_back(unit_at(i));
    }
    index.add(units, rows);
    CHECK(index.memory() > size * (4 * 64 + 64 + 24 + 8 * 8 + 68));
    CHECK(index.memory() < 2 * size * (4 * 64 + 64 + 24 + 8 * 8 + 120) + 3'000'000);
}
