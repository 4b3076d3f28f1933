#include "quarry/live/library.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "quarry/expand/metadata_keys.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/model/cache.hpp"
#include "quarry/model/embedding_cache.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/living.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

// Articles of three paragraphs, which the chunker cuts into as many chunks.
article three_sentences(const std::string& id, const std::string& first = "reset the password now.") {
    return {.id = id,
            .title = id,
            .text = first + "\n\nevery bill lists charges.\n\nthe valve regulates heating.",
            .meta = {{"product", "app"}}};
}

struct two_articles {
    living::embedder embed{};
    living::library kb{embed, living::layers(), living::options()};

    two_articles() { kb.upsert_all({three_sentences("a"), three_sentences("b", "a router needs patience.")}); }
};

std::vector<std::string> found(const living::library& kb, const std::string& asked) {
    return toy::ids(over(kb, [](const generation& now) { return lexical(now.bm25()); }).retrieve(asked, 10));
}

}  // namespace

TEST_CASE("an article that was put in is found, replaced it is found as it is now, removed it is not found") {
    two_articles t;
    CHECK(t.kb.now()->articles() == 2);
    CHECK(found(t.kb, "router").size() == 1);
    t.kb.upsert(three_sentences("b", "a holiday at the sea."));
    CHECK(found(t.kb, "router").empty());
    CHECK(found(t.kb, "holiday") == std::vector<std::string>{"b#0-23"});
    CHECK(t.kb.remove("b").removed == 1);
    CHECK(found(t.kb, "holiday").empty());
    CHECK(t.kb.now()->articles() == 1);
    CHECK(t.kb.remove("b").not_found == 1);
    t.kb.remove("a");
    CHECK(t.kb.now()->units() == 0);
    CHECK(t.kb.now()->parts() == 0);
    t.kb.upsert(three_sentences("a"));
    CHECK(found(t.kb, "password").size() == 1);
}

TEST_CASE("only texts that changed are embedded again, and an unchanged article costs nothing at all") {
    two_articles t;
    t.embed.counted->texts = 0;
    const auto before = t.kb.now();
    change_report report = t.kb.upsert(three_sentences("a"));
    CHECK(report.unchanged == 1);
    CHECK(t.kb.now() == before);
    // The first sentence is another: its chunk, and the article's own key.
    report = t.kb.upsert(three_sentences("a", "forget the password."));
    CHECK(report.replaced == 1);
    CHECK(report.embedded == 2);
    CHECK(t.embed.counted->texts == 2);
    CHECK(report.reused + report.embedded == report.keys);
    // Only metadata: no text at all.
    article a = three_sentences("a", "forget the password.");
    a.meta = {{"product", "web"}};
    report = t.kb.upsert(a);
    CHECK(report.replaced == 1);
    CHECK(report.embedded == 0);
    CHECK(t.kb.now()->value(*t.kb.now()->find("a"), "product") == field_value("web"));
    CHECK(t.embed.counted->texts == 2);
}

TEST_CASE("keys that are longer than the embedder reads are counted in a change's report") {
    two_articles t;
    CHECK(t.kb.upsert(three_sentences("c")).keys_cut == 0);
    living::embedder short_sighted;
    short_sighted.reads = 27;  // the sentence about the valve has 28 bytes, and the article has all three
    living::library kb{short_sighted, living::layers(), living::options()};
    const change_report report = kb.upsert(three_sentences("a"));
    CHECK(report.keys == 4);
    CHECK(report.keys_cut == 2);
}

TEST_CASE("a plan says beforehand how many texts a change would embed, and asks nobody") {
    two_articles t;
    change c;
    c.upsert = {three_sentences("a", "forget the password."), three_sentences("b", "a router needs patience."),
                three_sentences("new")};
    c.remove = {"nobody"};
    t.embed.counted->texts = 0;
    const change_plan plan = t.kb.plan(c);
    CHECK(t.embed.counted->texts == 0);
    CHECK(plan.added == 1);
    CHECK(plan.replaced == 1);
    CHECK(plan.unchanged == 1);
    CHECK(plan.not_found == 1);
    const change_report report = t.kb.apply(c);
    CHECK(plan.texts_to_embed == report.embedded);
    CHECK(plan.texts_reused == report.reused);
    CHECK(t.embed.counted->texts == report.embedded);

    embedding_store rows;
    library cached_kb(cached(t.embed, rows), living::layers(), living::options());
    cached_kb.upsert(three_sentences("a"));
    cached_kb.remove("a");
    CHECK(cached_kb.plan({.upsert = {three_sentences("a")}}).texts_to_embed == 0);
}

TEST_CASE("a plan says which calls of a model a change would take and what they cost, without remembered ones") {
    const scripted_generator model([](const prompt&) { return completion("What is it?"); });
    reply_store replies;
    std::vector<layer> layers = living::layers();
    layers.emplace_back(questions(cached(model, replies), {.of = unit_kind::article}), "1");
    living::library kb{{}, layers, living::options()};
    const change both{.upsert = {three_sentences("a"), three_sentences("b")}};
    // A token a byte, a dollar a token of a reply: two calls of a hundred.
    const plan_options prices{.price = {.output = 1e6},
                              .tokens = [](std::string_view text) { return text.size(); }};
    const change_plan planned = kb.plan(both, prices);
    CHECK(model.calls() == 0);
    CHECK(planned.calls.calls == 2);
    CHECK(planned.calls.remembered == 0);
    CHECK(planned.calls.tokens.output == 200);
    CHECK(planned.calls.dollars == Approx(200.0));
    kb.apply(both);
    CHECK(model.calls() == 2);
    std::size_t read = 0;
    for (const prompt& p : model.asked()) read += p.system().size() + p.text().size();
    const token_usage& tokens = planned.calls.tokens;
    CHECK(tokens.input + tokens.cache_write + tokens.cache_read == read);

    kb.remove("a");
    const change_plan again = kb.plan({.upsert = {three_sentences("a"), three_sentences("c", "something else.")}});
    CHECK(again.calls.calls == 1);
    CHECK(again.calls.remembered == 1);
}

TEST_CASE("a reader keeps the generation it pinned, and so does an answer") {
    two_articles t;
    const auto pinned = t.kb.now();
    auto answer = over(t.kb, [](const generation& now) { return lexical(now.bm25()); }).retrieve("password", 5);
    const unit_id old = answer[0].unit;
    t.kb.remove("a");
    t.kb.remove("b");
    CHECK(pinned->articles() == 2);
    CHECK(lexical(pinned->bm25()).retrieve("password", 5).size() == 1);
    CHECK(answer.unit(answer[0]).text() == "reset the password now.\n\n");
    CHECK(answer.matched(answer[0])->text == answer.unit(answer[0]).text());
    CHECK(code_of([&] { t.kb.now()->text(old); }) == "corpus.unknown_unit");
}

TEST_CASE("unit ids are never given twice, and grow with every change") {
    two_articles t;
    std::size_t last = t.kb.now()->size();
    for (int i = 0; i < 10; ++i) {
        t.kb.remove("a");
        t.kb.upsert(three_sentences("a", "sentence " + std::to_string(i) + "."));
        const auto now = t.kb.now();
        CHECK(index_of(*now->find("a")) >= last);
        last = now->size();
        CHECK(now->articles() == 2);
        CHECK(toy::ids(lexical(now->bm25()).retrieve("sentence", 10)).size() == 1);
        CHECK(toy::ids(lexical(now->bm25()).retrieve(std::to_string(i), 10)).size() == 1);
    }
}

TEST_CASE("a change that names an article twice is refused as a whole") {
    two_articles t;
    const auto before = t.kb.now();
    CHECK(code_of([&] { t.kb.upsert_all({three_sentences("c"), three_sentences("c")}); }) == "library.duplicate_id");
    change both;
    both.upsert = {three_sentences("a", "x")};
    both.remove = {"a"};
    CHECK(code_of([&] { t.kb.apply(both); }) == "library.duplicate_id");
    // The id of a chunk of another article.
    CHECK(code_of([&] { t.kb.upsert({.id = std::string(before->id(unit_id{1}))}); }) == "corpus.duplicate_id");
    CHECK(code_of([&] { t.kb.upsert({.id = ""}); }) == "corpus.empty_id");
    CHECK(code_of([&] { t.kb.upsert({.id = "x", .meta = {{"nothing", 1}}}); }) == "metadata.unknown_field");
    CHECK(t.kb.now() == before);
}

TEST_CASE("a grower that reaches for another article, and options that cannot be, are errors") {
    library_options o = living::options();
    o.grow = [](corpus& c, unit_id article) {
        if (article != unit_id{0}) c.add_part(unit_id{0}, {.span = {0, 1}});
    };
    living::library kb({}, living::layers(), o);
    CHECK(code_of([&] { kb.upsert_all({three_sentences("a"), three_sentences("b")}); }) == "library.grow");
    CHECK(code_of([] { living::library({}, {}, living::options()); }) == "library.layers");
    CHECK(code_of([] { layer(identity{}, ""); }) == "layer.version");
    CHECK(code_of([&] { kb.now()->bm25(2); }) == "generation.layer");
}

TEST_CASE("whatever the embedder does wrong, nothing has changed, and the next try works") {
    std::function<std::vector<float>(std::string_view)> answer = [](std::string_view text) {
        return std::vector<float>{1.0f, static_cast<float>(text.size())};
    };
    const auto good = answer;
    library_options o;
    o.batch = 1;
    std::vector<layer> layers;
    layers.emplace_back(identity{}, "1");
    library kb(make_embedder(2, [&](std::string_view text) { return answer(text); }), layers, o);
    kb.upsert_all({{.id = "a", .text = "one"}, {.id = "b", .text = "two"}});
    const auto before = kb.now();
    const std::vector<article> five{{.id = "a", .text = "1"},
                                    {.id = "c", .text = "22"},
                                    {.id = "d", .text = "333"},
                                    {.id = "e", .text = "4444"},
                                    {.id = "f", .text = "55555"}};
    for (std::size_t n = 0; n < 5; ++n)
        for (const int way : {0, 1, 2, 3, 4}) {
            std::size_t calls = 0;
            answer = [&, n, way](std::string_view text) -> std::vector<float> {
                if (calls++ != n) return good(text);
                if (way == 0) throw std::runtime_error("down");
                if (way == 1) throw std::bad_alloc();
                if (way == 2) throw 42;
                if (way == 3) return {1.0f};
                return {0.0f, 0.0f};
            };
            CHECK_THROWS(kb.upsert_all(five));
            CHECK(kb.now() == before);
        }
    answer = good;
    CHECK(kb.upsert_all(five).added == 4);
    CHECK(kb.now()->articles() == 6);
}

TEST_CASE("a change can be stopped, and is then not made") {
    living::library kb({}, living::layers(), living::options());
    change c;
    c.upsert = {three_sentences("a")};
    std::stop_source stop;
    stop.request_stop();
    c.stop = stop.get_token();
    CHECK(code_of([&] { kb.apply(c); }) == "library.stopped");
    CHECK(kb.now()->units() == 0);
}

TEST_CASE("an embedder may call back into the library that called it") {
    // Neither a deadlock nor a lost change: the inner one is published first, the outer goes on from it.
    struct state {
        std::function<void()> inside{};
    };
    const auto s = std::make_shared<state>();
    std::vector<layer> layers;
    layers.emplace_back(identity{}, "1");
    library kb(make_embedder(2,
                             [s](std::string_view text) {
                                 if (s->inside) std::exchange(s->inside, nullptr)();
                                 return std::vector<float>{1.0f, static_cast<float>(text.size())};
                             }),
               layers);
    s->inside = [&] { kb.upsert({.id = "inner", .text = "within"}); };
    kb.upsert({.id = "outer", .text = "without"});
    CHECK(kb.now()->articles() == 2);
    // The same article inside and outside: the outer is published last and wins.
    s->inside = [&] { kb.upsert({.id = "outer", .text = "inside"}); };
    kb.upsert({.id = "outer", .text = "outside"});
    CHECK(kb.now()->articles() == 2);
    CHECK(kb.now()->text(*kb.now()->find("outer")) == "outside");
    s->inside = [&] { kb.remove("outer"); };
    kb.upsert({.id = "outer", .text = "again"});
    CHECK(kb.now()->text(*kb.now()->find("outer")) == "again");
}

TEST_CASE("small parts are merged behind the limit, large ones when somebody asks, and the answers stay") {
    living::library kb({}, living::layers(), living::options(16));
    for (int i = 0; i < 30; ++i) kb.upsert(three_sentences(std::to_string(i), "number " + std::to_string(i) + "."));
    const auto many = kb.now();
    CHECK(many->parts() > 5);
    CHECK(many->parts() < 30);
    for (int i = 0; i < 30; i += 3) kb.remove(std::to_string(i));
    const auto before = kb.now();
    CHECK(kb.merge());
    CHECK_FALSE(kb.merge());
    const auto after = kb.now();
    CHECK(after->parts() == 1);
    CHECK(after->articles() == 20);
    for (const char* asked : {"number 4", "number", "the bill lists charges"}) {
        const auto a = lexical(before->bm25()).retrieve(asked, 100), b = lexical(after->bm25()).retrieve(asked, 100);
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            CHECK(a[i].unit == b[i].unit);  // ids stay
            CHECK(a[i].score == b[i].score);
            CHECK(a.matched(a[i])->text == b.matched(b[i])->text);
        }
    }
    CHECK(many->articles() == 30);
}

TEST_CASE("an executor merges when there are many parts, and its failure is told and not thrown") {
    std::vector<std::function<void()>> jobs;
    bool refuses = false;
    library_options o = living::options(1);
    o.most_parts = 4;
    o.executor = [&](std::function<void()> job) {
        if (refuses) throw std::runtime_error("no more jobs");
        jobs.push_back(std::move(job));
    };
    living::library kb({}, living::layers(), o);
    for (int i = 0; i < 8; ++i) kb.upsert(three_sentences(std::to_string(i)));
    REQUIRE(jobs.size() == 1);  // one job at a time
    kb.remove("0");
    jobs[0]();
    CHECK(kb.now()->parts() == 1);
    CHECK(kb.now()->articles() == 7);
    for (int i = 0; i < 8; ++i) kb.upsert(three_sentences(std::to_string(i), "again."));
    CHECK(jobs.size() == 2);
    jobs[1]();
    refuses = true;
    std::string told;
    for (int i = 0; i < 8; ++i) told += kb.upsert(three_sentences(std::to_string(i), "once more.")).not_merged;
    CHECK(told.find("no more jobs") == 0);
    CHECK(kb.now()->articles() == 8);
}

TEST_CASE("filters, scopes, generated units and units like another work in a library as in a corpus") {
    library_options o = living::options();
    o.articles.scope_mandatory = true;
    o.grow = [](corpus& c, unit_id article) {
        living::grow_chunks(c, article);
        c.add_generated(
            {.id = std::string(c.id(article)) + " summary", .text = "about passwords", .sources = {article}});
    };
    std::vector<layer> layers;
    layers.emplace_back(identity{.of = unit_kind::generated}, "1");
    layers.emplace_back(identity{.of = unit_kind::chunk}, "1");
    living::library kb({}, layers, o);
    for (int i = 0; i < 6; ++i) {
        article a = three_sentences(std::to_string(i));
        a.meta = {{"product", i % 2 == 0 ? "app" : "web"}, {"year", 2020 + i}};
        kb.upsert(a);
    }
    kb.remove("4");
    const auto now = kb.now();
    const auto search = lexical(now->bm25(1));
    CHECK(code_of([&] { search.retrieve("password", 5); }) == "scope.missing");
    const auto everything = scope::everything();
    const auto ids = [&](const query& q) { return toy::ids(search.retrieve(q, 20)); };
    CHECK(ids(query("password").within(everything)).size() == 5);
    CHECK(ids(query("password").within(everything).where(eq("product", "app"))).size() == 2);
    CHECK(ids(query("password").within(scope::only(ge("year", 2023)))).size() == 2);
    CHECK(code_of([&] { ids(query("password").within(everything).where(eq("nothing", 1))); }) ==
          "metadata.unknown_field");
    const auto summaries = lexical(now->bm25(0));
    CHECK(summaries.retrieve(query("passwords").within(everything), 9).empty());
    CHECK(summaries.retrieve(query("passwords").within(everything).include_generated(), 9).size() == 5);
    CHECK(summaries.retrieve(query("passwords").within(scope::only(eq("product", "web"))).include_generated(), 9)
              .size() == 3);
    const unit_id example =
        *now->find(std::string(now->id(search.retrieve(query("password").within(everything), 1)[0].unit)));
    for (const auto& hit : dense(now->vectors(1), living::embedder()).retrieve(like(example).within(everything), 20))
        CHECK(source_ref(*now).article_of(hit.unit) != source_ref(*now).article_of(example));
    // A prepared selection belongs to its generation.
    const filter app = eq("product", "app");
    const selection prepared = now->select({.where = &app, .within = &everything});
    CHECK(search.retrieve(query("password").where(prepared), 20).size() == 2);
    kb.remove("0");
    CHECK(code_of([&] { lexical(kb.now()->bm25(1)).retrieve(query("password").where(prepared), 20); }) ==
          "query.prepared");
}

TEST_CASE("writers that overlap lose nothing, and readers see whole changes") {
    const living::embedder embed;
    library kb(serialized(embed), living::layers(), living::options(8));
    std::atomic<bool> done{false};
    std::atomic<std::size_t> torn{0}, reads{0};
    std::vector<std::thread> threads;
    // Articles come and go in pairs: a reader never sees one without the other.
    for (int w = 0; w < 3; ++w)
        threads.emplace_back([&, w] {
            for (int i = 0; i < 12; ++i) {
                const std::string id = std::to_string(w) + "-" + std::to_string(i % 4);
                change c;
                if (i % 3 == 2)
                    c.remove = {id + "x", id + "y"};
                else
                    c.upsert = {three_sentences(id + "x", std::to_string(i) + "."),
                                three_sentences(id + "y", std::to_string(i) + ".")};
                kb.apply(c);
                if (i % 5 == 0) kb.merge();
            }
        });
    for (int r = 0; r < 2; ++r)
        threads.emplace_back([&] {
            while (!done) {
                const auto now = kb.now();
                std::map<std::string, std::size_t> pairs;
                now->for_each_article([&](unit_id unit) {
                    std::string id(now->id(unit));
                    id.pop_back();
                    ++pairs[id];
                });
                for (const auto& [id, count] : pairs) torn += count != 2;
                lexical(now->bm25()).retrieve("valve heating", 3);
                ++reads;
            }
        });
    for (std::size_t i = 0; i < 3; ++i) threads[i].join();
    done = true;
    threads[3].join();
    threads[4].join();
    CHECK(torn == 0);
    CHECK(reads > 0);
    // i = 8 and 9, 10, 11 decide: pairs 0 and 2 were removed at 8 or never came back, others stand.
    std::map<std::string, article> expected;
    for (int w = 0; w < 3; ++w)
        for (int slot = 0; slot < 4; ++slot) {
            int last = slot;
            for (int i = slot; i < 12; i += 4) last = i;
            if (last % 3 == 2) continue;
            for (const char* half : {"x", "y"}) {
                const std::string id = std::to_string(w) + "-" + std::to_string(slot) + half;
                expected[id] = three_sentences(id, std::to_string(last) + ".");
            }
        }
    CHECK(living::difference(*kb.now(), expected, embed) == "");
}
