#include "quarry/probe/hypothetical_answer.hpp"

#include <map>

#include "quarry/index/flat_index.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/probed.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// A table of rows, and what it was asked.
struct table_embedder {
    std::map<std::string, std::vector<float>, std::less<>> rows;
    std::shared_ptr<std::vector<std::pair<role, std::size_t>>> calls =
        std::make_shared<std::vector<std::pair<role, std::size_t>>>();

    std::size_t dimension() const { return 2; }
    void embed(role r, std::span<const std::string_view> texts, std::span<float> out) const {
        calls->push_back({r, texts.size()});
        for (std::size_t i = 0; i < texts.size(); ++i)
            std::ranges::copy(rows.find(texts[i])->second, out.begin() + static_cast<std::ptrdiff_t>(2 * i));
    }
};

// The worked example: q = (0, 1), passages (1, 0) and (.6, .8), units x = (1, 0), y = (.6, .8), z = (0, 1).
struct plane {
    corpus articles = toy::corpus_of({"x", "y", "z"});
    indexed<flat_index> vectors{flat_index(2), articles};
    table_embedder embed{
        {{"q?", {0, 1}}, {"first passage", {1, 0}}, {"second passage", {.6f, .8f}}, {"opposite passage", {0, -1}}}};
    plane() {
        const float rows[][2] = {{1, 0}, {.6f, .8f}, {0, 1}};
        for (std::size_t i = 0; i < 3; ++i) vectors.index.add(unit_at(i), rows[i]);
    }
    auto meaning() const { return dense(vectors, embed); }
};

scripted_generator passages(std::vector<std::string> replies) {
    auto next = std::make_shared<std::size_t>(0);
    return scripted_generator([replies = std::move(replies), next](const prompt&) {
        return completion(replies[(*next)++ % replies.size()]);
    });
}

template <class R>
float score_of(const R& found, const std::string& id) {
    for (const auto& h : found)
        if (found.unit(h).id() == id) return h.score;
    FAIL("not found: " << id);
    return 0;
}

}  // namespace

TEST_CASE("the mean of question and passages is searched by") {
    const plane w;
    const auto model = passages({"first passage", "second passage"});
    const auto found = (w.meaning() | narrowed_by(hypothetical_answer(ref(model), {.passages = 2}))).retrieve("q?", 3);
    // mean (.533333, .6): cosine to y .996546, to z .747409, to x .664364
    CHECK(toy::ids(found) == std::vector<std::string>{"1", "2", "0"});
    CHECK(score_of(found, "1") == Approx(.996546).epsilon(1e-5));
    CHECK(score_of(found, "2") == Approx(.747409).epsilon(1e-5));
    CHECK(score_of(found, "0") == Approx(.664364).epsilon(1e-5));
    // One call for the question and one for both passages, which are documents.
    CHECK(*w.embed.calls == std::vector<std::pair<role, std::size_t>>{{role::query, 1}, {role::document, 2}});
    CHECK(model.calls() == 2);
}

TEST_CASE("without a usable passage the question is searched by, and that is said") {
    const plane w;
    for (const char* reply :
         {"", "q?", "I'm sorry, but I cannot answer that.", "...", "a b c d e a b c d e a b c d e a b c d e"}) {
        CAPTURE(reply);
        trace told;
        const auto model = passages({reply});
        const auto found =
            (w.meaning() | narrowed_by(hypothetical_answer(ref(model)))).retrieve(query("q?").traced(told), 3);
        CHECK(toy::ids(found) == toy::ids(w.meaning().retrieve("q?", 3)));
        CHECK(score_of(found, "2") == Approx(1.0));
        CHECK(to_string(told).find("original: ") != std::string::npos);
    }
}

TEST_CASE("passages that cancel the question out leave it as it is") {
    const plane w;
    const auto model = passages({"opposite passage"});
    const auto found = (w.meaning() | narrowed_by(hypothetical_answer(ref(model)))).retrieve("q?", 3);
    CHECK(score_of(found, "2") == Approx(1.0));
}

TEST_CASE("probed_by searches the question as well, and all that is embedded takes two calls") {
    const plane w;
    const auto model = passages({"first passage"});
    trace told;
    const auto found = (w.meaning() | probed_by(hypothetical_answer(ref(model)))).retrieve(query("q?").traced(told), 3);
    CHECK(found.size() == 3);
    CHECK(w.embed.calls->size() == 2);
    // Lists by hand: the question gives z y x; the mean (.5, .5) gives y, then x and z with the same cosine.
    CHECK(score_of(found, "1") == Approx(1.0 / 62 + 1.0 / 61));
    CHECK(score_of(found, "2") == Approx(1.0 / 61 + 1.0 / 62));
}

TEST_CASE("a stage behind it that compares by the same vectors compares with the question") {
    const plane w;
    const auto model = passages({"first passage"});
    const auto search =
        w.meaning() | narrowed_by(hypothetical_answer(ref(model))) | diversify(w.vectors, {.lambda = 1.0f});
    CHECK(toy::ids(search.retrieve("q?", 3)) == std::vector<std::string>{"2", "1", "0"});
}

TEST_CASE("a model that fails, or is not paid for, costs the passages and not the answer") {
    const plane w;
    const auto model = passages({"first passage"});
    model.fail_at(1);
    const auto search = w.meaning() | narrowed_by(hypothetical_answer(ref(model)));
    const auto found = search.retrieve("q?", 3);
    CHECK(toy::ids(found) == toy::ids(w.meaning().retrieve("q?", 3)));
    CHECK(found.state == result_state::degraded);
    // One call: it goes to the embedder.
    CHECK(search.retrieve(query("q?").under({.model_calls = 1}), 3).state == result_state::degraded);
    CHECK(model.calls() == 1);
    CHECK(code_of([&] { hypothetical_answer(ref(model), {.passages = 0}); }) == "probe.count");
}
