#include "quarry/model/given_vectors.hpp"

#include <cmath>
#include <limits>

#include "quarry/index/flat_index.hpp"
#include "quarry/retrieve/dense.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

std::string little_endian(std::uint32_t bits, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(bits >> (8 * i) & 0xFF);
    return out;
}

std::string as_float32(std::initializer_list<float> values) {
    std::string out;
    for (const float v : values) out += little_endian(std::bit_cast<std::uint32_t>(v), 4);
    return out;
}

std::string as_float16(std::initializer_list<std::uint16_t> values) {
    std::string out;
    for (const std::uint16_t v : values) out += little_endian(v, 2);
    return out;
}

// IEEE 754 binary16 by its definition: (-1)^s x 2^(e - 15) x 1.f, and 2^-14 x 0.f for e = 0.
double slow_float16(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = static_cast<double>(bits & 1023) / 1024.0;
    const double sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == 31) return fraction == 0.0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    if (exponent == 0) return sign * std::pow(2.0, -14) * fraction;
    return sign * std::pow(2.0, exponent - 15) * (1.0 + fraction);
}

static_assert(Embedder<given_vectors>);
static_assert(float_of(0x3C00) == 1.0f && float_of(0xC000) == -2.0f && float_of(0x7BFF) == 65504.0f);

}  // namespace

TEST_CASE("every one of the 65,536 float16 values is read as its definition has it") {
    std::size_t numbers = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float fast = float_of(static_cast<std::uint16_t>(bits));
        const double slow = slow_float16(bits);
        const bool same = std::isnan(slow)
                              ? std::isnan(fast)
                              : static_cast<double>(fast) == slow && std::signbit(fast) == std::signbit(slow);
        if (!same) FAIL("bits " << bits << ": " << fast << " and not " << slow);
        numbers += !std::isnan(slow);
    }
    CHECK(numbers == 65536 - 2 * 1023);  // both signs of exponent 31 with a fraction
}

TEST_CASE("rows of a file stand in the order of the ids, whatever the width of the floats") {
    const temporary_folder folder;
    const std::vector<std::string> ids{"a", "b"};
    const auto wide = given_vectors::read(folder.write("v.f32", as_float32({1, 2, 3, -4, 5, 0.1f})), ids);
    CHECK(wide.dimension() == 3);
    CHECK(wide.size() == 2);
    CHECK(wide.rows()[5] == 0.1f);
    CHECK(std::ranges::equal(*wide.row("b"), std::vector<float>{-4, 5, 0.1f}));
    CHECK_FALSE(wide.row("c"));
    const auto narrow = given_vectors::read(
        folder.write("v.f16", as_float16({0x3C00, 0x4000, 0x4200, 0xC400, 1, 0x7BFF})), ids, {.dimension = 3});
    CHECK(std::ranges::equal(narrow.rows(), std::vector<float>{1, 2, 3, -4, 0x1p-24f, 65504}));
    const std::string odd_name = folder.write("v.bin", as_float32({1, 2}));
    CHECK(given_vectors::read(odd_name, {"a"}, {.format = float_format::float32}).dimension() == 2);
    CHECK(given_vectors::read(odd_name, {"a"}, {.format = float_format::float16}).dimension() == 4);
    CHECK(code_of([&] { given_vectors::read(odd_name, {"a"}); }) == "vectors.format");
}

TEST_CASE("a file longer than a block is read to its end") {
    const temporary_folder folder;
    std::string bytes;
    std::vector<std::string> ids;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        bytes += as_float32({static_cast<float>(i), 1, static_cast<float>(i) / 2});
        ids.push_back(std::to_string(i));
    }
    const auto v = given_vectors::read(folder.write("v.f32", bytes), ids);
    bool all = true;
    for (std::size_t i = 0; i < 5000; ++i)
        all = all && v.row(i)[0] == static_cast<float>(i) && v.row(i)[2] == static_cast<float>(i) / 2;
    CHECK(all);
}

TEST_CASE("a length that does not fit is refused with all the numbers before anything is allocated") {
    const temporary_folder folder;
    const std::string path = folder.write("v.f32", as_float32({1, 2, 3, 4, 5, 6}));
    const std::vector<std::string> two{"a", "b"};
    CHECK(message_of([&] { given_vectors::read(path, two, {.dimension = 4}); }) ==
          path + ": 2 rows of 4 float32 do not make the 24 bytes of the file [vectors.size]");
    CHECK(message_of([&] {
              given_vectors::read(path, {"a", "b", "c", "d", "e"});
          }) == path + ": 5 rows of equal width float32 do not make the 24 bytes of the file [vectors.size]");
    CHECK(code_of([&] { given_vectors::read(path, two, {.dimension = 2}); }) == "vectors.size");
    CHECK(code_of([&] { given_vectors::read(path, two, {.dimension = 6, .format = float_format::float32}); }) ==
          "vectors.size");
    // A width whose product overflows to the file's 24 bytes: 2 x 4 x (2^61 + 3).
    CHECK(code_of([&] { given_vectors::read(path, two, {.dimension = (std::size_t{1} << 61) + 3}); }) ==
          "vectors.size");
    CHECK(code_of([&] { given_vectors::read(path, two, {.dimension = SIZE_MAX}); }) == "vectors.size");
    const std::string cut = folder.write("cut.f32", as_float32({1, 2}).substr(0, 7));
    CHECK(code_of([&] { given_vectors::read(cut, two); }) == "vectors.size");
    const std::string empty = folder.write("empty.f32", "");
    CHECK(code_of([&] { given_vectors::read(empty, two); }) == "vectors.size");
    CHECK(code_of([&] { given_vectors::read(empty, {}); }) == "vectors.size");
    CHECK(given_vectors::read(empty, {}, {.dimension = 3}).size() == 0);
    CHECK(code_of([&] { given_vectors::read(folder / "missing.f32", two); }) == "file.open");
    CHECK(code_of([&] { given_vectors::read(folder.path(), two, {.format = float_format::float32}); }) == "file.read");
}

TEST_CASE("a NaN or an infinity is refused by row and id, from memory and from a file") {
    const temporary_folder folder;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(message_of([&] {
              given_vectors(2, {"a", "b"}, {1, 2, 3, nan});
          }) == "quarry::given_vectors: row 1, for \"b\", holds a NaN or an infinity [vectors.not_finite]");
    const std::string path = folder.write("v.f16", as_float16({0x3C00, 0x7C00}));
    CHECK(message_of([&] {
              given_vectors::read(path, {"a", "b"});
          }) == path + ": row 1, for \"b\", holds a NaN or an infinity [vectors.not_finite]");
}

TEST_CASE("zero rows are named, and a cosine index refuses them") {
    const given_vectors v(2, {"a", "none", "b", "nothing"}, {1, 0, 0, 0, 0, 1, 0, -0.0f});
    CHECK(std::ranges::equal(v.zero_rows(), std::vector<std::size_t>{1, 3}));
    flat_index index(2);
    CHECK(code_of([&] { index.add(unit_id{0}, v.row(1)); }) == "dense.zero_vector");
    CHECK(index.size() == 0);
}

TEST_CASE("one id may come twice with equal rows, and not with different ones") {
    CHECK(given_vectors(1, {"a", "a"}, {2, 2}).size() == 2);
    CHECK(message_of([] {
              given_vectors(1, {"a", "b", "a"}, {2, 1, 3});
          }) == "quarry::given_vectors: rows 0 and 2 differ and are both for \"a\" [vectors.conflict]");
}

TEST_CASE("rows, ids and width that do not fit are refused with the numbers") {
    CHECK(message_of([] {
              given_vectors(3, {"a", "b"}, {1, 2, 3, 4});
          }) == "quarry::given_vectors: 2 ids and rows of 3 do not fit 4 floats [vectors.size]");
    CHECK(code_of([] { given_vectors(2, {"a"}, {1, 2, 3, 4}); }) == "vectors.size");
    CHECK(code_of([] { given_vectors(0, {}, {}); }) == "vectors.dimension");
}

TEST_CASE("as an embedder it answers for the texts it was given and refuses every other") {
    const corpus c = toy::corpus_of({"east", "north"});
    const given_vectors pages(2, {"0", "1"}, {1, 0, 0, 1});
    const given_vectors questions(2, {"up?", "silence"}, {0, 3, 0, 0});
    flat_index index(2);
    const unit_id units[] = {unit_id{0}, unit_id{1}};
    index.add(units, pages.rows());
    const auto search = dense(index, c, questions);
    CHECK(toy::ids(search.retrieve("up?", 1)) == std::vector<std::string>{"1"});
    CHECK(search.retrieve("silence", 2).empty());  // a zero row: nothing is known of it
    CHECK(message_of([&] { search.retrieve("down?", 1); }) ==
          "quarry::given_vectors: none of the 2 given vectors is for the text \"down?\" [vectors.unknown_text]");
    CHECK(code_of([&] { dense(index, c, given_vectors(3, {"x"}, {1, 2, 3})); }) == "dense.dimension");
}

TEST_CASE("copies share their rows and pay for a question once") {
    const given_vectors v(1, {"a"}, {1});
    const given_vectors copy = v;
    CHECK(copy.rows().data() == v.rows().data());
    CHECK(copy.identity() == v.identity());
}
