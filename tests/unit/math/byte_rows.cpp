#include "quarry/math/byte_rows.hpp"

#include <random>
#include <vector>

#include "support/catch.hpp"
#include "support/uneven_row.hpp"

using namespace quarry;

namespace {

// The true product, in more than double.
long double product_of(std::span<const float> a, std::span<const float> b) {
    long double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
    return sum;
}

}  // namespace

TEST_CASE("the product of a row and a probe lies in the interval that their bytes give, and the kernel keeps it") {
    std::mt19937 random(1);
    for (const std::size_t d : {32u, 33u, 64u, 200u}) {
        detail::byte_rows rows(d);
        std::vector<std::vector<float>> all;
        for (int i = 0; i < 100; ++i) {
            all.push_back(uneven_row(d, random));
            rows.reserve(1);
            rows.add(all.back());
        }
        for (int p = 0; p < 100; ++p) {
            const std::vector<float> probe = uneven_row(d, random);
            if (norm(probe) < 1e-15) continue;
            detail::aligned_vector<std::int8_t> codes(rows.stride());
            const detail::byte_probe coded = rows.encode(probe, codes.data());
            std::vector<std::int32_t> products(all.size());
            detail::best_kernels().byte_products(rows.codes(), rows.stride(), nullptr, all.size(), codes.data(),
                                                 products.data());
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto range = rows.range(i, products[i], coded);
                const auto exact = static_cast<double>(product_of(all[i], probe));
                REQUIRE(range.low <= exact);
                REQUIRE(exact <= range.high);
                const auto about = rows.range_about(i, rows.estimate(i, products[i], coded), coded);
                REQUIRE(about.low <= range.low);
                REQUIRE(range.high <= about.high);
                // Asked for products of at least this row's own, the kernel must not drop the row.
                std::uint32_t position;
                REQUIRE(detail::best_kernels().select_bytes(&products[i], rows.constants(i), 1, coded.constants,
                                                            detail::float_below(exact), &position) == 1);
            }
        }
    }
}

TEST_CASE("intervals of even rows are narrow: about a hundredth of the lengths") {
    // A component of a uniform row is known to half a step of 1/127: 1/440 of the largest in the mean square, or 1/254
    // of the row's length, and both sides count.
    std::mt19937 random(2);
    std::vector<float> a(384), b(384);
    for (float& x : a) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    for (float& x : b) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    detail::byte_rows rows(384);
    rows.reserve(1);
    rows.add(a);
    detail::aligned_vector<std::int8_t> codes(rows.stride());
    const detail::byte_probe coded = rows.encode(b, codes.data());
    std::int32_t product;
    detail::best_kernels().byte_products(rows.codes(), rows.stride(), nullptr, 1, codes.data(), &product);
    const auto range = rows.range(0, product, coded);
    CHECK((range.high - range.low) / (norm(a) * norm(b)) == Approx(4.0 / 254).epsilon(0.2));
}

TEST_CASE("a row takes the place of another with all that is known of it") {
    detail::byte_rows rows(32);
    rows.reserve(2);
    rows.add(std::vector<float>(32, 1.0f));
    std::vector<float> other(32, 0.5f);
    other[3] = -2.0f;
    rows.add(other);
    rows.move(1, 0);
    rows.resize(1);
    CHECK(rows.size() == 1);
    CHECK(rows.codes(0)[3] == 128 - 127);
    CHECK(rows.codes(0)[0] == 128 + 32);  // .5 * 127 / 2 = 31.75
    CHECK(rows.constants(0).scale[0] == 2.0f / 127.0f);
}
