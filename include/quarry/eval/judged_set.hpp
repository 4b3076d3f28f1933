// Judged sets: articles, questions, and which articles answer which.
//
//     judged_set set = read_judged_set("data/scifact");
//
// A folder of three files: corpus.jsonl (an object a line: `id`, `title`, `text`, perhaps `summary`), queries.jsonl
// (`id`, `text`) and qrels.tsv (query id, document id, grade). Other fields are not read; in particular not `headings`:
// in a set whose questions were made from headings, indexing them gives the answers away.
//
// The surprising thing: a judgement that names a document which is not there is no error. It counts among the relevant,
// as in trec_eval, so that recall cannot reach 1; figures that were published so can be met, and the warning says what
// is missing.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/file.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "json_lines.hpp"
#include "metrics.hpp"

namespace QUARRY_NAMESPACE {

struct judged_query {
    std::string id, text;
};

struct judged_set {
    std::vector<article> articles;      // in the order of the file
    std::vector<judged_query> queries;  // in the order of the file; those that nobody judged do not count
    judgements judged;
    std::vector<std::string> warnings;  // a sentence each, with file and line: judgements that name nothing
};

/// Files to read in place of those in the folder.
struct judged_set_files {
    std::string corpus{}, queries{}, judgements{};
    std::vector<article> articles{};  // read from elsewhere: if there are any, no corpus file is read
};

/// Reads a set whole, or throws.
///
/// Fields of a judgement are separated by tabs where a line has one, otherwise by spaces. Four fields are TREC's, with
/// the second ignored; a first line that names the columns, as in BEIR's files, is skipped.
/// Errors  data_error naming file and line: `json.line` (an id that is empty or given twice among others),
///         `judged_set.line` (a judgement with too few fields, a grade that is no whole number, a pair judged twice);
///         `judged_set.queries` if no query was judged; `judged_set.articles` for given articles with an empty or equal
///         id; `file.open`, `file.read`.
judged_set read_judged_set(const std::string& folder, judged_set_files files = {});

/// Judgements alone, for grading run files: nobody knows then which documents exist.
///
/// Errors  data_error `judged_set.line`, `file.open`, `file.read`.
judgements read_judgements(const std::string& path);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline std::vector<std::string_view> judgement_fields(std::string_view line) {
    std::vector<std::string_view> fields;
    if (line.find('\t') == std::string_view::npos) {
        for (std::string_view rest = trimmed(line); !rest.empty(); rest = trimmed(rest)) {
            const std::size_t end = (std::min)(rest.find(' '), rest.size());
            fields.push_back(rest.substr(0, end));
            rest.remove_prefix(end);
        }
        return fields;
    }
    for (;;) {
        const std::size_t end = line.find('\t');
        fields.push_back(trimmed(line.substr(0, end)));
        if (end == std::string_view::npos) return fields;
        line.remove_prefix(end + 1);
    }
}

/// Calls `f(where, query, document, grade)` for every judgement; `where` is "file:line: ".
template <class F>
void for_each_judgement(const std::string& path, F f) {
    const std::string text = read_file(path);
    for_each_line(text, [&](std::string_view line, std::size_t number) {
        if (trimmed(line).empty()) return;
        const std::string where = concat(path, ':', number, ": ");
        const auto fields = judgement_fields(line);
        if (number == 1 && (fields.front() == "query-id" || fields.front() == "query_id")) return;
        if (fields.size() != 3 && fields.size() != 4)
            raise<data_error>("judged_set.line",
                              concat(where, "a judgement has 3 fields (query, document, grade) or 4, ",
                                     "this line has ", fields.size()));
        const std::string query(fields.front()), document(fields[fields.size() - 2]);
        const std::string_view digits = fields.back();
        int grade = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), grade);
        if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
            raise<data_error>("judged_set.line",
                              concat(where, "the grade ", detail::quoted(digits), " is no whole number"));
        if (query.empty() || document.empty())
            raise<data_error>("judged_set.line",
                              concat(where, "the ", query.empty() ? "query" : "document", " is empty"));
        f(where, query, document, grade);
    });
}

inline void add_judgement(judgements& judged, const std::string& where, const std::string& query,
                          const std::string& document, int grade) {
    if (!judged[query].emplace(document, grade).second)
        raise<data_error>("judged_set.line",
                          concat(where, "query ", query, " has judged document ", document, " before"));
}

}  // namespace detail

inline judgements read_judgements(const std::string& path) {
    judgements judged;
    detail::for_each_judgement(
        path, [&](const std::string& where, const std::string& query, const std::string& document, int grade) {
            detail::add_judgement(judged, where, query, document, grade);
        });
    return judged;
}

inline judged_set read_judged_set(const std::string& folder, judged_set_files files) {
    const auto in_folder = [&](std::string& file, std::string_view name) {
        if (file.empty()) file = detail::concat(folder, folder.ends_with('/') ? "" : "/", name);
    };
    in_folder(files.corpus, "corpus.jsonl");
    in_folder(files.queries, "queries.jsonl");
    in_folder(files.judgements, "qrels.tsv");

    std::unordered_set<std::string> documents, queries;
    const auto new_id = [](const json_line& line, std::unordered_set<std::string>& known) {
        std::string id = line.text("id");
        if (id.empty()) line.refuse("the id is empty");
        if (!known.insert(id).second) line.refuse("the id " + detail::quoted(id) + " was given before");
        return id;
    };
    judged_set set;
    set.articles = std::move(files.articles);
    for (const article& a : set.articles)
        if (a.id.empty() || !documents.insert(a.id).second)
            detail::raise<data_error>("judged_set.articles", "the id " + detail::quoted(a.id) + " of an article is empty "
                                                             "or was given before");
    if (set.articles.empty()) for_each_json_line(files.corpus, [&](const json_line& line) {
        set.articles.push_back({.id = new_id(line, documents),
                                .title = line.text_or_empty("title"),
                                .summary = line.text_or_empty("summary"),
                                .text = line.text("text")});
    });
    for_each_json_line(files.queries, [&](const json_line& line) {
        set.queries.push_back({new_id(line, queries), line.text("text")});
    });
    detail::for_each_judgement(files.judgements, [&](const std::string& where, const std::string& query,
                                                     const std::string& document, int grade) {
        const bool new_query = !set.judged.contains(query);
        detail::add_judgement(set.judged, where, query, document, grade);
        if (new_query && !queries.contains(query))
            set.warnings.push_back(
                detail::concat(where, "query ", query, " is judged and has no text; it counts as unanswered"));
        if (!documents.contains(document))
            set.warnings.push_back(detail::concat(where, "query ", query, " judges document ", document,
                                                  ", which is not in the corpus",
                                                  grade > 0 ? "; it counts as never found" : ""));
    });
    if (std::ranges::none_of(set.queries, [&](const judged_query& q) { return set.judged.contains(q.id); }))
        detail::raise<data_error>("judged_set.queries",
                                  detail::concat("no query of ", files.queries, " is judged in ", files.judgements));
    return set;
}

}  // namespace QUARRY_NAMESPACE
