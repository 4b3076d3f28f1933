#include "quarry/core/schema.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

schema one_of_each() {
    return {{"flag", field_type::boolean}, {"count", field_type::integer},     {"price", field_type::number},
            {"name", field_type::string},  {"updated", field_type::date_time}, {"tags", field_type::string_list}};
}

std::string outcome(const schema& s, std::string_view name, const field_value& value) {
    std::string stored;
    const std::string code = code_of([&] { stored = s.coerced(*s.find(name), value).to_string(); });
    return code == "(no exception)" ? stored : code;
}

}  // namespace

TEST_CASE("fields stand in the order of declaration and are found by name") {
    const schema s = one_of_each();
    CHECK(s.size() == 6);
    CHECK(s.find("flag") == std::size_t{0});
    CHECK(s.find("tags") == std::size_t{5});
    CHECK(s[2].name == "price");
    CHECK(s[2].type == field_type::number);
    CHECK(s.begin()->name == "flag");
    CHECK_FALSE(s.find("Flag"));
    CHECK_FALSE(s.find(""));
}

TEST_CASE("a field that is declared twice or has no name is refused, and nothing is added") {
    schema s = one_of_each();
    CHECK(code_of([&] { s.add({"name", field_type::string}); }) == "schema.duplicate_field");
    CHECK(code_of([&] { s.add({"", field_type::string}); }) == "schema.empty_name");
    CHECK(code_of([] { schema{{"a", field_type::string}, {"a", field_type::integer}}; }) == "schema.duplicate_field");
    CHECK(s.size() == 6);
}

TEST_CASE("names that differ in a byte are different fields, a dot among them is only a byte") {
    const schema s{{"a.b", field_type::string}, {"a", field_type::string}, {"A", field_type::string}};
    CHECK(s.find("a.b") == std::size_t{0});
    CHECK(s.find("a") == std::size_t{1});
    CHECK(s.find("A") == std::size_t{2});
    CHECK_FALSE(s.find("b"));
}

TEST_CASE("what each type of field takes, by this table") {
    const schema s = one_of_each();
    const date_time day = *date_time::day(2024, 5, 7);
    const std::vector<std::string> list{"a", "b"};
    struct row {
        std::string_view field;
        std::string boolean, integer, number, text, date_text, date, texts;
    };
    const std::string no = "metadata.type";
    // columns: true, 7, 2.5, "x", "2024-05-07", the day, ["a", "b"]
    const row table[] = {
        {"flag", "true", no, no, no, no, no, no},
        {"count", no, "7", no, no, no, no, no},
        {"price", no, "7", "2.5", no, no, no, no},
        {"name", no, no, no, "\"x\"", "\"2024-05-07\"", no, no},
        {"updated", no, no, no, "metadata.date", "2024-05-07", "2024-05-07", no},
        {"tags", no, no, no, no, no, no, "[\"a\", \"b\"]"},
    };
    for (const row& r : table) {
        CAPTURE(r.field);
        CHECK(outcome(s, r.field, true) == r.boolean);
        CHECK(outcome(s, r.field, 7) == r.integer);
        CHECK(outcome(s, r.field, 2.5) == r.number);
        CHECK(outcome(s, r.field, "x") == r.text);
        CHECK(outcome(s, r.field, "2024-05-07") == r.date_text);
        CHECK(outcome(s, r.field, day) == r.date);
        CHECK(outcome(s, r.field, list) == r.texts);
    }
}

TEST_CASE("an integer in a number field loses nothing, even beyond 2^53") {
    const schema s = one_of_each();
    CHECK(outcome(s, "price", std::int64_t{9007199254740993}) == "9007199254740993");
}

TEST_CASE("a refused value is named with its field and both types") {
    const schema s = one_of_each();
    const std::string message = message_of([&] { s.coerced(1, "2024"); });
    CHECK(message == "quarry: field \"count\" is of type integer, the value \"2024\" of type string [metadata.type]");
    CHECK(message_of([&] { s.coerced(4, "5 May 2024"); }).find("\"5 May 2024\"") != std::string::npos);
}
