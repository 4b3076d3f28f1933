#include "quarry/core/file.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace quarry;

TEST_CASE("a file is written and read byte for byte") {
    const temporary_folder folder;
    std::string bytes;
    for (int i = 0; i < 200000; ++i) bytes += static_cast<char>(i * 7);
    detail::write_file(folder / "f", bytes);
    CHECK(detail::read_file(folder / "f") == bytes);
    detail::write_file(folder / "f", "");
    CHECK(detail::read_file(folder / "f").empty());
    const auto file = detail::open_to_read(folder.write("g", "abc"));
    CHECK(detail::length_of(file.get(), "g") == 3);
    char three[4];
    CHECK(detail::read_some(file.get(), three, "g") == 3);
    CHECK(three[0] == 'a');
}

TEST_CASE("what cannot be read or written is named with the reason") {
    const temporary_folder folder;
    CHECK(message_of([&] { detail::read_file(folder / "none"); }) ==
          "cannot read " + folder / "none" + ": No such file or directory [file.open]");
    CHECK(message_of([&] { detail::read_file(folder.path()); }) ==
          "cannot read " + folder.path() + ": Is a directory [file.read]");
    CHECK(code_of([&] { detail::write_file(folder.path(), "x"); }) == "file.open");
    CHECK(code_of([] { detail::write_file("/dev/full", "x"); }) == "file.write");
}

TEST_CASE("lines are numbered from 1 and lose their line break, whichever it is") {
    std::vector<std::pair<std::string, std::size_t>> lines;
    const auto collect = [&](std::string_view line, std::size_t number) { lines.emplace_back(line, number); };
    detail::for_each_line("a\r\n\nb\n", collect);
    CHECK(lines == std::vector<std::pair<std::string, std::size_t>>{{"a", 1}, {"", 2}, {"b", 3}});
    lines.clear();
    detail::for_each_line("last", collect);
    CHECK(lines == std::vector<std::pair<std::string, std::size_t>>{{"last", 1}});
    lines.clear();
    detail::for_each_line("", collect);
    CHECK(lines.empty());
}
