#include "quarry/core/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/catch.hpp"

using namespace quarry;

namespace {

struct without_name {
    float lowest, highest;
};

template <class... S>
constexpr bool all_are_scales = (Scale<S> && ...);

}  // namespace

TEST_CASE("every scale of the library names itself and states its bounds") {
    STATIC_REQUIRE(all_are_scales<cosine_scale, inner_product_scale, bm25_scale, rrf_scale, bounded_scale, convex_scale,
                                  relative_scale, distribution_scale, rerank_scale, selection_scale, unknown_scale>);
    STATIC_REQUIRE_FALSE(Scale<without_name>);
    STATIC_REQUIRE_FALSE(Scale<float>);
}

TEST_CASE("no two scales share a name, since traces and explanations print it") {
    std::array names{cosine_scale::name,  inner_product_scale::name, bm25_scale::name,     rrf_scale::name,
                     bounded_scale::name, convex_scale::name,        relative_scale::name, distribution_scale::name,
                     rerank_scale::name,  selection_scale::name,     unknown_scale::name};
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("the documented bounds stand in the types") {
    CHECK(cosine_scale::lowest == -1.0f);
    CHECK(cosine_scale::highest == 1.0f);
    CHECK(bm25_scale::lowest == 0.0f);
    CHECK(std::isinf(bm25_scale::highest));
    CHECK(rrf_scale::lowest == 0.0f);
    CHECK(bounded_scale::lowest == 0.0f);
    // Two legs that are both sure give 1 + 1 - .75 = 1.25, a third makes it 1.3125.
    CHECK(std::isinf(bounded_scale::highest));
    CHECK(std::isinf(inner_product_scale::lowest));
    CHECK(inner_product_scale::lowest < 0.0f);
}
