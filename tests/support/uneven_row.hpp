// Rows that are hard to code in few bits: one number that outweighs all others, all alike, nothing, very small, very large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

inline std::vector<float> uneven_row(std::size_t d, std::mt19937& random) {
    std::vector<float> out(d);
    for (float& x : out) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    switch (random() % 6) {
        case 0:
            out[random() % d] = 300.0f;
            break;
        case 1:
            std::ranges::fill(out, 0.25f);
            break;
        case 2:
            std::ranges::fill(out, 0.0f);
            break;
        case 3:
            for (float& x : out) x *= 1e-25f;
            break;
        case 4:
            for (float& x : out) x *= 1e12f;
            break;
        default:
            break;
    }
    return out;
}
