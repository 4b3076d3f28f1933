// Gaussian mixture: rows as drawn from several normal distributions, each row with a share in each.
//
//     const auto fewer = principal_components(rows, d, 10);
//     const auto mixture = mixture_by_bic(fewer.coordinates, fewer.dimension, {.most = 50});
//     mixture.memberships(row, .1);  // the components in which the row has a share above .1
//
// Expectation and maximisation from the groups of k-means; how many components there are is chosen by the Bayesian
// information criterion. Meant for rows of few dimensions: a full covariance has d (d + 1) / 2 numbers to be found from
// the rows of one component.
//
// The surprising thing: soft is rarely soft. In ten dimensions nearly every row has all of its share in one component.
//
// Source  Dempster, Laird and Rubin, 1977; Schwarz, 1978, for the criterion.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "kmeans.hpp"
#include "svd.hpp"

namespace QUARRY_NAMESPACE {

enum class covariance : std::uint8_t {
    full,       // any ellipsoid
    diagonal,   // along the axes
    spherical,  // one variance for all axes
};

/// Numbers that a mixture of `components` in d dimensions leaves open: weights, means, covariances.
constexpr std::size_t free_parameters(std::size_t components, std::size_t d, covariance shape) noexcept {
    const std::size_t each = shape == covariance::full       ? d * (d + 1) / 2
                             : shape == covariance::diagonal ? d
                                                             : 1;
    return components * (d + each) + components - 1;
}

/// One normal distribution of a mixture.
struct mixture_component {
    double weight = 1.0;
    std::vector<double> mean;         // d
    std::vector<double> covariances;  // full: d * d; diagonal: d; spherical: 1
};

struct mixture_options {
    covariance shape = covariance::full;
    std::size_t iterations = 100;  // at most
    double tolerance = 1e-3;       // it ends when the mean log likelihood of a row gains less
    double floor = 1e-6;           // added to every variance, with 1e-10 of the mean variance; above 0
    std::size_t most = 50;         // components that mixture_by_bic tries; at least 1, and never more than rows
    std::uint64_t seed = 1;        // of the groups it starts from
};

class gaussian_mixture {
   public:
    /// A mixture that is known already. Errors  usage_error `mixture.components` if widths or signs are wrong.
    gaussian_mixture(std::size_t d, covariance shape, std::vector<mixture_component> components);

    std::size_t size() const noexcept { return parts_.size(); }
    std::size_t dimension() const noexcept { return d_; }
    covariance shape() const noexcept { return shape_; }
    const mixture_component& operator[](std::size_t i) const noexcept { return parts_[i].what; }

    /// The share of each component in a row of d numbers; they sum to 1.
    std::vector<double> shares(std::span<const double> row) const;

    /// The components in which the row has a share above `least`, in ascending order; if there is none, the largest.
    std::vector<std::size_t> memberships(std::span<const double> row, double least) const;

    /// The logarithm of the likelihood of all rows together.
    double log_likelihood(std::span<const double> rows) const;

    /// ln(n) free_parameters - 2 log_likelihood: smaller is better.
    double bic(std::span<const double> rows) const;

    /// The same mixture after rounds of expectation and maximisation over n rows. A component that no row is left for
    /// keeps its place with weight 0.  Cost  n size() d^2 a round.
    gaussian_mixture refined(std::span<const double> rows, const mixture_options& options) const;

   private:
    struct part {
        mixture_component what;
        std::vector<double> factor;  // lower triangle of the Cholesky factor of a full covariance; else deviations
        double log_scale = 0.0;      // of weight and density, without the exponent
    };

    void prepare(part& p) const;
    double log_density(const part& p, std::span<const double> row, std::vector<double>& scratch) const;
    double log_shares(std::span<const double> row, std::vector<double>& logs, std::vector<double>& scratch) const;

    std::size_t d_;
    covariance shape_;
    std::vector<part> parts_;
};

/// A mixture of so many components, from the groups of k-means.
///
/// Errors  usage_error `mixture.rows` if the numbers are no whole number of rows, there is none, or d is 0;
///         `mixture.not_finite`; `mixture.options`.
inline gaussian_mixture fit_mixture(std::span<const double> rows, std::size_t d, std::size_t components,
                                    const mixture_options& options = {});

/// The mixture of 1 to options.most components with the smallest criterion; of equal ones the first.
///
/// Cost    that of fitting every one of them.
inline gaussian_mixture mixture_by_bic(std::span<const double> rows, std::size_t d,
                                       const mixture_options& options = {});

/// Rows in the directions in which they differ most.
struct reduced_rows {
    std::size_t dimension = 0;        // at most what was asked for; less where rows span less
    std::vector<double> coordinates;  // n * dimension, row-major, of mean 0
};

/// Projects n rows of d floats onto their first principal components.
///
/// Source  Pearson, 1901. By a randomised decomposition (svd.hpp) of the centred rows.
inline reduced_rows principal_components(std::span<const float> rows, std::size_t d, std::size_t dimensions);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

struct centred_rows {
    std::span<const float> data;
    std::size_t d;
    std::vector<double> mean;

    std::size_t rows() const noexcept { return data.size() / d; }
    std::size_t columns() const noexcept { return d; }
    double at(std::size_t i, std::size_t j) const noexcept { return static_cast<double>(data[i * d + j]) - mean[j]; }

    void multiply(std::span<const double> x, std::span<double> y, std::size_t width) const noexcept {
        std::ranges::fill(y, 0.0);
        for (std::size_t i = 0; i < rows(); ++i)
            for (std::size_t j = 0; j < d; ++j) {
                const double a = at(i, j);
                for (std::size_t v = 0; v < width; ++v) y[i * width + v] += a * x[j * width + v];
            }
    }
    void multiply_transposed(std::span<const double> x, std::span<double> y, std::size_t width) const noexcept {
        std::ranges::fill(y, 0.0);
        for (std::size_t i = 0; i < rows(); ++i)
            for (std::size_t j = 0; j < d; ++j) {
                const double a = at(i, j);
                for (std::size_t v = 0; v < width; ++v) y[j * width + v] += a * x[i * width + v];
            }
    }
};

/// `step` is the distance between variances: a full covariance has others between them. The second summand keeps rows
/// of large numbers positive definite, where rounding is more than the floor.
inline void add_floor(std::vector<double>& covariances, std::size_t step, double floor) noexcept {
    double sum = 0.0, count = 0.0;
    for (std::size_t i = 0; i < covariances.size(); i += step) sum += covariances[i], count += 1.0;
    for (std::size_t i = 0; i < covariances.size(); i += step) covariances[i] += floor + 1e-10 * sum / count;
}

inline void require_mixture_rows(std::span<const double> rows, std::size_t d) {
    if (d == 0 || rows.empty() || rows.size() % d != 0)
        raise<usage_error>("mixture.rows",
                           concat("quarry::gaussian_mixture: ", rows.size(), " numbers are no rows of ", d));
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!is_finite(rows[i]))
            raise<usage_error>("mixture.not_finite",
                               concat("quarry::gaussian_mixture: row ", i / d, " holds ", rows[i]));
}

}  // namespace detail

inline gaussian_mixture::gaussian_mixture(std::size_t d, covariance shape, std::vector<mixture_component> components)
    : d_(d), shape_(shape) {
    const std::size_t width = shape == covariance::full ? d * d : shape == covariance::diagonal ? d : 1;
    if (d == 0 || components.empty())
        detail::raise<usage_error>("mixture.components", "quarry::gaussian_mixture: nothing to mix");
    for (mixture_component& c : components) {
        if (c.mean.size() != d || c.covariances.size() != width || !(c.weight >= 0.0))
            detail::raise<usage_error>(
                "mixture.components",
                detail::concat("quarry::gaussian_mixture: a component in ", d, " dimensions has ", d, " means and ",
                               width, " covariances, this one has ", c.mean.size(), " and ", c.covariances.size(),
                               ", weight ", c.weight));
        parts_.push_back({std::move(c), {}, 0.0});
        prepare(parts_.back());
    }
}

// The Cholesky factor, and the part of the log density that does not depend on the row.
inline void gaussian_mixture::prepare(part& p) const {
    const std::vector<double>& c = p.what.covariances;
    double log_determinant = 0.0;
    if (shape_ == covariance::full) {
        p.factor.assign(d_ * d_, 0.0);
        for (std::size_t i = 0; i < d_; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double rest = c[i * d_ + j];
                for (std::size_t k = 0; k < j; ++k) rest -= p.factor[i * d_ + k] * p.factor[j * d_ + k];
                if (i == j && !(rest > 0.0))
                    detail::raise<usage_error>("mixture.components",
                                               detail::concat("quarry::gaussian_mixture: a covariance is not positive "
                                                              "definite: ",
                                                              rest, " in row ", i));
                p.factor[i * d_ + j] = i == j ? std::sqrt(rest) : rest / p.factor[j * d_ + j];
                if (i == j) log_determinant += 2.0 * std::log(p.factor[i * d_ + i]);
            }
    } else {
        p.factor.clear();
        for (const double variance : c) {
            if (!(variance > 0.0))
                detail::raise<usage_error>(
                    "mixture.components",
                    detail::concat("quarry::gaussian_mixture: a variance is above 0, this is ", variance));
            p.factor.push_back(std::sqrt(variance));
        }
        for (std::size_t i = 0; i < d_; ++i)
            log_determinant += 2.0 * std::log(p.factor[shape_ == covariance::spherical ? 0 : i]);
    }
    p.log_scale = std::log(p.what.weight) -
                  (static_cast<double>(d_) * std::log(2.0 * std::numbers::pi) + log_determinant) / 2.0;
}

inline double gaussian_mixture::log_density(const part& p, std::span<const double> row,
                                            std::vector<double>& scratch) const {
    double squares = 0.0;
    scratch.resize(d_);
    for (std::size_t i = 0; i < d_; ++i) {
        double away = row[i] - p.what.mean[i];
        if (shape_ == covariance::full) {
            for (std::size_t j = 0; j < i; ++j) away -= p.factor[i * d_ + j] * scratch[j];
            away /= p.factor[i * d_ + i];
        } else {
            away /= p.factor[shape_ == covariance::spherical ? 0 : i];
        }
        scratch[i] = away;
        squares += away * away;
    }
    return p.log_scale - squares / 2.0;
}

// `logs` becomes the logarithms of the shares; returns that of their sum, the row's likelihood.
inline double gaussian_mixture::log_shares(std::span<const double> row, std::vector<double>& logs,
                                           std::vector<double>& scratch) const {
    logs.clear();
    double largest = -std::numeric_limits<double>::infinity();
    for (const part& p : parts_) {
        logs.push_back(p.what.weight > 0.0 ? log_density(p, row, scratch) : -std::numeric_limits<double>::infinity());
        largest = (std::max)(largest, logs.back());
    }
    double sum = 0.0;
    for (const double x : logs) sum += std::exp(x - largest);
    const double whole = largest + std::log(sum);
    for (double& x : logs) x -= whole;
    return whole;
}

inline std::vector<double> gaussian_mixture::shares(std::span<const double> row) const {
    if (row.size() != d_)
        detail::raise<usage_error>("mixture.rows", detail::concat("quarry::gaussian_mixture: a row has ", d_,
                                                                  " numbers, this one has ", row.size()));
    detail::require_mixture_rows(row, d_);
    std::vector<double> logs, scratch;
    log_shares(row, logs, scratch);
    for (double& x : logs) x = std::exp(x);
    return logs;
}

inline std::vector<std::size_t> gaussian_mixture::memberships(std::span<const double> row, double least) const {
    const std::vector<double> s = shares(row);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < s.size(); ++i)
        if (s[i] > least) out.push_back(i);
    if (out.empty()) out.push_back(static_cast<std::size_t>(std::ranges::max_element(s) - s.begin()));
    return out;
}

inline double gaussian_mixture::log_likelihood(std::span<const double> rows) const {
    detail::require_mixture_rows(rows, d_);
    std::vector<double> logs, scratch;
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.size() / d_; ++i) sum += log_shares(rows.subspan(i * d_, d_), logs, scratch);
    return sum;
}

inline double gaussian_mixture::bic(std::span<const double> rows) const {
    const double n = static_cast<double>(rows.size() / d_);
    return std::log(n) * static_cast<double>(free_parameters(size(), d_, shape_)) - 2.0 * log_likelihood(rows);
}

inline gaussian_mixture gaussian_mixture::refined(std::span<const double> rows, const mixture_options& options) const {
    detail::require_mixture_rows(rows, d_);
    if (!(options.floor > 0.0) || !(options.tolerance >= 0.0))
        detail::raise<usage_error>(
            "mixture.options",
            detail::concat("quarry::gaussian_mixture: the floor is above 0 and the tolerance at least "
                           "0, given ",
                           options.floor, " and ", options.tolerance));
    const std::size_t n = rows.size() / d_, width = parts_[0].what.covariances.size();
    gaussian_mixture out = *this;
    std::vector<double> logs, scratch, all(n * size());
    double before = -std::numeric_limits<double>::infinity();
    for (std::size_t round = 0; round < options.iterations; ++round) {
        double likelihood = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            likelihood += out.log_shares(rows.subspan(i * d_, d_), logs, scratch) / static_cast<double>(n);
            for (std::size_t c = 0; c < size(); ++c) all[i * size() + c] = std::exp(logs[c]);
        }
        if (round > 0 && likelihood - before < options.tolerance) break;
        before = likelihood;
        for (std::size_t c = 0; c < size(); ++c) {
            mixture_component& what = out.parts_[c].what;
            double sum = 0.0;
            for (std::size_t i = 0; i < n; ++i) sum += all[i * size() + c];
            what.weight = sum / static_cast<double>(n);
            if (!(sum > 1e-10)) {
                what.weight = 0.0;
                continue;
            }
            what.mean.assign(d_, 0.0);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < d_; ++j) what.mean[j] += all[i * size() + c] * rows[i * d_ + j] / sum;
            what.covariances.assign(width, 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                const double share = all[i * size() + c] / sum;
                for (std::size_t j = 0; j < d_; ++j) {
                    const double away = rows[i * d_ + j] - what.mean[j];
                    if (shape_ == covariance::diagonal) what.covariances[j] += share * away * away;
                    if (shape_ == covariance::spherical)
                        what.covariances[0] += share * away * away / static_cast<double>(d_);
                    if (shape_ == covariance::full)
                        for (std::size_t k = 0; k < d_; ++k)
                            what.covariances[j * d_ + k] += share * away * (rows[i * d_ + k] - what.mean[k]);
                }
            }
            detail::add_floor(what.covariances, shape_ == covariance::full ? d_ + 1 : 1, options.floor);
            out.prepare(out.parts_[c]);
        }
    }
    return out;
}

inline gaussian_mixture fit_mixture(std::span<const double> rows, std::size_t d, std::size_t components,
                                    const mixture_options& options) {
    detail::require_mixture_rows(rows, d);
    if (components == 0 || !(options.floor > 0.0))
        detail::raise<usage_error>("mixture.options",
                                   detail::concat("quarry::fit_mixture: components and floor are above 0, given ",
                                                  components, " and ", options.floor));
    // k-means takes floats, where a large common offset would swallow the differences: it sees the rows around their
    // mean.
    const std::size_t n = rows.size() / d;
    std::vector<double> mean(d, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) mean[i % d] += rows[i] / static_cast<double>(n);
    std::vector<float> around(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) around[i] = static_cast<float>(rows[i] - mean[i % d]);
    const clustering groups =
        kmeans(around, d, {.clusters = components, .spherical = false, .restarts = 1, .seed = options.seed});

    // Shares of 1 and 0: the mixture that the groups are. One round of maximisation from there, written out.
    std::vector<mixture_component> parts;
    for (const std::vector<std::size_t>& group : groups.members()) {
        const double size = static_cast<double>(group.size());
        mixture_component c{size / static_cast<double>(n), std::vector<double>(d, 0.0), {}};
        for (const std::size_t i : group)
            for (std::size_t j = 0; j < d; ++j) c.mean[j] += rows[i * d + j] / size;
        std::vector<double> products(d * d, 0.0);  // with every shape: it is made once
        for (const std::size_t i : group)
            for (std::size_t j = 0; j < d; ++j)
                for (std::size_t k = 0; k < d; ++k)
                    products[j * d + k] += (rows[i * d + j] - c.mean[j]) * (rows[i * d + k] - c.mean[k]) / size;
        if (options.shape == covariance::full) c.covariances = std::move(products);
        if (options.shape == covariance::diagonal)
            for (std::size_t j = 0; j < d; ++j) c.covariances.push_back(products[j * d + j]);
        if (options.shape == covariance::spherical) {
            c.covariances = {0.0};
            for (std::size_t j = 0; j < d; ++j) c.covariances[0] += products[j * d + j] / static_cast<double>(d);
        }
        detail::add_floor(c.covariances, options.shape == covariance::full ? d + 1 : 1, options.floor);
        parts.push_back(std::move(c));
    }
    return gaussian_mixture(d, options.shape, std::move(parts)).refined(rows, options);
}

inline gaussian_mixture mixture_by_bic(std::span<const double> rows, std::size_t d, const mixture_options& options) {
    detail::require_mixture_rows(rows, d);
    const std::size_t most = (std::min)((std::max)(options.most, std::size_t{1}), rows.size() / d);
    gaussian_mixture best = fit_mixture(rows, d, 1, options);
    double least = best.bic(rows);
    for (std::size_t components = 2; components <= most; ++components) {
        gaussian_mixture one = fit_mixture(rows, d, components, options);
        if (one.size() < components) break;  // rows coincide: there are no more groups than these
        if (const double criterion = one.bic(rows); criterion < least) {
            least = criterion;
            best = std::move(one);
        }
    }
    return best;
}

inline reduced_rows principal_components(std::span<const float> rows, std::size_t d, std::size_t dimensions) {
    if (d == 0 || rows.size() % d != 0 || dimensions == 0)
        detail::raise<usage_error>("mixture.rows",
                                   detail::concat("quarry::principal_components: ", rows.size(), " floats, rows of ", d,
                                                  ", onto ", dimensions, " dimensions"));
    if (!detail::is_finite(rows))
        detail::raise<usage_error>("mixture.not_finite", "quarry::principal_components: a row is not finite");
    reduced_rows out;
    if (rows.empty()) return out;
    detail::centred_rows centred{rows, d, std::vector<double>(d, 0.0)};
    const double n = static_cast<double>(centred.rows());
    for (std::size_t i = 0; i < rows.size(); ++i) centred.mean[i % d] += static_cast<double>(rows[i]) / n;
    const truncated_svd parts = svd(centred, {.rank = dimensions, .iterations = 12});
    out.dimension = parts.rank();
    out.coordinates = parts.left;
    for (std::size_t i = 0; i < out.coordinates.size(); ++i) out.coordinates[i] *= parts.values[i % parts.rank()];
    return out;
}

}  // namespace QUARRY_NAMESPACE
