// A part of a generation: some articles with all that was made of them. It never changes and is shared.
//
// Units are numbered twice. In the part's corpus they have the places 0, 1, 2, ...; in the library each has an id that
// no other unit ever had. Indexes and keys name units by the latter, so that answers of several parts can be merged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/ids.hpp"
#include "../core/key.hpp"
#include "../detail/sha256.hpp"
#include "../index/bm25_index.hpp"
#include "../index/flat_index.hpp"

namespace QUARRY_NAMESPACE::detail {

/// Sixteen bytes of a text's SHA-256: what says that a text was embedded before.
using text_name = std::array<std::uint8_t, 16>;

inline text_name name_of_text(std::string_view text) noexcept {
    const digest d = sha256_of(text);
    text_name out;
    std::copy_n(d.begin(), out.size(), out.begin());
    return out;
}

/// What one layer made of a part's articles.
struct part_layer {
    std::shared_ptr<const bm25_index> words;
    std::shared_ptr<const key_table> keys;  // of words
    // Null without vectors.
    std::shared_ptr<const flat_index> rows;
    std::shared_ptr<const key_table> row_keys;  // of rows; the same table where every key has a row
    std::vector<text_name> row_texts{};         // of each row, in the order of keys
    std::vector<std::uint32_t> rows_by_unit{};  // their places, in the order of their units

    /// Once rows are there.
    void sort_rows() {
        if (!rows) return;
        rows_by_unit.resize(rows->size());
        for (std::size_t i = 0; i < rows_by_unit.size(); ++i) rows_by_unit[i] = static_cast<std::uint32_t>(i);
        const auto keys_of_rows = rows->keys();
        const auto unit_of = [&](std::uint32_t i) { return keys_of_rows[i].unit; };
        if (!std::ranges::is_sorted(rows_by_unit, {}, unit_of)) std::ranges::stable_sort(rows_by_unit, {}, unit_of);
    }

    /// Calls `f(place of a row)` for every row of a unit.
    template <class F>
    void for_each_row(unit_id unit, F f) const {
        if (!rows) return;
        const auto keys_of_rows = rows->keys();
        const auto unit_of = [&](std::uint32_t i) { return keys_of_rows[i].unit; };
        for (auto at = std::ranges::lower_bound(rows_by_unit, unit, {}, unit_of);
             at != rows_by_unit.end() && unit_of(*at) == unit; ++at)
            f(*at);
    }
};

/// An article of a part: its units are the places from its own to the next article's.
struct part_article {
    std::uint32_t first = 0;
    digest contents{};  // of the article as it was handed in
};

struct library_part {
    corpus units;
    std::vector<unit_id> ids;            // by place, ascending
    std::vector<part_article> articles;  // by place, ascending
    std::vector<part_layer> layers;
    bool any_generated = false;

    unit_id first() const noexcept { return ids.front(); }
    unit_id last() const noexcept { return ids.back(); }

    /// The place of a unit, if it is one of this part's.
    std::optional<unit_id> place_of(unit_id unit) const noexcept {
        // Most parts have no gaps.
        if (unit < first() || unit > last()) return std::nullopt;
        const std::size_t guess = index_of(unit) - index_of(first());
        if (guess < ids.size() && ids[guess] == unit) return unit_at(guess);
        const auto at = std::ranges::lower_bound(ids, unit);
        return at != ids.end() && *at == unit ? std::optional(unit_at(static_cast<std::size_t>(at - ids.begin())))
                                              : std::nullopt;
    }

    /// Which article the unit at `place` was made of.
    std::size_t article_at(unit_id place) const noexcept {
        const auto next =
            std::ranges::upper_bound(articles, static_cast<std::uint32_t>(place), {}, &part_article::first);
        return static_cast<std::size_t>(next - articles.begin()) - 1;
    }

    /// The places of an article's units: from the first to before the second.
    std::pair<std::uint32_t, std::uint32_t> range(std::size_t article) const noexcept {
        const bool last_one = article + 1 == articles.size();
        return {articles[article].first,
                last_one ? static_cast<std::uint32_t>(ids.size()) : articles[article + 1].first};
    }
};

/// What is missing of a part since it was made. Kept as sums, so that publishing a change does not look at what did not
/// change.
struct removed_of_part {
    struct of_layer {
        std::size_t keys = 0, counted = 0;
        double length = 0.0;
        std::size_t rows = 0;
        std::vector<double> sum{};
    };

    std::size_t units = 0, articles = 0;
    std::vector<of_layer> layers{};
};

}  // namespace QUARRY_NAMESPACE::detail
