#include "quarry/store/files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

durability put(file_system& files, const std::string& path, std::string_view text) {
    return replace_file(files, path, [&](writable_file& file) {
        file.write(text.substr(0, text.size() / 2));
        file.write(text.substr(text.size() / 2));
    });
}

std::size_t entries(const temporary_folder& folder) {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++n;
    return n;
}

}  // namespace

TEST_CASE("a file is replaced as a whole, and nothing is left beside it") {
    const temporary_folder folder;
    system_files files;
    const std::string path = folder / "kb";
    CHECK(put(files, path, "first") == durability::confirmed);
    CHECK(detail::read_file(path) == "first");
    CHECK(put(files, path, "second, longer") == durability::confirmed);
    CHECK(detail::read_file(path) == "second, longer");
    CHECK(entries(folder) == 1);
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a write that throws leaves the old file and no other") {
    const temporary_folder folder;
    system_files files;
    const std::string path = folder / "kb";
    put(files, path, "first");
    CHECK_THROWS_AS(replace_file(files, path,
                                 [](writable_file& file) {
                                     file.write(std::string_view("half"));
                                     throw std::runtime_error("stop");
                                 }),
                    std::runtime_error);
    CHECK(detail::read_file(path) == "first");
    CHECK(entries(folder) == 1);
}

TEST_CASE("what an interrupted save left behind is in nobody's way") {
    const temporary_folder folder;
    system_files files;
    folder.write("kb.0.tmp", "half");
    CHECK(put(files, folder / "kb", "whole") == durability::confirmed);
    CHECK(detail::read_file(folder / "kb") == "whole");
    CHECK(detail::read_file(folder / "kb.0.tmp") == "half");
}

TEST_CASE("whichever step of replacing a file fails, the old file is there or the new one, and the next try works") {  // 109: vpxtool 442
    bool failed = true;
    std::size_t n = 0;
    for (; failed; ++n) {
        memory_files files;
        put(files, "kb", "old");
        files.reset(n);
        std::string outcome;
        const std::string code = code_of([&] { outcome = name_of(put(files, "kb", "new!")); });
        failed = files.failed();
        INFO("step " << n << ": " << (files.done.empty() ? "" : files.done.back()));
        if (!failed) {
            CHECK(outcome == "confirmed");
        } else if (files.done.back() == "sync folder") {
            // The rename has happened: to say that the save failed would be wrong.
            CHECK(outcome == "unconfirmed");
            CHECK(code == "(no exception)");
        } else {
            CHECK(code == "file.injected");
        }
        CHECK(files.files.size() == 1);
        CHECK(files.files.at("kb") == (code == "(no exception)" ? "new!" : "old"));
        files.reset();
        CHECK(put(files, "kb", "newer") == durability::confirmed);
        CHECK(files.files.at("kb") == "newer");
    }
    CHECK(n == 8);  // open, write, write, sync, close, rename, sync folder, and once without a failure
}

TEST_CASE("what is no regular file is refused, and says so") {
    const temporary_folder folder;
    system_files files;
    CHECK(code_of([&] { files.read(folder.path()); }) == "file.open");
    CHECK(code_of([&] { files.read(folder / "nothing"); }) == "file.open");
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    CHECK(code_of([&] { files.read(folder / "pipe"); }) == "file.open");
    CHECK(code_of([&] { put(files, folder / "no/such/folder", "x"); }) == "file.open");
}

TEST_CASE("a folder that may be written to and not read from gives a save whose durability is not confirmed") {  // 110: turbovec 365
    const temporary_folder folder;
    system_files files;
    // Nothing is forbidden to root, so root becomes nobody for the time.
    const bool root = ::geteuid() == 0;
    if (root) REQUIRE((::chown(folder.path().c_str(), 65534, 65534) == 0 && ::seteuid(65534) == 0));
    REQUIRE(::chmod(folder.path().c_str(), 0300) == 0);
    CHECK(put(files, folder / "kb", "whole") == durability::unconfirmed);
    REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
    if (root) REQUIRE(::seteuid(0) == 0);
    CHECK(detail::read_file(folder / "kb") == "whole");
}

TEST_CASE("appending goes on where it is told and cuts off what stands beyond") {
    const temporary_folder folder;
    system_files files;
    const std::string path = folder.write("journal", "one two torn");
    {
        const auto file = files.append(path, 8);
        file->write(std::string_view("three"));
        file->sync();
        file->close();
    }
    CHECK(detail::read_file(path) == "one two three");
    char word[3];
    const auto file = files.read(path);
    file->read(4, word);
    CHECK(std::string_view(word, 3) == "two");
    CHECK(code_of([&] { file->read(11, word); }) == "file.read");
}
