// A folder of a test's own, gone when the test is.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

class temporary_folder {
   public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "quarry-test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::string path() const { return path_.string(); }
    std::string operator/(std::string_view name) const { return (path_ / name).string(); }

    /// Writes a file byte for byte and returns its path.
    std::string write(std::string_view name, std::string_view bytes) const {
        std::ofstream file(path_ / name, std::ios::binary);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        file.close();
        if (!file) throw std::runtime_error("cannot write a test's file");
        return *this / name;
    }

   private:
    std::filesystem::path path_;
};
