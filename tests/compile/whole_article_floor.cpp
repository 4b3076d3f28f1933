// Where a stage chose the order, an article's floor has no meaning and cannot be written.
// says: on this scale the position is the truth and no floor has a meaning
#include "quarry/retrieve/whole_article.hpp"
#include "support/lists.hpp"

using namespace quarry;

auto articles(const toy::listed<selection_scale>& chosen) {
#ifdef MISUSE
    return whole_article(chosen, {.floor = 0.5f});
#else
    return whole_article(chosen, {.most = 5});
#endif
}
