// Chunks of any bytes under any options: they tile the text and keep their budgets. Three bytes choose the options.
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "quarry/text/chunker.hpp"

using namespace quarry;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    chunk_options options{.most_tokens = 1 + data[0] % 40u};
    options.overlap_tokens = data[1] % (options.most_tokens / 2 + 1);
    options.by_heading = (data[2] & 1) != 0;
    options.form = (data[2] & 2) != 0 ? chunk_form::code : chunk_form::prose;
    const std::string_view text = fuzz::text_of(data + 3, size - 3);

    std::vector<heading> headings;  // lines that begin with #, in any order, some of them nested in one another
    for (std::size_t at = 0; at < text.size(); ++at)
        if (text[at] == '#' && (at == 0 || text[at - 1] == '\n'))
            headings.push_back({"h", 1 + static_cast<int>(at % 3), {at, std::min(at + 1 + at % 7, text.size())}});
    if ((data[2] & 4) != 0) std::reverse(headings.begin(), headings.end());

    const approximate_tokens count;
    std::size_t last = 0;
    for (const text_chunk& c : chunker(options)(text, headings)) {
        require(c.own.begin == last && c.own.end > c.own.begin, "the own parts tile the text");
        require(c.span.begin <= c.own.begin && c.span.end == c.own.end, "the span ends with the own part");
        require(c.tokens == count(text.substr(c.span.begin, c.span.size())), "the tokens are those of the span");
        require(c.tokens <= options.most_tokens || grapheme_end(text, c.span.begin) == c.span.end,
                "a chunk of more than one character keeps the budget");
        require(count(text.substr(c.span.begin, c.own.begin - c.span.begin)) <= options.overlap_tokens,
                "what is repeated keeps its budget");
        last = c.own.end;
    }
    require(last == text.size(), "nothing is lost at the end");
    return 0;
}
