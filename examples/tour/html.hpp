// An HTML page as an article: headings, links and the main text, without menus and scripts.
#pragma once

#include <quarry/core/unit.hpp>
#include <string>
#include <string_view>

namespace tour {

/// False if this program was built without libxml2; then no page can be read.
bool reads_html() noexcept;

/// The words of the page's main part: `<main>` or `<article>` if there is one, else the body without navigation, headers,
/// footers, forms and scripts. Blocks are paragraphs, divided by an empty line; spans of headings and links are places
/// in this text. Bytes are decoded as the page declares them, else as UTF-8.
///
/// Errors  std::runtime_error for a page that holds no text, or is nested deeper than the parser allows.
quarry::article read_html(std::string_view page, std::string id);

}  // namespace tour
