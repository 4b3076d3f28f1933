#include "quarry/index/dense_rows.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "support/catch.hpp"

using namespace quarry;

// What a scan decides by intervals, on data that is made to mislead it: far more rows than a slab, of widths that have
// bytes, compared with a loop.
namespace {

using dense_row = std::vector<float>;

float signed_unit(std::mt19937& random) { return static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f; }

dense_row noise(std::size_t d, std::mt19937& random) {
    dense_row out(d);
    for (float& x : out) x = signed_unit(random);
    return out;
}

template <class S>
std::vector<scored_key> by_loop(const std::vector<dense_row>& rows, const dense_row& probe, std::size_t n,
                                const unit_set* allowed) {
    const auto taken = [](dense_row r) {
        if constexpr (std::same_as<S, cosine_scale>) normalize(r);
        return r;
    };
    const dense_row q = taken(probe);
    std::vector<scored_key> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (allowed && !allowed->contains(unit_at(i / 2))) continue;
        const dense_row r = taken(rows[i]);
        double product = 0.0;  // in the order of the components; the library adds in another
        for (std::size_t j = 0; j < r.size(); ++j) product += static_cast<double>(q[j]) * static_cast<double>(r[j]);
        if (std::same_as<S, cosine_scale>) product = std::clamp(product, -1.0, 1.0);
        all.push_back({unit_at(i / 2), key_at(i), detail::narrowed(product)});
    }
    std::ranges::sort(all, [](const scored_key& a, const scored_key& b) { return better(a, b); });
    all.resize(std::min(n, all.size()));
    return all;
}

template <class S>
void require_as_by_loop(const std::vector<dense_row>& rows, const std::vector<dense_row>& probes) {
    const std::size_t d = rows.front().size();
    for (const flat_options& options : {flat_options{}, flat_options{.nibbles = false}, flat_options{.bytes = false}}) {
        basic_flat_index<S> index(d, options);
        for (std::size_t i = 0; i < rows.size(); ++i) index.add(unit_at(i / 2), rows[i]);
        dense_row joined;
        for (const dense_row& p : probes) joined.insert(joined.end(), p.begin(), p.end());
        unit_set half(rows.size()), few(rows.size());
        for (std::size_t u = 0; u < rows.size(); ++u) {
            if (u % 2 == 0) half.insert(unit_at(u));
            if (u % 7 == 3) few.insert(unit_at(u));
        }
        for (const unit_set* allowed : {static_cast<const unit_set*>(nullptr), static_cast<const unit_set*>(&half),
                                        static_cast<const unit_set*>(&few)})
            for (const std::size_t n : {std::size_t{1}, std::size_t{10}, rows.size() - 1}) {
                const auto batch = index.search_batch(joined, n, {allowed});
                for (std::size_t p = 0; p < probes.size(); ++p) {
                    const auto expected = by_loop<S>(rows, probes[p], n, allowed);
                    const auto found = index.search(probes[p], n, {allowed});
                    REQUIRE(batch[p] == found);
                    REQUIRE(found.size() == expected.size());
                    for (std::size_t i = 0; i < found.size(); ++i) {
                        REQUIRE(found[i].key == expected[i].key);
                        REQUIRE(std::abs(found[i].score - expected[i].score) <= std::abs(expected[i].score) * 0x1p-23f);
                    }
                }
            }
    }
}

void require_as_by_loop_in_both_scales(const std::vector<dense_row>& rows, const std::vector<dense_row>& probes) {
    require_as_by_loop<cosine_scale>(rows, probes);
    require_as_by_loop<inner_product_scale>(rows, probes);
}

}  // namespace

TEST_CASE("a scan decides as a loop does: random rows") {
    std::mt19937 random(1);
    for (const std::size_t d : {32u, 33u, 100u}) {
        std::vector<dense_row> rows, probes;
        for (int i = 0; i < 1500; ++i) rows.push_back(noise(d, random));
        for (int i = 0; i < 5; ++i) probes.push_back(noise(d, random));
        require_as_by_loop_in_both_scales(rows, probes);
    }
}

TEST_CASE("a scan decides as a loop does: all rows equal, so that ids alone decide") {
    std::vector<dense_row> rows(1200, dense_row(40, 0.3f));
    std::mt19937 random(2);
    require_as_by_loop_in_both_scales(rows, {dense_row(40, 1.0f), noise(40, random)});
}

TEST_CASE("a scan decides as a loop does: rows that differ by less than their bytes can say") {
    std::mt19937 random(3);
    const dense_row base = noise(64, random);
    std::vector<dense_row> rows, probes{base};
    for (int i = 0; i < 1300; ++i) {
        dense_row one = base;
        // Steps of a power of two, so that the loop's order of addition does not decide.
        one[random() % 64] += static_cast<float>(random() % 64) * 0x1p-16f;
        rows.push_back(one);
    }
    probes.push_back(noise(64, random));
    require_as_by_loop<inner_product_scale>(rows, probes);
}

TEST_CASE("a scan decides as a loop does: one huge component in every row, which leaves the others no bytes") {
    std::mt19937 random(4);
    std::vector<dense_row> rows;
    for (int i = 0; i < 1300; ++i) {
        dense_row one = noise(50, random);
        one[7] = 1e4f;
        rows.push_back(one);
    }
    dense_row across = noise(50, random), along = across;
    across[7] = 0.0f;
    along[7] = 1e4f;
    require_as_by_loop_in_both_scales(rows, {across, along});
}

TEST_CASE("a scan decides as a loop does: rows that their bytes hold exactly, so that nothing is left over") {
    std::mt19937 random(5);
    std::vector<dense_row> rows, probes;
    const auto whole = [&] {
        dense_row one(32);
        for (float& x : one) x = static_cast<float>(static_cast<int>(random() % 255) - 127);
        one[0] = 127.0f;
        return one;
    };
    for (int i = 0; i < 1400; ++i) rows.push_back(whole());
    for (int i = 0; i < 4; ++i) probes.push_back(whole());
    require_as_by_loop<inner_product_scale>(rows, probes);
}

TEST_CASE("a scan decides as a loop does: duplicates in pairs, whose ties go by id") {
    std::mt19937 random(6);
    std::vector<dense_row> rows, probes;
    for (int i = 0; i < 700; ++i) {
        const dense_row one = noise(36, random);
        rows.push_back(one);
        rows.insert(rows.begin(), one);
    }
    for (int i = 0; i < 4; ++i) probes.push_back(rows[random() % rows.size()]);
    require_as_by_loop_in_both_scales(rows, probes);
}

TEST_CASE("a scan decides as a loop does: lengths from 1e-18 to 1e14, zero rows among them") {
    std::mt19937 random(7);
    std::vector<dense_row> rows, probes;
    for (int i = 0; i < 1300; ++i) {
        dense_row one = noise(32, random);
        const float factor = std::pow(10.0f, static_cast<float>(static_cast<int>(random() % 33) - 18));
        for (float& x : one) x *= i % 50 == 0 ? 0.0f : factor;
        rows.push_back(one);
    }
    for (const float factor : {1e-20f, 1e-14f, 1.0f, 1e14f, 0.0f}) {
        dense_row one = noise(32, random);
        for (float& x : one) x *= factor;
        probes.push_back(one);
    }
    require_as_by_loop<inner_product_scale>(rows, probes);
}

TEST_CASE("a scan decides as a loop does: widths about a multiple of what is read together") {
    std::mt19937 random(10);
    for (const std::size_t d : {1u, 7u, 17u, 384u, 385u}) {
        std::vector<dense_row> rows, probes;
        for (int i = 0; i < 1100; ++i) rows.push_back(noise(d, random));
        probes.push_back(noise(d, random));
        require_as_by_loop_in_both_scales(rows, probes);
    }
}

TEST_CASE("four bits that decide nothing, or at first nothing, or only at first, leave a search exact") {
    // A slab is 1,024 rows. All alike: every slab is left to the bytes. Alike and then not: they are tried again.
    std::mt19937 random(11);
    for (const std::size_t alike : {8000u, 3000u, 0u})
        for (const bool first : {true, false}) {
            const dense_row base = noise(32, random);
            std::vector<dense_row> rows;
            for (std::size_t i = 0; i < 8000; ++i) {
                dense_row one = noise(32, random);
                if (first == (i < alike))
                    for (std::size_t j = 0; j < 32; ++j) one[j] = base[j] + one[j] * 0x1p-7f;
                rows.push_back(one);
            }
            flat_index in_nibbles(32), in_bytes(32, {.nibbles = false});
            for (std::size_t i = 0; i < rows.size(); ++i) {
                in_nibbles.add(unit_at(i / 2), rows[i]);
                in_bytes.add(unit_at(i / 2), rows[i]);
            }
            for (const dense_row& probe : {base, rows[7999], noise(32, random)})
                for (const std::size_t n : {1u, 10u, 3000u, 7999u}) {
                    const auto found = in_nibbles.search(probe, n);
                    REQUIRE(found == in_bytes.search(probe, n));
                    if (n == 10) REQUIRE(found == by_loop<cosine_scale>(rows, probe, n, nullptr));
                }
        }
}

TEST_CASE("a batch larger than a group of probes is searched in groups") {
    std::mt19937 random(8);
    flat_index index(32);
    for (std::size_t i = 0; i < 300; ++i) index.add(unit_at(i), noise(32, random));
    const dense_row probes = noise(32 * 1100, random);
    const auto answers = index.search_batch(probes, 3);
    REQUIRE(answers.size() == 1100);
    for (std::size_t p = 0; p < 1100; p += 37)
        CHECK(answers[p] == index.search(std::span(probes).subspan(p * 32, 32), 3));
}

TEST_CASE("rows that an index drops are not found again, whether it keeps bytes or not") {
    std::mt19937 random(9);
    for (const bool bytes : {true, false}) {
        flat_index index(48, {.bytes = bytes}), never(48, {.bytes = bytes});
        for (std::size_t i = 0; i < 500; ++i) {
            const dense_row one = noise(48, random);
            index.add(unit_at(i), one);
            if (i % 3 != 1) never.add(unit_at(i), one);
        }
        for (std::size_t i = 1; i < 500; i += 3) REQUIRE(index.remove(unit_at(i)) == 1);
        for (int i = 0; i < 20; ++i) {
            const dense_row probe = noise(48, random);
            const auto a = index.search(probe, 9), b = never.search(probe, 9);
            for (std::size_t r = 0; r < 9; ++r) {
                CHECK(a[r].unit == b[r].unit);
                CHECK(a[r].score == b[r].score);
            }
        }
    }
}
