#include "quarry/model/concurrent.hpp"

#include <atomic>
#include <set>
#include <thread>

#include "quarry/model/budgeted.hpp"
#include "quarry/model/cache.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;
using namespace std::chrono_literals;

namespace {

std::vector<prompt> numbered(std::size_t n) {
    std::vector<prompt> out;
    for (std::size_t i = 0; i < n; ++i) out.emplace_back(std::to_string(i));
    return out;
}

std::vector<prompt> of_document(const std::string& name, std::size_t chunks) {
    prompt_writer w;
    w.say(name).share();
    std::vector<prompt> out;
    for (std::size_t i = 0; i < chunks; ++i) out.push_back(prompt_writer(w).say(std::to_string(i)).finish());
    return out;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

scripted_generator echo() {
    return scripted_generator([](const prompt& p) { return completion("re: " + p.text()); }, "m");
}

// Replies, or what the exception said, or nothing.
std::vector<std::string> said(const call_results& r) {
    std::vector<std::string> out;
    for (const call_result& item : r.items) {
        std::string text = item.reply ? item.reply->text : "";
        if (item.failure) {
            try {
                std::rethrow_exception(item.failure);
            } catch (const std::exception& e) {
                text = std::string("! ") + e.what();
            }
        }
        out.push_back(text);
    }
    return out;
}

}  // namespace

TEST_CASE("replies stand in the order of the prompts, even when they come back in the opposite order") {
    // Call i waits until every later one is back: 6 calls in flight end in the order 5, 4, ..., 0.
    std::atomic<int> back = 0;
    const auto backwards = [&](std::string_view p) {
        while (back < 5 - std::stoi(std::string(p))) std::this_thread::yield();
        ++back;
        return "re: " + std::string(p);
    };
    std::vector<std::size_t> arrival;
    const auto prompts = numbered(6);
    const auto r = ask_all(backwards, prompts,
                           {.at_once = 6, .keep = [&](std::size_t i, const completion&) { arrival.push_back(i); }});
    CHECK(said(r) == std::vector<std::string>{"re: 0", "re: 1", "re: 2", "re: 3", "re: 4", "re: 5"});
    CHECK(arrival.size() == 6);
    CHECK_FALSE(r.ended);
    CHECK(said(r) ==
          said(ask_all([](std::string_view p) { return "re: " + std::string(p); }, prompts)));  // the dull twin
}

TEST_CASE("with one call at a time no thread is started") {
    std::set<std::thread::id> threads;
    const auto g = [&](std::string_view) {
        threads.insert(std::this_thread::get_id());
        return std::string();
    };
    ask_all(g, numbered(5), {});
    CHECK(threads == std::set{std::this_thread::get_id()});
}

TEST_CASE("no more calls are in flight than allowed, and as many as that") {
    std::atomic<int> inside = 0;
    const auto g = scripted_generator([&](const prompt&) {
        ++inside;
        for (int i = 0; i < 100000 && inside < 3; ++i) std::this_thread::yield();  // until the three have met
        return completion("x");
    });
    ask_all(g, numbered(12), {.at_once = 3});
    CHECK(g.most_in_flight() == 3);
    CHECK(g.calls() == 12);
}

TEST_CASE("a call that fails loses no other, for every call and any number in flight") {
    for (const std::size_t at_once : {1u, 2u, 4u})
        for (std::size_t n = 0; n < 6; ++n) {
            const auto g = [n](std::string_view p) {
                if (p == std::to_string(n)) throw std::runtime_error("no " + std::to_string(n));
                return "re: " + std::string(p);
            };
            std::vector<std::string> expected;
            for (std::size_t i = 0; i < 6; ++i) expected.push_back((i == n ? "! no " : "re: ") + std::to_string(i));
            const auto r = ask_all(g, numbered(6), {.at_once = at_once});
            CHECK(said(r) == expected);
            CHECK_FALSE(r.ended);
            CHECK(r.progress.failed == 1);
            CHECK(r.progress.done == 5);
        }
}

TEST_CASE("the first call of a document is back before the others of it start, whatever else is in flight") {
    std::vector<prompt> prompts;
    for (const char* name : {"a", "b", "c"}) append(prompts, of_document(name, 5));
    std::mutex mutex;
    std::set<std::string> warm;
    std::atomic<int> early = 0;
    const auto g = scripted_generator([&](const prompt& p) {
        const std::string document(p.shared());
        const bool first = p.fresh() == "\n\n0";
        for (int i = 0; first && i < 200; ++i) std::this_thread::yield();
        const std::lock_guard lock(mutex);
        if (first) warm.insert(document);
        else if (!warm.contains(document)) ++early;
        return completion("x");
    });
    const auto r = ask_all(g, prompts, {.at_once = 6});
    CHECK(early == 0);
    CHECK(r.progress.done == 15);
    CHECK(g.most_in_flight() >= 2);
    // One at a time the order is that of the prompts.
    const auto h = echo();
    ask_all(h, prompts);
    CHECK(h.asked() == prompts);
}

TEST_CASE("when the first call of a document fails, the next goes alone in its place") {
    const auto prompts = of_document("a", 6);
    std::atomic<int> in_flight = 0, most_before_success = 0, succeeded = 0;
    const auto g = scripted_generator([&](const prompt& p) {
        const int now = ++in_flight;
        if (succeeded == 0 && now > most_before_success) most_before_success = now;
        for (int i = 0; i < 200; ++i) std::this_thread::yield();
        --in_flight;
        if (p.fresh() == "\n\n0" || p.fresh() == "\n\n1") throw std::runtime_error("busy");
        ++succeeded;
        return completion("x");
    });
    const auto r = ask_all(g, prompts, {.at_once = 4});
    CHECK(most_before_success == 1);
    CHECK(r.progress.failed == 2);
    CHECK(r.progress.done == 4);
}

TEST_CASE("what our own cache remembers does not count as having warmed the provider's") {
    const auto prompts = of_document("a", 4);
    reply_store store;
    generate(cached(echo(), store), prompts[0]);
    std::atomic<int> in_flight = 0, most_before_success = 0, succeeded = 0;
    const auto g = scripted_generator(
        [&](const prompt&) {
            const int now = ++in_flight;
            if (succeeded == 0 && now > most_before_success) most_before_success = now;
            for (int i = 0; i < 200; ++i) std::this_thread::yield();
            --in_flight;
            ++succeeded;
            return completion("x");
        },
        "m");
    const auto r = ask_all(cached(g, store), prompts, {.at_once = 4});
    CHECK(most_before_success == 1);
    CHECK(r.progress.remembered == 1);
    CHECK(g.calls() == 3);
}

TEST_CASE("a spent budget ends the run, keeps what came, and asks nothing more") {
    for (const std::size_t at_once : {1u, 3u}) {
        const auto g = echo();
        std::atomic<std::size_t> kept = 0;
        const auto r = ask_all(budgeted(g, {.calls = 4}), numbered(10),
                               {.at_once = at_once, .keep = [&](std::size_t, const completion&) { ++kept; }});
        CHECK(g.calls() == 4);
        CHECK(kept == 4);
        REQUIRE(r.ended);
        CHECK(code_of([&] { r.rethrow_if_ended(); }) == "budget.calls");
        CHECK(std::ranges::count_if(r.items, [](const call_result& i) { return i.reply.has_value(); }) == 4);
        CHECK(std::ranges::count_if(r.items, [](const call_result& i) { return i.failure != nullptr; }) <=
              static_cast<std::ptrdiff_t>(at_once));
    }
}

TEST_CASE("a stop reaches calls in flight and ends the run") {
    std::stop_source source;
    const auto g = echo();
    g.hang_at(3);
    g.hang_at(4);
    call_results r;
    {
        std::jthread watcher([&] {
            while (g.calls() < 4) std::this_thread::yield();
            source.request_stop();
        });
        r = ask_all(g, numbered(50), {.at_once = 2, .stop = source.get_token()});
    }
    CHECK(g.calls() == 4);
    CHECK(r.progress.done == 2);
    CHECK(r.progress.failed == 2);
    CHECK(code_of([&] { r.rethrow_if_ended(); }) == "generator.stopped");
    // Stopped beforehand: nothing is asked.
    CHECK(code_of([&] { ask_all(g, numbered(3), {.stop = source.get_token()}).rethrow_if_ended(); }) ==
          "generator.stopped");
    CHECK(g.calls() == 4);
}

TEST_CASE("a callback that throws ends the run with its exception, and replies in flight are still offered") {
    const auto g = echo();
    std::size_t offered = 0;
    const asking_options options{.keep = [&](std::size_t item, const completion&) {
        ++offered;
        if (item == 2) throw std::runtime_error("disk full");
    }};
    CHECK_THROWS_WITH(ask_all(g, numbered(10), options), "disk full");
    CHECK(offered == 3);
    CHECK(g.calls() == 3);
}

TEST_CASE("a server that is down is not asked a thousand times, if the caller says so") {
    const auto g =
        scripted_generator([](const prompt&) -> completion { throw std::runtime_error("connection refused"); });
    const auto r = ask_all(g, numbered(1000), {.give_up_after = 5});
    CHECK(g.calls() == 5);
    std::string message;
    try {
        r.rethrow_if_ended();
    } catch (const cancelled& e) {
        message = e.what();
    }
    CHECK(message.find("connection refused") != std::string::npos);
    CHECK(message.find("calls.given_up") != std::string::npos);
    // Failures with successes between them are no outage.
    const auto h = scripted_generator([](const prompt& p) -> completion {
        if (std::stoi(p.text()) % 5 != 0) throw std::runtime_error("now and then");
        return "x";
    });
    CHECK_FALSE(ask_all(h, numbered(100), {.give_up_after = 5}).ended);
    CHECK(ask_all(g, numbered(100), {}).progress.failed == 100);
}

TEST_CASE("something that is no std::exception is a failure like any other") {
    const auto g = echo();
    g.at(2, [](std::stop_token) -> completion { throw 42; });
    const auto r = ask_all(g, numbered(3));
    CHECK(r.items[0].reply);
    CHECK(r.items[1].failure);
    CHECK(r.items[2].reply);
}

TEST_CASE(
    "a generator that takes many is asked in batches, and a batch that fails costs only the one that made it fail") {
    std::vector<std::size_t> sizes;
    const auto many = [&](std::span<const prompt> prompts) {
        sizes.push_back(prompts.size());
        std::vector<completion> out;
        for (const prompt& p : prompts) {
            if (p.text() == "5") throw std::runtime_error("too long");
            out.emplace_back("re: " + p.text());
        }
        return out;
    };
    const auto r = ask_all(many, numbered(10), {.batch = 4});
    // 0-3 and 8-9 as they are; 4-7 halved into 4-5, which is halved again, and 6-7.
    CHECK(sizes == std::vector<std::size_t>{4, 4, 2, 1, 1, 2, 2});
    CHECK(said(r) == std::vector<std::string>{"re: 0", "re: 1", "re: 2", "re: 3", "re: 4", "! too long", "re: 6",
                                              "re: 7", "re: 8", "re: 9"});
}

TEST_CASE("a batch with a reply too few is an error with both numbers, and no reply moves to its neighbour") {
    // Whoever loses a reply loses it in halves too: three of four, then one of two, and single ones come through.
    const auto loses_one = [](std::span<const prompt> prompts) {
        std::vector<completion> out;
        for (const prompt& p : prompts) out.emplace_back("re: " + p.text());
        if (out.size() > 1) out.pop_back();
        return out;
    };
    CHECK(said(ask_all(loses_one, numbered(4), {.batch = 4})) ==
          std::vector<std::string>{"re: 0", "re: 1", "re: 2", "re: 3"});
    const auto gives_none = [](std::span<const prompt>) { return std::vector<completion>{}; };
    const auto r = ask_all(gives_none, numbered(1));
    CHECK(said(r)[0].find("expected 1 replies for 1 prompts, got 0 [generator.count]") != std::string::npos);
}

TEST_CASE("progress adds up tokens and dollars and estimates the end from calls that were really made") {
    auto now = std::chrono::steady_clock::time_point{};
    const auto g = scripted_generator([&](const prompt& p) {
        completion c("x", false, token_usage{.input = 500'000});
        c.remembered = p.text() == "0";
        if (!c.remembered) now += 10s;
        return c;
    });
    std::vector<call_progress> seen;
    asking_options options{.progress = [&](const call_progress& p) { seen.push_back(p); }, .price = {.input = 2.0}};
    options.now = [&] { return now; };
    ask_all(g, numbered(5), options);
    REQUIRE(seen.size() == 5);
    CHECK(seen[0].remembered == 1);
    CHECK_FALSE(seen[0].left);
    CHECK(seen[0].dollars == 0.0);
    CHECK(seen[2].done == 3);
    CHECK(seen[2].dollars == Approx(2.0));  // two calls of half a million
    CHECK(seen[2].elapsed == 20s);
    REQUIRE(seen[2].left);
    CHECK(*seen[2].left == 20s);  // two are left at ten seconds each
    CHECK_FALSE(seen[3].finished());
    CHECK(seen[4].finished());
    CHECK(seen[4].tokens.input == 2'000'000);
}

TEST_CASE("nothing to ask is answered at once, and numbers that make no sense are refused") {
    CHECK(ask_all(echo(), {}, {.at_once = 8}).items.empty());
    CHECK(code_of([] { ask_all(echo(), {}, {.at_once = 0}); }) == "calls.options");
    CHECK(code_of([] { ask_all(echo(), {}, {.batch = 0}); }) == "calls.options");
    CHECK(code_of([] { ask_all(echo(), {}, {.price = {.input = -1}}); }) == "price.value");
}

TEST_CASE("a hundred thousand prompts take time in proportion") {
    const auto g = [](const prompt&) { return completion("x"); };
    const auto prompts = numbered(100'000);
    CHECK(ask_all(g, prompts).progress.done == 100'000);
    CHECK(ask_all(g, prompts, {.at_once = 4}).progress.done == 100'000);
}
