// An assistant over the help centre: conditions, hybrid search, a judge, diversity, packing, citations, links.
#include <quarry/answer/assemble.hpp>
#include <quarry/answer/citations.hpp>
#include <quarry/answer/links.hpp>
#include <quarry/probe/schema_reader.hpp>
#include <quarry/rank/rerank.hpp>
#include <quarry/retrieve/probed.hpp>

#include "help_centre.hpp"

using namespace quarry;

// Stand-ins for a cross-encoder and for the model that writes. The second cites what it was not shown and links
// elsewhere.
std::vector<float> judge(std::string_view question, std::span<const std::string_view> passages) {
    std::vector<float> scores;
    for (const std::string_view p : passages)
        scores.push_back(p.find(question.substr(0, question.find(' '))) != p.npos ? 1.0f : 0.0f);
    return scores;
}
std::string model(std::string_view) {
    return "The error means that the battery is low [1]. See [updates](../hub-and-network/firmware-updates.md), or "
           "[a shop](https://shop.example/batteries) [7].";
}

int main() {
    const corpus articles = help_centre();
    const auto embed = lsa_embedder::fit(articles);
    const auto kb = build(articles, identity{}, embed);
    const field_catalog fields(articles, {{.field = "access", .hidden = true}});
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed)) | narrowed_by(schema_reader(fields)) |
                        rerank_first(judge, {.first = 20, .trust = .5f}) |
                        diversify(kb.vectors, embed, mmr{.lambda = .8f, .fetch = 10});

    // The application's scope, which no question and no model can change.
    const scope residents = scope::only(eq("access", "public"));
    for (const char* question : {"HL-402 on the thermostat", "HL-301 pages updated before 2026"}) {
        trace told;
        const auto found = search.retrieve(query(question).within(residents).traced(told), 3);
        print_titles(question, found);
        const packed_context context = assemble(found, {.budget = 1500});
        std::cout << "  " << context.tokens << " tokens in " << context.units.size() << " pieces\n";
        const std::string reply = model(context.text);
        const checked_answer links = check_links(reply, allowed_links(context));
        std::cout << "  " << links.text << '\n';
        for (const citation& c : check_citations(links.text, context).unknown)
            std::cout << "  cites [" << c.first << "], which it was not shown\n";
    }
}
