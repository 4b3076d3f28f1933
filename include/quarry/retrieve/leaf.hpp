// What the leaves share: from an index's keys to units, in a request.
//
// Not a retriever itself: dense.hpp and lexical.hpp are, and one of your own over another kind of index can be.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/key_index.hpp"
#include "../core/retriever.hpp"
#include "../rank/collapse.hpp"

namespace QUARRY_NAMESPACE {

/// The k best units of an index for a probe, each by its best key.
///
/// Asks for m (k - 1) + 1 keys, m the most keys of one unit: with an exact index that is enough for k units if k exist,
/// and a shorter answer is all there is. An index that says it is `approximate()` may answer short and hold more: it is
/// asked for twice as many until there are k units, all that the filter lets through, or everything was asked for.
template <class Index, class Probe>
results<typename Index::scale> search_units(const Index& index, const Probe& probe, request& q, std::size_t k,
                                            std::string_view stage, const key_table* keys) {
    results<typename Index::scale> out;
    bool exact = true;
    if constexpr (requires { { index.approximate() } -> std::convertible_to<bool>; }) exact = !index.approximate();
    const std::size_t possible = q.allowed().units ? (std::min)(k, q.allowed().units->count()) : k;
    std::vector<scored_key> units;
    const std::size_t size = index.size();
    std::size_t wanted = detail::keys_needed(possible, index.most_keys_of_a_unit(), size);
    while (wanted != 0) {
        q.check();
        std::vector<scored_key> found;
        if constexpr (ReportingIndex<Index, Probe>) {
            search_report report;
            found = index.search(probe, wanted, q.allowed(), report);
            exact = report.complete;
            q.tell({trace_code::searched, stage, wanted, found.size()});
            q.tell({trace_code::planned, name_of(report.plan), q.allowed().units ? q.allowed().units->count() : size,
                    report.scored});
            q.remark(name_of(report.plan), name_of(report.reason));
        } else {
            found = index.search(probe, wanted, q.allowed());
            q.tell({trace_code::searched, stage, wanted, found.size()});
        }
        units = collapse(found);
        if (units.size() >= possible || (exact && found.size() < wanted) || wanted >= size) break;
        const std::size_t more = wanted > size / 2 ? size : 2 * wanted;
        q.tell({trace_code::widened, stage, wanted, more});
        wanted = more;
    }
    if (!exact) out.state = result_state::approximate;
    if (units.size() > k) units.resize(k);
    q.tell({trace_code::collapsed, stage, wanted, units.size()});
    out.hits.reserve(units.size());
    q.expect_notes(units.size());
    for (const scored_key& u : units) {
        const auto rank = static_cast<std::uint32_t>(out.hits.size() + 1);
        out.hits.push_back(
            {u.unit, u.key, u.score, q.note({stage, keys, u.key, rank, u.score, 1.0f, u.score, no_entry, no_entry})});
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
