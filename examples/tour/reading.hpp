// Reading a folder of Markdown, HTML and text files. Shared by the programs that read somebody's own pages.
#pragma once

#include <filesystem>
#include <quarry/answer/snippet.hpp>
#include <quarry/core/metadata.hpp>
#include <quarry/core/schema.hpp>
#include <quarry/core/unit.hpp>
#include <quarry/text/front_matter.hpp>
#include <quarry/text/markdown.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tour {

/// A file as it was read: the article, and its front matter for whoever knows the types.
struct page {
    quarry::article article;
    quarry::front_matter front;
    std::string file;
};

/// The pages below a folder, in the order of their paths, and the files that could not be read, with the reason.
struct reading {
    std::vector<page> pages;
    std::vector<std::string> skipped;
};

/// Reads every .md, .markdown, .html, .htm and .txt below `folder`. A file's id is its front matter's, or its path without the
/// ending.
///
/// Errors  std::filesystem::filesystem_error if there is no such folder.
reading read_folder(const std::filesystem::path& folder);

/// A schema for what the front matter of all pages says: a field is an integer, number, date, boolean or list if every
/// page that has it agrees, else a text. The fields that make the article itself (id, title, summary) are left out.
quarry::schema inferred_schema(const std::vector<page>& pages);

/// The front matter of a page as metadata of this schema. Fields the schema does not declare are left out.
///
/// Errors  quarry::usage_error for a value that does not fit its field.
quarry::metadata metadata_of(const quarry::front_matter& front, const quarry::schema& fields);

/// A passage as a reader sees it, on one line, with dots where a sentence was cut.
std::string one_line(const quarry::passage& passage, std::string_view text);

}  // namespace tour
