// Things to store, and what must hold of every stored thing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "quarry/core/corpus.hpp"
#include "quarry/core/error.hpp"
#include "quarry/store/bytes.hpp"
#include "support/catch.hpp"

namespace stored {

/// Units of every kind, metadata of every type, headings, links, an empty article, texts beyond ASCII.
inline quarry::corpus everything() {
    using namespace quarry;
    corpus c(schema{{"flag", field_type::boolean},
                    {"year", field_type::integer, "of publication"},
                    {"price", field_type::number},
                    {"product", field_type::string},
                    {"updated", field_type::date_time},
                    {"tags", field_type::string_list}});
    article a{.id = "reset",
              .title = "Reset a password",
              .summary = "How to",
              .text = "Open settings. Choose a new password."};
    a.headings.push_back({"Steps", 2, {0, 14}});
    a.links.push_back({"https://example.org/\u00e9", "here", {3, 7}});
    a.meta = {{"flag", true},
              {"year", 2023},
              {"price", 2.5},
              {"product", "app"},
              {"tags", std::vector<std::string>{"a", ""}}};
    a.meta.add("updated", *date_time::parse("2024-05-07"));
    c.add(std::move(a));
    c.add({.id = "\u68c0\u7d22",
           .text = "\u5411\u91cf\u68c0\u7d22 password",
           .meta = {{"price", 3}, {"updated", "2024-05-07T10:30:15.250Z"}}});
    c.add({.id = "empty"});
    const unit_id section = c.add_part(unit_id{0}, {.kind = unit_kind::section, .span = {0, 30}, .title = "Steps"});
    c.add_part(section, {.span = {15, 30}, .meta = {{"flag", false}}});
    const unit_id summary = c.add_generated({.id = "sum", .text = "passwords", .sources = {unit_id{0}, unit_id{1}}});
    c.add_generated({.id = "sum of sums", .text = "all", .sources = {summary, unit_id{2}}, .title = "T"});
    return c;
}

/// Whether bytes changed by a stranger who computes checksums are refused, or mean something: then they are what would
/// be written. `rewritten(bytes)` reads, uses and writes again. Says how many changes were refused.
template <class Rewritten>
std::size_t refuses_or_keeps(const std::string& bytes, Rewritten rewritten) {
    std::size_t refused = 0;
    const auto attempt = [&](const std::string& changed) {
        try {
            const std::string again = rewritten(changed);
            if (again != changed) FAIL("a changed file was read and written differently");
        } catch (const quarry::error&) {
            ++refused;
        }
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (const int change : {1, 0x80, 0xFF}) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ change);
            attempt(changed);
        }
        attempt(bytes.substr(0, i));
    }
    // Counts and sizes that cannot be: at every place a number of 8 bytes.
    for (std::size_t i = 0; i + 8 <= bytes.size(); ++i)
        for (const std::uint64_t n :
             {UINT64_MAX, std::uint64_t{1} << 61, std::uint64_t{1} << 40, std::uint64_t{1} << 31}) {
            std::string changed = bytes;
            quarry::detail::store(changed.data() + i, n);
            attempt(changed);
        }
    return refused;
}

}  // namespace stored
