// Small fakes that satisfy the concepts and nothing more: a word-counting index, an embedder of letters, a tiny corpus.
//
// They show what the library asks of an index or an embedder that is not ours, and make tests whose numbers can be
// worked out by hand.
#pragma once

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/core/key_index.hpp"
#include "quarry/model/embedder.hpp"

namespace toy {

/// Scores a key by how many letters of the question's first word it contains in a row: 3 for "cat" in "the cat", else 0.
struct word_index {
    using scale = quarry::bm25_scale;

    std::vector<std::pair<quarry::unit_id, std::string>> keys;
    std::size_t most = 1;

    std::size_t size() const { return keys.size(); }
    std::size_t most_keys_of_a_unit() const { return most; }
    std::vector<quarry::scored_key> search(const quarry::lexical_probe& probe, std::size_t n, quarry::accept allowed) const {
        std::vector<quarry::scored_key> found;
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (allowed.contains(keys[i].first) && !probe.text.empty() && keys[i].second.find(probe.text) != std::string::npos)
                found.push_back({keys[i].first, quarry::key_at(i), static_cast<float>(probe.text.size())});
        std::ranges::sort(found, [](const auto& a, const auto& b) { return quarry::better(a, b); });
        if (found.size() > n) found.resize(n);
        return found;
    }
};

/// Counts the letters a to z: texts that share letters are near. Counts its own calls, in texts and in calls.
struct letter_embedder {
    struct counts {
        std::size_t calls = 0, texts = 0;
    };
    std::shared_ptr<counts> counted = std::make_shared<counts>();

    std::size_t dimension() const { return 26; }
    void embed(quarry::role, std::span<const std::string_view> texts, std::span<float> rows) const {
        ++counted->calls;
        counted->texts += texts.size();
        std::ranges::fill(rows, 0.0f);
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (const char c : texts[i])
                if (const int letter = std::tolower(static_cast<unsigned char>(c)) - 'a'; letter >= 0 && letter < 26)
                    rows[i * 26 + static_cast<std::size_t>(letter)] += 1.0f;
    }
    quarry::callable_identity identity() const { return counted.get(); }
};

/// A corpus of articles with texts only, ids "0", "1", ...
inline quarry::corpus corpus_of(const std::vector<std::string>& texts) {
    quarry::corpus c;
    for (std::size_t i = 0; i < texts.size(); ++i) c.add({.id = std::to_string(i), .title = {}, .summary = {}, .text = texts[i]});
    return c;
}

/// The string ids of hits, in order.
template <class Results>
std::vector<std::string> ids(const Results& found) {
    std::vector<std::string> out;
    for (const auto& hit : found) out.emplace_back(found.unit(hit).id());
    return out;
}

}  // namespace toy
