#include "quarry/model/notices.hpp"

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("what was noticed has a name, and counts add up") {
    CHECK(notices{noticed::loop, noticed::truncated}.names() == "truncated, loop");
    CHECK(notices{}.names().empty());
    for (std::size_t i = 0; i < noticed_kinds; ++i) CHECK_FALSE(name_of(static_cast<noticed>(i)).empty());
    CHECK(name_of(noticed::count) == "count");
    notice_counts counts;
    counts.add({noticed::loop, noticed::empty});
    counts.add({noticed::loop});
    CHECK(counts[noticed::loop] == 2);
    CHECK(counts[noticed::empty] == 1);
    CHECK(counts[noticed::fence] == 0);
}
