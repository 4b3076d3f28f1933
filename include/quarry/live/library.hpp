// Library: articles that come, change and go, with the indexes that follow them.
//
//     library kb(embed, {layer(identity{}, "1")});
//     kb.upsert({.id = "reset", .title = "Reset a password", .text = "..."});
//     const auto found = over(kb, [&](const generation& now) {
//         return hybrid(lexical(now.bm25()), dense(now.vectors(), embed));
//     }).retrieve("forgot my password", 5);
//
// A change is prepared beside what is published, and published in one step: readers see all of it or nothing, and are
// never waited for. Only what changed is chunked, expanded and embedded again; an article that is handed in as it was
// costs a hash. Publishing costs as much as the change, a copy of one bit per unit and one look at each part.
//
// No callable is called under a lock. So writers may overlap, and an embedder may even change the library that called
// it: the change that is published later goes on from the other, and what it paid for is not paid for again.
//
// What is searched is what a build of the living articles in the order of their unit ids would give.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../build.hpp"
#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../core/query.hpp"
#include "../core/unit.hpp"
#include "../detail/sha256.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "../model/plan.hpp"
#include "../store/bytes.hpp"
#include "../store/saved_corpus.hpp"
#include "generation.hpp"
#include "layer.hpp"
#include "merge.hpp"
#include "part.hpp"

namespace QUARRY_NAMESPACE {

struct library_options {
    schema fields{};
    corpus_options articles{};
    /// Adds the parts of one article to the corpus, such as `chunks{}.grow(c, article)`. Null: articles are whole. Its
    /// version is saved with the library, as those of the layers are.
    std::function<void(corpus&, unit_id)> grow{};
    std::string grow_version{};
    analyzer words = english();
    bm25_options bm25{};
    flat_options vectors{};
    std::size_t batch = 256;  // texts per call of the embedder; at least 1

    /// A change merges small parts behind it up to this many units, in the caller's thread. Larger parts are merged by
    /// `merge`: by whoever calls it, or, if there is an executor, when there are more than `most_parts`.
    std::size_t merge_limit = 4096;
    std::size_t most_parts = 16;
    /// Runs what it is given, once, when it likes. The library must live until then.
    quarry::executor executor{};
};

/// Articles to be put in the place of those with their ids, or added; and ids of articles to be removed.
struct change {
    std::vector<article> upsert{};
    std::vector<std::string> remove{};
    std::stop_token stop{};  // stopping throws `cancelled`, `library.stopped`; nothing is changed then
};

struct change_report {
    std::size_t added = 0, replaced = 0, unchanged = 0, removed = 0, not_found = 0;  // articles
    std::size_t keys = 0;
    std::size_t embedded = 0;  // texts
    std::size_t reused = 0;    // texts that were embedded for an earlier state of these articles, or twice here
    std::size_t keys_without_vector = 0;
    std::size_t keys_cut = 0;  // longer than the embedder reads, as it says itself
    std::size_t embedder_calls = 0;
    std::vector<expansion_report> expansions{};  // of the layers
    std::string not_merged{};  // what the executor threw, if it did: the change is published all the same
};

/// What a change would take, before anything is paid for.
struct change_plan {
    std::size_t added = 0, replaced = 0, unchanged = 0, removed = 0, not_found = 0;  // articles
    std::size_t texts_to_embed = 0;
    std::size_t texts_reused = 0;  // embedded before: for these articles, or remembered by a cached embedder
    call_plan calls{};  // of models that are asked for keys; texts that come of them are not among those to embed
};

/// See the head of this file. Every member may be called from several threads, `now` and searches beside all others.
///
/// Errors  usage_error `library.duplicate_id` for a change that names an article twice, `library.grow` for a grower
/// that
///         adds to other articles; those of corpus, expanders, embedder and indexes; `cancelled`. A call that throws
///         has changed nothing.
template <Embedder E>
class library {
   public:
    library(E embedder, std::vector<layer> layers, library_options options = {});
    library(const library&) = delete;
    library& operator=(const library&) = delete;

    /// What is published now. Holding it keeps it.
    std::shared_ptr<const generation> now() const {
        const std::lock_guard lock(mutex_);
        return current_;
    }

    change_report apply(const change& c);
    change_report upsert(article a) {
        change c;
        c.upsert.push_back(std::move(a));
        return apply(c);
    }
    change_report upsert_all(std::vector<article> all) {
        change c;
        c.upsert = std::move(all);
        return apply(c);
    }
    change_report remove(std::string id) {
        change c;
        c.remove.push_back(std::move(id));
        return apply(c);
    }

    /// What `apply` would do now. Grows and expands, but asks no model and embeds nothing.
    change_plan plan(const change& c, const plan_options& options = {}) const;

    /// Merges all parts into one, without what was removed. Says whether there was anything to merge. Changes may go on
    /// meanwhile.
    ///
    /// Cost  a copy of everything, without analysing or embedding.
    bool merge();

    const E& embedder() const noexcept { return embedder_; }
    const library_options& options() const noexcept { return options_; }
    const std::shared_ptr<const detail::library_frame>& frame() const noexcept { return frame_; }

    /// For stores: publishes a generation of the same frame.
    void adopt(std::shared_ptr<const generation> g) {
        const std::lock_guard lock(mutex_);
        current_ = std::move(g);
    }

   private:
    // A change against one generation, as far as it costs nobody anything.
    struct prepared {
        corpus units;
        std::vector<detail::part_article> articles{};
        std::vector<std::vector<key>> keys{};  // by layer; units by their place
        std::vector<unit_id> gone{};           // articles that are replaced or removed
        change_report report{};
        call_plan calls{};
    };
    // Rows by text, normalised: of replaced articles, and bought.
    struct known_rows {
        std::map<detail::text_name, std::size_t> places;  // where each begins
        std::vector<float> floats;
        std::set<detail::text_name> bought;  // of them by this change, or the embedder knew nothing of them
        std::size_t calls = 0;

        bool contains(const detail::text_name& name) const { return places.contains(name); }
        void add(const detail::text_name& name, std::span<const float> row) {
            if (places.try_emplace(name, floats.size()).second) floats.insert(floats.end(), row.begin(), row.end());
        }
    };

    // Planned: no model is asked.
    prepared prepare(const change& c, const generation& g, const plan_options* planned = nullptr) const;
    void collect_rows(const generation& g, std::span<const unit_id> gone, known_rows& known) const;
    void buy_rows(const change& c, prepared& p, known_rows& known) const;
    std::shared_ptr<const detail::library_part> part_of(prepared& p, const known_rows& known, std::size_t first) const;
    static bool meets_nothing_new(const change& c, const prepared& p, const generation& g, const generation& other);
    bool publish(const std::shared_ptr<const generation>& before, std::shared_ptr<const generation> after);
    std::string merge_later();

    E embedder_;
    library_options options_;
    std::shared_ptr<const detail::library_frame> frame_;
    mutable std::mutex mutex_;
    std::shared_ptr<const generation> current_;
    std::atomic<bool> merging_{false};
};

/// A retriever over what is published when it is asked: `make` gives the pipeline over a generation. The answer holds
/// its generation, whatever is published later. The library must outlive it.
template <class Library, class Make>
class library_search {
   public:
    library_search(const Library& kb, Make make) : library_(&kb), make_(std::move(make)) {}

    auto retrieve(const query& q, std::size_t k) const {
        const std::shared_ptr<const generation> now = library_->now();
        auto found = make_(*now).retrieve(q, k);
        found.pin(now);
        return found;
    }

   private:
    const Library* library_;
    Make make_;
};

template <class Library, class Make>
    requires std::invocable<const Make&, const generation&> library_search<Library, Make> over(const Library& kb,
                                                                                               Make make) {
        return library_search<Library, Make>(kb, std::move(make));
    }
template <class Library, class Make>
void over(const Library&&, Make) = delete;  // a temporary library would dangle

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// Of everything that an article says.
inline digest digest_of(const article& a) {
    std::string bytes;
    byte_writer out(bytes);
    for (const std::string* text : {&a.id, &a.title, &a.summary, &a.text}) out.text(*text);
    out.count(a.headings.size());
    for (const heading& h : a.headings) {
        out.text(h.text);
        out.number(static_cast<std::int64_t>(h.level));
        write_span(out, h.span);
    }
    out.count(a.links.size());
    for (const link& l : a.links) {
        out.text(l.target);
        out.text(l.text);
        write_span(out, l.span);
    }
    for (const auto& [name, value] : a.meta) {
        out.text(name);
        write_value(out, value);
    }
    return sha256_of(bytes);
}

/// The digest of the article with this id, if it is alive.
inline std::optional<std::pair<unit_id, digest>> article_in(const generation& g, std::string_view id) {
    const auto unit = g.find(id);
    if (!unit || g.kind(*unit) != unit_kind::article) return std::nullopt;
    const auto [part, place] = *g.locate(*unit);
    const library_part& p = *g.held()[part].part;
    return std::pair(*unit, p.articles[p.article_at(place)].contents);
}

}  // namespace detail

template <Embedder E>
library<E>::library(E embedder, std::vector<layer> layers, library_options options)
    : embedder_(std::move(embedder)), options_(std::move(options)) {
    if (layers.empty())
        detail::raise<usage_error>("library.layers", "quarry::library: without a layer nothing can be found");
    auto frame = std::make_shared<detail::library_frame>(
        detail::library_frame{corpus(options_.fields, options_.articles), std::move(layers), options_.words,
                              options_.bm25, options_.vectors, embedder_.dimension()});
    bm25_index(frame->words, frame->bm25);  // throws for options that cannot be
    flat_index(frame->dimension, frame->vectors);
    frame_ = std::move(frame);
    current_ = std::make_shared<const generation>(frame_, std::vector<detail::held_part>{},
                                                  std::make_shared<const unit_set>(0), 0);
}

template <Embedder E>
typename library<E>::prepared library<E>::prepare(const change& c, const generation& g,
                                                     const plan_options* planned) const {
    prepared p{detail::merger<corpus>::empty_like(frame_->empty)};
    std::set<std::string_view> named;
    const auto name = [&](const std::string& id) {
        if (!named.insert(id).second)
            detail::raise<usage_error>("library.duplicate_id",
                                       "quarry::library: the change names " + detail::quoted(id) + " twice");
    };
    for (const std::string& id : c.remove) {
        name(id);
        if (const auto there = detail::article_in(g, id)) {
            p.gone.push_back(there->first);
        } else {
            ++p.report.not_found;
        }
    }
    p.report.removed = p.gone.size();
    for (const article& a : c.upsert) {
        name(a.id);
        const detail::digest contents = detail::digest_of(a);
        const auto there = detail::article_in(g, a.id);
        if (there && there->second == contents) {
            ++p.report.unchanged;
            continue;
        }
        if (there) p.gone.push_back(there->first);
        ++(there ? p.report.replaced : p.report.added);
        const unit_id unit = p.units.add(a);
        p.articles.push_back({static_cast<std::uint32_t>(unit), contents});
        const std::size_t before = p.units.size();
        if (options_.grow) options_.grow(p.units, unit);
        for (std::size_t i = before; i < p.units.size(); ++i) {
            const auto parent = p.units.parent(unit_at(i));
            const auto sources = p.units.sources(unit_at(i));
            const bool own = p.units.kind(unit_at(i)) != unit_kind::article && (!parent || *parent >= unit) &&
                             std::ranges::all_of(sources, [&](unit_id source) { return source >= unit; });
            if (!own)
                detail::raise<usage_error>("library.grow", "quarry::library: asked about " + detail::quoted(a.id) +
                                                               ", the grower added a unit of another article");
        }
    }
    // An id of a part may be that of somebody else's unit, which a corpus would refuse.
    for (std::size_t i = 0; i < p.units.size(); ++i)
        if (const auto other = g.find(p.units.id(unit_at(i)))) {
            const auto [part, place] = *g.locate(*other);
            const detail::library_part& there = *g.held()[part].part;
            const unit_id owner = there.ids[there.articles[there.article_at(place)].first];
            if (std::ranges::find(p.gone, owner) == p.gone.end())
                detail::raise<usage_error>(
                    "corpus.duplicate_id",
                    "quarry::library: there is a unit " + detail::quoted(p.units.id(unit_at(i))) + " already");
        }
    for (const layer& l : frame_->layers) {
        const std::vector<unit_id> units = detail::units_of(p.units, l.level());
        build_report made;
        if (l.asks() && planned) {
            p.calls += l.plan(p.units, units, *planned);
            p.keys.emplace_back();
            continue;
        }
        p.keys.push_back(l.keys(p.units, units, c.stop, made));
        p.report.keys += made.keys;
        p.report.expansions.push_back(std::move(made.expansion));
    }
    return p;
}

// The rows that an earlier state of the changed articles had.
template <Embedder E>
void library<E>::collect_rows(const generation& g, std::span<const unit_id> gone, known_rows& known) const {
    std::vector<float> scratch;
    for (const unit_id article : gone) {
        const auto [number, place] = *g.locate(article);
        const detail::library_part& part = *g.held()[number].part;
        const auto [first, last] = part.range(part.article_at(place));
        for (const detail::part_layer& l : part.layers)
            for (std::size_t i = first; i < last; ++i)
                l.for_each_row(part.ids[i], [&](std::uint32_t row) {
                    scratch.resize(l.rows->rows().scratch());
                    known.add(l.row_texts[row], l.rows->rows().read(row, scratch));
                });
    }
}

template <Embedder E>
void library<E>::buy_rows(const change& c, prepared& p, known_rows& known) const {
    const std::size_t batch = (std::max)(options_.batch, std::size_t{1}), d = frame_->dimension;
    std::vector<std::string_view> texts;
    std::vector<detail::text_name> names;
    std::set<detail::text_name> wanted;
    for (std::size_t l = 0; l < frame_->layers.size(); ++l) {
        if (!frame_->layers[l].has_vectors()) continue;
        for (const key& k : p.keys[l]) {
            if (detail::is_blank(k.text)) continue;
            const detail::text_name name = detail::name_of_text(k.text);
            const bool repeated = !wanted.insert(name).second, there = known.contains(name);
            if (repeated || (there && !known.bought.contains(name))) ++p.report.reused;
            if (repeated || there || known.bought.contains(name)) continue;
            texts.push_back(k.text);
            names.push_back(name);
        }
    }
    for (std::size_t first = 0; first < texts.size(); first += batch) {
        if (c.stop.stop_requested())
            detail::raise<cancelled>("library.stopped", detail::concat("quarry::library: stopped after ", first, " of ",
                                                                       texts.size(), " texts"));
        const auto some = std::span(texts).subspan(first, (std::min)(batch, texts.size() - first));
        std::vector<float> rows = detail::embed_checked(embedder_, role::document, some, d);
        ++known.calls;
        // Normalised by an index, so that they are bit by bit what a build would keep.
        flat_index normal(d, {.bytes = false, .rows = frame_->vectors.rows});
        std::vector<float> scratch(normal.rows().scratch());
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::span<const float> row = std::span(rows).subspan(i * d, d);
            known.bought.insert(names[first + i]);
            if (std::ranges::all_of(row, [](float x) { return x == 0.0f; })) continue;
            const std::size_t at = normal.size();
            normal.add(unit_id{0}, row);
            known.add(names[first + i], normal.rows().read(at, scratch));
        }
    }
}

// The part of a prepared change, its units numbered from `first`.
template <Embedder E>
std::shared_ptr<const detail::library_part> library<E>::part_of(prepared& p, const known_rows& known,
                                                                std::size_t first) const {
    if (p.units.size() == 0) return nullptr;
    if (first + p.units.size() >= UINT32_MAX)
        detail::raise<usage_error>("corpus.full", "quarry::library: 2^32 - 2 unit ids were given; build it anew");
    auto part = std::make_shared<detail::library_part>(
        detail::library_part{detail::merger<corpus>::empty_like(frame_->empty), {}, p.articles, {}});
    detail::merger<corpus>::append(part->units, p.units, 0, p.units.size());
    for (std::size_t i = 0; i < p.units.size(); ++i) {
        part->ids.push_back(unit_at(first + i));
        part->any_generated = part->any_generated || p.units.kind(unit_at(i)) == unit_kind::generated;
    }
    p.report.keys_without_vector = p.report.keys_cut = 0;
    for (std::size_t l = 0; l < frame_->layers.size(); ++l) {
        std::vector<key> keys = p.keys[l];
        for (key& k : keys) k.unit = part->ids[index_of(k.unit)];
        build_options how;
        how.words = frame_->words;
        how.bm25 = frame_->bm25;
        detail::part_layer made;
        made.words = std::make_shared<const bm25_index>(detail::index_words(keys, how));
        made.keys = detail::table_of(keys, frame_->layers[l].kind());
        if (frame_->layers[l].has_vectors()) {
            std::vector<bool> has_row(keys.size(), false);
            std::vector<flat_index::held> held;
            std::vector<float> rows;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (detail::is_blank(keys[i].text)) continue;
                p.report.keys_cut += detail::reads_whole(embedder_, keys[i].text) ? 0 : 1;
                const detail::text_name name = detail::name_of_text(keys[i].text);
                const auto row = known.places.find(name);
                if (row == known.places.end()) {
                    ++p.report.keys_without_vector;
                    continue;
                }
                has_row[i] = true;
                held.push_back({keys[i].unit, key_at(held.size())});
                const auto floats = std::span(known.floats).subspan(row->second, frame_->dimension);
                rows.insert(rows.end(), floats.begin(), floats.end());
                made.row_texts.push_back(name);
            }
            const bool all = std::ranges::all_of(has_row, std::identity{});
            made.row_keys = all ? made.keys : detail::table_of(keys, frame_->layers[l].kind(), &has_row);
            const key_id next = key_at(held.size());
            made.rows = std::make_shared<const flat_index>(
                flat_index::restored(frame_->dimension, held, rows, next, frame_->vectors));
            made.sort_rows();
        }
        part->layers.push_back(std::move(made));
    }
    return part;
}

// Is everything that the change names, or adds, in `other` what it was in `g`?
template <Embedder E>
bool library<E>::meets_nothing_new(const change& c, const prepared& p, const generation& g, const generation& other) {
    const auto same = [&](std::string_view id) { return g.find(id) == other.find(id); };
    for (std::size_t i = 0; i < p.units.size(); ++i)
        if (!same(p.units.id(unit_at(i)))) return false;
    return std::ranges::all_of(c.remove, same) &&
           std::ranges::all_of(c.upsert, [&](const article& a) { return same(a.id); });
}

template <Embedder E>
bool library<E>::publish(const std::shared_ptr<const generation>& before, std::shared_ptr<const generation> after) {
    const std::lock_guard lock(mutex_);
    if (current_ != before) return false;
    current_.swap(after);
    return true;
}

template <Embedder E>
change_report library<E>::apply(const change& c) {
    known_rows known;
    for (;;) {
        std::shared_ptr<const generation> g = now();
        prepared p = prepare(c, *g);
        if (p.gone.empty() && p.units.size() == 0) return p.report;
        collect_rows(*g, p.gone, known);
        buy_rows(c, p, known);
        p.report.embedded = known.bought.size();
        p.report.embedder_calls = known.calls;
        for (;;) {
            auto after = detail::changed(*g, part_of(p, known, g->size()), p.gone, options_.merge_limit);
            if (publish(g, std::move(after))) {
                p.report.not_merged = merge_later();
                return p.report;
            }
            // Somebody else published. Where the two changes meet, this one looks again.
            auto other = now();
            if (!meets_nothing_new(c, p, *g, *other)) break;
            g = std::move(other);
        }
    }
}

template <Embedder E>
change_plan library<E>::plan(const change& c, const plan_options& options) const {
    const auto g = now();
    const prepared p = prepare(c, *g, &options);
    known_rows known;
    collect_rows(*g, p.gone, known);
    change_plan out{
        p.report.added,    p.report.replaced, p.report.unchanged, p.report.removed, p.report.not_found, 0, 0,
        p.calls};
    std::set<detail::text_name> wanted;
    for (std::size_t l = 0; l < frame_->layers.size(); ++l) {
        if (!frame_->layers[l].has_vectors()) continue;
        for (const key& k : p.keys[l]) {
            if (detail::is_blank(k.text)) continue;
            const detail::text_name name = detail::name_of_text(k.text);
            bool there = known.contains(name) || !wanted.insert(name).second;
            if constexpr (requires {
                              { embedder_.remembers(role::document, k.text) } -> std::same_as<bool>;
                          })
                there = there || embedder_.remembers(role::document, k.text);
            ++(there ? out.texts_reused : out.texts_to_embed);
        }
    }
    return out;
}

template <Embedder E>
bool library<E>::merge() {
    for (;;) {
        std::shared_ptr<const generation> g = now();
        std::vector<std::shared_ptr<const detail::library_part>> parts;
        bool removed = false;
        for (const auto& held : g->held()) {
            parts.push_back(held.part);
            removed = removed || held.removed;
        }
        if (parts.empty() || (parts.size() == 1 && !removed)) return false;
        const auto one = detail::merged(parts, g->alive().get());
        for (;;) {
            auto after = detail::with_merged(*g, parts, one);
            if (!after) break;  // somebody else merged meanwhile
            if (publish(g, std::move(after))) return true;
            g = now();
        }
    }
}

// The change is published: what an executor throws must not look as if it were not.
template <Embedder E>
std::string library<E>::merge_later() {
    if (!options_.executor || now()->parts() <= options_.most_parts || merging_.exchange(true)) return {};
    struct release {
        std::atomic<bool>& flag;
        ~release() { flag = false; }
    };
    try {
        options_.executor([this] {
            const release at_the_end{merging_};
            merge();
        });
        return {};
    } catch (const std::exception& e) {
        merging_ = false;
        return *e.what() == '\0' ? "an exception without words" : e.what();
    } catch (...) {
        merging_ = false;
        return "something that is no std::exception";
    }
}

}  // namespace QUARRY_NAMESPACE
