#include "quarry/index/bm25_index.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/words.hpp"

using namespace quarry;

namespace {

constexpr bm25_options lucene{.k1 = 1.2f, .b = 0.75f};

// The collection of four that the tables below are about; document i is unit i.
bm25_index four(bm25_options options) {
    bm25_index index(toy::whitespace(), options);
    index.add(unit_id{0}, "cat sat on the mat");
    index.add(unit_id{1}, "the dog sat");
    index.add(unit_id{2}, "error code ts-999 in module error handler");
    index.add(unit_id{3}, "the cat chased the dog and the cat won the race today");
    return index;
}

// The scores of units 0 to n - 1, 0 where a unit was not found.
std::vector<float> scores_of(const bm25_index& index, std::string_view question, std::size_t n) {
    std::vector<float> scores(n, 0.0f);
    for (const scored_key& k : index.search(question, 100)) scores[index_of(k.unit)] = k.score;
    return scores;
}

void check_scores(const std::vector<float>& got, const std::vector<double>& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(got[i] == Approx(expected[i]).margin(1e-6));
    }
}

std::vector<std::uint32_t> units_of(const std::vector<scored_key>& found) {
    std::vector<std::uint32_t> units;
    for (const scored_key& k : found) units.push_back(static_cast<std::uint32_t>(k.unit));
    return units;
}

using units = std::vector<std::uint32_t>;

std::vector<std::string> random_words(std::mt19937& random, std::size_t most, std::size_t vocabulary) {
    std::vector<std::string> words(random() % (most + 1));
    // The smaller of two draws, so that some words are frequent and some rare.
    for (std::string& w : words) w = "w" + std::to_string(std::min(random() % vocabulary, random() % vocabulary));
    return words;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
    return text;
}

// Every key that the index finds has the twin's score, no key that the twin scores is missing, the order is the order.
void check_against(const toy::naive_bm25& twin, const bm25_index& index, const std::vector<std::string>& question) {
    const auto found = index.search(joined(question), 100000);
    std::map<std::size_t, float> got;
    for (const scored_key& k : found) got[index_of(k.key)] = k.score;
    REQUIRE(got.size() == found.size());
    std::size_t expected = 0;
    for (const auto& [number, key] : twin.keys) {
        const double score = twin.score(number, question);
        if (score == 0.0) continue;
        ++expected;
        REQUIRE(got.contains(number));
        CHECK(got[number] == Approx(score).epsilon(1e-6));
    }
    CHECK(found.size() == expected);
    CHECK(std::ranges::is_sorted(found, [](const auto& x, const auto& y) { return better(x, y); }));
}

}  // namespace

TEST_CASE("scores are those of Lucene's formula, k1 1.2 and b .75") {
    // By a script in double precision over the four texts: dl 5, 3, 7, 12, avgdl 6.75.
    const bm25_index index = four(lucene);
    check_scores(scores_of(index, "cat sat", 4), {.704895, .407734, 0, .355460});
    check_scores(scores_of(index, "error ts-999", 4), {0, 0, 1.283818, 0});
    check_scores(scores_of(index, "the cat", 4), {.533808, .209809, 0, .597274});
    CHECK(index.counted_keys() == 4);
    CHECK(index.average_length() == 6.75);
    CHECK(index.document_frequency("the") == 3);
    CHECK(index.document_frequency("error") == 1);
    CHECK(index.document_frequency("zebra") == 0);
}

TEST_CASE("scores are those of Lucene's formula, k1 .9 and b .4, which is the default") {
    const bm25_index index = four({});
    check_scores(scores_of(index, "cat sat", 4), {.767322, .407734, 0, .435942});
    check_scores(scores_of(index, "error ts-999", 4), {0, 0, 1.455780, 0});
}

TEST_CASE("a word that is asked twice counts twice, an unknown word not at all") {
    const bm25_index index = four(lucene);
    check_scores(scores_of(index, "cat", 4), {.352448, 0, 0, .355460});
    check_scores(scores_of(index, "cat cat", 4), {.704895, 0, 0, .710920});
    CHECK(scores_of(index, "zebra cat", 4) == scores_of(index, "cat", 4));
    CHECK(index.search("zebra", 10).empty());
    CHECK(index.search("", 10).empty());
}

TEST_CASE("the weight of a word that stands everywhere is small and positive") {
    // With k1 = 0 a contribution is the idf alone: ln(1 + .5 / (N + .5)).
    const double expected[][2] = {{1, .287682}, {2, .182322}, {10, .046520}};
    for (const auto& [n, idf] : expected) {
        bm25_index index(toy::whitespace(), {.k1 = 0.0f, .b = 0.0f});
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) index.add(unit_at(i), "same");
        CHECK(index.search("same", 1).front().score == Approx(idf).margin(1e-6));
    }
    // One text of one word: .287682 / (1 + 1.2) = .130765.
    bm25_index one(toy::whitespace(), lucene);
    one.add(unit_id{0}, "word");
    CHECK(one.search("word", 1).front().score == Approx(.130765).margin(1e-6));
}

TEST_CASE("lengths in one byte are Lucene's") {
    // Lucene's SmallFloat: exact below 40, then cut downwards; the largest error is some 11 per cent.
    const std::uint32_t table[][2] = {{0, 0},     {1, 1},     {39, 39},    {40, 40},     {41, 40},         {42, 42},
                                      {43, 42},   {55, 54},   {57, 56},    {100, 96},    {200, 200},       {256, 248},
                                      {500, 472}, {512, 504}, {1000, 984}, {5000, 4632}, {1000000, 983064}};
    for (const auto& [exact, kept] : table) CHECK(lucene_length(exact) == kept);

    // "x" three times in 100 words and once in 58: kept as 96 and 56, while the mean stays exact.
    const auto two = [](bool lucene_lengths) {
        bm25_index index(toy::whitespace(), {.k1 = 1.2f, .b = 0.75f, .lucene_lengths = lucene_lengths});
        std::string hundred = "x x x", fifty_eight = "x";
        for (int i = 0; i < 97; ++i) hundred += " filler" + std::to_string(i);
        for (int i = 0; i < 57; ++i) fifty_eight += " other" + std::to_string(i);
        index.add(unit_id{0}, hundred);
        index.add(unit_id{1}, fifty_eight);
        return index;
    };
    check_scores(scores_of(two(false), "x", 2), {.123211, .092985});
    check_scores(scores_of(two(true), "x", 2), {.124489, .094078});
    CHECK(two(true).average_length() == 79.0);
}

TEST_CASE("the answer is that of the formula over every text, on random texts with many keys per unit") {
    std::mt19937 random(5);
    for (int round = 0; round < 30; ++round) {
        const bm25_options options{.k1 = static_cast<float>(round % 4) * 0.5f,
                                   .b = static_cast<float>(round % 5) * 0.25f};
        bm25_index index(toy::whitespace(), options);
        toy::naive_bm25 twin{.k1 = static_cast<double>(options.k1), .b = static_cast<double>(options.b)};
        for (std::size_t i = 0; i < 60; ++i) {
            const unit_id unit{static_cast<std::uint32_t>(random() % 25)};
            const auto words = random_words(random, 12, 15);
            CHECK(index.add(unit, joined(words)) == key_at(i));
            twin.add(i, unit, words);
        }
        for (int question = 0; question < 10; ++question) check_against(twin, index, random_words(random, 6, 20));
    }
}

TEST_CASE("a field of weight w counts as if it were written w times") {
    bm25_index weighted(toy::whitespace()), written(toy::whitespace());
    const weighted_text title_and_text[] = {{"reset password", 3.0f}, {"open the settings and choose reset", 1.0f}};
    weighted.add(unit_id{0}, title_and_text);
    weighted.add(unit_id{1}, "the password is case sensitive");
    written.add(unit_id{0}, "reset password reset password reset password open the settings and choose reset");
    written.add(unit_id{1}, "the password is case sensitive");
    CHECK(weighted.average_length() == written.average_length());
    for (const char* question : {"reset", "password", "reset password the", "settings"})
        CHECK(scores_of(weighted, question, 2) == scores_of(written, question, 2));

    std::mt19937 random(6);
    bm25_index index(toy::whitespace());
    toy::naive_bm25 twin{};
    for (std::size_t i = 0; i < 40; ++i) {
        std::vector<weighted_text> fields;
        twin.add(i, unit_at(i), {});
        for (const float weight : {0.5f, 1.0f, 2.5f}) {
            const auto words = random_words(random, 5, 12);
            fields.push_back({joined(words), weight});
            twin.add(i, unit_at(i), words, static_cast<double>(weight));
        }
        index.add(unit_at(i), fields);
    }
    for (int question = 0; question < 20; ++question) check_against(twin, index, random_words(random, 4, 14));
}

TEST_CASE("equal scores come by unit, then by key") {
    bm25_index index(toy::whitespace());
    for (const std::uint32_t unit : {5u, 3u, 9u, 3u, 1u}) index.add(unit_id{unit}, "alike");
    const auto found = index.search("alike", 10);
    CHECK(units_of(found) == units{1, 3, 3, 5, 9});
    CHECK(found[1].key == key_id{1});
    CHECK(found[2].key == key_id{3});
    const auto three = index.search("alike", 3);
    CHECK(std::equal(three.begin(), three.end(), found.begin()));
}

TEST_CASE("an index that was changed equals one that was made afresh") {
    std::mt19937 random(7);
    bm25_index changed(toy::whitespace());
    std::map<std::uint32_t, std::vector<std::vector<std::string>>> texts;  // of each unit
    for (int step = 0; step < 400; ++step) {
        const auto unit = static_cast<std::uint32_t>(random() % 30);
        const auto words = random_words(random, 10, 15);
        const weighted_text field[] = {{joined(words), 1.0f}};
        switch (random() % 3) {
            case 0:
                changed.add(unit_id{unit}, field);
                texts[unit].push_back(words);
                break;
            case 1:
                changed.replace(unit_id{unit}, field);
                texts[unit] = {words};
                break;
            default:
                CHECK(changed.remove(unit_id{unit}) == texts[unit].size());
                texts.erase(unit);
        }
        if (step % 20 != 19) continue;

        bm25_index fresh(toy::whitespace());
        std::size_t most = 0, size = 0;
        for (const auto& [id, own] : texts) {
            for (const auto& text : own) fresh.add(unit_id{id}, joined(text));
            most = std::max(most, own.size());
            size += own.size();
        }
        CHECK(changed.size() == size);
        CHECK(changed.most_keys_of_a_unit() == most);
        CHECK(changed.counted_keys() == fresh.counted_keys());
        CHECK(changed.average_length() == fresh.average_length());
        for (int question = 0; question < 5; ++question) {
            const std::string text = joined(random_words(random, 5, 16));
            const auto a = changed.search(text, 1000), b = fresh.search(text, 1000);
            REQUIRE(units_of(a) == units_of(b));
            for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].score == Approx(b[i].score).epsilon(1e-6));
        }
    }
    for (std::uint32_t unit = 0; unit < 30; ++unit) changed.remove(unit_id{unit});
    CHECK(changed.size() == 0);
    CHECK(changed.most_keys_of_a_unit() == 0);
    CHECK(changed.average_length() == 0.0);
    CHECK(changed.search("w0 w1", 10).empty());
    CHECK(changed.bounds({"w0 w1"}).high == 0.0f);
}

TEST_CASE("the few best are the head of all, however lengths drift while an index grows and shrinks") {
    std::mt19937 random(11);
    bm25_index index(toy::whitespace(), {.k1 = 1.2f, .b = 0.75f, .positions = false});
    const auto check = [&] {
        for (const char* question : {"w0 w1", "w3 w90 w2", "w150 w0", "w7 w7 w60 w61 w62", "w199"}) {
            const auto all = index.search(question, 100'000);
            for (const std::size_t n : {1u, 5u, 40u}) {
                const auto few = index.search(question, n);
                REQUIRE(few.size() == std::min(n, all.size()));
                CHECK(std::ranges::equal(few, std::span(all).first(few.size())));
            }
        }
    };
    for (std::uint32_t i = 0; i < 4000; ++i) {
        index.add(unit_id{i}, joined(random_words(random, 3 + i / 80, 200)));
        if (i % 1000 == 999) check();
    }
    for (std::uint32_t i = 0; i < 4000; ++i)
        if (i % 4 != 0 || i < 1000) index.remove(unit_id{i});
    check();
}

TEST_CASE("a key's number is never given again") {
    bm25_index index(toy::whitespace());
    CHECK(index.add(unit_id{0}, "one") == key_id{0});
    index.remove(unit_id{0});
    CHECK(index.add(unit_id{0}, "one") == key_id{1});
    const weighted_text field[] = {{"two", 1.0f}};
    CHECK(index.replace(unit_id{0}, field) == key_id{2});
    CHECK(index.search("one", 10).empty());
    CHECK(index.search("two", 10).front().key == key_id{2});
    CHECK(index.remove(unit_id{7}) == 0);
}

TEST_CASE("a filter is applied inside: what it lets through comes back in full") {
    std::mt19937 random(8);
    bm25_index index(toy::whitespace());
    for (std::size_t i = 0; i < 200; ++i) index.add(unit_at(i % 80), joined(random_words(random, 8, 10)));
    for (const std::size_t share : {0u, 1u, 3u, 20u, 40u, 80u}) {
        unit_set allowed(80);
        while (allowed.count() < share) allowed.insert(unit_id{static_cast<std::uint32_t>(random() % 80)});
        const auto all = index.search("w0 w3", 1000);
        std::vector<scored_key> expected;
        std::ranges::copy_if(all, std::back_inserter(expected),
                             [&](const auto& k) { return allowed.contains(k.unit); });
        CHECK(index.search("w0 w3", 1000, {&allowed}) == expected);
        expected.resize(std::min(expected.size(), std::size_t{5}));
        CHECK(index.search("w0 w3", 5, {&allowed}) == expected);
    }
    const filter unevaluated = eq("product", "app");
    CHECK(code_of([&] { index.search("w0", 5, {nullptr, &unevaluated}); }) == "filter.unevaluated");
}

TEST_CASE("words may be required, forbidden, or asked for side by side") {
    const bm25_index index = four(lucene);
    const std::vector<std::string> dog{"dog"}, cat_mat{"cat mat"}, nobody{"zebra"}, nothing{" "};
    const std::vector<std::string> the_dog{"the dog"}, dog_the{"dog the"}, two{"the cat", "the dog"},
        the_the{"the the"};
    const auto found = [&](lexical_probe probe) { return units_of(index.search(probe, 10)); };

    CHECK(found({.text = "the"}) == units{3, 1, 0});
    CHECK(found({.text = "the", .required = dog}) == units{3, 1});
    CHECK(found({.text = "the", .forbidden = dog}) == units{0});
    CHECK(found({.text = "the", .required = cat_mat}) == units{0});      // all of the words
    CHECK(found({.text = "the", .forbidden = cat_mat}) == units{3, 1});  // all of them together
    CHECK(found({.text = "the", .required = nobody}).empty());
    CHECK(found({.text = "the", .forbidden = nobody}) == units{3, 1, 0});
    CHECK(found({.text = "the", .phrases = the_dog}) == units{3, 1});
    CHECK(found({.text = "the", .phrases = dog_the}).empty());
    CHECK(found({.text = "the", .phrases = two}) == units{3});
    CHECK(found({.text = "the", .phrases = the_the}).empty());
    CHECK(found({.text = "sat", .phrases = the_dog}) == units{1});
    // A condition without words can be met by nobody, and forbids nothing.
    CHECK(found({.text = "the", .required = nothing}).empty());
    CHECK(found({.text = "the", .phrases = nothing}).empty());
    CHECK(found({.text = "the", .forbidden = nothing}) == units{3, 1, 0});
    // Conditions change who is found and not what a score is.
    CHECK(index.search(lexical_probe{.text = "the", .required = dog}, 1) == index.search("the", 1));
}

TEST_CASE("a phrase agrees with looking for the words one after the other") {
    std::mt19937 random(9);
    bm25_index index(toy::whitespace());
    std::vector<std::vector<std::string>> texts;
    for (std::size_t i = 0; i < 100; ++i) {
        texts.push_back(random_words(random, 12, 5));
        index.add(unit_at(i), joined(texts.back()));
    }
    for (int round = 0; round < 50; ++round) {
        auto words = random_words(random, 3, 5);
        if (words.empty()) words = {"w0"};
        const std::vector<std::string> phrase{joined(words)};
        std::vector<std::uint32_t> expected;
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (std::search(texts[i].begin(), texts[i].end(), words.begin(), words.end()) != texts[i].end())
                expected.push_back(static_cast<std::uint32_t>(i));
        auto found = units_of(index.search({.text = joined(words), .phrases = phrase}, 1000));
        std::ranges::sort(found);
        CHECK(found == expected);
    }
}

TEST_CASE("no phrase reaches from one field into the next") {
    bm25_index index(toy::whitespace());
    const weighted_text fields[] = {{"reset your", 2.0f}, {"password now", 1.0f}};
    index.add(unit_id{0}, fields);
    const std::vector<std::string> inside{"password now"}, across{"your password"};
    CHECK(index.search({.text = "password", .phrases = inside}, 1).size() == 1);
    CHECK(index.search({.text = "password", .phrases = across}, 1).empty());
}

TEST_CASE("a phrase is refused by an index that keeps no positions, when searching and when scoring") {
    bm25_index index(toy::whitespace(), {.positions = false});
    index.add(unit_id{0}, "reset password");
    const std::vector<std::string> words{"reset password"};
    const unit_id first[] = {unit_id{0}};
    CHECK(index.search("password", 1).size() == 1);
    CHECK(index.search({.text = "password", .required = words}, 1).size() == 1);
    CHECK(code_of([&] { index.search({.text = "password", .phrases = words}, 1); }) == "bm25.no_positions");
    CHECK(code_of([&] { index.score({.text = "password", .phrases = words}, first); }) == "bm25.no_positions");
}

TEST_CASE("stop words are ignored unless a question has no other words") {
    bm25_index index(toy::whitespace({"to", "be", "or", "not", "the"}));
    index.add(unit_id{0}, "to be or not to be");
    index.add(unit_id{1}, "the cat sat");
    index.add(unit_id{2}, "the cat sat not the dog");
    CHECK(units_of(index.search("to be or not to be", 10)) == units{0, 2});
    CHECK(index.search("the cat", 10) == index.search("cat", 10));
    CHECK(index.search("the zebra", 10).empty());  // there is another word, though nobody knows it
    // Stop words count neither in lengths nor among the keys that have words: 2 and 3 words in two keys.
    CHECK(index.counted_keys() == 2);
    CHECK(index.average_length() == 2.5);
    const std::vector<std::string> not_the{"not the"};
    CHECK(units_of(index.search({.text = "cat", .phrases = not_the}, 10)) == units{2});  // but they have positions
}

TEST_CASE("options and weights that make no sense are refused with their values") {
    const auto made = [](float k1, float b) {
        return code_of([&] { bm25_index(toy::whitespace(), {.k1 = k1, .b = b}); });
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    CHECK(made(0.0f, 0.0f) == "(no exception)");
    CHECK(made(1.2f, 1.0f) == "(no exception)");
    for (const float k1 : {-0.1f, nan, inf}) CHECK(made(k1, 0.5f) == "bm25.options");
    for (const float b : {-0.1f, 1.1f, nan}) CHECK(made(1.2f, b) == "bm25.options");
    CHECK(message_of([] { bm25_index(toy::whitespace(), {.k1 = -0.5f, .b = 0.25f}); }).find("-0.5 and 0.25") !=
          std::string::npos);

    bm25_index index(toy::whitespace());
    for (const float weight : {0.0f, -1.0f, nan, inf, 2e6f, 1e-7f}) {
        const weighted_text fields[] = {{"good", 1.0f}, {"bad", weight}};
        CHECK(code_of([&] { index.add(unit_id{0}, fields); }) == "bm25.weight");
    }
    CHECK(index.size() == 0);
    CHECK(index.search("good", 1).empty());
}

TEST_CASE("weights at their limits give finite scores above zero") {
    for (const bool bytes : {false, true}) {
        bm25_index index(toy::whitespace(), {.lucene_lengths = bytes});
        std::string long_text;
        for (int i = 0; i < 5000; ++i) long_text += "word ";
        const weighted_text heavy[] = {{long_text, 1e6f}}, light[] = {{"word", 1e-6f}};
        index.add(unit_id{0}, heavy);  // 5e9 words: more than 32 bits count
        index.add(unit_id{1}, light);
        const auto found = index.search("word", 10);
        REQUIRE(found.size() == 2);
        CHECK(found[0].unit == unit_id{0});
        CHECK(found[0].score < 1.0f);
        CHECK(found[1].score > 0.0f);
    }
}

TEST_CASE("an analyzer that throws at any token leaves the index as it was") {
    int left = 0;
    const analyzer fragile("fragile", [&left](std::string_view text, token_sink sink) {
        toy::whitespace()(text, [&](const token& t) {
            if (left-- == 0) throw std::runtime_error("the analyzer gave up");
            sink(t);
        });
    });
    const auto tokens = [&](int n) { left = n; };
    tokens(1000);
    bm25_index index(fragile);
    index.add(unit_id{0}, "alpha beta");
    index.add(unit_id{1}, "beta gamma gamma");
    const auto before = index.search("alpha beta gamma", 10);
    const weighted_text fields[] = {{"beta delta", 1.0f}, {"delta gamma epsilon", 2.0f}};
    for (int n = 0; n < 5; ++n) {
        for (const bool replacing : {false, true}) {
            tokens(n);
            CHECK_THROWS_AS(replacing ? index.replace(unit_id{1}, fields) : index.add(unit_id{1}, fields),
                            std::runtime_error);
            tokens(1000);
            CHECK(index.size() == 2);
            CHECK(index.most_keys_of_a_unit() == 1);
            CHECK(index.average_length() == 2.5);
            CHECK(index.document_frequency("delta") == 0);
            CHECK(index.search("alpha beta gamma", 10) == before);
        }
    }
    tokens(5);
    CHECK(index.add(unit_id{1}, fields) == key_id{2});
}

TEST_CASE("the bound is never exceeded, and is met by the best text of a one-word question") {
    std::mt19937 random(10);
    bm25_index index(toy::whitespace());
    for (std::size_t i = 0; i < 150; ++i) index.add(unit_at(i % 60), joined(random_words(random, 10, 12)));
    for (int step = 0; step < 60; ++step) {
        index.remove(unit_at(random() % 60));  // the bound follows removals too
        const auto question = random_words(random, 5, 14);
        const auto found = index.search(joined(question), 1);
        const score_bounds bounds = index.bounds({joined(question)});
        CHECK(bounds.low == 0.0f);
        if (found.empty())
            CHECK(bounds.high == 0.0f);
        else
            CHECK(bounds.high >= found.front().score);
        const auto one = index.search("w1", 1);
        CHECK(index.bounds({"w1"}).high == (one.empty() ? 0.0f : one.front().score));
    }
    CHECK(index.bounds({"zebra"}).high == 0.0f);
    CHECK(index.bounds({"zebra w2"}).high == index.bounds({"w2"}).high);
}

TEST_CASE("scoring given units gives each what searching finds for it") {
    std::mt19937 random(11);
    bm25_index index(toy::whitespace());
    for (std::size_t i = 0; i < 150; ++i) index.add(unit_at(random() % 60), joined(random_words(random, 10, 8)));
    for (int step = 0; step < 40; ++step) {
        const std::string text = joined(random_words(random, 5, 9));
        const std::vector<std::string> required{"w" + std::to_string(random() % 3)}, none;
        const lexical_probe probe{.text = text, .required = step % 2 == 0 ? none : required};
        std::map<unit_id, scored_key> best;
        for (const scored_key& k : index.search(probe, 1000)) best.try_emplace(k.unit, k);
        std::vector<unit_id> asked;
        for (std::uint32_t unit = 0; unit < 70; ++unit) asked.push_back(unit_id{unit});
        std::ranges::shuffle(asked, random);
        const auto scores = index.score(probe, asked);
        REQUIRE(scores.size() == asked.size());
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const auto found = best.find(asked[i]);
            CHECK(scores[i] == (found == best.end() ? scored_key{asked[i], no_key, 0.0f} : found->second));
        }
    }
}

TEST_CASE("asking for nothing gives nothing, and for more than there is gives all there is") {
    const bm25_index index = four(lucene);
    CHECK(index.search("the", 0).empty());
    CHECK(index.search("the", SIZE_MAX).size() == 3);
    CHECK(bm25_index().search("the", 10).empty());
    CHECK(bm25_index().size() == 0);
    CHECK(bm25_index().most_keys_of_a_unit() == 0);
    CHECK(bm25_index().score({"the"}, {}).empty());
}

TEST_CASE("an index tells what it holds in memory: postings, positions, words") {
    const auto filled = [](bool positions) {
        bm25_index index(toy::whitespace(), {.positions = positions});
        for (std::size_t i = 0; i < 500; ++i) index.add(unit_at(i), "a b c d e f g h");
        return index.memory();
    };
    CHECK(bm25_index(toy::whitespace()).memory() < 1000);
    CHECK(filled(false) >= 500 * 8 * 10);
    CHECK(filled(true) >= filled(false) + 500 * 8 * 4);
    CHECK(filled(true) < 500 * 8 * 100);
}

TEST_CASE("the English analyzer is the default, and the index remembers which it was") {
    bm25_index index;
    CHECK(index.words().fingerprint() == english().fingerprint());
    index.add(unit_id{0}, "Resetting the passwords");
    CHECK(index.search("password reset", 1).size() == 1);
    CHECK(index.options().k1 == 0.9f);
}
