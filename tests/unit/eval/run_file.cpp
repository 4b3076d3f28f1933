#include "quarry/eval/run_file.hpp"

#include <limits>

#include "quarry/index/bm25_index.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

std::vector<std::string> ids_of(const ranking& r) {
    std::vector<std::string> out;
    for (const auto& document : r) out.push_back(document.id);
    return out;
}

// What trec_eval does with a run: scores become floats, equal ones are ordered by id, descending.
std::vector<std::string> as_trec_eval_orders(ranking r) {
    std::ranges::sort(
        r, [](const auto& a, const auto& b) { return a.score != b.score ? a.score > b.score : a.id > b.id; });
    return ids_of(r);
}

constexpr float most = std::numeric_limits<float>::max();

}  // namespace

TEST_CASE("a run is written so that trec_eval keeps our order, ties and all") {
    const temporary_folder folder;
    const ranking ours{{"d1", 3.5f}, {"d2", 3.5f}, {"d3", 3.5f},  {"d9", 1},
                       {"d4", 0},    {"d5", 0},    {"d6", -0.0f}, {"d7", -2}};
    write_run(folder / "run", {{"q", ours}}, "test");
    const ranking read = read_run(folder / "run").at("q");
    CHECK(as_trec_eval_orders(read) == ids_of(ours));
    for (std::size_t i = 1; i < read.size(); ++i) CHECK(read[i].score < read[i - 1].score);
    // Scores that told the documents apart stay what they were.
    CHECK(read[0].score == 3.5f);
    CHECK(read[3].score == 1.0f);
    CHECK(read[4].score == 0.0f);
    CHECK(read[7].score == -2.0f);
    // 3.5 lies in [2, 4), where floats are 2^-22 apart.
    CHECK(read[1].score == 3.5f - 0x1p-22f);
}

TEST_CASE("an order that its scores contradict is kept: the position is the truth") {
    const ranking r = strictly_decreasing({{"chosen first", .2f}, {"chosen second", .9f}, {"third", .1f}});
    CHECK(as_trec_eval_orders(r) == std::vector<std::string>{"chosen first", "chosen second", "third"});
    CHECK(r[2].score == .1f);
}

TEST_CASE("a thousand equal scores come apart at any size of score") {
    for (const float score : {0.0f, 1e-38f, -1e-45f, 1.0f, 16777216.0f, 1e30f, -1e30f, most}) {
        ranking r;
        for (int i = 0; i < 1000; ++i) r.push_back({std::to_string(i), score});
        const ranking apart = strictly_decreasing(r);
        CHECK(as_trec_eval_orders(apart) == ids_of(r));
    }
}

TEST_CASE("scores that cannot be lowered or are no numbers are refused") {
    CHECK(code_of([] { strictly_decreasing({{"a", -most}, {"b", -most}}); }) == "run.score");
    CHECK(code_of([] { strictly_decreasing({{"a", std::numeric_limits<float>::quiet_NaN()}}); }) == "run.score");
    CHECK(code_of([] { strictly_decreasing({{"a", std::numeric_limits<float>::infinity()}}); }) == "run.score");
}

TEST_CASE("what is written is read back to the bit") {
    const temporary_folder folder;
    std::uint32_t seed = 1;
    rankings written;
    for (int q = 0; q < 20; ++q) {
        ranking r;
        for (int i = 0; i < 50; ++i) {
            seed = seed * 1664525u + 1013904223u;
            const float score = std::bit_cast<float>(seed);
            if (score >= -most && score <= most) r.push_back({std::to_string(i), score});
        }
        std::ranges::sort(r, std::greater<>(), &scored_document::score);
        written[std::to_string(q)] = strictly_decreasing(r);
    }
    write_run(folder / "run", written, "t");
    CHECK(read_run(folder / "run") == written);
}

TEST_CASE("a line has six fields: query, Q0, document, rank from 1, score, tag") {
    CHECK(to_run({{"7", {{"b", .5f}, {"a", .25f}}}, {"10", {{"c", 2}}}}, "mine") ==
          "10 Q0 c 1 2 mine\n"
          "7 Q0 b 1 0.5 mine\n"
          "7 Q0 a 2 0.25 mine\n");
}

TEST_CASE("ids and tags with white space are refused, since they would shift the fields") {
    CHECK(message_of([] {
              to_run({{"q", {{"two words", 1}}}}, "t");
          }).find("document id \"two words\"") != std::string::npos);
    CHECK(code_of([] { to_run({{"q\t1", {{"a", 1}}}}, "t"); }) == "run.id");
    CHECK(code_of([] { to_run({{"q", {{"", 1}}}}, "t"); }) == "run.id");
    CHECK(code_of([] { to_run({{"q", {{"a", 1}}}}, ""); }) == "run.id");
    CHECK(code_of([] { to_run({{"q", {{"a\n", 1}}}}, "t"); }) == "run.id");
}

TEST_CASE("runs of other tools are read: any white space, any rank, more after the tag") {
    const temporary_folder folder;
    const std::string path = folder.write("run",
                                          "301\tQ0\tFR940202\t104\t  2.129133\tSTANDARD more junk\r\n"
                                          "\n"
                                          "301 0 doc-2 x +1.5e1 other\n"
                                          "302 Q0 doc-2 1 -3 t");
    const rankings read = read_run(path);
    CHECK(read == rankings{{"301", {{"FR940202", 2.129133f}, {"doc-2", 15}}}, {"302", {{"doc-2", -3}}}});
}

TEST_CASE("a bad line of a run is named") {
    const temporary_folder folder;
    const auto reading = [&](std::string_view line) {
        const std::string path = folder.write("run", "1 Q0 a 1 2 t\n" + std::string(line));
        return message_of([&] { read_run(path); });
    };
    CHECK(reading("1 Q0 b 1 2") == folder / "run" + ":2: a line of a run has 6 fields, this one has 5 [run.line]");
    CHECK(reading("1 Q0 b 1 two t").find(":2: the score \"two\" is no finite number") != std::string::npos);
    CHECK(reading("1 Q0 b 1 2x t").find("no finite number") != std::string::npos);
    CHECK(reading("1 Q0 b 1 nan t").find("no finite number") != std::string::npos);
    CHECK(reading("1 Q0 b 1 1e300 t").find("no finite number") != std::string::npos);
    CHECK(reading("1 Q0 a 2 1 t").find(":2: query 1 has document a already") != std::string::npos);
    CHECK(code_of([&] { read_run(folder / "missing"); }) == "file.open");
    CHECK(code_of([&] { read_run(folder.path()); }) == "file.read");
    CHECK(code_of([&] { write_run(folder / "no/such/folder", {}, "t"); }) == "file.open");
}

TEST_CASE("hits of a retriever become a ranking by string id, in their order") {
    // Both articles hold the word once and are equally long: one score, ordered by unit id. By string id trec_eval
    // would turn them round.
    corpus c;
    c.add({.id = "a", .text = "cat"});
    c.add({.id = "b", .text = "cat"});
    c.add({.id = "c", .text = "dog"});
    bm25_index index;
    for (std::size_t i = 0; i < 3; ++i) index.add(unit_at(i), c.text(unit_at(i)));
    const auto found = lexical(index, c).retrieve("cat", 10);
    const ranking r = ranking_of(found);
    CHECK(ids_of(r) == std::vector<std::string>{"a", "b"});
    CHECK(r[0].score == found[0].score);
    CHECK(as_trec_eval_orders(r) == ids_of(r));
}
