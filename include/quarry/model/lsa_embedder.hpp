// LSA embedder: dense retrieval with nothing installed. It fits itself to your own texts.
//
// Latent semantic analysis: words that keep the same company come to lie near each other, so a question finds texts
// that share none of its words. It knows only the texts it was fitted to, and is weak beside a sentence model, but its
// errors differ from those of BM25, which is what fusion needs.
//
// The surprising thing: a rank that reaches the number of texts compresses nothing, and what is left is the cosine of
// word counts. A hundred texts want a rank of some tens.
//
//     const auto embed = lsa_embedder::fit(articles);
//     const auto kb = build(articles, identity{}, embed);
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/source.hpp"
#include "../detail/text.hpp"
#include "../math/svd.hpp"
#include "../text/analyzer.hpp"
#include "embedder.hpp"

namespace QUARRY_NAMESPACE {

struct lsa_options {
    std::size_t rank = 128;      // dimensions wanted, at least 1; fewer come out of fewer texts or terms
    analyzer words = english();  // stop words are left out
    std::size_t iterations = 4;  // of the decomposition
    std::uint64_t seed = 1;      // of the decomposition
};

/// What an embedder can be fitted to: a range of texts, or a source of units, whose articles' titles and texts are
/// taken, joined by a space.
template <class T>
concept FittingTexts =
    UnitSource<T> || (std::ranges::input_range<const T> &&
                      std::convertible_to<std::ranges::range_reference_t<const T>, std::string_view>);

/// An Embedder. A text is its terms' (1 + ln tf) * idf, idf = ln((1 + n) / df) over the n texts that have
/// words, projected on the leading right singular vectors of the matrix of all fitted texts, each scaled to length 1;
/// and scaled to length 1 again. Documents and questions are treated alike.
///
/// A text without a known word, or of which nothing is left after the projection, gives a row of zeros.
/// Copies share the fit. Const calls may overlap.
///
/// Memory  4 d bytes a term, and about 100.
/// Source  Deerwester et al., "Indexing by latent semantic analysis", 1990; log frequencies after Dumais, 1991. Texts
///         are compared as rows of U S: fitted texts and new ones are x' V, not divided by the singular values.
class lsa_embedder {
   public:
    static constexpr bool zero_means_unknown = true;

    /// Fits an embedder to `texts`. The same texts and options give the same embedder.
    ///
    /// Cost    analysing the texts, and a truncated decomposition of a sparse matrix of texts by terms (math/svd.hpp):
    ///         five thousand abstracts with thirty thousand terms at rank 256 take a few seconds and 250 MB.
    /// Errors  usage_error `lsa.no_texts`, `lsa.no_words` (none of the texts has any), `lsa.rank` for rank 0.
    template <FittingTexts T>
    static lsa_embedder fit(const T& texts, const lsa_options& options = {});

    /// What came out: at most the rank asked for, the number of texts, and the number of terms.
    std::size_t dimension() const noexcept { return state_->dimension; }
    std::size_t terms() const noexcept { return state_->weights.size(); }

    /// Names the fit: `lsa-1/<analyzer>/<dimension>/<hash>`, the hash being of the options and of every text's terms.
    std::string name() const { return state_->name; }
    callable_identity identity() const noexcept { return state_.get(); }

    /// Errors  usage_error `embedder.rows` if `rows` is not texts.size() * dimension() long.
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const;

    std::size_t memory() const noexcept {
        return sizeof(state) + state_->basis.capacity() * sizeof(float) + 100 * terms();
    }

   private:
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };
    struct term_count {
        std::uint32_t term, count;
    };
    struct state {
        explicit state(analyzer a) : words(std::move(a)) {}

        analyzer words;
        std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> numbers;  // in order of appearance
        std::vector<double> weights;                                                         // idf of each term
        std::vector<float> basis;                                                            // terms * dimension
        std::size_t dimension = 0;
        std::string name;
    };

    explicit lsa_embedder(std::shared_ptr<const state> s) : state_(std::move(s)) {}

    // What `fit` is given, text by text.
    template <class T, class F>
    static void for_each_text(const T& texts, F f);
    // The counts of the terms that `number` gives a number, by number.
    template <class Number>
    static std::vector<term_count> counted(const analyzer& words, std::string_view text, Number number);
    // (1 + ln tf) idf, scaled to length 1.
    static std::vector<double> weighted(std::span<const term_count> counts, std::span<const double> idf);

    std::shared_ptr<const state> state_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// FNV-1a, 64 bits: a fingerprint, no defence.
class fingerprint {
   public:
    void add(std::string_view bytes) noexcept {
        for (const char byte : bytes) hash_ = (hash_ ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3u;
    }
    void add(std::uint64_t number) noexcept {
        for (int shift = 0; shift < 64; shift += 8) hash_ = (hash_ ^ ((number >> shift) & 0xFF)) * 0x100000001B3u;
    }
    std::string hex() const {
        std::string out;
        for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(hash_ >> shift) & 0xF];
        return out;
    }

   private:
    std::uint64_t hash_ = 0xCBF29CE484222325u;
};

}  // namespace detail

template <class T, class F>
void lsa_embedder::for_each_text(const T& texts, F f) {
    if constexpr (UnitSource<T>) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (const unit_id unit = unit_at(i); texts.kind(unit) == unit_kind::article)
                f(detail::concat(texts.title(unit), ' ', texts.text(unit)));
    } else {
        for (const auto& text : texts) f(std::string_view(text));
    }
}

template <class Number>
std::vector<lsa_embedder::term_count> lsa_embedder::counted(const analyzer& words, std::string_view text,
                                                            Number number) {
    std::vector<std::uint32_t> found;
    words(text, [&](const token& t) {
        if (!t.stop) number(t.term, found);
    });
    std::ranges::sort(found);
    std::vector<term_count> counts;
    for (const std::uint32_t term : found) {
        if (counts.empty() || counts.back().term != term) counts.push_back({term, 0});
        ++counts.back().count;
    }
    return counts;
}

inline std::vector<double> lsa_embedder::weighted(std::span<const term_count> counts, std::span<const double> idf) {
    std::vector<double> out;
    double squares = 0.0;
    for (const auto& [term, count] : counts) {
        out.push_back((1.0 + std::log(static_cast<double>(count))) * idf[term]);
        squares += out.back() * out.back();
    }
    for (double& weight : out) weight /= std::sqrt(squares);
    return out;
}

template <FittingTexts T>
lsa_embedder lsa_embedder::fit(const T& texts, const lsa_options& options) {
    if (options.rank == 0)
        detail::raise<usage_error>("lsa.rank", "quarry::lsa_embedder: the rank must be at least 1, it is 0");
    auto fitted = std::make_shared<state>(options.words);
    std::vector<std::vector<term_count>> rows;
    std::vector<double> frequency;  // in how many texts
    detail::fingerprint print;
    print.add(options.seed);
    print.add(options.iterations);
    std::size_t given = 0;
    for_each_text(texts, [&](std::string_view text) {
        ++given;
        auto counts = counted(fitted->words, text, [&](std::string_view term, std::vector<std::uint32_t>& found) {
            auto at = fitted->numbers.find(term);
            if (at == fitted->numbers.end()) {
                at = fitted->numbers.emplace(term, static_cast<std::uint32_t>(frequency.size())).first;
                frequency.push_back(0.0);
                print.add(term);
            }
            found.push_back(at->second);
        });
        for (const auto& [term, count] : counts) {
            ++frequency[term];
            print.add((std::uint64_t{term} << 32) | count);
        }
        print.add(counts.size());
        if (!counts.empty()) rows.push_back(std::move(counts));
    });
    if (given == 0) detail::raise<usage_error>("lsa.no_texts", "quarry::lsa_embedder: there is no text to fit to");
    if (rows.empty())
        detail::raise<usage_error>(
            "lsa.no_words",
            detail::concat("quarry::lsa_embedder: of ", given, " texts to fit to, 0 have a word that is no stop word"));
    const auto n = static_cast<double>(rows.size());
    for (const double df : frequency) fitted->weights.push_back(std::log((1.0 + n) / df));

    sparse_matrix matrix(frequency.size());
    std::vector<std::uint32_t> places;
    for (const auto& counts : rows) {
        places.clear();
        for (const auto& [term, count] : counts) places.push_back(term);
        matrix.add_row(places, weighted(counts, fitted->weights));
    }
    const truncated_svd parts =
        svd(matrix, {.rank = options.rank, .iterations = options.iterations, .seed = options.seed});
    fitted->dimension = parts.rank();
    for (const double x : parts.right) fitted->basis.push_back(static_cast<float>(x));
    fitted->name = detail::concat("lsa-1/", fitted->words.fingerprint(), '/', fitted->dimension, '/', print.hex());
    return lsa_embedder(std::move(fitted));
}

inline void lsa_embedder::embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
    const std::size_t d = dimension();
    if (rows.size() != texts.size() * d)
        detail::raise<usage_error>(
            "embedder.rows", detail::concat("quarry::lsa_embedder::embed: ", texts.size(), " rows of ", d, " make ",
                                            texts.size() * d, " floats, got ", rows.size()));
    std::vector<double> sum(d);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto counts =
            counted(state_->words, texts[i], [&](std::string_view term, std::vector<std::uint32_t>& found) {
                if (const auto at = state_->numbers.find(term); at != state_->numbers.end())
                    found.push_back(at->second);
            });
        const std::vector<double> weights = weighted(counts, state_->weights);
        std::ranges::fill(sum, 0.0);
        for (std::size_t t = 0; t < counts.size(); ++t) {
            const float* direction = state_->basis.data() + std::size_t{counts[t].term} * d;
            for (std::size_t j = 0; j < d; ++j) sum[j] += weights[t] * static_cast<double>(direction[j]);
        }
        const double length = std::sqrt(detail::dot_of(sum.data(), sum.data(), d));
        // Of words that all lie outside the kept directions only rounding is left, and rounding points anywhere.
        const double scale = length > 1e-6 ? 1.0 / length : 0.0;
        for (std::size_t j = 0; j < d; ++j) rows[i * d + j] = static_cast<float>(sum[j] * scale);
    }
}

}  // namespace QUARRY_NAMESPACE
