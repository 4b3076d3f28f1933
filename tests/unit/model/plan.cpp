#include "quarry/model/plan.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

// The published example: documents of 8,000 tokens in chunks of 800, an instruction of 50, a context of 100.
struct example {
    std::size_t document = 8000, chunk = 800, instruction = 50, context = 100;
    prefix_caching caching = prefix_caching::ahead;
    model_price price{.input = .25, .cache_write = .30, .cache_read = .03, .output = 1.25};
};

double dollars_for_a_million_document_tokens(const example& e) {
    const std::size_t chunks = e.document / e.chunk;
    call_plan plan;
    plan.add({.calls = chunks,
              .prefix = e.document,
              .fresh = chunks * (e.chunk + e.instruction),
              .replies = chunks * e.context},
             e.caching, e.price);
    return plan.dollars * 1e6 / static_cast<double>(e.document);
}

// Words are tokens: what can be counted by eye.
std::size_t words(std::string_view text) {
    std::size_t n = 0;
    bool inside = false;
    for (const char c : text) {
        const bool letter = !detail::is_ascii_space(c);
        n += letter && !inside;
        inside = letter;
    }
    return n;
}

std::vector<prompt> of_document(const std::string& document, const std::vector<std::string>& chunks) {
    prompt_writer w("v");
    w.say(document).share();
    std::vector<prompt> out;
    for (const std::string& c : chunks) out.push_back(prompt_writer(w).say(c).finish());
    return out;
}

}  // namespace

TEST_CASE("the published cost of contextual retrieval comes out to the last digit, and so do its variations") {
    // .30 + 10 * .03 + .25 * (1 + 50/800) + 1.25 * 100/800 = .30 + .30 + .265625 + .15625
    CHECK(dollars_for_a_million_document_tokens({}) == Approx(1.021875).epsilon(1e-12));
    // The first chunk's call is the write: nine reads.
    CHECK(dollars_for_a_million_document_tokens({.caching = prefix_caching::first_call}) ==
          Approx(.991875).epsilon(1e-12));
    // Ten times .25 for the document in place of .60.
    CHECK(dollars_for_a_million_document_tokens({.caching = prefix_caching::none}) == Approx(2.921875).epsilon(1e-12));
    CHECK(dollars_for_a_million_document_tokens({.chunk = 400}) == Approx(1.49375).epsilon(1e-12));
    CHECK(dollars_for_a_million_document_tokens({.document = 80000}) == Approx(3.721875).epsilon(1e-12));
    // Two whole chunks in 2,000 tokens: .30 + 2 * .03 + .25 * 1700/2000 + 1.25 * 200/2000.
    CHECK(dollars_for_a_million_document_tokens({.document = 2000}) == Approx(.6975).epsilon(1e-12));
    CHECK(dollars_for_a_million_document_tokens(
              {.price = {.input = 1, .cache_write = 1.25, .cache_read = .1, .output = 5}}) ==
          Approx(3.9375).epsilon(1e-12));
}

TEST_CASE("a plan counts a shared prefix as written once and read by the others") {
    // Prefix of four words; two, one and three fresh ones; five for each reply.
    const auto prompts = of_document("one two three four", {"a b", "c", "d e f"});
    const plan_options options{.price = {.input = 1e6, .cache_write = 2e6, .cache_read = 1e5, .output = 3e6},
                               .tokens = words,
                               .reply_tokens = 5};
    const call_plan plan = plan_calls(prompts, options);
    CHECK(plan.calls == 3);
    CHECK(plan.tokens == token_usage{.input = 6, .cache_write = 4, .cache_read = 8, .output = 15});
    CHECK(plan.dollars == Approx(6 + 4 * 2 + 8 * .1 + 15 * 3));
    CHECK(plan_calls({}, options).calls == 0);
}

TEST_CASE("what was answered before costs nothing, and the first call that is left writes the prefix") {
    const auto prompts = of_document("one two three four", {"a b", "c", "d e f"});
    plan_options options{.tokens = words, .reply_tokens = 5};
    options.remembered = [&](const prompt& p) { return p == prompts[0]; };
    const call_plan two = plan_calls(prompts, options);
    CHECK(two.calls == 2);
    CHECK(two.remembered == 1);
    CHECK(two.tokens == token_usage{.input = 4, .cache_write = 4, .cache_read = 4, .output = 10});
    options.remembered = [](const prompt&) { return true; };
    CHECK(plan_calls(prompts, options).tokens.total() == 0);
}

TEST_CASE("prompts that share nothing, prefixes that are too short, and providers without a cache pay in full") {
    const std::vector<prompt> plain{"a b", "a b", "c"};
    CHECK(plan_calls(plain, {.tokens = words, .reply_tokens = 1}).tokens == token_usage{.input = 5, .output = 3});
    const auto prompts = of_document("one two three four", {"a", "b"});
    const token_usage full{.input = 10, .output = 2};
    CHECK(plan_calls(prompts, {.tokens = words, .reply_tokens = 1, .least_prefix = 5}).tokens == full);
    CHECK(plan_calls(prompts, {.tokens = words, .reply_tokens = 1, .caching = prefix_caching::none}).tokens == full);
    CHECK(plan_calls(prompts, {.tokens = words, .reply_tokens = 1, .least_prefix = 4}).tokens.cache_write == 4);
}

TEST_CASE("a document that comes back after another is a new group") {
    // The provider has forgotten it by then, or may have: a plan must not promise the cheaper case.
    auto a = of_document("one two", {"a", "b"});
    const auto b = of_document("three", {"c"});
    std::vector<prompt> there_and_back{a[0], b[0], a[1]};
    CHECK(plan_calls(there_and_back, {.tokens = words, .reply_tokens = 0}).tokens ==
          token_usage{.input = 3, .cache_write = 5});
}

TEST_CASE("prices turn tokens into dollars, and a price that is none is refused") {
    CHECK(dollars({.input = 1000000, .cache_write = 2000000, .cache_read = 3000000, .output = 4000000},
                  {.input = 1, .cache_write = 10, .cache_read = 100, .output = 1000}) == Approx(1 + 20 + 300 + 4000));
    const price_table prices{{"small", {.input = .25}}};
    CHECK(price_of(prices, "small").input == .25);
    CHECK(code_of([&] { price_of(prices, "large"); }) == "price.unknown_model");
    CHECK(code_of([] { plan_calls({}, {.price = {.input = -1}}); }) == "price.value");
    CHECK(code_of([] { plan_calls({}, {.price = {.output = std::numeric_limits<double>::quiet_NaN()}}); }) ==
          "price.value");
}

TEST_CASE("where nobody counts better, tokens are estimated") {
    // Four bytes a token: 2 of "12345678", 3 of "123456789".
    CHECK(plan_calls(std::vector<prompt>{"12345678", "123456789"}, {.reply_tokens = 0}).tokens ==
          token_usage{.input = 5});
}
