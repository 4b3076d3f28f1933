// Public failures of link checks in answers.
#include "quarry/answer/links.hpp"
#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

packed_context context_with(const std::string& text) {
    corpus c;
    const unit_id unit = c.add({.id = "docs/a", .title = "Approved title", .text = text});
    return pack(c, std::vector<unit_id>{unit});
}

std::vector<std::string> violations(std::string_view answer, const link_allowlist& allowed) {
    std::vector<std::string> out;
    for (const link_violation& v : check_links(answer, allowed).violations) out.push_back(v.target);
    return out;
}

using found = std::vector<std::string>;

}  // namespace

// awslabs/mcp PR 3320, browser-use PR 1561: an allowed prefix let foreign hosts through.
TEST_CASE("a link is compared whole: a longer host, user-info, a longer path, a way up and a relative path are refused") {
    const auto allowed = allowed_links(context_with("See https://docs.example.com/a for more."));
    for (const std::string target : {"https://docs.example.com.evil.example/a", "https://docs.example.com@evil.example/a",
                                     "https://docs.example.com/ab", "https://docs.example.com/a/../b", "/evil?x=1"}) {
        CAPTURE(target);
        CHECK(allowed.find(target) == nullptr);
        CHECK(violations("[Approved title](" + target + ")", allowed) == found{target});
        CHECK(check_links("[Approved title](" + target + ")", allowed).text == "Approved title");
        if (target.starts_with("https")) CHECK(violations("see " + target + " please", allowed) == found{target});
    }
    CHECK(violations("see https://docs.example.com/a, or [here](https://DOCS.example.com:443/a/#x)", allowed) == found{});
}

// suitenumerique/conversations 210, promptfoo PR 9177: links that a model made up, or approved words over a foreign target.
TEST_CASE("every target of an answer is checked and not only what it says") {
    const auto allowed = allowed_links(context_with("See https://docs.example.com/a for more."));
    const std::string answer =
        "[Approved title](https://evil.example/x), https://unknown.example/y, [ref][1], ![image](https://evil.example/p.png?d=1) "
        "and [https://docs.example.com/a](https://evil.example/z).\n\n[1]: https://evil.example/ref\n";
    CHECK(violations(answer, allowed) ==
          found{"https://evil.example/x", "https://unknown.example/y", "https://evil.example/ref", "https://evil.example/p.png?d=1",
                "https://evil.example/z", "https://evil.example/ref"});
    CHECK(check_links(answer, allowed, {.removed = "(-)"}).text ==
          "Approved title, (-), ref, image and https://docs.example.com/a.\n\n\n");
}

TEST_CASE("a title without a target is no link and stays") {
    const auto allowed = allowed_links(context_with("See https://docs.example.com/a for more."));
    const std::string answer = "As [Approved title] and Approved title say [1].";
    CHECK(violations(answer, allowed) == found{});
    CHECK(check_links(answer, allowed).text == answer);
}
