// What does the asking side of a pipeline with everything in it cost to compile? run.sh says it. The indexes were built or
// loaded elsewhere, and the callables are somebody's: this is the file that a program changes and compiles again.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/answer/assemble.hpp"
#include "quarry/answer/citations.hpp"
#include "quarry/answer/links.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/probe/rewrite.hpp"
#include "quarry/probe/self_query.hpp"
#include "quarry/rank/compress.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"

std::vector<float> judge(std::string_view question, std::span<const std::string_view> passages);
std::string model(std::string_view prompt);
std::vector<float> embed(std::string_view text);

std::string answer(const quarry::indexed<quarry::bm25_index>& words, const quarry::indexed<quarry::flat_index>& vectors,
                   const quarry::field_catalog& fields, const std::string& asked);

std::string answer(const quarry::indexed<quarry::bm25_index>& words, const quarry::indexed<quarry::flat_index>& vectors,
                   const quarry::field_catalog& fields, const std::string& asked) {
    using namespace quarry;
    const auto embedder = make_embedder(384, embed);
    const auto search = hybrid(lexical(words), dense(vectors, embedder)) | probed_by(rewrite(model)) |
                        narrowed_by(self_query(fields, model)) | rerank_first(judge, {.first = 20, .trust = 0.5f}) |
                        diversify(vectors, embedder, mmr{.lambda = 0.8f, .fetch = 10}) | only_relevant(model);
    trace told;
    const query question = query(asked).where(ge("year", 2000)).within(scope::only(eq("access", "public"))).traced(told);
    const auto found = search.retrieve(question, 3);
    const packed_context context = assemble(found, {.budget = 1500});
    const std::string reply = model(context.text);
    const checked_answer checked = check_links(reply, allowed_links(context));
    return checked.text + std::to_string(check_citations(checked.text, context).unknown.size());
}
