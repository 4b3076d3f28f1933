#include "quarry/text/token_counter.hpp"

#include "support/catch.hpp"

using namespace quarry;

static_assert(TokenCounter<approximate_tokens>);
static_assert(TokenCounter<decltype([](std::string_view text) { return static_cast<int>(text.size()); })>);
static_assert(!TokenCounter<decltype([](int n) { return n; })>);

TEST_CASE("four bytes of English are a token, rounded up") {
    const approximate_tokens count;
    CHECK(count("") == 0);
    CHECK(count("a") == 1);
    CHECK(count("four") == 1);
    CHECK(count("fours") == 2);
    CHECK(count(std::string(2500 * 4, 'x')) == 2500);
}

TEST_CASE("an ideograph is a token, where a quarter of its bytes would be three quarters of one") {
    const approximate_tokens count;
    std::string chinese;
    for (int i = 0; i < 1000; ++i) chinese += "\u6F22";
    CHECK(count(chinese) == 1000);
    CHECK(count("\uD55C\uAD6D\uC5B4") == 3);                 // Hangul
    CHECK(count("\u3053\u3093\u306B\u3061\u306F") == 5);     // hiragana
    CHECK(count("\u6F22\u5B57 and so on") == 2 + 3);         // " and so on" has ten bytes
    CHECK(count("\u041F\u0440\u0438\u0432\u0435\u0442") == 3);  // six Cyrillic letters of two bytes
    CHECK(count("\xFF\xFE\xFD\xFC\xFB") == 2);               // no code points: five bytes
}

TEST_CASE("a text has at most as many tokens as its parts together, and at least as many as each") {
    const approximate_tokens count;
    std::uint32_t seed = 31;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"a", "word ", "\u6F22", "\u00E4", "\U0001F600", "\n"};
    for (int round = 0; round < 2000; ++round) {
        std::string a, b;
        for (std::uint32_t i = 0; i < random(9); ++i) a += pieces[random(std::size(pieces))];
        for (std::uint32_t i = 0; i < random(9); ++i) b += pieces[random(std::size(pieces))];
        CHECK(count(a + b) <= count(a) + count(b));
        CHECK(count(a + b) >= std::max(count(a), count(b)));
    }
}
