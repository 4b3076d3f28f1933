// Plans: how many calls, tokens and dollars it will be, before the first call is made.
//
// A plan counts what prompts and replies are made of and asks nobody. It is exact where the counter is: the default one
// estimates, a provider's own tokenizer is a function of yours.
//
// The surprising thing: a chunk pays for its whole document. The prefix is read again in every call, so cost grows with
// the length of documents even when the text to be indexed does not.
//
// Source  Anthropic, "Introducing Contextual Retrieval", 2024: dollars for a million document tokens are
//         write + (D / c) read + in (1 + i / c) + out (x / c), for documents of D tokens, chunks of c, instructions of
//         i and contexts of x. That has one write and D / c reads; when the first call writes, one read fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "../config.hpp"
#include "../text/token_counter.hpp"
#include "completion.hpp"
#include "price.hpp"
#include "prompt.hpp"

namespace QUARRY_NAMESPACE {

/// What happens to a prefix that prompts share.
enum class prefix_caching : std::uint8_t {
    none,        // it is read at the full price every time
    first_call,  // the first call writes it to the provider's cache, the others read it there
    ahead,       // a call of its own writes it before, and all others read it
};

/// Calls that share a prefix. Tokens.
struct call_group {
    std::size_t calls = 0;
    std::size_t prefix = 0;   // read by every call
    std::size_t fresh = 0;    // beside the prefix, of all calls together
    std::size_t replies = 0;  // of all calls together
};

struct call_plan {
    std::size_t calls = 0;       // to be made
    std::size_t remembered = 0;  // answered before: nothing to pay
    token_usage tokens{};
    double dollars = 0.0;

    call_plan& add(const call_group& group, prefix_caching caching, const model_price& price) noexcept;
    call_plan& operator+=(const call_plan& other) noexcept;
};

struct plan_options {
    model_price price{};
    token_counter tokens = approximate_tokens{};
    std::size_t reply_tokens = 100;  // expected of each reply
    prefix_caching caching = prefix_caching::first_call;
    std::size_t least_prefix = 0;  // shorter ones a provider does not cache: they are read at the full price
    std::function<bool(const prompt&)> remembered{};  // was it answered before? null: no
};

/// What asking these prompts would take, in the order given.
///
/// Prompts with the same prefix are one group if they follow each other: a provider's cache lives for minutes.
/// Cost    the counter once per group and once per prompt.
/// Errors  usage_error `price.value`.
call_plan plan_calls(std::span<const prompt> prompts, const plan_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

inline call_plan& call_plan::add(const call_group& group, prefix_caching caching, const model_price& price) noexcept {
    if (group.calls == 0) return *this;
    token_usage used{.input = group.fresh, .output = group.replies};
    const std::uint64_t n = group.calls, prefix = group.prefix;
    if (caching == prefix_caching::none) {
        used.input += n * prefix;
    } else {
        used.cache_write = prefix;
        used.cache_read = (caching == prefix_caching::first_call ? n - 1 : n) * prefix;
    }
    calls += group.calls + (caching == prefix_caching::ahead ? 1 : 0);
    tokens += used;
    dollars += quarry::dollars(used, price);
    return *this;
}

inline call_plan& call_plan::operator+=(const call_plan& other) noexcept {
    calls += other.calls;
    remembered += other.remembered;
    tokens += other.tokens;
    dollars += other.dollars;
    return *this;
}

inline call_plan plan_calls(std::span<const prompt> prompts, const plan_options& options) {
    detail::require_price(options.price, "quarry::plan_calls");
    call_plan plan;
    for (std::size_t first = 0; first < prompts.size();) {
        const prompt& leader = prompts[first];
        call_group group{.prefix = options.tokens(leader.system()) + options.tokens(leader.shared())};
        std::size_t next = first;
        do {
            const prompt& p = prompts[next++];
            if (options.remembered && options.remembered(p)) {
                ++plan.remembered;
                continue;
            }
            ++group.calls;
            group.fresh += options.tokens(p.fresh());
            group.replies += options.reply_tokens;
        } while (next < prompts.size() && share_prefix(leader, prompts[next]));
        const bool cacheable = !leader.shared().empty() && group.prefix >= options.least_prefix;
        plan.add(group, cacheable ? options.caching : prefix_caching::none, options.price);
        first = next;
    }
    return plan;
}

}  // namespace QUARRY_NAMESPACE
