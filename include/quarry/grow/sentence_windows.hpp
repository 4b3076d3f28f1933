// Sentence windows: each sentence is found by itself, and comes back with its neighbours.
//
//     sentence_windows{}.grow(articles);
//     const auto kb = build(articles, identity{.of = unit_kind::chunk}, embed);     // sentences
//     auto search = dense(kb.vectors, embed) | lift(unit_kind::section);            // windows
//
// For every sentence a section that reaches from `around` sentences before it to `around` after it, and in it the
// sentence as a chunk. Windows share the article's text and end where it ends. Sentences whose windows are the same
// share one.
//
// It is for articles that have no chunks and sections of another sort: these would be lifted to as well.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "../text/boundaries.hpp"

namespace QUARRY_NAMESPACE {

struct sentence_windows {
    std::size_t around = 3;  // sentences on either side

    /// Adds windows and sentences of one article, in order; says which units are the sentences.
    ///
    /// Errors  usage_error `corpus.duplicate_id` if the article has one of these parts already, `corpus.unknown_unit`.
    ///         The corpus is then what it was.
    std::vector<unit_id> grow(corpus& c, unit_id article) const {
        const std::string text(c.text(article)), id(c.id(article)), title(c.title(article));
        std::vector<byte_span> sentences;
        for_each_sentence(text, [&](std::size_t begin, std::size_t end) {
            while (begin < end && detail::is_ascii_space(text[begin])) ++begin;
            while (end > begin && detail::is_ascii_space(text[end - 1])) --end;
            if (begin < end) sentences.push_back({begin, end});
        });
        const auto name = [&](const char* what, byte_span span) {
            return detail::concat(id, '#', what, span.begin, '-', span.end);
        };
        const auto window = [&](std::size_t i) {
            const std::size_t first = i > around ? i - around : 0;
            const std::size_t last = sentences.size() - i > around ? i + around : sentences.size() - 1;
            return byte_span{sentences[first].begin, sentences[last].end};
        };
        for (std::size_t i = 0; i < sentences.size(); ++i)
            for (const std::string& taken : {name("window-", window(i)), name("sentence-", sentences[i])})
                if (c.find(taken))
                    detail::raise<usage_error>("corpus.duplicate_id", "quarry::sentence_windows: there is a unit " +
                                                                          detail::quoted(taken) + " already");
        std::vector<unit_id> out;
        std::map<std::size_t, std::map<std::size_t, unit_id>> windows;
        for (std::size_t i = 0; i < sentences.size(); ++i) {
            const byte_span span = window(i);
            auto& ends = windows[span.begin];
            if (!ends.contains(span.end))
                ends.emplace(span.end, c.add_part(article, {.kind = unit_kind::section,
                                                            .span = span,
                                                            .title = title,
                                                            .id = name("window-", span)}));
            out.push_back(c.add_part(ends.at(span.end), {.kind = unit_kind::chunk,
                                                         .span = sentences[i],
                                                         .title = {},
                                                         .id = name("sentence-", sentences[i])}));
        }
        return out;
    }

    /// The same for every article; says how many sentences there are.
    std::size_t grow(corpus& c) const {
        std::size_t count = 0;
        const std::size_t before = c.size();
        for (std::size_t i = 0; i < before; ++i)
            if (c.kind(unit_at(i)) == unit_kind::article) count += grow(c, unit_at(i)).size();
        return count;
    }
};

}  // namespace QUARRY_NAMESPACE
