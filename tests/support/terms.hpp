// What an analyzer makes of a text, to compare with a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quarry/text/analyzer.hpp"

using terms = std::vector<std::string>;

struct held_token {
    std::string term;
    std::size_t begin, end;
    std::uint32_t position;
    bool stop;

    friend bool operator==(const held_token&, const held_token&) = default;
};

inline std::vector<held_token> tokens_of(const quarry::analyzer& words, std::string_view text) {
    std::vector<held_token> out;
    words(text, [&](const quarry::token& t) {
        out.push_back({std::string(t.term), t.begin, t.end, t.position, t.stop});
    });
    return out;
}

/// The terms in order, stop words left out.
inline terms content_of(const quarry::analyzer& words, std::string_view text) {
    terms out;
    words(text, [&](const quarry::token& t) {
        if (!t.stop) out.emplace_back(t.term);
    });
    return out;
}

/// All terms in order.
inline terms terms_of(const quarry::analyzer& words, std::string_view text) {
    terms out;
    words(text, [&](const quarry::token& t) { out.emplace_back(t.term); });
    return out;
}
