// A retriever of one's own whose run is not const: several threads may ask one retriever, so run may not change it.
// says: quarry: a retriever needs a type scale, source() const that gives a source_ref, and run(request&
#include "quarry/core/retriever.hpp"

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

auto ask(const mine& search) { return search.retrieve("reset password", 5); }
