// Public failures of exact dense search in other systems, replayed here. Each test is named after the promise; where a
// case was reported stands beside it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "quarry/build.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/rank/diversify.hpp"
#include "quarry/rank/fuse.hpp"
#include "quarry/rank/rerank.hpp"
#include "quarry/rank/threshold.hpp"
#include "quarry/retrieve/any_retriever.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "quarry/retrieve/whole_article.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using row = std::vector<float>;
using order = std::vector<std::size_t>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

order units_of(const std::vector<scored_key>& hits) {
    order out;
    for (const scored_key& h : hits) out.push_back(index_of(h.unit));
    return out;
}

// Rows of unit 0, 1, ... in this order.
flat_index index_of_rows(std::size_t d, const std::vector<row>& rows) {
    flat_index index(d);
    for (std::size_t i = 0; i < rows.size(); ++i) index.add(unit_at(i), rows[i]);
    return index;
}

// Everything that can be seen of an index from outside.
struct appearance {
    std::size_t size, most_keys, memory;
    std::vector<scored_key> all;
    std::vector<row> rows;

    friend bool operator==(const appearance&, const appearance&) = default;
};

appearance appearance_of(const flat_index& index, const row& probe) {
    appearance out{index.size(), index.most_keys_of_a_unit(), index.memory(), index.search(probe, SIZE_MAX), {}};
    for (const scored_key& k : out.all) {
        row r(index.dimension());
        index.vector_of(k.unit, r);
        out.rows.push_back(r);
    }
    return out;
}

float cosine_of(const row& stored, const row& asked) {
    return index_of_rows(stored.size(), {stored}).search(asked, 1)[0].score;
}

// The processor reads and writes subnormal floats as 0 while this lives, as in a program that links one object which was
// built with -ffast-math.
class flushing_subnormals {
   public:
    flushing_subnormals() noexcept : before_(read()) { write(before_ | mask); }
    ~flushing_subnormals() { write(before_); }
    flushing_subnormals(const flushing_subnormals&) = delete;
    flushing_subnormals& operator=(const flushing_subnormals&) = delete;

   private:
#if defined(__SSE2__)
    using word = unsigned int;
    static constexpr word mask = 0x8040;  // FTZ and DAZ
    static word read() noexcept { return _mm_getcsr(); }
    static void write(word w) noexcept { _mm_setcsr(w); }
#elif defined(__aarch64__)
    using word = std::uint64_t;
    static constexpr word mask = word{1} << 24;  // FZ
    static word read() noexcept {
        word w;
        asm volatile("mrs %0, fpcr" : "=r"(w));
        return w;
    }
    static void write(word w) noexcept { asm volatile("msr fpcr, %0" ::"r"(w)); }
#else
#error "say here how this processor is told to flush subnormal floats"
#endif
    word before_;
};

const std::vector<std::string> five_texts = {"alpha beta", "beta gamma", "gamma delta", "delta epsilon", "epsilon alpha"};

}  // namespace

// ---------------------------------------------------------------------------------------------------------- zero vectors

TEST_CASE("a zero query is an error and matches nothing") {  // nmslib 321, elasticsearch 81167
    const flat_index index = index_of_rows(3, {{2, 0, 5}, {0, 3, 0}});
    CHECK(code_of([&] { index.search(row{0, 0, 0}, 2); }) == "dense.zero_vector");
    CHECK(code_of([&] { index.search(row{-0.0f, 0, 0}, 2); }) == "dense.zero_vector");
    CHECK(code_of([&] { index.search_batch(row{0, 3, 0, 0, 0, 0}, 2); }) == "dense.zero_vector");
    CHECK(code_of([&] { index.bounds(row{0, 0, 0}); }) == "dense.zero_vector");
    CHECK(units_of(index.search(row{0, 1, 0}, 1)) == order{1});
}

TEST_CASE("a zero row from the embedder is an error that names it, for a document and for a question") {
    const corpus c = toy::corpus_of({"abc", "123", "cab"});
    const toy::letter_embedder letters;
    CHECK(code_of([&] { build(c, identity{}, letters); }) == "embedder.zero_vector");
    const corpus good = toy::corpus_of({"abc", "cab"});
    const knowledge_base kb = build(good, identity{}, letters);
    CHECK(code_of([&] { dense(kb.vectors, letters).retrieve("123", 2); }) == "embedder.zero_vector");
}

TEST_CASE("a zero document is refused and does not disturb the others, in every order of adding") {  // hnswlib 15
    const std::array<row, 3> rows = {row{0, 1, 0}, row{0, 0, 0}, row{0.1f, 0.9f, 0}};
    order places{0, 1, 2};
    do {
        flat_index index(3);
        for (const std::size_t i : places) {
            const auto add = [&] { index.add(unit_at(i + 1), rows[i]); };
            CHECK(code_of(add) == (i == 1 ? "dense.zero_vector" : "(no exception)"));
        }
        CHECK(units_of(index.search(row{0, 1, 0}, 2)) == order{1, 3});
    } while (std::ranges::next_permutation(places).found);

    flat_index batch(3);
    const std::vector<unit_id> units = {unit_at(1), unit_at(2), unit_at(3)};
    CHECK(code_of([&] { batch.add(units, row{0, 1, 0, 0, 0, 0, 0.1f, 0.9f, 0}); }) == "dense.zero_vector");
    CHECK(batch.size() == 0);
    CHECK(batch.search(row{0, 1, 0}, 2).empty());
}

// ---------------------------------------------------------------------------------------------------- not finite, too large

TEST_CASE("a NaN or an infinity anywhere is refused by its row, and nothing of its batch is added") {  // faiss 2986
    const row probe{1, 1, 1, 1};
    flat_index index = index_of_rows(4, {{1, 0, 0, 0}, {0, 1, 0, 0}});
    const appearance before = appearance_of(index, probe);
    const std::vector<unit_id> units = {unit_at(2), unit_at(3), unit_at(4)};
    for (const float bad : {not_a_number, infinite, -infinite})
        for (std::size_t place = 0; place < 12; ++place) {
            row rows{1, 2, 3, 4, 1, 5, 0, 0, 0, 0, 0, 1};
            rows[place] = bad;
            const auto add = [&] { index.add(units, rows); };
            REQUIRE(code_of(add) == "dense.not_finite");
            REQUIRE(message_of(add).find("row " + std::to_string(place / 4) + ' ') != std::string::npos);
            row asked = probe;
            asked[place % 4] = bad;
            REQUIRE(code_of([&] { index.search(asked, 1); }) == "dense.not_finite");
        }
    CHECK(appearance_of(index, probe) == before);
}

TEST_CASE("an embedder's NaN leaves neither vectors nor words behind") {
    const corpus c = toy::corpus_of(five_texts);
    const auto broken = make_embedder(2, [](std::string_view text) {
        return text.starts_with("gamma") ? row{1, not_a_number} : row{1, 2};
    });
    CHECK(code_of([&] { build(c, identity{}, broken); }) == "embedder.not_finite");
    CHECK(message_of([&] { build(c, identity{}, broken); }).find("row 2 ") != std::string::npos);
}

TEST_CASE("components whose squares overflow a float have their true cosines") {  // elasticsearch 100471
    const flat_index index = index_of_rows(2, {{1.7e30f, 1e30f}, {1e30f, -1.7e30f}});
    const auto hits = index.search(row{1.7e30f, 1e30f}, 2);
    CHECK(units_of(hits) == order{0, 1});
    CHECK(hits[0].score == Approx(1.0).margin(1e-6));
    CHECK(hits[1].score == Approx(0.0).margin(1e-6));
}

// ---------------------------------------------------------------------------------------------------------------- bounds

TEST_CASE("a cosine is never above 1 and is that of double precision") {  // faiss 915, hnswlib 76, pgvector 196
    // The first row's own norm is 1.000397: trusting it to be 1 gives more than 1.
    CHECK(cosine_of({0.6038481f, 0.7827926f, 0.1529601f}, {82, 106, 20}) == Approx(0.99998473).margin(1e-6));
    CHECK(cosine_of({-0.65563949f, -0.29700866f, 1.27146813f}, {-0.30039746f, -0.1359446f, 0.58292344f}) ==
          Approx(0.99999992).margin(1e-6));
    CHECK(cosine_of(row(1536, 0.1f), row(1536, 0.111f)) == Approx(1.0).margin(1e-6));

    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        row r(1 + random() % 40);
        for (float& x : r) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-20f;
        row opposite = r;
        for (float& x : opposite) x = -x;
        const float self = cosine_of(r, r), other = cosine_of(opposite, r);
        REQUIRE(self <= 1.0f);
        REQUIRE(self >= 1.0f - 1e-6f);
        REQUIRE(other >= -1.0f);
        REQUIRE(other <= -1.0f + 1e-6f);
    }
}

// ------------------------------------------------------------------------------------------------------------- dimensions

TEST_CASE("another width is the same error on adding, updating and asking, and the index stays as it was") {  // chroma 627
    const row good(384, 1.0f);
    flat_index index(384);
    index.add(unit_at(0), good);
    const appearance before = appearance_of(index, good);
    const std::vector<unit_id> three = {unit_at(1), unit_at(2), unit_at(3)};
    row third_is_short(2 * 384 + 4, 1.0f);
    const auto expect = [&](auto call, const std::string& wanted, const std::string& got) {
        CHECK(code_of(call) == "dense.dimension");
        CHECK(message_of(call).find(wanted) != std::string::npos);
        CHECK(message_of(call).find("got " + got) != std::string::npos);
    };
    expect([&] { index.add(unit_at(1), row(4, 1.0f)); }, "384", "4");
    expect([&] { index.add(three, third_is_short); }, "3 rows of 384", "772");
    expect([&] { index.add(unit_at(0), row(4, 1.0f)); }, "384", "4");  // a unit that is there already
    expect([&] { index.search(row(1536, 1.0f), 1); }, "384", "1536");
    expect([&] { index.search(row{}, 1); }, "384", "0");
    CHECK(appearance_of(index, good) == before);
    CHECK(units_of(index.search(good, 1)) == order{0});

    const corpus c = toy::corpus_of(five_texts);
    const knowledge_base kb = build(c, identity{}, toy::letter_embedder{});
    const auto other = make_embedder(4, [](std::string_view) { return row{1, 2, 3, 4}; });
    CHECK(code_of([&] { dense(kb.vectors, other); }) == "dense.dimension");
    const auto liar = make_embedder(26, [](std::string_view) { return row{1, 2, 3, 4}; });
    CHECK(code_of([&] { dense(kb.vectors, liar).retrieve("alpha", 1); }) == "embedder.dimension");
}

// --------------------------------------------------------------------------------------------------------- k of every kind

TEST_CASE("no hits are returned where none are asked for, by any retriever") {  // llama_index 22508
    const corpus c = toy::corpus_of(five_texts);
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{}, embed);
    const auto judge = [](std::string_view, std::span<const std::string_view> passages) {
        return std::vector<float>(passages.size(), 1.0f);
    };
    const auto none = [](const auto& retriever) { return retriever.retrieve("alpha", 0).empty(); };
    const auto some = [](const auto& retriever) { return !retriever.retrieve("alpha", 2).empty(); };
    const auto both = [&](const auto& retriever) { return none(retriever) && some(retriever); };
    const auto vectors = dense(kb.vectors, embed);
    const auto words = lexical(kb.bm25);
    CHECK(both(vectors));
    CHECK(both(words));
    CHECK(both(fuse(rrf{}, words, vectors)));
    CHECK(both(hybrid(words, vectors)));
    CHECK(both(vectors | at_least<cosine_scale>{0.1f}));
    CHECK(both(vectors | rerank(judge)));
    CHECK(both(vectors | diversify(kb.vectors, mmr{})));
    CHECK(both(whole_article(vectors)));
    CHECK(both(any_retriever(vectors)));
    CHECK(kb.vectors.index.search(row(26, 1.0f), 0).empty());
    CHECK(kb.vectors.index.search_batch(row(52, 1.0f), 0) == std::vector<std::vector<scored_key>>(2));
    CHECK(kb.bm25.index.search("alpha", 0).empty());
}

TEST_CASE("asking for more than there is gives what there is") {  // usearch 393, hnswlib 93, faiss 1731
    const corpus c = toy::corpus_of({"abc", "bcd", "cde"});
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{}, embed);
    for (const std::size_t k : {std::size_t{3}, std::size_t{10}, std::size_t{INT32_MAX}, SIZE_MAX}) {
        auto found = units_of(kb.vectors.index.search(row(26, 1.0f), k));
        std::ranges::sort(found);
        CHECK(found == order{0, 1, 2});
        CHECK(kb.vectors.index.search_batch(row(52, 1.0f), k)[1].size() == 3);
        CHECK(dense(kb.vectors, embed).retrieve("abc", k).size() == 3);
        CHECK(hybrid(lexical(kb.bm25), dense(kb.vectors, embed)).retrieve("abc", k).size() == 3);
    }
}

TEST_CASE("an empty index finds nothing for one question and for a thousand") {  // faiss 3830
    const flat_index never(2);
    flat_index emptied = index_of_rows(2, {{1, 0}, {0, 1}});
    emptied.remove(unit_at(0));
    emptied.remove(unit_at(1));
    for (const std::size_t m : {1u, 19u, 20u, 1000u}) {
        const row probes(2 * m, 1.0f);
        CHECK(never.search_batch(probes, 1) == std::vector<std::vector<scored_key>>(m));
        CHECK(emptied.search_batch(probes, 1) == std::vector<std::vector<scored_key>>(m));
    }
    const corpus nothing;
    const toy::letter_embedder embed;
    const knowledge_base kb = build(nothing, identity{}, embed);
    const auto search = dense(kb.vectors, embed);
    CHECK(search.retrieve("abc", 5).empty());
    const std::vector<query> twenty(20, query("abc"));
    for (const auto& found : search.retrieve(twenty, 1)) CHECK(found.empty());
}

// ------------------------------------------------------------------------------------------------------------- ties, ids

TEST_CASE("ties come in ascending order of the units, in every run and thread, and fewer are a prefix of more") {
    // qdrant 6814, opensearch neural-search 1944
    flat_index index(2);
    for (const std::size_t unit : {5u, 3u, 9u, 1u, 7u, 2u}) index.add(unit_at(unit), row{1, 0});
    const auto six = index.search(row{1, 0}, 6);
    CHECK(units_of(six) == order{1, 2, 3, 5, 7, 9});
    CHECK(units_of(index.search(row{1, 0}, 3)) == order{1, 2, 3});
    std::vector<std::thread> threads;
    std::array<bool, 8> same{};
    for (std::size_t t = 0; t < same.size(); ++t)
        threads.emplace_back([&, t] {
            same[t] = true;
            for (int i = 0; i < 100; ++i) same[t] = same[t] && index.search(row{1, 0}, 6) == six;
        });
    for (auto& thread : threads) thread.join();
    CHECK(std::ranges::all_of(same, std::identity{}));
}

TEST_CASE("the vector of a unit that is not there is not there") {  // faiss 4413
    flat_index index(3);
    for (std::size_t i = 0; i < 10; ++i) index.add(unit_at(i), row{1, static_cast<float>(i), 0});
    row out{7, 7, 7};
    for (const unit_id unit : {unit_at(10), unit_at(100), unit_id{UINT32_MAX}, unit_id{UINT32_MAX - 1}})
        CHECK_FALSE(index.vector_of(unit, out));
    index.remove(unit_at(4));
    CHECK_FALSE(index.vector_of(unit_at(4), out));
    CHECK(out == row{7, 7, 7});
    CHECK(index.vector_of(unit_at(5), out));
    CHECK(out[1] == Approx(5 / std::sqrt(26.0)).epsilon(1e-6));
    const unit_id gone[] = {unit_at(4), unit_at(100)};
    for (const scored_key& s : index.score(row{1, 0, 0}, gone)) CHECK(s.key == no_key);
    CHECK_FALSE(std::ranges::count(index.search(row{1, 4, 0}, 10), unit_at(4), &scored_key::unit));
}

// ------------------------------------------------------------------------------------------------- NaN on its way to a sort

TEST_CASE("scores that are not finite are refused before anything is sorted") {  // valkey-search 1429, llvm 68265
    std::vector<std::string> texts;
    for (int i = 0; i < 200; ++i) texts.push_back("alpha " + std::to_string(i));
    const corpus c = toy::corpus_of(texts);
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{}, embed);
    const auto base = dense(kb.vectors, embed);

    std::mt19937 random(2);
    std::vector<float> scores(200);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = i % 3 == 0 ? not_a_number : static_cast<float>(i);
    for (int permutation = 0; permutation < 50; ++permutation) {
        for (std::size_t i = scores.size() - 1; i > 0; --i) std::swap(scores[i], scores[random() % (i + 1)]);
        const auto judge = [&](std::string_view, std::span<const std::string_view>) { return scores; };
        REQUIRE(code_of([&] { (base | rerank(judge, {.fetch = 200})).retrieve("alpha", 10); }) == "rerank.not_finite");
    }
    CHECK(code_of([&] { fuse(rrf{.weights = {1.0f, not_a_number}}, base, base); }) == "fuse.weights");
    CHECK(code_of([&] { fuse(rrf{.weights = {1.0f, infinite}}, base, base); }) == "fuse.weights");
    CHECK(code_of([&] { base | at_least<cosine_scale>{not_a_number}; }) == "threshold.nan");
}

// ----------------------------------------------------------------------------------------------------------- subnormals

TEST_CASE("subnormal components change neither ranks nor scores, whether the processor flushes them or not") {
    // hypothesis 3156
    std::mt19937 random(3);
    std::vector<row> rows;
    for (int i = 0; i < 60; ++i) {
        row r(8);
        for (float& x : r)
            switch (random() % 4) {
                case 0: x = 1e-39f * static_cast<float>(random() % 9); break;
                case 1: x = 2e-38f; break;
                default: x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
            }
        rows.push_back(r);
    }
    rows.push_back(row(8, 1e-39f));  // nothing but subnormal numbers, and a direction all the same
    rows.push_back({1e-39f, -1e-39f, 2e-39f, 0, 0, 0, 0, 1e-45f});
    const auto answers = [&](auto index) {
        for (std::size_t i = 0; i < rows.size(); ++i) index.add(unit_at(i), rows[i]);
        std::vector<std::vector<scored_key>> out;
        for (const row& probe : rows)
            for (const std::size_t n : {1u, 5u, 40u, 100u}) out.push_back(index.search(probe, n));
        return out;
    };
    const auto cosines = answers(flat_index(8));
    const auto products = answers(flat_product_index(8));
    {
        const flushing_subnormals here;
        CHECK(answers(flat_index(8)) == cosines);
        CHECK(answers(flat_product_index(8)) == products);
    }
    CHECK(cosine_of(row(8, 1e-39f), row(8, 3.0f)) == Approx(1.0).margin(1e-6));
}

TEST_CASE("a score that is made of many tiny products is found where the processor flushes them") {
    // A hundred products of 9e-39 make 9e-37; flushed, a float product makes 0 of them, and 5e-37 of the other row.
    flat_product_index index(100);
    row big(100, 0.0f);
    big[0] = 5e-18f;
    row probe(100, 9e-20f);
    probe[0] = 1e-19f;
    index.add(unit_at(0), big);
    index.add(unit_at(1), row(100, 1e-19f));
    index.add(unit_at(2), row(100, -1e-19f));
    const flushing_subnormals here;
    CHECK(units_of(index.search(probe, 1)) == order{1});
    CHECK(index.search(probe, 1)[0].score == Approx(9.01e-37).epsilon(1e-5));
}

TEST_CASE("rows with subnormal components are searched as fast as others") {  // WebAssembly design 148
    constexpr std::size_t d = 64, size = 500;
    std::mt19937 random(4);
    const auto filled = [&](bool subnormal) {
        flat_index index(d);
        for (std::size_t i = 0; i < size; ++i) {
            row r(d);
            for (float& x : r) {
                x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
                if (subnormal && random() % 2 == 0) x = 1e-39f;
            }
            index.add(unit_at(i), r);
        }
        return index;
    };
    const flat_index normal = filled(false), mixed = filled(true);
    row stored(d);
    for (std::size_t i = 0; i < size; ++i) {
        REQUIRE(mixed.vector_of(unit_at(i), stored));
        REQUIRE(std::ranges::none_of(stored, [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }));
    }
    row probe(d, 1e-39f);
    probe[0] = 1.0f;
    // The shortest of many, so that a busy machine does not decide.
    const auto shortest = [&](const flat_index& index) {
        auto best = std::chrono::steady_clock::duration::max();
        for (int i = 0; i < 40; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            const auto hits = index.search(probe, 10);
            best = (std::min)(best, std::chrono::steady_clock::now() - begin);
            REQUIRE(hits.size() == 10);
        }
        return best;
    };
    CHECK(shortest(mixed) < 5 * shortest(normal));
}
