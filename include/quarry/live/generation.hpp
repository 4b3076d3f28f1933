// Generation: a library at one moment. It never changes; whoever holds it sees what was there when it was published.
//
//     const auto now = kb.now();                                        // shared_ptr<const generation>
//     auto search = hybrid(lexical(now->bm25()), dense(now->vectors(), embed));
//
// It is a source of units like a corpus, and hands out indexes like a build. Underneath it is a list of parts that
// generations share, and a set of the units that are alive.
//
// The surprising thing: unit ids have gaps. A unit that was removed, or replaced by a newer state of its article, is
// unknown here, and its id never comes back. So whoever walks over all units asks `contains`, or for_each_unit of a
// source_ref.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../core/key_index.hpp"
#include "../core/source.hpp"
#include "../core/unit_set.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../index/bm25_parts.hpp"
#include "../index/flat_parts.hpp"
#include "layer.hpp"
#include "merge.hpp"
#include "part.hpp"

namespace QUARRY_NAMESPACE {

namespace detail {

/// What all generations of a library have in common.
struct library_frame {
    corpus empty;  // the schema, and what it asks of queries
    std::vector<layer> layers;
    analyzer words;
    bm25_options bm25;
    flat_options vectors;
    std::size_t dimension = 0;
};

struct held_part {
    std::shared_ptr<const library_part> part;
    std::shared_ptr<const removed_of_part> removed{};  // null: nothing
};

}  // namespace detail

/// All members are const and may be called from several threads.
///
/// Errors  usage_error `corpus.unknown_unit` for a unit that is not alive here, and those of a corpus.
class generation {
   public:
    /// Made by a library.
    generation(std::shared_ptr<const detail::library_frame> frame, std::vector<detail::held_part> parts,
               std::shared_ptr<const unit_set> alive, std::size_t next_unit);
    generation(const generation&) = delete;
    generation& operator=(const generation&) = delete;

    /// The words, or the vectors, of a layer: what leaves are made from.
    ///
    /// Errors  usage_error `generation.layer` for a layer that is not there, or has no vectors.
    const indexed<bm25_parts>& bm25(std::size_t layer = 0) const;
    const indexed<flat_parts>& vectors(std::size_t layer = 0) const;

    std::size_t articles() const noexcept { return articles_; }
    std::size_t units() const noexcept { return alive_->count(); }
    std::size_t parts() const noexcept { return parts_.size(); }

    /// The articles in the order of their ids.
    template <class F>
    void for_each_article(F f) const {
        for (const auto& held : parts_)
            for (const auto& a : held.part->articles)
                if (const unit_id unit = held.part->ids[a.first]; alive_->contains(unit)) f(unit);
    }

    // What a UnitSource offers.
    std::size_t size() const noexcept { return next_unit_; }
    bool contains(unit_id unit) const noexcept { return alive_->contains(unit); }
    unit_kind kind(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.kind(place);
    }
    std::string_view id(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.id(place);
    }
    std::string_view title(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.title(place);
    }
    std::string_view summary(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.summary(place);
    }
    std::string_view text(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.text(place);
    }
    byte_span span(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.span(place);
    }
    std::span<const heading> headings(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.headings(place);
    }
    std::span<const link> links(unit_id unit) const {
        const auto [part, place] = at(unit);
        return part->units.links(place);
    }
    std::optional<unit_id> parent(unit_id unit) const {
        const auto [part, place] = at(unit);
        const auto above = part->units.parent(place);
        return above ? std::optional(part->ids[index_of(*above)]) : std::nullopt;
    }
    std::optional<field_value> value(unit_id unit, std::string_view field) const {
        const auto [part, place] = at(unit);
        return part->units.value(place, field);
    }
    std::optional<unit_id> find(std::string_view id) const;
    unit_ref operator[](unit_id unit) const { return source_ref(*this)[unit]; }
    selection select(const selection_criteria& criteria) const;
    source_state state() const { return {identity_, 0}; }

    const schema& fields() const noexcept { return frame_->empty.fields(); }
    std::vector<field_value> values(std::string_view field) const;

    // For libraries and stores.
    std::span<const detail::held_part> held() const noexcept { return parts_; }
    const std::shared_ptr<const unit_set>& alive() const noexcept { return alive_; }
    const std::shared_ptr<const detail::library_frame>& frame() const noexcept { return frame_; }
    /// The part and the place in it, if the unit is alive.
    std::optional<std::pair<std::size_t, unit_id>> locate(unit_id unit) const noexcept;

   private:
    std::pair<const detail::library_part*, unit_id> at(unit_id unit) const;

    std::shared_ptr<const detail::library_frame> frame_;
    std::vector<detail::held_part> parts_;
    std::shared_ptr<const unit_set> alive_;
    std::size_t next_unit_;
    std::shared_ptr<const char> identity_ = std::make_shared<const char>('\0');
    std::size_t articles_ = 0;
    bool any_removed_ = false, any_generated_ = false;
    std::vector<indexed<bm25_parts>> bm25_;
    std::vector<indexed<flat_parts>> vectors_;
};

namespace detail {

/// The generation after `g`: without these articles, with `fresh` (or null) behind all others. Parts at the end are
/// merged where together they have at most `merge_limit` units.
///
/// Requires  article units that are alive in `g`; `fresh` with ids from g.size() on.
std::shared_ptr<const generation> changed(const generation& g, std::shared_ptr<const library_part> fresh,
                                          std::span<const unit_id> gone, std::size_t merge_limit);

/// The generation `g` with `merged` in the place of `parts`, which it was made of; null if `g` does not have them in a
/// row.
std::shared_ptr<const generation> with_merged(const generation& g,
                                              std::span<const std::shared_ptr<const library_part>> parts,
                                              std::shared_ptr<const library_part> merged);

}  // namespace detail

// ------------------------------------------------------------------------------------------------------------- detail

inline generation::generation(std::shared_ptr<const detail::library_frame> frame, std::vector<detail::held_part> parts,
                              std::shared_ptr<const unit_set> alive, std::size_t next_unit)
    : frame_(std::move(frame)), parts_(std::move(parts)), alive_(std::move(alive)), next_unit_(next_unit) {
    for (const auto& held : parts_) {
        any_removed_ = any_removed_ || held.removed;
        any_generated_ = any_generated_ || held.part->any_generated;
        articles_ += held.part->articles.size() - (held.removed ? held.removed->articles : 0);
    }
    const auto alive_or_null = any_removed_ ? alive_ : nullptr;
    // No reallocation: the leaves that are made from these refer to their places.
    bm25_.reserve(frame_->layers.size());
    vectors_.reserve(frame_->layers.size());
    for (std::size_t l = 0; l < frame_->layers.size(); ++l) {
        std::vector<bm25_parts::part> words;
        std::vector<std::shared_ptr<const flat_index>> rows;
        std::vector<std::shared_ptr<const key_table>> keys, row_keys;
        bm25_parts::totals in_words;
        flat_parts::totals in_rows{0, std::vector<double>(frame_->dimension, 0.0)};
        for (const auto& held : parts_) {
            const detail::part_layer& made = held.part->layers[l];
            const detail::removed_of_part::of_layer* removed = held.removed ? &held.removed->layers[l] : nullptr;
            words.push_back({made.words, !held.removed});
            keys.push_back(made.keys);
            in_words.keys += made.words->size() - (removed ? removed->keys : 0);
            in_words.counted += made.words->counted_keys() - (removed ? removed->counted : 0);
            in_words.length +=
                detail::merger<bm25_index>::total_length(*made.words) - (removed ? removed->length : 0.0);
            if (!made.rows) continue;
            rows.push_back(made.rows);
            row_keys.push_back(made.row_keys);
            in_rows.keys += made.rows->size() - (removed ? removed->rows : 0);
            for (std::size_t j = 0; j < frame_->dimension; ++j)
                in_rows.sum[j] += made.rows->sum()[j] - (removed ? removed->sum[j] : 0.0);
        }
        const key_kind kind = frame_->layers[l].kind();
        bm25_.push_back({bm25_parts(frame_->words, frame_->bm25, std::move(words), alive_or_null, in_words), *this,
                         std::make_shared<const key_table>(key_table::joined(kind, std::move(keys)))});
        vectors_.push_back({flat_parts(frame_->dimension, std::move(rows), alive_or_null, std::move(in_rows)), *this,
                            std::make_shared<const key_table>(key_table::joined(kind, std::move(row_keys)))});
    }
}

inline const indexed<bm25_parts>& generation::bm25(std::size_t layer) const {
    if (layer >= bm25_.size())
        detail::raise<usage_error>("generation.layer", detail::concat("quarry::generation: there is no layer ", layer,
                                                                      ", there are ", bm25_.size()));
    return bm25_[layer];
}

inline const indexed<flat_parts>& generation::vectors(std::size_t layer) const {
    bm25(layer);
    if (!frame_->layers[layer].has_vectors())
        detail::raise<usage_error>("generation.layer",
                                   detail::concat("quarry::generation: layer ", layer, " was made without vectors"));
    return vectors_[layer];
}

inline std::optional<std::pair<std::size_t, unit_id>> generation::locate(unit_id unit) const noexcept {
    if (!alive_->contains(unit)) return std::nullopt;
    const auto next = std::ranges::upper_bound(parts_, unit, {}, [](const auto& held) { return held.part->first(); });
    const auto part = static_cast<std::size_t>(next - parts_.begin()) - 1;
    return std::pair(part, *parts_[part].part->place_of(unit));
}

inline std::pair<const detail::library_part*, unit_id> generation::at(unit_id unit) const {
    const auto found = locate(unit);
    if (!found)
        detail::raise<usage_error>("corpus.unknown_unit",
                                   detail::concat("quarry::generation: there is no unit ", index_of(unit),
                                                  ", any more or at all; ids lie below ", next_unit_));
    return {parts_[found->first].part.get(), found->second};
}

inline std::optional<unit_id> generation::find(std::string_view id) const {
    for (const auto& held : parts_)
        if (const auto place = held.part->units.find(id))
            if (const unit_id unit = held.part->ids[index_of(*place)]; alive_->contains(unit)) return unit;
    return std::nullopt;
}

inline selection generation::select(const selection_criteria& criteria) const {
    // An empty corpus refuses what every part would refuse, also when there is none.
    frame_->empty.select({criteria.where, criteria.within, criteria.include_generated, std::nullopt});
    const filter* condition = criteria.within ? criteria.within->condition() : nullptr;
    std::optional<filter> expression;
    if (criteria.where) expression = *criteria.where;
    if (condition) expression = expression ? filter::restricted(*expression, *condition) : *condition;
    if (!expression && !criteria.unlike && (!any_generated_ || criteria.include_generated))
        return any_removed_ ? selection(std::nullopt, alive_, alive_).made_by(state()) : selection().made_by(state());

    std::optional<std::pair<std::size_t, unit_id>> example;
    if (criteria.unlike) {
        kind(*criteria.unlike);  // throws for a unit that is not there
        example = locate(*criteria.unlike);
    }
    auto returned = std::make_shared<unit_set>(next_unit_), walked = std::make_shared<unit_set>(next_unit_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const detail::library_part& part = *parts_[i].part;
        selection_criteria here{criteria.where, criteria.within, criteria.include_generated, std::nullopt};
        if (example && example->first == i) here.unlike = example->second;
        const selection found = part.units.select(here);
        const auto add = [&](const unit_set* places, unit_set& to) {
            const auto one = [&](unit_id unit) {
                if (alive_->contains(unit)) to.insert(unit);
            };
            if (places)
                places->for_each([&](unit_id place) { one(part.ids[index_of(place)]); });
            else
                for (const unit_id unit : part.ids) one(unit);
        };
        add(found.returned().units, *returned);
        add(found.walked().units, *walked);
    }
    return selection(std::move(expression), std::move(returned), std::move(walked)).made_by(state());
}

inline std::vector<field_value> generation::values(std::string_view field) const {
    frame_->empty.values(field);  // throws for a field that is not declared
    std::set<field_value> found;
    for (const auto& held : parts_) {
        if (!held.removed) {
            for (field_value& value : held.part->units.values(field)) found.insert(std::move(value));
            continue;
        }
        for (std::size_t i = 0; i < held.part->ids.size(); ++i)
            if (alive_->contains(held.part->ids[i]))
                if (auto value = held.part->units.value(unit_at(i), field)) found.insert(*std::move(value));
    }
    // As corpus::values: of 2 and 2.0 one is listed.
    std::vector<field_value> out(found.begin(), found.end());
    detail::sort_stably(out, [](const auto& a, const auto& b) { return detail::compare(a, b) < 0; });
    const auto same = [](const auto& a, const auto& b) { return detail::compare(a, b) == 0; };
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
    return out;
}

namespace detail {

/// Counts the units of an article out.
inline void count_out(const library_part& part, std::size_t article, removed_of_part& removed, std::size_t dimension) {
    removed.layers.resize(part.layers.size());
    std::vector<float> scratch;
    ++removed.articles;
    const auto [first, last] = part.range(article);
    for (std::size_t place = first; place < last; ++place) {
        ++removed.units;
        const unit_id unit = part.ids[place];
        for (std::size_t l = 0; l < part.layers.size(); ++l) {
            removed_of_part::of_layer& out = removed.layers[l];
            merger<bm25_index>::count(*part.layers[l].words, unit, out);
            if (!part.layers[l].rows) continue;
            out.sum.resize(dimension, 0.0);
            part.layers[l].for_each_row(unit, [&](std::uint32_t row) {
                ++out.rows;
                scratch.resize(part.layers[l].rows->rows().scratch());
                const auto floats = part.layers[l].rows->rows().read(row, scratch);
                for (std::size_t j = 0; j < dimension; ++j) out.sum[j] += static_cast<double>(floats[j]);
            });
        }
    }
}

inline std::size_t living_units(const held_part& held) noexcept {
    return held.part->ids.size() - (held.removed ? held.removed->units : 0);
}

// Like counting in threes: a part waits until what came behind it is twice as large. So of three changes one copies more
// than its own, a unit is moved a number of times that is logarithmic in the limit, and there are few parts.
inline void merge_tail(std::vector<held_part>& parts, const unit_set& alive, std::size_t limit) {
    std::size_t first = parts.size(), behind = 0;
    for (std::size_t i = parts.size(); i-- > 0;) {
        const std::size_t units = living_units(parts[i]);
        if (behind + units > limit) break;
        if (2 * units <= behind) first = i;
        behind += units;
    }
    if (first + 1 >= parts.size()) return;
    std::vector<std::shared_ptr<const library_part>> together;
    for (std::size_t i = first; i < parts.size(); ++i) together.push_back(parts[i].part);
    held_part one{merged(together, &alive)};
    parts.resize(first);
    parts.push_back(std::move(one));
}

inline std::shared_ptr<const generation> changed(const generation& g, std::shared_ptr<const library_part> fresh,
                                                 std::span<const unit_id> gone, std::size_t merge_limit) {
    const std::size_t dimension = g.frame()->dimension;
    std::vector<held_part> parts(g.held().begin(), g.held().end());
    auto alive = std::make_shared<unit_set>(*g.alive());
    std::vector<std::shared_ptr<removed_of_part>> removed(parts.size());  // of those that lose something
    for (const unit_id article : gone) {
        const auto [part, place] = *g.locate(article);
        if (!removed[part])
            removed[part] = parts[part].removed ? std::make_shared<removed_of_part>(*parts[part].removed)
                                                : std::make_shared<removed_of_part>();
        const library_part& from = *parts[part].part;
        const std::size_t number = from.article_at(place);
        count_out(from, number, *removed[part], dimension);
        const auto [first, last] = from.range(number);
        for (std::size_t i = first; i < last; ++i) alive->erase(from.ids[i]);
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (removed[i]) parts[i].removed = std::move(removed[i]);
    std::erase_if(parts, [](const held_part& held) { return living_units(held) == 0; });
    std::size_t next = g.size();
    if (fresh) {
        next = index_of(fresh->last()) + 1;
        alive->grow(next);
        for (const unit_id unit : fresh->ids) alive->insert(unit);
        parts.push_back({std::move(fresh)});
        merge_tail(parts, *alive, merge_limit);
    }
    return std::make_shared<const generation>(g.frame(), std::move(parts), std::move(alive), next);
}

inline std::shared_ptr<const generation> with_merged(const generation& g,
                                                     std::span<const std::shared_ptr<const library_part>> parts,
                                                     std::shared_ptr<const library_part> merged) {
    std::vector<held_part> all(g.held().begin(), g.held().end());
    // Not ranges::search: clang 14 does not take what libstdc++ gives back.
    const auto found = std::search(all.begin(), all.end(), parts.begin(), parts.end(),
                                   [](const held_part& held, const auto& part) { return held.part == part; });
    if (found == all.end()) return nullptr;
    // What was removed while it was merged.
    auto removed = std::make_shared<removed_of_part>();
    for (std::size_t a = 0; a < merged->articles.size(); ++a)
        if (!g.alive()->contains(merged->ids[merged->articles[a].first]))
            count_out(*merged, a, *removed, g.frame()->dimension);
    const auto place = all.erase(found, found + static_cast<std::ptrdiff_t>(parts.size()));
    if (removed->units != merged->ids.size())
        all.insert(place, {std::move(merged), removed->units == 0 ? nullptr : std::move(removed)});
    return std::make_shared<const generation>(g.frame(), std::move(all), g.alive(), g.size());
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
