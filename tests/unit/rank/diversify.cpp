#include "quarry/rank/diversify.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/probed.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;
using rows = std::vector<std::vector<float>>;

namespace {

// Picks among `candidates` for the question `q`, by position.
std::vector<mmr_pick> pick(const std::vector<float>& q, const rows& candidates, std::size_t k, float lambda) {
    std::vector<float> relevance, flat;
    for (const auto& row : candidates) {
        relevance.push_back(cosine(row, q));
        flat.insert(flat.end(), row.begin(), row.end());
    }
    return pick_by_mmr(relevance, flat, k, lambda);
}

ids positions(const std::vector<mmr_pick>& picks) {
    ids out;
    for (const mmr_pick& p : picks) out.push_back(static_cast<std::uint32_t>(p.candidate));
    return out;
}

// The textbook loop: every similarity computed anew in every round, in double.
std::vector<std::pair<std::size_t, double>> textbook(const std::vector<float>& q, const rows& candidates, std::size_t k,
                                                     double lambda) {
    const auto cos = [](const std::vector<float>& a, const std::vector<float>& b) {
        double ab = 0, aa = 0, bb = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
            ab += x * y, aa += x * x, bb += y * y;
        }
        return aa == 0 || bb == 0 ? 0.0 : ab / std::sqrt(aa * bb);
    };
    std::vector<std::pair<std::size_t, double>> picks;
    std::vector<bool> taken(candidates.size());
    while (picks.size() < std::min(k, candidates.size())) {
        std::size_t best = candidates.size();
        double best_score = 0;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (taken[i]) continue;
            double near = -2;
            for (const auto& [j, score] : picks) near = std::max(near, cos(candidates[i], candidates[j]));
            const double score =
                picks.empty() ? cos(candidates[i], q) : lambda * cos(candidates[i], q) - (1 - lambda) * near;
            if (best == candidates.size() || score > best_score) best = i, best_score = score;
        }
        taken[best] = true;
        picks.emplace_back(best, best_score);
    }
    return picks;
}

// An embedder for one question: its row.
struct fixed_embedder {
    std::vector<float> row;
    std::size_t dimension() const { return row.size(); }
    void embed(role, std::span<const std::string_view> texts, std::span<float> out) const {
        for (std::size_t i = 0; i < texts.size(); ++i)
            std::ranges::copy(row, out.begin() + static_cast<std::ptrdiff_t>(i * row.size()));
    }
};

// Articles with these rows, one key each, and a leaf that is asked with `q`.
struct base {
    corpus articles;
    indexed<flat_index> vectors;
    std::vector<float> q;

    base(std::vector<float> question, const rows& all)
        : articles(toy::numbered(all.size())), vectors{flat_index(question.size()), articles}, q(std::move(question)) {
        for (std::size_t i = 0; i < all.size(); ++i) vectors.index.add(unit_at(i), all[i]);
    }
    auto leaf() const { return dense(vectors, fixed_embedder{q}); }
};

const std::vector<float> east{1, 0};
const rows five{{1, .1f}, {1, .12f}, {.6f, .8f}, {0, 1}, {-1, 0}};

}  // namespace

TEST_CASE("marginal relevance: the five vectors at five lambdas") {
    // By a script in double precision; the first pick's score is its cosine, .995037.
    struct expected {
        float lambda;
        ids order;
        std::vector<double> scores;
    };
    const expected table[] = {{1.0f, {0, 1, 2, 3, 4}, {.992877, .6, 0, -1}},
                              {.7f, {0, 1, 2, 3, 4}, {.395072, .212687, -.24, -.7}},
                              {.5f, {0, 4, 1, 2, 3}, {-.002481, -.003464, -.045521, -.4}},
                              {.3f, {0, 4, 3, 2, 1}, {.396526, -.069653, -.38, -.402}},
                              {0.0f, {0, 4, 3, 2, 1}, {.995037, -.099504, -.8, -.999805}}};
    for (const auto& [lambda, order, scores] : table) {
        CAPTURE(lambda);
        const auto picks = pick(east, five, 5, lambda);
        CHECK(positions(picks) == order);
        CHECK(picks[0].score == Approx(.995037).margin(1e-5));
        for (std::size_t i = 0; i < scores.size(); ++i) CHECK(picks[i + 1].score == Approx(scores[i]).margin(1e-5));
    }
}

TEST_CASE("marginal relevance: duplicates, zero rows, order of selection") {
    const auto same = pick(east, {{1, 0}, {1, 0}, {1, 0}, {0, 1}}, 4, .5f);
    CHECK(positions(same) == ids{0, 1, 2, 3});
    for (std::size_t i = 1; i < 4; ++i) CHECK(same[i].score == Approx(0).margin(1e-6));
    CHECK(positions(pick(east, {{0, 0}, {1, 0}, {1, 0}}, 3, .5f)) == ids{1, 0, 2});
    CHECK(positions(pick(east, {{.9f, .1f}, {0, 1}, {1, 0}}, 2, .5f)) == ids{2, 0});
    CHECK(pick(east, five, 0, .5f).empty());
    CHECK(pick(east, {}, 3, .5f).empty());
    CHECK(pick(east, five, 100, .5f).size() == 5);
}

TEST_CASE("the picks and their scores are those of the loop that compares all candidates with every pick, to the bit") {
    std::mt19937 random(6);
    constexpr std::size_t d = 7;
    const auto by_loop = [](std::span<const float> relevance, std::span<const float> flat, std::size_t k, float lambda,
                            bool clamp) {
        std::vector<float> nearest(relevance.size(), clamp ? 0.0f : -1.0f);
        std::vector<bool> taken(relevance.size());
        std::vector<mmr_pick> picks;
        while (picks.size() < std::min(k, relevance.size())) {
            std::size_t best = relevance.size();
            float best_score = 0.0f;
            for (std::size_t i = 0; i < relevance.size(); ++i) {
                const float score = picks.empty() ? relevance[i] : lambda * relevance[i] - (1.0f - lambda) * nearest[i];
                if (!taken[i] && (best == relevance.size() || score > best_score)) best = i, best_score = score;
            }
            taken[best] = true;
            picks.push_back({best, best_score});
            for (std::size_t i = 0; i < relevance.size(); ++i)
                nearest[i] = std::max(nearest[i], cosine(flat.subspan(i * d, d), flat.subspan(best * d, d)));
        }
        return picks;
    };
    for (int round = 0; round < 20; ++round) {
        const std::size_t n = 1 + random() % 200;
        std::vector<float> flat(n * d), relevance(n);
        for (float& x : flat) x = static_cast<float>(static_cast<int>(random() % 5) - 2);  // many equal rows, some zero
        for (float& x : relevance) x = static_cast<float>(random() % 9) * 0.1f;
        for (const float lambda : {0.0f, .3f, .9f, 1.0f})
            for (const bool clamp : {false, true}) {
                const auto picks = pick_by_mmr(relevance, flat, 40, lambda, clamp);
                const auto expected = by_loop(relevance, flat, 40, lambda, clamp);
                REQUIRE(picks.size() == expected.size());
                for (std::size_t i = 0; i < picks.size(); ++i) {
                    CAPTURE(n, lambda, clamp, i);
                    REQUIRE(picks[i].candidate == expected[i].candidate);
                    REQUIRE(picks[i].score == expected[i].score);
                }
            }
    }
}

TEST_CASE("the picks are those of the textbook loop") {
    std::mt19937 random(5);
    for (int round = 0; round < 60; ++round) {
        rows candidates(1 + random() % 30, std::vector<float>(4));
        std::vector<float> q(4);
        for (float& x : q) x = static_cast<float>(random() % 1000) - 500;
        for (auto& row : candidates)
            for (float& x : row) x = static_cast<float>(random() % 1000) - 500;
        for (std::size_t i = 2; i < candidates.size(); i += 5) candidates[i] = candidates[i - 1];
        for (const float lambda : {0.0f, .25f, .5f, 1.0f}) {
            const auto picks = pick(q, candidates, 12, lambda);
            const auto expected = textbook(q, candidates, 12, static_cast<double>(lambda));
            REQUIRE(picks.size() == expected.size());
            bool close = false;  // after a choice between near equals the rest may differ
            for (std::size_t i = 0; i < picks.size() && !close; ++i) {
                CHECK(picks[i].score == Approx(expected[i].second).margin(1e-5));
                close = picks[i].candidate != expected[i].first;
                if (close) CHECK(candidates[picks[i].candidate] == candidates[expected[i].first]);
            }
        }
    }
}

TEST_CASE("lambda 0 is maximum difference, not the default, and starts with the most relevant") {
    const base b({1, 0}, {{.99f, .14f}, {.985f, .17f}, {0, 1}});
    CHECK(toy::units((b.leaf() | diversify(b.vectors, mmr{.lambda = 0.0f})).retrieve("q", 2)) == ids{0, 2});
    CHECK(toy::units((b.leaf() | diversify(b.vectors, mmr{.lambda = 1.0f})).retrieve("q", 2)) == ids{0, 1});
}

TEST_CASE("lambda lies in 0 to 1, and it matters") {
    std::mt19937 random(6);
    std::normal_distribution<float> normal;
    rows all(20, std::vector<float>(3));
    for (auto& row : all)
        for (float& x : row) x = normal(random) + .5f;
    for (std::size_t i = 10; i < 20; ++i) all[i] = all[i - 10];
    const base b({1, .2f, .1f}, all);
    const auto at = [&](float lambda) {
        return toy::units((b.leaf() | diversify(b.vectors, mmr{.lambda = lambda})).retrieve("q", 5));
    };
    CHECK(at(1.0f) == toy::units(b.leaf().retrieve("q", 5)));
    CHECK(at(.1f) != at(.9f));
    for (const float bad : {-.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()})
        CHECK(code_of([&] { b.leaf() | diversify(b.vectors, mmr{.lambda = bad}); }) == "diversify.lambda");
}

TEST_CASE("more than there is gives all there is, and fetch is at least k") {
    const base b({1, 0}, {{1, 0}, {.5f, .5f}, {0, 1}});
    CHECK((b.leaf() | diversify(b.vectors)).retrieve("q", 5).size() == 3);
    CHECK((b.leaf() | diversify(b.vectors, mmr{.fetch = 2})).retrieve("q", 3).size() == 3);
    CHECK((b.leaf() | diversify(b.vectors, mmr{.fetch = 0})).retrieve("q", 2).size() == 2);
    CHECK((b.leaf() | diversify(b.vectors)).retrieve("q", 0).empty());
    CHECK((b.leaf() | diversify(b.vectors)).retrieve("q", SIZE_MAX).size() == 3);
}

TEST_CASE("identical candidates are picked once each, in the order of their ids") {
    const base b({1, 0}, {{1, 0}, {1, 0}, {1, 0}, {1, 0}});
    for (const std::size_t k : {3u, 4u, 10u}) {
        ids expected{0, 1, 2, 3};
        expected.resize(std::min(k, std::size_t{4}));
        CHECK(toy::units((b.leaf() | diversify(b.vectors)).retrieve("q", k)) == expected);
    }
}

TEST_CASE("a negative similarity is a bonus and not cut to zero") {
    // lambda .3: n = (-.6, .8) has .3 * -.6 - .7 * -.6 = .24 after s, p = (0, 1) has 0.
    const base b({1, 0}, {{1, 0}, {0, 1}, {-.6f, .8f}});
    const auto found = (b.leaf() | diversify(b.vectors, mmr{.lambda = .3f})).retrieve("q", 2);
    CHECK(toy::units(found) == ids{0, 2});
    CHECK(found[1].score == Approx(.24).margin(1e-5));
}

TEST_CASE("pages of picks joined equal one longer answer, within what is fetched") {
    std::mt19937 random(7);
    rows all(30, std::vector<float>(3));
    for (auto& row : all)
        for (float& x : row) x = static_cast<float>(random() % 100) + 1;
    const base b({1, 2, 3}, all);
    const auto search = b.leaf() | diversify(b.vectors, mmr{.fetch = 30});
    const ids order = toy::units(search.retrieve("q", 30));
    ids joined;
    for (std::size_t skip = 0; skip < 30; skip += 4)
        for (const auto unit : toy::units(search.retrieve(query("q").skip(skip), 4))) joined.push_back(unit);
    CHECK(joined == order);
}

TEST_CASE("the candidates of a fusion are compared by the vectors, and their key and history are kept") {
    const base b({1, 0}, {{1, 0}, {1, .01f}, {0, 1}, {.7f, .7f}});
    const auto words = toy::listed<bm25_scale>(b.articles, {{1, 3.0f}, {2, 2.0f}});
    const auto found = (fuse(rrf{}, words, b.leaf()) | diversify(b.vectors, mmr{.lambda = .5f})).retrieve("q", 4);
    CHECK(found.size() == 4);
    CHECK(found[0].unit == unit_id{0});  // the most relevant by its vector, though the fusion puts 1 first
    for (const auto& hit : found) {
        const ledger_entry& entry = found.notes()[hit.trail];
        CHECK(entry.stage == "mmr");
        CHECK(found.notes()[entry.from].stage == "rrf");
        CHECK(entry.key == hit.via);
    }
}

TEST_CASE("where a prober searched by other words, candidates are compared with those") {
    const base b({0, 1}, {{1, 0}, {1, .01f}, {0, 1}, {.7f, .7f}});
    const auto other_words = [](question&) -> probed_query { return {.probes = {{"other words"}}}; };
    const auto narrowed = b.leaf() | narrowed_by(other_words);
    CHECK(toy::units((narrowed | diversify(b.vectors)).retrieve("q", 4)) ==
          toy::units((b.leaf() | diversify(b.vectors)).retrieve("other words", 4)));
    const query on_an_executor = query("q").run_on([](const std::function<void()>& task) { task(); });
    const auto legs = fuse(rrf{}, narrowed, toy::listed<bm25_scale>(b.articles, {{1, 3.0f}}));
    for (const query& q : {query("q"), on_an_executor})
        CHECK((legs | diversify(b.vectors)).retrieve(q, 4)[0].unit == unit_id{2});
}

TEST_CASE("without a leg that embedded the question there is nothing to compare with, and it says so") {
    const base b({1, 0}, {{1, 0}, {0, 1}});
    const auto words = toy::listed<bm25_scale>(b.articles, {{1, 3.0f}});
    CHECK(code_of([&] { (words | diversify(b.vectors)).retrieve("q", 2); }) == "diversify.no_probe");
    const auto nothing = toy::listed<bm25_scale>(b.articles, {});
    CHECK((nothing | diversify(b.vectors)).retrieve("q", 2).empty());
}

namespace {

// Units 0 to 3 at (1, 0), (.985, .17), (0, 1), (-1, 0); unit 4 has no vector.
struct diverse_plane {
    corpus c = toy::numbered(5);
    indexed<flat_index> vectors{flat_index(2), c};
    toy::listed<bm25_scale> base{c, {{0, 5.0f}, {1, 4.0f}, {2, 3.0f}, {3, 2.0f}, {4, 1.0f}}};
    diverse_plane() {
        const float all[][2] = {{1, 0}, {.985f, .17f}, {0, 1}, {-1, 0}};
        for (std::size_t i = 0; i < 4; ++i) vectors.index.add(unit_at(i), all[i]);
    }
    static auto embedder() {
        return make_embedder(2, [](role r, std::string_view) {
            return r == role::query ? std::vector<float>{1, 0} : std::vector<float>{.5f, .5f};
        });
    }
};

}  // namespace

TEST_CASE("an embedder of its own makes the vectors that are missing, once a request") {
    const diverse_plane w;
    std::vector<std::pair<role, std::size_t>> calls;
    const auto counting = make_embedder(2, [&](role r, std::span<const std::string_view> texts) {
        calls.emplace_back(r, texts.size());
        std::vector<float> out;
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (const float x : r == role::query ? std::vector<float>{1, 0} : std::vector<float>{.5f, .5f})
                out.push_back(x);
        return out;
    });
    const auto search = w.base | diversify(w.vectors, ref(counting), {.lambda = 1.0f});
    // Cosines to the question: 1, .985, 0, -1, and .707 for the unit that has no vector.
    const query q("q");
    request r(q, w.c);
    CHECK(toy::units(search.run(r, 5)) == ids{0, 1, 4, 2, 3});
    CHECK(calls == std::vector<std::pair<role, std::size_t>>{{role::document, 1}, {role::query, 1}});
    search.run(r, 3);
    CHECK(calls.size() == 2);
    CHECK(r.paid_calls() == 2);
}

TEST_CASE("a unit without a vector is unlike everything, or refused") {
    const diverse_plane w;
    const auto two = make_embedder(2, [](std::string_view) { return std::vector<float>{1, 0}; });
    const auto leg = fuse(rrf{}, w.base, dense(w.vectors, two));
    CHECK((leg | diversify(w.vectors)).retrieve("q", 5).size() == 5);
    CHECK(code_of([&] { (leg | diversify(w.vectors, {.missing = missing_vector::refuse})).retrieve("q", 5); }) ==
          "diversify.no_vector");
}

TEST_CASE("an embedder that fails leaves the order as it was, and that is marked") {
    const diverse_plane w;
    const auto failing = make_embedder(2, [](std::string_view) -> std::vector<float> { throw std::runtime_error("no"); });
    const auto found = (w.base | diversify(w.vectors, failing)).retrieve("q", 3);
    CHECK(toy::units(found) == ids{0, 1, 2});
    CHECK(found.state == result_state::degraded);
    CHECK_THROWS_AS((w.base | diversify(w.vectors, failing, {.fail_quietly = false})).retrieve("q", 3),
                    std::runtime_error);
    const auto wide = make_embedder(3, [](std::string_view) { return std::vector<float>{1, 0, 0}; });
    CHECK(code_of([&] { w.base | diversify(w.vectors, wide); }) == "diversify.dimension");
}

TEST_CASE("candidates below the floor are not picked, and clamped opposites are no more than different") {
    const diverse_plane w;
    const auto search = [&](mmr options) {
        return toy::units((w.base | diversify(w.vectors, diverse_plane::embedder(), options)).retrieve("q", 5));
    };
    CHECK(search({.floor = .5f}) == ids{0, 1, 4});
    CHECK(search({.floor = 2.0f}).empty());
    CHECK(code_of([&] { search({.floor = std::numeric_limits<float>::quiet_NaN()}); }) == "diversify.floor");
    // Lambda 0: after unit 0 the opposite is furthest away; clamped, it is as far as the orthogonal one, which is earlier.
    CHECK(search({.lambda = 0.0f})[1] == 3);
    CHECK(search({.lambda = 0.0f, .clamp = true})[1] == 2);
}
