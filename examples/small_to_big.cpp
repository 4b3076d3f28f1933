// Small to big: what is found is small, what is returned is large.
//
// A vector of a whole page says a little of everything on it. Four ways to search small pieces and hand over enough to
// read.

#include <iostream>
#include <string>

#include "language_model.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/expand/small_keys.hpp"
#include "quarry/grow/sentence_windows.hpp"
#include "quarry/rank/auto_merge.hpp"
#include "quarry/rank/lift.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

namespace {

const char* const harbour =
    "The harbour was built in 1832. Its stones came from the hills. Storms broke the outer wall in 1871. The wall was "
    "rebuilt "
    "with concrete in 1880. Since then it has held. Fishing boats leave at dawn. Ferries leave every hour.";
const char* const lighthouse =
    "The lighthouse burns since 1840. A keeper lived in it until 1969. Now a wire does his work. Visitors climb it on "
    "Sundays.";

// Stands in for a language model.
std::string stand_in(const prompt& p) {
    if (p.text().find("lighthouse") != std::string::npos) return "Who looked after the lamp?\nIs it open at weekends?";
    return "What do waves do to the harbour?\nWhen can I take a ship?";
}

template <class Search>
void ask(const Search& search, const char* question) {
    const auto found = search.retrieve(question, 2);
    std::cout << "  " << question << '\n';
    for (const auto& hit : found)
        std::cout << "    " << detail::fixed(static_cast<double>(hit.score), 2) << "  " << found.unit(hit).text()
                  << '\n';
}

}  // namespace

int main() {
    corpus windows;
    windows.add({.id = "harbour", .text = harbour});
    windows.add({.id = "lighthouse", .text = lighthouse});
    sentence_windows{.around = 1}.grow(windows);
    const auto sentences = build(windows, identity{.of = unit_kind::chunk});

    std::cout << "A sentence is found:\n";
    ask(lexical(sentences.bm25), "concrete wall");
    std::cout << "\nIt comes back with its neighbours (sentence windows):\n";
    ask(lexical(sentences.bm25) | lift(unit_kind::section), "concrete wall");

    corpus pages;
    pages.add({.id = "harbour", .text = harbour});
    pages.add({.id = "lighthouse", .text = lighthouse});
    const auto keys = build(pages, small_keys{.of = unit_kind::article, .sentences = 2, .shared = 1});
    std::cout << "\nThe page comes back, found by two sentences of it (" << keys.report.keys << " keys for "
              << keys.report.units << " pages):\n";
    ask(lexical(keys.bm25), "who lived there and does the work now");

    const auto asked =
        build(pages, questions(language_model(stand_in), {.of = unit_kind::article, .with_unit = false}));
    std::cout << "\nThe page comes back, found by a question that a model wrote for it:\n";
    ask(lexical(asked.bm25), "take a ship at the weekend");

    corpus parts;
    const unit_id page = parts.add({.id = "lighthouse", .text = lighthouse});
    sentence_windows{.around = 0}.grow(parts, page);
    const auto pieces = build(parts, identity{.of = unit_kind::section});
    std::cout << "\nFew parts were found, so they are returned; most of them, so the page takes their place "
                 "(auto-merging):\n";
    ask(lexical(pieces.bm25) | auto_merge(), "keeper");
    ask(lexical(pieces.bm25) | auto_merge(), "keeper lighthouse visitors climb");
}
