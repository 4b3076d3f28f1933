// Words, sentences and terms of any bytes: they tile, they are valid, and joining texts joins their tokens.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "quarry/text/analyzer.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "quarry/text/german.hpp"
#include "quarry/text/graphemes.hpp"
#include "quarry/text/sentences.hpp"
#include "quarry/text/tokenizer.hpp"
#include "quarry/text/utf8.hpp"

using namespace quarry;
using fuzz::require;

namespace {

struct held {
    std::string term;
    std::size_t begin, end;
    std::uint32_t position;
    bool stop;

    bool operator==(const held&) const = default;
};

std::vector<held> tokens_of(const analyzer& words, std::string_view text) {
    std::vector<held> out;
    words(text, [&](const token& t) { out.push_back({std::string(t.term), t.begin, t.end, t.position, t.stop}); });
    return out;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const code_point c = decode(text);
        if (c.value == 0xFFFD && !text.starts_with("\uFFFD")) return false;
        text.remove_prefix(c.length);
    }
    return true;
}

template <class End>
void require_tiling(std::string_view text, End end) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = end(text, at);
        require(next > at && next <= text.size(), "a segment is not empty and lies in the text");
        at = next;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<analyzer> analyzers = {
        plain(), unicode(), english(), code(), code({.digits_apart = false, .scripts = {.pairs = false}}), german()};
    const std::string_view text = fuzz::text_of(data, size);
    require_tiling(text, word_end);
    require_tiling(text, grapheme_end);
    require_tiling(text, [](std::string_view t, std::size_t at) { return sentence_end(t, at); });
    require_tiling(text, [](std::string_view t, std::size_t at) { return sentence_end(t, at, {false, false, false}); });

    const std::string_view left = text.substr(0, size / 2), right = text.substr(size / 2);
    const std::string joined = std::string(left) + ' ' + std::string(right);
    for (const analyzer& words : analyzers) {
        const std::vector<held> tokens = tokens_of(words, text);
        std::uint32_t position = 0;
        for (const held& t : tokens) {
            require(!t.term.empty() && t.term.size() <= longest_term, "a term has 1 to 255 bytes");
            require(is_utf8(t.term), "a term is UTF-8");
            require(t.begin < t.end && t.end <= size, "a token's span lies in the text");
            require(t.position >= position && t.position <= position + 1, "positions go up by one");
            position = t.position;
        }
        std::vector<held> asked;
        words.question(text, [&](const token& t) {
            asked.push_back({std::string(t.term), t.begin, t.end, t.position, t.stop});
        });
        require(asked == tokens, "a question is split as a text is");

        std::vector<held> expected = tokens_of(words, left);
        const std::uint32_t shift = expected.empty() ? 0 : expected.back().position + 1;
        for (held t : tokens_of(words, right)) {
            t.begin += left.size() + 1;
            t.end += left.size() + 1;
            t.position += shift;
            expected.push_back(std::move(t));
        }
        require(tokens_of(words, joined) == expected, "tokens of a joined text are the tokens of its parts");
    }
    return 0;
}
