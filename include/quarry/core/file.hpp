// Whole files in and out, in binary, with errors that name the file and the reason.
//
// Errors  data_error `file.open`, `file.read`, `file.write`.
#pragma once

#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "error.hpp"

namespace QUARRY_NAMESPACE::detail {  // not promised

struct file_closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

/// Not strerror: it may answer from a buffer that threads share.
[[noreturn]] inline void raise_file_error(std::string_view code, std::string_view verb, std::string_view path) {
    const int reason = errno;
    raise<data_error>(code, concat("cannot ", verb, ' ', path, ": ", std::generic_category().message(reason)));
}

inline file_handle open_to_read(const std::string& path) {
    file_handle file(std::fopen(path.c_str(), "rb"));
    if (!file) raise_file_error("file.open", "read", path);
    // A folder opens without complaint, and only reading from it fails.
    const int first = std::fgetc(file.get());
    if (std::ferror(file.get()) != 0) raise_file_error("file.read", "read", path);
    if (first != EOF) std::ungetc(first, file.get());
    return file;
}

/// Reads on until `bytes` is full or the file ends; says how many bytes there were.
inline std::size_t read_some(std::FILE* file, std::span<char> bytes, const std::string& path) {
    const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file);
    if (std::ferror(file) != 0) raise_file_error("file.read", "read", path);
    return count;
}

inline std::string read_file(const std::string& path) {
    const file_handle file = open_to_read(path);
    std::string all;
    char block[1 << 16];
    while (const std::size_t count = read_some(file.get(), block, path)) all.append(block, count);
    return all;
}

/// The length in bytes; the place to read from is the beginning again. Pipes have no length.
inline std::size_t length_of(std::FILE* file, const std::string& path) {
    if (std::fseek(file, 0, SEEK_END) != 0) raise_file_error("file.read", "measure", path);
    const long length = std::ftell(file);
    if (length < 0 || std::fseek(file, 0, SEEK_SET) != 0) raise_file_error("file.read", "measure", path);
    return static_cast<std::size_t>(length);
}

inline void write_file(const std::string& path, std::string_view bytes) {
    file_handle file(std::fopen(path.c_str(), "wb"));
    if (!file) raise_file_error("file.open", "write", path);
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
    // Closing writes what is buffered, so a full disk may only show here.
    if (!written || std::fclose(file.release()) != 0) raise_file_error("file.write", "write", path);
}

/// Calls `f(line, number)` for every line, numbered from 1, without its line break (\n or \r\n).
template <class F>
void for_each_line(std::string_view text, F f) {
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        f(line, number);
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

}  // namespace QUARRY_NAMESPACE::detail
