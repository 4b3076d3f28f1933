// Unit graph: which units are connected, by links and by what both speak of.
//
//     unit_graph graph(corpus);
//     graph.connect_links();
//     graph.connect_entities({});            identifiers and capitalised phrases that few units share
//     search | walk(graph, {.hops = 2})      (retrieve/graph.hpp)
//
// Nodes are units and entities; edges have weights and no direction. It is built once and then read: const calls may
// overlap. What leads from one node to another says nothing about who may see it: the retriever asks that of each node.
//
// The surprising thing: an entity that many units share connects everything with everything. Those are left out, and
// what is left are the rare ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/source.hpp"
#include "../detail/ascii.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// The units of a source come first, by their ids; entities follow.
using node_id = std::uint32_t;

struct graph_edge {
    node_id to;
    float weight;

    friend bool operator==(const graph_edge&, const graph_edge&) = default;
};

struct entity_options {
    unit_kind of = unit_kind::article;  // the units that are read
    std::size_t most_units = 10;        // an entity that more of them share is left out; so is one that stands in one
    float weight = 1.0f;                // of the edge between a unit and an entity

    /// Null: entities_in.
    std::function<std::vector<std::string>(std::string_view text)> entities{};
};

/// Identifiers (words with a digit and a letter, or capitals alone) and runs of two or more capitalised words that do
/// not begin a sentence; each once, case folded for ASCII.
std::vector<std::string> entities_in(std::string_view text);

class unit_graph {
 public:
    /// Without edges. The source must outlive it.
    explicit unit_graph(source_ref source) : source_(source), edges_(source.size()) {}

    source_ref source() const noexcept { return source_; }
    std::size_t nodes() const noexcept { return edges_.size(); }
    bool is_unit(node_id node) const noexcept { return node < source_.size(); }

    /// The name of an entity; empty for a unit.
    std::string_view entity(node_id node) const noexcept {
        return is_unit(node) || node >= nodes() ? std::string_view() : names_[node - source_.size()];
    }

    /// By node; of two edges to one node the heavier.
    std::span<const graph_edge> edges(node_id node) const noexcept {
        return node < nodes() ? std::span<const graph_edge>(edges_[node]) : std::span<const graph_edge>();
    }

    /// Adds an edge in both directions; one that is there keeps the larger weight. A node is connected to no itself.
    ///
    /// Errors  usage_error `graph.node`, `graph.weight` (finite and above 0).
    void connect(node_id a, node_id b, float weight = 1.0f);
    void connect(unit_id a, unit_id b, float weight = 1.0f) {
        connect(static_cast<node_id>(index_of(a)), static_cast<node_id>(index_of(b)), weight);
    }

    /// The node of an entity, new or known.
    node_id add_entity(std::string_view name);

    /// Connects articles that link to each other. A target is looked up as it is, then without fragment and query, as a
    /// path from the folder of its article's id and from the root, each also without the extension of a page; `resolve`
    /// decides instead where it is given. Says how many edges it made.
    std::size_t connect_links(float weight = 1.0f,
                              const std::function<std::optional<unit_id>(std::string_view target)>& resolve = {});

    /// Connects units with the entities they name. Says how many entities were kept.
    std::size_t connect_entities(const entity_options& options);

 private:
    std::optional<unit_id> resolved(unit_id from, std::string_view target) const;
    std::optional<unit_id> page(std::string_view path) const;

    source_ref source_;
    std::vector<std::vector<graph_edge>> edges_;
    std::vector<std::string> names_{};
    std::map<std::string, node_id, std::less<>> by_name_{};
};

// ------------------------------------------------------------------------------------------------------------- detail

inline void unit_graph::connect(node_id a, node_id b, float weight) {
    if (a >= nodes() || b >= nodes())
        detail::raise<usage_error>("graph.node",
                                   detail::concat("quarry::unit_graph: node ", (std::max)(a, b), " of ", nodes()));
    if (!detail::is_finite(weight) || weight <= 0.0f)
        detail::raise<usage_error>("graph.weight",
                                   detail::concat("quarry::unit_graph: a weight is finite and above 0, not ", weight));
    if (a == b) return;
    const auto add = [&](node_id from, node_id to) {
        std::vector<graph_edge>& all = edges_[from];
        const auto at = std::ranges::lower_bound(all, to, {}, &graph_edge::to);
        if (at != all.end() && at->to == to)
            at->weight = (std::max)(at->weight, weight);
        else
            all.insert(at, {to, weight});
    };
    add(a, b);
    add(b, a);
}

inline node_id unit_graph::add_entity(std::string_view name) {
    if (const auto known = by_name_.find(name); known != by_name_.end()) return known->second;
    const auto node = static_cast<node_id>(nodes());
    edges_.emplace_back();
    names_.emplace_back(name);
    by_name_.emplace(name, node);
    return node;
}

inline std::optional<unit_id> unit_graph::page(std::string_view path) const {
    if (path.empty()) return std::nullopt;
    if (const auto unit = source_.find(path)) return unit;
    for (const std::string_view extension : {".md", ".html", ".htm"})
        if (path.ends_with(extension)) return source_.find(path.substr(0, path.size() - extension.size()));
    return std::nullopt;
}

inline std::optional<unit_id> unit_graph::resolved(unit_id from, std::string_view target) const {
    if (const auto unit = source_.find(target)) return unit;
    target = target.substr(0, target.find_first_of("#?"));
    if (target.empty() || target.find("://") != std::string_view::npos) return std::nullopt;
    const auto shorten = [](std::string& path) {
        const std::size_t slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
    };
    std::string path(source_.id(from));
    shorten(path);
    if (target.starts_with('/')) path.clear();
    for (std::string_view rest = target; !rest.empty();) {
        const std::size_t end = (std::min)(rest.find('/'), rest.size());
        const std::string_view name = rest.substr(0, end);
        rest.remove_prefix((std::min)(end + 1, rest.size()));
        if (name == "..") shorten(path);
        else if (!name.empty() && name != ".") path += (path.empty() ? "" : "/") + std::string(name);
    }
    if (const auto unit = page(path)) return unit;
    while (target.starts_with('/') || target.starts_with("./")) target.remove_prefix(target.starts_with('/') ? 1 : 2);
    return page(target);
}

inline std::size_t unit_graph::connect_links(float weight,
                                             const std::function<std::optional<unit_id>(std::string_view)>& resolve) {
    std::size_t made = 0;
    source_.for_each_unit([&](unit_id from) {
        if (source_.kind(from) != unit_kind::article) return;
        const auto node = static_cast<node_id>(index_of(from));
        for (const link& l : source_.links(from)) {
            const auto to = resolve ? resolve(l.target) : resolved(from, l.target);
            if (!to || !source_.contains(*to)) continue;
            const unit_id article = source_.article_of(*to);
            if (article == from) continue;
            const std::size_t before = edges(node).size();
            connect(from, article, weight);
            made += edges(node).size() - before;
        }
    });
    return made;
}

inline std::size_t unit_graph::connect_entities(const entity_options& options) {
    std::map<std::string, std::vector<unit_id>> units;
    source_.for_each_unit([&](unit_id unit) {
        if (source_.kind(unit) != options.of) return;
        const std::string_view text = source_.text(unit);
        for (const std::string& name : options.entities ? options.entities(text) : entities_in(text)) {
            std::vector<unit_id>& all = units[name];
            if (all.empty() || all.back() != unit) all.push_back(unit);
        }
    });
    std::size_t kept = 0;
    for (const auto& [name, all] : units) {
        if (name.empty() || all.size() < 2 || all.size() > options.most_units) continue;
        const node_id entity = add_entity(name);
        for (const unit_id unit : all) connect(static_cast<node_id>(index_of(unit)), entity, options.weight);
        ++kept;
    }
    return kept;
}

inline std::vector<std::string> entities_in(std::string_view text) {
    using namespace detail;
    const auto in_word = [](char c) {
        return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_' || static_cast<unsigned char>(c) >= 0x80;
    };
    std::vector<std::string> out, run;
    const auto keep = [&](std::string name) {
        if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    };
    const auto flush = [&] {
        if (run.size() >= 2) {
            std::string name;
            for (const std::string& w : run) name += (name.empty() ? "" : " ") + w;
            keep(std::move(name));
        }
        run.clear();
    };
    bool begins_sentence = true;
    for (std::size_t at = 0; at < text.size();) {
        if (!in_word(text[at])) {
            if (text[at] == '.' || text[at] == '!' || text[at] == '?' || text[at] == '\n') begins_sentence = true;
            if (text[at] != ' ') flush();
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && in_word(text[at])) ++at;
        const std::string_view word = text.substr(begin, at - begin);
        const auto letters = std::ranges::count_if(word, is_ascii_letter);
        const auto digits = std::ranges::count_if(word, is_ascii_digit);
        const auto capitals = std::ranges::count_if(word, [](char c) { return c >= 'A' && c <= 'Z'; });
        const bool identifier = (digits > 0 && letters > 0) || (capitals >= 2 && capitals == letters);
        const bool capital = word.front() >= 'A' && word.front() <= 'Z';
        if (identifier) keep(ascii_lowered(word));
        if (capital && !begins_sentence)
            run.push_back(ascii_lowered(word));
        else
            flush();
        begins_sentence = false;
    }
    flush();
    return out;
}

}  // namespace QUARRY_NAMESPACE
