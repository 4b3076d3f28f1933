#include "quarry/expand/key_expander.hpp"

#include <string>

#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

struct titles {
    key_kind kind() const { return key_kind::metadata; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        emit({unit, key_part::title, std::string(source.title(unit))});
    }
};

struct without_level {
    key_kind kind() const { return key_kind::metadata; }
    void operator()(source_ref, unit_id, key_sink) const {}
};

struct changing : titles {
    void operator()(source_ref, unit_id, key_sink) {}
};

}  // namespace

TEST_CASE("an expander says its population and its level, and emits keys as const") {
    STATIC_REQUIRE(KeyExpander<identity>);
    STATIC_REQUIRE(KeyExpander<metadata_keys>);
    STATIC_REQUIRE(KeyExpander<titles>);
    STATIC_REQUIRE_FALSE(KeyExpander<without_level>);
    STATIC_REQUIRE_FALSE(KeyExpander<changing>);
}
