// SHA-256: names for contents that somebody else may have chosen.
//
// A fast hash is not enough where a reply is remembered under the hash of a prompt: whoever writes documents could
// write two with the same hash, and one would be given the other's reply.
//
// Source  FIPS 180-4 (2015), section 6.2.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

using digest = std::array<std::uint8_t, 32>;

/// The digest of what was added, in one piece or in many.
class sha256 {
   public:
    sha256& add(std::string_view bytes) noexcept;

    /// Adds the length first, so that ("ab", "c") and ("a", "bc") differ.
    sha256& add_field(std::string_view bytes) noexcept {
        char length[8];
        for (int i = 0; i < 8; ++i)
            length[i] = static_cast<char>(static_cast<std::uint8_t>(std::uint64_t{bytes.size()} >> (8 * i)));
        return add({length, sizeof length}).add(bytes);
    }
    sha256& add_field(const digest& d) noexcept {
        return add_field(std::string_view(reinterpret_cast<const char*>(d.data()), d.size()));
    }

    digest finish() const noexcept;

   private:
    void block(const char* bytes) noexcept;

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<char, 64> rest_{};
    std::uint64_t size_ = 0;
};

inline digest sha256_of(std::string_view bytes) noexcept { return sha256().add(bytes).finish(); }

/// Lower-case hexadecimal digits of the first `bytes` bytes.
inline std::string hexadecimal(const digest& d, std::size_t bytes = 32) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::uint8_t byte : std::span(d).first((std::min)(bytes, d.size()))) {
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

// ------------------------------------------------------------------------------------------------------------- detail

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
inline constexpr std::uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline sha256& sha256::add(std::string_view bytes) noexcept {
    const std::size_t held = static_cast<std::size_t>(size_ % 64);
    size_ += bytes.size();
    if (held != 0) {
        const std::size_t taken = (std::min)(bytes.size(), 64 - held);
        std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(held));
        bytes.remove_prefix(taken);
        if (held + taken < 64) return *this;
        block(rest_.data());
    }
    for (; bytes.size() >= 64; bytes.remove_prefix(64)) block(bytes.data());
    std::copy(bytes.begin(), bytes.end(), rest_.begin());
    return *this;
}

inline digest sha256::finish() const noexcept {
    sha256 last = *this;
    const std::uint64_t bits = 8 * size_;
    last.add(std::string_view("\x80", 1));
    while (last.size_ % 64 != 56) last.add(std::string_view("\0", 1));
    char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(static_cast<std::uint8_t>(bits >> (56 - 8 * i)));
    last.add({length, sizeof length});
    digest out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = static_cast<std::uint8_t>(last.state_[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

inline void sha256::block(const char* bytes) noexcept {
    std::uint32_t w[64];
    for (std::size_t i = 0; i < 16; ++i) {
        w[i] = 0;
        for (std::size_t j = 0; j < 4; ++j) w[i] = (w[i] << 8) | static_cast<std::uint8_t>(bytes[4 * i + j]);
    }
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                  sha256_constants[i] + w[i];
        const std::uint32_t two =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    state_[0] += a, state_[1] += b, state_[2] += c, state_[3] += d;
    state_[4] += e, state_[5] += f, state_[6] += g, state_[7] += h;
}

}  // namespace QUARRY_NAMESPACE::detail
