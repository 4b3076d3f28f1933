// A generator that follows a script, for tests: no network, no model, no sleep.
//
// It answers prompts by rule, remembers what it was asked, and can fail at the n-th call, say the wrong thing, or hang
// until it is stopped. A prompt without a rule ends the test with an exception that quotes it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "quarry/core/error.hpp"
#include "quarry/model/generator.hpp"

/// Copies share the script and the record.
class scripted_generator {
   public:
    using rule = std::function<quarry::completion(const quarry::prompt&)>;

    explicit scripted_generator(rule answer, std::string name = "scripted")
        : state_(std::make_shared<state>(std::move(answer), std::move(name))) {}

    /// Answers by the first line of the table whose key stands in the prompt.
    static scripted_generator table(std::vector<std::pair<std::string, std::string>> lines) {
        return scripted_generator([lines = std::move(lines)](const quarry::prompt& p) -> quarry::completion {
            const std::string whole = p.whole();
            for (const auto& [key, reply] : lines)
                if (whole.find(key) != std::string::npos) return reply;
            throw std::logic_error("the script has no line for: " + whole);
        });
    }

    /// What happens at the n-th call, counted from 1, in place of the rule.
    void at(std::size_t call, std::function<quarry::completion(std::stop_token)> f) const {
        const std::lock_guard lock(state_->mutex);
        state_->at[call] = std::move(f);
    }
    void fail_at(std::size_t call, std::string message = "scripted failure") const {
        at(call, [message](std::stop_token) -> quarry::completion { throw std::runtime_error(message); });
    }
    void hang_at(std::size_t call) const {
        at(call, [](std::stop_token stop) -> quarry::completion {
            std::mutex mutex;
            std::condition_variable_any changed;
            std::unique_lock lock(mutex);
            changed.wait(lock, stop, [] { return false; });
            throw std::runtime_error("hung until it was stopped");
        });
    }

    quarry::completion operator()(const quarry::prompt& p, std::stop_token stop = {}) const {
        std::function<quarry::completion(std::stop_token)> special;
        {
            const std::lock_guard lock(state_->mutex);
            state_->asked.push_back(p);
            state_->in_flight += 1;
            state_->most_in_flight = std::max(state_->most_in_flight, state_->in_flight);
            if (const auto found = state_->at.find(state_->asked.size()); found != state_->at.end())
                special = found->second;
        }
        const auto done = [this] {
            const std::lock_guard lock(state_->mutex);
            state_->in_flight -= 1;
        };
        try {
            auto reply = special ? special(stop) : state_->answer(p);
            done();
            return reply;
        } catch (...) {
            done();
            throw;
        }
    }
    std::string name() const { return state_->name; }

    std::size_t calls() const {
        const std::lock_guard lock(state_->mutex);
        return state_->asked.size();
    }
    std::vector<quarry::prompt> asked() const {
        const std::lock_guard lock(state_->mutex);
        return state_->asked;
    }
    std::size_t most_in_flight() const {
        const std::lock_guard lock(state_->mutex);
        return state_->most_in_flight;
    }

   private:
    struct state {
        state(rule a, std::string n) : answer(std::move(a)), name(std::move(n)) {}
        rule answer;
        std::string name;
        std::mutex mutex;
        std::map<std::size_t, std::function<quarry::completion(std::stop_token)>> at;
        std::vector<quarry::prompt> asked;
        std::size_t in_flight = 0, most_in_flight = 0;
    };

    std::shared_ptr<state> state_;
};
