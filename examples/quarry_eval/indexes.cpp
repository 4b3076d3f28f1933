#include "indexes.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "quarry/build.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/expand/small_keys.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/model/given_vectors.hpp"
#include "quarry/model/lsa_embedder.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "quarry/text/german.hpp"

namespace quarry_eval {

using namespace quarry;

namespace {

analyzer analyzer_named(const std::string& name) {
    if (name == "unicode") return unicode();
    if (name == "code") return code();
    if (name == "german") return german();
    if (name == "plain") return plain();
    return english();
}

/// Whichever keys units get, so that building is compiled once.
struct chosen_keys {
    unit_kind of;
    std::function<void(source_ref, unit_id, key_sink)> expand;
    key_kind population = key_kind::body;

    key_kind kind() const { return population; }
    unit_kind level() const { return of; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const { expand(source, unit, emit); }
};

chosen_keys body_keys(const settings& s) {
    const unit_kind of = s.bodies();
    if (s.retriever == "small_to_big") return {of, small_keys{.of = of, .sentences = 3, .shared = 1}};
    if (s.expand == "none") return {of, identity{.of = of, .title_weight = s.title_weight}};
    const contextual_options joined{.of = of};
    if (s.expand == "path") return {of, contextual(structure{.names = context_names::none}, joined)};
    if (s.expand == "structure") return {of, contextual(structure{}, joined)};
    const auto with = [&](std::function<std::string(const unit_ref&)> text) {
        return chosen_keys{of, contextual(structure{.title = false,
                                                    .headings = false,
                                                    .names = context_names::none,
                                                    .also = std::move(text)},
                                          joined)};
    };
    if (s.expand == "summary")
        return with([](const unit_ref& u) {
            const std::string_view texts[] = {u.text()};
            return u.summary().empty() ? central_sentences(texts) : std::string(u.summary());
        });
    const auto about = std::make_shared<const std::map<std::string, std::vector<std::string>>>(texts_about(s.contexts));
    if (s.expand == "contexts")
        return with([about](const unit_ref& u) {
            std::string out;
            if (const auto at = about->find(std::string(u.id())); at != about->end())
                for (const std::string& text : at->second) (out += out.empty() ? "" : "\n") += text;
            return out;
        });
    return {of, [about, own = identity{.of = of, .title_weight = s.title_weight}](source_ref source, unit_id unit,
                                                                                 key_sink emit) {
                own(source, unit, emit);
                if (const auto at = about->find(std::string(source.id(unit))); at != about->end())
                    for (const std::string& text : at->second) emit({unit, key_part::question, text});
            }};
}

chosen_keys keys_in(const std::vector<listed_key>& listed) {
    const auto by_unit = std::make_shared<std::map<unit_id, std::vector<key>>>();
    for (const listed_key& k : listed) (*by_unit)[k.unit].push_back({k.unit, k.part, k.text});
    return {unit_kind::article,
            [by_unit](source_ref, unit_id unit, key_sink emit) {
                if (const auto found = by_unit->find(unit); found != by_unit->end())
                    for (const key& k : found->second) emit(k);
            },
            key_kind::metadata};
}

// The questions' rows, by the questions' texts: that is what a retriever asks an embedder.
given_vectors question_vectors(const settings& s, const measured_set& set) {
    std::map<std::string_view, std::string_view> text_of;
    for (const question_text& q : set.questions) text_of[q.id] = q.text;
    std::vector<std::string> texts;
    for (const std::string& id : ids_in(s.query_ids)) {
        const auto found = text_of.find(id);
        if (found == text_of.end()) refuse(s.query_ids + ": there is no query " + detail::quoted(id));
        texts.emplace_back(found->second);
    }
    return given_vectors::read(s.query_vectors, std::move(texts), {.dimension = s.dimension});
}

// The articles' rows, in the order of the articles. Rows of zeros stand for empty articles: they have no direction.
flat_index article_vectors(const settings& s, const corpus& articles, std::size_t dimension,
                           std::vector<std::string>& warnings) {
    std::vector<std::string> ids;
    std::vector<unit_id> units;
    for (std::size_t i = 0; i < articles.size(); ++i)
        if (articles.kind(unit_at(i)) == s.bodies())
            units.push_back(unit_at(i)), ids.emplace_back(articles.id(unit_at(i)));
    const auto given = given_vectors::read(s.doc_vectors, std::move(ids), {.dimension = dimension});
    for (const std::size_t i : given.zero_rows())
        warnings.push_back(detail::concat(s.doc_vectors, ": the row of ", detail::quoted(given.ids()[i]),
                                          " is zero; no vector will find it"));
    flat_index index(given.dimension());
    for (std::size_t i = 0; i < given.size(); ++i)
        if (!std::ranges::binary_search(given.zero_rows(), i)) index.add(units[i], given.row(i));
    return index;
}

void index_keys(stock& out, const settings& s, const corpus& articles, const build_options& options) {
    if (!s.lanes.key_words && !s.lanes.key_vectors) return;
    chosen_keys keys{unit_kind::article, {}, key_kind::metadata};
    chosen_embedder embed = out.embed;
    if (s.keys.empty()) {
        keys.expand = metadata_keys(articles);
    } else {
        const std::vector<listed_key> listed = listed_keys(s.keys, articles);
        keys = keys_in(listed);
        std::vector<std::string> texts;
        for (const listed_key& k : listed) texts.push_back(k.text);
        if (s.lanes.key_vectors && s.given_vectors)
            embed = chosen_embedder(given_vectors::read(s.key_vectors, texts, {.dimension = embed.dimension()}));
    }
    if (s.lanes.key_vectors) {
        knowledge_base kb = build(articles, keys, embed, options);
        out.key_words = std::move(kb.bm25);
        out.key_vectors = std::move(kb.vectors);
    } else {
        out.key_words = std::move(build(articles, keys, options).bm25);
    }
}

void index_bodies(stock& out, const settings& s, const corpus& articles, const build_options& options) {
    const chosen_keys bodies = body_keys(s);
    if (s.lanes.body_vectors && !s.given_vectors) {
        knowledge_base kb = build(articles, bodies, out.embed, options);
        out.body_words = std::move(kb.bm25);
        out.body_vectors = std::move(kb.vectors);
        return;
    }
    if (s.lanes.body_words) out.body_words = std::move(build(articles, bodies, options).bm25);
    if (s.lanes.body_vectors)
        out.body_vectors =
            indexed<flat_index>{article_vectors(s, articles, out.embed.dimension(), out.warnings), articles};
}

// What stands above the bodies: a tree's extracts, or the documents that bodies are parts of.
void index_tops(stock& out, const settings& s, corpus& articles, const build_options& options) {
    if (s.retriever == "raptor") {
        raptor(ref(out.embed), extracts{}, {.of = s.bodies(), .across_articles = s.chunk_words == 0}).grow(articles);
        knowledge_base tops = build(articles, chosen_keys{unit_kind::generated, identity{.of = unit_kind::generated}},
                                    out.embed, options);
        out.top_words = std::move(tops.bm25);
        out.top_vectors = std::move(tops.vectors);
    }
    if (s.retriever == "hierarchical")
        out.top_words = std::move(build(articles, chosen_keys{unit_kind::article, identity{}}, options).bm25);
}

}  // namespace

void fill(stock& out, const settings& s, measured_set& set) {
    const build_options options{.words = analyzer_named(s.analyzer),
                                .bm25 = {.k1 = s.k1, .b = s.b, .lucene_lengths = s.lucene_lengths}};
    corpus& articles = set.articles;
    if (s.needs_vectors()) {
        if (s.given_vectors)
            out.embed = chosen_embedder(question_vectors(s, set));
        else
            out.embed = chosen_embedder(lsa_embedder::fit(articles, {.rank = s.dimension == 0 ? 128 : s.dimension}));
    }
    index_tops(out, s, articles, options);
    index_bodies(out, s, articles, options);
    index_keys(out, s, articles, options);

    for (auto* words : {&out.key_words, &out.body_words, &out.top_words})
        if (!*words) *words = indexed<bm25_index>{bm25_index(), articles};
    for (auto* vectors : {&out.key_vectors, &out.body_vectors, &out.top_vectors})
        if (!*vectors) *vectors = indexed<flat_index>{flat_index(out.embed.dimension()), articles};
}

}  // namespace quarry_eval
