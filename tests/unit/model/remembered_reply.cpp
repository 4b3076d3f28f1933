#include "quarry/model/remembered_reply.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

struct asking {
    corpus c = toy::corpus_of({"a"});
    query q;
    request r;
    int who = 0;

    explicit asking(budget b = {}) : q(query("q").under(b)), r(q, c) {}

    std::vector<std::string> all(const scripted_generator& model, const std::vector<prompt>& prompts,
                                 std::size_t at_once = 1) {
        std::vector<std::string> out;
        for (const completion& reply : detail::remembered_replies(r, &who, ref(model), prompts, at_once))
            out.push_back(reply.text);
        return out;
    }
};

scripted_generator echoing_model() {
    return scripted_generator([](const prompt& p) { return completion("re " + p.text()); });
}

}  // namespace

TEST_CASE("replies stand in the order of their prompts, known ones cost nothing") {
    asking a;
    const auto model = echoing_model();
    CHECK(detail::remembered_reply(a.r, &a.who, ref(model), prompt("two")).text == "re two");
    CHECK(a.all(model, {"one", "two", "three"}, 2) == std::vector<std::string>{"re one", "re two", "re three"});
    CHECK(model.calls() == 3);
    CHECK(a.r.paid_calls() == 3);
    CHECK(a.all(model, {"three", "one"}) == std::vector<std::string>{"re three", "re one"});
    CHECK(model.calls() == 3);
    CHECK(a.all(model, {}).empty());
}

TEST_CASE("a failure is thrown, and what was answered beside it is remembered") {
    asking a;
    const auto model = echoing_model();
    model.fail_at(2, "broken");
    CHECK_THROWS_AS(a.all(model, {"one", "two", "three"}), std::runtime_error);
    CHECK(model.calls() == 3);
    CHECK(a.all(model, {"one", "two", "three"}).size() == 3);
    CHECK(model.calls() == 4);
}

TEST_CASE("nothing is asked that the budget does not allow") {
    asking a({.model_calls = 2});
    const auto model = echoing_model();
    CHECK(code_of([&] { a.all(model, {"one", "two", "three"}); }) == "budget.model_calls");
    CHECK(model.calls() == 0);
    CHECK(a.r.paid_calls() == 0);
}
