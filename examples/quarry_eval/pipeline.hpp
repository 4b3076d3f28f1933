// From settings and indexes to one retriever: what is searched, fused, judged and kept.
#pragma once

#include <memory>
#include <vector>

#include "files.hpp"
#include "indexes.hpp"
#include "quarry/core/results.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "settings.hpp"

namespace quarry_eval {

/// What of a question's other texts, conditions and judged articles a pipeline needs. Must outlive it.
class extras;
std::shared_ptr<const extras> read_extras(const settings& s, const measured_set& set);

/// What each kind of leg counts.
struct leg_weights {
    float words = 1.0f, vectors = 1.0f;
};

/// The stock and the extras must outlive what is returned.
quarry::any_retriever pipeline(const settings& s, const stock& in, const extras& more, leg_weights weights = {});

/// The mean cosine of two of the first n hits, over all answers that have two.
double redundancy(const std::vector<quarry::results<quarry::unknown_scale>>& answers, const quarry::flat_index& rows,
                  std::size_t n);

}  // namespace quarry_eval
