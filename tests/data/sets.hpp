// Judged collections in the folder that QUARRY_DATA names. Without it, nothing is measured, and the test says so.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/core/query.hpp"
#include "quarry/eval/judged_set.hpp"
#include "quarry/eval/metrics.hpp"
#include "quarry/eval/run_file.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/model/given_vectors.hpp"
#include "support/catch.hpp"

namespace data {

inline std::string path_of(std::string_view name) {
    const char* folder = std::getenv("QUARRY_DATA");
    return folder ? std::string(folder) + "/" + std::string(name) : std::string();
}

enum class weight { light, heavy };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// May this be measured here? If not, says why, in the test's own output.
inline bool measured(std::string_view name, weight w = weight::light) {
    std::string reason;
    if (!std::getenv("QUARRY_DATA"))
        reason = "QUARRY_DATA is not set";
    else if (!std::filesystem::exists(path_of(name)))
        reason = path_of(name) + " is not there";
    else if (w == weight::heavy && sanitized)
        reason = "too slow with sanitizers, measured without them";
    if (reason.empty()) return true;
    WARN(name << ": not measured: " << reason);
    SUCCEED(name << ": not measured");
    return false;
}

inline nlohmann::json json_of(const std::string& name) {
    std::ifstream file(path_of(name));
    INFO(path_of(name));
    REQUIRE(file.good());
    return nlohmann::json::parse(file);
}

/// A set with the vectors that were computed for it. Does not move: indexes refer to the corpus.
class collection {
   public:
    explicit collection(const std::string& name) : name_(name) {
        quarry::judged_set set = quarry::read_judged_set(path_of(name));
        for (quarry::article& a : set.articles) articles.add(std::move(a));
        judged = std::move(set.judged);
        for (const quarry::judged_query& q : set.queries) {
            texts_.emplace(q.id, q.text);
            if (judged.contains(q.id)) questions.emplace_back(q.text), ids_.push_back(q.id);
        }
    }
    collection(const collection&) = delete;
    collection& operator=(const collection&) = delete;

    /// MiniLM's rows of the articles.
    quarry::flat_index article_vectors() const {
        std::vector<std::string> ids;
        std::vector<quarry::unit_id> units;
        for (std::size_t i = 0; i < articles.size(); ++i) {
            units.push_back(quarry::unit_at(i));
            ids.emplace_back(articles.id(units.back()));
        }
        const auto given = quarry::given_vectors::read(path_of(name_ + "/docs.minilm.384.f16"), std::move(ids));
        quarry::flat_index index(given.dimension());
        index.add(units, given.rows());
        return index;
    }

    /// MiniLM's rows of the questions, by their texts.
    quarry::given_vectors question_vectors() const {
        std::vector<std::string> texts;
        for (const auto& id : json_of(name_ + "/queries.minilm.ids.json")) texts.push_back(texts_.at(id));
        return quarry::given_vectors::read(path_of(name_ + "/queries.minilm.384.f16"), std::move(texts));
    }

    template <class Retriever>
    quarry::evaluation evaluated(const Retriever& search, std::size_t depth) const {
        const auto answers = search.retrieve(questions, depth);
        quarry::rankings found;
        for (std::size_t i = 0; i < ids_.size(); ++i) found[ids_[i]] = quarry::ranking_of(answers[i]);
        return quarry::evaluation(found, judged);
    }

    quarry::corpus articles;
    quarry::judgements judged;
    std::vector<quarry::query> questions;

   private:
    std::string name_;
    std::vector<std::string> ids_;
    std::map<std::string, std::string> texts_;
};

/// The measure that a reference file names: nDCG@10, MAP, MRR, P@5, R@100, hit@1.
inline double measure(const quarry::evaluation& e, const std::string& name) {
    const std::size_t at = name.find('@');
    const std::string kind = name.substr(0, at);
    const std::size_t k = at == std::string::npos ? 0 : std::stoul(name.substr(at + 1));
    if (kind == "nDCG") return e.mean(quarry::ndcg_at{k});
    if (kind == "MAP") return e.mean(quarry::average_precision{});
    if (kind == "MRR") return e.mean(quarry::reciprocal_rank{});
    if (kind == "P") return e.mean(quarry::precision_at{k});
    if (kind == "R") return e.mean(quarry::recall_at{k});
    if (kind == "hit") return e.mean(quarry::success_at{k});
    FAIL("no measure is called " << name);
    return 0.0;
}

inline Approx near(double value, double tolerance) { return Approx(value).margin(tolerance).epsilon(0); }

}  // namespace data
