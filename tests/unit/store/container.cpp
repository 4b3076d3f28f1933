#include "quarry/store/container.hpp"

#include <map>
#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

std::string packed(const std::vector<std::pair<std::string, std::string>>& sections) {
    std::string bytes;
    container_writer out([&](std::span<const char> some) { bytes.append(some.data(), some.size()); });
    for (const auto& [name, contents] : sections) {
        out.section(name);
        out.append(contents.data(), contents.size());
    }
    out.finish();
    return bytes;
}

std::string small() { return packed({{"corpus", "some text"}, {"empty", ""}, {"rows", std::string(64, '\1')}}); }

void verify(const std::string& bytes) {
    bytes_file file(bytes);
    container(file).verify();
}
std::string code_of_reading(const std::string& bytes) {
    return code_of([&] { verify(bytes); });
}

std::string replaced(std::string bytes, std::size_t at, std::string_view by) {
    bytes.replace(at, by.size(), by);
    return bytes;
}

}  // namespace

TEST_CASE("sections come back as they were written, in their order") {
    const std::string bytes = small();
    bytes_file file(bytes);
    container c(file);
    REQUIRE(c.sections().size() == 3);
    CHECK(c.sections()[0].name == "corpus");
    CHECK(c.sections()[1].length == 0);
    auto text = c.read("corpus");
    for (const char expected : std::string_view("some text")) CHECK(text.number<std::uint8_t>() == expected);
    text.require_end();
    CHECK(c.read("rows").left() == 64);
    CHECK(c.read("empty").left() == 0);
    CHECK(c.has("rows"));
    CHECK_FALSE(c.has("graph"));
    CHECK(code_of([&] { c.read("graph"); }) == "store.section");
    for (const section_info& s : c.sections()) CHECK(s.offset % 64 == 0);
}

TEST_CASE("the same contents give the same bytes, however they were handed in") {
    const std::string large(200000, 'x');
    std::string bytes;
    container_writer out([&](std::span<const char> some) { bytes.append(some.data(), some.size()); });
    out.section("a");
    for (const char c : large) out.append(&c, 1);
    out.section("b");
    out.append("y", 1);
    out.finish();
    CHECK(bytes == packed({{"a", large}, {"b", "y"}}));
}

TEST_CASE("every truncation of a file is refused") {
    const std::string bytes = small();
    std::set<std::string> codes;
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const std::string code = code_of_reading(bytes.substr(0, length));
        REQUIRE((code == "store.truncated" || (length < 8 && code == "store.not_ours")));
    }
    CHECK(code_of_reading(bytes) == "(no exception)");
    CHECK(code_of_reading(bytes + '\0') != "(no exception)");
}

TEST_CASE("every flipped bit of a file is noticed") {
    const std::string bytes = small();
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        std::string damaged = bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        const std::string code = code_of_reading(damaged);
        INFO("bit " << bit);
        REQUIRE(code.starts_with("store."));
    }
}

TEST_CASE("other files and other versions are told apart") {
    const std::string bytes = small();
    CHECK(code_of_reading("") == "store.not_ours");
    CHECK(code_of_reading("\x89PNG\r\n\x1a\n and an image") == "store.not_ours");
    CHECK(code_of_reading(std::string(200, '\0')) == "store.not_ours");
    CHECK(code_of_reading(replaced(bytes, 12, std::string_view("\2\0\0\0", 4))) == "store.version");
    CHECK(code_of_reading(replaced(bytes, 12, std::string_view("\0\0\0\0", 4))) == "store.version");
    CHECK(code_of_reading(replaced(bytes, 8, "\1\2\3\4")) == "store.byte_order");
    CHECK(message_of([&] {
              const std::string other = replaced(bytes, 12, std::string_view("\2\0\0\0", 4));
              verify(other);
          }).find("version 2, this library reads 1") != std::string::npos);
}

TEST_CASE("a table that promises what the file does not hold is refused, its checksums being right") {
    // An attacker computes checksums; so the table is rewritten with right ones.
    const auto with_table = [](std::uint64_t offset, std::uint64_t length, std::uint64_t count) {
        const std::string whole = packed({{"a", "0123456789"}});
        const std::uint64_t at = 128;  // the section at 64, zeros up to here
        std::string bytes = whole.substr(0, at), table;
        detail::byte_writer<std::string> out(table);
        out.number(count);
        out.text("a");
        for (const std::uint64_t x : {offset, length, detail::xxh64_of(std::string_view("0123456789"))}) out.number(x);
        std::string trailer = whole.substr(whole.size() - 64);
        const std::uint64_t numbers[] = {at, table.size(), detail::xxh64_of(table), at + table.size() + 64};
        for (std::size_t i = 0; i < 4; ++i) detail::store(trailer.data() + 8 * i, numbers[i]);
        detail::store(trailer.data() + 56, detail::xxh64_of(std::string_view(trailer).substr(0, 56)));
        return bytes + table + trailer;
    };
    CHECK(code_of_reading(with_table(64, 10, 1)) == "(no exception)");
    CHECK(code_of_reading(with_table(64, 11, 1)) == "store.checksum");
    for (const std::uint64_t wrong : {std::uint64_t{128}, std::uint64_t{1} << 40, UINT64_MAX, std::uint64_t{0}}) {
        CHECK(code_of_reading(with_table(wrong, 10, 1)) == "store.malformed");
        CHECK(code_of_reading(with_table(64, wrong, 1)) != "(no exception)");
        CHECK(code_of_reading(with_table(64, 10, wrong)) == "store.malformed");
    }
}

TEST_CASE("a file is looked into without reading its sections") {
    memory_files files;
    files.files["kb"] = packed({{"corpus", std::string(100000, 'c')}, {"rows", "12345"}});
    const auto file = files.read("kb");
    files.reset();
    const container looked_into(*file);
    CHECK(files.done.size() == 4);  // the ends, the table, and the padding before the first section
    const auto sections = looked_into.sections();
    REQUIRE(sections.size() == 2);
    CHECK(sections[0].name == "corpus");
    CHECK(sections[0].length == 100000);
    CHECK(sections[1].length == 5);
    files.files["cut"] = files.files["kb"].substr(0, 70000);
    CHECK(code_of([&] { container(*files.read("cut")); }) == "store.truncated");
    files.files["png"] = "\x89PNG";
    CHECK(code_of([&] { container(*files.read("png")); }) == "store.not_ours");
}

TEST_CASE("a section is read piece by piece into the reader's memory, and what is wrong with it is said at its end") {
    const std::string bytes = packed({{"rows", std::string(100, 'r')}, {"more", "m"}});
    bytes_file file(bytes);
    container c(file);
    section_stream rows = c.stream("rows");
    std::string piece(60, ' ');
    rows.read(piece);
    CHECK(piece == std::string(60, 'r'));
    CHECK(rows.left() == 40);
    CHECK(code_of([&] { rows.read(piece); }) == "store.malformed");
    rows.read(std::span(piece).first(40));
    CHECK(rows.left() == 0);

    std::string damaged = bytes;
    damaged[64] = 'x';  // the first byte of "rows"
    bytes_file other(damaged);
    container d(other);
    section_stream wrong = d.stream("rows");
    wrong.read(piece);
    CHECK(code_of([&] { wrong.read(std::span(piece).first(40)); }) == "store.checksum");
    CHECK(d.read("more").left() == 1);  // which is as it was
    CHECK(code_of([&] { d.verify(); }) == "store.checksum");
}
