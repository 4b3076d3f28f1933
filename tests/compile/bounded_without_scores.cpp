// Bounded fusion asks every leg to score what the others found. A leg that cannot is fused by rank.
// says: quarry: this fuser needs legs that can score given units and know their bounds
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/toy.hpp"

using namespace quarry;

void fused(const indexed<toy::word_index>& words) {
#ifdef MISUSE
    fuse(bounded{}, lexical(words), lexical(words)).retrieve("reset password", 5);
#else
    fuse(rrf{}, lexical(words), lexical(words)).retrieve("reset password", 5);
#endif
}
