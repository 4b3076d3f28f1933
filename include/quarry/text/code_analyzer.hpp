// The code analyzer: whole identifiers and their parts, for source code, logs, tickets and the prose around them.
//
//     getHTTPResponse_v2   gethttpresponse_v2 · get, http, response, v, 2
//     TS-999               ts-999 · ts, 999
//     src/io/file.cpp      src/io/file.cpp · src, io, file.cpp · file, cpp
//     std::vector          std::vector · std, vector
//     C++  C#  .NET        c++ ; c# ; .net · net
//
// All at one position, before stemming: a question for the whole finds it first, and one for a part finds it too. Each
// is counted in the length, as it is in the frequencies; counting the first alone, as Lucene does, measured a little
// worse on most collections. Everything else is as english() has it: stop words marked, words and names stemmed, scripts
// without spaces in pairs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "../core/unit.hpp"
#include "analyzer.hpp"
#include "tokenizer.hpp"
#include "unicode.hpp"
#include "utf8.hpp"

namespace QUARRY_NAMESPACE {

struct code_options {
    bool stop_words = true;    // Lucene's 33 words are marked, see token::stop
    bool stemming = true;      // Porter, of words, names and parts
    bool digits_apart = true;  // v2 is also v and 2; false: letters and digits stay together
    pair_options scripts{};
};

/// Words, identifiers and their parts.
///
/// A name is a run of letters, digits and underscores. Names joined by one of `.` `-` `/` or `::` without spaces are a
/// chain; "++" behind a name and "#" behind a single letter belong to it, and so does a full stop before a name at the
/// beginning of a word. Of a chain come the whole, its sides of `/` and `::`, its names, and the parts of the names at
/// underscores, at lower case before upper, before the last capital of an acronym, and between letters and digits: each
/// only if there is more than one. A whole of more than `longest_term` bytes is left out if it has parts.
///
/// Cost  one pass; each byte is in at most four terms.
analyzer code(code_options options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

class code_reader {
   public:
    code_reader(std::string_view text, const code_options& options, token_sink sink)
        : text_(text), options_(options), out_(sink), pairs_(options.scripts) {}

    void run() {
        std::size_t at = 0;
        while (at < text_.size()) {
            const word_unit c(text_, at);
            if (in_name(c))
                at = chain(at, at);
            else if (options_.scripts.pairs && (c.flags & paired) != 0)
                at = script(at);
            else if (leads(at))
                at = chain(at, at + 1);
            else if ((c.flags & makes_word) != 0)
                at = alone(at);
            else
                at += c.length;
        }
    }

   private:
    // How strongly a name is tied to the one before it.
    enum class tie : std::uint8_t { none, path, point };
    struct name {
        byte_span where;
        tie before;
    };
    struct joint {
        tie kind = tie::none;
        std::size_t length = 0;
    };

    // Letters, digits and underscores; what is paired is none, unless pairs are off.
    bool in_name(const word_unit& c) const noexcept {
        if (options_.scripts.pairs && (c.flags & paired) != 0) return false;
        return c.word == word_break::letter || c.word == word_break::hebrew_letter || c.word == word_break::numeric ||
               c.word == word_break::katakana || c.word == word_break::connector;
    }
    bool name_at(std::size_t at) const noexcept { return at < text_.size() && in_name(word_unit(text_, at)); }
    bool ascii_letter_at(std::size_t at) const noexcept {
        return at < text_.size() && (text_[at] | 0x20) >= 'a' && (text_[at] | 0x20) <= 'z';
    }

    // A full stop that begins a word, such as that of .NET: nothing or a blank or an opening mark stands before it.
    bool leads(std::size_t at) const noexcept {
        if (text_[at] != '.' || !ascii_letter_at(at + 1)) return false;
        return at == 0 || std::string_view(" \t\r\n\v\f([{<\"'`=,;").find(text_[at - 1]) != std::string_view::npos;
    }

    joint joint_at(std::size_t at) const noexcept {
        if (at >= text_.size()) return {};
        joint found;
        if (text_[at] == '.' || text_[at] == '-')
            found = {tie::point, 1};
        else if (text_[at] == '/')
            found = {tie::path, 1};
        else if (text_.substr(at, 2) == "::")
            found = {tie::path, 2};
        return found.length != 0 && name_at(at + found.length) ? found : joint{};
    }

    // The end of the name at `at`: with its marks, its symbol, and the apostrophe of a contraction.
    std::size_t name_end(std::size_t at) const noexcept {
        const std::size_t begin = at;
        while (at < text_.size()) {
            const word_unit c(text_, at);
            if (!in_name(c) && !(at != begin && combines(c.word))) break;
            at += c.length;
        }
        const bool letter = at == begin + 1 && ascii_letter_at(begin);
        const bool plus_plus = text_.substr(at, 2) == "++" && text_.substr(at, 3) != "+++";
        if (plus_plus && (letter || !name_at(at + 2))) return at + 2;  // C++17 but not a++b of longer names
        if (letter && text_.substr(at, 1) == "#" && !ascii_letter_at(at + 1)) return at + 1;
        return contraction_end(at);
    }

    // don't, we're, dog's: one or two letters behind an apostrophe, and behind those nothing that makes it a quote.
    std::size_t contraction_end(std::size_t at) const noexcept {
        const std::string_view rest = text_.substr(at);
        const std::size_t mark = rest.starts_with('\'') ? 1 : rest.starts_with("\u2019") ? 3 : 0;
        if (mark == 0) return at;
        std::size_t end = at + mark;
        while (end < at + mark + 2 && ascii_letter_at(end)) ++end;
        const bool closes = end == at + mark || name_at(end) || text_.substr(end, 1) == "'";
        return closes ? at : end;
    }

    // Reads a chain whose first name is at `name_begin`, a full stop before it included from `begin`.
    std::size_t chain(std::size_t begin, std::size_t name_begin) {
        names_.clear();
        std::size_t end = name_end(name_begin);
        names_.push_back({{name_begin, end}, tie::none});
        for (joint j = joint_at(end); j.length != 0; j = joint_at(end)) {
            const std::size_t next = end + j.length;
            end = name_end(next);
            names_.push_back({{next, end}, j.kind});
        }
        const std::uint32_t position = out_.position();
        counted_ = false;
        if (begin != name_begin || names_.size() > 1) put_whole({begin, end}, position);
        // The sides of a path, if it is one and has more than one.
        for (std::size_t first = 0; first < names_.size();) {
            std::size_t last = first + 1;
            while (last < names_.size() && names_[last].before != tie::path) ++last;
            const bool is_side = last - first > 1 && last - first < names_.size();
            if (is_side) put_whole({names_[first].where.begin, names_[last - 1].where.end}, position);
            for (std::size_t i = first; i < last; ++i) put_name(names_[i].where, position);
            first = last;
        }
        return end;
    }

    void put_whole(byte_span where, std::uint32_t position) {
        if (where.size() > longest_term) return;
        term_.clear();
        append_caseless(text_.substr(where.begin, where.size()), term_);
        put(term_, where, position, false);
    }

    void put_name(byte_span where, std::uint32_t position) {
        cut_into_parts(where);
        const bool has_parts = parts_.size() > 1 || (parts_.size() == 1 && parts_[0] != where);  // __main__ has main
        if (has_parts && where.size() <= longest_term) put_word(where, position);
        for (const byte_span part : parts_) put_word(part, position);
    }

    // A word, or a name with parts: with its stem, unless it ends in a digit or a symbol. That of load_tokens is
    // load_token: a question in the plural finds the singular here too.
    void put_word(byte_span where, std::uint32_t position) {
        term_.clear();
        append_caseless(without_possessive(text_.substr(where.begin, where.size())), term_);
        const bool letters = !term_.empty() && static_cast<std::uint8_t>(term_.back() | 0x20) >= 'a';
        const english_options like{.stop_words = options_.stop_words, .stemming = options_.stemming && letters};
        const bool content = stem_unless_stop(term_, {"code", is_english_stop_word, porter_stem, nullptr}, like);
        put(term_, where, position, !content);
    }

    void put(std::string_view term, byte_span where, std::uint32_t position, bool stop) {
        if (counted_) return out_.put_beside(term, where, position, stop);
        counted_ = true;
        out_.put_at_one(term, where, stop);
    }

    // Where a name falls into parts: at underscores, and where the kind of its letters changes.
    void cut_into_parts(byte_span where) {
        enum class kind : std::uint8_t { none, lower, upper, other, digit };
        parts_.clear();
        kind last = kind::none;
        std::size_t begin = where.begin, last_at = where.begin, uppers = 0;
        const auto cut = [&](std::size_t at) {
            if (at > begin) parts_.push_back({begin, at});
            begin = at;
        };
        for (std::size_t at = where.begin; at < where.end;) {
            const code_point c = decode(text_.substr(at));
            const std::size_t here = at;
            at += c.length;
            const word_break word = word_break_of(c.value);
            if (word == word_break::connector) {
                cut(here);
                begin = at;
                last = kind::none;
                continue;
            }
            if (combines(word) || word == word_break::single_quote || word == word_break::mid_number_or_letter ||
                (c.value < 0x80 && (c.value == '+' || c.value == '#')))
                continue;
            const sentence_break sentence = sentence_break_of(c.value);
            const kind now = word == word_break::numeric         ? kind::digit
                             : sentence == sentence_break::lower ? kind::lower
                             : sentence == sentence_break::upper ? kind::upper
                                                                 : kind::other;
            const bool digits_meet =
                options_.digits_apart && last != kind::none && (now == kind::digit) != (last == kind::digit);
            if (digits_meet || (last == kind::lower && now == kind::upper)) {
                cut(here);
            } else if (last == kind::upper && now == kind::lower && uppers > 1 && !plural_of_acronym(here, where.end)) {
                cut(last_at);  // HTTP Server: the last capital begins the next part
            }
            uppers = now == kind::upper ? uppers + 1 : 0;
            last = now;
            last_at = here;
        }
        // counter++ has the part counter, but C++ has no part C: a question for C does not mean it.
        const bool symbol = where.size() > 3 && text_.substr(where.end - 2, 2) == "++";
        cut(symbol ? where.end - 2 : where.end);
    }

    // The s of URLs and IDs.
    bool plural_of_acronym(std::size_t at, std::size_t end) const noexcept { return text_[at] == 's' && at + 1 == end; }

    std::size_t script(std::size_t at) {
        const std::size_t begin = at;
        while (at < text_.size()) {
            const word_unit c(text_, at);
            if ((c.flags & paired) == 0 && !(at != begin && combines(c.word))) break;
            at += c.length;
        }
        pairs_.put(text_, {begin, at}, out_);
        return at;
    }

    // A word of a kind that no name has: an emoji, an ideograph where pairs are off.
    std::size_t alone(std::size_t at) {
        const std::size_t end = word_end(text_, at);
        term_.clear();
        append_caseless(text_.substr(at, end - at), term_);
        out_.put(term_, {at, end});
        return end;
    }

    std::string_view text_;
    const code_options& options_;
    token_writer out_;
    pair_writer pairs_;
    bool counted_ = false;  // whether the chain's first term is out
    std::vector<name> names_;
    std::vector<byte_span> parts_;
    std::string term_;
};

struct code_tokenizer {
    code_options options{};

    void operator()(std::string_view text, token_sink sink) const { code_reader(text, options, sink).run(); }
};

}  // namespace detail

inline analyzer code(code_options options) {
    return analyzer(
        detail::concat("code-1;stop=", options.stop_words ? "yes" : "no", ";stem=", options.stemming ? "yes" : "no",
                       ";digits=", options.digits_apart ? "apart" : "kept", detail::fingerprint_of(options.scripts)),
        detail::code_tokenizer{options});
}

}  // namespace QUARRY_NAMESPACE
