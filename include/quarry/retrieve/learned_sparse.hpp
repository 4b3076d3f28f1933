// Learned sparse: a leaf over an index of weighted terms, and the model that weighs them.
//
//     learned_sparse(kb.splade, encode).retrieve("reset password", 5)
//
// The encoder takes a role and a text and gives terms with weights; it is called once per question and request. An
// encoder that leaves questions as they are ("doc" variants) gives each word the weight 1.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/retriever.hpp"
#include "../index/sparse_index.hpp"
#include "../model/embedder.hpp"
#include "leaf.hpp"

namespace QUARRY_NAMESPACE {

template <class E>
concept TermEncoder = requires(const E& encoder, role r, std::string_view text) {
    { encoder(r, text) } -> std::convertible_to<term_weights>;  // weights at least 0
};

template <TermEncoder E>
class learned_sparse_retriever : public retriever_interface<learned_sparse_retriever<E>> {
 public:
    using scale = sparse_scale;

    learned_sparse_retriever(const sparse_index& index, source_ref source, const key_table* keys, E encoder)
        : index_(&index), source_(source), keys_(keys), encoder_(std::move(encoder)) {}

    source_ref source() const noexcept { return source_; }
    const key_table* keys() const noexcept { return keys_; }
    void prepare(std::span<request> batch) const {
        for (request& q : batch) weights(q);
    }

    results<scale> run(request& q, std::size_t k) const {
        const term_weights probe = weights(q);
        return search_units(*index_, weighted_probe(probe), q, k, scale::name, keys_);
    }

    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const {
        return index_->score(weights(q), units);
    }

    score_bounds bounds(request& q) const { return index_->bounds(weights(q)); }

 private:
    // The question's weights, bought once a request. The memo keeps numbers and texts apart, so terms lie beside them.
    term_weights weights(request& q) const {
        const std::string name = q.name();
        const std::vector<float>* numbers = q.remembered().find(token_.get(), name);
        if (!numbers) {
            q.pay({.calls = 1, .texts = 1});
            const role as = q.asked().example() ? role::document : role::query;
            const term_weights bought = encoder_(as, q.text());
            detail::pooled(bought);  // refuses what is no weight
            std::vector<float> kept;
            std::string terms;
            for (const term_weight& t : bought) {
                kept.push_back(t.weight);
                terms += detail::concat(t.term.size(), ' ', t.term);
            }
            q.remembered().keep_text(token_.get(), name, std::move(terms));
            numbers = &q.remembered().keep(token_.get(), name, std::move(kept));
            q.tell({trace_code::embedded, scale::name, 1, 1});
        }
        std::string_view terms = *q.remembered().find_text(token_.get(), name);
        term_weights out;
        for (const float weight : *numbers) {
            const std::size_t space = terms.find(' ');
            const std::size_t length = static_cast<std::size_t>(std::stoul(std::string(terms.substr(0, space))));
            out.push_back({std::string(terms.substr(space + 1, length)), weight});
            terms.remove_prefix(space + 1 + length);
        }
        return out;
    }

    const sparse_index* index_;
    source_ref source_;
    const key_table* keys_;
    E encoder_;
    detail::identity_token token_;
};

/// A leaf over `terms`, which must outlive it and stay where it is. The encoder is copied; `ref(e)` shares a large one.
///
/// Errors  where it is asked: callable_error `sparse.weight`; those of the encoder; `cancelled`.
template <TermEncoder E>
auto learned_sparse(const indexed<sparse_index>& terms, E encoder) {
    return learned_sparse_retriever<E>(terms.index, terms.source, terms.keys.get(), std::move(encoder));
}
template <TermEncoder E>
void learned_sparse(const indexed<sparse_index>&&, E) = delete;  // a temporary index would dangle

}  // namespace QUARRY_NAMESPACE
