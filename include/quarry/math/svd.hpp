// Truncated singular value decomposition: the directions in which a matrix is large.
//
// Randomised subspace iteration: a few random vectors are multiplied by the matrix and its transpose until they span
// what is largest in it; what is left is a small dense problem. It never forms A' A, and touches the matrix only in
// products with a block of vectors, so a sparse one stays sparse. It is not for all the singular values of a large
// matrix: cost grows with the square of the rank.
//
// The surprising thing: the same result in every run. The generator is our own, and every sum has a fixed order.
// Between compilers results differ by rounding; where two singular values are equal, their vectors are any basis of
// their plane.
//
// Source  Halko, Martinsson and Tropp, "Finding structure with randomness", 2011, algorithms 4.4 and 5.1; the small
//         problem by Hestenes' one-sided Jacobi method (1958).
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// Something that can be multiplied by a block of `width` vectors. Blocks are row-major: element i of vector v stands
/// at i * width + v.
template <class M>
concept BlockMultiplier = requires(const M& a, std::span<const double> x, std::span<double> y, std::size_t width) {
    { a.rows() } -> std::same_as<std::size_t>;
    { a.columns() } -> std::same_as<std::size_t>;
    a.multiply(x, y, width);             // y = A x: x holds columns() * width numbers, y rows() * width, all written
    a.multiply_transposed(x, y, width);  // y = A' x: the other way round
};

/// A sparse matrix, by rows. Memory  12 bytes a number and 8 a row.
class sparse_matrix {
   public:
    explicit sparse_matrix(std::size_t columns) : columns_(columns) {}

    /// Appends a row. Requires  columns ascending and below columns().
    void add_row(std::span<const std::uint32_t> columns, std::span<const double> values) {
        places_.insert(places_.end(), columns.begin(), columns.end());
        values_.insert(values_.end(), values.begin(), values.end());
        ends_.push_back(values_.size());
    }

    std::size_t rows() const noexcept { return ends_.size() - 1; }
    std::size_t columns() const noexcept { return columns_; }

    /// Cost  one multiplication and addition per number held and vector.
    void multiply(std::span<const double> x, std::span<double> y, std::size_t width) const noexcept {
        std::ranges::fill(y, 0.0);
        for_each([&](std::size_t row, std::size_t column, double value) {
            add_multiple(value, x.subspan(column * width, width), y.subspan(row * width, width));
        });
    }
    void multiply_transposed(std::span<const double> x, std::span<double> y, std::size_t width) const noexcept {
        std::ranges::fill(y, 0.0);
        for_each([&](std::size_t row, std::size_t column, double value) {
            add_multiple(value, x.subspan(row * width, width), y.subspan(column * width, width));
        });
    }

   private:
    template <class F>
    void for_each(F f) const noexcept {
        for (std::size_t row = 0; row < rows(); ++row)
            for (std::size_t i = ends_[row]; i < ends_[row + 1]; ++i) f(row, places_[i], values_[i]);
    }
    static void add_multiple(double factor, std::span<const double> from, std::span<double> to) noexcept {
        const double* x = from.data();
        double* y = to.data();
        for (std::size_t i = 0, n = from.size(); i < n; ++i) y[i] += factor * x[i];
    }

    std::size_t columns_;
    std::vector<std::size_t> ends_{0};  // where row i begins and row i - 1 ends
    std::vector<std::uint32_t> places_;
    std::vector<double> values_;
};

struct svd_options {
    std::size_t rank = 128;        // singular values wanted, at least 1
    std::size_t iterations = 4;    // more sharpen the last of them where they fall off slowly
    std::size_t oversampling = 16;  // vectors beyond the rank that are iterated and then thrown away
    std::uint64_t seed = 1;        // of the vectors it starts with
};

/// A, approximately: left * diagonal(values) * right transposed.
///
/// Vectors stand in columns: component i of vector v of `left` at i * rank() + v. Each has length 1 and is at right
/// angles to the others. Of the two signs a pair may have, the one with the largest component of its right vector
/// positive.
struct truncated_svd {
    std::vector<double> values;  // descending, above 0
    std::vector<double> left;    // rows of A * rank()
    std::vector<double> right;   // columns of A * rank()

    std::size_t rank() const noexcept { return values.size(); }
};

/// The largest singular values of `a` and their vectors: at most options.rank, at most the smaller side of `a`, and at
/// most its numerical rank. Values below 1e-10 of the largest count as 0; a matrix of zeros has rank 0.
///
/// Exact up to rounding if rank + oversampling reaches the smaller side.
/// Requires  finite numbers whose squares neither overflow nor vanish.
/// Cost      with l = rank + oversampling: 2 (iterations + 1) products with l vectors, O((rows + columns) l^2) for the
///           rest, and about 3 (rows + columns) l doubles.
/// Errors    usage_error `svd.rank` for rank 0.
template <BlockMultiplier M>
truncated_svd svd(const M& a, const svd_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Numbers that look random, the same everywhere: the distributions of the standard library differ between libraries.
///
/// Source  Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
class splitmix64 {
   public:
    explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t operator()() noexcept {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    /// Uniform in [-1, 1), with 53 bits.
    double symmetric() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-52 - 1.0; }

   private:
    std::uint64_t state_;
};

inline double dot_of(const double* a, const double* b, std::size_t n) noexcept {
    double sum[4] = {0, 0, 0, 0};  // four chains of additions, in a fixed order
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += a[i + lane] * b[i + lane];
    for (; i < n; ++i) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// What follows are templates of the number's type without need: whoever only includes this header does not pay for
// instantiating Eigen's products then.

/// Columns of a row-major block, `stride` numbers from row to row.
template <class Real>
struct column_range {
    Real* data;
    std::size_t rows, columns, stride;
};

template <class Real>
column_range<Real> columns_of(std::vector<Real>& x, std::size_t width, std::size_t first, std::size_t count) noexcept {
    return {x.data() + first, x.size() / width, count, width};
}
template <class Real>
column_range<Real> columns_of(std::vector<Real>& x, std::size_t width) noexcept {
    return columns_of(x, width, 0, width);
}

/// c += factor * a b, or with a transposed.
template <class Real>
void add_product(Real factor, column_range<Real> a, bool transposed, column_range<Real> b, column_range<Real> c) {
    using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using view = Eigen::Map<matrix, 0, Eigen::OuterStride<>>;
    const auto view_of = [](const column_range<Real>& r) {
        return view(r.data, static_cast<Eigen::Index>(r.rows), static_cast<Eigen::Index>(r.columns),
                    Eigen::OuterStride<>(static_cast<Eigen::Index>(r.stride)));
    };
    if (transposed) view_of(c).noalias() += factor * view_of(a).transpose() * view_of(b);
    else view_of(c).noalias() += factor * view_of(a) * view_of(b);
}

/// Makes the columns of an n * width block orthonormal without leaving what they span. A column that depends on those
/// before it gives way to a random one.
///
/// Requires  width <= n.
///
/// Block Gram-Schmidt, repeated until no column loses half its length: once is not enough where columns are nearly
/// dependent, and a Cholesky factor of the Gram matrix, though shorter, loses directions below 1e-8 of the largest.
/// Normalising what rounding left of a dependent column is not enough either: that can lie in the span of the others
/// again and again.
template <class Real>
void orthonormalize(std::vector<Real>& x, std::size_t width) {
    constexpr std::size_t together = 16;
    constexpr int most_passes = 10;  // it takes two, and one or two more for a random column in a space nearly full
    const std::size_t n = x.size() / width;
    splitmix64 random(1);
    std::vector<Real> shared, copy;  // copy: the block by columns, so that a column is contiguous
    for (std::size_t first = 0; first < width; first += together) {
        const std::size_t count = (std::min)(together, width - first);
        const auto block = columns_of(x, width, first, count), earlier = columns_of(x, width, 0, first);
        copy.resize(n * count);
        for (int pass = 0; pass < most_passes; ++pass) {
            Real squares[together] = {};  // of the lengths before this pass
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < count; ++c) {
                    const Real value = x[i * width + first + c];
                    squares[c] += value * value;
                }
            if (first > 0) {
                shared.assign(first * count, 0);
                add_product(Real(1), earlier, true, block, columns_of(shared, count));
                add_product(Real(-1), earlier, false, columns_of(shared, count), block);
            }
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < count; ++c) copy[c * n + i] = x[i * width + first + c];
            bool settled = pass > 0;
            for (std::size_t c = 0; c < count; ++c) {
                Real* column = copy.data() + c * n;
                for (std::size_t other = 0; other < c; ++other) {
                    const Real* done = copy.data() + other * n;
                    const Real share = dot_of(done, column, n);
                    for (std::size_t i = 0; i < n; ++i) column[i] -= share * done[i];
                }
                Real length = std::sqrt(dot_of(column, column, n));
                const Real before = std::sqrt(squares[c]);
                settled = settled && length > before / 2;
                if (length <= Real(1e-13) * before) {
                    for (std::size_t i = 0; i < n; ++i) column[i] = random.symmetric();
                    length = std::sqrt(dot_of(column, column, n));
                }
                for (std::size_t i = 0; i < n; ++i) column[i] /= length;
            }
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < count; ++c) x[i * width + first + c] = copy[c * n + i];
            if (settled) break;
        }
    }
}

/// The decomposition of a small square matrix, given by columns: `columns` becomes the left vectors times the values,
/// `turned` the right vectors, by columns too. In no order.
template <class Real>
void one_sided_jacobi(std::vector<Real>& columns, std::vector<Real>& turned, std::size_t n) {
    turned.assign(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) turned[i * n + i] = 1;
    constexpr int most_sweeps = 60;  // it takes six to ten
    const auto turn = [n](Real* a, Real* b, Real cosine, Real sine) {
        for (std::size_t i = 0; i < n; ++i) {
            const Real x = a[i], y = b[i];
            a[i] = cosine * x - sine * y;
            b[i] = sine * x + cosine * y;
        }
    };
    std::vector<Real> squares(n);
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        bool turned_any = false;
        // Afresh in each sweep: they are kept up below, and would drift.
        for (std::size_t p = 0; p < n; ++p) squares[p] = dot_of(&columns[p * n], &columns[p * n], n);
        for (std::size_t p = 0; p + 1 < n; ++p)
            for (std::size_t q = p + 1; q < n; ++q) {
                const Real shared = dot_of(&columns[p * n], &columns[q * n], n);
                if (std::abs(shared) <= Real(1e-15) * std::sqrt(squares[p]) * std::sqrt(squares[q])) continue;
                turned_any = true;
                const Real zeta = (squares[q] - squares[p]) / (2 * shared);
                const Real tangent = (zeta >= 0 ? Real(1) : Real(-1)) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                const Real cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
                turn(&columns[p * n], &columns[q * n], cosine, sine);
                turn(&turned[p * n], &turned[q * n], cosine, sine);
                squares[p] = (std::max)(squares[p] - tangent * shared, Real(0));
                squares[q] += tangent * shared;
            }
        if (!turned_any) break;
    }
}

}  // namespace detail

template <BlockMultiplier M>
truncated_svd svd(const M& a, const svd_options& options) {
    if (options.rank == 0) detail::raise<usage_error>("svd.rank", "quarry::svd: the rank must be at least 1, it is 0");
    const bool tall = a.rows() > a.columns();
    const std::size_t thin = (std::min)(a.rows(), a.columns()), thick = (std::max)(a.rows(), a.columns());
    if (thin == 0) return {};
    const std::size_t l =
        options.rank >= thin ? thin : options.rank + (std::min)(options.oversampling, thin - options.rank);

    // The basis lives on the thin side, where keeping it orthonormal is cheap.
    std::vector<double> basis(thin * l), image(thick * l);
    const auto to_thick = [&] { tall ? a.multiply(basis, image, l) : a.multiply_transposed(basis, image, l); };
    const auto to_thin = [&] { tall ? a.multiply_transposed(image, basis, l) : a.multiply(image, basis, l); };
    detail::splitmix64 random(options.seed);
    for (double& x : basis) x = random.symmetric();
    detail::orthonormalize(basis, l);
    if (l < thin)  // otherwise it spans everything already
        for (std::size_t i = 0; i < options.iterations; ++i) {
            to_thick();
            to_thin();
            detail::orthonormalize(basis, l);
        }
    to_thick();

    // A = image * basis' (or its transpose), image = other * R, R = P S W': so the vectors are other * P and basis * W.
    // `small` is image' * other, that is R by columns.
    std::vector<double> other = image, small(l * l), turned;
    detail::orthonormalize(other, l);
    detail::add_product(1.0, detail::columns_of(image, l), true, detail::columns_of(other, l),
                        detail::columns_of(small, l));
    image = {};
    detail::one_sided_jacobi(small, turned, l);

    std::vector<double> lengths(l);
    for (std::size_t i = 0; i < l; ++i) lengths[i] = std::sqrt(detail::dot_of(&small[i * l], &small[i * l], l));
    const auto order = detail::stable_order(l, [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
    std::size_t rank = 0;
    while (rank < (std::min)(options.rank, l) && lengths[order[rank]] > 1e-10 * lengths[order[0]]) ++rank;

    truncated_svd out;
    if (rank == 0) return out;
    std::vector<double> p(l * rank), w(l * rank);
    for (std::size_t v = 0; v < rank; ++v) {
        out.values.push_back(lengths[order[v]]);
        for (std::size_t i = 0; i < l; ++i) {
            p[i * rank + v] = small[order[v] * l + i] / lengths[order[v]];
            w[i * rank + v] = turned[order[v] * l + i];
        }
    }
    std::vector<double> thick_vectors(thick * rank), thin_vectors(thin * rank);
    detail::add_product(1.0, detail::columns_of(other, l), false, detail::columns_of(p, rank),
                        detail::columns_of(thick_vectors, rank));
    detail::add_product(1.0, detail::columns_of(basis, l), false, detail::columns_of(w, rank),
                        detail::columns_of(thin_vectors, rank));
    out.left = std::move(tall ? thick_vectors : thin_vectors);
    out.right = std::move(tall ? thin_vectors : thick_vectors);

    for (std::size_t v = 0; v < rank; ++v) {
        double largest = 0.0;
        for (std::size_t i = v; i < out.right.size(); i += rank) largest = (std::max)(largest, std::abs(out.right[i]));
        // The first that is as large up to rounding: of two equal ones, rounding must not choose.
        std::size_t at = v;
        while (std::abs(out.right[at]) < (1 - 1e-6) * largest) at += rank;
        if (out.right[at] >= 0.0) continue;
        for (std::size_t i = v; i < out.right.size(); i += rank) out.right[i] = -out.right[i];
        for (std::size_t i = v; i < out.left.size(); i += rank) out.left[i] = -out.left[i];
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
