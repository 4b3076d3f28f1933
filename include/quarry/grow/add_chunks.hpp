// Adding the chunks of an article, however they were cut.
#pragma once

#include <cstddef>
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

namespace QUARRY_NAMESPACE::detail {  // not promised

/// Names each part by its article and span, and adds them in order; says which units they are.
///
/// Errors  usage_error `corpus.duplicate_id`, in the name of `who`, if the article has one of them already. Nothing is
///         added then.
inline std::vector<unit_id> add_chunks(corpus& c, unit_id article, std::vector<part> parts, std::string_view who) {
    const std::string id(c.id(article));
    for (part& p : parts) {
        p.id = concat(id, '#', p.span.begin, '-', p.span.end);
        if (c.find(p.id))
            raise<usage_error>("corpus.duplicate_id",
                               concat(who, ": there is a unit ", detail::quoted(p.id), " already"));
    }
    std::vector<unit_id> grown;
    for (part& p : parts) grown.push_back(c.add_part(article, std::move(p)));
    return grown;
}

/// Grows every article that is there; says how many units that gave.
template <class Grower>
std::size_t grow_articles(const Grower& grower, corpus& c) {
    std::size_t count = 0;
    const std::size_t before = c.size();
    for (std::size_t i = 0; i < before; ++i)
        if (c.kind(unit_at(i)) == unit_kind::article) count += grower.grow(c, unit_at(i)).size();
    return count;
}

}  // namespace QUARRY_NAMESPACE::detail
