// The kernels of this processor: one table, chosen at the first use.
//
// Not promised. Call it once a block or a query, not once an element.
#pragma once

#include "../config.hpp"
#include "../detail/kernels.hpp"
#include "../detail/kernels_arm.hpp"
#include "../detail/kernels_baseline.hpp"
#include "../detail/kernels_x86.hpp"
#include "simd.hpp"

namespace QUARRY_NAMESPACE::detail {
inline namespace QUARRY_DETAIL_FLAGS {

/// The table of a level. Requires  a processor that has it.
inline const kernels& kernels_at(simd level) noexcept {
#if defined(__x86_64__)
    switch (level) {
        case simd::vnni:
            return vnni_kernels;
        case simd::avx512:
            return avx512_kernels;
        case simd::avx2:
            return avx2_kernels;
        default:
            break;
    }
#elif defined(__aarch64__)
    if (level == simd::dotprod) return dotprod_kernels;
#else
    static_cast<void>(level);
#endif
    return baseline_kernels;
}

inline const kernels& best_kernels() noexcept {
    static const kernels& best = kernels_at(simd_level());
    return best;
}

}  // namespace QUARRY_DETAIL_FLAGS
}  // namespace QUARRY_NAMESPACE::detail
