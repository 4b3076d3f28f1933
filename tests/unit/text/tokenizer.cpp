#include "quarry/text/tokenizer.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

using words = std::vector<std::string>;

words words_of(std::string_view text) {
    words out;
    for_each_word(text, [&](std::size_t begin, std::size_t end) { out.emplace_back(text.substr(begin, end - begin)); });
    return out;
}

}  // namespace

// What UAX 29 gives for these, by the default word boundaries of another implementation (Python's regex module).
TEST_CASE("words are split as UAX 29 splits them") {
    CHECK(words_of("error code TS-999") == words{"error", "code", "TS", "999"});
    CHECK(words_of("The 2 QUICK Brown-Foxes jumped over the lazy dog's bone.") ==
          words{"The", "2", "QUICK", "Brown", "Foxes", "jumped", "over", "the", "lazy", "dog's", "bone"});
    CHECK(words_of("foo_bar __init__ fooBar HTTPServer2") == words{"foo_bar", "__init__", "fooBar", "HTTPServer2"});
    CHECK(words_of("3.14 v1.2.3 1,000,000") == words{"3.14", "v1.2.3", "1,000,000"});
    CHECK(words_of("example.com user@example.com http://a.b/c?x=1") ==
          words{"example.com", "user", "example.com", "http", "a.b", "c", "x", "1"});
    CHECK(words_of("can't O'Neil's don\u2019t") == words{"can't", "O'Neil's", "don\u2019t"});
    CHECK(words_of("C++ C# .NET node.js") == words{"C", "C", "NET", "node.js"});
    CHECK(words_of("e.g. U.S.A.") == words{"e.g", "U.S.A"});
    CHECK(words_of("AT&T R&D 50% $3.50") == words{"AT", "T", "R", "D", "50", "3.50"});
    CHECK(words_of("x86_64 utf-8 sha256") == words{"x86_64", "utf", "8", "sha256"});
    CHECK(words_of("12:30:45 2024-09-19T10:00:00Z") == words{"12", "30", "45", "2024", "09", "19T10", "00", "00Z"});
    CHECK(words_of("std::vector<int>& my_func(a,b)") == words{"std", "vector", "int", "my_func", "a", "b"});
    CHECK(words_of("我是中国人") == words{"我", "是", "中", "国", "人"});
    CHECK(words_of("カタカナ ひらがな") == words{"カタカナ", "ひ", "ら", "が", "な"});
    CHECK(words_of("한국어 테스트") == words{"한국어", "테스트"});
}

TEST_CASE("a text without letters and digits has no words, and joints at its edges belong to none") {
    CHECK(words_of("").empty());
    CHECK(words_of(" \t\r\n\v\f").empty());
    CHECK(words_of("... --- ?!? $ % ''' ___ :;,").empty());
    CHECK(words_of("'quoted' .dot. ,comma, a.") == words{"quoted", "dot", "comma", "a"});
    CHECK(words_of("a..b 1..2 1.,2 a''b") == words{"a", "b", "1", "2", "1", "2", "a", "b"});
}

TEST_CASE("a combining mark never splits a word") {
    CHECK(words_of("fore\u0302t Ko\u0308ln man\u0303ana") == words{"fore\u0302t", "Ko\u0308ln", "man\u0303ana"});
    CHECK(words_of("हिन्दी สวัสดี").front() == "हिन्दी");
}

TEST_CASE("spans are bytes of the text, ascending, and never overlap") {
    const std::string text = "Zürich 12.5 我是 don't \xFF broken\xC3 end";
    std::size_t last = 0;
    for_each_word(text, [&](std::size_t begin, std::size_t end) {
        CHECK(begin >= last);
        CHECK(end > begin);
        CHECK(end <= text.size());
        last = end;
    });
    CHECK(words_of(text) == words{"Zürich", "12.5", "我", "是", "don't", "broken", "end"});
}
