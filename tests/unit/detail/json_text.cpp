#include "quarry/detail/json_text.hpp"

#include "support/catch.hpp"

using quarry::detail::json_text;

TEST_CASE("a text is escaped as JSON has it") {
    CHECK(json_text("plain") == "\"plain\"");
    CHECK(json_text("a \"b\" \\ c") == R"("a \"b\" \\ c")");
    CHECK(json_text("line\nend\t\x01") == R"("line\nend\t\u0001")");
    CHECK(json_text(std::string_view("\0", 1)) == R"("\u0000")");
    CHECK(json_text("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") == "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"");
    CHECK(json_text("") == "\"\"");
}

TEST_CASE("bytes that are no UTF-8 become the replacement character, each") {
    const std::string bad = "\xEF\xBF\xBD";
    CHECK(json_text("\xFF") == "\"" + bad + "\"");
    CHECK(json_text("a\xC3") == "\"a" + bad + "\"");
    CHECK(json_text("\xED\xA0\x80") == "\"" + bad + bad + bad + "\"");  // a surrogate
    CHECK(json_text("\xC0\xAF") == "\"" + bad + bad + "\"");             // overlong
    CHECK(json_text("\xF4\x90\x80\x80").size() == 2 + 4 * 3);             // beyond U+10FFFF
}
