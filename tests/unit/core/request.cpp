#include "quarry/core/request.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "quarry/core/corpus.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;
using namespace std::chrono_literals;

namespace {

corpus two_tenants() {
    corpus c(schema{{"tenant", field_type::string}, {"year", field_type::integer}});
    c.add({.id = "a1", .text = "first of a", .meta = {{"tenant", "a"}, {"year", 2023}}});
    c.add({.id = "a2", .text = "second of a", .meta = {{"tenant", "a"}, {"year", 2024}}});
    c.add({.id = "b1", .text = "first of b", .meta = {{"tenant", "b"}, {"year", 2024}}});
    return c;
}

std::vector<std::size_t> admitted(const request& r) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < r.source().size(); ++i)
        if (r.admits(unit_at(i))) out.push_back(i);
    return out;
}

std::string made(const query& q, const corpus& c) {
    return code_of([&] { request r(q, c); });
}

using units = std::vector<std::size_t>;

}  // namespace

TEST_CASE("filter and scope are evaluated once, and what may be returned is what both let through") {
    const corpus c = two_tenants();
    const query q = query("text").where(eq("year", 2024)).within(scope::only(eq("tenant", "a")));
    const request r(q, c);
    CHECK(admitted(r) == units{1});
    CHECK(r.allowed().units->count() == 1);
    CHECK(r.selected().expression()->to_string() == "and(eq(year, 2024), eq(tenant, \"a\"))");
    CHECK(&r.asked() == &q);
    CHECK(r.text() == "text");
    CHECK(r.source() == source_ref(c));
}

TEST_CASE("nothing asked admits everything without a set") {
    const corpus c = two_tenants();
    const query q("text");
    CHECK(request(q, c).allowed().all());
}

TEST_CASE("what does not fit the schema is refused when the request is made") {
    const corpus c = two_tenants();
    CHECK(made(query("t").where(eq("year", "2024")), c) == "metadata.type");
    CHECK(made(query("t").where(exists("color")), c) == "metadata.unknown_field");
    CHECK(made(query("t").within(scope()), c) == "scope.unset");
}

TEST_CASE("a prepared selection does what its filter and scope did") {
    const corpus c = two_tenants();
    const filter f = eq("year", 2024);
    const scope s = scope::only(eq("tenant", "a"));
    const query prepared = query("t").where(c.select({.where = &f, .within = &s}));
    CHECK(admitted(request(prepared, c)) == units{1});
    const query everything = query("t").where(c.select({}));
    CHECK(admitted(request(everything, c)) == units{0, 1, 2});
}

TEST_CASE("a prepared selection does not combine with a filter, a scope, generated units or an example") {
    const corpus c = two_tenants();
    const selection s = c.select({});
    CHECK(made(query("t").where(s), c) == "(no exception)");
    CHECK(made(query("t").where(s).where(exists("year")), c) == "query.prepared");
    CHECK(made(query("t").where(exists("year")).where(s), c) == "query.prepared");
    CHECK(made(query("t").where(s).within(scope::everything()), c) == "query.prepared");
    CHECK(made(query("t").where(s).include_generated(), c) == "query.prepared");
    CHECK(made(like(unit_id{0}).where(s), c) == "query.prepared");
}

TEST_CASE("a default-made selection is no way around a mandatory scope") {
    corpus c(schema{{"tenant", field_type::string}}, {.scope_mandatory = true});
    c.add({.id = "a", .meta = {{"tenant", "a"}}});
    CHECK(made(query("t"), c) == "scope.missing");
    CHECK(made(query("t").where(selection()), c) == "query.prepared");
    const scope s = scope::everything();
    CHECK(made(query("t").where(c.select({.within = &s})), c) == "(no exception)");
}

TEST_CASE("a selection of another source, or of one that has changed since, is refused") {
    corpus c = two_tenants();
    const corpus other = two_tenants();
    const filter f = eq("tenant", "a");
    const selection prepared = c.select({.where = &f});
    CHECK(made(query("t").where(other.select({.where = &f})), c) == "query.prepared");
    CHECK(made(query("t").where(prepared), c) == "(no exception)");

    // Access was taken away: believing the old selection would show a unit that may not be seen any more.
    c.replace_metadata(unit_id{0}, {{"tenant", "b"}});
    CHECK(made(query("t").where(prepared), c) == "query.prepared");
    const selection again = c.select({.where = &f});
    const query asked = query("t").where(again);
    CHECK(admitted(request(asked, c)) == units{1});
    c.add({.id = "new"});
    CHECK(made(query("t").where(again), c) == "query.prepared");
    CHECK(code_of([&] { c.add({.id = "new"}); }) == "corpus.duplicate_id");
}

TEST_CASE("a change that was refused leaves prepared selections valid, and a corpus that moves takes them along") {
    corpus c = two_tenants();
    const selection prepared = c.select({});
    CHECK(code_of([&] { c.add({.id = "a1"}); }) == "corpus.duplicate_id");
    CHECK(made(query("t").where(prepared), c) == "(no exception)");
    const corpus moved = std::move(c);
    CHECK(made(query("t").where(prepared), moved) == "(no exception)");
    c = two_tenants();
    CHECK(made(query("t").where(prepared), c) == "query.prepared");
}

TEST_CASE("an example is searched by its text and left out with its article") {
    corpus c = two_tenants();
    c.add_part(unit_id{0}, {.span = {0, 5}});
    const query q = like(unit_id{3});
    const request r(q, c);
    CHECK(r.text() == "first");
    CHECK(admitted(r) == units{1, 2});
    CHECK(made(like(unit_id{9}), c) == "corpus.unknown_unit");
}

TEST_CASE("an example outside the scope is refused, since its text would be searched by and shown to models") {
    corpus c = two_tenants();
    const unit_id mixed = c.add_generated({.id = "s", .text = "of both", .sources = {unit_id{0}, unit_id{2}}});
    const scope a = scope::only(eq("tenant", "a"));
    CHECK(made(like(unit_id{0}).within(a), c) == "(no exception)");
    CHECK(made(like(unit_id{2}).within(a), c) == "scope.example");
    CHECK(made(like(mixed).within(a), c) == "scope.example");
    CHECK(made(like(unit_id{2}).within(scope::everything()), c) == "(no exception)");
    // A filter is about what is found, not about what is searched by.
    CHECK(made(like(unit_id{2}).where(eq("tenant", "a")), c) == "(no exception)");
}

TEST_CASE("a text and an example of the same text are remembered under different names") {
    const corpus c = two_tenants();
    const query text("first of a"), example = like(unit_id{0}), same("first of a");
    CHECK(request(text, c).name() == request(same, c).name());
    CHECK(request(text, c).name() != request(example, c).name());
    CHECK(request(query("like 0"), c).name() != request(example, c).name());
}

TEST_CASE("the words of a request are the query's text and its conditions") {
    const corpus c = two_tenants();
    const query q = query("text").require("a").require("b").forbid("c").phrase("d e");
    const request r(q, c);
    const lexical_probe words = r.words();
    CHECK(words.text == "text");
    CHECK(words.required.size() == 2);
    CHECK(words.forbidden.front() == "c");
    CHECK(words.phrases.front() == "d e");
}

TEST_CASE("the trace says how many units a filter left, and nothing where there is no filter") {
    const corpus c = two_tenants();
    trace t;
    const query filtered = query("t").where(eq("tenant", "a")).traced(t);
    request first(filtered, c);
    CHECK(to_string(t.without_times()) == "query: filtered 3 -> 2\n");
    const query plain = query("t").traced(t);
    request second(plain, c);
    CHECK(t.events.size() == 1);
    second.tell({trace_code::searched, "bm25", 3, 2});
    CHECK(t.find(trace_code::searched)->in == 3);
    const query untraced("t");
    request(untraced, c).tell({trace_code::searched, "bm25", 3, 2});
    CHECK(t.events.size() == 2);
}

TEST_CASE("a deadline is passed when the clock is beyond it, not when it is reached, and throws nothing") {
    const corpus c = two_tenants();
    const auto start = std::chrono::steady_clock::time_point();
    auto now = start;
    const query q = query("t").under({.deadline = start + 5ms, .now = [&] { return now; }});
    request r(q, c);
    CHECK_FALSE(r.late());
    now = start + 5ms;
    CHECK_FALSE(r.late());
    now += 1ns;
    CHECK(r.late());
    CHECK(code_of([&] { r.pay_for_a_call(); }) == "(no exception)");
    {
        const request::optional_work optional(r);
        CHECK(code_of([&] { r.check(); }) == "budget.deadline");
        CHECK(code_of([&] { r.pay_for_a_call(); }) == "budget.deadline");
        CHECK_THROWS_AS(r.check(), cancelled);
    }
    CHECK(r.paid_calls() == 1);
}

TEST_CASE("without a clock of its own a deadline is one of the steady clock") {
    const corpus c = two_tenants();
    const query late = query("t").under({.deadline = std::chrono::steady_clock::now() - 1h});
    const query early = query("t").under({.deadline = std::chrono::steady_clock::now() + 1h});
    CHECK(request(late, c).late());
    CHECK_FALSE(request(early, c).late());
    CHECK_FALSE(request(query("t"), c).late());
}

TEST_CASE("what is kept for later is out of reach of optional work alone, and free again behind it") {
    const corpus c = two_tenants();
    const query q = query("t").under({.model_calls = 4, .rerank_pairs = 10});
    request r(q, c);
    {
        const request::reserve kept(r, {.calls = 1, .pairs = 8}), more(r, {.calls = 1});
        const request::optional_work optional(r);
        CHECK(code_of([&] { r.pay({.pairs = 3}); }) == "budget.rerank_pairs");
        CHECK(message_of([&] { r.pay({.calls = 3}); }).find("4 model calls, this would be 3 beside 2 kept") !=
              std::string::npos);
        CHECK(code_of([&] { r.pay({.calls = 2, .pairs = 2}); }) == "(no exception)");
        CHECK(code_of([&] { r.pay_for_a_call(); }) == "budget.model_calls");
    }
    CHECK(code_of([&] { r.pay({.calls = 2, .pairs = 8}); }) == "(no exception)");
    CHECK(r.paid() == cost{.calls = 4, .pairs = 10});
}

TEST_CASE("tokens of prompts are counted where they are limited, rather too many than too few") {
    const corpus c = two_tenants();
    CHECK(request("t", c).tokens_of("any prompt") == 0);
    const query q = query("t").under({.model_tokens = 3});
    request r(q, c);
    CHECK(r.tokens_of("") == 0);
    CHECK(r.tokens_of("abc") == 1);
    CHECK(r.tokens_of("abcd") == 2);
    r.pay({.calls = 1, .tokens = 2});
    CHECK(code_of([&] { r.pay({.calls = 1, .tokens = 2}); }) == "budget.model_tokens");
    CHECK(r.paid() == cost{.calls = 1, .tokens = 2});
    const query own = query("t").under({.model_tokens = 3, .count = [](std::string_view) { return 7u; }});
    CHECK(request(own, c).tokens_of("x") == 7);
}

TEST_CASE("a stop that was asked for ends the query at the next check") {
    const corpus c = two_tenants();
    std::stop_source stop;
    const query q = query("t").stop_on(stop.get_token());
    request r(q, c);
    CHECK(code_of([&] { r.pay_for_a_call(); }) == "(no exception)");
    stop.request_stop();
    CHECK(code_of([&] { r.check(); }) == "query.stopped");
    CHECK(code_of([&] { r.pay_for_a_call(); }) == "query.stopped");
    CHECK(r.paid_calls() == 1);
}

TEST_CASE("the call after the last that is allowed is refused with both numbers and not counted") {
    const corpus c = two_tenants();
    const query q = query("t").under({.model_calls = 2});
    request r(q, c);
    r.pay_for_a_call();
    r.pay_for_a_call();
    CHECK(r.paid_calls() == 2);
    CHECK(code_of([&] { r.pay_for_a_call(); }) == "budget.model_calls");
    CHECK(message_of([&] { r.pay_for_a_call(); }).find("may take 2 model calls, this would be 3") != std::string::npos);
    CHECK(r.paid_calls() == 2);
    const query none = query("t").under({.model_calls = 0});
    CHECK(code_of([&] { request(none, c).pay_for_a_call(); }) == "budget.model_calls");
}

TEST_CASE("what was paid for is remembered by who and what, and by nobody else") {
    memo m;
    const int first = 0, second = 0;
    CHECK(m.find(&first, "question") == nullptr);
    const std::vector<float>& kept = m.keep(&first, "question", {1.0f, 2.0f});
    for (int i = 0; i < 100; ++i) m.keep(&second, std::to_string(i), {0.0f});
    CHECK(kept == std::vector<float>{1.0f, 2.0f});
    REQUIRE(m.find(&first, "question"));
    CHECK(m.find(&first, "question") == &kept);
    CHECK(m.find(&second, "question") == nullptr);
    CHECK(m.find(&first, "another") == nullptr);
    m.keep(&first, "question", {3.0f});
    CHECK(kept == std::vector<float>{3.0f});
}

TEST_CASE("requests of a batch share a memo, others have one of their own") {
    const corpus c = two_tenants();
    const query q("t");
    const int who = 0;
    const auto shared = std::make_shared<memo>();
    request first(q, c, shared), second(q, c, shared), alone(q, c);
    first.remembered().keep(&who, "x", {1.0f});
    CHECK(second.remembered().find(&who, "x"));
    CHECK_FALSE(alone.remembered().find(&who, "x"));
}

TEST_CASE("a request that is moved takes its notes along") {
    const corpus c = two_tenants();
    const query q("t");
    request from(q, c);
    from.note({.stage = "bm25"});
    const request to = std::move(from);
    CHECK(to.notes().size() == 1);
    CHECK(to.share_notes().get() == &to.notes());
}

TEST_CASE("a child admits what filter, scope and its own filter let through, whatever its own filter says") {
    const corpus c = two_tenants();
    const query q = query("text").within(scope::only(eq("tenant", "a")));
    const request parent(q, c);
    const filter newer = eq("year", 2024), others = eq("tenant", "b") || exists("year"), none = eq("tenant", "b");
    CHECK(admitted(parent.narrowed(&newer)) == units{1});
    CHECK(admitted(parent.narrowed(&others)) == units{0, 1});
    CHECK(admitted(parent.narrowed(&none)) == units{});
    CHECK(admitted(parent.narrowed(nullptr)) == units{0, 1});
    CHECK(admitted(parent) == units{0, 1});
    // A child of a child keeps what its parent added.
    const filter older = eq("year", 2023);
    CHECK(admitted(parent.narrowed(&newer).narrowed(&older)) == units{});
    CHECK(admitted(parent.narrowed(&newer).narrowed(nullptr)) == units{1});
    const query filtered = query("text").where(eq("year", 2024));
    CHECK(admitted(request(filtered, c).narrowed(&none)) == units{2});
}

TEST_CASE("a child of a prepared selection, and of a corpus that demands a scope, stays inside it") {
    corpus c(schema{{"tenant", field_type::string}, {"year", field_type::integer}}, {.scope_mandatory = true});
    c.add({.id = "a1", .meta = {{"tenant", "a"}, {"year", 2023}}});
    c.add({.id = "a2", .meta = {{"tenant", "a"}, {"year", 2024}}});
    c.add({.id = "b1", .meta = {{"tenant", "b"}, {"year", 2024}}});
    c.add_generated({.id = "s", .text = "both years", .sources = {unit_id{0}, unit_id{1}}});
    const scope tenant_a = scope::only(eq("tenant", "a"));
    const filter newer = eq("year", 2024);
    for (const bool generated : {false, true}) {
        const query prepared = query("t").where(c.select({.within = &tenant_a, .include_generated = generated}));
        const query plain = generated ? query("t").within(tenant_a).include_generated() : query("t").within(tenant_a);
        for (const filter& f : {newer, exists("year"), eq("tenant", "b"), newer || eq("year", 2023)}) {
            CAPTURE(generated, f.to_string());
            CHECK(admitted(request(prepared, c).narrowed(&f)) == admitted(request(plain, c).narrowed(&f)));
        }
        CHECK(admitted(request(prepared, c).narrowed(&newer)) == units{1});
    }
}

TEST_CASE("a child pays, notes and remembers where its parent does, and says what it was narrowed to") {
    const corpus c = two_tenants();
    trace told;
    const query q = query("text").under({.model_calls = 2}).traced(told);
    request parent(q, c);
    const filter newer = eq("year", 2024);
    request child = parent.narrowed(&newer, "other words");
    CHECK(child.text() == "other words");
    CHECK(child.name() != parent.name());
    CHECK(parent.text() == "text");
    request moved = std::move(child);
    CHECK(moved.text() == "other words");
    CHECK(moved.words().text == "other words");
    moved.pay_for_a_call();
    parent.pay_for_a_call();
    CHECK(code_of([&] { moved.pay_for_a_call(); }) == "budget.model_calls");
    CHECK(parent.paid_calls() == 2);
    const int who = 0;
    moved.remembered().keep_text(&who, "prompt", "reply");
    REQUIRE(parent.remembered().find_text(&who, "prompt"));
    CHECK(*parent.remembered().find_text(&who, "prompt") == "reply");
    CHECK_FALSE(parent.remembered().find_text(&who, "another"));
    CHECK_FALSE(parent.remembered().find(&who, "prompt"));
    moved.note({"stage"});
    CHECK(parent.notes().size() == 1);
    CHECK(parent.share_notes()->size() == 1);
    REQUIRE(told.find(trace_code::filtered, "narrowed"));
    CHECK(told.find(trace_code::filtered, "narrowed")->in == 3);
    CHECK(told.find(trace_code::filtered, "narrowed")->out == 2);
    moved.remark("stage", "words");
    REQUIRE(told.remarks.size() == 1);
    CHECK(told.remarks[0].text == "words");
}

TEST_CASE("a child is refused a filter that does not fit, and other words where a unit is searched by") {
    const corpus c = two_tenants();
    const query q("text");
    const request parent(q, c);
    const filter wrong = eq("year", "2024"), unknown = exists("color");
    CHECK(code_of([&] { parent.narrowed(&wrong); }) == "metadata.type");
    CHECK(code_of([&] { parent.narrowed(&unknown); }) == "metadata.unknown_field");
    filter deep = exists("year");
    while (deep.depth() < filter::deepest) deep = !deep;
    const query nested = query("text").where(deep);
    CHECK(code_of([&] { request(nested, c).narrowed(&deep); }) == "filter.depth");
    const query example = like(unit_id{0});
    const request by_example(example, c);
    CHECK(code_of([&] { by_example.narrowed(nullptr, "words"); }) == "request.example");
    const filter newer = eq("year", 2024);
    CHECK(admitted(by_example.narrowed(&newer)) == units{1, 2});
}

TEST_CASE("a child among given units finds these alone, and what is narrowed below it stays among them") {
    corpus c(schema{{"part", field_type::integer}});
    for (int i = 0; i < 4; ++i) c.add({.id = std::to_string(i), .meta = {{"part", i % 2}}});
    const query asked("x");
    const request whole(asked, c);
    const auto some = std::make_shared<unit_set>(4);
    some->insert(unit_at(0));
    some->insert(unit_at(1));
    const request child = whole.among(some);
    CHECK(child.allowed().units->count() == 2);
    CHECK(child.text() == "x");
    CHECK(whole.allowed().all());
    const filter even = eq("part", 0);
    const request both = child.narrowed(&even);
    CHECK(both.admits(unit_at(0)));
    CHECK(!both.admits(unit_at(1)));
    CHECK(!both.admits(unit_at(2)));
    CHECK(whole.among(nullptr).allowed().all());
}

TEST_CASE("a branch has an account of its own until it is joined, and finds what was remembered before") {
    const corpus c = two_tenants();
    trace told;
    const query q = query("t").traced(told);
    request parent(q, c);
    const int who = 0;
    parent.remembered().keep(&who, "before", {1.0f});
    parent.note({"parent"});
    request one = parent.branch(), two = parent.branch();
    request child = two.narrowed(nullptr, "other words");
    child.remembered().keep(&who, "new", {2.0f});
    child.pay({.calls = 2, .texts = 3});
    child.tell({trace_code::searched, "two", 1, 1});
    child.remark("two", "said");
    child.leave_out(&who);
    const std::uint32_t place = child.note({"two"});
    CHECK(one.remembered().find(&who, "before"));
    CHECK_FALSE(one.remembered().find(&who, "new"));
    CHECK_FALSE(parent.remembered().find(&who, "new"));
    CHECK(parent.paid() == cost{});
    CHECK(told.events.empty());
    one.tell({trace_code::searched, "one", 1, 1});
    one.note({"one"});
    CHECK(parent.join(one) == 1);
    const std::uint32_t by = parent.join(two);
    CHECK(parent.notes()[by + place].stage == "two");
    CHECK(parent.notes().size() == 3);
    CHECK(parent.remembered().find(&who, "new"));
    CHECK(parent.paid() == cost{.calls = 2, .texts = 3});
    CHECK(to_string(told.without_times()) ==
          "one: searched 1 -> 1\ntwo: searched 1 -> 1, calls 2, texts 3\ntwo: said\n");
    CHECK_FALSE(parent.left_out(&who));
    CHECK(parent.narrowed(nullptr, "other words").left_out(&who));
}

TEST_CASE("work runs side by side where there is an executor and nothing that is counted") {
    const corpus c = two_tenants();
    const executor at_once = [](const std::function<void()>& task) { task(); };
    CHECK_FALSE(request("t", c).side_by_side());
    const query asked = query("t").run_on(at_once);
    REQUIRE(request(asked, c).side_by_side());
    const query late = query("t").run_on(at_once).under({.deadline = std::chrono::steady_clock::time_point{}});
    CHECK(request(late, c).side_by_side());
    for (const budget& b : {budget{.model_calls = 9}, budget{.model_tokens = 9}, budget{.rerank_pairs = 9}}) {
        const query counted = query("t").run_on(at_once).under(b);
        CHECK_FALSE(request(counted, c).side_by_side());
    }
}

TEST_CASE("an event has the time and the cost since the one before it, and without a trace no clock is read") {
    const corpus c = two_tenants();
    auto now = std::chrono::steady_clock::time_point();
    std::size_t looks = 0;
    const budget timed{.now = [&] { return ++looks, now; }};
    trace told;
    const query q = query("t").under(timed).traced(told);
    request r(q, c);
    now += 3ms;
    r.pay({.calls = 1, .texts = 2});
    r.tell({trace_code::embedded, "dense", 2, 2});
    now += 1ms;
    r.tell({trace_code::searched, "dense", 5, 5});
    request left = r.branch(), right = r.branch();
    now += 10ms;
    right.start_clock();
    now += 2ms;
    right.pay({.pairs = 4});
    right.tell({trace_code::reranked, "right", 4, 4});
    right.pay({.calls = 1});
    left.start_clock();
    now += 5ms;
    left.tell({trace_code::searched, "left", 1, 1});
    r.join(left);
    r.join(right);
    now += 7ms;
    r.tell({trace_code::fused, "rrf", 2, 2});
    const std::chrono::nanoseconds took[] = {3ms, 1ms, 5ms, 2ms, 7ms};
    const cost spent[] = {{.calls = 1, .texts = 2}, {}, {}, {.pairs = 4}, {.calls = 1}};
    REQUIRE(told.events.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CAPTURE(told.events[i].stage);
        CHECK(told.events[i].took == took[i]);
        CHECK(told.events[i].spent == spent[i]);
    }
    looks = 0;
    const query untraced = query("t").under(timed);
    request silent(untraced, c);
    silent.tell({trace_code::fused, "rrf", 2, 2});
    silent.check();
    CHECK(looks == 0);
}
