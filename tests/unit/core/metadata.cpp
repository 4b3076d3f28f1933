#include "quarry/core/metadata.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("a value keeps the type it was given") {
    CHECK(field_value(true).type() == field_type::boolean);
    CHECK(field_value(2024).type() == field_type::integer);
    CHECK(field_value(2024u).type() == field_type::integer);
    CHECK(field_value(std::uint8_t{7}).type() == field_type::integer);
    CHECK(field_value(2024.0).type() == field_type::number);
    CHECK(field_value(0.5f).type() == field_type::number);
    CHECK(field_value("2024").type() == field_type::string);
    CHECK(field_value(std::string_view("x")).type() == field_type::string);
    CHECK(field_value(*date_time::day(2024, 5, 7)).type() == field_type::date_time);
    CHECK(field_value(std::vector<std::string>{"a"}).type() == field_type::string_list);
}

TEST_CASE("values of different types are never equal, however they look") {
    CHECK(field_value(1) != field_value(true));
    CHECK(field_value(1) != field_value(1.0));
    CHECK(field_value("1") != field_value(1));
    CHECK(field_value("true") != field_value(true));
    CHECK(field_value("2024-05-07") != field_value(*date_time::day(2024, 5, 7)));
    CHECK(field_value("a") != field_value(std::vector<std::string>{"a"}));
    CHECK(field_value(1) == field_value(std::int64_t{1}));
}

TEST_CASE("the alternative that is asked for comes back, or null") {
    const field_value v(2024);
    REQUIRE(v.get_if<std::int64_t>());
    CHECK(*v.get_if<std::int64_t>() == 2024);
    CHECK(v.get_if<double>() == nullptr);
    CHECK(v.get_if<bool>() == nullptr);
}

TEST_CASE("an integer beyond 64 signed bits is refused, not wrapped") {
    CHECK(*field_value(std::uint64_t{9223372036854775807u}).get_if<std::int64_t>() == INT64_MAX);
    CHECK(code_of([] { field_value(std::uint64_t{9223372036854775808u}); }) == "metadata.range");
    CHECK(message_of([] { field_value(std::uint64_t{18446744073709551615u}); }).find("18446744073709551615") !=
          std::string::npos);
    CHECK(*field_value(INT64_MIN).get_if<std::int64_t>() == INT64_MIN);
}

TEST_CASE("NaN and infinities are no values") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(code_of([] { field_value{std::numeric_limits<double>::quiet_NaN()}; }) == "metadata.not_finite");
    CHECK(code_of([] { field_value{std::numeric_limits<float>::quiet_NaN()}; }) == "metadata.not_finite");
    CHECK(code_of([=] { field_value v(infinity); }) == "metadata.not_finite");
    CHECK(code_of([=] { field_value v(-infinity); }) == "metadata.not_finite");
    CHECK(*field_value((std::numeric_limits<double>::max)()).get_if<double>() == (std::numeric_limits<double>::max)());
}

TEST_CASE("a value prints for people: texts in quotes, lists in brackets, numbers as short as they read back") {
    CHECK(field_value(true).to_string() == "true");
    CHECK(field_value(-7).to_string() == "-7");
    CHECK(field_value(0.1).to_string() == "0.1");
    CHECK(field_value("a b").to_string() == "\"a b\"");
    CHECK(field_value(std::vector<std::string>{"a", "b"}).to_string() == "[\"a\", \"b\"]");
    CHECK(field_value(std::vector<std::string>{}).to_string() == "[]");
    CHECK(field_value(*date_time::day(2024, 5, 7)).to_string() == "2024-05-07");
}

TEST_CASE("every type has a name") {
    CHECK(name_of(field_type::boolean) == "boolean");
    CHECK(name_of(field_type::integer) == "integer");
    CHECK(name_of(field_type::number) == "number");
    CHECK(name_of(field_type::string) == "string");
    CHECK(name_of(field_type::date_time) == "date_time");
    CHECK(name_of(field_type::string_list) == "string_list");
}

TEST_CASE("metadata holds each name once, in the order of the names") {
    const metadata m{{"year", 2024}, {"product", "app"}, {"tags", std::vector<std::string>{"a"}}};
    CHECK(m.size() == 3);
    CHECK_FALSE(m.empty());
    std::string names;
    for (const auto& [name, value] : m) names += name + ' ';
    CHECK(names == "product tags year ");
}

TEST_CASE("a name that is given twice is an error, so neither of the two wins silently") {
    CHECK(code_of([] { metadata{{"tenant", "a"}, {"tenant", "b"}}; }) == "metadata.duplicate_field");
    metadata m{{"tenant", "a"}};
    CHECK(code_of([&] { m.add("tenant", "a"); }) == "metadata.duplicate_field");
    CHECK(m.size() == 1);
    CHECK(*m.find("tenant") == field_value("a"));
}

TEST_CASE("missing is missing, and false, 0 and the empty text are values") {
    const metadata m{{"flag", false}, {"count", 0}, {"note", ""}};
    CHECK(*m.find("flag") == field_value(false));
    CHECK(*m.find("count") == field_value(0));
    CHECK(*m.find("note") == field_value(""));
    CHECK(m.find("absent") == nullptr);
    CHECK(metadata().empty());
}

TEST_CASE("names are compared byte for byte") {
    const metadata m{{"tenant", "a"}};
    CHECK(m.find("Tenant") == nullptr);
    CHECK(m.find("tenant ") == nullptr);
    CHECK(m.find("") == nullptr);
}
