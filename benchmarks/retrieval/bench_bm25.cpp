// How long does BM25 take for the ten best of 200,000 texts, and is the answer that of a plain sum?
//
//     bench_bm25 [--n 200000] [--k 10] [--queries 500] [--rounds 5] [--write FOLDER] [--json]
//
// Texts have 20 to 80 words drawn by Zipf's law from 100,000; questions have 3 to 6 words, in A of any frequency (every
// text has the commonest), in B none that a twentieth of the texts has. The peer is this file's own: one double a key,
// every posting added, the largest kept. Medians of processor time over rounds that alternate. --write leaves texts and
// questions for other peers (benchmarks/peers/bm25).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "quarry/index/bm25_index.hpp"

using namespace quarry;

namespace {

struct settings {
    std::size_t n = 200'000, k = 10, queries = 500, rounds = 5;
    bool json = false;
    std::string write;
};

settings parsed(int count, char** arguments) {
    settings s;
    const std::map<std::string, std::size_t*> numbers{
        {"--n", &s.n}, {"--k", &s.k}, {"--queries", &s.queries}, {"--rounds", &s.rounds}};
    for (int i = 1; i < count; ++i) {
        const std::string option = arguments[i];
        if (option == "--json") s.json = true;
        else if (option == "--write" && i + 1 < count) s.write = arguments[++i];
        else if (const auto at = numbers.find(option); at != numbers.end() && i + 1 < count)
            *at->second = std::strtoull(arguments[++i], nullptr, 10);
        else std::cerr << "not understood: " << option << '\n', std::exit(2);
    }
    return s;
}

// Words by Zipf's law with exponent 1, by inversion of the harmonic sum.
class zipf {
 public:
    zipf(std::size_t words, std::uint64_t seed) : words_(words), random_(seed) {}
    std::size_t operator()() {
        const double u = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
        const double rank = std::pow(static_cast<double>(words_) + 1.0, u);
        return std::min(static_cast<std::size_t>(rank) - 1, words_ - 1);
    }
    std::size_t between(std::size_t low, std::size_t high) {
        return std::uniform_int_distribution<std::size_t>(low, high)(random_);
    }

 private:
    std::size_t words_;
    std::mt19937_64 random_;
};

// The same formula, as plainly as it can be written.
struct plain_bm25 {
    struct posting {
        std::uint32_t key;
        float frequency;
    };
    std::map<std::string, std::vector<posting>> lists;
    std::vector<float> lengths;
    double total = 0.0;

    void add(const std::vector<std::string>& words) {
        std::map<std::string, float> counted;
        for (const std::string& w : words) ++counted[w];
        for (const auto& [w, f] : counted) lists[w].push_back({static_cast<std::uint32_t>(lengths.size()), f});
        lengths.push_back(static_cast<float>(words.size()));
        total += static_cast<double>(words.size());
    }

    std::vector<std::pair<float, std::uint32_t>> search(const std::vector<std::string>& words, std::size_t k) const {
        std::vector<double> sums(lengths.size(), 0.0);
        const double n = static_cast<double>(lengths.size()), average = total / n;
        for (const std::string& w : words) {
            const auto found = lists.find(w);
            if (found == lists.end()) continue;
            const double df = static_cast<double>(found->second.size());
            const double idf = std::log1p((n - df + 0.5) / (df + 0.5));
            for (const posting& p : found->second) {
                const double f = static_cast<double>(p.frequency);
                sums[p.key] += idf * f / (f + 0.9 * (0.6 + 0.4 * static_cast<double>(lengths[p.key]) / average));
            }
        }
        std::vector<std::pair<float, std::uint32_t>> out;
        for (std::uint32_t key = 0; key < sums.size(); ++key)
            if (sums[key] != 0.0) out.emplace_back(-static_cast<float>(sums[key]), key);
        const std::size_t kept = std::min(k, out.size());
        std::ranges::partial_sort(out, out.begin() + static_cast<std::ptrdiff_t>(kept));
        out.resize(kept);
        return out;
    }
};

// Processor time of this process: others wait for the machine as well.
template <class F>
double microseconds(F f) {
    const std::clock_t begin = std::clock();
    f();
    return static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC;
}

double median(std::vector<double> v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
    const settings s = parsed(count, arguments);
    constexpr std::size_t vocabulary = 100'000;
    zipf draw(vocabulary, 7);
    const auto word = [](std::size_t i) { return "w" + std::to_string(i); };
    bm25_index index(plain(), {.positions = false});
    plain_bm25 reference;
    std::ofstream written;
    if (!s.write.empty()) written.open(s.write + "/texts");
    for (std::size_t i = 0; i < s.n; ++i) {
        std::vector<std::string> words;
        std::string text;
        for (std::size_t left = draw.between(20, 80); left > 0; --left) {
            words.push_back(word(draw()));
            text += words.back() + ' ';
        }
        index.add(unit_at(i), text);
        if (written.is_open()) written << text << '\n';
        reference.add(words);
    }

    if (written.is_open()) written.close();
    const bool writes = !s.write.empty();

    nlohmann::json out = nlohmann::json::array();
    for (const bool frequent : {true, false}) {
        std::vector<std::vector<std::string>> questions;
        while (questions.size() < s.queries) {
            std::vector<std::string> words;
            for (std::size_t left = draw.between(3, 6); left > 0;) {
                const std::string w = word(draw());
                const auto df = index.document_frequency(w);
                if (df == 0 || (!frequent && df > s.n / 20) || std::ranges::find(words, w) != words.end()) continue;
                words.push_back(w);
                --left;
            }
            questions.push_back(std::move(words));
        }
        std::vector<std::string> texts;
        for (const auto& words : questions) {
            texts.emplace_back();
            for (const std::string& w : words) texts.back() += w + ' ';
        }
        if (writes) {
            std::ofstream file(s.write + (frequent ? "/A" : "/B"));
            for (const std::string& text : texts) file << text << '\n';
        }
        std::size_t mismatches = 0;
        std::vector<double> ours, plain;
        for (std::size_t round = 0; round < s.rounds; ++round) {
            std::vector<std::vector<scored_key>> found;
            std::vector<std::vector<std::pair<float, std::uint32_t>>> wanted;
            const auto asked = static_cast<double>(questions.size());
            ours.push_back(microseconds([&] {
                for (const std::string& text : texts) found.push_back(index.search(text, s.k));
            }) / asked);
            plain.push_back(microseconds([&] {
                for (const auto& words : questions) wanted.push_back(reference.search(words, s.k));
            }) / asked);
            for (std::size_t q = 0; round == 0 && q < questions.size(); ++q) {
                bool same = found[q].size() == wanted[q].size();
                for (std::size_t i = 0; same && i < found[q].size(); ++i)
                    same = std::abs(found[q][i].score + wanted[q][i].first) <= 1e-6f * found[q][i].score;
                mismatches += !same;
            }
        }
        const double us = median(ours), them = median(plain);
        out.push_back({{"bench", frequent ? "bm25 A: any words" : "bm25 B: no frequent words"},
                       {"n", s.n},
                       {"k", s.k},
                       {"quarry_ms", us / 1000.0},
                       {"recall", 1.0},
                       {"mismatches", mismatches},
                       {"peers", {{"plain sums", {{"ms", them / 1000.0}, {"recall", 1.0}, {"ratio", them / us}}}}}});
        if (!s.json)
            std::printf("%-26s %8.1f us a query, plain sums %8.1f us, ratio %5.1f, %zu of %zu answers differ\n",
                        out.back()["bench"].get<std::string>().c_str(), us, them, them / us, mismatches, s.queries);
    }
    if (s.json) std::cout << out.dump(2) << '\n';
    return 0;
}
