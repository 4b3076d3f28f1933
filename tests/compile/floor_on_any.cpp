// An erased retriever has lost its scale, so floors are put on before erasing.
// says: on this scale the position is the truth and no floor has a meaning
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/toy.hpp"

using namespace quarry;

auto erased(const indexed<toy::word_index>& words) {
#ifdef MISUSE
    return any_retriever(lexical(words)) | at_least<unknown_scale>{0.3f};
#else
    return any_retriever(lexical(words) | at_least<bm25_scale>{0.3f});
#endif
}
