// Chunks: articles grow parts of a size that can be embedded, returned and packed.
//
//     chunks{{.most_tokens = 200, .overlap_tokens = 40}}.grow(corpus);
//
// Each chunk is a unit: its text is a span of its article's, its title the path of the headings above it. The article is
// its parent, whatever other parts it has.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/unit.hpp"
#include "../detail/text.hpp"
#include "../text/chunker.hpp"

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
        // Copied: adding a part may move what views point to.
        const std::string text(c.text(article)), id(c.id(article));
        const std::span<const heading> given = c.headings(article);
        std::vector<part> parts;
        for (text_chunk& piece : chunker_(text, std::vector<heading>(given.begin(), given.end()))) {
            if (detail::trimmed(std::string_view(text).substr(piece.own.begin, piece.own.size())).empty()) continue;
            part p{.kind = unit_kind::chunk, .span = piece.span, .title = std::move(piece.path)};
            p.id = detail::concat(id, '#', piece.span.begin, '-', piece.span.end);
            if (c.find(p.id))
                detail::raise<usage_error>("corpus.duplicate_id",
                                           "quarry::chunks: there is a unit " + detail::quoted(p.id) + " already");
            parts.push_back(std::move(p));
        }
        std::vector<unit_id> grown;
        for (part& p : parts) grown.push_back(c.add_part(article, std::move(p)));
        return grown;
    }

    /// Adds the chunks of every article; says how many.
    std::size_t grow(corpus& c) const {
        std::size_t count = 0;
        const std::size_t before = c.size();
        for (std::size_t i = 0; i < before; ++i)
            if (c.kind(unit_at(i)) == unit_kind::article) count += grow(c, unit_at(i)).size();
        return count;
    }

   private:
    chunker<Counter> chunker_;
};

}  // namespace QUARRY_NAMESPACE
