// A library beside the dullest twin there is: a map of articles, and a build from nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/grow/chunks.hpp"
#include "quarry/live/library.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/toy.hpp"

namespace living {

struct embedder : toy::letter_embedder {
    std::string name() const { return "letters"; }
    static constexpr bool zero_means_unknown = true;
    std::size_t reads = SIZE_MAX;  // bytes
    bool reads_whole(std::string_view text) const { return text.size() <= reads; }
};

inline quarry::schema fields() {
    return {{"product", quarry::field_type::string}, {"year", quarry::field_type::integer}};
}

inline void grow_chunks(quarry::corpus& c, quarry::unit_id article) {
    quarry::chunks<>({.most_tokens = 8}).grow(c, article);
}

inline quarry::library_options options(std::size_t merge_limit = 4096) {
    quarry::library_options o;
    o.fields = fields();
    o.grow = grow_chunks;
    o.grow_version = "chunks 8";
    o.merge_limit = merge_limit;
    return o;
}

inline std::vector<quarry::layer> layers() {
    std::vector<quarry::layer> out;
    out.emplace_back(quarry::identity{.of = quarry::unit_kind::chunk}, "1");
    out.emplace_back(quarry::identity{.of = quarry::unit_kind::article, .title_weight = 2.5f}, "1");
    return out;
}

using library = quarry::library<embedder>;

/// An article of a few words from a small vocabulary, so that scores tie and words come and go.
inline quarry::article random_article(std::mt19937& random, const std::string& id) {
    const char* words[] = {"password", "invoice", "heating", "valve",  "reset", "the",   "of",    "router",
                           "holiday",  "monthly", "report",  "change", "new",   "12345", "panel", "zone"};
    const auto word = [&] { return std::string(words[random() % std::size(words)]); };
    quarry::article a{.id = id};
    if (random() % 3 != 0) a.title = word();
    for (std::size_t n = random() % 30; n != 0; --n) a.text += word() + (n % 7 == 0 ? ". " : " ");
    if (random() % 2 == 0) a.meta.add("product", random() % 2 == 0 ? "app" : "web");
    if (random() % 2 == 0) a.meta.add("year", static_cast<int>(2020 + random() % 4));
    return a;
}

/// One line a hit: string id, and the score where it is not compared with a tolerance.
struct answer {
    std::vector<std::pair<std::string, double>> hits;
};

template <class Search>
answer ask(const Search& search, const quarry::query& q, std::size_t k) {
    answer out;
    const auto found = search.retrieve(q, k);
    for (const auto& hit : found) out.hits.emplace_back(found.unit(hit).id(), static_cast<double>(hit.score));
    return out;
}

/// The same units in the same order with scores to 1e-6; neighbours closer than that may have swapped.
inline bool same(const answer& a, const answer& b) {
    if (a.hits.size() != b.hits.size()) return false;
    const auto close = [](double x, double y) { return std::abs(x - y) <= 1e-6 * (1.0 + std::abs(x)); };
    for (std::size_t i = 0; i < a.hits.size(); ++i)
        if (!close(a.hits[i].second, b.hits[i].second)) return false;
    for (std::size_t i = 0; i < a.hits.size();) {
        std::size_t end = i + 1;
        while (end < a.hits.size() && close(a.hits[end - 1].second, a.hits[end].second)) ++end;
        const auto ids = [&](const answer& from) {
            std::vector<std::string> out;
            for (std::size_t j = i; j < end; ++j) out.push_back(from.hits[j].first);
            std::ranges::sort(out);
            return out;
        };
        // A run of equal scores at the very end may have been cut in another place.
        if (end != a.hits.size() && ids(a) != ids(b)) return false;
        i = end;
    }
    return true;
}

inline std::vector<quarry::query> questions() {
    using namespace quarry;
    return {query("reset the password"),
            query("monthly heating report of the zone"),
            query("the of"),
            query("12345"),
            query("nothing of the kind"),
            query("new valve").where(eq("product", "app")),
            query("password change").where(ge("year", 2022) && ne("product", "web")),
            query("router holiday").within(scope::only(eq("product", "web"))),
            query("heating").require("valve"),
            query("heating panel").forbid("the")};
}

/// Compares a generation with a build of its articles in the order of their ids. Returns what differs, or nothing.
inline std::string difference(const quarry::generation& g, const std::map<std::string, quarry::article>& articles,
                              const embedder& embed) {
    using namespace quarry;
    if (g.articles() != articles.size()) return detail::concat(g.articles(), " articles and not ", articles.size());
    corpus fresh(fields());
    std::string wrong;
    g.for_each_article([&](unit_id unit) {
        const auto expected = articles.find(std::string(g.id(unit)));
        if (expected == articles.end()) {
            wrong = "an article that is not there: " + std::string(g.id(unit));
            return;
        }
        fresh.add(expected->second);
    });
    if (!wrong.empty()) return wrong;
    // Grown in the same order as the library does: each article's parts behind it.
    corpus grown(fields());
    for (std::size_t i = 0; i < fresh.size(); ++i)
        grow_chunks(grown, grown.add(articles.at(std::string(fresh.id(unit_at(i))))));
    if (g.units() != grown.size()) return detail::concat(g.units(), " units and not ", grown.size());
    const auto all_layers = layers();
    const auto built_chunks = build(grown, identity{.of = unit_kind::chunk}, embed);
    const auto built_articles = build(grown, identity{.of = unit_kind::article, .title_weight = 2.5f}, embed);
    const auto compare = [&](std::string_view name, const auto& live, const auto& built) {
        for (const query& q : questions())
            for (const std::size_t k : {3u, 50u}) {
                const answer a = ask(live, q, k), b = ask(built, q, k);
                if (same(a, b)) continue;
                wrong += detail::concat(name, ", k ", k, ", ", q.text(), ":\n");
                for (const answer* each : {&a, &b}) {
                    for (const auto& [id, score] : each->hits) wrong += detail::concat("  ", id, ' ', score);
                    wrong += '\n';
                }
            }
    };
    compare("words", lexical(g.bm25(0)), lexical(built_chunks.bm25));
    compare("vectors", dense(g.vectors(0), embed), dense(built_chunks.vectors, embed));
    compare("words of articles", lexical(g.bm25(1)), lexical(built_articles.bm25));
    compare("both", hybrid(lexical(g.bm25(1)), dense(g.vectors(1), embed)),
            hybrid(lexical(built_articles.bm25), dense(built_articles.vectors, embed)));
    for (const field& f : fields())
        if (g.values(f.name) != grown.values(f.name)) wrong += "values of " + f.name + '\n';
    for (std::size_t i = 0; i < grown.size(); ++i) {
        const unit_id there = unit_at(i);
        const auto here = g.find(grown.id(there));
        if (!here || g.text(*here) != grown.text(there) || g.title(*here) != grown.title(there) ||
            g.value(*here, "product") != grown.value(there, "product") || g.kind(*here) != grown.kind(there))
            wrong += "unit " + std::string(grown.id(there)) + '\n';
    }
    return wrong;
}

}  // namespace living
