// Many threads ask one knowledge base at once, in every way there is, and each gets the answer it would get alone.
//
// Built in every tree, and alone under ThreadSanitizer.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "support/catch.hpp"
#include "support/pool.hpp"

using namespace quarry;

namespace {

constexpr std::size_t threads = 8;

// Counts letters, and its own calls.
struct counting_embedder {
    std::shared_ptr<std::atomic<std::size_t>> calls = std::make_shared<std::atomic<std::size_t>>(0);

    std::size_t dimension() const { return 26; }
    callable_identity identity() const { return calls.get(); }
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
        ++*calls;
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (std::size_t j = 0; j < 26; ++j) {
                float& x = rows[i * 26 + j] = .1f;
                for (const char c : texts[i]) x += c == static_cast<char>('a' + j) ? 1.0f : 0.0f;
            }
    }
};

struct base {
    corpus articles{schema{{"section", field_type::string}, {"year", field_type::integer}}};
    counting_embedder embedder{};
    knowledge_base kb;

    base() : kb(build(fill(articles), identity{}, embedder)) {}

    static corpus& fill(corpus& c) {
        const char* subjects[] = {"password", "invoice", "heating", "account", "valve", "schedule", "router", "holiday"};
        const char* actions[] = {"reset", "change", "delete", "find", "repair"};
        for (int i = 0; i < 120; ++i) {
            const std::string subject = subjects[i % 8], action = actions[i % 5];
            c.add({.id = std::to_string(i),
                   .title = action + " the " + subject,
                   .text = "how to " + action + " a " + subject + " in " + std::to_string(i) + " steps " +
                           std::string(static_cast<std::size_t>(i % 13), 'z'),
                   .meta = {{"section", subject}, {"year", 2015 + i % 10}}});
        }
        return c;
    }
};

const base& shared() {
    static const base b;
    return b;
}

// Units, scores and ledger of an answer, or what was thrown.
template <Retriever R>
std::string told_of(const R& r, const query& q) {
    std::string out;
    try {
        const auto found = r.retrieve(q, 7);
        for (const auto& hit : found)
            out += detail::concat(found.unit(hit).id(), ' ', hit.score, ' ', hit.trail, ' ', found.explain(hit), '\n');
        for (std::uint32_t i = 0; found.size() != 0 && i < found.notes().size(); ++i) {
            const ledger_entry& e = found.notes()[i];
            out += detail::concat(e.stage, ' ', index_of(e.key), ' ', e.rank, ' ', e.score, ' ', e.from, ' ', e.beside, '\n');
        }
    } catch (const std::exception& e) {
        return e.what();
    }
    return out;
}

// Units and scores of an answer, or the code of the error it ended in.
std::string told(const std::function<std::string()>& ask) {
    try {
        return ask();
    } catch (const error& e) {
        return std::string(e.code());
    }
}

template <Retriever R>
std::function<std::string(const query&)> asker(R r) {
    return [r](const query& q) {
        return told([&] {
            std::string out;
            const auto found = r.retrieve(q, 7);
            for (const auto& hit : found)
                out += detail::concat(found.unit(hit).id(), ' ', hit.score, ' ', found.explain(hit).size(), '\n');
            return out;
        });
    };
}

std::vector<float> by_length(std::string_view, std::span<const std::string_view> passages) {
    std::vector<float> scores;
    for (const auto& p : passages) scores.push_back(static_cast<float>(p.size() % 7));
    return scores;
}

// One retriever of every sort.
std::vector<std::function<std::string(const query&)>> askers() {
    const base& b = shared();
    const auto words = lexical(b.kb.bm25);
    const auto meaning = dense(b.kb.vectors, b.embedder);
    return {
        asker(words),
        asker(meaning),
        asker(hybrid(words, meaning)),
        asker(fuse(rrf{}, words, meaning) | rerank(by_length, {.fetch = 20})),
        asker(whole_article(meaning, {.floor = .2f})),
        asker(whole_article(words, meaning)),
        asker(hybrid(words, meaning) | diversify(b.kb.vectors)),
        asker(any_retriever(words | per_article(1) | distinct_texts())),
    };
}

std::vector<query> queries() {
    static const selection prepared = [] {
        static const filter old = lt("year", 2018);
        return shared().articles.select({.where = &old});
    }();
    const auto none_left = [] { return std::chrono::steady_clock::time_point{} + std::chrono::hours(1); };
    std::vector<query> all{"how to reset a password", "repair the heating valve", "zzzz", "", "delete account"};
    all.push_back(query("find the invoice").where(eq("section", "invoice")));
    all.push_back(query("find the invoice").where(ge("year", 2020)).within(scope::only(ne("section", "router"))));
    all.push_back(query("schedule").where(prepared));
    all.push_back(query("holiday").skip(3));
    all.push_back(query("reset").under({.model_calls = 1}));
    all.push_back(query("reset").under({.model_calls = 0}));
    all.push_back(query("reset").under({.deadline = std::chrono::steady_clock::time_point{}, .now = none_left}));
    all.push_back(query("reset").where(eq("nobody", 1)));
    all.push_back(like(unit_id{5}));
    all.push_back(query("password").require("reset").forbid("zzz"));
    return all;
}

// Runs `work(thread)` in every thread at once.
template <class Work>
void at_once(Work work) {
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> running;
    for (std::size_t t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            for (++ready; ready < threads;) std::this_thread::yield();
            work(t);
        });
    for (auto& thread : running) thread.join();
}

}  // namespace

TEST_CASE("eight threads get the answers that one gets: every retriever, filters, budgets, errors") {
    const auto retrievers = askers();
    const auto asked = queries();
    std::vector<std::string> alone;
    for (const auto& ask : retrievers)
        for (const query& q : asked) alone.push_back(ask(q));
    std::vector<std::size_t> wrong(threads, 0);
    at_once([&](std::size_t t) {
        for (std::size_t i = 0; i < alone.size(); ++i) {
            // Each thread goes another way round.
            const std::size_t at = (i * (2 * t + 1) + t * 17) % alone.size();
            wrong[t] += retrievers[at / asked.size()](asked[at % asked.size()]) != alone[at];
        }
    });
    CHECK(wrong == std::vector<std::size_t>(threads, 0));
    CHECK(alone[0].find("reset") == std::string::npos);  // ids and scores, not an error
    CHECK_FALSE(alone[0].empty());
}

TEST_CASE("batches from eight threads are what they are from one, and each pays for its own questions") {
    const base& b = shared();
    const auto search = hybrid(lexical(b.kb.bm25), dense(b.kb.vectors, b.embedder));
    const std::vector<query> batch{"reset password", "repair valve", "reset password", "holiday router"};
    const auto ids = [](const auto& answers) {
        std::vector<std::vector<unit_id>> out;
        for (const auto& found : answers) {
            out.emplace_back();
            for (const auto& hit : found) out.back().push_back(hit.unit);
        }
        return out;
    };
    const auto alone = ids(search.retrieve(batch, 5));
    const std::size_t before = *b.embedder.calls;
    std::vector<std::vector<std::vector<unit_id>>> answers(threads);
    at_once([&](std::size_t t) { answers[t] = ids(search.retrieve(batch, 5)); });
    for (const auto& mine : answers) CHECK(mine == alone);
    CHECK(*b.embedder.calls == before + threads);
}

TEST_CASE("legs and further texts side by side: the same answers, ledger and trace on any executor") {
    const base& b = shared();
    const auto words = lexical(b.kb.bm25);
    const auto meaning = dense(b.kb.vectors, b.embedder);
    const auto more = [](question& q) -> probed_query {
        if (q.text().empty()) throw std::runtime_error("nothing was asked");
        return {.probes = {{std::string(q.text()) + " valve"}, {"router"}, {"holiday schedule", .5f}}};
    };
    const auto failing = [](std::string_view, std::span<const std::string_view> passages) -> std::vector<float> {
        throw std::runtime_error(std::to_string(passages.size()));
    };
    const std::vector<any_retriever> retrievers{
        hybrid(words, meaning),
        hybrid(words, meaning) | probed_by(more) | rerank_first(by_length),
        fuse(rrf{}, words | probed_by(more), meaning | probed_by(more), hybrid(words, meaning)) |
            diversify(b.kb.vectors),
        fuse(rrf{}, meaning | rerank_first(failing, {.first = 5}), words | rerank(by_length)),
        fuse(rrf{}, words, meaning | rerank(failing), words | rerank(failing)),
    };
    // Everything there is to see of an answer.
    const auto seen = [](const any_retriever& r, query q) {
        trace told;
        std::string out = told_of(r, q.traced(told));
        return out + to_string(told.without_times());
    };
    pool one(1), eight(threads);
    const std::vector<executor> executors{[](const std::function<void()>& task) { task(); },
                                          [&](std::function<void()> task) { one(std::move(task)); },
                                          [&](std::function<void()> task) { eight(std::move(task)); }};
    for (const any_retriever& r : retrievers)
        for (const query& q : queries()) {
            const std::string alone = seen(r, q);
            for (const executor& on : executors) CHECK(seen(r, query(q).run_on(on)) == alone);
        }
    CHECK(seen(retrievers[4], "reset").starts_with("120"));  // the leg of meaning found more, and comes first
    CHECK(seen(retrievers[3], "reset").find("rerank: 5") != std::string::npos);
    // Overlapping queries share the pool.
    std::vector<std::size_t> wrong(threads, 0);
    std::vector<std::string> alone;
    for (const any_retriever& r : retrievers) alone.push_back(seen(r, "repair the router"));
    at_once([&](std::size_t t) {
        for (std::size_t i = 0; i < 4 * retrievers.size(); ++i) {
            const std::size_t at = (i + t) % retrievers.size();
            wrong[t] += seen(retrievers[at], query("repair the router").run_on(executors[2])) != alone[at];
        }
    });
    CHECK(wrong == std::vector<std::size_t>(threads, 0));
}

TEST_CASE("a callable that is not safe from threads is safe when serialized") {
    const base& b = shared();
    // Plain counters: any two calls at once are a data race.
    struct state {
        std::size_t calls = 0, inside = 0, most_inside = 0;
    };
    const auto seen = std::make_shared<state>();
    const auto judge = serialized([seen](std::string_view, std::span<const std::string_view> passages) {
        ++seen->calls;
        seen->most_inside = std::max(seen->most_inside, ++seen->inside);
        std::vector<float> scores(passages.size(), 1.0f);
        --seen->inside;
        return scores;
    });
    const auto embedder = serialized(make_embedder(26, [seen](std::string_view text) {
        ++seen->calls;
        std::vector<float> row(26, .1f);
        row[text.size() % 26] = 1.0f;
        return row;
    }));
    static_assert(Reranker<decltype(judge)>);
    const auto judged = lexical(b.kb.bm25) | rerank(judge);
    at_once([&](std::size_t) {
        for (int i = 0; i < 10; ++i) judged.retrieve("reset the password", 5);
    });
    CHECK(seen->calls == 10 * threads);
    CHECK(seen->most_inside == 1);
    const auto near = dense(b.kb.vectors, embedder);
    at_once([&](std::size_t) {
        for (int i = 0; i < 10; ++i) near.retrieve("reset the password", 5);
    });
    CHECK(seen->calls == 20 * threads);
}

TEST_CASE("pipelines are copied, composed and dropped in threads while others search with them") {
    const base& b = shared();
    const any_retriever original = hybrid(lexical(b.kb.bm25), dense(b.kb.vectors, b.embedder));
    std::vector<std::size_t> found(threads);
    at_once([&](std::size_t t) {
        for (int i = 0; i < 20; ++i) {
            any_retriever copy = original;
            const auto piped = copy | per_article(1) | lift(unit_kind::article);
            found[t] += piped.retrieve("repair the valve", 3).size();
            copy = any_retriever(lexical(b.kb.bm25));
            found[t] += copy.retrieve("repair the valve", 3).size();
        }
    });
    CHECK(found == std::vector<std::size_t>(threads, 20 * 6));
}

TEST_CASE("a stop from another thread ends a search with an error, and the next one works") {
    const base& b = shared();
    std::stop_source stop;
    std::atomic<bool> searching{false};
    const auto slow = [&](std::string_view, std::span<const std::string_view> passages) {
        searching = true;
        while (!stop.stop_requested()) std::this_thread::yield();
        return std::vector<float>(passages.size(), 1.0f);
    };
    const auto search = lexical(b.kb.bm25) | rerank(slow) | per_article(1) | rerank(by_length);
    std::thread other([&] {
        while (!searching) std::this_thread::yield();
        stop.request_stop();
    });
    std::string code;
    try {
        search.retrieve(query("reset").stop_on(stop.get_token()), 5);
    } catch (const cancelled& e) {
        code = e.code();
    }
    other.join();
    CHECK(code == "query.stopped");
    CHECK(search.retrieve("reset", 5).size() == 5);  // the stop was the query's, not the retriever's
}
