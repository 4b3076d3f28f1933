// Diversity: hits that differ, hits that are no copies, and hits that are recent.
#include <quarry/core/date_time.hpp>
#include <quarry/rank/boost.hpp>
#include <quarry/rank/similarity.hpp>

#include "help_centre.hpp"

using namespace quarry;

int main() {
    const corpus articles = help_centre();
    const auto embed = lsa_embedder::fit(articles);
    const auto kb = build(articles, identity{}, embed);
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed));
    const char* question = "radiator valve does not close";

    print_titles("the most relevant", search.retrieve(question, 4));
    print_titles("partly for their difference",
                 (search | diversify(kb.vectors, mmr{.lambda = .7f, .fetch = 15, .floor = .3f})).retrieve(question, 4));
    print_titles("nothing that is near another",
                 (search | without_near_copies(kb.vectors, {.above = .6f})).retrieve(question, 4));

    const auto today = *date_time::day(2026, 6, 1);
    const auto found =
        (search | boost(recency{.field = "updated", .now = today, .half_life_days = 365.0f})).retrieve(question, 4);
    std::cout << "the recent ones first\n";
    for (const auto& hit : found)
        std::cout << "    " << found.unit(hit).title() << ", " << found.unit(hit).value("updated")->to_string() << '\n';
}
