// Small keys: a large unit is found by any of its sentences.
//
//     build(articles, small_keys{.of = unit_kind::article, .sentences = 2}, embed)
//
// One vector of a long text says a little of everything in it; a vector of two sentences says what they say. The unit
// comes back as a whole. Nothing is added to the corpus: where the small pieces are to be returned too, make them units
// (grow/chunks.hpp, grow/sentence_windows.hpp) and lift.
//
// The surprising thing: a long unit has more keys and so more chances. `most` evens that out, at the price of the
// sentences behind it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../core/key.hpp"
#include "../core/source.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "../text/boundaries.hpp"
#include "key_expander.hpp"

namespace QUARRY_NAMESPACE {

struct small_keys {
    unit_kind of = unit_kind::chunk;
    std::size_t sentences = 1;   // of a key; 0 counts as 1
    std::size_t shared = 0;      // that a key has in common with the one before; below `sentences`
    std::size_t most = SIZE_MAX; // keys of a unit
    bool titles = true;          // the unit's title stands before each

    key_kind kind() const noexcept { return key_kind::body; }
    unit_kind level() const noexcept { return of; }

    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        const std::string_view text = source.text(unit), title = source.title(unit);
        std::vector<byte_span> all;
        for_each_sentence(text, [&](std::size_t begin, std::size_t end) { all.push_back({begin, end}); });
        if (all.empty() && !title.empty()) emit({unit, key_part::title, std::string(title)});
        const std::size_t width = (std::max)(sentences, std::size_t{1});
        const std::size_t step = width - (std::min)(shared, width - 1);
        std::size_t count = 0;
        for (std::size_t first = 0; first < all.size() && count < most; first += step) {
            const std::size_t last = (std::min)(first + width, all.size()) - 1;
            const std::string_view words =
                detail::trimmed(text.substr(all[first].begin, all[last].end - all[first].begin));
            if (!words.empty()) {
                ++count;
                emit({unit, key_part::phrase,
                      titles && !title.empty() ? detail::concat(title, ": ", words) : std::string(words)});
            }
            if (last + 1 == all.size()) break;
        }
    }
};

}  // namespace QUARRY_NAMESPACE
