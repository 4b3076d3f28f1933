// What does it cost to change one article of a library, and to load it? The first should not depend on how many there are, the
// second should be near the time of reading the file.
//
//     bench_update --keys 100000 --dimension 384
//
// With --turns 1 every round of changes waits for a line from the standard input: so several sizes can be measured in turn.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/live/library.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/store/save_library.hpp"

namespace {

// Rows that differ and cost nothing: what is measured is the library.
struct counting_rows {
    std::size_t d;
    std::size_t dimension() const { return d; }
    std::string name() const { return "counting"; }
    void embed(quarry::role, std::span<const std::string_view> texts, std::span<float> rows) const {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            bench::random_source random(std::hash<std::string_view>{}(texts[i]));
            for (std::size_t j = 0; j < d; ++j) rows[i * d + j] = static_cast<float>(random.uniform() - .5);
        }
    }
};

quarry::article numbered(std::size_t i, std::size_t state) {
    bench::random_source random(i * 1000 + state);
    std::string text;
    for (int word = 0; word < 30; ++word) text += "w" + std::to_string(random.next() % 20000) + ' ';
    return {.id = std::to_string(i), .title = "article " + std::to_string(i), .text = std::move(text)};
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"keys", "10000"}, {"dimension", "384"}, {"changes", "200"}, {"rounds", "1"}, {"turns", "0"}, {"file", "bench_update.quarry"},
                            {"json", "0"}});
    const std::size_t n = o.number("keys");
    const counting_rows embed{o.number("dimension")};
    std::vector<quarry::layer> layers;
    layers.emplace_back(quarry::identity{}, "1");
    quarry::library kb(embed, layers);
    constexpr std::size_t together = 50000;
    for (std::size_t first = 0; first < n; first += together) {
        std::vector<quarry::article> some;
        for (std::size_t i = first; i < (std::min)(n, first + together); ++i) some.push_back(numbered(i, 0));
        kb.upsert_all(std::move(some));
    }
    kb.merge();

    // One article of all, changed; then the question of how much is merged behind it averages out.
    bench::random_source random(1);
    std::vector<double> processor, wall;
    for (std::size_t round = 0, state = 1; round < o.number("rounds"); ++round) {
        if (o.number("turns") != 0) std::getchar();
        for (std::size_t i = 0; i < o.number("changes"); ++i, ++state) {
            const quarry::article changed = numbered(random.next() % n, state);
            const double begin = bench::wall_seconds();
            processor.push_back(bench::milliseconds([&] { kb.upsert(changed); }));
            wall.push_back((bench::wall_seconds() - begin) * 1e3);
        }
        if (o.number("turns") != 0) std::fprintf(stderr, "round %zu\n", round);
    }
    const auto mean = [](const std::vector<double>& all) {
        double sum = 0;
        for (const double x : all) sum += x;
        return sum / static_cast<double>(all.size());
    };
    nlohmann::json result{{"keys", n},
                          {"dimension", embed.d},
                          {"parts", kb.now()->parts()},
                          {"change_median_ms", bench::median(processor)},
                          {"change_mean_ms", mean(processor)},
                          {"change_longest_ms", *std::ranges::max_element(processor)},
                          {"change_median_wall_ms", bench::median(wall)}};

    const std::string path = o.text("file");
    result["save_ms"] = bench::milliseconds([&] { quarry::save(path, kb); });
    quarry::system_files files;
    std::vector<double> reading, loading;
    for (int i = 0; i < 3; ++i) {
        reading.push_back(bench::milliseconds([&] { const quarry::detail::file_bytes bytes(files, path); }));
        loading.push_back(bench::milliseconds([&] {
            quarry::library again(embed, layers);
            quarry::load(path, again);
        }));
    }
    result["file_mb"] = static_cast<double>(files.read(path)->size()) / 1e6;
    result["read_ms"] = bench::median(reading);
    result["load_ms"] = bench::median(loading);
    std::remove(path.c_str());
    bench::report(o, nlohmann::json::array({result}));
}
