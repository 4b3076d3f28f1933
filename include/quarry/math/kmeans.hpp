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
#include "byte_rows.hpp"
#include "cosine.hpp"
#include "kernels.hpp"
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
/// Order   the same rows give the same groups, whatever else runs; each row goes to the centre that is nearest in double,
///         the first of equals. Across instruction sets another start may be drawn where rounding decides.
/// Cost    n * clusters * d an iteration, about clusters log(clusters) n d for a start, most of it in bytes; n (d + 28 +
///         8 log(clusters)) bytes and 128 clusters floats beside rows and centres, so never a matrix of n by n.
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
    // `bytes`  the same rows, or null.
    kmeans_run(std::span<const float> rows, std::size_t d, const byte_rows* bytes, const kmeans_options& options,
               std::uint64_t seed)
        : rows_(rows), d_(d), n_(rows.size() / d), bytes_(bytes), options_(options), random_(seed), squares_(n_), lengths_(n_) {
        for (std::size_t i = 0; i < n_; ++i) squares_[i] = dot(row(i), row(i)), lengths_[i] = std::sqrt(squares_[i]);
    }

    // Rows of greater length have no bounds in floats.
    static constexpr double longest = 1e15;

    clustering run() {
        choose_starts();
        out_.cluster_of.assign(n_, 0);
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
    std::span<const float> centroid(std::size_t c) const noexcept {
        return std::span(out_.centroids).subspan(c * d_, d_);
    }

    // Uniform in [0, 1).
    double uniform() noexcept { return (random_.symmetric() + 1.0) / 2.0; }

    // Of several rows drawn by their squared distance to the centres so far, the one that helps most.
    void choose_starts() {
        const std::size_t wanted = (std::min)(options_.clusters, n_);
        const std::size_t tries = 2 + static_cast<std::size_t>(std::log(static_cast<double>(wanted)));
        std::vector<double> away(n_, std::numeric_limits<double>::infinity());
        std::vector<std::size_t> drawn{static_cast<std::size_t>(uniform() * static_cast<double>(n_))};
        std::vector<double> nearest;
        while (true) {
            nearest.resize(drawn.size() * n_);
            for (std::size_t first = 0; first < n_; first += block) lower_block(first, drawn, away, nearest);
            std::size_t best = 0;
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < drawn.size(); ++c) {
                double sum = 0.0;
                for (std::size_t i = 0; i < n_; ++i) sum += nearest[c * n_ + i];
                if (sum < least) least = sum, best = c;
            }
            std::copy_n(nearest.data() + best * n_, n_, away.data());
            out_.centroids.insert(out_.centroids.end(), row(drawn[best]).begin(), row(drawn[best]).end());
            ++out_.clusters;
            if (out_.clusters == wanted || !(least > 0.0)) return;  // all rows coincide with a centre
            drawn.clear();
            for (std::size_t t = 0; t < tries; ++t) drawn.push_back(draw(away, least));
        }
    }

    // nearest[c * n_ + i]: how far row i is from the nearest of the centres so far and candidate c. Most rows are nearer to a
    // centre than the bytes allow a candidate to be; the others are compared in double.
    void lower_block(std::size_t first, std::span<const std::size_t> drawn, std::span<const double> away,
                     std::span<double> nearest) {
        const std::size_t count = (std::min)(block, n_ - first);
        if (bytes_) {
            codes_.resize(drawn.size() * bytes_->stride());
            products_.resize(drawn.size() * block);
            if (first == 0) {
                candidates_.clear();
                for (std::size_t c = 0; c < drawn.size(); ++c)
                    candidates_.push_back(bytes_->encode(row(drawn[c]), codes_.data() + c * bytes_->stride()));
            }
            for (std::size_t c = 0; c < drawn.size(); ++c)  // too few to be worth packing the rows for
                best_kernels().byte_products(bytes_->codes(first), bytes_->stride(), nullptr, count,
                                             codes_.data() + c * bytes_->stride(), products_.data() + c * block);
        }
        for (std::size_t c = 0; c < drawn.size(); ++c)
            for (std::size_t i = first; i < first + count; ++i) {
                const bool farther = bytes_ && candidates_[c].usable() &&
                                     squares_[i] + squares_[drawn[c]] -
                                             2.0 * bytes_->range(i, products_[c * block + i - first], candidates_[c]).high >=
                                         away[i] * (1.0 + slack) + slack * (squares_[i] + squares_[drawn[c]]);
                nearest[c * n_ + i] = farther ? away[i] : (std::min)(away[i], distance(i, drawn[c]));
            }
    }

    // Near rows are subtracted, since equal ones must not become two centres.
    double distance(std::size_t i, std::size_t j) const noexcept {
        const double whole = squares_[i] + squares_[j];
        const double square = whole - 2.0 * dot(row(i), row(j));
        return square > 1e-4 * whole ? square : squared_distance(row(i), row(j));
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

    // A centre as a block is compared with it. By how much an estimate of a product may be off is a sum of two products,
    // one of the row's and one of the centre's inaccuracy.
    struct compared_centre {
        double half;                         // of its square: the nearest has the largest product with a row, less this
        float more, less;                    // the same, and what may be lost in floats
        float length = 0.0f, error = 0.0f;   // times a row's error and length
        byte_probe_constants constants{};
        bool trusted = true;
    };

    static float around(const compared_centre& c, float error, float length) noexcept {
        return c.length * error + c.error * length;
    }

    // Every row to its nearest centre, the first of those that are equally near.
    bool assign() {
        encode_centres();
        bool moved = false;
        for (std::size_t first = 0; first < n_; first += block) {
            const std::size_t count = (std::min)(block, n_ - first);
            estimate(first, count);
            moved = assign_block(first, count) || moved;
        }
        return moved;
    }

    // Bounds of all products decide for most rows; for the others, products in double.
    bool assign_block(std::size_t first, std::size_t count) {
        float least[block], error[block], length[block];
        std::int32_t found[block] = {}, last[block] = {};
        for (std::size_t i = 0; i < block; ++i) {
            const double whole = i < count ? lengths_[first + i] : 0.0;
            const double off = !bytes_ ? product_error(d_, whole)
                               : i < count ? static_cast<double>(bytes_->constants(first).error[i]) : 0.0;
            error[i] = float_above(off + slack * whole);
            length[i] = float_above(whole * (1.0 + slack) + off);
            least[i] = -std::numeric_limits<float>::max();
        }
        for (std::size_t c = 0; c < out_.clusters; ++c) {
            const compared_centre centre = centres_[c];
            const float* near = estimates_.data() + c * block;
            for (std::size_t i = 0; i < block; ++i) {
                const float low = near[i] - around(centre, error[i], length[i]) - centre.more;
                least[i] = low > least[i] ? low : least[i];
            }
        }
        for (std::size_t c = 0; c < out_.clusters; ++c) {
            const compared_centre centre = centres_[c];
            const float* near = estimates_.data() + c * block;
            for (std::size_t i = 0; i < block; ++i) {
                const bool may = near[i] + around(centre, error[i], length[i]) - centre.less >= least[i];
                found[i] += may ? 1 : 0;
                last[i] = may ? static_cast<std::int32_t>(c) : last[i];
            }
        }
        bool moved = false;
        for (std::size_t i = 0; i < count; ++i) {
            const bool trusted = lengths_[first + i] <= longest;
            const auto may = [&](std::size_t c) {
                return !trusted || estimates_[c * block + i] + around(centres_[c], error[i], length[i]) - centres_[c].less >= least[i];
            };
            const auto best = trusted && found[i] == 1 ? static_cast<std::uint32_t>(last[i]) : nearest_of(first + i, may);
            moved = moved || out_.cluster_of[first + i] != best;
            out_.cluster_of[first + i] = best;
        }
        return moved;
    }

    template <class May>
    std::uint32_t nearest_of(std::size_t i, May may) const noexcept {
        std::size_t best = 0;
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < out_.clusters; ++c)
            if (may(c))
                if (const double near = dot(row(i), centroid(c)) - centres_[c].half; near > most) most = near, best = c;
        return static_cast<std::uint32_t>(best);
    }

    void encode_centres() {
        centres_.clear();
        if (bytes_) codes_.resize(out_.clusters * bytes_->stride());
        for (std::size_t c = 0; c < out_.clusters; ++c) {
            const double square = dot(centroid(c), centroid(c)), half = square / 2.0, length = std::sqrt(square);
            compared_centre one{half, float_above(half * (1.0 + slack)), float_below(half * (1.0 - slack)),
                                float_above(length), float_above(slack * length), {}, true};
            if (bytes_) {
                const byte_probe probe = bytes_->encode(centroid(c), codes_.data() + c * bytes_->stride());
                one.constants = probe.constants;
                one.error = float_above(probe.error + slack * length);
            }
            // Bounds of what is very long or very short are not to be trusted: it may always be the nearest.
            one.trusted = length >= 1e-15 && length <= longest;
            if (!one.trusted) one.more = 1e35f, one.less = -1e35f, one.length = one.error = 0.0f;
            centres_.push_back(one);
        }
        estimates_.resize(out_.clusters * block);
    }

    // estimates_[c * block + i]: the product of row first + i and centre c.
    void estimate(std::size_t first, std::size_t count) {
        const kernels& with = best_kernels();
        if (!bytes_) {
            with.products(rows_.data() + first * d_, count, d_, out_.centroids.data(), out_.clusters, estimates_.data(), block);
            for (std::size_t c = 0; c < out_.clusters; ++c)
                if (!centres_[c].trusted) std::fill_n(estimates_.data() + c * block, block, 0.0f);
            return;
        }
        products_.resize(estimates_.size());
        scratch_.resize(block * bytes_->stride());
        with.byte_products_batch(bytes_->codes(first), bytes_->stride(), count, codes_.data(), out_.clusters,
                                 products_.data(), scratch_.data());
        float scale[block] = {};
        std::copy_n(bytes_->constants(first).scale, count, scale);
        for (std::size_t c = 0; c < out_.clusters; ++c) {
            const byte_probe_constants centre = centres_[c].constants;
            const std::int32_t* product = products_.data() + c * block;
            float* near = estimates_.data() + c * block;
            for (std::size_t i = 0; i < block; ++i)
                near[i] = static_cast<float>(product[i] - centre.offset) * scale[i] * centre.scale;
        }
    }

    // A group that lost all its rows gets the one that is farthest from its centre, of a group that has another.
    bool fill_empty() {
        std::vector<std::size_t> count(out_.clusters, 0);
        for (const std::uint32_t c : out_.cluster_of) ++count[c];
        bool repaired = false;
        std::vector<double> nearest;  // squared distances of rows from their centres
        if (std::ranges::count(count, std::size_t{0}) != 0)
            for (std::size_t i = 0; i < n_; ++i) nearest.push_back(squared_distance(row(i), centroid(out_.cluster_of[i])));
        for (std::size_t c = 0; c < out_.clusters;) {
            if (count[c] != 0) {
                ++c;
                continue;
            }
            std::size_t farthest = n_;
            for (std::size_t i = 0; i < n_; ++i)
                if (count[out_.cluster_of[i]] > 1 && (farthest == n_ || nearest[i] > nearest[farthest])) farthest = i;
            repaired = true;
            if (farthest != n_ &&
                squared_distance(row(farthest), centroid(out_.cluster_of[farthest])) > 1e-12 * squares_[farthest]) {
                --count[out_.cluster_of[farthest]];
                out_.cluster_of[farthest] = static_cast<std::uint32_t>(c);
                nearest[farthest] = 0.0;
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
            best_kernels().add_up(row(i).data(), d_, sums.data() + c * d_);
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

    static constexpr std::size_t block = 64;   // rows that are compared with all centres together
    static constexpr double slack = 0x1p-20;   // covers the handful of float roundings of a bound

    std::span<const float> rows_;
    std::size_t d_, n_;
    const byte_rows* bytes_;
    const kmeans_options& options_;
    splitmix64 random_;
    std::vector<double> squares_, lengths_;
    std::vector<compared_centre> centres_;
    std::vector<byte_probe> candidates_;
    std::vector<std::int8_t> codes_;  // of the centres
    std::vector<std::int32_t> products_;
    std::vector<std::uint8_t> scratch_;
    std::vector<float> estimates_;
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
    detail::byte_rows bytes(d);
    bool all_fit = d >= detail::byte_rows::narrowest && d <= detail::byte_rows::widest;
    for (std::size_t i = 0; all_fit && i < own.size() / d; ++i)
        all_fit = norm(std::span<const float>(own).subspan(i * d, d)) <= detail::kmeans_run::longest;
    if (all_fit) {
        bytes.reserve(own.size() / d);
        for (std::size_t i = 0; i < own.size() / d; ++i) bytes.add(std::span<const float>(own).subspan(i * d, d));
    }
    clustering best;
    for (std::size_t r = 0; r < options.restarts; ++r) {
        clustering one = detail::kmeans_run(own, d, all_fit ? &bytes : nullptr, options, options.seed + r).run();
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
