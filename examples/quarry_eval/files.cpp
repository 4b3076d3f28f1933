#include "files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "quarry/eval/judged_set.hpp"
#include "tour/reading.hpp"

namespace quarry_eval {

using namespace quarry;

namespace {

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

corpus corpus_of(std::vector<article> articles, schema fields, std::size_t chunk_words) {
    corpus out(std::move(fields));
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


// A field of corpus.jsonl as front matter would say it, if it is a value or a list of texts.
std::optional<front_matter_entry> field_of(const std::string& name, const nlohmann::json& value) {
    front_matter_entry out{.name = name};
    if (value.is_string()) {
        out.text = value.get<std::string>();
        out.quoted = !date_time::parse(out.text);  // "2024" is a text, 2024 a number
    } else if (value.is_boolean()) {
        out.text = value.get<bool>() ? "true" : "false";
    } else if (value.is_number_integer()) {
        out.text = detail::concat(value.get<std::int64_t>());
    } else if (value.is_number()) {
        out.text = detail::concat(value.get<double>());
    } else if (value.is_array() && std::ranges::all_of(value, [](const auto& v) { return v.is_string(); })) {
        for (const auto& element : value) out.list.push_back(element.get<std::string>());
        for (const std::string& text : out.list) out.text += (out.text.empty() ? "" : ", ") + text;
        out.is_list = true;
    } else {
        return std::nullopt;
    }
    return out;
}

// The articles' metadata: what corpus.jsonl says of them besides the article itself. Not headings and Markdown: where
// questions were made from headings, a filter over them would give the answers away.
schema add_metadata(std::vector<article>& articles, const std::string& path) {
    const auto left_out = {"id", "title", "text", "summary", "headings", "markdown"};
    std::vector<tour::page> pages;
    for_each_json_line(path, [&](const json_line& line) {
        tour::page& p = pages.emplace_back();
        for (const auto& [name, value] : line.object().items())
            if (std::ranges::find(left_out, name) == left_out.end())
                if (auto entry = field_of(name, value)) p.front.entries.push_back(std::move(*entry));
    });
    schema fields = tour::inferred_schema(pages);
    for (std::size_t i = 0; i < articles.size(); ++i) articles[i].meta = tour::metadata_of(pages[i].front, fields);
    return fields;
}

}  // namespace

measured_set read_set(const settings& s) {
    std::vector<std::string> skipped;
    judged_set_files files{.queries = s.queries, .judgements = s.qrels};
    if (!s.articles.empty()) {
        tour::reading read = tour::read_folder(s.articles);
        for (tour::page& p : read.pages) files.articles.push_back(std::move(p.article));
        skipped = std::move(read.skipped);
        if (files.articles.empty()) refuse(s.articles + " holds no page that can be read");
    }
    judged_set set = read_judged_set(s.set, std::move(files));
    schema fields;
    if (s.self_query != "none") fields = add_metadata(set.articles, s.set + "/corpus.jsonl");
    measured_set out{.articles = s.parents.empty() ? corpus_of(std::move(set.articles), std::move(fields), s.chunk_words)
                                                   : parts_of(std::move(set.articles), s),
                     .questions = {},
                     .judged = std::move(set.judged),
                     .warnings = std::move(skipped)};
    for (judged_query& q : set.queries) out.questions.push_back({std::move(q.id), std::move(q.text)});
    out.warnings.insert(out.warnings.end(), set.warnings.begin(), set.warnings.end());
    return out;
}

std::map<std::string, std::vector<std::string>> texts_about(const std::string& path) {
    std::map<std::string, std::vector<std::string>> out;
    for_each_json_line(path, [&](const json_line& line) { out[line.text("id")].push_back(line.text("text")); });
    return out;
}

std::vector<std::string> ids_in(const std::string& path) {
    const std::string text = detail::read_file(path);
    std::vector<std::string> ids;
    if (!detail::trimmed(text).starts_with('[')) {
        detail::for_each_line(text, [&](std::string_view line, std::size_t) {
            if (!detail::trimmed(line).empty()) ids.emplace_back(detail::trimmed(line));
        });
        return ids;
    }
    const auto list = nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false);
    const auto is_text = [](const nlohmann::json& id) { return id.is_string(); };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text)) refuse(path + ": no JSON list of texts");
    for (const auto& id : list) ids.push_back(id.get<std::string>());
    return ids;
}

std::vector<listed_key> listed_keys(const std::string& path, const corpus& articles) {
    const std::map<std::string_view, key_part> parts{{"title", key_part::title},
                                                     {"summary", key_part::summary},
                                                     {"heading", key_part::heading},
                                                     {"phrase", key_part::phrase}};
    std::vector<listed_key> out;
    for_each_json_line(path, [&](const json_line& line) {
        const std::string id = line.text("id"), kind = line.text("kind");
        const auto unit = articles.find(id);
        const auto part = parts.find(kind);
        if (!unit) line.refuse("there is no article " + detail::quoted(id));
        if (part == parts.end())
            line.refuse("the kind is title, summary, heading or phrase, not " + detail::quoted(kind));
        out.push_back({*unit, part->second, line.text("text")});
    });
    return out;
}

std::vector<std::pair<unit_id, unit_id>> listed_links(const settings& s, const corpus& articles) {
    std::vector<std::pair<unit_id, unit_id>> out;
    for_each_json_line(s.set + "/corpus.jsonl", [&](const json_line& line) {
        const auto from = articles.find(line.text("id"));
        const auto links = line.object().find("links");
        if (!from || links == line.object().end()) return;
        for (const auto& link : *links)
            if (const auto to = link.is_string() ? articles.find(link.get<std::string>()) : std::nullopt)
                out.emplace_back(*from, *to);
    });
    if (out.empty()) refuse(s.set + "/corpus.jsonl has no links between its articles");
    return out;
}

std::vector<listed_score> listed_scores(const std::string& path, const measured_set& set) {
    std::map<std::string_view, std::string_view> text_of;
    for (const question_text& q : set.questions) text_of[q.id] = q.text;
    std::vector<listed_score> out;
    detail::for_each_line(detail::read_file(path), [&](std::string_view line, std::size_t number) {
        if (detail::trimmed(line).empty()) return;
        const auto refuse_line = [&](const std::string& reason) {
            refuse(detail::concat(path, ':', number, ": ", reason));
        };
        const auto fields = detail::judgement_fields(line);
        if (fields.size() != 3)
            refuse_line(detail::concat("a line is query, document and score, this one has ", fields.size(), " fields"));
        const auto question = text_of.find(fields[0]);
        const auto unit = set.articles.find(fields[1]);
        if (question == text_of.end()) refuse_line("there is no query " + detail::quoted(fields[0]));
        if (!unit) refuse_line("there is no article " + detail::quoted(fields[1]));
        float score = 0.0f;
        const auto read = std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), score);
        if (read.ec != std::errc() || read.ptr != fields[2].data() + fields[2].size() || !std::isfinite(score))
            refuse_line("the score " + detail::quoted(fields[2]) + " is no number");
        out.push_back({std::string(question->second), *unit, score});
    });
    return out;
}

}  // namespace quarry_eval
