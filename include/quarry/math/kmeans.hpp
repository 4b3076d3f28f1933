// k-means: rows into groups, each around its centre.
//
//     const clustering c = kmeans(rows, d, {.clusters = 20});
//
// Spherical by default: rows count by their direction, and a centre is a direction too. The other form takes rows as
// they are and centres as means. Starting centres are drawn far from each other (k-means++), from a generator of our
// own: the same groups in every run.
//
// The surprising thing: there may be fewer groups than were asked for, and none is empty. Rows that coincide cannot be
// told apart, so forty equal rows are one group.
//
// Source  Lloyd, 1982; Dhillon and Modha, "Concept decompositions for large sparse text data", 2001, for the spherical
//         form; Arthur and Vassilvitskii, "k-means++", 2007, with several candidates for each centre, as their
//         conclusion proposes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "cosine.hpp"
#include "svd.hpp"

namespace QUARRY_NAMESPACE {

struct kmeans_options {
    std::size_t clusters = 8;      // wanted; at least 1
    bool spherical = true;         // by direction; false: by distance
    std::size_t restarts = 3;      // from other starting centres; the tightest result is kept; at least 1
    std::size_t iterations = 100;  // of each, at most; it ends when no row changes its group
    std::uint64_t seed = 1;        // of the starting centres
};

/// Groups of rows. Every group has a row, and groups are numbered by their first one.
struct clustering {
    std::size_t clusters = 0;
    std::vector<std::uint32_t> cluster_of;  // by row
    std::vector<float> centroids;           // clusters * d: mean directions of length 1, or means

    /// The sum of squared distances from the rows to the means of their groups. Rows of length 1 for the spherical
    /// form, and means that are not: so it is that of scikit-learn's `inertia_` for such rows.
    double inertia = 0.0;

    /// The rows of each group, ascending.
    std::vector<std::vector<std::size_t>> members() const {
        std::vector<std::vector<std::size_t>> out(clusters);
        for (std::size_t i = 0; i < cluster_of.size(); ++i) out[cluster_of[i]].push_back(i);
        return out;
    }
};

/// Groups n rows of d floats, row-major, into at most `clusters` groups, each row into one.
///
/// Order   the same rows give the same groups, whatever else runs; across instruction sets rows may change sides where
///         two centres are equally near to within rounding.
/// Cost    n * clusters * d an iteration, about 3 (clusters + 1) log(clusters) n d / 2 for a start; n + 256 clusters
///         floats beside rows and centres, so never a matrix of n by n.
/// Errors  usage_error `kmeans.options` for 0 clusters or restarts; `kmeans.rows` if the floats are no whole number of
///         rows, or d is 0; `kmeans.not_finite`; `kmeans.zero_row` for a row without a direction (spherical).
inline clustering kmeans(std::span<const float> rows, std::size_t d, const kmeans_options& options = {});

/// The mean silhouette of a grouping, in [-1, 1]: how much nearer rows are to their own group than to the nearest
/// other. By Euclidean distance; a row alone in its group counts 0. NaN for fewer than two groups.
///
/// Cost    n^2 d. Source  Rousseeuw, 1987.
inline double silhouette(std::span<const float> rows, std::size_t d, std::span<const std::uint32_t> cluster_of);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline double squared_distance(std::span<const float> a, std::span<const float> b) noexcept {
    double sum[4] = {0, 0, 0, 0};
    std::size_t i = 0;
    for (; i + 4 <= a.size(); i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double away = static_cast<double>(a[i + lane]) - static_cast<double>(b[i + lane]);
            sum[lane] += away * away;
        }
    for (; i < a.size(); ++i) {
        const double away = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        sum[0] += away * away;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// One run of k-means over rows that were checked and, for the spherical form, scaled.
class kmeans_run {
   public:
    kmeans_run(std::span<const float> rows, std::size_t d, const kmeans_options& options, std::uint64_t seed)
        : rows_(rows), d_(d), n_(rows.size() / d), options_(options), random_(seed), squares_(n_) {
        for (std::size_t i = 0; i < n_; ++i) squares_[i] = dot(row(i), row(i));
    }

    clustering run() {
        choose_starts();
        out_.cluster_of.assign(n_, 0);
        nearest_.assign(n_, 0.0);
        for (std::size_t round = 0; round < (std::max)(options_.iterations, std::size_t{1}); ++round) {
            const bool moved = assign();
            const bool repaired = fill_empty();
            move_centroids();
            if (!moved && !repaired && round > 0) break;
        }
        number_by_first_row();
        return std::move(out_);
    }

   private:
    std::span<const float> row(std::size_t i) const noexcept { return rows_.subspan(i * d_, d_); }
    std::span<float> centroid(std::size_t c) noexcept { return std::span(out_.centroids).subspan(c * d_, d_); }

    // Uniform in [0, 1).
    double uniform() noexcept { return (random_.symmetric() + 1.0) / 2.0; }

    // Of several rows drawn by their squared distance to the centres so far, the one that helps most.
    void choose_starts() {
        const std::size_t wanted = (std::min)(options_.clusters, n_);
        const std::size_t tries = 2 + static_cast<std::size_t>(std::log(static_cast<double>(wanted)));
        std::vector<double> away(n_, std::numeric_limits<double>::infinity());
        std::vector<std::size_t> drawn{static_cast<std::size_t>(uniform() * static_cast<double>(n_))};
        std::vector<float> products, candidates;
        while (true) {
            candidates.clear();
            for (const std::size_t i : drawn) candidates.insert(candidates.end(), row(i).begin(), row(i).end());
            products.resize(drawn.size() * n_);
            approximate_products(rows_, candidates, d_, products);
            std::size_t best = 0;
            double least = std::numeric_limits<double>::infinity();
            std::vector<double> after, candidate(n_);
            for (std::size_t c = 0; c < drawn.size(); ++c) {
                double sum = 0.0;
                for (std::size_t i = 0; i < n_; ++i) {
                    candidate[i] = (std::min)(away[i], distance_from_product(i, drawn[c], products[c * n_ + i]));
                    sum += candidate[i];
                }
                if (sum < least) {
                    least = sum;
                    best = c;
                    after = candidate;
                }
            }
            away = std::move(after);
            out_.centroids.insert(out_.centroids.end(), row(drawn[best]).begin(), row(drawn[best]).end());
            ++out_.clusters;
            if (out_.clusters == wanted || !(least > 0.0)) return;  // all rows coincide with a centre
            drawn.clear();
            for (std::size_t t = 0; t < tries; ++t) drawn.push_back(draw(away, least));
        }
    }

    // A float product cannot tell near rows from equal ones, and equal ones must not become two centres.
    double distance_from_product(std::size_t i, std::size_t j, float product) const noexcept {
        const double whole = squares_[i] + squares_[j];
        const double distance = whole - 2.0 * static_cast<double>(product);
        return distance > 1e-4 * whole ? distance : squared_distance(row(i), row(j));
    }

    std::size_t draw(const std::vector<double>& weights, double sum) noexcept {
        double at = uniform() * sum;
        std::size_t last = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            if (!(weights[i] > 0.0)) continue;
            last = i;
            at -= weights[i];
            if (at < 0.0) break;
        }
        return last;
    }

    // Every row to its nearest centre, the first of those that are equally near. In blocks, so that the products of all
    // rows with all centres never exist at once.
    bool assign() {
        constexpr std::size_t block = 256;
        std::vector<double> half(out_.clusters);
        for (std::size_t c = 0; c < out_.clusters; ++c) half[c] = dot(centroid(c), centroid(c)) / 2.0;
        std::vector<float> products;
        bool moved = false;
        for (std::size_t first = 0; first < n_; first += block) {
            const std::size_t count = (std::min)(block, n_ - first);
            products.resize(count * out_.clusters);
            approximate_products(out_.centroids, rows_.subspan(first * d_, count * d_), d_, products);
            for (std::size_t i = 0; i < count; ++i) {
                const float* p = products.data() + i * out_.clusters;
                std::size_t best = 0;
                double most = -std::numeric_limits<double>::infinity();
                for (std::size_t c = 0; c < out_.clusters; ++c)
                    if (const double near = static_cast<double>(p[c]) - half[c]; near > most) most = near, best = c;
                std::uint32_t& own = out_.cluster_of[first + i];
                moved = moved || own != best;
                own = static_cast<std::uint32_t>(best);
                nearest_[first + i] = squares_[first + i] - 2.0 * most;
            }
        }
        return moved;
    }

    // A group that lost all its rows gets the one that is farthest from its centre, of a group that has another.
    bool fill_empty() {
        std::vector<std::size_t> count(out_.clusters, 0);
        for (const std::uint32_t c : out_.cluster_of) ++count[c];
        bool repaired = false;
        for (std::size_t c = 0; c < out_.clusters;) {
            if (count[c] != 0) {
                ++c;
                continue;
            }
            std::size_t farthest = n_;
            for (std::size_t i = 0; i < n_; ++i)
                if (count[out_.cluster_of[i]] > 1 && (farthest == n_ || nearest_[i] > nearest_[farthest])) farthest = i;
            repaired = true;
            if (farthest != n_ &&
                squared_distance(row(farthest), centroid(out_.cluster_of[farthest])) > 1e-12 * squares_[farthest]) {
                --count[out_.cluster_of[farthest]];
                out_.cluster_of[farthest] = static_cast<std::uint32_t>(c);
                nearest_[farthest] = 0.0;
                count[c] = 1;
            } else {
                drop(c);
                count.erase(count.begin() + static_cast<std::ptrdiff_t>(c));
            }
        }
        return repaired;
    }

    void drop(std::size_t c) {
        const auto first = out_.centroids.begin() + static_cast<std::ptrdiff_t>(c * d_);
        out_.centroids.erase(first, first + static_cast<std::ptrdiff_t>(d_));
        for (std::uint32_t& own : out_.cluster_of) own -= own > c;
        --out_.clusters;
    }

    // Means, and from them the inertia: the sum of squares minus what the means account for.
    void move_centroids() {
        std::vector<double> sums(out_.clusters * d_, 0.0), count(out_.clusters, 0.0);
        out_.inertia = 0.0;
        for (std::size_t i = 0; i < n_; ++i) {
            const std::size_t c = out_.cluster_of[i];
            count[c] += 1.0;
            out_.inertia += squares_[i];
            for (std::size_t j = 0; j < d_; ++j) sums[c * d_ + j] += static_cast<double>(rows_[i * d_ + j]);
        }
        for (std::size_t c = 0; c < out_.clusters; ++c) {
            const std::span<double> sum = std::span(sums).subspan(c * d_, d_);
            double squares = 0.0;
            for (const double x : sum) squares += x * x;
            out_.inertia -= squares / count[c];
            // Directions that cancel out have no mean: the centre stays where it was.
            if (options_.spherical && !(squares > 1e-12 * count[c])) continue;
            const double scale = options_.spherical ? std::sqrt(squares) : count[c];
            for (std::size_t j = 0; j < d_; ++j) centroid(c)[j] = static_cast<float>(sum[j] / scale);
        }
        out_.inertia = (std::max)(out_.inertia, 0.0);
    }

    void number_by_first_row() {
        constexpr std::uint32_t unseen = UINT32_MAX;
        std::vector<std::uint32_t> number(out_.clusters, unseen);
        std::vector<float> centroids;
        std::uint32_t next = 0;
        for (std::uint32_t& own : out_.cluster_of) {
            if (number[own] == unseen) {
                number[own] = next++;
                const auto c = centroid(own);
                centroids.insert(centroids.end(), c.begin(), c.end());
            }
            own = number[own];
        }
        out_.centroids = std::move(centroids);
    }

    std::span<const float> rows_;
    std::size_t d_, n_;
    const kmeans_options& options_;
    splitmix64 random_;
    std::vector<double> squares_, nearest_;
    clustering out_;
};

}  // namespace detail

inline clustering kmeans(std::span<const float> rows, std::size_t d, const kmeans_options& options) {
    if (options.clusters == 0 || options.restarts == 0)
        detail::raise<usage_error>("kmeans.options",
                                   detail::concat("quarry::kmeans: clusters and restarts are at least 1, given ",
                                                  options.clusters, " and ", options.restarts));
    if (d == 0 || rows.size() % d != 0)
        detail::raise<usage_error>("kmeans.rows", detail::concat("quarry::kmeans: ", rows.size(),
                                                                 " floats are no rows of ", d));
    if (rows.empty()) return {};
    std::vector<float> own(rows.begin(), rows.end());
    for (std::size_t i = 0; i < own.size() / d; ++i) {
        const std::span<float> row = std::span(own).subspan(i * d, d);
        for (const float x : row)
            if (!detail::is_finite(x))
                detail::raise<usage_error>("kmeans.not_finite",
                                           detail::concat("quarry::kmeans: row ", i, " holds ", x));
        if (options.spherical && !normalize(row))
            detail::raise<usage_error>("kmeans.zero_row",
                                       detail::concat("quarry::kmeans: row ", i, " is zero and has no direction"));
    }
    clustering best;
    for (std::size_t r = 0; r < options.restarts; ++r) {
        clustering one = detail::kmeans_run(own, d, options, options.seed + r).run();
        if (r == 0 || one.inertia < best.inertia) best = std::move(one);
    }
    return best;
}

inline double silhouette(std::span<const float> rows, std::size_t d, std::span<const std::uint32_t> cluster_of) {
    const std::size_t n = cluster_of.size();
    if (d == 0 || rows.size() != n * d)
        detail::raise<usage_error>("kmeans.rows", detail::concat("quarry::silhouette: ", rows.size(),
                                                                 " floats are no ", n, " rows of ", d));
    std::size_t clusters = 0;
    for (const std::uint32_t c : cluster_of) clusters = (std::max)(clusters, std::size_t{c} + 1);
    std::vector<double> count(clusters, 0.0);
    for (const std::uint32_t c : cluster_of) count[c] += 1.0;
    if (std::ranges::count_if(count, [](double x) { return x > 0.0; }) < 2)
        return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> squares(n), away(clusters);
    for (std::size_t i = 0; i < n; ++i) squares[i] = dot(rows.subspan(i * d, d), rows.subspan(i * d, d));
    std::vector<float> products(n);
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t own = cluster_of[i];
        if (count[own] <= 1.0) continue;
        const auto row = rows.subspan(i * d, d);
        approximate_products(rows, row, d, products);
        std::ranges::fill(away, 0.0);
        for (std::size_t j = 0; j < n; ++j) {
            const double product = static_cast<double>(products[j]);
            double square = squares[i] + squares[j] - 2.0 * product;
            if (square < 1e-4 * (squares[i] + squares[j]))
                square = detail::squared_distance(row, rows.subspan(j * d, d));
            away[cluster_of[j]] += std::sqrt(square);
        }
        const double inside = away[own] / (count[own] - 1.0);
        double outside = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < clusters; ++c)
            if (c != own && count[c] > 0.0) outside = (std::min)(outside, away[c] / count[c]);
        if (const double larger = (std::max)(inside, outside); larger > 0.0) sum += (outside - inside) / larger;
    }
    return sum / static_cast<double>(n);
}

}  // namespace QUARRY_NAMESPACE
