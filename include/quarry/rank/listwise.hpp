// Listwise: a language model orders passages that it sees together. Also called RankGPT.
//
//     search | rerank_first(listwise(model), {.first = 40, .trust = 0.8f})
//
// Twenty passages at a time, from the back of the list to its head, half a window further each time, so that a passage
// can rise from the end to the top. The head is always in the last window, whatever the length of the list.
//
// The surprising thing: a small model copies the example of the prompt or the order it was given, and both look like an
// answer. Such a reply counts as none: the window keeps its order, and where no window was ordered there is no order.
//
// Source  Sun et al., "Is ChatGPT Good at Search?", 2023: window 20, step 10. Theirs stops when the next window would
//         begin before the head, and so leaves out the head of most lists.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/request.hpp"
#include "../detail/ascii.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/prompt.hpp"
#include "../model/remembered_reply.hpp"
#include "../model/reply.hpp"

namespace QUARRY_NAMESPACE {

struct listwise_options {
    std::size_t window = 20;
    std::size_t step = 10;          // from 1 to the window
    std::size_t most_bytes = 1500;  // of a passage that the model is shown
};

/// Windows [begin, end) over n passages, in the order in which they are ordered: from the back, the last one at 0.
///
/// Errors  usage_error `rerank.window`.
std::vector<std::pair<std::size_t, std::size_t>> sliding_windows(std::size_t n, std::size_t window, std::size_t step);

struct order_reply {
    std::vector<std::size_t> order{};  // from 1, as they were written: each once, none above n
    bool repeated = false;             // a number came twice, or is above n
    bool given = false;                // the order is the one that was given
    bool echoed = false;               // it begins as the prompt's example does, and goes on as given

    /// Positions from 0; those that the reply left out stand behind the others, as given.
    std::vector<std::size_t> completed(std::size_t n) const;
};

/// Numbers in brackets; where there are none, any numbers. `example`: the order that the prompt showed.
order_reply read_order(const completion& reply, std::size_t n, std::span<const std::size_t> example = {});

/// An orderer for rerank_first. Const calls may overlap if the generator's may.
///
/// Cost    one call of the generator a window; the same window is asked about once a request.
/// Errors  those of the generator; `cancelled`; usage_error `rerank.window`.
template <Generator G>
class listwise_judge {
 public:
    listwise_judge(G generator, listwise_options options)
        : generator_(std::move(generator)), options_(options), writer_("listwise/1") {
        sliding_windows(0, options.window, options.step);  // checks them
        writer_.system(
            "You order passages by how well they answer a question, best first. Reply with their numbers in brackets "
            "and "
            "nothing else, in the form [5] > [3] > [4], and name every passage once.");
    }

    std::optional<std::vector<std::size_t>> order(request& q, std::span<const std::string_view> passages) const {
        static constexpr std::size_t example[] = {5, 3, 4};
        std::vector<std::size_t> all(passages.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (passages.size() < 2) return all;
        std::size_t ordered = 0;
        const auto windows = sliding_windows(passages.size(), options_.window, options_.step);
        for (const auto& [begin, end] : windows) {
            const std::size_t n = end - begin;
            q.pay({.pairs = n});
            prompt_writer w(writer_);
            w.data("question", q.text());
            for (std::size_t i = 0; i < n; ++i)
                w.say(detail::concat('[', i + 1, ']'))
                    .data("passage", detail::clipped(passages[all[begin + i]], options_.most_bytes));
            const prompt asked = w.say("The order:").finish();
            const order_reply read =
                read_order(detail::remembered_reply(q, token_.get(), generator_, asked), n, example);
            if (read.order.empty() || read.given || read.echoed) {
                q.remark("rerank", detail::concat("passages ", begin + 1, " to ", end, " keep their order: ",
                                                  read.order.empty() ? "no order in the reply"
                                                  : read.given       ? "the reply is the order given"
                                                                     : "the reply is the prompt's example"));
                continue;
            }
            ++ordered;
            const auto positions = read.completed(n);
            const std::vector<std::size_t> before(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  all.begin() + static_cast<std::ptrdiff_t>(end));
            for (std::size_t i = 0; i < n; ++i) all[begin + i] = before[positions[i]];
        }
        if (ordered == 0) return std::nullopt;
        return all;
    }

 private:
    G generator_;
    listwise_options options_;
    prompt_writer writer_;
    detail::identity_token token_;
};

/// The generator is copied; `ref(g)` shares a large one.
template <Generator G>
listwise_judge<G> listwise(G generator, listwise_options options = {}) {
    return listwise_judge<G>(std::move(generator), options);
}

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<std::pair<std::size_t, std::size_t>> sliding_windows(std::size_t n, std::size_t window,
                                                                        std::size_t step) {
    if (window < 2 || step == 0 || step > window)
        detail::raise<usage_error>("rerank.window",
                                   detail::concat("quarry::listwise: a window of at least 2 and a step from 1 to the "
                                                  "window are wanted, given ",
                                                  window, " and ", step));
    std::vector<std::pair<std::size_t, std::size_t>> out;
    for (std::size_t end = n; end != 0; end -= step) {
        const std::size_t begin = end > window ? end - window : 0;
        out.emplace_back(begin, end);
        if (begin == 0) break;
    }
    return out;
}

inline std::vector<std::size_t> order_reply::completed(std::size_t n) const {
    std::vector<bool> named(n);
    std::vector<std::size_t> out;
    for (const std::size_t number : order)
        if (number >= 1 && number <= n && !named[number - 1]) named[number - 1] = true, out.push_back(number - 1);
    for (std::size_t i = 0; i < n; ++i)
        if (!named[i]) out.push_back(i);
    return out;
}

inline order_reply read_order(const completion& reply, std::size_t n, std::span<const std::size_t> example) {
    notices seen;
    const std::string_view text = detail::own_words(reply, question_rules{}, seen);
    std::vector<std::size_t> bracketed, bare;
    for (std::size_t at = 0; at < text.size();) {
        if (!detail::is_ascii_digit(text[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        std::size_t number = 0;
        while (at < text.size() && detail::is_ascii_digit(text[at])) {
            if (number <= n) number = 10 * number + static_cast<std::size_t>(text[at] - '0');
            ++at;
        }
        bare.push_back(number);
        if (begin > 0 && text[begin - 1] == '[' && at < text.size() && text[at] == ']') bracketed.push_back(number);
    }
    order_reply out;
    std::vector<bool> named(n);
    for (const std::size_t number : bracketed.empty() ? bare : bracketed) {
        if (number < 1 || number > n || named[number - 1]) {
            out.repeated = true;
            continue;
        }
        named[number - 1] = true;
        out.order.push_back(number);
    }
    if (out.order.empty()) return out;
    const auto whole = out.completed(n);
    out.given = std::ranges::is_sorted(whole);
    std::vector<std::size_t> shown;
    for (const std::size_t number : example)
        if (number >= 1 && number <= n) shown.push_back(number);
    if (shown.size() >= 2) {
        order_reply as_shown;
        as_shown.order = shown;
        out.echoed = whole == as_shown.completed(n);
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
