#include "quarry/retrieve/lexical.hpp"

#include <memory>
#include <string>
#include <vector>

#include "quarry/index/bm25_index.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"
#include "support/words.hpp"

using namespace quarry;
using names = std::vector<std::string>;

namespace {

struct base {
    corpus articles = toy::corpus_of({"the cat sat on the mat", "the dog sat", "the cat chased the dog"});
    indexed<bm25_index> words{bm25_index(toy::whitespace()), articles};

    base() {
        auto table = std::make_shared<key_table>(key_kind::body);
        for (std::size_t i = 0; i < articles.size(); ++i) {
            words.index.add(unit_at(i), articles.text(unit_at(i)));
            table->add({unit_at(i), key_part::whole, std::string(articles.text(unit_at(i)))});
        }
        words.keys = table;
    }
};

}  // namespace

TEST_CASE("the words of a query find articles, best first, by a key that can be shown") {
    const base b;
    const auto found = lexical(b.words).retrieve("cat mat", 5);
    CHECK(toy::ids(found) == names{"0", "2"});
    const auto key = found.matched(found[0]);
    REQUIRE(key);
    CHECK(key->kind == key_kind::body);
    CHECK(key->text == "the cat sat on the mat");
    CHECK(found.explain(found[0]).find("by bm25, rank 1, key whole") != std::string::npos);
    CHECK(lexical(b.words).retrieve("", 5).empty());
}

TEST_CASE("a query's required and forbidden words and phrases reach the index") {
    const base b;
    const auto search = lexical(b.words);
    CHECK(toy::ids(search.retrieve(query("cat").require("dog"), 5)) == names{"2"});
    CHECK(toy::ids(search.retrieve(query("cat").forbid("dog"), 5)) == names{"0"});
    CHECK(toy::ids(search.retrieve(query("dog").phrase("dog sat"), 5)) == names{"1"});
    // Plain text means none of these.
    CHECK(toy::ids(search.retrieve("cat -dog \"dog sat\"", 5)) == toy::ids(search.retrieve("cat", 5)));
}

TEST_CASE("a leaf scores given units and knows the bounds of a question, as its index does") {
    const base b;
    const query q("cat mat");
    request r(q, b.articles);
    const unit_id units[] = {unit_id{2}, unit_id{1}, unit_id{0}};
    const auto search = lexical(b.words);
    CHECK(search.score(r, units) == b.words.index.score({"cat mat"}, units));
    CHECK(search.score(r, units)[1].key == no_key);
    CHECK(search.bounds(r).high == b.words.index.bounds({"cat mat"}).high);
    static_assert(BoundedRetriever<decltype(search)>);
}

TEST_CASE("an index of a stranger is a leaf as well") {
    const corpus c = toy::corpus_of({"a cat", "a dog", "a catalogue"});
    const toy::word_index index{.keys = {{unit_id{0}, "a cat"}, {unit_id{1}, "a dog"}, {unit_id{2}, "a catalogue"}}};
    const auto search = lexical(index, source_ref(c));
    CHECK(toy::ids(search.retrieve("cat", 5)) == names{"0", "2"});
    CHECK(search.retrieve("cat", 5)[0].score == 3.0f);
    static_assert(Retriever<decltype(search)> && !ScoringRetriever<decltype(search)>);
    CHECK_FALSE(search.retrieve("cat", 1).matched(search.retrieve("cat", 1)[0]));
}

TEST_CASE("searching by a unit uses its text and leaves its article out") {
    const base b;
    CHECK(toy::ids(lexical(b.words).retrieve(like(unit_id{0}), 5)) == names{"2", "1"});
}

TEST_CASE("a question in which no word is known says so in the trace") {
    const base b;
    trace known, unknown, filtered;
    lexical(b.words).retrieve(query("cat").traced(known), 5);
    CHECK_FALSE(known.find(trace_code::unknown));
    CHECK(lexical(b.words).retrieve(query("zebra").traced(unknown), 5).empty());
    CHECK(unknown.find(trace_code::unknown, "bm25"));
    lexical(b.words).retrieve(query("cat").require("zebra").traced(filtered), 5);  // known, and found nowhere
    CHECK_FALSE(filtered.find(trace_code::unknown));
}
