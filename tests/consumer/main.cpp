// A program of two translation units that both include everything: a function that is not inline, or one that the two
// see differently, does not link or does not agree.
#include <cstdlib>
#include <iostream>
#include <string>

#include "quarry/quarry.hpp"

// Asked in the other file.
std::string best_title(const quarry::corpus& articles, const char* question);
std::size_t dimension_elsewhere();

int main() {
    quarry::corpus articles;
    articles.add({.id = "reset", .title = "Reset a password", .text = "Open the settings and choose a new one."});
    articles.add({.id = "pair", .title = "Pair a valve", .text = "Hold the button until the light blinks."});

    const auto kb = quarry::build(articles, quarry::identity{});
    const auto found = quarry::lexical(kb.bm25).retrieve("forgotten password", 1);
    const bool here = found.size() == 1 && found.unit(found[0]).id() == "reset";
    const bool there = best_title(articles, "which button") == "Pair a valve";
    const bool one_version = dimension_elsewhere() == quarry::flat_index(3).dimension();
    if (!here || !there || !one_version) {
        std::cerr << "here " << here << ", there " << there << ", one version " << one_version << '\n';
        return EXIT_FAILURE;
    }
}
