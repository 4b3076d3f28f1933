#include "quarry/index/flat_index.hpp"

#include <random>

#include "quarry/detail/half.hpp"
#include "quarry/index/hnsw_index.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/failing_new.hpp"

using namespace quarry;

static_assert(DenseIndex<flat_index> && BoundedIndex<flat_index, dense_probe>);
static_assert(DenseIndex<flat_product_index> && ScoringIndex<flat_product_index, dense_probe>);
static_assert(!BoundedIndex<flat_product_index, dense_probe>);  // an inner product has no bounds to say

namespace {

using row = std::vector<float>;
using found = std::vector<scored_key>;

constexpr float most = (std::numeric_limits<float>::max)();

// ------------------------------------------------------------------------------------------------ the dull twin

// Everything an index holds, and the answer by looking at all of it: rows and probe as the header says they are taken,
// the product in more than double precision, then the order of the library.
template <class S>
struct slow_index {
    static constexpr bool is_cosine = std::same_as<S, cosine_scale>;

    std::size_t d;
    std::vector<unit_id> units;
    std::vector<row> rows;

    static row taken(std::span<const float> given) {
        long double squares = 0;
        for (const float x : given) squares += static_cast<long double>(x) * static_cast<long double>(x);
        const double length = is_cosine ? static_cast<double>(std::sqrt(squares)) : 1.0;
        row out;
        for (const float x : given) {
            const double scaled = static_cast<double>(x) / length;
            out.push_back(std::abs(scaled) < 0x1p-126 ? 0.0f : static_cast<float>(scaled));
        }
        return out;
    }
    void add(unit_id unit, std::span<const float> given) {
        units.push_back(unit);
        rows.push_back(taken(given));
    }
    float score(const row& probe, std::size_t i) const {
        long double product = 0;
        for (std::size_t j = 0; j < d; ++j)
            product += static_cast<long double>(probe[j]) * static_cast<long double>(rows[i][j]);
        const double bound = is_cosine ? 1.0 : static_cast<double>(most);
        const double kept = std::clamp(static_cast<double>(product), -bound, bound);
        return std::abs(kept) < 0x1p-126 ? 0.0f : static_cast<float>(kept);
    }
    found search(std::span<const float> probe, std::size_t n, accept allowed = {}) const {
        const row p = taken(probe);
        found all;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (allowed.contains(units[i])) all.push_back({units[i], key_at(i), score(p, i)});
        std::ranges::sort(all, [](const scored_key& a, const scored_key& b) { return better(a, b); });
        if (all.size() > n) all.resize(n);
        return all;
    }
};

// --------------------------------------------------------------------------------------------- rows that are difficult

float random_float(std::mt19937& random) { return static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f; }

row random_row(std::size_t d, std::mt19937& random) {
    row out(d);
    for (float& x : out) x = random_float(random);
    return out;
}

// One row of each difficult kind, then random ones that are duplicated, scaled, or moved by the last bit.
std::vector<row> difficult_rows(std::size_t d, std::size_t count, std::mt19937& random) {
    std::vector<row> rows;
    for (const float x : {1.0f, -1.0f, 0.1f, 1e-40f, 1e-45f, 1e38f, most, -most}) rows.push_back(row(d, x));
    for (const float x : {most, 1e30f, 1e-30f, 1e-39f}) {
        row spike = random_row(d, random);
        spike[random() % d] = x;
        rows.push_back(spike);
    }
    row alone(d, 0.0f);
    alone[d / 2] = 1.0f;
    rows.push_back(alone);
    while (rows.size() < count) {
        row next = random() % 2 == 0 ? random_row(d, random) : rows[random() % rows.size()];
        switch (random() % 4) {
            case 0: {
                float& one = next[random() % d];
                one = std::nextafter(one, 0.0f);
                break;
            }
            case 1:
                for (float& x : next) x *= 0.5f;
                break;
            default: break;
        }
        if (!std::ranges::all_of(next, [](float x) { return x == 0.0f; })) rows.push_back(next);
    }
    return rows;
}

template <class S>
struct twins {
    basic_flat_index<S> fast;
    slow_index<S> slow;

    explicit twins(std::size_t d, flat_options options = {}) : fast(d, options), slow{d, {}, {}} {}
    void add(unit_id unit, std::span<const float> given) {
        fast.add(unit, given);
        slow.add(unit, given);
    }
};

// The same keys in the same order, and scores that are equal but for the last bit: the sums have another order.
void require_equal(const found& fast, const found& slow) {
    REQUIRE(fast.size() == slow.size());
    for (std::size_t i = 0; i < fast.size(); ++i) {
        REQUIRE(fast[i].unit == slow[i].unit);
        REQUIRE(fast[i].key == slow[i].key);
        const float above = std::nextafter(slow[i].score, most), below = std::nextafter(slow[i].score, -most);
        REQUIRE((below <= fast[i].score && fast[i].score <= above));
    }
}

template <class S>
void compare_with_the_loop() {
    std::mt19937 random(11);
    for (const auto& [d, bytes] : {std::pair(1u, true), {2u, true}, {7u, true}, {24u, true}, {32u, true}, {70u, true}, {70u, false}}) {
        twins<S> both(d, {.bytes = bytes});
        constexpr std::size_t size = 120;
        const std::vector<row> rows = difficult_rows(d, size, random);
        // Two keys a unit on average, units in no order.
        for (const row& r : rows) both.add(unit_at(random() % (size / 2)), r);
        std::vector<row> probes = difficult_rows(d, 20, random);
        probes.push_back(rows[3]);
        for (const row& probe : probes) {
            for (const std::size_t n :
                 {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{50}, size - 1, size, size + 5})
                require_equal(both.fast.search(probe, n), both.slow.search(probe, n));
            for (const std::size_t one_in : {1u, 2u, 10u, 30u}) {
                unit_set some(size);
                for (std::size_t u = 0; u < size; ++u)
                    if (random() % one_in == 0) some.insert(unit_at(u));
                for (const std::size_t n : {std::size_t{1}, std::size_t{5}, size})
                    require_equal(both.fast.search(probe, n, {&some}), both.slow.search(probe, n, {&some}));
            }
            const unit_set none(size);
            CHECK(both.fast.search(probe, 5, {&none}).empty());
        }
    }
}

// The units that were found, in order.
std::vector<std::size_t> units_of(const found& hits) {
    std::vector<std::size_t> out;
    for (const scored_key& h : hits) out.push_back(index_of(h.unit));
    return out;
}

using order = std::vector<std::size_t>;

}  // namespace

TEST_CASE("cosines: a search is what a loop over every row in double precision gives") {
    compare_with_the_loop<cosine_scale>();
}

TEST_CASE("inner products: a search is what a loop over every row in double precision gives") {
    compare_with_the_loop<inner_product_scale>();
}

TEST_CASE("rows that a float product cannot tell apart come in their true order") {
    // Probe 1, 1e-5, -1 and rows 1, i 1e-4, 1 at places 0, 64, 128 of 192: the product is i 1e-9, on top of 1 - 1 that is
    // lost in a float sum which meets the places in this order.
    constexpr std::size_t size = 64, d = 192;
    flat_product_index in_bytes(d), in_floats(d, {.bytes = false});
    row rows;
    for (std::size_t i = 0; i < size; ++i) {
        row one(d, 0.0f);
        one[0] = 1.0f;
        one[64] = static_cast<float>(i) * 1e-4f;
        one[128] = 1.0f;
        in_bytes.add(unit_at(i), one);
        in_floats.add(unit_at(i), one);
        rows.insert(rows.end(), one.begin(), one.end());
    }
    row probe(d, 0.0f);
    probe[0] = 1.0f;
    probe[64] = 1e-5f;
    probe[128] = -1.0f;
    row approximate(size);
    approximate_products(rows, probe, d, approximate);
    CHECK_FALSE(std::ranges::is_sorted(approximate, std::ranges::less_equal{}));  // otherwise this shows nothing
    for (const flat_product_index* index : {&in_bytes, &in_floats}) {
        CHECK(units_of(index->search(probe, 3)) == order{63, 62, 61});
        CHECK(index->search(probe, 1)[0].score == Approx(63e-9).epsilon(1e-6));
    }
}

TEST_CASE("products that underflow in float are ranked by their double value") {
    // With the probe 1e-25 the first forty rows make 1e-40 to 4e-39, below 2^-126 = 1.2e-38, and count as 0; the others
    // make 4e-37 to 7.9e-37 and are in order.
    flat_product_index index(1);
    for (std::size_t i = 0; i < 40; ++i) index.add(unit_at(i), row{static_cast<float>(i + 1) * 1e-15f});
    for (std::size_t i = 40; i < 80; ++i) index.add(unit_at(i), row{static_cast<float>(i) * 1e-13f});
    const auto hits = index.search(row{1e-25f}, 42);
    for (std::size_t i = 0; i < 40; ++i) CHECK(index_of(hits[i].unit) == 79 - i);
    CHECK(index_of(hits[40].unit) == 0);
    CHECK(index_of(hits[41].unit) == 1);
    CHECK(hits[41].score == 0.0f);
}

TEST_CASE("rows too wide for an error bound are searched all the same") {
    constexpr std::size_t d = (std::size_t{1} << 17) + 1;
    twins<cosine_scale> both(d);
    std::mt19937 random(19);
    for (std::size_t i = 0; i < 3; ++i) both.add(unit_at(i), random_row(d, random));
    const row probe = random_row(d, random);
    require_equal(both.fast.search(probe, 2), both.slow.search(probe, 2));
}

TEST_CASE("an inner product that no float holds is the largest float") {
    flat_product_index index(2);
    index.add(unit_at(0), row{most, most});
    index.add(unit_at(1), row{-most, -most});
    index.add(unit_at(2), row{most, -most});
    index.add(unit_at(3), row{0, 0});
    const auto hits = index.search(row{most, most}, 4);
    CHECK(units_of(hits) == order{0, 2, 3, 1});
    CHECK(hits[0].score == most);
    CHECK(hits[1].score == 0.0f);
    CHECK(hits[3].score == -most);
}

TEST_CASE("a huge row that was removed no longer decides how the others are searched") {
    twins<inner_product_scale> both(5);
    std::mt19937 random(12);
    both.fast.add(unit_at(99), row(5, most));
    CHECK(both.fast.remove(unit_at(99)) == 1);
    for (std::size_t i = 0; i < 30; ++i) both.fast.add(unit_at(i), random_row(5, random));
    CHECK(both.fast.search(random_row(5, random), 3).size() == 3);
    CHECK(both.fast.size() == 30);
}

TEST_CASE("rows with equal scores come by unit, then by key, whatever was added first") {
    flat_index index(2);
    for (const std::size_t unit : {5u, 3u, 9u, 1u, 7u, 2u, 1u}) index.add(unit_at(unit), row{1, 0});
    const auto all = index.search(row{1, 0}, 7);
    CHECK(units_of(all) == order{1, 1, 2, 3, 5, 7, 9});
    CHECK(all[0].key < all[1].key);
    for (std::size_t n = 0; n < 7; ++n)
        CHECK(index.search(row{1, 0}, n) == found(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)));
}

TEST_CASE("a batch equals single searches") {
    std::mt19937 random(13);
    const auto check = [&](auto index) {
        const std::vector<row> rows = difficult_rows(9, 80, random), probes = difficult_rows(9, 37, random);
        for (std::size_t i = 0; i < rows.size(); ++i) index.add(unit_at(i / 2), rows[i]);
        unit_set some(40);
        for (std::size_t u = 0; u < 40; u += 3) some.insert(unit_at(u));
        row joined;
        for (const row& p : probes) joined.insert(joined.end(), p.begin(), p.end());
        for (const accept allowed : {accept{}, accept{&some}}) {
            const auto answers = index.search_batch(joined, 6, allowed);
            REQUIRE(answers.size() == probes.size());
            for (std::size_t p = 0; p < probes.size(); ++p) CHECK(answers[p] == index.search(probes[p], 6, allowed));
        }
        CHECK(index.search_batch({}, 6).empty());
    };
    check(flat_index(9));
    check(flat_product_index(9));
}

TEST_CASE("rows added together equal rows added one by one") {
    std::mt19937 random(14);
    const std::vector<row> rows = difficult_rows(6, 40, random);
    flat_index one(6), together(6);
    std::vector<unit_id> units;
    row joined;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        units.push_back(unit_at(i % 7));
        one.add(units.back(), rows[i]);
        joined.insert(joined.end(), rows[i].begin(), rows[i].end());
    }
    CHECK(together.add(units, joined) == key_id{0});
    CHECK(together.size() == one.size());
    CHECK(together.most_keys_of_a_unit() == one.most_keys_of_a_unit());
    for (const row& probe : rows) CHECK(together.search(probe, 9) == one.search(probe, 9));
}

TEST_CASE("an index after removing equals one that never had the rows, but for the numbers of the keys") {
    std::mt19937 random(15);
    const std::vector<row> rows = difficult_rows(6, 60, random);
    flat_index removed(6), never(6);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        removed.add(unit_at(i % 9), rows[i]);
        if (i % 9 != 4) never.add(unit_at(i % 9), rows[i]);
    }
    CHECK(removed.remove(unit_at(4)) == 7);  // 4, 13, ..., 58
    CHECK(removed.remove(unit_at(4)) == 0);
    CHECK(removed.remove(unit_at(1000)) == 0);
    CHECK(removed.size() == never.size());
    CHECK(removed.most_keys_of_a_unit() == never.most_keys_of_a_unit());
    for (const row& probe : rows) {
        const auto a = removed.search(probe, 20), b = never.search(probe, 20);
        REQUIRE(units_of(a) == units_of(b));
        for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].score == b[i].score);
        CHECK(removed.bounds(probe).low == never.bounds(probe).low);
    }
    // Numbers are not given twice.
    CHECK(removed.add(unit_at(4), rows[0]) == key_id{60});
    row stored(6);
    CHECK(removed.vector_of(unit_at(4), stored));
}

TEST_CASE("an index whose rows were all removed is an empty one") {
    flat_index index(2);
    index.add(unit_at(0), row{1, 0});
    index.add(unit_at(1), row{0, 1});
    index.remove(unit_at(0));
    index.remove(unit_at(1));
    CHECK(index.size() == 0);
    CHECK(index.most_keys_of_a_unit() == 0);
    CHECK(index.search(row{1, 0}, 5).empty());
    CHECK(index.bounds(row{1, 0}).low == 0.0f);
}

TEST_CASE("most_keys_of_a_unit follows adding and removing") {
    flat_index index(1);
    CHECK(index.most_keys_of_a_unit() == 0);
    for (int i = 0; i < 3; ++i) index.add(unit_at(7), row{1});
    index.add(unit_at(8), row{1});
    CHECK(index.most_keys_of_a_unit() == 3);
    index.remove(unit_at(7));
    CHECK(index.most_keys_of_a_unit() == 1);
}

TEST_CASE("an error names the width that was wanted and the one that came, and nothing is added") {
    flat_index index(384);
    index.add(unit_at(0), row(384, 1.0f));
    const std::vector<unit_id> three = {unit_at(1), unit_at(2), unit_at(3)};
    const auto both_numbers = [](const std::string& message, const char* wanted, const char* got) {
        return message.find(wanted) != std::string::npos && message.find(got) != std::string::npos;
    };
    CHECK(code_of([] { flat_index(0); }) == "dense.dimension");
    CHECK(code_of([&] { index.add(unit_at(1), row(4, 1.0f)); }) == "dense.dimension");
    CHECK(both_numbers(message_of([&] { index.add(unit_at(1), row(4, 1.0f)); }), "384", "got 4"));
    CHECK(both_numbers(message_of([&] { index.add(three, row(2 * 384 + 4, 1.0f)); }), "1152", "got 772"));
    CHECK(both_numbers(message_of([&] { index.search(row(1536, 1.0f), 1); }), "384", "got 1536"));
    CHECK(both_numbers(message_of([&] { index.search(row{}, 1); }), "384", "got 0"));
    CHECK(both_numbers(message_of([&] { index.search_batch(row(385, 1.0f), 1); }), "384", "got 385"));
    CHECK(both_numbers(message_of([&] { index.bounds(row(3, 1.0f)); }), "384", "got 3"));
    CHECK(both_numbers(message_of([&] { index.score(row(3, 1.0f), three); }), "384", "got 3"));
    row short_row(3);
    CHECK(both_numbers(message_of([&] { index.vector_of(unit_at(0), short_row); }), "384", "got 3"));
    CHECK(index.size() == 1);
    CHECK(units_of(index.search(row(384, 1.0f), 5)) == order{0});
}

TEST_CASE("a batch with one bad row adds nothing and names the row") {
    flat_index index(2);
    const std::vector<unit_id> units = {unit_at(0), unit_at(1), unit_at(2)};
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, infinite, -infinite}) {
        CHECK(code_of([&] { index.add(units, row{1, 0, 1, bad, 0, 1}); }) == "dense.not_finite");
        CHECK(message_of([&] { index.add(units, row{1, 0, 1, bad, 0, 1}); }).find("row 1 ") != std::string::npos);
        CHECK(code_of([&] { index.search(row{bad, 1}, 1); }) == "dense.not_finite");
    }
    CHECK(code_of([&] { index.add(units, row{1, 0, 0, 1, 0, -0.0f}); }) == "dense.zero_vector");
    CHECK(message_of([&] { index.add(units, row{1, 0, 0, 1, 0, -0.0f}); }).find("row 2 ") != std::string::npos);
    CHECK(index.size() == 0);
    CHECK(index.most_keys_of_a_unit() == 0);
    row out(2);
    CHECK_FALSE(index.vector_of(unit_at(0), out));
    CHECK(index.add(units, row{1, 0, 1, 1, 0, 1}) == key_id{0});
}

TEST_CASE("an add that runs out of memory has changed nothing") {
    std::mt19937 random(16);
    constexpr std::size_t d = 40;  // wide enough for a copy in bytes
    std::vector<unit_id> units;
    row fresh;
    for (std::size_t i = 0; i < 20; ++i) {
        units.push_back(unit_at(i % 6));  // some units are known already, some are not, all come repeatedly
        const row one = random_row(d, random);
        fresh.insert(fresh.end(), one.begin(), one.end());
    }
    flat_index index(d);
    for (std::size_t i = 0; i < 8; ++i) index.add(unit_at(i % 3), random_row(d, random));
    const row probe = random_row(d, random);
    const auto before = index.search(probe, 50);
    std::size_t failures = 0;
    flat_index copy = index;
    while (failing_new::fails_at(failures, [&] { copy.add(units, fresh); })) {
        ++failures;
        REQUIRE(copy.size() == 8);
        REQUIRE(copy.most_keys_of_a_unit() == 3);
        REQUIRE(copy.search(probe, 50) == before);
        REQUIRE(copy.remove(unit_at(5)) == 0);  // a unit of the call that failed
        copy.add(units, fresh);
        REQUIRE(copy.size() == 28);
        copy = flat_index(index);  // moved from a copy: without the room that was made
    }
    CHECK(copy.size() == 28);
    CHECK(copy.search(probe, 50).size() == 28);
    CHECK(failures > 5);  // otherwise the hook did not bite
}

// Here and not beside the others of hnsw_index: memory can be made to run out in one file of a program only.
TEST_CASE("a graph index that runs out of memory while rows are added or linked has changed nothing that can be asked") {
    std::mt19937 random(21);
    constexpr std::size_t d = 40, size = 220;
    const auto filled = [&] {
        std::mt19937 same(22);
        hnsw_index index(d, {.m = 4, .ef_construction = 10, .ef = 4, .scan_below = 0});
        std::vector<unit_id> units;
        row rows;
        for (std::size_t i = 0; i < size; ++i) {
            units.push_back(unit_at(i));
            const row one = random_row(d, same);
            rows.insert(rows.end(), one.begin(), one.end());
        }
        // In two parts, so that there is room for more: hnswlib's constructor leaks when memory runs out in it.
        index.add(std::span(units).first(150), std::span(rows).first(150 * d));
        index.add(std::span(units).subspan(150), std::span(rows).subspan(150 * d));
        return index;
    };
    const row fresh = random_row(3 * d, random), probe = random_row(d, random);
    const std::vector<unit_id> units = {unit_at(1000), unit_at(3), unit_at(1001)};
    flat_index exact(d);
    {
        std::mt19937 same(22);
        for (std::size_t i = 0; i < size; ++i) exact.add(unit_at(i), random_row(d, same));
    }
    std::size_t failures = 0;
    hnsw_index index = filled();
    for (; failing_new::fails_at(failures, [&] { index.add(units, fresh); }); failures += 1 + failures / 16) {
        REQUIRE(index.size() == size);
        row out(d);
        REQUIRE_FALSE(index.vector_of(unit_at(1000), out));
        REQUIRE(index.search(probe, SIZE_MAX) == exact.search(probe, SIZE_MAX));
        REQUIRE(index.search(probe, 4).size() == 4);
        if (failures % 8 != 0) {
            REQUIRE(index.add(units, fresh) == key_id{size});  // as if the call before had not been made
            REQUIRE(index.approximate());
            REQUIRE(index.search(std::span(fresh).first(d), 1).front().unit == unit_at(1000));
        }
        index = filled();
    }
    CHECK(index.size() == size + 3);
    CHECK(failures > 10);  // otherwise the hook did not bite
}

TEST_CASE("an inner product index takes zero rows and zero probes") {
    flat_product_index index(2);
    index.add(unit_at(0), row{0, 0});
    index.add(unit_at(1), row{1, 2});
    CHECK(units_of(index.search(row{0, 0}, 2)) == order{0, 1});
    CHECK(units_of(index.search(row{1, 1}, 2)) == order{1, 0});
    CHECK(index.search(row{1, 1}, 1)[0].score == 3.0f);
    CHECK(units_of(index.search(row{-1, -1}, 2)) == order{0, 1});
}

TEST_CASE("score gives the best key of each unit in the order asked, and no key for a stranger") {
    flat_index index(2);
    index.add(unit_at(4), row{0, 1});
    index.add(unit_at(4), row{1, 1});
    index.add(unit_at(2), row{-3, 0});
    const std::vector<unit_id> asked = {unit_at(2), unit_at(7), unit_at(4), unit_at(2)};
    const auto scores = index.score(row{2, 0}, asked);
    REQUIRE(scores.size() == 4);
    CHECK(scores[0] == scored_key{unit_at(2), key_id{2}, -1.0f});
    CHECK(scores[1] == scored_key{unit_at(7), no_key, 0.0f});
    CHECK(scores[2].key == key_id{1});
    CHECK(scores[2].score == Approx(0.70710678).epsilon(1e-6));
    CHECK(scores[3] == scores[0]);
    CHECK(index.score(row{2, 0}, {}).empty());
    CHECK(code_of([&] { index.score(row{0, 0}, asked); }) == "dense.zero_vector");
}

TEST_CASE("score agrees with search for every unit") {
    std::mt19937 random(17);
    flat_index index(5);
    const std::vector<row> rows = difficult_rows(5, 60, random);
    for (std::size_t i = 0; i < rows.size(); ++i) index.add(unit_at(i % 20), rows[i]);
    for (const row& probe : rows) {
        const auto all = index.search(probe, 60);
        for (std::size_t u = 0; u < 20; ++u) {
            const unit_id unit[] = {unit_at(u)};
            const auto best = std::ranges::find(all, unit_at(u), &scored_key::unit);
            REQUIRE(index.score(probe, unit)[0] == *best);
        }
    }
}

TEST_CASE("bounds reach from the probe's mean cosine to 1") {
    // Cosines of (1, 0) with the rows are 1, 0 and .6; with ten absent keys of 0 the mean is 1.6 / 13.
    flat_index index(2);
    index.add(unit_at(0), row{5, 0});
    index.add(unit_at(1), row{0, 2});
    index.add(unit_at(1), row{3, 4});
    CHECK(index.bounds(row{7, 0}).low == Approx(1.6 / 13).epsilon(1e-6));
    CHECK(index.bounds(row{7, 0}).high == 1.0f);
    CHECK(index.bounds(row{-1, 0}).low == 0.0f);  // -1.6 / 13, and below 0 there is nothing to say
    flat_index same(2);
    for (std::size_t i = 0; i < 3000; ++i) same.add(unit_at(i), row{1, 0});
    CHECK(same.bounds(row{1, 0}).low == 0.99f);  // 3000 / 3010 = .9967, but a range remains
}

TEST_CASE("vector_of copies the unit's first row, as it is stored") {
    flat_index index(2);
    index.add(unit_at(3), row{3, 4});
    index.add(unit_at(3), row{1, 0});
    row out{9, 9};
    CHECK(index.vector_of(unit_at(3), out));
    CHECK(out == row{0.6f, 0.8f});
    CHECK_FALSE(index.vector_of(unit_at(0), out));
    CHECK(out == row{0.6f, 0.8f});
    flat_product_index raw(2);
    raw.add(unit_at(3), row{3, 4});
    CHECK(raw.vector_of(unit_at(3), out));
    CHECK(out == row{3, 4});
}

TEST_CASE("a search by a row of the index may refer into a copy of it and finds that row first") {
    std::mt19937 random(18);
    flat_index index(12);
    for (std::size_t i = 0; i < 50; ++i) index.add(unit_at(i), random_row(12, random));
    row out(12);
    for (std::size_t i = 0; i < 50; ++i) {
        REQUIRE(index.vector_of(unit_at(i), out));
        const auto hits = index.search(out, 1);
        CHECK(hits[0].unit == unit_at(i));
        CHECK(hits[0].score >= 1.0f - 0x1p-22f);
        CHECK(hits[0].score <= 1.0f);
    }
}

TEST_CASE("rows kept as half floats are searched exactly as they are kept, with bytes and without, in batches and by filter") {
    std::mt19937 random(31);
    for (const std::size_t d : {3u, 40u, 100u})
        for (const bool bytes : {true, false}) {
            flat_index halves(d, {.bytes = bytes, .rows = row_format::halves});
            // The dull twin is given what half floats make of a row of length 1, and takes it as it is.
            slow_index<inner_product_scale> twin{d, {}, {}};
            std::vector<row> given = difficult_rows(d, 300, random);
            for (std::size_t i = 0; i < given.size(); ++i) {
                halves.add(unit_at(i % 250), given[i]);
                row kept = slow_index<cosine_scale>::taken(given[i]);
                for (float& x : kept) x = detail::widened_half(detail::narrowed_to_half(x));
                twin.units.push_back(unit_at(i % 250));
                twin.rows.push_back(kept);
            }
            std::vector<float> probes;
            unit_set some(250);
            for (std::size_t i = 0; i < 250; i += 3) some.insert(unit_at(i));
            for (int p = 0; p < 20; ++p) {
                const row probe = slow_index<cosine_scale>::taken(p % 2 == 0 ? random_row(d, random) : given[random() % 300]);
                probes.insert(probes.end(), probe.begin(), probe.end());
                for (const accept& allowed : {accept{}, accept{&some}}) {
                    found expected = twin.search(probe, 10, allowed);
                    for (scored_key& key : expected) key.score = std::clamp(key.score, -1.0f, 1.0f);
                    const found fast = halves.search(probe, 10, allowed);
                    REQUIRE(fast.size() == expected.size());
                    for (std::size_t i = 0; i < fast.size(); ++i)
                        REQUIRE(fast[i].score == Approx(expected[i].score).margin(1e-6));
                }
            }
            const auto batch = halves.search_batch(probes, 10);
            for (std::size_t p = 0; p < batch.size(); ++p)
                REQUIRE(batch[p] == halves.search(std::span(probes).subspan(p * d, d), 10));
            // A row comes back as it is kept, and finds itself to within the rounding.
            row out(d);
            REQUIRE(halves.vector_of(unit_at(299 % 250), out));
            CHECK(out == twin.rows[49]);
            const found itself = halves.search(given[260], 1);
            CHECK(itself.front().score >= 1.0f - 0x1p-10f);
        }
}

TEST_CASE("half floats take half the memory, follow removals, and refuse what they cannot hold") {
    std::mt19937 random(32);
    constexpr std::size_t d = 64, n = 3000;
    flat_index floats(d, {.bytes = false}), halves(d, {.bytes = false, .rows = row_format::halves}), fewer(halves);
    for (std::size_t i = 0; i < n; ++i) {
        const row one = random_row(d, random);
        for (flat_index* each : {&floats, &halves}) each->add(unit_at(i), one);
        if (i != 7) fewer.add(unit_at(i), one);
    }
    CHECK(halves.memory() < floats.memory() * 6 / 10);
    CHECK(halves.remove(unit_at(7)) == 1);
    const row probe = random_row(d, random);
    CHECK(units_of(halves.search(probe, 20)) == units_of(fewer.search(probe, 20)));
    CHECK(halves.bounds(probe).low == fewer.bounds(probe).low);

    flat_product_index products(2, {.rows = row_format::halves});
    products.add(unit_id{0}, row{65504.0f, 1.0f});
    CHECK(code_of([&] { products.add(unit_id{1}, row{1.0f, 65520.0f}); }) == "dense.half");
    CHECK(products.size() == 1);
}

TEST_CASE("an expression that nobody evaluated is refused") {
    flat_index index(1);
    index.add(unit_at(0), row{1});
    const filter f = eq("a", "b");
    CHECK(code_of([&] { index.search(row{1}, 1, {nullptr, &f}); }) == "filter.unevaluated");
}

TEST_CASE("a key takes the memory that is stated") {
    constexpr std::size_t n = 1600;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < n; ++i) units.push_back(unit_at(i));
    for (const std::size_t d : {64u, 70u, 24u}) {
        const std::size_t wide = d < 32 ? 0 : (d + 31) / 32 * 32, bytes = d < 32 ? 0 : wide + 12;
        const auto stated = [&](flat_options options) {
            std::size_t each = (options.rows == row_format::floats ? 4 * d : 2 * d) + 12;
            if (options.bytes) each += bytes;
            if (options.bytes && options.nibbles && d >= 32) each += wide / 2 + 12;
            return each + 14;  // and its unit
        };
        for (const flat_options options :
             {flat_options{}, flat_options{.nibbles = false}, flat_options{.bytes = false},
              flat_options{.rows = row_format::halves}}) {
            flat_index index(d, options);
            const std::size_t empty = index.memory();
            index.add(units, row(n * d, 1.0f));
            const std::size_t each = (index.memory() - empty) / n;
            CHECK(each <= stated(options));
            CHECK(each + 20 >= stated(options));  // less what is said of units and keys
        }
    }
}
