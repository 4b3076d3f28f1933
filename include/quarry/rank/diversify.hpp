// Diversify: maximal marginal relevance, so that five hits do not say the same thing five times.
//
//     search | diversify(kb.vectors, mmr{.lambda = 0.7f})
//     search | diversify(kb.vectors, embed, mmr{})    also where no leg embedded the question, or units have no vector
//
// next = argmax over candidates c of  lambda * cos(c, question) - (1 - lambda) * max over picks p of cos(c, p)
//
// Both similarities are cosines from the index that is named, so they can be weighed against each other; the scores
// that the candidates came with only decide which candidates there are. The first pick is always the most relevant,
// whatever lambda is. The surprising thing: a candidate that points away from everything looks diverse; a `floor` for
// the candidates or `clamp` keeps such ones out.
//
// Source  Carbonell and Goldstein, SIGIR 1998. The printed formula brackets lambda around everything; its text, and
// this
//         code, mean the line above.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/attempt.hpp"
#include "../core/error.hpp"
#include "../core/key_index.hpp"
#include "../core/retriever.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "../math/cosine.hpp"
#include "../model/embedder.hpp"

namespace QUARRY_NAMESPACE {

/// What is done with a candidate that the named index has no vector of, and no embedder is there to make one.
enum class missing_vector : std::uint8_t {
    unlike,  // its cosine with everything is 0
    refuse,  // usage_error `diversify.no_vector`
};

struct mmr {
    float lambda = 0.5f;     // 1: relevance alone; 0: difference alone, after the first pick
    std::size_t fetch = 50;  // candidates to pick from; at least k
    float floor = -1.0f;     // candidates with a smaller cosine to the question are not picked
    bool clamp = false;      // a negative cosine with a pick counts as 0: what is opposite is not more than different
    missing_vector missing = missing_vector::unlike;
    bool fail_quietly = true;  // late, or where the embedder throws, the first k stay as they are; false: it is not
                               // optional, and its exception comes out
};

struct mmr_pick {
    std::size_t candidate;
    float score;  // its marginal relevance when it was picked
};

/// The picks as positions among the n candidates, in the order they were picked; ties go to the earlier candidate.
///
/// Requires  `relevance` of n, `rows` of n * d; rows need not have unit length, a zero row has cosine 0 with all; lambda
///           in [0, 1].
/// Cost      at most n * k products of d, and fewer the more relevance tells candidates apart.
/// Source    Minoux, 1978, the accelerated greedy algorithm.
std::vector<mmr_pick> pick_by_mmr(std::span<const float> relevance, std::span<const float> rows, std::size_t k,
                                  float lambda, bool clamp = false);

namespace detail {

/// Stands where nothing can be embedded.
struct no_embedder {};

/// `pick_by_mmr` for rows whose lengths are known; below 0: not yet.
std::vector<mmr_pick> mmr_picks(std::span<const float> relevance, std::span<const float> rows, std::vector<double> lengths,
                                std::size_t k, float lambda, bool clamp);

}  // namespace detail

template <Retriever Base, DenseIndex Index, class E = detail::no_embedder>
class diversified_retriever : public retriever_interface<diversified_retriever<Base, Index, E>> {
 public:
    using scale = selection_scale;

    diversified_retriever(Base base, const Index& index, E embedder, mmr options)
        : base_(std::move(base)), index_(&index), embedder_(std::move(embedder)), options_(options) {
        if (!(options.lambda >= 0.0f && options.lambda <= 1.0f))
            detail::raise<usage_error>(
                "diversify.lambda",
                detail::concat("quarry::diversify: lambda must lie in [0, 1], it is ", options.lambda));
        if (detail::is_nan(options.floor))
            detail::raise<usage_error>("diversify.floor", "quarry::diversify: the floor is NaN");
        if constexpr (embeds)
            if (embedder_.dimension() != index.dimension())
                detail::raise<usage_error>(
                    "diversify.dimension",
                    detail::concat("quarry::diversify: the index holds rows of ", index.dimension(),
                                   ", the embedder makes rows of ", embedder_.dimension()));
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    /// Errors  usage_error `diversify.no_probe` if no leg of the base searched the index, so that nobody embedded the
    ///         question; `diversify.no_vector`; with `fail_quietly` off, those of the embedder.
    results<scale> run(request& q, std::size_t k) const {
        const auto candidates = base_.run(q, (std::max)(k, options_.fetch));
        results<scale> out;
        out.state = candidates.state;
        if (candidates.empty()) return out;
        std::vector<float> rows, relevance;
        std::vector<double> lengths;
        std::vector<std::size_t> pool;  // the candidates that may be picked
        bool degraded = false;
        // Without an embedder nothing of it can fail, but mistakes of the caller's.
        const bool quietly = options_.fail_quietly && (embeds || q.late());
        detail::attempt(q, {&options_, "mmr", quietly}, degraded, [&] {
            rows = rows_of(q, candidates);
            const std::vector<float>& probe = question_row(q);
            const double length = norm(probe);
            const std::size_t d = index_->dimension();
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                const auto row = std::span(rows).subspan(i * d, d);
                const double own = norm(row);
                const float c = cosine(row, own, probe, length);
                if (c < options_.floor) continue;
                if (pool.size() != i) std::ranges::copy(row, rows.data() + pool.size() * d);
                pool.push_back(i);
                relevance.push_back(c);
                lengths.push_back(own);
            }
            rows.resize(pool.size() * d);
        });
        if (degraded) {
            out.state = result_state::degraded;
            for (std::size_t i = 0; i < (std::min)(k, candidates.size()); ++i)
                out.hits.push_back({candidates[i].unit, candidates[i].via, candidates[i].score, candidates[i].trail});
            return out;
        }
        for (const mmr_pick& pick : detail::mmr_picks(relevance, rows, std::move(lengths), k, options_.lambda, options_.clamp)) {
            const std::size_t at = pool[pick.candidate];
            const auto& c = candidates[at];
            const key_table* keys = c.trail == no_entry ? nullptr : q.notes()[c.trail].keys;
            out.hits.push_back({c.unit, c.via, pick.score,
                                q.note({"mmr", keys, c.via, static_cast<std::uint32_t>(at + 1), c.score,
                                        options_.lambda, pick.score, c.trail})});
        }
        q.tell({trace_code::diversified, "mmr", candidates.size(), out.size(), options_.lambda});
        return out;
    }

 private:
    static constexpr bool embeds = !std::same_as<E, detail::no_embedder>;

    // The question's row, from the leg that searched the index. An embedder of our own makes it where there is none.
    const std::vector<float>& question_row(request& q) const {
        if (const std::vector<float>* known = q.row_in(index_)) return *known;
        if (const std::vector<float>* known = q.remembered().find(token_.get(), q.name())) return *known;
        if constexpr (embeds) {
            q.pay({.calls = 1, .texts = 1});
            const std::string_view texts[] = {q.text()};
            detail::remark_cut(q, "mmr", embedder_, texts);
            const role as = q.asked().example() ? role::document : role::query;
            return q.remembered().keep(token_.get(), q.name(), detail::embed_checked(embedder_, as, texts));
        } else {
            detail::raise<usage_error>("diversify.no_probe",
                                       "quarry::diversify: no leg before it searched the index it compares by");
        }
    }

    std::vector<float> rows_of(request& q, const results<typename Base::scale>& candidates) const {
        const std::size_t d = index_->dimension();
        std::vector<float> rows(candidates.size() * d, 0.0f);
        std::vector<std::size_t> missing;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::span row = std::span(rows).subspan(i * d, d);
            if (index_->vector_of(candidates[i].unit, row)) continue;
            std::ranges::fill(row, 0.0f);
            missing.push_back(i);
        }
        if (missing.empty()) return rows;
        if constexpr (embeds) {
            embed_missing(q, candidates, missing, rows);
        } else if (options_.missing == missing_vector::refuse) {
            detail::raise<usage_error>("diversify.no_vector",
                                       detail::concat("quarry::diversify: the index has no vector of unit ",
                                                      index_of(candidates[missing.front()].unit)));
        }
        return rows;
    }

    void embed_missing(request& q, const results<typename Base::scale>& candidates,
                       const std::vector<std::size_t>& missing, std::vector<float>& rows) const {
        const std::size_t d = index_->dimension();
        const auto name = [&](std::size_t i) { return detail::concat("unit ", index_of(candidates[i].unit)); };
        std::vector<std::string_view> texts;
        std::vector<std::size_t> fresh;
        for (const std::size_t i : missing)
            if (!q.remembered().find(token_.get(), name(i)))
                fresh.push_back(i), texts.push_back(source().text(candidates[i].unit));
        if (!fresh.empty()) {
            q.pay({.calls = 1, .texts = texts.size()});
            detail::remark_cut(q, "mmr", embedder_, texts);
            const auto bought = detail::embed_checked(embedder_, role::document, texts);
            for (std::size_t n = 0; n < fresh.size(); ++n) {
                const auto row = bought.begin() + static_cast<std::ptrdiff_t>(n * d);
                q.remembered().keep(token_.get(), name(fresh[n]), {row, row + static_cast<std::ptrdiff_t>(d)});
            }
        }
        for (const std::size_t i : missing)
            std::ranges::copy(*q.remembered().find(token_.get(), name(i)),
                              rows.begin() + static_cast<std::ptrdiff_t>(i * d));
    }

    Base base_;
    const Index* index_;
    [[no_unique_address]] E embedder_;
    mmr options_;
    detail::identity_token token_;
};

/// Picks k of the first `fetch` hits by maximal marginal relevance over the vectors of `vectors`.
template <DenseIndex Index>
auto diversify(const indexed<Index>& vectors, mmr options = {}) {
    return stage{[&index = vectors.index, options]<Retriever Base>(Base base) {
        return diversified_retriever<Base, Index>(std::move(base), index, {}, options);
    }};
}
template <DenseIndex Index>
void diversify(const indexed<Index>&&, mmr = {}) = delete;  // a temporary index would dangle

/// The same with an embedder for what has no vector: at most one call for the question and one for the units.
///
/// Errors  usage_error `diversify.dimension`.
template <DenseIndex Index, Embedder E>
auto diversify(const indexed<Index>& vectors, E embedder, mmr options = {}) {
    return stage{[&index = vectors.index, embedder = std::move(embedder), options]<Retriever Base>(Base base) {
        return diversified_retriever<Base, Index, E>(std::move(base), index, embedder, options);
    }};
}
template <DenseIndex Index, Embedder E>
void diversify(const indexed<Index>&&, E, mmr = {}) = delete;

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// What is picked from. A score only falls with every pick, so one that some picks have not lowered yet is a bound: a
// candidate is compared with the picks one by one, and only while no other's bound is greater.
class mmr_pool {
   public:
    struct candidate {
        std::size_t place;
        float nearest;         // the largest cosine with a pick so far, or what none is below
        float score;           // its marginal relevance, if it came to no other pick
        std::size_t compared;  // with so many picks
    };

    mmr_pool(std::span<const float> relevance, std::span<const float> rows, std::vector<double> lengths, float lambda, bool clamp)
        : relevance_(relevance), rows_(rows), d_(rows.size() / relevance.size()), lambda_(lambda), lengths_(std::move(lengths)) {
        const auto first = static_cast<std::size_t>(std::ranges::max_element(relevance) - relevance.begin());
        picks_.push_back({first, relevance[first]});
        const float least = clamp ? 0.0f : -1.0f;
        heap_.reserve(relevance.size());
        for (std::size_t i = 0; i < relevance.size(); ++i)
            if (i != first) heap_.push_back({i, least, score(i, least), 0});
        std::ranges::make_heap(heap_, worse);
    }

    void pick_next() {
        for (;;) {
            std::ranges::pop_heap(heap_, worse);
            candidate& c = heap_.back();
            const auto others = std::span(heap_).first(heap_.size() - 1);
            const auto leads = [&] { return others.empty() || worse(others.front(), c); };
            while (c.compared < picks_.size() && leads()) {
                c.nearest = (std::max)(c.nearest, cosine_of(c.place, picks_[c.compared++].candidate));
                c.score = score(c.place, c.nearest);
            }
            if (c.compared == picks_.size() && leads()) break;
            std::ranges::push_heap(heap_, worse);
        }
        picks_.push_back({heap_.back().place, heap_.back().score});
        heap_.pop_back();
    }

    std::vector<mmr_pick>& picks() noexcept { return picks_; }

   private:
    // Of equals the earlier is the better.
    static bool worse(const candidate& a, const candidate& b) noexcept {
        return a.score != b.score ? a.score < b.score : a.place > b.place;
    }
    std::span<const float> row(std::size_t i) const noexcept { return rows_.subspan(i * d_, d_); }
    float score(std::size_t i, float nearest) const noexcept { return lambda_ * relevance_[i] - (1.0f - lambda_) * nearest; }
    double length(std::size_t i) noexcept {
        if (lengths_[i] < 0.0) lengths_[i] = norm(row(i));
        return lengths_[i];
    }
    float cosine_of(std::size_t i, std::size_t j) noexcept { return cosine(row(i), length(i), row(j), length(j)); }

    std::span<const float> relevance_, rows_;
    std::size_t d_;
    float lambda_;
    std::vector<double> lengths_;  // of rows; below 0 where nobody asked yet
    std::vector<candidate> heap_;  // the best bound on top
    std::vector<mmr_pick> picks_;
};

}  // namespace detail

inline std::vector<mmr_pick> detail::mmr_picks(std::span<const float> relevance, std::span<const float> rows,
                                               std::vector<double> lengths, std::size_t k, float lambda, bool clamp) {
    const std::size_t wanted = (std::min)(k, relevance.size());
    if (wanted == 0) return {};
    mmr_pool pool(relevance, rows, std::move(lengths), lambda, clamp);
    while (pool.picks().size() < wanted) pool.pick_next();
    return std::move(pool.picks());
}

inline std::vector<mmr_pick> pick_by_mmr(std::span<const float> relevance, std::span<const float> rows, std::size_t k,
                                         float lambda, bool clamp) {
    return detail::mmr_picks(relevance, rows, std::vector<double>(relevance.size(), -1.0), k, lambda, clamp);
}

}  // namespace QUARRY_NAMESPACE
