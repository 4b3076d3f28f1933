#include "quarry/math/nibble_rows.hpp"

#include <random>
#include <vector>

#include "support/catch.hpp"
#include "support/uneven_row.hpp"

using namespace quarry;

namespace {

struct nibbles_with_rows {
    detail::nibble_rows coded;
    std::vector<std::vector<float>> rows{};
    void add(std::vector<float> row) {
        coded.reserve(1);
        coded.add(row, norm(row));
        rows.push_back(std::move(row));
    }
    // Which rows may have a product of at least `least` with the probe.
    std::vector<std::uint32_t> selected(std::span<const float> probe, double least) const {
        detail::aligned_vector<std::int8_t> codes(detail::byte_rows(probe.size()).stride());
        const auto constants = coded.encode(probe, codes.data());
        std::vector<std::int32_t> products((rows.size() + 31) / 32 * 32);
        std::vector<std::uint32_t> positions(rows.size());
        coded.products(0, rows.size(), codes.data(), products.data());
        positions.resize(detail::best_kernels().select_bytes(products.data(), coded.constants(0), rows.size(), constants,
                                                             detail::float_below(least), positions.data()));
        return positions;
    }
};

}  // namespace

TEST_CASE("four bits never lose a row whose product is what is asked for, however lopsided it and the probe are") {
    std::mt19937 random(1);
    for (const std::size_t d : {32u, 33u, 64u, 200u}) {
        nibbles_with_rows all{detail::nibble_rows(d)};
        for (int i = 0; i < 100; ++i) all.add(uneven_row(d, random));
        for (int p = 0; p < 30; ++p) {
            const std::vector<float> probe = uneven_row(d, random);
            if (norm(probe) < 1e-15) continue;
            for (std::uint32_t i = 0; i < 100; ++i) {
                long double exact = 0;
                for (std::size_t j = 0; j < d; ++j)
                    exact += static_cast<long double>(all.rows[i][j]) * static_cast<long double>(probe[j]);
                REQUIRE(std::ranges::binary_search(all.selected(probe, static_cast<double>(exact)), i));
            }
        }
    }
}

TEST_CASE("four bits leave out about an eighth of a row's length, whether its numbers are even or one is huge") {
    // The largest of 384 even numbers is some three times their root mean square, so a step of a sixteenth of twice that is
    // .37 of it, and a number is off by a step over the root of 12: .11 of the length. A lone number is spread evenly.
    std::mt19937 random(2);
    nibbles_with_rows all{detail::nibble_rows(384)};
    std::normal_distribution<float> normal;
    std::vector<float> even(384), huge(384, 0.0f);
    for (float& x : even) x = normal(random);
    huge[5] = 100.0f;
    all.add(even);
    all.add(huge);
    all.add(std::vector<float>(384, 1.0f));
    for (std::size_t i = 0; i < 3; ++i) {
        const double left_out = static_cast<double>(all.coded.constants(0).error[i]) / norm(all.rows[i]);
        CHECK(left_out > 0.0);
        CHECK(left_out < 0.16);
        // So the row itself is found at its own length and not a third above it.
        const double square = norm(all.rows[i]) * norm(all.rows[i]);
        CHECK(std::ranges::count(all.selected(all.rows[i], square), i) == 1);
        CHECK(std::ranges::count(all.selected(all.rows[i], 1.3 * square), i) == 0);
    }
}

TEST_CASE("a row in four bits takes the place of another with all that is known of it, across blocks") {
    std::mt19937 random(3);
    nibbles_with_rows all{detail::nibble_rows(40)};
    for (int i = 0; i < 40; ++i) all.add(uneven_row(40, random));
    all.coded.move(39, 2);
    all.coded.shrink(38);
    CHECK(all.coded.size() == 38);
    std::swap(all.rows[2], all.rows[39]);
    all.rows.resize(38);
    nibbles_with_rows fresh{detail::nibble_rows(40)};
    for (const auto& row : all.rows) fresh.add(row);
    const std::vector<float> probe = all.rows[2];
    for (const double least : {-1e3, 0.0, 0.5, 1.0, 1e3}) CHECK(all.selected(probe, least) == fresh.selected(probe, least));
    CHECK(all.coded.memory() >= 38 * (20 + 12));
}
