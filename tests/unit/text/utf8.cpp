#include "quarry/text/utf8.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

std::vector<char32_t> decoded(std::string_view text) {
    std::vector<char32_t> out;
    for (std::size_t at = 0; at < text.size();) {
        const code_point c = decode(text.substr(at));
        out.push_back(c.value);
        at += c.length;
    }
    return out;
}

std::string encoded(char32_t c) {
    std::string out;
    encode(c, out);
    return out;
}

using points = std::vector<char32_t>;
constexpr char32_t bad = 0xFFFD;

// The dull twin: all beginnings of well-formed sequences, written out. A last byte has 64 values whatever stands before
// it, so every 64th code point shows every beginning.
const std::set<std::string, std::less<>>& beginnings() {
    static const auto all = [] {
        std::set<std::string, std::less<>> out;
        for (char32_t c = 0x80; c <= 0x10FFFF; c += 64) {
            if (c >= 0xD800 && c <= 0xDFFF) continue;
            const std::string bytes = encoded(c);
            for (std::size_t n = 1; n < bytes.size(); ++n) out.insert(bytes.substr(0, n));
        }
        return out;
    }();
    return all;
}

std::size_t length_by_table(std::string_view text) {
    if (static_cast<unsigned char>(text[0]) < 0x80) return 1;
    std::size_t n = 0;
    while (n < text.size() && beginnings().contains(text.substr(0, n + 1))) ++n;
    const bool complete = n > 0 && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80 &&
                          text.substr(0, n + 1) == encoded(decode(text.substr(0, n + 1)).value);
    return complete ? n + 1 : std::max<std::size_t>(n, 1);
}

}  // namespace

TEST_CASE("every code point is read back as it was written, in one to four bytes") {
    std::size_t wrong = 0;
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        const std::string bytes = encoded(c);
        const code_point back = decode(bytes);
        const std::size_t expected = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        wrong += back.value != c || back.length != bytes.size() || bytes.size() != expected;
    }
    CHECK(wrong == 0);
}

TEST_CASE("what is no code point is written as U+FFFD") {
    CHECK(encoded(0xD800) == "\xEF\xBF\xBD");
    CHECK(encoded(0xDFFF) == "\xEF\xBF\xBD");
    CHECK(encoded(0x110000) == "\xEF\xBF\xBD");
    CHECK(encoded(0xFFFFFFFF) == "\xEF\xBF\xBD");
}

// The four examples of the Unicode standard, 15.0, tables 3-8 to 3-11.
TEST_CASE("each maximal part of an ill-formed sequence is one U+FFFD, as the standard's tables show") {
    CHECK(decoded("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == points{bad, bad, bad, bad, bad, bad, bad, bad, 'A'});
    CHECK(decoded("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") == points{bad, bad, bad, bad, bad, bad, bad, bad, 'A'});
    CHECK(decoded("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") == points{bad, bad, bad, bad, bad, 'A', bad, bad, 'B'});
    CHECK(decoded("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == points{bad, bad, bad, bad, 'A'});
}

TEST_CASE("a sequence that the text's end cuts off is one U+FFFD and nothing behind the end is read") {
    const std::string snowman_and_more = "\xE2\x98\x83\xF0\x9F\x98\x80";
    CHECK(decoded(std::string_view(snowman_and_more).substr(0, 2)) == points{bad});
    CHECK(decoded(std::string_view(snowman_and_more).substr(0, 4)) == points{0x2603, bad});
    CHECK(decoded(std::string_view(snowman_and_more).substr(0, 6)) == points{0x2603, bad});
    CHECK(decoded(snowman_and_more) == points{0x2603, 0x1F600});
}

TEST_CASE("decoding agrees with a table of all beginnings, on every pair of bytes and on random ones") {
    std::size_t wrong = 0;
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; ++second) {
            const std::string text = {static_cast<char>(first), static_cast<char>(second)};
            wrong += decode(text).length != length_by_table(text);
        }
    std::mt19937 random(4);
    const std::string likely = "\x80\xBF\x8F\x90\x9F\xA0\xC1\xC2\xDF\xE0\xED\xEF\xF0\xF4\xF5\x7F";
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (int i = 0; i < 5; ++i) text += likely[random() % likely.size()];
        wrong += decode(text).length != length_by_table(text);
    }
    CHECK(wrong == 0);
}
