// A file system in memory, whose n-th operation fails when a test says so.
//
// A write that fails has written half of its bytes, as a full disk does. What a crash would leave is what stands here.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/store/files.hpp"

// A file of these bytes, which must outlive it.
class bytes_file : public quarry::readable_file {
   public:
    explicit bytes_file(std::string_view bytes) : bytes_(bytes) {}
    std::uint64_t size() override { return bytes_.size(); }
    void read(std::uint64_t offset, std::span<char> out) override {
        if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
            quarry::detail::raise<quarry::data_error>("file.read", "the file ended");
        std::copy_n(bytes_.data() + offset, out.size(), out.begin());
    }

   private:
    std::string_view bytes_;
};

// Bytes that are read to their end, as a section is.
struct rest_of_bytes {
    std::string_view rest;
    std::uint64_t left() const { return rest.size(); }
    void read(std::span<char> to) {
        std::copy_n(rest.data(), to.size(), to.begin());
        rest.remove_prefix(to.size());
    }
};

class memory_files : public quarry::file_system {
   public:
    std::map<std::string, std::string> files;
    std::vector<std::string> done{};  // the operations, by name
    std::size_t fails_at = SIZE_MAX;  // counted from 0 over all operations
    std::string_view fails_on{};      // and every operation of this name

    /// Forgets the count and the failures.
    void reset(std::size_t n = SIZE_MAX) {
        done.clear();
        fails_at = n;
        fails_on = {};
    }
    bool failed() const { return done.size() > fails_at; }

    std::unique_ptr<quarry::writable_file> create(const std::string& path) override {
        step("open");
        if (files.contains(path)) return nullptr;
        auto file = std::make_unique<writable>(*this, path);
        files[path];
        return file;
    }
    std::unique_ptr<quarry::writable_file> append(const std::string& path, std::uint64_t size) override {
        step("open");
        files[path].resize(static_cast<std::size_t>(size));
        return std::make_unique<writable>(*this, path);
    }
    std::unique_ptr<quarry::readable_file> read(const std::string& path) override {
        step("open");
        const auto found = files.find(path);
        if (found == files.end()) quarry::detail::raise<quarry::data_error>("file.open", "there is no " + path);
        return std::make_unique<readable>(*this, found->second);
    }
    bool exists(const std::string& path) override { return files.contains(path); }
    void rename(const std::string& from, const std::string& to) override {
        step("rename");
        files[to] = std::move(files.at(from));
        files.erase(from);
    }
    void remove(const std::string& path) noexcept override { files.erase(path); }
    void sync_folder_of(const std::string&) override { step("sync folder"); }

   private:
    struct writable final : quarry::writable_file {
        writable(memory_files& o, std::string p) : owner(o), path(std::move(p)) {}
        void write(std::span<const char> bytes) override {
            try {
                owner.step("write");
            } catch (...) {
                owner.files[path].append(bytes.data(), bytes.size() / 2);
                throw;
            }
            owner.files[path].append(bytes.data(), bytes.size());
        }
        void sync() override { owner.step("sync"); }
        void close() override { owner.step("close"); }
        memory_files& owner;
        std::string path;
    };
    struct readable final : quarry::readable_file {
        readable(memory_files& o, std::string b) : owner(o), bytes(std::move(b)) {}
        std::uint64_t size() override { return bytes.size(); }
        void read(std::uint64_t offset, std::span<char> out) override {
            owner.step("read");
            bytes_file(bytes).read(offset, out);
        }
        memory_files& owner;
        std::string bytes;
    };

    void step(std::string_view name) {
        done.emplace_back(name);
        if (done.size() == fails_at + 1 || name == fails_on)
            quarry::detail::raise<quarry::data_error>("file.injected", "an injected failure of " + std::string(name));
    }
};
