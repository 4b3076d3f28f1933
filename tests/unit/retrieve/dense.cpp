#include "quarry/retrieve/dense.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/threshold.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"

using namespace quarry;
using names = std::vector<std::string>;

namespace {

// Counts the words it knows; a text of none of them is a row of zeros. Notes what it was asked, and as what.
struct vocabulary_embedder {
    static constexpr bool zero_means_unknown = true;

    struct call {
        role as;
        std::vector<std::string> texts;
        friend bool operator==(const call&, const call&) = default;
    };
    std::vector<std::string> words{"cat", "dog", "mat"};
    std::shared_ptr<std::vector<call>> calls = std::make_shared<std::vector<call>>();

    std::size_t dimension() const { return words.size(); }
    std::string name() const { return "vocabulary"; }
    callable_identity identity() const { return calls.get(); }
    void embed(role as, std::span<const std::string_view> texts, std::span<float> rows) const {
        calls->push_back({as, {texts.begin(), texts.end()}});
        std::ranges::fill(rows, 0.0f);
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (std::size_t j = 0; j < words.size(); ++j)
                for (std::size_t at = texts[i].find(words[j]); at != std::string_view::npos;
                     at = texts[i].find(words[j], at + 1))
                    rows[i * words.size() + j] += 1.0f;
    }
};

using call = vocabulary_embedder::call;

struct base {
    corpus articles = toy::corpus_of({"the cat sat on the mat", "the dog sat", "the cat chased the dog", "nothing known"});
    vocabulary_embedder embedder{};
    indexed<flat_index> vectors{flat_index(3), articles};

    base() {
        for (std::size_t i = 0; i < 3; ++i) {
            std::vector<float> row(3);
            const std::string_view texts[] = {articles.text(unit_at(i))};
            embedder.embed(role::document, texts, row);
            vectors.index.add(unit_at(i), row);
        }
        embedder.calls->clear();
    }
};

}  // namespace

TEST_CASE("what is near in meaning is found, by cosine") {
    const base b;
    const auto found = dense(b.vectors, b.embedder).retrieve("a mat for a cat", 5);
    CHECK(toy::ids(found) == names{"0", "2", "1"});
    CHECK(found[0].score == Approx(1.0));
    CHECK(found[1].score == Approx(.5));
    CHECK(found[2].score == Approx(0.0));
}

TEST_CASE("a question is embedded once, as a question, however often the index is asked") {
    const base b;
    const auto search = dense(b.vectors, b.embedder);
    (search | per_article(1)).retrieve("cat", 3);
    CHECK(*b.embedder.calls == std::vector<call>{{role::query, {"cat"}}});
    // Two legs with one embedder pay once, and so do scores and bounds.
    b.embedder.calls->clear();
    fuse(bounded{.fetch = 1}, search, dense(b.vectors, b.embedder)).retrieve("dog", 3);
    CHECK(b.embedder.calls->size() == 1);
    // The next request pays again: nothing is kept between requests.
    search.retrieve("dog", 3);
    CHECK(b.embedder.calls->size() == 2);
}

TEST_CASE("a batch of questions is one call with each distinct text once, and the answers are those of single questions") {
    const base b;
    const auto search = dense(b.vectors, b.embedder);
    const std::vector<query> batch{"cat", "dog", "cat", "mat cat"};
    const auto together = search.retrieve(batch, 2);
    CHECK(*b.embedder.calls == std::vector<call>{{role::query, {"cat", "dog", "mat cat"}}});
    REQUIRE(together.size() == 4);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto alone = search.retrieve(batch[i], 2);
        CHECK(toy::ids(together[i]) == toy::ids(alone));
        for (std::size_t j = 0; j < alone.size(); ++j) CHECK(together[i][j].score == alone[j].score);
    }
    b.embedder.calls->clear();
    CHECK(search.retrieve(std::vector<query>{}, 2).empty());
    CHECK(search.retrieve(batch, 0).size() == 4);
    CHECK(b.embedder.calls->empty());
}

TEST_CASE("in a batch a question and an example of the same words do not get each other's row") {
    // Unit 0's stored row points at dogs, whatever its text says.
    corpus c = toy::corpus_of({"cat", "a cat", "a dog"});
    const vocabulary_embedder embedder;
    flat_index index(3);
    index.add(unit_id{0}, std::vector<float>{0, 1, 0});
    index.add(unit_id{1}, std::vector<float>{1, 0, 0});
    index.add(unit_id{2}, std::vector<float>{0, 1, 0});
    const auto search = dense(index, source_ref(c), embedder);
    for (const bool question_first : {false, true}) {
        std::vector<query> batch{like(unit_id{0}), "cat"};
        if (question_first) std::swap(batch[0], batch[1]);
        const auto found = search.retrieve(batch, 1);
        CHECK(toy::ids(found[question_first ? 1 : 0]) == names{"2"});
        CHECK(toy::ids(found[question_first ? 0 : 1]) == names{"1"});
    }
}

TEST_CASE("searching by a unit uses its stored row and calls nobody") {
    const base b;
    const auto search = dense(b.vectors, b.embedder);
    const auto found = search.retrieve(like(unit_id{0}), 5);
    CHECK(toy::ids(found) == names{"2", "1"});  // without itself
    CHECK(found[0].score == Approx(.5));
    CHECK(b.embedder.calls->empty());
}

TEST_CASE("searching by a unit without a row embeds its text, as a document") {
    const base b;
    corpus more = toy::corpus_of({"the cat sat on the mat", "the dog sat", "the cat chased the dog", "cat cat cat"});
    const auto search = dense(b.vectors.index, source_ref(more), b.embedder);
    CHECK(toy::ids(search.retrieve(like(unit_id{3}), 2)) == names{"0", "2"});
    CHECK(*b.embedder.calls == std::vector<call>{{role::document, {"cat cat cat"}}});
    // The same in a batch.
    b.embedder.calls->clear();
    CHECK(toy::ids(search.retrieve(std::vector<query>{like(unit_id{3}), "dog"}, 2)[0]) == names{"0", "2"});
    CHECK(std::ranges::count(*b.embedder.calls, call{role::document, {"cat cat cat"}}) == 1);
}

TEST_CASE("a question the embedder knows nothing of finds nothing, says so, and costs one call") {
    const base b;
    trace t;
    const auto search = dense(b.vectors, b.embedder);
    CHECK(search.retrieve(query("xylophone").traced(t), 5).empty());
    CHECK(t.find(trace_code::unknown, "dense"));
    const query q("xylophone");
    request r(q, b.articles);
    const unit_id units[] = {unit_id{0}, unit_id{3}};
    for (const scored_key& s : search.score(r, units)) CHECK(s.key == no_key);
    CHECK(search.bounds(r).high == 1.0f);
    CHECK(r.paid_calls() == 1);
}

TEST_CASE("a query's own row is searched by, for nothing, by legs of its embedder and by no others") {
    const base b;
    const auto search = dense(b.vectors, b.embedder);
    const query asked = query("whatever").with_row(b.embedder, {0, 1, 0});
    CHECK(toy::ids(search.retrieve(asked, 5)) == toy::ids(search.retrieve("dog", 5)));
    CHECK(*b.embedder.calls == std::vector<call>{{role::query, {"dog"}}});
    // In a batch each has its own, though the words are the same.
    const auto found = search.retrieve(
        std::vector<query>{query("cat").with_row(b.embedder, {0, 1, 0}), "cat", query("cat").with_row(b.embedder, {0, 0, 1})},
        1);
    CHECK(toy::ids(found[0]) == names{"1"});
    CHECK(toy::ids(found[1]) == toy::ids(search.retrieve("cat", 1)));
    CHECK(toy::ids(found[2]) == names{"0"});
    // Another embedder's row is not read; without words there is then nothing to search by, and nobody is called.
    const vocabulary_embedder other;
    const std::size_t calls = b.embedder.calls->size();
    trace told;
    CHECK(search.retrieve(query("").with_row(other, {0, 1, 0}).traced(told), 5).empty());
    CHECK(told.find(trace_code::unknown, "dense"));
    CHECK(b.embedder.calls->size() == calls);
    CHECK(toy::ids(search.retrieve(query("dog").with_row(other, {1, 0, 0}), 5)) ==
          toy::ids(search.retrieve("dog", 5)));
    CHECK(code_of([&] { search.retrieve(query("dog").with_row(b.embedder, {1, 0}), 5); }) == "dense.dimension");
    CHECK(code_of([&] { search.retrieve(query("dog").with_row(b.embedder, {1, std::nanf(""), 0}), 5); }) != "(no exception)");
    CHECK(search.retrieve(query("dog").with_row(b.embedder, {0, 0, 0}), 5).empty());  // a row that knows nothing
}

TEST_CASE("the trace remarks a question that is longer than the embedder reads, once") {
    const base b;
    const auto row = [&](std::string_view text) {
        std::vector<float> out(3);
        b.embedder.embed(role::query, std::span(&text, 1), out);
        return out;
    };
    const auto search = dense(b.vectors, make_embedder(3, row, {.name = "short", .reads = 2}));
    trace told;
    search.retrieve(query("the cat and the dog").traced(told), 3);
    REQUIRE(told.remarks.size() == 1);
    CHECK(told.remarks[0].stage == "dense");
    CHECK(told.remarks[0].text == "1 of 1 texts are longer than short reads");
    trace quiet;
    search.retrieve(query("the cat").traced(quiet), 3);
    CHECK(quiet.remarks.empty());
}

TEST_CASE("an embedder of another width is refused when the leaf is made, with both widths") {
    const base b;
    const toy::letter_embedder letters;
    const auto made = [&] { dense(b.vectors, letters); };
    CHECK(code_of(made) == "dense.dimension");
    CHECK(message_of(made).find("rows of 3") != std::string::npos);
    CHECK(message_of(made).find("rows of 26") != std::string::npos);
}

TEST_CASE("an embedder's call counts against the budget of each question") {
    const base b;
    const auto search = dense(b.vectors, b.embedder);
    CHECK(code_of([&] { search.retrieve(query("cat").under({.model_calls = 0}), 5); }) == "budget.model_calls");
    CHECK(search.retrieve(query("cat").under({.model_calls = 1}), 5).size() == 3);
    CHECK(code_of([&] {
              search.retrieve(std::vector<query>{"cat", query("dog").under({.model_calls = 0})}, 5);
          }) == "budget.model_calls");
    CHECK(search.retrieve(query(like(unit_id{0})).under({.model_calls = 0}), 5).size() == 2);
}

TEST_CASE("an embedder that fails leaves the error as it is, and the next question works") {
    const base b;
    auto broken = std::make_shared<bool>(true);
    const auto embedder = make_embedder(3, [broken](std::string_view) -> std::vector<float> {
        if (*broken) return {1.0f};
        return {1.0f, 0.0f, 0.0f};
    });
    const auto search = dense(b.vectors, embedder);
    CHECK(code_of([&] { search.retrieve("cat", 5); }) == "embedder.dimension");
    *broken = false;
    CHECK(toy::ids(search.retrieve("cat", 1)) == names{"0"});
}

TEST_CASE("inner products keep their own scale and have no bounds") {
    const corpus c = toy::corpus_of({"a", "b"});
    flat_product_index index(3);
    index.add(unit_id{0}, std::vector<float>{2, 0, 0});
    index.add(unit_id{1}, std::vector<float>{3, 4, 0});
    const auto search = dense(index, source_ref(c), vocabulary_embedder{});
    const auto found = search.retrieve("cat", 2);
    CHECK(toy::ids(found) == names{"1", "0"});
    CHECK(found[0].score == 3.0f);
    static_assert(std::same_as<decltype(search)::scale, inner_product_scale>);
    static_assert(ScoringRetriever<decltype(search)> && !BoundedRetriever<decltype(search)>);
}

TEST_CASE("filter and scope are applied inside the search for vectors") {
    corpus c = toy::numbered(40);
    flat_index index(2);
    for (std::size_t i = 0; i < 40; ++i) index.add(unit_at(i), std::vector<float>{1.0f, static_cast<float>(i)});
    const auto embedder = make_embedder(2, [](std::string_view) { return std::vector<float>{1.0f, 0.0f}; });
    const auto search = dense(index, source_ref(c), embedder);
    CHECK(toy::units(search.retrieve(query("q").where(eq("part", 1)), 3)) == std::vector<std::uint32_t>{1, 3, 5});
    CHECK(toy::units(search.retrieve(query("q").within(scope::only(eq("part", 1))), 50)).size() == 20);
}
