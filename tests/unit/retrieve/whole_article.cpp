#include "quarry/retrieve/whole_article.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/rank/collapse.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/toy.hpp"
#include "support/words.hpp"

using namespace quarry;
using names = std::vector<std::string>;

namespace {

struct segment {
    const char* article;
    key_part part;
    float cosine;
};

// Articles with segments of known cosine to every question.
struct base {
    corpus articles{schema{{"language", field_type::string}}};
    indexed<flat_index> vectors{flat_index(2), articles};

    explicit base(const std::vector<segment>& segments) {
        auto table = std::make_shared<key_table>(key_kind::metadata);
        for (const auto& [article, part, cosine] : segments) {
            if (!articles.find(article))
                articles.add({.id = article, .text = article, .meta = {{"language", article[0] < 'C' ? "en" : "fr"}}});
            const unit_id unit = *articles.find(article);
            vectors.index.add(unit, std::vector<float>{cosine, std::sqrt(1 - cosine * cosine)});
            table->add({unit, part, detail::concat(article, " ", name_of(part), " ", cosine)});
        }
        vectors.keys = table;
    }

    auto leaf() const {
        return dense(vectors, make_embedder(2, [](std::string_view) { return std::vector<float>{1.0f, 0.0f}; }));
    }
};

const base& nine_segments() {
    using enum key_part;
    static const base b({{"A", title, .92f}, {"A", heading, .90f}, {"A", heading, .89f}, {"A", summary, .88f},
                         {"B", title, .80f}, {"A", heading, .79f}, {"C", heading, .78f}, {"B", heading, .70f},
                         {"D", title, .60f}});
    return b;
}

using options = whole_article_options<cosine_scale>;

}  // namespace

TEST_CASE("articles come by their best segment, as many as were asked for, down to the floor") {
    const base& b = nine_segments();
    const auto ask = [&](std::size_t k, float floor) {
        return toy::ids(whole_article(b.leaf(), {.floor = floor}).retrieve("q", k));
    };
    CHECK(ask(3, .65f) == names{"A", "B", "C"});
    CHECK(ask(3, .75f) == names{"A", "B", "C"});
    CHECK(ask(3, .95f).empty());
    CHECK(ask(5, .65f) == names{"A", "B", "C"});  // D is under the floor
    CHECK(toy::ids(whole_article(b.leaf()).retrieve("q", 5)) == names{"A", "B", "C", "D"});

    const auto found = whole_article(b.leaf(), {.floor = .65f}).retrieve("q", 3);
    const double scores[] = {.92, .80, .78};
    for (std::size_t i = 0; i < 3; ++i) CHECK(found[i].score == Approx(scores[i]).margin(1e-6));
}

TEST_CASE("three segments are not three articles: over-fetching is what finds the others") {
    const base& b = nine_segments();
    const std::vector<float> q{1.0f, 0.0f};
    const auto first_three = collapse(b.vectors.index.search(q, 3));
    CHECK(first_three.size() == 1);
    CHECK(b.articles.id(first_three[0].unit) == "A");
    // m = 5 segments: 5 * 2 + 1 = 11 are certain to hold three articles, and the whole index has nine.
    trace t;
    whole_article(b.leaf()).retrieve(query("q").traced(t), 1);
    CHECK(t.find(trace_code::searched, "dense")->in == 9);
}

TEST_CASE("every hit tells which segment matched") {
    const base& b = nine_segments();
    const auto found = whole_article(b.leaf()).retrieve("q", 4);
    const key_part parts[] = {key_part::title, key_part::title, key_part::heading, key_part::title};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto key = found.matched(found[i]);
        REQUIRE(key);
        CHECK(key->kind == key_kind::metadata);
        CHECK(key->part == parts[i]);
    }
    CHECK(found.matched(found[2])->text == "C heading 0.78");
}

TEST_CASE("the trace tells what was scanned and what fell to floor and cap") {
    const base& b = nine_segments();
    trace t;
    whole_article(b.leaf(), {.floor = .65f}).retrieve(query("q").traced(t), 2);
    CHECK(t.find(trace_code::searched, "dense")->out == 9);
    const trace_event* floored = t.find(trace_code::floored, "whole_article");
    REQUIRE(floored);
    CHECK(floored->in == 4);
    CHECK(floored->out == 3);
    CHECK(floored->value == .65f);
    const trace_event* capped = t.find(trace_code::capped, "whole_article");
    REQUIRE(capped);
    CHECK(capped->in == 3);
    CHECK(capped->out == 2);
}

TEST_CASE("a cap holds whatever k asks for, and over pages") {
    const base& b = nine_segments();
    const auto search = whole_article(b.leaf(), {.most = 3});
    CHECK(toy::ids(search.retrieve("q", 100)) == names{"A", "B", "C"});
    CHECK(toy::ids(search.retrieve("q", 2)) == names{"A", "B"});
    CHECK(toy::ids(search.retrieve(query("q").skip(2), 2)) == names{"C"});
    CHECK(search.retrieve(query("q").skip(3), 2).empty());
    CHECK(whole_article(b.leaf(), {.most = 0}).retrieve("q", 5).empty());
    CHECK(whole_article(b.leaf()).retrieve("q", 0).empty());
    CHECK(whole_article(b.leaf()).retrieve("q", SIZE_MAX).size() == 4);
}

TEST_CASE("the floor is inclusive, belongs to the leaf's scale and is no NaN") {
    const corpus c = toy::numbered(3);
    const auto leaf = toy::listed<bm25_scale>(c, {{0, 7.5f}, {1, 5.0f}, {2, 4.9f}});
    CHECK(toy::units(whole_article(leaf, {.floor = 5.0f}).retrieve("q", 9)) == std::vector<std::uint32_t>{0, 1});
    CHECK(code_of([] { static_cast<void>(options{.floor = std::numeric_limits<float>::quiet_NaN()}); }) == "threshold.nan");
}

TEST_CASE("a filter is applied before anything is counted") {
    const base& b = nine_segments();
    const auto search = whole_article(b.leaf(), {.floor = .5f});
    CHECK(toy::ids(search.retrieve(query("q").where(eq("language", "fr")), 2)) == names{"C", "D"});
    CHECK(toy::ids(search.retrieve(query("q").where(eq("language", "en")), 2)) == names{"A", "B"});
}

TEST_CASE("a leaf over chunks returns their articles") {
    corpus c;
    c.add({.id = "a", .text = "cat dog"});
    c.add({.id = "b", .text = "cat bird"});
    bm25_index words(toy::whitespace());
    for (const unit_id article : {unit_id{0}, unit_id{1}})
        for (const byte_span span : {byte_span{0, 3}, byte_span{4, c.text(article).size()}}) {
            const unit_id chunk = c.add_part(article, {.span = span});
            words.add(chunk, c.text(chunk));
        }
    const auto search = whole_article(lexical(words, source_ref(c)));
    CHECK(toy::ids(search.retrieve("cat bird", 5)) == names{"b", "a"});
    CHECK(toy::ids(search.retrieve("dog", 5)) == names{"a"});
}

TEST_CASE("keys of title, summary and headings find the article, and bodies do so in a second lane") {
    corpus c;
    c.add({.id = "reset", .title = "Passwords", .summary = "Choosing a new one", .text = "Open the menu and tap the gear.",
           .headings = {{"Forgotten"}}});
    c.add({.id = "delete", .title = "Accounts", .summary = "Closing one", .text = "Write to the support team."});
    const lexical_base metadata = build(c, metadata_keys(c));
    const lexical_base bodies = build(c, identity{});
    const auto alone = whole_article(lexical(metadata.bm25));
    CHECK(toy::ids(alone.retrieve("forgotten password", 5)) == names{"reset"});
    CHECK(alone.retrieve("gear menu", 5).empty());  // stands in the body alone: out of reach
    const auto both = whole_article(lexical(metadata.bm25), lexical(bodies.bm25));
    CHECK(toy::ids(both.retrieve("gear menu", 5)) == names{"reset"});
    CHECK(toy::ids(both.retrieve("forgotten", 5)) == names{"reset"});
    CHECK(both.retrieve("gear menu", 5).matched(both.retrieve("gear menu", 5)[0])->kind == key_kind::body);
    CHECK(both.retrieve("forgotten", 5).matched(both.retrieve("forgotten", 5)[0])->part == key_part::heading);
    // The floor is the first lane's.
    const auto floored = whole_article(lexical(metadata.bm25), lexical(bodies.bm25), {.floor = 1e6f});
    CHECK(floored.retrieve("forgotten", 5).empty());
    CHECK(toy::ids(floored.retrieve("gear", 5)) == names{"reset"});
}

TEST_CASE("pages of articles joined equal one longer answer") {
    const base& b = nine_segments();
    const auto search = whole_article(b.leaf());
    names joined;
    for (std::size_t skip = 0; skip < 5; ++skip)
        for (const auto& id : toy::ids(search.retrieve(query("q").skip(skip), 1))) joined.push_back(id);
    CHECK(joined == toy::ids(search.retrieve("q", 5)));
}
