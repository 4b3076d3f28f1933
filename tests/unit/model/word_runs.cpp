#include "quarry/model/word_runs.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    detail::for_each_word_run(text, [&](std::string_view w) { out.emplace_back(w); });
    return out;
}

}  // namespace

TEST_CASE("words are runs of letters, digits and underscores, and one character each where nobody writes spaces") {
    using list = std::vector<std::string>;
    CHECK(words("GSA's e-mail, snake_case(3.14)") == list{"GSA", "s", "e", "mail", "snake_case", "3", "14"});
    CHECK(words("") == list{});
    CHECK(words(" .,;") == list{});
    CHECK(words("na\xC3\xAFve caf\xC3\xA9") == list{"na\xC3\xAFve", "caf\xC3\xA9"});
    CHECK(words("\xE6\x97\xA5\xE6\x9C\xAC go") == list{"\xE6\x97\xA5", "\xE6\x9C\xAC", "go"});
    CHECK(words("\xFF"
                "a\xFE") == list{"a"});
}

TEST_CASE("the share of copied runs counts runs of eight words, whatever stands between the words") {
    // Ten words have three runs; the source has the first nine words, so two of the runs.
    const known_runs source("one two three four five six seven eight nine, and more");
    CHECK(source.share_in("One-two three FOUR five: six seven eight (nine) ten") == Approx(2.0 / 3.0));
    CHECK(source.share_in("one two three four five six seven eight") == 1.0);
    CHECK(source.share_in("two one three four five six seven eight") == 0.0);
    CHECK(source.share_in("one two three four five six seven") == 0.0);  // too short to tell
    CHECK(source.share_in("") == 0.0);
    CHECK(known_runs().share_in("one two three four five six seven eight") == 0.0);
}

TEST_CASE("what was added in two pieces is known in both, and not across the seam") {
    known_runs source("a b c d e f g h");
    source.add("i j k l m n o p");
    CHECK(source.share_in("a b c d e f g h") == 1.0);
    CHECK(source.share_in("i j k l m n o p") == 1.0);
    CHECK(source.share_in("e f g h i j k l") == 0.0);
}

TEST_CASE("repetition is counted in runs of words") {
    CHECK(detail::most_repeated_run("a b c d e, x, a b c d e, y, A B C D E", 5) == 3);
    CHECK(detail::most_repeated_run("a b c d e", 5) == 1);
    CHECK(detail::most_repeated_run("a b c d", 5) == 0);
    CHECK(detail::most_repeated_run("no no no no no no no", 5) == 3);
}

TEST_CASE("a stutter is one letter again and again, and a ruler is none") {
    CHECK(detail::longest_stutter("aaaab") == 4);
    CHECK(detail::longest_stutter("----------") == 0);
    CHECK(detail::longest_stutter("") == 0);
}

TEST_CASE("numbers and marks alone have no letter") {
    CHECK_FALSE(detail::has_letter("(1) 2, 3.\n"));
    CHECK_FALSE(detail::has_letter(""));
    CHECK(detail::has_letter("1a"));
    CHECK(detail::has_letter("\xE6\x97\xA5"));
    CHECK(detail::has_letter("\xD0\xB0"));
}
