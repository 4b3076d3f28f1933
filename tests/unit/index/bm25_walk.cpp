#include "quarry/index/bm25_walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;
using detail::bm25_best_postings;
using detail::bm25_list;
using detail::bm25_posting;
using detail::bm25_saturation;
using detail::bm25_walk;

namespace {

// Lists over `keys` keys, each posting there with its own chance: some words are rare and some are in most keys.
struct made_lists {
    std::vector<std::vector<bm25_posting>> postings;
    std::vector<double> weights;
    std::size_t keys;

    made_lists(std::size_t keys_, std::vector<double> chances, std::uint32_t seed) : keys(keys_) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        std::vector<float> lengths;
        for (std::size_t k = 0; k < keys; ++k) lengths.push_back(static_cast<float>(1 + random() % 40));
        for (const double chance : chances) {
            postings.emplace_back();
            for (std::size_t k = 0; k < keys; ++k)
                if (uniform(random) < chance)
                    postings.back().push_back(
                        {static_cast<std::uint32_t>(k), static_cast<float>(1 + random() % 4), lengths[k]});
            weights.push_back(0.1 - std::log(chance));
        }
    }
};

// `tight`: with the most that each list adds, or with its weight, which is more.
std::vector<scored_key> walked(const made_lists& m, std::size_t n, bool sample, bool tight, auto admits) {
    const bm25_saturation saturation(0.9, 0.4, 20.0);
    std::vector<bm25_list> lists;
    for (std::size_t i = 0; i < m.postings.size(); ++i) {
        bm25_best_postings best;
        for (const bm25_posting& p : m.postings[i]) best.add(p.frequency, p.length);
        lists.push_back({m.postings[i], m.weights[i], m.weights[i] * (tight ? best.most(saturation) : 1.0)});
    }
    top_k<scored_key, detail::better_key> best(n);
    const auto make = [](std::uint32_t key, float score) { return scored_key{unit_at(key), key_id{key}, score}; };
    bm25_walk(lists, m.keys, saturation, admits, make).run(n, sample, best);
    return best.take();
}

// One sum a key, every posting added in the order of the lists.
std::vector<scored_key> summed(const made_lists& m, std::size_t n, auto admits) {
    const bm25_saturation saturation(0.9, 0.4, 20.0);
    std::vector<double> sums(m.keys, 0.0);
    for (std::size_t i = 0; i < m.postings.size(); ++i)
        for (const bm25_posting& p : m.postings[i]) sums[p.key] += m.weights[i] * saturation(p.frequency, p.length);
    std::vector<scored_key> out;
    for (std::uint32_t key = 0; key < m.keys; ++key)
        if (sums[key] != 0.0 && admits(key)) out.push_back({unit_at(key), key_id{key}, static_cast<float>(sums[key])});
    std::ranges::sort(out, detail::better_key{});
    if (out.size() > n) out.resize(n);
    return out;
}

bool equal_answers(const std::vector<scored_key>& a, const std::vector<scored_key>& b) {
    return std::ranges::equal(a, b, [](const scored_key& x, const scored_key& y) {
        return x.unit == y.unit && x.key == y.key && x.score == y.score;
    });
}

}  // namespace

TEST_CASE("a walk gives the answers of plain sums to the bit, whatever is looked up and left out") {
    const auto all = [](std::uint32_t) { return true; };
    const auto few = [](std::uint32_t key) { return key % 97 == 5; };
    std::uint32_t seed = 0;
    for (const std::vector<double>& chances :
         {std::vector<double>{0.9, 0.001, 0.3}, {0.002, 0.8, 0.8, 0.01}, {0.5}, {0.0005, 0.0005}, {0.3, 0.3, 0.3}}) {
        const made_lists m(10'000, chances, ++seed);
        for (const std::size_t n : std::vector<std::size_t>{1, 10, 1000, 20'000})
            for (const bool sample : {false, true})
                for (const bool tight : {false, true}) {
                    CAPTURE(seed, n, sample, tight);
                    CHECK(equal_answers(walked(m, n, sample, tight, all), summed(m, n, all)));
                    CHECK(equal_answers(walked(m, n, sample, tight, few), summed(m, n, few)));
                }
    }
}

TEST_CASE("nothing to walk gives nothing") {
    CHECK(walked(made_lists(100, {}, 1), 10, true, true, [](std::uint32_t) { return true; }).empty());
    CHECK(walked(made_lists(5000, {0.5}, 1), 10, true, true, [](std::uint32_t) { return false; }).empty());
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
