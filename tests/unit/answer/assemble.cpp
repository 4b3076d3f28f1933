#include "quarry/answer/assemble.hpp"

#include <random>

#include "quarry/answer/citations.hpp"
#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

constexpr auto in_bytes = [](std::string_view text) { return text.size(); };
const std::function<bool(unit_id)> anywhere = [](unit_id) { return true; };

// "# A", "# B" of ten letters each, and an article without headings.
struct manual {
    corpus c;
    unit_id a, b;
    manual() {
        const std::string text = "# A\naaaa aaaaa\n\nmore a\n# B\nbbbb bbbbb\n";
        a = c.add({.id = "m",
                   .title = "Manual",
                   .text = text,
                   .headings = {{"A", 1, {0, 3}}, {"B", 1, {23, 26}}},
                   .links = {{"help/b", "b", {27, 31}}}});
        b = c.add({.id = "n", .title = "Note", .text = "one two three. four five six. seven."});
    }
    packed_context of(std::vector<excerpt> excerpts, assemble_options options) const {
        return assemble(c, excerpts, anywhere, options, in_bytes);
    }
    std::string words(const packed_context& context, std::size_t number) const {
        const packed_unit& u = *context.numbered(number);
        return context.text.substr(u.span.begin, u.span.size());
    }
};

}  // namespace

TEST_CASE("an article is given whole where the budget allows, else its sections, else its parts") {
    const manual m;
    const std::vector<excerpt> found{{m.a, {4, 8}}};
    const auto words_at = [&](std::size_t budget) {
        const packed_context context = m.of(found, {.budget = budget});
        CHECK(context.tokens <= budget);
        return context.units.empty() ? "" : m.words(context, 1);
    };
    // "[1] Manual\n" are 11 bytes.
    CHECK(words_at(48) == "# A\naaaa aaaaa\n\nmore a\n# B\nbbbb bbbbb");
    CHECK(words_at(47) == "# A\naaaa aaaaa\n\nmore a");
    CHECK(words_at(32) == "aaaa");
    CHECK(words_at(15) == "aaaa");
    CHECK(m.words(m.of(found, {.budget = 100, .widen_to = widest::section}), 1) == "# A\naaaa aaaaa\n\nmore a");
    CHECK(m.words(m.of(found, {.budget = 100, .widen_to = widest::part}), 1) == "aaaa");
}

TEST_CASE("parts that overlap or touch are one, in reading order, each with its bytes and its own number") {
    const manual m;
    const packed_context context = m.of({{m.a, {27, 31}}, {m.a, {9, 14}}, {m.a, {4, 10}}, {m.b, {0, 7}}},
                                        {.budget = 200, .widen_to = widest::part});
    CHECK(context.text == "[1] Manual\naaaa aaaaa\n\n[2] Manual\nbbbb\n\n[3] Note\none two");
    REQUIRE(context.units.size() == 3);
    CHECK(context.units[0].taken == byte_span{4, 14});
    CHECK(context.units[1].taken == byte_span{27, 31});
    CHECK(context.units[2].rank == 4);
    CHECK(context.units[0].links.empty());
    CHECK(context.units[1].links.size() == 1);
    CHECK(check_citations("[2] and [4]", context).unknown.size() == 1);
    CHECK(
        m.of({{m.a, {27, 31}}, {m.a, {4, 14}}}, {.budget = 200, .widen_to = widest::part, .bridge = 20}).units.size() ==
        1);
}

TEST_CASE("what does not fit is left out by rank, and the first is cut where nothing fits") {
    const manual m;
    const std::vector<excerpt> found{{m.b, {0, 36}}, {m.a, {4, 8}}};
    // Note: 9 + 36 bytes. Manual's part 11 + 4.
    const packed_context skipped = m.of(found, {.budget = 20, .widen_to = widest::part});
    CHECK(skipped.text == "[1] Manual\naaaa");
    REQUIRE(skipped.left_out.size() == 1);
    CHECK(skipped.left_out[0].rank == 1);
    CHECK(skipped.left_out[0].reason == left_out_reason::over_budget);
    const std::vector<excerpt> alone{{m.b, {0, 36}}};
    CHECK(m.of(alone, {.budget = 30}).text == "[1] Note\none two three.\n[...]");
    CHECK(m.of(alone, {.budget = 20}).text == "[1] Note\none\n[...]");
    CHECK_FALSE(m.of(alone, {.budget = 20}).units[0].whole);
    CHECK(m.of(alone, {.budget = 20, .cut_first = false}).units.empty());
    CHECK(m.of(alone, {.budget = 0}).text.empty());
    CHECK(m.of({}, {}).text.empty());
}

TEST_CASE("nothing is widened to an article that the query may not see") {
    corpus c(schema{{"tenant", field_type::string}});
    const unit_id secret = c.add({.id = "s", .text = "public words. secret words.", .meta = {{"tenant", "y"}}});
    c.add_part(secret, {.span = {0, 13}, .meta = {{"tenant", "x"}}});
    const lexical_base kb = build(c, identity{unit_kind::chunk});
    const auto found = lexical(kb.bm25).retrieve(query("public").within(scope::only(eq("tenant", "x"))), 5);
    REQUIRE(found.size() == 1);
    CHECK(assemble(found).text.find("secret") == std::string::npos);
    const auto all = lexical(kb.bm25).retrieve(query("public").within(scope::everything()), 5);
    CHECK(assemble(all).text.find("secret") != std::string::npos);
}

TEST_CASE("of an article that the query may not see, no title, link or text between its parts is shown") {
    corpus c;
    const unit_id secret = c.add({.id = "s",
                                  .title = "Secret title",
                                  .text = "one. secret. two. three.",
                                  .links = {{"secret/file", "file", {}}, {"open/file", "two", {13, 16}}}});
    const unit_id one = c.add_part(secret, {.span = {0, 4}, .title = "First"});
    const unit_id two = c.add_part(secret, {.span = {13, 17}});
    const std::vector<excerpt> found{{one, {0, 4}}, {two, {0, 4}}};
    const assemble_options bridging{.budget = 1000, .bridge = 20};
    const packed_context context = assemble(c, found, [](unit_id) { return false; }, bridging, in_bytes);
    CHECK(context.text == "[1] First\none.\n\n[2] First\ntwo.");
    REQUIRE(context.units.size() == 2);
    CHECK(context.units[0].title == "First");
    CHECK(context.units[0].links.empty());
    REQUIRE(context.units[1].links.size() == 1);
    CHECK(context.units[1].links[0].target == "open/file");
    // One that may be seen is bridged and shown by its own name.
    const packed_context open = assemble(c, found, anywhere, bridging, in_bytes);
    CHECK(open.text == "[1] Secret title\none. secret. two. three.");
    CHECK(open.units[0].links.size() == 2);
}

TEST_CASE("whatever is found, the budget holds and no byte is shown twice") {
    std::mt19937 random(11);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (int round = 0; round < 200; ++round) {
        corpus c;
        std::vector<excerpt> found;
        for (std::uint32_t i = 0; i < 3; ++i) {
            std::string text;
            for (std::size_t w = below(40); w-- > 0;)
                text += std::string(1 + below(6), 'x') + (below(5) == 0 ? ". " : " ");
            c.add({.id = std::to_string(i), .title = "T", .text = text});
            for (std::size_t n = below(4); n-- > 0 && !text.empty();) {
                const std::size_t begin = below(text.size());
                found.push_back({unit_id{i}, {begin, begin + 1 + below(text.size() - begin)}});
            }
        }
        std::ranges::shuffle(found, random);
        const std::size_t budget = below(200);
        const packed_context context = assemble(c, found, anywhere, {.budget = budget}, in_bytes);
        CHECK(context.tokens <= budget);
        CHECK(context.tokens == context.text.size());
        for (const packed_unit& u : context.units) {
            CHECK(context.text.substr(u.span.begin, u.span.size()) ==
                  c.text(u.unit).substr(u.taken.begin, u.taken.size()));
            for (const packed_unit& v : context.units)
                if (u.unit == v.unit && u.number < v.number) CHECK(u.taken.end <= v.taken.begin);
        }
    }
}
