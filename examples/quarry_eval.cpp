// Measures retrieval on a judged set, yours or one of those that people publish figures for.
//
//     quarry_eval --set data/scifact --retriever bm25
//     quarry_eval --set mine --retriever hybrid --json
//
// A set is a folder of three files:
//
//     corpus.jsonl    one article a line:   {"id": "kb-17", "title": "Reset a password", "text": "..."}
//     queries.jsonl   one question a line:  {"id": "q1", "text": "how do I get back into my account"}
//     qrels.tsv       which answers which:  q1 <tab> kb-17 <tab> 1
//
// Fifty questions that people really asked, each with its right articles, tell more than any published figure: see
// benchmarks/quality/README.md, "Measuring your own corpus".
//
// Everything below goes through the library's public pipeline: a judged set becomes a corpus, `build` fills indexes,
// leaves search them, `fuse` joins the leaves, and what comes back is graded as trec_eval would grade it.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/eval/compare.hpp"
#include "quarry/eval/judged_set.hpp"
#include "quarry/eval/metrics.hpp"
#include "quarry/eval/run_file.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/expand/small_keys.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/model/given_vectors.hpp"
#include "quarry/model/lsa_embedder.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/raptor.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "quarry/text/german.hpp"
#include "tour/reading.hpp"

namespace {

using namespace quarry;

constexpr const char* usage = R"(quarry_eval --set DIR --retriever NAME [options]

Retrievers: bm25, dense, hybrid, whole_article, small_to_big, hierarchical, raptor

What is measured
  --set DIR            folder with corpus.jsonl, queries.jsonl and qrels.tsv
  --articles FOLDER    the articles are the Markdown, HTML and text files below it, and no corpus.jsonl is read;
                       their ids are their paths without the ending, or their front matter's
  --queries FILE       other questions than the folder's
  --qrels FILE         other judgements than the folder's (3 fields, or TREC's 4)
  --depth N            articles asked for per question (1000)
  --run FILE           also writes the answers as a TREC run
  --against FILE       also compares nDCG@10 with that of another run, with a 95 % interval
  --json               prints one JSON object

Words
  --analyzer NAME      english (default), unicode, code, german or plain
  --k1 X --b Y         BM25's parameters (0.9 and 0.4)
  --lucene-lengths     lengths in one byte, as Lucene keeps them
  --title-weight W     counts the title W times (without it, title and text are one field)

Vectors
  --embedder NAME      lsa, fitted to the set (default), or vectors, computed elsewhere
  --dim D              the rank of lsa (128), or the width of the given vectors (as their files have it)
  --doc-vectors FILE   one row an article, in the order of corpus.jsonl; .f16 or .f32, little-endian
  --query-vectors FILE one row a question, in the order of --query-ids
  --query-ids FILE     a JSON list of question ids, or one a line

Fusion
  --fuse NAME          bounded (default), rrf, convex (.2 for words, .8 for vectors), relative, distribution

What is indexed
  --chunks N           indexes chunks of at most N words, made of whole paragraphs where they fit; returns articles
  --parents FILE       documents that the set's articles are parts of, as lines of a corpus; a part names its document
                       as "doc_id", and its text stands in it
  --expand NAME        none (default); path: with title and headings; structure: of code also scopes and names;
                       summary: with its own summary, or else its most central sentences; questions, or contexts: those
                       of --contexts
  --contexts FILE      texts about articles, {"id": ..., "text": ...} a line; several lines an article are its questions

Small to big, hierarchical, raptor
                       small_to_big finds articles by three sentences at a time. hierarchical goes from documents to
                       parts (--parents), or from articles to chunks (--chunks). raptor searches articles, or chunks,
                       together with extracts of what belongs together. Words alone, or words and vectors: --lanes
                       bm25:bodies, or bm25:bodies,dense:bodies (default)
  --beam N             hierarchical: documents that are gone through at first (all)
  --blend W            hierarchical: the documents' share of the score (0.3)

Chunks and metadata keys
  --keys FILE          whole_article: its keys, {"id": ..., "kind": title|summary|heading|phrase, "text": ...} a line
                       (without it, title and summary of each article)
  --key-vectors FILE   one row a line of --keys
  --lanes LIST         whole_article: what is searched and fused, of dense:keys (default), bm25:keys, dense:bodies and
                       bm25:bodies, separated by commas
)";

// ------------------------------------------------------------------------------------------------ the command line

struct settings {
    std::string set, retriever, articles, queries, qrels, run, against, parents, expand = "none", contexts;
    std::size_t depth = 1000;
    bool json = false;

    analyzer words = english();
    bm25_options bm25{.k1 = 0.9f, .b = 0.4f};
    float title_weight = 1.0f;
    float blend = 0.3f;
    std::size_t beam = 0;

    bool given_vectors = false;  // and not lsa
    std::size_t dimension = 0;
    std::string doc_vectors, query_vectors, query_ids, key_vectors;

    std::string fuser = "bounded";
    std::size_t chunk_words = 0;
    std::string keys;

    struct {
        bool key_words = false, key_vectors = false, body_words = false, body_vectors = false;
    } lanes{};

    bool needs_vectors() const { return lanes.key_vectors || lanes.body_vectors || retriever == "raptor"; }

    /// What bodies are, and what is returned.
    unit_kind bodies() const { return chunk_words == 0 && parents.empty() ? unit_kind::article : unit_kind::chunk; }
    unit_kind returned() const { return parents.empty() ? unit_kind::article : unit_kind::chunk; }
};

// Every complaint about the command line or a file ends the program with status 2 and this one line.
[[noreturn]] void refuse(const std::string& reason) { throw std::runtime_error(reason); }

template <class Number>
Number number(std::string_view option, std::string_view text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size())
        refuse(detail::concat(option, " takes a number, not ", detail::quoted(text)));
    return value;
}

void choose_lanes(settings& s, std::string_view list) {
    const std::map<std::string_view, bool*> lanes{{"bm25:keys", &s.lanes.key_words},
                                                  {"dense:keys", &s.lanes.key_vectors},
                                                  {"bm25:bodies", &s.lanes.body_words},
                                                  {"dense:bodies", &s.lanes.body_vectors}};
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        const auto lane = lanes.find(list.substr(0, end));
        if (lane == lanes.end())
            refuse("--lanes knows dense:keys, bm25:keys, dense:bodies and bm25:bodies, not " +
                   detail::quoted(list.substr(0, end)));
        *lane->second = true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

analyzer analyzer_named(const std::string& name) {
    if (name == "english") return english();
    if (name == "unicode") return unicode();
    if (name == "code") return code();
    if (name == "german") return german();
    if (name == "plain") return plain();
    refuse("--analyzer knows english, unicode, code, german and plain, not " + detail::quoted(name));
}

settings parsed(const std::vector<std::string>& arguments) {
    settings s;
    std::string analyzer_name = "english", embedder, lanes;
    const std::map<std::string_view, std::string*> texts{{"--set", &s.set},
                                                         {"--retriever", &s.retriever},
                                                         {"--articles", &s.articles},
                                                         {"--parents", &s.parents},
                                                         {"--expand", &s.expand},
                                                         {"--contexts", &s.contexts},
                                                         {"--queries", &s.queries},
                                                         {"--qrels", &s.qrels},
                                                         {"--run", &s.run},
                                                         {"--against", &s.against},
                                                         {"--fuse", &s.fuser},
                                                         {"--doc-vectors", &s.doc_vectors},
                                                         {"--query-ids", &s.query_ids},
                                                         {"--embedder", &embedder},
                                                         {"--query-vectors", &s.query_vectors},
                                                         {"--keys", &s.keys},
                                                         {"--lanes", &lanes},
                                                         {"--key-vectors", &s.key_vectors},
                                                         {"--analyzer", &analyzer_name}};
    const std::map<std::string_view, std::size_t*> counts{
        {"--depth", &s.depth}, {"--dim", &s.dimension}, {"--chunks", &s.chunk_words}, {"--beam", &s.beam}};
    const std::map<std::string_view, float*> numbers{
        {"--k1", &s.bm25.k1}, {"--b", &s.bm25.b}, {"--title-weight", &s.title_weight}, {"--blend", &s.blend}};
    const std::map<std::string_view, bool*> flags{{"--json", &s.json}, {"--lucene-lengths", &s.bm25.lucene_lengths}};

    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& option = arguments[i];
        if (const auto flag = flags.find(option); flag != flags.end()) {
            *flag->second = true;
            continue;
        }
        const auto text = texts.find(option);
        const auto count = counts.find(option);
        const auto real = numbers.find(option);
        if (text == texts.end() && count == counts.end() && real == numbers.end())
            refuse("there is no option " + option + "; see --help");
        if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) refuse(option + " needs a value");
        const std::string& value = arguments[++i];
        if (text != texts.end()) *text->second = value;
        if (real != numbers.end()) *real->second = number<float>(option, value);
        if (count != counts.end() && (*count->second = number<std::size_t>(option, value)) == 0)
            refuse(option + " must be at least 1");
    }

    if (s.set.empty()) refuse("--set DIR is missing; see --help");
    s.words = analyzer_named(analyzer_name);
    const bool articles = s.retriever == "whole_article";
    const std::string bodies = lanes.empty() ? "bm25:bodies,dense:bodies" : lanes;
    const std::map<std::string_view, std::string> lanes_of{{"bm25", "bm25:bodies"},
                                                           {"dense", "dense:bodies"},
                                                           {"hybrid", "bm25:bodies,dense:bodies"},
                                                           {"small_to_big", bodies},
                                                           {"hierarchical", bodies},
                                                           {"raptor", bodies},
                                                           {"whole_article", lanes.empty() ? "dense:keys" : lanes}};
    const auto chosen = lanes_of.find(s.retriever);
    if (chosen == lanes_of.end())
        refuse("--retriever is bm25, dense, hybrid, whole_article, small_to_big, hierarchical or raptor, not " +
               detail::quoted(s.retriever));
    choose_lanes(s, chosen->second);
    const bool plain = s.retriever == "bm25" || s.retriever == "dense" || s.retriever == "hybrid";
    if (plain && !lanes.empty()) refuse("--lanes does not belong to " + s.retriever);
    if (!articles && !(s.keys + s.key_vectors).empty()) refuse("--keys and --key-vectors belong to whole_article");
    if (!articles && (s.lanes.key_words || s.lanes.key_vectors)) refuse("lanes of keys belong to whole_article");
    if (articles && s.chunk_words != 0) refuse("--chunks does not belong to whole_article");
    if (articles && !s.parents.empty()) refuse("--parents does not belong to whole_article");
    if (!s.parents.empty() && s.chunk_words != 0) refuse("the articles are parts by --parents, or are cut by --chunks");
    if (s.retriever == "small_to_big" && s.bodies() != unit_kind::article)
        refuse("small_to_big returns the set's articles by their sentences: neither --parents nor --chunks");
    if (s.retriever == "hierarchical" && s.bodies() == unit_kind::article)
        refuse("hierarchical needs --parents or --chunks");
    if (s.retriever == "raptor" && !s.parents.empty()) refuse("raptor goes without --parents");
    if (!(s.blend >= 0.0f && s.blend < 1.0f)) refuse("--blend lies in [0, 1)");
    const auto ways = {"none", "path", "structure", "summary", "questions", "contexts"};
    if (std::ranges::find(ways, s.expand) == ways.end())
        refuse("--expand is none, path, structure, summary, questions or contexts, not " + detail::quoted(s.expand));
    if ((s.expand == "questions" || s.expand == "contexts") && s.contexts.empty())
        refuse("--expand " + s.expand + " needs --contexts FILE");
    if (s.retriever == "small_to_big" && s.expand != "none")
        refuse("small_to_big has keys of its own, and no --expand");

    const bool any_file = !(s.doc_vectors + s.query_vectors + s.query_ids + s.key_vectors).empty();
    if (embedder.empty()) embedder = any_file ? "vectors" : "lsa";
    if (embedder != "lsa" && embedder != "vectors")
        refuse("--embedder is lsa or vectors, not " + detail::quoted(embedder));
    s.given_vectors = embedder == "vectors";
    if (!s.given_vectors && any_file) refuse("--embedder lsa makes its own vectors, and files of others were given");
    if (s.given_vectors && s.needs_vectors()) {
        if (s.query_vectors.empty() || s.query_ids.empty())
            refuse("given vectors need --query-vectors and --query-ids");
        if (s.lanes.body_vectors && s.doc_vectors.empty()) refuse("given vectors need --doc-vectors");
        if (s.lanes.key_vectors && (s.keys.empty() || s.key_vectors.empty()))
            refuse("given vectors for keys need --keys and --key-vectors");
        if (s.chunk_words != 0) refuse("--chunks needs --embedder lsa: there is a given vector per article");
        if (s.retriever == "raptor" || s.retriever == "small_to_big")
            refuse(s.retriever + " needs --embedder lsa: it embeds what it makes");
    }
    const auto known = {"bounded", "rrf", "convex", "relative", "distribution"};
    if (std::ranges::find(known, s.fuser) == known.end())
        refuse("--fuse is bounded, rrf, convex, relative or distribution, not " + detail::quoted(s.fuser));
    return s;
}

// ------------------------------------------------------------------------------------------------------- the corpus

// Paragraphs, joined while they fit into `words` words; a longer paragraph is cut after that many.
std::vector<byte_span> chunks_of(std::string_view text, std::size_t words) {
    std::vector<byte_span> chunks;
    byte_span open{0, 0};
    std::size_t held = 0;
    const auto close = [&] {
        if (held != 0) chunks.push_back(open);
        held = 0;
    };
    const auto extend = [&](byte_span piece, std::size_t count) {
        if (held + count > words) close();
        open = {held == 0 ? piece.begin : open.begin, piece.end};
        held += count;
    };
    byte_span piece{0, 0};  // of the paragraph at hand
    std::size_t count = 0, line_breaks = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (detail::is_ascii_space(text[at])) {
            line_breaks += text[at++] == '\n';
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && !detail::is_ascii_space(text[at])) ++at;
        if (count != 0 && (line_breaks > 1 || count == words)) {
            extend(piece, count);
            count = 0;
        }
        piece = {count == 0 ? begin : piece.begin, at};
        ++count;
        line_breaks = 0;
    }
    if (count != 0) extend(piece, count);
    close();
    return chunks;
}

corpus corpus_of(std::vector<article> articles, std::size_t chunk_words) {
    corpus out;
    for (article& a : articles) {
        const std::string title = a.title;
        const unit_id added = out.add(std::move(a));
        if (chunk_words != 0)
            for (const byte_span span : chunks_of(out.text(added), chunk_words))
                out.add_part(added, {.kind = unit_kind::chunk, .span = span, .title = title});
    }
    return out;
}

// The set's articles as parts of the documents they say they are of.
corpus parts_of(std::vector<article> articles, const settings& s) {
    corpus out;
    for_each_json_line(s.parents, [&](const json_line& line) {
        out.add({.id = line.text("id"), .title = line.text("title"), .text = line.text("text")});
    });
    std::map<std::string, std::string> document_of;
    for_each_json_line(s.set + "/corpus.jsonl",
                       [&](const json_line& line) { document_of[line.text("id")] = line.text("doc_id"); });
    std::map<unit_id, std::size_t> from;  // texts may stand in a document twice
    for (const article& a : articles) {
        const auto document = out.find(document_of[a.id]);
        if (!document) refuse(s.parents + ": no document " + detail::quoted(document_of[a.id]) + " of " + a.id);
        std::size_t at = out.text(*document).find(a.text, from[*document]);
        if (at == std::string_view::npos) at = out.text(*document).find(a.text);
        if (at == std::string_view::npos)
            refuse(s.parents + ": the text of " + a.id + " does not stand in its document");
        from[*document] = at + 1;
        out.add_part(*document, {.span = {at, at + a.text.size()}, .title = a.title, .id = a.id});
    }
    return out;
}

// Keys that stand in a file, and no others.
class listed_keys {
   public:
    listed_keys(const std::string& path, const corpus& articles) {
        const std::map<std::string_view, key_part> parts{{"title", key_part::title},
                                                         {"summary", key_part::summary},
                                                         {"heading", key_part::heading},
                                                         {"phrase", key_part::phrase}};
        for_each_json_line(path, [&](const json_line& line) {
            const std::string id = line.text("id"), kind = line.text("kind");
            const auto unit = articles.find(id);
            const auto part = parts.find(kind);
            if (!unit) line.refuse("there is no article " + detail::quoted(id));
            if (part == parts.end())
                line.refuse("the kind is title, summary, heading or phrase, not " + detail::quoted(kind));
            texts.push_back(line.text("text"));
            keys_[*unit].push_back({*unit, part->second, texts.back()});
        });
    }

    key_kind kind() const { return key_kind::metadata; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref, unit_id unit, key_sink emit) const {
        if (const auto found = keys_.find(unit); found != keys_.end())
            for (const key& k : found->second) emit(k);
    }

    std::vector<std::string> texts;  // in the order of the file

   private:
    std::map<unit_id, std::vector<key>> keys_;
};

// Whichever keys bodies get, so that every pipeline below is compiled once.
struct chosen_keys {
    unit_kind of;
    std::function<void(source_ref, unit_id, key_sink)> expand;

    key_kind kind() const { return key_kind::body; }
    unit_kind level() const { return of; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const { expand(source, unit, emit); }
};

std::map<std::string, std::vector<std::string>> texts_about(const std::string& path) {
    std::map<std::string, std::vector<std::string>> out;
    for_each_json_line(path, [&](const json_line& line) { out[line.text("id")].push_back(line.text("text")); });
    return out;
}

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

// ------------------------------------------------------------------------------------------------------ the vectors

// Either embedder, so that every pipeline below is compiled once and not twice.
class chosen_embedder {
   public:
    static constexpr bool zero_means_unknown = true;

    chosen_embedder() : held_(given_vectors(1, {}, {})) {}
    explicit chosen_embedder(std::variant<given_vectors, lsa_embedder> e) : held_(std::move(e)) {}

    std::size_t dimension() const {
        return std::visit([](const auto& e) { return e.dimension(); }, held_);
    }
    std::string name() const {
        return std::visit([](const auto& e) { return e.name(); }, held_);
    }
    callable_identity identity() const {
        return std::visit([](const auto& e) { return e.identity(); }, held_);
    }
    void embed(role r, std::span<const std::string_view> texts, std::span<float> rows) const {
        std::visit([&](const auto& e) { e.embed(r, texts, rows); }, held_);
    }

   private:
    std::variant<given_vectors, lsa_embedder> held_;
};

std::vector<std::string> ids_in(const std::string& path) {
    const std::string text = detail::read_file(path);
    std::vector<std::string> ids;
    if (!detail::trimmed(text).starts_with('[')) {
        detail::for_each_line(text, [&](std::string_view line, std::size_t) {
            if (!detail::trimmed(line).empty()) ids.emplace_back(detail::trimmed(line));
        });
        return ids;
    }
    const auto list = nlohmann::json::parse(text, nullptr, false);
    const auto is_text = [](const nlohmann::json& id) { return id.is_string(); };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text)) refuse(path + ": no JSON list of texts");
    for (const auto& id : list) ids.push_back(id.get<std::string>());
    return ids;
}

// The questions' rows, by the questions' texts: that is what a retriever asks an embedder.
given_vectors question_vectors(const settings& s, const judged_set& set) {
    std::map<std::string_view, std::string_view> text_of;
    for (const judged_query& q : set.queries) text_of[q.id] = q.text;
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

// ------------------------------------------------------------------------------------------------------ the indexes

// Indexes of the lanes that were chosen; the others stay empty. Leaves refer to them, so it must not move.
struct stock {
    chosen_embedder embed;
    std::optional<indexed<bm25_index>> key_words, body_words, top_words;  // tops: what stands above the bodies
    std::optional<indexed<flat_index>> key_vectors, body_vectors, top_vectors;
    std::vector<std::string> warnings;
};

template <KeyExpander X>
void index_keys(stock& out, const settings& s, const corpus& articles, const X& keys, const chosen_embedder& embed,
                const build_options& options) {
    if (s.lanes.key_vectors) {
        knowledge_base kb = build(articles, keys, embed, options);
        out.key_words = std::move(kb.bm25);
        out.key_vectors = std::move(kb.vectors);
    } else if (s.lanes.key_words) {
        out.key_words = std::move(build(articles, keys, options).bm25);
    }
}

void fill(stock& out, const settings& s, const judged_set& set, corpus& articles) {
    const build_options options{.words = s.words, .bm25 = s.bm25};
    const chosen_keys bodies = body_keys(s);
    if (s.needs_vectors()) {
        if (s.given_vectors)
            out.embed = chosen_embedder(question_vectors(s, set));
        else
            out.embed = chosen_embedder(lsa_embedder::fit(articles, {.rank = s.dimension == 0 ? 128 : s.dimension}));
    }

    if (s.retriever == "raptor") {
        raptor(ref(out.embed), extracts{}, {.of = s.bodies(), .across_articles = s.chunk_words == 0}).grow(articles);
        knowledge_base tops = build(articles, chosen_keys{unit_kind::generated, identity{.of = unit_kind::generated}},
                                    out.embed, options);
        out.top_words = std::move(tops.bm25);
        out.top_vectors = std::move(tops.vectors);
    }
    if (s.retriever == "hierarchical")
        out.top_words = std::move(build(articles, chosen_keys{unit_kind::article, identity{}}, options).bm25);
    if (s.lanes.body_vectors && !s.given_vectors) {
        knowledge_base kb = build(articles, bodies, out.embed, options);
        out.body_words = std::move(kb.bm25);
        out.body_vectors = std::move(kb.vectors);
    } else {
        if (s.lanes.body_words) out.body_words = std::move(build(articles, bodies, options).bm25);
        if (s.lanes.body_vectors)
            out.body_vectors =
                indexed<flat_index>{article_vectors(s, articles, out.embed.dimension(), out.warnings), articles};
    }

    if (s.keys.empty()) {
        index_keys(out, s, articles, metadata_keys(articles), out.embed, options);
    } else {
        const listed_keys keys(s.keys, articles);
        chosen_embedder embed = out.embed;
        if (s.lanes.key_vectors && s.given_vectors)
            embed = chosen_embedder(given_vectors::read(s.key_vectors, keys.texts, {.dimension = embed.dimension()}));
        index_keys(out, s, articles, keys, embed, options);
    }

    if (!out.top_words) out.top_words = indexed<bm25_index>{bm25_index(), articles};
    if (!out.top_vectors) out.top_vectors = indexed<flat_index>{flat_index(out.embed.dimension()), articles};
    if (!out.key_words) out.key_words = indexed<bm25_index>{bm25_index(), articles};
    if (!out.body_words) out.body_words = indexed<bm25_index>{bm25_index(), articles};
    if (!out.key_vectors) out.key_vectors = indexed<flat_index>{flat_index(out.embed.dimension()), articles};
    if (!out.body_vectors) out.body_vectors = indexed<flat_index>{flat_index(out.embed.dimension()), articles};
}

// ------------------------------------------------------------------------------------------------------ the pipeline

// Fuses the legs that are used. A leg of weight 0 is not searched.
template <Retriever... Legs>
any_retriever fused(const settings& s, std::array<bool, sizeof...(Legs)> used, Legs... legs) {
    const auto weights = [&](float words, float vectors) {
        std::vector<float> out;
        for (const bool is_words : {std::same_as<typename Legs::scale, bm25_scale>...})
            out.push_back(!used[out.size()] ? 0.0f : is_words ? words : vectors);
        return out;
    };
    if (s.fuser == "rrf") return fuse(rrf{.weights = weights(1, 1)}, legs...);
    if (s.fuser == "convex") return fuse(convex{.weights = weights(.2f, .8f)}, legs...);
    if (s.fuser == "relative") return fuse(relative_score{.weights = weights(1, 1)}, legs...);
    if (s.fuser == "distribution") return fuse(distribution_based{.weights = weights(1, 1)}, legs...);
    return fuse(bounded{.weights = weights(1, 1)}, legs...);
}

any_retriever pipeline(const settings& s, const stock& in) {
    const auto words = lexical(*in.body_words);
    const auto vectors = dense(*in.body_vectors, in.embed);
    const auto articles = lift(s.returned());  // where chunks were indexed
    const std::array both{s.lanes.body_words, s.lanes.body_vectors};
    if (s.retriever == "bm25") return words | articles;
    if (s.retriever == "dense") return vectors | articles;
    if (s.retriever == "hybrid") return fused(s, {true, true}, words, vectors) | articles;

    if (s.retriever == "small_to_big") return fused(s, both, words, vectors) | articles;
    if (s.retriever == "hierarchical") {
        const hierarchical_options options{.beams = {s.beam}, .weights = {s.blend, 1.0f - s.blend}};
        const level documents{unit_kind::article, lexical(*in.top_words)};
        if (both == std::array{true, false})
            return hierarchical(options, documents, level{unit_kind::chunk, words}) | articles;
        return hierarchical(options, documents, level{unit_kind::chunk, fused(s, both, words, vectors)}) | articles;
    }
    if (s.retriever == "raptor") {
        // A tree's leg knows no bounds of its scores, so the two are fused by rank.
        const auto tree_of_words = raptor_collapsed(words, lexical(*in.top_words)) | articles;
        const auto tree_of_vectors = raptor_collapsed(vectors, dense(*in.top_vectors, in.embed)) | articles;
        if (both == std::array{true, false}) return tree_of_words;
        if (both == std::array{false, true}) return tree_of_vectors;
        return fuse(rrf{}, tree_of_words, tree_of_vectors);
    }

    const auto key_words = lexical(*in.key_words);
    const auto key_vectors = dense(*in.key_vectors, in.embed);
    const std::array used{s.lanes.key_words, s.lanes.key_vectors, s.lanes.body_words, s.lanes.body_vectors};
    if (used == std::array{true, false, false, false}) return whole_article(key_words);
    if (used == std::array{false, true, false, false}) return whole_article(key_vectors);
    return whole_article(fused(s, used, key_words, key_vectors, words, vectors));
}

// ------------------------------------------------------------------------------------------------------- the figures

struct figure {
    const char* name;
    double value;
};

std::vector<figure> figures_of(const evaluation& e) {
    return {{"ndcg@10", e.mean(ndcg_at{10})},       {"map", e.mean(average_precision{})},
            {"mrr", e.mean(reciprocal_rank{})},     {"p@30", e.mean(precision_at{30})},
            {"recall@3", e.mean(recall_at{3})},     {"recall@5", e.mean(recall_at{5})},
            {"recall@10", e.mean(recall_at{10})},   {"recall@20", e.mean(recall_at{20})},
            {"recall@100", e.mean(recall_at{100})}, {"recall@1000", e.mean(recall_at{1000})},
            {"success@1", e.mean(success_at{1})},   {"success@10", e.mean(success_at{10})}};
}

void warn(const std::vector<std::string>& warnings) {
    constexpr std::size_t shown = 3;
    for (std::size_t i = 0; i < std::min(shown, warnings.size()); ++i)
        std::cerr << "quarry_eval: " << warnings[i] << '\n';
    if (warnings.size() > shown) std::cerr << "quarry_eval: and " << warnings.size() - shown << " more like these\n";
}

class stopwatch {
   public:
    /// Seconds since it was made or last asked.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
    }

   private:
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

void measure(const settings& s) {
    std::vector<std::string> skipped;
    judged_set_files files{.queries = s.queries, .judgements = s.qrels};
    if (!s.articles.empty()) {
        tour::reading read = tour::read_folder(s.articles);
        for (tour::page& p : read.pages) files.articles.push_back(std::move(p.article));
        skipped = std::move(read.skipped);
        if (files.articles.empty()) refuse(s.articles + " holds no page that can be read");
    }
    judged_set set = read_judged_set(s.set, std::move(files));
    std::optional<rankings> other;
    if (!s.against.empty()) other = read_run(s.against);
    corpus articles =
        s.parents.empty() ? corpus_of(std::move(set.articles), s.chunk_words) : parts_of(std::move(set.articles), s);

    stopwatch watch;
    stock in;
    fill(in, s, set, articles);
    const double seconds_index = watch.lap();

    const any_retriever search = pipeline(s, in);
    std::vector<query> questions;
    std::vector<std::string> ids;
    for (const judged_query& q : set.queries)
        if (set.judged.contains(q.id)) questions.emplace_back(q.text), ids.push_back(q.id);
    watch.lap();
    const auto answers = search.retrieve(questions, s.depth);
    const double seconds_search = watch.lap();

    rankings found;
    for (std::size_t i = 0; i < ids.size(); ++i) found[ids[i]] = ranking_of(answers[i]);
    if (!s.run.empty()) write_run(s.run, found, s.retriever);
    const evaluation e(found, set.judged);
    std::optional<comparison> difference;
    if (other) {
        const std::vector<double> ours = e.per_query(ndcg_at{10});
        const std::vector<double> theirs = evaluation(*other, set.judged).per_query(ndcg_at{10});
        difference = compare({.a = ours, .b = theirs});
    }

    // Only now: where something is wrong, one line says what.
    warn(skipped);
    warn(set.warnings);
    warn(in.warnings);
    const std::string name = std::filesystem::weakly_canonical(s.set).filename().string();
    if (s.json) {
        nlohmann::ordered_json out{{"set", name}, {"retriever", s.retriever}, {"queries", e.size()}};
        for (const figure& f : figures_of(e)) out[f.name] = f.value;
        out["seconds_index"] = seconds_index;
        out["seconds_search"] = seconds_search;
        if (difference)
            out["against"] = {
                {"run", s.against},
                {"ndcg@10",
                 {{"difference", difference->difference}, {"low", difference->low}, {"high", difference->high}}}};
        std::cout << out.dump(2) << '\n';
        return;
    }
    std::cout << name << ", " << s.retriever << ": " << e.size() << " questions\n";
    for (const figure& f : figures_of(e))
        std::cout << "  " << f.name << std::string(14 - std::string_view(f.name).size(), ' ')
                  << detail::fixed(f.value, 4) << '\n';
    std::cout << "  indexed in " << detail::fixed(seconds_index, 2) << " s, all questions answered in "
              << detail::fixed(seconds_search, 2) << " s\n";
    if (difference)
        std::cout << "  ndcg@10 against " << s.against << ": " << (difference->difference < 0 ? "" : "+")
                  << detail::fixed(difference->difference, 4) << ", 95 % between " << detail::fixed(difference->low, 4)
                  << " and " << detail::fixed(difference->high, 4) << "; better on " << difference->better
                  << " questions, worse on " << difference->worse << '\n';
}

}  // namespace

int main(int argc, char* argv[]) {
    const std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
    if (std::ranges::find(arguments, "--help") != arguments.end()) {
        std::cout << usage;
        return 0;
    }
    try {
        measure(parsed(arguments));
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "quarry_eval: " << e.what() << '\n';
        return 2;
    }
}
