#include "reading.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "html.hpp"

namespace tour {
namespace {

namespace fs = std::filesystem;

bool is_html(const fs::path& file) { return file.extension() == ".html" || file.extension() == ".htm"; }

bool is_page(const fs::path& file) {
    const fs::path ending = file.extension();
    return ending == ".md" || ending == ".markdown" || ending == ".txt" || is_html(file);
}

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot be opened");
    std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    // Binary files end in .txt now and then. A NUL is in no text that anybody wrote.
    if (all.find('\0') != std::string::npos) throw std::runtime_error("holds NUL bytes and is no text");
    return all;
}

// A text file has no front matter; its first line is its title.
quarry::article read_text(std::string text, std::string id) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte-order mark
    std::string title = text.substr(0, text.find_first_of("\r\n"));
    title.resize(quarry::code_point_boundary(title, 80));
    return {.id = std::move(id), .title = std::move(title), .text = std::move(text)};
}

page read_page(const fs::path& file, const fs::path& folder) {
    std::string text = contents(file);
    std::string id = file.lexically_relative(folder).replace_extension().generic_string();
    if (file.extension() == ".txt") return {read_text(std::move(text), std::move(id)), {}, file.string()};
    if (is_html(file)) return {read_html(text, std::move(id)), {}, file.string()};
    quarry::markdown_document document = quarry::read_markdown(text);
    return {quarry::to_article(text, document, id), std::move(document.front), file.string()};
}

bool is_article_field(std::string_view name) {
    return name == "id" || name == "title" || name == "summary" || name == "description";
}

template <class Number>
std::optional<Number> read_as(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

quarry::field_type type_of(const quarry::front_matter_entry& entry) {
    using quarry::field_type;
    if (entry.is_list) return field_type::string_list;
    if (entry.quoted) return field_type::string;
    if (entry.text == "true" || entry.text == "false") return field_type::boolean;
    if (read_as<std::int64_t>(entry.text)) return field_type::integer;
    if (read_as<double>(entry.text)) return field_type::number;
    return quarry::date_time::parse(entry.text) ? field_type::date_time : field_type::string;
}

quarry::field_value value_of(const quarry::front_matter_entry& entry, quarry::field_type type) {
    using quarry::field_type;
    switch (type) {
        case field_type::string_list:
            return entry.list;
        case field_type::boolean:
            return entry.text == "true";
        case field_type::integer:
            if (const auto integer = read_as<std::int64_t>(entry.text)) return *integer;
            break;
        case field_type::number:
            if (const auto number = read_as<double>(entry.text)) return *number;
            break;
        default:
            break;
    }
    return entry.text;  // a date is read by the schema
}

}  // namespace

reading read_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        if (entry.is_regular_file() && is_page(entry.path())) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    reading out;
    for (const fs::path& file : files) {
        try {
            out.pages.push_back(read_page(file, folder));
        } catch (const std::exception& e) {
            out.skipped.push_back(file.string() + ": " + e.what());
        }
    }
    return out;
}

quarry::schema inferred_schema(const std::vector<page>& pages) {
    std::vector<quarry::field> found;
    for (const page& p : pages)
        for (const quarry::front_matter_entry& entry : p.front.entries) {
            if (is_article_field(entry.name) || entry.name.empty()) continue;
            const auto type = type_of(entry);
            const auto known = std::ranges::find(found, entry.name, &quarry::field::name);
            if (known == found.end()) {
                found.push_back({entry.name, type});
            } else if (known->type != type) {
                using quarry::field_type;
                const bool numbers = (known->type == field_type::number || known->type == field_type::integer) &&
                                     (type == field_type::number || type == field_type::integer);
                known->type = numbers ? field_type::number : field_type::string;
            }
        }
    quarry::schema out;
    for (quarry::field& f : found) out.add(std::move(f));
    return out;
}

quarry::metadata metadata_of(const quarry::front_matter& front, const quarry::schema& fields) {
    quarry::metadata out;
    for (const quarry::front_matter_entry& entry : front.entries) {
        const auto position = fields.find(entry.name);
        if (position && !out.find(entry.name)) out.add(entry.name, value_of(entry, fields[*position].type));
    }
    return out;
}

std::string one_line(const quarry::passage& passage, std::string_view text) {
    return (passage.begins_early ? "... " : "") + quarry::plain_words(passage.text(text)) +
           (passage.ends_early ? " ..." : "");
}

}  // namespace tour
