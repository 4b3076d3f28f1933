#include "quarry/text/code_analyzer.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/growth.hpp"
#include "support/terms.hpp"

using namespace quarry;

namespace {

const analyzer bare = code({.stop_words = false, .stemming = false});

}  // namespace

TEST_CASE("an identifier is itself and its parts") {
    CHECK(terms_of(bare, "fooBar") == terms{"foobar", "foo", "bar"});
    CHECK(terms_of(bare, "foo_bar") == terms{"foo_bar", "foo", "bar"});
    CHECK(terms_of(bare, "HTTPServer") == terms{"httpserver", "http", "server"});
    CHECK(terms_of(bare, "__main__") == terms{"__main__", "main"});
    CHECK(terms_of(bare, "word Word WORD") == terms{"word", "word", "word"});
    CHECK(terms_of(bare, "URLs userIDs") == terms{"urls", "userids", "user", "ids"});
    CHECK(terms_of(bare, "MÜNCHENStraße") == terms{"münchenstrasse", "münchen", "strasse"});
}

TEST_CASE("letters and digits come apart, unless that is switched off") {
    CHECK(terms_of(bare, "getHTTPResponse_v2") == terms{"gethttpresponse_v2", "get", "http", "response", "v", "2"});
    CHECK(terms_of(bare, "sha256 x86_64") == terms{"sha256", "sha", "256", "x86_64", "x", "86", "64"});
    const analyzer kept = code({.stop_words = false, .stemming = false, .digits_apart = false});
    CHECK(terms_of(kept, "getHTTPResponse_v2") == terms{"gethttpresponse_v2", "get", "http", "response", "v2"});
    CHECK(terms_of(kept, "sha256") == terms{"sha256"});
}

TEST_CASE("tickets, versions and dates are whole and in parts") {
    CHECK(terms_of(bare, "TS-999") == terms{"ts-999", "ts", "999"});
    CHECK(terms_of(bare, "v1.2.3") == terms{"v1.2.3", "v1", "v", "1", "2", "3"});
    CHECK(terms_of(bare, "2024-09-19") == terms{"2024-09-19", "2024", "09", "19"});
    CHECK(terms_of(bare, "node.js") == terms{"node.js", "node", "js"});
}

TEST_CASE("paths and qualified names are whole, by their sides, and by their names") {
    CHECK(terms_of(bare, "src/io/file.cpp") == terms{"src/io/file.cpp", "src", "io", "file.cpp", "file", "cpp"});
    CHECK(terms_of(bare, "std::vector<int>") == terms{"std::vector", "std", "vector", "int"});
    CHECK(terms_of(bare, "self.load_tokens") == terms{"self.load_tokens", "self", "load_tokens", "load", "tokens"});
    CHECK(terms_of(bare, "/usr/bin ../x a//b a:b") == terms{"usr/bin", "usr", "bin", "x", "a", "b", "a", "b"});
}

TEST_CASE("symbols that are names stay, and operators do not make names of what they stand on") {
    CHECK(terms_of(bare, "C++ C# F# .NET") == terms{"c++", "c#", "f#", ".net", "net"});
    CHECK(terms_of(bare, "C++17, C/C++") == terms{"c++", "17", "c/c++", "c", "c++"});
    CHECK(terms_of(bare, "libstdc++ counter++;") == terms{"libstdc++", "libstdc", "counter++", "counter"});
    CHECK(terms_of(bare, "a+b a#b x+++y tag#1") == terms{"a", "b", "a", "b", "x", "y", "tag", "1"});
    CHECK(terms_of(bare, "end. --flag x- .5") == terms{"end", "flag", "x", "5"});
}

TEST_CASE("prose reads as english reads it") {
    const std::string text = "The dogs' policies don't apply: it's one man\u2019s willing guess, we're told";
    CHECK(terms_of(code(), text) == terms_of(english(), text));
    CHECK(terms_of(bare, "f'abc' 'quoted' l'homme") == terms{"f", "abc", "quoted", "l", "homme"});
}

TEST_CASE("parts stand at the position of their whole, stop words among them marked") {
    const auto found = tokens_of(code(), "see state-of-mind now");
    const std::vector<held_token> expected = {{"see", 0, 3, 0, false},    {"state-of-mind", 4, 17, 1, false},
                                              {"state", 4, 9, 1, false},  {"of", 10, 12, 1, true},
                                              {"mind", 13, 17, 1, false}, {"now", 18, 21, 2, false}};
    CHECK(found == expected);
}

TEST_CASE("names are stemmed as words are, so that the plural finds the singular") {
    CHECK(terms_of(code(), "load_tokens").front() == terms_of(code(), "load_token").front());
    CHECK(terms_of(code(), "policies") == terms{"polici"});
    CHECK(terms_of(code(), "TS-999") == terms{"ts-999", "ts", "999"});
}

TEST_CASE("scripts without spaces are read in pairs inside code too") {
    CHECK(content_of(code(), "HTTP接口说明") == terms{"http", "接口", "口说", "说明"});
    CHECK(content_of(code(), "foo_接口.cpp") == terms{"foo_", "foo", "接口", "cpp"});
    CHECK(content_of(code(), "getAPI를") == terms{"getapi", "get", "api", "를"});
    CHECK(content_of(code(), "👍 ok") == terms{"👍", "ok"});
}

TEST_CASE("a chain longer than the longest term is its parts, and a name longer than that is cut") {
    std::string chain = "a0";
    while (chain.size() <= longest_term) chain += ".b1";
    for (const std::string& t : terms_of(bare, chain)) CHECK(t.size() <= 2);
    const std::string name(300, 'x');
    CHECK(terms_of(bare, name) == terms{name.substr(0, longest_term), name.substr(longest_term)});
}

TEST_CASE("every option of the code analyzer is in its fingerprint") {
    const std::vector<std::string> prints = {code().fingerprint(),
                                             code({.stop_words = false}).fingerprint(),
                                             code({.stemming = false}).fingerprint(),
                                             code({.digits_apart = false}).fingerprint(),
                                             code({.scripts = {.pairs = false}}).fingerprint(),
                                             english().fingerprint()};
    for (std::size_t i = 0; i < prints.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(prints[i] != prints[j]);
}

TEST_CASE("tokens of two code texts joined by a space are the tokens of each") {
    const std::vector<std::string> texts = {
        "a.b",    ".net", "C++",   "C#",  "x", "-", "don't", "'",      "::", "TS-99",  "_",        "+",   "a'b",
        "検索を", "\xFF", "foo++", "1.2", "👍", "/", "URLs",  "\u0301", "",   "HTTP를", "\u05D0\"", "fooB"};
    for (const std::string& left : texts)
        for (const std::string& right : texts) {
            terms expected = terms_of(code(), left);
            for (const std::string& t : terms_of(code(), right)) expected.push_back(t);
            INFO(left << " and " << right);
            CHECK(terms_of(code(), left + ' ' + right) == expected);
        }
}

TEST_CASE("time grows with the code and not faster") {
    for (const std::string piece : {"a", "aB", "a.", "a/b::", "_", "+", ".a", "'s", "1a", "C#", "\u0301", "a-"}) {
        INFO(piece);
        const double ratio = growth(
            [&](std::size_t n) {
                std::string text;
                for (std::size_t i = 0; i < n; ++i) text += piece;
                std::size_t count = 0;
                code()(text, [&](const token&) { ++count; });
                return count;
            },
            1000);
        CHECK(ratio <= 2.5);
    }
}

TEST_CASE("positions never go back, though a part was too long for one term") {
    const std::string text = std::string(300, 'a') + "/b/" + std::string(600, 'c') + "/d e";
    std::uint32_t last = 0;
    bare(text, [&](const token& t) {
        CHECK(t.position >= last);
        CHECK(t.position <= last + 1);
        last = t.position;
    });
    CHECK(last == 1);
}
