#include "quarry/text/extract.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

std::size_t words_in(std::string_view text) {
    std::size_t count = 0;
    bool inside = false;
    for (const char c : text) {
        count += !detail::is_ascii_space(c) && !inside;
        inside = !detail::is_ascii_space(c);
    }
    return count;
}

std::string extracted(const std::vector<std::string>& texts, std::size_t most_words) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return central_sentences(views, {.most_tokens = most_words, .tokens = words_in});
}

}  // namespace

TEST_CASE("extract: the sentences that share most words with the rest are taken, in the order of reading") {
    const std::vector<std::string> texts{"The weather was fine. Pumps move water through the filter.",
                                         "A filter cleans the water that pumps move. He wore a hat."};
    CHECK(extracted(texts, 6) == "Pumps move water through the filter.");
    CHECK(extracted(texts, 14) == "Pumps move water through the filter. A filter cleans the water that pumps move.");
}

TEST_CASE("extract: a sentence that says what a taken one says is passed over") {
    const std::vector<std::string> texts{"Pumps move water.", "Pumps move water!", "Rain fills lakes with water."};
    CHECK(extracted(texts, 100) == "Pumps move water. Rain fills lakes with water.");
}

TEST_CASE("extract: never more than was allowed, and something where there is a word") {
    const std::vector<std::string> texts{"One two three four five six seven eight nine ten.", "Four five six."};
    for (std::size_t most = 1; most < 16; ++most) {
        const std::string got = extracted(texts, most);
        CHECK(!got.empty());
        CHECK(words_in(got) <= most);
    }
    CHECK(extracted({"... --- !!!", "", "   "}, 10).empty());
    CHECK(extracted({}, 10).empty());
}

TEST_CASE("extract: stop words make no sentence central") {
    CHECK(extracted({"It is what it is and that is that. Copper conducts heat.", "Copper conducts electricity."}, 3) ==
          "Copper conducts heat.");
}

TEST_CASE("beginning: whole sentences, else whole words, else whole code points") {
    const auto of = [](std::string_view text, std::size_t most) {
        return std::string(beginning(text, most, [](std::string_view t) { return t.size(); }));
    };
    CHECK(of("One two. Three four. Five.", 100) == "One two. Three four. Five.");
    CHECK(of("One two. Three four. Five.", 20) == "One two. Three four.");
    CHECK(of("One two. Three four. Five.", 12) == "One two.");
    CHECK(of("One two three", 9) == "One two");
    CHECK(of("\u00e4\u00e4\u00e4", 3) == "\u00e4");
    CHECK(of("abc", 0).empty());
}
