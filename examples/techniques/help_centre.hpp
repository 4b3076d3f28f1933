// The bundled help centre as a corpus, for the programs beside this file.
#pragma once

#include <iostream>
#include <quarry/quarry.hpp>
#include <string>

#include "../tour/reading.hpp"

inline quarry::schema help_centre_fields() {
    using quarry::field_type;
    return {{"section", field_type::string},    {"product", field_type::string},   {"audience", field_type::string},
            {"updated", field_type::date_time}, {"tags", field_type::string_list}, {"access", field_type::string}};
}

inline quarry::corpus help_centre() {
    quarry::corpus articles(help_centre_fields());
    for (tour::page& page : tour::read_folder(QUARRY_HELP_CENTRE "/articles").pages) {
        page.article.meta = tour::metadata_of(page.front, articles.fields());
        articles.add(std::move(page.article));
    }
    return articles;
}

/// The titles of an answer, one a line.
template <class Results>
void print_titles(const std::string& heading, const Results& found) {
    std::cout << heading << '\n';
    for (const auto& hit : found) std::cout << "    " << found.unit(hit).title() << '\n';
}
