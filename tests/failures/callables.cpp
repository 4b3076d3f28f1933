// Embedders and other callables as they misbehave: cases 98 to 102 of a catalogue of public failures.
#include <atomic>
#include <bit>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using texts_span = std::span<const std::string_view>;
using rows_type = std::vector<std::vector<float>>;

// A row that says which text it belongs to: its length, its first letter, its last.
std::vector<float> row_of(std::string_view text) {
    return {static_cast<float>(text.size()), static_cast<float>(text.front()), static_cast<float>(text.back()), 1.0f};
}
rows_type rows_of(texts_span texts) {
    rows_type out;
    for (const std::string_view text : texts) out.push_back(row_of(text));
    return out;
}

corpus numbered(std::size_t n) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < n; ++i)
        texts.push_back(std::string(i % 7 + 1, static_cast<char>('a' + i % 26)) + std::to_string(i));
    return toy::corpus_of(texts);
}

// An embedder that is good until it is told otherwise.
struct moody {
    std::shared_ptr<std::function<rows_type(role, texts_span)>> mood =
        std::make_shared<std::function<rows_type(role, texts_span)>>();

    rows_type operator()(role r, texts_span texts) const { return *mood ? (*mood)(r, texts) : rows_of(texts); }
};

// What a base answers, to the bit.
template <class Search>
std::string answers(const Search& search) {
    std::string out;
    for (const char* question : {"a0", "bb", "zzz25", "c2"})
        for (const auto& h : search.retrieve(question, 10))
            out += std::to_string(index_of(h.unit)) + '/' + std::to_string(std::bit_cast<std::uint32_t>(h.score)) + ' ';
    return out;
}

struct refused {
    const char* code;
    const char* says;
    std::function<rows_type(role, texts_span)> mood;
};

}  // namespace

// ---------------------------------------------------------------------------------------------------- cases 98 and 99

TEST_CASE("fewer, more, ragged or empty vectors are refused with both numbers and change nothing") {
    const corpus c = numbered(25);
    const moody function;
    const auto embed = make_embedder(4, function, {.name = "stub", .batch = 0});
    const knowledge_base kb = build(c, identity{}, embed);
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed));
    const std::string before = answers(search);
    const std::size_t bytes = kb.vectors.index.memory() + kb.bm25.index.memory();

    const refused building[] = {
        {"embedder.count", "expected 25 rows for 25 texts, got 20",
         [](role, texts_span texts) {
             rows_type rows = rows_of(texts);
             rows.erase(rows.begin() + 10, rows.begin() + 15);  // from the middle: later rows would shift
             return rows;
         }},
        {"embedder.count", "got 0", [](role, texts_span) { return rows_type{}; }},
        {"embedder.count", "got 26",
         [](role, texts_span texts) {
             rows_type rows = rows_of(texts);
             rows.push_back(rows.front());
             return rows;
         }},
        {"embedder.dimension", "row 24 should have 4 floats, it has 3",
         [](role, texts_span texts) {
             rows_type rows = rows_of(texts);
             rows.back().pop_back();
             return rows;
         }},
        {"embedder.dimension", "row 7 should have 4 floats, it has 0",
         [](role, texts_span texts) {
             rows_type rows = rows_of(texts);
             rows[7].clear();
             return rows;
         }},
        {"embedder.dimension", "row 0 should have 4 floats, it has 5",
         [](role, texts_span texts) { return rows_type(texts.size(), std::vector<float>(5, 1.0f)); }},
    };
    for (const refused& bad : building) {
        CAPTURE(bad.says);
        *function.mood = bad.mood;
        CHECK(code_of([&] { build(c, identity{}, embed); }) == bad.code);
        CHECK(message_of([&] { build(c, identity{}, embed); }).find(bad.says) != std::string::npos);
    }
    const refused asking[] = {
        {"embedder.count", "expected 1 rows for 1 texts, got 0", [](role, texts_span) { return rows_type{}; }},
        {"embedder.count", "got 2",
         [](role, texts_span) {
             return rows_type(2, {1, 2, 3, 4});
         }},
        {"embedder.dimension", "row 0 should have 4 floats, it has 0", [](role, texts_span) { return rows_type(1); }},
        {"embedder.dimension", "it has 5",
         [](role, texts_span) {
             return rows_type(1, {1, 2, 3, 4, 5});
         }},
        {"embedder.zero_vector", "\"a0\"",
         [](role, texts_span) {
             return rows_type(1, {0, 0, 0, 0});
         }},
    };
    for (const refused& bad : asking) {
        CAPTURE(bad.says);
        *function.mood = bad.mood;
        CHECK(code_of([&] { search.retrieve("a0", 5); }) == bad.code);
        CHECK(message_of([&] { search.retrieve("a0", 5); }).find(bad.says) != std::string::npos);
        *function.mood = nullptr;
        CHECK(answers(search) == before);
    }
    CHECK(kb.vectors.index.memory() + kb.bm25.index.memory() == bytes);
}

TEST_CASE("a batch of another width than the one before is refused by its row") {
    const corpus c = numbered(9);
    std::size_t calls = 0;
    const auto embed = make_embedder(
        4, [&](texts_span texts) { return rows_type(texts.size(), std::vector<float>(++calls == 2 ? 5 : 4, 1.0f)); },
        {.batch = 0});
    build_options options;
    options.batch = 3;
    CHECK(code_of([&] { build(c, identity{}, embed, options); }) == "embedder.dimension");
}

TEST_CASE("an index of another width than its embedder is refused when the two are put together") {
    const corpus c = numbered(3);
    const auto four = make_embedder(4, [](std::string_view text) { return row_of(text); });
    const auto five = make_embedder(5, [](std::string_view) { return std::vector<float>(5, 1.0f); }, {.name = "five"});
    const knowledge_base kb = build(c, identity{}, four);
    CHECK(code_of([&] { dense(kb.vectors, five); }) == "dense.dimension");
    CHECK(message_of([&] { dense(kb.vectors, five); }).find("rows of 4, five makes rows of 5") != std::string::npos);
}

// ----------------------------------------------------------------------------------------------------------- case 100

TEST_CASE("an exception of any kind at any call comes out as it is, and everything is what it was") {
    corpus c = numbered(5);
    const moody function;
    const auto embed = make_embedder(4, function, {.batch = 1});
    const knowledge_base kb = build(c, identity{}, embed);
    const auto search = dense(kb.vectors, embed);
    const std::string before = answers(search);
    const source_state state = c.state();
    for (std::size_t fail = 1; fail <= 5; ++fail) {
        std::size_t calls = 0;
        const auto failing = [&](auto thrown) {
            calls = 0;
            *function.mood = [&calls, fail, thrown](role, texts_span texts) -> rows_type {
                if (++calls == fail) throw thrown;
                return rows_of(texts);
            };
        };
        CAPTURE(fail);
        failing(std::runtime_error("no network"));
        CHECK_THROWS_WITH(build(c, identity{}, embed), "no network");
        CHECK(calls == fail);
        failing(std::bad_alloc());
        CHECK_THROWS_AS(build(c, identity{}, embed), std::bad_alloc);
        failing(42);
        CHECK_THROWS_AS(build(c, identity{}, embed), int);
        CHECK(c.state() == state);
    }
    *function.mood = [](role, texts_span) -> rows_type { throw 42; };
    CHECK_THROWS_AS(search.retrieve("a0", 3), int);
    CHECK_THROWS_AS(search.retrieve(std::vector<query>{"a0", "b1"}, 3), int);
    *function.mood = nullptr;
    CHECK(answers(search) == before);
    const knowledge_base again = build(c, identity{}, embed);
    CHECK(answers(dense(again.vectors, embed)) == before);
}

TEST_CASE("a judge that throws or miscounts is passed on or refused, and the next question is answered") {
    const corpus c = toy::corpus_of({"apple", "apple pear", "apple plum"});
    const lexical_base kb = build(c, identity{});
    int mood = 0;
    const auto search = lexical(kb.bm25) | rerank([&](std::string_view, texts_span passages) {
                            if (mood == 1) throw std::logic_error("judge");
                            std::vector<float> scores(passages.size(), 1.0f);
                            if (mood == 2) scores.pop_back();
                            if (mood == 3) scores.back() = std::numeric_limits<float>::quiet_NaN();
                            return scores;
                        });
    mood = 1;
    CHECK_THROWS_WITH(search.retrieve("apple", 3), "judge");
    mood = 2;
    CHECK(code_of([&] { search.retrieve("apple", 3); }) == "rerank.count");
    CHECK(message_of([&] { search.retrieve("apple", 3); }).find("expected 3 scores for 3 passages, got 2") !=
          std::string::npos);
    mood = 3;
    CHECK(code_of([&] { search.retrieve("apple", 3); }) == "rerank.not_finite");
    mood = 0;
    CHECK(search.retrieve("apple", 3).size() == 3);
}

// ----------------------------------------------------------------------------------------------------------- case 101

TEST_CASE("a text that an embedder refuses is named, and building again when it works counts everything once") {
    const corpus c = toy::corpus_of({"first", "a text that is far too long", "third"});
    const moody function;
    const auto embed = make_embedder(4, function);
    *function.mood = [](role, texts_span texts) {
        rows_type rows = rows_of(texts);
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (texts[i].size() > 20) rows[i][2] = std::numeric_limits<float>::quiet_NaN();
        return rows;
    };
    CHECK(code_of([&] { build(c, identity{}, embed); }) == "embedder.not_finite");
    CHECK(message_of([&] { build(c, identity{}, embed); })
              .find("row 1 holds a NaN or an infinity, for the text \"a text "
                    "that is far too long\"") != std::string::npos);
    *function.mood = nullptr;
    const knowledge_base kb = build(c, identity{}, embed);
    CHECK(kb.report.units == 3);
    CHECK(kb.report.keys == 3);
    CHECK(kb.report.keys_without_vector == 0);
    CHECK(kb.report.units_without_key.empty());
    CHECK(kb.vectors.index.size() == 3);
    CHECK(toy::ids(dense(kb.vectors, embed).retrieve("a text that is far too long", 1)) ==
          std::vector<std::string>{"1"});
}

// ----------------------------------------------------------------------------------------------------------- case 102

TEST_CASE(
    "an embedder that is not safe from several threads is safe when serialized, while bases are built and asked") {
    struct fragile {
        std::shared_ptr<std::atomic<int>> inside = std::make_shared<std::atomic<int>>(0);
        std::shared_ptr<std::atomic<int>> collisions = std::make_shared<std::atomic<int>>(0);
        std::string last{};  // what a second thread would overwrite

        rows_type operator()(texts_span texts) {
            if (inside->fetch_add(1) != 0) ++*collisions;
            rows_type rows;
            for (const std::string_view text : texts) {
                last = text;
                std::this_thread::yield();
                rows.push_back(row_of(last));
            }
            inside->fetch_sub(1);
            return rows;
        }
    };
    const fragile f;
    const corpus c = numbered(30);
    const auto embed = make_embedder(4, serialized(f));
    const knowledge_base kb = build(c, identity{}, embed);
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed));
    const std::string expected = answers(search);
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int round = 0; round < 10; ++round) {
                if (t % 4 == 0) {
                    const knowledge_base own = build(c, identity{}, embed);
                    if (answers(hybrid(lexical(own.bm25), dense(own.vectors, embed))) != expected) ++wrong;
                } else if (answers(search) != expected) {
                    ++wrong;
                }
            }
        });
    threads.clear();
    CHECK(*f.collisions == 0);
    CHECK(wrong == 0);
}

TEST_CASE("an embedder may ask the same base while it is asked, since no lock is held then") {
    const corpus c = numbered(10);
    const auto plain = make_embedder(4, [](std::string_view text) { return row_of(text); });
    const knowledge_base kb = build(c, identity{}, plain);
    std::size_t depth = 0, deepest = 0;
    const auto asks_back = make_embedder(4, [&](std::string_view text) {
        deepest = (std::max)(deepest, ++depth);
        const auto first = lexical(kb.bm25).retrieve("a0", 1);
        const auto second = dense(kb.vectors, plain).retrieve("b1", 1);
        --depth;
        return row_of(first.size() + second.size() == 2 ? text : "lost");
    });
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, asks_back));
    CHECK(answers(search) == answers(hybrid(lexical(kb.bm25), dense(kb.vectors, plain))));
    CHECK(deepest == 1);
}

TEST_CASE("threads that share a throwing embedder each get its exception, and the base stays good") {
    const corpus c = numbered(10);
    const auto plain = make_embedder(4, [](std::string_view text) { return row_of(text); });
    const knowledge_base kb = build(c, identity{}, plain);
    const auto angry = serialized(make_embedder(4, [](std::string_view text) {
        if (text == "bb") throw std::runtime_error("not this one");
        return row_of(text);
    }));
    const auto search = dense(kb.vectors, angry);
    std::atomic<int> thrown = 0, answered = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (const char* question : {"a0", "bb", "c2"}) {
                try {
                    answered += search.retrieve(question, 3).size() == 3;
                } catch (const std::runtime_error&) {
                    ++thrown;
                }
            }
        });
    threads.clear();
    CHECK(thrown == 8);
    CHECK(answered == 16);
}
