#include "quarry/retrieve/hybrid.hpp"

#include <memory>
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"

using namespace quarry;
using names = std::vector<std::string>;

namespace {

// As the letter embedder, but a text without any letter a to m is a row of zeros.
struct half_alphabet {
    static constexpr bool zero_means_unknown = true;
    toy::letter_embedder letters{};
    std::size_t dimension() const { return 13; }
    callable_identity identity() const { return letters.identity(); }
    void embed(role as, std::span<const std::string_view> texts, std::span<float> rows) const {
        std::vector<float> all(texts.size() * 26);
        letters.embed(as, texts, all);
        for (std::size_t i = 0; i < texts.size(); ++i)
            std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(26 * i), 13,
                        rows.begin() + static_cast<std::ptrdiff_t>(13 * i));
    }
};

// One key an article: its title.
struct titles {
    key_kind kind() const { return key_kind::metadata; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        emit({unit, key_part::title, std::string(source.title(unit))});
    }
};

corpus articles() {
    corpus c(schema{{"product", field_type::string}, {"tenant", field_type::string}});
    const char* texts[] = {"reset the password in the settings", "the password must be long",
                           "delete an account",                  "settings of the account",
                           "invoices by mail",                   "zzz ttt"};
    for (std::size_t i = 0; i < 6; ++i)
        c.add({.id = std::to_string(i), .title = "title", .text = texts[i],
               .meta = {{"product", i % 2 == 0 ? "app" : "web"}, {"tenant", i < 4 ? "a" : "b"}}});
    return c;
}

const corpus& shared_articles() {
    static const corpus c = articles();
    return c;
}

}  // namespace

TEST_CASE("BM25 with cosine is fused by bounded scores, in either order, and everything else by ranks") {
    const corpus& c = shared_articles();
    const half_alphabet embedder;
    const knowledge_base kb = build(c, identity{}, embedder);
    const auto words = lexical(kb.bm25);
    const auto meaning = dense(kb.vectors, embedder);
    static_assert(std::same_as<decltype(hybrid(words, meaning))::scale, bounded_scale>);
    static_assert(std::same_as<decltype(hybrid(meaning, words))::scale, bounded_scale>);
    static_assert(std::same_as<decltype(hybrid(words, words))::scale, rrf_scale>);
    static_assert(std::same_as<decltype(hybrid(words, meaning, rrf{}))::scale, rrf_scale>);
    static_assert(std::same_as<decltype(hybrid(words, meaning, convex{.weights = {.2f, .8f}}))::scale, convex_scale>);
    // Cosines of an engine that cannot score given units: ranks.
    const auto engine = toy::listed<cosine_scale>(c, {{1, .5f}});
    static_assert(std::same_as<decltype(hybrid(words, engine))::scale, rrf_scale>);

    const auto a = hybrid(words, meaning).retrieve("reset password", 6), b = hybrid(meaning, words).retrieve("reset password", 6);
    CHECK(toy::ids(a) == toy::ids(b));
    CHECK(toy::ids(a)[0] == "0");
    CHECK(toy::ids(a) == toy::ids(fuse(bounded{}, words, meaning).retrieve("reset password", 6)));
}

TEST_CASE("a question that only words know keeps the order of BM25, one that only vectors know theirs") {
    const corpus& c = shared_articles();
    const half_alphabet embedder;
    const knowledge_base kb = build(c, identity{}, embedder);
    const auto words = lexical(kb.bm25);
    const auto meaning = dense(kb.vectors, embedder);
    const auto search = hybrid(words, meaning);
    trace t;
    const auto found = search.retrieve(query("zzz ttt").traced(t), 6);
    CHECK(toy::ids(found) == toy::ids(words.retrieve("zzz ttt", 6)));
    CHECK(toy::ids(found)[0] == "5");
    CHECK(t.find(trace_code::unknown, "dense"));
    // No known word: the vectors' order, as far as it lies above the question's mean.
    const auto by_letters = search.retrieve("ccc", 1);
    CHECK(toy::ids(by_letters) == toy::ids(meaning.retrieve("ccc", 1)));
    CHECK(search.retrieve("", 6).empty());
}

TEST_CASE("a batch through both legs is one call of the embedder and equals asking one by one") {
    const corpus& c = shared_articles();
    const half_alphabet embedder;
    const knowledge_base kb = build(c, identity{}, embedder);
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embedder));
    const std::vector<query> batch{"reset password", query("account").where(eq("product", "web")), like(unit_id{0}),
                                   query("settings").skip(1)};
    const std::size_t before = embedder.letters.counted->calls;
    const auto together = search.retrieve(batch, 3);
    CHECK(embedder.letters.counted->calls == before + 1);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto alone = search.retrieve(batch[i], 3);
        REQUIRE(together[i].size() == alone.size());
        for (std::size_t j = 0; j < alone.size(); ++j) {
            CHECK(together[i][j].unit == alone[j].unit);
            CHECK(together[i][j].score == alone[j].score);
        }
    }
}

TEST_CASE("the whole pipeline: fused, reranked, diversified, filtered and scoped") {
    const corpus& c = shared_articles();
    const half_alphabet embedder;
    const knowledge_base kb = build(c, identity{}, embedder);
    const auto longest_first = [](std::string_view, std::span<const std::string_view> passages) {
        std::vector<float> scores;
        for (const auto& p : passages) scores.push_back(static_cast<float>(p.size()));
        return scores;
    };
    auto search = fuse(rrf{}, lexical(kb.bm25), dense(kb.vectors, embedder)) | rerank(longest_first, {.fetch = 50}) |
                  diversify(kb.vectors, mmr{.lambda = 0.7f});
    const auto answer = search.retrieve(
        query("how do I reset my password").where(eq("product", "app")).within(scope::only(eq("tenant", "a"))), 5);
    CHECK(answer.size() == 2);
    for (const auto& hit : answer) {
        CHECK(answer.unit(hit).title() == "title");
        CHECK(answer.unit(hit).value("product") == field_value("app"));
        CHECK(answer.unit(hit).value("tenant") == field_value("a"));
    }
}

TEST_CASE("the key that matched is shown in the words it was found by, though both legs number theirs alike") {
    // The embedder knows nothing of article 0, so the vectors' key 0 is article 1's.
    corpus c;
    c.add({.id = "a", .title = "zzz", .text = "zzz ttt"});
    c.add({.id = "b", .title = "cab", .text = "cab bad"});
    const half_alphabet embedder;
    const knowledge_base kb = build(c, titles{}, embedder);
    const auto found = hybrid(lexical(kb.bm25), dense(kb.vectors, embedder)).retrieve("cab zzz", 2);
    REQUIRE(found.size() == 2);
    for (const auto& hit : found) CHECK(found.matched(hit)->text == found.unit(hit).title());
}

TEST_CASE("across kinds of content: every index by its own model, by words, a picture or both, under one filter and scope") {
    corpus assets(schema{{"tenant", field_type::string}, {"year", field_type::integer}});
    assets.add({.id = "t1", .title = "hub manual", .text = "hub", .meta = {{"tenant", "a"}, {"year", 1}}});
    assets.add({.id = "i1", .title = "hub photo", .text = "photo of it", .meta = {{"tenant", "a"}, {"year", 2}}});
    assets.add({.id = "i2", .title = "valve photo", .text = "photo", .meta = {{"tenant", "b"}, {"year", 2}}});
    const auto refuses = [](std::string_view text) -> std::vector<float> {
        throw std::runtime_error("asked for " + std::string(text));
    };
    const auto text_model = make_embedder(2, [](std::string_view) { return std::vector<float>{1, 0}; });
    const auto picture_model = make_embedder(3, refuses);  // reads pictures and no words
    indexed<flat_index> captions{flat_index(2), assets}, pictures{flat_index(3), assets};
    const float text_rows[][2] = {{1, 0}, {.8f, .6f}, {.6f, .8f}}, picture_rows[][3] = {{1, 0, 0}, {.6f, .8f, 0}};
    captions.index.add(unit_id{0}, text_rows[0]);
    captions.index.add(unit_id{1}, text_rows[1]);
    captions.index.add(unit_id{1}, text_rows[2]);  // an asset with two captions is one asset
    pictures.index.add(unit_id{1}, picture_rows[0]);
    pictures.index.add(unit_id{2}, picture_rows[1]);
    const auto both = fuse(rrf{}, dense(captions, text_model), dense(pictures, picture_model));

    // By words and a picture: captions t1, i1; pictures i1, i2.
    const auto found = both.retrieve(query("hub").with_row(picture_model, {1, 0, 0}), 5);
    CHECK(toy::ids(found) == std::vector<std::string>{"i1", "t1", "i2"});
    CHECK(found[0].score == Approx(1.0 / 62 + 1.0 / 61));
    CHECK(found[1].score == Approx(1.0 / 61));
    CHECK(found[2].score == Approx(1.0 / 62));
    // By a picture alone, and by an asset that has one.
    CHECK(toy::ids(both.retrieve(query("").with_row(picture_model, {0, 1, 0}), 5)) == std::vector<std::string>{"i2", "i1"});
    CHECK(toy::ids(both.retrieve(like(unit_id{1}), 5)) == std::vector<std::string>{"t1", "i2"});
    // Any number of legs, and no forbidden asset from any of them.
    const lexical_base words = build(assets, identity{});
    const auto all = fuse(rrf{}, dense(captions, text_model), dense(pictures, picture_model), lexical(words.bm25));
    const query asked = query("photo of a hub").with_row(picture_model, {0, 1, 0});
    CHECK(toy::ids(all.retrieve(asked, 5)).size() == 3);
    CHECK(toy::ids(all.retrieve(query(asked).within(scope::only(eq("tenant", "b"))), 5)) == std::vector<std::string>{"i2"});
    CHECK(toy::ids(all.retrieve(query(asked).where(eq("year", 2)).within(scope::only(eq("tenant", "a"))), 5)) ==
          std::vector<std::string>{"i1"});
}
