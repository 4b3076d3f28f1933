#include "quarry/rank/fused_lists.hpp"

#include "support/catch.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

detail::leg_list ranked_list(std::vector<std::uint32_t> units, float weight = 1.0f) {
    results<bm25_scale> found;
    float score = 10.0f;
    for (const std::uint32_t unit : units) found.hits.push_back({unit_id{unit}, no_key, score -= 1.0f, no_entry});
    return detail::list_of(found, 100, weight);
}

}  // namespace

TEST_CASE("three lists are fused to the published figures") {
    const corpus c = toy::corpus_of({"a", "b", "c", "d", "e"});
    const query q("x");
    request r(q, c);
    // a b c d e are 0 to 4: [a b c], [b d a], [e b]
    const auto found =
        detail::fused_lists(r, rrf{}, {ranked_list({0, 1, 2}), ranked_list({1, 3, 0}), ranked_list({4, 1})}, 9);
    const std::uint32_t order[] = {1, 0, 4, 3, 2};
    const double scores[] = {.04865151, .03226646, .01639344, .01612903, .01587302};
    REQUIRE(found.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(index_of(found[i].unit) == order[i]);
        CHECK(found[i].score == Approx(scores[i]).epsilon(1e-5));
    }
    CHECK(detail::fused_lists(r, rrf{}, {ranked_list({0, 1}), ranked_list({})}, 1).hits.front().unit == unit_id{0});
    CHECK(detail::fused_lists(r, rrf{}, {}, 3).empty());
}
