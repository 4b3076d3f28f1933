#include "quarry/expand/structure.hpp"

#include <string>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

// An article with two headings and their text, a section for the second, and a chunk in each.
struct handbook {
    corpus c;
    unit_id article, first, section, second;

    handbook() {
        const std::string text = "# Travel\nBook early.\n## Meals\nKeep receipts.\n";
        article = c.add({.id = "a",
                         .title = "Handbook",
                         .text = text,
                         .headings = {{"Travel", 1, {0, 9}}, {"Meals", 2, {21, 30}}}});
        first = c.add_part(article, {.span = {9, 21}});
        section = c.add_part(article, {.kind = unit_kind::section, .span = {21, 45}, .title = "Meals"});
        second = c.add_part(section, {.span = {30, 45}});
    }
};

corpus source_file(const std::string& title, const std::string& text) {
    corpus c;
    c.add({.id = "f", .title = title, .text = text});
    return c;
}

const std::string code =
    "namespace n {\nclass cat {\n  void purr() {\n    one();\n  }\n  void sleep() {}\n};\n}\nvoid purr(int);\n";

unit_id part_of(corpus& c, std::string_view words) {
    const std::size_t at = c.text(unit_id{0}).find(words);
    return c.add_part(unit_id{0}, {.span = {at, at + words.size()}});
}

}  // namespace

TEST_CASE("the path is the title, the sections around a part and the headings it stands under, each once") {
    const handbook h;
    CHECK(structure{}(h.c, h.first) == "Handbook > Travel");
    CHECK(structure{}(h.c, h.second) == "Handbook > Meals > Travel");
    CHECK(structure{}(h.c, h.section) == "Handbook > Meals > Travel");
    CHECK(structure{}(h.c, h.article) == "Handbook");
    CHECK(structure{.headings = false}(h.c, h.second) == "Handbook");
    CHECK(structure{.title = false}(h.c, h.first) == "Travel");
    CHECK(structure{.title = false, .headings = false}(h.c, h.first).empty());
}

TEST_CASE("a heading closes those of its level and below") {
    corpus c;
    c.add({.id = "a",
           .title = "T",
           .text = std::string(50, 'x'),
           .headings = {{"One", 1, {0, 5}},
                        {"Deep", 3, {5, 10}},
                        {"Two", 1, {20, 25}},
                        {"Next", 2, {30, 35}},
                        {"Last", 2, {40, 45}}}});
    const auto path = [&](std::size_t at) { return structure{}(c, c.add_part(unit_id{0}, {.span = {at, at + 1}})); };
    CHECK(path(12) == "T > One > Deep");
    CHECK(path(26) == "T > Two");
    CHECK(path(36) == "T > Two > Next");
    CHECK(path(46) == "T > Two > Last");
    CHECK(path(3) == "T > One");
}

TEST_CASE("a part of a source file has its path, the scopes around it and the names of the file") {
    corpus c = source_file("src/cat.cpp", code);
    const unit_id part = part_of(c, "one();");
    CHECK(structure{}(c, part) == "src/cat.cpp\nn > cat > purr\nn cat purr sleep");
    CHECK(structure{.names = context_names::scope}(c, part) == "src/cat.cpp\nn > cat > purr");
    CHECK(structure{.names = context_names::none}(c, part) == "src/cat.cpp");
    CHECK(structure{.title = false}(c, part) == "n > cat > purr\nn cat purr sleep");
}

TEST_CASE("of too many names those nearest to the part stay, in the order of the file") {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "void f" + std::to_string(i) + "() {}\n";
    corpus c = source_file("a.c", text);
    const structure three{.most_names = 3};
    CHECK(three(c, part_of(c, "f0")) == "a.c\nf0\nf0 f1 f2");
    CHECK(three(c, part_of(c, "f10() {}")) == "a.c\nf10\nf9 f10 f11");
    CHECK(three(c, part_of(c, "f19() {}")) == "a.c\nf19\nf17 f18 f19");
    CHECK(structure{.most_names = 0}(c, unit_id{0}) == "a.c");
}

TEST_CASE("a file is known as code by its title, or else by its id, and prose has no names") {
    corpus c;
    c.add({.id = "x/y.py", .title = "A module", .text = "def f():\n  pass\n"});
    c.add({.id = "z", .title = "A page", .text = "def f():\n  pass\n"});
    CHECK(structure{}(c, unit_id{0}) == "A module\nf\nf");
    CHECK(structure{}(c, unit_id{1}) == "A page");
}

TEST_CASE("neighbours are the words around a part, cut at blanks") {
    corpus c = source_file("page", "alpha beta gamma delta epsilon zeta");
    const unit_id part = part_of(c, "gamma");
    // Seven bytes before: "a beta ", of which "a" is half a word; seven after: " delta ".
    CHECK(structure{.title = false, .neighbours = 7}(c, part) == "beta\ndelta");
    CHECK(structure{.title = false, .neighbours = 100}(c, part) == "alpha beta\ndelta epsilon zeta");
    CHECK(structure{.title = false, .neighbours = 7}(c, unit_id{0}).empty());
}

TEST_CASE("the application may add a line of its own") {
    const handbook h;
    const structure with{.also = [](const unit_ref& u) { return "id " + std::string(u.article().id()); }};
    CHECK(with(h.c, h.first) == "Handbook > Travel\nid a");
}

TEST_CASE("asking for many units of an article gives what asking one by one gives") {
    corpus c = source_file("src/cat.cpp", code);
    const std::vector<unit_id> parts{part_of(c, "one();"), part_of(c, "void sleep() {}"),
                                     part_of(c, "void purr(int);")};
    const structure s{.neighbours = 10};
    const structure::of_article all(s, c, unit_id{0});
    for (const unit_id part : parts) CHECK(all(part) == s(c, part));
}
