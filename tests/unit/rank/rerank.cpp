#include "quarry/rank/rerank.hpp"

#include <algorithm>
#include <functional>
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

TEST_CASE("passages are judged in batches, each a call, with the scores of one") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(10));
    const last_digit all, some;
    const auto one = (base | rerank(all)).retrieve("", 10);
    const auto many = (base | rerank(some, {.judging = {.batch = 4}})).retrieve("", 10);
    CHECK(toy::units(one) == toy::units(many));
    REQUIRE(some.shown->size() == 3);
    CHECK(some.shown->back() == std::vector<std::string>{"8", "9"});
    CHECK(code_of([&] {
              (base | rerank(some, {.judging = {.batch = 4}})).retrieve(query("").under({.model_calls = 2}), 10);
          }) == "budget.model_calls");
}

TEST_CASE("a long passage is judged piece by piece and counts by its best") {
    CHECK(detail::pieces_of("aa bb cc", 5) == std::vector<std::string_view>{"aa bb", "cc"});
    CHECK(detail::pieces_of("aabbcc", 4) == std::vector<std::string_view>{"aabb", "cc"});
    CHECK(detail::pieces_of("\xC3\xA4\xC3\xB6\xC3\xBC", 3) ==
          std::vector<std::string_view>{"\xC3\xA4", "\xC3\xB6", "\xC3\xBC"});
    CHECK(detail::pieces_of("", 3) == std::vector<std::string_view>{""});
    corpus c;
    c.add({.id = "a", .text = "1 9 2"});
    c.add({.id = "b", .text = "8"});
    const last_digit judge;
    const auto found = (toy::listed<bm25_scale>(c, {{0, 1.0f}, {1, 2.0f}}) | rerank(judge, {.judging = {.longest = 1}}))
                           .retrieve("", 2);
    CHECK(toy::units(found) == ids{0, 1});
    CHECK(found[0].score == 9.0f);
    CHECK(judge.shown->front().size() == 4);
}

TEST_CASE("a NaN counts as the lowest score where that is asked for") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(3));
    const auto judge = [](std::string_view, std::span<const std::string_view>) {
        return std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), -5};
    };
    const auto found = (base | rerank(judge, {.judging = {.not_a_number_is_lowest = true}})).retrieve("", 5);
    CHECK(toy::units(found) == ids{0, 2, 1});
}

TEST_CASE("passages shown to judges count against a budget of their own") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(10));
    const auto search = base | rerank(last_digit{});
    CHECK(code_of([&] { search.retrieve(query("").under({.rerank_pairs = 9}), 3); }) == "budget.rerank_pairs");
    CHECK(search.retrieve(query("").under({.rerank_pairs = 10}), 3).size() == 3);
}

TEST_CASE("rerank_first orders the head anew and keeps the rest below") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(8));
    const auto search = base | rerank_first(last_digit{}, {.first = 4});
    static_assert(std::same_as<decltype(search)::scale, selection_scale>);
    CHECK(toy::units(search.retrieve("", 10)) == ids{3, 2, 1, 0, 4, 5, 6, 7});
    CHECK(toy::units(search.retrieve("", 2)) == ids{3, 2});
    CHECK(search.retrieve("", 0).empty());
    CHECK((toy::listed<bm25_scale>(hundred(), {}) | rerank_first(last_digit{})).retrieve("", 5).empty());
}

TEST_CASE("what the judge holds for equal keeps the order that was") {
    const auto equal = [](std::string_view, std::span<const std::string_view> passages) {
        return std::vector<float>(passages.size(), 1.0f);
    };
    const auto base = toy::listed<bm25_scale>(hundred(), {{5, 3.0f}, {2, 2.0f}, {7, 1.0f}});
    CHECK(toy::units((base | rerank_first(equal)).retrieve("", 3)) == ids{5, 2, 7});
}

TEST_CASE("a blend weighs both ranks") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(3));
    const auto at_trust = [&](float trust) {
        return toy::units((base | rerank_first(last_digit{}, {.trust = trust})).retrieve("", 3));
    };
    CHECK(at_trust(0.0f) == ids{0, 1, 2});
    CHECK(at_trust(1.0f) == ids{2, 1, 0});
    // By hand, ranks 1 2 3 against 3 2 1: unit 0 is worth .4/63 + .6/61 = .016185, unit 1 1/62 = .016129,
    // unit 2 .4/61 + .6/63 = .016081.
    CHECK(at_trust(0.4f) == ids{0, 1, 2});
    CHECK(at_trust(0.6f) == ids{2, 1, 0});
    // Half and half: units 0 and 2 are worth the same and more than unit 1, and the first stays first.
    CHECK(at_trust(0.5f) == ids{0, 2, 1});
    for (const float bad : {-0.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()})
        CHECK(code_of([&] { base | rerank_first(last_digit{}, {.trust = bad}); }) == "rerank.trust");
}

TEST_CASE("a judge that fails leaves the order as it was, and says so") {
    const auto base = toy::listed<bm25_scale>(hundred(), counting_down(5));
    using judge_function = std::function<std::vector<float>(std::string_view, std::span<const std::string_view>)>;
    const std::vector<judge_function> judges{
        [](auto, auto) -> std::vector<float> { throw std::runtime_error("no line"); },
        [](auto, auto) -> std::vector<float> { throw 7; },
        [](auto, auto) { return std::vector<float>{}; },
        [](auto, auto passages) { return std::vector<float>(passages.size() + 1, 1.0f); },
        [](auto, auto passages) {
            return std::vector<float>(passages.size(), std::numeric_limits<float>::quiet_NaN());
        }};
    for (const auto& judge : judges) {
        trace told;
        const auto found = (base | rerank_first(judge)).retrieve(query("").traced(told), 5);
        CHECK(toy::units(found) == ids{0, 1, 2, 3, 4});
        CHECK(found.state == result_state::degraded);
        CHECK(told.find(trace_code::degraded, "rerank") != nullptr);
        CHECK_THROWS((base | rerank_first(judge, {.fail_quietly = false})).retrieve("", 5));
    }
    // Nothing left to pay with is the same. A query that was stopped is not.
    const auto search = base | rerank_first(last_digit{});
    CHECK(search.retrieve(query("").under({.model_calls = 0}), 5).state == result_state::degraded);
    CHECK(search.retrieve(query("").under({.rerank_pairs = 4}), 5).state == result_state::degraded);
    std::stop_source stop;
    const auto stopping = [&](std::string_view, std::span<const std::string_view>) -> std::vector<float> {
        stop.request_stop();
        throw std::runtime_error("interrupted");
    };
    CHECK(code_of([&] { (base | rerank_first(stopping)).retrieve(query("").stop_on(stop.get_token()), 5); }) ==
          "query.stopped");
}
