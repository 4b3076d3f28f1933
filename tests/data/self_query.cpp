// Self-query, measured: questions with their right filters, and replies that real models wrote.
#include "quarry/probe/schema_reader.hpp"
#include "sets.hpp"
#include "support/filter_sets.hpp"

using namespace quarry;

namespace {

// The films with the fields that the set's own schema declares, and not a word more: no descriptions, no hints.
corpus films() {
    corpus c(schema{{"year", field_type::integer},
                    {"genres", field_type::string_list},
                    {"cast", field_type::string_list},
                    {"country", field_type::string},
                    {"director", field_type::string}});
    for (const auto& line : filter_sets::lines_of(data::path_of("movies/corpus.jsonl")))
        c.add(filter_sets::article_of(line, c.fields()));
    return c;
}

}  // namespace

TEST_CASE("movies: the reader that knows only the schema and its values reads four of five filters exactly right") {
    if (!data::measured("movies", data::weight::heavy)) return;
    const corpus c = films();
    const field_catalog fields(c);
    const schema_reader reader(fields);
    std::size_t right = 0, confident_and_wrong = 0;
    const auto questions = filter_sets::questions_of(data::path_of("movies/queries.jsonl"));
    for (const auto& q : questions) {
        const probed_query p = reader.read(q.text);
        const bool same = filter_sets::canonical(p.narrowed, c.fields()) == filter_sets::canonical(q.right, c.fields());
        right += same;
        confident_and_wrong += !same && p.complete;
    }
    CHECK(questions.size() == 150);
    // Reached: 150. The floor is what was asked for, so that a change of the rules for other questions may cost some.
    WARN("movies: " << right << " of 150 filters exactly right, " << confident_and_wrong
                    << " wrong and called complete");
    CHECK(right >= 120);
}
