#include "quarry/eval/judged_set.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace quarry;

namespace {

struct set_folder : temporary_folder {
    set_folder() {
        write("corpus.jsonl",
              "{\"id\": \"d1\", \"title\": \"One\", \"text\": \"first\", \"year\": 1999, \"headings\": [\"Asked\"]}\n"
              "{\"id\": \"d2\", \"text\": \"\", \"title\": null, \"summary\": \"short\"}\n");
        write("queries.jsonl",
              "{\"id\": \"q1\", \"text\": \"where?\"}\n{\"id\": \"q2\", \"text\": \"never judged\"}\n");
        write("qrels.tsv", "q1\td1\t2\nq1\td2\t-1\n");
    }

    std::string complaint() const {
        return message_of([&] { read_judged_set(path()); });
    }
    bool complains(std::string_view part) const { return complaint().find(part) != std::string::npos; }
};

}  // namespace

TEST_CASE("a folder in the common format is read in the order of its files") {
    const set_folder folder;
    const judged_set set = read_judged_set(folder.path());
    REQUIRE(set.articles.size() == 2);
    CHECK(set.articles[0].id == "d1");
    CHECK(set.articles[0].title == "One");
    CHECK(set.articles[0].text == "first");
    CHECK(set.articles[1].title.empty());
    CHECK(set.articles[1].summary == "short");
    REQUIRE(set.queries.size() == 2);
    CHECK_FALSE(set.judged.contains("q2"));
    CHECK(set.queries[0].id == "q1");
    CHECK(set.queries[0].text == "where?");
    CHECK(set.judged == judgements{{"q1", {{"d1", 2}, {"d2", -1}}}});
    CHECK(set.warnings.empty());
    CHECK(read_judged_set(folder.path() + "/").articles.size() == 2);
}

TEST_CASE("headings are not read, so that they cannot give answers away") {
    const set_folder folder;
    CHECK(read_judged_set(folder.path()).articles[0].headings.empty());
}

TEST_CASE("a judgement that names no document counts among the relevant and is warned about") {
    const set_folder folder;
    folder.write("qrels.tsv", "q1\td1\t1\nq1\td424\t1\nq1\td425\t0\n");
    const judged_set set = read_judged_set(folder.path());
    REQUIRE(set.warnings.size() == 2);
    CHECK(set.warnings[0] == folder / "qrels.tsv" +
                                 ":2: query q1 judges document d424, which is not in the corpus; it "
                                 "counts as never found");
    CHECK(set.warnings[1] == folder / "qrels.tsv" + ":3: query q1 judges document d425, which is not in the corpus");
    const evaluation e({{"q1", {{"d1", 1}}}}, set.judged);
    CHECK(e.mean(recall_at{10}) == .5);
}

TEST_CASE("a judged query without a text counts as unanswered and is warned about once") {
    const set_folder folder;
    folder.write("qrels.tsv", "q1\td1\t1\nq9\td1\t1\nq9\td2\t1\n");
    const judged_set set = read_judged_set(folder.path());
    REQUIRE(set.warnings.size() == 1);
    CHECK(set.warnings[0].find(":2: query q9 is judged and has no text") != std::string::npos);
    CHECK(evaluation({{"q1", {{"d1", 1}}}}, set.judged).mean(success_at{1}) == .5);
}

TEST_CASE("TREC's four fields, spaces, Windows line ends, a byte-order mark and numeric ids are read") {
    const set_folder folder;
    folder.write("corpus.jsonl", "\xEF\xBB\xBF{\"id\": 7, \"text\": \"a\"}\r\n\r\n{\"id\": -1, \"text\": \"b\"}\r\n");
    folder.write("qrels.tsv", "q1 0 7 1\r\nq1  0\t-1\t2\r\n");
    const judged_set set = read_judged_set(folder.path());
    CHECK(set.articles[0].id == "7");
    CHECK(set.articles[1].id == "-1");
    CHECK(set.warnings.size() == 1);  // of the second line "q1  0" is one field before the tab
    CHECK(set.judged.at("q1").at("7") == 1);
}

TEST_CASE("a line that names the columns is skipped if it is the first") {
    const set_folder folder;
    folder.write("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
    CHECK(read_judged_set(folder.path()).judged == judgements{{"q1", {{"d1", 1}}}});
    folder.write("qrels.tsv", "q1\td1\t1\nquery-id\tcorpus-id\tscore\n");
    CHECK(folder.complains(":2: the grade \"score\" is no whole number"));
}

TEST_CASE("ids may hold spaces where tabs separate") {
    const set_folder folder;
    folder.write("corpus.jsonl", "{\"id\": \"page one\", \"text\": \"a\"}\n");
    folder.write("qrels.tsv", "q1\tpage one\t1\n");
    CHECK(read_judged_set(folder.path()).warnings.empty());
}

TEST_CASE("other files can take the place of those in the folder") {
    const set_folder folder;
    const judged_set_files files{.queries = folder.write("train.jsonl", "{\"id\": \"t\", \"text\": \"train\"}\n"),
                                 .judgements = folder.write("train.tsv", "t\td2\t1\n")};
    const judged_set set = read_judged_set(folder.path(), files);
    CHECK(set.queries[0].text == "train");
    CHECK(set.judged.contains("t"));
}

TEST_CASE("a bad line of JSON is named with its file and number") {
    const set_folder folder;
    const auto corpus_line = [&](std::string_view line) {
        folder.write("corpus.jsonl", "{\"id\": \"d1\", \"text\": \"a\"}\n" + std::string(line));
        return folder.complaint();
    };
    const std::string where = folder / "corpus.jsonl" + ":2: ";
    CHECK(corpus_line("{\"id\": \"d2\", \"te") == where + "the line is no valid JSON at byte 17 [json.line]");
    CHECK(corpus_line("[1]") == where + "the line is no JSON object but array [json.line]");
    CHECK(corpus_line("{\"text\": \"a\"}") == where + "the object has no field \"id\" [json.line]");
    CHECK(corpus_line("{\"id\": \"d2\"}") == where + "the object has no field \"text\" [json.line]");
    CHECK(corpus_line("{\"id\": [\"d2\"], \"text\": \"a\"}") ==
          where + "the field \"id\" is no text but array [json.line]");
    CHECK(corpus_line("{\"id\": \"\", \"text\": \"a\"}") == where + "the id is empty [json.line]");
    CHECK(corpus_line("{\"id\": \"d1\", \"text\": \"a\"}") == where + "the id \"d1\" was given before [json.line]");
    CHECK(corpus_line("{\"id\": \"d2\", \"text\": 1.5}") ==
          where + "the field \"text\" is no text but number [json.line]");
    CHECK(corpus_line("{\"id\": \"d2\", \"text\": \"\xFF\"}").find(where + "the line is no valid JSON") == 0);
    CHECK(corpus_line("{\"id\": \"d2\", \"text\": \"a\"} x").find(where + "the line is no valid JSON") == 0);
}

TEST_CASE("a line nested a hundred thousand deep is an error and not a crash") {
    const set_folder folder;
    folder.write("corpus.jsonl", std::string(100000, '['));
    CHECK(folder.complains(":1: the line is no valid JSON"));
}

TEST_CASE("a bad judgement is named with its file and number") {
    const set_folder folder;
    const auto judging = [&](std::string_view line) {
        folder.write("qrels.tsv", "q1\td1\t1\n" + std::string(line));
        return folder.complaint();
    };
    CHECK(judging("q1\td2").find(
              "qrels.tsv:2: a judgement has 3 fields (query, document, grade) or 4, this line has 2") !=
          std::string::npos);
    CHECK(judging("q1\td2\t1\tx\ty").find("has 5") != std::string::npos);
    CHECK(judging("q1\td2\t1.5").find(":2: the grade \"1.5\" is no whole number") != std::string::npos);
    CHECK(judging("q1\td2\t99999999999").find("is no whole number") != std::string::npos);
    CHECK(judging("q1\td2\t").find("the grade \"\" is no whole number") != std::string::npos);
    CHECK(judging("q1\t\t1").find("the document is empty") != std::string::npos);
    CHECK(judging("q1\td1\t1").find(":2: query q1 has judged document d1 before") != std::string::npos);
}

TEST_CASE("a folder that is not there, or a set in which nothing is judged, is a clear error") {
    const set_folder folder;
    CHECK(message_of([] { read_judged_set("/no/such/folder"); }) ==
          "cannot read /no/such/folder/corpus.jsonl: No such file or directory [file.open]");
    folder.write("qrels.tsv", "");
    CHECK(code_of([&] { read_judged_set(folder.path()); }) == "judged_set.queries");
    folder.write("qrels.tsv", "other\td1\t1\n");
    CHECK(code_of([&] { read_judged_set(folder.path()); }) == "judged_set.queries");
}

TEST_CASE("judgements are read alone where there is only a run to grade") {
    const temporary_folder folder;
    const std::string path = folder.write("qrels", "301 0 FR940202 -1\n301 0 FR940203 2\n302\tX\t1\n");
    CHECK(read_judgements(path) == judgements{{"301", {{"FR940202", -1}, {"FR940203", 2}}}, {"302", {{"X", 1}}}});
    CHECK(code_of([&] { read_judgements(folder.write("bad", "301 0 a 1\n301 0 a 1\n")); }) == "judged_set.line");
}
