// A fuser says what one leg contributes, or it is none; the compiler names what is missing.
// says: fuser.contribution(leg, rank, score)
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/toy.hpp"

using namespace quarry;

struct by_place {
    using scale = rrf_scale;
    std::vector<float> weights{};
    std::size_t fetch = 100;
#ifndef MISUSE
    float contribution(const leg_summary&, std::uint32_t rank, float) const { return 1.0f / static_cast<float>(rank); }
#endif
    float combine(std::span<const float> parts) const { return parts.empty() ? 0.0f : parts.back(); }
    void check() const {}
};

auto fused(const indexed<toy::word_index>& words) { return fuse(by_place{}, lexical(words), lexical(words)); }
