#include "quarry/model/lsa_embedder.hpp"

#include <array>
#include <thread>

#include "quarry/core/corpus.hpp"
#include "quarry/math/cosine.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

static_assert(Embedder<lsa_embedder>);
static_assert(lsa_embedder::zero_means_unknown);

namespace {

std::vector<float> row_of(const lsa_embedder& embed, std::string_view text) {
    std::vector<float> row(embed.dimension());
    embed.embed(role::query, std::span(&text, 1), row);
    return row;
}

float cosine_of(const lsa_embedder& embed, std::string_view a, std::string_view b) {
    return cosine(row_of(embed, a), row_of(embed, b));
}

bool is_zero(const std::vector<float>& row) {
    return std::ranges::all_of(row, [](float x) { return x == 0.0f; });
}

const std::vector<std::string> three = {"car road", "automobile road", "apple fruit"};

const std::vector<std::string> kitchen = {
    "boil the pasta in salted water",     "drain the pasta and keep some water", "knead flour and water into dough",
    "let the dough rise in a warm place", "bake the dough into bread",           "repair the tyre of a bicycle",
    "oil the chain of a bicycle",         "pump air into the tyre",              ""};

}  // namespace

TEST_CASE("words that never meet but keep the same company point the same way") {
    // idf is ln 4 for a word of one text and ln 2 for road, so the unit rows are (2, 0, 1) and (0, 2, 1) over sqrt 5 in
    // (car, automobile, road), and (1, 1) over sqrt 2 in (apple, fruit). Their products are 1/5 and 0: the singular
    // values are the roots of 1.2, 1 and 0.8, and the first two directions (1, 1, 1) over sqrt 3 and (1, 1) over sqrt
    // 2. So car and automobile, whose counts have cosine 0, have only the first direction, and apple has only the
    // second.
    const auto embed = lsa_embedder::fit(three, {.rank = 2, .words = plain()});
    REQUIRE(embed.dimension() == 2);
    CHECK(embed.terms() == 5);
    for (const std::string_view word : {"car", "automobile", "road", "road car"}) {
        const auto row = row_of(embed, word);
        CHECK(row[0] == Approx(1.0).epsilon(1e-6));
        CHECK(row[1] == Approx(0.0).margin(1e-6));
    }
    CHECK(cosine_of(embed, "car", "automobile") == Approx(1.0).epsilon(1e-6));
    CHECK(cosine_of(embed, "car", "apple") == Approx(0.0).margin(1e-6));
}

TEST_CASE("at full rank fitted texts have the cosines of their weighted counts") {
    const auto embed = lsa_embedder::fit(three, {.rank = 3, .words = plain()});
    REQUIRE(embed.dimension() == 3);
    CHECK(cosine_of(embed, three[0], three[1]) == Approx(0.2).epsilon(1e-6));
    CHECK(cosine_of(embed, three[0], three[2]) == Approx(0.0).margin(1e-6));
}

TEST_CASE("a word that is repeated weighs 1 + ln of its count") {
    // Texts "a b" and "c": at full rank a^3 b becomes (1 + ln 3, 1) in (a, b), projected on (1, 1): the direction of
    // the first text, whatever the counts. With c beside it the cosine to "c" tells the weights: (w + 1) / sqrt 2 along
    // the first and 1 along the second, all with idf ln 3.
    const std::vector<std::string> texts = {"a b", "c"};
    const auto embed = lsa_embedder::fit(texts, {.rank = 2, .words = plain()});
    REQUIRE(embed.dimension() == 2);
    const double along = (1.0 + std::log(3.0) + 1.0) / std::sqrt(2.0);
    CHECK(cosine_of(embed, "a a a b c", "c") == Approx(1.0 / std::sqrt(along * along + 1.0)).epsilon(1e-6));
}

TEST_CASE("texts that share words are near, others are far") {
    const auto embed = lsa_embedder::fit(kitchen, {.rank = 4});
    const float near = cosine_of(embed, "water for the pasta", kitchen[1]);
    const float far = cosine_of(embed, "water for the pasta", kitchen[6]);
    CHECK(near > 0.5f);
    CHECK(far < 0.1f);
    // "inflate" is unknown, "tyre" is not.
    CHECK(cosine_of(embed, "inflate a tyre", kitchen[7]) > 0.5f);
}

TEST_CASE("every row has length 1 or is zero") {
    const auto embed = lsa_embedder::fit(kitchen, {.rank = 5});
    for (const std::string& text : kitchen) {
        const auto row = row_of(embed, text);
        if (text.empty()) CHECK(is_zero(row));
        else CHECK(norm(row) == Approx(1.0).epsilon(1e-6));
    }
}

TEST_CASE("a text of which nothing is known gives a row of zeros") {
    const auto embed = lsa_embedder::fit(three, {.rank = 1});
    CHECK(is_zero(row_of(embed, "zebra")));
    CHECK(is_zero(row_of(embed, "")));
    CHECK(is_zero(row_of(embed, "the of and")));
    CHECK(is_zero(row_of(embed, " \t.,;")));
    // Known, but at right angles to the one direction that was kept: what rounding leaves of it is no direction.
    CHECK(is_zero(row_of(embed, "apple")));
    CHECK_FALSE(is_zero(row_of(embed, "zebra car")));
}

TEST_CASE("stop words are left out on both sides") {
    const std::vector<std::string> bare = {"pasta water", "tyre bicycle"},
                                   full = {"the pasta in the water", "a tyre of the bicycle"};
    const auto one = lsa_embedder::fit(bare), other = lsa_embedder::fit(full);
    CHECK(one.terms() == 4);
    CHECK(other.terms() == 4);
    CHECK(row_of(one, "water") == row_of(other, "in the water"));
}

TEST_CASE("a batch gives the rows of single texts") {
    const auto embed = lsa_embedder::fit(kitchen, {.rank = 5});
    const std::vector<std::string_view> texts(kitchen.begin(), kitchen.end());
    std::vector<float> rows(texts.size() * embed.dimension(), 99.0f);
    embed.embed(role::document, texts, rows);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto single = row_of(embed, texts[i]);
        CHECK(std::ranges::equal(single, std::span(rows).subspan(i * embed.dimension(), embed.dimension())));
    }
    embed.embed(role::document, {}, {});
    CHECK(code_of([&] { embed.embed(role::document, texts, std::span(rows).first(3)); }) == "embedder.rows");
}

TEST_CASE("two fits to the same texts are equal in every bit and in name") {
    const auto one = lsa_embedder::fit(kitchen, {.rank = 4}), other = lsa_embedder::fit(kitchen, {.rank = 4});
    CHECK(one.name() == other.name());
    CHECK(one.identity() != other.identity());
    for (const std::string& text : kitchen) CHECK(row_of(one, text) == row_of(other, text));
}

TEST_CASE("the name tells fits apart that differ in anything") {
    const auto fit = lsa_embedder::fit(kitchen, {.rank = 4});
    CHECK(fit.name().starts_with("lsa-1/" + english().fingerprint() + "/4/"));
    CHECK(fit.name() != lsa_embedder::fit(kitchen, {.rank = 3}).name());
    CHECK(fit.name() != lsa_embedder::fit(kitchen, {.rank = 4, .words = plain()}).name());
    CHECK(fit.name() != lsa_embedder::fit(kitchen, {.rank = 4, .seed = 2}).name());
    CHECK(fit.name() != lsa_embedder::fit(kitchen, {.rank = 4, .iterations = 9}).name());
    auto more = kitchen;
    more[0] += " pasta";  // no new word, only another count
    CHECK(fit.name() != lsa_embedder::fit(more, {.rank = 4}).name());
}

TEST_CASE("copies share the fit and its identity") {
    const auto embed = lsa_embedder::fit(kitchen, {.rank = 4});
    const auto copy = embed;
    CHECK(copy.identity() == embed.identity());
    CHECK(row_of(copy, "pasta") == row_of(embed, "pasta"));
    CHECK(embed.memory() >= embed.terms() * embed.dimension() * sizeof(float));
}

TEST_CASE("a corpus is fitted by the titles and texts of its articles alone") {
    corpus c;
    const unit_id first = c.add({.id = "a", .title = "Pasta", .text = "boil in salted water"});
    c.add({.id = "b", .title = "Bicycle", .text = "oil the chain"});
    c.add_part(first, {.span = {0, 4}, .title = "elsewhere"});
    c.add_generated({.id = "s", .text = "generated words", .sources = {first}});
    const std::vector<std::string> joined = {"Pasta boil in salted water", "Bicycle oil the chain"};
    const auto from_corpus = lsa_embedder::fit(c), from_texts = lsa_embedder::fit(joined),
               from_source = lsa_embedder::fit(source_ref(c));
    CHECK(from_corpus.name() == from_texts.name());
    CHECK(from_source.name() == from_texts.name());
    CHECK(row_of(from_corpus, "salted water") == row_of(from_texts, "salted water"));
    CHECK(is_zero(row_of(from_corpus, "elsewhere generated")));
}

TEST_CASE("any range of texts will do") {
    const std::array<const char*, 3> pointers = {"car road", "automobile road", "apple fruit"};
    const std::vector<std::string_view> views(three.begin(), three.end());
    CHECK(lsa_embedder::fit(pointers).name() == lsa_embedder::fit(three).name());
    CHECK(lsa_embedder::fit(std::span<const std::string_view>(views)).name() == lsa_embedder::fit(three).name());
}

TEST_CASE("fewer texts or terms than the rank give fewer dimensions") {
    const std::vector<std::string> one = {"just one text"}, two = {"one text", "another line"},
                                   few_terms = {"a", "b", "a b", "b a a", "a a a b"}, same(7, "the same words");
    CHECK(lsa_embedder::fit(one).dimension() == 1);
    CHECK(lsa_embedder::fit(two).dimension() == 2);
    CHECK(lsa_embedder::fit(few_terms, {.words = plain()}).dimension() == 2);
    CHECK(lsa_embedder::fit(same).dimension() == 1);
    CHECK(row_of(lsa_embedder::fit(one), "one text")[0] == Approx(1.0));
    CHECK(cosine_of(lsa_embedder::fit(two), "text", "line") == Approx(0.0).margin(1e-6));
}

TEST_CASE("texts without words are no obstacle and change nothing") {
    auto padded = three;
    padded.insert(padded.begin(), {"", "the of"});
    const auto embed = lsa_embedder::fit(padded, {.rank = 2});
    CHECK(row_of(embed, "car") == row_of(lsa_embedder::fit(three, {.rank = 2}), "car"));
}

TEST_CASE("nothing to fit to is an error that says what is missing") {
    const std::vector<std::string> none, blank = {"", "...", "the of"};
    CHECK(code_of([&] { lsa_embedder::fit(none); }) == "lsa.no_texts");
    CHECK(code_of([&] { lsa_embedder::fit(corpus()); }) == "lsa.no_texts");
    CHECK(code_of([&] { lsa_embedder::fit(blank); }) == "lsa.no_words");
    CHECK(message_of([&] { lsa_embedder::fit(blank); }).find("of 3 texts") != std::string::npos);
    CHECK(code_of([&] { lsa_embedder::fit(three, {.rank = 0}); }) == "lsa.rank");
}

TEST_CASE("bytes that are not UTF-8 are fitted and embedded without complaint") {
    const std::vector<std::string> broken = {"caf\xC3 menu", "\xFF\xFE menu \xED\xA0\x80", "\x80", "plain words"};
    const auto embed = lsa_embedder::fit(broken);
    CHECK(norm(row_of(embed, "menu \xF0\x9F")) == Approx(1.0).epsilon(1e-6));
    CHECK(is_zero(row_of(embed, "\xC0\xC1\xF5")));
}

TEST_CASE("several threads may embed at once") {
    const auto embed = lsa_embedder::fit(kitchen, {.rank = 5});
    std::vector<std::vector<float>> alone, together(kitchen.size());
    for (const std::string& text : kitchen) alone.push_back(row_of(embed, text));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kitchen.size(); ++i)
        threads.emplace_back([&, i] { together[i] = row_of(embed, kitchen[i]); });
    for (auto& thread : threads) thread.join();
    CHECK(alone == together);
}
