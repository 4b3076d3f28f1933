// Run files: rankings as TREC tools exchange them, `query Q0 document rank score tag`.
//
//     answers["q7"] = ranking_of(search.retrieve(question, 1000));
//     write_run("bm25.run", answers, "bm25");
//
// The surprising thing: trec_eval ignores the order of the lines and the rank, sorts by score, and breaks ties by
// document id, its own way round. So equal scores are written a hair apart, in our order: as floats, since that is what
// scores are read into, and with digits enough to be read back as they are.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/file.hpp"
#include "../core/results.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "metrics.hpp"

namespace QUARRY_NAMESPACE {

/// The documents in the order they stand in, each with a score below the one before: its own where that is so already,
/// otherwise the next float down that tells the two apart (at least 1e-30 less, so that nothing depends on denormals).
///
/// Errors  usage_error `run.score` for scores that are not finite, and where no lower float is left.
ranking strictly_decreasing(ranking in_order);

/// The string ids of the hits with strictly decreasing scores: what trec_eval and `evaluation` will not reorder.
template <Scale S>
ranking ranking_of(const results<S>& found) {
    ranking out;
    for (const hit<S>& h : found) out.push_back({std::string(found.source().id(h.unit)), h.score});
    return strictly_decreasing(std::move(out));
}

/// The text of a run file: queries in ascending order of id, documents as they stand, scores strictly decreasing.
///
/// Errors  usage_error `run.id` for an id or a tag that is empty or holds white space, since fields are separated by
///         it; `run.score`.
std::string to_run(const rankings& answers, std::string_view tag);

/// Errors  those of to_run; data_error `file.open`, `file.write`.
void write_run(const std::string& path, const rankings& answers, std::string_view tag);

/// The rankings of a run file. Fields beyond the sixth are ignored, and so are the second and the rank.
///
/// Errors  data_error `run.line` naming file and line: too few fields, a score that is no finite number, a document
///         that the query has already; `file.open`, `file.read`.
rankings read_run(const std::string& path);

// ------------------------------------------------------------------------------------------------------------- detail

inline ranking strictly_decreasing(ranking in_order) {
    constexpr float most = (std::numeric_limits<float>::max)();
    float below = std::numeric_limits<float>::infinity();
    for (scored_document& document : in_order) {
        if (!detail::is_finite(document.score))
            detail::raise<usage_error>("run.score", "quarry::strictly_decreasing: the score of " +
                                                        detail::quoted(document.id) + " is not a finite number");
        if (document.score >= below) document.score = (std::min)(std::nextafter(below, -most), below - 1e-30f);
        if (document.score >= below)
            detail::raise<usage_error>(
                "run.score",
                "quarry::strictly_decreasing: no float is left below the score of " + detail::quoted(document.id));
        below = document.score;
    }
    return in_order;
}

namespace detail {

inline void require_field(std::string_view field, std::string_view what) {
    if (field.empty() || std::ranges::any_of(field, is_ascii_space))
        raise<usage_error>("run.id", concat("quarry::to_run: the ", what, ' ', detail::quoted(field),
                                            " is empty or holds white space, which separates the fields of a run"));
}

/// The next field of `rest`, or nothing.
inline std::string_view take_field(std::string_view& rest) noexcept {
    rest = trimmed(rest);
    std::size_t end = 0;
    while (end < rest.size() && !is_ascii_space(rest[end])) ++end;
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end);
    return field;
}

}  // namespace detail

inline std::string to_run(const rankings& answers, std::string_view tag) {
    detail::require_field(tag, "tag");
    std::string out;
    for (const auto& [query, found] : answers) {
        detail::require_field(query, "query id");
        std::size_t rank = 0;
        for (const scored_document& document : strictly_decreasing(found)) {
            detail::require_field(document.id, "document id");
            out += detail::concat(query, " Q0 ", document.id, ' ', ++rank, ' ', document.score, ' ', tag, '\n');
        }
    }
    return out;
}

inline void write_run(const std::string& path, const rankings& answers, std::string_view tag) {
    detail::write_file(path, to_run(answers, tag));
}

inline rankings read_run(const std::string& path) {
    rankings answers;
    std::map<std::string, std::unordered_set<std::string>, std::less<>> seen;
    const std::string text = detail::read_file(path);
    detail::for_each_line(text, [&](std::string_view line, std::size_t number) {
        const auto refuse = [&](const std::string& reason) {
            detail::raise<data_error>("run.line", detail::concat(path, ':', number, ": ", reason));
        };
        if (detail::trimmed(line).empty()) return;
        std::string_view field[6];
        std::size_t fields = 0;
        for (std::string_view rest = line; fields < 6; ++fields)
            if ((field[fields] = detail::take_field(rest)).empty()) break;
        if (fields < 6) refuse(detail::concat("a line of a run has 6 fields, this one has ", fields));
        std::string_view digits = field[4];
        if (digits.starts_with('+')) digits.remove_prefix(1);
        double score = 0.0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), score);
        constexpr double most = static_cast<double>((std::numeric_limits<float>::max)());
        if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || !(score >= -most && score <= most))
            refuse("the score " + detail::quoted(field[4]) + " is no finite number");
        const std::string query(field[0]), document(field[2]);
        if (!seen[query].insert(document).second)
            refuse(detail::concat("query ", query, " has document ", document, " already"));
        answers[query].push_back({document, static_cast<float>(score)});
    });
    return answers;
}

}  // namespace QUARRY_NAMESPACE
