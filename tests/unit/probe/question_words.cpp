#include "quarry/probe/question_words.hpp"

#include "support/catch.hpp"

using namespace quarry::detail;

TEST_CASE("a question is cut into words and marks, and nothing is dropped") {
    const auto words = question_words("Not Jonas's gluten-free, \"main_course\"!");
    std::string seen;
    for (const question_word& w : words) seen += (w.apart ? " " : "") + w.folded;
    CHECK(seen == " not jonas gluten-free, \"main_course\"!");
    CHECK(words[0].capital);
    CHECK(words[1].capital);
    CHECK_FALSE(words[2].capital);
    CHECK(words[1].stem == "jona");
    CHECK_FALSE(words[3].is_word);
    // The bytes are those of the question, the possessive included.
    CHECK(words[1].begin == 4);
    CHECK(words[1].end == 11);
}

TEST_CASE("a key is the same for all ways of writing a name") {
    for (const char* way : {"Main Courses", "main_courses", "main-courses", " MAIN  courses "}) {
        CAPTURE(way);
        CHECK(key_of(way).folded == "main courses");
        CHECK(key_of(way).words == 2);
        CHECK(squeezed(way) == "maincourses");
    }
    CHECK(key_of("main course").stem == key_of("main courses").stem);
    CHECK(key_of("\u00C9clair").folded == "\u00E9clair");
    CHECK(key_of("?!").words == 0);
    CHECK(squeezed("").empty());
}

TEST_CASE("bytes that are no UTF-8 are marks like any other") {
    const auto words = question_words("a \xFF\xC3 b");
    REQUIRE(words.size() == 4);
    CHECK(words[1].end - words[1].begin == 1);
    CHECK(words[3].folded == "b");
}
