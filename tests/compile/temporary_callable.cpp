// ref() shares a callable that lives elsewhere, so it needs a name.
// says: a temporary would dangle
#include "quarry/model/embedder.hpp"
#include "support/toy.hpp"

using namespace quarry;

std::size_t width() {
#ifdef MISUSE
    return ref(toy::letter_embedder{}).dimension();
#else
    const toy::letter_embedder embed;
    return ref(embed).dimension();
#endif
}
