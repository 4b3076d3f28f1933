// Words that are not asked, or not known: synonyms and slips of the finger in a bm25_index.
#include <string>
#include <vector>

#include "quarry/index/bm25_index.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "quarry/text/synonyms.hpp"
#include "support/catch.hpp"

using namespace quarry;

namespace {

bm25_index of(const analyzer& words, const std::vector<std::string>& texts, bm25_options options = {}) {
    bm25_index index(words, options);
    for (std::size_t i = 0; i < texts.size(); ++i) index.add(unit_at(i), texts[i]);
    return index;
}

std::vector<std::size_t> found(const bm25_index& index, std::string_view question) {
    std::vector<std::size_t> out;
    for (const scored_key& k : index.search(question, 100)) out.push_back(index_of(k.unit));
    return out;
}

using units = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a synonym finds its texts behind those of the word that was asked, at its part of the score") {
    synonyms table;
    table.group({"car", "automobile"});
    const std::vector<std::string> texts = {"red car", "red automobile", "red house"};
    const bm25_index plain_words = of(plain(), texts), index = of(with_synonyms(plain(), table), texts);
    CHECK(found(plain_words, "car") == units{0});
    CHECK(found(index, "car") == units{0, 1});
    CHECK(found(index, "automobile") == units{1, 0});
    // Both words stand in one text of two words, so both contributions are the same but for the weight of one half.
    const auto hits = index.search("car", 2);
    CHECK(hits[0].score == plain_words.search("car", 1)[0].score);
    CHECK(hits[1].score == Approx(hits[0].score / 2));
    CHECK(found(index, "house") == units{2});
}

TEST_CASE("texts are indexed as if there were no synonyms") {
    synonyms table;
    table.group({"car", "automobile"});
    const bm25_index index = of(with_synonyms(plain(), table), {"red car"});
    CHECK(index.document_frequency("car") == 1);
    CHECK(index.document_frequency("automobile") == 0);
    CHECK(index.average_length() == 2.0);
    CHECK(index.words().fingerprint() == plain().fingerprint());
}

TEST_CASE("a word that no text has is taken for the commonest one that is a slip away, if that is asked for") {
    const std::vector<std::string> texts = {"reset the password", "password rules", "passwort auf deutsch", "other"};
    CHECK(found(of(plain(), texts), "pasword").empty());
    const bm25_index index = of(plain(), texts, {.one_edit = true});
    CHECK(found(index, "pasword") == found(index, "password"));
    CHECK(found(index, "passwrod") == found(index, "password"));
    CHECK(found(index, "passwort") == units{2});                 // a known word is not corrected
    CHECK(found(index, "passwor") == found(index, "password"));  // in two texts, passwort in one
    CHECK(found(index, "pswd").empty());
    const auto words = index.unknown_words({"pasword othr zzzzzz rules"});
    REQUIRE(words.size() == 3);
    CHECK(words[0].asked == "pasword");
    CHECK(words[0].taken_for == "password");
    CHECK(words[1].taken_for == "other");
    CHECK(words[2].asked == "zzzzzz");
    CHECK(words[2].taken_for.empty());
    CHECK(index.bounds({"pasword"}).high == index.bounds({"password"}).high);
    const unit_id all[] = {unit_at(0), unit_at(1), unit_at(2), unit_at(3)};
    CHECK(index.score({"pasword"}, all) == index.score({"password"}, all));
}

TEST_CASE("of words that are equally common the first by its bytes is taken, and removed texts have no say") {
    bm25_index index = of(plain(), {"bound", "sound", "sound"}, {.one_edit = true});
    CHECK(index.unknown_words({"found"})[0].taken_for == "sound");
    index.remove(unit_at(2));
    CHECK(index.unknown_words({"found"})[0].taken_for == "bound");
    index.remove(unit_at(0));
    CHECK(index.unknown_words({"found"})[0].taken_for == "sound");
}

TEST_CASE("numbers, short words and stop words are never corrected") {
    const bm25_index index = of(code(), {"error TS-999 raised", "then cat there", "four"}, {.one_edit = true});
    CHECK(found(index, "TS-998") == found(index, "ts"));  // by its part ts, not by a neighbouring number
    CHECK(found(index, "car").empty());
    CHECK(found(index, "theer").empty());  // one slip from there, which is a stop word
    CHECK(found(index, "fuor") == units{2});
}

TEST_CASE("a long question is read in time that grows with it and not faster") {
    // Ten thousand different words, all known.
    std::string text;
    for (int i = 0; i < 10000; ++i) text += "w" + std::to_string(i) + ' ';
    const bm25_index index = of(plain(), {text});
    CHECK(found(index, text + text) == units{0});
}
