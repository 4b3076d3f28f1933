// A leg whose run is not const is no Retriever, and the compiler names the requirement that fails.
// says: retriever.run(q, k)
#include "quarry/retrieve/hybrid.hpp"

using namespace quarry;

struct mine : retriever_interface<mine> {
    using scale = rerank_scale;
    const source_ref* articles;
    source_ref source() const { return *articles; }
#ifdef MISUSE
    results<scale> run(request&, std::size_t) { return {}; }
#else
    results<scale> run(request&, std::size_t) const { return {}; }
#endif
};

auto both(mine search) { return hybrid(search, search); }
