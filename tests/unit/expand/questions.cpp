#include "quarry/expand/questions.hpp"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/model/budgeted.hpp"
#include "quarry/model/cache.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using list = std::vector<std::string>;

corpus animals() {
    corpus c;
    const unit_id article =
        c.add({.id = "a", .title = "Animals", .text = "Cats purr when content. Dogs bark at night."});
    c.add_part(article, {.span = {0, 23}});
    c.add_part(article, {.span = {24, 43}});
    return c;
}
const unit_id cats{1}, dogs{2};

// Three questions about the first word of the passage.
scripted_generator asker() {
    return scripted_generator(
        [](const prompt& p) {
            const bool of_cats = p.text().find("Cats purr") != std::string::npos;
            return completion(of_cats ? "1. When do cats purr?\n2. What does purring mean?\n3. Who purrs?"
                                      : "1. When do dogs bark?\n2. Why is it loud at night?\n3. Who barks?");
        },
        "m");
}

scripted_generator saying(std::string reply) {
    return scripted_generator([reply](const prompt&) { return completion(reply); });
}

template <class X>
std::vector<key> keys_of(const X& expander, const corpus& c, unit_id unit) {
    std::vector<key> out;
    expander(c, unit, [&](key k) { out.push_back(std::move(k)); });
    return out;
}

// "text / words" of each key; "-" for none.
template <class X>
list shown(const X& expander, const corpus& c, unit_id unit) {
    list out;
    for (const key& k : keys_of(expander, c, unit)) {
        std::string read = k.lexical.empty() ? k.text : "";
        for (const weighted_text& t : k.lexical) read += (read.empty() ? "" : "+") + t.text;
        out.push_back((k.text.empty() ? "-" : k.text) + " / " + (read.empty() ? "-" : read));
    }
    return out;
}

list table(const lexical_base& kb, const corpus& c) {
    list out;
    for (std::size_t i = 0; i < kb.bm25.keys->size(); ++i) out.emplace_back(kb.bm25.keys->text(key_at(i), c));
    return out;
}

}  // namespace

TEST_CASE("a unit is found by the questions it answers, and itself comes back") {
    const corpus c = animals();
    const auto kb = build(c, questions(asker()));
    const auto found = lexical(kb.bm25).retrieve("what is the meaning of purring", 3);
    REQUIRE(found.size() == 1);
    CHECK(found.unit(found.hits[0]).text() == "Cats purr when content.");
    CHECK(found.matched(found.hits[0])->text == "What does purring mean?");
    CHECK(found.matched(found.hits[0])->part == key_part::question);
    CHECK(kb.report.expansion.calls == 2);
    CHECK(kb.report.keys == 8);
}

TEST_CASE("the unit's own words are a key too, or not, and BM25 sees questions as keys, appended, or not at all") {
    const corpus c = animals();
    const auto g = saying("Who purrs?\nWhy?");
    const std::string own = "Cats purr when content.";
    const auto of = [&](bool with_unit, question_words words) {
        return shown(questions(g, {.with_unit = with_unit, .words = words}), c, cats);
    };
    CHECK(of(true, question_words::keys) == list{own + " / " + own, "Who purrs? / Who purrs?", "Why? / Why?"});
    CHECK(of(false, question_words::keys) == list{"Who purrs? / Who purrs?", "Why? / Why?"});
    CHECK(of(true, question_words::appended) ==
          list{own + " / " + own + "+Who purrs?+Why?", "Who purrs? / -", "Why? / -"});
    CHECK(of(false, question_words::appended) == list{"- / " + own + "+Who purrs?+Why?", "Who purrs? / -", "Why? / -"});
    CHECK(of(true, question_words::none) == list{own + " / " + own, "Who purrs? / -", "Why? / -"});
    CHECK(of(false, question_words::none) == list{"Who purrs? / -", "Why? / -"});
}

TEST_CASE("appended questions make BM25 find what the words alone do not, and vectors hold the questions") {
    const corpus c = animals();
    const toy::letter_embedder embed;
    const auto kb = build(c, questions(asker(), {.with_unit = false, .words = question_words::appended}), embed);
    CHECK(kb.bm25.index.counted_keys() == 2);
    CHECK(kb.vectors.index.size() == 6);
    const auto found = kb.bm25.index.search("loud", 5);
    REQUIRE(found.size() == 1);
    CHECK(found[0].unit == dogs);
}

TEST_CASE("at most as many questions as asked for are kept, distinct and not empty") {
    const corpus c = animals();
    std::string fifty;
    for (int i = 0; i < 50; ++i) fifty += "What is " + std::to_string(i) + "?\n";
    const auto kept = [&](const std::string& reply) {
        return keys_of(questions(saying(reply), {.count = 3, .with_unit = false}), c, cats);
    };
    CHECK(kept(fifty).size() == 3);
    CHECK(kept("Why?\nWHY?\nwhy?").size() == 1);
    CHECK(kept("Why?\n\n\n").size() == 1);
    for (const key& k : kept("1.\n2. Why?\n3. ?")) CHECK(k.text == "Why?");
}

TEST_CASE("a unit without questions is indexed by its own words, and counted") {
    const corpus c = animals();
    for (const char* reply : {"", "N/A", "I'm sorry, I can't help with that.", "- Public\n- Private"}) {
        const auto kb = build(c, questions(saying(reply), {.with_unit = false}));
        CHECK(kb.report.units_without_key.empty());
        CHECK(kb.report.keys == 2);
        CHECK(kb.report.expansion.unusable == 2);
        CHECK(lexical(kb.bm25).retrieve("bark", 3).size() == 1);
    }
    const auto g = asker();
    g.fail_at(2, "timeout");
    const auto kb = build(c, questions(g, {.with_unit = false}));
    CHECK(table(kb, c) == list{"When do cats purr?", "What does purring mean?", "Who purrs?", "Dogs bark at night."});
    CHECK(kb.report.expansion.failed == 1);
    CHECK(kb.report.expansion.first_failure == "timeout");
}

TEST_CASE("questions beside the point are left out, and a judge that fails loses none") {
    const corpus c = animals();
    question_options options{.with_unit = false};
    options.relevance = [](std::string_view question, std::string_view unit) {
        if (question.starts_with("Who")) return std::numeric_limits<float>::quiet_NaN();
        return question.find("purr") != std::string_view::npos && unit.find("purr") != std::string_view::npos ? 1.0f
                                                                                                              : 0.0f;
    };
    options.least_relevance = .5f;
    const auto kb = build(c, questions(asker(), options));
    CHECK(table(kb, c) == list{"When do cats purr?", "What does purring mean?", "Dogs bark at night."});
    CHECK(kb.report.expansion.beside_the_point == 4);

    options.relevance = [](std::string_view, std::string_view) -> float { throw std::runtime_error("judge is out"); };
    const auto all = build(c, questions(asker(), options));
    CHECK(all.report.keys == 6);
    CHECK(all.report.expansion.failures.at("exception") == 6);
    CHECK(all.report.expansion.failed == 0);
}

TEST_CASE("the wording is the same for all units and comes first, the passage is fenced off") {
    const corpus c = animals();
    const auto g = asker();
    build(c, questions(g, {.count = 5, .background = "Zoo visitors ask."}));
    const auto asked = g.asked();
    REQUIRE(asked.size() == 2);
    CHECK(share_prefix(asked[0], asked[1]));
    CHECK(asked[0].system().find("Zoo visitors ask.") != std::string_view::npos);
    CHECK(asked[0].shared().find("Write 5 different questions") != std::string_view::npos);
    CHECK(asked[0].fresh().find("\nCats purr when content.\n</passage ") != std::string_view::npos);
    CHECK(asked[0].fresh().find("\nAnimals\n</title ") != std::string_view::npos);
    const auto h = asker();
    build(c, questions(h, {.instruction = "Frage etwas."}));
    CHECK(h.asked()[0].shared() == "Frage etwas.");
}

TEST_CASE("keys do not depend on how many calls are in flight, and a second run makes only the missing calls") {
    corpus c;
    const unit_id article = c.add({.id = "a", .text = std::string(200, 'x')});
    for (std::size_t i = 0; i < 20; ++i) c.add_part(article, {.span = {i * 10, i * 10 + 1 + i % 9}});
    const auto g = [](const prompt& p) {
        return completion("What is " + detail::hexadecimal(p.fingerprint(), 3) + "?");
    };
    const list sequential = table(build(c, questions(g)), c);
    CHECK(table(build(c, questions(g, {.calls = {.at_once = 6}})), c) == sequential);

    std::vector<paid_reply> journal;
    {
        reply_store store([&](const paid_reply& r) { journal.push_back(r); });
        CHECK(code_of([&] {
                  build(c, questions(cached(budgeted(g, {.calls = 7}), store, "m"), {.calls = {.at_once = 4}}));
              }) == "budget.calls");
    }
    CHECK(journal.size() == 7);
    reply_store store;
    for (const paid_reply& r : journal) store.insert(r);
    const scripted_generator counting(g);
    const auto x = questions(cached(counting, store, "m"));
    // Units with the same words ask the same question: it is paid for once.
    const call_plan plan = x.plan(c);
    CHECK(table(build(c, x), c) == sequential);
    CHECK(counting.calls() <= plan.calls);
    CHECK(plan.remembered + plan.calls == 20);
}

TEST_CASE("a poisoned passage can write its own questions and nobody else's") {
    const corpus c = animals();
    const auto g = scripted_generator([](const prompt& p) {
        return completion(p.text().find("Cats purr") != std::string::npos ? "1. Where can I buy pills? 2. another?"
                                                                          : "When do dogs bark?");
    });
    const auto kb = build(c, questions(g));
    for (const auto& hit : lexical(kb.bm25).retrieve("pills", 5)) CHECK(hit.unit == cats);
    CHECK(table(kb, c).back() == "When do dogs bark?");
}

TEST_CASE("removing a unit removes all its questions") {
    const corpus c = animals();
    auto kb = build(c, questions(asker()));
    CHECK(kb.bm25.index.remove(cats) == 4);
    CHECK(kb.bm25.index.search("purr purring cats", 10).empty());
    CHECK(kb.bm25.index.size() == 4);
}

TEST_CASE("numbers that make no sense are refused") {
    CHECK(code_of([] { questions(asker(), {.count = 0}); }) == "questions.options");
    CHECK(code_of([] { questions(asker(), {.longest = 0}); }) == "questions.options");
    STATIC_REQUIRE(PreparingExpander<question_keys<scripted_generator>>);
    CHECK(questions(asker()).kind() == key_kind::question);
}
