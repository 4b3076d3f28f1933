// A function with a state of its own is not safe from several threads as it is; serialized() makes it so.
// says: make_embedder: the function must be callable, as const
#include "quarry/model/embedder.hpp"

using namespace quarry;

auto embedder() {
    auto counting = [calls = 0](std::string_view) mutable {
        return std::vector<float>(3, static_cast<float>(++calls));
    };
#ifdef MISUSE
    return make_embedder(3, counting);
#else
    return make_embedder(3, serialized(counting));
#endif
}
