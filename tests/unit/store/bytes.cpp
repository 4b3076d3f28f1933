#include "quarry/store/bytes.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("numbers are written in little-endian order and come back") {
    std::string bytes;
    detail::byte_writer<std::string> out(bytes);
    out.number(std::uint32_t{0x01020304});
    CHECK(bytes == "\x04\x03\x02\x01");
    out.number(std::int64_t{-2});
    out.number(-0.0);
    out.number(std::numeric_limits<float>::denorm_min());
    out.text(std::string_view("a\0b", 3));
    out.numbers(std::span<const float>(std::vector<float>{1.5f, -2.0f}));
    detail::byte_reader in(bytes, "test");
    CHECK(in.number<std::uint32_t>() == 0x01020304);
    CHECK(in.number<std::int64_t>() == -2);
    const double zero = in.number<double>();
    CHECK((zero == 0.0 && std::signbit(zero)));
    CHECK(in.number<float>() == std::numeric_limits<float>::denorm_min());
    CHECK(in.text() == std::string_view("a\0b", 3));
    CHECK(in.numbers<float>(2) == std::vector<float>{1.5f, -2.0f});
    in.require_end();
}

TEST_CASE("a count is refused before anything is allocated for it") {
    for (const std::uint64_t n : {std::uint64_t{3}, std::uint64_t{1} << 40, std::uint64_t{1} << 61, UINT64_MAX}) {
        std::string bytes;
        detail::byte_writer<std::string> out(bytes);
        out.number(n);
        out.numbers(std::span<const std::uint64_t>(std::vector<std::uint64_t>{1, 2}));
        // 2^61 entries of 8 bytes are 2^64 bytes, which is 0 in 64 bits.
        CHECK(code_of([&] { detail::byte_reader(bytes, "test").count(8); }) == "store.malformed");
        if (n > 16) CHECK(code_of([&] { detail::byte_reader(bytes, "test").text(); }) == "store.malformed");
    }
    const std::string sixteen(16, '\1');
    for (const std::size_t n : {std::size_t{3}, std::size_t{1} << 61, SIZE_MAX})
        CHECK(code_of([&] { detail::byte_reader(sixteen, "test").numbers<std::uint64_t>(n); }) == "store.malformed");
}

TEST_CASE("bytes that are missing, left over or out of range are errors that name the section") {
    const std::string bytes(5, '\x07');
    CHECK(code_of([&] { detail::byte_reader(bytes, "test").number<std::uint64_t>(); }) == "store.malformed");
    detail::byte_reader in(bytes, "test");
    in.number<std::uint32_t>();
    CHECK(message_of([&] { in.require_end(); }).find("\"test\" is malformed: 1 bytes are left over") !=
          std::string::npos);
    CHECK(code_of([&] { in.flag(); }) == "store.malformed");
}
