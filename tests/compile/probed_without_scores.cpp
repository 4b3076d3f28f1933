// Texts of one question are fused by exact scores only over a search that can score what other texts found.
// says: quarry: this fuser needs a search that can score given units and knows its bounds
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"
#include "support/toy.hpp"

using namespace quarry;

struct nothing_more {
    probed_query operator()(question&) const { return {}; }
};

void probed(const indexed<toy::word_index>& words) {
#ifdef MISUSE
    (lexical(words) | probed_by<bounded>(nothing_more{})).retrieve("reset password", 5);
#else
    (lexical(words) | probed_by(nothing_more{})).retrieve("reset password", 5);
#endif
}
