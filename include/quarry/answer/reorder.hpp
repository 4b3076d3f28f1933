// Reorder: the best of a context at its ends, where models read best. Also called "lost in the middle".
//
//     const auto context = reorder(pack(found), {});
//
// Only the places in the text change: what a citation calls a unit stays its number by rank, so [1] is the best one
// wherever it stands. It works on what was packed, so that the budget was spent by rank and not by place.
//
// Source  for the effect: Liu et al., "Lost in the Middle", 2023. For the orders: Haystack's puts the best first,
// always;
//         LangChain's begins with the worst, so that with an even number of units the best is last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../text/token_counter.hpp"
#include "pack.hpp"

namespace QUARRY_NAMESPACE {

enum class ends_order : std::uint8_t {
    best_first,       // 1 3 5 6 4 2
    worst_alternate,  // 2 4 6 5 3 1; with an odd number 1 3 5 4 2
};

/// Ranks from 1 in the order in which they are read.
std::vector<std::size_t> best_at_ends(std::size_t n, ends_order order = ends_order::best_first);

struct reorder_options {
    ends_order order = ends_order::best_first;
    std::string separator = "\n\n";  // between units, as they were packed
};

/// The context with its units in another order.
///
/// A counter need not add up: where the text in the new order would be over the budget, the context stays as it is.
/// Requires  a context that `pack` made with this separator.
/// Cost      the text once, and one count of it.
template <TokenCounter C = approximate_tokens>
packed_context reorder(packed_context context, const reorder_options& options = {}, const C& count = {});

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<std::size_t> best_at_ends(std::size_t n, ends_order order) {
    std::vector<std::size_t> front, back;
    if (order == ends_order::best_first) {
        for (std::size_t rank = 1; rank <= n; ++rank) (rank % 2 == 1 ? front : back).push_back(rank);
    } else {
        // From the worst to the best, in turn behind and before what is there.
        const bool odd = n % 2 == 1;
        for (std::size_t rank = 1; rank <= n; ++rank) ((rank % 2 == 1) == odd ? front : back).push_back(rank);
    }
    front.insert(front.end(), back.rbegin(), back.rend());
    return front;
}

template <TokenCounter C>
packed_context reorder(packed_context context, const reorder_options& options, const C& count) {
    const std::size_t n = context.units.size();
    if (n < 2) return context;
    // Where each unit's block begins, heading included: behind the block before it and the separator.
    std::vector<byte_span> blocks;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t end = context.text.size();
        if (i + 1 < n) {
            // The next block begins at the last separator before its words, or its heading holds one: then the first
            // behind the words of this one.
            end = context.text.find(options.separator, context.units[i].span.end);
            if (end == std::string::npos || end > context.units[i + 1].span.begin) return context;
        }
        blocks.push_back({begin, end});
        begin = end + options.separator.size();
    }
    packed_context out = context;
    out.text.clear();
    for (const std::size_t rank : best_at_ends(n, options.order)) {
        const byte_span block = blocks[rank - 1];
        if (!out.text.empty()) out.text += options.separator;
        const std::size_t moved = out.text.size();
        out.text += context.text.substr(block.begin, block.size());
        const byte_span words = context.units[rank - 1].span;
        out.units[rank - 1].span = {words.begin - block.begin + moved, words.end - block.begin + moved};
    }
    out.tokens = static_cast<std::size_t>(count(std::string_view(out.text)));
    if (out.tokens > out.budget) return context;
    return out;
}

}  // namespace QUARRY_NAMESPACE
