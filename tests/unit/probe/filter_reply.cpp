#include "quarry/probe/filter_reply.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

// The schema of the hand-worked table: section in {remote_work, expenses, benefits}; year, date; and one field a type.
const field_catalog& fields() {
    using list = std::vector<std::string>;
    static const field_catalog known(schema{{"section", field_type::string},
                                            {"year", field_type::integer},
                                            {"date", field_type::date_time},
                                            {"tags", field_type::string_list},
                                            {"rating", field_type::number},
                                            {"open", field_type::boolean},
                                            {"owner", field_type::string},
                                            {"tenant", field_type::string}},
                                     {{"section", "remote_work"},
                                      {"section", "expenses"},
                                      {"section", "benefits"},
                                      {"year", 2019},
                                      {"year", 2024},
                                      {"tags", list{"travel", "home office"}},
                                      {"rating", 4.5}},
                                     {{.field = "section", .aliases = {{"working from home", "remote_work"}}},
                                      {.field = "owner", .open = true},
                                      {.field = "tenant", .hidden = true},
                                      {.field = "open", .names = {"still running"}}});
    return known;
}

filter_reply read(std::string_view reply, filter_reply_rules rules = {}, std::string_view question = "policy of 2024") {
    return read_filter_reply(reply, question, fields(), rules);
}

// The filter of a reply whose "filter" member is this JSON.
std::string filter_of(std::string_view json, filter_reply_rules rules = {}) {
    const filter_reply r = read(detail::concat("{\"query\":\"policy\",\"filter\":", json, '}'), rules);
    return r.narrowed ? r.narrowed->to_string() : std::string(name_of(r.decision));
}

std::string notes_of(const filter_reply& r) {
    std::string out;
    for (const probe_note& n : r.notes) out += (out.empty() ? "" : "; ") + to_string(n);
    return out;
}

constexpr filter_reply_rules drop_leaf{.invalid = invalid_policy::drop_leaf};

}  // namespace

TEST_CASE("the hand-worked table of replies comes out as written") {
    const std::string both = R"(and(eq(section, "remote_work"), eq(year, 2024)))";
    const std::string reply =
        R"json({"query":"policy","filter":"and(eq(\"section\",\"remote_work\"),eq(\"year\",2024))"})json";
    CHECK(read(reply).text == "policy");
    CHECK(read(reply).narrowed->to_string() == both);
    const filter_reply fenced = read("Here you are:\n```json\n" + reply + "\n```");
    CHECK(fenced.text == "policy");
    CHECK(fenced.narrowed->to_string() == both);

    const filter_reply empty = read(R"({"query":"","filter":"NO_FILTER"})");
    CHECK(empty.decision == reply_decision::use);
    CHECK(empty.text.empty());
    CHECK_FALSE(empty.narrowed);

    CHECK(filter_of(R"json("eq(\"year\",\"2024\")")json") == "eq(year, 2024)");
    CHECK(filter_of(R"json("eq(\"author\",\"x\")")json", drop_leaf) == "use");
    CHECK(notes_of(read(R"json({"query":"policy","filter":"eq(\"author\",\"x\")"})json", drop_leaf)) ==
          R"(dropped_leaf: there is no field "author")");
    CHECK(filter_of(R"json("or(eq(\"author\",\"x\"),eq(\"year\",2024))")json", drop_leaf) == "use");
    CHECK(filter_of(R"json("eq(\"section\",\"Remote Work\")")json") == R"(eq(section, "remote_work"))");
    CHECK(filter_of(R"json("eq(\"year\",2024) and eq(\"section\",\"benefits\")")json") ==
          R"(and(eq(year, 2024), eq(section, "benefits")))");
    CHECK(filter_of(R"json("and(eq(\"year\",2024))")json") == "eq(year, 2024)");
    CHECK_FALSE(read(R"({"query":"policy","filter":null,"limit":0})").limit);
    CHECK(read(R"({"query":"policy","filter":null,"limit":3})").limit == 3);
    const filter_reply prose = read("no json here");
    CHECK(prose.decision == reply_decision::plain_query);
    CHECK(prose.text.empty());
    CHECK(notes_of(prose) == "unreadable: the reply has no JSON object");

    CHECK(filter_of(R"json("gte(\"date\",2024-02-29)")json") == "ge(date, 2024-02-29)");
    CHECK(filter_of(R"json("and(gte(\"date\",2023-02-29),eq(\"year\",2024))")json", drop_leaf) == "eq(year, 2024)");
}

TEST_CASE("an invalid condition costs itself, its filter or the call, as the policy says") {
    const std::string reply = R"({"filter":{"op":"and","args":[{"section":"benefits"},{"author":"x"}]}})";
    CHECK(read(reply, drop_leaf).narrowed->to_string() == R"(eq(section, "benefits"))");
    CHECK(read(reply, drop_leaf).complaint == R"(there is no field "author")");
    const filter_reply dropped = read(reply);
    CHECK_FALSE(dropped.narrowed);
    CHECK(dropped.decision == reply_decision::drop_filter);
    CHECK(dropped.complaint == R"(there is no field "author")");
    CHECK(code_of([&] { read(reply, {.invalid = invalid_policy::refuse}); }) == "self_query.refused");
    CHECK(code_of([&] { read("prose", {.invalid = invalid_policy::refuse}); }) == "self_query.refused");
    CHECK(code_of([&] { read(R"({"filter":null})", {.invalid = invalid_policy::refuse}); }) == "(no exception)");
}

TEST_CASE("a dropped condition never makes the rest say more than was meant") {
    CHECK(filter_of(R"({"or":[{"author":"x"},{"year":2024}]})", drop_leaf) == "use");
    CHECK(filter_of(R"({"not":{"author":"x"}})", drop_leaf) == "use");
    CHECK(filter_of(R"({"and":[{"year":2024},{"or":[{"author":"x"},{"year":2019}]}]})", drop_leaf) == "eq(year, 2024)");
    // Under a not, losing a part of an `and` would forbid more: not (a and b) is wider than not a.
    CHECK(filter_of(R"({"not":{"and":[{"year":2024},{"author":"x"}]}})", drop_leaf) == "use");
    // What the grammar does not know costs everything: nobody can tell what was meant.
    CHECK(filter_of(R"({"and":[{"year":2024},{"op":"eq","field":"year","value":2019,"negated":true}]})", drop_leaf) ==
          "drop_filter");
}

TEST_CASE("values convert without loss or not at all") {
    CHECK(filter_of(R"({"year":"2023"})") == "eq(year, 2023)");
    CHECK(filter_of(R"({"year":2023.0})") == "eq(year, 2023)");
    CHECK(filter_of(R"({"rating":4})") == "eq(rating, 4)");
    CHECK(filter_of(R"({"rating":"4.5"})") == "eq(rating, 4.5)");
    CHECK(filter_of(R"({"open":"true"})") == "eq(open, true)");
    CHECK(filter_of(R"({"date":"2024-05-07T10:30:00+02:00"})") == "eq(date, 2024-05-07T08:30:00Z)");
    CHECK(filter_of(R"({"date":{"type":"date","date":"2024-05-07"}})") == "eq(date, 2024-05-07)");
    CHECK(filter_of(R"({"op":"eq","field":"section","value":["benefits"]})") == R"(eq(section, "benefits"))");
    CHECK(filter_of(R"({"op":"in","field":"section","value":"benefits"})") == R"(in(section, "benefits"))");
    for (const char* json :
         {R"({"year":2023.7})", R"({"year":true})", R"({"year":"high"})", R"({"year":"2023.7"})",
          R"({"rating":"high"})", R"({"open":1})", R"({"open":"yes"})", R"({"date":"2024-13-01"})",
          R"({"date":{"type":"date","date":"2024-13-01"}})", R"({"date":2024})", R"({"section":true})",
          R"({"section":2024})", R"({"section":"travel"})",
          R"({"op":"eq","field":"section","value":["benefits","expenses"]})",
          R"({"op":"in","field":"section","value":[]})", R"({"year":{"type":"date","date":"2024-01-01"}})"}) {
        CAPTURE(json);
        CHECK(filter_of(json) == "drop_filter");
    }
}

TEST_CASE("operators that a type does not have are invalid, and lists are asked for their elements") {
    for (const char* json : {R"({"section":{"gte":"a"}})", R"({"open":{"gt":false}})", R"({"tags":{"lt":"a"}})",
                             R"({"op":"contains","field":"section","value":"benefits"})",
                             R"({"op":"prefix","field":"year","value":"20"})"}) {
        CAPTURE(json);
        CHECK(filter_of(json) == "drop_filter");
    }
    CHECK(filter_of(R"({"tags":"travel"})") == R"(contains(tags, "travel"))");
    CHECK(filter_of(R"({"tags":{"ne":"travel"}})") == R"(not(contains(tags, "travel")))");
    CHECK(filter_of(R"({"op":"ne","field":"tags","value":["travel"]})") == R"(not(contains(tags, "travel")))");
    CHECK(filter_of(R"({"op":"in","field":"tags","value":["travel","Home Office"]})") ==
          R"(or(contains(tags, "travel"), contains(tags, "home office")))");
    CHECK(filter_of(R"({"op":"prefix","field":"section","value":"re"})") == R"(prefix(section, "re"))");
    CHECK(filter_of(R"({"op":"exists","field":"year"})") == "exists(year)");
}

TEST_CASE("values are taken for stored ones, and an open field takes others as they are") {
    const filter_reply r = read(R"({"filter":{"section":"Benefit"}})");
    CHECK(r.narrowed->to_string() == R"(eq(section, "benefits"))");
    CHECK(notes_of(r) == R"(snapped: "Benefit" to "benefits")");
    CHECK(filter_of(R"({"section":"Working from home"})") == R"(eq(section, "remote_work"))");
    CHECK(filter_of(R"({"owner":"Somebody New"})") == R"(eq(owner, "Somebody New"))");
    CHECK(filter_of(R"({"tenant":"a"})") == "drop_filter");
    CHECK(filter_of(R"({"op":"exists","field":"tenant"})") == "drop_filter");
}

TEST_CASE("by option every value must stand in the question, or in the words of its alias") {
    const filter_reply_rules strict{.values_in_question = true, .today = date_time::day(2026, 3, 10)};
    const auto kept = [&](std::string_view json, std::string_view question) {
        const filter_reply r = read(detail::concat("{\"filter\":", json, '}'), strict, question);
        return r.decision == reply_decision::use && r.narrowed;
    };
    CHECK(kept(R"({"section":"benefits"})", "which benefits are there?"));
    CHECK(kept(R"({"section":"remote_work"})", "remote work rules"));
    CHECK(kept(R"({"section":"remote_work"})", "rules for working from home"));
    CHECK_FALSE(kept(R"({"section":"benefits"})", "remote work rules"));
    CHECK_FALSE(kept(R"({"section":"remote_work"})", "work on remote controls"));
    CHECK(kept(R"({"year":2024})", "rules of 2024"));
    CHECK(kept(R"({"year":{"gte":1990}})", "rules of the nineties"));
    CHECK(kept(R"({"year":{"lt":2000}})", "rules of the 1990s"));
    CHECK_FALSE(kept(R"({"year":2023})", "rules of 2024"));
    CHECK(kept(R"({"date":{"gte":"2026-02-01"}})", "changed last month"));
    CHECK(kept(R"({"date":{"lt":"2026-03-01"}})", "changed last month"));
    CHECK_FALSE(kept(R"({"date":{"gte":"2025-02-01"}})", "changed last month"));
    CHECK(kept(R"({"rating":{"gte":4.5}})", "rated 4.5 or better"));
    CHECK(kept(R"({"open":true})", "which are still running?"));
    CHECK_FALSE(kept(R"({"open":true})", "which are there?"));
}

TEST_CASE("the text is made of the question's words, or the question itself is searched") {
    const auto text = [](std::string_view query, std::string_view question = "leave policy of 2024") {
        return read(detail::concat("{\"query\":\"", query, "\",\"filter\":null}"), {}, question).text;
    };
    CHECK(text("leave policy") == "leave policy");
    CHECK(text("policies") == "policies");
    CHECK(text("free text that is left").empty());
    CHECK(text("").empty());
    CHECK(text("   ").empty());
    CHECK(text("leave " + std::string(1000, 'x')).empty());
    CHECK(read(R"({"query":null,"filter":null})").text.empty());
    CHECK(read(R"({"query":7,"filter":null})").text.empty());
    CHECK(text("leave \xFF policy") == "leave \xEF\xBF\xBD policy");
}

TEST_CASE("a limit is clamped to the caller's, and what is no limit is ignored") {
    const auto limit = [](std::string_view json) {
        return read(detail::concat("{\"filter\":null,\"limit\":", json, '}'), {.most = 20}).limit;
    };
    CHECK(limit("5") == 5);
    CHECK(limit("\"5\"") == 5);
    CHECK(limit("20") == 20);
    CHECK(limit("1000000") == 20);
    CHECK(limit("9223372036854775807") == 20);
    for (const char* json : {"0", "-1", "2.5", "\"ten\"", "\"\"", "true", "[3]", "{}", "null"}) {
        CAPTURE(json);
        CHECK_FALSE(limit(json));
    }
}

TEST_CASE("a reply without an object may be a bare filter, or say that there is none") {
    CHECK(read("eq(\"year\", 2024)").narrowed->to_string() == "eq(year, 2024)");
    CHECK(read("```\nyear >= 2019 and section = 'benefits'\n```").narrowed->to_string() ==
          R"(and(ge(year, 2019), eq(section, "benefits")))");
    CHECK(read(R"({"section": "benefits", "year": 2024})").narrowed->to_string() ==
          R"(and(eq(section, "benefits"), eq(year, 2024)))");
    CHECK(read(R"({"op":"eq","field":"year","value":2024})").narrowed->to_string() == "eq(year, 2024)");
    for (const char* reply :
         {"NO_FILTER", "no filter", "null", "{}", "[]", "None", "N/A", R"({"filter":"NO_FILTER"})"}) {
        CAPTURE(reply);
        CHECK(read(reply).decision == reply_decision::use);
        CHECK_FALSE(read(reply).narrowed);
    }
    CHECK(read("").decision == reply_decision::plain_query);
    CHECK(read(R"({"query":"policy"})").decision == reply_decision::drop_filter);
    CHECK(read(R"({"query":"policy"})").text == "policy");
    CHECK(read(R"([{"year":2024},{"section":"benefits"}])").decision == reply_decision::plain_query);
    CHECK(read(R"({"filter":{"year":2024},)").decision == reply_decision::plain_query);
}
