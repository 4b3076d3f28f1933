// Lexical: a leaf over an index of words.
//
//     lexical(kb.bm25).retrieve("reset password", 5)
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../config.hpp"
#include "../core/key_index.hpp"
#include "../core/retriever.hpp"
#include "leaf.hpp"

namespace QUARRY_NAMESPACE {

template <SparseIndex Index>
class lexical_retriever : public retriever_interface<lexical_retriever<Index>> {
   public:
    using scale = typename Index::scale;

    lexical_retriever(const Index& index, source_ref source, const key_table* keys) noexcept
        : index_(&index), source_(source), keys_(keys) {}

    source_ref source() const noexcept { return source_; }
    const key_table* keys() const noexcept { return keys_; }

    results<scale> run(request& q, std::size_t k) const {
        auto found = search_units(*index_, q.words(), q, k, scale::name, keys_);
        if constexpr (BoundedIndex<Index, lexical_probe>)
            if (found.empty() && k != 0 && index_->bounds(q.words()).high == 0.0f)
                q.tell({trace_code::unknown, scale::name, 1, 0});
        if constexpr (requires { index_->unknown_words(q.words()); })
            if (q.is_traced()) tell_corrections(q);
        return found;
    }

    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const
        requires ScoringIndex<Index, lexical_probe>
    {
        return index_->score(q.words(), units);
    }

    score_bounds bounds(request& q) const
        requires BoundedIndex<Index, lexical_probe>
    {
        return index_->bounds(q.words());
    }

   private:
    // Words taken for others must not pass unnoticed; that none was known is told above.
    void tell_corrections(const request& q) const {
        const auto words = index_->unknown_words(q.words());
        const auto taken = std::ranges::count_if(words, [](const auto& w) { return !w.taken_for.empty(); });
        if (taken != 0) q.tell({trace_code::corrected, scale::name, words.size(), static_cast<std::size_t>(taken)});
    }

    const Index* index_;
    source_ref source_;
    const key_table* keys_;
};

/// A leaf over `words`, which must outlive it and stay where it is.
template <SparseIndex Index>
auto lexical(const indexed<Index>& words) {
    return lexical_retriever<Index>(words.index, words.source, words.keys.get());
}
template <SparseIndex Index>
void lexical(const indexed<Index>&&) = delete;  // a temporary index would dangle

/// The same for an index that stands by itself.
template <SparseIndex Index>
auto lexical(const Index& index, source_ref source) {
    return lexical_retriever<Index>(index, source, nullptr);
}
template <SparseIndex Index>
void lexical(const Index&&, source_ref) = delete;

}  // namespace QUARRY_NAMESPACE
