// RAPTOR: a corpus grows summaries of what belongs together, and summaries of these.
//
//     const raptor tree(embed, summaries(cached(model, replies)));
//     const raptor_growth grown = tree.grow(articles);              // summaries are units now: generated ones
//     ...
//     const raptor_growth again = tree.grow(changed, grown.tree);   // makes only what the changes touched
//
// Over a library that changes, see live/grown_generation.hpp.
//
// Units are grouped by their vectors, each group of two or more gets a summary, and so again a layer up, until one is
// left, a layer would not become smaller, or there are enough layers. A question about a whole is then answered by a
// summary, one about a detail by a unit (retrieve/raptor.hpp). It is not for facts scattered over several documents:
// there summaries were measured to do harm.
//
// By default every article has a tree of its own. Across articles, say what must stay apart: what is summarised
// together is read by one model in one prompt, and who may not see one of the sources will not see the summary.
//
// The surprising thing: most of the gain is in the first layer. Two are made unless you ask for more.
//
// Source  Sarthi et al., "RAPTOR", ICLR 2024 (arXiv 2401.18059). Departures: k-means by default; a group of one gets no
//         summary; a group that is too long for a prompt is parted in a bounded number of steps; a failed summary
//         leaves its group as it was.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../detail/sha256.hpp"
#include "../detail/text.hpp"
#include "../math/cosine.hpp"
#include "../model/asking.hpp"
#include "../model/embedder.hpp"
#include "../text/extract.hpp"
#include "clusters.hpp"
#include "summaries.hpp"

namespace QUARRY_NAMESPACE {

struct raptor_options {
    unit_kind of = unit_kind::chunk;  // what the lowest summaries are made from
    bool across_articles = false;     // one tree over all; false: one an article

    /// Units for which this differs are never summarised together: tenant, access rights. Null: nothing stays apart.
    std::function<std::string(const unit_ref&)> apart{};

    std::size_t layers = 2;          // at most; the publication's code has 5
    std::size_t most_tokens = 3500;  // of one prompt, instructions included
    std::size_t most_members = 50;   // of a group; one that grows beyond is parted
    std::size_t batch = 256;         // texts per call of the embedder
    std::stop_token stop{};
};

/// A group and its summary as the tree remembers them.
struct raptor_node {
    std::string id;                    // of the summary's unit
    std::vector<std::string> sources;  // ids of units, or of summaries a layer or more below
    std::string text, title;           // no text: the group got no summary, and there is no unit; it is tried again
    std::size_t layer = 1;             // 1: of units
    std::string tree;                  // which one
    std::vector<float> centre;         // the direction of its members
};

/// What is to be remembered from one growth to the next. A plain value; knows no unit ids.
struct raptor_tree {
    std::string maker{};                          // of the summaries: another one makes them all anew
    std::map<std::string, std::string> leaves{};  // id of the unit, digest of its words
    std::vector<raptor_node> summaries{};
};

/// What became of a corpus.
struct raptor_growth {
    raptor_tree tree;
    std::vector<unit_id> summaries;  // all of the tree, lower layers first
    std::vector<unit_id> made;       // of these, the ones whose text is new
    std::vector<unit_id> obsolete;   // of the tree before, no longer in it: still units, to be taken out of indexes

    std::size_t leaves = 0;          // units that could be grouped
    std::size_t unknown = 0;         // units that could not: no words, or none that the embedder knows
    std::size_t unsummarised = 0;    // groups that got no summary
    std::size_t cut = 0;             // texts that were too long for their prompt
    std::size_t embedder_calls = 0;
    asking_report asked{};
};

/// Grows summaries. Whatever it holds is copied; ref(e) shares a large embedder.
template <Embedder E, Summarizer S, Clusterer C = kmeans_clusters>
class raptor {
   public:
    raptor(E embedder, S summarizer, raptor_options options = {}, C clusterer = {})
        : embedder_(std::move(embedder)),
          summarizer_(std::move(summarizer)),
          clusterer_(std::move(clusterer)),
          options_(std::move(options)) {}

    /// Adds the summaries to the corpus, those of lower layers first.
    ///
    /// With a tree from before, groups stay as they are but for units that came, went or changed; new units join the
    /// nearest group. Only summaries of groups that changed, and those above, are made again; a unit of the corpus or a
    /// node of the tree with the right id is taken as it is. Without one, everything is grouped afresh.
    ///
    /// Order   the same corpus and tree give the same summaries.
    /// Cost    every unit is embedded once when it is new; at most one summary for two units or summaries below.
    /// Errors  usage_error `raptor.options`, `corpus.duplicate_id`; callable_error `raptor.clusters`; those of embedder
    ///         and clusterer, and what ended the asking. The corpus is then what it was.
    raptor_growth grow(corpus& c, const raptor_tree& before = {}) const;

    /// The tree over these units of any source, to which nothing is added: no list of units in what comes back.
    ///
    /// Requires  units of the kind of the options, in ascending order.
    raptor_growth grow(source_ref source, std::span<const unit_id> units, const raptor_tree& before = {}) const;

    const E& embedder() const noexcept { return embedder_; }
    const raptor_options& options() const noexcept { return options_; }

   private:
    E embedder_;
    S summarizer_;
    C clusterer_;
    raptor_options options_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

template <Embedder E, Summarizer S, Clusterer C>
class raptor_work {
   public:
    raptor_work(source_ref source, const E& embedder, const S& summarizer, const C& clusterer,
                const raptor_options& options, const raptor_tree& before)
        : source_(source),
          embedder_(embedder),
          summarizer_(summarizer),
          clusterer_(clusterer),
          options_(options) {
        out_.tree.maker = summarizer.maker();
        const std::size_t overhead = summarizer.overhead();
        if (options.most_tokens < overhead + least_room || options.most_members < 2 || options.batch == 0)
            raise<usage_error>("raptor.options",
                               concat("quarry::raptor: a prompt has ", overhead, " tokens without texts and needs ",
                                      least_room, " more, at most are ", options.most_tokens,
                                      "; members are at least 2 and a batch 1, given ", options.most_members, " and ",
                                      options.batch));
        room_ = options.most_tokens - overhead;
        if (before.maker == out_.tree.maker) before_ = &before;
    }

    /// Everything but the units.
    raptor_growth run(std::span<const unit_id> units) {
        collect_leaves(units);
        recall();
        for (std::size_t layer = 1; layer <= options_.layers; ++layer) {
            buy_vectors(layer);
            std::vector<planned> plans;
            for (std::size_t t = 0; t < trees_.size(); ++t)
                if (!trees_[t].done) plan(t, layer, plans);
            if (plans.empty()) break;
            summarize(plans, layer);
            for (std::size_t t = 0; t < trees_.size(); ++t)
                if (!trees_[t].done) climb(t, plans);
        }
        for (const std::size_t place : summaries_) keep(nodes_[place]);
        for (const node& n : nodes_) out_.unknown += n.layer == 0 && n.row && n.row->empty();
        return std::move(out_);
    }
    bool is_new(const std::string& id) const { return fresh_.contains(id); }

   private:
    static constexpr std::size_t least_room = 64;

    struct node {
        std::string id, text, title;
        std::optional<std::size_t> article{};  // of all its leaves, if it is one
        std::vector<std::size_t> members{};    // of a summary
        std::size_t layer = 0, tree = 0;
        std::optional<std::vector<float>> row{};  // of length 1; empty: the embedder knows nothing of it
        std::vector<float> centre{};
    };
    struct growing {
        std::string name;
        std::vector<std::size_t> inputs{};  // of the layer at hand, in reading order
        std::vector<std::vector<const raptor_node*>> before{};  // by layer
        bool done = false;
    };
    struct planned {
        std::size_t tree;
        std::vector<std::size_t> members;  // ascending by their place among the inputs
        std::string replaces{};            // the id of the summary that the group had
        std::optional<std::size_t> node{};
    };

    void collect_leaves(std::span<const unit_id> units) {
        std::map<std::string, std::size_t> tree_of;
        for (const unit_id unit : units) {
            const unit_id article = source_.article_of(unit);
            const std::string_view title = source_.title(unit), text = source_.text(unit);
            if (trimmed(title).empty() && trimmed(text).empty()) {
                ++out_.unknown;
                continue;
            }
            std::string name = options_.across_articles ? std::string() : std::string(source_.id(article));
            if (options_.apart) (name += '\n') += options_.apart(source_[unit]);
            const auto [at, fresh] = tree_of.try_emplace(name, trees_.size());
            if (fresh) trees_.push_back({name});
            trees_[at->second].inputs.push_back(nodes_.size());
            place_of_.emplace(source_.id(unit), nodes_.size());
            nodes_.push_back({std::string(source_.id(unit)),
                              title.empty() ? std::string(text) : concat(title, ' ', text),
                              std::string(source_.title(article)), index_of(article)});
            nodes_.back().tree = at->second;
            out_.tree.leaves.emplace(source_.id(unit), hexadecimal(sha256_of(nodes_.back().text)));
            ++out_.leaves;
        }
    }

    void recall() {
        if (!before_) return;
        std::map<std::string_view, std::size_t> tree_of;
        for (std::size_t t = 0; t < trees_.size(); ++t) tree_of.emplace(trees_[t].name, t);
        for (const raptor_node& n : before_->summaries) {
            if (!n.text.empty()) texts_.emplace(n.id, &n.text);
            const auto at = tree_of.find(n.tree);
            if (at == tree_of.end() || n.layer == 0 || n.layer > options_.layers) continue;
            auto& layers = trees_[at->second].before;
            if (layers.size() < n.layer) layers.resize(n.layer);
            layers[n.layer - 1].push_back(&n);
        }
    }

    const std::vector<const raptor_node*>& groups_before(const growing& t, std::size_t layer) const {
        static const std::vector<const raptor_node*> none;
        return t.before.size() < layer ? none : t.before[layer - 1];
    }

    // Was this node there before, with the same words?
    bool known(const node& n) const {
        if (!before_) return false;
        if (n.layer > 0) return texts_.contains(n.id);
        const auto at = before_->leaves.find(n.id);
        return at != before_->leaves.end() && at->second == out_.tree.leaves.at(n.id);
    }

    // The rows that a layer is certain to need, in batches over all trees; single ones that turn out to be missing are
    // bought as they are needed.
    void buy_vectors(std::size_t layer) {
        std::vector<std::size_t> wanted;
        for (const growing& t : trees_) {
            if (t.done || t.inputs.size() < 2) continue;
            const bool afresh = groups_before(t, layer).empty();
            for (const std::size_t i : t.inputs)
                if (afresh || !known(nodes_[i])) wanted.push_back(i);
        }
        buy(wanted);
    }

    void buy(std::span<const std::size_t> places) {
        std::vector<std::size_t> missing;
        for (const std::size_t i : places)
            if (!nodes_[i].row) missing.push_back(i);
        for (std::size_t first = 0; first < missing.size(); first += options_.batch) {
            if (options_.stop.stop_requested())
                raise<cancelled>("build.stopped", concat("quarry::raptor: stopped after ", out_.embedder_calls,
                                                         " calls of the embedder"));
            const auto some = std::span(missing).subspan(first, (std::min)(options_.batch, missing.size() - first));
            std::vector<std::string_view> texts;
            for (const std::size_t i : some) texts.push_back(nodes_[i].text);
            std::vector<float> rows = embed_checked(embedder_, role::document, texts);
            ++out_.embedder_calls;
            d_ = rows.size() / texts.size();
            for (std::size_t i = 0; i < some.size(); ++i) {
                const std::span<float> row = std::span(rows).subspan(i * d_, d_);
                if (normalize(row)) nodes_[some[i]].row.emplace(row.begin(), row.end());
                else nodes_[some[i]].row.emplace();
            }
        }
    }

    const std::vector<float>& row_of(std::size_t place) {
        const std::size_t places[] = {place};
        buy(places);
        return *nodes_[place].row;
    }

    std::vector<float> centre_of(std::span<const std::size_t> members) {
        buy(members);
        std::vector<float> centre(d_, 0.0f);
        for (const std::size_t i : members)
            for (std::size_t j = 0; j < nodes_[i].row->size(); ++j) centre[j] += (*nodes_[i].row)[j];
        normalize(centre);
        return centre;
    }

    // What a text takes of a prompt: one that would take more than half of it is cut, so that two always fit.
    std::size_t cost(std::size_t place) {
        const auto [at, fresh] = costs_.try_emplace(place, 0);
        if (fresh) at->second = (std::min)(summarizer_.tokens(nodes_[place].text), room_ / 2);
        return at->second;
    }
    std::size_t cost(std::span<const std::size_t> members) {
        std::size_t sum = 0;
        for (const std::size_t i : members) sum += cost(i);
        return sum;
    }
    bool too_large(std::span<const std::size_t> members) {
        return members.size() > options_.most_members || cost(members) > room_;
    }

    // ------------------------------------------------------------------------------------------- which groups there
    // are

    void plan(std::size_t tree, std::size_t layer, std::vector<planned>& plans) {
        growing& t = trees_[tree];
        const std::size_t first = plans.size();
        const auto& old = groups_before(t, layer);
        if (old.empty() || !plan_from(tree, old, plans)) {
            for (std::vector<std::size_t>& members : grouped(t.inputs))
                plans.push_back({tree, std::move(members)});
            // Nothing is gained by a layer that is no smaller than the one below. Groups that overlap can make one.
            if (plans.size() - first + loose(t, plans, first).size() >= t.inputs.size()) plans.resize(first);
        }
        if (plans.size() == first) t.done = true;
    }

    std::vector<std::size_t> loose(const growing& t, const std::vector<planned>& plans, std::size_t first) const {
        std::set<std::size_t> grouped;
        for (std::size_t p = first; p < plans.size(); ++p)
            grouped.insert(plans[p].members.begin(), plans[p].members.end());
        std::vector<std::size_t> out;
        for (const std::size_t i : t.inputs)
            if (!grouped.contains(i)) out.push_back(i);
        return out;
    }

    // Groups as they were, without what went and with what came. False if none is left to start from.
    bool plan_from(std::size_t tree, const std::vector<const raptor_node*>& old, std::vector<planned>& plans) {
        const std::vector<std::size_t>& inputs = trees_[tree].inputs;
        std::map<std::string_view, std::size_t> at;
        for (const std::size_t i : inputs) at.emplace(nodes_[i].id, i);
        struct group {
            planned what;
            std::vector<float> centre;
            bool changed;
        };
        std::vector<group> groups;
        std::set<std::size_t> placed;
        std::set<std::string_view> grouped_before;
        for (const raptor_node* o : old) {
            std::vector<std::size_t> members;
            bool changed = false;
            for (const std::string& id : o->sources) {
                grouped_before.insert(id);
                const auto renamed = renamed_.find(id);
                const auto found = at.find(renamed == renamed_.end() ? std::string_view(id) : renamed->second);
                const bool same = found != at.end() && (renamed != renamed_.end() || known(nodes_[found->second]));
                if (same) members.push_back(found->second);
                changed = changed || !same || renamed != renamed_.end();
            }
            if (members.size() < 2) continue;
            placed.insert(members.begin(), members.end());
            groups.push_back({{tree, std::move(members), o->id}, o->centre, changed});
        }
        if (groups.empty()) return false;

        std::vector<std::size_t> homeless;
        for (const std::size_t i : inputs) {
            if (placed.contains(i)) continue;
            // What stood alone before stays alone.
            if (known(nodes_[i]) && !grouped_before.contains(nodes_[i].id)) continue;
            homeless.push_back(i);
        }
        buy(homeless);
        for (const std::size_t i : homeless) {
            const std::vector<float>& row = row_of(i);
            group* nearest = nullptr;
            double most = -2.0;
            for (group& g : groups)
                if (row.size() == g.centre.size() && !row.empty())
                    if (const double near = dot(row, g.centre); near > most) most = near, nearest = &g;
            if (!nearest) continue;
            nearest->what.members.push_back(i);
            nearest->changed = true;
        }
        for (group& g : groups) {
            in_order(g.what.members, inputs);
            if (!g.changed || !too_large(g.what.members)) {
                plans.push_back(std::move(g.what));
                continue;
            }
            // The largest part keeps the place in the layer above.
            row_groups parts = grouped(g.what.members);
            if (parts.empty()) by_position(g.what.members, parts);
            if (parts.empty()) continue;
            const auto largest = std::ranges::max_element(parts, {}, [](const auto& part) { return part.size(); });
            for (auto part = parts.begin(); part != parts.end(); ++part)
                plans.push_back({tree, std::move(*part), part == largest ? g.what.replaces : std::string()});
        }
        return true;
    }

    static void in_order(std::vector<std::size_t>& members, const std::vector<std::size_t>& inputs) {
        std::map<std::size_t, std::size_t> position;
        for (std::size_t i = 0; i < inputs.size(); ++i) position.emplace(inputs[i], i);
        std::ranges::sort(members, {}, [&](std::size_t i) { return position.at(i); });
        members.erase(std::unique(members.begin(), members.end()), members.end());
    }

    // Groups of two or more, each of which fits a prompt.
    row_groups grouped(std::span<const std::size_t> places) {
        if (places.size() < 2) return {};
        buy(places);
        std::vector<std::size_t> known_places;
        std::vector<float> rows;
        for (const std::size_t i : places) {
            if (nodes_[i].row->empty()) continue;
            known_places.push_back(i);
            rows.insert(rows.end(), nodes_[i].row->begin(), nodes_[i].row->end());
        }
        if (known_places.size() < 2) return {};
        row_groups groups = clusterer_(std::span<const float>(rows), d_);
        std::set<std::vector<std::size_t>> distinct;
        for (const std::vector<std::size_t>& group : groups) {
            const std::set<std::size_t> members(group.begin(), group.end());
            if (!members.empty() && *members.rbegin() >= known_places.size())
                raise<callable_error>("raptor.clusters", concat("quarry::raptor: the clusterer was given ",
                                                                known_places.size(), " rows and names row ",
                                                                *members.rbegin()));
            if (!members.empty()) distinct.emplace(members.begin(), members.end());
        }
        row_groups out = joined({distinct.begin(), distinct.end()}, rows);
        for (std::vector<std::size_t>& group : out)
            for (std::size_t& i : group) i = known_places[i];
        row_groups fitting;
        for (const std::vector<std::size_t>& group : out) part(group, fitting);
        return fitting;
    }

    // A row that is alone joins the nearest group that has two; if there is none, it stays alone and gets no summary.
    row_groups joined(row_groups groups, std::span<const float> rows) const {
        const auto row = [&](std::size_t i) { return rows.subspan(i * d_, d_); };
        std::set<std::size_t> in_company;
        for (const auto& group : groups)
            if (group.size() > 1) in_company.insert(group.begin(), group.end());
        std::vector<std::size_t> alone;
        for (const auto& group : groups)
            if (group.size() == 1 && !in_company.contains(group[0])) alone.push_back(group[0]);
        std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
        std::vector<std::vector<float>> centres;
        for (const auto& group : groups) {
            std::vector<float> centre(d_, 0.0f);
            for (const std::size_t i : group)
                for (std::size_t j = 0; j < d_; ++j) centre[j] += row(i)[j];
            normalize(centre);
            centres.push_back(std::move(centre));
        }
        for (const std::size_t i : alone) {
            std::size_t nearest = groups.size();
            double most = -2.0;
            for (std::size_t g = 0; g < groups.size(); ++g)
                if (const double near = dot(row(i), centres[g]); near > most) most = near, nearest = g;
            if (nearest != groups.size()) groups[nearest].push_back(i);
        }
        for (auto& group : groups) std::ranges::sort(group);
        std::ranges::sort(groups);
        return groups;
    }

    // By geometry once, and what is still too large by position: so it ends, and two members always fit.
    void part(const std::vector<std::size_t>& group, row_groups& out) {
        if (!too_large(group)) {
            out.push_back(group);
            return;
        }
        const std::size_t by_cost = cost(group) / room_ + 1, by_size = group.size() / options_.most_members + 1;
        std::vector<float> rows;
        for (const std::size_t i : group) rows.insert(rows.end(), nodes_[i].row->begin(), nodes_[i].row->end());
        const clustering c = kmeans(rows, d_, {.clusters = (std::max)(by_cost, by_size) + 1});
        row_groups parts = joined(c.members(), rows);
        if (parts.empty()) {
            by_position(group, out);
            return;
        }
        for (std::vector<std::size_t>& some : parts) {
            for (std::size_t& i : some) i = group[i];
            if (too_large(some)) by_position(some, out);
            else out.push_back(std::move(some));
        }
    }

    // Runs of neighbours, each as long as fits. One alone at the end takes a neighbour from the run before it, if that
    // has three: any two fit.
    void by_position(const std::vector<std::size_t>& group, row_groups& out) {
        row_groups runs(1);
        for (const std::size_t i : group) {
            runs.back().push_back(i);
            if (!too_large(runs.back())) continue;
            runs.back().pop_back();
            runs.push_back({i});
        }
        if (runs.size() > 1 && runs.back().size() == 1 && runs[runs.size() - 2].size() > 2) {
            std::vector<std::size_t>& longer = runs[runs.size() - 2];
            runs.back().insert(runs.back().begin(), longer.back());
            longer.pop_back();
        }
        for (std::vector<std::size_t>& run : runs)
            if (run.size() > 1) out.push_back(std::move(run));
    }

    // ------------------------------------------------------------------------------------------------------- summaries

    std::string id_of(const planned& p) const {
        sha256 all;
        all.add_field(out_.tree.maker);
        for (const std::size_t i : p.members) all.add_field(nodes_[i].id).add_field(sha256_of(nodes_[i].text));
        return "summary/" + hexadecimal(all.finish(), 12);
    }

    void summarize(std::vector<planned>& plans, std::size_t layer) {
        std::vector<std::size_t> asked;
        std::vector<text_group> groups;
        std::vector<std::string> ids;
        for (std::size_t p = 0; p < plans.size(); ++p) {
            ids.push_back(id_of(plans[p]));
            if (known_text(ids[p])) continue;
            asked.push_back(p);
            groups.emplace_back();
            for (const std::size_t i : plans[p].members) groups.back().push_back(shortened(i));
        }
        std::vector<std::optional<std::string>> texts;
        if (!groups.empty()) texts = summarizer_.summarize(groups, options_.stop, out_.asked);
        if (texts.size() != groups.size())
            raise<callable_error>("raptor.summaries", concat("quarry::raptor: ", groups.size(), " groups, but ",
                                                             texts.size(), " summaries"));
        std::size_t next = 0;
        for (std::size_t p = 0; p < plans.size(); ++p) {
            std::optional<std::string> text;
            const bool is_new = next < asked.size() && asked[next] == p;
            if (is_new) text = std::move(texts[next++]);
            else text = std::string(*known_text(ids[p]));
            if (!text || trimmed(*text).empty()) {
                ++out_.unsummarised;
                raptor_node left{std::move(ids[p]),          {}, {}, {}, layer, trees_[plans[p].tree].name,
                                 centre_of(plans[p].members)};
                for (const std::size_t i : plans[p].members) left.sources.push_back(nodes_[i].id);
                out_.tree.summaries.push_back(std::move(left));
                continue;
            }
            if (is_new) fresh_.insert(ids[p]);
            add_node(plans[p], std::move(ids[p]), std::move(*text), layer);
        }
    }

    std::optional<std::string_view> known_text(const std::string& id) const {
        if (const auto unit = source_.find(id)) {
            if (source_.kind(*unit) != unit_kind::generated)
                raise<usage_error>("corpus.duplicate_id",
                                   "quarry::raptor: there is a unit " + detail::quoted(id) + " that is no summary");
            return source_.text(*unit);
        }
        const auto at = texts_.find(id);
        return at == texts_.end() ? std::nullopt : std::optional<std::string_view>(*at->second);
    }

    std::string_view shortened(std::size_t place) {
        const std::string_view text = nodes_[place].text;
        if (summarizer_.tokens(text) <= room_ / 2) return text;
        ++out_.cut;
        return beginning(text, room_ / 2, [this](std::string_view part) { return summarizer_.tokens(part); });
    }

    void add_node(planned& p, std::string id, std::string text, std::size_t layer) {
        if (!p.replaces.empty() && p.replaces != id) renamed_[p.replaces] = id;
        const auto [at, fresh] = place_of_.try_emplace(id, nodes_.size());
        p.node = at->second;
        if (!fresh) return;
        node n{std::move(id), std::move(text), nodes_[p.members[0]].title, nodes_[p.members[0]].article};
        for (const std::size_t i : p.members)
            if (nodes_[i].article != n.article || !n.article) n.article.reset(), n.title.clear();
        n.members = p.members;
        n.layer = layer;
        n.tree = p.tree;
        n.centre = remembered_centre(p, n.id);
        nodes_.push_back(std::move(n));
        summaries_.push_back(at->second);
    }

    // A group that did not change keeps its centre, so that its members need not be embedded again.
    std::vector<float> remembered_centre(const planned& p, const std::string& id) {
        if (before_ && p.replaces == id)
            for (const raptor_node& n : before_->summaries)
                if (n.id == id && (d_ == 0 || n.centre.size() == d_)) return n.centre;
        return centre_of(p.members);
    }

    // The layer above: summaries in place of their members, each where its first member was.
    void climb(std::size_t tree, const std::vector<planned>& plans) {
        growing& t = trees_[tree];
        std::map<std::size_t, std::size_t> position;
        for (std::size_t i = 0; i < t.inputs.size(); ++i) position.emplace(t.inputs[i], i);
        std::set<std::pair<std::size_t, std::size_t>> next;  // position, place
        std::set<std::size_t> covered;
        for (const planned& p : plans) {
            if (p.tree != tree || !p.node) continue;
            next.emplace(position.at(p.members[0]), *p.node);
            covered.insert(p.members.begin(), p.members.end());
        }
        if (covered.empty()) {
            t.done = true;
            return;
        }
        for (const std::size_t i : t.inputs)
            if (!covered.contains(i)) next.emplace(position.at(i), i);
        t.inputs.clear();
        for (const auto& [where, place] : next) t.inputs.push_back(place);
        if (t.inputs.size() < 2) t.done = true;
    }

    void keep(const node& n) {
        raptor_node kept{n.id, {}, n.text, n.title, n.layer, trees_[n.tree].name, n.centre};
        for (const std::size_t i : n.members) kept.sources.push_back(nodes_[i].id);
        out_.tree.summaries.push_back(std::move(kept));
    }

    source_ref source_;
    const E& embedder_;
    const S& summarizer_;
    const C& clusterer_;
    const raptor_options& options_;
    const raptor_tree* before_ = nullptr;
    std::size_t room_ = 0, d_ = 0;

    std::vector<node> nodes_;
    std::map<std::string, std::size_t> place_of_;
    std::vector<std::size_t> summaries_;
    std::vector<growing> trees_;
    std::map<std::string_view, const std::string*> texts_;  // of the tree before
    std::map<std::string, std::string> renamed_;            // summaries that took another's place
    std::map<std::size_t, std::size_t> costs_;
    std::set<std::string> fresh_;
    raptor_growth out_;
};

}  // namespace detail

template <Embedder E, Summarizer S, Clusterer C>
raptor_growth raptor<E, S, C>::grow(corpus& c, const raptor_tree& before) const {
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < c.size(); ++i)
        if (c.kind(unit_at(i)) == options_.of) units.push_back(unit_at(i));
    detail::raptor_work<E, S, C> work(c, embedder_, summarizer_, clusterer_, options_, before);
    raptor_growth out = work.run(units);
    std::set<std::string_view> current;
    for (const raptor_node& n : out.tree.summaries) {
        if (n.text.empty()) continue;
        current.insert(n.id);
        std::optional<unit_id> unit = c.find(n.id);
        if (!unit) {
            std::vector<unit_id> sources;
            for (const std::string& id : n.sources) sources.push_back(*c.find(id));
            unit = c.add_generated({n.id, n.text, std::move(sources), n.title});
        }
        out.summaries.push_back(*unit);
        if (work.is_new(n.id)) out.made.push_back(*unit);
    }
    for (const raptor_node& n : before.summaries)
        if (const auto unit = c.find(n.id); unit && !current.contains(n.id)) out.obsolete.push_back(*unit);
    return out;
}

template <Embedder E, Summarizer S, Clusterer C>
raptor_growth raptor<E, S, C>::grow(source_ref source, std::span<const unit_id> units,
                                    const raptor_tree& before) const {
    return detail::raptor_work<E, S, C>(source, embedder_, summarizer_, clusterer_, options_, before).run(units);
}

}  // namespace QUARRY_NAMESPACE
