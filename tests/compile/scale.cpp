// A floor written for one scale does not compile on another.
// says: a floor of one scale cannot be applied to scores of another
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/toy.hpp"

using namespace quarry;

auto floored(const indexed<toy::word_index>& words) {
#ifdef MISUSE
    return lexical(words) | at_least<cosine_scale>{0.3f};
#else
    return lexical(words) | at_least<bm25_scale>{0.3f};
#endif
}
