#include "quarry/text/one_edit.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;

namespace {

// The textbook table, with exchanged neighbours (Damerau's optimal string alignment), in bytes.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + other});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

}  // namespace

TEST_CASE("one letter more, less, another, or two exchanged are one edit") {
    CHECK(one_edit_apart("password", "pasword"));
    CHECK(one_edit_apart("pasword", "password"));
    CHECK(one_edit_apart("password", "pasSword"));
    CHECK(one_edit_apart("password", "passwrod"));
    CHECK(one_edit_apart("Köln", "Koln"));
    CHECK(one_edit_apart("检索", "检索词"));
    CHECK(one_edit_apart("", "a"));
    CHECK_FALSE(one_edit_apart("password", "password"));
    CHECK_FALSE(one_edit_apart("password", "pssword1"));
    CHECK_FALSE(one_edit_apart("abcd", "badc"));
    CHECK_FALSE(one_edit_apart("", ""));
    CHECK_FALSE(one_edit_apart("", "ab"));
}

TEST_CASE("it agrees with the distance table on random words") {
    std::mt19937 random(3);
    std::size_t wrong = 0, near = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string a, b;
        for (std::size_t n = random() % 6; n > 0; --n) a += static_cast<char>('a' + random() % 3);
        for (std::size_t n = random() % 6; n > 0; --n) b += static_cast<char>('a' + random() % 3);
        const bool expected = distance(a, b) == 1;
        near += expected;
        wrong += one_edit_apart(a, b) != expected;
    }
    CHECK(wrong == 0);
    CHECK(near > 1000);
}
