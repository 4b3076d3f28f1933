#include "quarry/expand/metadata_keys.hpp"

#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Each key as "part: text".
template <class X>
std::vector<std::string> keys_of(const X& expander, const corpus& c, std::size_t unit) {
    std::vector<std::string> out;
    expander(c, unit_at(unit), [&](key k) {
        CHECK(k.unit == unit_at(unit));
        out.push_back(std::string(name_of(k.part)) + ": " + k.text);
    });
    return out;
}

// Three articles that share "Overview", two that share "Limits".
corpus three() {
    corpus c;
    c.add({.id = "a",
           .title = "Boost",
           .summary = "More heat.",
           .text = "body",
           .headings = {{"Overview"}, {"Starting it"}, {"Limits"}}});
    c.add({.id = "b", .title = "Frost guard", .summary = "", .text = "body", .headings = {{" Overview "}, {"Limits"}}});
    c.add({.id = "c", .title = "", .text = "body", .headings = {{"Overview"}, {"Overview"}, {"Overview"}}});
    return c;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("title, summary and every heading are keys, the body is not") {
    const corpus c = three();
    CHECK(keys_of(metadata_keys(c, {.shared = shared_headings::keep}), c, 0) ==
          texts{"title: Boost", "summary: More heat.", "heading: Overview", "heading: Starting it", "heading: Limits"});
}

TEST_CASE("a heading of three articles or more stands behind its title, unless it is dropped or kept") {
    const corpus c = three();
    CHECK(keys_of(metadata_keys(c), c, 0) == texts{"title: Boost", "summary: More heat.", "heading: Boost: Overview",
                                                   "heading: Starting it", "heading: Limits"});
    CHECK(keys_of(metadata_keys(c, {.shared = shared_headings::drop}), c, 0) ==
          texts{"title: Boost", "summary: More heat.", "heading: Starting it", "heading: Limits"});
    CHECK(keys_of(metadata_keys(c, {.shared = shared_headings::drop, .shared_by = 2}), c, 0) ==
          texts{"title: Boost", "summary: More heat.", "heading: Starting it"});
    CHECK(keys_of(metadata_keys(c, {.shared_by = 4}), c, 0)[2] == "heading: Overview");
}

TEST_CASE("articles are counted, not occurrences: a heading three times in one article is not shared") {
    corpus c;
    c.add({.id = "a", .title = "A", .headings = {{"Step"}, {"Step"}, {"Step"}}});
    CHECK(keys_of(metadata_keys(c, {.shared = shared_headings::drop}), c, 0) ==
          texts{"title: A", "heading: Step", "heading: Step", "heading: Step"});
    CHECK(build(c, metadata_keys(c)).report.keys == 2);  // equal texts of one article are one key
}

TEST_CASE("an empty title, summary or heading is no key, and a shared heading without a title is none either") {
    const corpus c = three();
    CHECK(keys_of(metadata_keys(c), c, 1) ==
          texts{"title: Frost guard", "heading: Frost guard: Overview", "heading: Limits"});
    CHECK(keys_of(metadata_keys(c), c, 2).empty());
    CHECK(build(c, metadata_keys(c)).report.units_without_key == std::vector<unit_id>{unit_id{2}});
    corpus blank;
    blank.add({.id = "a", .title = " \n", .summary = "\t", .headings = {{" "}, {""}}});
    CHECK(keys_of(metadata_keys(blank), blank, 0).empty());
}

TEST_CASE("a shared heading that is the article's title adds nothing to it") {
    corpus c;
    for (const char* id : {"a", "b", "c"}) c.add({.id = id, .title = "Overview", .headings = {{"Overview"}}});
    CHECK(keys_of(metadata_keys(c), c, 0) == texts{"title: Overview"});
}

TEST_CASE("phrases that led to an article before are keys of it, blank ones left out") {
    const corpus c = three();
    const metadata_keys expander(c, {.phrases = [](const unit_ref& unit) -> std::vector<std::string> {
                                     if (unit.id() != "c") return {};
                                     return {"it is too cold", " ", "no heat "};
                                 }});
    CHECK(keys_of(expander, c, 2) == texts{"phrase: it is too cold", "phrase: no heat"});
    CHECK(keys_of(expander, c, 1).size() == 3);
}

TEST_CASE("it fills the population of metadata, of articles") {
    STATIC_REQUIRE(KeyExpander<metadata_keys>);
    const corpus c;
    CHECK(metadata_keys(c).kind() == key_kind::metadata);
    CHECK(metadata_keys(c).level() == unit_kind::article);
}

TEST_CASE("parts of articles are neither asked about nor counted") {
    corpus c = three();
    c.add_part(unit_id{0}, {.kind = unit_kind::section, .span = {0, 4}, .title = "Overview"});
    const lexical_base base = build(c, metadata_keys(c));
    CHECK(base.report.units == 3);
    CHECK(toy::ids(lexical(base.bm25).retrieve("starting", 5)) == texts{"a"});
}

TEST_CASE("an article that was added after the headings were counted gets keys by the old counts") {
    corpus c = three();
    const metadata_keys expander(c, {.shared = shared_headings::drop});
    c.add({.id = "d", .title = "New", .headings = {{"Overview"}, {"Never seen"}}});
    CHECK(keys_of(expander, c, 3) == texts{"title: New", "heading: Never seen"});
}
