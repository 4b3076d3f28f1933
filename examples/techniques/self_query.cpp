// Self-query: conditions that stand in the question become a filter.
#include <quarry/probe/schema_reader.hpp>
#include <quarry/probe/self_query.hpp>
#include <quarry/retrieve/probed.hpp>

#include "help_centre.hpp"

using namespace quarry;

int main() {
    const corpus articles = help_centre();
    const auto kb = build(articles, identity{});
    const field_catalog fields(articles, {{.field = "access", .hidden = true}});

    // Without a model: a reader of the schema and the values that are stored. It knows no word of this domain.
    const auto by_rules = lexical(kb.bm25) | narrowed_by(schema_reader(fields));
    for (const char* question :
         {"what should installers know about wiring", "radiator valves articles updated before 2024"}) {
        trace told;
        print_titles(question, by_rules.retrieve(query(question).traced(told), 3));
        if (const auto* e = told.find(trace_code::filtered, "narrowed"))
            std::cout << "  narrowed from " << e->in << " to " << e->out << " articles\n";
    }

    // With a model. This stand-in answers as small models do: a fence, prose, and a field that does not exist.
    const auto model = [](std::string_view prompt) -> std::string {
        if (prompt.find("mould pages") != std::string_view::npos)
            return "Sure!\n```json\n{\"query\": \"mould\", \"filter\": {\"audience\": \"Landlord\"}}\n```";
        return R"({"query": "battery", "filter": {"op": "eq", "field": "colour", "value": "red"}})";
    };
    const auto by_model = lexical(kb.bm25) | narrowed_by(self_query(fields, model));
    for (const char* question : {"mould pages for landlords", "red battery pages"}) {
        trace told;
        print_titles(question, by_model.retrieve(query(question).traced(told), 2));
        for (const trace_remark& remark : told.remarks) std::cout << "  " << remark.text << '\n';
    }
}
