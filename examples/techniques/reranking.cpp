// Reranking: a slower judge puts the first hits into its own order, and a judge that fails costs nothing but itself.
#include <quarry/rank/listwise.hpp>
#include <quarry/rank/rerank.hpp>
#include <stdexcept>

#include "help_centre.hpp"

using namespace quarry;

int main() {
    const corpus articles = help_centre();
    const auto kb = build(articles, identity{});
    const auto search = lexical(kb.bm25);
    const char* question = "the batteries of a valve are empty";
    print_titles("as found", search.retrieve(question, 4));

    // Stands in for a cross-encoder: how often a passage speaks of cells. Yours would read question and passage
    // together.
    const auto judge = [](std::string_view, std::span<const std::string_view> passages) {
        std::vector<float> scores;
        for (const std::string_view p : passages) {
            float n = 0;
            for (std::size_t at = p.find("cells"); at != std::string_view::npos; at = p.find("cells", at + 1)) ++n;
            scores.push_back(n);
        }
        return scores;
    };
    print_titles("by a judge", (search | rerank_first(judge, {.first = 10})).retrieve(question, 4));
    print_titles("half by a judge", (search | rerank_first(judge, {.first = 10, .trust = .5f})).retrieve(question, 4));

    // A model that copies the example of the prompt has ordered nothing.
    const auto parrot = [](std::string_view) { return std::string("[5] > [3] > [4]"); };
    trace told;
    print_titles("by a parrot", (search | rerank_first(listwise(parrot))).retrieve(query(question).traced(told), 4));
    std::cout << "  " << told.remarks.back().text << '\n';

    const auto broken = [](std::string_view, std::span<const std::string_view>) -> std::vector<float> {
        throw std::runtime_error("the server is down");
    };
    trace why;
    const auto kept = (search | rerank_first(broken)).retrieve(query(question).traced(why), 4);
    print_titles("by nobody", kept);
    std::cout << "  " << name_of(kept.state) << ": " << why.remarks.back().text << '\n';
}
