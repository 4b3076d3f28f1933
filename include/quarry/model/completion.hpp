// Completions: what a generator gives back, when it knows more than the text.
//
// A generator may return a plain string. One that also knows how many tokens were paid for, that the reply was cut off by
// a limit, or how sure the model was of each token, returns a completion: budgets are then exact, a sentence without an
// end is no surprise, and a doubtful one can be told. Caches and recordings keep the text and not the tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

/// Tokens of one call or of many, by what they cost.
struct token_usage {
    std::uint64_t input = 0;        // read at the full price
    std::uint64_t cache_write = 0;  // read and put into the provider's prompt cache
    std::uint64_t cache_read = 0;   // taken from there
    std::uint64_t output = 0;

    std::uint64_t total() const noexcept { return input + cache_write + cache_read + output; }

    token_usage& operator+=(const token_usage& other) noexcept {
        input += other.input;
        cache_write += other.cache_write;
        cache_read += other.cache_read;
        output += other.output;
        return *this;
    }
    friend token_usage operator+(token_usage a, const token_usage& b) noexcept { return a += b; }
    friend bool operator==(const token_usage&, const token_usage&) = default;
};

/// A token of a reply, and the logarithm of the probability that the model gave it.
struct scored_token {
    std::string text;
    float log_probability = 0.0f;

    friend bool operator==(const scored_token&, const scored_token&) = default;
};

struct completion {
    std::string text{};
    bool cut_off = false;               // a limit of tokens ended it, not the model
    std::optional<token_usage> used{};  // nothing: the generator does not say
    bool remembered = false;            // came from a cache: nothing was paid
    std::vector<scored_token> tokens{}; // of the text, joined they are it; empty: the generator does not say

    completion() = default;
    completion(std::string t) : text(std::move(t)) {}  // NOLINT: implicit, a text is a completion
    completion(const char* t) : text(t) {}             // NOLINT
    completion(std::string t, bool cut, std::optional<token_usage> u = {})
        : text(std::move(t)), cut_off(cut), used(u) {}

    operator std::string() const& { return text; }         // NOLINT: implicit, for callers who want the text
    operator std::string() && { return std::move(text); }  // NOLINT

    friend bool operator==(const completion&, const completion&) = default;
};

}  // namespace QUARRY_NAMESPACE
