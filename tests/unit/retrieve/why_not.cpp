#include "quarry/retrieve/why_not.hpp"

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

struct reports {
    corpus c{schema{{"year", field_type::integer}, {"tenant", field_type::string}}};
    lexical_base kb = [this] {
        const auto add = [&](const char* id, const char* text, int year, const char* tenant) {
            c.add({.id = id, .text = text, .meta = {{"year", year}, {"tenant", tenant}}});
        };
        add("best", "heat heat heat", 2024, "x");
        add("good", "heat pumps are warm", 2024, "x");
        add("copy", "heat heat heat", 2023, "y");
        add("none", "nothing of the kind", 2024, "x");
        return build(c, identity{});
    }();
    auto words() const { return lexical(kb.bm25); }
    template <class R>
    std::string of(const R& search, const query& q, const char* id, std::size_t k = 2) const {
        return to_string(why_not(search, q, k, *c.find(id)));
    }
};

}  // namespace

TEST_CASE("a unit that is returned has its rank, and one behind the k too") {
    const reports r;
    CHECK(r.of(r.words(), "heat", "best") == "returned, rank 1");
    CHECK(r.of(r.words(), "heat", "good") == "behind the k, rank 3");
}

TEST_CASE("the scope is told from the filter, and the condition that fails is named") {
    const reports r;
    const query q = query("heat").where(ge("year", 2024) && eq("tenant", "x"));
    CHECK(r.of(r.words(), q, "copy").find("filtered out: ") == 0);
    CHECK(r.of(r.words(), q, "copy").find("year") != std::string::npos);
    CHECK(r.of(r.words(), q, "copy").find("tenant") == std::string::npos);
    CHECK(r.of(r.words(), query("heat").within(scope::only(eq("tenant", "x"))), "copy") == "out of scope");
}

TEST_CASE("what no leg finds is told from what a stage drops") {
    const reports r;
    CHECK(r.of(r.words(), "heat", "none") == "found by no leg");
    const auto floored = r.words() | at_least<bm25_scale>{100.0f};
    CHECK(r.of(floored, "heat", "good").find("dropped by a stage: floor: floored 1 -> 0") == 0);
}

TEST_CASE("what only loses against others is outranked") {
    const reports r;
    CHECK(r.of(r.words() | distinct_texts(), "heat", "copy") == "outranked");
    CHECK(r.of(r.words() | distinct_texts(), "heat", "best") == "returned, rank 1");
}

TEST_CASE("generated text is returned only where that is asked for") {
    corpus c;
    const unit_id source = c.add({.id = "a", .text = "heat"});
    const unit_id summary = c.add_generated({.id = "s", .text = "heat in short", .sources = {source}});
    const lexical_base kb = build(c, identity{});
    CHECK(to_string(why_not(lexical(kb.bm25), "heat", 5, summary)) == "generated text");
}
