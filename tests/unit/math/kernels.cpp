#include "quarry/math/kernels.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "quarry/detail/half.hpp"
#include "quarry/math/cosine.hpp"
#include "quarry/math/simd.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

std::vector<simd> levels_here() {
    std::vector<simd> out;
    for (const simd level : detail::simd_levels)
        if (level <= detail::simd_of_this_processor()) out.push_back(level);
    return out;
}

std::vector<float> random_floats(std::size_t count, std::mt19937& random) {
    std::vector<float> out(count);
    for (float& x : out) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    return out;
}

// The tree of additions that the table promises, written once more.
double tree_dot(const float* a, const float* b, std::size_t d) {
    double lane[16] = {};
    for (std::size_t i = 0; i < d; ++i) lane[i % 16] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    for (std::size_t apart = 8; apart != 0; apart /= 2)
        for (std::size_t j = 0; j < apart; ++j) lane[j] += lane[j + apart];
    return lane[0];
}

}  // namespace

TEST_CASE("the exact product has the same bits at every level, for any width and magnitudes that cancel") {
    std::mt19937 random(1);
    for (std::size_t d = 0; d < 70; ++d)
        for (int round = 0; round < 8; ++round) {
            std::vector<float> a = random_floats(d, random), b = random_floats(d, random);
            for (float& x : a) x = std::ldexp(x, static_cast<int>(random() % 120) - 60);
            // Half floats are floats of fewer bits.
            std::vector<std::uint16_t> halves;
            for (float& x : b) {
                halves.push_back(detail::narrowed_to_half(x));
                x = detail::widened_half(halves.back());
            }
            const auto expected = std::bit_cast<std::uint64_t>(tree_dot(a.data(), b.data(), d));
            for (const simd level : levels_here()) {
                const detail::kernels& k = detail::kernels_at(level);
                REQUIRE(std::bit_cast<std::uint64_t>(k.dot(a.data(), b.data(), d)) == expected);
                REQUIRE(std::bit_cast<std::uint64_t>(k.dot_halves(a.data(), halves.data(), d)) == expected);
            }
        }
}

TEST_CASE("codes are the components in steps of the largest, sums say what they leave out, and nothing beyond is written") {
    std::mt19937 random(7);
    for (const simd level : levels_here())
        for (const std::size_t d : {1u, 8u, 31u, 32u, 33u, 64u, 100u, 384u}) {
            std::vector<float> row = random_floats(d, random);
            row[random() % d] = -1.5f;
            const std::size_t stride = (d + 31) / 32 * 32;
            std::vector<std::uint8_t> codes(stride + 1, std::uint8_t{77});
            const detail::byte_sums sums = detail::kernels_at(level).encode(row.data(), d, codes.data());
            REQUIRE(sums.scale == 1.5f / 127.0f);
            double rests = 0.0, squares = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double in_steps = static_cast<double>(row[j]) * 127.0 / 1.5, code = codes[j] - 128.0;
                REQUIRE(std::abs(in_steps - code) <= 0.5 + 0x1p-16);
                rests += (in_steps - code) * (in_steps - code);
                squares += code * code;
            }
            for (std::size_t j = d; j < stride; ++j) REQUIRE(codes[j] == 128);
            REQUIRE(codes[stride] == 77);
            REQUIRE(static_cast<double>(sums.rests) == Approx(rests).epsilon(1e-3).margin(1e-3));
            REQUIRE(static_cast<double>(sums.codes) == Approx(squares).epsilon(1e-5));

            std::vector<double> total(d + 1, 0.25);
            detail::kernels_at(level).add_up(row.data(), d, total.data());
            for (std::size_t j = 0; j < d; ++j) REQUIRE(total[j] == 0.25 + static_cast<double>(row[j]));
            REQUIRE(total[d] == 0.25);
        }
}

TEST_CASE("a row of nothing or of next to nothing has no codes") {
    for (const simd level : levels_here())
        for (const float x : {0.0f, 1e-30f}) {
            const std::vector<float> row(40, x);
            std::vector<std::uint8_t> codes(64);
            const detail::byte_sums sums = detail::kernels_at(level).encode(row.data(), row.size(), codes.data());
            CHECK(sums.scale == 0.0f);
            CHECK(std::ranges::all_of(codes, [](std::uint8_t c) { return c == 128; }));
        }
}

TEST_CASE("float products lie within their stated error at every level, for any width and count") {
    std::mt19937 random(2);
    for (const simd level : levels_here())
        for (const std::size_t d : {1u, 2u, 7u, 8u, 15u, 16u, 17u, 33u, 48u, 100u})
            for (const std::size_t n : {1u, 3u, 4u, 9u})
                for (const std::size_t m : {1u, 2u, 3u, 4u, 7u}) {
                    const std::vector<float> rows = random_floats(n * d, random), probes = random_floats(m * d, random);
                    const std::size_t stride = n + 2;
                    std::vector<float> out(m * stride, 99.0f);
                    detail::kernels_at(level).products(rows.data(), n, d, probes.data(), m, out.data(), stride);
                    for (std::size_t p = 0; p < m; ++p) {
                        for (std::size_t i = 0; i < n; ++i) {
                            const double exact = tree_dot(rows.data() + i * d, probes.data() + p * d, d);
                            const double length = std::sqrt(tree_dot(rows.data() + i * d, rows.data() + i * d, d) *
                                                            tree_dot(probes.data() + p * d, probes.data() + p * d, d));
                            REQUIRE(std::abs(static_cast<double>(out[p * stride + i]) - exact) <=
                                    product_error(d, length) * 1.001);
                        }
                        const float one = detail::kernels_at(level).product(rows.data(), probes.data() + p * d, d);
                        REQUIRE(std::abs(static_cast<double>(one) - tree_dot(rows.data(), probes.data() + p * d, d)) <=
                                product_error(d, static_cast<double>(d)) * 1.001);
                        REQUIRE(out[p * stride + n] == 99.0f);  // nothing beyond the rows is written
                    }
                }
}

TEST_CASE("float products are those of a matrix product, up to the rounding of both") {
    std::mt19937 random(6);
    constexpr std::size_t n = 50, m = 6, d = 37;
    const std::vector<float> rows = random_floats(n * d, random), probes = random_floats(m * d, random);
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const matrix expected =
        Eigen::Map<const matrix>(probes.data(), m, d) * Eigen::Map<const matrix>(rows.data(), n, d).transpose();
    for (const simd level : levels_here()) {
        std::vector<float> out(n * m);
        detail::kernels_at(level).products(rows.data(), n, d, probes.data(), m, out.data(), n);
        for (std::size_t i = 0; i < out.size(); ++i)
            REQUIRE(std::abs(out[i] - expected.data()[i]) <= 2 * static_cast<float>(product_error(d, d)));
    }
}

TEST_CASE("byte products are exact at every level, extreme codes included, in order, by ids and in batches") {
    std::mt19937 random(3);
    for (const simd level : levels_here())
        for (const std::size_t stride : {32u, 64u, 96u, 160u, 384u})
            for (const std::size_t n : {1u, 2u, 7u, 8u, 16u, 17u, 33u, 63u, 64u}) {
                std::vector<std::uint8_t> codes(n * stride);
                for (auto& c : codes) c = static_cast<std::uint8_t>(1 + random() % 255);
                std::fill_n(codes.begin(), stride, std::uint8_t{255});
                if (n > 1) std::fill_n(codes.begin() + static_cast<std::ptrdiff_t>(stride), stride, std::uint8_t{1});
                constexpr std::size_t m = 13;
                std::vector<std::int8_t> probes(m * stride);
                for (auto& q : probes) q = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
                std::fill_n(probes.begin(), stride, std::int8_t{127});
                std::fill_n(probes.begin() + static_cast<std::ptrdiff_t>(stride), stride, std::int8_t{-127});
                const auto expected = [&](std::size_t row, std::size_t p) {
                    std::int32_t sum = 0;
                    for (std::size_t j = 0; j < stride; ++j)
                        sum += static_cast<int>(codes[row * stride + j]) * static_cast<int>(probes[p * stride + j]);
                    return sum;
                };
                std::vector<std::uint32_t> ids;
                for (std::size_t i = 0; i < 2 * n + 1; ++i) ids.push_back(static_cast<std::uint32_t>(random() % n));
                const detail::kernels& k = detail::kernels_at(level);
                std::vector<std::int32_t> straight(n + 1, 77), listed(ids.size() + 1, 77);
                for (std::size_t p = 0; p < m; ++p) {
                    k.byte_products(codes.data(), stride, nullptr, n, probes.data() + p * stride, straight.data());
                    k.byte_products(codes.data(), stride, ids.data(), ids.size(), probes.data() + p * stride,
                                    listed.data());
                    for (std::size_t i = 0; i < n; ++i) REQUIRE(straight[i] == expected(i, p));
                    for (std::size_t i = 0; i < ids.size(); ++i) REQUIRE(listed[i] == expected(ids[i], p));
                    REQUIRE(straight[n] == 77);
                    REQUIRE(listed[ids.size()] == 77);
                }
                std::vector<std::uint8_t> scratch(64 * stride);
                for (const std::size_t some : {1u, 3u, 4u, 6u, 7u, 9u, 13u}) {
                    std::vector<std::int32_t> out(some * 64);
                    k.byte_products_batch(codes.data(), stride, n, probes.data(), some, out.data(), scratch.data());
                    for (std::size_t p = 0; p < some; ++p)
                        for (std::size_t i = 0; i < n; ++i) REQUIRE(out[p * 64 + i] == expected(i, p));
                }
            }
}

TEST_CASE("products of half bytes are exact at every level, extreme ones included") {
    std::mt19937 random(9);
    for (const simd level : levels_here())
        for (const std::size_t stride : {32u, 64u, 96u, 384u})
            for (const std::size_t count : {1u, 3u}) {
                std::vector<std::uint8_t> blocks(count * 16 * stride);
                for (auto& two : blocks) two = static_cast<std::uint8_t>(random());
                std::fill_n(blocks.begin(), 16 * stride, std::uint8_t{0xFF});
                for (const int extreme : {127, -127, 0}) {
                    std::vector<std::int8_t> probe(stride, static_cast<std::int8_t>(extreme));
                    if (extreme == 0)
                        for (auto& q : probe) q = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
                    std::vector<std::int32_t> out(count * 32 + 1, 77);
                    detail::kernels_at(level).nibble_products(blocks.data(), stride, count, probe.data(), out.data());
                    for (std::size_t i = 0; i < count * 32; ++i) {
                        std::int32_t expected = 0;
                        for (std::size_t j = 0; j < stride; ++j) {
                            const int two = blocks[i / 32 * 16 * stride + (j / 8 * 32 + i % 32) * 4 + j % 4];
                            expected += 2 * (j % 8 < 4 ? two & 15 : two >> 4) * probe[j];
                        }
                        REQUIRE(out[i] == expected);
                    }
                    REQUIRE(out.back() == 77);
                }
            }
}

TEST_CASE("a Hadamard transform is the product with its matrix, signs and scale included, in place too") {
    std::mt19937 random(10);
    for (const simd level : levels_here())
        for (const std::size_t n : {8u, 16u, 64u, 256u}) {
            const std::vector<float> row = random_floats(n, random);
            std::vector<float> signs(n), out(n), same = row;
            for (float& s : signs) s = random() % 2 == 0 ? 1.0f : -1.0f;
            detail::kernels_at(level).hadamard(row.data(), signs.data(), n, 0.25f, out.data());
            detail::kernels_at(level).hadamard(same.data(), signs.data(), n, 0.25f, same.data());
            REQUIRE(same == out);
            for (std::size_t i = 0; i < n; ++i) {
                double expected = 0.0;  // entry i, j is -1 to the power of the number of bits that i and j share
                for (std::size_t j = 0; j < n; ++j)
                    expected += (std::popcount(i & j) % 2 == 0 ? 0.25 : -0.25) * static_cast<double>(signs[j] * row[j]);
                REQUIRE(std::abs(static_cast<double>(out[i]) - expected) < 1e-5);
            }
        }
}

TEST_CASE("sums of codes are the same integers at every level, and those that reach a bound are selected") {
    std::mt19937 random(8);
    for (const simd level : levels_here())
        for (const std::size_t n : {0u, 1u, 7u, 8u, 15u, 16u, 31u, 32u, 33u, 63u, 64u, 100u, 200u})
            for (const std::uint16_t factor : std::vector<std::uint16_t>{0, 1, 255, 256, 4711, 65'253}) {
                std::vector<std::uint8_t> codes(n);
                for (auto& c : codes) c = static_cast<std::uint8_t>(random() % 4 == 0 ? 255 : random() % 256);
                std::vector<std::uint16_t> sums(n + 1, 250), expected = sums;
                for (std::size_t i = 0; i < n; ++i)
                    expected[i] = static_cast<std::uint16_t>(250 + codes[i] * std::uint32_t{factor} / 256);
                detail::kernels_at(level).add_codes(codes.data(), n, factor, sums.data());
                REQUIRE(sums == expected);
                for (const std::uint16_t least : {std::uint16_t{1}, expected[n / 2], std::uint16_t{65'253}}) {
                    std::vector<std::uint32_t> reached, positions(n + 1, 12345);
                    for (std::size_t i = 0; i < n; ++i)
                        if (sums[i] >= least) reached.push_back(static_cast<std::uint32_t>(i));
                    const std::size_t found =
                        detail::kernels_at(level).select_sums(sums.data(), n, least, positions.data());
                    REQUIRE(std::vector(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(found)) == reached);
                }
            }
}

TEST_CASE("what reaches a bound is selected, in ascending order, equal values included") {
    std::mt19937 random(4);
    for (const simd level : levels_here())
        for (const std::size_t n : {0u, 1u, 7u, 8u, 15u, 16u, 17u, 40u, 100u}) {
            std::vector<float> values(n);
            for (float& x : values) x = static_cast<float>(random() % 10);
            std::vector<std::uint32_t> expected, positions(n + 1, 12345);
            for (std::size_t i = 0; i < n; ++i)
                if (values[i] >= 6.0f) expected.push_back(static_cast<std::uint32_t>(i));
            const std::size_t found = detail::kernels_at(level).select(values.data(), n, 6.0f, positions.data());
            positions.resize(found);
            REQUIRE(positions == expected);
        }
}

TEST_CASE("byte products are selected by the upper end of their range") {
    // Three kinds of rows: the range of each is its middle plus 2 * error + 1 * length, in numbers that floats hold.
    std::mt19937 random(5);
    for (const simd level : levels_here())
        for (const std::size_t n : {1u, 8u, 16u, 37u}) {
            std::vector<std::int32_t> products(n);
            std::vector<float> scale(n), error(n), length(n);
            std::vector<std::uint32_t> expected, positions(n + 1);
            const detail::byte_probe_constants probe{100, 0.5f, 2.0f, 1.0f};
            for (std::size_t i = 0; i < n; ++i) {
                products[i] = static_cast<std::int32_t>(random() % 64) + 100;
                scale[i] = static_cast<float>(1 + random() % 3);
                error[i] = static_cast<float>(random() % 4);
                length[i] = static_cast<float>(random() % 4);
                const float most = static_cast<float>(products[i] - 100) * scale[i] * 0.5f + 2 * error[i] + length[i];
                if (most >= 30.0f) expected.push_back(static_cast<std::uint32_t>(i));
            }
            const std::size_t found = detail::kernels_at(level).select_bytes(
                products.data(), {scale.data(), error.data(), length.data()}, n, probe, 30.0f, positions.data());
            positions.resize(found);
            REQUIRE(positions == expected);
        }
}
