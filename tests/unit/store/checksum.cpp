#include "quarry/store/checksum.hpp"

#include <string>
#include <string_view>

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("XXH64 gives the published values") {
    // From the reference implementation, as its bindings print them (python-xxhash's README among them).
    const auto of = [](std::string_view text, std::uint64_t seed = 0) {
        return detail::xxh64(seed).add(text).finish();
    };
    CHECK(of("") == 0xEF46DB3751D8E999);
    CHECK(of("a") == 0xD24EC4F1A98C6E5B);
    CHECK(of("abc") == 0x44BC2CF5AD770999);
    CHECK(of("Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1);
    CHECK(of("xxhash", 20141025) == 13067679811253438005u);
}

TEST_CASE("a text hashed in pieces has the hash of the whole") {
    std::string text;
    for (int i = 0; i < 200; ++i) text += static_cast<char>(i * 7);
    const std::uint64_t whole = detail::xxh64_of(text);
    for (std::size_t first = 0; first <= text.size(); ++first)
        for (const std::size_t step : {1u, 3u, 31u, 32u, 33u, 64u}) {
            detail::xxh64 hash;
            hash.add(std::string_view(text).substr(0, first));
            for (std::size_t at = first; at < text.size(); at += step)
                hash.add(std::string_view(text).substr(at, step));
            REQUIRE(hash.finish() == whole);
        }
}
