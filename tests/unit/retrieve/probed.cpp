#include "quarry/retrieve/probed.hpp"

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/probe/schema_reader.hpp"
#include "quarry/probe/self_query.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// Pages of two owners over three years. Every page says "report" and is four words long, so that scores tie.
struct library {
    corpus pages{schema{{"owner", field_type::string}, {"year", field_type::integer}, {"tenant", field_type::string}}};
    library() {
        const auto page = [&](const char* id, const char* text, const char* owner, int year, const char* tenant) {
            pages.add({.id = id, .text = text, .meta = {{"owner", owner}, {"year", year}, {"tenant", tenant}}});
        };
        page("a", "report about heat pumps", "Ada", 2021, "x");
        page("b", "report about old radiators", "Ada", 2022, "x");
        page("c", "report about heat losses", "Ivo", 2022, "y");
        page("d", "report about new windows", "Ivo", 2023, "x");
    }
};

struct world : library {
    lexical_base kb = build(pages, identity{});
    field_catalog fields{pages, {{.field = "tenant", .hidden = true}}};
    auto words() const { return lexical(kb.bm25); }
};

template <class R>
std::string ids(const R& found) {
    std::string out;
    for (const auto& h : found) out += found.unit(h).id();
    return out;
}

// A prober from a function, for tests.
template <class F>
struct made {
    F f;
    probed_query operator()(question& q) const { return f(q); }
};
template <class F>
made(F) -> made<F>;

probed_query proposal(std::vector<probe> probes, std::optional<filter> f = {}) {
    return {.probes = std::move(probes), .narrowed = std::move(f)};
}

}  // namespace

TEST_CASE("a filter that a prober read narrows the search, and scores keep their scale") {
    const world w;
    const auto search = w.words() | narrowed_by(schema_reader(w.fields));
    static_assert(std::same_as<decltype(search)::scale, bm25_scale>);
    CHECK(ids(search.retrieve("reports by Ada", 10)) == "ab");
    CHECK(ids(search.retrieve("reports by Ada before 2022", 10)) == "a");
    CHECK(ids(search.retrieve("reports", 10)) == ids(w.words().retrieve("reports", 10)));
    CHECK(search.retrieve("reports by Ada", 10).state == result_state::complete);
}

TEST_CASE("the query's own filter and scope stay, whatever the prober says") {
    const world w;
    for (const filter& f :
         {eq("tenant", "y"), eq("tenant", "y") || exists("year"), !eq("tenant", "x"), exists("owner")}) {
        CAPTURE(f.to_string());
        const auto prober = made{[&](question&) { return proposal({{"report"}}, f); }};
        const query q = query("report").where(ge("year", 2022)).within(scope::only(eq("tenant", "x")));
        for (const relaxation relax : {relaxation::none, relaxation::one_condition, relaxation::all}) {
            const std::string narrow = ids((w.words() | narrowed_by(prober, {.relax = relax})).retrieve(q, 10));
            const std::string probe =
                ids((w.words() | probed_by(prober, {.beside_unfiltered = true, .relax = relax})).retrieve(q, 10));
            CHECK(narrow.find_first_not_of("bd") == std::string::npos);
            CHECK(probe.find_first_not_of("bd") == std::string::npos);
        }
    }
}

TEST_CASE("a prober never sees filter, scope or their values") {
    const world w;
    const scripted_generator model([](const prompt& p) {
        CHECK(p.whole().find("secret") == std::string::npos);
        CHECK(p.whole().find("tenant") == std::string::npos);
        return completion(R"({"query":"report","filter":{"tenant":"y"}})");
    });
    const auto search = w.words() | narrowed_by(self_query(w.fields, ref(model)));
    const query q =
        query("report").where(ne("owner", "secret")).within(scope::only(ne("tenant", "secret") && eq("tenant", "x")));
    CHECK(ids(search.retrieve(q, 10)) == "abd");
    CHECK(model.calls() == 1);
}

TEST_CASE("a filter that leaves nothing is relaxed by policy, and that is marked and traced") {
    const world w;
    // Nobody has written anything in 2031. Ada wrote two pages, one of them in 2022.
    const filter f = eq("owner", "Ada") && eq("year", 2031);
    const auto prober = made{[&](question&) { return proposal({{"report"}}, f); }};
    const auto found = [&](relaxation relax) {
        trace told;
        const auto r = (w.words() | narrowed_by(prober, {.relax = relax})).retrieve(query("report").traced(told), 10);
        CHECK((told.find(trace_code::relaxed) != nullptr) == (r.state == result_state::degraded));
        return ids(r) + " " + std::string(name_of(r.state));
    };
    CHECK(found(relaxation::none) == " complete");
    CHECK(found(relaxation::one_condition) == "ab degraded");
    CHECK(found(relaxation::all) == "abcd degraded");
    trace told;
    (w.words() | narrowed_by(prober)).retrieve(query("report").traced(told), 10);
    CHECK(told.find(trace_code::relaxed)->in == 0);
    CHECK(told.find(trace_code::relaxed)->out == 4);
}

TEST_CASE("the whole question is tried under the filter before the filter is given up") {
    const world w;
    const auto prober = made{[](question&) { return proposal({{"nonsense"}}, eq("owner", "Ivo")); }};
    const auto r = (w.words() | narrowed_by(prober)).retrieve("report", 10);
    CHECK(ids(r) == "cd");
    CHECK(r.state == result_state::complete);
}

TEST_CASE("a limit read in the question is obeyed, up to what was asked for, unless told otherwise") {
    const world w;
    const auto prober = made{[](question&) {
        probed_query p = proposal({{"report"}});
        p.limit = 2;
        return p;
    }};
    CHECK((w.words() | narrowed_by(prober)).retrieve("report", 10).size() == 2);
    CHECK((w.words() | narrowed_by(prober)).retrieve("report", 1).size() == 1);
    CHECK((w.words() | narrowed_by(prober, {.obey_limit = false})).retrieve("report", 10).size() == 4);
    CHECK((w.words() | probed_by(prober)).retrieve("report", 10).size() == 2);
}

TEST_CASE("several texts are searched and fused by rank, the question always among them") {
    const world w;
    const auto prober = made{[](question& q) {
        return proposal({{"windows"}, {"radiators"}, {std::string(q.text())}});
    }};
    const auto r = (w.words() | probed_by(prober)).retrieve("heat", 10);
    // By hand: "heat" finds a and c (equal scores share rank 1), "windows" d, "radiators" b, each first in its list.
    CHECK(ids(r) == "abcd");
    for (const auto& h : r) CHECK(h.score == Approx(1.0 / 61));
    const auto heavy = (w.words() | probed_by(prober, {.original_weight = 2.0f})).retrieve("heat", 10);
    CHECK(ids(heavy) == "acbd");
    CHECK(heavy[0].score == Approx(2.0 / 61));
    CHECK(heavy.explain(heavy[0]).find("weight 2") != std::string::npos);
    CHECK(heavy.matched(heavy[0]).has_value() ==
          w.words().retrieve("heat", 1).matched(w.words().retrieve("heat", 1)[0]).has_value());
}

namespace {

// A leg that searches for its own words, whatever is asked.
template <class Base>
struct asking : retriever_interface<asking<Base>> {
    using scale = typename Base::scale;
    Base base;
    std::string own;

    asking(Base b, std::string words) : base(std::move(b)), own(std::move(words)) {}
    source_ref source() const { return base.source(); }
    results<scale> run(request& q, std::size_t k) const {
        request child = q.narrowed(nullptr, own);
        return base.run(child, k);
    }
    std::vector<scored_key> score(request& q, std::span<const unit_id> units) const {
        request child = q.narrowed(nullptr, own);
        return base.score(child, units);
    }
    score_bounds bounds(request& q) const {
        request child = q.narrowed(nullptr, own);
        return base.bounds(child);
    }
};

}  // namespace

TEST_CASE("texts fused by exact scores are the legs of a bounded fusion, however few are fetched first") {
    corpus c;
    std::uint32_t seed = 1;
    const auto below = [&](std::uint32_t n) { return ((seed = seed * 1664525u + 1013904223u) >> 8) % n; };
    for (int i = 0; i < 200; ++i) {
        std::string text;
        for (std::uint32_t w = 0; w < 3 + below(9); ++w) text += "w" + std::to_string(below(12)) + "x ";
        c.add({.id = std::to_string(i), .text = text});
    }
    const lexical_base kb = build(c, identity{});
    const auto base = lexical(kb.bm25);
    const auto prober = made{[](question&) { return proposal({{"w3x w4x", .5f}, {"w5x"}, {"nothing of that"}}); }};
    for (const std::size_t k : {1u, 5u, 40u, 500u}) {
        CAPTURE(k);
        const auto twin = fuse(bounded{.weights = {1.0f, .5f, 1.0f}}, base, asking(base, "w3x w4x"), asking(base, "w5x"))
                              .retrieve("w1x w2x", k);
        for (const std::size_t fetch : {1u, 100u, 1000u}) {
            CAPTURE(fetch);
            const auto found =
                (base | probed_by<bounded>(prober, {.fusion = {.fetch = fetch}})).retrieve("w1x w2x", k);
            static_assert(std::same_as<std::remove_cvref_t<decltype(found[0])>, hit<bounded_scale>>);
            REQUIRE(found.size() == twin.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                CHECK(found[i].unit == twin[i].unit);
                CHECK(found[i].score == twin[i].score);
            }
        }
    }
    const auto heavy = made{[](question&) { return proposal({{"w3x", 2.0f}}); }};
    CHECK(code_of([&] { (base | probed_by<bounded>(heavy)).retrieve("w1x", 3); }) == "fuse.weights");
}

TEST_CASE("by exact scores, a list under the prober's filter gives nothing to what the filter leaves out") {
    const world w;
    const auto prober = made{[](question&) { return proposal({}, eq("owner", "Ada")); }};
    const auto search = w.words() | probed_by<bounded>(prober, {.beside_unfiltered = true});
    trace told;
    const auto found = search.retrieve(query("heat").traced(told), 10);
    CHECK(ids(found) == "ac");  // Ada's page in both lists, the other in one
    REQUIRE(found.size() == 2);
    CHECK(found[0].score > found[1].score);
}

TEST_CASE("without a second text the order is that of the plain search") {
    const world w;
    const auto nothing = made{[](question&) { return proposal({}); }};
    const auto same = made{[](question&) { return proposal({{"HEAT pumps"}, {"  "}}); }};
    for (const char* words : {"heat pumps", "report about heat", "windows or doors"}) {
        CAPTURE(words);
        const std::string plain = ids(w.words().retrieve(words, 10));
        CHECK(ids((w.words() | probed_by(nothing)).retrieve(words, 10)) == plain);
        CHECK(ids((w.words() | narrowed_by(nothing)).retrieve(words, 10)) == plain);
    }
    CHECK(ids((w.words() | probed_by(same)).retrieve("heat pumps", 10)) == ids(w.words().retrieve("heat pumps", 10)));
}

TEST_CASE("beside the filtered lists the unfiltered ones can be fused in, so that a wrong filter loses nothing") {
    const world w;
    const auto wrong = made{[](question& q) { return proposal({{std::string(q.text())}}, eq("owner", "Ivo")); }};
    CHECK(ids((w.words() | probed_by(wrong)).retrieve("heat pumps", 10)) == "c");
    const auto both = (w.words() | probed_by(wrong, {.beside_unfiltered = true})).retrieve("heat pumps", 10);
    CHECK(ids(both) == "ca");  // c stands in both lists
    CHECK(both.state == result_state::complete);
}

TEST_CASE("all texts are embedded in one call, which counts as one") {
    const library pages;
    const toy::letter_embedder embed;
    flat_index index(26);
    for (std::size_t i = 0; i < pages.pages.size(); ++i) {
        std::vector<float> row(26);
        const std::string_view texts[] = {pages.pages.text(unit_at(i))};
        embed.embed(role::document, texts, row);
        const unit_id units[] = {unit_at(i)};
        index.add(units, row);
    }
    const std::size_t before = embed.counted->calls;
    const auto prober = made{[](question&) { return proposal({{"windows"}, {"radiators"}}); }};
    const auto search = dense(index, pages.pages, embed) | probed_by(prober);
    CHECK(search.retrieve("heat", 10).size() == 4);
    CHECK(embed.counted->calls == before + 1);
    // Where calls are counted, the question comes first and alone.
    CHECK(search.retrieve(query("heat").under({.model_calls = 1}), 10).state == result_state::degraded);
    CHECK(embed.counted->calls == before + 2);
    CHECK(search.retrieve(query("heat").under({.model_calls = 2}), 10).state == result_state::complete);
    CHECK(embed.counted->calls == before + 4);
}

TEST_CASE("a prober that fails costs nothing but itself, unless its exception is wanted") {
    const world w;
    const auto failing = made{[](question&) -> probed_query { throw std::runtime_error("no line"); }};
    trace told;
    const auto quiet = (w.words() | narrowed_by(failing)).retrieve(query("heat pumps").traced(told), 10);
    CHECK(ids(quiet) == ids(w.words().retrieve("heat pumps", 10)));
    CHECK(quiet.state == result_state::degraded);
    CHECK(told.find(trace_code::degraded, "narrow"));
    REQUIRE(told.remarks.size() == 1);
    CHECK(told.remarks[0].text == "no line");
    CHECK((w.words() | probed_by(failing)).retrieve("heat pumps", 10).state == result_state::degraded);
    CHECK(ids((w.words() | probed_by(failing)).retrieve("heat pumps", 10)) ==
          ids(w.words().retrieve("heat pumps", 10)));
    CHECK_THROWS_WITH((w.words() | narrowed_by(failing, {.fail_quietly = false})).retrieve("heat", 10), "no line");
    CHECK_THROWS_WITH((w.words() | probed_by(failing, {.fail_quietly = false})).retrieve("heat", 10), "no line");
    const auto strange = made{[](question&) -> probed_query { throw 7; }};
    CHECK((w.words() | narrowed_by(strange)).retrieve("heat", 10).state == result_state::degraded);
}

TEST_CASE("stopping the query and a refusal are nobody's quiet failure") {
    const world w;
    std::stop_source stop;
    const auto stopping = made{[&](question&) -> probed_query {
        stop.request_stop();
        throw std::runtime_error("stopped on the way");
    }};
    CHECK(code_of([&] { (w.words() | narrowed_by(stopping)).retrieve(query("heat").stop_on(stop.get_token()), 10); }) ==
          "query.stopped");
    const scripted_generator model([](const prompt&) { return completion("prose"); });
    const auto refusing =
        w.words() | narrowed_by(self_query(w.fields, ref(model), {.invalid = invalid_policy::refuse}));
    CHECK(code_of([&] { refusing.retrieve("heat", 10); }) == "self_query.refused");
}

TEST_CASE("where no call is left for the prober, the search that was asked for still happens") {
    const world w;
    const scripted_generator model(
        [](const prompt&) { return completion(R"({"query":"report","filter":{"owner":"Ada"}})"); });
    const auto search = w.words() | narrowed_by(self_query(w.fields, ref(model)));
    const auto r = search.retrieve(query("report").under({.model_calls = 0}), 10);
    CHECK(r.size() == 4);
    CHECK(r.state == result_state::degraded);
    CHECK(model.calls() == 0);
    CHECK(ids(search.retrieve(query("report").under({.model_calls = 1}), 10)) == "ab");
}

TEST_CASE("a model is asked once a request, however often a stage above asks for more") {
    const world w;
    const scripted_generator model([](const prompt&) { return completion(R"({"query":"report","filter":null})"); });
    const auto search = w.words() | narrowed_by(self_query(w.fields, ref(model)));
    const query q("report");
    request r(q, w.pages);
    search.run(r, 1);
    search.run(r, 2);
    search.run(r, 4);
    CHECK(model.calls() == 1);
    CHECK(r.paid_calls() == 1);
}

TEST_CASE("an empty question, and a unit that is searched by, are not probed") {
    const world w;
    const auto never = made{[](question&) -> probed_query { throw std::logic_error("was asked"); }};
    CHECK((w.words() | narrowed_by(never, {.fail_quietly = false})).retrieve("  ", 10).empty());
    CHECK((w.words() | probed_by(never, {.fail_quietly = false})).retrieve("", 10).empty());
    CHECK_FALSE((w.words() | narrowed_by(never, {.fail_quietly = false})).retrieve(like(unit_id{0}), 10).empty());
    CHECK_FALSE((w.words() | probed_by(never, {.fail_quietly = false})).retrieve(like(unit_id{0}), 10).empty());
}

TEST_CASE("a filter that does not fit the schema is the programmer's error and not relaxed away") {
    const world w;
    const auto wrong = made{[](question&) { return proposal({{"report"}}, eq("colour", "red")); }};
    CHECK(code_of([&] { (w.words() | narrowed_by(wrong)).retrieve("report", 10); }) == "metadata.unknown_field");
    CHECK(code_of([&] { (w.words() | probed_by(wrong)).retrieve("report", 10); }) == "metadata.unknown_field");
    filter deep = lt("year", 0);  // under 63 negations: every page
    while (deep.depth() < filter::deepest) deep = !deep;
    const auto too_deep = made{[&](question&) { return proposal({{"report"}}, deep); }};
    CHECK((w.words() | narrowed_by(too_deep)).retrieve(query("report").where(deep), 10).size() == 4);
}
