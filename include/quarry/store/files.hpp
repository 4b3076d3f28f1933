// Files: the few calls that saving needs of a system, and the one way of replacing a file.
//
// `file_system` is a seam: tests put one there whose n-th write, sync or rename fails. A save writes a new file beside
// the old one, syncs it, renames it over the old one and syncs the folder. Until the rename the old file is untouched;
// after it the new one is there. If only the last step fails, the save is done and its durability is not confirmed.
//
// Errors  data_error `file.open`, `file.read`, `file.write`, `file.sync`, `file.rename`.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/file.hpp"
#include "../detail/function_ref.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// A file that is being written. Destroying it closes it and says nothing.
class writable_file {
   public:
    virtual ~writable_file() = default;
    virtual void write(std::span<const char> bytes) = 0;  // all of them
    virtual void sync() = 0;                              // to the device
    virtual void close() = 0;
};

/// A regular file that is being read.
class readable_file {
   public:
    virtual ~readable_file() = default;
    virtual std::uint64_t size() = 0;
    virtual void read(std::uint64_t offset, std::span<char> bytes) = 0;  // all of them
};

/// What a store needs of a system. Its calls may overlap.
class file_system {
   public:
    virtual ~file_system() = default;
    virtual std::unique_ptr<writable_file> create(const std::string& path) = 0;  // null: there is one already
    /// Opened to go on at `size`; what stands beyond is cut off. Made if there is none.
    virtual std::unique_ptr<writable_file> append(const std::string& path, std::uint64_t size) = 0;
    virtual std::unique_ptr<readable_file> read(const std::string& path) = 0;
    virtual bool exists(const std::string& path) = 0;
    virtual void rename(const std::string& from, const std::string& to) = 0;
    virtual void remove(const std::string& path) noexcept = 0;
    virtual void sync_folder_of(const std::string& path) = 0;
};

/// The operating system's files (POSIX). Files are made for their owner's eyes alone.
class system_files : public file_system {
   public:
    std::unique_ptr<writable_file> create(const std::string& path) override;
    std::unique_ptr<writable_file> append(const std::string& path, std::uint64_t size) override;
    std::unique_ptr<readable_file> read(const std::string& path) override;
    bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }
    void rename(const std::string& from, const std::string& to) override {
        if (std::rename(from.c_str(), to.c_str()) != 0)
            detail::raise_file_error("file.rename", detail::concat("rename ", from, " to"), to);
    }
    void remove(const std::string& path) noexcept override { ::unlink(path.c_str()); }
    void sync_folder_of(const std::string& path) override;
};

/// What is known after a save that did not fail. `unconfirmed`: the new file is in place and complete, but the folder
/// could not be synced, so that a power cut may bring the old one back; some network file systems always answer so.
enum class durability : std::uint8_t { confirmed, unconfirmed };

constexpr std::string_view name_of(durability d) noexcept {
    return d == durability::confirmed ? "confirmed" : "unconfirmed";
}

/// Puts what `write` writes in the place of `path`, all or nothing.
///
/// The new file stands beside the old one as `path`.0.tmp (or 1, 2, ... where an interrupted save left one) until it is
/// complete. If anything throws before the rename, it is removed and the old file is what it was.
durability replace_file(file_system& files, const std::string& path, detail::function_ref<void(writable_file&)> write);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class descriptor {
   public:
    explicit descriptor(int number = -1) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int get() const noexcept { return number_; }
    int release() noexcept { return std::exchange(number_, -1); }

   private:
    int number_;
};

// A call that a signal interrupted is made again.
template <class Call>
auto uninterrupted(Call call) {
    for (;;) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

class system_writable final : public writable_file {
   public:
    system_writable(descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    void write(std::span<const char> bytes) override {
        constexpr std::size_t most = std::size_t{1} << 30;  // Linux takes 2 GiB at once, and says so by writing less
        while (!bytes.empty()) {
            const std::size_t some = bytes.size() < most ? bytes.size() : most;
            const auto written = uninterrupted([&] { return ::write(file_.get(), bytes.data(), some); });
            if (written < 0) raise_file_error("file.write", "write", path_);
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
    }
    void sync() override {
        if (uninterrupted([&] { return ::fsync(file_.get()); }) != 0) raise_file_error("file.sync", "sync", path_);
    }
    void close() override {
        // Not again after a signal: the number may be another thread's file by then.
        if (::close(file_.release()) != 0 && errno != EINTR) raise_file_error("file.write", "close", path_);
    }

   private:
    descriptor file_;
    std::string path_;
};

class system_readable final : public readable_file {
   public:
    system_readable(descriptor file, std::string path, std::uint64_t size)
        : file_(std::move(file)), path_(std::move(path)), size_(size) {}

    std::uint64_t size() override { return size_; }
    void read(std::uint64_t offset, std::span<char> bytes) override {
        while (!bytes.empty()) {
            const auto count = uninterrupted(
                [&] { return ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
            if (count < 0) raise_file_error("file.read", "read", path_);
            if (count == 0)
                raise<data_error>("file.read",
                                  concat("cannot read ", path_, ": it ended at byte ", offset, " of ", size_));
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            offset += static_cast<std::uint64_t>(count);
        }
    }

   private:
    descriptor file_;
    std::string path_;
    std::uint64_t size_;
};

/// A whole file in memory.
class file_bytes {
   public:
    file_bytes() = default;
    file_bytes(file_system& files, const std::string& path) {
        const auto file = files.read(path);
        const std::uint64_t size = file->size();
        if (size > SIZE_MAX / 2)
            raise<data_error>("file.read", concat("cannot read ", path, ": ", size, " bytes do not fit into memory"));
        size_ = static_cast<std::size_t>(size);
        bytes_ = std::make_unique_for_overwrite<char[]>(size_);
        file->read(0, {bytes_.get(), size_});
    }
    operator std::span<const char>() const noexcept { return {bytes_.get(), size_}; }  // NOLINT: it is one

   private:
    std::unique_ptr<char[]> bytes_;
    std::size_t size_ = 0;
};

}  // namespace detail

inline std::unique_ptr<writable_file> system_files::create(const std::string& path) {
    detail::descriptor file(detail::uninterrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR); }));
    if (file.get() < 0) {
        if (errno == EEXIST) return nullptr;
        detail::raise_file_error("file.open", "write", path);
    }
    try {
        return std::make_unique<detail::system_writable>(std::move(file), path);
    } catch (...) {
        ::unlink(path.c_str());
        throw;
    }
}

inline std::unique_ptr<writable_file> system_files::append(const std::string& path, std::uint64_t size) {
    detail::descriptor file(detail::uninterrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR); }));
    if (file.get() < 0) detail::raise_file_error("file.open", "write", path);
    if (detail::uninterrupted([&] { return ::ftruncate(file.get(), static_cast<off_t>(size)); }) != 0)
        detail::raise_file_error("file.write", "shorten", path);
    return std::make_unique<detail::system_writable>(std::move(file), path);
}

inline std::unique_ptr<readable_file> system_files::read(const std::string& path) {
    // Without waiting: a pipe that somebody put there would be waited for until somebody writes to it.
    detail::descriptor file(
        detail::uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
    if (file.get() < 0) detail::raise_file_error("file.open", "read", path);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) detail::raise_file_error("file.read", "measure", path);
    if (!S_ISREG(status.st_mode))
        detail::raise<data_error>("file.open", detail::concat("cannot read ", path, ": it is no regular file"));
    return std::make_unique<detail::system_readable>(std::move(file), path, static_cast<std::uint64_t>(status.st_size));
}

inline void system_files::sync_folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const detail::descriptor file(
        detail::uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (file.get() < 0 || detail::uninterrupted([&] { return ::fsync(file.get()); }) != 0)
        detail::raise_file_error("file.sync", "sync", folder);
}

inline durability replace_file(file_system& files, const std::string& path,
                               detail::function_ref<void(writable_file&)> write) {
    std::string temporary;
    std::unique_ptr<writable_file> file;
    for (int i = 0; !file; ++i) {
        if (i == 1000)
            detail::raise<data_error>("file.open",
                                      detail::concat("cannot write ", path, ": there are 1000 files like ", temporary,
                                                     ", left over from saves that were interrupted"));
        temporary = detail::concat(path, '.', i, ".tmp");
        file = files.create(temporary);
    }
    try {
        write(*file);
        file->sync();
        file->close();
        file.reset();
        files.rename(temporary, path);
    } catch (...) {
        // A sync that failed is not tried again: the system may have forgotten what it could not write.
        file.reset();
        files.remove(temporary);
        throw;
    }
    try {
        files.sync_folder_of(path);
    } catch (const data_error&) {
        return durability::unconfirmed;
    }
    return durability::confirmed;
}

}  // namespace QUARRY_NAMESPACE
