// Compiled twice: as plain_part with no flags, as flagged_part with -mavx2 -mfma.
#include "part.hpp"

#include <bit>

#include "quarry/index/flat_index.hpp"
#include "quarry/math/kernels.hpp"

part_report PART() {
    using namespace quarry;
    part_report out;
    out.level = name_of(simd_level());
    out.own_baseline = reinterpret_cast<const void*>(detail::kernels_at(simd::baseline).dot);
    out.shared = reinterpret_cast<const void*>(detail::kernels_at(simd::avx2).dot);
    flat_index index(100);
    std::uint32_t state = 1;
    const auto next = [&] {
        std::vector<float> row(100);
        for (float& x : row) x = static_cast<float>(static_cast<std::int32_t>(state = state * 1664525u + 1013904223u));
        return row;
    };
    for (std::size_t i = 0; i < 2000; ++i) index.add(unit_at(i), next());
    for (int i = 0; i < 20; ++i)
        for (const scored_key& found : index.search(next(), 10)) {
            out.bits.push_back(std::bit_cast<std::uint32_t>(found.score));
            out.bits.push_back(static_cast<std::uint32_t>(found.key));
        }
    return out;
}
