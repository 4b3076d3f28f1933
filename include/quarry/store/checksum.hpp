// XXH64: a checksum against accidents, as fast as memory is read.
//
// Not against people: whoever can rewrite a file can rewrite its checksum. Names for contents that somebody else may
// have chosen are SHA-256 (detail/sha256.hpp).
//
// Source  The xxHash algorithm description, version 0.1.1 (Collet), "XXH64".
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "../config.hpp"
#include "bytes.hpp"

namespace QUARRY_NAMESPACE::detail {

/// The hash of what was added, in one piece or in many.
class xxh64 {
   public:
    explicit xxh64(std::uint64_t seed = 0) noexcept
        : lanes_{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}, seed_(seed) {}

    xxh64& add(std::span<const char> bytes) noexcept;
    std::uint64_t finish() const noexcept;

   private:
    static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F,
                                   prime3 = 0x165667B19E3779F9, prime4 = 0x85EBCA77C2B2AE63,
                                   prime5 = 0x27D4EB2F165667C5;
    static constexpr std::size_t stripe = 32;

    static std::uint64_t round(std::uint64_t lane, std::uint64_t input) noexcept {
        return std::rotl(lane + input * prime2, 31) * prime1;
    }
    void consume(const char* bytes, std::size_t stripes) noexcept;

    std::uint64_t lanes_[4];
    std::uint64_t seed_, size_ = 0;
    char rest_[stripe]{};
};

inline std::uint64_t xxh64_of(std::span<const char> bytes) noexcept { return xxh64().add(bytes).finish(); }

// ------------------------------------------------------------------------------------------------------------- detail

inline void xxh64::consume(const char* bytes, std::size_t stripes) noexcept {
    std::uint64_t a = lanes_[0], b = lanes_[1], c = lanes_[2], d = lanes_[3];
    for (; stripes != 0; --stripes, bytes += stripe) {
        a = round(a, load<std::uint64_t>(bytes));
        b = round(b, load<std::uint64_t>(bytes + 8));
        c = round(c, load<std::uint64_t>(bytes + 16));
        d = round(d, load<std::uint64_t>(bytes + 24));
    }
    lanes_[0] = a, lanes_[1] = b, lanes_[2] = c, lanes_[3] = d;
}

inline xxh64& xxh64::add(std::span<const char> bytes) noexcept {
    const std::size_t held = static_cast<std::size_t>(size_ % stripe);
    size_ += bytes.size();
    if (held != 0) {
        const std::size_t taken = (std::min)(bytes.size(), stripe - held);
        std::copy_n(bytes.data(), taken, rest_ + held);
        bytes = bytes.subspan(taken);
        if (held + taken < stripe) return *this;
        consume(rest_, 1);
    }
    const std::size_t stripes = bytes.size() / stripe;
    consume(bytes.data(), stripes);
    bytes = bytes.subspan(stripes * stripe);
    std::copy_n(bytes.data(), bytes.size(), rest_);
    return *this;
}

inline std::uint64_t xxh64::finish() const noexcept {
    std::uint64_t h = seed_ + prime5;
    if (size_ >= stripe) {
        h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
        for (const std::uint64_t lane : lanes_) h = (h ^ round(0, lane)) * prime1 + prime4;
    }
    h += size_;
    const char* at = rest_;
    const char* const end = rest_ + size_ % stripe;
    for (; end - at >= 8; at += 8) h = std::rotl(h ^ round(0, load<std::uint64_t>(at)), 27) * prime1 + prime4;
    for (; end - at >= 4; at += 4) h = std::rotl(h ^ (load<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
    for (; at != end; ++at) h = std::rotl(h ^ (static_cast<std::uint8_t>(*at) * prime5), 11) * prime1;
    h = (h ^ (h >> 33)) * prime2;
    h = (h ^ (h >> 29)) * prime3;
    return h ^ (h >> 32);
}

}  // namespace QUARRY_NAMESPACE::detail
