// A filter may come from anybody; making it a scope has to be said.
// says: a filter is not a scope: say where(filter), or within(scope::only(filter))
#include "quarry/core/query.hpp"

using namespace quarry;

query asked() {
    query q("reset password");
    const filter written_by_a_model = eq("tenant", "a");
#ifdef MISUSE
    q.within(written_by_a_model);
#else
    q.within(scope::only(written_by_a_model));
#endif
    return q;
}
