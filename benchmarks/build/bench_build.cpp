// How long do a hundred thousand chunks take to be expanded, embedded and indexed, and does the time per chunk grow?
//
//     bench_build [CHUNKS]
//
// The model answers at once and the embedder fills rows from a hash, so what is measured is the library: prompts,
// replies, keys, words, vectors. Every way is run at a quarter, at half and at the whole of the chunks; the last column
// is the time per chunk against that at a quarter, and 1 is linear. Processor time of one thread; one JSON line each.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/expand/small_keys.hpp"
#include "quarry/grow/chunks.hpp"
#include "quarry/grow/raptor.hpp"

using namespace quarry;

namespace {

constexpr std::size_t width = 384;

struct hashing_embedder {
    std::size_t dimension() const { return width; }
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            detail::splitmix64 random(std::hash<std::string_view>{}(texts[i]));
            for (std::size_t j = 0; j < width; ++j) rows[i * width + j] = static_cast<float>(random.symmetric());
        }
    }
};

// Ten chunks an article, of forty words each, from a vocabulary of twenty thousand.
corpus articles_of(std::size_t chunk_count) {
    detail::splitmix64 random(chunk_count);
    corpus c;
    for (std::size_t a = 0; a < chunk_count / 10; ++a) {
        std::string text;
        std::vector<byte_span> spans;
        for (int i = 0; i < 10; ++i) {
            const std::size_t begin = text.size();
            for (int w = 0; w < 40; ++w)
                text += (w % 10 == 0 ? "Word" : "word") + std::to_string(random() % 20000) + (w % 10 == 9 ? ". " : " ");
            spans.push_back({begin, text.size() - 1});
        }
        const std::string id = std::to_string(a);
        const unit_id article = c.add({.id = id, .title = "Article " + id, .text = std::move(text)});
        for (const byte_span span : spans) c.add_part(article, {.span = span});
    }
    return c;
}

double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class F>
void measure(const char* what, std::size_t most, F run) {
    double first = 0.0;
    for (const std::size_t n : {most / 4, most / 2, most}) {
        corpus c = articles_of(n);
        const double begin = now();
        const std::size_t keys = run(c);
        const double seconds = now() - begin, each = 1e6 * seconds / static_cast<double>(n);
        if (first == 0.0) first = each;
        std::cout << "{\"way\": \"" << what << "\", \"chunks\": " << n << ", \"keys\": " << keys
                  << ", \"seconds\": " << detail::fixed(seconds, 2) << ", \"us_per_chunk\": " << detail::fixed(each, 1)
                  << ", \"growth\": " << detail::fixed(each / first, 2) << "}" << std::endl;
    }
}

}  // namespace

int main(int argc, char* argv[]) {
    std::size_t most = 100'000;
    if (argc > 1) {
        const std::string_view text = argv[1];
        const auto read = std::from_chars(text.data(), text.data() + text.size(), most);
        if (read.ptr != text.data() + text.size() || most < 40) {
            std::cerr << "bench_build [CHUNKS], at least 40\n";
            return 2;
        }
    }
    const hashing_embedder embed;
    const auto filled = [&](const auto& expander) {
        return [&](corpus& c) { return build(c, expander, embed).report.keys; };
    };
    const auto model = [](const prompt&) { return std::string("A short note on where this stands."); };
    const auto asker = [](const prompt&) { return std::string("What is it?\nWhere is it?\nWhen was it?"); };
    measure("chunks as they are", most, filled(identity{.of = unit_kind::chunk}));
    measure("contexts from structure", most, filled(contextual(structure{})));
    measure("contexts from a model", most, filled(contextual(model)));
    measure("questions from a model", most, filled(questions(asker)));
    measure("a key a sentence", most, filled(small_keys{}));
    measure("a tree of extracts an article", most,
            [&](corpus& c) { return raptor(embed, extracts{}).grow(c).summaries.size(); });
    measure("a tree of a model's summaries an article", most,
            [&](corpus& c) { return raptor(embed, summaries(model)).grow(c).summaries.size(); });
    // Groups of a number that grows with the chunks: the time for each chunk grows too.
    measure("one tree over all", (std::min)(most, std::size_t{32'000}), [&](corpus& c) {
        return raptor(embed, summaries(model), {.across_articles = true}).grow(c).summaries.size();
    });
}
