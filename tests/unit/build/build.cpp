#include "quarry/build.hpp"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/failing_new.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

// An expander of one's own: the keys it was told, for articles.
struct told {
    std::vector<key> keys;
    key_kind kind() const { return key_kind::question; }
    unit_kind level() const { return unit_kind::article; }
    void operator()(source_ref, unit_id unit, key_sink emit) const {
        for (const key& k : keys)
            if (k.unit == unit) emit(k);
    }
};

// Keys of the chunks, each for itself and one for its article.
struct up_and_down {
    key_kind kind() const { return key_kind::body; }
    unit_kind level() const { return unit_kind::chunk; }
    void operator()(source_ref source, unit_id unit, key_sink emit) const {
        emit({unit, key_part::whole, std::string(source.text(unit))});
        emit({*source.parent(unit), key_part::phrase, "in " + std::string(source.text(unit))});
    }
};

struct knows_letters : toy::letter_embedder {
    static constexpr bool zero_means_unknown = true;
};

std::vector<std::string> texts() {
    std::vector<std::string> out;
    for (int i = 0; i < 40; ++i) {
        std::string text;
        for (int j = 0; j < 6; ++j) text += std::string(1, static_cast<char>('a' + (i * 7 + j * j * 3) % 26)) + ' ';
        out.push_back(text + "word");
    }
    return out;
}

// Everything a base answers to some questions: units, keys and the bits of the scores.
template <class Embed>
std::string answers(const knowledge_base& kb, const Embed& embed) {
    std::string out;
    const auto note = [&](const auto& found) {
        for (const auto& h : found)
            out += std::to_string(index_of(h.unit)) + '/' + std::to_string(index_of(h.via)) + '/' +
                   std::to_string(std::bit_cast<std::uint32_t>(h.score)) + ' ';
        out += '\n';
    };
    for (const char* question : {"a b c", "word", "q z", "m n o p"}) {
        note(lexical(kb.bm25).retrieve(question, 10));
        note(dense(kb.vectors, embed).retrieve(question, 10));
        note(hybrid(lexical(kb.bm25), dense(kb.vectors, embed)).retrieve(question, 10));
    }
    return out;
}

}  // namespace

TEST_CASE("building fills an index of words and one of vectors over the same keys, and reports what it did") {
    const corpus c = toy::corpus_of({"apple", "pear", "plum"});
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{}, embed);
    CHECK(kb.bm25.index.size() == 3);
    CHECK(kb.vectors.index.size() == 3);
    CHECK(kb.bm25.source == source_ref(c));
    CHECK(kb.vectors.source == source_ref(c));
    CHECK(kb.report.units == 3);
    CHECK(kb.report.keys == 3);
    CHECK(kb.report.units_without_key.empty());
    CHECK(kb.report.keys_without_vector == 0);
    CHECK(kb.report.embedder_calls == 1);
    CHECK(kb.report.bytes_of_keys > 0);
    CHECK(kb.report.bytes_of_bm25 == kb.bm25.index.memory());
    CHECK(kb.report.bytes_of_vectors == kb.vectors.index.memory());
    CHECK(toy::ids(dense(kb.vectors, embed).retrieve("apple", 1)) == std::vector<std::string>{"0"});
    CHECK(toy::ids(lexical(kb.bm25).retrieve("plum", 5)) == std::vector<std::string>{"2"});
}

TEST_CASE("without an embedder an index of words is built, the same as with one") {
    const corpus c = toy::corpus_of(texts());
    const lexical_base words = build(c, identity{});
    const knowledge_base both = build(c, identity{}, toy::letter_embedder());
    CHECK(words.report.keys == 40);
    CHECK(words.report.embedder_calls == 0);
    CHECK(words.report.bytes_of_bm25 > 0);
    CHECK(words.report.bytes_of_vectors == 0);
    const auto one = lexical(words.bm25).retrieve("a word", 40), other = lexical(both.bm25).retrieve("a word", 40);
    REQUIRE(one.size() == other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        CHECK(one[i].unit == other[i].unit);
        CHECK(one[i].score == other[i].score);
    }
}

TEST_CASE("without words an index of vectors is built, the same as with them") {
    const corpus c = toy::corpus_of(texts());
    const toy::letter_embedder embed;
    const dense_base alone = build_vectors(c, identity{}, embed);
    const knowledge_base both = build(c, identity{}, embed);
    CHECK(alone.report.keys == 40);
    CHECK(alone.report.embedder_calls == 1);
    CHECK(alone.report.bytes_of_bm25 == 0);
    CHECK(alone.report.bytes_of_vectors == alone.vectors.index.memory());
    const auto one = dense(alone.vectors, embed).retrieve("a word", 40),
               other = dense(both.vectors, embed).retrieve("a word", 40);
    REQUIRE(one.size() == other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        CHECK(one[i].unit == other[i].unit);
        CHECK(one[i].score == other[i].score);
    }
}

TEST_CASE("keys of words alone are nothing that vectors could find, so their unit is reported") {
    const corpus c = toy::corpus_of({"a", "b"});
    const told expander{{{unit_id{0}, key_part::question, "how"},
                         {unit_id{0}, key_part::title, "", {{"title", 1.0f}}},
                         {unit_id{1}, key_part::title, "", {{"title", 1.0f}}}}};
    const dense_base vectors = build_vectors(c, expander, toy::letter_embedder());
    CHECK(vectors.report.keys == 1);
    CHECK(vectors.vectors.keys->size() == 1);
    CHECK(vectors.report.units_without_key == std::vector<unit_id>{unit_id{1}});
    CHECK(build(c, expander, toy::letter_embedder()).report.units_without_key.empty());
}

TEST_CASE("a report counts keys by what they are of their unit, and time by stage") {
    const corpus c = toy::corpus_of({"a", "b"});
    const told expander{{{unit_id{0}, key_part::question, "how"},
                         {unit_id{0}, key_part::question, "how"},
                         {unit_id{1}, key_part::question, "why"},
                         {unit_id{1}, key_part::title, "b"}}};
    // A clock that goes on by a second whenever it is asked: a stage takes one, embedding and vectors one a batch.
    using std::chrono::seconds;
    int asked = 0;
    const build_options options{.batch = 1,
                                .now = [&] { return std::chrono::steady_clock::time_point(seconds(++asked)); }};
    const build_report report = build(c, expander, toy::letter_embedder(), options).report;
    CHECK(report.parts == std::map<key_part, std::size_t>{{key_part::title, 1}, {key_part::question, 2}});
    CHECK(report.times.keys == seconds(1));
    CHECK(report.times.words == seconds(1));
    CHECK(report.times.embedding == seconds(3));
    CHECK(report.times.vectors == seconds(3));
    CHECK(build(c, expander, options).report.times.words == seconds(1));
    CHECK(build(c, expander, options).report.times.embedding == seconds(0));
    CHECK(build_vectors(c, expander, toy::letter_embedder(), options).report.times.embedding == seconds(3));
}

TEST_CASE("units that got no key are reported, since nothing can find them") {
    corpus c = toy::corpus_of({"apple", "", " \n\t ", "pear"});
    c.add_part(unit_id{0}, {.span = {0, 2}});
    const knowledge_base kb = build(c, identity{}, toy::letter_embedder());
    CHECK(kb.report.units == 4);  // the chunk is of another level
    CHECK(kb.report.keys == 2);
    CHECK(kb.report.units_without_key == std::vector<unit_id>{unit_id{1}, unit_id{2}});
    CHECK(build(c, told{}).report.units_without_key.size() == 4);
}

TEST_CASE("equal texts of one unit are one key, equal texts of two units are two") {
    const corpus c = toy::corpus_of({"a", "b"});
    const told expander{{{unit_id{0}, key_part::question, "how"},
                         {unit_id{0}, key_part::title, "how"},
                         {unit_id{0}, key_part::question, "why"},
                         {unit_id{1}, key_part::question, "how"},
                         {unit_id{1}, key_part::question, "  "}}};
    const knowledge_base kb = build(c, expander, toy::letter_embedder());
    CHECK(kb.report.keys == 3);
    CHECK(kb.bm25.index.size() == 3);
    REQUIRE(kb.bm25.keys);
    CHECK(kb.bm25.keys->kind() == key_kind::question);
    CHECK(kb.bm25.keys->part(key_id{0}) == key_part::question);  // the first of the two
    CHECK(kb.bm25.keys->text(key_id{1}, c) == "why");
    CHECK(kb.bm25.keys->unit(key_id{2}) == unit_id{1});
}

TEST_CASE("keys may stand for a unit above the one that was asked about, and for no other") {
    corpus c = toy::corpus_of({"apple pear"});
    const unit_id first = c.add_part(unit_id{0}, {.span = {0, 5}});
    const unit_id second = c.add_part(unit_id{0}, {.span = {6, 10}});
    const knowledge_base kb = build(c, up_and_down{}, toy::letter_embedder());
    CHECK(kb.report.units == 2);
    CHECK(kb.report.keys == 4);
    CHECK(kb.bm25.index.most_keys_of_a_unit() == 2);
    CHECK(kb.bm25.keys->unit(key_id{0}) == first);
    CHECK(kb.bm25.keys->unit(key_id{1}) == unit_id{0});
    CHECK(kb.bm25.keys->unit(key_id{2}) == second);

    struct astray : told {
        void operator()(source_ref, unit_id, key_sink emit) const { emit(keys.front()); }
    };
    const corpus two = toy::corpus_of({"a", "b"});
    const auto code = [&](unit_id foreign) {
        return code_of([&] { build(two, astray{{{{foreign, key_part::title, "x"}}}}); });
    };
    CHECK(code(unit_id{1}) == "expand.foreign_unit");
    CHECK(code(unit_id{77}) == "expand.foreign_unit");
    CHECK(code(unit_id{UINT32_MAX}) == "expand.foreign_unit");
}

TEST_CASE("a hit of either index shows the words of the key it came by") {
    corpus c;
    c.add({.id = "a", .title = "Reset", .summary = "How to start again", .text = "body"});
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, metadata_keys(c), embed);
    const auto words = lexical(kb.bm25).retrieve("start again", 1);
    REQUIRE(words.matched(words[0]));
    CHECK(words.matched(words[0])->text == "How to start again");
    CHECK(words.matched(words[0])->part == key_part::summary);
    CHECK(words.matched(words[0])->kind == key_kind::metadata);
    const auto meaning = dense(kb.vectors, embed).retrieve("reset", 1);
    REQUIRE(meaning.matched(meaning[0]));
    CHECK(meaning.matched(meaning[0])->text == "Reset");
}

TEST_CASE("the answers are byte for byte the same for every size of a batch") {
    const corpus c = toy::corpus_of(texts());
    const toy::letter_embedder embed;
    const std::string expected = answers(build(c, identity{}, embed), embed);
    CHECK(expected.size() > 1000);
    for (const std::size_t batch : {0u, 1u, 3u, 39u, 40u, 41u}) {
        build_options options;
        options.batch = batch;
        const knowledge_base kb = build(c, identity{}, embed, options);
        CAPTURE(batch);
        const std::size_t step = batch == 0 ? 1 : batch;
        CHECK(kb.report.embedder_calls == (40 + step - 1) / step);
        CHECK(answers(kb, embed) == expected);
    }
}

TEST_CASE("texts that are longer than the embedder reads are counted where it says so") {
    const corpus c = toy::corpus_of({"apple", "a pear that is long", "plum", "another text too long"});
    const auto row = [](std::string_view text) { return std::vector<float>{static_cast<float>(text.size()), 1.0f}; };
    CHECK(build(c, identity{}, make_embedder(2, row, {.reads = 2})).report.keys_cut == 2);
    CHECK(build(c, identity{}, make_embedder(2, row)).report.keys_cut == 0);
}

TEST_CASE("one table of keys serves both indexes when every key has a vector") {
    const corpus c = toy::corpus_of({"apple", "pear"});
    const knowledge_base kb = build(c, identity{}, toy::letter_embedder());
    CHECK(kb.bm25.keys == kb.vectors.keys);
    CHECK(kb.report.bytes_of_keys == kb.bm25.keys->memory());
}

TEST_CASE(
    "a text the embedder knows nothing of has a key for words and none for vectors, and the others stay matched") {
    const corpus c = toy::corpus_of({"apple", "12345", "pear", "678 90"});
    const told expander{{{unit_id{0}, key_part::question, "apple"},
                         {unit_id{1}, key_part::question, "12345"},
                         {unit_id{2}, key_part::question, "pear"},
                         {unit_id{3}, key_part::question, "678 90"}}};
    const knows_letters embed;
    const knowledge_base kb = build(c, expander, embed);
    CHECK(kb.report.keys == 4);
    CHECK(kb.report.keys_without_vector == 2);
    CHECK(kb.bm25.index.size() == 4);
    CHECK(kb.vectors.index.size() == 2);
    CHECK(kb.vectors.keys->size() == 2);
    const auto found = dense(kb.vectors, embed).retrieve("pear", 1);
    CHECK(toy::ids(found) == std::vector<std::string>{"2"});
    REQUIRE(found.matched(found[0]));
    CHECK(found.matched(found[0])->text == "pear");
    CHECK(toy::ids(lexical(kb.bm25).retrieve("12345", 3)) == std::vector<std::string>{"1"});
    CHECK(dense(kb.vectors, embed).retrieve("777", 3).empty());
    // An embedder for which zero has no meaning is refused, with the text.
    CHECK(code_of([&] { build(c, expander, toy::letter_embedder()); }) == "embedder.zero_vector");
    CHECK(message_of([&] { build(c, expander, toy::letter_embedder()); }).find("\"12345\"") != std::string::npos);
}

TEST_CASE(
    "an embedder that throws at any call passes its exception on, nothing is left behind, and the next build works") {
    const corpus c = toy::corpus_of(texts());
    const toy::letter_embedder good;
    const std::string expected = answers(build(c, identity{}, good), good);
    build_options options;
    options.batch = 8;  // five calls
    for (std::size_t fail = 1; fail <= 5; ++fail) {
        std::size_t calls = 0;
        const auto failing = make_embedder(26,
                                           [&](std::span<const std::string_view> some) {
                                               if (++calls == fail) throw std::runtime_error("no network");
                                               std::vector<float> rows(some.size() * 26);
                                               good.embed(role::document, some, rows);
                                               return rows;
                                           },
                                           {.batch = 0});
        CAPTURE(fail);
        CHECK_THROWS_WITH(build(c, identity{}, failing, options), "no network");
        CHECK(calls == fail);  // and not one more
        const knowledge_base kb = build(c, identity{}, failing, options);
        CHECK(answers(kb, good) == expected);
    }
}

TEST_CASE("an embedder that returns nonsense in any batch is refused by name") {
    const corpus c = toy::corpus_of(texts());
    build_options options;
    options.batch = 8;
    for (const char* what : {"embedder.count", "embedder.dimension", "embedder.not_finite", "embedder.zero_vector"})
        for (std::size_t bad = 1; bad <= 5; ++bad) {
            std::size_t calls = 0;
            const auto embed = make_embedder(3, [&](std::span<const std::string_view> some) {
                std::vector<std::vector<float>> rows(some.size(), {1, 2, 3});
                if (++calls == bad) {
                    if (what == std::string("embedder.count")) rows.pop_back();
                    if (what == std::string("embedder.dimension")) rows.back().push_back(4);
                    if (what == std::string("embedder.not_finite"))
                        rows.back()[1] = std::numeric_limits<float>::infinity();
                    if (what == std::string("embedder.zero_vector")) rows.back() = {0, 0, 0};
                }
                return rows;
            });
            CAPTURE(what, bad);
            CHECK(code_of([&] { build(c, identity{}, embed, options); }) == what);
        }
}

TEST_CASE("an embedder whose width changes while building is refused, not read beyond its rows") {
    struct shrinking {
        std::shared_ptr<int> calls = std::make_shared<int>(0);
        std::size_t dimension() const { return *calls < 2 ? 8 : 2; }
        void embed(role, std::span<const std::string_view>, std::span<float> rows) const {
            ++*calls;
            std::ranges::fill(rows, 1.0f);
        }
    };
    const corpus c = toy::corpus_of(texts());
    build_options options;
    options.batch = 8;
    CHECK(code_of([&] { build(c, identity{}, shrinking{}, options); }) == "embedder.dimension");
}

TEST_CASE("nothing is paid for when the words cannot be indexed") {
    const corpus c = toy::corpus_of({"apple"});
    const toy::letter_embedder embed;
    CHECK(code_of([&] { build(c, identity{.title_weight = -1.0f}, embed); }) == "bm25.weight");
    build_options options;
    options.bm25.b = 2.0f;
    CHECK(code_of([&] { build(c, identity{}, embed, options); }) == "bm25.options");
    CHECK(embed.counted->calls == 0);
}

TEST_CASE("a stop ends a build before the next call of the embedder") {
    const corpus c = toy::corpus_of(texts());
    const toy::letter_embedder embed;
    std::stop_source stop;
    build_options options;
    options.batch = 10;
    options.stop = stop.get_token();
    options.progress = [&](std::size_t done, std::size_t) {
        if (done == 20) stop.request_stop();
    };
    CHECK(code_of([&] { build(c, identity{}, embed, options); }) == "build.stopped");
    CHECK(embed.counted->calls == 2);
    CHECK(message_of([&] { build(c, identity{}, embed, options); }).find("after 0 of 40 keys") != std::string::npos);
    CHECK_THROWS_AS(build(c, identity{}, embed, options), cancelled);
}

TEST_CASE("progress goes from the first batch to all keys") {
    const corpus c = toy::corpus_of(texts());
    std::vector<std::pair<std::size_t, std::size_t>> steps;
    build_options options;
    options.batch = 16;
    options.progress = [&](std::size_t done, std::size_t total) { steps.emplace_back(done, total); };
    build(c, identity{}, toy::letter_embedder(), options);
    CHECK(steps == std::vector<std::pair<std::size_t, std::size_t>>{{16, 40}, {32, 40}, {40, 40}});
}

TEST_CASE("an empty corpus builds empty indexes that answer with nothing") {
    const corpus c;
    const toy::letter_embedder embed;
    const knowledge_base kb = build(c, identity{}, embed);
    CHECK(kb.report.keys == 0);
    CHECK(embed.counted->calls == 0);
    CHECK(lexical(kb.bm25).retrieve("x", 5).empty());
    CHECK(dense(kb.vectors, embed).retrieve("x", 5).empty());
    CHECK(hybrid(lexical(kb.bm25), dense(kb.vectors, embed)).retrieve("x", 5).empty());
}

TEST_CASE("a title that weighs three times is a title written three times, for words") {
    corpus weighted, written;
    weighted.add({.id = "a", .title = "apple", .text = "pear plum"});
    weighted.add({.id = "b", .title = "plum", .text = "apple pear"});
    written.add({.id = "a", .text = "apple apple apple pear plum"});
    written.add({.id = "b", .text = "plum plum plum apple pear"});
    const auto one = build(weighted, identity{.title_weight = 3.0f});
    const auto other = build(written, identity{});
    const auto found = lexical(one.bm25).retrieve("apple", 2), same = lexical(other.bm25).retrieve("apple", 2);
    CHECK(toy::ids(found) == std::vector<std::string>{"a", "b"});
    for (std::size_t i = 0; i < 2; ++i) CHECK(found[i].score == Approx(same[i].score));
}

TEST_CASE("running out of memory anywhere in a build leaves nothing behind") {
    const corpus c = toy::corpus_of({"apple pear", "plum", "quince and pear"});
    const toy::letter_embedder embed;
    const std::string expected = answers(build(c, identity{}, embed), embed);
    std::size_t n = 0;
    for (; failing_new::fails_at(n, [&] { build(c, identity{}, embed); }); ++n) REQUIRE(n < 100000);
    CHECK(n > 50);
    CHECK(answers(build(c, identity{}, embed), embed) == expected);
}
