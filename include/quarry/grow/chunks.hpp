// Chunks: articles grow parts of a size that can be embedded, returned and packed.
//
//     chunks{{.most_tokens = 200, .overlap_tokens = 40}}.grow(corpus);
//
// Each chunk is a unit: its text is a span of its article's, its title the path of the headings above it. The article is
// its parent, whatever other parts it has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/ids.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "../text/chunker.hpp"
#include "add_chunks.hpp"

namespace QUARRY_NAMESPACE {

/// A grower by the chunker, with its options and its counter of tokens.
template <TokenCounter Counter = approximate_tokens>
class chunks {
   public:
    explicit chunks(chunk_options options = {}, Counter counter = {}) : chunker_(options, std::move(counter)) {}

    /// Adds the chunks of one article, in order; says which they are. White space alone makes none.
    ///
    /// Errors  usage_error `corpus.duplicate_id` if the article has one of these parts already, `corpus.unknown_unit`;
    ///         what the counter throws. The corpus is then what it was.
    std::vector<unit_id> grow(corpus& c, unit_id article) const {
        const std::string_view text = c.text(article);
        std::vector<part> parts;
        for (text_chunk& piece : chunker_(text, c.headings(article))) {
            if (detail::trimmed(text.substr(piece.own.begin, piece.own.size())).empty()) continue;
            parts.push_back({.kind = unit_kind::chunk, .span = piece.span, .title = std::move(piece.path)});
        }
        return detail::add_chunks(c, article, std::move(parts), "quarry::chunks");
    }

    /// Adds the chunks of every article; says how many.
    std::size_t grow(corpus& c) const { return detail::grow_articles(*this, c); }

   private:
    chunker<Counter> chunker_;
};

}  // namespace QUARRY_NAMESPACE
