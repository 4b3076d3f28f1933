#include "quarry/grow/chunks.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

corpus guide() {
    corpus c(schema{{"product", field_type::string}});
    const std::string text = "# Guide\nOne two three.\n## Install\nFour five six. Seven eight nine.\n";
    c.add({.id = "guide",
           .title = "Guide",
           .text = text,
           .headings = {{"Guide", 1, {0, 7}}, {"Install", 2, {23, 33}}},
           .meta = {{"product", "app"}}});
    c.add({.id = "empty"});
    c.add({.id = "blank", .text = " \n\n "});
    return c;
}

}  // namespace

TEST_CASE("an article grows chunks that tile it, titled by their headings, with its metadata") {
    corpus c = guide();
    CHECK(chunks({.most_tokens = 8}).grow(c) == 3);
    REQUIRE(c.size() == 6);
    const std::vector<std::string> texts = {"# Guide\nOne two three.\n", "## Install\nFour five six. ",
                                            "Seven eight nine.\n"};
    std::string all;
    for (std::size_t i = 0; i < 3; ++i) {
        const unit_id unit = unit_at(3 + i);
        CHECK(c.kind(unit) == unit_kind::chunk);
        CHECK(c.text(unit) == texts[i]);
        CHECK(c.title(unit) == (i == 0 ? "Guide" : "Guide > Install"));
        CHECK(c.parent(unit) == unit_at(0));
        CHECK(c.value(unit, "product") == field_value("app"));
        all += c.text(unit);
    }
    CHECK(all == c.text(unit_at(0)));
}

TEST_CASE("one article can grow by itself, and not twice in the same way") {
    corpus c = guide();
    const auto grown = chunks({.most_tokens = 8}).grow(c, unit_at(0));
    CHECK(grown == std::vector<unit_id>{unit_at(3), unit_at(4), unit_at(5)});
    CHECK(code_of([&] { chunks({.most_tokens = 8}).grow(c, unit_at(0)); }) == "corpus.duplicate_id");
    CHECK(c.size() == 6);
    CHECK(chunks({.most_tokens = 100}).grow(c, unit_at(2)).empty());
    CHECK(code_of([&] { chunks().grow(c, unit_at(99)); }) == "corpus.unknown_unit");
}

TEST_CASE("a chunk's text has what it repeats of the one before") {
    corpus c;
    c.add({.id = "a", .text = "One two. Three four. Five six."});
    const auto words = [](std::string_view text) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < text.size(); ++i) count += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
        return count;
    };
    CHECK(chunks({.most_tokens = 4, .overlap_tokens = 2}, words).grow(c) == 2);
    CHECK(c.text(unit_at(1)) == "One two. Three four. ");
    CHECK(c.text(unit_at(2)) == "Three four. Five six.");
}
