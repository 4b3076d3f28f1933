#include "quarry/index/flat_parts.hpp"

#include <memory>
#include <random>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("several flat indexes answer as the one that holds what is alive of them") {
    constexpr std::size_t d = 5, n = 60;
    std::mt19937 random(7);
    flat_index whole(d);
    std::vector<std::shared_ptr<const flat_index>> parts;
    auto alive = std::make_shared<unit_set>(unit_set::all(n));
    flat_parts::totals totals{0, std::vector<double>(d, 0.0)};
    for (std::size_t first = 0; first < n; first += 20) {
        auto part = std::make_shared<flat_index>(d);
        for (std::size_t i = first; i < first + 20; ++i) {
            std::vector<float> row;
            for (std::size_t j = 0; j < d; ++j) row.push_back(static_cast<float>(random() % 7) - 2.9f);
            part->add(unit_at(i / 2 * 2), row);  // two rows a unit
            if (i / 2 % 5 == 0) {
                alive->erase(unit_at(i / 2 * 2));
                continue;
            }
            whole.add(unit_at(i / 2 * 2), row);
            ++totals.keys;
            for (std::size_t j = 0; j < d; ++j) totals.sum[j] += static_cast<double>(whole.rows().floats(whole.size() - 1)[j]);
        }
        parts.push_back(std::move(part));
    }
    const flat_parts several(d, parts, alive, totals);
    CHECK(several.size() == whole.size());
    CHECK(several.most_keys_of_a_unit() == 2);
    unit_set some(n);
    for (std::size_t i = 0; i < n; i += 6)
        if (alive->contains(unit_at(i))) some.insert(unit_at(i));
    std::vector<unit_id> units{unit_id{2}, unit_id{0}, unit_id{58}};
    for (int question = 0; question < 20; ++question) {
        std::vector<float> probe;
        for (std::size_t j = 0; j < d; ++j) probe.push_back(static_cast<float>(random() % 9) - 3.7f);
        for (const accept& allowed : {accept{}, accept{&some, nullptr}})
            for (const std::size_t k : {0u, 1u, 7u, 1000u}) {
                const auto a = several.search(probe, k, allowed), b = whole.search(probe, k, allowed);
                REQUIRE(a.size() == b.size());
                for (std::size_t i = 0; i < a.size(); ++i) {
                    CHECK(a[i].unit == b[i].unit);
                    CHECK(a[i].score == b[i].score);
                }
            }
        CHECK(several.bounds(probe).low == Approx(whole.bounds(probe).low).margin(1e-6));
        const auto x = several.score(probe, units), y = whole.score(probe, units);
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i].score == y[i].score);
        CHECK(x[1].key == no_key);  // dead
    }
    std::vector<float> a(d), b(d);
    CHECK(several.vector_of(unit_id{2}, a));
    CHECK(whole.vector_of(unit_id{2}, b));
    CHECK(a == b);
    CHECK_FALSE(several.vector_of(unit_id{0}, a));
}

TEST_CASE("no parts find nothing, and a probe of another width is an error as ever") {
    const flat_parts none(3, {}, nullptr, {0, std::vector<double>(3, 0.0)});
    CHECK(none.search(std::vector<float>{1, 2, 3}, 10).empty());
    CHECK(none.bounds(std::vector<float>{1, 2, 3}).low == 0.0f);
    CHECK(code_of([&] { none.search(std::vector<float>{1, 2}, 10); }) == "dense.dimension");
    CHECK(code_of([&] { none.search(std::vector<float>{0, 0, 0}, 10); }) == "dense.zero_vector");
}
