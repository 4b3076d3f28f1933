// Words between spaces, and BM25 by the book: the dull twin of bm25_index.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/core/key_index.hpp"
#include "quarry/text/analyzer.hpp"

namespace toy {

/// Words between spaces as they are; those in `stop` are marked as stop words.
inline quarry::analyzer whitespace(std::set<std::string, std::less<>> stop = {}) {
    return quarry::analyzer("whitespace", [stop](std::string_view text, quarry::token_sink sink) {
        std::uint32_t position = 0;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            const std::string_view word = text.substr(at, end - at);
            if (!word.empty()) sink({word, at, end, position++, stop.contains(word)});
            at = end + 1;
        }
    });
}

/// Keys as bags of words, and the formula as it is printed, over all of them for every question.
struct naive_bm25 {
    struct key {
        quarry::unit_id unit;
        std::map<std::string, double> frequency;
        double length = 0.0;
    };

    double k1 = 0.9, b = 0.4;
    std::map<std::size_t, key> keys{};  // by key number

    void add(std::size_t number, quarry::unit_id unit, const std::vector<std::string>& words, double times = 1.0) {
        key& k = keys.try_emplace(number, key{unit, {}, 0.0}).first->second;
        for (const std::string& word : words) k.frequency[word] += times, k.length += times;
    }

    double score(std::size_t number, const std::vector<std::string>& question) const {
        double n = 0.0, total = 0.0, sum = 0.0;
        for (const auto& [other, k] : keys) n += k.length > 0.0, total += k.length;
        const key& own = keys.at(number);
        for (const std::string& word : question) {
            double df = 0.0;
            for (const auto& [other, k] : keys) df += static_cast<double>(k.frequency.count(word));
            const auto found = own.frequency.find(word);
            if (found == own.frequency.end()) continue;
            const double tf = found->second, norm = k1 * (1.0 - b + b * own.length / (total / n));
            sum += std::log(1.0 + (n - df + 0.5) / (df + 0.5)) * tf / (tf + norm);
        }
        return sum;
    }
};

}  // namespace toy
