// How long does a round of k-means take: every row to its nearest centre, and the centres to their means?
//
// Made-up unit vectors, spherical. A round is a 40th of what 41 take longer than one, so that the choice of starts
// is not in it. The peer is the plain round on matrices of Eigen's: all products, the largest of each row, sums.
//
//   bench_kmeans --n 100000 --d 384 --k 100 --rounds 3 --json
//   bench_kmeans --dump DIR       writes rows.f32 for other programs, and ends
#include <Eigen/Core>

#include <fstream>

#include "bench.hpp"
#include "quarry/math/kmeans.hpp"

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double plain_round(const Eigen::Map<const matrix>& rows, matrix& centres) {
    return bench::milliseconds([&] {
        matrix sums = matrix::Zero(centres.rows(), centres.cols());
        constexpr Eigen::Index block = 1024;
        for (Eigen::Index first = 0; first < rows.rows(); first += block) {
            const Eigen::Index count = std::min(block, rows.rows() - first);
            const matrix products = rows.middleRows(first, count) * centres.transpose();
            for (Eigen::Index i = 0; i < count; ++i) {
                Eigen::Index best = 0;
                products.row(i).maxCoeff(&best);
                sums.row(best) += rows.row(first + i);
            }
        }
        centres = sums.rowwise().normalized();
    });
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv, {{"n", "100000"}, {"d", "384"}, {"k", "100"}, {"rounds", "3"}, {"json", ""}, {"dump", ""}});
    const std::size_t n = o.number("n"), d = o.number("d"), k = o.number("k");
    const bench::made_up data(n, 1, d);
    if (!o.text("dump").empty()) {
        std::ofstream(o.text("dump") + "/rows.f32", std::ios::binary)
            .write(reinterpret_cast<const char*>(data.base.rows.data()),
                   static_cast<std::streamsize>(data.base.rows.size() * sizeof(float)));
        return 0;
    }
    const Eigen::Map<const matrix> rows(data.base.rows.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(d));
    std::vector<double> ours, plain, starts;
    for (std::size_t round = 0; round < o.number("rounds"); ++round) {
        const auto timed = [&](std::size_t iterations) {
            return bench::milliseconds([&] {
                quarry::kmeans(data.base.rows, d, {.clusters = k, .restarts = 1, .iterations = iterations});
            });
        };
        starts.push_back(timed(1));
        ours.push_back((timed(41) - starts.back()) / 40.0);
        matrix centres = rows.topRows(static_cast<Eigen::Index>(k));
        plain.push_back(0.0);
        for (int i = 0; i < 10; ++i) plain.back() += plain_round(rows, centres) / 10.0;
    }
    const double us = bench::median(ours), them = bench::median(plain);
    bench::report(o, {{{"bench", "k-means, a round"}, {"n", n}, {"d", d}, {"k", k}, {"quarry_ms", us},
                       {"start_and_round_ms", bench::median(starts)},
                       {"peers", {{"products of Eigen", {{"ms", them}, {"ratio", them / us}}}}}}});
}
