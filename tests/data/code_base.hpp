// The code bases of anthropic_contextual: files as articles, the chunks that the set has of them as parts.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/core/key_index.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "data/sets.hpp"

namespace data {

class code_base {
    inline static const std::string name = "anthropic_contextual";

   public:
    quarry::corpus files;
    std::vector<quarry::unit_id> chunks;  // in the set's order
    quarry::judged_set set = quarry::read_judged_set(path_of(name));

    code_base() {
        for (const nlohmann::json& file : lines("docs.jsonl"))
            files.add({.id = file.at("id"), .title = file.at("title"), .text = file.at("text")});
        std::map<std::string, std::size_t> from;
        for (const nlohmann::json& chunk : lines("corpus.jsonl")) {
            const std::string id = chunk.at("id"), text = chunk.at("text"), file = id.substr(0, id.find("_chunk_"));
            const quarry::unit_id article = *files.find(file);
            std::size_t at = files.text(article).find(text, from[file]);
            if (at == std::string::npos) at = files.text(article).find(text);
            REQUIRE(at != std::string::npos);
            from[file] = at + 1;
            chunks.push_back(files.add_part(article, {.span = {at, at + text.size()}, .id = id}));
        }
    }

    quarry::indexed<quarry::flat_index> vectors(const std::string& file) const {
        std::vector<std::string> ids;
        for (const quarry::unit_id chunk : chunks) ids.emplace_back(files.id(chunk));
        const auto given = quarry::given_vectors::read(path_of(name + "/" + file), std::move(ids));
        quarry::flat_index index(given.dimension());
        index.add(chunks, given.rows());
        return {std::move(index), files};
    }
    quarry::given_vectors question_vectors() const {
        std::map<std::string, std::string> texts;
        for (const quarry::judged_query& q : set.queries) texts.emplace(q.id, q.text);
        std::vector<std::string> rows;
        for (const auto& id : json_of(name + "/queries.minilm.ids.json")) rows.push_back(texts.at(id));
        return quarry::given_vectors::read(path_of(name + "/queries.minilm.384.f16"), std::move(rows));
    }

    template <class Retriever>
    quarry::evaluation evaluated(const Retriever& search) const {
        quarry::rankings found;
        for (const quarry::judged_query& q : set.queries)
            if (set.judged.contains(q.id)) found[q.id] = quarry::ranking_of(search.retrieve(q.text, 20));
        return quarry::evaluation(found, set.judged);
    }

   private:
    static std::vector<nlohmann::json> lines(const std::string& file) {
        std::ifstream in(path_of(name + "/" + file));
        std::vector<nlohmann::json> out;
        for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
        return out;
    }
};

/// As code is indexed for the figures.
inline quarry::build_options for_code() { return {.words = quarry::code(), .bm25 = {.k1 = 1.2f, .b = .75f}}; }

/// Says what was measured, and holds it to the floor.
inline void check_recall(const std::string& what, const quarry::evaluation& e, double at5, double at10, double at20) {
    const double r5 = e.mean(quarry::recall_at{5}), r10 = e.mean(quarry::recall_at{10});
    const double r20 = e.mean(quarry::recall_at{20});
    WARN(what << ": recall at 5/10/20 " << r5 << " / " << r10 << " / " << r20);
    CHECK(r5 >= at5);
    CHECK(r10 >= at10);
    CHECK(r20 >= at20);
}

}  // namespace data
