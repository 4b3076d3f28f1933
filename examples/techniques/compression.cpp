// Compression: only the sentences that are needed, looked up in the source, and as much around them as fits.
#include <quarry/answer/assemble.hpp>
#include <quarry/rank/compress.hpp>

#include "help_centre.hpp"

using namespace quarry;

// Stands in for a model: copies the sentence with "eighteen months", invents one beside it, and else finds nothing.
std::string model(std::string_view prompt) {
    if (prompt.find("eighteen months") == std::string_view::npos) return "NONE";
    return "They last about eighteen months. They cost four pounds.";
}

int main() {
    const corpus articles = help_centre();
    const auto kb = build(articles, identity{});
    const char* question = "how long do the cells of a thermostat last";
    const auto found = lexical(kb.bm25).retrieve(question, 4);
    const extracted needed = extract(found, question, model);
    std::cout << found.size() << " articles, " << needed.none << " without need, " << needed.invented
              << " sentence that stands nowhere\n";
    const auto anywhere = [&](unit_id article) { return found.admits(article); };
    for (const std::size_t budget : {25u, 150u, 600u}) {
        const auto context = assemble(found.source(), needed.excerpts, anywhere, {.budget = budget});
        std::cout << "\nwith " << budget << " tokens, " << context.tokens
                  << " used: " << (context.units.empty() ? 0 : context.units[0].taken.size()) << " bytes of "
                  << (context.units.empty() ? "nothing" : context.units[0].title) << '\n';
        std::cout << context.text.substr(0, 180) << (context.text.size() > 180 ? " ...\n" : "\n");
    }
}
