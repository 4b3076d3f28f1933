#include "quarry/grow/code_chunks.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

const std::string header = R"(#include <vector>

namespace shop {

/// Adds two prices.
int add(int a, int b) {
    return a + b;
}

// A basket of goods.
class basket {
   public:
    void put(int price) { total_ += price; }
    int total() const {
        return total_;
    }

   private:
    int total_ = 0;
};

}  // namespace shop
)";

const std::string script = R"(import os

# Reads a file.
def read(path):
    with open(path) as f:
        return f.read()

class Shop:
    """Sells things."""

    def sell(self, thing):
        return thing
)";

std::vector<std::string> texts(const std::string& code, code_layout layout, std::size_t most = 400) {
    std::vector<std::string> out;
    for (const code_piece& p : cut_code(code, layout, {.most_tokens = most}))
        out.push_back("[" + p.path + "] " + code.substr(p.span.begin, p.span.size()));
    return out;
}

std::string letters(std::string_view text) {
    std::string out;
    for (const char c : text)
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) out += c;
    return out;
}

}  // namespace

TEST_CASE("code chunks: a function is one with the comment above it, a short type is one") {
    const auto pieces = texts(header, code_layout::braces);
    REQUIRE(pieces.size() == 5);
    CHECK(pieces[0] == "[] #include <vector>");
    CHECK(pieces[1] == "[shop] namespace shop {");
    CHECK(pieces[2] == "[shop > add] /// Adds two prices.\nint add(int a, int b) {\n    return a + b;\n}");
    CHECK(pieces[3].starts_with("[shop > basket] // A basket of goods.\nclass basket {"));
    CHECK(pieces[3].ends_with("int total_ = 0;\n};") + pieces[3].ends_with("int total_ = 0;\n}") == 1);
    const auto python = texts(script, code_layout::indents);
    REQUIRE(python.size() == 3);
    CHECK(python[1].starts_with("[read] # Reads a file.\ndef read(path):"));
    CHECK(python[2].starts_with("[Shop] class Shop:"));
}

TEST_CASE("code chunks: a type that is too long gives way to its members") {
    const auto pieces = texts(header, code_layout::braces, 20);
    std::vector<std::string> paths;
    for (const std::string& p : pieces) paths.push_back(p.substr(1, p.find(']') - 1));
    CHECK(std::ranges::count(paths, "shop > basket > put") == 1);
    CHECK(std::ranges::count(paths, "shop > basket > total") == 1);
    CHECK(std::ranges::count(paths, "shop > basket") >= 1);  // its head, and its members that are no functions
}

TEST_CASE("code chunks: whatever the limit, no letter is lost, nothing comes twice, and only single lines exceed it") {
    std::ifstream own(QUARRY_SOURCE_DIR "/include/quarry/core/corpus.hpp");
    const std::string corpus_header{std::istreambuf_iterator<char>(own), {}};
    REQUIRE(corpus_header.size() > 1000);
    for (const std::string& code : {header, corpus_header})
        for (const std::size_t most : {1u, 10u, 50u, 400u, 100000u}) {
            std::string all;
            std::size_t at = 0;
            for (const code_piece& p : cut_code(code, code_layout::braces, {.most_tokens = most})) {
                CHECK(p.span.begin >= at);
                at = p.span.end;
                const std::string_view text = std::string_view(code).substr(p.span.begin, p.span.size());
                all += text;
                CHECK((approximate_tokens{}(text) <= most || text.find('\n') == std::string_view::npos));
            }
            CHECK(letters(all) == letters(code));
        }
}

TEST_CASE("code chunks: of a corpus only what is code grows, and twice is refused") {
    corpus c;
    const unit_id code = c.add({.id = "shop.hpp", .text = header}), prose = c.add({.id = "readme", .text = "A shop."});
    CHECK(code_chunks{}.grow(c) == 5);
    CHECK(c.title(unit_at(4)) == "shop > add");
    CHECK(code_chunks{}.grow(c, prose).empty());
    const std::size_t size = c.size();
    CHECK(code_of([&] { code_chunks{}.grow(c, code); }) == "corpus.duplicate_id");
    CHECK(c.size() == size);
    CHECK(cut_code("", code_layout::braces).empty());
    CHECK(cut_code("} } ;;", code_layout::braces).empty());
}
