#include "quarry/probe/kept_words.hpp"

#include "support/catch.hpp"

using namespace quarry;
using word_list = std::vector<std::string>;

TEST_CASE("quoted words and identifiers are kept, everyday words are not") {
    CHECK(kept_words("Why does HL-301 blink?") == word_list{"HL-301"});
    CHECK(kept_words("What is a COR?") == word_list{"COR"});
    CHECK(kept_words("does get_user_name call std::move or fooBar?") ==
          word_list{"get_user_name", "std::move", "fooBar"});
    CHECK(kept_words("How do I create a \"Voucher from authorization\"?") == word_list{"Voucher from authorization"});
    CHECK(kept_words("open `a b`, \xE2\x80\x9C"
                     "c d\xE2\x80\x9D and \xC2\xAB"
                     "e\xC2\xBB") == word_list{"a b", "c d", "e"});
    CHECK(kept_words("Is node.js 18 faster (v8), e.g. on C++17?") == word_list{"node.js", "18", "v8", "C++17"});
    CHECK(kept_words("How do I reset my password, Mr. Smith? It isn't easy.").empty());
    CHECK(kept_words("HL-301 and HL-301") == word_list{"HL-301"});
    CHECK(kept_words("").empty());
}

TEST_CASE("in a question of capitals alone capitals say nothing") {
    CHECK(kept_words("HOW DO I RESET HL-301").size() == 1);
    CHECK(kept_words("How do I reset the HUB") == word_list{"HUB"});
}

TEST_CASE("a quotation mark that nothing closes quotes nothing") {
    CHECK(kept_words("a 5\" screen and X7") == word_list{"5", "X7"});
    CHECK(kept_words("say \"hello").empty());
}

TEST_CASE("a kept word is lost if it stands nowhere, case aside") {
    CHECK(lost_words({"HL-301", "COR"}, "why hl-301 blinks") == word_list{"COR"});
    CHECK(lost_words({}, "anything").empty());
}
