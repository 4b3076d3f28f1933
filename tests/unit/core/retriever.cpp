#include "quarry/core/retriever.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "quarry/index/flat_index.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// What a user writes: every unit, the later the better. Counts how often and for how many it was asked.
struct newest_first : retriever_interface<newest_first> {
    using scale = rerank_scale;

    const corpus* articles;
    std::vector<std::size_t>* asked;

    newest_first(const corpus& c, std::vector<std::size_t>& log) : articles(&c), asked(&log) {}

    source_ref source() const { return *articles; }
    results<scale> run(request& q, std::size_t k) const {
        asked->push_back(k);
        results<scale> out;
        for (std::size_t i = articles->size(); i-- > 0 && out.size() < k;)
            if (q.admits(unit_at(i))) out.hits.push_back({unit_at(i), no_key, static_cast<float>(i)});
        return out;
    }
};

struct without_source {
    using scale = rerank_scale;
    results<scale> run(request&, std::size_t) const { return {}; }
};

struct without_const {
    using scale = rerank_scale;
    source_ref source() const;
    results<scale> run(request&, std::size_t);
};

corpus ten() { return toy::corpus_of({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}); }

using ids = std::vector<std::string>;

// An embedder whose rows of questions and of documents differ: it puts a question's letters one further.
struct two_sided_embedder {
    toy::letter_embedder letters;
    std::size_t dimension() const { return 26; }
    void embed(role r, std::span<const std::string_view> texts, std::span<float> rows) const {
        letters.embed(r, texts, rows);
        if (r == role::query)
            for (std::size_t i = 0; i < texts.size(); ++i) {
                const auto row = rows.subspan(i * 26, 26);
                std::rotate(row.begin(), row.end() - 1, row.end());
            }
    }
    callable_identity identity() const { return letters.identity(); }
};

struct letters {
    corpus articles = toy::corpus_of({"ab", "bcd", "cde", "xyz", "aab", "bbc", "mno", "abcdef"});
    toy::letter_embedder embed;
    indexed<flat_index> vectors{flat_index(26), articles};

    letters() {
        for (std::size_t i = 0; i < articles.size(); ++i) {
            const std::string_view text[] = {articles.text(unit_at(i))};
            vectors.index.add(unit_at(i), detail::embed_checked(embed, role::document, text));
        }
        *embed.counted = {};
    }
};

template <class R>
std::vector<std::pair<std::size_t, float>> pairs(const R& found) {
    std::vector<std::pair<std::size_t, float>> out;
    for (const auto& h : found) out.emplace_back(index_of(h.unit), h.score);
    return out;
}

}  // namespace

TEST_CASE("a retriever is a scale, a source and a const run, and needs no base class") {
    STATIC_REQUIRE(Retriever<newest_first>);
    STATIC_REQUIRE(Retriever<any_retriever>);
    STATIC_REQUIRE_FALSE(Retriever<without_source>);
    STATIC_REQUIRE_FALSE(Retriever<without_const>);
    STATIC_REQUIRE_FALSE(ScoringRetriever<newest_first>);
    STATIC_REQUIRE(BoundedRetriever<dense_retriever<flat_index, toy::letter_embedder>>);
    STATIC_REQUIRE_FALSE(ScoringRetriever<lexical_retriever<toy::word_index>>);
}

TEST_CASE("a retriever of one's own gives k units, skips, and attaches what it found") {
    const corpus c = ten();
    std::vector<std::size_t> asked;
    const newest_first mine(c, asked);
    CHECK(toy::ids(mine.retrieve("anything", 3)) == ids{"9", "8", "7"});
    CHECK(toy::ids(mine.retrieve(query("anything").skip(2), 3)) == ids{"7", "6", "5"});
    CHECK(asked == std::vector<std::size_t>{3, 5});
    CHECK(mine.retrieve("anything", 1).source() == source_ref(c));
}

TEST_CASE("retrieving is running with one request and dropping what is skipped") {
    const letters kb;
    const auto search = dense(kb.vectors, kb.embed);
    for (const std::size_t skip : {0u, 1u, 3u, 8u, 20u}) {
        const query q = query("abc").skip(skip);
        request r(q, kb.articles);
        auto expected = pairs(search.run(r, 3 + skip));
        expected.erase(expected.begin(),
                       expected.begin() + static_cast<std::ptrdiff_t>((std::min)(skip, expected.size())));
        CAPTURE(skip);
        CHECK(pairs(search.retrieve(q, 3)) == expected);
    }
}

TEST_CASE("pages joined are one longer answer, whatever the length of a page") {
    const letters kb;
    const auto leaf = dense(kb.vectors, kb.embed);
    const auto fused = fuse(rrf{}, leaf, dense(kb.vectors, kb.embed));
    const auto whole = pairs(leaf.retrieve("abc", 100)), whole_fused = pairs(fused.retrieve("abc", 100));
    CHECK(whole.size() == 8);
    for (const std::size_t page : {1u, 2u, 3u, 7u, 8u}) {
        std::vector<std::pair<std::size_t, float>> joined, joined_fused;
        for (std::size_t skip = 0; skip < 12; skip += page) {
            for (const auto& h : pairs(leaf.retrieve(query("abc").skip(skip), page))) joined.push_back(h);
            for (const auto& h : pairs(fused.retrieve(query("abc").skip(skip), page))) joined_fused.push_back(h);
        }
        CAPTURE(page);
        CHECK(joined == whole);
        CHECK(joined_fused == whole_fused);
    }
}

TEST_CASE("k of 0 gives nothing and asks nobody, k beyond n gives n, and no k overflows") {
    const corpus c = ten();
    std::vector<std::size_t> asked;
    const newest_first mine(c, asked);
    CHECK(mine.retrieve("x", 0).empty());
    CHECK(asked.empty());
    CHECK(mine.retrieve("x", 11).size() == 10);
    CHECK(mine.retrieve("x", SIZE_MAX).size() == 10);
    CHECK(mine.retrieve(query("x").skip(4), SIZE_MAX).size() == 6);
    CHECK(mine.retrieve(query("x").skip(SIZE_MAX), 5).empty());
    CHECK(asked == std::vector<std::size_t>{11, SIZE_MAX, SIZE_MAX, SIZE_MAX});

    const letters kb;
    const auto search = dense(kb.vectors, kb.embed);
    CHECK(search.retrieve("abc", 0).empty());
    CHECK(kb.embed.counted->calls == 0);
    CHECK(search.retrieve("abc", SIZE_MAX).size() == 8);
    CHECK(search.retrieve(query("abc").skip(SIZE_MAX), SIZE_MAX).empty());
}

TEST_CASE("an empty corpus answers with nothing") {
    const corpus c;
    std::vector<std::size_t> asked;
    CHECK(newest_first(c, asked).retrieve("x", 5).empty());
    CHECK(newest_first(c, asked).retrieve(std::vector<query>{}, 5).empty());
}

TEST_CASE("a batch is the same as asking one by one, with one call of the embedder for all") {
    const letters kb;
    const auto search = dense(kb.vectors, kb.embed) | per_article(1);
    const std::vector<query> queries{"abc", "xyz", query("abc").skip(2), "m", "bcd"};
    std::vector<std::vector<std::pair<std::size_t, float>>> single;
    for (const query& q : queries) single.push_back(pairs(search.retrieve(q, 3)));
    CHECK(kb.embed.counted->calls == 5);

    *kb.embed.counted = {};
    const auto batch = search.retrieve(queries, 3);
    CHECK(kb.embed.counted->calls == 1);
    CHECK(kb.embed.counted->texts == 4);  // one question is asked twice
    REQUIRE(batch.size() == queries.size());
    for (std::size_t i = 0; i < batch.size(); ++i) CHECK(pairs(batch[i]) == single[i]);
    CHECK(toy::ids(batch[1]) == ids{"3", "0", "1"});
}

TEST_CASE("two legs with the same embedder pay once for a question, in a batch and alone") {
    const letters kb;
    const auto search = fuse(rrf{}, dense(kb.vectors, kb.embed), dense(kb.vectors, kb.embed));
    search.retrieve("abc", 3);
    CHECK(kb.embed.counted->calls == 1);
    search.retrieve(std::vector<query>{"abc", "xyz", "m"}, 3);
    CHECK(kb.embed.counted->calls == 2);
    CHECK(kb.embed.counted->texts == 4);
}

TEST_CASE("a batch of nothing and a batch for nothing call nobody") {
    const letters kb;
    const auto search = dense(kb.vectors, kb.embed);
    CHECK(search.retrieve(std::vector<query>{}, 3).empty());
    const auto none = search.retrieve(std::vector<query>{"abc", "xyz"}, 0);
    REQUIRE(none.size() == 2);
    CHECK(none[0].empty());
    CHECK(kb.embed.counted->calls == 0);
}

TEST_CASE("in a batch an example and a question of the same text are embedded each in its role, as alone") {
    corpus articles = toy::corpus_of({"ab", "bc", "cd"});
    const two_sided_embedder embed;
    indexed<flat_index> vectors{flat_index(26), articles};
    for (const std::size_t i : {1u, 2u}) {
        const std::string_view text[] = {articles.text(unit_at(i))};
        vectors.index.add(unit_at(i), detail::embed_checked(embed, role::document, text));
    }
    const auto search = dense(vectors, embed);
    // Unit 0 has no row, so its text is embedded: as the document it is, near "bc" by one letter. As a question, "ab"
    // becomes "bc".
    for (const bool example_first : {true, false}) {
        std::vector<query> queries{like(unit_id{0}), "ab"};
        if (!example_first) std::ranges::reverse(queries);
        const auto batch = search.retrieve(queries, 1);
        CAPTURE(example_first);
        CHECK(pairs(batch[0]) == pairs(search.retrieve(queries[0], 1)));
        CHECK(pairs(batch[1]) == pairs(search.retrieve(queries[1], 1)));
        CHECK(batch[example_first ? 0 : 1][0].score == Approx(0.5f));
        CHECK(batch[example_first ? 1 : 0][0].score == Approx(1.0f));
    }
}

TEST_CASE("an example is searched by the row that each index has of it") {
    // Two indexes over the same units: titles and bodies. Unit 0 is like unit 1 by its title, like unit 2 by its body.
    const corpus articles = toy::corpus_of({"x", "y", "z"});
    indexed<flat_index> titles{flat_index(2), articles}, bodies{flat_index(2), articles};
    const float right[] = {1, 0}, up[] = {0, 1};
    titles.index.add(unit_id{0}, right);
    titles.index.add(unit_id{1}, right);
    titles.index.add(unit_id{2}, up);
    bodies.index.add(unit_id{0}, up);
    bodies.index.add(unit_id{1}, right);
    bodies.index.add(unit_id{2}, up);
    const auto embed = make_embedder(2, [](std::string_view) { return std::vector<float>{1, 1}; });
    const auto both = fuse(rrf{}, dense(titles, embed) | at_least<cosine_scale>{0.9f},
                           dense(bodies, embed) | at_least<cosine_scale>{0.9f});
    CHECK(toy::ids(both.retrieve(like(unit_id{0}), 5)) == ids{"1", "2"});
}

TEST_CASE("a stop ends a query before its first search") {
    const corpus c = ten();
    std::vector<std::size_t> asked;
    const newest_first mine(c, asked);
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_of([&] { mine.retrieve(query("x").stop_on(stop.get_token()), 3); }) == "query.stopped");
    CHECK(asked.empty());
}

TEST_CASE("a pipe puts a stage around what stands before it, and the stage's own base is a value") {
    const corpus c = ten();
    std::vector<std::size_t> asked;
    const auto doubled = stage{[]<Retriever Base>(Base base) { return any_retriever(base); }};
    const auto piped = newest_first(c, asked) | doubled | per_article(1);
    CHECK(toy::ids(piped.retrieve("x", 2)) == ids{"9", "8"});
}

TEST_CASE("a retriever of one's own stands wherever one of ours does") {
    const corpus c = ten();
    std::vector<std::size_t> asked;
    const newest_first mine(c, asked);
    CHECK(toy::ids(fuse(rrf{}, mine, mine).retrieve("x", 2)) == ids{"9", "8"});
    CHECK(toy::ids(any_retriever(mine).retrieve("x", 2)) == ids{"9", "8"});
    CHECK(toy::ids((mine | at_least<rerank_scale>{8.5f}).retrieve("x", 5)) == ids{"9"});
}

TEST_CASE("widening asks for twice as many until enough survive or there are no more") {
    const corpus c = ten();
    std::vector<std::size_t> asked;
    const newest_first mine(c, asked);
    const query q("x");
    request r(q, c);
    const auto even = [](auto hits) {
        std::erase_if(hits, [](const auto& h) { return index_of(h.unit) % 2 != 0; });
        return hits;
    };
    const auto run = [&](std::size_t n) { return mine.run(r, n); };
    CHECK(pairs(detail::widened(3, run, even)) ==
          std::vector<std::pair<std::size_t, float>>{{8, 8.f}, {6, 6.f}, {4, 4.f}});
    CHECK(asked == std::vector<std::size_t>{3, 6});
    asked.clear();
    CHECK(detail::widened(7, run, even).size() == 5);
    CHECK(asked == std::vector<std::size_t>{7, 14});
    asked.clear();
    CHECK(detail::widened(0, run, even).empty());
    CHECK(detail::widened(SIZE_MAX, run, even).size() == 5);
    CHECK(asked == std::vector<std::size_t>{0, SIZE_MAX});
}
