// What a trace says of words that were taken for others.
#include <string>
#include <vector>

#include "quarry/index/bm25_index.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/toy.hpp"

using namespace quarry;

TEST_CASE("a word taken for another is in the trace, and none is if nothing was taken") {
    const corpus articles = toy::corpus_of({"reset the password", "other"});
    bm25_index words(plain(), {.one_edit = true}), strict(plain());
    for (std::size_t i = 0; i < articles.size(); ++i) {
        words.add(unit_at(i), articles.text(unit_at(i)));
        strict.add(unit_at(i), articles.text(unit_at(i)));
    }
    trace t;
    CHECK(toy::ids(lexical(words, articles).retrieve(query("pasword zzzzzz").traced(t), 5)) ==
          std::vector<std::string>{"0"});
    const trace_event* corrected = t.find(trace_code::corrected, "bm25");
    REQUIRE(corrected);
    CHECK(corrected->in == 2);
    CHECK(corrected->out == 1);

    trace known, off;
    lexical(words, articles).retrieve(query("password").traced(known), 5);
    CHECK_FALSE(known.find(trace_code::corrected));
    CHECK(lexical(strict, articles).retrieve(query("pasword").traced(off), 5).empty());
    CHECK_FALSE(off.find(trace_code::corrected));
}
