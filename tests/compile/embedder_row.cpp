// A text is a range of letters, and letters convert to numbers; it is no row of floats all the same.
// says: an embedding function over one text returns a row of floats
#include <string>

#include "quarry/model/embedder.hpp"

using namespace quarry;

void embed(std::span<const std::string_view> texts, std::span<float> rows) {
#ifdef MISUSE
    const auto function = [](std::string_view text) { return std::string(text); };
#else
    const auto function = [](std::string_view text) { return std::vector<float>(3, static_cast<float>(text.size())); };
#endif
    make_embedder(3, function).embed(role::document, texts, rows);
}
