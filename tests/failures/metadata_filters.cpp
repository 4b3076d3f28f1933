// Filters and scopes as other systems got them wrong: cases 52 to 62 and 124 to 128 of a catalogue of public failures.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/rank/auto_merge.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using found = std::vector<std::string>;

found matching(const corpus& c, const selection_criteria& criteria) {
    const selection s = c.select(criteria);
    found out;
    for (std::size_t i = 0; i < c.size(); ++i)
        if (s.returned().contains(unit_at(i))) out.emplace_back(c.id(unit_at(i)));
    return out;
}
found matching(const corpus& c, const filter& f) { return matching(c, {.where = &f}); }
found within(const corpus& c, const scope& s) { return matching(c, {.within = &s}); }

std::string refused(const corpus& c, const filter& f) {
    return code_of([&] { matching(c, f); });
}

// One article a value, called by the value's print; "-" has none.
corpus of_values(field_type type, const std::vector<field_value>& values) {
    corpus c(schema{{"f", type}});
    for (const field_value& v : values) c.add({.id = v.to_string(), .meta = {{"f", v}}});
    c.add({.id = "-"});
    return c;
}

std::string refused_value(corpus& c, const field_value& v) {
    const std::size_t before = c.size();
    const std::string code = code_of([&] { c.add({.id = "refused", .meta = {{"f", v}}}); });
    CHECK(c.size() == before);
    return code;
}

}  // namespace

// --------------------------------------------------------------------------------------------------------- case 52

TEST_CASE("not equal is the opposite of equal for every document, and neither finds one without the field") {
    const corpus c = of_values(field_type::string, {"draft", "final", "0", ""});
    for (const char* value : {"draft", "final", "0", "", "other"}) {
        const found equal = matching(c, eq("f", value)), unequal = matching(c, ne("f", value));
        CAPTURE(value);
        CHECK(unequal == matching(c, !eq("f", value)));
        CHECK(equal == matching(c, !ne("f", value)));
        CHECK(equal == matching(c, in("f", {value})));
        CHECK(unequal == matching(c, nin("f", {value})));
        CHECK(unequal == matching(c, !in("f", {value})));
        CHECK(equal.size() + unequal.size() == 4);
    }
    CHECK(matching(c, ne("f", "draft")) == found{"\"final\"", "\"0\"", "\"\""});
    CHECK(matching(c, ne("f", "draft") || !exists("f")) == found{"\"final\"", "\"0\"", "\"\"", "-"});
}

// --------------------------------------------------------------------------------------------------------- case 53

TEST_CASE("a number is compared as a number, and a text never meets it") {
    corpus numbers = of_values(field_type::integer, {1500, 9});
    CHECK(refused_value(numbers, "1500") == "metadata.type");
    CHECK(matching(numbers, lt("f", 30)) == found{"9"});
    CHECK(matching(numbers, eq("f", 1500)) == found{"1500"});
    CHECK(refused(numbers, eq("f", "1500")) == "metadata.type");
    CHECK(refused(numbers, ne("f", "x")) == "metadata.type");
    corpus texts = of_values(field_type::string, {"1500", "9"});
    CHECK(matching(texts, eq("f", "1500")) == found{"\"1500\""});
    CHECK(matching(texts, lt("f", "30")) == found{"\"1500\""});  // as texts are ordered
    CHECK(refused(texts, lt("f", 30)) == "metadata.type");
    CHECK(refused_value(texts, 1500) == "metadata.type");
}

// --------------------------------------------------------------------------------------------------------- case 54

TEST_CASE("2024 and 2024.0 are the same number, stored or asked for") {
    corpus numbers(schema{{"f", field_type::number}});
    numbers.add({.id = "2024", .meta = {{"f", 2024}}});
    numbers.add({.id = "2024.0", .meta = {{"f", 2024.0}}});
    numbers.add({.id = "2024.5", .meta = {{"f", 2024.5}}});
    CHECK(refused_value(numbers, "2024") == "metadata.type");
    const found both{"2024", "2024.0"}, all{"2024", "2024.0", "2024.5"};
    CHECK(matching(numbers, eq("f", 2024)) == both);
    CHECK(matching(numbers, eq("f", 2024.0)) == both);
    CHECK(matching(numbers, in("f", {2024})) == both);
    CHECK(matching(numbers, in("f", {2024.0, 1})) == both);
    CHECK(matching(numbers, ge("f", 2024)) == all);
    CHECK(matching(numbers, gt("f", 2024)) == found{"2024.5"});
    corpus integers = of_values(field_type::integer, {2024});
    CHECK(refused_value(integers, 2024.0) == "metadata.type");
    CHECK(matching(integers, eq("f", 2024.0)) == found{"2024"});
    CHECK(matching(integers, lt("f", 2024.5)) == found{"2024"});
    CHECK(matching(integers, in("f", {2024.5})).empty());
}

// --------------------------------------------------------------------------------------------------------- case 55

TEST_CASE("only a boolean meets a boolean") {
    corpus c = of_values(field_type::boolean, {true, false});
    CHECK(refused_value(c, 1) == "metadata.type");
    CHECK(refused_value(c, 0) == "metadata.type");
    CHECK(refused_value(c, "true") == "metadata.type");
    CHECK(matching(c, eq("f", true)) == found{"true"});
    CHECK(matching(c, eq("f", false)) == found{"false"});
    CHECK(matching(c, ne("f", true)) == found{"false"});
    CHECK(refused(c, eq("f", 1)) == "metadata.type");
    CHECK(refused(c, eq("f", "true")) == "metadata.type");
    CHECK(refused(c, gt("f", false)) == "filter.comparison");
}

// --------------------------------------------------------------------------------------------------------- case 56

TEST_CASE("empty lists mean what logic says, and an and whose first part matches nothing matches nothing") {
    const corpus c = of_values(field_type::integer, {1, 2});
    const found all{"1", "2", "-"}, none;
    CHECK(matching(c, all_of({})) == all);
    CHECK(matching(c, any_of({})) == none);
    CHECK(matching(c, in("f", {})) == none);
    CHECK(matching(c, nin("f", {})) == all);
    CHECK(matching(c, !all_of({})) == none);
    CHECK(matching(c, !any_of({})) == all);
    CHECK(matching(c, eq("f", 7) && eq("f", 1)) == none);
    CHECK(matching(c, eq("f", 1) && eq("f", 7)) == none);
    CHECK(matching(c, any_of({eq("f", 2)})) == found{"2"});
    CHECK(matching(c, all_of({eq("f", 2)})) == found{"2"});
    CHECK(matching(c, all_of({}) && eq("f", 2)) == found{"2"});
    CHECK(matching(c, any_of({}) || eq("f", 2)) == found{"2"});
}

// --------------------------------------------------------------------------------------------------------- case 57

TEST_CASE("dates are ordered in time, and what is no date is refused where it comes in") {
    corpus c(schema{{"f", field_type::date_time}, {"epoch", field_type::integer}});
    c.add({.id = "midnight", .meta = {{"f", "2024-05-05T00:00:00"}}});
    c.add({.id = "later", .meta = {{"f", "2024-05-05T02:03:04"}}});
    c.add({.id = "elsewhere", .meta = {{"f", "2024-05-05T03:30:00+02:00"}}});  // 01:30 in UTC, after 02:00 as a text
    c.add({.id = "seconds", .meta = {{"epoch", 1714867200}}});
    CHECK(matching(c, gt("f", "2024-05-05T02:00:00")) == found{"later"});
    CHECK(matching(c, lt("f", "2024-05-05T02:00:00")) == found{"midnight", "elsewhere"});
    CHECK(matching(c, eq("f", "2024-05-05")) == found{"midnight", "later", "elsewhere"});
    for (const char* no_date : {"2024-5-7", "5 May 2024", "2024-02-30", "1714867200", "", "2024-05-05T25:00"}) {
        CAPTURE(no_date);
        CHECK(refused_value(c, no_date) == "metadata.date");
        CHECK(refused(c, gt("f", no_date)) == "metadata.date");
        CHECK(refused(c, in("f", {"2024-05-05", no_date})) == "metadata.date");
    }
    CHECK(refused_value(c, 1714867200) == "metadata.type");
    CHECK(refused(c, gt("f", 1714867200)) == "metadata.type");
    CHECK(refused(c, gt("epoch", "2024-05-05")) == "metadata.type");
    CHECK(matching(c, ge("epoch", 1714867200)) == found{"seconds"});
}

// --------------------------------------------------------------------------------------------------------- case 58

TEST_CASE("a condition that cannot be evaluated is an error and never true") {
    const corpus c = of_values(field_type::string, {"a"});
    CHECK(refused(c, eq("", "a")) == "metadata.unknown_field");
    CHECK(refused(c, eq("F", "a")) == "metadata.unknown_field");
    CHECK(refused(c, eq("f", std::vector<std::string>{"a"})) == "metadata.type");
    CHECK(refused(c, contains("f", "a")) == "filter.comparison");
    CHECK(refused(c, !eq("nothing", "a")) == "metadata.unknown_field");
    CHECK(refused(c, exists("f") || eq("nothing", "a")) == "metadata.unknown_field");
    CHECK(refused(c, nin("nothing", {})) == "metadata.unknown_field");
    CHECK(code_of([] { filter::leaf(filter_op::lt, "f", {}); }) == "filter.shape");
    CHECK(code_of([] { filter::branch(filter_op::none_of, {}); }) == "filter.shape");
    const scope wrong = scope::only(eq("nothing", "a"));
    CHECK(code_of([&] { within(c, wrong); }) == "metadata.unknown_field");
}

TEST_CASE("an index that is handed a condition which nobody evaluated refuses it") {
    const corpus c = toy::corpus_of({"apple", "pear"});
    const knowledge_base kb = build(c, identity{}, toy::letter_embedder());
    const filter f = eq("tenant", "a");
    const accept unevaluated{nullptr, &f};
    const std::vector<float> row(26, 1.0f);
    CHECK(code_of([&] { kb.bm25.index.search("apple", 5, unevaluated); }) == "filter.unevaluated");
    CHECK(code_of([&] { kb.vectors.index.search(row, 5, unevaluated); }) == "filter.unevaluated");
    CHECK(code_of([&] { kb.vectors.index.search_batch(row, 5, unevaluated); }) == "filter.unevaluated");
}

// --------------------------------------------------------------------------------------------------------- case 59

TEST_CASE("a dot in a field's name is a byte of the name and reaches into nothing") {
    corpus c(schema{{"a.b", field_type::integer}, {"a", field_type::integer}});
    c.add({.id = "dotted", .meta = {{"a.b", 1}}});
    c.add({.id = "plain", .meta = {{"a", 1}}});
    CHECK(matching(c, eq("a.b", 1)) == found{"dotted"});
    CHECK(matching(c, eq("a", 1)) == found{"plain"});
    CHECK(refused(c, eq("b", 1)) == "metadata.unknown_field");
    CHECK(refused(c, eq("a.", 1)) == "metadata.unknown_field");
}

TEST_CASE(
    "trees of 3 and of 64 levels are built, copied, evaluated and destroyed, deeper ones are refused without harm") {
    const corpus c = of_values(field_type::integer, {1, 2});
    CHECK(matching(c, !(eq("f", 1) && exists("f"))) == found{"2", "-"});
    filter deep = eq("f", 1);
    while (deep.depth() < 64) deep = deep.depth() % 2 == 0 ? (deep && exists("f")) : (deep || eq("f", 1));
    const filter copy = deep;
    CHECK(matching(c, copy) == found{"1"});
    const query q = query("x").where(copy).within(scope::only(copy));
    CHECK(code_of([&] { request r(q, c); }) == "(no exception)");
    std::size_t refusals = 0;
    filter f = eq("f", 1);
    for (int i = 0; i < 100000; ++i) {
        try {
            f = !f;
        } catch (const usage_error& e) {
            refusals += e.code() == "filter.depth";
        }
    }
    CHECK(refusals == 100000 - 63);
    CHECK(matching(c, f) == found{"2"});  // an odd number of times not
}

// --------------------------------------------------------------------------------------------------------- case 60

TEST_CASE(
    "texts are equal byte for byte: case, composition, ligatures and spaces all count, and empty is not missing") {
    const std::string composed = "Jos\xC3\xA9", decomposed = "Jose\xCC\x81", ligature = "\xEF\xAC\x81le";
    const std::string million(1000000, 'x'), almost = million.substr(1) + 'y';
    corpus c(schema{{"f", field_type::string}});
    const std::vector<std::string> values{"ACME", "acme", composed, decomposed, ligature, "file", "acme ", "", million};
    for (std::size_t i = 0; i < values.size(); ++i) c.add({.id = std::to_string(i), .meta = {{"f", values[i]}}});
    c.add({.id = "missing"});
    for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(matching(c, eq("f", values[i])) == found{std::to_string(i)});
        CHECK(matching(c, in("f", {values[i]})) == found{std::to_string(i)});
    }
    CHECK(matching(c, eq("f", almost)).empty());
    CHECK(matching(c, prefix("f", "acme")) == found{"1", "6"});
    CHECK(matching(c, exists("f")).size() == values.size());
    CHECK(matching(c, !exists("f")) == found{"missing"});
}

// --------------------------------------------------------------------------------------------------------- case 61

TEST_CASE("a list contains or does not, and is never equal to one of its texts") {
    corpus c(schema{{"tags", field_type::string_list}});
    c.add({.id = "both", .meta = {{"tags", std::vector<std::string>{"a", "b"}}}});
    c.add({.id = "empty", .meta = {{"tags", std::vector<std::string>{}}}});
    c.add({.id = "missing"});
    CHECK(code_of([&] { c.add({.id = "text", .meta = {{"tags", "a"}}}); }) == "metadata.type");
    CHECK(matching(c, contains("tags", "a")) == found{"both"});
    CHECK(matching(c, contains("tags", "A")).empty());
    CHECK(matching(c, !contains("tags", "a")) == found{"empty"});
    CHECK(matching(c, exists("tags")) == found{"both", "empty"});
    CHECK(refused(c, eq("tags", "a")) == "filter.comparison");
    CHECK(refused(c, in("tags", {"a"})) == "filter.comparison");
    CHECK(refused(c, prefix("tags", "a")) == "filter.comparison");
}

// --------------------------------------------------------------------------------------------------------- case 62

TEST_CASE(
    "replacing metadata replaces all of it, zero, false and empty survive, and answers follow without indexing again") {
    corpus c(schema{{"a", field_type::integer}, {"b", field_type::string}, {"c", field_type::boolean}});
    c.add({.id = "x", .text = "apple", .meta = {{"a", 1}, {"b", "2"}}});
    const lexical_base kb = build(c, identity{});
    const auto search = lexical(kb.bm25);
    const auto hits = [&](const filter& f) { return search.retrieve(query("apple").where(f), 5).size(); };
    CHECK(hits(eq("a", 1)) == 1);
    c.replace_metadata(unit_id{0}, {{"a", 0}, {"c", false}});
    CHECK(c.value(unit_id{0}, "a") == field_value(0));
    CHECK(c.value(unit_id{0}, "c") == field_value(false));
    CHECK_FALSE(c.value(unit_id{0}, "b"));
    CHECK(hits(eq("a", 1)) == 0);
    CHECK(hits(eq("a", 0)) == 1);
    CHECK(hits(eq("c", false)) == 1);
    c.replace_metadata(unit_id{0}, {{"b", ""}});
    CHECK(c.value(unit_id{0}, "b") == field_value(""));
    CHECK(hits(exists("a")) == 0);
    c.replace_metadata(unit_id{0}, {});
    CHECK(hits(exists("b")) == 0);
    // A new text under an old id would leave its keys behind, so it is refused.
    CHECK(code_of([&] { c.add({.id = "x", .text = "pear"}); }) == "corpus.duplicate_id");
    CHECK(c.text(unit_id{0}) == "apple");
}

TEST_CASE("a replacement that does not fit the schema changes nothing") {
    corpus c(schema{{"a", field_type::integer}, {"b", field_type::string}});
    c.add({.id = "x", .meta = {{"a", 1}, {"b", "2"}}});
    CHECK(code_of([&] { c.replace_metadata(unit_id{0}, {{"a", 5}, {"b", 6}}); }) == "metadata.type");
    CHECK(code_of([&] { c.replace_metadata(unit_id{0}, {{"a", 5}, {"d", 6}}); }) == "metadata.unknown_field");
    CHECK(code_of([&] { c.replace_metadata(unit_id{1}, {{"a", 5}}); }) == "corpus.unknown_unit");
    CHECK(c.value(unit_id{0}, "a") == field_value(1));
    CHECK(c.value(unit_id{0}, "b") == field_value("2"));
}

// -------------------------------------------------------------------------------------------------------- case 124

TEST_CASE("whatever filter a model writes, only what the scope allows is seen") {
    corpus c(schema{{"tenant", field_type::string}, {"year", field_type::integer}}, {.scope_mandatory = true});
    c.add({.id = "a", .meta = {{"tenant", "A"}, {"year", 2024}}});
    c.add({.id = "b", .meta = {{"tenant", "B"}, {"year", 2024}}});
    c.add({.id = "c", .meta = {{"year", 2024}}});
    const scope a = scope::only(eq("tenant", "A"));
    const filter replies[] = {eq("tenant", "B"),  eq("tenant", "B") || gt("year", 0),
                              !eq("tenant", "A"), all_of({}),
                              nin("tenant", {}),  exists("year"),
                              !any_of({}),        any_of({eq("tenant", "A"), !exists("tenant"), all_of({})})};
    for (const filter& reply : replies) {
        CAPTURE(reply.to_string());
        for (const std::string& id : matching(c, {.where = &reply, .within = &a})) CHECK(id == "a");
        CHECK(code_of([&] { matching(c, reply); }) == "scope.missing");
    }
    const filter wide = gt("year", 0);
    CHECK(matching(c, {.where = &wide, .within = &a}) == found{"a"});
    const filter garbage = eq("tenannt", "A");
    CHECK(code_of([&] { matching(c, {.where = &garbage, .within = &a}); }) == "metadata.unknown_field");
}

// -------------------------------------------------------------------------------------------------------- case 125

TEST_CASE("quotes, operators and wildcards in a value are only bytes of the value") {
    corpus c(schema{{"owner", field_type::string}});
    c.add({.id = "x", .meta = {{"owner", "x"}}});
    c.add({.id = "y", .meta = {{"owner", "y"}}});
    const std::string values[] = {R"(x") or (1==1) or ("y)",
                                  "a' OR 'a'='a' --",
                                  "*",
                                  "%",
                                  "x\n",
                                  "",
                                  "x%",
                                  "_",
                                  ".*",
                                  "[\"x\"]",
                                  "{\"$ne\": null}",
                                  "${x}",
                                  "\\",
                                  std::string("x\0", 2)};
    for (const std::string& value : values) {
        CAPTURE(value);
        CHECK(matching(c, eq("owner", value)).empty());
        CHECK(matching(c, in("owner", {value})).empty());
        CHECK(matching(c, ne("owner", value)) == found{"x", "y"});
    }
}

TEST_CASE("quotes and operators in a field's name make an unknown field") {
    const corpus c = of_values(field_type::string, {"a"});
    for (const char* name : {R"(f"] != "z" or meta["q)", "f) or (1==1", "f;", "f --", "*", "f\n", " f"}) {
        CAPTURE(name);
        CHECK(refused(c, eq(name, "a")) == "metadata.unknown_field");
        CHECK(refused(c, exists(name)) == "metadata.unknown_field");
    }
    CHECK(refused(c, exists(std::string_view("f\0", 2))) == "metadata.unknown_field");
}

// -------------------------------------------------------------------------------------------------------- case 126

TEST_CASE("a document cannot name its tenant twice, or by a name that only looks like the field") {
    corpus c(schema{{"tenant", field_type::string}});
    CHECK(code_of([] { metadata{{"tenant", "A"}, {"tenant", "B"}}; }) == "metadata.duplicate_field");
    CHECK(code_of([&] { c.add({.id = "x", .meta = {{"tenant", "A"}, {"Tenant", "B"}}}); }) == "metadata.unknown_field");
    CHECK(code_of([&] {
              c.add({.id = "x", .meta = {{"tenant", "A"}, {"tenant ", "B"}}});
          }) == "metadata.unknown_field");
    CHECK(code_of([&] {
              c.add({.id = "x", .meta = {{"tenant", "A"}, {"t\xD0\xB5nant", "B"}}});
          }) == "metadata.unknown_field");
    metadata m{{"tenant", "A"}};
    CHECK(code_of([&] { m.add("tenant", "B"); }) == "metadata.duplicate_field");
    c.add({.id = "x", .meta = m});
    CHECK(within(c, scope::only(eq("tenant", "A"))) == found{"x"});
    CHECK(within(c, scope::only(eq("tenant", "B"))).empty());
}

// -------------------------------------------------------------------------------------------------------- case 127

TEST_CASE("an empty, default-made or moved-from tenant never means everybody") {
    corpus c(schema{{"tenant", field_type::string}}, {.scope_mandatory = true});
    c.add({.id = "a", .meta = {{"tenant", "A"}}});
    c.add({.id = "none"});
    CHECK(within(c, scope::only(eq("tenant", ""))).empty());
    CHECK(within(c, scope::only(in("tenant", {}))).empty());
    CHECK(within(c, scope::only(any_of({}))).empty());
    CHECK(within(c, scope::only(eq("tenant", "nobody"))).empty());
    CHECK(code_of([&] { within(c, scope()); }) == "scope.unset");
    CHECK(code_of([&] { matching(c, selection_criteria{}); }) == "scope.missing");
    CHECK(code_of([&] { within(c, scope::only(eq("tenant", field_value(false)))); }) == "metadata.type");
    scope moved_from = scope::only(eq("tenant", "A"));
    const scope taken = std::move(moved_from);
    CHECK(within(c, moved_from) == found{"a"});  // NOLINT: that is the promise
    filter f = eq("tenant", "A");
    const filter g = std::move(f);
    CHECK(within(c, scope::only(f)) == found{"a"});  // NOLINT: that is the promise
    const query asked = query("x").where(selection());
    CHECK(code_of([&] { request r(asked, c); }) == "query.prepared");
    CHECK(within(c, scope::everything()) == found{"a", "none"});
}

// -------------------------------------------------------------------------------------------------------- case 128

namespace {

// A hundred articles. Every second one is forbidden and says exactly what is asked; the allowed ones only share
// letters.
struct half_forbidden {
    static constexpr std::string_view question = "zebra quartz secret";

    corpus articles = fill();
    toy::letter_embedder embed;
    knowledge_base bodies = build(articles, identity{}, embed),
                   titles = build(articles, metadata_keys(articles), embed);

    static corpus fill() {
        corpus c(schema{{"tenant", field_type::string}, {"n", field_type::integer}}, {.scope_mandatory = true});
        for (int i = 0; i < 100; ++i) {
            const bool forbidden = i % 2 == 1;
            const std::string text =
                forbidden ? std::string(question)
                          : "the quartz of " + std::string(static_cast<std::size_t>(i % 7 + 1), 'z') + "ebra";
            c.add({.id = (forbidden ? "secret" : "open") + std::to_string(i),
                   .title = forbidden ? std::string(question) : "open quartz " + std::to_string(i),
                   .text = text,
                   .meta = {{"tenant", forbidden ? "B" : "A"}, {"n", i}}});
        }
        for (std::uint32_t i = 0; i < 100; ++i) c.add_part(unit_id{i}, {.span = {0, c.text(unit_id{i}).size()}});
        return c;
    }

    query asked(std::string_view text = question) const { return query(text).within(scope::only(eq("tenant", "A"))); }

    // k hits that exist, all of them open, with nothing forbidden in what they show.
    template <class R>
    void check(std::string_view name, const R& search, std::size_t least = 10) const {
        CAPTURE(name);
        const auto look = [&](const auto& answer) {
            CHECK(answer.size() >= least);
            for (const auto& h : answer) {
                CHECK(articles.value(h.unit, "tenant") == field_value("A"));
                CHECK(answer.unit(h).id().starts_with("open"));
                CHECK(answer.explain(h).find("secret") == std::string::npos);
                if (const auto matched = answer.matched(h))
                    CHECK(matched->text.find("secret") == std::string_view::npos);
            }
        };
        look(search.retrieve(asked(), 10));
        look(search.retrieve(asked().where(ge("n", 0) || eq("tenant", "B")), 10));
        for (const auto& answer : search.retrieve(std::vector<query>{asked(), asked("quartz")}, 10)) look(answer);
        const filter wide = exists("n");
        const scope a = scope::only(eq("tenant", "A"));
        look(search.retrieve(query(question).where(articles.select({.where = &wide, .within = &a})), 10));
        CHECK(code_of([&] { search.retrieve(query(question), 10); }) == "scope.missing");
    }
};

}  // namespace

TEST_CASE("no leg, stage or judge ever sees what the scope forbids, and k that exist come back all the same") {
    const half_forbidden all;
    const auto words = lexical(all.bodies.bm25);
    const auto meaning = dense(all.bodies.vectors, all.embed);
    // Without the scope the forbidden articles are the best: this is what a leg that forgets it would return.
    const auto unscoped = words.retrieve(query(half_forbidden::question).within(scope::everything()), 10);
    REQUIRE(unscoped.size() == 10);
    CHECK(unscoped.unit(unscoped[0]).id().starts_with("secret"));

    all.check("lexical", words);
    all.check("dense", meaning);
    all.check("hybrid", hybrid(words, meaning));
    all.check("rrf", fuse(rrf{}, words, meaning));
    all.check("convex", fuse(convex{}, words, meaning));
    all.check("relative", fuse(relative_score{}, words, meaning));
    all.check("distribution", fuse(distribution_based{}, words, meaning));
    all.check("floor", meaning | at_least<cosine_scale>{-1.0f});
    all.check("per article", hybrid(words, meaning) | per_article(1));
    all.check("distinct texts", hybrid(words, meaning) | distinct_texts(), 7);
    all.check("lift", meaning | lift(unit_kind::article));
    all.check("diversify", hybrid(words, meaning) | diversify(all.bodies.vectors, mmr{.lambda = 0.5f}));
    all.check("any", any_retriever(hybrid(words, meaning)));
    all.check("whole article", whole_article(dense(all.titles.vectors, all.embed)));
    all.check("whole article, two lanes", whole_article(dense(all.titles.vectors, all.embed), words));

    const auto obedient = [](const prompt& p) { return "Where is " + p.text().substr(p.text().rfind(">\n") + 2, 40); };
    const auto asked = build(all.articles, questions(obedient, {.of = unit_kind::article}), all.embed);
    all.check("questions", hybrid(lexical(asked.bm25), dense(asked.vectors, all.embed)));
    const auto chunks = build(all.articles, identity{.of = unit_kind::chunk}, all.embed);
    const auto parts = dense(chunks.vectors, all.embed);
    all.check("auto-merging", parts | auto_merge());
    for (const std::size_t beam : {1u, 100u})
        all.check("hierarchy", hierarchical({.beams = {beam}}, level{unit_kind::article, meaning},
                                            level{unit_kind::chunk, parts}));

    std::vector<std::string> shown;
    const auto judge = [&](std::string_view, std::span<const std::string_view> passages) {
        for (const std::string_view passage : passages) shown.emplace_back(passage);
        return std::vector<float>(passages.size(), 1.0f);
    };
    all.check("rerank", hybrid(words, meaning) | rerank(judge, {.fetch = 100}));
    CHECK(shown.size() > 100);
    for (const std::string& passage : shown) CHECK(passage.find("secret") == std::string::npos);
}

TEST_CASE("a forbidden article cannot be searched by, and a forbidden parent is not returned for its open part") {
    half_forbidden all;
    CHECK(code_of([&] {
              lexical(all.bodies.bm25).retrieve(like(unit_id{1}).within(scope::only(eq("tenant", "A"))), 5);
          }) == "scope.example");
    const auto like_open =
        dense(all.bodies.vectors, all.embed).retrieve(like(unit_id{0}).within(scope::only(eq("tenant", "A"))), 5);
    CHECK(like_open.size() == 5);

    corpus c(schema{{"tenant", field_type::string}});
    c.add({.id = "forbidden", .text = "zebra quartz", .meta = {{"tenant", "B"}}});
    c.add_part(unit_id{0}, {.span = {0, 5}, .id = "open part", .meta = {{"tenant", "A"}}});
    c.add_part(unit_id{0}, {.span = {6, 12}, .id = "forbidden part"});
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{.of = unit_kind::chunk}, embed);
    const query q = query("zebra quartz").within(scope::only(eq("tenant", "A")));
    const auto lifted = (dense(kb.vectors, embed) | lift(unit_kind::article)).retrieve(q, 5);
    CHECK(toy::ids(lifted) == found{"open part"});
    CHECK(toy::ids(whole_article(dense(kb.vectors, embed)).retrieve(q, 5)) == found{"open part"});
}

TEST_CASE("a summary of open and forbidden articles is seen only by those who see both") {
    corpus c(schema{{"tenant", field_type::string}});
    c.add({.id = "a", .text = "apple", .meta = {{"tenant", "A"}}});
    c.add({.id = "b", .text = "pear", .meta = {{"tenant", "B"}}});
    c.add_generated({.id = "both", .text = "apple and pear", .sources = {unit_id{0}, unit_id{1}}});
    c.add_generated({.id = "one", .text = "apple alone", .sources = {unit_id{0}}});
    struct every_kind {
        key_kind kind() const { return key_kind::summary; }
        unit_kind level() const { return unit_kind::generated; }
        void operator()(source_ref source, unit_id unit, key_sink emit) const {
            emit({unit, key_part::summary, std::string(source.text(unit))});
        }
    };
    const lexical_base kb = build(c, every_kind{});
    const auto search = lexical(kb.bm25);
    const query a = query("apple pear").within(scope::only(eq("tenant", "A"))).include_generated();
    CHECK(toy::ids(search.retrieve(a, 5)) == found{"one"});
    const query everybody = query("apple pear").within(scope::everything()).include_generated();
    CHECK(search.retrieve(everybody, 5).size() == 2);
    CHECK(search.retrieve(query("apple pear").within(scope::everything()), 5).empty());
}
