// Synonyms: a question for one word also asks for another. Texts are indexed as they are.
//
//     synonyms table;
//     table.group({"car", "automobile"}).one_way("k8s", {"kubernetes"});
//     bm25_index words(with_synonyms(english(), table));
//
// At query time only: a table that changes needs no new index, and the analyzer's fingerprint stays what it was. A text
// that has both words gets both contributions; so added words weigh less than asked ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "analyzer.hpp"

namespace QUARRY_NAMESPACE {

/// Texts of one or several words that stand for each other. Order of adding does not matter.
class synonyms {
   public:
    /// Whoever asks for one of `texts` asks for all of them.
    synonyms& group(std::vector<std::string> texts) {
        for (const std::string& from : texts) one_way(from, texts);
        return *this;
    }

    /// Whoever asks for `from` asks for `to` as well, but not the other way round.
    synonyms& one_way(std::string from, std::vector<std::string> to) {
        entries_.push_back({std::move(from), std::move(to)});
        return *this;
    }

    struct entry {
        std::string from;
        std::vector<std::string> to;
    };
    const std::vector<entry>& entries() const noexcept { return entries_; }

   private:
    std::vector<entry> entries_;
};

struct synonym_options {
    float weight = 0.5f;  // of an added word, where an asked one has 1; in (0, 1]
};

/// `words`, whose questions also ask for synonyms. Where several texts of the table begin at the same word of a
/// question, the longest counts, and what is added is not looked up again.
///
/// Cost    of a question: its words times the words of the table's longest text.
/// Errors  usage_error `synonyms.empty` (a text without terms), `synonyms.weight`.
analyzer with_synonyms(const analyzer& words, const synonyms& table, synonym_options options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class synonym_tokenizer {
   public:
    synonym_tokenizer(analyzer words, const synonyms& table, float weight) : words_(std::move(words)), weight_(weight) {
        for (const synonyms::entry& e : table.entries()) {
            const std::vector<held> key = indexed(e.from);
            require_terms(key, e.from);
            std::vector<held>& added = table_[terms_of(key)];
            longest_ = (std::max)(longest_, key.size());
            for (const std::string& to : e.to) {
                const std::vector<held> tokens = indexed(to);
                require_terms(tokens, to);
                if (terms_of(tokens) == terms_of(key)) continue;
                for (const held& t : tokens)  // a term that two synonyms share is added once
                    if (std::ranges::find(added, t.term, &held::term) == added.end()) added.push_back(t);
            }
        }
    }

    void operator()(std::string_view text, token_sink sink) const { words_(text, sink); }

    void question(std::string_view text, token_sink sink) const {
        // What another table has added already is passed on, and not looked up.
        std::vector<held> asked;
        words_.question(text, [&](const token& t) {
            if (t.weight == 1.0f) asked.emplace_back(t);
            sink(t);
        });
        for (std::size_t i = 0; i < asked.size();) {
            const auto [length, added] = longest_match(asked, i);
            if (length == 0) {
                ++i;
                continue;
            }
            const held &first = asked[i], &last = asked[i + length - 1];
            for (const held& t : *added) sink({t.term, first.begin, last.end, first.position, t.stop, weight_});
            i += length;
        }
    }

   private:
    struct held {
        std::string term;
        std::size_t begin, end;
        std::uint32_t position;
        bool stop;

        explicit held(const token& t) : term(t.term), begin(t.begin), end(t.end), position(t.position), stop(t.stop) {}
    };

    std::vector<held> indexed(std::string_view text) const {
        std::vector<held> out;
        words_(text, [&](const token& t) { out.emplace_back(t); });
        return out;
    }

    static std::vector<std::string> terms_of(const std::vector<held>& tokens) {
        std::vector<std::string> out;
        for (const held& t : tokens) out.push_back(t.term);
        return out;
    }

    static void require_terms(const std::vector<held>& tokens, std::string_view text) {
        if (tokens.empty())
            raise<usage_error>("synonyms.empty", "quarry::with_synonyms: there is no word in " + detail::quoted(text));
    }

    std::pair<std::size_t, const std::vector<held>*> longest_match(const std::vector<held>& asked,
                                                                   std::size_t from) const {
        std::vector<std::string> key;
        std::pair<std::size_t, const std::vector<held>*> best{0, nullptr};
        for (std::size_t i = from; i < asked.size() && key.size() < longest_; ++i) {
            key.push_back(asked[i].term);
            if (const auto found = table_.find(key); found != table_.end()) best = {key.size(), &found->second};
        }
        return best;
    }

    analyzer words_;
    float weight_;
    std::size_t longest_ = 0;
    std::map<std::vector<std::string>, std::vector<held>> table_;
};

}  // namespace detail

inline analyzer with_synonyms(const analyzer& words, const synonyms& table, synonym_options options) {
    if (!(options.weight > 0.0f && options.weight <= 1.0f))
        detail::raise<usage_error>("synonyms.weight",
                                   detail::concat("quarry::with_synonyms: a weight must be above 0 and "
                                                  "at most 1, it is ",
                                                  options.weight));
    return analyzer(words.fingerprint(), detail::synonym_tokenizer(words, table, options.weight));
}

}  // namespace QUARRY_NAMESPACE
