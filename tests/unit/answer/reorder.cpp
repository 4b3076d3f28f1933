#include "quarry/answer/reorder.hpp"

#include "quarry/answer/citations.hpp"
#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using order_list = std::vector<std::size_t>;
constexpr auto count_bytes = [](std::string_view text) { return text.size(); };

packed_context packed_of(const std::vector<std::string>& texts, std::size_t budget = 1000) {
    const corpus c = toy::corpus_of(texts);
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < texts.size(); ++i) units.push_back(unit_at(i));
    return pack(c, units, {.budget = budget}, count_bytes);
}

}  // namespace

TEST_CASE("orders with the best at the ends, of one to seven") {
    const std::vector<order_list> first{
        {1}, {1, 2}, {1, 3, 2}, {1, 3, 4, 2}, {1, 3, 5, 4, 2}, {1, 3, 5, 6, 4, 2}, {1, 3, 5, 7, 6, 4, 2}};
    const std::vector<order_list> alternate{
        {1}, {2, 1}, {1, 3, 2}, {2, 4, 3, 1}, {1, 3, 5, 4, 2}, {2, 4, 6, 5, 3, 1}, {1, 3, 5, 7, 6, 4, 2}};
    for (std::size_t n = 1; n <= 7; ++n) {
        CHECK(best_at_ends(n) == first[n - 1]);
        CHECK(best_at_ends(n, ends_order::worst_alternate) == alternate[n - 1]);
    }
    CHECK(best_at_ends(0).empty());
}

TEST_CASE("units change their places and keep their numbers") {
    const packed_context before = packed_of({"alpha", "beta", "gamma", "delta"});
    const packed_context after = reorder(before, {}, count_bytes);
    CHECK(after.text == "[1]\nalpha\n\n[3]\ngamma\n\n[4]\ndelta\n\n[2]\nbeta");
    CHECK(after.tokens == before.tokens);
    for (std::size_t number = 1; number <= 4; ++number) {
        const packed_unit& u = *after.numbered(number);
        CHECK(u.number == number);
        CHECK(after.text.substr(u.span.begin, u.span.size()) ==
              before.text.substr(before.numbered(number)->span.begin, before.numbered(number)->span.size()));
        CHECK(after.at(u.span.begin)->number == number);
    }
    CHECK(check_citations("as [3] says", after).cited.front().number == 3);
}

TEST_CASE("a cut unit moves with its mark, and texts that hold the separator move whole") {
    const corpus c = toy::corpus_of({"one\n\ntwo", "three", "four\n\nfive five five five"});
    const std::vector<unit_id> units{unit_id{0}, unit_id{1}, unit_id{2}};
    const packed_context before = pack(c, units, {.budget = 45, .policy = pack_policy::truncate}, count_bytes);
    REQUIRE(before.units.size() == 3);
    const packed_context after = reorder(before, {}, count_bytes);
    CHECK(after.text == "[1]\none\n\ntwo\n\n[3]\nfour\n[...]\n\n[2]\nthree");
}

TEST_CASE("a text that would be over the budget in its new order stays as it is") {
    // Counts a text that ends with "beta" double.
    const auto odd = [](std::string_view text) { return text.ends_with("beta") ? 2 * text.size() : text.size(); };
    const corpus c = toy::corpus_of({"alpha", "beta", "gamma"});
    const std::vector<unit_id> units{unit_id{0}, unit_id{1}, unit_id{2}};
    const packed_context before = pack(c, units, {.budget = 40}, odd);
    REQUIRE(before.units.size() == 3);
    CHECK(reorder(before, {}, odd).text == before.text);
    CHECK(reorder(packed_context{}, {}, odd).text.empty());
}
