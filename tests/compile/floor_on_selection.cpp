// Where a stage chose the order, the position is the truth: no floor compiles behind it, before it one does.
// says: on this scale the position is the truth and no floor has a meaning
#include "quarry/index/flat_index.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/toy.hpp"

using namespace quarry;

auto diverse(const indexed<flat_index>& vectors, toy::letter_embedder embed) {
#ifdef MISUSE
    return dense(vectors, embed) | diversify(vectors) | at_least<selection_scale>{0.3f};
#else
    return dense(vectors, embed) | at_least<cosine_scale>{0.3f} | diversify(vectors);
#endif
}
