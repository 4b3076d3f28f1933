#include "quarry/model/record.hpp"

#include <unistd.h>

#include <filesystem>

#include "quarry/model/concurrent.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

// A path that nobody else has, removed at the end.
struct scratch {
    std::string path = (std::filesystem::temp_directory_path() /
                        ("quarry_record_" + std::to_string(getpid()) + "_" + std::to_string(next())))
                           .string();
    ~scratch() { std::filesystem::remove(path); }
    static int next() {
        static int n = 0;
        return n++;
    }
};

scripted_generator echo() {
    return scripted_generator(
        [](const prompt& p) {
            return completion("re: " + p.text() + " \xC3\xA9 \"quoted\"\n", p.text() == "1", token_usage{1, 2, 3, 4});
        },
        "qwen");
}

std::vector<prompt> numbered(std::size_t n) {
    std::vector<prompt> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(prompt_writer("v").say(std::to_string(i)).finish());
    return out;
}

recorded_reply example() {
    recorded_reply r;
    r.model = "m";
    r.version = "v/1";
    r.prompt = prompt("p").fingerprint();
    r.reply = completion("text", true, token_usage{1, 2, 3, 4});
    return r;
}

void check_equal(const recorded_reply& a, const recorded_reply& b) {
    CHECK(a.model == b.model);
    CHECK(a.version == b.version);
    CHECK(a.prompt == b.prompt);
    CHECK(a.reply == b.reply);
    CHECK(a.failed == b.failed);
}

}  // namespace

TEST_CASE("a line reads back equal, whatever bytes a model wrote") {
    check_equal(from_json_line(to_json_line(example())), example());
    for (const std::string& text :
         {std::string(), std::string("a\0b", 3), std::string("\xFF\xC3"), std::string("\xEF\xBF\xBD"),
          std::string("{\"a\": 1}\r\n\t\\"), std::string("\xED\xA0\x80")}) {
        recorded_reply r = example();
        r.reply = completion(text);
        r.model = text;
        check_equal(from_json_line(to_json_line(r)), r);
        r.failed = true;
        check_equal(from_json_line(to_json_line(r)), r);
        CHECK(std::ranges::count(to_json_line(r), '\n') == 1);
    }
}

TEST_CASE("a line shows what it is to people") {
    // The digest of the prompt is the only thing here that one cannot read.
    const std::string digest = detail::hexadecimal(prompt("p").fingerprint());
    CHECK(to_json_line(example()) ==
          R"({"model":"m","version":"v/1","prompt":")" + digest +
              R"(","text":"text","cut_off":true,"used":{"input":1,"cache_write":2,"cache_read":3,"output":4}})"
              "\n");
}

TEST_CASE("lines that nobody wrote here are errors with their number") {
    const std::string good = to_json_line(example());
    for (const std::string bad : {"{", "[]", "{}", "null", R"({"model":"m","version":"v","prompt":"00","text":"t"})",
                                  R"({"model":1,"version":"v","prompt":"00","text":"t"})"})
        CHECK(code_of([&] { from_json_line(bad); }) == "record.line");
    const auto changed = [&](std::string_view from, std::string_view to) {
        std::string line = good;
        line.replace(line.find(from), from.size(), to);
        return code_of([&] { from_json_line(line); });
    };
    CHECK(changed("\"input\":1", "\"input\":-1") == "record.line");
    CHECK(changed("\"input\":1", "\"in\":1") == "record.line");
    CHECK(changed("\"cut_off\":true", "\"cut_off\":1") == "record.line");
    CHECK(changed("\"text\":\"text\"", "\"text_bytes\":\"f\"") == "record.line");
    CHECK(changed("\"text\":\"text\"", "\"text_bytes\":\"zz\"") == "record.line");
    CHECK(changed("\"used\":{", "\"used\":7,\"was\":{") == "record.line");
    const std::string message = message_of([&] { parse_replies(good + good + "{\n" + good); });
    CHECK(message.find("line 3") != std::string::npos);
}

TEST_CASE("a line that a crash cut off is left out, and the next one does not join it") {
    const std::string good = to_json_line(example());
    for (std::size_t cut = 1; cut < good.size(); cut += 17) {
        const std::string torn = good + good.substr(0, cut);
        CHECK(parse_replies(torn).size() == 1);
        scratch s;
        detail::write_file(s.path, torn);
        reply_file(s.path).append(example());
        CHECK(read_replies(s.path).size() == 2);
    }
    CHECK(parse_replies("").empty());
    CHECK(parse_replies(good.substr(0, 5)).empty());
    CHECK(parse_replies(good + "\n\n" + good).size() == 2);
}

TEST_CASE("what was recorded replays bit for bit, failures included") {
    scratch s;
    const auto prompts = numbered(20);
    const auto g = echo();
    g.fail_at(7, "overloaded");
    call_results live;
    {
        reply_file file(s.path);
        live = ask_all(recording(g, file), prompts);
    }
    for (const std::size_t at_once : {1u, 4u}) {
        const auto offline = replaying(read_replies(s.path));
        CHECK(offline.name() == "qwen");
        const auto again = ask_all(offline, prompts, {.at_once = at_once});
        REQUIRE(again.items.size() == 20);
        for (std::size_t i = 0; i < 20; ++i) CHECK(again.items[i].reply == live.items[i].reply);
        CHECK(code_of([&] { std::rethrow_exception(again.items[6].failure); }) == "replay.failure");
        CHECK(message_of([&] { std::rethrow_exception(again.items[6].failure); }).find("overloaded") !=
              std::string::npos);
    }
    CHECK(g.calls() == 20);
}

TEST_CASE("a prompt that was never asked is an error that quotes it") {
    const auto offline = replaying({example()});
    CHECK(generate(offline, "p").text == "text");
    CHECK(code_of([&] { generate(offline, "q"); }) == "replay.unknown");
    CHECK(message_of([&] { generate(offline, "what is this"); }).find("what is this") != std::string::npos);
}

TEST_CASE("what was asked twice is answered in order, and then by the last") {
    auto first = example(), second = example();
    first.failed = true;
    first.reply = completion("busy");
    second.reply = completion("then");
    const auto offline = replaying({first, second});
    CHECK(code_of([&] { generate(offline, "p"); }) == "replay.failure");
    CHECK(generate(offline, "p").text == "then");
    CHECK(generate(offline, "p").text == "then");
}

TEST_CASE("a recording of several models asks which one is meant") {
    auto small = example(), large = example();
    large.model = "large";
    large.reply = completion("from large");
    CHECK(code_of([&] { replaying({small, large}); }) == "replay.model");
    CHECK(generate(replaying({small, large}, "large"), "p").text == "from large");
    CHECK(code_of([&] { generate(replaying({small}, "other"), "p"); }) == "replay.unknown");
}

TEST_CASE("a stop is not recorded, and a file that cannot be written is an error") {
    scratch s;
    const auto g = echo();
    g.at(1, [](std::stop_token) -> completion { throw cancelled("budget.calls", "no more"); });
    {
        reply_file file(s.path);
        CHECK(code_of([&] { generate(recording(g, file), "p"); }) == "budget.calls");
    }
    CHECK(read_replies(s.path).empty());
    CHECK(code_of([] { reply_file file("/nowhere/at/all"); }) == "file.open");
    CHECK(code_of([] { read_replies("/nowhere/at/all"); }) == "file.open");
}

TEST_CASE("a file of replies is the journal of a cache: a second run makes only the missing calls") {
    scratch s;
    const auto prompts = numbered(10);
    const auto run = [&](const scripted_generator& g, std::size_t at_once) {
        reply_file file(s.path);
        reply_store store([&](const paid_reply& r) { file.append(r); });
        for (const recorded_reply& r : read_replies(s.path))
            if (!r.failed) store.insert(r);
        std::vector<std::string> out;
        for (const call_result& item : ask_all(cached(g, store), prompts, {.at_once = at_once}).items)
            out.push_back(item.reply ? item.reply->text : "");
        return out;
    };
    std::vector<std::string> undisturbed;
    for (const prompt& p : prompts) undisturbed.push_back(generate(echo(), p).text);

    const auto first = echo();
    for (const std::size_t call : {2u, 5u, 9u}) first.fail_at(call);
    run(first, 3);
    const auto second = echo();
    CHECK(run(second, 3) == undisturbed);
    CHECK(second.calls() == 3);
    const auto third = echo();
    CHECK(run(third, 1) == undisturbed);
    CHECK(third.calls() == 0);
}
