#include "quarry/retrieve/learned_sparse.hpp"

#include "quarry/retrieve/hybrid.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Knows that a cat is a feline; a question's words weigh 1.
term_weights encode(role, std::string_view text) {
    term_weights out;
    std::string word;
    for (const char c : std::string(text) + " ") {
        if (c != ' ') {
            word += c;
            continue;
        }
        if (!word.empty()) out.push_back({word, 1.0f});
        if (word == "cat") out.push_back({"feline", .5f});
        word.clear();
    }
    return out;
}

struct weighted_shelf {
    corpus c = toy::corpus_of({"the cat", "a feline", "the dog"});
    indexed<sparse_index> terms{sparse_index(), c};
    weighted_shelf() {
        for (std::size_t i = 0; i < c.size(); ++i)
            terms.index.add(unit_at(i), encode(role::document, c.text(unit_at(i))));
    }
};

}  // namespace

TEST_CASE("a question finds what shares no word with it, through the terms of the model") {
    const weighted_shelf s;
    const auto found = learned_sparse(s.terms, encode).retrieve("cat", 5);
    CHECK(toy::ids(found) == std::vector<std::string>{"0", "1"});
    CHECK(found[0].score == 1.25f);
    CHECK(found[1].score == .5f);
    static_assert(BoundedRetriever<decltype(learned_sparse(s.terms, encode))>);
}

TEST_CASE("the encoder is asked once a request, and what it gives is checked") {
    const weighted_shelf s;
    std::size_t calls = 0;
    const auto counting = [&](role r, std::string_view text) {
        ++calls;
        return encode(r, text);
    };
    const auto search = learned_sparse(s.terms, counting);
    const query q("the cat");
    request r(q, s.c);
    search.run(r, 2);
    search.score(r, std::vector<unit_id>{unit_id{2}});
    CHECK(search.bounds(r).high == Approx(1 + 1 + .5));  // "feline" weighs 1 in the second text
    CHECK(calls == 1);
    CHECK(r.paid_calls() == 1);
    const auto bad = [](role, std::string_view) { return term_weights{{"cat", -1.0f}}; };
    CHECK(code_of([&] { learned_sparse(s.terms, bad).retrieve("cat", 5); }) == "sparse.weight");
    CHECK(code_of([&] { search.retrieve(query("cat").under({.model_calls = 0}), 5); }) == "budget.model_calls");
}
