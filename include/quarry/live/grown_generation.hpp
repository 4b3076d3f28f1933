// Grown generation: a library at one moment, with a tree of summaries above its units.
//
//     const raptor tree(cached(client, rows), summaries(cached(model, replies)), {.across_articles = true});
//     auto grown = grow(tree, kb.now());                      // asks for every summary
//     kb.upsert(...);
//     grown = grow(tree, kb.now(), grown->growth().tree);     // only for those that the change touched
//     auto search = raptor_collapsed(dense(grown->vectors(), embed), dense(grown->summaries(), embed),
//                                    {.summaries = grown->growth().summaries});
//
// Summaries are no part of a library, since one of them may stand above many articles: a change of one would then ask a
// model on behalf of others, and publish what they become. So a tree is grown when the application says so, from the
// tree of the last time; until then that one goes on answering over the generation it was grown over. The same call
// without an earlier tree groups everything afresh.
//
// It is a source of units: those of the generation under their ids, and the summaries behind them. Leaves over it are
// made as over a generation.
//
// The surprising thing: summaries get new unit ids with every growth. Their string ids stay, as long as their sources
// do.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../build.hpp"
#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/key.hpp"
#include "../core/key_index.hpp"
#include "../core/source.hpp"
#include "../core/unit_set.hpp"
#include "../detail/text.hpp"
#include "../grow/raptor.hpp"
#include "../index/bm25_parts.hpp"
#include "../index/flat_index.hpp"
#include "../index/flat_parts.hpp"
#include "../model/embedder.hpp"
#include "generation.hpp"

namespace QUARRY_NAMESPACE {

/// Never changes. All members are const and may be called from several threads.
///
/// Errors  those of a generation.
class grown_generation {
   public:
    /// Made by `grow`.
    template <Embedder E>
    grown_generation(std::shared_ptr<const generation> below, raptor_growth growth, const raptor_tree& before,
                     const E& embedder, const build_options& how);
    grown_generation(const grown_generation&) = delete;
    grown_generation& operator=(const grown_generation&) = delete;

    const generation& below() const noexcept { return *below_; }
    /// What growing took. Its `summaries`, and `made` of them, are units of this; `obsolete` is empty.
    const raptor_growth& growth() const noexcept { return growth_; }

    /// The words, or the vectors, of a layer of the library, and the vectors of the summaries.
    const indexed<bm25_parts>& bm25(std::size_t layer = 0) const;
    const indexed<flat_parts>& vectors(std::size_t layer = 0) const;
    const indexed<flat_index>& summaries() const noexcept { return *rows_; }

    // What a UnitSource offers.
    std::size_t size() const noexcept { return first() + nodes_.size(); }
    bool contains(unit_id unit) const noexcept {
        return index_of(unit) < first() ? below_->contains(unit) : index_of(unit) < size();
    }
    unit_kind kind(unit_id unit) const { return summary_at(unit) ? unit_kind::generated : below_->kind(unit); }
    std::string_view id(unit_id unit) const {
        const summary_unit* s = summary_at(unit);
        return s ? std::string_view(s->node->id) : below_->id(unit);
    }
    std::string_view title(unit_id unit) const {
        const summary_unit* s = summary_at(unit);
        return s ? std::string_view(s->node->title) : below_->title(unit);
    }
    std::string_view summary(unit_id unit) const { return summary_at(unit) ? "" : below_->summary(unit); }
    std::string_view text(unit_id unit) const {
        const summary_unit* s = summary_at(unit);
        return s ? std::string_view(s->node->text) : below_->text(unit);
    }
    byte_span span(unit_id unit) const {
        const summary_unit* s = summary_at(unit);
        return s ? byte_span{0, s->node->text.size()} : below_->span(unit);
    }
    std::span<const heading> headings(unit_id unit) const {
        return summary_at(unit) ? std::span<const heading>() : below_->headings(unit);
    }
    std::span<const link> links(unit_id unit) const {
        return summary_at(unit) ? std::span<const link>() : below_->links(unit);
    }
    std::span<const unit_id> sources(unit_id unit) const {
        const summary_unit* s = summary_at(unit);
        return s ? std::span<const unit_id>(s->sources) : std::span<const unit_id>();
    }
    std::optional<unit_id> parent(unit_id unit) const {
        return summary_at(unit) ? std::nullopt : below_->parent(unit);
    }
    std::optional<field_value> value(unit_id unit, std::string_view field) const {
        return summary_at(unit) ? std::nullopt : below_->value(unit, field);
    }
    std::optional<unit_id> find(std::string_view id) const {
        const auto at = places_.find(id);
        return at == places_.end() ? below_->find(id) : std::optional(unit_at(first() + at->second));
    }
    unit_ref operator[](unit_id unit) const { return source_ref(*this)[unit]; }
    selection select(const selection_criteria& criteria) const;
    source_state state() const { return {identity_, 0}; }

   private:
    struct summary_unit {
        const raptor_node* node;
        std::vector<unit_id> sources;  // below it
    };

    std::size_t first() const noexcept { return below_->size(); }
    const summary_unit* summary_at(unit_id unit) const;
    void add_summaries(const raptor_tree& before);
    template <class Add>
    std::shared_ptr<unit_set> with_summaries(const std::shared_ptr<const unit_set>& units, Add belongs) const;
    unit_set made_of_one(unit_id article) const;

    std::shared_ptr<const generation> below_;
    raptor_growth growth_;
    std::vector<summary_unit> nodes_;
    std::unordered_map<std::string_view, std::size_t> places_;  // of summaries, by their id
    std::shared_ptr<const char> identity_ = std::make_shared<const char>('\0');
    std::vector<indexed<bm25_parts>> bm25_;
    std::map<std::size_t, indexed<flat_parts>> vectors_;  // of layers that have them
    std::optional<indexed<flat_index>> rows_;
};

/// Grows a tree over what is published, from the one before if there is one.
///
/// Order   that of a corpus of the living articles in the order of their ids: the same summaries, given the same tree
///         before.
/// Cost    that of `raptor::grow`, and an embedding for every summary; a cached embedder pays for the new ones alone.
///         Every unit is looked at.
/// Errors  those of `raptor::grow` and the embedder.
template <Embedder E, Summarizer S, Clusterer C>
std::shared_ptr<const grown_generation> grow(const raptor<E, S, C>& tree, std::shared_ptr<const generation> now,
                                             const raptor_tree& before = {}) {
    std::vector<unit_id> units;
    now->alive()->for_each([&](unit_id unit) {
        if (now->kind(unit) == tree.options().of) units.push_back(unit);
    });
    raptor_growth growth = tree.grow(*now, units, before);
    const build_options how{.batch = tree.options().batch, .stop = tree.options().stop};
    return std::make_shared<const grown_generation>(std::move(now), std::move(growth), before, tree.embedder(), how);
}

// ------------------------------------------------------------------------------------------------------------- detail

template <Embedder E>
grown_generation::grown_generation(std::shared_ptr<const generation> below, raptor_growth growth,
                                   const raptor_tree& before, const E& embedder, const build_options& how)
    : below_(std::move(below)), growth_(std::move(growth)) {
    add_summaries(before);
    for (std::size_t l = 0; l < below_->frame()->layers.size(); ++l) {
        bm25_.push_back({below_->bm25(l).index, *this, below_->bm25(l).keys});
        if (!below_->frame()->layers[l].has_vectors()) continue;
        vectors_.insert({l, {below_->vectors(l).index, *this, below_->vectors(l).keys}});
    }
    std::vector<key> keys;
    for (const unit_id unit : growth_.summaries)
        keys.push_back({unit, key_part::whole, detail::words_of(*this, unit)});
    build_report report;
    detail::stopwatch watch(how);
    detail::embedded_keys embedded = detail::embed_keys(keys, embedder, how, report, watch);
    growth_.embedder_calls += report.embedder_calls;
    const auto table = detail::table_of(keys, embedded, detail::table_of(keys, key_kind::body));
    rows_.emplace(indexed<flat_index>{std::move(embedded.vectors), *this, table});
}

// Sources of a summary come before it in the tree, or are units of the generation.
inline void grown_generation::add_summaries(const raptor_tree& before) {
    std::set<std::string_view> known;
    if (before.maker == growth_.tree.maker)
        for (const raptor_node& n : before.summaries)
            if (!n.text.empty()) known.insert(n.id);
    for (const raptor_node& n : growth_.tree.summaries) {
        if (n.text.empty()) continue;
        summary_unit made{&n, {}};
        for (const std::string& id : n.sources) made.sources.push_back(*find(id));
        const unit_id unit = unit_at(size());
        places_.emplace(n.id, nodes_.size());
        nodes_.push_back(std::move(made));
        growth_.summaries.push_back(unit);
        if (!known.contains(n.id)) growth_.made.push_back(unit);
    }
}

inline const grown_generation::summary_unit* grown_generation::summary_at(unit_id unit) const {
    const std::size_t place = index_of(unit);
    if (place < first()) return nullptr;
    if (place >= size())
        detail::raise<usage_error>("corpus.unknown_unit", detail::concat("quarry::grown_generation: there is no unit ",
                                                                         place, "; ids lie below ", size()));
    return &nodes_[place - first()];
}

inline const indexed<bm25_parts>& grown_generation::bm25(std::size_t layer) const {
    below_->bm25(layer);  // throws for a layer that is not there
    return bm25_[layer];
}

inline const indexed<flat_parts>& grown_generation::vectors(std::size_t layer) const {
    below_->vectors(layer);  // throws for a layer that is not there, or has none
    return vectors_.at(layer);
}

// A set of units of the generation (null: all of them), and the summaries that `belongs` says.
template <class Add>
std::shared_ptr<unit_set> grown_generation::with_summaries(const std::shared_ptr<const unit_set>& units,
                                                           Add belongs) const {
    auto out = std::make_shared<unit_set>(units ? *units : *below_->alive());
    out->grow(size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (belongs(nodes_[i].sources, *out)) out->insert(unit_at(first() + i));
    return out;
}

// The article or summary, its parts, and what was generated from these alone.
inline unit_set grown_generation::made_of_one(unit_id article) const {
    unit_set own(size());
    own.insert(article);
    if (!summary_at(article)) below_->alive()->for_each([&](unit_id unit) {
        if (source_ref(*below_).article_of(unit) == article) own.insert(unit);
    });
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (std::ranges::all_of(nodes_[i].sources, [&](unit_id source) { return own.contains(source); }))
            own.insert(unit_at(first() + i));
    return own;
}

// As a corpus does: a summary is returned only if all its sources are let through, and walked through if any is.
inline selection grown_generation::select(const selection_criteria& criteria) const {
    selection_criteria of_units = criteria;
    of_units.unlike.reset();
    const selection units = below_->select(of_units);
    if (!units.units() && criteria.include_generated && !criteria.unlike) return selection().made_by(state());
    const auto walked = with_summaries(units.walkable(), [](const auto& sources, const unit_set& set) {
        return std::ranges::any_of(sources, [&](unit_id source) { return set.contains(source); });
    });
    const auto returned = with_summaries(units.units(), [](const auto& sources, const unit_set& set) {
        return std::ranges::all_of(sources, [&](unit_id source) { return set.contains(source); });
    });
    if (!criteria.include_generated)
        for (const unit_id summary : growth_.summaries) returned->erase(summary);
    if (criteria.unlike)
        made_of_one(source_ref(*this).article_of(*criteria.unlike)).for_each([&](unit_id unit) {
            returned->erase(unit);
        });
    std::optional<filter> expression;
    if (units.expression()) expression = *units.expression();
    return selection(std::move(expression), returned, walked).made_by(state());
}

}  // namespace QUARRY_NAMESPACE
