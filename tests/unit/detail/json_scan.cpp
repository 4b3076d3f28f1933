#include "quarry/detail/json_scan.hpp"

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/growth.hpp"

using quarry::detail::json_fault;
using quarry::detail::json_scan;
using quarry::detail::json_scan_options;
using quarry::detail::json_type;
using quarry::detail::json_value;
using quarry::detail::scan_json;

namespace {

// The same value as another library holds it.
nlohmann::json translated(const json_value& v) {
    switch (v.type) {
        case json_type::null: return nullptr;
        case json_type::boolean: return v.boolean;
        case json_type::integer: return v.integer;
        case json_type::number: return v.number;
        case json_type::text: return v.text;
        case json_type::list: {
            auto list = nlohmann::json::array();
            for (const json_value& item : v.items) list.push_back(translated(item));
            return list;
        }
        default: {
            auto object = nlohmann::json::object();
            for (std::size_t i = 0; i < v.keys.size(); ++i) object[v.keys[i]] = translated(v.items[i]);
            return object;
        }
    }
}

std::string read(std::string_view reply, const json_scan_options& options = {}) {
    const json_scan found = scan_json(reply, options);
    return found ? translated(*found.value).dump() : std::string(name_of(found.fault));
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string out;
    while (times-- > 0) out += part;
    return out;
}

class generator {
   public:
    explicit generator(unsigned seed) : random_(seed) {}

    nlohmann::json object(int depth) {
        auto out = nlohmann::json::object();
        for (unsigned n = below(4); n > 0; --n) out[text()] = any(depth - 1);
        return out;
    }

    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

   private:
    nlohmann::json any(int depth) {
        switch (below(depth > 0 ? 8 : 5)) {
            case 0: return nullptr;
            case 1: return below(2) == 0;
            case 2: return static_cast<std::int64_t>(random_()) * (below(2) == 0 ? 1 : -2000000000);
            case 3: return (static_cast<double>(random_()) - 2e9) / 1024.0;
            case 4: return text();
            case 5: {
                auto list = nlohmann::json::array();
                for (unsigned n = below(4); n > 0; --n) list.push_back(any(depth - 1));
                return list;
            }
            default: return object(depth);
        }
    }

    std::string text() {
        static const char* const parts[] = {"a", "b c", "\"", "\\", "/", "\n", "\t", "\u00e9", "\u65e5", "\U0001F600", "{", "]"};
        std::string out;
        for (unsigned n = below(5); n > 0; --n) out += parts[below(12)];
        return out;
    }

    std::mt19937 random_;
};

}  // namespace

TEST_CASE("the first object of a reply is found whatever stands around it") {
    const std::string wanted = R"({"query":"a","limit":3})";
    CHECK(read(wanted) == R"({"limit":3,"query":"a"})");
    for (const std::string& reply :
         {"```json\n" + wanted + "\n```", "```\n" + wanted + "\n```", "```JSON\n" + wanted + "\n```",
          "Sure, here it is:\n" + wanted, wanted + "\nLet me know!", "\xEF\xBB\xBF" + wanted,
          "I use {braces} and {} nowhere [1].\n" + wanted, "It's {simple}: " + wanted, "[" + wanted + "]",
          "{" + wanted + "}", wanted + "\n" + R"({"query":"b"})"}) {
        CAPTURE(reply);
        if (reply.starts_with("I use")) CHECK(read(reply) == "{}");  // {} is an object, and it comes first
        else CHECK(read(reply) == R"({"limit":3,"query":"a"})");
    }
    CHECK(read("") == "absent");
    CHECK(read("no json here") == "absent");
    CHECK(read("```json\n```") == "absent");
}

TEST_CASE("the place of the value in the reply is told") {
    const json_scan found = scan_json("so: {\"a\": 1} done");
    REQUIRE(found);
    CHECK(found.begin == 4);
    CHECK(found.end == 12);
    CHECK_FALSE(found.repaired);
}

TEST_CASE("an object that broke is refused as a whole, never read in part") {
    CHECK(read(R"({"filter": [{"op":"eq","field":"a","value":1}, +more]})") == "malformed");
    CHECK(read(R"({"and": [bad, {"op":"eq","field":"a","value":1}]})") == "malformed");
    CHECK(read(R"({"query": "a" "limit": 3})") == "malformed");
    CHECK(read(R"({"a": 1, // one
                   "b": 2})") == "malformed");
    CHECK(read(R"({"a": F})") == "malformed");
    CHECK(read(R"({"a": NaN})") == "malformed");
    CHECK(read(R"({"a": +1})") == "malformed");
    CHECK(read(R"({"a": 01})") == "malformed");
    CHECK(read(R"({"a": 1.})") == "malformed");
    CHECK(read(R"({"a": .5})") == "malformed");
    CHECK(read(R"({"a": 1, , "b": 2})") == "malformed");
    CHECK(read(R"([{"a":1}, {"b":2}])") == "several");
    CHECK(read(R"([{"a":1}, 3])") == "several");
    CHECK(read(R"({"query": "a", "filter": {"x": 1})") == "cut_off");
    CHECK(read(R"({"query": "a)") == "cut_off");
    CHECK(read(R"({"a": [1)") == "cut_off");
    CHECK(read(R"({"a": )") == "cut_off");
}

TEST_CASE("what can mean only one thing is read although it is no JSON") {
    for (const char* reply : {R"({'a': 'x', 'b': true})", R"({a: "x", b: true})", R"({"a": "x", "b": True,})"}) {
        CAPTURE(reply);
        CHECK(read(reply) == R"({"a":"x","b":true})");
        CHECK(scan_json(reply).repaired);
    }
    CHECK(read(R"({"a": [1, 2, ], "b": None, "c": False})") == R"({"a":[1,2],"b":null,"c":false})");
    CHECK(read("{\"a\": \"two\nlines\"}") == R"({"a":"two\nlines"})");
    CHECK(read(R"({'a': 'it\'s'})") == R"({"a":"it's"})");
    CHECK(read(R"({'a': 'it's'})") == "malformed");
}

TEST_CASE("what could mean more than one thing is refused") {
    CHECK(read(R"({"a": 1, "b": 2, "a": 3})") == "duplicate_key");
    CHECK(read(R"({"x": {"a": 1, "\u0061": 1}})") == "duplicate_key");
    CHECK(read(R"({"a": 18446744073709551616})") == "number_range");
    CHECK(read(R"({"a": 9223372036854775808})") == "number_range");
    CHECK(read(R"({"a": 1e999})") == "number_range");
    CHECK(read(R"({"a": "\ud800"})") == "bad_text");
    CHECK(read(R"({"a": "\ud800\u0041"})") == "bad_text");
    CHECK(read(R"({"a": "\udc00"})") == "bad_text");
    CHECK(read(R"({"a\u0000b": 1})") == "bad_text");
    CHECK(read(std::string("{\"a\0b\": 1}", 10)) == "bad_text");
    CHECK(read(R"({"a": "\x41"})") == "bad_text");
    CHECK(read(R"({"a": "\u12g4"})") == "bad_text");
}

TEST_CASE("numbers keep their kind, and the ends of 64 bits are inside") {
    const json_scan found = scan_json(R"({"a": [9223372036854775807, -9223372036854775808, -0, 2.0, 1e2, -1.5E-1]})");
    REQUIRE(found);
    const auto& items = found.value->find("a")->items;
    CHECK(items[0].integer == INT64_MAX);
    CHECK(items[1].integer == INT64_MIN);
    CHECK(items[2].is(json_type::integer));
    CHECK(items[2].integer == 0);
    CHECK(items[3].is(json_type::number));
    CHECK(items[3].number == 2.0);
    CHECK(items[4].number == 100.0);
    CHECK(items[5].number == -0.15);
}

TEST_CASE("escapes become UTF-8, and other bytes stay as they came") {
    const json_scan found = scan_json("{\"a\": \"\\u00e9\\u65e5\\uD83D\\uDE00\\n\\/\", \"b\": \"\xFF\"}");
    REQUIRE(found);
    CHECK(found.value->find("a")->text == "\u00e9\u65e5\U0001F600\n/");
    CHECK(found.value->find("b")->text == "\xFF");
    CHECK(found.value->find("c") == nullptr);
}

TEST_CASE("lists are read where they are asked for, and citations in brackets are not lists of texts cut short") {
    const json_scan_options lists{.lists = true};
    CHECK(read(R"(Here: ["one", "two"])", lists) == R"(["one","two"])");
    CHECK(read(R"(as said [see above]: ["one"])", lists) == R"(["one"])");
    CHECK(read(R"(["one", "tw)", lists) == "cut_off");
    CHECK(read(R"(["one", "two"])") == "absent");
}

TEST_CASE("depth has a limit, and meeting it is no accident") {
    const auto nested = [](std::size_t n) { return repeated(R"({"a":)", n) + "1" + repeated("}", n); };
    CHECK(scan_json(nested(32)));
    CHECK(scan_json(nested(33)).fault == json_fault::too_deep);
    CHECK(scan_json(nested(3), {.deepest = 2}).fault == json_fault::too_deep);
    CHECK(scan_json(R"({"a": [[1]]})", {.deepest = 3}));
    CHECK(scan_json(R"({"a": [[1]]})", {.deepest = 2}).fault == json_fault::too_deep);
    CHECK(scan_json(repeated("[", 60000), {.lists = true}).fault == json_fault::too_deep);
    CHECK(scan_json(repeated("[", 60000)).fault == json_fault::absent);
    CHECK(scan_json(repeated("{", 60000)).fault == json_fault::absent);
}

TEST_CASE("only the first bytes of a novel are looked at") {
    const std::string reply = std::string(100, ' ') + R"({"a": 1})";
    CHECK(scan_json(reply, {.longest = 108}));
    CHECK(scan_json(reply, {.longest = 107}).fault == json_fault::cut_off);
    CHECK(scan_json(std::string(70000, ' ') + R"({"a": 1})").fault == json_fault::absent);
}

TEST_CASE("what another library writes is read back equal") {
    generator make(1);
    for (int round = 0; round < 2000; ++round) {
        const nlohmann::json wanted = make.object(4);
        const std::string text = wanted.dump(round % 3 == 0 ? 2 : -1, ' ', round % 2 == 0);
        const json_scan found = scan_json("Reply: " + text + " end");
        CAPTURE(text);
        REQUIRE(found);
        CHECK(translated(*found.value) == wanted);
        CHECK_FALSE(found.repaired);
    }
}

TEST_CASE("whatever is done to a text, what is called JSON to the letter is what another library reads") {
    generator make(2);
    std::size_t same = 0, refused = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string text = make.object(3).dump();
        for (unsigned edits = 1 + make.below(2); edits > 0 && !text.empty(); --edits) {
            const std::size_t at = make.below(static_cast<unsigned>(text.size()));
            if (static_cast<unsigned char>(text[at]) >= 0x80) continue;  // UTF-8 is not what is compared here
            static const char replacements[] = "{}[]\",:\\1e-.n ";
            if (make.below(2) == 0) text.erase(at, 1);
            else text[at] = replacements[make.below(14)];
        }
        const json_scan found = scan_json(text);
        const nlohmann::json theirs = nlohmann::json::parse(text, nullptr, false);
        CAPTURE(text);
        if (found && !found.repaired && found.begin == 0 && found.end == text.size()) {
            REQUIRE_FALSE(theirs.is_discarded());
            CHECK(translated(*found.value) == theirs);
            ++same;
        }
        // The other way round: what they read as an object, ours reads too, or says which rule it breaks.
        if (theirs.is_object() && !found) {
            const bool by_rule = found.fault == json_fault::duplicate_key || found.fault == json_fault::number_range;
            CHECK(by_rule);
            ++refused;
        }
    }
    CHECK(same > 200);
    CHECK(refused < 40);
}

TEST_CASE("scanning takes linear time, whatever the reply is made of") {
    const json_scan_options all{.lists = true, .longest = SIZE_MAX};
    std::size_t seen = 0;
    for (const std::string_view part :
         {"a", "{", "[", "{'", "{\"", "{\"a", "\\", "```", "[[", "{a", "{a ", "{}{", "Thought: x\n"}) {
        CAPTURE(part);
        const std::string reply = repeated(part, 40000);
        const auto scan = [&](std::size_t n) { seen += scan_json(reply.substr(0, n * part.size()), all).end; };
        CHECK(growth(scan, 20000) <= 2.5);
    }
    // One object of n keys. Few, so that no allocation meets the size from which the system maps fresh pages.
    std::string keys = "{";
    for (int i = 0; i < 400; ++i) keys += "\"" + std::to_string(1000000 + i * 7919 % 1000003) + "\":0,";
    const auto scan = [&](std::size_t n) { seen += scan_json(keys.substr(0, n * 12) + "}", all).value->keys.size(); };
    CHECK(growth(scan, 200) <= 2.5);
    CHECK(seen > 0);
}
