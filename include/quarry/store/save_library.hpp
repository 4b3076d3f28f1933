// Save and load a library: one generation, part by part, in one file.
//
//     save("kb.quarry", kb);           // what is published now; changes may go on meanwhile
//     load("kb.quarry", again);        // into a library of the same layers, embedder and options
//
// Loading is built aside and published last: a library that could not be loaded holds what it held. Ids stay. What was
// loaded answers as what was saved, bit by bit, goes on like it, and saved again gives the same bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/unit_set.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "../live/generation.hpp"
#include "../live/library.hpp"
#include "../live/merge.hpp"
#include "../live/part.hpp"
#include "container.hpp"
#include "fingerprints.hpp"
#include "save.hpp"
#include "saved_corpus.hpp"
#include "saved_indexes.hpp"

namespace QUARRY_NAMESPACE {

/// Errors  those of files.hpp; the file that was there is then what it was.
template <Embedder E>
durability save(const std::string& path, const library<E>& kb, const store_options& options = {});

/// Errors  data_error `store.*` for a file that is damaged, cut off, of another version or none of ours; usage_error
///         `store.fingerprint` for one that something else made, with both names. The library is then what it was.
template <Embedder E>
void load(const std::string& path, library<E>& kb, const store_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

template <Embedder E>
fingerprints of_library(fingerprints f, const library<E>& kb) {
    f = of_embedder(std::move(f), kb.embedder());
    f.set("grow", kb.options().grow_version);
    f.set("analyzer", kb.options().words.fingerprint());
    const bm25_options& o = kb.options().bm25;
    f.set("bm25", concat("k1=", o.k1, ";b=", o.b, ";lucene_lengths=", o.lucene_lengths, ";positions=", o.positions,
                         ";one_edit=", o.one_edit));
    f.set("rows", std::string(name_of(kb.options().vectors.rows)));
    std::string declared;
    for (const field& each : kb.options().fields) declared += concat(each.name, ':', name_of(each.type), ' ');
    f.set("schema", declared + (kb.options().articles.scope_mandatory ? "scope mandatory" : ""));
    const auto& layers = kb.frame()->layers;
    for (std::size_t l = 0; l < layers.size(); ++l)
        f.set(concat("layer ", l), concat(layers[l].version(), ";kind=", name_of(layers[l].kind()),
                                          ";level=", name_of(layers[l].level()), ";vectors=", layers[l].has_vectors()));
    f.set("layers", concat(layers.size()));
    return f;
}

inline std::string section_of(std::size_t part, std::string_view what) { return concat("part ", part, ' ', what); }
inline std::string section_of(std::size_t part, std::size_t layer, std::string_view what) {
    return concat("part ", part, " layer ", layer, ' ', what);
}

template <class Out>
void write_removed(byte_writer<Out>& out, const removed_of_part& removed) {
    out.count(removed.units);
    out.count(removed.articles);
    for (const auto& l : removed.layers) {
        out.count(l.keys);
        out.count(l.counted);
        out.number(l.length);
        out.count(l.rows);
        out.numbers(std::span<const double>(l.sum));
    }
}

inline void write_part(container_writer& out, std::size_t number, const library_part& part) {
    out.section(section_of(number, "units"));
    byte_writer to(out);
    to.count(part.ids.size());
    for (const unit_id id : part.ids) to.number(static_cast<std::uint32_t>(id));
    to.count(part.articles.size());
    for (const part_article& a : part.articles) {
        to.number(a.first);
        for (const std::uint8_t byte : a.contents) to.number(byte);
    }
    write_section(out, section_of(number, "corpus"), part.units);
    for (std::size_t l = 0; l < part.layers.size(); ++l) {
        const part_layer& made = part.layers[l];
        write_section(out, section_of(number, l, "keys"), *made.keys);
        write_section(out, section_of(number, l, "words"), *made.words);
        if (!made.rows) continue;
        if (made.row_keys != made.keys) write_section(out, section_of(number, l, "keys of rows"), *made.row_keys);
        write_vectors(out, section_of(number, l, "rows"), *made.rows);
        out.section(section_of(number, l, "texts of rows"));
        for (const text_name& name : made.row_texts)
            out.append(reinterpret_cast<const char*>(name.data()), name.size());
    }
}

inline void write_generation(container_writer& out, const generation& g) {
    out.section("library");
    byte_writer to(out);
    to.count(g.size());
    to.count(g.parts());
    for (const held_part& held : g.held()) {
        to.number(std::uint8_t{held.removed != nullptr});
        if (held.removed) write_removed(to, *held.removed);
    }
    out.section("alive");
    for (std::size_t i = 0; i < g.size(); i += 8) {
        std::uint8_t eight = 0;
        for (std::size_t j = 0; j < 8; ++j)
            if (g.alive()->contains(unit_at(i + j))) eight = static_cast<std::uint8_t>(eight | (1u << j));
        to.number(eight);
    }
    for (std::size_t i = 0; i < g.parts(); ++i) write_part(out, i, *g.held()[i].part);
}

inline removed_of_part read_removed(byte_reader& in, const library_frame& frame) {
    removed_of_part removed;
    removed.units = in.number<std::uint64_t>();
    removed.articles = in.number<std::uint64_t>();
    for (const layer& l : frame.layers) {
        auto& of = removed.layers.emplace_back();
        of.keys = in.number<std::uint64_t>();
        of.counted = in.number<std::uint64_t>();
        of.length = in.number<double>();
        of.rows = in.number<std::uint64_t>();
        if (l.has_vectors()) of.sum = in.numbers<double>(frame.dimension);
    }
    return removed;
}

// The units of an article are those from it to before the next; they name no others.
inline void read_units(library_part& part, std::size_t next_unit, byte_reader in) {
    const std::size_t count = in.count(4);
    const auto ids = in.numbers<std::uint32_t>(count);
    if (count == 0 || count != part.units.size()) in.refuse(concat(part.units.size(), " units have ", count, " ids"));
    for (const std::uint32_t id : ids) {
        if (id >= next_unit || (!part.ids.empty() && unit_id{id} <= part.ids.back()))
            in.refuse(concat("unit id ", id, " does not follow the one before, or not below ", next_unit));
        part.ids.push_back(unit_id{id});
    }
    for (std::size_t n = in.count(36); n != 0; --n) {
        part_article& a = part.articles.emplace_back();
        a.first = in.number<std::uint32_t>();
        for (std::uint8_t& byte : a.contents) byte = in.number<std::uint8_t>();
    }
    in.require_end();
    std::size_t article = 0;
    unit_id owner{};
    for (std::size_t i = 0; i < count; ++i) {
        const unit_id place = unit_at(i);
        const bool begins = article < part.articles.size() && part.articles[article].first == i;
        if (begins != (part.units.kind(place) == unit_kind::article))
            in.refuse(concat("unit ", i, " of a part is an article and not listed, or the other way round"));
        if (begins) owner = place, ++article;
        const auto parent = part.units.parent(place);
        if ((!begins && i == 0) || (parent && *parent < owner) ||
            std::ranges::any_of(part.units.sources(place), [&](unit_id source) { return source < owner; }))
            in.refuse(concat("unit ", i, " of a part belongs to another article"));
        part.any_generated = part.any_generated || part.units.kind(place) == unit_kind::generated;
    }
    if (article != part.articles.size()) in.refuse("articles are listed that are not there");
}

inline part_layer read_layer(container& file, std::size_t number, std::size_t l, const library_part& part,
                             const library_frame& frame) {
    const auto known = [&](unit_id unit) { return part.place_of(unit).has_value(); };
    const auto refuse = [&](std::string_view what) {
        raise<data_error>("store.malformed", concat("quarry: layer ", l, " of part ", number, ": ", what));
    };
    const auto read_table = [&](std::string_view what) {
        auto table = std::make_shared<key_table>(saved<key_table>::read(file.read(section_of(number, l, what)), known));
        if (table->kind() != frame.layers[l].kind()) refuse("the keys are of another kind");
        return table;
    };
    part_layer made;
    made.keys = read_table("keys");
    auto words = std::make_shared<bm25_index>(
        saved<bm25_index>::read(file.read(section_of(number, l, "words")), frame.words, known));
    const bm25_options& o = words->options();
    if (o.k1 != frame.bm25.k1 || o.b != frame.bm25.b || o.lucene_lengths != frame.bm25.lucene_lengths ||
        o.positions != frame.bm25.positions || o.one_edit != frame.bm25.one_edit)
        refuse("the index of words has other options");
    const std::size_t given = merger<bm25_index>::keys_given(*words);
    if (given != made.keys->size() || words->size() != given) refuse("the index of words has other keys");
    for (std::size_t i = 0; i < given; ++i)
        if (merger<bm25_index>::unit_of(*words, i) != made.keys->unit(key_at(i))) refuse("a key is another unit's");
    made.words = std::move(words);
    if (!frame.layers[l].has_vectors()) return made;
    made.row_keys = made.keys;
    if (file.has(section_of(number, l, "keys of rows"))) made.row_keys = read_table("keys of rows");
    auto rows = std::make_shared<flat_index>(
        read_vectors<flat_index>(file, section_of(number, l, "rows"), frame.dimension, known));
    if (rows->rows().format() != frame.vectors.rows) refuse("the rows are in another format");
    if (rows->size() != made.row_keys->size() || index_of(rows->next_key()) != rows->size())
        refuse("the rows have other keys");
    for (std::size_t i = 0; i < rows->size(); ++i)
        if (rows->keys()[i].unit != made.row_keys->unit(key_at(i))) refuse("a row is another unit's");
    made.rows = std::move(rows);
    auto texts = file.stream(section_of(number, l, "texts of rows"));
    if (texts.left() != made.rows->size() * sizeof(text_name)) refuse("not every row has the name of its text");
    made.row_texts.resize(made.rows->size());
    texts.read({reinterpret_cast<char*>(made.row_texts.data()), made.row_texts.size() * sizeof(text_name)});
    made.sort_rows();
    return made;
}

inline bool same_fields(const schema& a, const schema& b) {
    return std::ranges::equal(a, b,
                              [](const field& x, const field& y) { return x.name == y.name && x.type == y.type; });
}

inline std::shared_ptr<const library_part> read_part(container& file, std::size_t number, std::size_t next_unit,
                                                     const library_frame& frame) {
    auto part = std::make_shared<library_part>(
        library_part{saved<corpus>::read(file.read(section_of(number, "corpus"))), {}, {}, {}});
    if (!same_fields(part->units.fields(), frame.empty.fields()))
        raise<data_error>("store.malformed", concat("quarry: part ", number, " has a schema of its own"));
    read_units(*part, next_unit, file.read(section_of(number, "units")));
    for (std::size_t l = 0; l < frame.layers.size(); ++l)
        part->layers.push_back(read_layer(file, number, l, *part, frame));
    return part;
}

// What is said to be removed is what is not alive. Sums are believed where they are near those of the rows: they were
// made in another order, and must stay what they were.
inline void check_removed(const held_part& held, const unit_set& alive, const library_frame& frame, byte_reader& in) {
    removed_of_part expected;
    expected.layers.resize(frame.layers.size());
    for (std::size_t a = 0; a < held.part->articles.size(); ++a) {
        const auto [first, last] = held.part->range(a);
        const bool lives = alive.contains(held.part->ids[first]);
        for (std::size_t i = first; i < last; ++i)
            if (alive.contains(held.part->ids[i]) != lives) in.refuse("an article is alive in part");
        if (!lives) count_out(*held.part, a, expected, frame.dimension);
    }
    const removed_of_part nothing{0, 0, std::vector<removed_of_part::of_layer>(frame.layers.size())};
    const removed_of_part& said = held.removed ? *held.removed : nothing;
    if (said.units != expected.units || said.articles != expected.articles || said.units == held.part->ids.size() ||
        (held.removed && said.units == 0))
        in.refuse(concat(said.units, " units are said to be removed from a part, ", expected.units, " are"));
    const auto near = [](double a, double b) { return is_finite(a) && std::abs(a - b) <= 1e-6 * (1.0 + std::abs(b)); };
    for (std::size_t l = 0; l < frame.layers.size(); ++l) {
        const auto &x = said.layers[l], &y = expected.layers[l];
        bool same = x.keys == y.keys && x.counted == y.counted && x.rows == y.rows && near(x.length, y.length);
        for (std::size_t j = 0; j < x.sum.size(); ++j) same = same && near(x.sum[j], y.sum.empty() ? 0.0 : y.sum[j]);
        if (!same) in.refuse(concat("what was removed of layer ", l, " is not what is missing"));
    }
}

inline std::shared_ptr<const generation> read_generation(container& file,
                                                         std::shared_ptr<const library_frame> frame) {
    byte_reader in = file.read("library");
    const auto next = in.number<std::uint64_t>();
    byte_reader bits = file.read("alive");
    if (next >= UINT32_MAX || bits.left() != (next + 7) / 8)
        bits.refuse(concat(bits.left(), " bytes tell which of ", next, " units are alive"));
    auto alive = std::make_shared<unit_set>(static_cast<std::size_t>(next));
    std::size_t said_alive = 0;
    for (std::size_t i = 0; i < next; i += 8) {
        const auto eight = bits.number<std::uint8_t>();
        for (std::size_t j = 0; j < 8; ++j) {
            if ((eight >> j & 1) == 0) continue;
            if (i + j >= next) bits.refuse("a unit is alive that was never there");
            alive->insert(unit_at(i + j));
        }
    }
    const std::size_t count = in.count(1);
    std::vector<held_part> parts;
    for (std::size_t i = 0; i < count; ++i) {
        held_part held;
        if (in.flag()) held.removed = std::make_shared<const removed_of_part>(read_removed(in, *frame));
        held.part = read_part(file, i, static_cast<std::size_t>(next), *frame);
        if (!parts.empty() && held.part->first() <= parts.back().part->last()) in.refuse("the parts are not in order");
        check_removed(held, *alive, *frame, in);
        for (const unit_id unit : held.part->ids) said_alive += alive->contains(unit);
        parts.push_back(std::move(held));
    }
    in.require_end();
    if (said_alive != alive->count()) in.refuse("units are alive that are in no part");
    return std::make_shared<const generation>(std::move(frame), std::move(parts), std::move(alive),
                                              static_cast<std::size_t>(next));
}

}  // namespace detail

template <Embedder E>
durability save(const std::string& path, const library<E>& kb, const store_options& options) {
    const auto now = kb.now();
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(detail::of_library(options.made_with, kb), detail::byte_writer(out));
        detail::write_generation(out, *now);
    });
}

template <Embedder E>
void load(const std::string& path, library<E>& kb, const store_options& options) {
    kb.adopt(detail::read_container(path, options, [&](container& file) {
        detail::require_same(detail::read_fingerprints(file.read("made with")), detail::of_library(options.made_with, kb));
        return detail::read_generation(file, kb.frame());
    }));
}

}  // namespace QUARRY_NAMESPACE
