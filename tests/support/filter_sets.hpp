// Questions with their right filters: reading them, and telling whether two filters say the same.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "quarry/core/filter.hpp"
#include "quarry/core/schema.hpp"

namespace filter_sets {

using quarry::field_type;
using quarry::field_value;
using quarry::filter;
using quarry::filter_op;

/// A filter in one way of writing: no `in`, no `not` above a leaf that has an opposite, `and` and `or` flat and sorted,
/// bounds of whole numbers and days inclusive. Two filters that are written differently and always keep the same units
/// mostly become the same text; two that do not never do.
inline std::string canonical(const filter& f, const quarry::schema& fields, bool negated = false);

namespace detail {

inline std::string joined(std::string_view name, std::set<std::string> parts) {
    std::set<std::string> flat;
    const std::string open = std::string(name) + "(";
    for (const std::string& part : parts) {
        if (!part.starts_with(open)) {
            flat.insert(part);
            continue;
        }
        // Split at the top level: the part was made here, so texts in it are quoted and brackets balance.
        std::string one;
        int depth = 0;
        bool quoted = false;
        for (std::size_t i = open.size(); i + 1 < part.size(); ++i) {
            const char c = part[i];
            if (c == '"') quoted = !quoted;
            if (!quoted && c == '(') ++depth;
            if (!quoted && c == ')') --depth;
            if (!quoted && depth == 0 && c == ';') {
                flat.insert(one);
                one.clear();
            } else {
                one += c;
            }
        }
        flat.insert(one);
    }
    if (flat.size() == 1) return *flat.begin();
    std::string out = open;
    for (const std::string& part : flat) out += (out.size() > open.size() ? ";" : "") + part;
    return out + ")";
}

inline std::string leaf(filter_op op, std::string_view field, field_value v, const quarry::schema& fields) {
    const bool whole = fields[*fields.find(field)].type == field_type::integer;
    const auto step = [&](int by) {
        if (const auto* i = v.get_if<std::int64_t>(); i && whole) return v = *i + by, true;
        if (const auto* t = v.get_if<quarry::date_time>(); t && t->is_day()) {
            using namespace std::chrono;
            const year_month_day d{floor<days>(sys_time<milliseconds>(milliseconds(t->starts()))) + days{by}};
            v = *quarry::date_time::day(static_cast<int>(d.year()), static_cast<unsigned>(d.month()),
                                        static_cast<unsigned>(d.day()));
            return true;
        }
        return false;
    };
    if (op == filter_op::gt && step(1)) op = filter_op::ge;
    if (op == filter_op::lt && step(-1)) op = filter_op::le;
    return std::string(name_of(op)) + " " + std::string(field) + " " + v.to_string();
}

inline filter_op opposite(filter_op op) {
    switch (op) {
        case filter_op::eq: return filter_op::ne;
        case filter_op::ne: return filter_op::eq;
        case filter_op::lt: return filter_op::ge;
        case filter_op::le: return filter_op::gt;
        case filter_op::gt: return filter_op::le;
        case filter_op::ge: return filter_op::lt;
        case filter_op::in: return filter_op::nin;
        case filter_op::nin: return filter_op::in;
        default: return op;
    }
}

}  // namespace detail

inline std::string canonical(const filter& f, const quarry::schema& fields, bool negated) {
    if (f.op() == filter_op::none_of) return canonical(f.children().front(), fields, !negated);
    if (!f.is_leaf()) {
        std::set<std::string> parts;
        for (const filter& child : f.children()) parts.insert(canonical(child, fields, negated));
        return detail::joined((f.op() == filter_op::all_of) != negated ? "and" : "or", parts);
    }
    const filter_op op = negated ? detail::opposite(f.op()) : f.op();
    if (op == filter_op::in || op == filter_op::nin) {
        std::set<std::string> parts;
        for (const field_value& v : f.values())
            parts.insert(detail::leaf(op == filter_op::in ? filter_op::eq : filter_op::ne, f.field(), v, fields));
        return detail::joined(op == filter_op::in ? "or" : "and", parts);
    }
    const bool has_opposite = op != f.op();
    const std::string text = f.values().empty() ? std::string(name_of(op)) + " " + std::string(f.field())
                                                : detail::leaf(op, f.field(), f.values().front(), fields);
    return negated && !has_opposite ? "not " + text : text;
}

/// "none", or the canonical text of a filter after its values took the types of the schema.
inline std::string canonical(const std::optional<filter>& f, const quarry::schema& fields) {
    return f ? canonical(checked(*f, fields), fields) : "none";
}

inline field_value value_of(const nlohmann::json& v) {
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<std::int64_t>();
    if (v.is_number()) return v.get<double>();
    if (v.is_array()) return v.get<std::vector<std::string>>();
    return v.get<std::string>();
}

/// The filter that a set's JSON means: null, {"op", "field", "value"} or {"op", "args"}.
inline std::optional<filter> filter_of(const nlohmann::json& j) {
    if (j.is_null()) return std::nullopt;
    const std::string op = j.at("op");
    if (op == "and" || op == "or" || op == "not") {
        std::vector<filter> parts;
        for (const auto& arg : j.at("args")) parts.push_back(*filter_of(arg));
        if (op == "not") return !parts.front();
        return op == "and" ? all_of(std::move(parts)) : any_of(std::move(parts));
    }
    static const std::map<std::string, filter_op> names = {
        {"eq", filter_op::eq}, {"ne", filter_op::ne},  {"lt", filter_op::lt}, {"lte", filter_op::le},
        {"gt", filter_op::gt}, {"gte", filter_op::ge}, {"in", filter_op::in}, {"contains", filter_op::contains}};
    std::vector<field_value> values;
    if (op == "in") {
        for (const auto& v : j.at("value")) values.push_back(value_of(v));
    } else {
        values.push_back(value_of(j.at("value")));
    }
    return filter::leaf(names.at(op), j.at("field").get<std::string>(), std::move(values));
}

struct question {
    std::string id, text;
    std::optional<filter> right;
    std::optional<std::size_t> limit;
};

inline std::vector<nlohmann::json> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<nlohmann::json> out;
    for (std::string line; std::getline(file, line);) out.push_back(nlohmann::json::parse(line));
    return out;
}

inline std::vector<question> questions_of(const std::string& path) {
    std::vector<question> out;
    for (const auto& line : lines_of(path)) {
        question q{line.at("id"), line.at("text"), filter_of(line.at("filter")), {}};
        if (line.contains("limit")) q.limit = line.at("limit").get<std::size_t>();
        out.push_back(std::move(q));
    }
    return out;
}

/// An article from a line of JSON: the fields that `fields` declares become metadata, null is missing.
inline quarry::article article_of(const nlohmann::json& line, const quarry::schema& fields) {
    quarry::article a{.id = line.at("id")};
    if (line.contains("title")) a.title = line.at("title");
    if (line.contains("text")) a.text = line.at("text");
    for (const quarry::field& f : fields)
        if (line.contains(f.name) && !line.at(f.name).is_null()) a.meta.add(f.name, value_of(line.at(f.name)));
    return a;
}

/// The help centre of examples/help_centre, front matter and nothing else.
inline quarry::corpus help_centre(const std::string& folder) {
    quarry::corpus c(quarry::schema{{"section", field_type::string, "part of the help centre"},
                                    {"product", field_type::string, "what the article is about"},
                                    {"audience", field_type::string, "for whom it was written"},
                                    {"access", field_type::string, "who may read it"},
                                    {"updated", field_type::date_time, "day of the last change"},
                                    {"tags", field_type::string_list, "topics"}});
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".md") paths.push_back(entry.path());
    std::ranges::sort(paths);
    for (const auto& path : paths) {
        std::ifstream file(path);
        quarry::article a;
        std::string line;
        std::getline(file, line);
        while (std::getline(file, line) && line != "---") {
            const std::size_t colon = line.find(": ");
            const std::string name = line.substr(0, colon), value = line.substr(colon + 2);
            if (name == "id")
                a.id = value;
            else if (name == "title")
                a.title = value;
            else if (name == "tags") {
                std::vector<std::string> tags;
                std::string tag;
                for (const char ch : value.substr(1)) {
                    if (ch == ',' || ch == ']')
                        tags.push_back(std::exchange(tag, {}));
                    else if (ch != ' ' || !tag.empty())
                        tag += ch;
                }
                a.meta.add(name, tags);
            } else if (c.fields().find(name)) {
                a.meta.add(name, value);
            }
        }
        c.add(std::move(a));
    }
    return c;
}

/// The recipes of tests/golden/self_query.
inline quarry::corpus recipes(const std::string& folder) {
    quarry::corpus c(quarry::schema{{"cuisine", field_type::string, "where the dish is at home"},
                                    {"course", field_type::string, "its place in a meal"},
                                    {"diets", field_type::string_list, "who can eat it"},
                                    {"ingredients", field_type::string_list, "what goes into it"},
                                    {"minutes", field_type::integer, "time from start to table"},
                                    {"servings", field_type::integer, "how many people it feeds"},
                                    {"rating", field_type::number, "from 1 to 5"},
                                    {"cook", field_type::string, "who wrote the recipe"},
                                    {"published", field_type::date_time, "day on which it was added"},
                                    {"freezable", field_type::boolean, "keeps in the freezer"}});
    for (const auto& line : lines_of(folder + "/recipes.corpus.jsonl")) c.add(article_of(line, c.fields()));
    return c;
}

}  // namespace filter_sets
