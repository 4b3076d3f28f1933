// A leaf refers to its index, so the index needs a name.
// says: a temporary index would dangle
#include "quarry/index/flat_index.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/toy.hpp"

using namespace quarry;

indexed<flat_index> make_vectors(const corpus& articles) { return {flat_index(26), articles}; }

void search(const corpus& articles) {
    const toy::letter_embedder embed;
#ifdef MISUSE
    dense(make_vectors(articles), embed).retrieve("reset password", 5);
#else
    const auto vectors = make_vectors(articles);
    dense(vectors, embed).retrieve("reset password", 5);
#endif
}
