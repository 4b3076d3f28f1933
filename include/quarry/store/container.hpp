// Container: the file format of this library. Named sections, each with its length and checksum.
//
//     16 bytes  magic, order marker, version
//     sections  each begins at a multiple of 64; zeros between them
//     table     name, offset, length and checksum of each section, in their order
//     64 bytes  where the table is, total length, checksums of header, table and of these bytes
//
// All numbers are little-endian and of fixed width. Every bit of a file is covered: by a checksum, or by the rule that
// it is zero. A reader verifies all of it before it hands out any section. Version 1 is the only one; a file of a later
// version is refused, and an earlier version will stay readable.
//
// docs/guarantees.md describes what is in the sections.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "bytes.hpp"
#include "checksum.hpp"
#include "files.hpp"

namespace QUARRY_NAMESPACE {

inline constexpr std::uint32_t container_version = 1;

struct section_info {
    std::string name;
    std::uint64_t offset = 0, length = 0, checksum = 0;
};

/// Writes a container front to back. Whoever gets the bytes may throw; the container is then to be thrown away.
class container_writer {
   public:
    using output = std::function<void(std::span<const char>)>;

    explicit container_writer(output out);

    /// Ends the section before and begins this one. Names are not repeated.
    void section(std::string name);

    /// Appends to the section.
    void append(const char* bytes, std::size_t size);

    /// Ends the file. Nothing may follow.
    void finish();

   private:
    void put(std::span<const char> bytes);
    void flush();
    void end_section();
    void pad();

    output out_;
    std::vector<section_info> sections_;
    std::optional<detail::xxh64> open_;
    std::vector<char> buffer_;
    std::uint64_t position_ = 0;
    std::uint64_t header_checksum_ = 0;
};

/// A container in memory, verified. The bytes must outlive it.
///
/// Errors  data_error `store.not_ours`, `store.version`, `store.byte_order`, `store.truncated`, `store.checksum`,
///         `store.malformed` (a table or padding that no writer makes), `store.section` for one that is not there.
class container {
   public:
    explicit container(std::span<const char> bytes);

    std::span<const section_info> sections() const noexcept { return sections_; }
    bool has(std::string_view name) const noexcept;
    std::span<const char> operator[](std::string_view name) const;
    detail::byte_reader read(std::string_view name) const { return {(*this)[name], name}; }

   private:
    std::span<const char> bytes_;
    std::vector<section_info> sections_;
};

/// The sections of a file, without reading what is in them. Header, table and trailer are verified, the sections not.
std::vector<section_info> inspect(readable_file& file);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// Like PNG's: the high bit and the line ends notice a transfer as text.
inline constexpr std::array<char, 8> container_magic{'\x89', 'Q', 'R', 'Y', '\r', '\n', '\x1a', '\n'};
inline constexpr std::array<char, 8> container_end{'Q', 'R', 'Y', 'E', 'N', 'D', '\r', '\n'};
inline constexpr std::uint32_t order_marker = 0x01020304;
inline constexpr std::size_t header_size = 16, trailer_size = 64, section_alignment = 64;

struct container_trailer {
    std::uint64_t table_offset, table_length, table_checksum, total_length;
};

/// Requires  header_size bytes, or fewer if the file has no more.
inline void check_header(std::span<const char> header) {
    if (header.size() < container_magic.size() ||
        !std::ranges::equal(header.first(container_magic.size()), container_magic))
        raise<data_error>("store.not_ours", "quarry: this is no file of Quarry's: it does not begin like one");
    if (header.size() < header_size)
        raise<data_error>("store.truncated", concat("quarry: the file was cut off after ", header.size(), " bytes"));
    const auto marker = load<std::uint32_t>(header.data() + 8);
    if (marker != order_marker)
        raise<data_error>("store.byte_order",
                          concat("quarry: the file's order marker is ", marker, " and not ", order_marker));
    const auto version = load<std::uint32_t>(header.data() + 12);
    if (version != container_version)
        raise<data_error>("store.version",
                          concat("quarry: the file has version ", version, ", this library reads ", container_version));
}

inline container_trailer check_trailer(std::span<const char> header, std::span<const char> trailer,
                                       std::uint64_t size) {
    const char* t = trailer.data();
    if (!std::ranges::equal(trailer.subspan(48, 8), container_end))
        raise<data_error>("store.truncated",
                          concat("quarry: the file was cut off: its ", size, " bytes do not end as a whole file does"));
    const auto refuse = [](std::string_view what, std::uint64_t stored, std::uint64_t found) {
        raise<data_error>("store.checksum", concat("quarry: the file's ", what, " is damaged: its checksum is ", stored,
                                                   ", its bytes give ", found));
    };
    if (const auto stored = load<std::uint64_t>(t + 56), found = xxh64_of(trailer.first(56)); stored != found)
        refuse("trailer", stored, found);
    if (const auto stored = load<std::uint64_t>(t + 32), found = xxh64_of(header); stored != found)
        refuse("header", stored, found);
    const container_trailer out{load<std::uint64_t>(t), load<std::uint64_t>(t + 8), load<std::uint64_t>(t + 16),
                                load<std::uint64_t>(t + 24)};
    if (out.total_length != size)
        raise<data_error>("store.truncated",
                          concat("quarry: the file has ", size, " bytes and should have ", out.total_length));
    if (load<std::uint64_t>(t + 40) != 0)
        raise<data_error>("store.malformed", "quarry: the file's trailer holds what this version does not know");
    if (out.table_offset < header_size || out.table_offset > size - trailer_size ||
        out.table_length != size - trailer_size - out.table_offset)
        raise<data_error>("store.malformed", concat("quarry: the file's table should lie at byte ", out.table_offset,
                                                    " with ", out.table_length, " bytes, and cannot"));
    return out;
}

inline std::vector<section_info> read_table(std::span<const char> table, const container_trailer& trailer) {
    if (const auto found = xxh64_of(table); found != trailer.table_checksum)
        raise<data_error>("store.checksum", concat("quarry: the file's table is damaged: its checksum is ",
                                                   trailer.table_checksum, ", its bytes give ", found));
    byte_reader in(table, "table of sections");
    constexpr std::size_t least = 4 * 8;
    const std::size_t count = in.count(least);
    std::vector<section_info> out;
    std::uint64_t end = header_size;
    for (std::size_t i = 0; i < count; ++i) {
        section_info s{std::string(in.text()), in.number<std::uint64_t>(), in.number<std::uint64_t>(),
                       in.number<std::uint64_t>()};
        const std::uint64_t begin = (end + section_alignment - 1) / section_alignment * section_alignment;
        if (s.offset != begin || s.length > trailer.table_offset || s.offset > trailer.table_offset - s.length)
            in.refuse(concat("section ", detail::quoted(s.name), " lies at byte ", s.offset, " with ", s.length, " bytes"));
        if (std::ranges::any_of(out, [&](const section_info& other) { return other.name == s.name; }))
            in.refuse(concat("two sections are called ", detail::quoted(s.name)));
        end = s.offset + s.length;
        out.push_back(std::move(s));
    }
    in.require_end();
    const std::uint64_t padded = (end + section_alignment - 1) / section_alignment * section_alignment;
    if (padded != trailer.table_offset)
        in.refuse(concat("the sections end at byte ", end, ", the table begins at ", trailer.table_offset));
    return out;
}

}  // namespace detail

inline container_writer::container_writer(output out) : out_(std::move(out)) {
    constexpr std::size_t together = 1 << 16;
    buffer_.reserve(together);
    char header[detail::header_size];
    std::ranges::copy(detail::container_magic, header);
    detail::store(header + 8, detail::order_marker);
    detail::store(header + 12, container_version);
    header_checksum_ = detail::xxh64_of(header);
    put(header);
}

inline void container_writer::section(std::string name) {
    end_section();
    pad();
    sections_.push_back({std::move(name), position_, 0, 0});
    open_.emplace();
}

inline void container_writer::append(const char* bytes, std::size_t size) {
    open_->add({bytes, size});
    put({bytes, size});
}

inline void container_writer::finish() {
    end_section();
    pad();
    const std::uint64_t table_offset = position_;
    std::string table;
    detail::byte_writer<std::string> out(table);
    out.count(sections_.size());
    for (const section_info& s : sections_) {
        out.text(s.name);
        for (const std::uint64_t x : {s.offset, s.length, s.checksum}) out.number(x);
    }
    put(table);
    char trailer[detail::trailer_size] = {};
    const std::uint64_t numbers[] = {table_offset, table.size(), detail::xxh64_of(table),
                                     table_offset + table.size() + detail::trailer_size, header_checksum_};
    for (std::size_t i = 0; i < std::size(numbers); ++i) detail::store(trailer + 8 * i, numbers[i]);
    std::ranges::copy(detail::container_end, trailer + 48);
    detail::store(trailer + 56, detail::xxh64_of(std::span(trailer).first(56)));
    put(trailer);
    flush();
}

// Small pieces are gathered, since each call of the system costs as much as copying a page.
inline void container_writer::put(std::span<const char> bytes) {
    if (bytes.size() > buffer_.capacity() - buffer_.size()) flush();
    if (bytes.size() > buffer_.capacity())
        out_(bytes);
    else
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    position_ += bytes.size();
}

inline void container_writer::flush() {
    if (!buffer_.empty()) out_(buffer_);
    buffer_.clear();
}

inline void container_writer::end_section() {
    if (!open_) return;
    sections_.back().length = position_ - sections_.back().offset;
    sections_.back().checksum = open_->finish();
    open_.reset();
}

inline void container_writer::pad() {
    constexpr char zeros[detail::section_alignment] = {};
    put(std::span(zeros).first((detail::section_alignment - position_ % detail::section_alignment) %
                               detail::section_alignment));
}

inline container::container(std::span<const char> bytes) : bytes_(bytes) {
    using namespace detail;
    check_header(bytes.first((std::min)(bytes.size(), header_size)));
    if (bytes.size() < header_size + trailer_size)
        raise<data_error>("store.truncated", concat("quarry: the file was cut off after ", bytes.size(), " bytes"));
    const container_trailer trailer = check_trailer(bytes.first(header_size), bytes.last(trailer_size), bytes.size());
    sections_ = read_table(
        bytes.subspan(static_cast<std::size_t>(trailer.table_offset), static_cast<std::size_t>(trailer.table_length)),
        trailer);
    std::size_t end = header_size;
    const auto require_zeros = [&](std::size_t to) {
        for (; end < to; ++end)
            if (bytes[end] != 0)
                raise<data_error>("store.malformed", concat("quarry: byte ", end, " of the file should be 0"));
    };
    for (const section_info& s : sections_) {
        require_zeros(static_cast<std::size_t>(s.offset));
        const auto found = xxh64_of(bytes.subspan(end, static_cast<std::size_t>(s.length)));
        if (found != s.checksum)
            raise<data_error>("store.checksum",
                              concat("quarry: section ", detail::quoted(s.name), " is damaged: its checksum is ", s.checksum,
                                     ", its bytes give ", found));
        end += static_cast<std::size_t>(s.length);
    }
    require_zeros(static_cast<std::size_t>(trailer.table_offset));
}

inline bool container::has(std::string_view name) const noexcept {
    return std::ranges::any_of(sections_, [&](const section_info& s) { return s.name == name; });
}

inline std::span<const char> container::operator[](std::string_view name) const {
    for (const section_info& s : sections_)
        if (s.name == name)
            return bytes_.subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.length));
    detail::raise<data_error>("store.section", "quarry: the file has no section " + detail::quoted(name));
}

inline std::vector<section_info> inspect(readable_file& file) {
    using namespace detail;
    const std::uint64_t size = file.size();
    std::vector<char> header(static_cast<std::size_t>((std::min)(size, std::uint64_t{header_size})));
    file.read(0, header);
    check_header(header);
    if (size < header_size + trailer_size)
        raise<data_error>("store.truncated", concat("quarry: the file was cut off after ", size, " bytes"));
    char end[trailer_size];
    file.read(size - trailer_size, end);
    const container_trailer trailer = check_trailer(header, end, size);
    std::vector<char> table(static_cast<std::size_t>(trailer.table_length));
    file.read(trailer.table_offset, table);
    return read_table(table, trailer);
}

}  // namespace QUARRY_NAMESPACE
