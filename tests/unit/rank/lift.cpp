#include "quarry/rank/lift.hpp"

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "quarry/rank/rerank.hpp"
#include "support/catch.hpp"
#include "support/lists.hpp"

using namespace quarry;
using ids = std::vector<std::uint32_t>;

namespace {

// Articles 0 and 1; section 2 of article 0 with chunks 3 and 4; chunk 5 of article 1; generated 6 from article 0.
corpus with_parts() {
    corpus c(schema{{"part", field_type::string}});
    c.add({.id = "a", .text = "aa bb", .meta = {{"part", "whole"}}});
    c.add({.id = "b", .text = "cc", .meta = {{"part", "whole"}}});
    const unit_id section = c.add_part(unit_id{0}, {.kind = unit_kind::section, .span = {0, 5}});
    c.add_part(section, {.span = {0, 2}, .meta = {{"part", "chunk"}}});
    c.add_part(section, {.span = {3, 5}, .meta = {{"part", "chunk"}}});
    c.add_part(unit_id{1}, {.span = {0, 2}, .id = "b-chunk"});
    c.add_generated({.id = "s", .text = "about a", .sources = {unit_id{0}}});
    return c;
}

}  // namespace

TEST_CASE("a parent takes the place, the score and the key of its best child") {
    const corpus c = with_parts();
    const auto base = toy::listed<cosine_scale>(c, {{4, .9f}, {5, .8f}, {3, .7f}, {0, .6f}});
    const auto articles = (base | lift(unit_kind::article)).retrieve("", 9);
    CHECK(toy::units(articles) == ids{0, 1});
    CHECK(articles[0].score == .9f);
    CHECK(articles[0].via == key_id{104});
    CHECK(articles[1].via == key_id{105});
    // The ledger still leads to the entry of the child.
    CHECK(articles.notes()[articles[0].trail].key == key_id{104});
    CHECK(toy::units((base | lift(unit_kind::section)).retrieve("", 9)) == ids{2, 5, 0});
}

TEST_CASE("a unit without such a parent stays what it is") {
    const corpus c = with_parts();
    const auto base = toy::listed<cosine_scale>(c, {{6, .9f}, {1, .8f}, {5, .7f}});
    const query asked = query("").include_generated();
    CHECK(toy::units((base | lift(unit_kind::article)).retrieve(asked, 9)) == ids{6, 1});
    CHECK(toy::units((base | lift(unit_kind::section)).retrieve(asked, 9)) == ids{6, 1, 5});
}

TEST_CASE("a parent that the filter does not let through is not returned, its child is") {
    const corpus c = with_parts();
    const auto base = toy::listed<cosine_scale>(c, {{4, .9f}, {5, .8f}, {3, .7f}});
    const auto chunks = (base | lift(unit_kind::article)).retrieve(query("").where(eq("part", "chunk")), 9);
    CHECK(toy::units(chunks) == ids{4, 3});
    // Chunk 5 states no part of its own and inherits its article's.
    const auto whole = (base | lift(unit_kind::article)).retrieve(query("").where(eq("part", "whole")), 9);
    CHECK(toy::units(whole) == ids{1});
    CHECK(
        toy::units((base | lift(unit_kind::article)).retrieve(query("").within(scope::only(eq("part", "chunk"))), 9)) ==
        ids{4, 3});
}

TEST_CASE("a filter that nobody evaluated lets no parent through") {
    // A source elsewhere hands over the expression alone: its index judges children, and nobody has judged the parent.
    struct elsewhere {
        const corpus* c;
        std::size_t size() const { return c->size(); }
        unit_kind kind(unit_id u) const { return c->kind(u); }
        std::string_view id(unit_id u) const { return c->id(u); }
        std::string_view title(unit_id u) const { return c->title(u); }
        std::string_view text(unit_id u) const { return c->text(u); }
        std::optional<unit_id> parent(unit_id u) const { return c->parent(u); }
        std::optional<field_value> value(unit_id u, std::string_view f) const { return c->value(u, f); }
        std::optional<unit_id> find(std::string_view id) const { return c->find(id); }
        selection select(const selection_criteria& criteria) const {
            return {criteria.where ? std::optional(*criteria.where) : std::nullopt, nullptr, nullptr};
        }
    };
    const corpus c = with_parts();
    const elsewhere source{&c};
    // The leg stands for an engine that evaluated the filter itself and found chunk 4.
    struct engine : retriever_interface<engine> {
        using scale = cosine_scale;
        const elsewhere* from;
        explicit engine(const elsewhere& e) : from(&e) {}
        source_ref source() const { return *from; }
        results<scale> run(request&, std::size_t k) const {
            results<scale> out;
            if (k != 0) out.hits.push_back({unit_id{4}, key_id{0}, .9f, no_entry});
            return out;
        }
    };
    const auto lifted = engine(source) | lift(unit_kind::article);
    CHECK(toy::units(lifted.retrieve("", 9)) == ids{0});
    CHECK(toy::units(lifted.retrieve(query("").where(eq("part", "chunk")), 9)) == ids{4});
}

TEST_CASE("lifting asks for more until k parents are there") {
    corpus c;
    c.add({.id = "a", .text = std::string(100, 'a')});
    c.add({.id = "b", .text = "b"});
    toy::scored_units hits;
    for (std::uint32_t i = 0; i < 100; ++i) {
        c.add_part(unit_id{0}, {.span = {i, i + 1}});
        hits.emplace_back(2 + i, 1.0f - .001f * static_cast<float>(i));
    }
    hits.emplace_back(1, .1f);
    const auto base = toy::listed<cosine_scale>(c, hits);
    CHECK(toy::units((base | lift(unit_kind::article)).retrieve("", 2)) == ids{0, 1});
    CHECK(base.asked->back() >= 101);
    CHECK((base | lift(unit_kind::article)).retrieve("", 3).size() == 2);
    CHECK((base | lift(unit_kind::article)).retrieve("", SIZE_MAX).size() == 2);
    CHECK((base | lift(unit_kind::article)).retrieve("", 0).empty());
}

TEST_CASE("parents whose children score alike come by their own ids, for every k") {
    // Twelve articles, each with one chunk, chunks in the opposite order: chunk 12 + i belongs to article 11 - i.
    corpus c;
    for (int i = 0; i < 12; ++i) c.add({.id = std::to_string(i), .text = "x"});
    toy::scored_units alike, pairs;
    for (std::uint32_t i = 0; i < 12; ++i) {
        c.add_part(unit_id{11 - i}, {.span = {0, 1}});
        alike.emplace_back(12 + i, .5f);
        pairs.emplace_back(12 + i, static_cast<float>(i / 2));
    }
    for (const auto& hits : {alike, toy::in_order(pairs)}) {
        const auto lifted = toy::listed<cosine_scale>(c, hits) | lift(unit_kind::article);
        const auto all = lifted.retrieve("", 100);
        CHECK(std::ranges::is_sorted(all.hits, [](const auto& a, const auto& b) { return better(a, b); }));
        const ids order = toy::units(all);
        for (std::size_t k = 1; k <= 12; ++k)
            CHECK(toy::units(lifted.retrieve("", k)) ==
                  ids(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k)));
    }
}

TEST_CASE("lifting keeps an order that a stage chose") {
    const corpus c = with_parts();
    const auto chosen = toy::listed<selection_scale>(c, {{5, .1f}, {3, .9f}, {4, .9f}});
    CHECK(toy::units((chosen | lift(unit_kind::article)).retrieve("", 9)) == ids{1, 0});
}

TEST_CASE("lifting agrees with lifting everything and keeping the best of each parent") {
    std::mt19937 random(4);
    corpus c;
    for (int i = 0; i < 8; ++i) c.add({.id = std::to_string(i), .text = std::string(20, 'x')});
    for (std::size_t i = 0; i < 60; ++i)
        c.add_part(unit_id{static_cast<std::uint32_t>(random() % 8)},
                   {.span = {0, 1}, .id = "chunk " + std::to_string(i)});
    for (int round = 0; round < 60; ++round) {
        toy::scored_units hits;
        std::map<std::uint32_t, float> best;
        for (std::uint32_t unit = 0; unit < 68; ++unit) {
            if (random() % 3 == 0) continue;
            const auto score = static_cast<float>(random() % 6);
            hits.emplace_back(unit, score);
            const auto article = static_cast<std::uint32_t>(source_ref(c).article_of(unit_id{unit}));
            const auto [at, fresh] = best.try_emplace(article, score);
            if (!fresh) at->second = std::max(at->second, score);
        }
        const toy::scored_units expected = toy::in_order({best.begin(), best.end()});
        for (std::size_t k = 1; k <= 9; ++k) {
            const auto found =
                (toy::listed<cosine_scale>(c, toy::in_order(hits)) | lift(unit_kind::article)).retrieve("", k);
            REQUIRE(found.size() == std::min(k, expected.size()));
            for (std::size_t i = 0; i < found.size(); ++i) {
                CHECK(found[i].unit == unit_id{expected[i].first});
                CHECK(found[i].score == expected[i].second);
            }
        }
    }
}
