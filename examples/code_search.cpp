// Code search over a source tree, without a compiler: code_search FOLDER
//
// Files are cut by functions and types. Each is found by its own words, by what its comment and its names say, and by
// where it stands: the path, the scopes around it. BM25 splits identifiers into their words. Where a server is named
// (language_model.hpp), it describes each piece, a call a piece.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "language_model.hpp"
#include "quarry/build.hpp"
#include "quarry/expand/code_summary.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/grow/code_chunks.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/hierarchical.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/text/code_analyzer.hpp"

using namespace quarry;

namespace {

corpus sources(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && code_layout_of(entry.path().string())) files.push_back(entry.path());
    std::ranges::sort(files);  // a file's id must not depend on the file system
    corpus c;
    for (const auto& path : files) {
        std::ifstream file(path, std::ios::binary);
        const std::string name = std::filesystem::relative(path, folder).generic_string();
        c.add({.id = name, .title = name, .text = {std::istreambuf_iterator<char>(file), {}}});
    }
    code_chunks({.most_tokens = 600}).grow(c);
    return c;
}

lexical_base described(const corpus& c, const build_options& options) {
    const language_model model;
    if (!model.is_served()) return build(c, code_summary(unit_kind::chunk, 1.0f), options);
    const auto descriptions = code_summary(model, {.calls = {.at_once = 4}});
    std::cerr << "asking " << model.name() << ' ' << descriptions.plan(c).calls << " times\n";
    return build(c, descriptions, options);
}

}  // namespace

int main(int argc, char* argv[]) {
    if (argc != 2) {
        std::cerr << "code_search FOLDER\n";
        return 2;
    }
    const corpus c = sources(argv[1]);
    const build_options words{.words = code()};
    const auto files = build(c, identity{}, words);
    const auto placed = build(c, contextual(structure{.names = context_names::scope}), words);
    const auto what = described(c, words);
    const auto search =
        hierarchical({}, level{unit_kind::article, lexical(files.bm25)},
                     level{unit_kind::chunk, fuse(rrf{}, lexical(placed.bm25), lexical(what.bm25))});
    for (const char* question : {"where is reciprocal rank fusion computed", "split a text into sentences",
                                 "how are starting centres of k-means chosen", "read a date and time"}) {
        std::cout << question << '\n';
        const auto found = search.retrieve(question, 3);
        for (const auto& hit : found) {
            const unit_ref piece = found.unit(hit);
            std::cout << "  " << piece.article().id() << "  "
                      << (piece.title().empty() ? "(outside of any name)" : piece.title()) << '\n';
        }
    }
}
