#include "quarry/detail/sha256.hpp"

#include "support/catch.hpp"

using namespace quarry::detail;

namespace {

std::string of(std::string_view bytes) { return hexadecimal(sha256_of(bytes)); }

}  // namespace

TEST_CASE("digests are those of the standard's examples") {
    // NIST, "SHA Test Vectors for Hashing Byte-Oriented Messages"; the million is from FIPS 180-2, appendix B.3.
    CHECK(of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(of(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a text has one digest however it is cut into pieces") {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
    for (const std::size_t step : {1u, 3u, 55u, 56u, 63u, 64u, 65u, 128u, 299u}) {
        sha256 pieces;
        for (std::size_t at = 0; at < text.size(); at += step) pieces.add(std::string_view(text).substr(at, step));
        CHECK(hexadecimal(pieces.finish()) == of(text));
    }
}

TEST_CASE("fields that are cut elsewhere have another digest") {
    const auto two = [](std::string_view a, std::string_view b) { return sha256().add_field(a).add_field(b).finish(); };
    CHECK(two("ab", "c") != two("a", "bc"));
    CHECK(two("", "abc") != two("abc", ""));
    CHECK(two("ab", "c") == two("ab", "c"));
}

TEST_CASE("a short name is the beginning of the digest") {
    CHECK(hexadecimal(sha256_of("abc"), 4) == "ba7816bf");
    CHECK(hexadecimal(sha256_of("abc"), 99).size() == 64);
}
