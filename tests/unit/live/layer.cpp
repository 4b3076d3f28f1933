#include "quarry/live/layer.hpp"

#include <string>
#include <vector>

#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

TEST_CASE("a layer gives the keys of its expander, and says what it is") {
    const corpus c = toy::corpus_of({"one", "two", ""});
    const layer l(identity{}, "v2", false);
    CHECK(l.kind() == key_kind::body);
    CHECK(l.level() == unit_kind::article);
    CHECK(l.version() == "v2");
    CHECK_FALSE(l.has_vectors());
    CHECK_FALSE(l.asks());
    build_report report;
    const std::vector<unit_id> units{unit_id{1}, unit_id{2}};
    const auto keys = l.keys(c, units, {}, report);
    REQUIRE(keys.size() == 1);
    CHECK(keys[0].text == "two");
    CHECK(report.units_without_key == std::vector<unit_id>{unit_id{2}});
    CHECK(code_of([] { layer(identity{}, ""); }) == "layer.version");
}

TEST_CASE("an expander that asks a model says so") {
    const auto model = [](const prompt&) { return std::string("<context>about something</context>"); };
    const layer l(contextual(model), "1");
    CHECK(l.asks());
    corpus c = toy::corpus_of({"one two"});
    const std::vector<unit_id> chunk{c.add_part(unit_id{0}, {.span = {0, 3}})};
    CHECK(l.plan(c, chunk).calls == 1);
    CHECK(layer(identity{}, "1").plan(c, chunk).calls == 0);
}
