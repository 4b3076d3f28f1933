#include "quarry/core/executor.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/pool.hpp"

using namespace quarry;

namespace {

std::string what(const std::exception_ptr& thrown) {
    if (!thrown) return "";
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        return e.what();
    }
}

const executor inline_executor = [](std::function<void()> task) { task(); };

}  // namespace

TEST_CASE("every task runs once, wherever the executor runs it or does not") {
    pool one(1), eight(8);
    std::vector<std::function<void()>> late;
    const std::vector<executor> executors{inline_executor,
                                          [&](std::function<void()> task) { one(std::move(task)); },
                                          [&](std::function<void()> task) { eight(std::move(task)); },
                                          [&](std::function<void()> task) { late.push_back(std::move(task)); },
                                          [](const std::function<void()>&) {}};
    for (const executor& on : executors)
        for (const std::size_t n : {0u, 1u, 2u, 100u}) {
            std::vector<std::atomic<int>> ran(n);
            const auto failures = detail::run_all(on, n, [&](std::size_t i) { ++ran[i]; });
            CHECK(failures.size() == n);
            for (const auto& times : ran) CHECK(times == 1);
        }
    REQUIRE(late.size() == 0 + 0 + 1 + 99);
    for (const auto& task : late) task();  // finds nothing left to do
}

TEST_CASE("a failure stays in the place of its task, and no task is lost by it") {
    pool two(2);
    const executor executors[] = {inline_executor, [&](std::function<void()> task) { two(std::move(task)); }};
    for (const executor& on : executors) {
        std::atomic<int> ran{0};
        const auto failures = detail::run_all(on, 9, [&](std::size_t i) {
            ++ran;
            if (i % 4 == 2) throw std::runtime_error(std::to_string(i));
        });
        CHECK(ran == 9);
        for (std::size_t i = 0; i < 9; ++i) CHECK(what(failures[i]) == (i % 4 == 2 ? std::to_string(i) : ""));
    }
}

TEST_CASE("what the executor throws comes out when all tasks are done") {
    std::atomic<int> ran{0};
    int given = 0;
    const executor closing = [&](const std::function<void()>& task) {
        if (++given == 3) throw std::runtime_error("the pool is closed");
        task();
    };
    CHECK_THROWS_WITH(detail::run_all(closing, 5, [&](std::size_t) { ++ran; }), "the pool is closed");
    CHECK(ran == 5);
}

TEST_CASE("tasks hand out tasks of their own, on one thread too") {
    pool one(1);
    const executor on = [&](std::function<void()> task) { one(std::move(task)); };
    std::atomic<int> ran{0};
    detail::run_all(on, 4, [&](std::size_t) {
        detail::run_all(on, 4, [&](std::size_t) { detail::run_all(on, 4, [&](std::size_t) { ++ran; }); });
    });
    CHECK(ran == 64);
}
