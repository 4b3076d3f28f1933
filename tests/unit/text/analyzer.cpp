#include "quarry/text/analyzer.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/growth.hpp"
#include "support/terms.hpp"

using namespace quarry;

TEST_CASE("english cuts the possessive, folds, marks stop words and stems the rest") {
    const auto found = tokens_of(english(), "The Lazy dog's Policies");
    REQUIRE(found.size() == 4);
    CHECK(found[0].term == "the");
    CHECK(found[0].stop);
    CHECK(found[1].term == "lazi");
    CHECK(found[2].term == "dog");
    CHECK(found[3].term == "polici");
    CHECK_FALSE(found[3].stop);
}

TEST_CASE("a token's span is the whole word in the text, whatever became of the term") {
    const std::string text = "the dog's policies";
    const auto found = tokens_of(english(), text);
    REQUIRE(found.size() == 3);
    CHECK(text.substr(found[1].begin, found[1].end - found[1].begin) == "dog's");
    CHECK(text.substr(found[2].begin, found[2].end - found[2].begin) == "policies");
}

TEST_CASE("positions count words from 0, stop words included") {
    const auto found = tokens_of(english(), "back to the future");
    REQUIRE(found.size() == 4);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].position == i);
}

TEST_CASE("Lucene's 33 stop words are stop words, and not those alone that a shorter list would have") {
    const std::string list =
        "a an and are as at be but by for if in into is it no not of on or such that the their then "
        "there these they this to was will with";
    const auto found = tokens_of(english(), list);
    CHECK(found.size() == 33);
    for (const held_token& t : found) {
        INFO(t.term);
        CHECK(t.stop);
    }
    for (const held_token& t : tokens_of(english(), "i you he from have has were which what how")) CHECK_FALSE(t.stop);
}

TEST_CASE("stop words and stemming can be switched off, and the fingerprint tells") {
    const analyzer no_stop = english({.stop_words = false}), no_stems = english({.stemming = false});
    CHECK_FALSE(tokens_of(no_stop, "the policies").front().stop);
    CHECK(terms_of(no_stems, "the policies") == terms{"the", "policies"});
    const std::vector<std::string> prints = {english().fingerprint(), no_stop.fingerprint(), no_stems.fingerprint(),
                                             plain().fingerprint()};
    for (std::size_t i = 0; i < prints.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(prints[i] != prints[j]);
    CHECK(english().fingerprint() == english({.stop_words = true}).fingerprint());
}

TEST_CASE("all apostrophes that are typed make a possessive, and a word that is only one stays") {
    CHECK(terms_of(english(), "dog's dog\u2019s DOG'S") == terms{"dog", "dog", "dog"});
    CHECK(terms_of(english(), "dogs' 's").front() == "dog");
}

TEST_CASE("two long words that differ at the end do not meet") {
    const std::string left(300, 'a');
    std::string right = left;
    right.back() = 'b';
    const terms a = terms_of(plain(), left), b = terms_of(plain(), right);
    REQUIRE(a.size() == 2);
    CHECK(a[0].size() == longest_term);
    CHECK(a[0] == b[0]);
    CHECK(a[1] != b[1]);
}

TEST_CASE("an analyzer of one's own is a callable and a name") {
    const analyzer letters("letters-1", [](std::string_view text, token_sink sink) {
        for (std::size_t i = 0; i < text.size(); ++i)
            sink({.term = text.substr(i, 1), .begin = i, .end = i + 1, .position = static_cast<std::uint32_t>(i)});
    });
    const analyzer copy = letters;
    CHECK(terms_of(copy, "abc") == terms{"a", "b", "c"});
    CHECK(copy.fingerprint() == "letters-1");
}

TEST_CASE("a stem that looks like a stop word is not that stop word") {
    // Porter makes on of one and it of its; as stop words these stand in every text.
    const auto found = tokens_of(english(), "on one, it its");
    REQUIRE(found.size() == 4);
    CHECK(found[0].stop);
    CHECK_FALSE(found[1].stop);
    CHECK(found[0].term != found[1].term);
    CHECK(found[2].term != found[3].term);
    CHECK(found[1].term == terms_of(english(), "ones").front());  // and it still is a stem
    CHECK(terms_of(english({.stop_words = false}), "on one") == terms{"on", "on"});
}

TEST_CASE("unicode folds and composes words of any script and leaves them unstemmed") {
    CHECK(terms_of(unicode(), "The Policies of Ko\u0308ln, STRASSE \uFF21\uFF22\uFF23 \uFB01t") ==
          terms{"the", "policies", "of", "köln", "strasse", "abc", "fit"});
    CHECK(terms_of(unicode(), "ΟΔΟΣ الكتاب हिन्दी Жук") == terms{"οδοσ", "الكتاب", "हिन्दी", "жук"});
    CHECK(terms_of(unicode(), "co\u00ADoperate 👍") == terms{"cooperate", "👍"});
}

TEST_CASE("a script without spaces is read in pairs of neighbours, whatever the analyzer") {
    for (const analyzer& words : {unicode(), english()}) {
        CHECK(content_of(words, "我是中国人") == terms{"我是", "是中", "中国", "国人"});
        CHECK(content_of(words, "한국어 책") == terms{"한국", "국어", "책"});
        CHECK(content_of(words, "資料を") == terms{"資料", "料を"});
        CHECK(content_of(words, "カタカナ") == terms{"カタ", "タカ", "カナ"});
        CHECK(content_of(words, "\uFF76\uFF9E\uFF77") == terms{"ガキ"});  // half-width kana with its mark
        CHECK(content_of(words, "HTTP接口") == terms{"http", "接口"});
        CHECK(content_of(words, "API를 쓴다") == terms{"api", "를", "쓴다"});
        CHECK(content_of(words, "佐々木") == terms{"佐々", "々木"});
        CHECK(content_of(words, "检索，分词") == terms{"检索", "分词"});
    }
}

TEST_CASE("Thai, Lao, Khmer and Burmese are read in pairs of letters with their marks") {
    // Sawasdee: four letters, of which the second and the third carry marks.
    CHECK(content_of(unicode(), "สวัสดี") == terms{"สวั", "วัส", "สดี"});
    CHECK(content_of(unicode(), "ລາວ").size() == 2);
    CHECK(content_of(unicode(), "ខ្មែរ").size() >= 1);
    CHECK(content_of(unicode(), "မြန်မာ").size() >= 2);
    CHECK(content_of(unicode(), "น้ำ") == terms{"น\u0E49\u0E4D\u0E32"});  // one character: NFKC takes the vowel apart
}

TEST_CASE("a pair's span is its two characters, and characters alone are marked like stop words at the same places") {
    const std::string text = "a 检索词";
    const auto found = tokens_of(unicode(), text);
    const std::vector<held_token> expected = {{"a", 0, 1, 0, false},     {"检", 2, 5, 1, true},
                                              {"检索", 2, 8, 1, false},  {"索", 5, 8, 2, true},
                                              {"索词", 5, 11, 2, false}, {"词", 8, 11, 3, true}};
    CHECK(found == expected);
    CHECK(terms_of(unicode({.scripts = {.characters = false}}), text) == terms{"a", "检索", "索词"});
    CHECK(terms_of(plain(), text) == terms{"a", "检", "索", "词"});
    // A lone character is a term as any other.
    CHECK(tokens_of(unicode(), "检") == std::vector<held_token>{{"检", 0, 3, 0, false}});
}

TEST_CASE("tokens of two texts joined by a space are the tokens of each") {
    const std::vector<std::string> texts = {
        "The dog's", "policies of C++", "検索を", "สวัสดี",        "\xFF\xC3", "a.b",    "1,000", "U.S.", "e\u0301te",
        "",          "foo_bar 👍",       "'",      "\u0301 mark", "ＡＢ.",    "HTTP를", "-",     "C#",   "\u200D"};
    for (const analyzer& words : {plain(), unicode(), english()})
        for (const std::string& left : texts)
            for (const std::string& right : texts) {
                terms expected = terms_of(words, left);
                for (const std::string& t : terms_of(words, right)) expected.push_back(t);
                INFO(left << " and " << right);
                CHECK(terms_of(words, left + ' ' + right) == expected);
            }
}

TEST_CASE("every option is in the fingerprint, and so is the version of Unicode") {
    const std::vector<analyzer> all = {plain(),
                                       unicode(),
                                       unicode({.scripts = {.characters = false}}),
                                       english(),
                                       english({.stop_words = false}),
                                       english({.stemming = false}),
                                       english({.scripts = {.pairs = false}}),
                                       english({.scripts = {.characters = false}}),
                                       words_of({"martian-1"})};
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i].fingerprint().find("unicode=" + std::string(unicode_version)) != std::string::npos);
        for (std::size_t j = 0; j < i; ++j) CHECK(all[i].fingerprint() != all[j].fingerprint());
    }
    CHECK(english().fingerprint() == english(english_options{}).fingerprint());
}

TEST_CASE("time grows with the text and not faster, on texts that invite looking ahead") {
    const std::vector<std::string> pieces = {"a",       "a.",       "a'", "1,",      ".",          "\u0301",
                                             "a\u0301", "\u05D0\"", "中", "ก\u0E49", "\U0001F1E6", "\u200D",
                                             "\xFF",    "y",        "_",  "ing"};
    for (const std::string& piece : pieces) {
        INFO(piece);
        const double ratio = growth(
            [&](std::size_t n) {
                std::string text;
                for (std::size_t i = 0; i < n; ++i) text += piece;
                std::size_t count = 0;
                english()(text, [&](const token&) { ++count; });
                return count;
            },
            1000);
        CHECK(ratio <= 2.5);
    }
}

TEST_CASE("a tokenizer may ask more than it indexes") {
    struct shouting {
        void operator()(std::string_view text, token_sink sink) const { sink({.term = text}); }
        void question(std::string_view text, token_sink sink) const {
            sink({.term = text});
            sink({.term = "also", .weight = 0.5f});
        }
    };
    const analyzer words("shouting-1", shouting{});
    CHECK(terms_of(words, "x") == terms{"x"});
    terms asked;
    float last = 0.0f;
    words.question("x", [&](const token& t) {
        asked.emplace_back(t.term);
        last = t.weight;
    });
    CHECK(asked == terms{"x", "also"});
    CHECK(last == 0.5f);
    asked.clear();
    english().question("the dog", [&](const token& t) { asked.emplace_back(t.term); });
    CHECK(asked == terms{"the", "dog"});
}
