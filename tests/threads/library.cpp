// A library that changes, is saved and merged while eight threads search it in every way. The numbers are those of a
// catalogue of public failures.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "quarry/rank/diversify.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "quarry/store/save_library.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/living.hpp"

using namespace quarry;

namespace {

// Twenty seconds where races are looked for, and short where only their results could be seen. QUARRY_STRESS_SECONDS for
// another time.
#if defined(__SANITIZE_THREAD__)
constexpr int usual_seconds = 20;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr int usual_seconds = 20;
#else
constexpr int usual_seconds = 2;
#endif
#else
constexpr int usual_seconds = 2;
#endif

std::chrono::seconds stress_time() {
    const char* given = std::getenv("QUARRY_STRESS_SECONDS");
    return std::chrono::seconds(given ? std::atoi(given) : usual_seconds);
}

// Counts letters, like living::embedder, and has nothing that threads share.
struct shared_nothing {
    std::size_t dimension() const { return 26; }
    std::string name() const { return "letters"; }
    static constexpr bool zero_means_unknown = true;
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
        std::ranges::fill(rows, 0.0f);
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (const char c : texts[i])
                if (c >= 'a' && c <= 'z') rows[i * 26 + static_cast<std::size_t>(c - 'a')] += 1.0f;
    }
};

using stressed = library<shared_nothing>;

// Every answer is whole: its units are there, and its scores are in order.
template <class Search>
std::size_t wrong_in(const Search& search, const query& q) {
    std::size_t wrong = 0;
    const auto found = search.retrieve(q, 6);
    for (std::size_t i = 0; i < found.size(); ++i) {
        wrong += found.unit(found[i]).id().empty();
        wrong += i != 0 && found[i].score > found[i - 1].score;
        wrong += found.explain(found[i]).empty();
    }
    return wrong;
}

}  // namespace

TEST_CASE("eight threads search in every way while one changes, merges and saves a library") {  // 115, 116: hnswlib 29, voyager 61
    const temporary_folder folder;
    stressed kb({}, living::layers(), living::options(32));
    std::mt19937 random(1);
    for (int i = 0; i < 40; ++i) kb.upsert(living::random_article(random, std::to_string(i)));
    const auto end = std::chrono::steady_clock::now() + stress_time();
    std::atomic<std::size_t> wrong{0}, searches{0};
    std::vector<std::thread> running;
    for (std::size_t t = 0; t < 8; ++t)
        running.emplace_back([&, t] {
            const auto asked = living::questions();
            for (std::size_t i = t; std::chrono::steady_clock::now() < end; ++i) {
                const query& q = asked[i % asked.size()];
                const auto ask = [&](auto make) { wrong += wrong_in(over(kb, make), q); };
                switch (i / asked.size() % 5) {
                    case 0:
                        ask([](const generation& g) { return lexical(g.bm25()); });
                        break;
                    case 1:
                        ask([](const generation& g) { return dense(g.vectors(1), shared_nothing()); });
                        break;
                    case 2:
                        ask([](const generation& g) {
                            return hybrid(lexical(g.bm25(1)), dense(g.vectors(1), shared_nothing()));
                        });
                        break;
                    case 3:
                        ask([](const generation& g) {
                            return any_retriever(fuse(rrf{}, lexical(g.bm25()), dense(g.vectors(), shared_nothing())));
                        });
                        break;
                    default:
                        ask([](const generation& g) { return whole_article(lexical(g.bm25())); });
                }
                ++searches;
            }
        });
    std::size_t changes = 0, saves = 0;
    while (std::chrono::steady_clock::now() < end) {
        const std::string id = std::to_string(random() % 60);
        if (random() % 4 == 0)
            kb.remove(id);
        else
            kb.upsert(living::random_article(random, id));
        if (++changes % 16 == 0) kb.merge();
        if (changes % 8 == 0) {
            const std::size_t before = kb.now()->articles();
            save(folder / "kb", kb);
            stressed again({}, living::layers(), living::options(32));
            load(folder / "kb", again);
            wrong += again.now()->articles() != before;
            ++saves;
        }
    }
    for (auto& thread : running) thread.join();
    CHECK(wrong == 0);
    CHECK(searches > 8);
    CHECK(saves > 0);
}

TEST_CASE("a writer is not starved by readers") {  // 118: turbovec 533
    stressed kb({}, living::layers(), living::options());
    std::mt19937 random(2);
    for (int i = 0; i < 30; ++i) kb.upsert(living::random_article(random, std::to_string(i)));
    std::atomic<bool> done{false};
    std::vector<std::thread> readers;
    for (int t = 0; t < 8; ++t)
        readers.emplace_back([&] {
            while (!done) lexical(kb.now()->bm25()).retrieve("reset the password", 5);
        });
    // All of them end: a writer that had to wait for readers would not.
    for (int i = 0; i < 30; ++i) {
        kb.remove(std::to_string(i));
        kb.upsert(living::random_article(random, std::to_string(i)));
    }
    done = true;
    for (auto& thread : readers) thread.join();
    CHECK(kb.now()->articles() == 30);
}

TEST_CASE("eight threads that each add the first article to an empty library add eight") {  // 119: hnswlib 100
    for (int round = 0; round < 20; ++round) {
        stressed kb({}, living::layers(), living::options());
        std::atomic<int> ready{0};
        std::vector<std::thread> writers;
        for (int t = 0; t < 8; ++t)
            writers.emplace_back([&, t] {
                for (++ready; ready < 8;) std::this_thread::yield();
                kb.upsert({.id = std::to_string(t), .text = "word" + std::to_string(t)});
            });
        for (auto& thread : writers) thread.join();
        REQUIRE(kb.now()->articles() == 8);
        for (int t = 0; t < 8; ++t)
            REQUIRE(lexical(kb.now()->bm25()).retrieve("word" + std::to_string(t), 5).size() == 1);
    }
}

TEST_CASE("what two writers change while a third saves is in every file whole, and in order") {  // 117: hnswlib 590
    stressed kb({}, living::layers(), living::options(8));
    std::atomic<bool> done{false};
    std::vector<std::thread> writers;
    for (int t = 0; t < 2; ++t)
        writers.emplace_back([&, t] {
            for (int i = 0; !done; ++i)
                kb.upsert({.id = std::to_string(t) + "-" + std::to_string(i % 40), .text = "password " + std::to_string(i)});
        });
    const temporary_folder folder;
    std::size_t wrong = 0;
    for (int i = 0; i < 10; ++i) {
        const std::size_t before = kb.now()->articles();
        save(folder / "kb", kb);
        const std::size_t after = kb.now()->articles();
        stressed again({}, living::layers(), living::options(8));
        load(folder / "kb", again);
        const std::size_t there = again.now()->articles();
        wrong += there < before || there > after;
        wrong += lexical(again.now()->bm25(1)).retrieve("password", 100).size() != there;
    }
    done = true;
    for (auto& thread : writers) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("two libraries in two threads share nothing, and what one's embedder throws is its own caller's") {  // 120: hnswlib 306
    struct throwing {
        std::size_t dimension() const { return 2; }
        std::string name() const { return "throwing"; }
        void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
            std::ranges::fill(rows, 1.0f);
            if (texts.front() == "fails") throw std::runtime_error("no vector");
        }
    };
    std::atomic<std::size_t> thrown{0}, articles{0};
    std::vector<std::thread> running;
    for (int t = 0; t < 2; ++t)
        running.emplace_back([&] {
            std::vector<layer> layers;
            layers.emplace_back(identity{}, "1");
            library<throwing> kb({}, std::move(layers));
            for (int i = 0; i < 50; ++i) try {
                    kb.upsert({.id = std::to_string(i), .text = i % 5 == 0 ? "fails" : "word"});
                } catch (const std::runtime_error&) {
                    ++thrown;
                }
            articles += kb.now()->articles();
        });
    for (auto& thread : running) thread.join();
    CHECK(thrown == 20);
    CHECK(articles == 80);
}
