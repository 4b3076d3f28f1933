// Merging: the articles of several parts that are alive, in one part. Nothing is analysed or embedded again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/unit_set.hpp"
#include "../detail/saved.hpp"
#include "../store/saved_corpus.hpp"
#include "../store/saved_indexes.hpp"
#include "part.hpp"

namespace QUARRY_NAMESPACE::detail {

/// One part from several, which have the same layers. Their order is kept; `alive` null: all units are.
///
/// Requires  parts with ascending ids, and a unit that is alive.
std::shared_ptr<const library_part> merged(std::span<const std::shared_ptr<const library_part>> parts,
                                           const unit_set* alive);

// ------------------------------------------------------------------------------------------------------------- detail

template <>
struct merger<corpus> {
    /// Adds the units from place `first` to before `last`, which name no others; their metadata, values of their own
    /// only.
    static void append(corpus& to, const corpus& from, std::size_t first, std::size_t last) {
        const std::size_t begin = to.size();
        const auto moved = [&](unit_id unit) { return unit_at(index_of(unit) - first + begin); };
        for (std::size_t i = first; i < last; ++i) {
            corpus::unit_data unit = from.units_[i];
            const bool has_text = unit.kind == unit_kind::article || unit.kind == unit_kind::generated;
            if (unit.parent) unit.parent = moved(*unit.parent);
            for (unit_id& source : unit.sources) source = moved(source);
            std::vector<std::pair<std::size_t, field_value>> values;
            for (std::size_t field = 0; field < from.columns_.size(); ++field)
                if (const std::uint32_t code = from.columns_[field].codes[i]; code != 0)
                    values.emplace_back(field, from.columns_[field].distinct[code - 1]);
            if (has_text) {
                corpus::article_data text = from.articles_[unit.article];
                to.commit(std::move(unit), &text, std::move(values));
            } else {
                unit.article = to.units_[index_of(*unit.parent)].article;
                to.commit(std::move(unit), nullptr, std::move(values));
            }
        }
    }
    static corpus empty_like(const corpus& c) { return corpus(c.schema_, c.options_); }
};

template <>
struct merger<key_table> {
    static void append(key_table& to, const key_table& from, key_id key) {
        to.entries_.push_back(from.at(index_of(key)));
    }
};

template <>
struct merger<bm25_index> {
    template <class Alive>
    static bm25_index merged(std::span<const bm25_index* const> parts, Alive alive) {
        bm25_index out(parts.front()->analyzer_, parts.front()->options_);
        std::vector<std::uint32_t> renumbered;
        std::size_t most_terms = 0;
        for (const bm25_index* from : parts) most_terms = (std::max)(most_terms, from->terms_.size());
        out.expect_terms(most_terms);
        for (const bm25_index* from : parts) {
            constexpr std::uint32_t gone = UINT32_MAX;
            renumbered.assign(from->keys_.size(), gone);
            for (std::size_t i = 0; i < from->keys_.size(); ++i)
                if (const auto& key = from->keys_[i]; key.alive && alive(key.unit)) renumbered[i] = add_key(out, key, from->lengths_[i]);
            std::vector<std::string_view> texts(from->terms_.size());
            for (const auto& [text, number] : from->term_numbers_) texts[number] = text;
            for (std::size_t t = 0; t < texts.size(); ++t) {
                const auto& term = from->terms_[t];
                const auto kept = [&](const auto& posting) { return renumbered[posting.key] != gone; };
                if (!std::ranges::any_of(term.postings, kept)) continue;
                const std::uint32_t number = out.number_of(texts[t]);
                auto& to = out.terms_[number];
                for (const auto& posting : term.postings) {
                    if (!kept(posting)) continue;
                    const float length = from->lengths_[posting.key];
                    to.postings.push_back({renumbered[posting.key], posting.frequency});
                    to.codes.add(to.postings, [](const auto&) { return 1.0; });  // all are renewed below
                    to.best.add(posting.frequency, length);
                    ++out.postings_;
                    if (out.options_.positions) {
                        const auto places = from->positions(term, posting);
                        to.first_positions.push_back(static_cast<std::uint32_t>(to.positions.size()));
                        to.positions.insert(to.positions.end(), places.begin(), places.end());
                    }
                    out.keys_[renumbered[posting.key]].terms.push_back(number);
                }
            }
        }
        for (auto& key : out.keys_) std::ranges::sort(key.terms);
        out.renew_codes();
        return out;
    }

    /// What leaves the statistics with the keys of a unit.
    static void count(const bm25_index& index, unit_id unit, removed_of_part::of_layer& removed) {
        const auto own = index.keys_of_.find(unit);
        if (own == index.keys_of_.end()) return;
        for (const std::uint32_t key : own->second) {
            const double length = index.keys_[key].exact_length;
            ++removed.keys;
            removed.counted += length > 0.0;
            removed.length += length;
        }
    }
    static double total_length(const bm25_index& index) noexcept { return index.total_length_; }
    static std::size_t keys_given(const bm25_index& index) noexcept { return index.keys_.size(); }
    static unit_id unit_of(const bm25_index& index, std::size_t key) noexcept { return index.keys_[key].unit; }

   private:
    static std::uint32_t add_key(bm25_index& out, const bm25_index::key_data& key, float length) {
        const auto number = static_cast<std::uint32_t>(out.keys_.size());
        out.keys_.push_back({key.unit, key.exact_length, {}, true});
        out.lengths_.push_back(length);
        out.keys_.back().terms.reserve(key.terms.size());
        auto& own = out.keys_of_[key.unit];
        own.push_back(number);
        if (out.units_owning_.size() <= own.size()) out.units_owning_.resize(own.size() + 1);
        out.count_unit(own.size() - 1, own.size());
        ++out.size_;
        out.counted_ += key.exact_length > 0.0;
        out.total_length_ += key.exact_length;
        return number;
    }
};

inline part_layer merged_layer(std::span<const std::shared_ptr<const library_part>> parts, std::size_t layer,
                               const unit_set* alive) {
    const auto is_alive = [&](unit_id unit) { return !alive || alive->contains(unit); };
    std::vector<const bm25_index*> words;
    bool one_table = true;
    for (const auto& part : parts) {
        words.push_back(part->layers[layer].words.get());
        one_table = one_table && part->layers[layer].keys == part->layers[layer].row_keys;
    }
    part_layer out;
    out.words = std::make_shared<const bm25_index>(merger<bm25_index>::merged(words, is_alive));
    const auto kept_keys = [&](auto table_of) {
        auto table = std::make_shared<key_table>(table_of(*parts.front()).kind());
        for (const auto& part : parts) {
            const key_table& from = table_of(*part);
            for (std::size_t i = 0; i < from.size(); ++i)
                if (is_alive(from.unit(key_at(i)))) merger<key_table>::append(*table, from, key_at(i));
        }
        return table;
    };
    out.keys = kept_keys([&](const library_part& p) -> const key_table& { return *p.layers[layer].keys; });
    if (!parts.front()->layers[layer].rows) return out;
    out.row_keys =
        one_table ? out.keys
                  : kept_keys([&](const library_part& p) -> const key_table& { return *p.layers[layer].row_keys; });
    std::vector<flat_index::held> keys;
    std::vector<std::pair<const row_store*, std::size_t>> places;
    for (const auto& part : parts) {
        const part_layer& from = part->layers[layer];
        const auto held = from.rows->keys();
        for (std::size_t i = 0; i < held.size(); ++i) {
            if (!is_alive(held[i].unit)) continue;
            places.emplace_back(&from.rows->rows(), i);
            keys.push_back({held[i].unit, key_at(keys.size())});
            out.row_texts.push_back(from.row_texts[i]);
        }
    }
    auto next = places.begin();
    const flat_index& like = *parts.front()->layers[layer].rows;
    out.rows = std::make_shared<const flat_index>(flat_index::restored_by(
        like.dimension(), keys, key_at(keys.size()), like.options(), [&](std::span<char> to) {
            for (; !to.empty(); ++next) {
                const std::span<const char> row = next->first->as_kept(next->second);
                std::ranges::copy(row, to.begin());
                to = to.subspan(row.size());
            }
        }));
    out.sort_rows();
    return out;
}

inline std::shared_ptr<const library_part> merged(std::span<const std::shared_ptr<const library_part>> parts,
                                                  const unit_set* alive) {
    auto out =
        std::make_shared<library_part>(library_part{merger<corpus>::empty_like(parts.front()->units), {}, {}, {}});
    for (const auto& part : parts)
        for (std::size_t a = 0; a < part->articles.size(); ++a) {
            const auto [first, last] = part->range(a);
            if (alive && !alive->contains(part->ids[first])) continue;
            out->articles.push_back({static_cast<std::uint32_t>(out->ids.size()), part->articles[a].contents});
            merger<corpus>::append(out->units, part->units, first, last);
            for (std::size_t i = first; i < last; ++i) {
                out->ids.push_back(part->ids[i]);
                out->any_generated = out->any_generated || part->units.kind(unit_at(i)) == unit_kind::generated;
            }
        }
    for (std::size_t layer = 0; layer < parts.front()->layers.size(); ++layer)
        out->layers.push_back(merged_layer(parts, layer, alive));
    return out;
}

}  // namespace QUARRY_NAMESPACE::detail
