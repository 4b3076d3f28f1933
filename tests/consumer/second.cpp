#include <string>

#include "quarry/quarry.hpp"

std::string best_title(const quarry::corpus& articles, const char* question) {
    const auto kb = quarry::build(articles, quarry::identity{});
    const auto found = quarry::lexical(kb.bm25).retrieve(question, 1);
    return found.empty() ? std::string() : std::string(found.unit(found[0]).title());
}

std::size_t dimension_elsewhere() { return quarry::flat_index(3).dimension(); }
