#include "quarry/rank/listwise.hpp"

#include "quarry/rank/rerank.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

using windows = std::vector<std::pair<std::size_t, std::size_t>>;
using ids = std::vector<std::uint32_t>;

ids order_of(const std::string& reply, std::size_t n) {
    ids out;
    for (const std::size_t i : read_order(completion(reply), n).completed(n))
        out.push_back(static_cast<std::uint32_t>(i + 1));
    return out;
}

toy::listed<bm25_scale> list_of_n(const corpus& c, std::uint32_t n) {
    toy::scored_units hits;
    for (std::uint32_t i = 0; i < n; ++i) hits.emplace_back(i, static_cast<float>(n - i));
    return {c, hits};
}

// Orders the numbers it is shown, largest first: what a model with perfect eyes would do.
completion largest_first(const prompt& p) {
    const std::string text = p.text();
    std::vector<std::pair<int, int>> shown;  // value, place
    for (int place = 1;; ++place) {
        const std::size_t at = text.find("[" + std::to_string(place) + "]");
        if (at == std::string::npos) break;
        const std::size_t begin = text.find(">\n", at) + 2;
        shown.emplace_back(-std::stoi(text.substr(begin)), place);
    }
    std::ranges::sort(shown);
    std::string out;
    for (const auto& [value, place] : shown) out += (out.empty() ? "[" : " > [") + std::to_string(place) + "]";
    return out;
}

}  // namespace

TEST_CASE("windows slide from the back and always reach the head") {
    CHECK(sliding_windows(25, 20, 10) == windows{{5, 25}, {0, 15}});
    CHECK(sliding_windows(15, 20, 10) == windows{{0, 15}});
    CHECK(sliding_windows(20, 20, 10) == windows{{0, 20}});
    const auto many = sliding_windows(100, 20, 10);
    CHECK(many.size() == 9);
    CHECK(many.front() == std::pair<std::size_t, std::size_t>{80, 100});
    CHECK(many.back() == std::pair<std::size_t, std::size_t>{0, 20});
    CHECK(sliding_windows(0, 20, 10).empty());
    for (const auto& [window, step] : windows{{1, 1}, {20, 0}, {20, 21}})
        CHECK(code_of([w = window, s = step] { sliding_windows(5, w, s); }) == "rerank.window");
}

TEST_CASE("an order is read from brackets, else from any numbers, and completed as given") {
    CHECK(order_of("[2] > [3] > [1]", 3) == ids{2, 3, 1});
    CHECK(order_of("[3] > [9] > [3]", 3) == ids{3, 1, 2});
    CHECK(order_of("I think 2 is best", 3) == ids{2, 1, 3});
    CHECK(order_of("", 3) == ids{1, 2, 3});
    CHECK(order_of("[10] > [1]", 3) == ids{1, 2, 3});
    CHECK(order_of("the top 3 are [2] and [1]", 3) == ids{2, 1, 3});
    CHECK(order_of("99999999999999999999999 2", 3) == ids{2, 1, 3});
    CHECK(read_order(completion("[3] > [9] > [3]"), 3).repeated);
}

TEST_CASE("the given order and the prompt's example are told from an answer") {
    const std::size_t example[] = {3, 1, 2};
    CHECK(read_order(completion("[1] > [2] > [3] > [4]"), 4).given);
    CHECK(read_order(completion("[1]"), 4).given);
    CHECK(read_order(completion("[3] > [1] > [2] > [4]"), 4, example).echoed);
    CHECK(read_order(completion("[3] > [1] > [2]"), 4, example).echoed);
    CHECK_FALSE(read_order(completion("[3] > [1] > [4] > [2]"), 4, example).echoed);
    CHECK_FALSE(read_order(completion("[3] > [1] > [2]"), 4).echoed);
}

TEST_CASE("sliding windows bring the best to the top, as one look at all would") {
    const corpus c = toy::numbered(40);
    const scripted_generator model(largest_first);
    for (const std::uint32_t n : {2u, 15u, 20u, 25u, 30u, 37u}) {
        CAPTURE(n);
        const auto found = (list_of_n(c, n) | rerank_first(listwise(ref(model)), {.first = 40})).retrieve("q", 10);
        // One pass lifts ten a window to the top, which is as many as are asked for.
        REQUIRE(found.size() == (std::min)(n, 10u));
        for (std::uint32_t i = 0; i < found.size(); ++i) CHECK(index_of(found[i].unit) == n - 1 - i);
    }
}

TEST_CASE("a reply that orders nothing keeps the order, and the trace says why") {
    const corpus c = toy::numbered(5);
    for (const auto& [reply, why] : std::vector<std::pair<std::string, std::string>>{
             {"no idea", "no order"}, {"[1] > [2] > [3] > [4] > [5]", "order given"}, {"[5] > [3] > [4]", "example"}}) {
        CAPTURE(reply);
        const scripted_generator model([&, text = reply](const prompt&) { return completion(text); });
        trace told;
        const auto found = (list_of_n(c, 5) | rerank_first(listwise(ref(model)))).retrieve(query("q").traced(told), 5);
        CHECK(toy::units(found) == ids{0, 1, 2, 3, 4});
        CHECK(found.state == result_state::complete);
        CHECK(to_string(told).find(why) != std::string::npos);
    }
}

TEST_CASE("lists too short to order cost no call, and a failure keeps the order") {
    const corpus c = toy::numbered(5);
    const scripted_generator model(largest_first);
    CHECK((list_of_n(c, 1) | rerank_first(listwise(ref(model)))).retrieve("q", 5).size() == 1);
    CHECK((list_of_n(c, 0) | rerank_first(listwise(ref(model)))).retrieve("q", 5).empty());
    CHECK(model.calls() == 0);
    model.fail_at(1);
    const auto found = (list_of_n(c, 5) | rerank_first(listwise(ref(model)))).retrieve("q", 5);
    CHECK(toy::units(found) == ids{0, 1, 2, 3, 4});
    CHECK(found.state == result_state::degraded);
    // The same window is paid for once a request.
    const query q("q");
    request r(q, c);
    const auto search = list_of_n(c, 5) | rerank_first(listwise(ref(model)));
    CHECK(toy::units(search.run(r, 5)) == ids{4, 3, 2, 1, 0});
    search.run(r, 3);
    CHECK(r.paid_calls() == 1);
}

TEST_CASE("an orderer that names a passage twice is refused") {
    struct twice {
        std::optional<std::vector<std::size_t>> order(request&, std::span<const std::string_view> passages) const {
            return std::vector<std::size_t>(passages.size(), 0);
        }
    };
    const corpus c = toy::numbered(3);
    CHECK(code_of([&] { (list_of_n(c, 3) | rerank_first(twice{}, {.fail_quietly = false})).retrieve("q", 3); }) ==
          "rerank.order");
}
