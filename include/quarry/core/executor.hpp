// Executors: where work runs that may run side by side. Yours, handed in; the library has none of its own.
//
//     query("reset password").run_on([&pool](std::function<void()> task) { pool.post(std::move(task)); })
//
// An executor is called with one task at a time and runs it once, when it likes. The surprising thing: nobody waits for
// it to begin. Whoever hands tasks out works on them too, so an executor may be busy, have one thread, or run tasks at
// once in the thread that hands them out, and tasks may hand out tasks of their own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/function_ref.hpp"

namespace QUARRY_NAMESPACE {

using executor = std::function<void(std::function<void()> task)>;

namespace detail {

/// What the threads that work on one list of tasks share. It outlives the list: an executor may come late.
class task_list {
   public:
    task_list(std::size_t n, function_ref<void(std::size_t)> task) : n_(n), task_(task), failures_(n) {}

    /// Works on tasks that nobody has begun.
    void work() {
        for (std::size_t i = next_++; i < n_; i = next_++) {
            try {
                task_(i);
            } catch (...) {
                failures_[i] = std::current_exception();
            }
            const std::lock_guard lock(mutex_);
            if (++done_ == n_) finished_.notify_all();
        }
    }
    /// Returns when all are done.
    std::vector<std::exception_ptr> finish() {
        std::unique_lock lock(mutex_);
        finished_.wait(lock, [&] { return done_ == n_; });
        return std::move(failures_);
    }

   private:
    std::size_t n_;
    function_ref<void(std::size_t)> task_;  // called only before finish() returns
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_;
    std::condition_variable finished_;
    std::size_t done_ = 0;
    std::vector<std::exception_ptr> failures_;
};

/// Runs task(0) to task(n - 1), each once, in this thread and wherever `on` runs what it is given. Returns when all are
/// done, with what each threw, or null.
///
/// Errors  what the executor throws, when all are done.
inline std::vector<std::exception_ptr> run_all(const executor& on, std::size_t n,
                                               function_ref<void(std::size_t)> task) {
    const auto tasks = std::make_shared<task_list>(n, task);
    std::exception_ptr refused;
    try {
        for (std::size_t i = 1; i < n; ++i) on([tasks] { tasks->work(); });
    } catch (...) {
        refused = std::current_exception();
    }
    tasks->work();
    auto failures = tasks->finish();
    if (refused) std::rethrow_exception(refused);
    return failures;
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
