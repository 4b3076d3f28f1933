// A leaf refers to its index, so the index needs a name.
// says: a temporary index would dangle
#include "quarry/retrieve/lexical.hpp"
#include "support/toy.hpp"

using namespace quarry;

indexed<toy::word_index> make_words(const corpus& articles) { return {toy::word_index{}, articles}; }

void search(const corpus& articles) {
#ifdef MISUSE
    lexical(make_words(articles)).retrieve("reset password", 5);
#else
    const auto words = make_words(articles);
    lexical(words).retrieve("reset password", 5);
#endif
}
