#include <iostream>
#include <quarry/quarry.hpp>

int main() {
    quarry::corpus articles;
    articles.add({.id = "reset", .title = "Reset a password", .text = "Open Settings and choose New password."});
    articles.add({.id = "mail", .title = "Change an address", .text = "Mail about a new password goes there."});
    articles.add({.id = "bill", .title = "Read a bill", .text = "Every bill lists the month's charges."});

    const auto embed = quarry::lsa_embedder::fit(articles);
    const auto kb = quarry::build(articles, quarry::identity{}, embed);
    const auto search = quarry::hybrid(quarry::lexical(kb.bm25), quarry::dense(kb.vectors, embed));
    const auto answer = search.retrieve("I forgot my password", 2);
    for (const auto& hit : answer) std::cout << hit.score << "  " << answer.unit(hit).title() << '\n';
}
