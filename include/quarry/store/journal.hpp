// Journal: paid work on disk as it arrives, so that a build that was killed goes on where it stopped.
//
//     journal work("kb.journal");
//     reply_store replies([&](const paid_reply& r) { work.append(r); });
//     embedding_store rows([&](std::span<const paid_embedding> e) { work.append(e); });
//     work.replay(replies, rows);                                     // what earlier runs paid for
//     library kb(cached(client, rows), layer(contextual(cached(model, replies))));
//
// It is appended to and never changed. Each record has a checksum; what a crash left half-written at the end is cut off
// when the journal is opened, and is no error. Damage before the end is one: the records behind it were paid for.
//
//     16 bytes  magic, order marker, version
//     records   length, checksum of length and place, checksum of contents, contents
//
// Two journals over one file at a time would cut each other: one process, one journal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/floats.hpp"
#include "../detail/function_ref.hpp"
#include "../detail/text.hpp"
#include "../model/cache.hpp"
#include "../model/embedding_cache.hpp"
#include "bytes.hpp"
#include "checksum.hpp"
#include "container.hpp"
#include "files.hpp"

namespace QUARRY_NAMESPACE {

struct journal_options {
    bool sync = true;              // every append waits for the device: a power cut loses nothing that was appended
    bool cut_damage = false;       // give up what is behind damage instead of `journal.damaged`; `torn` says how much
    file_system* files = nullptr;  // null: the operating system's
};

/// Appending may be done from several threads.
///
/// Errors  data_error `journal.not_ours`, `journal.version`, `journal.damaged`, `store.malformed`, and those of
///         files.hpp. An append that throws has appended nothing: what it may have written is cut off by the next.
class journal {
   public:
    /// Opens the file, or makes it. What is in it is read, and waits for `replay`.
    explicit journal(std::string path, journal_options options = {});

    void append(const paid_reply& r);
    void append(std::span<const paid_embedding> paid);  // one write and one sync for all

    /// Gives what was read when the journal was opened to the stores, once; frees it.
    void replay(reply_store& replies, embedding_store& rows);

    /// Records that were read, and bytes at the end that were cut off.
    std::size_t recovered() const noexcept { return recovered_; }
    std::uint64_t torn() const noexcept { return torn_; }

   private:
    void append(std::string_view contents);
    void write(std::span<const char> bytes);

    std::string path_;
    journal_options options_;
    std::unique_ptr<file_system> own_files_;
    std::mutex mutex_;
    std::unique_ptr<writable_file> file_;  // null after a failure: to be opened again
    std::uint64_t size_ = 0;
    std::size_t recovered_ = 0;
    std::uint64_t torn_ = 0;
    std::vector<paid_reply> replies_;
    std::vector<paid_embedding> rows_;
};

/// Reads a journal in memory; says how many of its bytes are whole records. Nothing of a half-written end is handed on.
std::uint64_t read_journal(std::span<const char> bytes, detail::function_ref<void(paid_reply)> reply,
                           detail::function_ref<void(paid_embedding)> row, bool cut_damage = false);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline constexpr std::array<char, 8> journal_magic{'\x89', 'Q', 'R', 'J', '\r', '\n', '\x1a', '\n'};
inline constexpr std::uint32_t journal_version = 1;
inline constexpr std::size_t journal_header = 16, record_header = 24;

enum class record_kind : std::uint8_t { reply, rows };

inline std::string journal_opening() {
    std::string out(journal_magic.begin(), journal_magic.end());
    byte_writer to(out);
    to.number(order_marker);
    to.number(journal_version);
    return out;
}

// The length is checked by itself and with its place: a record that lies in another's contents is none.
inline std::uint64_t length_checksum(std::uint64_t length, std::uint64_t place) noexcept {
    char bytes[8];
    store(bytes, length);
    return xxh64(place).add(bytes).finish();
}

inline void append_record(std::string& out, std::uint64_t place, std::string_view contents) {
    byte_writer to(out);
    to.count(contents.size());
    to.number(length_checksum(contents.size(), place));
    to.number(xxh64(place).add(contents).finish());
    out += contents;
}

/// The length of the record that is announced at `place`, or nothing where none is.
inline std::optional<std::uint64_t> announced_at(std::span<const char> bytes, std::size_t place) noexcept {
    if (bytes.size() - place < record_header) return std::nullopt;
    const auto length = load<std::uint64_t>(bytes.data() + place);
    if (load<std::uint64_t>(bytes.data() + place + 8) != length_checksum(length, place)) return std::nullopt;
    return length;
}

inline std::string contents_of(const paid_reply& r) {
    std::string out;
    byte_writer to(out);
    to.number(static_cast<std::uint8_t>(record_kind::reply));
    to.text(r.model);
    to.text(r.version);
    for (const std::uint8_t byte : r.prompt) to.number(byte);
    to.text(r.reply.text);
    to.number(std::uint8_t{r.reply.cut_off});
    to.number(std::uint8_t{r.reply.used.has_value()});
    if (r.reply.used)
        for (const std::uint64_t tokens :
             {r.reply.used->input, r.reply.used->cache_write, r.reply.used->cache_read, r.reply.used->output})
            to.number(tokens);
    return out;
}

inline std::string contents_of(std::span<const paid_embedding> paid) {
    std::string out;
    byte_writer to(out);
    to.number(static_cast<std::uint8_t>(record_kind::rows));
    to.count(paid.size());
    for (const paid_embedding& e : paid) {
        to.text(e.embedder);
        to.number(static_cast<std::uint8_t>(e.as));
        for (const std::uint8_t byte : e.text) to.number(byte);
        to.count(e.row.size());
        to.numbers(std::span<const float>(e.row));
    }
    return out;
}

inline digest read_digest(byte_reader& in) {
    digest out;
    for (std::uint8_t& byte : out) byte = in.number<std::uint8_t>();
    return out;
}

inline paid_reply read_reply(byte_reader& in) {
    paid_reply r;
    r.model = in.text();
    r.version = in.text();
    r.prompt = read_digest(in);
    r.reply.text = in.text();
    r.reply.cut_off = in.flag();
    if (in.flag()) {
        r.reply.used.emplace();
        for (std::uint64_t* tokens :
             {&r.reply.used->input, &r.reply.used->cache_write, &r.reply.used->cache_read, &r.reply.used->output})
            *tokens = in.number<std::uint64_t>();
    }
    return r;
}

inline paid_embedding read_row(byte_reader& in) {
    paid_embedding e;
    e.embedder = in.text();
    e.as = in.choice(role::query, "role");
    e.text = read_digest(in);
    e.row = in.numbers<float>(in.count(sizeof(float)));
    if (!is_finite(std::span<const float>(e.row))) in.refuse("a row holds a NaN or an infinity");
    return e;
}

}  // namespace detail

inline std::uint64_t read_journal(std::span<const char> bytes, detail::function_ref<void(paid_reply)> reply,
                                  detail::function_ref<void(paid_embedding)> row, bool cut_damage) {
    using namespace detail;
    const std::string opening = journal_opening();
    // A journal that was cut off inside its first bytes is one that nothing was appended to.
    const std::size_t known = (std::min)(bytes.size(), opening.size());
    if (!std::ranges::equal(bytes.first((std::min)(known, journal_magic.size())),
                            std::string_view(opening).substr(0, (std::min)(known, journal_magic.size()))))
        raise<data_error>("journal.not_ours", "quarry::journal: this is no journal of Quarry's");
    if (bytes.size() < opening.size()) return 0;
    if (!std::ranges::equal(bytes.first(opening.size()), opening))
        raise<data_error>("journal.version",
                          concat("quarry::journal: the journal has version ", load<std::uint32_t>(bytes.data() + 12),
                                 " and order marker ", load<std::uint32_t>(bytes.data() + 8), ", this library reads ",
                                 journal_version, " and ", order_marker));
    std::size_t place = journal_header, next = place;
    for (; place < bytes.size(); place = next) {
        const auto length = announced_at(bytes, place);
        if (!length) {
            next = place + 1;
            break;
        }
        if (*length > bytes.size() - place - record_header) return place;
        const auto contents = bytes.subspan(place + record_header, static_cast<std::size_t>(*length));
        next = place + record_header + contents.size();
        if (load<std::uint64_t>(bytes.data() + place + 16) != xxh64(place).add(contents).finish()) break;
        byte_reader in(contents, "record of a journal");
        if (in.choice(record_kind::rows, "kind of record") == record_kind::reply) {
            paid_reply r = read_reply(in);
            in.require_end();
            reply(std::move(r));
        } else {
            std::size_t n = in.count(49);
            if (n == 0) in.refuse("a record of rows has none");
            for (; n != 0; --n) row(read_row(in));
            in.require_end();
        }
    }
    // Only one append is under way at a time, so nothing follows a torn one.
    if (!cut_damage)
        for (; next < bytes.size(); ++next)
            if (announced_at(bytes, next))
                raise<data_error>("journal.damaged", concat("quarry::journal: the bytes from ", place, " to ", next,
                                                            " are damaged, and records follow"));
    return place;
}

inline journal::journal(std::string path, journal_options options) : path_(std::move(path)), options_(options) {
    if (!options_.files) {
        own_files_ = std::make_unique<system_files>();
        options_.files = own_files_.get();
    }
    if (options_.files->exists(path_)) {
        const detail::file_bytes bytes(*options_.files, path_);
        const std::span<const char> all = bytes;
        size_ = read_journal(
            all, [&](paid_reply r) { replies_.push_back(std::move(r)); },
            [&](paid_embedding e) { rows_.push_back(std::move(e)); }, options_.cut_damage);
        torn_ = all.size() - size_;
    }
    recovered_ = replies_.size() + rows_.size();
    if (size_ == 0) {
        write(detail::journal_opening());
        // Best effort: that the folder lists the file is worth less than to go on without it.
        try {
            options_.files->sync_folder_of(path_);
        } catch (const data_error&) {
        }
    } else {
        file_ = options_.files->append(path_, size_);
    }
}

inline void journal::write(std::span<const char> bytes) {
    if (!file_) file_ = options_.files->append(path_, size_);
    try {
        file_->write(bytes);
        if (options_.sync) file_->sync();
    } catch (...) {
        file_.reset();
        throw;
    }
    size_ += bytes.size();
}

inline void journal::append(const paid_reply& r) { append(detail::contents_of(r)); }

inline void journal::append(std::span<const paid_embedding> paid) {
    if (paid.empty()) return;
    append(detail::contents_of(paid));
}

inline void journal::append(std::string_view contents) {
    const std::lock_guard lock(mutex_);
    std::string record;
    detail::append_record(record, size_, contents);
    write(record);
}

inline void journal::replay(reply_store& replies, embedding_store& rows) {
    for (const paid_reply& r : std::exchange(replies_, {})) replies.insert(r);
    for (const paid_embedding& e : std::exchange(rows_, {})) rows.insert(e);
}

}  // namespace QUARRY_NAMESPACE
