// The Porter stemmer for English: relational and relate become relat.
//
// Not the later "Porter2" of Snowball, which gives other stems (generally: here gener, there general). The published
// BM25 figures rest on this one.
//
// There are two of them. The author's own program departs from his paper twice, and Lucene follows the program: -bli
// becomes -ble (not only -abli), so that possibly and possible meet, and -logi becomes -log.
//
// Source  Porter, An algorithm for suffix stripping, 1980, and the note on departures in the program of 2000.
#pragma once

#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

/// Stems `word` in place.
///
/// Requires  lower case; bytes that are no ASCII letter count as consonants.
/// Cost      a few passes over the word; no allocation.
void porter_stem(std::string& word);

/// The same by the letter of the paper, without the two departures: for figures that were made so.
void porter_1980_stem(std::string& word);

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class porter {
   public:
    porter(std::string& word, bool departs) : w_(word), departs_(departs) {}

    void run() {
        if (w_.size() <= 2) return;
        plurals();
        past_and_gerund();
        final_y();
        double_suffixes();
        single_suffixes();
        bare_suffixes();
        final_e();
        final_double_l();
    }

   private:
    bool consonant(std::size_t i) const {
        switch (w_[i]) {
            case 'a':
            case 'e':
            case 'i':
            case 'o':
            case 'u':
                return false;
            case 'y':
                return i == 0 || !consonant(i - 1);
            default:
                return true;
        }
    }

    // m in the paper: how many times vowels are followed by consonants in the first `length` letters. Goes forward and
    // carries what the last letter was: asking consonant() for every letter is quadratic in a word of y's alone.
    std::size_t measure(std::size_t length) const {
        std::size_t m = 0;
        bool vowel_before = false;
        for (std::size_t i = 0; i < length; ++i) {
            const bool vowel = w_[i] == 'y' ? i != 0 && !vowel_before : !consonant_letter(w_[i]);
            if (vowel_before && !vowel) ++m;
            vowel_before = vowel;
        }
        return m;
    }

    static bool consonant_letter(char c) { return c != 'a' && c != 'e' && c != 'i' && c != 'o' && c != 'u'; }

    bool has_vowel(std::size_t length) const {
        for (std::size_t i = 0; i < length; ++i)
            if (!consonant_letter(w_[i]) || (w_[i] == 'y' && i != 0))
                return true;  // a y after another y has a vowel before
        return false;
    }

    bool double_consonant() const {
        const std::size_t n = w_.size();
        return n >= 2 && w_[n - 1] == w_[n - 2] && consonant(n - 1) && static_cast<unsigned char>(w_[n - 1]) < 0x80;
    }

    // consonant, vowel, consonant at the end of the first `length` letters, the last not w, x or y: -wil-, -hop-.
    bool short_end(std::size_t length) const {
        if (length < 3 || !consonant(length - 1) || consonant(length - 2) || !consonant(length - 3)) return false;
        const char last = w_[length - 1];
        return last != 'w' && last != 'x' && last != 'y';
    }

    bool ends(std::string_view suffix) const { return w_.ends_with(suffix); }
    std::size_t stem(std::string_view suffix) const { return w_.size() - suffix.size(); }

    void set(std::string_view suffix, std::string_view by) { w_.replace(stem(suffix), suffix.size(), by); }

    // The rule for a suffix is used up once the suffix matches, whether or not the measure lets it act.
    bool replace_if_measured(std::string_view suffix, std::string_view by) {
        if (!ends(suffix)) return false;
        if (measure(stem(suffix)) > 0) set(suffix, by);
        return true;
    }

    void plurals() {  // 1a
        if (ends("sses"))
            set("sses", "ss");
        else if (ends("ies"))
            set("ies", "i");
        else if (ends("s") && !ends("ss"))
            set("s", "");
    }

    void past_and_gerund() {  // 1b
        if (ends("eed")) {
            if (measure(stem("eed")) > 0) set("eed", "ee");
            return;
        }
        const std::string_view suffix = ends("ed") ? "ed" : ends("ing") ? "ing" : "";
        if (suffix.empty() || !has_vowel(stem(suffix))) return;
        set(suffix, "");
        if (ends("at"))
            set("at", "ate");
        else if (ends("bl"))
            set("bl", "ble");
        else if (ends("iz"))
            set("iz", "ize");
        else if (double_consonant() && !ends("l") && !ends("s") && !ends("z"))
            w_.pop_back();
        else if (measure(w_.size()) == 1 && short_end(w_.size()))
            w_ += 'e';
    }

    void final_y() {  // 1c
        if (ends("y") && has_vowel(w_.size() - 1)) w_.back() = 'i';
    }

    struct rule {
        std::string_view suffix, by;
    };

    void double_suffixes() {  // 2
        static constexpr rule rules[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
                                         {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
                                         {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
                                         {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
                                         {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
                                         {"logi", "log"}};
        if (!departs_ && ((ends("bli") && !ends("abli")) || ends("logi"))) return;
        for (const rule& r : rules)
            if (replace_if_measured(r.suffix, r.by)) return;
    }

    void single_suffixes() {  // 3
        static constexpr rule rules[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                         {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
        for (const rule& r : rules)
            if (replace_if_measured(r.suffix, r.by)) return;
    }

    void bare_suffixes() {  // 4
        static constexpr std::string_view suffixes[] = {"al",  "ance",  "ence", "er",  "ic",  "able", "ible",
                                                        "ant", "ement", "ment", "ent", "ion", "ou",   "ism",
                                                        "ate", "iti",   "ous",  "ive", "ize"};
        for (const std::string_view suffix : suffixes) {
            if (!ends(suffix)) continue;
            const std::size_t length = stem(suffix);
            if (suffix == "ion" && (length == 0 || (w_[length - 1] != 's' && w_[length - 1] != 't'))) continue;
            if (measure(length) > 1) set(suffix, "");
            return;
        }
    }

    void final_e() {  // 5a
        if (!ends("e")) return;
        const std::size_t length = w_.size() - 1, m = measure(length);
        if (m > 1 || (m == 1 && !short_end(length))) w_.pop_back();
    }

    void final_double_l() {  // 5b
        if (ends("ll") && measure(w_.size() - 1) > 1) w_.pop_back();
    }

    std::string& w_;
    bool departs_;
};

}  // namespace detail

inline void porter_stem(std::string& word) { detail::porter(word, true).run(); }
inline void porter_1980_stem(std::string& word) { detail::porter(word, false).run(); }

}  // namespace QUARRY_NAMESPACE
