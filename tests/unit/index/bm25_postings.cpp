#include "quarry/index/bm25_postings.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;
using detail::bm25_best_postings;
using detail::bm25_codes;
using detail::bm25_posting;
using detail::bm25_saturation;

namespace {

// A word's postings and codes as an index keeps them; the saturation is any number that follows from the key.
struct coded_word {
    std::vector<bm25_posting> postings;
    bm25_codes codes;

    static double saturation_of(const bm25_posting& p) { return (1 + p.key * 7919 % 1000) / 1001.0; }
    void add(std::uint32_t key) {
        postings.push_back({key, key % 3 == 0 ? 2.5f : static_cast<float>(1 + key % 300)});
        codes.add(postings, saturation_of);
    }
    void erase(std::size_t i) {
        codes.erase(postings, i);
        postings.erase(postings.begin() + static_cast<std::ptrdiff_t>(i));
    }
    // Every posting has its code, a key without one has none.
    void check() const {
        for (std::size_t i = 0; i < postings.size(); ++i) {
            const bm25_posting& p = postings[i];
            const int code = codes.by_key() ? int{codes.at(p.key)} : int{codes.list()[i]};
            REQUIRE((code - 1) / codes.steps() <= saturation_of(p));
            REQUIRE(saturation_of(p) <= code / codes.steps());
            if (const float told = codes.frequency_at(p.key); told != 0.0f) REQUIRE(told == p.frequency);
        }
        if (!codes.by_key()) return;
        REQUIRE(static_cast<std::size_t>(std::ranges::count(codes.row(), 0)) == codes.row().size() - postings.size());
        for (std::uint32_t key = 0; key < 20'000; ++key)
            if (codes.at(key) == 0) REQUIRE(codes.frequency_at(key) == 0.0f);
    }
};

}  // namespace

TEST_CASE("codes hold saturations between their steps, by posting and by key, through additions and removals") {
    coded_word w;
    for (std::uint32_t key = 5; key < 600; key += 3) w.add(key);
    CHECK(w.codes.by_key());
    CHECK(w.codes.frequency_at(8) == 9.0f);
    CHECK(w.codes.frequency_at(6) == 0.0f);  // not there
    w.check();
    for (std::size_t i = 0; i < 100; ++i) w.erase(i);
    w.check();
    w.add(10'000);  // rare by now
    CHECK(!w.codes.by_key());
    w.check();
    w.erase(3);
    w.check();
    for (std::uint32_t key = 10'001; key < 11'000; ++key) w.add(key);
    CHECK(w.codes.by_key());
    w.check();
}

TEST_CASE("saturations of 0 and 1 have codes, and no code takes more than 2 bytes a posting or a key") {
    std::vector<bm25_posting> postings{{0, 1.0f}};
    bm25_codes codes;
    codes.add(postings, [](const bm25_posting&) { return 1.0; });
    CHECK(codes.list()[0] == 65'535);
    postings.push_back({1, 1.0f});
    codes.add(postings, [](const bm25_posting&) { return 0.0; });
    CHECK(codes.list()[1] == 1);
    coded_word rare, frequent;
    for (std::uint32_t i = 0; i < 1024; ++i) rare.add(17 * i), frequent.add(4 * i);
    CHECK(!rare.codes.by_key());
    CHECK(frequent.codes.by_key());
    CHECK(rare.codes.memory() == 2 * 1024);
    CHECK(frequent.codes.memory() >= 2 * 4 * 1023 + 2);
    CHECK(frequent.codes.memory() <= 2 * 2 * 4 * 1024);  // twice, since vectors grow by doubling
}

TEST_CASE("no saturation changes by more than is said when the average length does") {
    std::mt19937 random(5);
    for (const auto& [k1, b] : {std::pair{0.9, 0.4}, {1.2, 1.0}, {0.0, 0.5}, {2.0, 0.0}})
        for (const double then : {0.0, 1.0, 20.0, 300.0})
            for (const double now : {0.0, 0.9, 21.0, 1000.0}) {
                const bm25_saturation before(k1, b, then), after(k1, b, now);
                const auto change = after.since(before);
                for (int i = 0; i < 50; ++i) {
                    const auto frequency = static_cast<float>(1 + random() % 20) * 0.5f;
                    // Where there is no average, no text has a length.
                    const float length = then == 0.0 || now == 0.0 ? 0.0f : static_cast<float>(random() % 500);
                    const double ratio = after(frequency, length) / before(frequency, length);
                    CAPTURE(k1, b, then, now, frequency, length);
                    REQUIRE(ratio >= change.least * (1 - 1e-12));
                    REQUIRE(ratio <= change.most * (1 + 1e-12));
                }
            }
    const auto same = bm25_saturation(0.9, 0.4, 20.0).since(bm25_saturation(0.9, 0.4, 20.0));
    CHECK(same.least == 1.0);
    CHECK(same.most == 1.0);
}

TEST_CASE("the postings that are kept hold the largest saturation at any average length") {
    std::mt19937 random(3);
    bm25_best_postings best;
    std::vector<std::pair<float, float>> all;
    for (int i = 0; i < 300; ++i) {
        all.emplace_back(static_cast<float>(1 + random() % 9), static_cast<float>(1 + random() % 500));
        best.add(all.back().first, all.back().second);
    }
    for (const double average : {0.0, 0.5, 10.0, 1000.0}) {
        const bm25_saturation saturation(1.2, 0.75, average);
        double most = 0.0;
        for (const auto& [frequency, length] : all) most = std::max(most, saturation(frequency, length));
        CHECK(best.most(saturation) == most);
    }
    best.clear();
    CHECK(best.most(bm25_saturation(1.2, 0.75, 10.0)) == 0.0);
}
