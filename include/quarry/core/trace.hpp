// The trace: what each stage of one query did.
//
// A value the caller owns and hands to a query (`query(...).traced(t)`). Entries are codes and numbers, made cheap;
// turning them into words happens in `to_string`, when somebody looks.
//
// Stages tell what they did when they have done it, so the time and the cost of an event are those since the event
// before it: a stage's own, without the stages below it. What ran side by side is told leg by leg, each with its times.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/floats.hpp"
#include "../detail/json_text.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

enum class trace_code : std::uint8_t {
    filtered,     // in: units of the source, out: units that may be returned
    embedded,     // in: texts, out: rows bought
    remembered,   // in: texts whose row was paid for earlier in this request
    searched,     // in: keys asked for, out: keys found
    planned,      // the stage is the plan an index chose; in: units that may be returned, out: rows scored
    widened,      // in: keys asked for before, out: asked for now
    collapsed,    // in: keys, out: units
    fused,        // in: candidates of all legs, out: units
    floored,      // in: hits, out: hits at or above the floor
    capped,       // in: hits, out: hits under the cap
    lifted,       // in: hits, out: parents
    suppressed,   // in: hits, out: hits with distinct texts
    reranked,     // in: hits, out: hits in the reranker's order
    diversified,  // in: candidates, out: picks
    corrected,    // in: words of the question that no text has, out: those taken for a word one edit away
    probed,       // in: texts that a prober proposed, out: distinct ones that were searched for
    relaxed,      // in: units under a filter that left nothing, out: units without the conditions that were dropped
    degraded,     // in: optional steps, out: those that were taken; a remark says what failed
    unknown,      // a probe in which nothing was known: no word of the index, or an embedder's zero vector
    boosted,      // in: hits whose score was multiplied, out: hits in the new order
    compressed,   // in: hits that a model was asked about, out: hits that are left
    walked,       // in: hits that a walk began at, out: units it reached
    decided,      // in: rounds that were allowed, out: rounds that were made
};

constexpr std::string_view name_of(trace_code code) noexcept {
    constexpr std::string_view names[] = {"filtered",  "embedded", "remembered",  "searched",   "planned",    "widened",  "collapsed",
                                          "fused",     "floored",  "capped",      "lifted",     "suppressed",
                                          "reranked",  "diversified", "corrected", "probed",    "relaxed",  "degraded",
                                          "unknown",   "boosted",  "compressed",  "walked",     "decided"};
    return names[static_cast<std::size_t>(code)];
}

/// What callables were asked for.
struct cost {
    std::size_t calls = 0;   // of embedders, generators and rerankers
    std::size_t texts = 0;   // that embedders were given
    std::size_t pairs = 0;   // passages that rerankers were shown
    std::size_t tokens = 0;  // of prompts, where the budget limits them

    cost& operator+=(const cost& other) noexcept {
        calls += other.calls;
        texts += other.texts;
        pairs += other.pairs;
        tokens += other.tokens;
        return *this;
    }
    cost& operator-=(const cost& other) noexcept {
        calls -= other.calls;
        texts -= other.texts;
        pairs -= other.pairs;
        tokens -= other.tokens;
        return *this;
    }
    friend bool operator==(const cost&, const cost&) = default;
};

struct trace_event {
    trace_code code;
    std::string_view stage;  // a literal: "bm25", "dense", "whole_article"
    std::size_t in = 0;
    std::size_t out = 0;
    float value = 0.0f;  // a floor, a weight; 0 where there is none
    cost spent{};        // since the event before it
    std::optional<std::chrono::nanoseconds> took{};  // likewise, by the clock of the query's budget

    friend bool operator==(const trace_event&, const trace_event&) = default;
};

/// One line, what is zero or not there left out: "rerank: reranked 20 -> 3 (0.5), calls 1, pairs 20, 812.5 us".
std::string to_string(const trace_event& event);

/// What cannot be said in numbers: what was repaired in a model's reply, which exception was caught.
struct trace_remark {
    std::string_view stage;  // a literal
    std::string text;

    friend bool operator==(const trace_remark&, const trace_remark&) = default;
};

struct trace {
    std::vector<trace_event> events{};
    std::vector<trace_remark> remarks{};

    /// The same but for what differs from run to run.
    trace without_times() const {
        trace out = *this;
        for (trace_event& event : out.events) event.took.reset();
        return out;
    }

    /// Takes over what another was told.
    void append(const trace& other) {
        events.insert(events.end(), other.events.begin(), other.events.end());
        remarks.insert(remarks.end(), other.remarks.begin(), other.remarks.end());
    }

    /// The first event with this code, or null.
    const trace_event* find(trace_code code, std::string_view stage = {}) const noexcept {
        for (const trace_event& event : events)
            if (event.code == code && (stage.empty() || event.stage == stage)) return &event;
        return nullptr;
    }

    friend bool operator==(const trace&, const trace&) = default;
};

namespace detail {

/// Calls `f(name, number)` for each part of a cost that is not zero.
template <class F>
void for_each_cost(const cost& c, F f) {
    const std::pair<std::string_view, std::size_t> all[] = {
        {"calls", c.calls}, {"texts", c.texts}, {"pairs", c.pairs}, {"tokens", c.tokens}};
    for (const auto& [name, number] : all)
        if (number != 0) f(name, number);
}

}  // namespace detail

inline std::string to_string(const trace_event& event) {
    std::string out = detail::concat(event.stage, ": ", name_of(event.code), ' ', event.in, " -> ", event.out);
    if (event.value != 0.0f) out += detail::concat(" (", event.value, ')');
    detail::for_each_cost(event.spent, [&](std::string_view name, std::size_t number) {
        out += detail::concat(", ", name, ' ', number);
    });
    if (event.took) out += detail::concat(", ", detail::fixed(static_cast<double>(event.took->count()) / 1e3, 1), " us");
    return out;
}

inline std::string to_string(const trace& t) {
    std::string out;
    for (const trace_event& event : t.events) out += to_string(event) + '\n';
    for (const trace_remark& remark : t.remarks) out += detail::concat(remark.stage, ": ", remark.text, '\n');
    return out;
}

/// The same as one JSON object: {"events": [{"stage", "what", "in", "out", "value", "calls", "texts", "pairs", "tokens",
/// "nanoseconds"}], "remarks": [{"stage", "text"}]}. What is zero or not there is left out, but in and out.
inline std::string to_json(const trace& t) {
    std::string out = "{\"events\":[";
    for (const trace_event& e : t.events) {
        if (&e != t.events.data()) out += ',';
        out += detail::concat("{\"stage\":", detail::json_text(e.stage), ",\"what\":", detail::json_text(name_of(e.code)),
                              ",\"in\":", e.in, ",\"out\":", e.out);
        // Infinities are no JSON.
        if (e.value != 0.0f && detail::is_finite(e.value)) out += detail::concat(",\"value\":", e.value);
        detail::for_each_cost(e.spent, [&](std::string_view name, std::size_t number) {
            out += detail::concat(",\"", name, "\":", number);
        });
        if (e.took) out += detail::concat(",\"nanoseconds\":", e.took->count());
        out += '}';
    }
    out += "],\"remarks\":[";
    for (const trace_remark& r : t.remarks) {
        if (&r != t.remarks.data()) out += ',';
        out += detail::concat("{\"stage\":", detail::json_text(r.stage), ",\"text\":", detail::json_text(r.text), '}');
    }
    return out + "]}";
}

}  // namespace QUARRY_NAMESPACE
