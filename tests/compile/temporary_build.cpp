// What is built refers to its articles, so they need a name.
// says: a temporary source would dangle
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"

using namespace quarry;

corpus load();

void index() {
#ifdef MISUSE
    build(load(), identity{});
#else
    const corpus articles = load();
    build(articles, identity{});
#endif
}
