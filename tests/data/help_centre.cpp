// What the bundled help centre promises: enough of it, and questions that tell retrievers apart.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "quarry/build.hpp"
#include "quarry/core/file.hpp"
#include "quarry/eval/json_lines.hpp"
#include "quarry/eval/judged_set.hpp"
#include "quarry/eval/metrics.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/text/markdown.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

const std::string folder = QUARRY_SOURCE_DIR "/examples/help_centre/";

struct help_centre {
    corpus articles;
    std::map<std::string, front_matter> fronts;  // by id
    std::map<std::string, std::string> questions;
    judgements judged;
};

help_centre read() {
    help_centre out;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "articles"))
        if (entry.is_regular_file()) files.push_back(entry.path().string());
    std::ranges::sort(files);
    for (const std::string& path : files) {
        const std::string file = detail::read_file(path);
        const markdown_document document = read_markdown(file);
        const std::string by_path =
            std::filesystem::path(path).lexically_relative(folder + "articles").replace_extension().generic_string();
        article a = to_article(file, document, by_path);
        INFO(path);
        REQUIRE(a.id == by_path);
        out.fronts[a.id] = document.front;
        out.articles.add(std::move(a));
    }
    out.judged = read_judgements(folder + "qrels.tsv");
    for_each_json_line(folder + "queries.jsonl",
                       [&](const json_line& line) { out.questions[line.text("id")] = line.text("text"); });
    return out;
}

// The stems of the words that are no stop words.
std::set<std::string> stems(std::string_view text) {
    std::set<std::string> out;
    english()(text, [&](const token& t) {
        if (!t.stop) out.emplace(t.term);
    });
    return out;
}

double recall_at_5(const help_centre& help, const lexical_base& kb) {
    rankings found;
    for (const auto& [id, question] : help.questions) {
        const auto answer = lexical(kb.bm25).retrieve(question, 5);
        for (const auto& hit : answer)
            found[id].push_back({std::string(answer.unit(hit).id()), static_cast<float>(5 - found[id].size())});
    }
    return evaluation(found, help.judged).mean(recall_at{5});
}

}  // namespace

TEST_CASE("the help centre has at least 60 articles and 60 questions, each with a right article that is there") {
    const help_centre help = read();
    CHECK(help.articles.size() >= 60);
    CHECK(help.questions.size() >= 60);
    for (const auto& [id, text] : help.questions) {
        CAPTURE(id, text);
        REQUIRE(help.judged.contains(id));
        for (const auto& [article, grade] : help.judged.at(id)) {
            CHECK(help.articles.find(article).has_value());
            CHECK(grade == 1);
        }
    }
    CHECK(help.judged.size() == help.questions.size());
}

TEST_CASE("every article has its metadata, 150 to 600 words, and links that lead to other articles") {
    const help_centre help = read();
    std::set<std::string> ids;
    for (const auto& [id, front] : help.fronts) ids.insert(id);
    std::size_t linked = 0;
    for (std::size_t i = 0; i < help.articles.size(); ++i) {
        const unit_ref a = help.articles[unit_at(i)];
        const std::string id(a.id());
        CAPTURE(id);
        const front_matter& front = help.fronts.at(id);
        CHECK(front.unread.empty());
        for (const char* field : {"title", "summary", "section", "product", "audience", "updated", "access"}) {
            CAPTURE(field);
            REQUIRE(front.find(field));
            CHECK_FALSE(front.find(field)->text.empty());
        }
        CHECK(date_time::parse(front.find("updated")->text).has_value());
        CHECK(front.find("tags")->list.size() >= 1);
        CHECK(a.headings().size() >= 2);
        std::size_t words = 0;
        for_each_word(a.text(), [&](std::size_t, std::size_t) { ++words; });
        CHECK(words >= 150);
        CHECK(words <= 600);
        for (const auto& l : a.links()) {
            CAPTURE(l.target);
            const std::string target = resolved_link("/" + id + ".md", l.target).value_or("");
            // Hearthline's own pages are on a name that is reserved for examples.
            if (target.find("hearthline.example/") != std::string::npos) continue;
            REQUIRE(target.ends_with(".md"));
            CHECK(ids.contains(target.substr(1, target.size() - 4)));
        }
        linked += !a.links().empty();
    }
    CHECK(linked >= help.articles.size() / 2);
}

TEST_CASE("in half of the questions no content word's stem stands in the right title") {
    const help_centre help = read();
    std::size_t apart = 0;
    for (const auto& [id, text] : help.questions) {
        const std::set<std::string> asked = stems(text);
        bool shared = false;
        for (const auto& [article, grade] : help.judged.at(id))
            for (const std::string& stem : stems(help.articles.title(*help.articles.find(article))))
                shared = shared || asked.contains(stem);
        apart += !shared;
    }
    CHECK(2 * apart >= help.questions.size());
}

TEST_CASE("BM25 alone stays under .9 recall at 5, whatever weight the title has") {
    const help_centre help = read();
    for (const float weight : {1.0f, 3.0f, 10.0f}) {
        const double recall = recall_at_5(help, build(help.articles, identity{.title_weight = weight}));
        CHECK(recall < 0.9);
        CHECK(recall > 0.5);  // hard, and not hopeless
    }
    const double textbook = recall_at_5(help, build(help.articles, identity{}, {.bm25 = {.k1 = 1.2f, .b = 0.75f}}));
    CHECK(textbook < 0.9);
}
