#include "quarry/text/code_outline.hpp"

#include <random>

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

using list = std::vector<std::string>;

// "  f name" a line: two blanks a level, s t f v for the kind.
list outline(std::string_view text, code_layout layout = code_layout::braces) {
    list out;
    for (const code_name& n : code_outline(text, layout))
        out.push_back(std::string(2 * n.depth, ' ') + "stfv"[static_cast<std::size_t>(n.kind)] + ' ' + n.name);
    return out;
}

list python(std::string_view text) { return outline(text, code_layout::indents); }

// The text of the scope of `name`.
std::string scope_of(std::string_view text, std::string_view name, code_layout layout = code_layout::braces) {
    for (const code_name& n : code_outline(text, layout))
        if (n.name == name) return std::string(text.substr(n.scope.begin, n.scope.size()));
    return "(no such name)";
}

}  // namespace

TEST_CASE("C++: namespaces, types, functions, operators, constants, macros") {
    CHECK(outline(R"(
#pragma once
#define LIMIT 3
#define SQUARE(x) \
    ((x) * (x))
namespace a::b {
/* class Comment { */
template <class T, typename U = std::vector<T>>
class alignas(16) EXPORT Box final : public Base<T>, private Other {
   public:
    explicit Box(int n) : n_{n}, s_("}") {}
    ~Box() = default;
    Box& operator=(const Box& other) = delete;
    bool operator==(const Box&) const { return true; }
    static constexpr int size = 3;
    virtual void draw(const char* name = "x;") const = 0;
    enum class Color : int { red, green };
    int n_;
};
template <> struct hash<Box<int>> { };
struct point { int x, y; };
using ints = std::vector<int>;
int table[] = {1, 2, {3}};
struct stat get(const char* path) { if (path) { while (x) { f(x); } } return {}; }
extern "C" {
int plain_c(void);
}
}
std::size_t a::b::Box::length() const noexcept { auto f = [](int x) { return x; }; return f(1); }
TEST_CASE("it works") { CHECK(1); }
TEST(Cats, purr) { }
)") == list{"v LIMIT", "v SQUARE", "s a::b", "  t Box", "    f Box", "    f ~Box",
            "    f operator=", "    f operator==", "    v size", "    f draw", "    t Color", "  t hash", "  t point",
            "  t ints", "  f get", "  f plain_c", "f a::b::Box::length", "  f f", "f Cats purr"});
}

TEST_CASE("Java: annotations, generics, inner and anonymous classes") {
    CHECK(outline(R"(
package com.example;
import java.util.List;
/** A class {@link Foo}. */
@JsonIgnoreProperties(ignoreUnknown = true)
public class Foo<T extends Bar> extends Base implements A, B {
    private static final String NAME = "a{b";
    @Override @Test(expected = Exception.class)
    public <R> List<R> map(Function<T, R> f) throws IOException {
        executor.submit(new Runnable() { public void run() { go(); } });
        for (int i = 0; i < 3; i++) { }
        return null;
    }
    interface Inner { int size(); }
    enum Kind { A { int f() { return 1; } }, B }
    record Point(int x, int y) { }
    static { init(); }
}
)") == list{"t Foo", "  v NAME", "  f map", "    f run", "  t Inner", "    f size", "  t Kind", "    f f",
            "  t Point"});
}

TEST_CASE("Rust: impl blocks under their type, lifetimes, attributes, raw strings") {
    CHECK(outline(R"rust(
use std::{fmt, io};
#[derive(Debug, Clone)]
pub struct Scheduler<'a, S> { mapping: HashMap<usize, &'a S> }
impl<'a, S> Scheduler<'a, S> {
    pub fn new(c: char) -> Self { if c == '{' || c == '\'' { } Self { mapping: HashMap::default() } }
    const LIMIT: usize = 3;
}
impl<S> fmt::Display for Scheduler<'_, S> where S: Clone { fn fmt(&self) -> fmt::Result { write!(f, r#"}"#) } }
pub trait Next { fn next(&mut self) -> Option<u8>; }
pub(crate) mod inner { pub unsafe fn raw() { } }
static mut COUNT: u32 = 0;
)rust") == list{"t Scheduler", "t Scheduler", "  f new", "  v LIMIT", "t Scheduler", "  f fmt", "t Next", "  f next",
                "s inner", "  f raw", "v COUNT"});
}

TEST_CASE("Go, JavaScript and Kotlin: functions by keyword, receivers, arrows") {
    CHECK(outline("package main\nfunc (s *Server) Start(port int) error {\n\tif x := f(); x != nil {\n\t}\n\treturn "
                  "nil\n}\ntype Server struct { n int }\nfunc main() {}\n") == list{"f Start", "t Server", "f main"});
    CHECK(outline("class Foo extends Bar {\n  run(a, b) { return `}`; }\n}\nfunction* gen() {}\nconst add = (a, b) => "
                  "{ return a + b; };\nexport const k = 'it}'\nlet n = 3\nclass Q {}\nx.f = function () {};\n") ==
          list{"t Foo", "  f run", "f gen", "f add", "v k", "v n", "t Q", "f f"});
    CHECK(outline("data class Point(val x: Int) : Base() {\n  fun <T> norm(): Double { return 0.0 }\n}\n") ==
          list{"t Point", "  f norm"});
}

TEST_CASE("Python: classes and functions by indent, strings and brackets over lines") {
    const std::string_view text = R"(
"""Module.
def not_this(): pass
"""
import os
LIMIT = 3
if x == y: pass
class Cat(Animal):
    """A cat."""

    def purr(self,
             loud=True):
        s = '''
def nor_this():
'''
        def inner():
            return {
  'def': 1}
        return s
    # def commented(): pass
    @property
    async def name(self): return "def x(): pass"

def main():
	pass
)";
    CHECK(python(text) == list{"v LIMIT", "t Cat", "  f purr", "    f inner", "  f name", "f main"});
    CHECK(scope_of(text, "inner", code_layout::indents) == "        def inner():\n            return {\n  'def': 1}\n");
    CHECK(scope_of(text, "name", code_layout::indents).ends_with("def x(): pass\"\n"));
}

TEST_CASE("a scope reaches from its declaration to the end of its body") {
    const std::string_view text = "int f(int x) {\n  return x;\n}\nstruct s { int g(); };\n";
    CHECK(scope_of(text, "f") == "int f(int x) {\n  return x;\n}");
    CHECK(scope_of(text, "s") == "struct s { int g(); }");
    CHECK(scope_of(text, "g") == "int g();");
}

TEST_CASE("the scopes around a part come outermost first") {
    const std::string_view text =
        "namespace n {\nclass c {\n  void f() {\n    one();\n    two();\n  }\n  void g() {}\n};\n}\n";
    const auto all = code_outline(text, code_layout::braces);
    const auto names = [&](std::string_view part) {
        const std::size_t at = text.find(part);
        list out;
        for (const code_name* n : scopes_around(all, {at, at + part.size()})) out.push_back(n->name);
        return out;
    };
    CHECK(names("two();") == list{"n", "c", "f"});
    CHECK(names("void f() {\n    one();") == list{"n", "c", "f"});
    CHECK(names("two();\n  }\n  void g() {}") == list{"n", "c"});
    CHECK(names("namespace n {\nclass c {") == list{"n"});
    CHECK(scopes_around({}, {0, 1}).empty());
}

TEST_CASE("of alternatives for the preprocessor the first is read, so that braces match") {
    CHECK(outline("#ifdef A\nvoid f(int x) {\n#else\nvoid g(int x) {\n#if B\n}\n#endif\n#endif\n}\nvoid h() {}\n") ==
          list{"f f", "f h"});
    CHECK(outline("#if 0\n#elif 1\nvoid g() {}\n#endif\nvoid h() {}\n") == list{"f h"});
}

TEST_CASE("files are known by their endings") {
    CHECK(code_layout_of("src/a.rs") == code_layout::braces);
    CHECK(code_layout_of("a.b.py") == code_layout::indents);
    CHECK_FALSE(code_layout_of("README.md"));
    CHECK_FALSE(code_layout_of("Makefile"));
    CHECK_FALSE(code_layout_of(""));
    CHECK_FALSE(code_layout_of("py"));
}

TEST_CASE("whatever the bytes are, names and scopes lie within the text and scopes nest") {
    std::mt19937 random(5);
    const list pieces{"class ", "A",   " {",   "}",       "(",       ")",        ";",          "\"", "'",    "/*",
                      "*/",     "//",  "\n",   "#else\n", "#if x\n", "#define ", "def f():\n", "  ", "<",    ">",
                      "=",      "::",  "fn ",  "impl ",   "R\"(",    "r#\"",     "`",          "\\", "\xFF", "operator",
                      "~",      "@X(", "for ", "f",       "\"\"\"",  ",",        "[",          "]",  "#"};
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (int i = 0; i < 40; ++i) text += pieces[random() % pieces.size()];
        for (const code_layout layout : {code_layout::braces, code_layout::indents}) {
            std::size_t last = 0;
            for (const code_name& n : code_outline(text, layout)) {
                REQUIRE(n.scope.begin <= n.scope.end);
                REQUIRE(n.scope.end <= text.size());
                REQUIRE(n.scope.begin >= last);
                REQUIRE_FALSE(n.name.empty());
                last = n.scope.begin;
            }
        }
    }
}

TEST_CASE("time grows with the text and not with its square") {
    for (const std::string unit :
         {"f(",  "{",       "}",       "class A {", "\"",         "'", "a ",    "a::",
          "<",   "#if x\n", "#else\n", "/*",        "def f():\n", " ", "x = (", "int f() { }\n",
          "@A(", "\\\n",    "R\"(",    "{1,2},",    "f({",        "`"}) {
        INFO(unit);
        const auto read = [&](std::size_t n) {
            std::string text;
            while (text.size() < n) text += unit;
            code_outline(text, code_layout::braces);
            code_outline(text, code_layout::indents);
        };
        CHECK(growth(read, 8000) < 2.6);
    }
}
