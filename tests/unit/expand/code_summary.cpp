#include "quarry/expand/code_summary.hpp"

#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

const std::string add_code =
    "/// Sums two prices.\nint addPrices(int first,\n              int second) {\n    return first + second;\n}";
const std::string read_code =
    "def read_file(path, mode='r'):\n    \"\"\"Gives the contents.\"\"\"\n    return open(path).read()";

corpus two_files() {
    corpus c;
    const unit_id a = c.add({.id = "a.cpp", .title = "src/a.cpp", .text = add_code});
    const unit_id b = c.add({.id = "b.py", .title = "src/b.py", .text = read_code});
    c.add_part(a, {.span = {0, add_code.size()}});
    c.add_part(b, {.span = {0, read_code.size()}});
    return c;
}
const unit_id add_unit{2}, read_unit{3};

template <class X>
std::vector<key> described(const X& expander, const corpus& c, unit_id unit) {
    std::vector<key> out;
    expander(c, unit, [&](key k) { out.push_back(std::move(k)); });
    return out;
}

scripted_generator describing() {
    return scripted_generator([](const prompt& p) {
        return completion(p.text().find("addPrices") != std::string::npos ? "Works out what goods cost together."
                                                                          : "Loads a document from disk.");
    });
}

}  // namespace

TEST_CASE("code summary: vectors see description and signature, BM25 the code and the description, readers the code") {
    const corpus c = two_files();
    const toy::letter_embedder embed;
    const auto kb = build(c, code_summary(describing()), embed, {.words = code()});
    const auto keys = described(code_summary(describing()), c, add_unit);
    REQUIRE(keys.size() == 1);
    CHECK(keys[0].text == "Works out what goods cost together.\nint addPrices(int first, int second)");
    REQUIRE(keys[0].lexical.size() == 2);
    CHECK(keys[0].lexical[0].text == add_code);
    CHECK(keys[0].lexical[1].text == "Works out what goods cost together.");
    for (const char* asked : {"cost of goods", "add prices", "addPrices"}) {
        const auto found = lexical(kb.bm25).retrieve(asked, 1);
        REQUIRE(found.size() == 1);
        CHECK(found.unit(found.hits[0]).text() == add_code);
    }
    CHECK(kb.report.expansion.calls == 2);
    CHECK(described(code_summary(describing(), {.described_words = 0.0f}), c, add_unit)[0].lexical.size() == 1);
}

TEST_CASE("code summary: a unit without a description is found by its code, and is counted") {
    const corpus c = two_files();
    for (const char* reply : {"", "I'm sorry, I can't help with that."}) {
        const scripted_generator g([reply](const prompt&) { return completion(reply); });
        const auto kb = build(c, code_summary(g), {.words = code()});
        CHECK(kb.report.expansion.unusable == 2);
        CHECK(kb.report.units_without_key.empty());
        CHECK(lexical(kb.bm25).retrieve("addPrices", 2).size() == 1);
    }
    const auto g = describing();
    g.fail_at(1, "timeout");
    const auto kb = build(c, code_summary(g), {.words = code()});
    CHECK(kb.report.expansion.failed == 1);
    CHECK(kb.report.keys == 2);
    // Code that is only repeated is no description.
    const scripted_generator parrot([](const prompt&) { return completion(add_code); });
    CHECK(described(code_summary(parrot), c, add_unit)[0].part == key_part::whole);
}

TEST_CASE("code summary: the prompt has the file and the code, and the words that all share stand first") {
    const corpus c = two_files();
    const auto g = describing();
    build(c, code_summary(g, {.background = "A shop."}));
    const auto asked = g.asked();
    REQUIRE(asked.size() == 2);
    CHECK(share_prefix(asked[0], asked[1]));
    CHECK(asked[0].system().find("A shop.") != std::string_view::npos);
    CHECK(asked[0].text().find("src/a.cpp") != std::string::npos);
    CHECK(code_summary(g).plan(c).calls == 2);
}

TEST_CASE("code summary: without a model the comment and the names describe") {
    CHECK(own_description(add_code, code_layout::braces) == "Sums two prices.\nadd prices");
    CHECK(own_description(read_code, code_layout::indents) == "Gives the contents.\nread file");
    CHECK(own_description("x = 1", code_layout::braces).find('=') == std::string::npos);
    const corpus c = two_files();
    const auto keys = described(code_summary(), c, read_unit);
    REQUIRE(keys.size() == 1);
    CHECK(keys[0].text == "Gives the contents.\nread file\ndef read_file(path, mode='r')");
    std::string words;
    detail::append_words(words, "parseHTTPHeader_line2");
    CHECK(words == "parse http header line2");
}

TEST_CASE("code summary: signatures end before the body, and prose has none") {
    CHECK(code_signature("template <class T>\nclass box : base<T> {\n int x; };", code_layout::braces)
              .find("class box") != std::string::npos);
    CHECK(code_signature("class Shop(Base):\n    pass", code_layout::indents) == "class Shop(Base)");
    CHECK(code_signature("Just words here.", code_layout::braces).empty());
    CHECK(code_of([] { code_summary(unit_kind::chunk, -1.0f); }) == "code_summary.options");
}
