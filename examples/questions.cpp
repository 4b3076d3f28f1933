// Hypothetical questions: a passage is found by the questions it answers.
//
// People ask in their own words, and the manual has others. A model writes what each passage answers; the questions are
// keys that stand for the passage.

#include <iostream>
#include <string>
#include <utility>

#include "language_model.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

namespace {

// Stands in for a language model, with the manners of one: a preamble, numbers, and once nothing but an apology.
std::string stand_in(const prompt& p) {
    if (p.text().find("refund") != std::string::npos)
        return "Here are three questions:\n1. How do I get my money back?\n2. How long does a refund take?\n3. Can I "
               "return an opened "
               "box?";
    if (p.text().find("firmware") != std::string::npos)
        return "- Why does the lamp blink red?\n- How do I update the lamp?\n- Why does the lamp blink red?";
    return "I'm sorry, but I can't help with that.";
}

corpus manual() {
    corpus c;
    for (const auto& [id, text] :
         {std::pair{"refunds", "A refund is issued within ten days of receipt, unless the seal is broken."},
          std::pair{"firmware", "A red signal denotes outdated firmware. Hold the button for ten seconds."},
          std::pair{"cleaning", "Wipe the shade with a dry cloth."}})
        c.add({.id = id, .text = text});
    return c;
}

void ask(const lexical_base& kb, const char* question) {
    const auto found = lexical(kb.bm25).retrieve(question, 1);
    std::cout << "  " << question << "\n    ";
    if (found.empty()) std::cout << "nothing\n";
    for (const auto& hit : found)
        std::cout << found.unit(hit).id() << ", by " << name_of(found.matched(hit)->part) << ": "
                  << found.matched(hit)->text << '\n';
}

}  // namespace

int main() {
    const corpus c = manual();
    const char* asked[] = {"give me my money back", "lamp blinks red why", "how to wipe the shade"};

    std::cout << "The manual's own words:\n";
    const lexical_base plain = build(c, identity{});
    for (const char* q : asked) ask(plain, q);

    std::cout << "\nWith the questions that each passage answers:\n";
    const lexical_base kb = build(c, questions(language_model(stand_in), {.of = unit_kind::article, .count = 3}));
    for (const char* q : asked) ask(kb, q);

    std::cout << "\n" << kb.report.keys << " keys for " << kb.report.units << " passages; replies without a question: "
              << kb.report.expansion.unusable << ", so that passage is found by its own words.\n";
}
