// Trees and hierarchies as they fail in public: cases 83 to 92, and 128 to 130 where summaries and parents are
// concerned.
#include <sys/resource.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/rank/auto_merge.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/raptor.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/lists.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Articles of one chunk each, ids "0", "1", ...
corpus leaves_of(const std::vector<std::string>& texts) {
    corpus c(schema{{"who", field_type::string}});
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const unit_id a = c.add({.id = std::to_string(i), .text = texts[i]});
        c.add_part(a, {.span = {0, texts[i].size()}});
    }
    return c;
}

const raptor_options across{.across_articles = true};

scripted_generator short_summaries() {
    return scripted_generator([](const prompt&) { return completion("A short summary of all of these."); });
}

}  // namespace

// 83: parthsarthi03/raptor 30.
TEST_CASE("none to five leaves are valid trees, and none or one cost no call") {
    const toy::letter_embedder embed;
    for (std::size_t n = 0; n <= 5; ++n) {
        corpus c = leaves_of(std::vector<std::string>(n, "letters"));
        const auto g = short_summaries();
        const raptor_growth grown = raptor(embed, summaries(g), across).grow(c);
        CHECK(grown.summaries.size() == (n < 2 ? 0u : 1u));
        CHECK(g.calls() == grown.summaries.size());
    }
}

// 84: umap 17, 99.
TEST_CASE("identical vectors, and identical ones beside a different one, end in bounded depth without an empty group") {
    const toy::letter_embedder embed;
    for (const bool different : {false, true}) {
        std::vector<std::string> texts(50, "same words");
        if (different) texts[17] = "zzz qqq";
        corpus c = leaves_of(texts);
        const raptor_growth grown =
            raptor(embed, summaries(short_summaries()), {.across_articles = true, .layers = 50}).grow(c);
        CHECK(!grown.summaries.empty());
        for (const unit_id s : grown.summaries) CHECK(c.sources(s).size() >= 2);
        for (const raptor_node& n : grown.tree.summaries) CHECK(n.layer <= 10);
    }
    CHECK(kmeans(std::vector<float>(100, 0.3f), 2, {.clusters = 60}).clusters == 1);
}

// 85: parthsarthi03/raptor 2.
TEST_CASE("no prompt is over its budget, where geometry does not help and where a leaf is larger than the window") {
    const toy::letter_embedder embed;
    const std::string five_hundred_tokens(1996, 'a'), ten_thousand_tokens(40'000, 'a');
    std::vector<std::string> texts(200, five_hundred_tokens + " abc");
    texts[100] = ten_thousand_tokens;
    corpus c = leaves_of(texts);
    const auto g = short_summaries();
    const raptor_growth grown = raptor(embed, summaries(g), across).grow(c);
    CHECK(grown.summaries.size() > 20);
    for (const prompt& p : g.asked()) CHECK(approximate_tokens{}(p.whole()) <= 3500);
}

// 86: ragflow PR 17614.
TEST_CASE("a summary of a megabyte is cut at a code point, and an empty, refused, broken or copied one is none") {
    const toy::letter_embedder embed;
    std::string megabyte;
    for (int i = 0; megabyte.size() < 1'000'000; ++i) megabyte += "W\u00f6rter" + std::to_string(i) + " ";
    const std::vector<std::string> texts{"cats purr all day long and well into the night",
                                         "cats sleep on every sofa they find"};
    const auto grown = [&](const std::string& reply) {
        corpus c = leaves_of(texts);
        const scripted_generator g([&](const prompt&) { return completion(reply); });
        const raptor_growth r = raptor(embed, summaries(g), across).grow(c);
        return r.summaries.empty() ? std::string("-") : std::string(c.text(r.summaries[0]));
    };
    const std::string cut = grown(megabyte);
    CHECK(cut.size() <= 2000);
    CHECK(cut.size() > 1000);
    CHECK((static_cast<unsigned char>(cut.back()) & 0xC0) != 0xC0);
    for (const std::string& reply : {std::string(), std::string("I'm sorry, but I cannot help with that."),
                                     std::string("\xff\xfe\x80"), texts[0] + "\n\n" + texts[1]})
        CHECK(grown(reply) == "-");
}

// 87: ragflow 4126, 13902.
TEST_CASE("after a failure in the middle of a layer every summary still belongs to its own group") {
    std::vector<std::string> texts;
    for (const char letter : {'a', 'b', 'c'})
        for (int i = 0; i < 3; ++i)
            texts.push_back(std::string(8, letter) + " " + std::string(std::size_t(i + 1), letter));
    corpus c = leaves_of(texts);
    const scripted_generator g([](const prompt& p) {
        return completion(p.text().find("aaaaaaaa") != std::string::npos ? "About the letter a."
                                                                         : "About the letter c.");
    });
    g.fail_at(2, "no connection");
    const raptor_growth grown = raptor(toy::letter_embedder{}, summaries(g), {.across_articles = true, .layers = 1},
                                       kmeans_clusters{.members = 3})
                                    .grow(c);
    REQUIRE(grown.summaries.size() == 2);
    for (const unit_id s : grown.summaries)
        for (const unit_id source : c.sources(s)) CHECK(c.text(source)[0] == c.text(s)[17]);
    CHECK(grown.unsummarised == 1);
    CHECK(grown.asked.first_failure == "no connection");
}

// 88: derived from ragflow's guard.
TEST_CASE(
    "vectors at right angles do not make a layer as large as the one below, and calls stay below twice the leaves") {
    std::vector<std::string> texts;
    for (char letter = 'a'; letter < 'k'; ++letter) texts.emplace_back(4, letter);
    corpus c = leaves_of(texts);
    const auto g = short_summaries();
    const raptor_growth grown =
        raptor(toy::letter_embedder{}, summaries(g), {.across_articles = true, .layers = 50}).grow(c);
    CHECK(g.calls() <= 20);
    CHECK(grown.summaries.size() < 10);
}

// 90: llama_index 15480, 15482.
TEST_CASE("a search by layers returns no unit whose parent was not gone through, and none twice") {
    corpus c;
    for (const char* id : {"a1", "a2", "b1", "b2"}) c.add({.id = id, .text = id});
    const auto unit = [](std::uint32_t u) { return unit_id{u}; };
    c.add_generated({.id = "A", .text = "A", .sources = {unit(0), unit(1)}});
    c.add_generated({.id = "B", .text = "B", .sources = {unit(2), unit(3)}});
    c.add_generated({.id = "root", .text = "root", .sources = {unit(4), unit(5)}});
    const toy::scoring_list<cosine_scale> leaves(c, {{2, .9f}, {0, .6f}, {1, .5f}, {3, .1f}}, {});
    const toy::listed<cosine_scale> tops(c, {{4, .8f}, {6, .7f}, {5, .2f}});
    using ids = std::vector<std::uint32_t>;
    CHECK(toy::units(raptor_layered(leaves, tops, {.beam = 1}).retrieve("x", 2)) == ids{0, 1});
    CHECK(toy::units(raptor_layered(leaves, tops, {.beam = 2}).retrieve("x", 2)) == ids{2, 0});
    const auto all = raptor_collapsed(leaves, tops).retrieve(query("x").include_generated(), 99);
    CHECK(toy::units(all) == ids{2, 4, 6, 0, 1, 5, 3});
}

// 91: llama_index 12115, 13488, 14239. Units name their parents when they are added, so one that is missing, or above
// itself, cannot be; a parent without a key of its own can.
TEST_CASE("a part whose parent is in no index is found, and a parent that does not exist is refused when it is named") {
    corpus c;
    const unit_id a = c.add({.id = "a", .text = "cats purr"});
    c.add_part(a, {.span = {0, 9}});
    CHECK(code_of([&] { c.add_part(unit_id{77}, {.span = {0, 1}}); }) == "corpus.unknown_unit");
    const auto parts = build(c, identity{.of = unit_kind::chunk});
    const indexed<bm25_index> nothing{bm25_index(), c};
    const auto search = hierarchical({.beams = {1}}, level{unit_kind::article, lexical(nothing)},
                                     level{unit_kind::chunk, lexical(parts.bm25)});
    CHECK(search.retrieve("cats", 3).size() == 1);
}

// 92: haystack-experimental PR 56, 162.
TEST_CASE("parts are merged above a share and not at it, without NaN for units that have none") {
    corpus c;
    const unit_id a = c.add({.id = "a", .text = "abcdefgh"});
    for (std::size_t i = 0; i < 4; ++i) c.add_part(a, {.span = {2 * i, 2 * i + 2}});
    const toy::scored_units hits{{1, .9f}, {2, .8f}, {3, .7f}, {4, .6f}};
    for (std::size_t n = 1; n <= 4; ++n) {
        const toy::listed<cosine_scale> some(c, {hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(n)});
        const auto found = (some | auto_merge({.fill_gaps = false})).retrieve("x", 9);
        CHECK(found.size() == (n > 2 ? 1 : n));
        for (const auto& h : found) CHECK(std::isfinite(h.score));
    }
    const toy::listed<cosine_scale> childless(c, {{0, .5f}});
    CHECK((childless | auto_merge()).retrieve("x", 9)[0].score == .5f);
}

// 128: elasticsearch PR 121410; OWASP AISVS 667. 130: LLM08:2025.
TEST_CASE("no summary of forbidden texts is returned, and with groups kept apart none is ever written of two owners") {
    corpus c(schema{{"who", field_type::string}});
    for (int i = 0; i < 6; ++i) {
        const std::string text = "salary of person " + std::to_string(i) + (i % 2 == 0 ? " alpha" : " beta");
        const unit_id a =
            c.add({.id = std::to_string(i), .text = text, .meta = {{"who", i % 2 == 0 ? "alpha" : "beta"}}});
        c.add_part(a, {.span = {0, text.size()}});
    }
    const toy::letter_embedder embed;
    const auto search_as = [&](const raptor_options& options, const scripted_generator& g) {
        const raptor_growth grown = raptor(embed, summaries(g), options).grow(c);
        const auto parts = build(c, identity{.of = unit_kind::chunk}, embed);
        const auto tops = build(c, identity{.of = unit_kind::generated}, embed);
        const query as_alpha =
            query("salary").within(scope::only(eq("who", "alpha"))).include_generated();
        for (const auto& found :
             {raptor_collapsed(dense(parts.vectors, embed), dense(tops.vectors, embed)).retrieve(as_alpha, 99),
              raptor_layered(dense(parts.vectors, embed), dense(tops.vectors, embed)).retrieve(as_alpha, 99)}) {
            CHECK(found.size() >= 3);
            for (const auto& h : found) CHECK(found.unit(h).text().find("beta") == std::string_view::npos);
        }
        return grown.summaries.size();
    };
    const scripted_generator mixing([](const prompt& p) {
        return completion(p.text().find("beta") != std::string::npos ? "What beta and others earn."
                                                                     : "What alpha earns.");
    });
    CHECK(search_as(across, mixing) >= 1);
    const raptor_options apart{.across_articles = true,
                               .apart = [](const unit_ref& u) { return u.value("who")->to_string(); }};
    const auto spy = mixing;
    const std::size_t before = spy.calls();
    CHECK(search_as(apart, spy) == 2);
    const auto asked = spy.asked();
    for (std::size_t i = before; i < asked.size(); ++i)
        CHECK((asked[i].text().find("alpha") != std::string::npos) !=
              (asked[i].text().find("beta") != std::string::npos));
}

// 129: OWASP AISVS 667; lunora PR 694.
TEST_CASE("what lies above or beside an allowed part is judged by itself, also after rights changed") {
    corpus c(schema{{"open", field_type::boolean}});
    const unit_id a =
        c.add({.id = "a", .text = "cats purr. secret one. dogs bark. more dogs.", .meta = {{"open", true}}});
    const unit_id cats = c.add_part(a, {.span = {0, 10}});
    const unit_id secret = c.add_part(a, {.span = {11, 22}, .title = {}, .id = {}, .meta = {{"open", false}}});
    c.add_part(a, {.span = {23, 33}});
    c.add_part(a, {.span = {34, 44}});
    const auto parts = build(c, identity{.of = unit_kind::chunk});
    const scope open = scope::only(eq("open", true));
    const auto merged = lexical(parts.bm25) | auto_merge({.above = 0.3f});
    for (const auto& h : merged.retrieve(query("dogs").within(open), 9))
        CHECK(c.text(h.unit).find("secret") == std::string_view::npos);
    c.replace_metadata(a, {{"open", false}});
    c.replace_metadata(cats, {{"open", true}});
    const auto lifted = (lexical(parts.bm25) | lift(unit_kind::article)).retrieve(query("cats").within(open), 9);
    REQUIRE(lifted.size() == 1);
    CHECK(lifted.hits[0].unit == cats);
    CHECK(lifted.hits[0].unit != secret);
}

// 89: ragflow PR 16627, about 93,000 chunks and a table of 14 GB.
TEST_CASE("grouping twice the rows does not take four times the memory") {
    const auto peak = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return static_cast<double>(usage.ru_maxrss);  // kilobytes; only grows
    };
    const auto grouped = [&](std::size_t n) {
        detail::splitmix64 random(n);
        std::vector<float> rows(n * 16);
        for (float& x : rows) x = static_cast<float>(random.symmetric());
        const double before = peak();
        CHECK(kmeans_clusters{.pool = 500, .restarts = 1}(rows, 16).size() > n / 20);
        return peak() - before;
    };
    // A table of 4,000 by 4,000 floats would have 64 megabytes.
    CHECK(grouped(4000) < 32'000.0);
}
