#include "quarry/retrieve/any_retriever.hpp"

#include <string>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

const corpus& ten() {
    static const corpus c = toy::numbered(10);
    return c;
}

}  // namespace

TEST_CASE("an erased retriever gives the hits of the one it holds") {
    const auto leg = toy::listed<cosine_scale>(ten(), {{3, .9f}, {1, .5f}, {2, .5f}});
    const any_retriever erased = leg;
    const auto a = leg.retrieve("q", 2);
    const auto b = erased.retrieve("q", 2);
    REQUIRE(b.size() == a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(b[i].unit == a[i].unit);
        CHECK(b[i].via == a[i].via);
        CHECK(b[i].score == a[i].score);
    }
    CHECK(toy::units(erased.retrieve("q", 9)) == ids{3, 1, 2});
    CHECK(erased.source() == leg.source());
    CHECK(erased.retrieve("q", 0).empty());
}

TEST_CASE("pipelines chosen at run time go into one variable, one container and further stages") {
    const auto words = toy::listed<bm25_scale>(ten(), {{3, 9.0f}, {1, 5.0f}});
    const auto meaning = toy::listed<cosine_scale>(ten(), {{1, .9f}, {4, .5f}});
    std::vector<any_retriever> legs;
    legs.push_back(words);
    legs.push_back(meaning | at_least<cosine_scale>{.6f});
    any_retriever chosen = legs[0];
    CHECK(toy::units(chosen.retrieve("q", 9)) == ids{3, 1});
    chosen = fuse(rrf{}, legs[0], legs[1]);
    CHECK(toy::units(chosen.retrieve("q", 9)) == ids{1, 3});
    chosen = chosen | per_article(1);
    CHECK(toy::units(chosen.retrieve("q", 1)) == ids{1});
    static_assert(std::same_as<any_retriever::scale, unknown_scale>);
    static_assert(!ScoringRetriever<any_retriever>);
}

TEST_CASE("copies share what they hold") {
    const auto leg = toy::listed<cosine_scale>(ten(), {{3, .9f}});
    const any_retriever a = leg;
    const any_retriever b = a;
    a.retrieve("q", 1), b.retrieve("q", 1);
    CHECK(leg.asked->size() == 2);
}

TEST_CASE("a batch through an erased retriever is still one call, and the state and ledger come through") {
    flat_index index(26);
    const toy::letter_embedder embedder;
    for (std::size_t i = 0; i < 3; ++i) {
        std::vector<float> row(26);
        row[i] = 1.0f;
        index.add(unit_at(i), row);
    }
    const any_retriever search = dense(index, source_ref(ten()), embedder);
    const auto found = search.retrieve(std::vector<query>{"a", "b", "c"}, 1);
    CHECK(embedder.counted->calls == 1);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(toy::units(found[i]) == ids{static_cast<std::uint32_t>(i)});
        CHECK(found[i].notes()[found[i][0].trail].stage == "dense");
    }

    struct rough : toy::listed<cosine_scale> {
        using listed::listed;
        results<cosine_scale> run(request& q, std::size_t k) const {
            auto out = listed::run(q, k);
            out.state = result_state::degraded;
            return out;
        }
    };
    CHECK(any_retriever(rough(ten(), {{1, 1.0f}})).retrieve("q", 1).state == result_state::degraded);
}
