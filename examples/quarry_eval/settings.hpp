// What is to be measured: quarry_eval's command line, read and checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "quarry/core/unit.hpp"

namespace quarry_eval {

extern const char* const usage;

struct settings {
    std::string set, retriever, articles, queries, qrels, run, against, parents, expand = "none", contexts;
    std::size_t depth = 1000;
    bool json = false;

    std::string analyzer = "english";
    float k1 = 0.9f, b = 0.4f, title_weight = 1.0f;
    bool lucene_lengths = false;
    float blend = 0.3f;
    std::size_t beam = 0;

    bool given_vectors = false;  // and not lsa
    std::size_t dimension = 0;
    std::string doc_vectors, query_vectors, query_ids, key_vectors;

    std::string fuser = "bounded";
    std::size_t tuned_on = 0;  // judged questions that choose the legs' weights; 0: both count in full
    std::size_t chunk_words = 0;
    std::string keys;

    std::string probe = "none", probe_texts, self_query = "none", graph = "none", rerank_scores;
    std::optional<float> lambda;  // of maximal marginal relevance

    struct {
        bool key_words = false, key_vectors = false, body_words = false, body_vectors = false;
    } lanes{};

    bool needs_vectors() const { return lanes.key_vectors || lanes.body_vectors || retriever == "raptor"; }

    /// What bodies are, and what is returned.
    quarry::unit_kind bodies() const {
        return chunk_words == 0 && parents.empty() ? quarry::unit_kind::article : quarry::unit_kind::chunk;
    }
    quarry::unit_kind returned() const {
        return parents.empty() ? quarry::unit_kind::article : quarry::unit_kind::chunk;
    }
};

/// Every complaint about the command line or a file ends the program with status 2 and this one line.
[[noreturn]] void refuse(const std::string& reason);

settings parsed(const std::vector<std::string>& arguments);

}  // namespace quarry_eval
