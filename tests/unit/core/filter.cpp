#include "quarry/core/filter.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

namespace {

constexpr truth T = truth::yes, F = truth::no, U = truth::unknown;

// A filter is a leaf here; what it says of a stored value, or of a missing one.
truth ask(const filter& f, const std::optional<field_value>& stored) {
    return holds(f.op(), stored ? &*stored : nullptr, f.values());
}

date_time time(std::string_view text) { return *date_time::parse(text); }

const schema& fields() {
    static const schema s{{"flag", field_type::boolean},      {"count", field_type::integer},
                          {"price", field_type::number},      {"name", field_type::string},
                          {"updated", field_type::date_time}, {"tags", field_type::string_list}};
    return s;
}

filter nested(std::size_t depth) {
    filter f = exists("x");
    for (std::size_t i = 1; i < depth; ++i) f = !f;
    return f;
}

}  // namespace

TEST_CASE("and, or and not follow Kleene's tables") {
    struct row {
        truth a, b, both, either;
    };
    const row table[] = {{F, F, F, F}, {F, U, F, U}, {F, T, F, T}, {U, F, F, U}, {U, U, U, U},
                         {U, T, U, T}, {T, F, F, T}, {T, U, U, T}, {T, T, T, T}};
    for (const row& r : table) {
        CAPTURE(static_cast<int>(r.a), static_cast<int>(r.b));
        CHECK((r.a && r.b) == r.both);
        CHECK((r.a || r.b) == r.either);
    }
    CHECK((!T) == F);
    CHECK((!F) == T);
    CHECK((!U) == U);
}

TEST_CASE("comparisons follow one table for integers, numbers and texts alike") {
    // The stored value lies below, at or above the one asked for, or is missing.
    struct row {
        filter_op op;
        truth below, at, above, missing;
    };
    const row table[] = {
        {filter_op::eq, F, T, F, U}, {filter_op::ne, T, F, T, U},  {filter_op::lt, T, F, F, U},
        {filter_op::le, T, T, F, U}, {filter_op::gt, F, F, T, U},  {filter_op::ge, F, T, T, U},
        {filter_op::in, F, T, F, U}, {filter_op::nin, T, F, T, U}, {filter_op::exists, T, T, T, F},
    };
    struct values {
        field_value below, at, above;
    };
    const values kinds[] = {{2023, 2024, 2025},
                            {-0.5, 0.0, 0.5},
                            {"app", "apple", "b"},
                            {INT64_MIN, -1, INT64_MAX},
                            {time("2024-05-06"), time("2024-05-07"), time("2024-05-08")}};
    for (const row& r : table)
        for (const values& v : kinds) {
            std::vector<field_value> asked{v.at};
            if (r.op == filter_op::exists) asked.clear();
            const filter f = filter::leaf(r.op, "f", asked);
            CAPTURE(f.to_string());
            CHECK(ask(f, v.below) == r.below);
            CHECK(ask(f, v.at) == r.at);
            CHECK(ask(f, v.above) == r.above);
            CHECK(ask(f, std::nullopt) == r.missing);
        }
}

TEST_CASE("booleans are equal or not, and missing is neither") {
    CHECK(ask(eq("f", true), true) == T);
    CHECK(ask(eq("f", true), false) == F);
    CHECK(ask(eq("f", false), false) == T);
    CHECK(ask(ne("f", true), false) == T);
    CHECK(ask(ne("f", true), std::nullopt) == U);
    CHECK(ask(eq("f", false), std::nullopt) == U);
}

TEST_CASE("a day against a day or an instant follows this table") {
    struct row {
        std::string_view stored, asked;
        truth eq, lt, le, gt, ge;
    };
    const row table[] = {
        // A whole day is asked for: what lies in it equals it, and belongs to le and ge.
        {"2024-05-06", "2024-05-07", F, T, T, F, F},
        {"2024-05-07", "2024-05-07", T, F, T, F, T},
        {"2024-05-08", "2024-05-07", F, F, F, T, T},
        {"2024-05-06T23:59:59.999", "2024-05-07", F, T, T, F, F},
        {"2024-05-07T00:00", "2024-05-07", T, F, T, F, T},
        {"2024-05-07T10:30", "2024-05-07", T, F, T, F, T},
        {"2024-05-07T23:59:59.999", "2024-05-07", T, F, T, F, T},
        {"2024-05-08T00:00", "2024-05-07", F, F, F, T, T},
        // An instant is asked for: a stored day around it has no answer, any other day has.
        {"2024-05-06", "2024-05-07T00:00", F, T, T, F, F},
        {"2024-05-07", "2024-05-07T00:00", U, U, U, U, U},
        {"2024-05-07", "2024-05-07T10:30", U, U, U, U, U},
        {"2024-05-07", "2024-05-07T23:59:59.999", U, U, U, U, U},
        {"2024-05-07", "2024-05-08T00:00", F, T, T, F, F},
        {"2024-05-08", "2024-05-07T23:59:59.999", F, F, F, T, T},
        // Instants are points.
        {"2024-05-07T10:30:00", "2024-05-07T10:30:00.001", F, T, T, F, F},
        {"2024-05-07T10:30:00", "2024-05-07T10:30:00", T, F, T, F, T},
        {"2024-05-07T10:30:00", "2024-05-07T12:30:00+02:00", T, F, T, F, T},
        {"2024-05-07T10:30:00.001", "2024-05-07T10:30:00", F, F, F, T, T},
    };
    for (const row& r : table) {
        CAPTURE(r.stored, r.asked);
        const field_value stored = time(r.stored), asked = time(r.asked);
        CHECK(ask(eq("f", asked), stored) == r.eq);
        CHECK(ask(ne("f", asked), stored) == !r.eq);
        CHECK(ask(in("f", {asked}), stored) == r.eq);
        CHECK(ask(nin("f", {asked}), stored) == !r.eq);
        CHECK(ask(lt("f", asked), stored) == r.lt);
        CHECK(ask(le("f", asked), stored) == r.le);
        CHECK(ask(gt("f", asked), stored) == r.gt);
        CHECK(ask(ge("f", asked), stored) == r.ge);
    }
}

TEST_CASE("in is an or of equalities: true beats unknown, unknown beats false, an empty list is false for everybody") {
    const field_value day = time("2024-05-07"), inside = time("2024-05-07T10:30"), other = time("2024-05-09");
    CHECK(ask(in("f", {inside, day}), day) == T);
    CHECK(ask(in("f", {inside, other}), day) == U);
    CHECK(ask(nin("f", {inside, other}), day) == U);
    CHECK(ask(in("f", {other}), day) == F);
    CHECK(ask(in("f", {1, 2, 3}), 3) == T);
    CHECK(ask(in("f", {}), 3) == F);
    CHECK(ask(in("f", {}), std::nullopt) == F);
    CHECK(ask(nin("f", {}), 3) == T);
    CHECK(ask(nin("f", {}), std::nullopt) == T);
}

TEST_CASE("contains looks for one text of a list, prefix for the first bytes of a text") {
    const std::vector<std::string> ab{"a", "b"}, none;
    CHECK(ask(contains("f", "a"), ab) == T);
    CHECK(ask(contains("f", "c"), ab) == F);
    CHECK(ask(contains("f", ""), ab) == F);
    CHECK(ask(contains("f", "a"), none) == F);
    CHECK(ask(contains("f", "a"), std::nullopt) == U);
    CHECK(ask(prefix("f", "ab"), "abc") == T);
    CHECK(ask(prefix("f", "abcd"), "abc") == F);
    CHECK(ask(prefix("f", ""), "abc") == T);
    CHECK(ask(prefix("f", "A"), "abc") == F);
    CHECK(ask(prefix("f", ""), std::nullopt) == U);
}

TEST_CASE("integers and numbers compare by value without rounding, beyond 2^53 too") {
    constexpr std::int64_t big = 9007199254740993;  // 2^53 + 1, which no double holds
    CHECK(ask(eq("f", 2024.0), 2024) == T);
    CHECK(ask(eq("f", 2024), 2024.0) == T);
    CHECK(ask(eq("f", 2024.5), 2024) == F);
    CHECK(ask(gt("f", 2024), 2024.5) == T);
    CHECK(ask(lt("f", 2024.5), 2024) == T);
    CHECK(ask(gt("f", -0.5), 0) == T);
    CHECK(ask(lt("f", -0.5), -1) == T);
    CHECK(ask(eq("f", -0.0), 0) == T);
    CHECK(ask(eq("f", 9007199254740992.0), big) == F);
    CHECK(ask(gt("f", 9007199254740992.0), big) == T);
    CHECK(ask(lt("f", big), 9007199254740992.0) == T);
    CHECK(ask(lt("f", 9223372036854775808.0), INT64_MAX) == T);  // 2^63
    CHECK(ask(gt("f", -9223372036854775808.0), INT64_MIN) == F);
    CHECK(ask(eq("f", -9223372036854775808.0), INT64_MIN) == T);
    CHECK(ask(gt("f", -1e300), INT64_MIN) == T);
    CHECK(ask(lt("f", 1e300), INT64_MAX) == T);
}

TEST_CASE("texts are compared byte for byte") {
    CHECK(ask(eq("f", "acme"), "ACME") == F);
    CHECK(ask(eq("f", "acme"), "acme ") == F);
    CHECK(ask(eq("f", ""), "") == T);
    // Letters beyond ASCII come after it: bytes are unsigned.
    CHECK(ask(gt("f", "z"), "\xC3\xA9") == T);
}

TEST_CASE("a tree prints as it would be written") {
    CHECK((eq("product", "app") && ge("year", 2024)).to_string() == "and(eq(product, \"app\"), ge(year, 2024))");
    CHECK((!exists("a") || in("b", {1, 2.5})).to_string() == "or(not(exists(a)), in(b, 1, 2.5))");
    CHECK(all_of({}).to_string() == "and()");
    CHECK(nin("a", {}).to_string() == "nin(a)");
    CHECK(contains("tags", "x").to_string() == "contains(tags, \"x\")");
    CHECK(lt("updated", time("2024-05-07")).to_string() == "lt(updated, 2024-05-07)");
}

TEST_CASE("a tree is 64 levels deep at most, and a deeper one is refused where it is composed") {
    const filter deepest = nested(64);
    CHECK(deepest.depth() == filter::deepest);
    CHECK(code_of([&] { !deepest; }) == "filter.depth");
    CHECK(code_of([&] { deepest&& exists("x"); }) == "filter.depth");
    CHECK(code_of([&] { exists("x") || deepest; }) == "filter.depth");
    CHECK(code_of([&] { any_of({exists("y"), deepest}); }) == "filter.depth");
    CHECK(message_of([&] { !deepest; }).find("64 levels deep, this one would be 65") != std::string::npos);
}

TEST_CASE("adding a scope takes one level more, once") {
    const filter once = filter::restricted(nested(64), nested(64));
    CHECK(once.depth() == 65);
    CHECK(code_of([&] { filter::restricted(once, exists("x")); }) == "filter.depth");
    CHECK(code_of([&] { !once; }) == "filter.depth");
    CHECK(filter::restricted(eq("a", 1), eq("b", 2)).to_string() == "and(eq(a, 1), eq(b, 2))");
}

TEST_CASE("a hundred thousand attempts to nest do not overflow the stack") {
    filter f = exists("x");
    std::size_t refused = 0;
    for (int i = 0; i < 100000; ++i) {
        try {
            f = i % 2 == 0 ? !f : f && exists("y");
        } catch (const usage_error&) {
            ++refused;
        }
    }
    CHECK(f.depth() == 64);
    CHECK(refused == 100000 - 63);
    const filter copy = f;
    CHECK(copy.to_string() == f.to_string());
}

TEST_CASE("a tree may be as wide as it likes") {
    const filter wide = any_of(std::vector<filter>(100000, eq("count", 1)));
    CHECK(wide.depth() == 2);
    CHECK(checked(wide, fields()).children().size() == 100000);
}

TEST_CASE("copies share a tree, and a filter that was moved from still filters") {
    filter f = eq("a", 1) && eq("b", 2);
    const filter g = std::move(f);
    CHECK(f.to_string() == g.to_string());  // NOLINT: that is the promise
    f = exists("c");
    CHECK(g.to_string() == "and(eq(a, 1), eq(b, 2))");
}

TEST_CASE("a condition that is put together wrongly is refused where it is made, and never means everything") {
    CHECK(code_of([] { filter::leaf(filter_op::eq, "f", {}); }) == "filter.shape");
    CHECK(code_of([] { filter::leaf(filter_op::eq, "f", {1, 2}); }) == "filter.shape");
    CHECK(code_of([] { filter::leaf(filter_op::contains, "f", {}); }) == "filter.shape");
    CHECK(code_of([] { filter::leaf(filter_op::exists, "f", {1}); }) == "filter.shape");
    CHECK(code_of([] { filter::leaf(filter_op::all_of, "f", {}); }) == "filter.shape");
    CHECK(code_of([] { filter::branch(filter_op::eq, {}); }) == "filter.shape");
    CHECK(code_of([] { filter::branch(filter_op::none_of, {}); }) == "filter.shape");
    CHECK(code_of([] { filter::branch(filter_op::none_of, {exists("a"), exists("b")}); }) == "filter.shape");
    CHECK(filter::leaf(filter_op::in, "f", {}).to_string() == "in(f)");
    CHECK(filter::branch(filter_op::any_of, {}).to_string() == "or()");
}

TEST_CASE("checking turns texts into dates for date fields and leaves everything else as it is") {
    const filter f = checked(gt("updated", "2024-05-07") && eq("name", "2024-05-07"), fields());
    CHECK(f.to_string() == "and(gt(updated, 2024-05-07), eq(name, \"2024-05-07\"))");
    CHECK(f.children()[0].values()[0].type() == field_type::date_time);
    CHECK(checked(in("updated", {"2024-05-07", "2024-05-08T10:00Z"}), fields()).to_string() ==
          "in(updated, 2024-05-07, 2024-05-08T10:00:00Z)");
    CHECK(checked(!exists("tags"), fields()).to_string() == "not(exists(tags))");
}

TEST_CASE("an integer field may be compared with a number") {
    CHECK(checked(gt("count", 2024.5), fields()).to_string() == "gt(count, 2024.5)");
    CHECK(checked(in("count", {1, 2.5}), fields()).to_string() == "in(count, 1, 2.5)");
}

TEST_CASE("which operators a field has depends on its type, by this table") {
    struct row {
        std::string_view field;
        field_value value;
        bool equality, order, contains, prefix;
    };
    const row table[] = {
        {"flag", true, true, false, false, false},
        {"count", 1, true, true, false, false},
        {"price", 1.5, true, true, false, false},
        {"name", "x", true, true, false, true},
        {"updated", time("2024-05-07"), true, true, false, false},
        {"tags", "x", false, false, true, false},
    };
    const auto accepted = [](const filter& f) {
        const std::string code = code_of([&] { checked(f, fields()); });
        CHECK((code == "(no exception)" || code == "filter.comparison"));
        return code == "(no exception)";
    };
    for (const row& r : table) {
        CAPTURE(r.field);
        CHECK(accepted(eq(r.field, r.value)) == r.equality);
        CHECK(accepted(ne(r.field, r.value)) == r.equality);
        CHECK(accepted(in(r.field, {r.value})) == r.equality);
        CHECK(accepted(nin(r.field, {r.value})) == r.equality);
        CHECK(accepted(lt(r.field, r.value)) == r.order);
        CHECK(accepted(le(r.field, r.value)) == r.order);
        CHECK(accepted(gt(r.field, r.value)) == r.order);
        CHECK(accepted(ge(r.field, r.value)) == r.order);
        CHECK(accepted(contains(r.field, "x")) == r.contains);
        CHECK(accepted(prefix(r.field, "x")) == r.prefix);
        CHECK(accepted(exists(r.field)));
    }
}

TEST_CASE("what does not fit the schema is refused by name, however deep it stands") {
    const auto code = [](const filter& f) { return code_of([&] { checked(f, fields()); }); };
    CHECK(code(eq("product", "app")) == "metadata.unknown_field");
    CHECK(code(eq("", "app")) == "metadata.unknown_field");
    CHECK(code(exists("Name")) == "metadata.unknown_field");
    CHECK(code(eq("count", "2024")) == "metadata.type");
    CHECK(code(eq("name", 1)) == "metadata.type");
    CHECK(code(eq("flag", 1)) == "metadata.type");
    CHECK(code(eq("name", std::vector<std::string>{"a"})) == "metadata.type");
    CHECK(code(gt("updated", "5 May 2024")) == "metadata.date");
    CHECK(code(gt("updated", 1715040000)) == "metadata.type");
    CHECK(code(filter::leaf(filter_op::contains, "tags", {5})) == "metadata.type");
    CHECK(code(exists("name") && !(exists("count") || any_of({lt("flag", true)}))) == "filter.comparison");
    CHECK(message_of([] { checked(lt("flag", true), fields()); }).find("\"flag\"") != std::string::npos);
    CHECK(message_of([] { checked(eq("produkt", 1), fields()); }).find("\"produkt\"") != std::string::npos);
}
