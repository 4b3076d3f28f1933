// A reference to a source is a view, so the source needs a name.
// says: a temporary source would dangle
#include "quarry/core/corpus.hpp"

using namespace quarry;

corpus load();

std::size_t count() {
#ifdef MISUSE
    const source_ref source = load();
#else
    const corpus articles = load();
    const source_ref source = articles;
#endif
    return source.size();
}
