// Container: the file format of this library. Named sections, each with its length and checksum.
//
//     16 bytes  magic, order marker, version
//     sections  each begins at a multiple of 64; zeros between them
//     table     name, offset, length and checksum of each section, in their order
//     64 bytes  where the table is, total length, checksums of header, table and of these bytes
//
// All numbers are little-endian and of fixed width. Every bit of a file is covered: by a checksum, or by the rule that
// it is zero. Each byte is read once, and a section is believed when all of it was verified. Version 1 is the only one; a
// file of a later version is refused, and an earlier version will stay readable.
//
// docs/guarantees.md describes what is in the sections.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
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

class section_stream;

/// A container that is read. Header, table and trailer are verified at once, a section when it is read.
///
/// Memory  the table, and the sections that are held.
/// Errors  data_error `store.not_ours`, `store.version`, `store.byte_order`, `store.truncated`, `store.checksum`,
///         `store.malformed` (a table or padding that no writer makes), `store.section` for one that is not there; those
///         of files.hpp.
class container {
   public:
    /// The file must outlive it.
    explicit container(readable_file& file);

    std::span<const section_info> sections() const noexcept { return sections_; }
    bool has(std::string_view name) const noexcept;

    /// A section, verified. The reader holds its bytes.
    detail::byte_reader read(std::string_view name);

    /// A section that is read front to back, into memory of the caller's.
    section_stream stream(std::string_view name);

    /// Reads and verifies the sections that were not read yet. When it returns, the file is as it was written.
    void verify();

   private:
    friend class section_stream;
    std::size_t number_of(std::string_view name) const;
    void require_zeros(std::uint64_t begin, std::uint64_t end) const;

    readable_file* file_;
    std::vector<section_info> sections_;
    std::vector<bool> read_;
    std::uint64_t table_offset_ = 0;
};

/// See container::stream, which must stay where it is meanwhile. What was read is to be believed when nothing is left.
class section_stream {
   public:
    section_stream(container& owner, std::size_t section);

    std::uint64_t left() const noexcept { return left_; }

    /// Errors  data_error `store.malformed` if so much is not left; what is wrong with the section, with its last byte.
    void read(std::span<char> to);

   private:
    const section_info& info() const noexcept { return owner_->sections_[section_]; }
    void finish();

    container* owner_;
    std::size_t section_;
    std::uint64_t left_;
    detail::xxh64 hash_{};
};

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

inline container::container(readable_file& file) : file_(&file) {
    using namespace detail;
    const std::uint64_t size = file.size();
    char header[header_size], end[trailer_size];
    const auto there = std::span(header).first(static_cast<std::size_t>((std::min)(size, std::uint64_t{header_size})));
    file.read(0, there);
    check_header(there);
    if (size < header_size + trailer_size)
        raise<data_error>("store.truncated", concat("quarry: the file was cut off after ", size, " bytes"));
    file.read(size - trailer_size, end);
    const container_trailer trailer = check_trailer(header, end, size);
    std::vector<char> table(static_cast<std::size_t>(trailer.table_length));
    file.read(trailer.table_offset, table);
    sections_ = read_table(table, trailer);
    read_.resize(sections_.size());
    table_offset_ = trailer.table_offset;
    require_zeros(header_size, sections_.empty() ? table_offset_ : sections_.front().offset);
}

inline void container::require_zeros(std::uint64_t begin, std::uint64_t end) const {
    char bytes[detail::section_alignment];
    const auto padding = std::span(bytes).first(static_cast<std::size_t>(end - begin));
    file_->read(begin, padding);
    for (const char c : padding)
        if (c != 0)
            detail::raise<data_error>("store.malformed", detail::concat("quarry: of the file's bytes ", begin, " to ", end,
                                                                        " all should be 0"));
}

inline bool container::has(std::string_view name) const noexcept {
    return std::ranges::any_of(sections_, [&](const section_info& s) { return s.name == name; });
}

inline std::size_t container::number_of(std::string_view name) const {
    for (std::size_t i = 0; i < sections_.size(); ++i)
        if (sections_[i].name == name) return i;
    detail::raise<data_error>("store.section", "quarry: the file has no section " + detail::quoted(name));
}

inline section_stream container::stream(std::string_view name) { return {*this, number_of(name)}; }

inline detail::byte_reader container::read(std::string_view name) {
    const std::size_t number = number_of(name);
    // No length is above the file's.
    const auto size = static_cast<std::size_t>(sections_[number].length);
    const auto bytes = std::make_shared_for_overwrite<char[]>(size);
    section_stream(*this, number).read({bytes.get(), size});
    return {{bytes.get(), size}, sections_[number].name, bytes};
}

inline void container::verify() {
    std::vector<char> some(std::size_t{1} << 18);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        if (read_[i]) continue;
        section_stream from(*this, i);
        while (from.left() != 0)
            from.read(std::span(some).first(static_cast<std::size_t>((std::min)(from.left(), std::uint64_t{some.size()}))));
    }
}

inline section_stream::section_stream(container& owner, std::size_t section)
    : owner_(&owner), section_(section), left_(owner.sections_[section].length) {
    if (left_ == 0) finish();
}

inline void section_stream::read(std::span<char> to) {
    if (to.size() > left_)
        detail::raise<data_error>("store.malformed",
                                  detail::concat("quarry: section ", detail::quoted(info().name), " has ", left_,
                                                 " bytes left where ", to.size(), " are expected"));
    if (to.empty()) return;
    owner_->file_->read(info().offset + info().length - left_, to);
    hash_.add(to);
    left_ -= to.size();
    if (left_ == 0) finish();
}

inline void section_stream::finish() {
    if (const auto found = hash_.finish(); found != info().checksum)
        detail::raise<data_error>("store.checksum",
                                  detail::concat("quarry: section ", detail::quoted(info().name),
                                                 " is damaged: its checksum is ", info().checksum, ", its bytes give ", found));
    const bool is_last = section_ + 1 == owner_->sections_.size();
    owner_->require_zeros(info().offset + info().length,
                          is_last ? owner_->table_offset_ : owner_->sections_[section_ + 1].offset);
    owner_->read_[section_] = true;
}

}  // namespace QUARRY_NAMESPACE
