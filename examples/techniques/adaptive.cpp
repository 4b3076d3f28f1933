// Adaptive retrieval: the answer is written sentence by sentence, and only doubtful sentences are searched for.
#include <cmath>
#include <quarry/retrieve/adaptive.hpp>

#include "help_centre.hpp"

using namespace quarry;

namespace {

// A reply with a token a word; those in brackets are doubtful. A real generator hands over what its server reports.
completion said(std::string_view text) {
    completion out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        std::string word(text.substr(at, end - at));
        const bool doubtful = word.find('[') != std::string::npos;
        std::erase_if(word, [](char c) { return c == '[' || c == ']'; });
        out.text += word;
        out.tokens.push_back({std::move(word), std::log(doubtful ? .2f : .95f)});
        at = end;
    }
    return out;
}

// Stands in for a model that knows what a thermostat is and not how long its batteries last, until it has read it.
completion model(const prompt& p) {
    const std::string text = p.text();
    const bool has_read = text.find("eighteen months") != std::string::npos;
    if (text.find("<answer ") == std::string::npos) return said("The thermostat runs on two AA cells.");
    if (text.find("months.") != std::string::npos && text.find("They last") != std::string::npos && !has_read)
        return said("FINISHED");
    if (text.find("AA cells.\n</answer") != std::string::npos)
        return said(has_read ? "They last about eighteen months." : "They last about [six] months.");
    return said("FINISHED");
}

}  // namespace

int main() {
    const corpus articles = help_centre();
    const auto kb = build(articles, identity{});
    const auto writer = adaptive(lexical(kb.bm25), model, {.passages = 2, .search_first = false});
    const auto answer = writer.answer("how long do the batteries of a thermostat last?");
    std::cout << answer.text << '\n';
    for (const adaptive_step& step : answer.steps) {
        std::cout << (step.sure ? "  sure:     " : "  doubtful: ") << step.draft << '\n';
        for (const std::string& words : step.searched) std::cout << "  searched: " << words << '\n';
    }
    std::cout << answer.searches << " search, " << answer.calls << " calls\n";
}
