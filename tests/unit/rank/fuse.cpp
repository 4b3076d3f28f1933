#include "quarry/rank/fuse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"
#include "support/words.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

const corpus& ten() {
    static const corpus c = toy::numbered(10);
    return c;
}

auto words(toy::scored_units hits) { return toy::listed<bm25_scale>(ten(), std::move(hits)); }
auto meaning(toy::scored_units hits) { return toy::listed<cosine_scale>(ten(), std::move(hits)); }

// Descending scores for units whose order alone matters.
toy::scored_units ranking(const ids& units) {
    toy::scored_units hits;
    for (const std::uint32_t unit : units) hits.emplace_back(unit, 100.0f - static_cast<float>(hits.size()));
    return hits;
}

template <class Found>
void check_scores(const Found& found, const std::map<std::uint32_t, double>& expected, double margin = 1e-6) {
    REQUIRE(found.size() == expected.size());
    for (const auto& hit : found) {
        CAPTURE(hit.unit);
        CHECK(hit.score == Approx(expected.at(static_cast<std::uint32_t>(hit.unit))).margin(margin));
    }
    CHECK(std::ranges::is_sorted(found.hits, [](const auto& a, const auto& b) { return better(a, b); }));
}

// Units are named as in the tables: d1 is unit 1.
const toy::scored_units lexical_scores{{1, 12.0f}, {2, 8.0f}, {3, 2.0f}};
const toy::scored_units semantic_scores{{3, .9f}, {1, .8f}, {4, .5f}};

}  // namespace

TEST_CASE("reciprocal ranks: ranks from 1, constant 60, absent is nothing, weights multiply") {
    // A = d1 d2 d3, B = d3 d1 d4. d1: 1/61 + 1/62 = .03252247, d3: 1/63 + 1/61, d2: 1/62, d4: 1/63.
    const auto a = words(ranking({1, 2, 3})), b = words(ranking({3, 1, 4}));
    const auto plain = fuse(rrf{}, a, b).retrieve("", 10);
    CHECK(toy::units(plain) == ids{1, 3, 2, 4});
    check_scores(plain, {{1, .03252247}, {3, .03226646}, {2, .01612903}, {4, .01587302}}, 1e-8);

    const auto weighted = fuse(rrf{.weights = {.8f, .2f}}, a, b).retrieve("", 10);
    check_scores(weighted, {{1, .01634056}, {3, .01597710}, {2, .01290323}, {4, .00317460}}, 1e-8);

    // k = 0 with .8 / .2: d1 .8 + .1, d3 .8/3 + .2, d2 .4, d4 .2/3.
    const auto zero = fuse(rrf{.k = 0.0f, .weights = {.8f, .2f}}, a, b).retrieve("", 10);
    check_scores(zero, {{1, .9}, {3, .466667}, {2, .4}, {4, .066667}});
}

TEST_CASE("reciprocal ranks: the constant decides between one first place and two middle ones") {
    // X = a b c, Y = z b y with a 0, b 1, c 2, y 8, z 9. k = 0: a, b, z all 1. k = 60: b 2/62 first.
    const auto x = words(ranking({0, 1, 2})), y = words(ranking({9, 1, 8}));
    const auto zero = fuse(rrf{.k = 0.0f}, x, y).retrieve("", 3);
    CHECK(toy::units(zero) == ids{0, 1, 9});
    check_scores(zero, {{0, 1.0}, {1, 1.0}, {9, 1.0}});
    CHECK(toy::units(fuse(rrf{}, x, y).retrieve("", 3)) == ids{1, 0, 9});
}

TEST_CASE("reciprocal ranks: last in both lists beats first in one") {
    // dense X a Y, sparse b c Y, with a 0, b 1, c 2, X 3, Y 4.
    const auto found = fuse(rrf{}, meaning(ranking({3, 0, 4})), words(ranking({1, 2, 4}))).retrieve("", 10);
    CHECK(toy::units(found) == ids{4, 1, 3, 0, 2});
    check_scores(found, {{4, .031746}, {3, .0163934}, {1, .0163934}, {0, .016129}, {2, .016129}});
}

TEST_CASE("reciprocal ranks: three lists") {
    // RAG-Fusion's [a,b,c], [b,d,a], [e,b] with a to e as 0 to 4.
    const auto found =
        fuse(rrf{}, words(ranking({0, 1, 2})), words(ranking({1, 3, 0})), meaning(ranking({4, 1}))).retrieve("", 10);
    CHECK(toy::units(found) == ids{1, 0, 4, 3, 2});
    check_scores(found, {{1, .04865151}, {0, .03226646}, {4, .01639344}, {3, .01612903}, {2, .01587302}}, 1e-8);
}

TEST_CASE("reciprocal ranks: first in one list ties with place 62 in both and beats place 63") {
    const corpus c = toy::numbered(200);
    for (const std::uint32_t place : {62u, 63u}) {
        // Unit 0 leads the first list alone; unit 1 stands at `place` in both; all others are distinct.
        ids first{0}, second;
        for (std::uint32_t i = 1; i + 1 < place; ++i) first.push_back(1 + i);
        for (std::uint32_t i = 1; i < place; ++i) second.push_back(100 + i);
        first.push_back(1), second.push_back(1);
        const auto found =
            fuse(rrf{}, toy::listed<bm25_scale>(c, ranking(first)), toy::listed<cosine_scale>(c, ranking(second)))
                .retrieve("", 200);
        const auto score = [&](std::uint32_t unit) {
            return std::ranges::find(found.hits, unit_id{unit}, &hit<rrf_scale>::unit)->score;
        };
        if (place == 62)
            CHECK(score(0) == score(1));  // 1/61 = 2/122
        else
            CHECK(score(0) > score(1));
    }
}

TEST_CASE("convex combination scales between the scale's lowest score and the list's best") {
    // Words 1, .666667, .166667; meaning (s + 1) / 1.9: d3 1, d1 .947368, d4 .789474.
    const auto found =
        fuse(convex{.weights = {.2f, .8f}}, words(lexical_scores), meaning(semantic_scores)).retrieve("", 9);
    CHECK(toy::units(found) == ids{1, 3, 4, 2});
    check_scores(found, {{1, .957895}, {3, .833333}, {4, .631579}, {2, .133333}});
}

TEST_CASE("relative scores scale between the list's worst and best") {
    // Words 1, .6, 0; meaning d3 1, d1 .75, d4 0.
    const auto half = fuse(relative_score{.weights = {.5f, .5f}}, words(lexical_scores), meaning(semantic_scores));
    check_scores(half.retrieve("", 9), {{1, .875}, {3, .5}, {2, .3}, {4, 0}});
    CHECK(toy::units(half.retrieve("", 9)) == ids{1, 3, 2, 4});
    const auto mostly = fuse(relative_score{.weights = {.2f, .8f}}, words(lexical_scores), meaning(semantic_scores));
    check_scores(mostly.retrieve("", 9), {{1, .8}, {3, .8}, {2, .12}, {4, 0}});
}

TEST_CASE("distribution-based scores place each score between three deviations on either side of the mean") {
    // Words .654529, .522076, .323396 and meaning d3 .633440, d1 .553376, d4 .313184, with the sample deviation.
    const auto sample = fuse(distribution_based{}, words(lexical_scores), meaning(semantic_scores)).retrieve("", 9);
    CHECK(toy::units(sample) == ids{1, 3, 2, 4});
    check_scores(sample, {{1, 1.207905}, {3, .956836}, {2, .522076}, {4, .313184}});
    const auto population =
        fuse(distribution_based{.population = true}, words(lexical_scores), meaning(semantic_scores)).retrieve("", 9);
    check_scores(population, {{1, 1.254630}, {3, .947135}, {2, .527037}, {4, .271198}});
}

TEST_CASE("a list of one score says what its fuser documents, and no NaN") {
    const auto one = words({{5, .95f}}), alike = words({{5, .5f}, {6, .5f}, {7, .5f}});
    check_scores(fuse(relative_score{}, one).retrieve("", 9), {{5, 1}});
    check_scores(fuse(relative_score{}, alike).retrieve("", 9), {{5, 1}, {6, 1}, {7, 1}});
    check_scores(fuse(distribution_based{}, one).retrieve("", 9), {{5, .5}});
    check_scores(fuse(distribution_based{}, alike).retrieve("", 9), {{5, .5}, {6, .5}, {7, .5}});
    check_scores(fuse(distribution_based{.population = true}, one).retrieve("", 9), {{5, .5}});
    check_scores(fuse(convex{}, alike).retrieve("", 9), {{5, 1}, {6, 1}, {7, 1}});
    check_scores(fuse(convex{}, meaning({{5, -1.0f}})).retrieve("", 9), {{5, 1}});
    // Zero is a score like any other: 0 and -1 below a best of .5 over a lowest of -1.
    check_scores(fuse(convex{}, meaning({{5, .5f}, {6, 0.0f}, {7, -1.0f}})).retrieve("", 9),
                 {{5, 1}, {6, 2.0 / 3}, {7, 0}});
}

TEST_CASE("equal scores in a leg share a rank, so that ids do not outvote another leg") {
    const auto tied = words({{1, 2.0f}, {2, 2.0f}, {3, 2.0f}, {4, 1.0f}});
    const auto found = fuse(rrf{}, tied).retrieve("", 9);
    check_scores(found, {{1, 1.0 / 61}, {2, 1.0 / 61}, {3, 1.0 / 61}, {4, 1.0 / 64}});
    CHECK(toy::units(fuse(rrf{}, tied, meaning(ranking({3, 2, 1}))).retrieve("", 9)) == ids{3, 2, 1, 4});
}

TEST_CASE("where the position is the truth, equal scores have different ranks") {
    const auto chosen = toy::listed<selection_scale>(ten(), {{7, .5f}, {2, .5f}, {9, .7f}});
    const auto found = fuse(rrf{}, chosen).retrieve("", 9);
    CHECK(toy::units(found) == ids{7, 2, 9});
    check_scores(found, {{7, 1.0 / 61}, {2, 1.0 / 62}, {9, 1.0 / 63}});
}

TEST_CASE("one empty leg gives the other's order, no hits give none") {
    const auto list = ranking({4, 2, 7});
    CHECK(toy::units(fuse(rrf{}, words(list), meaning({})).retrieve("", 9)) == ids{4, 2, 7});
    CHECK(toy::units(fuse(rrf{}, words({}), meaning(list)).retrieve("", 9)) == ids{4, 2, 7});
    CHECK(toy::units(fuse(convex{}, words(list), meaning({})).retrieve("", 9)) == ids{4, 2, 7});
    CHECK(toy::units(fuse(relative_score{}, words(list), meaning({})).retrieve("", 9)) == ids{4, 2, 7});
    CHECK(toy::units(fuse(distribution_based{}, words(list), meaning({})).retrieve("", 9)) == ids{4, 2, 7});
    CHECK(fuse(rrf{}, words({}), meaning({})).retrieve("", 9).empty());
    CHECK(fuse(rrf{}, words({})).retrieve("", 9).empty());
}

TEST_CASE("the order of the legs changes nothing, for any fuser") {
    std::mt19937 random(1);
    for (int round = 0; round < 30; ++round) {
        toy::scored_units lists[3];
        for (auto& list : lists) {
            for (std::uint32_t unit = 0; unit < 10; ++unit)
                if (random() % 3 != 0) list.emplace_back(unit, static_cast<float>(random() % 7) / 7);
            list = toy::in_order(list);
        }
        const auto same = [&](auto fuser) {
            fuser.weights = {.3f, .9f, .5f};
            auto turned = fuser;
            turned.weights = {.5f, .3f, .9f};
            const auto a = fuse(fuser, words(lists[0]), words(lists[1]), words(lists[2])).retrieve("", 10);
            const auto b = fuse(turned, words(lists[2]), words(lists[0]), words(lists[1])).retrieve("", 10);
            REQUIRE(a.size() == b.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                CHECK(a[i].unit == b[i].unit);
                CHECK(a[i].score == b[i].score);
            }
        };
        same(rrf{}), same(convex{}), same(relative_score{}), same(distribution_based{});
    }
}

TEST_CASE("a leg of weight 0 is not asked") {
    const auto a = words(ranking({0, 1})), b = words(ranking({2, 3}));
    const auto found = fuse(rrf{.weights = {1.0f, 0.0f}}, a, b).retrieve("", 9);
    CHECK(toy::units(found) == ids{0, 1});
    CHECK(b.asked->empty());
    CHECK(fuse(rrf{.weights = {0.0f, 0.0f}}, a, b).retrieve("", 9).empty());

    // Nor is its embedder, alone or in a batch.
    flat_index index(26);
    toy::letter_embedder embedder;
    index.add(unit_id{0}, std::vector<float>(26, 1.0f));
    const auto silent = fuse(rrf{.weights = {1.0f, 0.0f}}, a, dense(index, source_ref(ten()), embedder));
    silent.retrieve("abc", 3);
    silent.retrieve(std::vector<query>{"abc", "def"}, 3);
    CHECK(embedder.counted->calls == 0);
}

TEST_CASE("weights are one for each leg, finite and not negative") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const auto made = [&](auto fuser) { return code_of([&] { fuse(fuser, words({}), meaning({})); }); };
    CHECK(made(rrf{.weights = {2.0f, 0.5f}}) == "(no exception)");
    CHECK(made(rrf{.weights = {1.0f, 1.0f, 1.0f}}) == "fuse.weights");
    CHECK(made(rrf{.weights = {1.0f}}) == "fuse.weights");
    for (const float bad : {-1.0f, nan, inf}) {
        CHECK(made(rrf{.weights = {1.0f, bad}}) == "fuse.weights");
        CHECK(made(convex{.weights = {1.0f, bad}}) == "fuse.weights");
        CHECK(made(relative_score{.weights = {1.0f, bad}}) == "fuse.weights");
        CHECK(made(distribution_based{.weights = {1.0f, bad}}) == "fuse.weights");
    }
    CHECK(message_of([&] { fuse(rrf{.weights = {1.0f}}, words({}), meaning({})); }).find("2 legs, but 1 weights") !=
          std::string::npos);
}

TEST_CASE("the constant of reciprocal ranks lies above -1") {
    const auto made = [](float k) { return code_of([&] { fuse(rrf{.k = k}, words({})); }); };
    CHECK(made(0.0f) == "(no exception)");
    CHECK(made(-0.5f) == "(no exception)");
    for (const float bad :
         {-1.0f, -2.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
        CHECK(made(bad) == "fuse.constant");
    CHECK(message_of([] { fuse(rrf{.k = -1.0f}, words({})); }).find("it is -1") != std::string::npos);
}

TEST_CASE("legs over two sources cannot be fused") {
    const corpus other = toy::numbered(10);
    CHECK(code_of([&] { fuse(rrf{}, words({}), toy::listed<cosine_scale>(other, {})); }) == "fuse.source");
}

TEST_CASE("a leg whose score is not a number is refused, whichever fuser reads it") {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
        const auto broken = words({{3, 2.0f}, {4, bad}, {5, 1.0f}});
        CHECK(code_of([&] { fuse(rrf{}, meaning({{1, .5f}}), broken).retrieve("", 9); }) == "fuse.not_finite");
        CHECK(code_of([&] { fuse(relative_score{}, broken).retrieve("", 9); }) == "fuse.not_finite");
    }
}

TEST_CASE("a leg that names a unit twice counts it once, at its best rank") {
    const auto twice = words({{3, 9.0f}, {4, 8.0f}, {3, 7.0f}});
    check_scores(fuse(rrf{}, twice).retrieve("", 9), {{3, 1.0 / 61}, {4, 1.0 / 62}});
}

TEST_CASE("legs are asked for as many as the fuser says, and never for fewer than k") {
    const auto a = words(ranking({0, 1, 2, 3, 4}));
    fuse(rrf{.fetch = 3}, a).retrieve("", 2);
    fuse(rrf{.fetch = 3}, a).retrieve("", 4);
    fuse(rrf{.fetch = 3}, a).retrieve("", SIZE_MAX);
    CHECK(*a.asked == std::vector<std::size_t>{3, 4, SIZE_MAX});
    CHECK(fuse(rrf{.fetch = 3}, a).retrieve("", SIZE_MAX).size() == 5);
}

TEST_CASE("asking for nothing asks nobody, wherever the fusion stands") {
    const auto a = toy::scoring_list<bm25_scale>(ten(), {{1, 1.0f}}, {0.0f, 1.0f});
    const query q("");
    request r(q, ten());
    CHECK(fuse(bounded{.fetch = 0}, a, a).run(r, 0).empty());
    CHECK(fuse(rrf{}, a, a).run(r, 0).empty());
    CHECK(a.asked().empty());
}

TEST_CASE("a fused hit shows the key of the leg that gave it most, and that leg's words for the key") {
    // Both legs number their keys from 0, each in a table of its own.
    corpus c;
    c.add({.id = "a", .title = "title of a", .text = "body of a"});
    c.add({.id = "b", .title = "title of b", .text = "body of b"});
    const auto table = [](key_kind kind, const char* prefix) {
        auto t = std::make_shared<key_table>(kind);
        t->add({unit_id{0}, key_part::phrase, std::string(prefix) + " of a"});
        t->add({unit_id{1}, key_part::phrase, std::string(prefix) + " of b"});
        return t;
    };
    const auto index = [](const std::string& a, const std::string& b) {
        bm25_index words(toy::whitespace());
        words.add(unit_id{0}, a);
        words.add(unit_id{1}, b);
        return words;
    };
    const indexed<bm25_index> titles{index("reset reset reset", "reset password"), c,
                                     table(key_kind::metadata, "title")};
    const indexed<bm25_index> bodies{index("reset a", "reset reset reset"), c, table(key_kind::body, "body")};
    const auto found = fuse(rrf{}, lexical(titles), lexical(bodies)).retrieve("reset", 2);
    REQUIRE(found.size() == 2);
    // a is first in titles and second in bodies, b the other way round: keys 0 and 1 exist in both tables.
    for (const auto& hit : found) {
        const auto key = found.matched(hit);
        REQUIRE(key);
        CHECK(key->kind == (hit.unit == unit_id{0} ? key_kind::metadata : key_kind::body));
        CHECK(key->text == (hit.unit == unit_id{0} ? "title of a" : "body of b"));
    }
}

TEST_CASE("the ledger explains a fused score: each leg's rank, score, weight and share") {
    const auto found = fuse(rrf{.weights = {1.0f, 2.0f}}, words(ranking({1, 2})), meaning({{2, .25f}})).retrieve("", 9);
    REQUIRE(found.size() == 2);
    const ledger_entry& sum = found.notes()[found[0].trail];
    CHECK(sum.stage == "rrf");
    CHECK(sum.score == found[0].score);
    const ledger_entry& first = found.notes()[sum.from];
    CHECK(first.stage == "bm25");
    CHECK(first.rank == 2);
    CHECK(first.raw == 99.0f);
    CHECK(first.score == Approx(1.0 / 62));
    CHECK(found.notes()[first.from].stage == "listed");
    const ledger_entry& second = found.notes()[first.beside];
    CHECK(second.stage == "cosine");
    CHECK(second.rank == 1);
    CHECK(second.raw == .25f);
    CHECK(second.weight == 2.0f);
    CHECK(second.score == Approx(2.0 / 61));
    CHECK(second.beside == no_entry);
    CHECK(first.score + second.score == Approx(sum.score));
    // Unit 1 is in the first leg alone.
    CHECK(found.notes()[found.notes()[found[1].trail].from].beside == no_entry);
}

TEST_CASE("a fusion is as approximate as its worst leg") {
    struct rough : toy::listed<cosine_scale> {
        using listed::listed;
        results<cosine_scale> run(request& q, std::size_t k) const {
            auto found = listed::run(q, k);
            found.state = result_state::approximate;
            return found;
        }
    };
    CHECK(fuse(rrf{}, words({{1, 1.0f}})).retrieve("", 1).state == result_state::complete);
    CHECK(fuse(rrf{}, words({{1, 1.0f}}), rough(ten(), {{1, 1.0f}})).retrieve("", 1).state ==
          result_state::approximate);
}

// ------------------------------------------------------------------------------------------------------ bounded fusion

namespace {

// Bounded fusion by its formula, for every unit, from the indexes' own definitions: S = b + c - .75 b c.
struct bounded_by_the_formula {
    toy::naive_bm25 words{};
    std::map<std::uint32_t, std::vector<double>> vectors{};

    static double product(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0.0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    }
    static std::vector<double> unit_length(const std::vector<float>& row) {
        std::vector<double> out(row.begin(), row.end());
        const double length = std::sqrt(product(out, out));
        for (double& x : out) x /= length;
        return out;
    }

    toy::scored_units operator()(const std::vector<std::string>& question, const std::vector<float>& row,
                                 std::size_t n) const {
        double ub = 0.0, mean = 0.0;
        for (const std::string& word : question) {
            double most = 0.0;
            for (const auto& [number, key] : words.keys) most = std::max(most, words.score(number, {word}));
            ub += most;
        }
        const auto probe = unit_length(row);
        for (const auto& [unit, v] : vectors) mean += product(probe, v);
        const double mu = std::clamp(mean / (static_cast<double>(vectors.size()) + 10), 0.0, .99);
        toy::scored_units all;
        for (std::uint32_t unit = 0; unit < n; ++unit) {
            const double bm25 = words.keys.contains(unit) ? words.score(unit, question) : 0.0;
            const auto v = vectors.find(unit);
            if (bm25 == 0.0 && v == vectors.end()) continue;  // nobody can find it
            const double b = ub > 0 ? std::clamp(bm25 / ub, 0.0, 1.0) : 0.0;
            const double c =
                v == vectors.end() ? 0.0 : std::clamp((product(probe, v->second) - mu) / (1 - mu), 0.0, 1.0);
            all.emplace_back(unit, static_cast<float>(b + c - .75 * b * c));
        }
        return toy::in_order(all);
    }
};

// Rows as they stand: the question's row is handed over by its text.
struct row_embedder {
    std::map<std::string, std::vector<float>, std::less<>> rows{};
    std::size_t dimension() const { return 8; }
    void embed(role, std::span<const std::string_view> texts, std::span<float> out) const {
        for (std::size_t i = 0; i < texts.size(); ++i)
            std::ranges::copy(rows.find(texts[i])->second, out.begin() + static_cast<std::ptrdiff_t>(8 * i));
    }
};

}  // namespace

TEST_CASE("bounded fusion is the formula over all units, whatever is fetched first") {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    constexpr std::size_t n = 300;
    const corpus c = toy::numbered(n);
    bm25_index words(toy::whitespace());
    flat_index vectors(8);
    bounded_by_the_formula reference;
    for (std::uint32_t unit = 0; unit < n; ++unit) {
        if (random() % 8 != 0) {  // some units have no words, some no vector
            std::vector<std::string> text;
            for (std::uint32_t i = 0; i < 1 + random() % 9; ++i) text.push_back("w" + std::to_string(random() % 40));
            std::string joined;
            for (const auto& w : text) joined += w + " ";
            words.add(unit_id{unit}, joined);
            reference.words.add(words.size() - 1, unit_id{unit}, text);
        }
        if (random() % 8 != 0) {
            std::vector<float> row(8);
            for (float& x : row) x = normal(random) + .3f;
            vectors.add(unit_id{unit}, row);
            reference.vectors[unit] = bounded_by_the_formula::unit_length(row);
        }
    }
    // The twin numbers its keys by unit.
    toy::naive_bm25 by_unit{};
    for (const auto& [number, key] : reference.words.keys) by_unit.keys[index_of(key.unit)] = key;
    reference.words = by_unit;

    for (int round = 0; round < 12; ++round) {
        row_embedder embedder;
        std::vector<std::string> question;
        for (std::uint32_t i = 0; i < 1 + random() % 4; ++i) question.push_back("w" + std::to_string(random() % 45));
        std::string text;
        for (const auto& w : question) text += w + " ";
        std::vector<float> row(8);
        for (float& x : row) x = normal(random);
        embedder.rows[text] = row;
        const auto all = reference(question, row, n);
        const auto lex = lexical(words, source_ref(c));
        const auto den = dense(vectors, source_ref(c), embedder);
        for (const std::size_t fetch : {1u, 7u, 100u, 5000u})
            for (const std::size_t k : {1u, 10u, 150u, 300u, 1000u}) {
                const auto found = fuse(bounded{.fetch = fetch}, lex, den).retrieve(text, k);
                REQUIRE(found.size() == std::min(k, all.size()));
                for (std::size_t i = 0; i < found.size(); ++i) {
                    CHECK(found[i].score == Approx(all[i].second).margin(2e-6));
                    // Order is exact where the formula is not about to round.
                    const bool alone = (i == 0 || all[i - 1].second - all[i].second > 1e-5f) &&
                                       (i + 1 == all.size() || all[i].second - all[i + 1].second > 1e-5f);
                    if (alone) CHECK(found[i].unit == unit_id{all[i].first});
                }
                const auto turned = fuse(bounded{.fetch = fetch}, den, lex).retrieve(text, k);
                CHECK(toy::units(turned) == toy::units(found));
            }
        // Given units have the same scores, found or not, and none where nobody can find them. So a fusion is a leg: one
        // that reaches 1.25 at most.
        const auto both = fuse(bounded{}, lex, den);
        std::vector<unit_id> every;
        for (std::uint32_t unit = 0; unit < n; ++unit) every.push_back(unit_id{unit});
        const query asked(text);
        request r(asked, both.source());
        CHECK(both.bounds(r).high == 1.25f);
        std::size_t scored = 0;
        std::map<std::uint32_t, float> by_formula(all.begin(), all.end());
        for (const scored_key& s : both.score(r, every)) {
            scored += s.key != no_key;
            CHECK((s.key != no_key) == by_formula.contains(static_cast<std::uint32_t>(s.unit)));
            CHECK(s.score == Approx(by_formula[static_cast<std::uint32_t>(s.unit)]).margin(2e-6));
        }
        CHECK(scored == all.size());
        const auto nested = fuse(bounded{}, both).retrieve(text, 20), plain = both.retrieve(text, 20);
        CHECK(toy::units(nested) == toy::units(plain));
        for (std::size_t i = 0; i < nested.size(); ++i) CHECK(nested[i].score == Approx(plain[i].score / 1.25f));
        // A filter does not change a score: the bounds are the whole index's.
        const auto odd = fuse(bounded{}, lex, den).retrieve(query(text).where(eq("part", 1)), n);
        std::map<std::uint32_t, float> score;
        for (const auto& [unit, s] : all) score[unit] = s;
        for (const auto& hit : odd)
            CHECK(hit.score == Approx(score[static_cast<std::uint32_t>(hit.unit)]).margin(2e-6));
    }
}

TEST_CASE("bounded fusion: sure, unsure and silent legs") {
    // b = 3/4 and 1/4 of a bound of 4; c = (.7 - .2) / .8 = .625 and (.1 - .2) clamped to 0.
    const auto b = toy::scoring_list<bm25_scale>(ten(), {{1, 3.0f}, {2, 1.0f}}, {0.0f, 4.0f});
    const auto c = toy::scoring_list<cosine_scale>(ten(), {{1, .7f}, {3, .4f}, {2, .1f}}, {.2f, 1.0f});
    check_scores(fuse(bounded{}, b, c).retrieve("", 9), {{1, .75 + .625 - .75 * .75 * .625}, {2, .25}, {3, .25}});
    // Half the weight on meaning: c / 2.
    check_scores(fuse(bounded{.weights = {1.0f, .5f}}, b, c).retrieve("", 9),
                 {{1, .75 + .3125 - .75 * .75 * .3125}, {2, .25}, {3, .125}});
    check_scores(fuse(bounded{.overlap = 0.0f}, b, c).retrieve("", 9), {{1, 1.375}, {2, .25}, {3, .25}});
    check_scores(fuse(bounded{.overlap = 1.0f}, b, c).retrieve("", 9), {{1, 1 - .25 * .375}, {2, .25}, {3, .25}});
    // No word of the question is known: a bound of 0 gives 0, and meaning decides.
    const auto unknown = toy::scoring_list<bm25_scale>(ten(), {}, {0.0f, 0.0f});
    CHECK(toy::units(fuse(bounded{}, unknown, c).retrieve("", 9)) == ids{1, 3, 2});
    CHECK(toy::units(fuse(bounded{}, b, unknown).retrieve("", 9)) == ids{1, 2});
    CHECK(fuse(bounded{}, unknown, unknown).retrieve("", 9).empty());
}

TEST_CASE("bounded fusion of two legs that are both sure is 1.25, of three 1.3125") {
    const auto sure = toy::scoring_list<bm25_scale>(ten(), {{1, 4.0f}}, {0.0f, 4.0f});
    CHECK(fuse(bounded{}, sure, sure).retrieve("", 1)[0].score == 1.25f);
    CHECK(fuse(bounded{}, sure, sure, sure).retrieve("", 1)[0].score == 1.3125f);
    CHECK(fuse(bounded{}, sure).retrieve("", 1)[0].score == 1.0f);
}

TEST_CASE("bounded fusion refuses an overlap or weight outside 0 to 1") {
    const auto leg = toy::scoring_list<bm25_scale>(ten(), {}, {});
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float bad : {-.1f, 1.1f, nan}) {
        CHECK(code_of([&] { fuse(bounded{.overlap = bad}, leg, leg); }) == "fuse.constant");
        CHECK(code_of([&] { fuse(bounded{.weights = {bad, 1.0f}}, leg, leg); }) == "fuse.weights");
    }
    CHECK(code_of([&] { fuse(bounded{.weights = {0.0f, 1.0f}, .overlap = 1.0f}, leg, leg); }) == "(no exception)");
}

TEST_CASE("bounded fusion widens until no unit outside could be better, and no further") {
    // Both legs hold 1,000 units. Units 0 to 9 are far ahead in both: the first round settles a question for ten.
    const corpus c = toy::numbered(1000);
    toy::scored_units clear, flat;
    for (std::uint32_t unit = 0; unit < 1000; ++unit) {
        clear.emplace_back(unit, unit < 10 ? .9f - .01f * static_cast<float>(unit) : .1f);
        flat.emplace_back(unit, .5f);
    }
    const auto a = toy::scoring_list<bm25_scale>(c, toy::in_order(clear), {0.0f, 1.0f});
    const auto b = toy::scoring_list<cosine_scale>(c, toy::in_order(clear), {0.0f, 1.0f});
    CHECK(toy::units(fuse(bounded{}, a, b).retrieve("", 10)) == ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(a.asked() == std::vector<std::size_t>{100});
    CHECK(b.asked() == std::vector<std::size_t>{100});
    // All alike: every unit could be next, and the lowest ids are right only if all were looked at.
    const auto d = toy::scoring_list<cosine_scale>(c, flat, {0.0f, 1.0f});
    CHECK(toy::units(fuse(bounded{}, d, d).retrieve("", 3)) == ids{0, 1, 2});
    CHECK(d.asked().back() > 1000);
    // k beyond a fifth of what a number can hold does not wrap.
    CHECK(fuse(bounded{}, a, b).retrieve("", SIZE_MAX / 2).size() == 1000);
}

TEST_CASE("a unit that one leg found late and the other early is in its place") {
    // Unit 500 stands at place 501 of the words and first in meaning, so only its exact score shows how good it is.
    const corpus c = toy::numbered(1000);
    toy::scored_units by_words, by_meaning{{500, .95f}};
    for (std::uint32_t unit = 0; unit < 1000; ++unit) {
        by_words.emplace_back(unit, 1.0f - .001f * static_cast<float>(unit));
        if (unit != 500) by_meaning.emplace_back(unit, .1f);
    }
    const auto a = toy::scoring_list<bm25_scale>(c, by_words, {0.0f, 1.0f});
    const auto b = toy::scoring_list<cosine_scale>(c, by_meaning, {0.0f, 1.0f});
    const auto found = fuse(bounded{}, a, b).retrieve("", 1);
    CHECK(toy::units(found) == ids{500});
    CHECK(found[0].score == Approx(.5 + .95 - .75 * .5 * .95));  // and 1 + .1 - .075 = 1.025 for unit 0
}

TEST_CASE("a leg that scores another number of units than it was given is refused") {
    struct miscounting : toy::scoring_list<bm25_scale> {
        using scoring_list::scoring_list;
        std::vector<scored_key> score(request&, std::span<const unit_id>) const { return {}; }
    };
    const miscounting broken(ten(), {{1, 1.0f}}, {0.0f, 1.0f});
    const auto leg = toy::scoring_list<cosine_scale>(ten(), {{2, 1.0f}}, {0.0f, 1.0f});
    CHECK(code_of([&] { fuse(bounded{}, broken, leg).retrieve("", 9); }) == "fuse.score_count");
}

TEST_CASE("pages of a bounded fusion joined equal one longer answer") {
    const auto b = toy::scoring_list<bm25_scale>(ten(), {{1, 3.0f}, {2, 1.0f}, {7, .5f}}, {0.0f, 4.0f});
    const auto c = toy::scoring_list<cosine_scale>(ten(), {{1, .7f}, {3, .4f}, {5, .3f}, {2, .1f}}, {.2f, 1.0f});
    const auto all = toy::units(fuse(bounded{}, b, c).retrieve("", 10));
    for (std::size_t size = 1; size <= 4; ++size) {
        ids joined;
        for (std::size_t skip = 0; skip < 10; skip += size)
            for (const auto unit : toy::units(fuse(bounded{}, b, c).retrieve(query("").skip(skip), size)))
                joined.push_back(unit);
        CHECK(joined == all);
    }
}
