#include "quarry/text/url.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

// "(none)" where a target has no normal form.
std::string form(std::string_view target) { return normalized_link(target).value_or("(none)"); }

}  // namespace

TEST_CASE("what may differ between two spellings of one address does not, in the normal form") {
    CHECK(form("https://a.com/x") == "https://a.com/x");
    CHECK(form("HTTPS://A.com/x/") == "https://a.com/x");
    CHECK(form("https://a.com:443/x#part") == "https://a.com/x");
    CHECK(form("http://a.com:80") == "http://a.com");
    CHECK(form("https://a.com:/") == "https://a.com");
    CHECK(form("https://a.com/%7Euser/%2e/b%2Fc%c3%a4") == "https://a.com/~user/b%2Fc%C3%A4");
    CHECK(form("https://a.com/a/./b/../c") == "https://a.com/a/c");
    CHECK(form("https://a.com/a/b/..") == "https://a.com/a");
    CHECK(form("  https://a.com/my file  ") == "https://a.com/my%20file");
    CHECK(form("https://a.com/x?") == "https://a.com/x");
    CHECK(form("https://a.com/K\u00E4se \"a\"") == "https://a.com/K%C3%A4se%20%22a%22");
    CHECK(form("https://a.com/K%c3%A4se%20%22a%22") == "https://a.com/K%C3%A4se%20%22a%22");
}

TEST_CASE("what makes two addresses differ still does, in the normal form") {
    CHECK(form("http://a.com/x") != form("https://a.com/x"));
    CHECK(form("https://a.com:8443/x") == "https://a.com:8443/x");
    CHECK(form("http://a.com:443/x") == "http://a.com:443/x");
    CHECK(form("https://a.com/X") == "https://a.com/X");
    CHECK(form("https://a.com/x?secret=1") == "https://a.com/x?secret=1");
    CHECK(form("https://a.com./x") == "https://a.com./x");
    CHECK(form("https://a.com/x%2f") != form("https://a.com/x/"));
    CHECK(form("https://a.com/%zz") == "https://a.com/%zz");
    CHECK(form("https://a.com//x") == "https://a.com//x");
    CHECK(form("https://[2001:DB8::1]:443/x") == "https://[2001:db8::1]/x");
    CHECK(form("https://\u0430.com") == "https://\u0430.com");  // a Cyrillic letter: another host
}

TEST_CASE("a target that two programs may read as two hosts has no normal form") {
    for (const std::string_view target :
         {"https://good.example@evil.example/a", "https://good.example:80:80/a", "https://good.example\\@evil.example/a",
          "https:/evil.example/a", "https:evil.example/a", "https:///evil.example/a", "https:\\\\evil.example", "https://",
          "https://a b.example/", "https://good.example\n.evil.example/", "java\tscript:alert(1)", "https://a.com:99999/",
          "https://a.com:8x/", "https://a.com:000443/", "https://a%2ecom/", "//user@evil.example/", "///evil.example", "", "   ", "https://[::1",
          "https://[good.example]/", "/.//evil.example/x", "./javascript:alert(1)", "\x7Fhttps://a.com"}) {
        CAPTURE(target);
        CHECK(form(target) == "(none)");
    }
    CHECK(form(std::string(longest_link, 'a')) == std::string(longest_link, 'a'));
    CHECK(form(std::string(longest_link + 1, 'a')) == "(none)");
}

TEST_CASE("targets without a host stay relative, and other schemes stay as they are") {
    CHECK(form("hl-301.md") == "hl-301.md");
    CHECK(form("./a/../b/./c.md#part") == "b/c.md");
    CHECK(form("../safety/warmth.md") == "../safety/warmth.md");
    CHECK(form("../../a/..") == "../..");
    CHECK(form("/help/../a/") == "/a");
    CHECK(form("/../../a") == "/a");
    CHECK(form("/") == "/");
    CHECK(form("./") == ".");
    CHECK(form("?page=2") == "?page=2");
    CHECK(form("#part") == "#part");
    CHECK(form("//a.com/x/") == "//a.com/x");
    CHECK(form("//a.com:443/x") == "//a.com:443/x");  // whose port that is depends on the page
    CHECK(form("MAILTO:Help@a.com") == "mailto:Help@a.com");
    CHECK(form("javascript:alert(1)") == "javascript:alert(1)");
    CHECK(form("file:///etc/passwd") == "file:///etc/passwd");
    CHECK(form("app://Open/Me") == "app://open/Me");
}

TEST_CASE("a relative target is resolved as a browser on that page would") {
    const auto at = [](std::string_view target) {
        return resolved_link("https://h.example/help/heating/boost.html?x=1#top", target).value_or("(none)");
    };
    CHECK(at("early.html") == "https://h.example/help/heating/early.html");
    CHECK(at("../safety/gas.html#now") == "https://h.example/help/safety/gas.html");
    CHECK(at("../../../../etc") == "https://h.example/etc");
    CHECK(at("/contact") == "https://h.example/contact");
    CHECK(at("//other.example/a") == "https://other.example/a");
    CHECK(at("http://other.example/a") == "http://other.example/a");
    CHECK(at("#below") == "https://h.example/help/heating/boost.html?x=1");
    CHECK(at("?y=2") == "https://h.example/help/heating/boost.html?y=2");
    CHECK(at("//user@evil.example") == "(none)");
    CHECK(resolved_link("https://h.example", "a") == "https://h.example/a");
    CHECK(resolved_link("/help/a.html", "b.html") == "/help/b.html");
    CHECK(resolved_link("help/a.html", "b.html") == "b.html");  // nobody knows where that page is
    CHECK(resolved_link("https://h.example", "mailto:a@b") == "mailto:a@b");
}

TEST_CASE("a normal form is its own normal form") {
    std::uint32_t seed = 3;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536u % below; };
    const std::string_view pieces[] = {"https:", "//", "/", "a", ".", "..", "%2e", "%2F", "?", "#", ":", "80", "@", "B.com", " ", "%", "x"};
    for (int round = 0; round < 20000; ++round) {
        std::string target;
        for (std::uint32_t i = 0; i < 1 + random(9); ++i) target += pieces[random(std::size(pieces))];
        const auto once = normalized_link(target);
        CAPTURE(target);
        if (once) CHECK(form(*once) == *once);
        else CHECK(form(target) == "(none)");
    }
}
