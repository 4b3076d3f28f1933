#include "quarry/index/bm25_walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace quarry;
using detail::bm25_best_postings;
using detail::bm25_codes;
using detail::bm25_list;
using detail::bm25_posting;
using detail::bm25_saturation;
using detail::bm25_walk;

namespace {

// Lists over `keys` keys, each posting there with its own chance: some words are rare and some are in most keys.
struct made_lists {
    std::vector<std::vector<bm25_posting>> postings;
    std::vector<double> weights;
    std::vector<float> lengths;
    std::size_t keys;

    made_lists(std::size_t keys_, std::vector<double> chances, std::uint32_t seed) : keys(keys_) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        for (std::size_t k = 0; k < keys; ++k) lengths.push_back(static_cast<float>(1 + random() % 40));
        for (const double chance : chances) {
            postings.emplace_back();
            for (std::size_t k = 0; k < keys; ++k)
                if (uniform(random) < chance)
                    postings.back().push_back(
                        {static_cast<std::uint32_t>(k), static_cast<float>(1 + random() % 4) * (k % 9 == 0 ? 0.7f : 1.0f)});
            weights.push_back(0.1 - std::log(chance));
        }
    }
};

// `coded_average`: the average length that the codes were made with. `tight`: with the most that each list adds, or with
// its weight, which is more.
std::vector<scored_key> walked(const made_lists& m, std::size_t n, double coded_average, bool tight, auto admits) {
    const bm25_saturation saturation(0.9, 0.4, 20.0), coded(0.9, 0.4, coded_average);
    std::vector<bm25_list> lists;
    std::vector<bm25_codes> codes(m.postings.size());
    for (std::size_t i = 0; i < m.postings.size(); ++i) {
        const std::span<const bm25_posting> postings = m.postings[i];
        bm25_best_postings best;
        for (std::size_t p = 0; p < postings.size(); ++p) {
            const auto saturation_of = [&](const bm25_posting& x) { return coded(x.frequency, m.lengths[x.key]); };
            codes[i].add(postings.first(p + 1), saturation_of);
            best.add(postings[p].frequency, m.lengths[postings[p].key]);
        }
        lists.push_back({postings, &codes[i], m.weights[i], m.weights[i] * (tight ? best.most(saturation) : 1.0)});
    }
    top_k<scored_key, detail::better_key> best(n);
    const auto length_of = [&](std::uint32_t key) { return m.lengths[key]; };
    const auto make = [](std::uint32_t key, float score) { return scored_key{unit_at(key), key_id{key}, score}; };
    bm25_walk(lists, saturation, coded, length_of, admits, make).run(n, best);
    return best.take();
}

// One sum a key, every posting added in the order of the lists.
std::vector<scored_key> summed(const made_lists& m, std::size_t n, auto admits) {
    const bm25_saturation saturation(0.9, 0.4, 20.0);
    std::vector<double> sums(m.keys, 0.0);
    for (std::size_t i = 0; i < m.postings.size(); ++i)
        for (const bm25_posting& p : m.postings[i]) sums[p.key] += m.weights[i] * saturation(p.frequency, m.lengths[p.key]);
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
    // Words in nearly every key, in many, in some, in a handful: alone, with their like, and with each other.
    for (const std::vector<double>& chances :
         {std::vector<double>{0.9, 0.001, 0.3}, {0.002, 0.8, 0.8, 0.01}, {0.5}, {0.0005, 0.05}, {0.3, 0.3, 0.05}}) {
        const made_lists m(40'000, chances, ++seed);
        for (const std::size_t n : std::vector<std::size_t>{1, 10, 700, 40'000}) {
            const auto wanted = summed(m, n, all), wanted_few = summed(m, n, few);
            // Codes of today, of a shorter average, of a longer one, and too far away to tell anything.
            for (const double average : {20.0, 17.0, 26.0, 0.1}) {
                CAPTURE(seed, n, average);
                CHECK(equal_answers(walked(m, n, average, true, all), wanted));
                CHECK(equal_answers(walked(m, n, average, false, few), wanted_few));
            }
        }
    }
}

TEST_CASE("keys of equal scores come in their order, wherever they are found") {
    made_lists m(40'000, {0.2, 0.03}, 7);
    std::ranges::fill(m.lengths, 10.0f);
    for (auto& list : m.postings)
        for (bm25_posting& p : list) p.frequency = 1.0f;
    const auto all = [](std::uint32_t) { return true; };
    for (const std::size_t n : std::vector<std::size_t>{3, 50, 400})
        CHECK(equal_answers(walked(m, n, 20.0, true, all), summed(m, n, all)));
}

TEST_CASE("nothing to walk gives nothing") {
    CHECK(walked(made_lists(100, {}, 1), 10, 20.0, true, [](std::uint32_t) { return true; }).empty());
    CHECK(walked(made_lists(5000, {0.5}, 1), 10, 20.0, true, [](std::uint32_t) { return false; }).empty());
}
