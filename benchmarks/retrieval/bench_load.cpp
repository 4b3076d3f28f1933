// What does loading vectors cost, beside reading their file? Both in turns; the file is in the system's memory, as after
// a restart of the program. At most twice is aimed at.
//
//     bench_load --n 1000000 --dimension 384 --rows halves
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench.hpp"
#include "quarry/store/files.hpp"
#include "quarry/store/save_vectors.hpp"

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"n", "1000000"}, {"dimension", "384"}, {"rows", "halves"}, {"rounds", "5"},
                            {"file", "bench_load.quarry"}, {"json", "0"}});
    const std::size_t n = o.number("n"), d = o.number("dimension");
    const auto format = o.text("rows") == "halves" ? quarry::row_format::halves : quarry::row_format::floats;
    const std::string path = o.text("file");
    double saving = 0.0;
    std::vector<quarry::scored_key> answer;
    std::vector<float> probe(d, 1.0f);
    {
        quarry::flat_index index(d, {.rows = format});
        bench::random_source random(1);
        std::vector<float> row(d);
        for (std::size_t i = 0; i < n; ++i) {
            for (float& x : row) x = static_cast<float>(random.uniform() - .5);
            index.add(quarry::unit_at(i), row);
        }
        const double begin = bench::wall_seconds();
        quarry::save(path, index);
        saving = (bench::wall_seconds() - begin) * 1e3;
        answer = index.search(probe, 10);
    }
    quarry::system_files files;
    std::vector<double> reading, loading, reading_wall, loading_wall;
    bool same = true;
    for (std::size_t i = 0; i < o.number("rounds"); ++i) {
        double begin = bench::wall_seconds();
        reading.push_back(bench::milliseconds([&] { const quarry::detail::file_bytes bytes(files, path); }));
        reading_wall.push_back((bench::wall_seconds() - begin) * 1e3);
        begin = bench::wall_seconds();
        loading.push_back(bench::milliseconds([&] {
            const auto again = quarry::load_vectors<quarry::flat_index>(path, d);
            loading_wall.push_back((bench::wall_seconds() - begin) * 1e3);
            same = same && again.search(probe, 10) == answer;
        }));
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const nlohmann::json result{{"n", n},
                                {"dimension", d},
                                {"rows", name_of(format)},
                                {"file_mb", static_cast<double>(files.read(path)->size()) / 1e6},
                                {"save_wall_ms", saving},
                                {"read_ms", bench::median(reading)},
                                {"load_ms", bench::median(loading)},
                                {"read_wall_ms", bench::median(reading_wall)},
                                {"load_wall_ms", bench::median(loading_wall)},
                                {"most_memory_mb", static_cast<double>(used.ru_maxrss) / 1e3},
                                {"same_answers", same}};
    std::remove(path.c_str());
    bench::report(o, nlohmann::json::array({result}));
}
