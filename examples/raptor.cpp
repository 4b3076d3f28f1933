// RAPTOR: summaries of what belongs together, and summaries of these.
//
// A question about the whole is in no single part. The tree is grown without a model here, unless a server is named
// (language_model.hpp): a summary is the most central sentences of its group. Vectors are fitted to the text itself.

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "language_model.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/grow/sentence_windows.hpp"
#include "quarry/model/lsa_embedder.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/raptor.hpp"

using namespace quarry;

namespace {

const std::vector<std::pair<std::string, std::string>> diary{
    {"monday", "We sailed from the port at dawn. The wind was strong and the sail tore."},
    {"tuesday", "We mended the sail with thread. The wind dropped and we drifted."},
    {"wednesday", "The cook baked bread in the galley. Bread and soup for everyone."},
    {"thursday", "The soup was thin and the bread was old. The cook blamed the flour."},
    {"friday", "A strong wind brought us to port under full sail."}};

template <class Search>
void ask(const char* what, const Search& search, query q) {
    const auto found = search.retrieve(std::move(q), 3);
    std::cout << what << '\n';
    for (const auto& hit : found)
        std::cout << "  " << detail::fixed(static_cast<double>(hit.score), 2) << "  "
                  << (found.unit(hit).kind() == unit_kind::generated ? "summary: " : "") << found.unit(hit).text()
                  << '\n';
}

template <Summarizer S>
void tell(const S& summarizer) {
    corpus c;
    for (const auto& [day, text] : diary) c.add({.id = day, .text = text});
    const auto embed = lsa_embedder::fit(c, {.rank = 4});
    const raptor tree(embed, summarizer, {.of = unit_kind::article, .across_articles = true},
                      kmeans_clusters{.members = 3});

    const raptor_growth grown = tree.grow(c);
    std::cout << grown.summaries.size() << " summaries of " << grown.leaves << " days, by " << grown.asked.calls
              << " calls of a model:\n";
    for (const unit_id s : grown.summaries) {
        std::cout << "  " << c.text(s) << "\n    of";
        for (const unit_id source : c.sources(s))
            std::cout << ' ' << (c.kind(source) == unit_kind::generated ? "a summary" : c.id(source));
        std::cout << '\n';
    }

    const auto days = build_vectors(c, identity{}, embed),
               tops = build_vectors(c, identity{.of = unit_kind::generated}, embed);
    const auto search = raptor_collapsed(dense(days.vectors, embed), dense(tops.vectors, embed));
    std::cout << '\n';
    ask("What was the food like? (summaries allowed)", search, query("bread soup cook").include_generated());
    ask("\nThe same, sources only:", search, query("bread soup cook"));
    ask("\nUnder a budget of 40 tokens, layer by layer:",
        raptor_layered(dense(days.vectors, embed), dense(tops.vectors, embed), {.beam = 1, .tokens = 40}),
        query("wind and sail"));

    c.add({.id = "saturday", .text = "The wind tore the sail again at dawn."});
    const raptor_growth again = tree.grow(c, grown.tree);
    std::cout << "\nA day is added: " << again.made.size() << " of " << again.summaries.size()
              << " summaries are made again, " << again.obsolete.size() << " are obsolete.\n";
}

}  // namespace

int main() {
    const language_model model;
    if (model.is_served()) tell(summaries(model));
    else tell(extracts{{.most_tokens = 32}});
}
