// Recorded replies of small language models, read as a careful person would.
//
// `questions` and `text` must be what the record says, in every record. `usable` and `why` are judgements by rule: the
// share of records in which we judge alike is printed, and may only rise.
#include <set>

#include "quarry/model/reply.hpp"
#include "quarry/probe/hypothetical_answer.hpp"
#include "quarry/probe/rewrite.hpp"
#include "quarry/rank/compress.hpp"
#include "quarry/rank/listwise.hpp"
#include "quarry/rank/pointwise.hpp"
#include "data/sets.hpp"

using namespace quarry;

namespace {

std::vector<nlohmann::json> records(const std::string& technique) {
    std::ifstream file(data::path_of("transcripts/" + technique + ".jsonl"));
    std::vector<nlohmann::json> out;
    for (std::string line; std::getline(file, line);) out.push_back(nlohmann::json::parse(line));
    REQUIRE_FALSE(out.empty());
    return out;
}

completion reply_of(const nlohmann::json& record) {
    return {record.at("reply").get<std::string>(), record.at("finish_reason") == "length"};
}

// How the recorded prompts begin their own pieces.
const std::vector<std::string> labels{"Passage:", "Passages:", "Piece:", "Code:", "Reply:"};

// The record's words for what we notice. What has no word there is left out.
std::set<std::string> in_their_words(const notices& seen, const std::string& count) {
    std::set<std::string> out;
    for (const noticed n :
         {noticed::truncated, noticed::copies_prompt, noticed::list, noticed::loop, noticed::too_long, noticed::fence,
          noticed::numbering, noticed::bullets, noticed::not_a_question, noticed::duplicates, noticed::preamble})
        if (seen.has(n)) out.insert(std::string(name_of(n)));
    if (seen.has(noticed::count)) out.insert(count);
    return out;
}

std::set<std::string> recorded_why(const nlohmann::json& expected) {
    std::set<std::string> out;
    std::string why = expected.at("why").get<std::string>();
    for (std::size_t at = 0; why != "as asked" && at <= why.size();) {
        const std::size_t end = std::min(why.find(", ", at), why.size());
        out.insert(why.substr(at, end - at));
        at = end + 2;
    }
    return out;
}

// Counts agreement and says so.
struct agreement {
    std::size_t records = 0, usable = 0, why = 0;

    void add(const nlohmann::json& record, bool is_usable, const std::set<std::string>& seen) {
        const auto& expected = record.at("expected");
        ++records;
        usable += expected.at("usable").get<bool>() == is_usable;
        why += recorded_why(expected) == seen;
    }
    void report(const std::string& technique, double least_usable, double least_why) const {
        const auto share = [&](std::size_t n) { return static_cast<double>(n) / static_cast<double>(records); };
        WARN(technique << ": " << records << " replies, judged alike: usable " << 100 * share(usable) << " %, why "
                       << 100 * share(why) << " %");
        CHECK(share(usable) >= least_usable);
        CHECK(share(why) >= least_why);
    }
};

void check_texts(const std::string& technique, std::size_t sentences, double least_usable, double least_why) {
    if (!data::measured("transcripts/" + technique + ".jsonl")) return;
    agreement alike;
    for (const nlohmann::json& record : records(technique)) {
        INFO(record.at("id").get<std::string>());
        const known_runs prompt(record.at("prompt").get<std::string>());
        text_rules rules{.sentences = sentences};
        rules.labels = labels;
        rules.prompt = &prompt;
        const text_reply read = read_text(reply_of(record), rules);
        const auto& expected = record.at("expected");
        CHECK(read.text == expected.at("text").get<std::string>());
        // The record rounds to three digits.
        CHECK(read.copied == data::near(expected.at("copied_8grams").get<double>(), .00051));
        alike.add(record, read.usable, in_their_words(read.seen, ""));
        if (recorded_why(expected) != in_their_words(read.seen, "") || expected.at("usable").get<bool>() != read.usable)
            UNSCOPED_INFO("judged otherwise: " << record.at("id") << ": " << read.seen.names() << " for "
                                               << expected.at("why"));
    }
    alike.report(technique, least_usable, least_why);
}

}  // namespace

TEST_CASE("recorded questions are delivered as a careful reader delivers them") {
    if (!data::measured("transcripts/questions.jsonl")) return;
    agreement alike;
    for (const nlohmann::json& record : records("questions")) {
        INFO(record.at("id").get<std::string>());
        question_rules rules{.asked = 3};
        rules.labels = labels;
        const question_reply read = read_questions(reply_of(record), rules);
        CHECK(read.questions == record.at("expected").at("questions").get<std::vector<std::string>>());
        alike.add(record, read.usable(), in_their_words(read.seen, "count_not_3"));
    }
    alike.report("questions", 1.0, 1.0);
}

TEST_CASE("recorded contexts are delivered as a careful reader delivers them") { check_texts("context", 2, 1.0, 1.0); }

TEST_CASE("recorded summaries are delivered as a careful reader delivers them") { check_texts("summary", 4, .95, 1.0); }

TEST_CASE("recorded descriptions of code are delivered as a careful reader delivers them") {
    check_texts("code_summary", 2, 1.0, 1.0);
}

namespace {

// The question of a recorded prompt: what follows its label.
std::string question_of(const nlohmann::json& record) {
    const std::string prompt = record.at("prompt").get<std::string>();
    for (const std::string label : {"Question: ", "Claim: "})
        if (const std::size_t at = prompt.rfind(label); at != std::string::npos) {
            const std::string rest = prompt.substr(at + label.size());
            return rest.substr(0, rest.find('\n'));
        }
    FAIL("no question in " << prompt);
    return {};
}

// A text up to its first token of a chat format. The records keep such tokens, we do not: nobody wants to search for
// one. It is the only point in which what we deliver may differ.
std::string without_chat_tokens(const std::string& text) { return text.substr(0, text.find("<|")); }

void check_proposals(const std::string& technique, const std::string& field, const question_rules& rules,
                     const proposed_text_rules& taken, std::pair<std::size_t, std::size_t> wanted,
                     const std::string& count, double least_usable, double least_why) {
    if (!data::measured("transcripts/" + technique + ".jsonl")) return;
    agreement alike;
    for (const nlohmann::json& record : records(technique)) {
        INFO(record.at("id").get<std::string>());
        const question_reply read = read_questions(reply_of(record), rules);
        auto expected = record.at("expected").at(field).get<std::vector<std::string>>();
        if (record.at("model").get<std::string>().find("chatml") != std::string::npos)
            for (std::string& text : expected) text = detail::trimmed(without_chat_tokens(text));
        CHECK(read.questions == expected);
        const probed_query p = propose_texts(question_of(record), read, taken);
        auto why = in_their_words(read.seen, "");
        why.erase("");
        if (read.seen.has(noticed::label)) why.insert("label");
        if (read.questions.size() < wanted.first || read.questions.size() > wanted.second) why.insert(count);
        for (const probe_note& note : p.notes)
            if (note.code == probe_code::duplicate) why.insert("repeats_original");
        if (why != recorded_why(record.at("expected"))) {
            std::string ours;
            for (const std::string& w : why) ours += w + " ";
            UNSCOPED_INFO("judged otherwise: " << record.at("id") << ": " << ours << "for "
                                               << record.at("expected").at("why"));
        }
        alike.add(record, !p.probes.empty(), why);
    }
    alike.report(technique, least_usable, least_why);
}

}  // namespace

TEST_CASE("recorded rewrites are delivered as a careful reader delivers them") {
    question_rules rules;
    rules.statements = true;
    check_proposals("multi_query", "rewrites", rules, {.most = 4}, {4, 4}, "count_not_4", .86, .95);
}

TEST_CASE("recorded steps back are delivered as a careful reader delivers them") {
    check_proposals("step_back", "questions", {}, {.most = 1}, {1, 1}, "count_not_1", 1.0, .95);
}

TEST_CASE("recorded parts are delivered as a careful reader delivers them") {
    check_proposals("decompose", "questions", {}, {.most = 4}, {2, 3}, "count_not_2_or_3", .76, .9);
}

TEST_CASE("recorded hypothetical answers are delivered as a careful reader delivers them") {
    if (!data::measured("transcripts/hyde.jsonl")) return;
    agreement alike;
    for (const nlohmann::json& record : records("hyde")) {
        INFO(record.at("id").get<std::string>());
        const known_runs prompt(record.at("prompt").get<std::string>());
        const std::string asked = question_of(record);
        const text_reply read = read_text(reply_of(record), hypothetical_answer_rules(asked, prompt));
        const auto& expected = record.at("expected");
        std::string text = expected.at("text").get<std::string>();
        const bool chatml = record.at("model").get<std::string>().find("chatml") != std::string::npos;
        if (chatml) text = detail::trimmed(without_chat_tokens(text));
        CHECK(read.text == text);
        // Of replies that a limit cut off the record counted what we leave out.
        if (record.at("finish_reason") == "stop")
            CHECK(read.copied == data::near(expected.at("copied_8grams").get<double>(), .00051));
        alike.add(record, read.usable, in_their_words(read.seen, ""));
    }
    alike.report("hyde", .88, .92);
}

TEST_CASE("recorded orders are delivered as a careful reader delivers them") {
    if (!data::measured("transcripts/rerank_listwise.jsonl")) return;
    static constexpr std::size_t example[] = {3, 1, 2};  // of the recorded prompts
    std::size_t given = 0, echoed = 0;
    for (const nlohmann::json& record : records("rerank_listwise")) {
        INFO(record.at("id").get<std::string>());
        const order_reply read = read_order(reply_of(record), 8, example);
        const auto& expected = record.at("expected");
        CHECK(read.order == expected.at("order").get<std::vector<std::size_t>>());
        std::vector<std::size_t> completed;
        for (const std::size_t i : read.completed(8)) completed.push_back(i + 1);
        CHECK(completed == expected.at("completed_order").get<std::vector<std::size_t>>());
        const auto why = recorded_why(expected);
        CHECK(read.given == why.contains("given_order"));
        CHECK(read.echoed == why.contains("echoes_the_prompts_example"));
        CHECK(read.repeated == why.contains("duplicates"));
        CHECK((read.order.size() < 8) == why.contains("missing"));
        given += read.given, echoed += read.echoed;
    }
    WARN("rerank_listwise: 14 replies, of which " << echoed << " are the prompt's example and " << given
                                                  << " the given order");
}

TEST_CASE("recorded scores are delivered as a careful reader delivers them") {
    if (!data::measured("transcripts/rerank_pointwise.jsonl")) return;
    for (const nlohmann::json& record : records("rerank_pointwise")) {
        INFO(record.at("id").get<std::string>());
        const score_reply read = read_score(reply_of(record));
        const auto& expected = record.at("expected");
        CHECK(read.score.has_value() == !expected.at("score").is_null());
        if (read.score) CHECK(*read.score == expected.at("score").get<float>());
        CHECK(read.alone == (expected.at("why") == "as asked"));
    }
}

TEST_CASE("of recorded extracts the sentences that stand in the passage are delivered") {
    if (!data::measured("transcripts/compress.jsonl")) return;
    for (const nlohmann::json& record : records("compress")) {
        INFO(record.at("id").get<std::string>());
        const std::string prompt = record.at("prompt").get<std::string>();
        const std::size_t begin = prompt.find("Passage: ") + 9;
        const std::string passage = prompt.substr(begin, prompt.find("\n\nQuestion: ") - begin);
        const extract_reply read = read_extract(reply_of(record), passage);
        std::vector<std::string> verbatim;
        for (const byte_span& s : read.verbatim) verbatim.push_back(passage.substr(s.begin, s.size()));
        const auto& expected = record.at("expected");
        CHECK(verbatim == expected.at("verbatim").get<std::vector<std::string>>());
        CHECK(read.none == expected.at("none").get<bool>());
        CHECK(read.invented.empty() == expected.at("not_verbatim").empty());
    }
}
