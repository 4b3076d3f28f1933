// Query rewriting: a question in other words, a passage that might answer it, and the questions it is made of.
#include <quarry/probe/decompose.hpp>
#include <quarry/probe/hypothetical_answer.hpp>
#include <quarry/probe/rewrite.hpp>
#include <quarry/retrieve/probed.hpp>

#include "help_centre.hpp"

using namespace quarry;

// Stands in for a model: it knows three prompts and answers each as a small model would, numbers and all.
std::string model(std::string_view prompt) {
    if (prompt.find("put a question into other words") != std::string_view::npos)
        return "1. screen of the thermostat is blank\n2. thermostat shows nothing\n3. THE LITTLE WINDOW ON THE WALL IS "
               "BLACK";
    if (prompt.find("write a passage") != std::string_view::npos)
        return "If the screen of your thermostat is blank, check its batteries and the contacts of the wall plate.";
    return "What does error HL-402 mean?\nHow do I change the batteries of a thermostat?";
}

int main() {
    const corpus articles = help_centre();
    const auto embed = lsa_embedder::fit(articles);
    const auto kb = build(articles, identity{}, embed);
    const auto words = lexical(kb.bm25);
    const auto meaning = dense(kb.vectors, embed);

    const char* question = "the little window on the wall is black";
    print_titles("as it was asked", words.retrieve(question, 3));
    trace told;
    print_titles("with two rewrites", (words | probed_by(rewrite(model))).retrieve(query(question).traced(told), 3));
    std::cout << "  " << told.remarks.back().text << '\n';
    print_titles("by a hypothetical answer", (meaning | narrowed_by(hypothetical_answer(model))).retrieve(question, 3));
    print_titles("in parts",
                 (words | probed_by(decompose(model))).retrieve("HL-402 appears, are new batteries needed?", 3));
}
