// quarry_tour: a walk through retrieval over a bundled help centre, and over a folder of yours.
//
//     quarry_tour                                        the tour
//     quarry_tour --folder DIR                           index a folder and answer questions from the keyboard
//     quarry_tour --folder DIR --ask "question"          answer one question
//
// Nothing is downloaded and no model is called: the embedder fits itself to the articles.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <quarry/answer/citations.hpp>
#include <quarry/answer/links.hpp>
#include <quarry/answer/pack.hpp>
#include <quarry/answer/snippet.hpp>
#include <quarry/eval/judged_set.hpp>
#include <quarry/eval/metrics.hpp>
#include <quarry/quarry.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "folder.hpp"
#include "reading.hpp"

using namespace quarry;

namespace {

// What the front matter of the help centre holds. Anything else in an article's metadata would be refused.
schema help_centre_fields() {
    return {{"section", field_type::string},    {"product", field_type::string},   {"audience", field_type::string},
            {"updated", field_type::date_time}, {"tags", field_type::string_list}, {"access", field_type::string}};
}

corpus read_help_centre(const std::string& folder) {
    corpus articles(help_centre_fields());
    for (tour::page& page : tour::read_folder(folder + "/articles").pages) {
        page.article.meta = tour::metadata_of(page.front, articles.fields());
        articles.add(std::move(page.article));
    }
    return articles;
}

struct question {
    std::string id, text;
};

std::vector<question> read_questions(const std::string& folder, const judgements& judged) {
    std::ifstream in(folder + "/queries.jsonl");
    if (!in) throw std::runtime_error(folder + "/queries.jsonl cannot be opened");
    std::vector<question> out;
    for (std::string line; std::getline(in, line);) {
        const auto read = nlohmann::json::parse(line);
        if (judged.contains(read.at("id").get<std::string>())) out.push_back({read.at("id"), read.at("text")});
    }
    return out;
}

void heading(std::string_view text) { std::cout << "\n\n== " << text << " ==\n\n"; }

std::string shortened(std::string_view text, std::size_t width) {
    return text.size() <= width ? std::string(text) : std::string(text.substr(0, width - 2)) + "..";
}

std::string column(std::string_view text, std::size_t width) {
    const std::string shown = shortened(text, width);
    return shown + std::string(width - shown.size(), ' ');
}

// One line of the comparison: the first three hits, the right ones starred, and the key that found the first.
template <class Results>
void print_hits(std::string_view name, const Results& found, const grades& right) {
    std::cout << "  " << column(name, 14);
    for (std::size_t i = 0; i < (std::min)(found.size(), std::size_t{3}); ++i) {
        const auto article = found.unit(found[i]);
        std::ostringstream score;
        score << std::fixed << std::setprecision(2) << std::setw(6) << found[i].score;
        std::cout << score.str() << (right.contains(article.id()) ? " * " : "   ") << column(article.title(), 24)
                  << ' ';
    }
    std::cout << '\n';
    if (found.empty()) return;
    if (const auto key = found.matched(found[0]); key && key->part != key_part::whole)
        std::cout << "  " << column("", 14) << "       found by its " << name_of(key->part) << " \""
                  << shortened(key->text, 60) << "\"\n";
}

// The rankings of one retriever over all questions, for the closing table.
template <Retriever R>
evaluation evaluate(const R& search, const std::vector<question>& questions, const judgements& judged) {
    std::vector<query> queries;
    for (const question& q : questions) queries.emplace_back(q.text);
    const auto answers = search.retrieve(queries, 20);  // one call of the embedder for all
    rankings found;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        ranking& list = found[questions[i].id];
        // Scores that decrease strictly, so that ties keep our order and not the grader's.
        for (const auto& hit : answers[i])
            list.push_back({std::string(answers[i].unit(hit).id()), static_cast<float>(20 - list.size())});
    }
    return evaluation(found, judged);
}

int run_tour(const std::string& folder) {
    // 1. A corpus: the articles with their metadata, under a declared schema.
    const corpus articles = read_help_centre(folder);
    const judgements judged = read_judgements(folder + "/qrels.tsv");
    const auto questions = read_questions(folder, judged);
    heading("1. The help centre");
    std::cout << "Hearthline sells smart heating. Its help centre has " << articles.size()
              << " articles, and people have asked " << questions.size()
              << "\nquestions of which we know the right article. They do not use the words of the titles.\n";

    // 2. What is indexed is not what is returned: two populations of keys for the same articles.
    const auto embed = lsa_embedder::fit(articles, {.rank = 32});
    const auto bodies = build(articles, identity{}, embed);
    const auto titles = build(articles, metadata_keys(articles), embed);
    heading("2. Two indexes of keys, and what they cost");
    std::cout << "Bodies:   " << bodies.report.keys << " keys, one for each article's title and text\n"
              << "Metadata: " << titles.report.keys
              << " keys: titles, summaries and headings, each leading to its article\n"
              << "Vectors have " << embed.dimension()
              << " dimensions, from an embedder that was fitted to these articles just now.\n";

    // 3. Four retrievers over the same questions. Each is a value; the last two are made of the first two.
    const auto bm25 = lexical(bodies.bm25);
    const auto vectors = dense(bodies.vectors, embed);
    const auto both = hybrid(bm25, vectors);
    const auto whole = whole_article(dense(titles.vectors, embed), {.floor = 0.2f});
    heading("3. The same question, four ways (a star marks a right article)");
    for (const std::string_view id : {"q08", "q09", "q16", "q52", "q79"}) {
        const auto q = std::ranges::find(questions, id, &question::id);
        if (q == questions.end()) continue;
        std::cout << "\"" << q->text << "\"\n";
        const grades& right = judged.find(id)->second;
        print_hits("BM25", bm25.retrieve(q->text, 3), right);
        print_hits("dense", vectors.retrieve(q->text, 3), right);
        print_hits("hybrid", both.retrieve(q->text, 3), right);
        print_hits("whole article", whole.retrieve(q->text, 3), right);
        std::cout << '\n';
    }

    // 4. Scope is what the application allows; a filter is what the question asks for. Both hold inside every search.
    heading("4. Who asks matters");
    const std::string_view installer_question = "customer has an elderly oil burner, will yours drive it?";
    const auto list = [&](std::string_view who, scope allowed) {
        std::cout << who << '\n';
        const auto found =
            both.retrieve(query(installer_question).within(std::move(allowed)).where(ge("updated", "2024-01-01")), 3);
        for (const auto& hit : found)
            std::cout << "    " << column(found.unit(hit).title(), 40) << found.unit(hit).value("access")->to_string()
                      << '\n';
    };
    std::cout << "\"" << installer_question << "\", changed since 2024\n";
    list("  a resident may see what is public:", scope::only(eq("access", "public")));
    list("  a partner sees more:", scope::only(in("access", {"public", "partner"})));

    // 5. Every answer can say how it came about.
    heading("5. Where a score comes from");
    trace steps;
    const auto explained = both.retrieve(query("what does HL-204 mean").traced(steps), 1);
    if (!explained.empty())
        std::cout << explained.unit(explained[0]).title() << ": " << explained.explain(explained[0])
                  << "\nWhat the pipeline did:\n"
                  << to_string(steps.without_times());

    // 6. What a language model gets to read fits its budget, and what it writes back is checked against that.
    heading("6. From hits to an answer");
    const std::string asked = "got a text saying HL-602 while I'm in Portugal";
    const auto found = both.retrieve(asked, 5);
    const packed_context context = pack(found, {.budget = 1200});
    std::cout << '"' << asked << "\"\n"
              << context.units.size() << " articles in " << context.tokens << " of " << context.budget << " tokens, "
              << context.left_out.size() << " left out:\n";
    for (const packed_unit& unit : context.units)
        std::cout << "    [" << unit.number << "] " << unit.title << (unit.whole ? "" : " (cut)") << '\n';
    if (!found.empty()) {
        const unit_ref best = found.unit(found[0]);
        const passage shown = snippet(best, asked, bodies.bm25.index.words(), {.length = 160});
        std::cout << "  best passage of the first: \"" << tour::one_line(shown, best.text()) << "\"\n";
    }
    const std::string reply = "The room is too cold [1]. See [frost](https://frost.example/help) and [9].";
    std::cout << "  a model might reply:  " << reply << '\n'
              << "  with invented links gone: " << check_links(reply, allowed_links(context)).text << '\n'
              << "  citations it made up: " << check_citations(reply, context).unknown.size() << '\n';

    // 7. And it can be measured.
    heading("7. All questions");
    std::cout << std::fixed << std::setprecision(3) << "  " << column("", 30) << "recall@5    MRR\n";
    const auto row = [&](std::string_view name, const auto& search) {
        const evaluation measured = evaluate(search, questions, judged);
        std::cout << "  " << column(name, 30) << "   " << measured.mean(recall_at{5}) << "  "
                  << measured.mean(reciprocal_rank{}) << '\n';
    };
    row("BM25", bm25);
    row("dense (LSA)", vectors);
    row("hybrid, bounded fusion", both);
    row("hybrid, reciprocal ranks", fuse(rrf{}, bm25, vectors));
    row("whole article", whole);
    row("whole article and bodies", whole_article(dense(titles.vectors, embed), lexical(bodies.bm25)));
    std::cout << "\nA sentence model in place of LSA moves the dense rows most. Try your own articles:\n"
                 "    quarry_tour --folder DIR --ask \"question\"\n";
    return 0;
}

int usage() {
    std::cerr << "usage: quarry_tour [--help-centre DIR] | quarry_tour --folder DIR [--ask QUESTION]\n";
    return 2;
}

}  // namespace

int main(int argc, char* argv[]) {
    std::string folder, ask, help_centre = QUARRY_HELP_CENTRE;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        std::string* target = option == "--folder"        ? &folder
                              : option == "--ask"         ? &ask
                              : option == "--help-centre" ? &help_centre
                                                          : nullptr;
        if (!target || i + 1 == argc) return usage();
        *target = argv[++i];
    }
    if (folder.empty() && !ask.empty()) return usage();
    try {
        return folder.empty() ? run_tour(help_centre) : tour::run_folder(folder, ask);
    } catch (const std::exception& e) {
        std::cerr << "quarry_tour: " << e.what() << '\n';
        return 2;
    }
}
