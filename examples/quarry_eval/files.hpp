// What quarry_eval reads: the judged set as a corpus, and texts and scores that were made elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/core/key.hpp"
#include "quarry/eval/metrics.hpp"
#include "settings.hpp"

namespace quarry_eval {

struct question_text {
    std::string id, text;
};

/// A judged set, its articles cut or put into their documents as the settings want it.
struct measured_set {
    quarry::corpus articles;
    std::vector<question_text> questions;  // all of the file
    quarry::judgements judged;
    std::vector<std::string> warnings{};
};

measured_set read_set(const settings& s);

/// Lines of {"id": ..., "text": ...}: the texts of an id, in the order of the file.
std::map<std::string, std::vector<std::string>> texts_about(const std::string& path);

/// A JSON list of texts, or one a line.
std::vector<std::string> ids_in(const std::string& path);

struct listed_key {
    quarry::unit_id unit;
    quarry::key_part part;
    std::string text;
};

/// Lines of {"id": ..., "kind": ..., "text": ...}: keys of articles.
std::vector<listed_key> listed_keys(const std::string& path, const quarry::corpus& articles);

/// The links of corpus.jsonl between articles that are there.
std::vector<std::pair<quarry::unit_id, quarry::unit_id>> listed_links(const settings& s, const quarry::corpus& articles);

struct listed_score {
    std::string question;  // its text
    quarry::unit_id unit;
    float score;
};

/// Lines of "query document score", tabs or spaces between.
std::vector<listed_score> listed_scores(const std::string& path, const measured_set& set);

}  // namespace quarry_eval
