#include "quarry/rank/rerank.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "quarry/rank/lift.hpp"
#include "quarry/rank/threshold.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

const corpus& hundred() {
    static const corpus c = toy::numbered(100);
    return c;
}

// Scores a passage, which is a number, by its last digit; remembers what it was shown.
struct last_digit {
    std::shared_ptr<std::vector<std::vector<std::string>>> shown =
        std::make_shared<std::vector<std::vector<std::string>>>();

    std::vector<float> operator()(std::string_view, std::span<const std::string_view> passages) const {
        shown->emplace_back(passages.begin(), passages.end());
        std::vector<float> scores;
        for (const std::string_view p : passages) scores.push_back(static_cast<float>(p.back() - '0'));
        return scores;
    }
};

toy::scored_units counting_down(std::uint32_t n) {
    toy::scored_units hits;
    for (std::uint32_t unit = 0; unit < n; ++unit) hits.emplace_back(unit, static_cast<float>(n - unit));
    return hits;
}

}  // namespace

TEST_CASE("the judge decides the order, ties go to the lower unit") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(30));
    const auto found = (base | rerank(last_digit{}, {.fetch = 30})).retrieve("", 5);
    CHECK(toy::units(found) == ids{9, 19, 29, 8, 18});
    CHECK(found[0].score == 9.0f);
    CHECK(found[0].via == key_id{109});
}

TEST_CASE("the judge reads the texts of the first fetch candidates, in one call, and the rest is not returned") {
    const last_digit judge;
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(30));
    const auto found = (base | rerank(judge, {.fetch = 4})).retrieve("", 2);
    CHECK(toy::units(found) == ids{3, 2});
    CHECK(*judge.shown == std::vector<std::vector<std::string>>{{"0", "1", "2", "3"}});
    // Fetch is at least k.
    CHECK(toy::units((base | rerank(judge, {.fetch = 2})).retrieve("", 6)) == ids{5, 4, 3, 2, 1, 0});
    CHECK(base.asked->back() == 6);
    CHECK((base | rerank(judge, {.fetch = 0})).retrieve("", 3).size() == 3);
    CHECK((base | rerank(judge)).retrieve("", SIZE_MAX).size() == 30);
}

TEST_CASE("no candidates, no call") {
    const last_digit judge;
    CHECK((toy::listed<bm25_scale>(hundred(), {}) | rerank(judge)).retrieve("", 5).empty());
    CHECK((toy::listed<bm25_scale>(hundred(), counting_down(5)) | rerank(judge)).retrieve("", 0).empty());
    CHECK(judge.shown->empty());
}

TEST_CASE("a judge that gives another number of scores is named with both numbers") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(5));
    for (const std::size_t n : {0u, 4u, 6u}) {
        const auto judge = [n](std::string_view, std::span<const std::string_view>) { return std::vector<float>(n); };
        const auto asked = [&] { (base | rerank(judge)).retrieve("", 5); };
        CHECK(code_of(asked) == "rerank.count");
        CHECK(message_of(asked).find("expected 5 scores for 5 passages, got " + std::to_string(n)) !=
              std::string::npos);
    }
}

TEST_CASE("a judge's NaN or infinity is refused, and the passage named") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(5));
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
        const auto judge = [bad](std::string_view, std::span<const std::string_view>) {
            return std::vector<float>{1, 2, bad, 4, 5};
        };
        const auto asked = [&] { (base | rerank(judge)).retrieve("", 5); };
        CHECK(code_of(asked) == "rerank.not_finite");
        CHECK(message_of(asked).find("passage 2") != std::string::npos);
    }
}

TEST_CASE("what a judge throws comes out as it is, and nothing is remembered of it") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(5));
    auto calls = std::make_shared<int>(0);
    const auto judge = [calls](std::string_view, std::span<const std::string_view> passages) {
        if (++*calls == 1) throw std::runtime_error("out of memory");
        return std::vector<float>(passages.size(), 1.0f);
    };
    const auto search = base | rerank(judge);
    CHECK_THROWS_AS(search.retrieve("", 5), std::runtime_error);
    CHECK(search.retrieve("", 5).size() == 5);
}

TEST_CASE("asked again for more, a judge is paid for the new passages alone") {
    // Ten chunks of each of ten articles: one hit an article makes the stage behind the judge ask again and again.
    corpus c;
    for (int i = 0; i < 10; ++i) c.add({.id = std::to_string(i), .text = "0123456789"});
    toy::scored_units hits;
    for (std::uint32_t i = 0; i < 100; ++i) {
        c.add_part(unit_id{i / 10}, {.span = {i % 10, i % 10 + 1}});
        hits.emplace_back(10 + i, static_cast<float>(100 - i));
    }
    const last_digit judge;
    const auto base = toy::listed<bm25_scale>(c, hits);
    const auto found = (base | rerank(judge, {.fetch = 10}) | per_article(1)).retrieve("", 5);
    CHECK(found.size() == 5);
    CHECK(judge.shown->size() > 1);
    std::size_t passages = 0;
    for (const auto& call : *judge.shown) passages += call.size();
    CHECK(passages <= 100);
    // The same twice in one request costs one call.
    judge.shown->clear();
    const query q("");
    request r(q, c);
    const auto search = base | rerank(judge);
    search.run(r, 5);
    search.run(r, 5);
    CHECK(judge.shown->size() == 1);
    CHECK(r.paid_calls() == 1);
    // Another request pays again.
    search.retrieve("", 5);
    CHECK(judge.shown->size() == 2);
}

TEST_CASE("two judges in one request do not read each other's scores") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(10));
    const auto backwards = [](std::string_view, std::span<const std::string_view> passages) {
        std::vector<float> scores;
        for (const std::string_view p : passages) scores.push_back(static_cast<float>('9' - p.back()));
        return scores;
    };
    CHECK(toy::units((base | rerank(last_digit{}) | rerank(backwards)).retrieve("", 3)) == ids{0, 1, 2});
    CHECK(toy::units((base | rerank(backwards) | rerank(last_digit{})).retrieve("", 3)) == ids{9, 8, 7});
}

TEST_CASE("the order in which candidates come does not matter") {
    toy::scored_units up, down;
    for (std::uint32_t unit = 0; unit < 40; ++unit) {
        up.emplace_back(unit, static_cast<float>(unit));
        down.emplace_back(unit, -static_cast<float>(unit));
    }
    const auto judged = [](const toy::scored_units& hits) {
        return (toy::listed<cosine_scale>(hundred(), toy::in_order(hits)) | rerank(last_digit{})).retrieve("", 40);
    };
    CHECK(toy::units(judged(up)) == toy::units(judged(down)));
}

TEST_CASE("a call of the judge counts against the budget, and a stop is heard before it") {
    const last_digit judge;
    const auto search = toy::listed<bm25_scale>(hundred(), counting_down(5)) | rerank(judge);
    CHECK(code_of([&] { search.retrieve(query("").under({.model_calls = 0}), 5); }) == "budget.model_calls");
    CHECK(search.retrieve(query("").under({.model_calls = 1}), 5).size() == 5);
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_of([&] { search.retrieve(query("").stop_on(stop.get_token()), 5); }) == "query.stopped");
    CHECK(judge.shown->size() == 1);
}

TEST_CASE("a reranked hit keeps both scores in the ledger") {
    const auto found = (toy::listed<bm25_scale>(hundred(), counting_down(5)) | rerank(last_digit{})).retrieve("", 5);
    const ledger_entry& entry = found.notes()[found[0].trail];
    CHECK(entry.stage == "rerank");
    CHECK(entry.rank == 5);    // unit 4 came last
    CHECK(entry.raw == 1.0f);  // with this score
    CHECK(entry.score == 4.0f);
    CHECK(found.notes()[entry.from].stage == "listed");
}

TEST_CASE("pages of reranked hits joined equal one longer answer, within the judge's reach") {
    const auto search = toy::listed<bm25_scale>(hundred(), counting_down(50)) | rerank(last_digit{}, {.fetch = 50});
    const ids all = toy::units(search.retrieve("", 50));
    ids joined;
    for (std::size_t skip = 0; skip < 50; skip += 7)
        for (const auto unit : toy::units(search.retrieve(query("").skip(skip), 7))) joined.push_back(unit);
    CHECK(joined == all);
}
