// Remembered replies: within one request the same prompt of the same asker is paid for once.
//
// Not the cache of model/cache.hpp, which outlives requests: this is what lets a stage be asked again for more without
// asking its model again.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/request.hpp"
#include "../detail/sha256.hpp"
#include "concurrent.hpp"
#include "generator.hpp"
#include "prompt.hpp"

namespace QUARRY_NAMESPACE::detail {

inline std::optional<completion> known_reply(const request& q, callable_identity who, const prompt& p) {
    // The first letter says whether the reply was cut off.
    const std::string* known = q.remembered().find_text(who, hexadecimal(p.fingerprint()));
    if (!known) return std::nullopt;
    return completion(known->substr(1), known->front() == '1');
}

inline void keep_reply(const request& q, callable_identity who, const prompt& p, const completion& c) {
    q.remembered().keep_text(who, hexadecimal(p.fingerprint()), (c.cut_off ? "1" : "0") + c.text);
}

/// The generator's reply.
///
/// Errors  `cancelled` before the call; whatever the generator throws, unchanged.
template <Generator G>
completion remembered_reply(request& q, callable_identity who, const G& generator, const prompt& p) {
    if (auto known = known_reply(q, who, p)) return *std::move(known);
    q.pay({.calls = 1, .tokens = q.tokens_of(p.whole())});
    completion c = generate(generator, p, q.asked().stop_token());
    keep_reply(q, who, p, c);
    return c;
}

/// The replies to many prompts, at most `at_once` calls in flight; each that is not known is paid for.
///
/// Errors  `cancelled` before any call that the budget does not allow; the first failure of the generator. What was
///         answered before is remembered all the same.
template <Askable G>
std::vector<completion> remembered_replies(request& q, callable_identity who, const G& generator,
                                           std::span<const prompt> prompts, std::size_t at_once) {
    std::vector<std::optional<completion>> known;
    std::vector<prompt> fresh;
    for (const prompt& p : prompts) {
        known.push_back(known_reply(q, who, p));
        if (!known.back()) fresh.push_back(p);
    }
    cost price{.calls = fresh.size()};
    for (const prompt& p : fresh) price.tokens += q.tokens_of(p.whole());
    q.pay(price);
    asking_options options;
    options.at_once = at_once;
    options.stop = q.asked().stop_token();
    call_results asked = ask_all(generator, std::span<const prompt>(fresh), options);
    for (std::size_t i = 0; i < fresh.size(); ++i)
        if (asked.items[i].reply) keep_reply(q, who, fresh[i], *asked.items[i].reply);
    q.check();
    for (const call_result& item : asked.items)
        if (item.failure) std::rethrow_exception(item.failure);
    asked.rethrow_if_ended();
    std::vector<completion> out;
    std::size_t next = 0;
    for (auto& reply : known) out.push_back(reply ? *std::move(reply) : *std::move(asked.items[next++].reply));
    return out;
}

}  // namespace QUARRY_NAMESPACE::detail
