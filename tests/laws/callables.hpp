// The laws of what is handed in: embedders, rerankers, fusers, expanders, tokenizers, sources.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "quarry/core/source.hpp"
#include "quarry/expand/key_expander.hpp"
#include "quarry/model/embedder.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/text/analyzer.hpp"
#include "support/catch.hpp"

namespace laws {

/// Runs `f` in eight threads and says whether each returned what it returns alone.
template <class F>
bool same_in_threads(F f) {
    const auto alone = f();
    std::vector<decltype(f())> answers(8);
    std::vector<std::thread> threads;
    for (auto& answer : answers) threads.emplace_back([&] { answer = f(); });
    for (auto& thread : threads) thread.join();
    return std::all_of(answers.begin(), answers.end(), [&](const auto& answer) { return answer == alone; });
}

/// n * d finite floats and not one more; a row depends on its text and role alone, not on its company or its order.
template <quarry::Embedder E>
void embedder(const E& e, const std::vector<std::string>& texts) {
    const std::size_t d = e.dimension(), n = texts.size();
    CHECK(d > 0);
    for (const quarry::role as : {quarry::role::document, quarry::role::query}) {
        const auto embed = [&](const std::vector<std::string_view>& views) {
            std::vector<float> rows(views.size() * d + 2, std::nanf(""));
            rows.front() = rows.back() = 42.0f;  // guards on either side
            e.embed(as, views, std::span(rows).subspan(1, views.size() * d));
            CHECK(rows.front() == 42.0f);
            CHECK(rows.back() == 42.0f);
            return std::vector<float>(rows.begin() + 1, rows.end() - 1);
        };
        const std::vector<float> together = embed({texts.begin(), texts.end()});
        for (const float x : together) CHECK(std::isfinite(x));
        CHECK(embed({texts.begin(), texts.end()}) == together);
        CHECK(embed({}).empty());
        for (std::size_t i = 0; i < n; ++i)
            CHECK(embed({texts[i]}) == std::vector<float>(together.begin() + static_cast<std::ptrdiff_t>(i * d),
                                                          together.begin() + static_cast<std::ptrdiff_t>(i * d + d)));
        const std::vector<float> backwards = embed({texts.rbegin(), texts.rend()});
        for (std::size_t i = 0; i < n; ++i)
            CHECK(std::equal(together.begin() + static_cast<std::ptrdiff_t>(i * d),
                             together.begin() + static_cast<std::ptrdiff_t>(i * d + d),
                             backwards.begin() + static_cast<std::ptrdiff_t>((n - 1 - i) * d)));
    }
    CHECK(e.dimension() == d);
    CHECK(same_in_threads([&] {
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        std::vector<float> rows(n * d);
        e.embed(quarry::role::document, views, rows);
        return rows;
    }));
}

/// As many finite scores as passages; a passage's score does not depend on its place.
template <quarry::Reranker R>
void reranker(const R& judge, std::string_view question, const std::vector<std::string>& passages) {
    const std::vector<std::string_view> views(passages.begin(), passages.end());
    const std::vector<std::string_view> backwards(passages.rbegin(), passages.rend());
    const std::vector<float> scores = judge(question, std::span<const std::string_view>(views));
    REQUIRE(scores.size() == passages.size());
    for (const float s : scores) CHECK(std::isfinite(s));
    const std::vector<float> again = judge(question, std::span<const std::string_view>(backwards));
    CHECK(std::vector<float>(again.rbegin(), again.rend()) == scores);
}

/// A better place or score never contributes less, more contributions never make less, and no place says nothing wrong.
template <quarry::Fuser F>
void fuser(const F& f) {
    f.check();
    const std::vector<std::vector<float>> lists{{9.0f, 4.0f, 4.0f, .5f}, {.9f, .2f, .1f}, {3.0f}, {2.0f, 2.0f}};
    for (const auto& scores : lists)
        for (const float weight : {0.0f, .5f, 1.0f}) {
            quarry::leg_summary leg;
            leg.weight = weight;
            leg.size = scores.size();
            leg.best = scores.front();
            leg.worst = scores.back();
            leg.bounds = {0.0f, 10.0f};
            for (const float s : scores) leg.mean += static_cast<double>(s) / static_cast<double>(scores.size());
            double squares = 0;
            for (const float s : scores) squares += std::pow(static_cast<double>(s) - leg.mean, 2);
            leg.deviation = std::sqrt(squares / static_cast<double>(scores.size()));
            if (scores.size() > 1) leg.sample_deviation = std::sqrt(squares / static_cast<double>(scores.size() - 1));
            float before = std::numeric_limits<float>::infinity();
            std::uint32_t rank = 0;
            for (const float s : scores) {
                const float part = f.contribution(leg, ++rank, s);
                CHECK(std::isfinite(part));
                CHECK(part <= before);
                if (weight == 0.0f) CHECK(part == 0.0f);
                before = part;
            }
        }
    using parts = std::vector<float>;
    CHECK(f.combine(parts{}) == 0.0f);
    CHECK(f.combine(parts{.25f}) == .25f);
    CHECK(f.combine(parts{.25f, .5f}) >= f.combine(parts{.25f, .25f}));
    CHECK(f.combine(parts{.25f, .5f}) >= f.combine(parts{.5f}));
    CHECK(f.combine(parts{.25f, .5f, .75f}) >= f.combine(parts{.5f, .75f}));
    CHECK(f.combine(parts{.25f, .5f}) >= F::scale::lowest);
    CHECK(f.combine(parts{1.0f, 1.0f}) <= F::scale::highest);
}

/// Keys of the unit asked about or of something above it, with words; the same every time.
template <quarry::KeyExpander X>
void key_expander(const X& expander, quarry::source_ref source) {
    using emitted = std::tuple<quarry::unit_id, quarry::key_part, std::string>;
    const auto all = [&] {
        std::vector<emitted> out;
        for (std::size_t i = 0; i < source.size(); ++i) {
            const quarry::unit_id unit = quarry::unit_at(i);
            if (source.kind(unit) != expander.level()) continue;
            expander(source, unit, [&](quarry::key k) { out.emplace_back(k.unit, k.part, k.text); });
        }
        return out;
    };
    const auto keys = all();
    CHECK_FALSE(keys.empty());
    CHECK(all() == keys);
    for (std::size_t i = 0; i < source.size(); ++i) {
        const quarry::unit_id unit = quarry::unit_at(i);
        if (source.kind(unit) != expander.level()) continue;
        std::set<quarry::unit_id> related;
        for (std::optional<quarry::unit_id> up = unit; up; up = source.parent(*up)) related.insert(*up);
        expander(source, unit, [&](quarry::key k) {
            CHECK(related.contains(k.unit));
            for (const auto& field : k.lexical) CHECK(field.weight > 0.0f);
        });
    }
    CHECK(same_in_threads(all));
}

/// Terms with words in them, spans inside the text, positions that never go back; the same every time.
template <quarry::Tokenizer T>
void tokenizer(const T& t, const std::vector<std::string>& texts) {
    using read = std::tuple<std::string, std::size_t, std::size_t, std::uint32_t, bool>;
    for (const std::string& text : texts) {
        CAPTURE(text);
        const auto all = [&] {
            std::vector<read> out;
            t(text, [&](const quarry::token& token) {
                out.emplace_back(token.term, token.begin, token.end, token.position, token.stop);
            });
            return out;
        };
        const auto tokens = all();
        std::uint32_t position = 0;
        for (const auto& [term, begin, end, place, stop] : tokens) {
            CHECK_FALSE(term.empty());
            CHECK(begin < end);
            CHECK(end <= text.size());
            CHECK(place >= position);
            position = place;
        }
        CHECK(all() == tokens);
        CHECK(same_in_threads(all));
    }
}

/// Every id leads back to its unit, every chain of parents ends, and a selection keeps what it says.
template <quarry::UnitSource S>
void unit_source(const S& s) {
    const quarry::source_ref source(s);
    for (std::size_t i = 0; i < source.size(); ++i) {
        const quarry::unit_id unit = quarry::unit_at(i);
        CHECK_FALSE(source.id(unit).empty());
        CHECK(source.find(source.id(unit)) == unit);
        std::size_t height = 0;
        for (auto up = source.parent(unit); up; up = source.parent(*up)) {
            CHECK(quarry::index_of(*up) < source.size());
            REQUIRE(++height <= source.size());  // no circle
        }
        if (source.kind(unit) == quarry::unit_kind::article) CHECK(height == 0);
        CHECK(source.article_of(source.article_of(unit)) == source.article_of(unit));
        // Views are of the source and stay.
        CHECK(source.text(unit).data() == source.text(unit).data());
        CHECK(source.span(unit).size() <= source.text(source.article_of(unit)).size());
        // Whoever is like a unit is neither the unit nor of its article.
        const quarry::selection others = source.select({nullptr, nullptr, true, unit});
        REQUIRE(others.units());
        others.units()->for_each([&](quarry::unit_id other) { CHECK(source.article_of(other) != source.article_of(unit)); });
    }
    CHECK_FALSE(source.find("an id that no unit has"));
    CHECK_FALSE(source.find(""));
    const quarry::selection all = source.select({nullptr, nullptr, true, std::nullopt});
    for (std::size_t i = 0; i < source.size(); ++i) CHECK(all.returned().contains(quarry::unit_at(i)));
    // What may be returned may be walked through.
    const quarry::selection some = source.select({});
    for (std::size_t i = 0; i < source.size(); ++i)
        if (some.returned().contains(quarry::unit_at(i))) CHECK(some.walked().contains(quarry::unit_at(i)));
}

}  // namespace laws
