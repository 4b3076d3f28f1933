// Graph: from what was found to what it links to, and to what speaks of the same rare things.
#include <quarry/retrieve/graph.hpp>

#include "help_centre.hpp"

using namespace quarry;

int main() {
    const corpus articles = help_centre();
    const auto kb = build(articles, identity{});
    unit_graph graph(articles);
    const std::size_t links = graph.connect_links();
    const std::size_t entities = graph.connect_entities({.most_units = 5});
    std::cout << links << " links between " << articles.size() << " articles, " << entities << " shared entities\n";

    const auto search = lexical(kb.bm25);
    const char* question = "HL-402";
    print_titles("found", search.retrieve(question, 5));
    const auto near = (search | walk(graph, {.hops = 1, .seeds = 2})).retrieve(question, 6);
    std::cout << "one step further\n";
    for (const auto& hit : near) std::cout << "    " << hit.score << "  " << near.unit(hit).title() << '\n';
    print_titles("by PageRank from there", (search | pagerank(graph, {.seeds = 2})).retrieve(question, 5));

    // Filter and scope hold on every step: what may not be seen is neither shown nor passed.
    const query narrow = query(question).within(scope::only(eq("section", "troubleshooting")));
    print_titles("within troubleshooting", (search | walk(graph, {.hops = 3})).retrieve(narrow, 6));
}
