// Late interaction: a judge over the vectors of single tokens. Also called MaxSim or ColBERT.
//
//     search | rerank(late_interaction(token_embedder), {.fetch = 50})
//
// score = sum over the question's tokens of the largest cosine with a token of the passage
//
// It is asymmetric, and grows with the length of the question: a floor on it needs `mean`. Rows of zeros are masked
// tokens and take no part; if they did, they would win over passages whose every cosine is negative.
//
// Source  Khattab and Zaharia, SIGIR 2020.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/request.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "../math/cosine.hpp"
#include "../model/embedder.hpp"

namespace QUARRY_NAMESPACE {

/// The rows of a text's tokens: n * d floats, row-major.
struct token_rows {
    std::size_t dimension = 0;
    std::vector<float> rows{};
};

template <class E>
concept TokenEmbedder = requires(const E& embedder, role r, std::string_view text) {
    { embedder(r, text) } -> std::convertible_to<token_rows>;
};

/// The sum over the rows of `question` of the largest cosine with a row of `passage`, over rows that are not zero.
///
/// Where the passage has no such row: the lowest there can be, -1 for each of the question's.
/// Requires  equal dimensions.  Cost  n * m cosines of d.
float max_sim(const token_rows& question, const token_rows& passage);

struct late_interaction_options {
    bool mean = false;  // divided by the question's tokens: in [-1, 1], and comparable between questions
};

/// A judge for rerank and rerank_first. Const calls may overlap if the embedder's may.
///
/// Cost    the embedder is called once for the question in a request, and once a passage; together they are one call.
/// Errors  callable_error `late_interaction.dimension`, `late_interaction.not_finite`; those of the embedder;
/// `cancelled`.
template <TokenEmbedder E>
class late_interaction_judge {
 public:
    late_interaction_judge(E embedder, late_interaction_options options)
        : embedder_(std::move(embedder)), options_(options) {}

    std::vector<float> scores(request& q, std::span<const std::string_view> passages) const {
        q.pay({.calls = 1, .texts = 1 + passages.size()});
        const token_rows asked = question_rows(q);
        const std::size_t d = asked.dimension, tokens = d == 0 ? 0 : asked.rows.size() / d;
        std::vector<float> out;
        for (const std::string_view passage : passages) {
            q.check();
            const token_rows rows = embedded(role::document, passage, d);
            const float score = max_sim(asked, rows);
            out.push_back(options_.mean && tokens != 0 ? score / static_cast<float>(tokens) : score);
        }
        return out;
    }

 private:
    token_rows question_rows(request& q) const {
        const std::string name = detail::concat("tokens ", q.text());
        if (const auto* known = q.remembered().find(token_.get(), name)) {
            token_rows rows{static_cast<std::size_t>(known->front()), {}};
            rows.rows.assign(known->begin() + 1, known->end());
            return rows;
        }
        token_rows rows = embedded(role::query, q.text(), std::nullopt);
        std::vector<float> kept{static_cast<float>(rows.dimension)};
        kept.insert(kept.end(), rows.rows.begin(), rows.rows.end());
        q.remembered().keep(token_.get(), name, std::move(kept));
        return rows;
    }

    token_rows embedded(role r, std::string_view text, std::optional<std::size_t> wanted) const {
        token_rows rows = embedder_(r, text);
        const bool whole = rows.rows.empty() || (rows.dimension != 0 && rows.rows.size() % rows.dimension == 0);
        if (!whole || (wanted && !rows.rows.empty() && rows.dimension != *wanted && *wanted != 0))
            detail::raise<callable_error>(
                "late_interaction.dimension",
                detail::concat("quarry::late_interaction: ", rows.rows.size(), " floats in rows of ", rows.dimension,
                               wanted ? detail::concat(", the question's have ", *wanted) : std::string(),
                               ", for the text ", detail::quoted(text)));
        if (!detail::is_finite(std::span<const float>(rows.rows)))
            detail::raise<callable_error>(
                "late_interaction.not_finite",
                detail::concat("quarry::late_interaction: a NaN or an infinity for the text ", detail::quoted(text)));
        return rows;
    }

    E embedder_;
    late_interaction_options options_;
    detail::identity_token token_;
};

/// The embedder is copied; `ref(e)` shares a large one.
template <TokenEmbedder E>
late_interaction_judge<E> late_interaction(E embedder, late_interaction_options options = {}) {
    return late_interaction_judge<E>(std::move(embedder), options);
}

// ------------------------------------------------------------------------------------------------------------- detail

inline float max_sim(const token_rows& question, const token_rows& passage) {
    const auto kept = [](const token_rows& all) {
        std::vector<std::span<const float>> out;
        for (std::size_t at = 0; all.dimension != 0 && at + all.dimension <= all.rows.size(); at += all.dimension) {
            const auto row = std::span(all.rows).subspan(at, all.dimension);
            if (std::ranges::any_of(row, [](float x) { return x != 0.0f; })) out.push_back(row);
        }
        return out;
    };
    const auto asked = kept(question), read = kept(passage);
    double sum = 0.0;
    for (const auto& token : asked) {
        float best = -1.0f;
        for (const auto& row : read) best = (std::max)(best, cosine(token, row));
        sum += static_cast<double>(best);
    }
    return static_cast<float>(sum);
}

}  // namespace QUARRY_NAMESPACE
