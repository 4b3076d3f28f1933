// German: a light stemmer, stop words, and how any language is added.
//
// Light: endings of declension and umlauts go, compounds and derivations stay. Häuser, Häusern and Hauses become haus;
// Häuschen does not.
//
// A language is one file like this one: a name with a version, a list of words that carry nothing, a stemmer, and
// nothing else (see `language` in analyzer.hpp). What the stemmer is given is caseless, so that ß is ss already.
//
// Source  Savoy, Light stemming approaches for the French, Portuguese, German and Hungarian languages, 2006.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "analyzer.hpp"

namespace QUARRY_NAMESPACE {

/// Stems `word` in place. Requires  caseless. Cost  one pass.
void german_light_stem(std::string& word);

/// Words without case, German stop words marked, lightly stemmed.
analyzer german(english_options options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline bool is_german_stop_word(std::string_view term) noexcept {
    // Articles, pronouns, prepositions, conjunctions, auxiliaries and particles, in the order of their bytes.
    static constexpr std::array<std::string_view, 140> words = {
        "aber",   "als",    "also",   "am",       "an",    "auch",  "auf",    "aus",    "bei",    "beim",   "bin",
        "bis",    "bist",   "da",     "dann",     "das",   "dass",  "dein",   "deine",  "dem",    "den",    "denn",
        "der",    "des",    "dich",   "die",      "dies",  "diese", "diesem", "diesen", "dieser", "dieses", "dir",
        "doch",   "du",     "durch",  "ein",      "eine",  "einem", "einen",  "einer",  "eines",  "er",     "es",
        "euch",   "euer",   "eure",   "für",      "gegen", "hab",   "habe",   "haben",  "hat",    "hatte",  "hatten",
        "hier",   "hin",    "ich",    "ihm",      "ihn",   "ihnen", "ihr",    "ihre",   "ihrem",  "ihren",  "ihrer",
        "ihres",  "im",     "in",     "ins",      "ist",   "ja",    "jede",   "jeder",  "jedes",  "kann",   "kein",
        "keine",  "keinen", "können", "man",      "mein",  "meine", "mich",   "mir",    "mit",    "muss",   "nach",
        "nicht",  "noch",   "nun",    "nur",      "ob",    "oder",  "ohne",   "sehr",   "sein",   "seine",  "seinem",
        "seinen", "seiner", "sich",   "sie",      "sind",  "so",    "soll",   "sowie",  "um",     "und",    "uns",
        "unser",  "unsere", "unter",  "vom",      "von",   "vor",   "war",    "waren",  "warum",  "was",    "weil",
        "wenn",   "wer",    "werden", "wie",      "will",  "wir",   "wird",   "wo",     "wurde",  "wurden", "zu",
        "zum",    "zur",    "zwar",   "zwischen", "über",  "überm", "übern",  "übers"};
    return std::ranges::binary_search(words, term);
}

}  // namespace detail

inline void german_light_stem(std::string& word) {
    // Marks go first: what is left is ASCII where it matters, and lengths are in letters.
    std::string plain;
    for (std::size_t at = 0; at < word.size();) {
        const code_point c = decode(std::string_view(word).substr(at));
        at += c.length;
        if (c.value >= 0xE0 && c.value <= 0xE4)
            plain += 'a';
        else if (c.value >= 0xEC && c.value <= 0xEF)
            plain += 'i';
        else if (c.value >= 0xF2 && c.value <= 0xF6)
            plain += 'o';
        else if (c.value >= 0xF9 && c.value <= 0xFC)
            plain += 'u';
        else
            encode(c.value, plain);
    }
    word = std::move(plain);
    const auto ends = [&](std::string_view with, std::size_t longer_than) {
        return word.size() > longer_than && word.ends_with(with);
    };
    const auto shorten = [&](std::size_t by) { word.resize(word.size() - by); };
    // The letter before a final s or st, if that may be an ending.
    const auto takes_ending = [&](std::size_t back) {
        return std::string_view("bdfghklmnt").find(word[word.size() - 1 - back]) != std::string_view::npos;
    };
    if (ends("ern", 5))
        shorten(3);
    else if (ends("em", 4) || ends("en", 4) || ends("er", 4) || ends("es", 4))
        shorten(2);
    else if (ends("e", 3))
        shorten(1);
    else if (ends("s", 3) && takes_ending(1))
        shorten(1);

    if (ends("est", 5))
        shorten(3);
    else if (ends("er", 4) || ends("en", 4))
        shorten(2);
    else if (ends("st", 4) && takes_ending(2))
        shorten(2);
}

inline analyzer german(english_options options) {
    return words_of({"german-1", detail::is_german_stop_word, german_light_stem, nullptr}, options);
}

}  // namespace QUARRY_NAMESPACE
