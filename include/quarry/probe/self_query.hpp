// Self-query: a model splits a question into words to search for and a filter over declared metadata.
//
//     const field_catalog fields(corpus);
//     auto search = lexical(kb.bm25) | narrowed_by(self_query(fields, model, {.today = today()}));
//     search.retrieve("vegan curries in under 30 minutes", 5);
//
// The model is told which fields there are, of which type, what they mean and which values are stored; its reply goes
// through filter_reply.hpp, where nothing is believed. Without a model, schema_reader.hpp does the same job by rules.
//
// The surprising thing: it is one call a question before anything is searched, and the weakest part of the pipeline.
// Use it where people really ask for dates, sections and owners in words; elsewhere a filter that the user clicks is
// better.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/date_time.hpp"
#include "../core/error.hpp"
#include "../detail/stable_order.hpp"
#include "../detail/text.hpp"
#include "../model/embedder.hpp"
#include "../model/generator.hpp"
#include "../model/prompt.hpp"
#include "field_catalog.hpp"
#include "filter_reply.hpp"
#include "query_prober.hpp"

namespace QUARRY_NAMESPACE {

struct self_query_options {
    std::optional<date_time> today{};  // told to the model; without it relative dates are a guess
    std::size_t listed = 20;           // values of a field that the model is shown, those of most units first
    invalid_policy invalid = invalid_policy::drop_filter;
    bool repair = false;              // ask once more, with what was wrong, where something was
    bool values_in_question = false;  // see filter_reply_rules
    bool keep_words = false;          // search for the whole question, whatever words the model left of it
    std::size_t most = 50;            // a limit beyond it is clamped
    std::string about{};              // what the collection holds, in a few words for the model
};

/// What the model is told of the fields, one a line: name, type, description, and values.
///
/// Of more than `listed` values the most frequent are shown, equal counts in the order of their bytes, with the number
/// of the others behind them; a value is cut after 80 bytes. Hidden fields are left out.
std::string fields_for_prompt(const field_catalog& fields, std::size_t listed);

namespace detail {

void write_self_query_prompt(prompt_writer& writer, const field_catalog& fields, const self_query_options& options);

}  // namespace detail

/// Const calls may overlap if the generator's may. Copies share the catalog, which must outlive them.
///
/// Cost    one call of the generator, two with `repair`; the same question is asked once a request.
/// Errors  those of the generator; `cancelled`; callable_error `self_query.refused` under that policy.
template <Generator G>
class self_query_prober {
   public:
    self_query_prober(const field_catalog& fields, G generator, self_query_options options)
        : fields_(&fields), generator_(std::move(generator)), options_(std::move(options)), writer_("self_query/1") {
        detail::write_self_query_prompt(writer_, fields, options_);
    }

    probed_query operator()(question& q) const {
        const prompt asked = prompt_writer(writer_).data("question", q.text()).say("The JSON object:").finish();
        const std::string first = q.reply(token_.get(), generator_, asked).text;
        filter_reply read = read_filter_reply(first, q.text(), *fields_, rules(options_.repair));
        if (options_.repair && !read.complaint.empty()) {
            const prompt again = prompt_writer(writer_)
                                     .data("question", q.text())
                                     .data("reply", first.substr(0, 2000))
                                     .say("This reply cannot be used:")
                                     .data("fault", read.complaint)
                                     .say("The JSON object, without that fault:")
                                     .finish();
            const std::string second = q.reply(token_.get(), generator_, again).text;
            std::string complaint = std::move(read.complaint);
            read = read_filter_reply(second, q.text(), *fields_, rules(false));
            read.notes.insert(read.notes.begin(), {probe_code::repaired, std::move(complaint)});
        }
        probed_query out{.narrowed = std::move(read.narrowed), .limit = read.limit};
        out.complete = read.complaint.empty();
        out.notes = std::move(read.notes);
        if (read.text.empty() || options_.keep_words) read.text = q.text();
        if (!read.text.empty()) out.probes.push_back({std::move(read.text)});
        return out;
    }

   private:
    filter_reply_rules rules(bool first_of_two) const {
        // A first reply is never refused where a second one will be asked for.
        const bool hold = first_of_two && options_.invalid == invalid_policy::refuse;
        return {.invalid = hold ? invalid_policy::drop_filter : options_.invalid,
                .most = options_.most,
                .values_in_question = options_.values_in_question,
                .today = options_.today};
    }

    const field_catalog* fields_;
    G generator_;
    self_query_options options_;
    prompt_writer writer_;  // up to what all questions share
    detail::identity_token token_;
};

/// A prober over `fields`, which must outlive it. The generator is copied; `ref(g)` shares a large one.
template <Generator G>
self_query_prober<G> self_query(const field_catalog& fields, G generator, self_query_options options = {}) {
    return self_query_prober<G>(fields, std::move(generator), std::move(options));
}
template <Generator G>
void self_query(const field_catalog&&, G, self_query_options = {}) = delete;  // a temporary catalog would dangle

// ------------------------------------------------------------------------------------------------------------- detail

inline std::string fields_for_prompt(const field_catalog& fields, std::size_t listed) {
    const auto in_quotes = [](std::string_view text) {
        std::size_t shown = (std::min)(text.size(), std::size_t{80});
        while (shown < text.size() && shown > 0 && (static_cast<std::uint8_t>(text[shown]) & 0xC0) == 0x80) --shown;
        std::string out = "\"";
        for (const char c : text.substr(0, shown)) {
            if (c == '"' || c == '\\') out += '\\';
            out += static_cast<std::uint8_t>(c) < 0x20 ? ' ' : c;
        }
        return out + (shown < text.size() ? "...\"" : "\"");
    };
    std::string out;
    for (std::size_t f = 0; f < fields.size(); ++f) {
        const field_catalog::known_field& known = fields[f];
        if (known.hint.hidden) continue;
        constexpr std::string_view types[] = {"true or false", "integer", "number", "text", "date", "list of texts"};
        out += detail::concat(known.declared.name, " (", types[static_cast<std::size_t>(known.declared.type)], ')');
        if (!known.declared.description.empty()) out += detail::concat(": ", known.declared.description);
        if (known.least)
            out += detail::concat("; from ", known.least->to_string(), " to ", known.greatest->to_string());
        std::vector<const field_catalog::known_value*> values;
        for (const auto& v : known.values) values.push_back(&v);
        detail::sort_stably(values, [](const auto* a, const auto* b) { return a->units > b->units; });
        for (std::size_t i = 0; i < (std::min)(listed, values.size()); ++i)
            out += (i == 0 ? "; values: " : ", ") + in_quotes(values[i]->text);
        if (listed > 0 && values.size() > listed) out += detail::concat(" and ", values.size() - listed, " more");
        out += '\n';
    }
    if (!out.empty()) out.pop_back();
    return out;
}

namespace detail {

inline void write_self_query_prompt(prompt_writer& writer, const field_catalog& fields,
                                    const self_query_options& options) {
    writer.system(
        "You turn a question into a search request: the words to search for, and a filter over the fields of the "
        "documents. Reply with one JSON object and nothing else:\n"
        R"({"query": words, "filter": condition or null, "limit": number or null})"
        "\nA condition is "
        R"({"op": OP, "field": NAME, "value": VALUE})"
        ", where OP is one of eq, ne, lt, lte, gt, gte, in, nin, contains;\nor "
        R"({"op": "and", "args": [conditions]}, {"op": "or", "args": [conditions]}, {"op": "not", "args": [condition]})"
        ".\nUse only the fields below, and their values as they are written there. \"contains\" is for lists; \"in\" "
        "and \"nin\" take a list of values. Dates are written 2024-05-31. A filter says what the question says of the "
        "documents themselves; what they should be about belongs into the query. If the question states no condition, "
        "the filter is null. The query holds no condition, and only words of the question. The limit is the number of "
        "results that the question asks for, otherwise null.");
    if (!options.about.empty()) writer.data("collection", options.about);
    writer.data("fields", fields_for_prompt(fields, options.listed));
    if (options.today) writer.say(concat("Today is ", options.today->to_string(), '.'));
    writer.share();
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
