#include "quarry/text/german.hpp"

#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/terms.hpp"

using namespace quarry;

namespace {

std::string stem(std::string word) {
    german_light_stem(word);
    return word;
}

}  // namespace

// By hand from the rules: umlauts lose their marks, then one ending of declension goes, then one of comparison.
TEST_CASE("forms of one German word have one stem") {
    for (const std::string form : {"haus", "hauses", "häuser", "häusern"}) CHECK(stem(form) == "haus");
    for (const std::string form : {"kind", "kinder", "kindern", "kindes"}) CHECK(stem(form) == "kind");
    for (const std::string form : {"schön", "schöne", "schöner", "schönes", "schönste", "schönsten"})
        CHECK(stem(form) == "schon");
    for (const std::string form : {"buch", "buches", "buchs", "bücher", "büchern"}) CHECK(stem(form) == "buch");
    CHECK(stem("straße") == stem("straßen"));
}

TEST_CASE("short words and what no rule names stay as they are") {
    for (const std::string word : {"er", "eis", "see", "gas", "bus", "test", "fest", "jahr", "", "s", "我是"})
        CHECK(stem(word) == word);
    CHECK(stem("häuschen") == "hausch");  // light: what is derived does not meet its root
}

TEST_CASE("German questions meet German texts in another form") {
    CHECK(content_of(german(), "Die schönsten Häuser der Straße") == terms{"schon", "haus", "strass"});
    CHECK(content_of(german(), "ein schönes HAUS in der STRASSE") == terms{"schon", "haus", "strass"});
    CHECK(content_of(german({.stop_words = false, .stemming = false}), "für die Bücher") ==
          terms{"für", "die", "bücher"});
    CHECK(german().fingerprint() != english().fingerprint());
}

TEST_CASE("every word of the German list is found in it") {
    // In the list's own order: a word out of order would not be found by bisection.
    for (const std::string word :
         {"aber",  "bis",      "das", "dass", "denn", "für",  "können", "über",   "überm", "übern",
          "übers", "zwischen", "zum", "was",  "weil", "sein", "seine",  "seinem", "und",   "uns"})
        CHECK(tokens_of(german(), word).front().stop);
    CHECK_FALSE(tokens_of(german(), "haus").front().stop);
}
