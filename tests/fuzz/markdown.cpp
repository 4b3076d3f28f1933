// Markdown of any bytes: spans lie in the file and in order, and the article's text is the body, byte for byte.
#include <string>

#include "fuzz.hpp"
#include "quarry/core/error.hpp"
#include "quarry/text/markdown.hpp"

using namespace quarry;
using fuzz::require;

namespace {

template <class Items>
void require_order(const Items& items, byte_span within) {
    std::size_t last = within.begin;
    for (const auto& item : items) {
        require(item.span.begin >= last && item.span.begin < item.span.end && item.span.end <= within.end,
                "what was found lies in the body, in order");
        last = item.span.begin;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view file = fuzz::text_of(data, size);
    plain_words(file);
    markdown_document document;
    try {
        document = read_markdown(file);
    } catch (const data_error& e) {
        require(e.code() == "markdown.front_matter", "only front matter that is not closed is refused");
        return 0;
    }
    require(document.body.end == size && document.body.begin <= size, "the body goes to the end of the file");
    require_order(document.headings, document.body);
    require_order(document.links, document.body);
    require_order(document.images, document.body);
    const article a = to_article(file, document, "id");
    require(a.text == file.substr(document.body.begin), "the article's text is the body");
    require(!a.id.empty(), "the article has an id");
    require(a.headings.size() == document.headings.size(), "the article has all headings");
    require_order(a.headings, {0, a.text.size()});
    return 0;
}
