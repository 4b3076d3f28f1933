#include "quarry/core/trace.hpp"

#include <chrono>
#include <set>
#include <string>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("every code has a name of its own") {
    std::set<std::string_view> names;
    for (int code = 0; code <= static_cast<int>(trace_code::decided); ++code)
        names.insert(name_of(static_cast<trace_code>(code)));
    CHECK(names.size() == static_cast<std::size_t>(trace_code::decided) + 1);
    CHECK(name_of(trace_code::filtered) == "filtered");
    CHECK(name_of(trace_code::unknown) == "unknown");
}

TEST_CASE("an event prints as stage, code, what went in and what came out, and a value where there is one") {
    CHECK(to_string(trace_event{trace_code::searched, "bm25", 41, 12}) == "bm25: searched 41 -> 12");
    CHECK(to_string(trace_event{trace_code::floored, "floor", 12, 3, 0.25f}) == "floor: floored 12 -> 3 (0.25)");
}

TEST_CASE("a trace prints one line an event, in the order of the flow") {
    const trace t{{{trace_code::filtered, "query", 9, 4}, {trace_code::searched, "dense", 4, 4}}};
    CHECK(to_string(t) == "query: filtered 9 -> 4\ndense: searched 4 -> 4\n");
    CHECK(to_string(trace{}).empty());
    const trace remarked{{{trace_code::probed, "rewrite", 3, 2}}, {{"rewrite", "one text came twice"}}};
    CHECK(to_string(remarked) == "rewrite: probed 3 -> 2\nrewrite: one text came twice\n");
}

TEST_CASE("what an event took and cost is printed where there is something, and is no part of what is compared without times") {
    using namespace std::chrono_literals;
    trace_event e{.code = trace_code::reranked, .stage = "rerank", .in = 20, .out = 3, .value = .5f};
    e.spent = {.calls = 2, .texts = 1, .pairs = 20, .tokens = 7};
    const trace plain{{e}};
    e.took = 812'549ns;
    const trace timed{{e}};
    CHECK(to_string(e) == "rerank: reranked 20 -> 3 (0.5), calls 2, texts 1, pairs 20, tokens 7, 812.5 us");
    CHECK(to_json(timed) == R"({"events":[{"stage":"rerank","what":"reranked","in":20,"out":3,"value":0.5,"calls":2,)"
                            R"("texts":1,"pairs":20,"tokens":7,"nanoseconds":812549}],"remarks":[]})");
    CHECK_FALSE(timed == plain);
    CHECK(timed.without_times() == plain);
    CHECK(to_json(plain).find("nano") == std::string::npos);
}

TEST_CASE("finding gives the first event of a code, of a stage if one is named, else nothing") {
    const trace t{{{trace_code::searched, "bm25", 1, 1}, {trace_code::searched, "dense", 2, 2}}};
    CHECK(t.find(trace_code::searched)->stage == "bm25");
    CHECK(t.find(trace_code::searched, "dense")->in == 2);
    CHECK(t.find(trace_code::searched, "rrf") == nullptr);
    CHECK(t.find(trace_code::reranked) == nullptr);
}

TEST_CASE("a trace is one JSON object, whatever a model wrote into its remarks") {
    trace t;
    CHECK(to_json(t) == R"({"events":[],"remarks":[]})");
    t.events.push_back({trace_code::searched, "bm25", 41, 12});
    t.events.push_back({trace_code::floored, "floor", 12, 3, .5f});
    t.remarks.push_back({"narrow", "a \"quoted\"\nline \xFF"});
    CHECK(to_json(t) ==
          "{\"events\":[{\"stage\":\"bm25\",\"what\":\"searched\",\"in\":41,\"out\":12},"
          "{\"stage\":\"floor\",\"what\":\"floored\",\"in\":12,\"out\":3,\"value\":0.5}],"
          "\"remarks\":[{\"stage\":\"narrow\",\"text\":\"a \\\"quoted\\\"\\nline \xEF\xBF\xBD\"}]}");
}
