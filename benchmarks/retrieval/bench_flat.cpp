// How long does an exact search take, alone and in batches, and is it exact?
//
// Against Eigen's product with a heap, in turns. Every answer is compared with a loop in double precision for the first
// queries; `mismatches` counts those that differ. Milliseconds of processor time a query (of a batch: a query's share).
//
//   bench_flat --n 100000 --d 384 --k 10 --batch 256 --rounds 5 --json
//   bench_flat --data $QUARRY_DATA/ann_minilm      real vectors in place of made-up ones
//   bench_flat --dump DIR                          writes base.f32 and queries.f32 for other programs, and ends
#include <Eigen/Core>

#include <fstream>
#include <functional>
#include <numeric>

#include "bench.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/math/top_k.hpp"

namespace {

using found = std::vector<quarry::scored_key>;

struct better_key {
    bool operator()(const quarry::scored_key& a, const quarry::scored_key& b) const { return quarry::better(a, b); }
};

// A loop in double precision over the rows as the index stores them.
std::vector<std::uint32_t> by_loop(const quarry::flat_index& index, const bench::vectors& base,
                                   std::span<const float> query, std::size_t k) {
    std::vector<float> q(query.begin(), query.end());
    quarry::normalize(q);
    quarry::top_k<quarry::scored_key, better_key> best(k);
    for (std::size_t i = 0; i < base.n; ++i) {
        const auto row = index.rows().floats(i);
        double sum = 0;
        for (std::size_t j = 0; j < base.d; ++j) sum += static_cast<double>(q[j]) * static_cast<double>(row[j]);
        best.offer({quarry::unit_at(i), quarry::key_at(i), static_cast<float>(std::clamp(sum, -1.0, 1.0))});
    }
    std::vector<std::uint32_t> out;
    for (const auto& key : best.take()) out.push_back(static_cast<std::uint32_t>(key.unit));
    return out;
}

std::vector<std::uint32_t> units(const found& keys) {
    std::vector<std::uint32_t> out;
    for (const auto& key : keys) out.push_back(static_cast<std::uint32_t>(key.unit));
    return out;
}

// What one writes with Eigen alone: a product with every row, and a heap.
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
found with_eigen(const bench::vectors& base, const float* query, std::size_t k) {
    const auto rows = static_cast<Eigen::Index>(base.n), d = static_cast<Eigen::Index>(base.d);
    const Eigen::VectorXf scores =
        Eigen::Map<const matrix>(base.rows.data(), rows, d) * Eigen::Map<const Eigen::VectorXf>(query, d);
    quarry::top_k<quarry::scored_key, better_key> best(k);
    for (std::size_t i = 0; i < base.n; ++i) {
        const float s = scores[static_cast<Eigen::Index>(i)];
        if (!best.full() || s > best.worst().score) best.offer({quarry::unit_at(i), quarry::key_at(i), s});
    }
    return best.take();
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv,
                           {{"n", "100000"},
                            {"d", "384"},
                            {"k", "10"},
                            {"queries", "64"},
                            {"batch", "256"},
                            {"rounds", "5"},
                            {"checked", "20"},
                            {"peers", "1"},
                            {"data", ""},
                            {"dump", ""},
                            {"json", ""}});
    const std::size_t k = o.number("k"), batch = o.number("batch");
    bench::base_and_queries given =
        bench::vectors_of(o.text("data"), o.number("n"), (std::max)(o.number("queries"), batch), o.number("d"));
    bench::vectors &base = given.base, &queries = given.queries;
    const std::size_t single = (std::min)(o.number("queries"), queries.n), together = (std::min)(batch, queries.n);
    if (!o.text("dump").empty()) {
        std::ofstream(o.text("dump") + "/base.f32", std::ios::binary)
            .write(reinterpret_cast<const char*>(base.rows.data()), static_cast<std::streamsize>(base.rows.size() * 4));
        std::ofstream(o.text("dump") + "/queries.f32", std::ios::binary)
            .write(reinterpret_cast<const char*>(queries.rows.data()),
                   static_cast<std::streamsize>(queries.n * base.d * 4));
        return 0;
    }

    std::vector<quarry::unit_id> unit(base.n);
    for (std::size_t i = 0; i < base.n; ++i) unit[i] = quarry::unit_at(i);
    nlohmann::json cases = nlohmann::json::array();
    const std::pair<const char*, quarry::flat_options> kinds[] = {{"flat", {}},
                                                                  {"flat, bytes only", {.nibbles = false}},
                                                                  {"flat, floats only", {.bytes = false}}};
    for (const auto& [name, options] : kinds) {
        quarry::flat_index index(base.d, options);
        index.add(unit, base.rows);
        const auto query = [&](std::size_t q) { return std::span(queries.row(q), base.d); };
        std::size_t mismatches = 0;
        std::vector<std::vector<std::uint32_t>> truth;
        for (std::size_t q = 0; q < (std::min)(o.number("checked"), single); ++q) {
            truth.push_back(by_loop(index, base, query(q), k));
            mismatches += units(index.search(query(q), k)) != truth.back();
        }
        const auto in_batch = index.search_batch(std::span(queries.row(0), together * base.d), k);
        std::size_t batch_mismatches = 0;
        for (std::size_t q = 0; q < together; ++q) batch_mismatches += in_batch[q] != index.search(query(q), k);

        std::vector<double> ours, ours_batched, eigen;
        for (std::size_t r = 0; r < o.number("rounds"); ++r) {
            ours.push_back(bench::milliseconds([&] {
                               for (std::size_t q = 0; q < single; ++q) index.search(query(q), k);
                           }) /
                           static_cast<double>(single));
            if (together > 1)
                ours_batched.push_back(
                    bench::milliseconds([&] { index.search_batch(std::span(queries.row(0), together * base.d), k); }) /
                    static_cast<double>(together));
            if (o.flag("peers") && options.nibbles && options.bytes)
                eigen.push_back(bench::milliseconds([&] {
                                    for (std::size_t q = 0; q < single; ++q) with_eigen(base, queries.row(q), k);
                                }) /
                                static_cast<double>(single));
        }
        const auto one = [&](const std::string& which, std::size_t m, double ms, std::size_t wrong) {
            return nlohmann::json{{"bench", which},
                                  {"n", base.n},
                                  {"d", base.d},
                                  {"k", k},
                                  {"batch", m},
                                  {"quarry_ms", ms},
                                  {"recall", 1.0},
                                  {"mismatches", wrong},
                                  {"load", bench::load()},
                                  {"peers", nlohmann::json::object()}};
        };
        cases.push_back(one(name, 1, bench::median(ours), mismatches));
        if (!eigen.empty()) {
            const double ms = bench::median(eigen);
            cases.back()["peers"]
                        ["Eigen " + std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION)] = {
                {"ms", ms}, {"recall", 1.0}, {"ratio", ms / bench::median(ours)}};
        }
        if (together > 1) cases.push_back(one(name, together, bench::median(ours_batched), batch_mismatches));
    }
    bench::report(o, cases);
}
