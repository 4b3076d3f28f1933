// What does a pipeline cost a question beyond its searches and its callables? At most 30 microseconds with everything in
// it. Indexes here have their answers ready and callables say what they always say, so what is timed is ours: requests,
// filters, fusion, ledger, reranking, diversity, the trace.
//
//     bench_pipeline --units 1000
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/probe/schema_reader.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/probed.hpp"

namespace {

using quarry::scored_key;
using quarry::unit_id;

constexpr std::size_t width = 384;

// An index that knows its answer: every unit, with scores that fall as a question's do. Two of them agree on every second
// place. What a filter lets through is ready too, since sifting is the index's work.
template <class S>
struct ready_index {
    using scale = S;

    std::vector<scored_key> all{}, allowed{};
    std::vector<float> rows{};

    ready_index(const quarry::corpus& c, std::size_t shift, const quarry::filter& f) : rows(c.size() * width) {
        const quarry::selection some = c.select({.where = &f});
        for (std::size_t i = 0; i < c.size(); ++i) {
            const std::size_t place = i % 2 == 0 ? i : (i + shift) % c.size();
            const unit_id unit = quarry::unit_at(place * 7 % c.size());
            const float score = std::exp(-static_cast<float>(i) / 30.0f);
            all.push_back({unit, quarry::key_at(quarry::index_of(unit)), score});
            if (some.returned().contains(unit)) allowed.push_back(all.back());
        }
        bench::random_source random(shift);
        for (float& x : rows) x = static_cast<float>(random.uniform() - .5);
    }

    std::size_t size() const { return all.size(); }
    std::size_t most_keys_of_a_unit() const { return 1; }
    std::size_t dimension() const { return width; }

    template <class Probe>
    std::vector<scored_key> search(const Probe&, std::size_t n, const quarry::accept& a) const {
        const std::vector<scored_key>& from = a.units ? allowed : all;
        return {from.begin(), from.begin() + static_cast<std::ptrdiff_t>((std::min)(n, from.size()))};
    }
    template <class Probe>
    std::vector<scored_key> score(const Probe&, std::span<const unit_id> units) const {
        std::vector<scored_key> out;
        for (const unit_id unit : units) out.push_back({unit, quarry::key_at(quarry::index_of(unit)), .25f});
        return out;
    }
    template <class Probe>
    quarry::score_bounds bounds(const Probe&) const {
        return {0.0f, 1.0f};
    }
    bool vector_of(unit_id unit, std::span<float> row) const {
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(quarry::index_of(unit) * width), width,
                    row.begin());
        return true;
    }
};

struct ready_embedder {
    std::vector<float> row = std::vector<float>(width, .05f);

    std::size_t dimension() const { return width; }
    void embed(quarry::role, std::span<const std::string_view> texts, std::span<float> rows) const {
        for (std::size_t i = 0; i < texts.size(); ++i)
            std::copy(row.begin(), row.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
};

std::vector<float> ready_judge(std::string_view, std::span<const std::string_view> passages) {
    std::vector<float> scores;
    for (const std::string_view p : passages) scores.push_back(static_cast<float>(p.size() % 11));
    return scores;
}

}  // namespace

int main(int argc, char** argv) {
    const bench::options o(argc, argv, {{"units", "1000"}, {"questions", "2000"}, {"rounds", "15"}, {"only", ""}, {"json", "0"}});
    using namespace quarry;
    corpus articles(schema{{"product", field_type::string}, {"year", field_type::integer}});
    for (std::size_t i = 0; i < o.number("units"); ++i)
        articles.add({.id = std::to_string(i),
                      .title = "Article " + std::to_string(i),
                      .text = "how to reset the thing of number " + std::string(i % 7, 'x') + std::to_string(i),
                      .meta = {{"product", i % 3 == 0 ? "hub" : "app"}, {"year", static_cast<std::int64_t>(2015 + i % 10)}}});
    const filter app = eq("product", "app");
    const indexed<ready_index<bm25_scale>> keys{{articles, 0, app}, articles};
    const indexed<ready_index<cosine_scale>> vectors{{articles, 500, app}, articles};
    const field_catalog fields(articles);

    const auto legs = hybrid(lexical(keys), dense(vectors, ready_embedder{}));
    const auto judged = legs | rerank_first(ready_judge, {.first = 20, .trust = .5f});
    const auto varied = judged | diversify(vectors, mmr{.fetch = 20});
    const auto everything = legs | narrowed_by(schema_reader(fields)) |
                            rerank_first(ready_judge, {.first = 20, .trust = .5f}) |
                            diversify(vectors, mmr{.fetch = 20});
    const auto several = legs | probed_by([](question&) -> probed_query {
                             return {.probes = {{"reset the hub"}, {"start again"}, {"factory settings"}}};
                         });

    const query plain("how do I reset the app");
    const query scoped = query("how do I reset the app").where(ge("year", 2000)).within(scope::only(app));
    trace told;
    nlohmann::json cases = nlohmann::json::array();
    const auto time = [&](const char* name, const any_retriever& search, const query& q) {
        if (std::string_view(name).find(o.text("only")) == std::string_view::npos) return;
        std::vector<double> rounds;
        std::size_t hits = 0;
        for (std::size_t round = 0; round < o.number("rounds"); ++round)
            rounds.push_back(bench::milliseconds([&] {
                for (std::size_t i = 0; i < o.number("questions"); ++i) {
                    told.events.clear();
                    told.remarks.clear();
                    hits = search.retrieve(q, 5).size();
                }
            }) * 1e3 / o.real("questions"));
        cases.push_back({{"pipeline", name}, {"us", bench::median(rounds)}, {"hits", hits}});
    };
    time("one leg", lexical(keys), plain);
    time("hybrid", legs, plain);
    time("hybrid, filter and scope", legs, scoped);
    time("and reranking", judged, scoped);
    time("and diversity", varied, scoped);
    time("and the schema's reader: everything", everything, scoped);
    time("everything, traced", everything, query(scoped).traced(told));
    time("hybrid with three more texts", several, scoped);
    bench::report(o, cases);
}
