#include "quarry/store/saved_corpus.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/stored.hpp"

using namespace quarry;

namespace {

std::string written_corpus(const corpus& c) {
    std::string bytes;
    detail::saved<corpus>::write(c, detail::byte_writer(bytes));
    return bytes;
}

corpus read_corpus(const std::string& bytes) {
    return detail::saved<corpus>::read(detail::byte_reader(bytes, "corpus"));
}

}  // namespace

TEST_CASE("a corpus comes back as it was: units, texts, metadata of every type, filters") {
    const corpus c = stored::everything(), d = read_corpus(written_corpus(c));
    REQUIRE(d.size() == c.size());
    for (std::size_t i = 0; i < c.size(); ++i) {
        const unit_id unit = unit_at(i);
        CHECK(d.kind(unit) == c.kind(unit));
        CHECK(d.id(unit) == c.id(unit));
        CHECK(d.find(c.id(unit)) == unit);
        CHECK(d.title(unit) == c.title(unit));
        CHECK(d.summary(unit) == c.summary(unit));
        CHECK(d.text(unit) == c.text(unit));
        CHECK(d.span(unit) == c.span(unit));
        CHECK(d.parent(unit) == c.parent(unit));
        CHECK(std::ranges::equal(d.sources(unit), c.sources(unit)));
        CHECK(d.headings(unit).size() == c.headings(unit).size());
        CHECK(d.links(unit).size() == c.links(unit).size());
        for (const field& f : c.fields()) CHECK(d.value(unit, f.name) == c.value(unit, f.name));
    }
    CHECK(d.headings(unit_id{0})[0].text == "Steps");
    CHECK(d.headings(unit_id{0})[0].level == 2);
    CHECK(d.links(unit_id{4})[0].target == "https://example.org/\u00e9");
    CHECK(d.fields()[1].description == "of publication");
    for (const field& f : c.fields()) CHECK(d.values(f.name) == c.values(f.name));
    for (const filter& f :
         {ge("price", 2.5), eq("flag", false), contains("tags", "a"), lt("updated", *date_time::parse("2024-05-08"))})
        CHECK(*d.select({.where = &f, .include_generated = true}).units() ==
              *c.select({.where = &f, .include_generated = true}).units());
    CHECK(written_corpus(d) == written_corpus(c));
}

TEST_CASE("a corpus that was read goes on as the other one") {
    corpus c = stored::everything(), d = read_corpus(written_corpus(c));
    for (corpus* each : {&c, &d}) {
        each->add({.id = "new", .text = "another", .meta = {{"product", "web"}, {"year", 2023}}});
        each->replace_metadata(unit_id{0}, {{"product", "web"}});
        CHECK(code_of([&] { each->add({.id = "reset"}); }) == "corpus.duplicate_id");
    }
    CHECK(written_corpus(d) == written_corpus(c));
    CHECK(d.values("product").size() == 1);
}

TEST_CASE("what failed and what was replaced is not written") {
    const std::string before = written_corpus(stored::everything());
    corpus c = stored::everything();
    CHECK(code_of([&] { c.add({.id = "x", .meta = {{"product", "never seen"}, {"year", "no"}}}); }) == "metadata.type");
    c.replace_metadata(unit_id{2}, {{"product", "for a moment"}});
    c.replace_metadata(unit_id{2}, {});
    CHECK(written_corpus(c) == before);
}

TEST_CASE("an empty corpus and a mandatory scope are kept") {
    const corpus empty = read_corpus(written_corpus(corpus()));
    CHECK(empty.size() == 0);
    const corpus strict =
        read_corpus(written_corpus(corpus(schema{{"tenant", field_type::string}}, {.scope_mandatory = true})));
    CHECK(code_of([&] { strict.select({}); }) == "scope.missing");
}

TEST_CASE("a corpus that contradicts itself is refused, and any other is what would be written") {
    const std::string bytes = written_corpus(stored::everything());
    const std::size_t refused = stored::refuses_or_keeps(bytes, [](const std::string& changed) {
        const corpus c = read_corpus(changed);
        const filter f = exists("product");
        c.select({.where = &f, .include_generated = true});
        for (std::size_t i = 0; i < c.size(); ++i) {
            c.text(unit_at(i));
            for (const field& declared : c.fields()) c.value(unit_at(i), declared.name);
        }
        return written_corpus(c);
    });
    CHECK(refused > bytes.size());
}
