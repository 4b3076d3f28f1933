#include "quarry/retrieve/graph.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;

namespace {

using ids = std::vector<std::uint32_t>;

// Passages p1 p2 p3 are units 0 1 2, entities e1 e2 nodes 3 and 4: e1-p1, e1-p2, e2-p2, e1-e2.
struct worked_example {
    corpus c = toy::numbered(3);
    unit_graph g{c};
    worked_example() {
        const node_id e1 = g.add_entity("e1"), e2 = g.add_entity("e2");
        g.connect(e1, node_id{0});
        g.connect(e1, node_id{1});
        g.connect(e2, node_id{1});
        g.connect(e1, e2);
    }
    std::vector<double> ranks(std::vector<double> seeds, double damping) const {
        return personalised_pagerank(g, seeds, {.damping = damping});
    }
};

void check_ranks(const std::vector<double>& got, const std::vector<double>& expected) {
    REQUIRE(got.size() == expected.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i] == Approx(expected[i]).margin(1e-6));
        sum += got[i];
    }
    CHECK(sum == Approx(1.0));
}

// A chain 0 - 1 - 2 - 3 and an edge 0 - 4.
struct chain {
    corpus c = toy::numbered(6);
    unit_graph g{c};
    chain() {
        for (std::uint32_t i = 0; i < 3; ++i) g.connect(unit_id{i}, unit_id{i + 1});
        g.connect(unit_id{0}, unit_id{4});
    }
    toy::listed<bm25_scale> from(toy::scored_units hits) const { return {c, std::move(hits)}; }
};

}  // namespace

TEST_CASE("the worked examples of personalised PageRank") {
    const worked_example w;
    // Order of nodes: p1, p2, p3, e1, e2.
    check_ranks(w.ranks({0, 0, 0, .7, .3}, .5), {.082759, .150345, 0, .496552, .270345});
    check_ranks(w.ranks({0, 0, 0, .7, .3}, .85), {.115107, .223527, 0, .406260, .255106});
    check_ranks(w.ranks({0, .05, .05, .7, .3}, .5), {.078589, .166800, .023256, .471532, .259824});
}

TEST_CASE("without seeds there is no rank, and nodes that may not be entered have none") {
    const worked_example w;
    CHECK(w.ranks({}, .5).empty());
    CHECK(w.ranks({0, 0, 0, 0, 0}, .5).empty());
    const std::vector<double> seeds{1, 0, 0, 0, 0};
    const auto closed = personalised_pagerank(w.g, seeds, {}, [](node_id n) { return n != 3; });
    CHECK(closed == std::vector<double>{1, 0, 0, 0, 0});
}

TEST_CASE("a walk keeps a share of each step, and the best way counts") {
    const chain w;
    const auto base = w.from({{0, 4.0f}, {2, 2.0f}});
    const auto found = (base | walk(w.g, {.hops = 2, .decay = .5f})).retrieve("", 10);
    // Shares: 0 has 1, 2 has .5; 1 gets .5 from 0; 4 gets .5; 3 gets .25 from 2.
    CHECK(toy::units(found) == ids{0, 1, 2, 4, 3});
    CHECK(found[0].score == 1.0f);
    CHECK(found[1].score == .5f);
    CHECK(found[4].score == .25f);
    CHECK(toy::units((base | walk(w.g, {.hops = 0})).retrieve("", 10)) == ids{0, 2});
    CHECK(toy::units((w.from({{0, 1.0f}}) | walk(w.g, {.hops = 1})).retrieve("", 10)) == ids{0, 1, 4});
    CHECK((w.from({}) | walk(w.g)).retrieve("", 10).empty());
    CHECK((base | walk(w.g)).retrieve("", 0).empty());
    CHECK(toy::units((base | walk(w.g, {.hops = 2, .most_new = 1})).retrieve("", 10)) == ids{0, 1, 2});
}

TEST_CASE("a walk ends on cycles, and entities are walked through and never returned") {
    worked_example w;
    w.g.connect(unit_id{0}, unit_id{1});
    const toy::listed<bm25_scale> base(w.c, {{0, 1.0f}});
    CHECK(toy::units((base | walk(w.g, {.hops = 50})).retrieve("", 10)) == ids{0, 1});
    CHECK(toy::units((base | pagerank(w.g)).retrieve("", 10)) == ids{0, 1});
}

TEST_CASE("nothing is reached that the query may not see, nor through it") {
    const chain w;  // field "part" is the id modulo 2
    const auto base = w.from({{0, 1.0f}});
    const query q = query("").where(eq("part", 0));
    CHECK(toy::units((base | walk(w.g, {.hops = 5})).retrieve(q, 10)) == ids{0, 4});
    CHECK(toy::units((base | pagerank(w.g)).retrieve(q, 10)) == ids{0, 4});
    CHECK(toy::units((base | walk(w.g, {.hops = 5})).retrieve(query("").within(scope::only(eq("part", 0))), 10)) ==
          ids{0, 4});
}

TEST_CASE("a graph of another source, and numbers out of range, are refused") {
    const chain w;
    const corpus other = toy::numbered(6);
    const unit_graph foreign(other);
    const auto base = w.from({{0, 1.0f}});
    CHECK(code_of([&] { base | walk(foreign); }) == "graph.source");
    CHECK(code_of([&] { base | walk(w.g, {.decay = 0.0f}); }) == "graph.walk");
    CHECK(code_of([&] { base | walk(w.g, {.decay = 1.1f}); }) == "graph.walk");
    CHECK(code_of([&] { base | walk(w.g, {.most_new = 0}); }) == "graph.walk");
    CHECK(code_of([&] { base | pagerank(w.g, {.damping = 1.0}); }) == "graph.damping");
}

TEST_CASE("a hit says from where and over how many steps it came") {
    const chain w;
    const auto found = (w.from({{0, 1.0f}}) | walk(w.g, {.hops = 2})).retrieve("", 10);
    const auto& last = found[found.size() - 1];
    CHECK(last.unit == unit_id{2});
    const ledger_entry& entry = found.notes()[last.trail];
    CHECK(entry.stage == "walk");
    CHECK(entry.rank == 2);
    CHECK(found.notes()[entry.from].stage == "listed");
}
