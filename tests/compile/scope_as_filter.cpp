// A scope is the application's own and goes where no model writes.
// says: a scope is not a filter: say within(scope)
#include "quarry/core/query.hpp"

using namespace quarry;

query asked() {
    const scope mine = scope::only(eq("tenant", "a"));
#ifdef MISUSE
    return query("reset password").where(mine);
#else
    return query("reset password").within(mine);
#endif
}
