#include "quarry/math/svd.hpp"

#include <Eigen/Eigenvalues>

#include <bit>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

// A dense matrix by rows: what the clever path is compared with, and a multiplier that is not ours.
struct dense_matrix {
    std::size_t height, width;
    std::vector<double> numbers;

    double at(std::size_t row, std::size_t column) const { return numbers[row * width + column]; }
    std::size_t rows() const { return height; }
    std::size_t columns() const { return width; }
    void multiply(std::span<const double> x, std::span<double> y, std::size_t vectors) const {
        for (std::size_t i = 0; i < height; ++i)
            for (std::size_t v = 0; v < vectors; ++v) {
                y[i * vectors + v] = 0.0;
                for (std::size_t j = 0; j < width; ++j) y[i * vectors + v] += at(i, j) * x[j * vectors + v];
            }
    }
    void multiply_transposed(std::span<const double> x, std::span<double> y, std::size_t vectors) const {
        transposed().multiply(x, y, vectors);
    }
    dense_matrix transposed() const {
        dense_matrix out{width, height, std::vector<double>(numbers.size())};
        for (std::size_t i = 0; i < height; ++i)
            for (std::size_t j = 0; j < width; ++j) out.numbers[j * height + i] = at(i, j);
        return out;
    }
};

dense_matrix random_matrix(std::size_t height, std::size_t width, std::uint64_t seed) {
    detail::splitmix64 random(seed);
    dense_matrix out{height, width, std::vector<double>(height * width)};
    for (double& x : out.numbers) x = random.symmetric();
    return out;
}

// The 16 * 16 Hadamard matrix over 4, column by column: orthonormal and exact in binary.
double hadamard(std::size_t i, std::size_t j) { return std::popcount(i & j) % 2 == 0 ? 0.25 : -0.25; }

// sum of values[v] * h_v * h_(15 - v)': its singular values are known because it was made from them.
dense_matrix with_values(const std::vector<double>& values) {
    dense_matrix out{16, 16, std::vector<double>(256, 0.0)};
    for (std::size_t v = 0; v < values.size(); ++v)
        for (std::size_t i = 0; i < 16; ++i)
            for (std::size_t j = 0; j < 16; ++j)
                out.numbers[i * 16 + j] += values[v] * hadamard(i, v) * hadamard(j, 15 - v);
    return out;
}

// Another way to the singular values: the eigenvalues of A' A, descending. Good to 1e-8 of the largest.
std::vector<double> by_eigenvalues(const dense_matrix& a) {
    const auto width = static_cast<Eigen::Index>(a.width);
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(width, width);
    for (std::size_t i = 0; i < a.height; ++i)
        for (Eigen::Index j = 0; j < width; ++j)
            for (Eigen::Index k = 0; k < width; ++k)
                gram(j, k) += a.at(i, static_cast<std::size_t>(j)) * a.at(i, static_cast<std::size_t>(k));
    const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram).eigenvalues();
    std::vector<double> out;
    for (Eigen::Index i = width; i-- > 0;) out.push_back(std::sqrt((std::max)(eigenvalues[i], 0.0)));
    return out;
}

// How far the columns are from orthonormal: the largest deviation of a dot product from 0 or 1.
double crookedness(const std::vector<double>& vectors, std::size_t rank) {
    double worst = 0.0;
    for (std::size_t v = 0; v < rank; ++v)
        for (std::size_t w = 0; w < rank; ++w) {
            double product = 0.0;
            for (std::size_t i = 0; i < vectors.size(); i += rank) product += vectors[i + v] * vectors[i + w];
            worst = (std::max)(worst, std::abs(product - (v == w ? 1.0 : 0.0)));
        }
    return worst;
}

// The squared Frobenius norm of what is missing.
double squared_error(const dense_matrix& a, const truncated_svd& parts) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.height; ++i)
        for (std::size_t j = 0; j < a.width; ++j) {
            double missing = a.at(i, j);
            for (std::size_t v = 0; v < parts.rank(); ++v)
                missing -= parts.left[i * parts.rank() + v] * parts.values[v] * parts.right[j * parts.rank() + v];
            sum += missing * missing;
        }
    return sum;
}

constexpr double tiny = 1e-12;

}  // namespace

TEST_CASE("a matrix of two by two decomposes as on paper") {
    // A = (3 0, 4 5). A' A = (25 20, 20 25) has eigenvalues 45 and 5 with vectors (1, 1) and (1, -1) over sqrt 2;
    // A v / s is (1, 3) over sqrt 10 and (3, -1) over sqrt 10.
    const truncated_svd parts = svd(dense_matrix{2, 2, {3, 0, 4, 5}}, {.rank = 2});
    REQUIRE(parts.rank() == 2);
    CHECK(parts.values[0] == Approx(std::sqrt(45.0)).epsilon(tiny));
    CHECK(parts.values[1] == Approx(std::sqrt(5.0)).epsilon(tiny));
    const double half = std::sqrt(0.5), tenth = std::sqrt(0.1);
    const double right[] = {half, half, half, -half}, left[] = {tenth, 3 * tenth, 3 * tenth, -tenth};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(parts.right[i] == Approx(right[i]).epsilon(tiny));
        CHECK(parts.left[i] == Approx(left[i]).epsilon(tiny));
    }
}

TEST_CASE("singular values are the roots of the eigenvalues of the Gram matrix, tall and wide") {
    for (const auto& [height, width] :
         {std::pair<std::size_t, std::size_t>{37, 20}, {20, 37}, {24, 24}, {1, 9}, {9, 1}}) {
        const dense_matrix a = random_matrix(height, width, height);
        const std::size_t thin = (std::min)(height, width);
        const truncated_svd parts = svd(a, {.rank = thin});
        const std::vector<double> expected = by_eigenvalues(a);
        REQUIRE(parts.rank() == thin);
        for (std::size_t v = 0; v < thin; ++v) CHECK(parts.values[v] == Approx(expected[v]).epsilon(1e-9));
        CHECK(parts.left.size() == height * thin);
        CHECK(parts.right.size() == width * thin);
        CHECK(crookedness(parts.left, thin) < tiny);
        CHECK(crookedness(parts.right, thin) < tiny);
        CHECK(squared_error(a, parts) < tiny);
    }
}

TEST_CASE("the truncated matrix misses exactly the values left out") {
    // Eckart and Young: the best approximation of rank r misses the sum of the squares of the other values.
    const dense_matrix a = random_matrix(30, 12, 4);
    const std::vector<double> all = by_eigenvalues(a);
    const truncated_svd parts = svd(a, {.rank = 5});
    REQUIRE(parts.rank() == 5);
    double others = 0.0;
    for (std::size_t v = 5; v < all.size(); ++v) others += all[v] * all[v];
    CHECK(squared_error(a, parts) == Approx(others).epsilon(1e-9));
}

TEST_CASE("iterating on few vectors finds the leading values of a matrix that was made from them") {
    // Values 1, 1/2, 1/4, ...: with 3 + 2 vectors an iteration shrinks what disturbs the third by (2^-5 / 2^-2)^2 =
    // 1/64.
    std::vector<double> values;
    for (int v = 0; v < 16; ++v) values.push_back(std::ldexp(1.0, -v));
    const truncated_svd parts = svd(with_values(values), {.rank = 3, .iterations = 8, .oversampling = 2});
    REQUIRE(parts.rank() == 3);
    for (std::size_t v = 0; v < 3; ++v) {
        CHECK(parts.values[v] == Approx(values[v]).epsilon(1e-10));
        // The pair is (h_v, h_(15 - v)) with the sign that makes the first of the equal components positive: +, since
        // every column of the Hadamard matrix begins so.
        for (std::size_t i = 0; i < 16; ++i) {
            CHECK(parts.left[i * 3 + v] == Approx(hadamard(i, v)).margin(1e-7));
            CHECK(parts.right[i * 3 + v] == Approx(hadamard(i, 15 - v)).margin(1e-7));
        }
    }
}

TEST_CASE("values far below the largest keep orthonormal vectors") {
    const truncated_svd parts = svd(with_values({1, 1e-3, 1e-6, 1e-9}), {.rank = 16});
    REQUIRE(parts.rank() == 4);
    for (std::size_t v = 0; v < 4; ++v)
        CHECK(parts.values[v] == Approx(std::pow(10.0, -3.0 * static_cast<double>(v))).margin(1e-15));
    CHECK(crookedness(parts.left, 4) < tiny);
    CHECK(crookedness(parts.right, 4) < tiny);
}

TEST_CASE("the rank that comes out is that of the matrix") {
    // Rank 2 by making: every row is a mixture of two.
    dense_matrix a = random_matrix(12, 7, 5);
    for (std::size_t i = 2; i < 12; ++i)
        for (std::size_t j = 0; j < 7; ++j) a.numbers[i * 7 + j] = static_cast<double>(i) * a.at(0, j) - a.at(1, j);
    CHECK(svd(a, {.rank = 7}).rank() == 2);
    CHECK(svd(a.transposed(), {.rank = 7}).rank() == 2);
    CHECK(svd(a, {.rank = 1}).rank() == 1);
    CHECK(crookedness(svd(a, {.rank = 7}).left, 2) < tiny);

    CHECK(svd(dense_matrix{3, 5, std::vector<double>(15, 0.0)}).rank() == 0);
    CHECK(svd(dense_matrix{0, 5, {}}).rank() == 0);
    CHECK(svd(dense_matrix{5, 0, {}}).rank() == 0);
}

TEST_CASE("a rank deficient matrix with fewer vectors than its side decomposes all the same") {
    // Rank 3 in 16 dimensions, iterated with 4 + 4 vectors: five of them have nothing to hold on to.
    const truncated_svd parts = svd(with_values({5, 4, 3}), {.rank = 4, .oversampling = 4});
    REQUIRE(parts.rank() == 3);
    CHECK(parts.values[0] == Approx(5.0).epsilon(tiny));
    CHECK(parts.values[2] == Approx(3.0).epsilon(tiny));
    CHECK(crookedness(parts.left, 3) < tiny);
}

TEST_CASE("the transposed matrix has the same values and its vectors swapped") {
    const dense_matrix a = random_matrix(15, 9, 6);
    const truncated_svd one = svd(a, {.rank = 4}), other = svd(a.transposed(), {.rank = 4});
    REQUIRE(one.rank() == 4);
    REQUIRE(other.rank() == 4);
    for (std::size_t v = 0; v < 4; ++v) {
        CHECK(one.values[v] == Approx(other.values[v]).epsilon(tiny));
        double product = 0.0;  // 1 or -1: the sign follows the right vectors, which are not the same ones
        for (std::size_t i = 0; i < 15; ++i) product += one.left[i * 4 + v] * other.right[i * 4 + v];
        CHECK(std::abs(product) == Approx(1.0).epsilon(1e-9));
    }
}

TEST_CASE("the same matrix and seed give the same bits, and another seed the same numbers") {
    const dense_matrix a = random_matrix(25, 18, 7);
    const truncated_svd one = svd(a, {.rank = 18, .seed = 1}), again = svd(a, {.rank = 18, .seed = 1}),
                        other = svd(a, {.rank = 18, .seed = 2});
    CHECK(one.values == again.values);
    CHECK(one.left == again.left);
    CHECK(one.right == again.right);
    REQUIRE(other.rank() == 18);
    CHECK(one.right != other.right);  // the last bits differ, or the seed is not used
    for (std::size_t i = 0; i < one.right.size(); ++i) CHECK(one.right[i] == Approx(other.right[i]).margin(1e-9));
}

TEST_CASE("the largest component of every right vector is positive") {
    const truncated_svd parts = svd(random_matrix(20, 11, 8), {.rank = 11});
    for (std::size_t v = 0; v < parts.rank(); ++v) {
        double largest = 0.0;
        for (std::size_t i = v; i < parts.right.size(); i += parts.rank())
            if (std::abs(parts.right[i]) > std::abs(largest)) largest = parts.right[i];
        CHECK(largest > 0.0);
    }
}

TEST_CASE("a sparse matrix multiplies like the dense one") {
    // (0 2 0, 0 0 0, 1 0 -3), times two vectors: (1, 2, 3) and (0, 1, 0).
    sparse_matrix a(3);
    const std::uint32_t second[] = {1}, outer[] = {0, 2};
    const double two[] = {2}, mixed[] = {1, -3};
    a.add_row(second, two);
    a.add_row({}, {});
    a.add_row(outer, mixed);
    CHECK(a.rows() == 3);
    CHECK(a.columns() == 3);
    const std::vector<double> x{1, 0, 2, 1, 3, 0};
    std::vector<double> y(6, 99.0);
    a.multiply(x, y, 2);
    CHECK(y == std::vector<double>{4, 2, 0, 0, -8, 0});
    a.multiply_transposed(x, y, 2);
    CHECK(y == std::vector<double>{3, 0, 2, 0, -9, 0});
}

TEST_CASE("a sparse matrix decomposes like the dense one") {
    dense_matrix a = random_matrix(23, 17, 9);
    sparse_matrix sparse(17);
    for (std::size_t i = 0; i < 23; ++i) {
        std::vector<std::uint32_t> places;
        std::vector<double> values;
        for (std::uint32_t j = 0; j < 17; ++j) {
            if ((i + j) % 3 != 0) a.numbers[i * 17 + j] = 0.0;
            else places.push_back(j), values.push_back(a.at(i, j));
        }
        sparse.add_row(places, values);
    }
    const truncated_svd one = svd(sparse, {.rank = 6}), other = svd(a, {.rank = 6});
    REQUIRE(one.rank() == 6);
    REQUIRE(other.rank() == 6);
    for (std::size_t v = 0; v < 6; ++v) CHECK(one.values[v] == Approx(other.values[v]).epsilon(tiny));
}

TEST_CASE("a rank of zero is an error that says so") {
    CHECK(code_of([] { svd(dense_matrix{1, 1, {1}}, {.rank = 0}); }) == "svd.rank");
}
