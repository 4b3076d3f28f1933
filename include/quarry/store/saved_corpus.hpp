// The corpus in a file: schema, metadata columns, articles, units.
//
// What follows from something else is not written: an article's span, a unit's place among the articles, which distinct
// values nobody uses. So there is one way of writing a corpus, and a file cannot contradict itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/corpus.hpp"
#include "../detail/floats.hpp"
#include "../detail/saved.hpp"
#include "bytes.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class Out>
void write_value(byte_writer<Out>& out, const field_value& value) {
    out.number(static_cast<std::uint8_t>(value.type()));
    if (const auto* boolean = value.get_if<bool>()) out.number(std::uint8_t{*boolean});
    if (const auto* integer = value.get_if<std::int64_t>()) out.number(*integer);
    if (const auto* number = value.get_if<double>()) out.number(*number);
    if (const auto* text = value.get_if<std::string>()) out.text(*text);
    if (const auto* time = value.get_if<date_time>()) {
        out.number(std::uint8_t{time->is_day()});
        out.number(time->starts());
    }
    if (const auto* list = value.get_if<std::vector<std::string>>()) {
        out.count(list->size());
        for (const std::string& text : *list) out.text(text);
    }
}

inline date_time read_time(byte_reader& in) {
    using namespace std::chrono;
    const bool is_day = in.flag();
    const sys_time<milliseconds> begin(milliseconds(in.number<std::int64_t>()));
    if (!is_day) return date_time::instant(begin);
    // Within the years that the calendar of the standard library has.
    if (begin < sys_days(year::min() / 1 / 1) || begin > sys_days(year::max() / 12 / 31))
        in.refuse("there is no such day");
    const year_month_day date(floor<days>(begin));
    const auto day = date_time::day(static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                    static_cast<unsigned>(date.day()));
    if (!day || day->starts() != begin.time_since_epoch().count()) in.refuse("a day does not begin at midnight");
    return *day;
}

inline field_value read_value(byte_reader& in) {
    switch (in.choice(field_type::string_list, "type of a value")) {
        case field_type::boolean:
            return in.flag();
        case field_type::integer:
            return in.number<std::int64_t>();
        case field_type::number: {
            const auto number = in.number<double>();
            if (!is_finite(number)) in.refuse("a number is not finite");
            return number;
        }
        case field_type::string:
            return in.text();
        case field_type::date_time:
            return read_time(in);
        case field_type::string_list:
            break;
    }
    std::vector<std::string> list;
    for (std::size_t n = in.count(8); n != 0; --n) list.emplace_back(in.text());
    return list;
}

template <class Out>
void write_span(byte_writer<Out>& out, byte_span span) {
    out.count(span.begin);
    out.count(span.end);
}
inline byte_span read_span(byte_reader& in) {
    const auto begin = in.number<std::uint64_t>(), end = in.number<std::uint64_t>();
    if (begin > end || end > SIZE_MAX) in.refuse("a span ends before it begins");
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

template <>
struct saved<corpus> {
    template <class Out>
    static void write(const corpus& c, byte_writer<Out> out) {
        out.count(c.schema_.size());
        for (const field& f : c.schema_) {
            out.text(f.name);
            out.number(static_cast<std::uint8_t>(f.type));
            out.text(f.description);
        }
        out.number(std::uint8_t{c.options_.scope_mandatory});
        out.count(c.articles_.size());
        for (const auto& a : c.articles_) {
            out.text(a.text);
            out.text(a.summary);
            out.count(a.headings.size());
            for (const heading& h : a.headings) {
                out.text(h.text);
                out.number(static_cast<std::int64_t>(h.level));
                write_span(out, h.span);
            }
            out.count(a.links.size());
            for (const link& l : a.links) {
                out.text(l.target);
                out.text(l.text);
                write_span(out, l.span);
            }
        }
        out.count(c.units_.size());
        for (const auto& u : c.units_) {
            out.number(static_cast<std::uint8_t>(u.kind));
            out.text(u.id);
            out.text(u.title);
            if (u.parent) {
                out.number(static_cast<std::uint32_t>(*u.parent));
                write_span(out, u.span);
            }
            if (u.kind == unit_kind::generated) {
                out.count(u.sources.size());
                for (const unit_id source : u.sources) out.number(static_cast<std::uint32_t>(source));
            }
        }
        for (const auto& column : c.columns_) write_column(column, out);
    }

    static corpus read(byte_reader in) {
        schema fields;
        for (std::size_t n = in.count(17); n != 0; --n) {
            std::string name(in.text());
            const auto type = in.choice(field_type::string_list, "type of a field");
            if (name.empty() || fields.find(name)) in.refuse("a field has no name, or that of another");
            fields.add({std::move(name), type, std::string(in.text())});
        }
        corpus c(std::move(fields), {.scope_mandatory = in.flag()});
        for (std::size_t n = in.count(32); n != 0; --n) c.articles_.push_back(read_article(in));
        const std::size_t units = in.count(17);
        if (units > UINT32_MAX - 1) in.refuse("there are more units than ids");
        c.units_.reserve(units);
        c.unit_of_id_.reserve(units);
        std::uint32_t articles = 0;
        for (std::size_t i = 0; i < units; ++i) read_unit(c, articles, in);
        if (articles != c.articles_.size())
            in.refuse(concat(c.articles_.size(), " texts belong to ", articles, " units"));
        for (std::size_t field = 0; field < c.columns_.size(); ++field) read_column(c, field, in);
        in.require_end();
        c.revision_ = units;
        return c;
    }

   private:
    static corpus::article_data read_article(byte_reader& in) {
        corpus::article_data a;
        a.text = in.text();
        a.summary = in.text();
        for (std::size_t n = in.count(32); n != 0; --n) {
            heading h{std::string(in.text())};
            const auto level = in.number<std::int64_t>();
            if (!std::in_range<int>(level)) in.refuse(concat("a heading has level ", level));
            h.level = static_cast<int>(level);
            h.span = read_span(in);
            a.headings.push_back(std::move(h));
        }
        for (std::size_t n = in.count(32); n != 0; --n) {
            link l{std::string(in.text()), std::string(in.text())};
            l.span = read_span(in);
            a.links.push_back(std::move(l));
        }
        return a;
    }

    static void read_unit(corpus& c, std::uint32_t& articles, byte_reader& in) {
        const std::size_t number = c.units_.size();
        corpus::unit_data u{};
        u.kind = in.choice(unit_kind::generated, "kind of unit");
        u.id = in.text();
        u.title = in.text();
        if (u.kind == unit_kind::article || u.kind == unit_kind::generated) {
            if (articles == c.articles_.size()) in.refuse("there are more articles than texts");
            u.article = articles++;
            u.span = {0, c.articles_[u.article].text.size()};
        } else {
            u.parent = read_below(number, "parent", in);
            const corpus::unit_data& above = c.units_[index_of(*u.parent)];
            u.article = above.article;
            u.span = read_span(in);
            if (above.kind == unit_kind::generated || u.span.begin < above.span.begin || u.span.end > above.span.end)
                in.refuse(concat("unit ", number, " is no part of unit ", index_of(*u.parent)));
        }
        if (u.kind == unit_kind::generated) {
            for (std::size_t n = in.count(4); n != 0; --n) u.sources.push_back(read_below(number, "source", in));
            if (u.sources.empty()) in.refuse(concat("unit ", number, " was generated from nothing"));
            c.generated_.push_back(unit_at(number));
        }
        if (u.id.empty() || !c.unit_of_id_.emplace(u.id, unit_at(number)).second)
            in.refuse(concat("unit ", number, " has no id, or that of another"));
        c.units_.push_back(std::move(u));
    }

    static unit_id read_below(std::size_t number, std::string_view what, byte_reader& in) {
        const auto other = in.number<std::uint32_t>();
        if (other >= number) in.refuse(concat("unit ", number, " names unit ", other, " as its ", what));
        return unit_id{other};
    }

    // Values that nobody uses are left over from changes and from failures; a file does not show them.
    template <class Out>
    static void write_column(const corpus::column& column, byte_writer<Out>& out) {
        std::vector<std::uint32_t> renumbered(column.distinct.size() + 1, 0);
        for (const std::uint32_t code : column.codes) renumbered[code] = 1;
        renumbered[0] = 0;
        std::uint32_t used = 0;
        for (std::uint32_t& number : renumbered)
            if (number != 0) number = ++used;
        out.count(used);
        for (std::size_t i = 0; i < column.distinct.size(); ++i)
            if (renumbered[i + 1] != 0) write_value(out, column.distinct[i]);
        std::vector<std::uint32_t> codes;
        codes.reserve(column.codes.size());
        for (const std::uint32_t code : column.codes) codes.push_back(renumbered[code]);
        out.numbers(std::span<const std::uint32_t>(codes));
    }

    static void read_column(corpus& c, std::size_t field, byte_reader& in) {
        corpus::column& column = c.columns_[field];
        const field_type type = c.schema_[field].type;
        const std::size_t distinct = in.count(2);
        for (std::size_t i = 0; i < distinct; ++i) {
            field_value value = read_value(in);
            if (value.type() != type && !(type == field_type::number && value.type() == field_type::integer))
                in.refuse(concat("field ", detail::quoted(c.schema_[field].name), " is of type ", name_of(type), " and holds ",
                                 name_of(value.type())));
            if (!column.number_of.emplace(value, static_cast<std::uint32_t>(i)).second)
                in.refuse("a distinct value is there twice");
            column.distinct.push_back(std::move(value));
        }
        column.codes = in.numbers<std::uint32_t>(c.units_.size());
        std::vector<bool> used(distinct + 1);
        for (const std::uint32_t code : column.codes) {
            if (code > distinct) in.refuse(concat("value ", code, " of ", distinct, " is named"));
            used[code] = true;
        }
        for (std::size_t i = 1; i <= distinct; ++i)
            if (!used[i]) in.refuse("a value belongs to no unit");
    }
};

}  // namespace QUARRY_NAMESPACE::detail
