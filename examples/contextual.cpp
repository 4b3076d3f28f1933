// Contextual retrieval: a chunk is indexed with a text that says where it stands, and comes back as it was.
//
// Three chunks of two reports. "Revenue grew by 3 percent over the previous quarter" does not say whose.

#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "language_model.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/grow/chunks.hpp"
#include "quarry/model/cache.hpp"
#include "quarry/retrieve/lexical.hpp"

using namespace quarry;

namespace {

corpus reports() {
    corpus c;
    c.add({.id = "acme",
           .title = "ACME Q2 2023 filing",
           .text = "Revenue grew by 3 percent over the previous quarter.\n\nThe office moved to a new building."});
    c.add({.id = "globex",
           .title = "Globex Q2 2023 filing",
           .text = "Revenue fell by 2 percent over the previous quarter."});
    chunks<>({.most_tokens = 15, .overlap_tokens = 0}).grow(c);
    return c;
}

// Stands in for a language model: any callable from a prompt to a text will do, such as your client of some server.
std::string stand_in(const prompt& p) {
    const std::string passage = p.text().substr(p.text().rfind("<passage"));  // the whole report stands before it
    if (passage.find("grew by 3") != std::string::npos)
        return "How ACME's sales developed in the second quarter of 2023.";
    if (passage.find("fell by 2") != std::string::npos)
        return "How Globex's sales developed in the second quarter of 2023.";
    throw std::runtime_error("the model is busy");  // as models are
}

void ask(const lexical_base& kb, std::string_view question) {
    std::cout << "  " << question << '\n';
    const auto found = lexical(kb.bm25).retrieve(query(std::string(question)), 3);
    for (const auto& hit : found) {
        const unit_ref chunk = found.unit(hit);
        std::cout << "    " << detail::fixed(static_cast<double>(hit.score), 3) << "  " << chunk.article().id() << ": "
                  << detail::trimmed(chunk.text()) << '\n';
    }
}

}  // namespace

int main() {
    const corpus c = reports();
    const char* question = "acme revenue";

    std::cout << "The chunks alone: both reports match equally, since the company is in no chunk.\n";
    ask(build(c, identity{.of = unit_kind::chunk}), question);

    std::cout << "\nWith the title of the report, for nothing:\n";
    ask(build(c, contextual(structure{})), question);

    std::cout << "\nWith contexts from a model, and the title where it fails:\n";
    reply_store replies;  // keeps what was paid for
    const auto contexts = contextual(cached(language_model(stand_in), replies), {.otherwise = structure{}});
    const call_plan plan = contexts.plan(c);
    std::cout << "  planned: " << plan.calls << " calls, "
              << plan.tokens.input + plan.tokens.cache_write + plan.tokens.cache_read << " tokens to read\n";
    const lexical_base kb = build(c, contexts);
    std::cout << "  made: " << kb.report.expansion.calls << " calls, failed: " << kb.report.expansion.failed << " ("
              << kb.report.expansion.first_failure << ")\n";
    ask(kb, question);
    ask(kb, "sales of globex");

    std::cout << "\nBuilt again: " << build(c, contexts).report.expansion.remembered
              << " contexts are remembered, and only\n"
              << "the call that failed is made again.\n";
}
