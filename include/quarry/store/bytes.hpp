// Bytes: numbers and texts in little-endian order, written to anything and read from memory.
//
// Reading trusts nothing: a count is compared with the bytes that are left before anything is allocated for it, and
// what is left over in the end is an error.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE::detail {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

template <class T>
concept StoredNumber =
    std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double>;

template <StoredNumber T>
T in_file_order(T x) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
        return x;
    } else {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &x, sizeof(T));
        for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
        std::memcpy(&x, bytes, sizeof(T));
        return x;
    }
}

/// The number at `bytes`, which need not be aligned.
template <StoredNumber T>
T load(const char* bytes) noexcept {
    T x;
    std::memcpy(&x, bytes, sizeof x);
    return in_file_order(x);
}
template <StoredNumber T>
void store(char* bytes, T x) noexcept {
    x = in_file_order(x);
    std::memcpy(bytes, &x, sizeof x);
}

/// Writes to whatever has `append(const char*, std::size_t)`, as std::string has.
template <class Out>
class byte_writer {
   public:
    explicit byte_writer(Out& out) noexcept : out_(&out) {}

    template <StoredNumber T>
    void number(T x) {
        char bytes[sizeof(T)];
        store(bytes, x);
        out_->append(bytes, sizeof bytes);
    }
    void count(std::size_t n) { number(static_cast<std::uint64_t>(n)); }
    void text(std::string_view t) {
        count(t.size());
        out_->append(t.data(), t.size());
    }
    /// The numbers alone; how many there are must be known to whoever reads.
    template <StoredNumber T>
    void numbers(std::span<const T> all) {
        if constexpr (std::endian::native == std::endian::little)
            out_->append(reinterpret_cast<const char*>(all.data()), all.size_bytes());
        else
            for (const T x : all) number(x);
    }

   private:
    Out* out_;
};

/// Reads what byte_writer wrote. `name` is what messages call it, and must outlive it as the bytes must, unless `owner`
/// holds them.
///
/// Errors  data_error `store.malformed`.
class byte_reader {
   public:
    byte_reader(std::span<const char> bytes, std::string_view name, std::shared_ptr<const char[]> owner = {}) noexcept
        : rest_(bytes), name_(name), owner_(std::move(owner)) {}

    template <StoredNumber T>
    T number() {
        return load<T>(take(sizeof(T)).data());
    }

    /// A count of things that take at least `least` bytes each: no more than can be there.
    std::size_t count(std::size_t least) {
        const auto n = number<std::uint64_t>();
        if (n > rest_.size() / least)
            refuse(
                concat(n, " entries of at least ", least, " bytes are announced, and ", rest_.size(), " bytes left"));
        return static_cast<std::size_t>(n);
    }
    std::string_view text() {
        const std::span<const char> bytes = take(count(1));
        return {bytes.data(), bytes.size()};
    }
    template <StoredNumber T>
    std::vector<T> numbers(std::size_t n) {
        if (n > rest_.size() / sizeof(T))
            refuse(concat(n, " numbers of ", sizeof(T), " bytes are announced, and ", rest_.size(), " bytes left"));
        const std::span<const char> bytes = take(n * sizeof(T));
        std::vector<T> out(n);
        if (n != 0) std::memcpy(out.data(), bytes.data(), bytes.size());
        if constexpr (std::endian::native == std::endian::big)
            for (T& x : out) x = in_file_order(x);
        return out;
    }
    /// Requires  Enum with the values 0 to `most`.
    template <class Enum>
    Enum choice(Enum most, std::string_view what) {
        const auto x = number<std::uint8_t>();
        if (x > static_cast<std::uint8_t>(most))
            refuse(concat("a ", what, " is at most ", static_cast<unsigned>(most), ", not ", static_cast<unsigned>(x)));
        return static_cast<Enum>(x);
    }
    bool flag() { return choice(std::uint8_t{1}, "flag") != 0; }

    std::size_t left() const noexcept { return rest_.size(); }
    void require_end() const {
        if (!rest_.empty()) refuse(concat(rest_.size(), " bytes are left over"));
    }
    [[noreturn]] void refuse(std::string_view why) const {
        raise<data_error>("store.malformed", concat("quarry: section ", detail::quoted(name_), " is malformed: ", why));
    }

   private:
    std::span<const char> take(std::size_t n) {
        if (n > rest_.size()) refuse(concat(n, " bytes are expected and ", rest_.size(), " are left"));
        const auto taken = rest_.first(n);
        rest_ = rest_.subspan(n);
        return taken;
    }

    std::span<const char> rest_;
    std::string_view name_;
    std::shared_ptr<const char[]> owner_;
};

}  // namespace QUARRY_NAMESPACE::detail
