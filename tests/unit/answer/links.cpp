#include "quarry/answer/links.hpp"

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

link_allowlist allow(const std::vector<std::string>& targets) {
    link_allowlist out;
    for (const std::string& target : targets) out.add({target});
    return out;
}

// The targets that an answer may not have, in order.
std::vector<std::string> violations(std::string_view answer, const link_allowlist& allowed) {
    std::vector<std::string> out;
    for (const link_violation& v : check_links(answer, allowed).violations) out.push_back(v.target);
    return out;
}

std::string stripped(std::string_view answer, const link_allowlist& allowed) {
    return check_links(answer, allowed, {.removed = "(-)"}).text;
}
std::string replaced(std::string_view answer, const link_allowlist& allowed) {
    return check_links(answer, allowed, {.policy = link_policy::replace, .removed = "(-)"}).text;
}

packed_context context_of(const std::vector<std::string>& texts) {
    corpus c;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < texts.size(); ++i)
        units.push_back(c.add({.id = std::to_string(i), .title = "Title " + std::to_string(i), .summary = {}, .text = texts[i]}));
    return pack(c, units);
}

using found = std::vector<std::string>;

}  // namespace

TEST_CASE("host case, a trailing slash and punctuation behind a URL make no violation, another path does") {
    const auto allowed = allowed_links(context_of({"See [Help](https://a.com/x/) and https://a.com/y."}));
    CHECK(violations("Go to https://A.com/x or https://a.com/y, not https://a.com/z", allowed) == found{"https://a.com/z"});
}

TEST_CASE("a link of an article that was retrieved and then dropped by the budget is a violation") {
    corpus c;
    c.add({.id = "a", .title = "A", .text = "See https://a.com/in.", .links = {{"https://a.com/declared"}}});
    c.add({.id = "b", .title = "B", .text = "See https://a.com/out.", .links = {{"https://a.com/out", "", {4, 21}}}});
    const std::vector<unit_id> units = {unit_id{0}, unit_id{1}};
    const std::string_view answer = "https://a.com/in https://a.com/declared https://a.com/out";
    CHECK(violations(answer, allowed_links(pack(c, units))) == found{});
    CHECK(violations(answer, allowed_links(pack(c, units, {.budget = 8}))) == found{"https://a.com/out"});
}

TEST_CASE("what is allowed is what stands in the packed bytes, in whatever form it stands there") {
    const auto allowed = allowed_links(
        context_of({"[a](https://a.com/1) [r] <https://a.com/3> <a href=\"https://a.com/4\">x</a> `curl https://a.com/5` ![p](https://a.com/6)\n\n"
                    "[r]: https://a.com/2\n\n```\nGET https://a.com/7\n```\n"}));
    for (int i = 1; i <= 7; ++i) CHECK(allowed.find("https://a.com/" + std::to_string(i)) != nullptr);
    CHECK(allowed.find("https://a.com/8") == nullptr);
    CHECK(allowed.find("https://a.com/3")->number == 1);
    CHECK(allowed.find("https://a.com/1")->words == "a");
}

TEST_CASE("relative links are allowed as they are written, and as they resolve from the address of their unit") {
    const packed_context context = context_of({"[next](../b/next.md)"});
    CHECK(violations("[x](../b/next.md) [y](../b/next.md#part) [z](/evil?x=1)", allowed_links(context)) == found{"/evil?x=1"});
    const auto at = allowed_links(context, {.address = [](const packed_unit& u) { return "https://h.example/a/" + u.id + ".html"; }});
    CHECK(violations("https://h.example/b/next.md https://h.example/a/0.html https://h.example/a/1.html", at) ==
          found{"https://h.example/a/1.html"});
    CHECK(at.find("https://h.example/a/0.html")->is_address);
    CHECK(at.find("https://h.example/a/0.html")->words == "Title 0");
}

TEST_CASE("stripping keeps the words of a link and says where a bare URL stood") {
    const auto allowed = allow({"https://a.com/ok"});
    CHECK(stripped("Read [the *guide*](https://b.com \"title\").", allowed) == "Read the *guide*.");
    CHECK(stripped("Read [this][r] or [r].\n\n[r]: https://b.com\n\nEnd", allowed) == "Read this or r.\n\n\n\nEnd");
    CHECK(stripped("See https://b.com/x, please, or <https://b.com>.", allowed) == "See (-), please, or (-).");
    CHECK(stripped("<a href=\"https://b.com\">words</a>!", allowed) == "words!");
    CHECK(stripped("![chart](https://b.com/leak.png?d=secret)", allowed) == "chart");
    CHECK(stripped("<img src=//b.com/leak>", allowed) == "");
    CHECK(stripped("[![alt](https://b.com/p)](https://b.com/q)", allowed) == "alt");
    CHECK(stripped("`curl https://b.com`", allowed) == "`curl (-)`");
    CHECK(stripped("[ok](https://a.com/ok) https://a.com/ok", allowed) == "[ok](https://a.com/ok) https://a.com/ok");
    CHECK(stripped("no links", allowed) == "no links");
}

TEST_CASE("every violation is reported with its kind, its words and where it stood") {
    const std::string_view answer = "A [guide](https://b.com/x), ![img](c.png), https://u@b.com and\n\n[unused]: https://b.com/y\n";
    const checked_answer checked = check_links(answer, allow({}));
    REQUIRE(checked.violations.size() == 4);
    const auto& v = checked.violations;
    CHECK(v[0].kind == link_kind::inline_link);
    CHECK(v[0].words == "guide");
    CHECK(answer.substr(v[0].span.begin, v[0].span.size()) == "[guide](https://b.com/x)");
    CHECK_FALSE(v[0].unreadable);
    CHECK(v[1].image);
    CHECK(v[2].kind == link_kind::bare);
    CHECK(v[2].unreadable);
    CHECK(v[3].kind == link_kind::definition);
    CHECK(v[3].target == "https://b.com/y");
    CHECK_FALSE(checked.rejected);
}

TEST_CASE("rejecting leaves no text to be shown by mistake") {
    const auto allowed = allow({"https://a.com"});
    const checked_answer bad = check_links("x https://b.com", allowed, {.policy = link_policy::reject});
    CHECK(bad.rejected);
    CHECK(bad.text.empty());
    CHECK(bad.violations.size() == 1);
    const checked_answer good = check_links("x https://a.com", allowed, {.policy = link_policy::reject});
    CHECK_FALSE(good.rejected);
    CHECK(good.text == "x https://a.com");
}

TEST_CASE("a replacement is the link with the same words, else the nearest on the same host, else the first article") {
    link_allowlist allowed;
    allowed.add({"https://a.com/help/reset", "Reset a password", 1});
    allowed.add({"https://a.com/help/pair", "Pair a valve", 1});
    allowed.add({"https://h.example/first", "First article", 1, true});
    allowed.add({"https://h.example/second", "Second article", 2, true});
    CHECK(replaced("[pair a valve](https://evil.example)", allowed) == "[pair a valve](https://a.com/help/pair)");
    CHECK(replaced("[x](https://a.com/help/pairing)", allowed) == "[x](https://a.com/help/pair)");
    CHECK(replaced("[x](http://a.com/help/pair)", allowed) == "[x](https://h.example/first)");  // another scheme, another site
    CHECK(replaced("see https://evil.example/x.", allowed) == "see https://h.example/first.");
    CHECK(replaced("[x][r]\n\n[r]: https://evil.example", allowed) == "[x][r]\n\n[r]: https://h.example/first");
    CHECK(replaced("<a href='https://evil.example'>x</a>", allowed) == "<a href='https://h.example/first'>x</a>");
    CHECK(replaced("[x](https://evil.example)", allow({"https://a.com"})) == "x");
    const checked_answer checked = check_links("[Second article](u)", allowed, {.policy = link_policy::replace});
    REQUIRE(checked.violations.size() == 1);
    CHECK(checked.violations[0].replacement == "https://h.example/second");
    CHECK(checked.violations[0].target == "u");
}

TEST_CASE("a replacement is written so that it is read as it is meant") {
    link_allowlist allowed;
    allowed.add({"https://a.com/A_(b).", "words", 1, true});
    CHECK(replaced("[words](x)", allowed) == "[words](<https://a.com/A_(b).>)");
    CHECK(replaced("see https://b.com", allowed) == "see <https://a.com/A_(b).>");
    link_allowlist quotes;
    quotes.add({"https://a.com/it's\"x", "words", 1, true});
    CHECK(replaced("<a href='u'>words</a>", quotes) == "<a href='https://a.com/it&#39;s%22x'>words</a>");
    link_allowlist relative;
    relative.add({"next.md", "words", 1, true});
    CHECK(replaced("see https://b.com", relative) == "see (-)");  // a relative target without marks is no link
}

TEST_CASE("taking a link away makes no other") {
    // Without its marks, what is left of the first link is the colon of another.
    const checked_answer joined = check_links("see https[:](https://bad.example)//evil.example", allow({}), {.removed = "-"});
    CHECK(joined.text == "see -");
    CHECK(joined.violations.size() == 2);
    CHECK(joined.violations[1].target == "https://evil.example");
    CHECK(joined.violations[1].span.size() == 0);
    CHECK(check_links("[x][https://evil.example](https://bad.example)", allow({}), {.removed = "-"}).text == "[x]-");
}

TEST_CASE("the text of a checked answer has no violations, whatever the answer is") {
    const auto allowed = allow({"https://a.com/x", "next.md"});
    std::uint32_t seed = 41;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"[", "]", "(", ")", "](", "![", "<", ">", "\"", "`", "\\", "https://", "a.com/x", "evil.example", "www.", "@", "//",
                                       "<a href=", "</a>", "[r]", "[r]: ", "\n", "\n\n", " ", "next.md", "src='", "&#x2f;", "ht", "tps:", "<!--", "-->"};
    for (int round = 0; round < 4000; ++round) {
        std::string answer;
        for (std::uint32_t i = 0; i < random(25); ++i) answer += pieces[random(std::size(pieces))];
        CAPTURE(answer);
        for (const link_policy policy : {link_policy::strip, link_policy::replace, link_policy::reject}) {
            const checked_answer checked = check_links(answer, allowed, {.policy = policy, .removed = ""});
            CHECK(check_links(checked.text, allowed).violations.empty());
            CHECK(checked.rejected == (policy == link_policy::reject && !checked.violations.empty()));
            if (checked.violations.empty()) CHECK(checked.text == answer);
        }
    }
}

TEST_CASE("checking takes linear time, whatever the answer is") {
    const auto allowed = allow({"https://a.com/x"});
    for (const std::string_view piece : {"[a](b)", "https://b.com ", "[r]: https://b.com\n", "<a href=x>", "ht[t](p)", "[[a](b)](c)", "![", "x"}) {
        CAPTURE(piece);
        const auto check = [&](std::size_t n) {
            std::string answer;
            while (answer.size() < n) answer += piece;
            return check_links(answer, allowed, {.policy = link_policy::replace}).violations.size();
        };
        CHECK(check(1000) <= 1000);
        CHECK(growth(check, 3000) <= 2.8);
    }
}
