// BM25: words against an inverted index.
//
// Lucene's form: idf = ln(1 + (N - df + .5) / (df + .5)), never negative, times tf / (tf + k1 (1 - b + b dl / avgdl)),
// without the factor k1 + 1. Lengths are exact; Lucene's one-byte lengths are an option for reproducing its figures.
//
// Fields have weights: a text of weight w counts as if it were written w times, in frequencies and in lengths. Stop
// words are indexed and not counted: a question of stop words alone still finds its text, any other question ignores
// them. N and avgdl are over the keys that have words, so empty texts change nothing.
//
// Source  Robertson and Zaragoza, 2009; Lucene's BM25Similarity (since 8.0) for the form.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/ids.hpp"
#include "../core/key.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../detail/saved.hpp"
#include "../detail/text.hpp"
#include "../math/top_k.hpp"
#include "../text/analyzer.hpp"
#include "../text/one_edit.hpp"
#include "bm25_postings.hpp"
#include "bm25_walk.hpp"

namespace QUARRY_NAMESPACE {

struct bm25_options {
    float k1 = 0.9f;              // saturation of repeated words, at least 0; Lucene's default is 1.2
    float b = 0.4f;               // how much long texts are held back, in [0, 1]; Lucene's default is .75
    bool lucene_lengths = false;  // lengths in one byte, as Lucene keeps them: exact to 40 words, then cut
    bool positions = true;        // needed for phrases; 4 bytes a word
    bool one_edit = false;        // a word that no text has is taken for the commonest one a slip of the finger away
};

/// A word of a question that no text has, as the analyzer gives it, and what it was taken for; empty if nothing is near.
struct taken_word {
    std::string asked, taken_for;
};

class bm25_parts;

/// Changing it needs exclusive access; const calls may overlap.
///
/// Memory  10 bytes a posting, of words that a 16th of the keys has 8 and 2 a key; with positions 4 more a posting and 4
///         a position; 4 a distinct word of a key, about 190 a distinct word of the index.
/// Errors  usage_error `bm25.options`, `bm25.weight`, `bm25.no_positions` (a phrase, without positions). A call that
///         throws has changed nothing.
class bm25_index {
   public:
    using scale = bm25_scale;

    explicit bm25_index(analyzer words = english(), bm25_options options = {});

    /// Adds a key for `unit`. Keys are numbered from 0 in the order of adding, and no number is given twice.
    ///
    /// Requires  weights from 1e-6 to 1e6.
    key_id add(unit_id unit, std::span<const weighted_text> fields);
    key_id add(unit_id unit, std::string_view text) {
        const weighted_text field[] = {{std::string(text), 1.0f}};
        return add(unit, field);
    }

    /// Forgets every key of `unit`; says how many there were. The statistics are those of an index that never had them.
    ///
    /// Cost  one step per posting of the words that go; other texts' postings of the same words move up.
    std::size_t remove(unit_id unit);

    /// Removes and adds: all keys of `unit` give way to this one.
    key_id replace(unit_id unit, std::span<const weighted_text> fields) {
        const key_id fresh = add(unit, fields);
        forget(unit, fresh);
        return fresh;
    }

    std::size_t size() const noexcept { return size_; }
    std::size_t most_keys_of_a_unit() const noexcept { return most_keys_; }

    /// The n best keys among those that share a word with the probe. Score above 0 always.
    ///
    /// A word that is asked twice counts twice. Scores are summed in double in the order of the question's words.
    /// Cost    at most a step per posting of the asked words, or a byte per key for words that a 16th of the keys has; of
    ///         words too common to decide, a look-up for each key that the others leave in doubt. Without frequent words no
    ///         step per key of the index.
    std::vector<scored_key> search(const lexical_probe& probe, std::size_t n, accept allowed = {}) const;
    std::vector<scored_key> search(std::string_view text, std::size_t n, accept allowed = {}) const {
        return search(lexical_probe{text}, n, allowed);
    }

    /// The best key of each unit; `no_key` and score 0 where no word meets.
    std::vector<scored_key> score(const lexical_probe& probe, std::span<const unit_id> units) const;

    /// From 0 to the sum of the largest contributions that the asked words make to any key. Unknown words count nothing.
    score_bounds bounds(const lexical_probe& probe) const;

    /// The words of the probe that no text has, with what `one_edit` makes of them: a word of at least four letters and
    /// no digit is taken for the one that is an edit away and occurs in most keys, of equals for the first by its bytes.
    ///
    /// Cost  one look at every word of the index per unknown word.
    std::vector<taken_word> unknown_words(const lexical_probe& probe) const;

    const analyzer& words() const noexcept { return analyzer_; }
    const bm25_options& options() const noexcept { return options_; }

    /// Keys that have words, and their mean length in (weighted) words. Stop words are not counted.
    std::size_t counted_keys() const noexcept { return counted_; }
    double average_length() const noexcept {
        return counted_ == 0 ? 0.0 : total_length_ / static_cast<double>(counted_);
    }
    /// In how many keys the term, as the analyzer gives it, occurs.
    std::size_t document_frequency(std::string_view term) const {
        const auto found = term_numbers_.find(term);
        return found == term_numbers_.end() ? 0 : terms_[found->second].postings.size();
    }

    std::size_t memory() const noexcept;

   private:
    friend struct detail::saved<bm25_index>;
    friend struct detail::merger<bm25_index>;
    friend class bm25_parts;

    using posting = detail::bm25_posting;
    struct term_data {
        std::vector<posting> postings;  // by key, ascending
        detail::bm25_codes codes;       // of their saturations, made with coded_
        // Where each posting's positions begin; the next one's are the end. Both empty without positions.
        std::vector<std::uint32_t> first_positions, positions;
        detail::bm25_best_postings best;
        bool best_known = true;  // not after a removal
    };
    struct key_data {
        unit_id unit;
        double exact_length = 0.0;         // weighted
        std::vector<std::uint32_t> terms;  // numbers, ascending: what to take out again
        bool alive = false;
    };
    // A word of a question: which term, and how often it was asked (a synonym's weight is part of a time).
    struct asked_term {
        std::uint32_t term;
        float times;
    };
    // A word that a key has at one place: where it stands among the key's words, and how much it counts.
    struct occurrence {
        std::size_t begin, length;
        std::uint32_t position;
        float weight;
    };
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };
    // Positions of different fields are this far apart, so that no phrase reaches across.
    static constexpr std::uint32_t field_gap = 1000;

    static float scored_length(double length, const bm25_options& options) noexcept;
    static double idf(std::size_t counted_keys, std::size_t document_frequency) noexcept {
        const auto df = static_cast<double>(document_frequency);
        const double n = (std::max)(static_cast<double>(counted_keys), df);  // stop words may occur where nothing counts
        return std::log1p((n - df + 0.5) / (df + 0.5));
    }
    double idf(const term_data& t) const noexcept { return idf(counted_, t.postings.size()); }
    detail::bm25_saturation saturation(double average_length) const noexcept {
        return {static_cast<double>(options_.k1), static_cast<double>(options_.b), average_length};
    }
    double saturated(const detail::bm25_saturation& how, const posting& p) const noexcept {
        return how(p.frequency, lengths_[p.key]);
    }
    void renew_codes() noexcept;
    void keep_codes_near() noexcept;
    double most_saturated(const term_data& t, const detail::bm25_saturation& saturated) const noexcept;
    // The words of a condition. A text with an unknown word, or without any word, can be met by no key.
    struct placed_term {
        std::uint32_t term, position;
    };
    struct word_group {
        std::vector<placed_term> terms;
        bool can_be_met = true;
    };
    // The conditions of a probe, analysed once and not for every key.
    struct conditions {
        std::vector<word_group> required, forbidden, phrases;
        bool none() const noexcept { return required.empty() && forbidden.empty() && phrases.empty(); }
    };

    const posting* find(const term_data& t, std::uint32_t key) const noexcept;
    std::span<const std::uint32_t> positions(const term_data& t, const posting& p) const noexcept;
    using numbered_term = std::pair<const std::string, std::uint32_t>;
    const numbered_term* known(std::string_view term) const noexcept;
    static bool may_be_taken(std::string_view term) noexcept;
    static bool may_be_near(std::string_view term, std::string_view other) noexcept;
    static bool is_stop_word(const analyzer& words, std::string_view term);
    const numbered_term* nearest(std::string_view term) const;
    std::vector<asked_term> asked(std::string_view text) const;
    word_group group_of(std::string_view words) const;
    conditions conditions_of(const lexical_probe& probe) const;
    bool meets(const conditions& asked, std::uint32_t key) const noexcept;
    bool has_words(const word_group& group, std::uint32_t key) const noexcept;
    bool has_phrase(const word_group& group, std::uint32_t key) const noexcept;
    std::uint32_t number_of(std::string_view term);
    // Room for so many different terms.
    void expect_terms(std::size_t count) {
        terms_.reserve(count);
        term_numbers_.reserve(count);
    }
    void count_unit(std::size_t before, std::size_t after) noexcept;
    void unlist(std::uint32_t key) noexcept;
    std::size_t forget(unit_id unit, key_id except);

    analyzer analyzer_;
    bm25_options options_;
    std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> term_numbers_;
    std::vector<term_data> terms_;
    std::vector<key_data> keys_;
    std::vector<float> lengths_;  // of the keys, as scored
    std::unordered_map<unit_id, std::vector<std::uint32_t>> keys_of_;
    std::vector<std::size_t> units_owning_;  // how many units own 0 (unused), 1, 2, ... keys: the most, without a scan
    std::size_t size_ = 0, counted_ = 0, most_keys_ = 0;
    double total_length_ = 0.0;
    detail::bm25_saturation coded_;                 // what codes are made with: near the saturation of today
    std::size_t postings_ = 0, changed_postings_ = 0;  // now; added and removed since all codes were made
};

/// A length as Lucene keeps it in a byte: itself below 40, then cut to 24 plus four leading bits.
constexpr std::uint32_t lucene_length(std::uint32_t length) noexcept {
    if (length < 24) return length;
    const std::uint32_t rest = length - 24;
    const int cut = (std::max)(static_cast<int>(std::bit_width(rest)) - 4, 0);
    return 24 + (rest >> cut << cut);
}

// ------------------------------------------------------------------------------------------------------------- detail

inline bm25_index::bm25_index(analyzer words, bm25_options options)
    : analyzer_(std::move(words)), options_(options), coded_(saturation(0.0)) {
    if (!(options.k1 >= 0.0f && options.k1 < detail::unbounded && options.b >= 0.0f && options.b <= 1.0f))
        detail::raise<usage_error>("bm25.options", detail::concat("quarry::bm25_index: k1 must be at least 0 and b in "
                                                                  "[0, 1], they are ", options.k1, " and ", options.b));
}

inline float bm25_index::scored_length(double length, const bm25_options& options) noexcept {
    constexpr double longest = UINT32_MAX;
    return static_cast<float>(
        options.lucene_lengths ? lucene_length(static_cast<std::uint32_t>((std::min)(length, longest))) : length);
}

// The number of a term, which is new if no key had it yet.
inline std::uint32_t bm25_index::number_of(std::string_view term) {
    if (const auto known = term_numbers_.find(term); known != term_numbers_.end()) return known->second;
    const auto at = term_numbers_.emplace(term, static_cast<std::uint32_t>(terms_.size())).first;
    try {
        terms_.emplace_back();
    } catch (...) {
        term_numbers_.erase(at);
        throw;
    }
    return at->second;
}

inline key_id bm25_index::add(unit_id unit, std::span<const weighted_text> fields) {
    // Analysed first: the analyzer may be a stranger's and may throw.
    std::string words;  // one behind the other
    std::vector<occurrence> found;
    double length = 0.0;
    std::uint32_t offset = 0;
    for (const weighted_text& field : fields) {
        // Weights beyond these would make frequencies infinite and scores zero.
        if (!(field.weight >= 1e-6f && field.weight <= 1e6f))
            detail::raise<usage_error>("bm25.weight", detail::concat("quarry::bm25_index: a field's weight must lie in "
                                                                     "[1e-6, 1e6], it is ", field.weight));
        std::uint32_t last = 0;
        analyzer_(field.text, [&](const token& t) {
            found.push_back({words.size(), t.term.size(), offset + t.position, field.weight});
            words += t.term;
            if (!t.stop) length += static_cast<double>(field.weight);
            last = (std::max)(last, t.position + 1);
        });
        offset += last + field_gap;
    }
    const auto word_of = [&](const occurrence& o) { return std::string_view(words).substr(o.begin, o.length); };
    std::ranges::sort(found, [&](const occurrence& a, const occurrence& b) {
        const int order = word_of(a).compare(word_of(b));
        return order != 0 ? order < 0 : a.begin < b.begin;
    });
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < found.size(); ++i) distinct += i == 0 || word_of(found[i]) != word_of(found[i - 1]);

    const auto number = static_cast<std::uint32_t>(keys_.size());
    const float scored = scored_length(length, options_);
    if (terms_.empty()) expect_terms(distinct);
    keys_.push_back({unit, length, {}, true});
    try {
        keys_.back().terms.reserve(distinct);
        lengths_.push_back(scored);
        auto& own = keys_of_[unit];
        own.push_back(number);
        for (auto first = found.begin(), last = first; first != found.end(); first = last) {
            float frequency = 0.0f;
            for (; last != found.end() && word_of(*last) == word_of(*first); ++last) frequency += last->weight;
            const std::uint32_t term = number_of(word_of(*first));
            term_data& t = terms_[term];
            keys_.back().terms.push_back(term);
            t.postings.push_back({number, frequency});
            ++postings_, ++changed_postings_;
            t.codes.add(t.postings, [&](const posting& p) { return saturated(coded_, p); });
            if (options_.positions) {
                t.first_positions.push_back(static_cast<std::uint32_t>(t.positions.size()));
                std::transform(first, last, std::back_inserter(t.positions), std::mem_fn(&occurrence::position));
            }
            t.best.add(frequency, scored);
        }
        std::ranges::sort(keys_.back().terms);
        if (units_owning_.size() <= own.size()) units_owning_.resize(own.size() + 1);
    } catch (...) {
        unlist(number);
        if (const auto own = keys_of_.find(unit); own != keys_of_.end()) {
            std::erase(own->second, number);
            if (own->second.empty()) keys_of_.erase(own);
        }
        keys_.pop_back();
        lengths_.resize(keys_.size());
        throw;
    }
    const std::size_t owned = keys_of_.find(unit)->second.size();
    count_unit(owned - 1, owned);
    ++size_;
    if (length > 0.0) {
        ++counted_;
        total_length_ += length;
    }
    keep_codes_near();
    return key_id{number};
}

// A unit that owned `before` keys owns `after` now. Requires  units_owning_ long enough for both.
inline void bm25_index::count_unit(std::size_t before, std::size_t after) noexcept {
    if (before != 0) --units_owning_[before];
    if (after != 0) ++units_owning_[after];
    most_keys_ = (std::max)(most_keys_, after);
    while (most_keys_ != 0 && units_owning_[most_keys_] == 0) --most_keys_;
}

// Takes a key's postings out of the lists, wherever they got to.
inline void bm25_index::unlist(std::uint32_t key) noexcept {
    for (const std::uint32_t number : keys_[key].terms) {
        term_data& t = terms_[number];
        const auto at = std::ranges::lower_bound(t.postings, key, {}, &posting::key);
        if (at == t.postings.end() || at->key != key) continue;
        // Less than there are postings, if a posting was added last and there was no memory for its positions.
        if (const std::ptrdiff_t i = at - t.postings.begin(); static_cast<std::size_t>(i) < t.first_positions.size()) {
            const auto first = t.first_positions.begin() + i;
            const std::uint32_t begin = *first;
            const auto end = first + 1 == t.first_positions.end() ? static_cast<std::uint32_t>(t.positions.size()) : first[1];
            t.positions.erase(t.positions.begin() + begin, t.positions.begin() + end);
            for (auto later = first + 1; later != t.first_positions.end(); ++later) *later -= end - begin;
            t.first_positions.erase(first);
        }
        t.codes.erase(t.postings, static_cast<std::size_t>(at - t.postings.begin()));
        t.postings.erase(at);
        --postings_, ++changed_postings_;
        t.best_known = false;
    }
}

inline std::size_t bm25_index::remove(unit_id unit) { return forget(unit, no_key); }

inline std::size_t bm25_index::forget(unit_id unit, key_id except) {
    const auto own = keys_of_.find(unit);
    if (own == keys_of_.end()) return 0;
    std::size_t gone = 0;
    for (const std::uint32_t key : own->second) {
        if (key_id{key} == except) continue;
        unlist(key);
        key_data& k = keys_[key];
        k.alive = false;
        k.terms = {};
        if (k.exact_length > 0.0) {
            --counted_;
            total_length_ -= k.exact_length;
        }
        --size_;
        ++gone;
    }
    std::erase_if(own->second, [&](std::uint32_t key) { return key_id{key} != except; });
    count_unit(own->second.size() + gone, own->second.size());
    if (own->second.empty()) keys_of_.erase(own);
    if (counted_ == 0) total_length_ = 0.0;
    keep_codes_near();
    return gone;
}

inline void bm25_index::renew_codes() noexcept {
    coded_ = saturation(average_length());
    changed_postings_ = 0;
    for (term_data& t : terms_)
        t.codes.renew(t.postings, [&](const posting& p) { return saturated(coded_, p); });
}

// Codes bound scores the better the nearer the average length is to theirs. Making them again waits for an eighth of the
// postings to change, so that it costs each posting that changes a few steps.
inline void bm25_index::keep_codes_near() noexcept {
    constexpr double limit = 1.0 / 64.0;
    if (changed_postings_ < postings_ / 8) return;
    const auto change = saturation(average_length()).since(coded_);
    if (change.most > 1.0 + limit || change.least < 1.0 - limit) renew_codes();
}

inline const bm25_index::posting* bm25_index::find(const term_data& t, std::uint32_t key) const noexcept {
    const auto at = std::ranges::lower_bound(t.postings, key, {}, &posting::key);
    return at != t.postings.end() && at->key == key ? &*at : nullptr;
}

// The term if some key has it, or null.
inline const bm25_index::numbered_term* bm25_index::known(std::string_view term) const noexcept {
    const auto found = term_numbers_.find(term);
    return found == term_numbers_.end() || terms_[found->second].postings.empty() ? nullptr : &*found;
}

// Numbers are no words: TS-998 is not TS-999.
inline bool bm25_index::may_be_taken(std::string_view term) noexcept {
    std::size_t letters = 0;
    for (const char c : term) {
        if (c >= '0' && c <= '9') return false;
        letters += (static_cast<std::uint8_t>(c) & 0xC0) != 0x80;
    }
    return letters >= 4;
}

inline bool bm25_index::may_be_near(std::string_view term, std::string_view other) noexcept {
    constexpr std::size_t longest_letter = 4;
    return other.size() <= term.size() + longest_letter && term.size() <= other.size() + longest_letter;
}

inline bool bm25_index::is_stop_word(const analyzer& words, std::string_view term) {
    bool stop = false;
    words(term, [&](const token& t) { stop = stop || t.stop; });
    return stop;
}

// What an unknown term is taken for, or null.
inline const bm25_index::numbered_term* bm25_index::nearest(std::string_view term) const {
    if (!may_be_taken(term)) return nullptr;
    const numbered_term* best = nullptr;
    std::size_t most = 0;
    for (const numbered_term& candidate : term_numbers_) {
        const auto& [other, number] = candidate;
        const std::size_t keys = terms_[number].postings.size();
        if (!may_be_near(term, other)) continue;
        if (keys == 0 || keys < most || (keys == most && best->first < other) || !one_edit_apart(term, other)) continue;
        if (!is_stop_word(analyzer_, other)) best = &candidate, most = keys;
    }
    return best;
}

inline std::vector<taken_word> bm25_index::unknown_words(const lexical_probe& probe) const {
    std::vector<taken_word> out;
    analyzer_.question(probe.text, [&](const token& t) {
        if (t.stop || known(t.term)) return;
        const numbered_term* found = options_.one_edit ? nearest(t.term) : nullptr;
        out.push_back({std::string(t.term), found ? found->first : std::string()});
    });
    return out;
}

// The question's words that occur in the index, each once, in the order of their first occurrence. Stop words only if
// there is nothing else.
inline std::vector<bm25_index::asked_term> bm25_index::asked(std::string_view text) const {
    std::vector<asked_term> content, stop;
    std::unordered_map<std::uint32_t, std::size_t> place[2];  // of a term in either list
    bool any_content = false;
    analyzer_.question(text, [&](const token& t) {
        any_content = any_content || !t.stop;
        const numbered_term* found = known(t.term);
        if (!found && options_.one_edit && !t.stop) found = nearest(t.term);
        if (!found) return;
        auto& list = t.stop ? stop : content;
        const auto [at, fresh] = place[t.stop ? 1 : 0].try_emplace(found->second, list.size());
        if (fresh) list.push_back({found->second, t.weight});
        else list[at->second].times += t.weight;
    });
    return any_content ? content : stop;
}

inline std::vector<scored_key> bm25_index::search(const lexical_probe& probe, std::size_t n, accept allowed) const {
    detail::require_evaluated(allowed);
    const conditions wanted = conditions_of(probe);
    if (n == 0) return {};
    const auto saturated = saturation(average_length());
    std::vector<detail::bm25_list> lists;
    for (const asked_term& a : asked(probe.text)) {
        const term_data& t = terms_[a.term];
        const double weight = static_cast<double>(a.times) * idf(t);
        lists.push_back({t.postings, &t.codes, weight, weight * (t.best_known ? t.best.most(saturated) : 1.0)});
    }
    top_k<scored_key, detail::better_key> best(n);
    const auto length_of = [&](std::uint32_t key) { return lengths_[key]; };
    // A key's unit is far away in memory: it is looked at where something depends on it.
    const auto admits = [&](std::uint32_t key) {
        return (!allowed.units || allowed.contains(keys_[key].unit)) && meets(wanted, key);
    };
    const auto make = [&](std::uint32_t key, float score) { return scored_key{keys_[key].unit, key_id{key}, score}; };
    detail::bm25_walk(lists, saturated, coded_, length_of, admits, make).run(n, best);
    return best.take();
}

inline std::vector<scored_key> bm25_index::score(const lexical_probe& probe, std::span<const unit_id> units) const {
    const conditions wanted = conditions_of(probe);
    const auto terms = asked(probe.text);
    const auto saturated = saturation(average_length());
    std::vector<double> weights;
    for (const asked_term& a : terms) weights.push_back(static_cast<double>(a.times) * idf(terms_[a.term]));
    std::vector<scored_key> out;
    for (const unit_id unit : units) {
        scored_key best{unit, no_key, 0.0f};
        if (const auto own = keys_of_.find(unit); own != keys_of_.end()) {
            for (const std::uint32_t key : own->second) {
                double sum = 0.0;
                for (std::size_t i = 0; i < terms.size(); ++i)
                    if (const posting* p = find(terms_[terms[i].term], key))
                        sum += weights[i] * saturated(p->frequency, lengths_[key]);
                const scored_key candidate{unit, key_id{key}, static_cast<float>(sum)};
                if (sum > 0.0 && meets(wanted, key) && (best.key == no_key || better(candidate, best)))
                    best = candidate;
            }
        }
        out.push_back(best);
    }
    return out;
}

inline score_bounds bm25_index::bounds(const lexical_probe& probe) const {
    double high = 0.0;
    const auto saturated = saturation(average_length());
    for (const asked_term& a : asked(probe.text)) {
        const term_data& t = terms_[a.term];
        high += static_cast<double>(a.times) * idf(t) * most_saturated(t, saturated);
    }
    return {0.0f, static_cast<float>(high)};
}

// The largest saturation among a term's postings.
inline double bm25_index::most_saturated(const term_data& t, const detail::bm25_saturation& saturated) const noexcept {
    if (t.best_known) return t.best.most(saturated);
    double most = 0.0;
    for (const posting& p : t.postings) most = (std::max)(most, this->saturated(saturated, p));
    return most;
}

inline bm25_index::word_group bm25_index::group_of(std::string_view words) const {
    word_group group;
    analyzer_(words, [&](const token& t) {
        const auto number = term_numbers_.find(t.term);
        if (number == term_numbers_.end()) group.can_be_met = false;
        else group.terms.push_back({number->second, t.position});
    });
    if (group.terms.empty()) group.can_be_met = false;
    return group;
}

inline bm25_index::conditions bm25_index::conditions_of(const lexical_probe& probe) const {
    if (!probe.phrases.empty() && !options_.positions)
        detail::raise<usage_error>("bm25.no_positions", "quarry::bm25_index: phrases need an index with positions");
    conditions out;
    for (const std::string& words : probe.required) out.required.push_back(group_of(words));
    for (const std::string& words : probe.forbidden) out.forbidden.push_back(group_of(words));
    for (const std::string& words : probe.phrases) out.phrases.push_back(group_of(words));
    return out;
}

inline bool bm25_index::meets(const conditions& asked, std::uint32_t key) const noexcept {
    const auto words = [&](const word_group& group) { return has_words(group, key); };
    const auto phrase = [&](const word_group& group) { return has_phrase(group, key); };
    return std::ranges::all_of(asked.required, words) && std::ranges::none_of(asked.forbidden, words) &&
           std::ranges::all_of(asked.phrases, phrase);
}

inline bool bm25_index::has_words(const word_group& group, std::uint32_t key) const noexcept {
    const auto occurs = [&](const placed_term& t) { return find(terms_[t.term], key) != nullptr; };
    return group.can_be_met && std::ranges::all_of(group.terms, occurs);
}

// Some place of the first word has every other word at its distance.
inline bool bm25_index::has_phrase(const word_group& group, std::uint32_t key) const noexcept {
    if (!has_words(group, key)) return false;
    const auto places = [&](const placed_term& t) { return positions(terms_[t.term], *find(terms_[t.term], key)); };
    const placed_term& first = group.terms.front();
    return std::ranges::any_of(places(first), [&](std::uint32_t start) {
        return std::ranges::all_of(group.terms, [&](const placed_term& t) {
            return std::ranges::binary_search(places(t), start + t.position - first.position);
        });
    });
}

inline std::span<const std::uint32_t> bm25_index::positions(const term_data& t, const posting& p) const noexcept {
    const auto i = static_cast<std::size_t>(&p - t.postings.data());
    const std::size_t begin = t.first_positions[i];
    const std::size_t end = i + 1 == t.postings.size() ? t.positions.size() : t.first_positions[i + 1];
    return std::span(t.positions).subspan(begin, end - begin);
}

inline std::size_t bm25_index::memory() const noexcept {
    std::size_t bytes = keys_.capacity() * sizeof(key_data) + lengths_.capacity() * sizeof(float) + terms_.capacity() * sizeof(term_data);
    for (const auto& [term, number] : term_numbers_) bytes += sizeof(std::string) + term.capacity() + 48;
    for (const term_data& t : terms_)
        bytes += t.postings.capacity() * sizeof(posting) + t.codes.memory() + t.best.memory() +
                 (t.first_positions.capacity() + t.positions.capacity()) * sizeof(std::uint32_t);
    for (const key_data& k : keys_) bytes += k.terms.capacity() * sizeof(std::uint32_t);
    return bytes + 100 * keys_of_.size() + units_owning_.capacity() * sizeof(std::size_t);
}

}  // namespace QUARRY_NAMESPACE
