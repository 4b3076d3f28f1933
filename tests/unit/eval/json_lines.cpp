#include "quarry/eval/json_lines.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace quarry;

namespace {

// What reading a one-line file and asking for a text says.
std::string complaint(const std::string& line, const char* field) {
    const temporary_folder folder;
    const std::string path = folder.write("f", "\n" + line);
    const std::string said = message_of([&] { for_each_json_line(path, [&](const json_line& l) { l.text(field); }); });
    return said.starts_with(path) ? said.substr(path.size()) : said;
}

}  // namespace

TEST_CASE("objects come in the order of their lines, and blank lines are none") {
    const temporary_folder folder;
    std::vector<std::string> texts;
    for_each_json_line(folder.write("f", "{\"a\": \"x\"}\n  \n{\"a\": \"y\", \"b\": [1]}\r\n\n"),
                       [&](const json_line& line) {
                           texts.push_back(line.text("a"));
                           texts.push_back(std::to_string(line.object().size()));
                       });
    CHECK(texts == std::vector<std::string>{"x", "1", "y", "2"});
    for_each_json_line(folder.write("f", ""), [&](const json_line&) { texts.clear(); });
    CHECK(texts.size() == 4);
}

TEST_CASE("a whole number is a text too, to its last digit, and a missing or null field is empty where it may be") {
    const temporary_folder folder;
    const std::string line =
        "{\"least\": -9223372036854775808, \"most\": 18446744073709551615, \"none\": null, \"e\": \"\\u00e9\"}";
    for_each_json_line(folder.write("f", line), [](const json_line& l) {
        CHECK(l.text("least") == "-9223372036854775808");
        CHECK(l.text("most") == "18446744073709551615");
        CHECK(l.text("e") == "\xC3\xA9");
        CHECK(l.text_or_empty("none").empty());
        CHECK(l.text_or_empty("absent").empty());
    });
    CHECK(complaint("{\"a\": true}", "a") == ":2: the field \"a\" is no text but boolean [json.line]");
    CHECK(complaint("{\"a\": null}", "a") == ":2: the field \"a\" is no text but null [json.line]");
    CHECK(complaint("{\"a\": \"x\"}", "b") == ":2: the object has no field \"b\" [json.line]");
}

TEST_CASE("a caller's own complaint names the line as ours do") {
    const temporary_folder folder;
    const std::string path = folder.write("f", "{}\n{}\n{\"bad\": 1}");
    CHECK(message_of([&] {
              for_each_json_line(path, [](const json_line& l) {
                  if (l.object().contains("bad")) l.refuse("too bad");
              });
          }) == path + ":3: too bad [json.line]");
}

TEST_CASE("lines that are cut, no object, or not UTF-8 are errors with the line's number") {
    CHECK(complaint("{\"a\": \"x", "a").starts_with(":2: the line is no valid JSON at byte"));
    CHECK(complaint("\"a\"", "a") == ":2: the line is no JSON object but string [json.line]");
    CHECK(complaint("{\"a\": \"\xC3\"}", "a").starts_with(":2: the line is no valid JSON"));
    CHECK(complaint("{\"a\": \"x\"}{", "a").starts_with(":2: the line is no valid JSON"));
    CHECK(complaint("{\"a\": 1e999}", "a").starts_with(":2: the line is no valid JSON"));
}
