#include "folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <quarry/answer/snippet.hpp>
#include <quarry/quarry.hpp>
#include <stdexcept>

#include "reading.hpp"

namespace tour {
namespace {

using namespace quarry;

// A bar on standard error, where somebody sits in front of it.
auto progress_bar() {
    const bool seen = isatty(STDERR_FILENO) != 0;
    return [seen](std::size_t done, std::size_t total) {
        if (!seen || total == 0) return;
        constexpr std::size_t width = 40;
        const std::size_t filled = width * done / total;
        std::cerr << "\rindexing [" << std::string(filled, '#') << std::string(width - filled, '.') << "] " << done
                  << '/' << total << (done == total ? "\n" : "") << std::flush;
    };
}

corpus corpus_of(reading& read) {
    corpus articles(inferred_schema(read.pages));
    for (page& p : read.pages) {
        try {
            p.article.meta = metadata_of(p.front, articles.fields());
            articles.add(std::move(p.article));
        } catch (const error& e) {
            read.skipped.push_back(p.file + ": " + e.what());
        }
    }
    return articles;
}

template <Retriever R>
void answer(const R& search, const std::string& question, const analyzer& words) {
    const auto found = search.retrieve(question, 5);
    if (found.empty()) std::cout << "nothing found\n";
    for (const auto& hit : found) {
        const auto article = found.unit(hit);
        std::cout << std::fixed << std::setprecision(3) << hit.score << "  " << article.id();
        if (!article.title().empty()) std::cout << "  " << article.title();
        std::cout << "\n       " << one_line(snippet(article, question, words, {.length = 160}), article.text())
                  << '\n';
    }
}

}  // namespace

int run_folder(const std::string& folder, const std::string& ask) {
    if (!std::filesystem::is_directory(folder)) throw std::runtime_error(folder + " is no folder");
    reading read = read_folder(folder);
    const corpus articles = corpus_of(read);
    for (const std::string& file : read.skipped) std::cerr << "skipped " << file << '\n';
    if (articles.size() == 0) throw std::runtime_error(folder + " holds no Markdown, HTML or text file that can be read");
    std::cerr << articles.size() << " files read\n";

    // A rank near the number of texts would compress nothing, and then only equal words are near.
    const auto embed =
        lsa_embedder::fit(articles, {.rank = std::clamp(articles.size() / 2, std::size_t{1}, std::size_t{128})});
    const auto kb = build(articles, identity{.title_weight = 3.0f}, embed, {.progress = progress_bar()});
    const auto search = hybrid(lexical(kb.bm25), dense(kb.vectors, embed));
    const analyzer& words = kb.bm25.index.words();
    if (!ask.empty()) {
        answer(search, ask, words);
        return 0;
    }
    std::cerr << "ask, or end with an empty line\n";
    for (std::string line; std::cerr << "> " << std::flush && std::getline(std::cin, line) && !line.empty();)
        answer(search, line, words);
    return 0;
}

}  // namespace tour
