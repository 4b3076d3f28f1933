// Dense: a leaf over an index of vectors, and the embedder that made them.
//
//     dense(kb.vectors, embed).retrieve("reset password", 5)
//
// The embedder is called once per question, however often the index is asked: the row is remembered in the request. A
// batch of questions is one call. Passages that a prober imagined as answers (probe/hypothetical_answer.hpp) are
// embedded as documents, and the mean is searched by.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/key_index.hpp"
#include "../core/retriever.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "leaf.hpp"

namespace QUARRY_NAMESPACE {

template <DenseIndex Index, Embedder E>
class dense_retriever : public retriever_interface<dense_retriever<Index, E>> {
   public:
    using scale = typename Index::scale;

    dense_retriever(const Index& index, source_ref source, const key_table* keys, E embedder)
        : index_(&index), source_(source), keys_(keys), embedder_(std::move(embedder)) {
        if (embedder_.dimension() != index.dimension())
            detail::raise<usage_error>("dense.dimension",
                                       detail::concat("quarry::dense: the index holds rows of ", index.dimension(), ", ",
                                                      detail::embedder_name(embedder_), " makes rows of ",
                                                      embedder_.dimension()));
    }

    source_ref source() const noexcept { return source_; }
    const key_table* keys() const noexcept { return keys_; }

    /// Buys the rows of a batch's questions in one call, which every budget that gains by it pays once; what is
    /// imagined of answers in a second.
    void prepare(std::span<request> batch) const {
        std::vector<wanted_row> questions, passages;
        for (request& q : batch) {
            keep_given(q);
            // An example that has no row is embedded as a document, not with these.
            if (q.asked().example() || remembered(q, q.name())) continue;
            if (!q.is_wordless()) want(questions, q, q.text(), q.plain_name());
            for (const std::string& passage : q.imagined()) want(passages, q, passage, passage_name(passage));
        }
        buy(role::query, questions);
        buy(role::document, passages);
    }

    results<scale> run(request& q, std::size_t k) const {
        const std::span<const float> row = probe(q);
        if (row.empty()) return {};
        return search_units(*index_, row, q, k, scale::name == cosine_scale::name ? "dense" : scale::name, keys_);
    }

    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const
        requires ScoringIndex<Index, dense_probe>
    {
        const std::span<const float> row = probe(q);
        if (!row.empty()) return index_->score(row, units);
        std::vector<scored_key> nothing;
        for (const unit_id unit : units) nothing.push_back({unit, no_key, 0.0f});
        return nothing;
    }

    score_bounds bounds(request& q) const
        requires BoundedIndex<Index, dense_probe>
    {
        const std::span<const float> row = probe(q);
        return row.empty() ? score_bounds{} : index_->bounds(row);
    }

   private:
    callable_identity identity() const {
        if constexpr (requires { { embedder_.identity() } -> std::convertible_to<callable_identity>; })
            return embedder_.identity();
        else
            return token_.get();
    }

    const std::vector<float>* remembered(const request& q, const std::string& name) const {
        return q.remembered().find(identity(), name);
    }

    // A row that the query brought along is as good as bought.
    void keep_given(request& q) const {
        const std::vector<float>* row = q.given_row(identity());
        if (!row || remembered(q, q.plain_name())) return;
        if (row->size() != index_->dimension())
            detail::raise<usage_error>("dense.dimension",
                                       detail::concat("quarry::dense: the index holds rows of ", index_->dimension(),
                                                      ", the query's own has ", row->size()));
        q.remembered().keep(identity(), q.plain_name(), *row);
    }

    struct wanted_row {
        request* payer;
        std::string_view text;
        std::string name;
    };

    static std::string passage_name(std::string_view passage) { return detail::concat("passage ", passage); }

    void want(std::vector<wanted_row>& all, request& q, std::string_view text, std::string name) const {
        const auto same = [&](const wanted_row& w) { return w.name == name; };
        if (!remembered(q, name) && std::ranges::none_of(all, same)) all.push_back({&q, text, std::move(name)});
    }

    void buy(role as, const std::vector<wanted_row>& all) const {
        if (all.empty()) return;
        std::vector<std::string_view> texts;
        std::vector<std::pair<request*, std::size_t>> payers;  // and their texts
        for (const wanted_row& w : all) {
            texts.push_back(w.text);
            detail::remark_cut(*w.payer, "dense", embedder_, std::span(&w.text, 1));
            const auto same = [&](const auto& p) { return p.first->shares_budget_with(*w.payer); };
            if (const auto known = std::ranges::find_if(payers, same); known != payers.end()) ++known->second;
            else payers.emplace_back(w.payer, 1);
        }
        for (const auto& [payer, n] : payers) payer->pay({.calls = 1, .texts = n});
        const std::size_t d = index_->dimension();
        const std::vector<float> rows = detail::embed_checked(embedder_, as, texts, d);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto row = rows.begin() + static_cast<std::ptrdiff_t>(i * d);
            all[i].payer->remembered().keep(identity(), all[i].name, {row, row + static_cast<std::ptrdiff_t>(d)});
        }
        for (const auto& [payer, n] : payers) payer->tell({trace_code::embedded, "dense", n, n});
    }

    // The row of a unit that is searched by, if the index has one: nothing to embed then. Remembered for this index only,
    // since another index has another row of the unit.
    const std::vector<float>* example_row(const request& q) const {
        if (!q.asked().example()) return nullptr;
        std::vector<float> row(index_->dimension());
        if (!index_->vector_of(*q.asked().example(), row)) return nullptr;
        return &q.remembered().keep(index_, q.name(), std::move(row));
    }

    // The question's row, bought at most once a request. Empty where the embedder knows nothing of the question. It is
    // kept under the index as well, for stages that compare by the same vectors.
    std::span<const float> probe(request& q) const {
        const std::string name = q.name();
        const std::vector<float>* row = example_row(q);
        if (!row) row = remembered(q, name);
        if (!row) {
            std::vector<wanted_row> one;
            if (q.asked().example()) {
                want(one, q, q.text(), name);
                buy(role::document, one);
            } else {
                prepare(std::span<request>(&q, 1));
            }
            if (!q.imagined().empty() && remembered(q, q.plain_name())) keep_mean(q);
            row = remembered(q, name);
        }
        if (!row) {  // a picture asks, and this leg reads words
            q.tell({trace_code::unknown, "dense", 1, 0});
            return {};
        }
        if (!q.remembered().find(index_, name)) q.remembered().keep(index_, name, *row);
        if (is_zero(*row)) {
            q.tell({trace_code::unknown, "dense", 1, 0});
            return {};
        }
        return *row;
    }

    // The question's row and those of the passages, summed and divided: theirs is a mean of raw rows, and so is this
    // one. Where they cancel out, the question's stays.
    void keep_mean(request& q) const {
        const std::vector<float>& asked = *remembered(q, q.plain_name());
        if (!q.remembered().find(index_, q.plain_name())) q.remembered().keep(index_, q.plain_name(), asked);
        std::vector<double> sum(asked.begin(), asked.end());
        for (const std::string& passage : q.imagined()) {
            const std::vector<float>& row = *remembered(q, passage_name(passage));
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(row[i]);
        }
        std::vector<float> mean;
        const double rows = static_cast<double>(1 + q.imagined().size());
        for (const double x : sum) mean.push_back(static_cast<float>(x / rows));
        q.remembered().keep(identity(), q.name(), is_zero(mean) ? asked : mean);
    }

    static bool is_zero(const std::vector<float>& row) {
        return std::ranges::all_of(row, [](float x) { return x == 0.0f; });
    }

    const Index* index_;
    source_ref source_;
    const key_table* keys_;
    E embedder_;
    detail::identity_token token_;
};

/// A leaf over `vectors`, which must outlive it and stay where it is. The embedder is copied; `ref(e)` shares a large one.
///
/// Errors  usage_error `dense.dimension` if the two differ in width.
template <DenseIndex Index, Embedder E>
auto dense(const indexed<Index>& vectors, E embedder) {
    return dense_retriever<Index, E>(vectors.index, vectors.source, vectors.keys.get(), std::move(embedder));
}
template <DenseIndex Index, Embedder E>
void dense(const indexed<Index>&&, E) = delete;  // a temporary index would dangle

/// The same for an index that stands by itself.
template <DenseIndex Index, Embedder E>
auto dense(const Index& index, source_ref source, E embedder) {
    return dense_retriever<Index, E>(index, source, nullptr, std::move(embedder));
}
template <DenseIndex Index, Embedder E>
void dense(const Index&&, source_ref, E) = delete;

}  // namespace QUARRY_NAMESPACE
