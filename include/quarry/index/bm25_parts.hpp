// BM25 over several indexes as if they were one: what a library that changes searches.
//
// Document frequencies, lengths and numbers of keys are those of all parts together, without the units that are no
// longer alive; so scores are those of one index that was filled with what is alive. Dead keys are counted out where
// they are met: a question pays one look at a bit for each posting of its words, and a change pays nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/ids.hpp"
#include "../core/key_index.hpp"
#include "../core/scale.hpp"
#include "../core/unit_set.hpp"
#include "../detail/text.hpp"
#include "../math/top_k.hpp"
#include "../text/analyzer.hpp"
#include "../text/one_edit.hpp"
#include "bm25_index.hpp"

namespace QUARRY_NAMESPACE {

/// Never changes. The parts have one analyzer and one set of options, and no unit is in two of them.
class bm25_parts {
   public:
    using scale = bm25_scale;

    struct part {
        std::shared_ptr<const bm25_index> index;
        bool all_alive = true;  // none of its units is missing from `alive`
    };
    /// Over the keys that are alive.
    struct totals {
        std::size_t keys = 0, counted = 0;
        double length = 0.0;
    };

    /// `alive`: null if every unit is. Keys are numbered on from part to part, in the order of the parts.
    bm25_parts(analyzer words, bm25_options options, std::vector<part> parts, std::shared_ptr<const unit_set> alive,
               totals all);

    std::size_t size() const noexcept { return totals_.keys; }
    std::size_t most_keys_of_a_unit() const noexcept { return most_keys_; }

    /// As bm25_index has them, with the same answers.
    std::vector<scored_key> search(const lexical_probe& probe, std::size_t n, accept allowed = {}) const;
    std::vector<scored_key> search(std::string_view text, std::size_t n, accept allowed = {}) const {
        return search(lexical_probe{text}, n, allowed);
    }
    std::vector<scored_key> score(const lexical_probe& probe, std::span<const unit_id> units) const;
    score_bounds bounds(const lexical_probe& probe) const;
    std::vector<taken_word> unknown_words(const lexical_probe& probe) const;

    const analyzer& words() const noexcept { return analyzer_; }
    const bm25_options& options() const noexcept { return options_; }
    std::size_t counted_keys() const noexcept { return totals_.counted; }
    double average_length() const noexcept {
        return totals_.counted == 0 ? 0.0 : totals_.length / static_cast<double>(totals_.counted);
    }
    std::size_t document_frequency(std::string_view term) const;

   private:
    using term_data = bm25_index::term_data;
    struct asked_term {
        std::vector<const term_data*> in_parts;  // null where a part does not have it
        float times = 0.0f;
        double weight = 0.0;  // times and idf
    };

    detail::bm25_saturation saturation() const noexcept {
        return {static_cast<double>(options_.k1), static_cast<double>(options_.b), average_length()};
    }
    bool is_alive(const part& p, std::uint32_t key) const noexcept {
        return p.all_alive || alive_->contains(p.index->keys_[key].unit);
    }
    std::size_t frequency_in(const part& p, const term_data& t) const noexcept;
    std::string nearest(std::string_view term) const;
    std::vector<asked_term> asked(std::string_view text) const;

    analyzer analyzer_;
    bm25_options options_;
    std::vector<part> parts_;
    std::vector<std::uint32_t> first_key_;
    std::shared_ptr<const unit_set> alive_;
    totals totals_;
    std::size_t most_keys_ = 0;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline bm25_parts::bm25_parts(analyzer words, bm25_options options, std::vector<part> parts,
                              std::shared_ptr<const unit_set> alive, totals all)
    : analyzer_(std::move(words)), options_(options), parts_(std::move(parts)), alive_(std::move(alive)), totals_(all) {
    std::size_t next = 0;
    for (part& p : parts_) {
        p.all_alive = p.all_alive || !alive_;
        first_key_.push_back(static_cast<std::uint32_t>(next));
        next += p.index->keys_.size();
        most_keys_ = (std::max)(most_keys_, p.index->most_keys_of_a_unit());
    }
}

inline std::size_t bm25_parts::frequency_in(const part& p, const term_data& t) const noexcept {
    if (p.all_alive) return t.postings.size();
    return static_cast<std::size_t>(
        std::ranges::count_if(t.postings, [&](const auto& posting) { return is_alive(p, posting.key); }));
}

inline std::size_t bm25_parts::document_frequency(std::string_view term) const {
    std::size_t df = 0;
    for (const part& p : parts_)
        if (const auto found = p.index->term_numbers_.find(term); found != p.index->term_numbers_.end())
            df += frequency_in(p, p.index->terms_[found->second]);
    return df;
}

// What an unknown term is taken for, or nothing; by the rules of bm25_index::nearest.
inline std::string bm25_parts::nearest(std::string_view term) const {
    if (!bm25_index::may_be_taken(term)) return {};
    std::map<std::string_view, std::size_t> candidates;
    for (const part& p : parts_)
        for (const auto& [other, number] : p.index->term_numbers_)
            if (bm25_index::may_be_near(term, other) && one_edit_apart(term, other))
                candidates[other] += frequency_in(p, p.index->terms_[number]);
    std::string_view best;
    std::size_t most = 0;
    for (const auto& [other, keys] : candidates)
        if (keys > most && !bm25_index::is_stop_word(analyzer_, other)) best = other, most = keys;
    return std::string(best);
}

inline std::vector<taken_word> bm25_parts::unknown_words(const lexical_probe& probe) const {
    std::vector<taken_word> out;
    analyzer_.question(probe.text, [&](const token& t) {
        if (t.stop || document_frequency(t.term) != 0) return;
        out.push_back({std::string(t.term), options_.one_edit ? nearest(t.term) : std::string()});
    });
    return out;
}

// As bm25_index::asked, by the words themselves, since each part numbers them in its own way.
inline std::vector<bm25_parts::asked_term> bm25_parts::asked(std::string_view text) const {
    struct word {
        std::string term;
        float times;
    };
    std::vector<word> content, stop;
    std::unordered_map<std::string, std::size_t> place[2];
    bool any_content = false;
    analyzer_.question(text, [&](const token& t) {
        any_content = any_content || !t.stop;
        std::string term(t.term);
        if (document_frequency(term) == 0) {
            term = options_.one_edit && !t.stop ? nearest(term) : std::string();
            if (term.empty()) return;
        }
        auto& list = t.stop ? stop : content;
        const auto [at, fresh] = place[t.stop ? 1 : 0].try_emplace(term, list.size());
        if (fresh)
            list.push_back({std::move(term), t.weight});
        else
            list[at->second].times += t.weight;
    });
    std::vector<asked_term> out;
    for (const word& w : any_content ? content : stop) {
        asked_term a;
        a.times = w.times;
        std::size_t df = 0;
        for (const part& p : parts_) {
            const auto found = p.index->term_numbers_.find(w.term);
            a.in_parts.push_back(found == p.index->term_numbers_.end() ? nullptr : &p.index->terms_[found->second]);
            if (a.in_parts.back()) df += frequency_in(p, *a.in_parts.back());
        }
        a.weight = static_cast<double>(a.times) * bm25_index::idf(totals_.counted, df);
        out.push_back(std::move(a));
    }
    return out;
}

inline std::vector<scored_key> bm25_parts::search(const lexical_probe& probe, std::size_t n, accept allowed) const {
    detail::require_evaluated(allowed);
    const auto terms = asked(probe.text);
    const auto saturated = saturation();
    top_k<scored_key, detail::better_key> best(n);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const part& p = parts_[i];
        const auto wanted = p.index->conditions_of(probe);
        if (n == 0) continue;
        std::vector<detail::bm25_list> lists;
        for (const asked_term& a : terms)
            if (const term_data* t = a.in_parts[i])
                lists.push_back(
                    {t->postings, &t->codes, a.weight, a.weight * (t->best_known ? t->best.most(saturated) : 1.0)});
        const auto length_of = [&](std::uint32_t key) { return p.index->lengths_[key]; };
        const auto admits = [&](std::uint32_t key) {
            return is_alive(p, key) && (!allowed.units || allowed.contains(p.index->keys_[key].unit)) &&
                   p.index->meets(wanted, key);
        };
        const auto make = [&](std::uint32_t key, float score) {
            return scored_key{p.index->keys_[key].unit, key_id{first_key_[i] + key}, score};
        };
        detail::bm25_walk(lists, saturated, p.index->coded_, length_of, admits, make).run(n, best);
    }
    return best.take();
}

inline std::vector<scored_key> bm25_parts::score(const lexical_probe& probe, std::span<const unit_id> units) const {
    const auto terms = asked(probe.text);
    const auto saturated = saturation();
    std::vector<scored_key> out;
    for (const unit_id unit : units) out.push_back({unit, no_key, 0.0f});
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const part& p = parts_[i];
        const auto wanted = p.index->conditions_of(probe);
        for (scored_key& best : out) {
            const auto own = p.index->keys_of_.find(best.unit);
            if (own == p.index->keys_of_.end()) continue;
            for (const std::uint32_t key : own->second) {
                if (!is_alive(p, key)) continue;
                double sum = 0.0;
                for (const asked_term& a : terms)
                    if (const auto* posting = a.in_parts[i] ? p.index->find(*a.in_parts[i], key) : nullptr)
                        sum += a.weight * p.index->saturated(saturated, *posting);
                const scored_key candidate{best.unit, key_id{first_key_[i] + key}, static_cast<float>(sum)};
                if (sum > 0.0 && p.index->meets(wanted, key) && (best.key == no_key || better(candidate, best)))
                    best = candidate;
            }
        }
    }
    return out;
}

inline score_bounds bm25_parts::bounds(const lexical_probe& probe) const {
    double high = 0.0;
    const auto saturated = saturation();
    for (const asked_term& a : asked(probe.text)) {
        double most = 0.0;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const part& p = parts_[i];
            if (!a.in_parts[i]) continue;
            if (p.all_alive) {
                most = (std::max)(most, p.index->most_saturated(*a.in_parts[i], saturated));
                continue;
            }
            for (const auto& posting : a.in_parts[i]->postings)
                if (is_alive(p, posting.key))
                    most = (std::max)(most, p.index->saturated(saturated, posting));
        }
        high += a.weight * most;
    }
    return {0.0f, static_cast<float>(high)};
}

}  // namespace QUARRY_NAMESPACE
