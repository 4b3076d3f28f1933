#include "quarry/index/unit_graph.hpp"

#include <limits>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

std::vector<node_id> neighbours_of(const unit_graph& g, node_id node) {
    std::vector<node_id> out;
    for (const graph_edge& e : g.edges(node)) out.push_back(e.to);
    return out;
}

using nodes = std::vector<node_id>;

}  // namespace

TEST_CASE("an edge leads both ways, the heavier of two stays, and none leads home") {
    const corpus c = toy::corpus_of({"a", "b", "c"});
    unit_graph g(c);
    g.connect(unit_id{0}, unit_id{2}, .5f);
    g.connect(unit_id{2}, unit_id{0}, 2.0f);
    g.connect(unit_id{0}, unit_id{2}, 1.0f);
    g.connect(unit_id{1}, unit_id{1});
    CHECK(std::ranges::equal(g.edges(0), std::vector<graph_edge>{{2, 2.0f}}));
    CHECK(neighbours_of(g, 2) == nodes{0});
    CHECK(g.edges(1).empty());
    CHECK(g.edges(99).empty());
    CHECK(code_of([&] { g.connect(unit_id{0}, unit_id{3}); }) == "graph.node");
    for (const float bad :
         {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        CHECK(code_of([&] { g.connect(unit_id{0}, unit_id{1}, bad); }) == "graph.weight");
}

TEST_CASE("articles that link to each other are connected, whatever form the target has") {
    corpus c;
    const auto page = [&](const char* id, std::vector<std::string> targets) {
        article a{.id = id, .text = "text"};
        for (std::string& t : targets) a.links.push_back({std::move(t)});
        c.add(std::move(a));
    };
    page("help/a", {"help/b", "https://elsewhere.org/x", "#top", ""});
    page("help/b", {"c.md#part", "/help/a?x=1", "../help/a.html"});
    page("help/c", {"help/c"});
    unit_graph g(c);
    CHECK(g.connect_links() == 2);
    CHECK(neighbours_of(g, 0) == nodes{1});
    CHECK(neighbours_of(g, 1) == nodes{0, 2});
    unit_graph own(c);
    CHECK(own.connect_links(1.0f, [](std::string_view t) -> std::optional<unit_id> {
        if (t == "#top") return unit_id{2};
        return std::nullopt;
    }) == 1);
    CHECK(neighbours_of(own, 2) == nodes{0});
}

TEST_CASE("identifiers and capitalised phrases are entities, words that begin a sentence are not") {
    const auto found =
        entities_in("Ask the Heat Pump Hub. Error HL-301 shows, says NASA. Then the Heat Pump Hub, too.");
    CHECK(found == std::vector<std::string>{"heat pump hub", "hl-301", "nasa"});
    CHECK(entities_in("Nothing here to see.").empty());
    CHECK(entities_in("").empty());
}

TEST_CASE("units are connected by rare entities that they share") {
    const corpus c = toy::corpus_of({"see HL-301 and X9", "about HL-301", "X9 and HL-301", "only Y7"});
    unit_graph g(c);
    CHECK(g.connect_entities({.most_units = 2}) == 1);  // hl-301 stands in three, y7 in one
    CHECK(g.nodes() == 5);
    CHECK(g.entity(4) == "x9");
    CHECK(g.entity(0).empty());
    CHECK_FALSE(g.is_unit(4));
    CHECK(neighbours_of(g, 4) == nodes{0, 2});
    entity_options own;
    own.entities = [](std::string_view text) { return std::vector<std::string>{std::string(1, text.front())}; };
    unit_graph other(c);
    CHECK(other.connect_entities(own) == 0);
    CHECK(other.add_entity("x") == other.add_entity("x"));
}
