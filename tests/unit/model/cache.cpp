#include "quarry/model/cache.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

scripted_generator echo(std::string name = "m") {
    return scripted_generator(
        [](const prompt& p) { return completion("re: " + p.text(), false, token_usage{.output = 2}); },
        std::move(name));
}

prompt with_version(std::string version, std::string_view text) {
    return prompt_writer(std::move(version)).say(text).finish();
}

}  // namespace

TEST_CASE("the same question is asked once, and the second answer says that it was remembered") {
    reply_store store;
    const auto g = echo();
    const auto c = cached(g, store);
    const completion first = generate(c, "x"), second = generate(c, "x");
    CHECK(first.text == "re: x");
    CHECK_FALSE(first.remembered);
    CHECK(second.text == "re: x");
    CHECK(second.remembered);
    CHECK(second.used == first.used);
    CHECK(g.calls() == 1);
    CHECK(store.size() == 1);
}

TEST_CASE("another text, another version of the prompt and another model are other questions") {
    reply_store store;
    const auto g = echo("small"), h = echo("large");
    generate(cached(g, store), with_version("1", "x"));
    generate(cached(g, store), with_version("2", "x"));
    generate(cached(g, store), with_version("1", "y"));
    generate(cached(h, store), with_version("1", "x"));
    CHECK(g.calls() == 3);
    CHECK(h.calls() == 1);
    generate(cached(echo(), store, "small"), with_version("1", "x"));  // the name is what counts
    CHECK(store.size() == 4);
}

TEST_CASE("a generator without a name must be given one") {
    reply_store store;
    const auto f = [](std::string_view) { return "x"; };
    CHECK(code_of([&] { cached(f, store); }) == "cache.model");
    CHECK(cached(f, store, "m").name() == "m");
    CHECK(cached(echo("own"), store).name() == "own");
}

TEST_CASE("every paid reply is handed over as it arrives, once") {
    std::vector<paid_reply> kept;
    reply_store store([&](const paid_reply& r) { kept.push_back(r); });
    const auto g = echo();
    g.fail_at(2);
    const auto c = cached(g, store);
    generate(c, with_version("v", "a"));
    CHECK(kept.size() == 1);
    CHECK_THROWS_AS(generate(c, with_version("v", "b")), std::runtime_error);
    CHECK(kept.size() == 1);
    generate(c, with_version("v", "a"));
    CHECK(kept.size() == 1);
    CHECK(kept[0].model == "m");
    CHECK(kept[0].version == "v");
    CHECK(kept[0].reply.text == "re: a");
    CHECK(kept[0].prompt == with_version("v", "a").fingerprint());
}

TEST_CASE("a store that is filled from what was kept makes only the missing calls") {
    std::vector<paid_reply> kept;
    const std::vector<std::string> questions{"a", "b", "c", "d"};
    {
        reply_store store([&](const paid_reply& r) { kept.push_back(r); });
        const auto g = echo();
        g.fail_at(3);
        for (const auto& q : questions) {
            try {
                generate(cached(g, store), q);
            } catch (const std::runtime_error&) {
                break;  // the run dies here
            }
        }
    }
    CHECK(kept.size() == 2);
    reply_store store([&](const paid_reply& r) { kept.push_back(r); });
    for (const paid_reply& r : std::vector(kept)) store.insert(r);
    const auto g = echo();
    std::vector<std::string> answers;
    for (const auto& q : questions) answers.push_back(generate(cached(g, store), q).text);
    CHECK(g.calls() == 2);
    CHECK(kept.size() == 4);
    CHECK(answers == std::vector<std::string>{"re: a", "re: b", "re: c", "re: d"});
}

TEST_CASE("a reply that cannot be kept stays in memory and stops the run") {
    reply_store store([](const paid_reply&) { throw std::runtime_error("disk full"); });
    const auto g = echo();
    const auto c = cached(g, store);
    std::string message;
    try {
        generate(c, "a");
    } catch (const cancelled& e) {
        message = e.what();
    }
    CHECK(message.find("disk full") != std::string::npos);
    CHECK(message.find("cache.not_kept") != std::string::npos);
    CHECK(generate(c, "a").remembered);
    CHECK(g.calls() == 1);
    reply_store odd([](const paid_reply&) { throw 42; });
    CHECK(code_of([&] { generate(cached(g, odd), "a"); }) == "cache.not_kept");
}

TEST_CASE("the same question from many threads is asked once") {
    std::atomic<int> waiting = 0;
    reply_store store;
    const auto g = scripted_generator(
        [&](const prompt& p) {
            while (waiting < 8) std::this_thread::yield();  // until everybody is about to ask
            return completion("re: " + p.text());
        },
        "m");
    std::atomic<int> remembered = 0, right = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                ++waiting;
                const completion c = generate(cached(g, store), "x");
                remembered += c.remembered;
                right += c.text == "re: x";
            });
    }
    CHECK(g.calls() == 1);
    CHECK(remembered == 7);
    CHECK(right == 8);
}

TEST_CASE("when the one who asks fails, those who waited ask themselves") {
    std::atomic<int> waiting = 0;
    reply_store store;
    const auto g = scripted_generator([&](const prompt&) { return completion("fine"); }, "m");
    g.at(1, [&](std::stop_token) -> completion {
        while (waiting < 4) std::this_thread::yield();
        throw std::runtime_error("first");
    });
    std::atomic<int> failed = 0, answered = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                ++waiting;
                try {
                    answered += generate(cached(g, store), "x").text == "fine";
                } catch (const std::runtime_error&) {
                    ++failed;
                }
            });
    }
    CHECK(failed == 1);
    CHECK(answered == 3);
    CHECK(g.calls() == 2);
}

TEST_CASE("who waits for somebody else's answer can be stopped") {
    reply_store store;
    std::stop_source one, two;
    const auto g = echo();
    g.hang_at(1);
    std::string code;
    {
        std::jthread asking([&] {
            try {
                generate(cached(g, store), "x", one.get_token());
            } catch (const std::runtime_error&) {
            }
        });
        while (g.calls() == 0) std::this_thread::yield();
        std::jthread waiting([&] { code = code_of([&] { generate(cached(g, store), "x", two.get_token()); }); });
        two.request_stop();
        waiting.join();
        one.request_stop();
    }
    CHECK(code == "generator.stopped");
    CHECK(g.calls() == 1);
}

TEST_CASE("a cache says beforehand what it would not have to ask") {
    reply_store store;
    const auto c = cached(echo(), store);
    CHECK_FALSE(c.remembers("x"));
    generate(c, "x");
    CHECK(c.remembers("x"));
    CHECK_FALSE(c.remembers("y"));
}
