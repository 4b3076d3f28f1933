// What an embedding function returns has to be numbers.
// says: an embedding function returns a row of floats, rows of floats, or n * d floats
#include <string>
#include <vector>

#include "quarry/model/embedder.hpp"

using namespace quarry;

void embed(std::span<const std::string_view> texts, std::span<float> rows) {
#ifdef MISUSE
    const auto function = [](std::span<const std::string_view>) { return std::vector<std::string>(); };
#else
    const auto function = [](std::span<const std::string_view>) { return std::vector<float>(); };
#endif
    make_embedder(3, function).embed(role::document, texts, rows);
}
