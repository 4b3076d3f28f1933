// An embedding function takes one text or many.
// says: make_embedder: the function must be callable, as const, with a string_view or a span<const string_view>
#include "quarry/model/embedder.hpp"

using namespace quarry;

auto embedder() {
#ifdef MISUSE
    return make_embedder(3, [](int) { return std::vector<float>(3, 1.0f); });
#else
    return make_embedder(3, [](std::string_view) { return std::vector<float>(3, 1.0f); });
#endif
}
