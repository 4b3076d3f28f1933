#include "html.hpp"

#include <stdexcept>

#ifdef QUARRY_HAS_LIBXML2

#include <libxml/HTMLparser.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace tour {
namespace {

using quarry::article;

struct free_document {
    void operator()(xmlDoc* document) const noexcept { xmlFreeDoc(document); }
};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::ranges::find(names, name) != names.end();
}

std::string_view view_of(const xmlChar* text) {
    return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

std::string_view name_of(const xmlNode* node) {
    return node->type == XML_ELEMENT_NODE ? view_of(node->name) : std::string_view();
}

std::string attribute(xmlNode* node, const char* name) {
    xmlChar* value = xmlGetProp(node, reinterpret_cast<const xmlChar*>(name));
    std::string out(view_of(value));
    xmlFree(value);
    return out;
}

bool is_never_text(std::string_view name) {
    constexpr std::array<std::string_view, 13> names{"script", "style",  "noscript", "template", "svg",    "iframe", "head",
                                                     "object", "select", "button",   "canvas",   "textarea", "audio"};
    return is_one_of(name, names);
}

bool is_around_the_text(std::string_view name) {
    constexpr std::array<std::string_view, 5> names{"nav", "header", "footer", "aside", "form"};
    return is_one_of(name, names);
}

bool is_block(std::string_view name) {
    constexpr std::array<std::string_view, 32> names{
        "p",  "div", "section", "article", "main", "ul", "ol",    "dl", "li",         "dt",     "dd",         "pre",
        "h1", "h2",  "h3",      "h4",      "h5",   "h6", "table", "tr", "blockquote", "figure", "figcaption", "hr",
        "td", "th",  "address", "details", "body", "center", "summary", "caption"};
    return is_one_of(name, names);
}

int heading_level(std::string_view name) {
    return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

xmlNode* first_named(xmlNode* node, std::string_view name) {
    for (; node; node = node->next) {
        if (name_of(node) == name) return node;
        if (xmlNode* found = first_named(node->children, name)) return found;
    }
    return nullptr;
}

// Writes text as a browser shows it: white space is one space, blocks are apart.
class page_writer {
 public:
    page_writer(article& out, bool skips_surroundings) : out_(out), skips_surroundings_(skips_surroundings) {}

    // The parser allows a depth of 256, so recursion is safe.
    void write(xmlNode* node) {
        for (; node; node = node->next) {
            if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) put(view_of(node->content));
            else if (node->type == XML_ELEMENT_NODE) write_element(node);
        }
    }

 private:
    void write_element(xmlNode* node) {
        const std::string_view name = name_of(node);
        if (is_never_text(name) || (skips_surroundings_ && is_around_the_text(name))) return;
        if (name == "br") return line();
        if (name == "img") return put(attribute(node, "alt"));
        if (is_block(name)) paragraph();
        const bool was_verbatim = std::exchange(verbatim_, verbatim_ || name == "pre");
        if (const int level = heading_level(name)) {
            if (const quarry::byte_span span = written(node); span.size() != 0)
                out_.headings.push_back({flat(span), level, span});
        } else if (name == "a" && xmlHasProp(node, reinterpret_cast<const xmlChar*>("href"))) {
            if (const quarry::byte_span span = written(node); span.size() != 0)
                out_.links.push_back({attribute(node, "href"), flat(span), span});
        } else {
            write(node->children);
        }
        verbatim_ = was_verbatim;
        if (is_block(name)) paragraph();
    }

    // Where the node's words stand, without the space that comes before them.
    quarry::byte_span written(xmlNode* node) {
        const std::size_t before = out_.text.size();
        write(node->children);
        const std::size_t begin = (std::min)(out_.text.find_first_not_of(" \n", before), out_.text.size());
        return {begin, out_.text.size()};
    }

    std::string flat(quarry::byte_span span) const {
        std::string words = out_.text.substr(span.begin, span.size());
        std::ranges::replace(words, '\n', ' ');
        return words;
    }

    void put(std::string_view words) {
        for (const char c : words) {
            const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
            if (verbatim_ && blank) {
                if (c == '\n') line();
                else if (c != '\r') indent_ += c == '\t' ? ' ' : c;
            } else if (blank) {
                space_ = true;
            } else {
                if (breaks_ == 0 && space_ && !out_.text.empty()) out_.text += ' ';
                if (!out_.text.empty()) out_.text.append(breaks_, '\n');
                out_.text += indent_;
                out_.text += c;
                breaks_ = 0;
                space_ = false;
                indent_.clear();
            }
        }
    }
    void line() {
        indent_.clear();
        space_ = false;
        breaks_ = verbatim_ ? (std::min)(breaks_ + 1, std::size_t{2}) : (std::max)(breaks_, std::size_t{1});
    }
    void paragraph() {
        indent_.clear();
        space_ = false;
        breaks_ = 2;
    }

    article& out_;
    bool skips_surroundings_, verbatim_ = false, space_ = false;
    std::size_t breaks_ = 0;  // ends of lines that the next word writes first
    std::string indent_;      // in front of it
};

}  // namespace

bool reads_html() noexcept { return true; }

article read_html(std::string_view page, std::string id) {
    if (page.size() > 100'000'000) throw std::runtime_error("is larger than 100 MB");
    const int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
    // What a page declares wins; a byte-order mark wins over that; without either it is taken for UTF-8.
    const std::string_view start = page.substr(0, 2048);
    const bool declares = start.find("charset") != std::string_view::npos || start.find("encoding=") != std::string_view::npos;
    const std::unique_ptr<xmlDoc, free_document> document(htmlReadMemory(
        page.data(), static_cast<int>(page.size()), nullptr, declares ? nullptr : "UTF-8", options));
    xmlNode* root = document ? xmlDocGetRootElement(document.get()) : nullptr;
    if (!root) throw std::runtime_error("holds nothing that can be read as HTML");

    article out{.id = std::move(id)};
    if (xmlNode* title = first_named(root, "title")) {
        page_writer(out, false).write(title->children);
        out.title = std::exchange(out.text, {});
    }
    xmlNode* text = first_named(root, "main");
    if (!text) text = first_named(root, "article");
    xmlNode* body = first_named(root, "body");
    page_writer(out, true).write((text ? text : body ? body : root)->children);
    if (out.text.empty()) throw std::runtime_error("holds no text");
    if (out.title.empty() && !out.headings.empty()) out.title = out.headings.front().text;
    return out;
}

}  // namespace tour

#else

namespace tour {

bool reads_html() noexcept { return false; }

quarry::article read_html(std::string_view, std::string) {
    throw std::runtime_error("is HTML, which this program was built without (package libxml2-dev)");
}

}  // namespace tour

#endif
