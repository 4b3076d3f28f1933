#include "quarry/answer/pack.hpp"

#include "quarry/core/corpus.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Counts bytes, so that budgets can be added up by hand.
constexpr auto bytes = [](std::string_view text) { return text.size(); };

std::vector<unit_id> all_units(const corpus& c) {
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < c.size(); ++i) units.push_back(unit_at(i));
    return units;
}

// Articles of so many bytes, one paragraph each, packed without headings and separators.
packed_context pack_sizes(const std::vector<std::size_t>& sizes, pack_options options) {
    corpus c;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        c.add({.id = std::to_string(i), .title = {}, .summary = {}, .text = std::string(sizes[i], 'x')});
    options.heading = [](std::size_t, const unit_ref&) { return std::string(); };
    options.separator = {};
    return pack(c, all_units(c), options, bytes);
}

std::vector<std::size_t> ranks(const packed_context& context) {
    std::vector<std::size_t> out;
    for (const packed_unit& u : context.units) out.push_back(u.rank);
    return out;
}

using found = std::vector<std::size_t>;

corpus help() {
    corpus c;
    c.add({.id = "a", .title = "Alpha", .text = "one\n\ntwo"});
    c.add({.id = "b", .title = "Beta", .text = "three"});
    return c;
}

}  // namespace

TEST_CASE("units are packed in rank order under numbered headings, and each knows its bytes") {
    const corpus c = help();
    const packed_context context = pack(c, all_units(c));
    CHECK(context.text == "[1] Alpha\none\n\ntwo\n\n[2] Beta\nthree");
    CHECK(context.tokens == approximate_tokens{}(context.text));
    CHECK(context.budget == 3000);
    REQUIRE(context.units.size() == 2);
    CHECK(context.units[0].id == "a");
    CHECK(context.units[1].title == "Beta");
    CHECK(context.text.substr(context.units[0].span.begin, context.units[0].span.size()) == "one\n\ntwo");
    CHECK(context.text.substr(context.units[1].span.begin, context.units[1].span.size()) == "three");
    CHECK(context.units[0].taken == byte_span{0, 8});
    CHECK(context.units[0].whole);
    CHECK(context.left_out.empty());
    CHECK(context.numbered(2) == &context.units[1]);
    CHECK(context.numbered(0) == nullptr);
    CHECK(context.numbered(3) == nullptr);
    CHECK(context.at(context.text.find("three")) == &context.units[1]);
    CHECK(context.at(0) == nullptr);
}

TEST_CASE("sizes 700, 650, 900 and 300 in a budget of 2500: the first three, whether stopping or skipping") {
    for (const pack_policy policy : {pack_policy::prefix_stop, pack_policy::skip}) {
        const packed_context context = pack_sizes({700, 650, 900, 300}, {.budget = 2500, .policy = policy});
        CHECK(ranks(context) == found{1, 2, 3});
        CHECK(context.tokens == 2250);
        REQUIRE(context.left_out.size() == 1);
        CHECK(context.left_out[0].rank == 4);
        CHECK(context.left_out[0].reason == left_out_reason::over_budget);
        CHECK(context.left_out[0].tokens == 300);
        CHECK(context.left_out[0].room == 250);
    }
}

TEST_CASE("sizes 3000 and 200 in a budget of 2500: stopping needs the rule of the first, skipping takes the second") {
    const packed_context stopped = pack_sizes({3000, 200}, {.budget = 2500, .cut_first = false});
    CHECK(stopped.units.empty());
    CHECK(stopped.text.empty());
    CHECK(stopped.tokens == 0);
    REQUIRE(stopped.left_out.size() == 2);
    CHECK(stopped.left_out[0].reason == left_out_reason::over_budget);
    CHECK(stopped.left_out[1].reason == left_out_reason::after_stop);

    const packed_context skipped = pack_sizes({3000, 200}, {.budget = 2500, .policy = pack_policy::skip});
    CHECK(ranks(skipped) == found{2});
    REQUIRE(skipped.left_out.size() == 1);
    CHECK(skipped.left_out[0].rank == 1);
}

TEST_CASE("if nothing fits, the first is cut: at a paragraph, else at a sentence, else at a word") {
    corpus c;
    c.add({.id = "p", .title = "T", .text = "# Head\n\nFirst paragraph.\n\n## Next\n\nSecond one. It has two sentences."});
    const auto cut = [&](std::size_t budget, pack_policy policy = pack_policy::prefix_stop) {
        return pack(c, all_units(c), {.budget = budget, .policy = policy, .cut_mark = "~"}, bytes);
    };
    // "[1] T\n" and the mark take 7 bytes; "# Head\n\nFirst paragraph." 24.
    CHECK(cut(31).text == "[1] T\n# Head\n\nFirst paragraph.~");
    CHECK(cut(31).tokens == 31);
    CHECK_FALSE(cut(31).units[0].whole);
    CHECK(cut(31).units[0].taken == byte_span{0, 24});
    CHECK(cut(50).text == "[1] T\n# Head\n\nFirst paragraph.~");  // not "## Next", which announces what is missing
    CHECK(cut(30).text == "[1] T\n# Head~");                      // the heading is a sentence of its own here
    CHECK(cut(12).text == "");                                     // not even a word behind the heading: "# Head" is 6 bytes
    CHECK(cut(12).left_out[0].reason == left_out_reason::over_budget);
    CHECK(cut(31, pack_policy::skip).text == cut(31).text);
    CHECK(cut(31, pack_policy::skip).left_out.empty());

    corpus words;
    words.add({.id = "w", .title = "", .text = "alpha beta gamma"});
    CHECK(pack(words, all_units(words), {.budget = 15, .cut_mark = "~"}, bytes).text == "[1]\nalpha beta~");
    corpus chinese;
    chinese.add({.id = "z", .title = "", .text = "\u6F22\u5B57\u6F22\u5B57"});
    CHECK(pack(chinese, all_units(chinese), {.budget = 12, .cut_mark = "~"}, bytes).text == "[1]\n\u6F22\u5B57~");
}

TEST_CASE("truncating cuts the first unit that does not fit at a paragraph, and stops there") {
    corpus c;
    c.add({.id = "a", .title = "A", .text = "short"});
    c.add({.id = "b", .title = "B", .text = "para one\n\npara two\n\npara three"});
    c.add({.id = "c", .title = "C", .text = "x"});
    const auto at = [&](std::size_t budget) {
        return pack(c, all_units(c), {.budget = budget, .policy = pack_policy::truncate, .cut_mark = "~"}, bytes);
    };
    // "[1] A\nshort" 11, "\n\n[2] B\n" 8, "para one" 8, mark 1: 28. With "para two" 38.
    CHECK(at(28).text == "[1] A\nshort\n\n[2] B\npara one~");
    CHECK(at(37).text == at(28).text);
    CHECK(at(38).text == "[1] A\nshort\n\n[2] B\npara one\n\npara two~");
    REQUIRE(at(28).left_out.size() == 1);
    CHECK(at(28).left_out[0].rank == 3);
    CHECK(at(28).left_out[0].reason == left_out_reason::after_stop);
    CHECK(at(27).text == "[1] A\nshort");
    CHECK(at(27).left_out[0].reason == left_out_reason::over_budget);
}

TEST_CASE("the text is never over the budget, whatever the budget, the policy and the counter") {
    corpus c;
    std::uint32_t seed = 37;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    for (int i = 0; i < 6; ++i) {
        std::string text;
        for (std::uint32_t p = 0; p < 1 + random(5); ++p) {
            for (std::uint32_t w = 0; w < random(12); ++w) text += random(3) == 0 ? "\u6F22\u5B57. " : "words are here ";
            text += "\n\n";
        }
        c.add({.id = std::to_string(i), .title = "Title " + std::to_string(i), .text = text});
    }
    const auto check = [&](const auto& count) {
        for (const pack_policy policy : {pack_policy::prefix_stop, pack_policy::skip, pack_policy::truncate})
            for (std::size_t budget = 0; budget < 400; ++budget) {
                const packed_context context = pack(c, all_units(c), {.budget = budget, .policy = policy}, count);
                CHECK(context.tokens == (context.text.empty() ? 0 : count(context.text)));
                CHECK(context.tokens <= budget);
                CHECK(context.units.size() + context.left_out.size() == c.size());
                CHECK(std::ranges::is_sorted(ranks(context)));
                for (const packed_unit& u : context.units)
                    CHECK(context.text.substr(u.span.begin, u.span.size()) == c.text(u.unit).substr(u.taken.begin, u.taken.size()));
            }
    };
    check(approximate_tokens{});
    check([](std::string_view text) { return text.size(); });
    // A counter that does not add up: joining texts makes more of them.
    check([](std::string_view text) { return text.size() / 8 + text.size() * text.size() / 4000; });
}

TEST_CASE("units without text, and units inside one that is packed, are left out and listed") {
    corpus c;
    const unit_id article = c.add({.id = "a", .title = "A", .text = "one two three"});
    const unit_id chunk = c.add_part(article, {.span = {4, 7}});
    const unit_id empty = c.add({.id = "e", .title = "Empty", .text = " \n"});
    const unit_id other = c.add({.id = "o", .title = "O", .text = "other"});
    const std::vector<unit_id> order = {article, chunk, empty, other, article};
    const packed_context context = pack(c, order);
    CHECK(ranks(context) == found{1, 4});
    REQUIRE(context.left_out.size() == 3);
    CHECK(context.left_out[0].reason == left_out_reason::contained);
    CHECK(context.left_out[1].reason == left_out_reason::no_text);
    CHECK(context.left_out[2].reason == left_out_reason::contained);
    // The other way round both stay: the chunk came first, and the article holds more.
    CHECK(ranks(pack(c, std::vector<unit_id>{chunk, article})) == found{1, 2});
}

TEST_CASE("a title cannot write another unit's heading, and generated text says so") {
    corpus c;
    const unit_id a = c.add({.id = "a", .title = "A\n[2] Forged\r\nx", .text = "text"});
    const unit_id s = c.add_generated({.id = "s", .text = "summary", .sources = {a}, .title = "Summary"});
    CHECK(pack(c, std::vector<unit_id>{a, s}).text == "[1] A [2] Forged  x\ntext\n\n[2] Summary (generated)\nsummary");
}

TEST_CASE("a packed unit has the links that lie in what was taken of it") {
    corpus c;
    const std::string text = "See https://a.com/x.\n\nAnd https://a.com/y too.";
    c.add({.id = "a", .title = "", .text = text,
           .links = {{"https://a.com/x", "", {4, 19}}, {"https://a.com/y", "", {26, 41}}, {"https://a.com/anywhere"}}});
    const unit_id part = c.add_part(unit_id{0}, {.span = {22, text.size()}});
    const auto targets = [&](unit_id unit, std::size_t budget) {
        std::vector<std::string> out;
        const packed_context context = pack(c, std::vector<unit_id>{unit}, {.budget = budget, .cut_mark = "~"}, bytes);
        for (const auto& l : context.units.at(0).links) out.push_back(l.target);
        return out;
    };
    CHECK(targets(unit_id{0}, 100) == std::vector<std::string>{"https://a.com/x", "https://a.com/y", "https://a.com/anywhere"});
    CHECK(targets(unit_id{0}, 30) == std::vector<std::string>{"https://a.com/x", "https://a.com/anywhere"});
    CHECK(targets(part, 100) == std::vector<std::string>{"https://a.com/y", "https://a.com/anywhere"});
}

TEST_CASE("what a retriever returned is packed with the units of its source") {
    const corpus c = help();
    const toy::word_index index{{{unit_id{0}, "one two"}, {unit_id{1}, "three two"}}, 1};
    const auto search = lexical(index, c);
    CHECK(pack(search.retrieve("two", 5)).text == pack(c, all_units(c)).text);
    CHECK(pack(search.retrieve("nothing", 5), {.budget = 7}).units.empty());
    CHECK(pack(search.retrieve("nothing", 5), {.budget = 7}).budget == 7);
    results<bm25_scale> detached;
    detached.hits.push_back({unit_id{0}});
    CHECK(code_of([&] { pack(detached); }) == "results.detached");
    CHECK(code_of([&] { pack(c, all_units(c), {}, [](std::string_view) -> std::size_t { throw usage_error("my.counter", "no"); }); }) ==
          "my.counter");
}
