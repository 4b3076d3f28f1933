// Graph: from what was found to what is connected with it.
//
//     search | walk(graph, {.hops = 2, .decay = 0.5f})       neighbours, each step worth a share of the last
//     search | pagerank(graph, {.damping = 0.5})             what many paths from the hits lead to (HippoRAG's way)
//
// The hits of the base are the seeds. A unit is reached, walked through and returned only if filter and scope let it
// through; entities belong to nobody and are never returned. Without a seed there is no answer: an empty walk is not a
// walk from everywhere.
//
// The surprising thing: a graph helps where one page names what another explains, and hurts where one page answers.
// Fuse it with the plain search: fuse(rrf{}, search, search | walk(graph)).
//
// Source  personalised PageRank p = (1 - d) r + d P^T p, as in Gutierrez et al., HippoRAG, 2024 (d = .5); its mass at
//         nodes without edges goes back to r.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/retriever.hpp"
#include "../detail/text.hpp"
#include "../index/unit_graph.hpp"

namespace QUARRY_NAMESPACE {

/// How near a unit is to what was found: in (0, 1]. A seed's own share is its score between the lowest of its scale and
/// the best hit's, or 1 / rank where the scale has no lowest.
struct graph_scale {
    static constexpr std::string_view name = "graph";
    static constexpr float lowest = 0.0f, highest = 1.0f;
};

struct walk_options {
    std::size_t hops = 1;
    float decay = 0.5f;          // in (0, 1]: what a step keeps
    std::size_t seeds = 20;      // hits of the base that the walk begins at
    std::size_t most_new = 100;  // nodes that a step adds at most, the best first; at least 1
};

struct pagerank_options {
    double damping = 0.5;  // in [0, 1): what goes on along edges; the rest begins anew at the seeds
    std::size_t seeds = 20;
    std::size_t most_rounds = 200;
    double enough = 1e-10;  // sum of changes at which it ends
};

/// Personalised PageRank: the stationary share of each node, in the graph's order. `seeds` are weights, at least 0.
///
/// Returns nothing for seeds that are all 0: no uniform rank. `may` says which nodes there are; others have no edges
/// and no share. The shares add up to 1. Cost    rounds * edges.
std::vector<double> personalised_pagerank(const unit_graph& graph, std::span<const double> seeds,
                                          const pagerank_options& options = {},
                                          const std::function<bool(node_id)>& may = {});

namespace detail {

/// The seeds' shares in (0, 1], in the order of the hits.
template <Scale S>
std::vector<float> seed_shares(const results<S>& found) {
    std::vector<float> out;
    for (std::size_t i = 0; i < found.size(); ++i) {
        constexpr bool bounded_below = S::lowest > -unbounded && !std::same_as<S, selection_scale>;
        float share = 1.0f / static_cast<float>(i + 1);
        if constexpr (bounded_below) {
            const float best = found[0].score - S::lowest;
            share = best > 0.0f ? (found[i].score - S::lowest) / best : 1.0f;
        }
        out.push_back(std::clamp(share, 1e-6f, 1.0f));
    }
    return out;
}

struct reached_node {
    float share;
    std::size_t seed;  // the hit it was reached from
    std::uint32_t hops;
};

template <Retriever Base>
class graph_stage {
 public:
    graph_stage(const Base& base, const unit_graph& graph) : base_(&base), graph_(&graph) {
        if (!(base.source() == graph.source()))
            raise<usage_error>("graph.source", "quarry::graph: the graph is of another source than the search");
    }

    bool may_enter(const request& q, node_id node) const { return !graph_->is_unit(node) || q.admits(unit_at(node)); }

 private:
    const Base* base_;
    const unit_graph* graph_;
};

template <Scale S>
results<graph_scale> graph_hits(request& q, const results<S>& seeds, std::vector<std::pair<unit_id, reached_node>> all,
                                std::size_t k, std::string_view stage) {
    const auto first = [](const auto& a, const auto& b) {
        return a.second.share != b.second.share ? a.second.share > b.second.share : a.first < b.first;
    };
    std::ranges::sort(all, first);
    if (all.size() > k) all.resize(k);
    results<graph_scale> out;
    out.state = seeds.state;
    for (const auto& [unit, reached] : all) {
        const auto& seed = seeds[reached.seed];
        const bool own = seed.unit == unit;
        const key_table* keys = !own || seed.trail == no_entry ? nullptr : q.notes()[seed.trail].keys;
        const key_id via = own ? seed.via : no_key;
        out.hits.push_back({unit, via, reached.share,
                            q.note({stage, keys, via, reached.hops, seed.score, 1.0f, reached.share, seed.trail})});
    }
    return out;
}

}  // namespace detail

template <Retriever Base>
class walked_retriever : public retriever_interface<walked_retriever<Base>> {
 public:
    using scale = graph_scale;

    walked_retriever(Base base, const unit_graph& graph, walk_options options)
        : base_(std::move(base)), graph_(&graph), options_(options) {
        detail::graph_stage<Base>(base_, graph);
        if (!(options.decay > 0.0f && options.decay <= 1.0f) || options.most_new == 0)
            detail::raise<usage_error>("graph.walk", detail::concat("quarry::walk: decay in (0, 1] and most_new of at "
                                                                    "least 1 are wanted, given ",
                                                                    options.decay, " and ", options.most_new));
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        const auto seeds = base_.run(q, options_.seeds);
        const auto shares = detail::seed_shares(seeds);
        const detail::graph_stage<Base> stage(base_, *graph_);
        std::unordered_map<node_id, detail::reached_node> reached;
        std::vector<node_id> front;
        for (std::size_t i = 0; i < seeds.size(); ++i) {
            const auto node = static_cast<node_id>(index_of(seeds[i].unit));
            reached.emplace(node, detail::reached_node{shares[i], i, 0});
            front.push_back(node);
        }
        for (std::uint32_t hop = 1; hop <= options_.hops && !front.empty(); ++hop) {
            q.check();
            front = step(q, stage, reached, front, hop);
        }
        std::vector<std::pair<unit_id, detail::reached_node>> units;
        for (const auto& [node, how] : reached)
            if (graph_->is_unit(node)) units.emplace_back(unit_at(node), how);
        q.tell({trace_code::walked, "walk", seeds.size(), units.size()});
        return detail::graph_hits(q, seeds, std::move(units), k, "walk");
    }

 private:
    // The nodes that a step adds. One that is there already keeps its place: a longer way is worth less, or came later.
    std::vector<node_id> step(const request& q, const detail::graph_stage<Base>& stage,
                              std::unordered_map<node_id, detail::reached_node>& reached,
                              const std::vector<node_id>& front, std::uint32_t hop) const {
        std::unordered_map<node_id, detail::reached_node> fresh;
        for (const node_id from : front) {
            const detail::reached_node at = reached.at(from);
            for (const graph_edge& e : graph_->edges(from)) {
                if (reached.contains(e.to) || !stage.may_enter(q, e.to)) continue;
                const detail::reached_node next{at.share * options_.decay, at.seed, hop};
                const auto [known, is_new] = fresh.emplace(e.to, next);
                const bool better = next.share > known->second.share ||
                                    (next.share == known->second.share && next.seed < known->second.seed);
                if (!is_new && better) known->second = next;
            }
        }
        std::vector<std::pair<node_id, detail::reached_node>> order(fresh.begin(), fresh.end());
        std::ranges::sort(order, [](const auto& a, const auto& b) {
            return a.second.share != b.second.share ? a.second.share > b.second.share : a.first < b.first;
        });
        if (order.size() > options_.most_new) order.resize(options_.most_new);
        std::vector<node_id> out;
        for (const auto& [node, how] : order) reached.emplace(node, how), out.push_back(node);
        return out;
    }

    Base base_;
    const unit_graph* graph_;
    walk_options options_;
};

template <Retriever Base>
class pagerank_retriever : public retriever_interface<pagerank_retriever<Base>> {
 public:
    using scale = graph_scale;

    pagerank_retriever(Base base, const unit_graph& graph, pagerank_options options)
        : base_(std::move(base)), graph_(&graph), options_(options) {
        detail::graph_stage<Base>(base_, graph);
        if (!(options.damping >= 0.0 && options.damping < 1.0))
            detail::raise<usage_error>("graph.damping",
                                       detail::concat("quarry::pagerank: damping must lie in [0, 1), it "
                                                      "is ",
                                                      options.damping));
    }

    source_ref source() const { return base_.source(); }
    void prepare(std::span<request> batch) const { detail::prepare(base_, batch); }

    results<scale> run(request& q, std::size_t k) const {
        if (k == 0) return {};
        const auto seeds = base_.run(q, options_.seeds);
        const auto shares = detail::seed_shares(seeds);
        std::vector<double> weights(graph_->nodes());
        std::unordered_map<node_id, std::size_t> seed_of;
        for (std::size_t i = 0; i < seeds.size(); ++i) {
            weights[index_of(seeds[i].unit)] = static_cast<double>(shares[i]);
            seed_of.emplace(static_cast<node_id>(index_of(seeds[i].unit)), i);
        }
        const detail::graph_stage<Base> stage(base_, *graph_);
        const auto ranks =
            personalised_pagerank(*graph_, weights, options_, [&](node_id n) { return stage.may_enter(q, n); });
        std::vector<std::pair<unit_id, detail::reached_node>> units;
        for (std::size_t node = 0; node < ranks.size() && node < source().size(); ++node) {
            const float share = static_cast<float>(ranks[node]);
            if (!(share > 0.0f) || !q.admits(unit_at(node))) continue;
            const auto own = seed_of.find(static_cast<node_id>(node));
            units.push_back({unit_at(node), {share, own == seed_of.end() ? 0 : own->second, 0}});
        }
        q.tell({trace_code::walked, "pagerank", seeds.size(), units.size()});
        return detail::graph_hits(q, seeds, std::move(units), k, "pagerank");
    }

 private:
    Base base_;
    const unit_graph* graph_;
    pagerank_options options_;
};

/// The hits and what lies within `hops` edges of them: a step keeps `decay` of the share, and the best way counts.
///
/// Order   share descending, then unit id.
/// Errors  usage_error `graph.source`, `graph.walk`.
inline auto walk(const unit_graph& graph, walk_options options = {}) {
    return stage{[&graph, options]<Retriever Base>(Base base) {
        return walked_retriever<Base>(std::move(base), graph, options);
    }};
}
void walk(const unit_graph&&, walk_options = {}) = delete;  // a temporary graph would dangle

/// What a random walk that begins anew at the hits comes by most.
///
/// Order   share descending, then unit id.
/// Errors  usage_error `graph.source`, `graph.damping`.
inline auto pagerank(const unit_graph& graph, pagerank_options options = {}) {
    return stage{[&graph, options]<Retriever Base>(Base base) {
        return pagerank_retriever<Base>(std::move(base), graph, options);
    }};
}
void pagerank(const unit_graph&&, pagerank_options = {}) = delete;

// ------------------------------------------------------------------------------------------------------------- detail

inline std::vector<double> personalised_pagerank(const unit_graph& graph, std::span<const double> seeds,
                                                 const pagerank_options& options,
                                                 const std::function<bool(node_id)>& may) {
    const std::size_t n = graph.nodes();
    std::vector<bool> in(n);
    std::vector<double> restart(n), weight(n);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) in[i] = !may || may(static_cast<node_id>(i));
    for (std::size_t i = 0; i < n && i < seeds.size(); ++i)
        if (in[i] && seeds[i] > 0.0) restart[i] = seeds[i], total += seeds[i];
    if (!(total > 0.0)) return {};
    for (std::size_t i = 0; i < n; ++i) {
        restart[i] /= total;
        if (!in[i]) continue;
        for (const graph_edge& e : graph.edges(static_cast<node_id>(i)))
            if (in[e.to]) weight[i] += static_cast<double>(e.weight);
    }
    std::vector<double> rank = restart;
    for (std::size_t round = 0; round < options.most_rounds; ++round) {
        std::vector<double> next(n);
        double stranded = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            if (rank[i] == 0.0) continue;
            if (weight[i] == 0.0) {
                stranded += rank[i];
                continue;
            }
            for (const graph_edge& e : graph.edges(static_cast<node_id>(i)))
                if (in[e.to]) next[e.to] += rank[i] * static_cast<double>(e.weight) / weight[i];
        }
        double change = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            next[i] = (1.0 - options.damping) * restart[i] + options.damping * (next[i] + stranded * restart[i]);
            change += std::abs(next[i] - rank[i]);
        }
        rank = std::move(next);
        if (change < options.enough) break;
    }
    return rank;
}

}  // namespace QUARRY_NAMESPACE
