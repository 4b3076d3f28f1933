#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string_view>

#include "quarry/detail/text.hpp"

namespace quarry_eval {

namespace detail = quarry::detail;
using quarry::unit_kind;

const char* const usage = R"(quarry_eval --set DIR --retriever NAME [options]

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
  --tune N             hybrid: N judged questions, drawn at random, choose how much each leg counts; measured on the
                       others, and compared there with legs that count in full

Which questions are searched for
  --probe NAME         none (default); multi or stepback: also each text of --probe-texts, the lists fused by rank;
                       hyde: by the mean of the question's vector and those of the texts
  --probe-texts FILE   texts that a model wrote for a question, {"id": ..., "text": ...} a line, several lines a question
  --self-query NAME    none (default); rules: conditions in a question ("before 2024") become a filter over the other
                       fields of corpus.jsonl, all but headings and markdown: those may hold the questions. The words
                       that are left are searched for, or with given vectors all of them

What is connected
  --graph NAME         none (default); walk or pagerank: from what was found along the links of corpus.jsonl, "links":
                       [ids]; fused_walk and fused_pagerank: the same fused by rank with what was found

What is kept
  --rerank-scores FILE a judge's scores, "query document score" a line: what it scored comes first, best first
  --mmr L              bm25, dense, hybrid: picks by maximal marginal relevance, L of it relevance, from as many as
                       --depth, at least 50; also prints redundancy@10, the mean cosine of two of the first ten

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

void refuse(const std::string& reason) { throw std::runtime_error(reason); }

namespace {

template <class Number>
Number number(std::string_view option, std::string_view text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size())
        refuse(detail::concat(option, " takes a number, not ", detail::quoted(text)));
    return value;
}

void require_one_of(std::string_view option, std::string_view value, std::initializer_list<std::string_view> names) {
    if (std::ranges::find(names, value) != names.end()) return;
    std::string all;
    for (const std::string_view& name : names)
        all += detail::concat(&name == names.begin() ? "" : &name + 1 == names.end() ? " or " : ", ", name);
    refuse(detail::concat(option, " is ", all, ", not ", detail::quoted(value)));
}

/// What an option gives that has no place of its own in the settings.
struct unchecked {
    std::string embedder, lanes;
    float lambda = -1.0f;
};

unchecked read_options(settings& s, const std::vector<std::string>& arguments) {
    unchecked u;
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
                                                         {"--embedder", &u.embedder},
                                                         {"--query-vectors", &s.query_vectors},
                                                         {"--keys", &s.keys},
                                                         {"--lanes", &u.lanes},
                                                         {"--key-vectors", &s.key_vectors},
                                                         {"--analyzer", &s.analyzer},
                                                         {"--probe", &s.probe},
                                                         {"--probe-texts", &s.probe_texts},
                                                         {"--self-query", &s.self_query},
                                                         {"--graph", &s.graph},
                                                         {"--rerank-scores", &s.rerank_scores}};
    const std::map<std::string_view, std::size_t*> counts{{"--depth", &s.depth},
                                                          {"--dim", &s.dimension},
                                                          {"--chunks", &s.chunk_words},
                                                          {"--beam", &s.beam},
                                                          {"--tune", &s.tuned_on}};
    const std::map<std::string_view, float*> numbers{{"--k1", &s.k1},
                                                     {"--b", &s.b},
                                                     {"--title-weight", &s.title_weight},
                                                     {"--blend", &s.blend},
                                                     {"--mmr", &u.lambda}};
    const std::map<std::string_view, bool*> flags{{"--json", &s.json}, {"--lucene-lengths", &s.lucene_lengths}};

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
        if (option == "--mmr") s.lambda = u.lambda;
    }
    if (s.set.empty()) refuse("--set DIR is missing; see --help");
    require_one_of("--retriever", s.retriever,
                   {"bm25", "dense", "hybrid", "whole_article", "small_to_big", "hierarchical", "raptor"});
    require_one_of("--analyzer", s.analyzer, {"english", "unicode", "code", "german", "plain"});
    require_one_of("--expand", s.expand, {"none", "path", "structure", "summary", "questions", "contexts"});
    require_one_of("--fuse", s.fuser, {"bounded", "rrf", "convex", "relative", "distribution"});
    require_one_of("--probe", s.probe, {"none", "multi", "hyde", "stepback"});
    require_one_of("--self-query", s.self_query, {"none", "rules"});
    require_one_of("--graph", s.graph, {"none", "walk", "pagerank", "fused_walk", "fused_pagerank"});
    return u;
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

bool is_plain(const settings& s) {
    return s.retriever == "bm25" || s.retriever == "dense" || s.retriever == "hybrid";
}

void check_retriever(settings& s, const std::string& lanes) {
    if (is_plain(s) && !lanes.empty()) refuse("--lanes does not belong to " + s.retriever);
    const bool articles = s.retriever == "whole_article";
    const std::map<std::string_view, std::string_view> usual{
        {"bm25", "bm25:bodies"}, {"dense", "dense:bodies"}, {"whole_article", "dense:keys"}};
    const auto own = usual.find(s.retriever);
    choose_lanes(s, !lanes.empty() ? lanes : own != usual.end() ? own->second : "bm25:bodies,dense:bodies");

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
    if (s.retriever == "raptor" && s.fuser != "bounded" && s.fuser != "rrf")
        refuse("raptor is fused by bounded or rrf, not \"" + s.fuser + "\"");
    if (!(s.blend >= 0.0f && s.blend < 1.0f)) refuse("--blend lies in [0, 1)");
    if ((s.expand == "questions" || s.expand == "contexts") && s.contexts.empty())
        refuse("--expand " + s.expand + " needs --contexts FILE");
    if (s.retriever == "small_to_big" && s.expand != "none")
        refuse("small_to_big has keys of its own, and no --expand");
    if (s.tuned_on != 0 && s.retriever != "hybrid") refuse("--tune belongs to hybrid: it weighs two legs");
    if (s.tuned_on != 0 && !s.against.empty()) refuse("--tune compares with untuned legs, and not --against a run");
}

void check_stages(settings& s) {
    if (s.lambda && (!is_plain(s) || s.bodies() != s.returned()))
        refuse("--mmr belongs to bm25, dense and hybrid, without --chunks: it compares what is returned");
    if (s.lambda && !(*s.lambda >= 0.0f && *s.lambda <= 1.0f)) refuse("--mmr lies in [0, 1]");
    if (s.lambda) s.lanes.body_vectors = true;
    if ((s.probe == "none") != s.probe_texts.empty()) refuse("--probe and --probe-texts FILE go together");
    if (s.probe == "hyde" && !s.lanes.body_vectors && !s.lanes.key_vectors)
        refuse("--probe hyde moves a question's vector, and nothing here is searched by vectors");
    if (s.probe != "none" && s.self_query != "none")
        refuse("--probe and --self-query are measured one at a time: texts of others hold no conditions");
    if (s.self_query != "none" && !s.parents.empty()) refuse("--self-query goes without --parents");
    if ((s.self_query != "none" || s.graph != "none") && !s.articles.empty())
        refuse("--self-query and --graph need a corpus.jsonl with its fields");
}

void check_vectors(settings& s, std::string embedder) {
    const bool any_file = !(s.doc_vectors + s.query_vectors + s.query_ids + s.key_vectors).empty();
    if (embedder.empty()) embedder = any_file ? "vectors" : "lsa";
    require_one_of("--embedder", embedder, {"lsa", "vectors"});
    s.given_vectors = embedder == "vectors";
    if (!s.given_vectors && any_file) refuse("--embedder lsa makes its own vectors, and files of others were given");
    if (!s.given_vectors || !s.needs_vectors()) return;
    if (s.query_vectors.empty() || s.query_ids.empty()) refuse("given vectors need --query-vectors and --query-ids");
    if (s.lanes.body_vectors && s.doc_vectors.empty()) refuse("given vectors need --doc-vectors");
    if (s.lanes.key_vectors && (s.keys.empty() || s.key_vectors.empty()))
        refuse("given vectors for keys need --keys and --key-vectors");
    if (s.chunk_words != 0) refuse("--chunks needs --embedder lsa: there is a given vector per article");
    if (s.retriever == "raptor" || s.retriever == "small_to_big")
        refuse(s.retriever + " needs --embedder lsa: it embeds what it makes");
    if (s.probe != "none") refuse("--probe needs --embedder lsa or no vectors: there is a given vector per question");
}

}  // namespace

settings parsed(const std::vector<std::string>& arguments) {
    settings s;
    const unchecked u = read_options(s, arguments);
    check_retriever(s, u.lanes);
    check_stages(s);
    check_vectors(s, u.embedder);
    return s;
}

}  // namespace quarry_eval
