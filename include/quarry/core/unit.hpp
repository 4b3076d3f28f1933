// Units: what can be returned. Articles, their sections and chunks, and generated summaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "ids.hpp"
#include "metadata.hpp"

namespace QUARRY_NAMESPACE {

enum class unit_kind : std::uint8_t { article, section, chunk, generated };

constexpr std::string_view name_of(unit_kind kind) noexcept {
    constexpr std::string_view names[] = {"article", "section", "chunk", "generated"};
    return names[static_cast<std::size_t>(kind)];
}

/// Bytes [begin, end) of an article's text.
struct byte_span {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const noexcept { return end - begin; }
    friend bool operator==(const byte_span&, const byte_span&) = default;
};

/// A heading: its words, its level (1 is the top), and where its line stands in the article's text.
struct heading {
    std::string text;
    int level = 1;
    byte_span span{};
};

/// A link: where it leads, the words it stands on, and where it stands in the article's text.
struct link {
    std::string target;
    std::string text{};
    byte_span span{};
};

/// An article as the caller hands it in. `id` is the caller's own and durable; everything but the id may be empty.
struct article {
    std::string id;
    std::string title{};
    std::string summary{};
    std::string text{};
    std::vector<heading> headings{};
    std::vector<link> links{};
    metadata meta{};
};

/// A section or chunk: a span of its article's text, which is not copied. Metadata that it does not state itself is its
/// parent's. With an empty `id` it gets `<article id>#<begin>-<end>`.
struct part {
    unit_kind kind = unit_kind::chunk;
    byte_span span{};
    std::string title{};
    std::string id{};
    metadata meta{};
};

/// A generated unit, such as a summary: text that stands in no article, and the units it was made from.
struct generated {
    std::string id;
    std::string text;
    std::vector<unit_id> sources;
    std::string title{};
};

}  // namespace QUARRY_NAMESPACE
