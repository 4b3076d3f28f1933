// Public failures of tokenizers: what was lost, split or merged elsewhere is found here.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "quarry/index/bm25_index.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "quarry/text/german.hpp"
#include "quarry/text/normalize.hpp"
#include "support/catch.hpp"
#include "support/growth.hpp"
#include "support/terms.hpp"

using namespace quarry;

namespace {

bm25_index index_of_texts(const analyzer& words, const std::vector<std::string>& texts) {
    bm25_index index(words);
    for (std::size_t i = 0; i < texts.size(); ++i) index.add(unit_at(i), texts[i]);
    return index;
}

// The number of the text that is strictly first, or -1: nobody, or a tie.
int first(const std::vector<scored_key>& found) {
    if (found.empty() || (found.size() > 1 && found[0].score == found[1].score)) return -1;
    return static_cast<int>(index_of(found[0].unit));
}
int first(const bm25_index& index, std::string_view question) { return first(index.search(question, 10)); }
int first_by_phrase(const bm25_index& index, const std::string& phrase) {
    const std::string phrases[] = {phrase};
    return first(index.search({phrase, {}, {}, phrases}, 10));
}

bool is_utf8(std::string_view text) { return normalized(text, normal_form::nfc).find("\uFFFD") == std::string::npos; }

const std::vector<analyzer>& all_analyzers() {
    static const std::vector<analyzer> all = {plain(), unicode(), english(), code(), german()};
    return all;
}

}  // namespace

// Case 31. A hyphen was read as an operator, or index and question were split differently.
TEST_CASE("identifiers with a hyphen or an underscore find their own text, bare and in quotes") {
    const std::vector<std::string> texts = {"see REQ-0417",         "error TS-999 raised", "error TS-998 raised",
                                            "fixed in BUG-2021-77", "load_tokens()",       "__main__"};
    const std::vector<std::string> ids = {"REQ-0417", "TS-999", "TS-998", "BUG-2021-77", "load_tokens", "__main__"};
    for (const analyzer& words : all_analyzers()) {
        const bm25_index index = index_of_texts(words, texts);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            INFO(words.fingerprint() << ' ' << ids[i]);
            CHECK(first(index, ids[i]) == static_cast<int>(i));
            CHECK(first_by_phrase(index, ids[i]) == static_cast<int>(i));
        }
    }
}

// Case 32. Symbols were stripped, and all of these languages became "c".
TEST_CASE("C, C++, C#, F# and .NET are five words to the code analyzer") {
    const bm25_index index = index_of_texts(
        code(), {"C is a language", "C++ is a language", "C# is a language", "F# is a language", ".NET runtime"});
    CHECK(first(index, "C") == 0);
    CHECK(first(index, "C++") == 1);
    CHECK(first(index, "C#") == 2);
    CHECK(first(index, "F#") == 3);
    CHECK(first(index, ".net") == 4);
    CHECK(first(index, "net") == 4);
}

// Case 33. A run without spaces was one token, and the lexical half of a hybrid found nothing.
TEST_CASE("words inside Chinese, Japanese, Korean and Thai runs are found, and so are single characters") {
    const std::vector<std::string> texts = {"这篇文章讨论向量检索与分词效果", "昨日は図書館で資料検索をした",
                                            "어제 도서관에서 자료검색을 했다", "HTTP接口说明", "ฉันอ่านหนังสือที่ห้องสมุด"};
    for (const analyzer& words : {unicode(), english(), code(), german()}) {
        const bm25_index index = index_of_texts(words, texts);
        INFO(words.fingerprint());
        CHECK(first(index, "检索") == 0);
        CHECK(first(index, "分词") == 0);
        CHECK(first(index, "資料検索") == 1);
        CHECK(first(index, "자료검색") == 2);
        CHECK(first(index, "接口") == 3);
        CHECK(first(index, "http") == 3);
        CHECK(first(index, "ห้องสมุด") == 4);
        CHECK(first(index, "词") == 0);
        CHECK(first(index, "書") == 1);
        CHECK(first_by_phrase(index, "向量检索") == 0);
        CHECK(first_by_phrase(index, "检索向量") == -1);
    }
}

TEST_CASE("texts in scripts without spaces do not move the scores of English ones of the same length") {
    // Lengths: five words, and five pairs of six characters.
    const bm25_index english_only =
        index_of_texts(unicode(), {"one two three four five", "two three four five six", "six one one two two"});
    const bm25_index mixed =
        index_of_texts(unicode(), {"one two three four five", "天地玄黄宇宙", "six one one two two"});
    CHECK(mixed.average_length() == english_only.average_length());
    const auto a = english_only.search("one", 10), b = mixed.search("one", 10);
    REQUIRE(a.size() == 2);
    REQUIRE(b.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) CHECK(a[i].score == b[i].score);
}

// Case 34. Crashes above 65,535 bytes, silent loss above 255, keys cut so that two words became one.
TEST_CASE("very long tokens are neither lost nor merged, and do not hide their neighbours") {
    for (const analyzer& words : all_analyzers()) {
        for (const std::size_t size : {254u, 255u, 256u, 65535u, 65536u, 1000000u}) {
            const std::string giant(size, 'a');
            const bm25_index index = index_of_texts(words, {giant + " needle " + giant, "hay"});
            INFO(words.fingerprint() << ' ' << size);
            CHECK(first(index, "needle") == 0);
            CHECK(first(index, giant) == 0);
        }
        std::string left(150, 'x'), right(150, 'x');
        left += 'b';
        right += 'c';
        const bm25_index index = index_of_texts(words, {left, right});
        CHECK(index.search(left, 10).size() == 1);
        CHECK(first(index, left) == 0);
        CHECK(first(index, right) == 1);
        // Terms never exceed the limit, whatever was written.
        std::size_t longest = 0;
        words(std::string(1000, 'z') + "." + std::string(1000, 'z'),
              [&](const token& t) { longest = std::max(longest, t.term.size()); });
        CHECK(longest == longest_term);
    }
}

TEST_CASE("a run of n Chinese characters gives n - 1 pairs, and work that grows with n") {
    std::string run;
    for (int i = 0; i < 50000; ++i) {
        const char32_t c = 0x4E00 + static_cast<char32_t>(i % 20000);
        encode(c, run);
    }
    CHECK(content_of(unicode(), run).size() == 49999);
    const double ratio = growth(
        [&](std::size_t n) {
            std::size_t count = 0;
            unicode()(std::string_view(run).substr(0, 3 * n), [&](const token&) { ++count; });
            return count;
        },
        5000);
    CHECK(ratio <= 2.5);
}

// Case 35. A word typed on one system was not found in text from another.
TEST_CASE("composed and decomposed accents meet on both sides, and a mark never splits a word") {
    const std::vector<std::pair<std::string, std::string>> pairs = {{"forêt", "fore\u0302t"},
                                                                    {"Köln", "Ko\u0308ln"},
                                                                    {"mañana", "man\u0303ana"},
                                                                    {"Ørsted", "\u00D8rsted"},
                                                                    {"ＡＢＣ", "ABC"}};
    for (const analyzer& words : all_analyzers())
        for (const auto& [one, other] : pairs) {
            INFO(words.fingerprint() << ' ' << one);
            CHECK(terms_of(words, one).size() == 1);
            CHECK(terms_of(words, one) == terms_of(words, other));
            CHECK(first(index_of_texts(words, {"x " + one, "y"}), other) == 0);
            CHECK(first(index_of_texts(words, {"x " + other, "y"}), one) == 0);
        }
}

// Case 36. Index and question folded differently outside ASCII.
TEST_CASE("case outside ASCII folds by one documented rule on both sides") {
    for (const analyzer& words : all_analyzers()) {
        const bm25_index index = index_of_texts(words, {"in İstanbul", "in ΟΔΟΣ", "in STRASSE"});
        INFO(words.fingerprint());
        for (const std::string city : {"İstanbul", "istanbul", "ISTANBUL"}) CHECK(first(index, city) == 0);
        for (const std::string street : {"ΟΔΟΣ", "οδος", "οδοσ"}) CHECK(first(index, street) == 1);
        for (const std::string street : {"straße", "STRASSE", "Straße"}) CHECK(first(index, street) == 2);
    }
}

TEST_CASE("every byte alone is read without undefined behaviour and gives valid terms") {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        for (const analyzer& words : all_analyzers())
            for (const std::string& t : terms_of(words, text)) CHECK(is_utf8(t));
    }
}

// Case 37. Text was lost behind a bad byte, or an exception came from a layer nobody expected.
TEST_CASE("invalid UTF-8, NUL and cut sequences neither throw nor hide what stands around them") {
    for (const analyzer& words : all_analyzers()) {
        for (const std::string& text :
             {std::string("ab\xC3\x28"
                          "cd needle"),
              std::string("\xFF\xFE needle"), std::string("\xED\xA0\x80 needle"), std::string("needle \xF0\x9F\x98"),
              std::string("foo\0bar needle", 14), std::string("needle\xC0\xAF")}) {
            const bm25_index index = index_of_texts(words, {text, "hay"});
            INFO(words.fingerprint());
            CHECK(first(index, "needle") == 0);
            for (const std::string& t : terms_of(words, text)) CHECK(is_utf8(t));
        }
        CHECK(terms_of(words,
                       "ab\xC3\x28"
                       "cd") == terms_of(words, "ab (cd"));
    }
}

// Case 38. The first stop word carried the byte order mark, and words ended in \r.
TEST_CASE("a byte order mark and Windows line ends are part of no word") {
    for (const analyzer& words : all_analyzers()) {
        const terms expected = terms_of(words, "the dog\nof the house\nend");
        CHECK(terms_of(words, "\xEF\xBB\xBFthe dog\r\nof the house\r\nend") == expected);
        CHECK(terms_of(words, "\xEF\xBB\xBFthe dog\rof the house\rend\r") == expected);
        CHECK(tokens_of(words, "\xEF\xBB\xBFthe\r\n").front().stop == tokens_of(words, "the").front().stop);
    }
}

// Case 72. Recursive matching overflowed the stack at some ten kilobytes. Here on a thread with a stack of 256 KiB.
TEST_CASE("half a megabyte of one character needs no stack") {
    struct job {
        static void* run(void*) {
            for (const char c : {'a', ' ', '{', '.', '-', '\'', '\xCC', '\xE4', 'y'}) {
                const std::string text((c == 'a' || c == ' ' || c == '{' ? 512 : 64) * 1024, c);
                std::size_t count = 0;
                for (const analyzer& words : {english(), code()}) words(text, [&](const token&) { ++count; });
                count += normalized(text, normal_form::nfkc).size();
                if (count == 0) return nullptr;
            }
            static int done;
            return &done;
        }
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &attributes, job::run, nullptr) == 0);
    void* result = nullptr;
    pthread_join(thread, &result);
    pthread_attr_destroy(&attributes);
    CHECK(result != nullptr);
}
