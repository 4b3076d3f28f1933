// Hierarchical retrieval: files lead to their chunks.
//
// The chunk that answers does not say what its file is about; the file does. A share of the file's score brings it up.
// A beam searches the best files only, and widens where that is not enough.

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "language_model.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/grow/chunks.hpp"
#include "quarry/grow/summaries.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

namespace {

// Stands in for a language model.
std::string stand_in(const prompt& p) {
    if (p.text().find("espresso") != std::string::npos) return "How to look after the coffee maker.";
    if (p.text().find("kettle") != std::string::npos) return "How to look after the kettle for tea.";
    return "Heating and hot water: for plumbers.";
}

std::string summary_of(std::string_view text) {
    asking_report report;
    const text_group group{text};
    return summaries(language_model(stand_in)).summarize(std::span(&group, 1), {}, report)[0].value_or("");
}

corpus handbooks() {
    corpus c(schema{{"audience", field_type::string}});
    for (const auto& [id, who, text] :
         {std::tuple{"espresso", "guest",
                     "The espresso machine and its grinder.\n\nDescale it once a month with citric acid.\n\nA cup "
                     "takes thirty "
                     "seconds."},
          std::tuple{"kettle", "guest",
                     "The kettle.\n\nDescale it with vinegar; never descale it with citric acid.\n\nIt holds a litre."},
          std::tuple{"boiler", "staff", "The boiler in the cellar.\n\nDescale it every year. Call the plumber."}})
        c.add({.id = id, .summary = summary_of(text), .text = text, .meta = {{"audience", who}}});
    chunks<>({.most_tokens = 16, .overlap_tokens = 0}).grow(c);
    return c;
}

std::string on_one_line(std::string_view text) {
    std::string out(text);
    std::ranges::replace(out, '\n', ' ');
    return std::string(detail::trimmed(out));
}

template <class Search>
void ask(const char* what, const Search& search, query q) {
    trace t;
    const auto found = search.retrieve(std::move(q).traced(t), 2);
    std::cout << what << '\n';
    for (const auto& hit : found)
        std::cout << "  " << detail::fixed(static_cast<double>(hit.score), 3) << "  " << found.unit(hit).article().id()
                  << ": " << on_one_line(found.unit(hit).text()) << '\n';
    if (const trace_event* e = t.find(trace_code::widened, "hierarchical"))
        std::cout << "  (the beam of " << e->in << " was widened to " << e->out << ")\n";
}

}  // namespace

int main() {
    const corpus c = handbooks();
    const auto files = build(c, identity{}), parts = build(c, identity{.of = unit_kind::chunk});
    const auto upper = level{unit_kind::article, lexical(files.bm25)};
    const auto lower = level{unit_kind::chunk, lexical(parts.bm25)};
    const char* question = "descale an espresso machine with acid";

    std::cout << question << "\n\n";
    ask("Chunks alone", lexical(parts.bm25), question);
    ask("\nWith .3 of the file's score", hierarchical({}, upper, lower), question);
    const auto summed_up = build(c, metadata_keys(c));
    const auto by_summary = level{unit_kind::article, lexical(summed_up.bm25)};
    ask("\nCitric acid for a coffee maker, which is in no text", hierarchical({}, upper, lower),
        "citric acid coffee maker");
    ask("\nWith summaries of the files, which a model wrote", hierarchical({}, by_summary, lower),
        "citric acid coffee maker");
    ask("\nOnly the best file, as long as it has enough", hierarchical({.beams = {1}}, upper, lower), "vinegar litre");
    ask("\nFor staff: a file with nothing to return takes no place in the beam",
        hierarchical({.beams = {1}}, upper, lower), query(question).where(eq("audience", "staff")));
}
