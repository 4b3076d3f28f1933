#include "quarry/probe/filter_expression.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry::detail;

namespace {

std::string text_of(const json_value& v) {
    switch (v.type) {
        case json_type::null: return "null";
        case json_type::boolean: return v.boolean ? "true" : "false";
        case json_type::integer: return concat(v.integer);
        case json_type::number: return concat(v.number);
        case json_type::text: return "'" + v.text + "'";
        default: {
            std::string out;
            for (const json_value& item : v.items) out += (out.empty() ? "[" : ", ") + text_of(item);
            return out.empty() ? "[]" : out + "]";
        }
    }
}

std::string text_of(const written_filter& f) {
    std::string out(name_of(f.op));
    out += '(';
    if (is_condition(f.op)) {
        out += f.field;
        if (f.op != quarry::filter_op::exists) out += ", " + text_of(f.value);
    }
    for (std::size_t i = 0; i < f.children.size(); ++i) out += (i > 0 ? ", " : "") + text_of(f.children[i]);
    return out + ')';
}

std::string shown(const filter_parse& p) {
    if (!p.fault.empty()) return "fault";
    return p.filter ? text_of(*p.filter) : "none";
}

// What a JSON text means, and what an expression in words means.
std::string tree(const std::string& json) {
    return shown(parse_filter(*scan_json(concat("{\"f\":", json, '}')).value->find("f")));
}
std::string words(std::string_view text) { return shown(parse_filter(text)); }

std::string repeated(std::string_view part, std::size_t times) {
    std::string out;
    while (times-- > 0) out += part;
    return out;
}

}  // namespace

TEST_CASE("a tree, a flat object, calls and infix say the same thing") {
    const std::string wanted = "and(eq(section, 'remote_work'), ge(year, 2024))";
    CHECK(tree(R"({"op":"and","args":[{"op":"eq","field":"section","value":"remote_work"},)"
               R"({"op":"gte","field":"year","value":2024}]})") == wanted);
    CHECK(tree(R"({"operator":"and","arguments":[{"comparator":"eq","attribute":"section","value":"remote_work"},)"
               R"({"operator":">=","key":"year","value":2024}]})") == wanted);
    CHECK(tree(R"({"and":[{"section":"remote_work"},{"year":{"$gte":2024}}]})") == wanted);
    CHECK(tree(R"({"section":"remote_work","year":{"gte":2024}})") == wanted);
    CHECK(tree(R"([{"op":"eq","field":"section","value":"remote_work"},{"op":"ge","field":"year","value":2024}])") ==
          wanted);
    CHECK(words(R"(and(eq("section", "remote_work"), gte("year", 2024)))") == wanted);
    CHECK(words(R"(and(eq(section, 'remote_work'), ge(year, 2024)))") == wanted);
    CHECK(words(R"(eq("section", "remote_work") and gte("year", 2024))") == wanted);
    CHECK(words(R"(section = "remote_work" and year >= 2024)") == wanted);
    CHECK(words(R"((section == 'remote_work') && year >= 2024)") == wanted);
    CHECK(tree(R"json("and(eq(\"section\", \"remote_work\"), gte(\"year\", 2024))")json") == wanted);
    CHECK(words(R"({"section": "remote_work", "year": {"gte": 2024}})") == wanted);
}

TEST_CASE("values are numbers, texts in either quotes, truth values, lists and dates") {
    CHECK(words("eq(a, -1.5)") == "eq(a, -1.5)");
    CHECK(words(R"(eq(a, "x\"y"))") == R"(eq(a, 'x"y'))");
    CHECK(words("eq(a, 'x) or (1 == 1')") == "eq(a, 'x) or (1 == 1')");
    CHECK(words("eq(a, True)") == "eq(a, true)");
    CHECK(words("in(a, [1, 'b', false])") == "in(a, [1, 'b', false])");
    CHECK(words("in(a, [])") == "in(a, [])");
    CHECK(words("ge(a, 2024-02-29)") == "ge(a, '2024-02-29')");
    CHECK(words("ge(a, 2023-02-29)") == "ge(a, '2023-02-29')");  // there is no such day: the field's business
    CHECK(words("ge(a, 2024-02-29T10:00:00+02:00)") == "ge(a, '2024-02-29T10:00:00+02:00')");
    CHECK(words("exists(a)") == "exists(a)");
    CHECK(words("section not in ['a']") == "nin(section, ['a'])");
    CHECK(words("tags contains 'a'") == "contains(tags, 'a')");
    CHECK(tree(R"({"posted":{"type":"date","date":"2024-01-01"}})") != "fault");
    CHECK(tree(R"({"op":"exists","field":"a"})") == "exists(a)");
    CHECK(tree(R"({"a":["x","y"]})") == "in(a, ['x', 'y'])");
}

TEST_CASE("or binds less than and, brackets and not do what they look like, and one argument is itself") {
    CHECK(words("a = 1 or b = 2 and c = 3") == "or(eq(a, 1), and(eq(b, 2), eq(c, 3)))");
    CHECK(words("(a = 1 or b = 2) and c = 3") == "and(or(eq(a, 1), eq(b, 2)), eq(c, 3))");
    CHECK(words("not a = 1 and b = 2") == "and(not(eq(a, 1)), eq(b, 2))");
    CHECK(words("not(or(eq(a, 1), eq(b, 2)))") == "not(or(eq(a, 1), eq(b, 2)))");
    CHECK(words("not (a = 1 or b = 2)") == "not(or(eq(a, 1), eq(b, 2)))");
    CHECK(words("and(eq(a, 1))") == "eq(a, 1)");
    CHECK(tree(R"({"op":"or","args":[{"op":"eq","field":"a","value":1}]})") == "eq(a, 1)");
    CHECK(tree(R"({"not":{"a":1}})") == "not(eq(a, 1))");
    CHECK(tree(R"({"op":"not","args":[{"a":1}]})") == "not(eq(a, 1))");
}

TEST_CASE("all ways of saying that there is no filter are understood") {
    for (const char* text :
         {"", " ", "NO_FILTER", "no filter", "No filter.", "none", "None", "null", "N/A", "n/a", "'NO_FILTER'"}) {
        CAPTURE(text);
        CHECK(words(text) == "none");
    }
    for (const char* json : {"null", "{}", "[]", R"("")", R"("NO_FILTER")"}) {
        CAPTURE(json);
        CHECK(tree(json) == "none");
    }
    CHECK(words("no filters apply") == "fault");
}

TEST_CASE("what the grammar does not know is a fault of the whole, never read in part") {
    for (const char* json : {R"({"op":"eq","field":"a","value":1,"negated":true})",
                             R"({"op":"eq|ne|gt","field":"a","value":1})",
                             R"({"op":"EQ","field":"a","value":1})",
                             R"({"op":"is not","field":"a","value":1})",
                             R"({"op":"LIKE","field":"a","value":"x"})",
                             R"({"op":"≥","field":"a","value":1})",
                             R"({"op":["ne"],"field":"a","value":1})",
                             R"({"op":"eq","field":"a"})",
                             R"({"op":"eq","value":1})",
                             R"({"op":"eq","field":"a","value":null})",
                             R"({"op":"eq","field":"","value":1})",
                             R"({"op":"eq","field":7,"value":1})",
                             R"({"op":"in","field":"a","args":["x"]})",
                             R"({"op":"and","field":"a","value":1})",
                             R"({"op":"and","args":[]})",
                             R"({"op":"and","args":{"a":1}})",
                             R"({"op":"and","args":[{"a":1}],"negated":true})",
                             R"({"op":"not","args":[{"a":1},{"b":2}]})",
                             R"({"and":null})",
                             R"({"and":[null]})",
                             R"({"and":["a = 1"]})",
                             R"({"field":"a","value":1})",
                             R"({"a":{"like":1}})",
                             R"({"a":null})",
                             "true",
                             "3"}) {
        CAPTURE(json);
        CHECK(tree(json) == "fault");
    }
    for (const char* text : {"benefits under dental plan",
                             "genres: Comedy",
                             "eq(a, 1",
                             "eq(a, 1))",
                             "eq(a)",
                             "eq(, 1)",
                             "eq(a, b)",
                             "eq(a, null)",
                             "and()",
                             "and(eq(a, 1),)",
                             "like(a, 'x')",
                             "EQ(a, 1)",
                             "a = 1 b = 2",
                             "a is not 1",
                             "a = ",
                             "a >> 1",
                             "not",
                             "(a = 1",
                             "in(a, [[1]])",
                             "eq('a, 1)",
                             "eq(a, 'x)",
                             "eq(a, 1x)",
                             "{\"a\": }"}) {
        CAPTURE(text);
        CHECK(words(text) == "fault");
    }
}

TEST_CASE("depth and the number of values have limits") {
    CHECK(words(repeated("not ", 14) + "a = 1") != "fault");
    CHECK(words(repeated("not ", 40) + "a = 1") == "fault");
    CHECK(words(repeated("(", 50000)) == "fault");
    CHECK(words(repeated("and(", 50000)) == "fault");
    CHECK(tree(repeated("[", 12) + R"({"a":1})" + repeated("]", 12)) == "eq(a, 1)");
    const std::string many = repeated("a = 1 or ", 127);
    CHECK(words(many + "a = 1") != "fault");
    CHECK(words(many + "a = 1 or a = 1") == "fault");
    CHECK(words("in(a, [" + repeated("1, ", 128) + "1])") == "fault");
}

TEST_CASE("expressions are read in linear time") {
    for (const std::string_view part :
         {"(", "not ", "a = 1 or ", "and(", "\"", "eq(a, [1, ", "a", "1", " ", "\\", "and(eq(a, 1), "}) {
        CAPTURE(part);
        const std::string text = "x" + repeated(part, 4000);
        std::size_t seen = 0;
        const filter_grammar open{.most_values = SIZE_MAX};
        CHECK(growth(
                  [&](std::size_t n) {
                      seen += parse_filter(std::string_view(text).substr(1, n * part.size()), open).fault.size() + 1;
                  },
                  2000) <= 2.5);
        CHECK(seen > 0);
    }
}
